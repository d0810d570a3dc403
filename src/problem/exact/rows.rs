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
    let rows = (PIECE / width).max(1);
    in_pieces(values, rows.saturating_mul(width), |start, values| {
        let (first, each) = (start / width, values.par_chunks_mut(width).enumerate());
        each.try_for_each_init(&scratch, |scratch, (row, values)| match cancel.is_due() {
            true => Err(ExactError::Cancelled),
            false => work(scratch, first + row, values),
        })
    })
    .await
}

/// Runs `work(where it starts, piece)` on pieces of so many values, one after the other, with a pause between two.
async fn in_pieces(
    values: &mut [f64],
    piece: usize,
    work: impl Fn(usize, &mut [f64]) -> Result<(), ExactError>,
) -> Result<(), ExactError> {
    for (number, values) in values.chunks_mut(piece).enumerate() {
        if number > 0 {
            pause().await;
        }
        work(number * piece, values)?;
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
    fn pieces_know_where_they_start() {
        for (piece, pieces) in [(3, 5), (6, 3), (14, 1), (usize::MAX, 1)] {
            let mut values = [0.0; 14];
            let number = |start: usize, values: &mut [f64]| {
                (start..).zip(values).for_each(|(at, value)| *value = at as f64);
                Ok(())
            };
            {
                let mut work = pin!(in_pieces(&mut values, piece, number));
                for _ in 1..pieces {
                    assert_eq!(next_piece(work.as_mut()), None);
                }
                assert_eq!(next_piece(work.as_mut()), Some(Ok(())));
            }
            assert_eq!(values, std::array::from_fn(|at| at as f64));
        }
    }

    #[test]
    fn nothing_follows_a_piece_that_failed() {
        let mut values = [0.0; 4];
        let fail = |start: usize, values: &mut [f64]| {
            values.fill(1.0);
            if start == 2 { Err(ExactError::Cancelled) } else { Ok(()) }
        };
        {
            let mut work = pin!(in_pieces(&mut values, 1, fail));
            assert_eq!(next_piece(work.as_mut()), None);
            assert_eq!(next_piece(work.as_mut()), None);
            assert_eq!(next_piece(work.as_mut()), Some(Err(ExactError::Cancelled)));
        }
        assert_eq!(values, [1.0, 1.0, 1.0, 0.0]);
    }
}
