//! Values side by side, with fused multiply-adds for targets that have none.
//!
//! A sum and a product of two f64 leave errors that are f64 themselves (Møller and Knuth; Dekker). The sum of these
//! errors decides how `a · b + c` is rounded, except where it lies exactly between two values, or where digits are lost
//! below the smallest of them. Such values, all that are small, and what is not finite, are *in doubt*: whoever wants
//! the bits of a fused multiply-add computes these anew, unless all that they come from is 0. Of several fused
//! multiply-adds, each of which is added to the next, only the last result is checked for being small: digits that were
//! lost in those before count in nothing larger, except in a tie. For f32 no value is in doubt: its products are exact
//! in f64, and a sum that is rounded to odd can be rounded again (Boldo and Melquiond, "Emulation of a FMA and
//! correctly rounded sums", 2008).

mod doubles;
#[cfg(not(target_arch = "wasm32"))]
mod portable;
#[cfg(target_arch = "wasm32")]
mod simd128;
mod singles;
#[cfg(test)]
mod tests;

#[cfg(not(target_arch = "wasm32"))]
use portable::{F32x4, F64x2};
#[cfg(target_arch = "wasm32")]
use simd128::{F32x4, F64x2};

pub use doubles::Doubles;
pub use singles::Singles;

use std::ops::{Add, BitOr, Mul, Sub};

/// What the update of a point computes with: one value, or several side by side.
pub trait Value<R>:
    Copy + Default + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// This value, as often as there is room.
    fn splat(value: R) -> Self;
    /// `self · factor + addend`, rounded once.
    fn fma(self, factor: Self, addend: Self) -> Self;
    /// The same where the product is exact, or so small that what it loses does not count beside the addend.
    fn exact_fma(self, factor: Self, addend: Self) -> Self;
}

/// Values side by side.
pub trait Vector<R>: Value<R> {
    /// How many there are.
    const COUNT: usize;
    /// Those from `at` on.
    fn load<const LENGTH: usize>(from: &[R; LENGTH], at: usize) -> Self;
    /// Puts them to where they belong, from `at` on.
    fn store<const LENGTH: usize>(self, to: &mut [R; LENGTH], at: usize);
    /// Two of them in double precision.
    fn pair(self, pair: usize) -> Doubles;
    /// Which of them are in doubt, or come from values that were.
    fn doubts(self) -> Doubts;
}

/// Marks of values that are in doubt; only whether there are any is read.
#[derive(Clone, Copy, Default)]
pub struct Doubts(F64x2);

impl Doubts {
    /// Whether there are any.
    #[inline(always)]
    pub fn are_any(self) -> bool {
        self.0.is_any()
    }
}

impl BitOr for Doubts {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0.or(other.0))
    }
}

/// A sum, rounded, and what it lost.
#[inline(always)]
fn two_sum(a: F64x2, b: F64x2) -> [F64x2; 2] {
    let sum = a.add(b);
    let a_in_sum = sum.sub(b);
    let b_in_sum = sum.sub(a_in_sum);
    // In this order, since what is lost is to be −0 only with its sign changed.
    let excess = a_in_sum.sub(a).add(b_in_sum.sub(b));
    [sum, excess]
}
