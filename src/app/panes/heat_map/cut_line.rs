//! The line of the profile on the map, which is dragged as a whole or by an end.

use crate::app::widgets::handle::{self, is_held};
use crate::app::widgets::labels::named;
use crate::app::widgets::theme;
use crate::grid::Shape;
use crate::run::CutLine;
use eframe::egui::{
    self, CursorIcon, Pos2, Rect, Response, Sense, Stroke, Ui, Vec2, emath::RectTransform, pos2,
};
use std::f32::consts::SQRT_2;

/// How near the line the pointer must be to drag it, in points.
const REACH: f32 = 5.0;

/// How near an end the pointer must be to drag it, in points.
const END_REACH: f32 = 8.0;

/// The line while it is dragged.
#[derive(Default)]
pub struct Cutting {
    /// Its ends when the drag began.
    held: Option<[[usize; 2]; 2]>,
}

impl Cutting {
    /// Draws the line, and returns the line that it is dragged to.
    pub fn ui(
        &mut self,
        ui: &Ui,
        area: Rect,
        to_screen: &RectTransform,
        shape: &Shape,
        line: CutLine,
        name: &str,
    ) -> Option<CutLine> {
        let dragged = self.drag(ui, area, to_screen, shape, line, line.ends(shape), name)?;
        Some(CutLine::between(dragged, shape))
    }

    /// The same of a line whose ends are given in their order, in which those that it is dragged to are returned.
    #[expect(clippy::too_many_arguments, reason = "a map, and a line on it")]
    pub fn drag(
        &mut self,
        ui: &Ui,
        area: Rect,
        to_screen: &RectTransform,
        shape: &Shape,
        line: CutLine,
        ends: [[usize; 2]; 2],
        name: &str,
    ) -> Option<[[usize; 2]; 2]> {
        let middle = |[i, row]: [usize; 2]| pos2(i as f32 + 0.5, row as f32 + 0.5);
        let at = ends.map(|end| to_screen.transform_pos(middle(end)));
        let seen = part_within(at, area)?;
        let cursor = match line {
            CutLine::Row(_) => CursorIcon::ResizeVertical,
            CutLine::Column(_) => CursorIcon::ResizeHorizontal,
            CutLine::Segment(_) => CursorIcon::Move,
        };
        let hold = match line {
            CutLine::Row(_) | CutLine::Column(_) => Rect::from_points(&seen),
            // An oblique line senses the pointer on the whole map: a drag starts where the pointer
            // is.
            CutLine::Segment(_) => {
                let pointer = ui.input(|input| input.pointer.latest_pos());
                let near = pointer.map_or(seen[0].lerp(seen[1], 0.5), |at| nearest(seen, at));
                Rect::from_pos(near)
            }
        };
        let take = |rect: Rect, name: &str, cursor, about: &str| {
            let response =
                ui.interact(rect.intersect(area), ui.scope_id().with(name), Sense::drag());
            response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Splitter, true, name));
            named(response, name).on_hover_cursor(cursor).on_hover_text(about)
        };
        let whole = take(hold.expand(REACH), name, cursor, "Drag to move the line.");
        let places = ["start", "end"].map(|end| format!("{name}: {end}"));
        let [start, end] = [0, 1].map(|end| {
            area.contains(at[end]).then(|| {
                let reach = Rect::from_center_size(at[end], Vec2::splat(2.0 * END_REACH));
                let about = "Drag to turn the line; with Shift to 0°, 45° or 90°.";
                take(reach, &places[end], CursorIcon::Crosshair, about)
            })
        });
        paint(ui, area, seen, is_held(&whole));
        for (end, at) in [&start, &end].into_iter().zip(at) {
            if let Some(end) = end {
                handle::paint(ui, area, at, is_held(end));
            }
        }
        let parts = [Some(whole), start, end];
        let dragged = parts.iter().position(|it| it.as_ref().is_some_and(Response::dragged))?;
        let part = parts[dragged].as_ref()?;
        if part.drag_started() {
            self.held = Some(ends);
        }
        let held = self.held?;
        let to_grid = to_screen.inverse();
        let pointer = to_grid.transform_pos(part.interact_pointer_pos()?);
        let is_snapped = ui.input(|input| input.modifiers.shift);
        let moved = match dragged {
            0 => {
                let pressed = ui.input(|input| input.pointer.press_origin())?;
                moved(held, pointer - to_grid.transform_pos(pressed), shape)
            }
            which => {
                let other = held[2 - which];
                let to = point_at(pointer, shape);
                let to = if is_snapped { snapped(other, to, shape) } else { to };
                if which == 1 { [to, other] } else { [other, to] }
            }
        };
        Some(moved)
    }
}

