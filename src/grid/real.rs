//! The two floating-point types that the solvers run in.

use super::vector::{Doubles, Singles, Value, Vector};
use serde::{Deserialize, Serialize};

/// A floating-point type of the solvers: `f32` or `f64`.
///
/// All constants are computed in `f64` and rounded once by [`Real::from_f64`].
pub trait Real: Value<Self> + Send + Sync + PartialOrd + std::fmt::Debug + 'static {
    /// Several of them side by side, where fused multiply-adds are software.
    type Vector: Vector<Self>;
    /// Which of the two it is.
    const PRECISION: Precision;
    /// The smallest size beside which all that is smaller than normal is lost in rounding, with some room.
    const FAR_FROM_ZERO: f64;
    /// The nearest value of this type.
    fn from_f64(value: f64) -> Self;
    /// The same value in `f64`, exactly.
    fn to_f64(self) -> f64;
}

macro_rules! real {
    ($type:ty, $vector:ty, $precision:expr) => {
        impl Real for $type {
            type Vector = $vector;
            const PRECISION: Precision = $precision;
            const FAR_FROM_ZERO: f64 = (<$type>::MIN_POSITIVE / <$type>::EPSILON * 8.0) as f64;
            #[inline(always)]
            #[allow(clippy::cast_possible_truncation)]
            fn from_f64(value: f64) -> Self {
                value as $type
            }
            #[inline(always)]
            #[allow(clippy::useless_conversion)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
        }

        impl Value<$type> for $type {
            #[inline(always)]
            fn splat(value: $type) -> Self {
                value
            }
            #[inline(always)]
            fn fma(self, factor: Self, addend: Self) -> Self {
                self.mul_add(factor, addend)
            }
            /// A product that underflows to −0 stays −0 when it is fused with 0.
            #[inline(always)]
            fn exact_fma(self, factor: Self, addend: Self) -> Self {
                let (product, zero) = (self * factor, 0.0);
                let added = product + addend;
                // With `&&` there would be no vectors.
                if (addend == zero) & (factor != zero) { product } else { added }
            }
        }
    };
}

real!(f32, Singles, Precision::F32);
real!(f64, Doubles, Precision::F64);

/// The precision that a run is made in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 32 bits, about 7 digits
    F32,
    /// 64 bits, about 16 digits
    #[default]
    F64,
}

impl Precision {
    /// Both, narrowest first.
    pub const ALL: [Self; 2] = [Self::F32, Self::F64];

    /// Bytes of one value.
    pub fn bytes(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// `f32` or `f64`, as on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// What it is, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::F32 => "Single precision: 32 bits, about 7 decimal digits.",
            Self::F64 => "Double precision: 64 bits, about 16 decimal digits.",
        }
    }
}
