//! The line of the wipe between two pictures.

use crate::app::widgets::labels::named;
use crate::app::widgets::theme;
use eframe::egui::{self, Color32, CursorIcon, Rect, Sense, Stroke, Ui, WidgetInfo};

/// Width of the handle, in points.
const HOLD: f32 = 12.0;

/// The position of the line, as a share of the map's width.
pub struct Wipe(f32);

impl Default for Wipe {
    fn default() -> Self {
        Self(0.5)
    }
}

impl Wipe {
    /// Lets the line be dragged, and returns the areas left and right of it.
    pub fn ui(&mut self, ui: &Ui, area: Rect) -> [Rect; 2] {
        let x = area.left() + self.0 * area.width();
        let hold = Rect::from_x_y_ranges(x - HOLD / 2.0..=x + HOLD / 2.0, area.y_range());
        let line = ui.interact(hold, ui.scope_id().with("wipe"), Sense::drag());
        if line.dragged() {
            let moved = line.drag_delta().x / area.width().max(1.0);
            self.0 = (self.0 + moved).clamp(0.0, 1.0);
        }
        line.widget_info(|| WidgetInfo::slider(true, f64::from(self.0), "Wipe"));
        named(line, "Wipe")
            .on_hover_cursor(CursorIcon::ResizeHorizontal)
            .on_hover_text("Drag: this run is left of the line, the pinned run right of it.");
        let x = area.left() + self.0 * area.width();
        let (left, right) = area.split_left_right_at_x(x);
        [left, right]
    }

    /// Draws the line.
    pub fn paint(&self, ui: &Ui, area: Rect) {
        let x = area.left() + self.0 * area.width();
        let painter = ui.painter().with_clip_rect(area);
        painter.vline(x, area.y_range(), Stroke::new(4.0, theme::MARK_OUTLINE));
        painter.vline(x, area.y_range(), Stroke::new(2.0, Color32::WHITE));
        painter.circle(
            egui::pos2(x, area.center().y),
            6.0,
            Color32::WHITE,
            Stroke::new(2.0, theme::MARK_OUTLINE),
        );
    }
}
