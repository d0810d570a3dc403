//! Two f64.

use super::{Doubts, F64x2, Value, Vector, two_sum};
use std::ops::{Add, Mul, Sub};

/// Bits of an f64 but its last 27 digits: what is left has 26 digits, the leading one included.
const HIGH: u64 = !((1 << 27) - 1);
/// Half of the last digit that is left.
const HALF: u64 = 1 << 26;
/// A product may lose digits below 2⁻⁹⁰⁰, since those of its error lie up to 2¹⁰⁶ below it. They count in a result only if
/// that is as small as this.
const SMALL: f64 = f64::from_bits((1023 - 700) << 52);
/// Below this size, a square may.
const SMALL_ROOT: f64 = f64::from_bits((1023 - 450) << 52);

/// Two f64.
#[derive(Clone, Copy, Default)]
pub struct Doubles {
    value: F64x2,
    doubt: F64x2,
}

impl Doubles {
    #[inline(always)]
    pub(super) fn certain(value: F64x2) -> Self {
        Self { value, doubt: F64x2::default() }
    }

    #[inline(always)]
    fn with(self, other: Self, value: F64x2) -> Self {
        Self { value, doubt: self.doubt.or(other.doubt) }
    }

    /// Which of them are infinite or NaN: what overflowed, or came from what did.
    #[inline(always)]
    fn is_infinite(self) -> F64x2 {
        let nothing = self.value.sub(self.value);
        nothing.differs(nothing)
    }

    /// Their squares added to a sum in fused multiply-adds, and which are in doubt.
    #[inline(always)]
    pub fn add_square(self, sum: Self) -> (Self, Doubts) {
        let Fused { value, excess, of_product } = Fused::of(self.value, self.value, sum.value);
        let sum = Self::certain(value);
        let zero = F64x2::default();
        // Squares of f32 lose nothing, and the excess is not rounded.
        let may_be_tie = excess.is_short().and_not(of_product.equal(zero));
        let is_small = self.value.abs().less(F64x2::splat(SMALL_ROOT));
        let is_small = is_small.and_not(self.value.equal(zero));
        (sum, Doubts(self.doubt.or(may_be_tie).or(is_small).or(sum.is_infinite())))
    }

    /// The values of which a mask has all bits; 0 for the others.
    #[inline(always)]
    #[must_use]
    pub fn masked(self, mask: Self) -> Self {
        Self { value: self.value.and(mask.value), doubt: self.doubt }
    }

    /// The larger magnitudes, other than NaN.
    #[inline(always)]
    #[must_use]
    pub fn max_magnitude(self, value: Self) -> Self {
        let magnitude = value.value.abs();
        let is_larger = self.value.less(magnitude);
        self.with(value, is_larger.select(magnitude, self.value))
    }
}

/// A fused multiply-add.
struct Fused {
    value: F64x2,
    /// By how much the sum of the rounded product and the addend is too large.
    excess: F64x2,
    /// By how much the rounded product is.
    of_product: F64x2,
}

impl Fused {
    /// The excess gives the result, unless it was rounded itself and the result would lie exactly between two values. The
    /// sum is at least half as large as the product where it is rounded at all, so that the excess is below four of its
    /// last digits, and halfway between two values it has four digits at most.
    #[inline(always)]
    fn of(a: F64x2, b: F64x2, c: F64x2) -> Self {
        // 26 digits each, rounded and with a sign; 26 and 27 digits: their products have 53 at most.
        let a_high = a.add_bits(F64x2::splat_bits(HALF)).and(F64x2::splat_bits(HIGH));
        let (a_low, b_high) = (a.sub(a_high), b.and(F64x2::splat_bits(HIGH)));
        let b_low = b.sub(b_high);
        let product = a.mul(b);
        // Dekker's product: each difference is exact.
        let of_product = product
            .sub(a_high.mul(b_high))
            .sub(a_high.mul(b_low))
            .sub(a_low.mul(b_high))
            .sub(a_low.mul(b_low));
        let [sum, of_sum] = two_sum(product, c);
        let excess = of_sum.add(of_product);
        Self { value: sum.sub(excess), excess, of_product }
    }
}

impl Add for Doubles {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.with(other, self.value.add(other.value))
    }
}

impl Sub for Doubles {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.with(other, self.value.sub(other.value))
    }
}

impl Mul for Doubles {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.with(other, self.value.mul(other.value))
    }
}

impl Value<f64> for Doubles {
    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self::certain(F64x2::splat(value))
    }

    #[inline(always)]
    fn fma(self, factor: Self, addend: Self) -> Self {
        let Fused { value, excess, .. } = Fused::of(self.value, factor.value, addend.value);
        let doubt = self.doubt.or(factor.doubt).or(addend.doubt);
        Self { value, doubt: doubt.or(excess.is_short()) }
    }

    /// A product that underflows to −0 stays −0 when it is fused with 0.
    #[inline(always)]
    fn exact_fma(self, factor: Self, addend: Self) -> Self {
        let product = self.value.mul(factor.value);
        let zero = F64x2::default();
        let is_product = addend.value.equal(zero).and_not(factor.value.equal(zero));
        let value = is_product.select(product, product.add(addend.value));
        self.with(addend, value).with(factor, value)
    }
}

impl Vector<f64> for Doubles {
    const COUNT: usize = 2;

    #[inline(always)]
    fn load<const LENGTH: usize>(from: &[f64; LENGTH], at: usize) -> Self {
        Self::certain(F64x2::load(from, at))
    }

    #[inline(always)]
    fn store<const LENGTH: usize>(self, to: &mut [f64; LENGTH], at: usize) {
        self.value.store(to, at);
    }

    #[inline(always)]
    fn pair(self, _: usize) -> Doubles {
        self
    }

    #[inline(always)]
    fn doubts(self) -> Doubts {
        let is_small = self.value.abs().less(F64x2::splat(SMALL));
        Doubts(self.doubt.or(is_small).or(self.is_infinite()))
    }
}
