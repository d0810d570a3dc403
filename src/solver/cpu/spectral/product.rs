//! Products of small matrices.
//!
//! Every value is one sum, in the order of the inner index, of fused multiply-adds: how values are grouped
//! into registers changes no bit.

use super::super::level::{Level, Task};
use super::super::team::Team;
use crate::grid::Real;

/// Rows that are computed together: with two vectors of columns, as many sums as hide the latency of a
/// fused multiply-add.
const ROWS: usize = 4;

/// A matrix by rows.
#[derive(Clone, Copy)]
pub(super) struct Matrix<'a, R> {
    pub values: &'a [R],
    /// From a row to the next.
    pub stride: usize,
}

/// `to` = A B. The number of columns is a multiple of 8.
pub(super) struct Product<'a, R> {
    pub a: Matrix<'a, R>,
    pub b: Matrix<'a, R>,
    pub to: &'a mut [R],
    /// From a row of `to` to the next.
    pub stride: usize,
    pub rows: usize,
    /// Columns of A, rows of B.
    pub inner: usize,
    pub columns: usize,
    /// Whose cycle it is: it may be left unfinished.
    pub team: &'a Team,
}

impl<R: Real> Task for Product<'_, R> {
    type Output = ();
    #[inline(always)]
    fn run(mut self) {
        let mut column = 0;
        // Two vectors of AVX-512 in either precision, then what is left.
        if size_of::<R>() == 4 {
            column = self.panels::<32>(column);
        }
        column = self.panels::<16>(column);
        self.panels::<8>(column);
    }
}

impl<R: Real> Product<'_, R> {
    /// Computes it: a page as the browser has compiled it, if it does that.
    pub fn compute(self, level: Level) {
        #[cfg(target_arch = "wasm32")]
        if let Some(compiled) = super::page::Compiled::of::<R>() {
            return compiled.multiply(self);
        }
        level.run(self);
    }

    /// Computes as many panels of so many columns as are left from `column` on; returns where it ended.
    #[inline(always)]
    fn panels<const COLUMNS: usize>(&mut self, mut column: usize) -> usize {
        while column + COLUMNS <= self.columns && !self.team.is_stopped() {
            let mut row = 0;
            while row + ROWS <= self.rows {
                self.block::<ROWS, COLUMNS>(row, column);
                row += ROWS;
            }
            while row < self.rows {
                self.block::<1, COLUMNS>(row, column);
                row += 1;
            }
            column += COLUMNS;
        }
        column
    }

    #[inline(always)]
    fn block<const HEIGHT: usize, const WIDTH: usize>(&mut self, row: usize, column: usize) {
        let Self { a, b, inner, stride, .. } = *self;
        let mut sums = [[R::default(); WIDTH]; HEIGHT];
        let rows: [&[R]; HEIGHT] =
            std::array::from_fn(|i| &a.values[(row + i) * a.stride..][..inner]);
        // An index, because it runs over several rows at once.
        #[allow(clippy::needless_range_loop)]
        for k in 0..inner {
            let at = k * b.stride + column;
            let b: &[R; WIDTH] =
                b.values[at..at + WIDTH].try_into().expect("as many values as there are");
            for i in 0..HEIGHT {
                let factor = rows[i][k];
                for j in 0..WIDTH {
                    sums[i][j] = factor.fma(b[j], sums[i][j]);
                }
            }
        }
        for (i, sums) in sums.iter().enumerate() {
            let at = (row + i) * stride + column;
            self.to[at..at + WIDTH].copy_from_slice(sums);
        }
    }
}
