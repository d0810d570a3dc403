//! Accessible names and number fields.

use crate::picture::{SUBSCRIPT_SIZE, rounded, with_subscripts};
use eframe::egui::text::{LayoutJob, TextFormat};
use eframe::egui::{self, Align, Ui};

/// From an entry of a menu to beyond the edge of the menu, in points.
const MENU_MARGIN: f32 = 12.0;

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

/// Cycles per second with three digits: `1 cycle/s`, `29.5 cycles/s`.
pub fn cycles_per_second(rate: f64) -> String {
    let text = rounded(rate);
    let plural = if text == "1" { "" } else { "s" };
    format!("{text} cycle{plural}/s")
}

/// A label with a capital letter at its beginning.
pub fn capitalized(label: &str) -> String {
    let mut letters = label.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A message, which says what is wrong in part of a sentence, as a sentence of its own.
pub fn sentence(message: &impl ToString) -> String {
    format!("{}.", capitalized(&message.to_string()))
}

/// A tooltip of an entry of a menu. It lies beside the menu, where it covers no other entry.
pub fn explained(entry: egui::Response, text: impl Into<String>) -> egui::Response {
    let text = text.into();
    _ = entry.ctx.accesskit_node_builder(entry.id, |node| node.set_description(text.as_str()));
    let mut tooltip = match entry.enabled() {
        true => egui::Tooltip::for_enabled(&entry),
        false => egui::Tooltip::for_disabled(&entry),
    };
    let sides = &[egui::RectAlign::RIGHT_START, egui::RectAlign::LEFT_START];
    tooltip.popup = tooltip.popup.align(sides[0]).align_alternatives(sides).gap(MENU_MARGIN);
    tooltip.show(|ui| {
        ui.set_max_width(ui.spacing().tooltip_width);
        ui.label(text);
    });
    entry
}

/// A text with its subscripts.
pub fn mathematics(text: &str, font: egui::FontId, colour: egui::Color32) -> LayoutJob {
    let mut job = LayoutJob::default();
    for (index, part) in with_subscripts(text).into_iter().enumerate() {
        let font = match index % 2 {
            0 => font.clone(),
            _ => egui::FontId { size: font.size * SUBSCRIPT_SIZE as f32, ..font.clone() },
        };
        let format = TextFormat { valign: Align::BOTTOM, ..TextFormat::simple(font, colour) };
        job.append(part, 0.0, format);
    }
    job
}

/// A small text with its subscripts.
pub fn small_mathematics(ui: &Ui, text: &str) -> LayoutJob {
    mathematics(text, egui::TextStyle::Small.resolve(ui.style()), ui.visuals().text_color())
}

/// A value after the name of its curve, if that has one.
pub fn labelled(name: &str, value: &str) -> String {
    if name.is_empty() { value.to_owned() } else { format!("{name}: {value}") }
}

/// Sets the name of a control for screen readers.
pub fn named(response: egui::Response, name: &str) -> egui::Response {
    _ = response.ctx.accesskit_node_builder(response.id, |node| node.set_label(name));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_cycle_is_singular_also_after_rounding() {
        let texts = [1.0, 0.9996, 0.25, 29.54, 3000.0].map(cycles_per_second);
        let expected =
            ["1 cycle/s", "1 cycle/s", "0.25 cycles/s", "29.5 cycles/s", "3,000 cycles/s"];
        assert_eq!(texts, expected);
    }
}
