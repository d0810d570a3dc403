//! The cut over the map: a line of points, dragged to another row or column.

use crate::grid::Shape;
use crate::run::CutLine;
use eframe::egui::{
    self, Color32, CursorIcon, Rect, Sense, Stroke, Ui, emath::RectTransform, pos2, vec2,
};

/// How near the line the pointer has to be to take it, in points.
const REACH: f32 = 5.0;

/// Draws the cut under a name of its own, and gives the line that it is dragged to.
pub(super) fn ui(
    ui: &Ui,
    area: Rect,
    to_screen: &RectTransform,
    shape: &Shape,
    line: CutLine,
    name: &str,
) -> Option<CutLine> {
    let extent = to_screen
        .transform_rect(Rect::from_min_max(
            pos2(0.0, 0.0),
            pos2(shape.nx() as f32, shape.rows() as f32),
        ))
        .intersect(area);
    let middle = |index: usize| index as f32 + 0.5;
    let (ends, cursor) = match line {
        CutLine::Row(row) => {
            let y = to_screen.transform_pos(pos2(0.0, middle(row))).y;
            ([pos2(extent.left(), y), pos2(extent.right(), y)], CursorIcon::ResizeVertical)
        }
        CutLine::Column(column) => {
            let x = to_screen.transform_pos(pos2(middle(column), 0.0)).x;
            ([pos2(x, extent.top()), pos2(x, extent.bottom())], CursorIcon::ResizeHorizontal)
        }
    };
    if !area.contains(ends[0]) || !extent.is_positive() {
        return None;
    }
    let handle = Rect::from_two_pos(ends[0], ends[1]).expand(REACH).intersect(area);
    let response =
        ui.interact(handle, ui.scope_id().with(name), Sense::drag()).on_hover_cursor(cursor);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Splitter, true, name));
    let painter = ui.painter().with_clip_rect(area);
    // Dark beside light, so that it stands out on every colour.
    let width = if response.hovered() || response.dragged() { 2.5 } else { 1.5 };
    painter.line_segment(ends, Stroke::new(width + 1.5, Color32::from_black_alpha(150)));
    painter.line_segment(ends, Stroke::new(width, Color32::from_rgb(90, 220, 255)));
    let response = response.on_hover_text("Drag to cut elsewhere.");
    let pointer = response.interact_pointer_pos().filter(|_| response.dragged())?;
    let at =
        to_screen.inverse().transform_pos(pointer.min(area.max - vec2(0.5, 0.5)).max(area.min));
    let index = |at: f32, n: usize| (at.max(0.0) as usize).min(n - 1);
    Some(match line {
        CutLine::Row(_) => CutLine::Row(index(at.y, shape.rows())),
        CutLine::Column(_) => CutLine::Column(index(at.x, shape.nx())),
    })
}
