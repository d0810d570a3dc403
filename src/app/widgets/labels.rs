//! Accessible names and number fields.

use eframe::egui::{self, Ui};

/// A number field that is dragged within `range`. Any other value can be typed: a message that
/// refuses it is better than silent clamping.
pub fn typed<'a, N: egui::emath::Numeric>(
    ui: &Ui,
    value: &'a mut N,
    range: std::ops::RangeInclusive<N>,
) -> egui::DragValue<'a> {
    let is_dragged = ui.input(|input| input.pointer.is_decidedly_dragging());
    let range = if is_dragged { range } else { N::MIN..=N::MAX };
    egui::DragValue::new(value)
        .range(range)
        .clamp_existing_to_range(false)
        .update_while_editing(false)
}

/// Cycles per second, as menus name them.
pub fn cycles_per_second(rate: f64) -> String {
    let what = if rate == 1.0 { "cycle/s" } else { "cycles/s" };
    format!("{rate} {what}")
}

/// Sets the name of a control for screen readers.
pub fn named(response: egui::Response, name: &str) -> egui::Response {
    _ = response.ctx.accesskit_node_builder(response.id, |node| node.set_label(name));
    response
}
