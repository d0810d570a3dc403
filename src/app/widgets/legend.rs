//! A legend above a plot, for more curves than fit into it.

use eframe::egui::{
    Color32, RichText, Sense, Stroke, TextStyle, TextWrapMode, Ui, WidgetText, vec2,
};

/// Length of the line in a curve's colour before its name, and the gap between them, in points.
const LINE: f32 = 14.0;
const GAP: f32 = 4.0;

/// Gap between one name and the next, in points.
const BETWEEN: f32 = 12.0;

/// Writes the name of each curve after a line in its colour.
pub fn ui(ui: &mut Ui, curves: &[(String, Color32)]) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(BETWEEN, 2.0);
        // Nothing here is clickable: rows are as high as their text.
        ui.spacing_mut().interact_size.y = 0.0;
        for (name, colour) in curves {
            let text = WidgetText::from(RichText::new(name).small());
            let room = ui.max_rect().width() - LINE - GAP;
            let name = text.into_galley(ui, Some(TextWrapMode::Truncate), room, TextStyle::Small);
            let size = vec2(LINE + GAP + name.size().x, name.size().y);
            let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
            let line = rect.left()..=rect.left() + LINE;
            ui.painter().hline(line, rect.center().y, Stroke::new(2.5, *colour));
            let at = rect.left_top() + vec2(LINE + GAP, 0.0);
            ui.painter().galley(at, name, ui.visuals().text_color());
        }
    });
}
