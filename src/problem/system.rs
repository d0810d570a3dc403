//! A problem as it is described, and the system of numbers that a solver works on.

use super::{Stencil, Weights};
use crate::grid::{Field, Real, Shape};
use std::ops::Range;
use std::sync::Arc;

/// Dirichlet values of the four sides; lines have only the first two.
///
/// Rows go down the page, as in a matrix: `top` bounds row 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Boundary {
    /// West of the first column.
    pub left: f64,
    /// East of the last column.
    pub right: f64,
    /// Before row 0 (the neighbour that the field calls south, `j − 1`).
    pub top: f64,
    /// After the last row (the neighbour that the field calls north, `j + 1`).
    pub bottom: f64,
}

/// A value for every interior point, made when it is asked for, so that describing a problem
/// takes no memory of the grid's size.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// The same value everywhere.
    Constant(f64),
    /// Given point by point, zero elsewhere: (column, row, value), where no row means every row.
    Points(Vec<(usize, Option<usize>, f64)>),
    /// One value in a box of columns and rows, zero elsewhere.
    Box {
        /// Columns of the box.
        columns: std::ops::Range<usize>,
        /// Rows of the box.
        rows: std::ops::Range<usize>,
        /// The value inside.
        value: f64,
    },
    /// Uniform in [−1, 1), the same for a seed on every machine and in any order of evaluation.
    Random {
        /// The seed.
        seed: u64,
    },
    /// All values, in C order (`[ny, nx]` or `[copies, nx]`).
    Array(Arc<[f64]>),
}

impl Source {
    /// Adds up to one value at column `i` of interior row `row`, on a grid `nx` wide.
    pub fn at(&self, nx: usize, i: usize, row: usize) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Points(points) => {
                let here = |p: &&(usize, Option<usize>, f64)| p.0 == i && p.1.unwrap_or(row) == row;
                points.iter().filter(here).map(|p| p.2).sum()
            }
            Self::Box { columns, rows, value } => {
                if columns.contains(&i) && rows.contains(&row) {
                    *value
                } else {
                    0.0
                }
            }
            Self::Random { seed } => random(*seed, (row * nx + i) as u64),
            Self::Array(values) => values[row * nx + i],
        }
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014) of a counter, mapped to [−1, 1). Written out here because
/// a run must be the same for ever: no library promises its stream across versions.
fn random(seed: u64, counter: u64) -> f64 {
    let mut z = seed.wrapping_add(counter.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    (z >> 11) as f64 * (2.0 / (1u64 << 53) as f64) - 1.0
}

/// A linear system A u = b with its start, as it is described: shape, constants, and where the
/// values come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The interior points.
    pub shape: Shape,
    /// The matrix.
    pub stencil: Stencil,
    /// The right-hand side b, without what the boundary adds to it.
    pub rhs: Source,
    /// The start u₀.
    pub start: Source,
    /// The Dirichlet values around.
    pub boundary: Boundary,
}

/// The numbers that every solver of one problem shares: weights, and `g = b / d` in an array.
#[derive(Debug)]
pub struct System<R> {
    /// The weights of the update; their form fixes the order of operations.
    pub weights: Weights<R>,
    /// The diagonal d: a residual is d times a Jacobi update.
    pub diagonal: f64,
    /// The right-hand side over the diagonal; its ring is zero and never read.
    pub g: Field<R>,
}

impl<R: Real> System<R> {
    /// Divides every matrix row by its diagonal, once.
    pub fn new(problem: &Problem) -> Self {
        let Problem { shape, stencil, rhs, .. } = problem;
        let d = stencil.d;
        Self {
            weights: stencil.weights(shape.dim()),
            diagonal: d,
            g: Field::from_fn(*shape, |i, row| R::from_f64(rhs.at(shape.nx(), i, row) / d)),
        }
    }

    /// The shape of the problem.
    pub fn shape(&self) -> &Shape {
        self.g.shape()
    }
}

impl Problem {
    /// The same system on a part of the grid, with which it starts anew: what lies around the part and
    /// stands still there is the ring of the iterate that a solver is given.
    pub(crate) fn part(&self, columns: Range<usize>, rows: Range<usize>) -> Self {
        let Self { shape, stencil, rhs, .. } = self;
        let row = |row| columns.clone().map(move |i| rhs.at(shape.nx(), i, row));
        Self {
            shape: shape.part(columns.len(), rows.len()),
            stencil: *stencil,
            rhs: Source::Array(rows.flat_map(row).collect()),
            start: Source::Constant(0.0),
            boundary: Boundary::default(),
        }
    }

    /// The start u₀ inside its ring of Dirichlet values. The corners of the ring belong to no
    /// stencil and hold zero.
    pub fn start_field<R: Real>(&self) -> Field<R> {
        let shape = self.shape;
        let mut field =
            Field::from_fn(shape, |i, row| R::from_f64(self.start.at(shape.nx(), i, row)));
        let Boundary { left, right, top, bottom } = self.boundary;
        let stride = shape.stride();
        let ring_rows = shape.ring_rows();
        let values = field.as_mut_slice();
        let last = values.len() - stride;
        for row in values[ring_rows * stride..last + (1 - ring_rows) * stride].chunks_mut(stride) {
            row[0] = R::from_f64(left);
            row[stride - 1] = R::from_f64(right);
        }
        if ring_rows == 1 {
            values[1..stride - 1].fill(R::from_f64(top));
            values[last + 1..last + stride - 1].fill(R::from_f64(bottom));
        }
        field
    }
}
