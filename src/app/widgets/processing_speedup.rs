//! A slider of a processing speedup, for Amdahl's law.

use crate::app::widgets::labels::named;
use eframe::egui::{Id, Slider, Ui};
use std::ops::RangeInclusive;

/// The speedups that can be dragged to, and the first.
const SPEEDUPS: RangeInclusive<f64> = 1.0..=100.0;
const AT_FIRST: f64 = 4.0;

/// Draws the slider, whose value is kept while the window is open, and returns its value.
pub fn ui(ui: &mut Ui, id: Id) -> f64 {
    let mut speedup = ui.data_mut(|data| *data.get_temp_mut_or(id, AT_FIRST));
    ui.horizontal(|ui| {
        ui.label("Processing");
        let slider = Slider::new(&mut speedup, SPEEDUPS).logarithmic(true).suffix("×");
        let about = "How many times as fast processing becomes.";
        named(ui.add(slider), "Processing speedup").on_hover_text(about);
    });
    ui.data_mut(|data| data.insert_temp(id, speedup));
    speedup
}
