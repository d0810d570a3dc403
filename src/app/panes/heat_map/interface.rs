//! The interface of two materials on the map, which is dragged like the line of the profile.

use crate::app::panes::heat_map::cut_line::Cutting;
use crate::app::state::command::Command;
use crate::app::state::session::Session;
use crate::grid::Shape;
use crate::run::{CutLine, ProblemKind, RunSpec};
use eframe::egui::{Rect, Ui, emath::RectTransform};

/// Its name for screen readers.
const NAME: &str = "Interface of the materials";

/// The interface while it is dragged.
#[derive(Default)]
pub struct InterfaceLine {
    cutting: Cutting,
}

impl InterfaceLine {
    /// Draws the interface over a map of a 1D or 2D grid, and returns the run with the one that it is dragged to.
    /// `rows` are those of the map: points along y, or in 1D cycles.
    pub fn ui(
        &mut self,
        ui: &Ui,
        area: Rect,
        to_screen: &RectTransform,
        rows: usize,
        session: &Session,
    ) -> Option<Command> {
        let problem = &session.spec.problem;
        let is_shown = problem.kind == ProblemKind::Diffusion && problem.conductivity.is_none();
        let (n, rows) = match problem.shape[..] {
            _ if !is_shown => return None,
            [nx] => ([nx, 1], rows),
            [nx, ny] => ([nx, ny], ny),
            _ => return None,
        };
        let shape = Shape::grid_2d(n[0], rows).ok()?;
        let interface = problem.jump().interface;
        let mut ends = across(interface)?.map(|[x, y]| [point(x, n[0]), point(y, rows)]);
        if n[1] == 1 {
            // In 1D it is one point, at all cycles.
            let x = point(at_middle(interface)?, n[0]);
            ends = [[x, 0], [x, rows - 1]];
        }
        let line = CutLine::between(ends, &shape);
        let dragged = self.cutting.drag(ui, area, to_screen, &shape, line, ends, NAME)?;
        if dragged == ends || dragged[0] == dragged[1] {
            return None;
        }
        let mut spec = RunSpec::clone(&session.spec);
        let place = |at: usize, n: usize| (at + 1) as f64 / (n + 1) as f64;
        spec.problem.interface = Some(match n[1] {
            1 => [[place(dragged[0][0], n[0]), 0.0], [place(dragged[0][0], n[0]), 1.0]],
            _ => dragged.map(|[i, j]| [place(i, n[0]), place(j, n[1])]),
        });
        Some(Command::Change(spec))
    }
}

/// The point of an axis of `n` points that is nearest to a place between 0 and 1.
fn point(at: f64, n: usize) -> usize {
    ((at * (n + 1) as f64).round() as usize).clamp(1, n) - 1
}

/// Where a line crosses y = 1/2, which is where a 1D grid lies; `None` where it does not.
fn at_middle([[x0, y0], [x1, y1]]: [[f64; 2]; 2]) -> Option<f64> {
    let x = x0 + (0.5 - y0) / (y1 - y0) * (x1 - x0);
    (0.0..=1.0).contains(&x).then_some(x)
}

/// The part of the line through two points that lies in the unit square, in the same direction.
fn across([from, to]: [[f64; 2]; 2]) -> Option<[[f64; 2]; 2]> {
    let (mut first, mut last) = (f64::NEG_INFINITY, f64::INFINITY);
    for axis in 0..2 {
        let along = to[axis] - from[axis];
        if along == 0.0 {
            if !(0.0..=1.0).contains(&from[axis]) {
                return None;
            }
            continue;
        }
        let [one, other] = [0.0, 1.0].map(|side| (side - from[axis]) / along);
        (first, last) = (first.max(one.min(other)), last.min(one.max(other)));
    }
    let at = |part: f64| [0, 1].map(|axis| from[axis] + part * (to[axis] - from[axis]));
    (first < last && last.is_finite() && first.is_finite()).then(|| [at(first), at(last)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interface_is_drawn_from_edge_to_edge() {
        let near = |one: Option<[[f64; 2]; 2]>, other: [[f64; 2]; 2]| {
            let pairs = one.unwrap().into_iter().flatten().zip(other.into_iter().flatten());
            pairs.for_each(|(one, other)| assert!((one - other).abs() < 1e-12, "{one} {other}"));
        };
        near(across([[0.5, 0.4], [0.5, 0.6]]), [[0.5, 0.0], [0.5, 1.0]]);
        // The direction decides which side is which.
        near(across([[0.5, 0.6], [0.5, 0.4]]), [[0.5, 1.0], [0.5, 0.0]]);
        near(across([[0.0, 0.5], [0.5, 1.0]]), [[0.0, 0.5], [0.5, 1.0]]);
        assert_eq!(across([[2.0, 0.0], [2.0, 1.0]]), None);
        assert_eq!(at_middle([[0.25, 0.0], [0.75, 1.0]]), Some(0.5));
        assert_eq!(at_middle([[0.0, 0.2], [1.0, 0.2]]), None);
    }

    /// What is not dragged does not move.
    #[test]
    fn a_point_is_the_nearest_of_the_grid() {
        for n in [1, 2, 7, 256] {
            for at in 0..n {
                assert_eq!(point((at + 1) as f64 / (n + 1) as f64, n), at);
            }
            assert_eq!([point(0.0, n), point(1.0, n)], [0, n - 1]);
        }
    }
}
