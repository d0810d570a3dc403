//! Jacobi's iteration: one sweep over the whole grid, in bands of rows.

use super::Pass;
use super::level::Task;
use super::norms::{Lanes, PartialNorms};
use super::update::{Block, Update, WithUpdate, sweep, with_update};
use crate::grid::Real;
use crate::problem::System;

/// Rows that one task updates. A constant, so that sums come in the same order for any number of
/// threads.
const BAND: usize = 16;

/// Columns that are updated, and then measured while they are in the first-level cache.
const PIECE: usize = 512;

/// Makes one sweep.
pub(super) fn cycle<R: Real>(pass: Pass<'_, R>) -> PartialNorms {
    let Pass { system, from, exact, to, measure, level, team } = pass;
    let shape = system.shape();
    let stride = shape.stride();
    let first = shape.ring_rows() * stride;
    let interior = &mut to[first..first + shape.rows() * stride];
    let bands = interior
        .chunks_mut(BAND * stride)
        .enumerate()
        .map(|(band, to)| Band { system, from, exact, measure, first_row: band * BAND, to })
        .collect();
    let parts = team.map(bands, shape.points(), || (), |(), band| level.run(band));
    parts.into_iter().fold(PartialNorms::default(), |a, b| a + b)
}

/// One band of rows.
struct Band<'a, R> {
    system: &'a System<R>,
    from: &'a [R],
    exact: Option<&'a [f64]>,
    measure: bool,
    first_row: usize,
    /// The stored rows of the band, the ring values at their ends included.
    to: &'a mut [R],
}

impl<R: Real> Task for Band<'_, R> {
    type Output = PartialNorms;
    #[inline(always)]
    fn run(self) -> PartialNorms {
        with_update(&self.system.weights, self.system.shape().dim(), self)
    }
}

impl<R: Real> WithUpdate<R> for Band<'_, R> {
    type Output = PartialNorms;
    #[inline(always)]
    fn with<U: Update<R>>(self, update: U) -> PartialNorms {
        let shape = self.system.shape();
        let (stride, nx) = (shape.stride(), shape.nx());
        let (mut changes, mut errors) = (Lanes::default(), Lanes::default());
        for (row, out) in (self.first_row..).zip(self.to.chunks_mut(stride)) {
            let g = self.system.g.interior(row);
            for (piece, out) in out[1..=nx].chunks_mut(PIECE).enumerate() {
                let (column, width) = (piece * PIECE, out.len());
                let first = (row + shape.ring_rows()) * stride + 1 + column;
                let g = &g[column..column + width];
                let block =
                    Block { values: self.from, first, stride, g, g_stride: 0, width, height: 1 };
                sweep(update, block, out);
                if self.measure {
                    let old = &self.from[first..first + width];
                    changes.add_pairs(out, old, |new, old| (new - old).to_f64());
                    if let Some(exact) = self.exact {
                        let exact = &exact[first..first + width];
                        errors.add_pairs(out, exact, |u, exact| u.to_f64() - exact);
                    }
                }
            }
        }
        let first_sweep = changes.total();
        PartialNorms {
            first_sweep,
            max_change: first_sweep.max,
            error_squares: errors.total().squares,
        }
    }
}
