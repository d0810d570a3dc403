//! Axes of plots: their ticks and labels.

use crate::picture::number;
use eframe::egui::{self, WidgetText};
use egui_plot::{AxisHints, GridMark};

/// Labels across appear at 32 points of room, and are clear at 44: short ones, such as `20k`.
pub const LABEL_SPACING: egui::Rangef = egui::Rangef { min: 32.0, max: 44.0 };

/// The grid's least steps between two labels: such a step is 8 points, a label is up to 30.
const LABEL_STEPS: f64 = 5.0;

/// Room beside a plot for the half of the last label that stands out.
pub const LABEL_ROOM: f32 = 10.0;

/// An axis across that counts something.
pub fn counting_axis(of: impl Into<WidgetText>) -> AxisHints<'static> {
    AxisHints::new_x().label(of).formatter(|mark, _| along(mark.value)).label_spacing(LABEL_SPACING)
}

/// Steps of the grid across, at least `least` apart, at 1, 2 or 5 times a power of ten: so that
/// there is always more than one label.
pub fn steps(least: f64) -> [f64; 3] {
    let power = 10f64.powf((least * LABEL_STEPS).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let step = step.into_iter().find(|&step| step >= least * LABEL_STEPS).unwrap_or(power);
    [step, step, step]
}

/// Steps of the grid of a logarithmic axis, at least `least` apart: whole decades, and many of them
/// where somebody has zoomed far out.
pub fn decades(least: f64) -> [f64; 3] {
    let step = 10f64.powf(least.max(1.0).log10().ceil());
    [step, step, 10.0 * step]
}

/// A mark of the logarithmic axis; none between the decades.
pub fn decade(mark: GridMark) -> String {
    let exponent = mark.value.round();
    if (mark.value - exponent).abs() > 1e-6 {
        return String::new();
    }
    number(10f64.powf(exponent)).replace("1×", "")
}

/// A mark of the axis across.
pub fn along(value: f64) -> String {
    if value.abs() >= 1e6 {
        format!("{}M", value / 1e6)
    } else if value.abs() >= 1e4 {
        format!("{}k", value / 1e3)
    } else {
        format!("{value}")
    }
}

/// Room for the values beside a profile, such as `−5×10⁻⁴`.
pub const VALUE_ROOM: f32 = 58.0;

/// A mark of the logarithmic axis; none between the decades.
pub fn power(mark: f64) -> String {
    let exponent = mark.round();
    if (mark - exponent).abs() > 1e-6 {
        return String::new();
    }
    number(10f64.powf(exponent)).replace("1×", "")
}
