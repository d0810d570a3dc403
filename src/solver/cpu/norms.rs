//! Sums and maxima in a fixed order, for any vector length and number of threads.

use crate::grid::{Doubles, Doubts, Real, Vector};
use crate::solver::{CycleNorms, ResidualNorms};

/// Number of partial sums: as many as the longest vector has values, so that every instruction set
/// adds them side by side and gets the same bits.
const LANES: usize = 8;

/// The sum of squares and the largest magnitude of some values, while rows of one width are added.
///
/// The lanes must stay in registers: no index is unknown at compile time, and rows are added in a
/// plain loop, because a call in between would spill them.
#[derive(Default)]
pub(super) struct NormAccumulator {
    width: usize,
    whole: Lanes<LANES>,
    /// The remainder of a row, in a vector that also holds values before it.
    last: Lanes<LANES>,
}

impl NormAccumulator {
    /// An empty sum over rows of this width.
    #[inline(always)]
    pub fn new(width: usize) -> Self {
        Self { width, ..Self::default() }
    }

    /// Adds `value(a, b)` of every pair of points of two rows.
    #[inline(always)]
    pub fn add<A: Copy, B: Copy>(&mut self, a: &[A], b: &[B], value: impl Fn(A, B) -> f64 + Copy) {
        let (width, rest) = (self.width, self.width % LANES);
        let (a, b) = (&a[..width], &b[..width]);
        if width < LANES {
            for i in 0..width {
                self.whole.add(0, value(a[i], b[i]));
            }
            return;
        }
        for start in (0..width - rest).step_by(LANES) {
            self.whole.add_all(&a[start..start + LANES], &b[start..start + LANES], value);
        }
        if rest > 0 {
            self.last.add_all(&a[width - LANES..], &b[width - LANES..], value);
        }
    }

    /// The total. In the last vector only the lanes of the remainder count.
    #[inline(always)]
    pub fn total(&self) -> Partial {
        let rest = if self.width < LANES { 0 } else { self.width % LANES };
        self.whole.total() + self.last.total_of(rest)
    }
}

/// Sums of squares and largest magnitudes, side by side.
#[derive(Clone, Copy)]
pub(super) struct Lanes<const COUNT: usize> {
    squares: [f64; COUNT],
    max: [f64; COUNT],
}

impl<const COUNT: usize> Default for Lanes<COUNT> {
    #[inline(always)]
    fn default() -> Self {
        Self { squares: [0.0; COUNT], max: [0.0; COUNT] }
    }
}

impl<const COUNT: usize> Lanes<COUNT> {
    /// Adds a value to a lane. The maximum passes over NaN; the sum of squares does not.
    #[inline(always)]
    pub fn add(&mut self, lane: usize, value: f64) {
        self.squares[lane] = value.mul_add(value, self.squares[lane]);
        let (magnitude, max) = (value.abs(), self.max[lane]);
        self.max[lane] = if magnitude > max { magnitude } else { max };
    }

    /// Adds a value to each of the lanes from `lane` on. Where the sums are in doubt, none of them counts.
    #[inline(always)]
    pub fn add_pair(&mut self, lane: usize, values: Doubles) -> Doubts {
        let (squares, doubts) = values.add_square(Doubles::load(&self.squares, lane));
        squares.store(&mut self.squares, lane);
        Doubles::load(&self.max, lane).max_magnitude(values).store(&mut self.max, lane);
        doubts
    }

    #[inline(always)]
    fn add_all<A: Copy, B: Copy>(&mut self, a: &[A], b: &[B], value: impl Fn(A, B) -> f64) {
        if cfg!(target_arch = "wasm32") {
            let mut values = [0.0; COUNT];
            for (lane, to) in values.iter_mut().enumerate() {
                *to = value(a[lane], b[lane]);
            }
            for lane in (0..COUNT).step_by(Doubles::COUNT) {
                self.add_two(lane, Doubles::load(&values, lane));
            }
            return;
        }
        for lane in 0..COUNT {
            self.add(lane, value(a[lane], b[lane]));
        }
    }

    /// [`Lanes::add`] of two values to the lanes from `lane` on, where a multiply-add of one value takes long.
    #[inline(always)]
    pub fn add_two(&mut self, lane: usize, values: Doubles) {
        let before = [self.squares[lane], self.squares[lane + 1]];
        if self.add_pair(lane, values).are_any() {
            let mut each = [0.0; 2];
            values.store(&mut each, 0);
            for (at, (value, before)) in each.into_iter().zip(before).enumerate() {
                self.squares[lane + at] = value.mul_add(value, before);
            }
        }
    }

    /// The first lanes, for a loop that needs only these registers.
    #[inline(always)]
    pub fn first<const FEWER: usize>(&self) -> Lanes<FEWER> {
        let mut first = Lanes::default();
        first.squares.copy_from_slice(&self.squares[..FEWER]);
        first.max.copy_from_slice(&self.max[..FEWER]);
        first
    }

