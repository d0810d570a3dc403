//! The colour bar: colours, ticks, and marks where values lie beyond its ends.

use super::colouring::Shown;
use crate::picture::{ticks, value_label};
use crate::run::FieldKind;
use eframe::egui::{self, Align2, Color32, Rect, Stroke, TextStyle, Ui};

/// Room for the bar beside the map, its ticks included.
pub(super) const ROOM: f32 = 84.0;

/// Width of the bar itself.
const WIDTH: f32 = 16.0;

/// Draws the colour bar to the right of `area`.
pub(super) fn ui(ui: &Ui, area: Rect, field: FieldKind, shown: &Shown) {
    let bar = Rect::from_min_size(
        area.right_top() + egui::vec2(14.0, 26.0),
        egui::vec2(WIDTH, area.height() - 36.0),
    );
    let painter = ui.painter();
    let table = shown.colours.map.table();
    let mut mesh = egui::Mesh::default();
    for (index, [red, green, blue, _]) in table.iter().enumerate() {
        let at = |index: usize| bar.bottom() - bar.height() * index as f32 / table.len() as f32;
        let y = at(index + 1)..=at(index);
        mesh.add_colored_rect(
            Rect::from_x_y_ranges(bar.x_range(), *y.start()..=*y.end()),
            Color32::from_rgb(*red, *green, *blue),
        );
    }
    painter.add(mesh);
    let line = Stroke::new(1.0, ui.visuals().weak_text_color());
    painter.rect_stroke(bar, 0.0, line, egui::StrokeKind::Outside);
    let font = TextStyle::Small.resolve(ui.style());
    let colour = ui.visuals().text_color();
    for tick in ticks(&shown.scale, 7) {
        let y = bar.bottom() - bar.height() * tick.position as f32;
        painter.hline(bar.right()..=bar.right() + 4.0, y, line);
        painter.text(
            egui::pos2(bar.right() + 6.0, y),
            Align2::LEFT_CENTER,
            tick.label,
            font.clone(),
            colour,
        );
    }
    for (end, _) in shown.clips.iter().enumerate().filter(|(_, clips)| **clips) {
        let (y, way) = if end == 0 { (bar.bottom() + 2.0, 1.0) } else { (bar.top() - 2.0, -1.0) };
        let tip = egui::pos2(bar.center().x, y + 7.0 * way);
        let base = |x| egui::pos2(x, y);
        painter.add(egui::Shape::convex_polygon(
            vec![base(bar.left()), tip, base(bar.right())],
            colour,
            Stroke::NONE,
        ));
    }
    let symbol = value_label(field, shown.colours.scale, shown.colours.absolute);
    painter.text(area.right_top() + egui::vec2(12.0, 2.0), Align2::LEFT_TOP, symbol, font, colour);
}
