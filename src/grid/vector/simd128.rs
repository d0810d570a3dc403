//! The vectors of WebAssembly.

use std::arch::wasm32::*;

/// Two f64, or a mask: all bits or none of each.
#[derive(Clone, Copy)]
pub(super) struct F64x2(v128);

impl Default for F64x2 {
    #[inline(always)]
    fn default() -> Self {
        Self(u64x2_splat(0))
    }
}

impl F64x2 {
    #[inline(always)]
    pub fn splat(value: f64) -> Self {
        Self(f64x2_splat(value))
    }

    #[inline(always)]
    pub fn splat_bits(bits: u64) -> Self {
        Self(u64x2_splat(bits))
    }

    #[inline(always)]
    pub fn load(from: &[f64], at: usize) -> Self {
        let from = &from[at..at + 2];
        // SAFETY: there are two values; they need not be aligned.
        Self(unsafe { v128_load(from.as_ptr().cast()) })
    }

    #[inline(always)]
    pub fn store(self, to: &mut [f64], at: usize) {
        let to = &mut to[at..at + 2];
        // SAFETY: there is room for two values; it need not be aligned.
        unsafe { v128_store(to.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    pub fn add(self, other: Self) -> Self {
        Self(f64x2_add(self.0, other.0))
    }

    #[inline(always)]
    pub fn sub(self, other: Self) -> Self {
        Self(f64x2_sub(self.0, other.0))
    }

    #[inline(always)]
    pub fn mul(self, other: Self) -> Self {
        Self(f64x2_mul(self.0, other.0))
    }

    #[inline(always)]
    pub fn abs(self) -> Self {
        Self(f64x2_abs(self.0))
    }

    #[inline(always)]
    pub fn add_bits(self, other: Self) -> Self {
        Self(i64x2_add(self.0, other.0))
    }

    #[inline(always)]
    pub fn and(self, other: Self) -> Self {
        Self(v128_and(self.0, other.0))
    }

    /// The bits that the other has not.
    #[inline(always)]
    pub fn and_not(self, other: Self) -> Self {
        Self(v128_andnot(self.0, other.0))
    }

    #[inline(always)]
    pub fn or(self, other: Self) -> Self {
        Self(v128_or(self.0, other.0))
    }

    #[inline(always)]
    pub fn xor(self, other: Self) -> Self {
        Self(v128_xor(self.0, other.0))
    }

    #[inline(always)]
    pub fn less(self, other: Self) -> Self {
        Self(f64x2_lt(self.0, other.0))
    }

    #[inline(always)]
    pub fn equal(self, other: Self) -> Self {
        Self(f64x2_eq(self.0, other.0))
    }

    #[inline(always)]
    pub fn differs(self, other: Self) -> Self {
        Self(f64x2_ne(self.0, other.0))
    }

    /// Which have the bit of the sign.
    #[inline(always)]
    pub fn is_negative(self) -> Self {
        Self(i64x2_lt(self.0, u64x2_splat(0)))
    }

    /// Marks of those that are not 0, but whose last 32 digits are.
    #[inline(always)]
    pub fn is_short(self) -> Self {
        let zero = u64x2_splat(0);
        // Words that are 0, as a number: positive where the lower one alone is.
        Self(i64x2_gt(i32x4_eq(self.0, zero), zero))
    }

    /// From `yes` where this mask has bits, else from `no`.
    #[inline(always)]
    pub fn select(self, yes: Self, no: Self) -> Self {
        Self(v128_bitselect(yes.0, no.0, self.0))
    }

    #[inline(always)]
    pub fn is_any(self) -> bool {
        v128_any_true(self.0)
    }
}

/// Four f32, or a mask.
#[derive(Clone, Copy)]
pub(super) struct F32x4(v128);

impl Default for F32x4 {
    #[inline(always)]
    fn default() -> Self {
        Self(u64x2_splat(0))
    }
}

impl F32x4 {
    #[inline(always)]
    pub fn splat(value: f32) -> Self {
        Self(f32x4_splat(value))
    }

    #[inline(always)]
    pub fn load(from: &[f32], at: usize) -> Self {
        let from = &from[at..at + 4];
        // SAFETY: there are four values; they need not be aligned.
        Self(unsafe { v128_load(from.as_ptr().cast()) })
    }

    #[inline(always)]
    pub fn store(self, to: &mut [f32], at: usize) {
        let to = &mut to[at..at + 4];
        // SAFETY: there is room for four values; it need not be aligned.
        unsafe { v128_store(to.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    pub fn add(self, other: Self) -> Self {
        Self(f32x4_add(self.0, other.0))
    }

    #[inline(always)]
    pub fn sub(self, other: Self) -> Self {
        Self(f32x4_sub(self.0, other.0))
    }

    #[inline(always)]
    pub fn mul(self, other: Self) -> Self {
        Self(f32x4_mul(self.0, other.0))
    }

    #[inline(always)]
    pub fn equal(self, other: Self) -> Self {
        Self(f32x4_eq(self.0, other.0))
    }

    #[inline(always)]
    pub fn and_not(self, other: Self) -> Self {
        Self(v128_andnot(self.0, other.0))
    }

    #[inline(always)]
    pub fn select(self, yes: Self, no: Self) -> Self {
        Self(v128_bitselect(yes.0, no.0, self.0))
    }

    /// Marks where there are NaN.
    #[inline(always)]
    pub fn is_nan(self) -> F64x2 {
        F64x2(f32x4_ne(self.0, self.0))
    }

    #[inline(always)]
    pub fn low(self) -> F64x2 {
        F64x2(f64x2_promote_low_f32x4(self.0))
    }

    #[inline(always)]
    pub fn high(self) -> F64x2 {
        F64x2(f64x2_promote_low_f32x4(u64x2_shuffle::<1, 1>(self.0, self.0)))
    }

    /// Rounds.
    #[inline(always)]
    pub fn narrow(low: F64x2, high: F64x2) -> Self {
        let low = f32x4_demote_f64x2_zero(low.0);
        Self(u64x2_shuffle::<0, 2>(low, f32x4_demote_f64x2_zero(high.0)))
    }
}
