//! Accessible names and number fields.

use eframe::egui::{self, Ui};

/// A number that is dragged within `range`. Any other can be typed: whoever checks it says in a
/// sentence why it may not be, which is better than to hold it in silence.
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

/// Gives a control the name that a screen reader says.
pub fn named(response: egui::Response, name: &str) -> egui::Response {
    _ = response.ctx.accesskit_node_builder(response.id, |node| node.set_label(name));
    response
}
