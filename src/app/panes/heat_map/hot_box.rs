//! The hot box of a heat plate on the map, which is dragged by a side or by its centre.

use crate::app::widgets::labels::named;
use crate::app::widgets::theme;
use crate::grid::Shape;
use eframe::egui::{
    self, CursorIcon, Pos2, Rect, Response, Sense, Stroke, StrokeKind, Ui, Vec2,
    emath::RectTransform, pos2,
};
use std::ops::Range;

/// How near a side or the centre the pointer must be to drag it, in points.
const SIDE_REACH: f32 = 5.0;
const CENTRE_REACH: f32 = 9.0;

/// Radius of the mark at the centre, in points.
const CENTRE_RADIUS: f32 = 4.5;

/// What of the box is dragged: the end of the points along an axis, or all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Side { axis: usize, is_last: bool },
    Centre,
}

const PARTS: [(Part, &str); 5] = [
    (Part::Side { axis: 0, is_last: false }, "Hot box: left side"),
    (Part::Side { axis: 0, is_last: true }, "Hot box: right side"),
    (Part::Side { axis: 1, is_last: false }, "Hot box: top side"),
    (Part::Side { axis: 1, is_last: true }, "Hot box: bottom side"),
    (Part::Centre, "Hot box: centre"),
];

/// The box while it is dragged.
#[derive(Default)]
pub struct HotBoxDrag {
    /// Its points when the drag began.
    held: Option<[Range<usize>; 2]>,
}

impl HotBoxDrag {
    /// Draws the box of some points, x first, and returns the points that it is dragged to.
    pub fn ui(
        &mut self,
        ui: &Ui,
        area: Rect,
        to_screen: &RectTransform,
        shape: &Shape,
        points: [Range<usize>; 2],
    ) -> Option<[Range<usize>; 2]> {
        let [x, y] = points.each_ref().map(|axis| axis.start as f32..=axis.end as f32);
        let rect = to_screen.transform_rect(Rect::from_x_y_ranges(x, y));
        if !rect.intersects(area) {
            return None;
        }
        let responses = PARTS.map(|(part, name)| take(ui, area, rect, part, name));
        let is_held = responses.iter().any(|it| it.hovered() || it.dragged());
        paint(ui, area, rect, is_held);
        let dragged = responses.iter().position(Response::dragged)?;
        let response = &responses[dragged];
        if response.drag_started() {
            self.held = Some(points);
        }
        let to_grid = to_screen.inverse();
        let pressed = ui.input(|input| input.pointer.press_origin())?;
        let at = to_grid.transform_pos(response.interact_pointer_pos()?);
        Some(moved(
            self.held.as_ref()?,
            PARTS[dragged].0,
            at - to_grid.transform_pos(pressed),
            shape,
        ))
    }
}

/// Where a part of the box is taken hold of.
fn take(ui: &Ui, area: Rect, rect: Rect, part: Part, name: &str) -> Response {
    let (place, cursor, about) = match part {
        Part::Side { axis: 0, is_last } => {
            let x = if is_last { rect.right() } else { rect.left() };
            let side = Rect::from_x_y_ranges(x..=x, rect.y_range());
            (side.expand(SIDE_REACH), CursorIcon::ResizeHorizontal, "Drag to move the side.")
        }
        Part::Side { is_last, .. } => {
            let y = if is_last { rect.bottom() } else { rect.top() };
            let side = Rect::from_x_y_ranges(rect.x_range(), y..=y);
            (side.expand(SIDE_REACH), CursorIcon::ResizeVertical, "Drag to move the side.")
        }
        Part::Centre => {
            let place = Rect::from_center_size(rect.center(), Vec2::splat(2.0 * CENTRE_REACH));
            (place, CursorIcon::Move, "Drag to move the hot box.")
        }
    };
    let response = ui.interact(place.intersect(area), ui.scope_id().with(name), Sense::drag());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Splitter, true, name));
    named(response, name).on_hover_cursor(cursor).on_hover_text(about)
}

fn paint(ui: &Ui, area: Rect, rect: Rect, is_held: bool) {
    let painter = ui.painter().with_clip_rect(area);
    let width = if is_held { 2.5 } else { 1.5 };
    // Dark next to light is visible on every colour.
    for (width, colour) in [(width + 1.5, theme::MARK_OUTLINE), (width, theme::MARK)] {
        painter.rect_stroke(rect, 0.0, Stroke::new(width, colour), StrokeKind::Middle);
    }
    let centre: Pos2 = rect.center();
    painter.circle(centre, CENTRE_RADIUS + 1.0, theme::MARK_OUTLINE, Stroke::NONE);
    painter.circle(centre, CENTRE_RADIUS - 1.0, theme::MARK, Stroke::NONE);
}

/// The points after a part was moved by so many of them: at least one along each axis, all of the grid.
fn moved(held: &[Range<usize>; 2], part: Part, by: Vec2, shape: &Shape) -> [Range<usize>; 2] {
    let by = pos2(by.x.round(), by.y.round());
    let axis_of = |axis: usize| {
        let (points, n) = (&held[axis], [shape.nx(), shape.rows()][axis]);
        let by = by[axis] as isize;
        let shifted = |at: usize, by: isize| at.saturating_add_signed(by);
        match part {
            Part::Centre => {
                let by = by.clamp(-(points.start as isize), (n - points.end) as isize);
                shifted(points.start, by)..shifted(points.end, by)
            }
            Part::Side { axis: moved, .. } if moved != axis => points.clone(),
            Part::Side { is_last: false, .. } => {
                shifted(points.start, by).min(points.end - 1)..points.end
            }
            Part::Side { is_last: true, .. } => {
                points.start..shifted(points.end, by).clamp(points.start + 1, n)
            }
        }
    };
    [axis_of(0), axis_of(1)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_moved_box_stays_on_the_grid(
            n in [1..40_usize, 1..40],
            ends in [0..40_usize, 0..40, 0..40, 0..40],
            which in 0..PARTS.len(),
            by in [-60.0..60.0_f32, -60.0..60.0],
        ) {
            let shape = Shape::grid_2d(n[0], n[1]).unwrap();
            let held = [0, 1].map(|axis| {
                let [one, other] = [ends[2 * axis] % n[axis], ends[2 * axis + 1] % n[axis]];
                one.min(other)..one.max(other) + 1
            });
            let part = PARTS[which].0;
            let to = moved(&held, part, by.into(), &shape);
            for axis in 0..2 {
                prop_assert!(!to[axis].is_empty() && to[axis].end <= n[axis], "{to:?}");
                match part {
                    Part::Centre => prop_assert_eq!(to[axis].len(), held[axis].len()),
                    Part::Side { axis: moved, is_last } => {
                        prop_assert!(moved == axis || to[axis] == held[axis]);
                        let stays = |end: &Range<usize>| if is_last { end.start } else { end.end };
                        prop_assert_eq!(stays(&to[axis]), stays(&held[axis]));
                    }
                }
            }
        }
    }
}
