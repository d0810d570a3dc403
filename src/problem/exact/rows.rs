//! Work on all rows of a grid, on the threads of rayon.

use super::error::ExactError;
use crate::stop_token::StopToken;
use rayon::prelude::*;

/// Runs `work(scratch, row number, row)` on all rows of `width` values, until `cancel` is set.
pub(super) fn each_row<S>(
    values: &mut [f64],
    width: usize,
    cancel: &StopToken,
    scratch: impl Fn() -> S + Send + Sync,
    work: impl Fn(&mut S, usize, &mut [f64]) -> Result<(), ExactError> + Send + Sync,
) -> Result<(), ExactError> {
    values.par_chunks_mut(width).enumerate().try_for_each_init(scratch, |scratch, (number, row)| {
        if cancel.is_due() {
            return Err(ExactError::Cancelled);
        }
        work(scratch, number, row)
    })
}

/// Turns rows of `width` values into columns, block by block.
pub(super) fn transpose(
    from: &[f64],
    width: usize,
    to: &mut [f64],
    cancel: &StopToken,
) -> Result<(), ExactError> {
    /// Two cache lines of values.
    const BLOCK: usize = 16;
    let height = from.len() / width;
    each_row(
        to,
        BLOCK * height,
        cancel,
        || (),
        |(), block, to| {
            for first in (0..height).step_by(BLOCK) {
                for (column, to) in to.chunks_mut(height).enumerate() {
                    let rows = first..(first + BLOCK).min(height);
                    for (row, to) in rows.clone().zip(&mut to[rows]) {
                        *to = from[row * width + block * BLOCK + column];
                    }
                }
            }
            Ok(())
        },
    )
}
