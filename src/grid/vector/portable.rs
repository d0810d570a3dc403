//! The same vectors in portable code, of which the compiler makes vector instructions where it can.

use std::array::from_fn;
use std::ops::{Add, Mul, Sub};

/// Values side by side, or a mask: all bits or none of each.
#[derive(Clone, Copy)]
pub(super) struct Packed<T, const N: usize>([T; N]);

/// Two f64.
pub(super) type F64x2 = Packed<f64, 2>;

/// Four f32.
pub(super) type F32x4 = Packed<f32, 4>;

/// All bits, or none.
#[inline(always)]
fn mask(is_set: bool) -> f64 {
    f64::from_bits(if is_set { u64::MAX } else { 0 })
}

impl<T: Copy + Default, const N: usize> Default for Packed<T, N> {
    #[inline(always)]
    fn default() -> Self {
        Self([T::default(); N])
    }
}

impl<T, const N: usize> Packed<T, N>
where
    T: Copy + Add<Output = T> + Sub<Output = T> + Mul<Output = T>,
{
    #[inline(always)]
    fn each(self, value: impl Fn(T) -> T) -> Self {
        Self(from_fn(|i| value(self.0[i])))
    }

    #[inline(always)]
    fn with(self, other: Self, value: impl Fn(T, T) -> T) -> Self {
        Self(from_fn(|i| value(self.0[i], other.0[i])))
    }

    #[inline(always)]
    pub fn splat(value: T) -> Self {
        Self([value; N])
    }

    #[inline(always)]
    pub fn load(from: &[T], at: usize) -> Self {
        Self(from_fn(|i| from[at + i]))
    }

    #[inline(always)]
    pub fn store(self, to: &mut [T], at: usize) {
        to[at..at + N].copy_from_slice(&self.0);
    }

    #[inline(always)]
    pub fn add(self, other: Self) -> Self {
        self.with(other, |a, b| a + b)
    }

    #[inline(always)]
    pub fn sub(self, other: Self) -> Self {
        self.with(other, |a, b| a - b)
    }

    #[inline(always)]
    pub fn mul(self, other: Self) -> Self {
        self.with(other, |a, b| a * b)
    }
}

impl F64x2 {
    #[inline(always)]
    fn bits(self, other: Self, bits: impl Fn(u64, u64) -> u64) -> Self {
        self.with(other, |a, b| f64::from_bits(bits(a.to_bits(), b.to_bits())))
    }

    #[inline(always)]
    pub fn splat_bits(bits: u64) -> Self {
        Self::splat(f64::from_bits(bits))
    }

    #[inline(always)]
    pub fn abs(self) -> Self {
        self.each(f64::abs)
    }

    #[inline(always)]
    pub fn add_bits(self, other: Self) -> Self {
        self.bits(other, u64::wrapping_add)
    }

    #[inline(always)]
    pub fn and(self, other: Self) -> Self {
        self.bits(other, |a, b| a & b)
    }

    /// The bits that the other has not.
    #[inline(always)]
    pub fn and_not(self, other: Self) -> Self {
        self.bits(other, |a, b| a & !b)
    }

    #[inline(always)]
    pub fn or(self, other: Self) -> Self {
        self.bits(other, |a, b| a | b)
    }

    #[inline(always)]
    pub fn xor(self, other: Self) -> Self {
        self.bits(other, |a, b| a ^ b)
    }

    #[inline(always)]
    pub fn less(self, other: Self) -> Self {
        self.with(other, |a, b| mask(a < b))
    }

    #[inline(always)]
    pub fn equal(self, other: Self) -> Self {
        self.with(other, |a, b| mask(a == b))
    }

    #[inline(always)]
    pub fn differs(self, other: Self) -> Self {
        self.with(other, |a, b| mask(a != b))
    }

    /// Which have the bit of the sign.
    #[inline(always)]
    pub fn is_negative(self) -> Self {
        self.each(|a| mask(a.is_sign_negative()))
    }

    /// Marks of those that are not 0, but whose last 32 digits are.
    #[inline(always)]
    pub fn is_short(self) -> Self {
        self.each(|a| {
            let bits = a.to_bits();
            mask((bits & u64::from(u32::MAX) == 0) & (bits != 0))
        })
    }

    /// From `yes` where this mask has bits, else from `no`.
    #[inline(always)]
    pub fn select(self, yes: Self, no: Self) -> Self {
        self.and(yes).or(no.and_not(self))
    }

    #[inline(always)]
    pub fn is_any(self) -> bool {
        let [a, b] = self.0;
        a.to_bits() | b.to_bits() != 0
    }
}

impl F32x4 {
    #[inline(always)]
    fn bits(self, other: Self, bits: impl Fn(u32, u32) -> u32) -> Self {
        self.with(other, |a, b| f32::from_bits(bits(a.to_bits(), b.to_bits())))
    }

    #[inline(always)]
    pub fn equal(self, other: Self) -> Self {
        self.with(other, |a, b| f32::from_bits(if a == b { u32::MAX } else { 0 }))
    }

    #[inline(always)]
    pub fn and_not(self, other: Self) -> Self {
        self.bits(other, |a, b| a & !b)
    }

    #[inline(always)]
    pub fn select(self, yes: Self, no: Self) -> Self {
        let chosen = self.bits(yes, |mask, yes| mask & yes);
        chosen.bits(no.and_not(self), |a, b| a | b)
    }

    /// Marks where there are NaN.
    #[inline(always)]
    pub fn is_nan(self) -> F64x2 {
        let [a, b, c, d] = self.0;
        Packed([mask(a.is_nan() | b.is_nan()), mask(c.is_nan() | d.is_nan())])
    }

    #[inline(always)]
    pub fn low(self) -> F64x2 {
        Packed([f64::from(self.0[0]), f64::from(self.0[1])])
    }

    #[inline(always)]
    pub fn high(self) -> F64x2 {
        Packed([f64::from(self.0[2]), f64::from(self.0[3])])
    }

    /// Rounds.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)]
    pub fn narrow(low: F64x2, high: F64x2) -> Self {
        let ([a, b], [c, d]) = (low.0, high.0);
        Self([a, b, c, d].map(|value| value as f32))
    }
}
