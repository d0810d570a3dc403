//! Work on all rows of a grid, on the threads of rayon.

use super::error::ExactError;
use crate::pauses::{PIECE, pause};
use crate::stop_token::StopToken;
use rayon::prelude::*;

/// Runs `work(scratch, row number, row)` on all rows of `width` values, until `cancel` is set.
pub(super) async fn each_row<S>(
    values: &mut [f64],
    width: usize,
    cancel: &StopToken,
    scratch: impl Fn() -> S + Send + Sync,
    work: impl Fn(&mut S, usize, &mut [f64]) -> Result<(), ExactError> + Send + Sync,
) -> Result<(), ExactError> {
    in_pieces((PIECE / width).max(1), values, width, cancel, scratch, work).await
}

/// The same with a pause after every so many rows.
async fn in_pieces<S>(
    rows: usize,
    values: &mut [f64],
    width: usize,
    cancel: &StopToken,
    scratch: impl Fn() -> S + Send + Sync,
    work: impl Fn(&mut S, usize, &mut [f64]) -> Result<(), ExactError> + Send + Sync,
) -> Result<(), ExactError> {
    let piece = rows.saturating_mul(width);
    for (number, values) in values.chunks_mut(piece).enumerate() {
        if number > 0 {
            pause().await;
        }
        let first = number * rows;
        let each = values.par_chunks_mut(width).enumerate();
        each.try_for_each_init(&scratch, |scratch, (row, values)| match cancel.is_due() {
            true => Err(ExactError::Cancelled),
            false => work(scratch, first + row, values),
        })?;
    }
    Ok(())
}

/// Turns rows of `width` values into columns, block by block.
pub(super) async fn transpose(
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
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pauses::next_piece;
    use std::pin::pin;

    #[test]
    fn every_row_has_its_number_in_whatever_piece_it_is() {
        for (rows, pieces) in [(1, 5), (2, 3), (5, 1), (usize::MAX, 1)] {
            let (mut values, cancel) = ([0.0; 14], StopToken::default());
            let number = |(): &mut (), number: usize, row: &mut [f64]| {
                row.fill(number as f64);
                Ok(())
            };
            {
                let mut work = pin!(in_pieces(rows, &mut values, 3, &cancel, || (), number));
                for _ in 1..pieces {
                    assert_eq!(next_piece(work.as_mut()), None);
                }
                assert_eq!(next_piece(work.as_mut()), Some(Ok(())));
            }
            let expected: Vec<_> = (0..14).map(|at| f64::from(at / 3)).collect();
            assert_eq!(values.as_slice(), expected);
        }
    }

    #[test]
    fn it_is_cancelled_in_a_pause() {
        let (mut values, cancel) = ([0.0; 4], StopToken::default());
        let nothing = |(): &mut (), _: usize, _: &mut [f64]| Ok(());
        let mut work = pin!(in_pieces(1, &mut values, 2, &cancel, || (), nothing));
        assert_eq!(next_piece(work.as_mut()), None);
        cancel.now();
        assert_eq!(next_piece(work.as_mut()), Some(Err(ExactError::Cancelled)));
    }
}
