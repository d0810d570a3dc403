//! Fields that can be observed, and how they are thinned out.

use super::{Solver, Statistics};
use crate::grid::{AxisTiling, Shape, Slice, Tiling};
use std::ops::Range;

/// A field that a solver can show. All are signed.
#[derive(Clone, Copy)]
pub enum Quantity<'a> {
    /// r = b − A u, with A's 1/h² scaling.
    Residual,
    /// u − u*, the distance from the exact solution of the discrete system.
    Error,
    /// The update of the last cycle.
    Change,
    /// u minus the iterate of another solver of the same problem: the staleness, when that is
    /// Jacobi's after the same number of sweeps.
    Difference(&'a dyn Solver),
    /// The iterate u itself.
    Solution,
}

/// The part of a field that is sampled, and the most samples of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Columns of the grid.
    pub columns: Range<usize>,
    /// Interior rows of the grid.
    pub rows: Range<usize>,
    /// In 3D, the slice that columns and rows count in. Without one they are those of the grid.
    pub slice: Option<Slice>,
    /// Largest number of samples across and down; at least 1 each.
    pub most: [usize; 2],
}

/// A field or a part of it. Where it is thinned out, a sample stands for a block of points and is
/// the value of largest magnitude among them, so that a line one point wide never vanishes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// Columns of the grid that are covered.
    pub columns: Range<usize>,
    /// Interior rows of the grid that are covered.
    pub rows: Range<usize>,
    /// In 3D, the slice that columns and rows count in.
    pub slice: Option<Slice>,
    /// Points across and down that one sample stands for; the last ones may stand for fewer.
    pub block: [usize; 2],
    /// Samples across and down.
    pub size: [usize; 2],
    /// The samples, row by row, the top row first. NaN: not known.
    pub values: Vec<f32>,
}

/// Points up to this far from a tile border count as lying at it.
pub const EDGE_WIDTH: usize = 2;

/// How much of the residual lies near tile borders, beside how many of the points do.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EdgeShare {
    /// The share of ‖r‖² within [`EDGE_WIDTH`] points of a border between tiles, 0 to 1; 0 where
    /// the residual is zero everywhere.
    pub residual: f64,
    /// The share of the points that lie there, 0 to 1.
    pub points: f64,
}

/// What is to be observed of an iterate in one pass over the grid.
#[derive(Clone, Copy)]
pub struct FieldRequest<'a> {
    /// The field.
    pub quantity: Quantity<'a>,
    /// The part of it that is sampled; `None` for no samples.
    pub window: Option<&'a Window>,
    /// The tiles near whose borders the share of ‖r‖² is found, whichever the field is; `None` for none.
    pub edge_share: Option<&'a Tiling>,
    /// The tiles by whose borders the field's magnitudes are sorted; `None` for no statistics.
    pub statistics: Option<&'a Tiling>,
}

/// What was observed of an iterate: a member is `None` where it was not requested.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FieldObservation {
    /// The samples.
    pub samples: Option<Samples>,
    /// How much of ‖r‖² lies near tile borders.
    pub edge_share: Option<EdgeShare>,
    /// The magnitudes of the field by distance from tile borders, and in the mean tile.
    pub statistics: Option<Statistics>,
}

impl<'a> FieldRequest<'a> {
    /// A request for nothing of a field.
    pub fn nothing(quantity: Quantity<'a>) -> Self {
        Self { quantity, window: None, edge_share: None, statistics: None }
    }
}

impl Window {
    /// All of a grid of `columns` × `rows` points, as it is.
    pub fn whole(columns: usize, rows: usize) -> Self {
        Self { columns: 0..columns, rows: 0..rows, slice: None, most: [columns, rows] }
    }

    /// All that is shown of a grid, as it is: of a 3D one a slice.
    pub fn shown(shape: &Shape, slice: Option<Slice>) -> Self {
        match Slice::shown(slice, shape) {
            Some(slice) => {
                let [columns, rows] = slice.axes().map(|axis| shape.axes()[axis]);
                Self { slice: Some(slice), ..Self::whole(columns, rows) }
            }
            None => Self::whole(shape.nx(), shape.rows()),
        }
    }

    /// A single point.
    pub fn point(i: usize, row: usize) -> Self {
        Self { columns: i..i + 1, rows: row..row + 1, slice: None, most: [1, 1] }
    }