fn paint(ui: &Ui, area: Rect, ends: [Pos2; 2], is_held: bool) {
    let painter = ui.painter().with_clip_rect(area);
    let width = if is_held { 2.5 } else { 1.5 };
    // Dark next to light is visible on every colour.
    painter.line_segment(ends, Stroke::new(width + 1.5, theme::MARK_OUTLINE));
    painter.line_segment(ends, Stroke::new(width, theme::MARK));
}

/// The part of a line within an area, if any (Liang and Barsky's algorithm).
fn part_within([from, to]: [Pos2; 2], area: Rect) -> Option<[Pos2; 2]> {
    let (mut first, mut last) = (0.0_f32, 1.0_f32);
    for axis in 0..2 {
        let along = to[axis] - from[axis];
        let sides = [area.min, area.max].map(|side| side[axis] - from[axis]);
        if along == 0.0 {
            if sides[0] > 0.0 || sides[1] < 0.0 {
                return None;
            }
        } else {
            let [one, other] = sides.map(|side| side / along);
            (first, last) = (first.max(one.min(other)), last.min(one.max(other)));
        }
    }
    (first <= last).then(|| [from.lerp(to, first), from.lerp(to, last)])
}

/// The point of a line that is nearest to another.
fn nearest([from, to]: [Pos2; 2], at: Pos2) -> Pos2 {
    let along = to - from;
    let part = (at - from).dot(along) / along.length_sq().max(f32::MIN_POSITIVE);
    from.lerp(to, part.clamp(0.0, 1.0))
}

/// The point of the grid nearest to a position.
fn point_at(at: Pos2, shape: &Shape) -> [usize; 2] {
    let index = |at: f32, n: usize| (at.max(0.0) as usize).min(n - 1);
    [index(at.x, shape.nx()), index(at.y, shape.rows())]
}

/// Both ends moved by the same distance, within the grid. A smaller grid may have replaced the one that they were chosen
/// on.
fn moved(ends: [[usize; 2]; 2], by: Vec2, shape: &Shape) -> [[usize; 2]; 2] {
    let [x, y] = [(0, by.x, shape.nx()), (1, by.y, shape.rows())].map(|(axis, by, n)| {
        let [from, to] = ends.map(|end| end[axis].min(n - 1));
        let (back, forward) = (from.min(to), n - 1 - from.max(to));
        let by = (by.round() as isize).clamp(-(back as isize), forward as isize);
        [from, to].map(|at| at.saturating_add_signed(by))
    });
    [[x[0], y[0]], [x[1], y[1]]]
}

