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

/// A product in vectors of so many bytes.
struct InVectors<'a, R, const BYTES: usize>(Product<'a, R>);

impl<R: Real, const BYTES: usize> Task for InVectors<'_, R, BYTES> {
    type Output = ();
    /// Two vectors at a time, then what is left.
    #[inline(always)]
    fn run(self) {
        let mut product = self.0;
        let lanes = BYTES / size_of::<R>();
        let mut column = 0;
        if lanes >= 16 {
            column = product.panels::<2, 16>(column);
            column = product.panels::<1, 16>(column);
        }
        if lanes >= 8 {
            column = product.panels::<2, 8>(column);
            product.panels::<1, 8>(column);
        } else {
            product.panels::<2, 4>(column);
        }
    }
}

impl<R: Real> Product<'_, R> {
    /// Computes it: a page as the browser has compiled it, if it does that.
    pub fn compute(self, level: Level) {
        #[cfg(target_arch = "wasm32")]
        if let Some(compiled) = super::page::Compiled::of::<R>() {
            return compiled.multiply(self);
        }
        match level {
            Level::Plain => level.run(InVectors::<_, 16>(self)),
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => level.run(InVectors::<_, 32>(self)),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => level.run(InVectors::<_, 64>(self)),
        }
    }

    /// Computes as many panels of so many vectors of columns as are left from `column` on; returns where it ended.
    #[inline(always)]
    fn panels<const VECTORS: usize, const LANES: usize>(&mut self, mut column: usize) -> usize {
        while column + VECTORS * LANES <= self.columns && !self.team.is_stopped() {
            let mut row = 0;
            while row + ROWS <= self.rows {
                self.block::<ROWS, VECTORS, LANES>(row, column);
                row += ROWS;
            }
            while row < self.rows {
                self.block::<1, VECTORS, LANES>(row, column);
                row += 1;
            }
            column += VECTORS * LANES;
        }
        column
    }

    /// Sums vector by vector: of longer arrays the compiler made a loop through memory, which took ten times as long.
    #[inline(always)]
    fn block<const HEIGHT: usize, const VECTORS: usize, const LANES: usize>(
        &mut self,
        row: usize,
        column: usize,
    ) {
        let Self { a, b, inner, stride, .. } = *self;
        let mut sums = [[[R::default(); LANES]; VECTORS]; HEIGHT];
        let mut rows: [&[R]; HEIGHT] = [&[]; HEIGHT];
        for (i, values) in rows.iter_mut().enumerate() {
            *values = &a.values[(row + i) * a.stride..][..inner];
        }
        // An index, because it runs over several rows at once.
        #[allow(clippy::needless_range_loop)]
        for k in 0..inner {
            let b = &b.values[k * b.stride + column..][..VECTORS * LANES];
            let (b, _) = b.as_chunks::<LANES>();
            for i in 0..HEIGHT {
                let factor = rows[i][k];
                for (sums, b) in sums[i].iter_mut().zip(b) {
                    for (sum, b) in sums.iter_mut().zip(b) {
                        *sum = factor.fma(*b, *sum);
                    }
                }
            }
        }
        for (i, sums) in sums.iter().enumerate() {
            let at = (row + i) * stride + column;
            self.to[at..at + VECTORS * LANES].copy_from_slice(sums.as_flattened());
        }
    }
}
