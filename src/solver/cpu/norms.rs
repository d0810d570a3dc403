//! Sums and maxima in a fixed order, whatever the vector length and the number of threads.

use crate::solver::{CycleNorms, ResidualNorms};
use std::ops::Range;

/// Partial sums that are kept apart: as many as the longest vector has values, so that every
/// level can add them side by side and all get the same bits.
const LANES: usize = 8;

/// The sum of squares and the largest magnitude of `value(a, b)`, over all pairs of points in
/// pairs of rows of this width. The maximum passes over NaN; the sum of squares does not.
#[inline(always)]
pub(super) fn measure<'a, A: Copy + 'a, B: Copy + 'a>(
    width: usize,
    rows: impl Iterator<Item = (&'a [A], &'a [B])>,
    value: impl Fn(A, B) -> f64,
) -> Partial {
    if width < LANES {
        measure_lanes::<A, B, 1>(width, rows, value)
    } else {
        measure_lanes::<A, B, LANES>(width, rows, value)
    }
}

#[inline(always)]
fn measure_lanes<'a, A: Copy + 'a, B: Copy + 'a, const N: usize>(
    width: usize,
    rows: impl Iterator<Item = (&'a [A], &'a [B])>,
    value: impl Fn(A, B) -> f64,
) -> Partial {
    let rest = width % N;
    let (mut whole, mut last) = (Lanes::<N>::default(), Lanes::<N>::default());
    for (a, b) in rows {
        for start in (0..width - rest).step_by(N) {
            whole.add(&a[start..start + N], &b[start..start + N], &value);
        }
        // What is left over is measured with values that came before, whose lanes do not count.
        if rest > 0 {
            last.add(&a[width - N..width], &b[width - N..width], &value);
        }
    }
    whole.total(0..N) + last.total(N - rest..N)
}

/// Sums of squares and largest magnitudes, side by side.
struct Lanes<const N: usize> {
    squares: [f64; N],
    max: [f64; N],
}

impl<const N: usize> Default for Lanes<N> {
    fn default() -> Self {
        Self { squares: [0.0; N], max: [0.0; N] }
    }
}

impl<const N: usize> Lanes<N> {
    #[inline(always)]
    fn add<A: Copy, B: Copy>(&mut self, a: &[A], b: &[B], value: impl Fn(A, B) -> f64) {
        for lane in 0..N {
            let value = value(a[lane], b[lane]);
            self.squares[lane] = value.mul_add(value, self.squares[lane]);
            let (magnitude, max) = (value.abs(), self.max[lane]);
            self.max[lane] = if magnitude > max { magnitude } else { max };
        }
    }

    /// Some of the lanes together, in their order.
    #[inline(always)]
    fn total(&self, lanes: Range<usize>) -> Partial {
        let mut total = Partial::default();
        for lane in lanes {
            total = total + Partial { squares: self.squares[lane], max: self.max[lane] };
        }
        total
    }
}

/// A sum of squares and a maximum over a part of the grid.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Partial {
    pub squares: f64,
    pub max: f64,
}

impl std::ops::Add for Partial {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { squares: self.squares + other.squares, max: self.max.max(other.max) }
    }
}

/// What a part of a cycle (a tile, a band of rows) found out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PartialNorms {
    /// u₁ − u₀ of the first sweep.
    pub first_sweep: Partial,
    /// Largest |u_new − u_old| of the whole cycle.
    pub max_change: f64,
    /// Σ (u_new − u*)², if u* is known.
    pub error_squares: f64,
}

impl std::ops::Add for PartialNorms {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            first_sweep: self.first_sweep + other.first_sweep,
            max_change: self.max_change.max(other.max_change),
            error_squares: self.error_squares + other.error_squares,
        }
    }
}

impl PartialNorms {
    /// The norms of the cycle whose parts these are, together.
    pub fn finish(self, diagonal: f64, with_error: bool) -> CycleNorms {
        CycleNorms {
            residual_before: residual_norms(self.first_sweep, diagonal),
            max_change: self.max_change,
            error: with_error.then(|| self.error_squares.sqrt()),
        }
    }
}

/// Norms of the residual r = d · (u₁ − u₀), from those of u₁ − u₀.
pub(super) fn residual_norms(first_sweep: Partial, diagonal: f64) -> ResidualNorms {
    ResidualNorms {
        l2: first_sweep.squares.sqrt() * diagonal.abs(),
        max: first_sweep.max * diagonal.abs(),
    }
}
