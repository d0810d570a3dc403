//! The sliders of a method that streams: height and fast memory.

use super::method::{highlighted, stepped};
use crate::app::widgets::labels::named;
use crate::app::widgets::rows::row;
use crate::grid::ByteCount;
use crate::lesson::Control;
use crate::run::{Backend, RunSpec};
use crate::solver::{Height, MOST_HEIGHT};
use eframe::egui::Ui;
use std::ops::RangeInclusive;

/// Heights on the slider; others can be typed.
const HEIGHTS: RangeInclusive<usize> = 1..=128;

/// The budget is shown in this many bytes …
const UNIT: u64 = 1000;

/// … and the slider goes from a few rows to a large cache, or, on a GPU, to most of its memory.
const BUDGETS: RangeInclusive<usize> = 1..=256_000;
const BUDGETS_ON_GPU: RangeInclusive<usize> = 1..=64_000_000;

/// The sliders, of which a lesson highlights one, and whether one of them was just grabbed.
pub(super) fn sliders(ui: &mut Ui, spec: &mut RunSpec, highlight: Option<Control>) -> bool {
    let chosen = spec.sweeps_per_cycle() as usize;
    let method = &mut spec.method;
    let mut is_grabbed = false;
    let about = "Sweeps made in fast memory before the planes are written back. More sweeps move fewer values; in slabs they cost redundant work.";
    let mut height = chosen;
    if let Some(Height::Sweeps(sweeps)) = method.height {
        height = sweeps;
    }
    let before = height;
    highlighted(ui, highlight == Some(Control::Height), |ui| {
        row(ui, "Height", about, |ui| {
            let stop = |height: usize| height.max(1);
            is_grabbed |= stepped(ui, "Height", about, &mut height, HEIGHTS, MOST_HEIGHT, stop);
        });
    });
    if height != before {
        method.height = Some(Height::Sweeps(height));
    }
    let about =
        "Fast memory for a slab or the moving window: two iterates and the right-hand side, in kB.";
    let bytes = method.memory().bytes();
    let mut memory = (bytes / UNIT) as usize;
    let budgets = if method.backend == Backend::Cuda { BUDGETS_ON_GPU } else { BUDGETS };
    row(ui, "Memory, kB", about, |ui| {
        let limit = (u64::MAX / UNIT) as usize;
        is_grabbed |= stepped(ui, "Memory", about, &mut memory, budgets, limit, two_digits);
    });
    if memory as u64 != bytes / UNIT {
        method.memory = Some(ByteCount::new(memory as u64 * UNIT));
    }
    if !ui.layout().is_horizontal() {
        let about = "The height that is best according to the cost model of the method.";
        row(ui, "", about, |ui| {
            let mut auto = !matches!(method.height, Some(Height::Sweeps(_)));
            let check = named(ui.checkbox(&mut auto, "Auto height"), "Auto height");
            if check.on_hover_text(about).changed() {
                method.height = (!auto).then_some(Height::Sweeps(chosen));
            }
        });
    }
    is_grabbed
}

/// The number with two digits, and zeros.
fn two_digits(number: usize) -> usize {
    let mut unit = 1;
    while number / unit >= 100 {
        unit *= 10;
    }
    (number / unit * unit).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_on_the_slider_have_two_digits() {
        for (number, expected) in [(0, 1), (7, 7), (99, 99), (128, 120), (256_000, 250_000)] {
            assert_eq!(two_digits(number), expected);
        }
    }
}