    /// Stores the first lanes again.
    #[inline(always)]
    pub fn set_first<const FEWER: usize>(&mut self, first: &Lanes<FEWER>) {
        self.squares[..FEWER].copy_from_slice(&first.squares);
        self.max[..FEWER].copy_from_slice(&first.max);
    }

    /// The total of all lanes, in their order.
    pub fn total(&self) -> Partial {
        self.total_of(COUNT)
    }

    /// The total of the last `count` lanes, in their order.
    #[inline(always)]
    fn total_of(&self, count: usize) -> Partial {
        let mut total = Partial::default();
        for lane in 0..COUNT {
            if lane + count >= COUNT {
                total = total + Partial { squares: self.squares[lane], max: self.max[lane] };
            }
        }
        total
    }
}

/// The largest change of values, computed while they are copied.
#[derive(Clone, Copy, Default)]
pub(super) struct Largest {
    lanes: [f64; LANES],
}

impl Largest {
    /// Copies a row `new` to `to`, and compares it with the row `old`; all of one length.
    #[inline(always)]
    pub fn copy_and_compare<R: Real>(&mut self, new: &[R], old: &[R], to: &mut [R]) {
        let width = to.len();
        let (new, old) = (&new[..width], &old[..width]);
        if width < LANES {
            for i in 0..width {
                to[i] = new[i];
                self.add(0, new[i], old[i]);
            }
            return;
        }
        // The last lanes of a row are moved back so that they are full: a value that is compared
        // twice does not change the largest.
        for start in (0..width).step_by(LANES) {
            let start = start.min(width - LANES);
            let (new, old) = (&new[start..start + LANES], &old[start..start + LANES]);
            let to = &mut to[start..start + LANES];
            for lane in 0..LANES {
                to[lane] = new[lane];
                self.add(lane, new[lane], old[lane]);
            }
        }
    }

    #[inline(always)]
    fn add<R: Real>(&mut self, lane: usize, new: R, old: R) {
        let magnitude = (new - old).to_f64().abs();
        let max = self.lanes[lane];
        self.lanes[lane] = if magnitude > max { magnitude } else { max };
    }

    /// The largest of all lanes.
    pub fn total(&self) -> f64 {
        self.lanes.iter().fold(0.0, |a, &b| a.max(b))
    }
}

/// A sum of squares and a maximum over a part of the grid.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::solver) struct Partial {
    pub squares: f64,
    pub max: f64,
}

impl std::ops::Add for Partial {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { squares: self.squares + other.squares, max: self.max.max(other.max) }
    }
}

/// The norms of a part of a cycle (a tile, a band of rows).
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::solver) struct PartialNorms {
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

impl std::iter::Sum for PartialNorms {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |a, b| a + b)
    }
}

impl PartialNorms {
    /// As numbers, to be sent elsewhere.
    #[cfg(feature = "cuda")]
    pub fn to_numbers(self) -> [f64; 4] {
        let Self { first_sweep: Partial { squares, max }, max_change, error_squares } = self;
        [squares, max, max_change, error_squares]
    }

    /// Those of [`PartialNorms::to_numbers`].
    #[cfg(feature = "cuda")]
    pub fn of_numbers([squares, max, max_change, error_squares]: [f64; 4]) -> Self {
        Self { first_sweep: Partial { squares, max }, max_change, error_squares }
    }

    /// The norms of the whole cycle, from the sum of its parts.
    pub fn finish(self, diagonal: f64, with_error: bool) -> CycleNorms {
        CycleNorms {
            residual_before: residual_norms(self.first_sweep, diagonal),
            max_change: Some(self.max_change),
            error: with_error.then(|| self.error_squares.sqrt()),
        }
    }
}

/// Norms of the residual r = d · (u₁ − u₀), from those of u₁ − u₀.
pub(super) fn residual_norms(first_sweep: Partial, diagonal: f64) -> ResidualNorms {
    ResidualNorms {
        l2: first_sweep.squares.sqrt() * diagonal.abs(),
        max: Some(first_sweep.max * diagonal.abs()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::num::f64::{ANY, NORMAL, SUBNORMAL, ZERO};
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![ANY, -1e3..1e3_f64, NORMAL | ZERO, SUBNORMAL | ZERO]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        #[test]
        fn two_values_are_added_as_one_after_the_other(
            values in prop::collection::vec([number(), number()], 1..6),
            shift in 0..40_u32,
        ) {
            // Numbers of few digits, so that there are ties.
            let short = |value: f64| f64::from_bits(value.to_bits() >> shift << shift);
            let (mut one_by_one, mut together) = (Lanes::<2>::default(), Lanes::<2>::default());
            for values in values {
                let pair = [short(values[0]), short(values[1])];
                for (lane, value) in pair.into_iter().enumerate() {
                    one_by_one.add(lane, value);
                }
                together.add_two(0, Doubles::load(&pair, 0));
                for lane in 0..2 {
                    let [sum, other] = [one_by_one.squares[lane], together.squares[lane]];
                    prop_assert!(sum.to_bits() == other.to_bits() || sum.is_nan() && other.is_nan());
                    prop_assert_eq!(one_by_one.max[lane].to_bits(), together.max[lane].to_bits());
                }
            }
        }
    }
}
