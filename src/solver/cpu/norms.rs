//! Sums and maxima in a fixed order, whatever the vector length and the number of threads.

use crate::solver::{CycleNorms, ResidualNorms};

/// Partial sums that are kept apart: as many as the longest vector has values, so that every
/// level can add them side by side and all get the same bits.
const LANES: usize = 8;

/// The sum of squares and the largest magnitude of some values.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lanes {
    squares: [f64; LANES],
    max: [f64; LANES],
}

impl Lanes {
    /// Adds `value(a, b)` of every pair of two rows, to the lanes in turn.
    #[inline(always)]
    pub fn add_pairs<A: Copy, B: Copy>(&mut self, a: &[A], b: &[B], value: impl Fn(A, B) -> f64) {
        let (a, last_a) = a.as_chunks::<LANES>();
        let (b, last_b) = b.as_chunks::<LANES>();
        // A copy, which the compiler keeps in registers.
        let mut lanes = *self;
        for (a, b) in a.iter().zip(b) {
            for lane in 0..LANES {
                lanes.add(lane, value(a[lane], b[lane]));
            }
        }
        for (lane, (a, b)) in last_a.iter().zip(last_b).enumerate() {
            lanes.add(lane, value(*a, *b));
        }
        *self = lanes;
    }

    /// Adds the values of a row to the lanes in turn.
    #[inline(always)]
    pub fn add_all(&mut self, values: &[f64]) {
        self.add_pairs(values, values, |value, _| value);
    }

    /// Adds a value to a lane. The maximum passes over NaN; the sum of squares does not.
    #[inline(always)]
    fn add(&mut self, lane: usize, value: f64) {
        self.squares[lane] = value.mul_add(value, self.squares[lane]);
        let (magnitude, max) = (value.abs(), self.max[lane]);
        self.max[lane] = if magnitude > max { magnitude } else { max };
    }

    /// The lanes together, as a tree.
    pub fn total(&self) -> Partial {
        let s = &self.squares;
        Partial {
            squares: ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])),
            max: self.max.iter().fold(0.0, |a, &b| a.max(b)),
        }
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