/// The point near `to` at 0°, 45° or 90° from `from`, whichever is nearest.
fn snapped(from: [usize; 2], to: [usize; 2], shape: &Shape) -> [usize; 2] {
    /// The tangent of half of 45°.
    const HALF_WAY: f32 = SQRT_2 - 1.0;
    let [across, down] = [0, 1].map(|axis| from[axis].abs_diff(to[axis]));
    if (down as f32) < HALF_WAY * across as f32 {
        return [to[0], from[1]];
    }
    if (across as f32) < HALF_WAY * down as f32 {
        return [from[0], to[1]];
    }
    let room = |axis: usize| {
        let n = [shape.nx(), shape.rows()][axis];
        if to[axis] < from[axis] { from[axis] } else { n - 1 - from[axis] }
    };
    let length = (across + down).div_ceil(2).min(room(0)).min(room(1));
    [0, 1].map(|axis| match to[axis] < from[axis] {
        true => from[axis] - length,
        false => from[axis] + length,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plane() -> impl Strategy<Value = (Shape, [[usize; 2]; 2])> {
        (1..40_usize, 1..40_usize).prop_flat_map(|(nx, ny)| {
            let point = || (0..nx, 0..ny).prop_map(|(i, j)| [i, j]);
            let shape = Shape::grid_2d(nx, ny).unwrap();
            [point(), point()].prop_map(move |ends| (shape, ends))
        })
    }

    proptest! {
        #[test]
        fn snapped_directions_are_multiples_of_45_degrees((shape, [from, to]) in plane()) {
            let at = snapped(from, to, &shape);
            prop_assert!(at[0] < shape.nx() && at[1] < shape.rows());
            let [across, down] = [0, 1].map(|axis| from[axis].abs_diff(at[axis]));
            prop_assert!(across == 0 || down == 0 || across == down);
            // Snapped directions stay, and no point is snapped to the other side.
            let [dx, dy] = [0, 1].map(|axis| from[axis].abs_diff(to[axis]));
            prop_assert!(at == to || (dx != 0 && dy != 0 && dx != dy));
            for axis in 0..2 {
                prop_assert!((at[axis] > from[axis]) <= (to[axis] > from[axis]));
                prop_assert!((at[axis] < from[axis]) <= (to[axis] < from[axis]));
            }
        }

        #[test]
        fn a_line_of_a_larger_grid_is_moved_into_this_one(
            (shape, _) in plane(),
            (_, ends) in plane(),
            by in [-60.0..60.0_f32, -60.0..60.0],
        ) {
            for at in moved(ends, by.into(), &shape) {
                prop_assert!(at[0] < shape.nx() && at[1] < shape.rows());
            }
        }

        #[test]
        fn a_moved_line_keeps_its_length_and_its_direction(
            (shape, ends) in plane(),
            by in [-60.0..60.0_f32, -60.0..60.0],
        ) {
            let at = moved(ends, by.into(), &shape);
            for axis in 0..2 {
                let along = |[from, to]: [[usize; 2]; 2]| to[axis] as isize - from[axis] as isize;
                prop_assert_eq!(along(at), along(ends));
                let n = [shape.nx(), shape.rows()][axis];
                prop_assert!(at[0][axis] < n && at[1][axis] < n);
            }
            // A row stays a row, wherever it is dragged.
            let row = CutLine::Row(ends[0][1]);
            let at = CutLine::between(moved(row.ends(&shape), by.into(), &shape), &shape);
            prop_assert!(matches!(at, CutLine::Row(_)), "{at}");
        }
    }

    #[test]
    fn the_visible_part_of_a_line_ends_at_the_map() {
        let area = Rect::from_min_max(pos2(0.0, 0.0), pos2(10.0, 10.0));
        let part = |from: [f32; 2], to: [f32; 2]| part_within([from.into(), to.into()], area);
        let points = |from: [f32; 2], to: [f32; 2]| Some([from.into(), to.into()]);
        assert_eq!(part([-5.0, -5.0], [5.0, 5.0]), points([0.0, 0.0], [5.0, 5.0]));
        assert_eq!(part([20.0, 4.0], [-20.0, 4.0]), points([10.0, 4.0], [0.0, 4.0]));
        assert_eq!(part([3.0, 3.0], [3.0, 3.0]), points([3.0, 3.0], [3.0, 3.0]));
        assert_eq!(part([-5.0, 2.0], [-1.0, 3.0]), None);
        assert_eq!(part([2.0, 20.0], [9.0, 20.0]), None);
    }
}