    /// Points across and down that one sample has to stand for.
    pub fn block(&self) -> [usize; 2] {
        [
            self.columns.len().div_ceil(self.most[0].max(1)).max(1),
            self.rows.len().div_ceil(self.most[1].max(1)).max(1),
        ]
    }

    /// Samples across and down that it comes in.
    pub fn size(&self) -> [usize; 2] {
        let block = self.block();
        [self.columns.len().div_ceil(block[0]), self.rows.len().div_ceil(block[1])]
    }
}

impl EdgeShare {
    /// The share of `near` in `all`, both sums of squares, where columns and rows are marked as near
    /// a border.
    pub(super) fn of(near: f64, all: f64, [columns, rows]: &[Vec<bool>; 2]) -> Self {
        let part_of = |near: &[bool]| {
            near.iter().filter(|&&is_near| is_near).count() as f64 / near.len() as f64
        };
        Self {
            residual: if all > 0.0 { near / all } else { 0.0 },
            points: 1.0 - (1.0 - part_of(columns)) * (1.0 - part_of(rows)),
        }
    }
}

impl Samples {
    /// The samples of a window, row by row.
    pub(crate) fn of(window: &Window, values: Vec<f32>) -> Self {
        Self {
            columns: window.columns.clone(),
            rows: window.rows.clone(),
            slice: window.slice,
            block: window.block(),
            size: window.size(),
            values,
        }
    }

    /// The samples of a window of which nothing is known.
    pub(crate) fn unknown(window: &Window) -> Self {
        let [across, down] = window.size();
        Self::of(window, vec![f32::NAN; across * down])
    }

    /// Values along an oblique line, in at most that number of samples: its points are the columns of a
    /// single row.
    pub(crate) fn along(values: &[f32], most: usize) -> Self {
        let window = Window { most: [most, 1], ..Window::whole(values.len(), 1) };
        let largest = |block: &[f32]| block.iter().fold(0.0, |a, &b| larger(a, b.into())) as f32;
        Self::of(&window, values.chunks(window.block()[0]).map(largest).collect())
    }

    /// The sample that stands for a point of the grid, or `None` outside of what is covered.
    pub fn at(&self, i: usize, row: usize) -> Option<f32> {
        if !self.columns.contains(&i) || !self.rows.contains(&row) {
            return None;
        }
        let across = (i - self.columns.start) / self.block[0];
        let down = (row - self.rows.start) / self.block[1];
        self.values.get(down * self.size[0] + across).copied()
    }
}

/// The value of larger magnitude of two, and of opposite ones the positive: so it does not
/// matter in which order many are compared. NaN wins, so that it is never hidden.
pub fn larger(a: f64, b: f64) -> f64 {
    of_rank(rank(a).max(rank(b)))
}

/// A number by which values are ordered as [`larger`] orders them: integers are compared much sooner.
#[inline(always)]
pub(super) fn rank(value: f64) -> u64 {
    // The magnitude, and below it the sign, the other way round.
    value.to_bits().rotate_left(1) ^ 1
}

/// The value of a rank. Zero has one sign only.
#[inline(always)]
pub(super) fn of_rank(rank: u64) -> f64 {
    f64::from_bits((rank ^ 1).rotate_right(1)) + 0.0
}

/// Which columns and which rows of a grid lie within [`EDGE_WIDTH`] of a tile border. A point near
/// one has its column or its row near one.
pub(super) fn near_borders(tiling: &Tiling, shape: &Shape) -> [Vec<bool>; 2] {
    let columns = near_border(tiling, 0, shape.nx());
    if shape.dim() < 3 {
        return [columns, near_border(tiling, 1, shape.rows())];
    }
    let [y, z] = [1, 2].map(|axis| near_border(tiling, axis, shape.axes()[axis]));
    [columns, z.iter().flat_map(|z| y.iter().map(move |y| *y || *z)).collect()]
}

/// Which points of an axis lie within [`EDGE_WIDTH`] of a border between two of its tiles.
pub(super) fn near_border(tiling: &Tiling, axis: usize, n: usize) -> Vec<bool> {
    let mut near = vec![false; n];
    for border in tiling.axes().get(axis).into_iter().flat_map(AxisTiling::borders) {
        near[border.saturating_sub(EDGE_WIDTH)..(border + EDGE_WIDTH).min(n)].fill(true);
    }
    near
}
