//! Two f64.

use super::{Doubts, F64x2, Value, Vector, two_sum};
use std::ops::{Add, Mul, Sub};

/// Bits of an f64 but its last 27 digits: what is left has 26 digits, the leading one included.
const HIGH: u64 = !((1 << 27) - 1);
/// Half of the last digit that is left.
const HALF: u64 = 1 << 26;
/// Below this size a product may lose digits: those of its error lie up to 2¹⁰⁶ below it.
const SMALL: f64 = f64::from_bits((1023 - 900) << 52);

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

    /// `excess` is by how much the sum of the rounded product and the addend is too large. Subtracted, it gives the
    /// result, unless it was rounded itself and then lies exactly between two values. The sum is at least half as large
    /// as the product where it is rounded at all, so that the excess is below four of the sum's last digits, and halfway
    /// between two values it has four digits at most.
    #[inline(always)]
    fn fma(self, factor: Self, addend: Self) -> Self {
        let (a, b, c) = (self.value, factor.value, addend.value);
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
        let zero = F64x2::default();
        let is_small = product.abs().less(F64x2::splat(SMALL)).and_not(b.equal(zero));
        // It was not rounded where the product lost nothing.
        let may_be_tie = excess.is_short().and_not(of_product.equal(zero));
        let doubt = self.doubt.or(factor.doubt).or(addend.doubt);
        Self { value: sum.sub(excess), doubt: doubt.or(may_be_tie).or(is_small) }
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

    /// What overflowed, or came from what did, is not finite.
    #[inline(always)]
    fn doubts(self) -> Doubts {
        let nothing = self.value.sub(self.value);
        Doubts(self.doubt.or(nothing.differs(nothing)))
    }
}
