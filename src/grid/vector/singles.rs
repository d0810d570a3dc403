//! Four f32.

use super::{Doubles, Doubts, F32x4, F64x2, Value, Vector, two_sum};
use std::ops::{Add, Mul, Sub};

/// Four f32.
#[derive(Clone, Copy, Default)]
pub struct Singles(F32x4);

/// A sum of which the last digit tells that it is not exact: such a sum can be rounded again.
#[inline(always)]
fn sum_to_odd(a: F64x2, b: F64x2) -> F64x2 {
    let [sum, excess] = two_sum(a, b);
    let is_inexact = excess.differs(F64x2::default());
    // Towards 0, if it was rounded away from it; then to the odd one of the two values around it.
    let was_enlarged = is_inexact.and_not(sum.xor(excess).is_negative());
    sum.add_bits(was_enlarged).or(is_inexact.and(F64x2::splat_bits(1)))
}

impl Add for Singles {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0.add(other.0))
    }
}

impl Sub for Singles {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(self.0.sub(other.0))
    }
}

impl Mul for Singles {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(self.0.mul(other.0))
    }
}

impl Value<f32> for Singles {
    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self(F32x4::splat(value))
    }

    #[inline(always)]
    fn fma(self, factor: Self, addend: Self) -> Self {
        let (a, b, c) = (self.0, factor.0, addend.0);
        let low = sum_to_odd(a.low().mul(b.low()), c.low());
        let high = sum_to_odd(a.high().mul(b.high()), c.high());
        Self(F32x4::narrow(low, high))
    }

    #[inline(always)]
    fn exact_fma(self, factor: Self, addend: Self) -> Self {
        let product = self.0.mul(factor.0);
        let zero = F32x4::default();
        let is_product = addend.0.equal(zero).and_not(factor.0.equal(zero));
        Self(is_product.select(product, product.add(addend.0)))
    }
}

impl Vector<f32> for Singles {
    const COUNT: usize = 4;

    #[inline(always)]
    fn load<const LENGTH: usize>(from: &[f32; LENGTH], at: usize) -> Self {
        Self(F32x4::load(from, at))
    }

    #[inline(always)]
    fn store<const LENGTH: usize>(self, to: &mut [f32; LENGTH], at: usize) {
        self.0.store(to, at);
    }

    #[inline(always)]
    fn pair(self, pair: usize) -> Doubles {
        Doubles::certain(if pair == 0 { self.0.low() } else { self.0.high() })
    }

    /// Infinities and NaN have no last digit.
    #[inline(always)]
    fn doubts(self) -> Doubts {
        Doubts(self.0.sub(self.0).is_nan())
    }
}
