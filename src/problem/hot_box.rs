//! The hot part of the initial guess of a heat plate.

use super::Source;
use crate::grid::Shape;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A hot box: one value inside, zero elsewhere. Its sides are parts of the length of the plate, 0 to 1, whose n + 2
/// points include the boundary; points on a side are inside.
///
/// Sides that are left out, and the value, are those of the article: 100 on |i − N/2| ≤ N/10 of N points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HotBox {
    /// Where it begins along x.
    pub left: f64,
    /// Where it ends along x.
    pub right: f64,
    /// Where it begins along y.
    pub top: f64,
    /// Where it ends along y.
    pub bottom: f64,
    /// Where it begins along z.
    #[serde(skip_serializing_if = "is_first")]
    pub front: f64,
    /// Where it ends along z.
    #[serde(skip_serializing_if = "is_last")]
    pub back: f64,
    /// The value inside.
    pub value: f64,
}

/// What is wrong with a hot box.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("hot_box.{field} is {value}; {allowed}")]
pub struct HotBoxError {
    /// A side, or the value.
    pub field: &'static str,
    /// Its value.
    pub value: f64,
    /// What it may be.
    pub allowed: String,
}

/// The article's sides along an axis.
const FIRST: f64 = 0.4;
const LAST: f64 = 0.6;

fn is_first(side: &f64) -> bool {
    *side == FIRST
}

fn is_last(side: &f64) -> bool {
    *side == LAST
}

impl Default for HotBox {
    fn default() -> Self {
        Self::ARTICLE
    }
}

impl HotBox {
    /// The article's: 100 on |i − N/2| ≤ N/10.
    pub const ARTICLE: Self = Self {
        left: FIRST,
        right: LAST,
        top: FIRST,
        bottom: LAST,
        front: FIRST,
        back: LAST,
        value: 100.0,
    };

    /// The names of the sides in files, in the order of [`HotBox::sides`].
    pub const NAMES: [[&str; 2]; 3] = [["left", "right"], ["top", "bottom"], ["front", "back"]];

    /// Where it begins and ends along each axis, x first.
    pub fn sides(&self) -> [[f64; 2]; 3] {
        let Self { left, right, top, bottom, front, back, .. } = *self;
        [[left, right], [top, bottom], [front, back]]
    }

    /// Whether it lies on the plate, and contains a point of the grid.
    ///
    /// # Errors
    /// [`HotBoxError`] naming the side, or the value where that is not finite.
    pub fn check(&self, shape: &Shape) -> Result<(), HotBoxError> {
        let refuse = |field, value, allowed: String| Err(HotBoxError { field, value, allowed });
        for (field, side) in Self::NAMES.iter().flatten().zip(self.sides().into_iter().flatten()) {
            if !(0.0..=1.0).contains(&side) {
                let allowed = "it must be 0 to 1, a part of the length of the plate";
                return refuse(field, side, allowed.to_owned());
            }
        }
        if !self.value.is_finite() {
            return refuse("value", self.value, "it must be a finite number".to_owned());
        }
        let along_axes = Self::NAMES.into_iter().zip(self.sides());
        for (points, ([field, _], [from, to])) in self.points(shape).iter().zip(along_axes) {
            if points.is_empty() {
                return refuse(
                    field,
                    from,
                    format!("no point of the grid lies from there to {to}"),
                );
            }
        }
        Ok(())
    }

    /// The box of these interior points of a grid, x first; an axis that is left out has the article's sides.
    /// [`HotBox::points`] is the inverse.
    pub fn of_points(axes: &[Range<usize>], shape: &Shape, value: f64) -> Self {
        let mut sides = Self::default().sides();
        for ((side, points), n) in sides.iter_mut().zip(axes).zip(shape.axes()) {
            let all = (n + 2) as f64;
            // Half-way between two points, where no rounding moves a point across.
            *side = [(points.start as f64 + 0.5) / all, (points.end as f64 + 0.5) / all];
        }
        let [[left, right], [top, bottom], [front, back]] = sides;
        Self { left, right, top, bottom, front, back, value }
    }

    /// The interior points inside along each axis of a grid; empty along an axis where there are none.
    pub fn points(&self, shape: &Shape) -> Vec<Range<usize>> {
        let of_axis = |(n, [from, to]): (&usize, [f64; 2])| {
            // Point i of the interior is point i + 1 of the plate.
            let all = (n + 2) as f64;
            let first = (from * all).ceil().max(1.0) as usize - 1;
            let end = ((to * all).floor().max(0.0) as usize).min(*n);
            first.min(end)..end
        };
        shape.axes().iter().zip(self.sides()).map(of_axis).collect()
    }
}

