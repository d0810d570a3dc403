//! Simulated devices that share a grid, and how often they exchange.

use super::method::stepped;
use crate::app::widgets::labels::{named, typed};
use crate::app::widgets::rows::row;
use crate::run::MethodSpec;
use eframe::egui::Ui;
use std::ops::RangeInclusive;

/// Cycles between exchanges on the slider; others can be typed.
const CYCLES: RangeInclusive<usize> = 1..=64;

/// The most cycles between exchanges that can be typed.
const MOST_CYCLES: usize = 1_000_000;

/// Rows for a run that has simulated devices, and whether the slider was just grabbed.
pub(super) fn ui(ui: &mut Ui, method: &mut MethodSpec) -> bool {
    let Some(mut count) = method.simulate_devices else { return false };
    let about = "Simulated devices that share the rows of tiles, on the CPU. Where they exchange after every cycle, the results are those of one.";
    row(ui, "Devices", about, |ui| {
        let value = typed(ui, &mut count, 1..=usize::MAX).speed(0.1);
        if named(ui.add(value), "Devices").on_hover_text(about).changed() {
            method.simulate_devices = Some(count);
        }
        if ui.button("One").on_hover_text("The whole grid on one device.").clicked() {
            (method.simulate_devices, method.exchange_every, method.link) = (None, None, None);
        }
    });
    if method.simulate_devices.is_none_or(|count| count < 2) {
        return false;
    }
    let about = "Cycles from one exchange to the next. In between, what a device reads of the others is frozen, as the halo of a tile is for its subiterations.";
    let before =
        method.exchange_every.map_or(1, |cycles| usize::try_from(cycles).unwrap_or(usize::MAX));
    let (mut cycles, mut is_grabbed) = (before, false);
    row(ui, "Exchange every", about, |ui| {
        let stop = |cycles: usize| cycles.max(1);
        is_grabbed = stepped(ui, "Exchange every", about, &mut cycles, CYCLES, MOST_CYCLES, stop);
    });
    if cycles != before {
        method.exchange_every = Some(cycles as u64);
    }
    is_grabbed
}
