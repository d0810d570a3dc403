//! Jacobi's iteration: one sweep over the whole grid, in bands of rows.

use super::Pass;
use super::level::Task;
use super::norms::{NormAccumulator, Partial, PartialNorms};
use super::observe::bands;
use super::sweeps::{Sweeps, with_sweeps};
use super::update::{Block, Rows};
use crate::grid::Real;
use crate::problem::System;
use crate::solver::devices::BAND;

/// Columns of a band that are updated, and then measured while they are in the second-level cache.
pub(super) const PIECE: usize = 512;

/// Makes one sweep, in bands of [`BAND`] rows. Returns the norms of each, in the order of rows.
pub(super) fn cycle<R: Real>(pass: Pass<'_, R>) -> Vec<PartialNorms> {
    cycle_or_measure(pass, false)
}

/// The norms of a sweep that was made elsewhere: the next iterate has its result.
pub(super) fn measure<R: Real>(pass: Pass<'_, R>) -> Vec<PartialNorms> {
    cycle_or_measure(pass, true)
}

fn cycle_or_measure<R: Real>(pass: Pass<'_, R>, is_made: bool) -> Vec<PartialNorms> {
    let Pass { system, omega, from, exact, to, measure, level, team } = pass;
    let shape = system.shape();
    with_sweeps(system, omega, level, |sweeps| {
        let mut works = Vec::with_capacity(shape.rows().div_ceil(BAND));
        let (mut rest, mut passed) = (to, 0);
        for rows in shape.by_plane(0..shape.rows()).flat_map(|rows| bands(rows, BAND)) {
            let (start, length) = (shape.row_start(rows.start), rows.len() * shape.stride());
            let (to, tail) = rest[start - passed..].split_at_mut(length);
            (rest, passed) = (tail, start + length);
            let first_row = rows.start;
            works.push(Band { system, sweeps, from, exact, measure, is_made, first_row, to });
        }
        team.map(
            works,
            shape.points(),
            || (),
            |(), band| match team.is_stopped() {
                true => PartialNorms::default(),
                false => level.run(band),
            },
        )
    })
}

/// One band of rows of an xy-plane.
struct Band<'a, R> {
    system: &'a System<R>,
    sweeps: &'a dyn Sweeps<R>,
    from: &'a [R],
    exact: Option<&'a [f64]>,
    measure: bool,
    /// Whether `to` has the result already.
    is_made: bool,
    first_row: usize,
    /// The stored rows of the band, the boundary values at their ends included.
    to: &'a mut [R],
}

impl<R: Real> Task for Band<'_, R> {
    type Output = PartialNorms;
    #[inline(always)]
    fn run(self) -> PartialNorms {
        let Self { system, from, exact, is_made, first_row, to, .. } = self;
        let shape = system.shape();
        let (stride, nx) = (shape.stride(), shape.nx());
        let rows_of_band = to.len() / stride;
        let mut norms = PartialNorms::default();
        for columns in (0..nx).step_by(PIECE).map(|start| start..(start + PIECE).min(nx)) {
            let width = columns.len();
            // Where the piece begins in the grid.
            let first = shape.row_start(first_row) + 1 + columns.start;
            let swept = if is_made { 0 } else { rows_of_band };
            for row in 0..swept {
                let first = first + row * stride;
                let g = &system.g.as_slice()[first..];
                let along_z = shape.along_z(first);
                let rows = Rows::of(system, first);
                let block = Block {
                    values: from,
                    first,
                    stride,
                    along_z,
                    g,
                    g_stride: 0,
                    rows,
                    width,
                    height: 1,
                };
                let out = &mut to[row * stride + 1 + columns.start..];
                self.sweeps.sweep(&block, out);
            }
            if self.measure {
                let new = &to[1 + columns.start..];
                let mut change = changes(new, &from[first..], stride, [width, rows_of_band]);
                norms.max_change = norms.max_change.max(change.max);
                if let Some(rows) = &system.rows {
                    let (mut residual, mut values) = (NormAccumulator::new(width), [0.0; PIECE]);
                    for row in 0..rows_of_band {
                        let new = &to[row * stride + 1 + columns.start..];
                        let at = first + row * stride;
                        let (old, diagonal) = (&from[at..], &rows.diagonal()[at..]);
                        for (i, value) in values[..width].iter_mut().enumerate() {
                            *value = (new[i] - old[i]).to_f64() * diagonal[i].to_f64();
                        }
                        residual.add(&values, &values, |value: f64, _| value);
                    }
                    change = residual.total();
                }
                norms.first_sweep = norms.first_sweep + change;
                if let Some(exact) = exact {
                    let mut error = NormAccumulator::new(width);
                    for row in 0..rows_of_band {
                        let new = &to[row * stride + 1 + columns.start..];
                        let exact = &exact[first + row * stride..];
                        error.add(new, exact, |u: R, exact| u.to_f64() - exact);
                    }
                    norms.error_squares += error.total().squares;
                }
            }
        }
        norms
    }
}

/// What a sweep has changed in so many rows of so many columns; from a row to the next there is a stride.
#[inline(always)]
pub(super) fn changes<R: Real>(
    new: &[R],
    old: &[R],
    stride: usize,
    [width, height]: [usize; 2],
) -> Partial {
    let mut change = NormAccumulator::new(width);
    for row in 0..height {
        let start = row * stride;
        change.add(&new[start..], &old[start..], |new: R, old| (new - old).to_f64());
    }
    change.total()
}