/// The value of the hot points of a plate without a hot box.
pub const HEAT: f64 = 1.0;

/// The hot points of a plate along each axis, x first: those of its hot box, or else the middle quarter of each side,
/// which makes a square, in 1D an interval and in 3D a cube.
pub fn hot_axes(hot: Option<&HotBox>, shape: &Shape) -> Vec<Range<usize>> {
    let middle = |n: usize| (3 * n) / 8..((5 * n).div_ceil(8)).max(3 * n / 8 + 1);
    match hot {
        Some(hot) => hot.points(shape),
        None => shape.axes().iter().copied().map(middle).collect(),
    }
}

/// One value at these interior points, x first, zero elsewhere; the same in every system of a batch.
pub(crate) fn hot_points(axes: &[Range<usize>], shape: &Shape, value: f64) -> Source {
    match axes {
        [x, y, z] => {
            Source::Cuboid { axes: [x.clone(), y.clone(), z.clone()], ny: shape.ny(), value }
        }
        [x, y] => Source::Box { columns: x.clone(), rows: y.clone(), value },
        other => {
            let columns = other.first().cloned().unwrap_or_default();
            Source::Box { columns, rows: 0..shape.rows(), value }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// |i − N/2| ≤ N/10 of i = 0 to N − 1, without rounding.
    #[test]
    fn the_default_is_the_articles_start() {
        for all in 12..3000_usize {
            let shape = Shape::grid_2d(all - 2, 3).unwrap();
            let is_hot = |i: &usize| 10 * (2 * i).abs_diff(all) <= 2 * all;
            let hot: Vec<_> = (1..all - 1).filter(is_hot).map(|i| i - 1).collect();
            let points = HotBox::default().points(&shape);
            assert_eq!(points[0].clone().collect::<Vec<_>>(), hot, "N = {all}");
        }
        let plate = Shape::grid_2d(2046, 2046).unwrap();
        assert_eq!(HotBox::default().points(&plate), [819..1228, 819..1228]);
    }

    #[test]
    fn a_hot_box_lies_on_the_plate_and_has_a_point() {
        let shape = Shape::grid_2d(16, 16).unwrap();
        let plain = HotBox::ARTICLE;
        assert_eq!(plain.points(&shape), [7..10, 7..10], "8 to 10 of 18 points");
        assert_eq!(plain.check(&shape), Ok(()));
        let said = |hot: HotBox| hot.check(&shape).unwrap_err().to_string();
        let text = said(HotBox { right: 1.5, ..plain });
        assert!(text.starts_with("hot_box.right is 1.5; it must be 0 to 1"), "{text}");
        let text = said(HotBox { top: 0.5, bottom: 0.4, ..plain });
        assert_eq!(text, "hot_box.top is 0.5; no point of the grid lies from there to 0.4");
        assert!(said(HotBox { value: f64::NAN, ..plain }).starts_with("hot_box.value is NaN"));
    }

    #[test]
    fn the_core_of_a_heat_cube_is_the_middle_quarter_of_each_side() {
        let shape = Shape::grid_3d(16, 8, 12).unwrap();
        let source = hot_points(&hot_axes(None, &shape), &shape, HEAT);
        for (i, row) in (0..16).flat_map(|i| (0..shape.rows()).map(move |row| (i, row))) {
            let (j, k) = (row % 8, row / 8);
            let is_hot = (6..10).contains(&i) && (3..5).contains(&j) && (4..8).contains(&k);
            assert_eq!(source.at(16, i, row), f64::from(u8::from(is_hot)), "{i} {j} {k}");
        }
    }

    proptest! {
        #[test]
        fn a_box_of_points_has_these_points(
            n in [1..3000_usize, 1..3000],
            ends in [0.0..=1.0_f64, 0.0..=1.0, 0.0..=1.0, 0.0..=1.0],
        ) {
            let shape = Shape::grid_2d(n[0], n[1]).unwrap();
            let axis = |axis: usize| {
                let at = |end: f64| (end * (n[axis] - 1) as f64) as usize;
                let [one, other] = [at(ends[2 * axis]), at(ends[2 * axis + 1])];
                one.min(other)..one.max(other) + 1
            };
            let axes = [axis(0), axis(1)];
            let hot = HotBox::of_points(&axes, &shape, 1.0);
            prop_assert_eq!(hot.points(&shape), axes);
            prop_assert!(hot.sides().into_iter().flatten().all(|side| (0.0..=1.0).contains(&side)));
        }
    }
}
