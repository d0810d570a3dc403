//! Simulated devices that share a grid or a matrix, and how often they exchange.

use super::method::{highlighted, stepped};
use crate::app::state::devices;
use crate::app::widgets::labels::{named, typed};
use crate::app::widgets::rows::row;
use crate::lesson::Control;
use crate::number::counted;
use crate::run::RunSpec;
use eframe::egui::Ui;
use std::ops::RangeInclusive;

/// Cycles between exchanges on the slider; others can be typed.
const CYCLES: RangeInclusive<usize> = 1..=64;

/// The most cycles between exchanges that can be typed.
const MOST_CYCLES: usize = 1_000_000;

/// Rows for a run that has simulated devices, and whether the slider was just grabbed.
pub(super) fn ui(ui: &mut Ui, spec: &mut RunSpec, highlight: Option<Control>) -> bool {
    let Some(before) = spec.method.simulate_devices else { return false };
    let most = devices::most(spec);
    let mut count = before;
    let what = spec.shared_parts().map_or("rows of tiles", |parts| parts.what());
    let result = match spec.why_no_exchange() {
        Some(why) => format!(
            "They exchange nothing after a cycle, since {why}: the results are those of one."
        ),
        None => "Where they exchange after every cycle, the results are those of one.".to_owned(),
    };
    let about = format!(
        "Simulated devices that share the {what}: at most {} here. {result}",
        counted(most as u64, "device")
    );
    highlighted(ui, highlight == Some(Control::Devices), |ui| {
        row(ui, "Devices", &about, |ui| {
            let value = typed(ui, &mut count, 1..=most).speed(0.1);
            named(ui.add(value), "Devices").on_hover_text(&about);
            if ui.button("One").on_hover_text("The whole grid on one device.").clicked() {
                devices::leave(&mut spec.method);
            }
        });
    });
    if spec.method.simulate_devices.is_none() {
        return false;
    }
    if count != before {
        spec.method.simulate_devices = Some(count);
    }
    if count < 2 || spec.why_no_exchange().is_some() {
        return false;
    }
    let about = "Cycles from one exchange to the next. In between, what a device reads from the others is frozen, as the halo of a tile is for its subiterations.";
    let before = spec
        .method
        .exchange_every
        .map_or(1, |cycles| usize::try_from(cycles).unwrap_or(usize::MAX));
    let (mut cycles, mut is_grabbed) = (before, false);
    highlighted(ui, highlight == Some(Control::ExchangeEvery), |ui| {
        row(ui, "Exchange every", about, |ui| {
            let stop = |cycles: usize| cycles.max(1);
            is_grabbed =
                stepped(ui, "Exchange every", about, &mut cycles, CYCLES, MOST_CYCLES, stop);
        });
    });
    if cycles != before {
        spec.method.exchange_every = Some(cycles as u64);
    }
    is_grabbed
}
