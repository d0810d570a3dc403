//! Norms of iterates and of cycles, and which of them are to be found.

use serde::{Deserialize, Serialize};

/// A set of norms: those that are requested of a cycle or of an iterate, or those that a solver finds at
/// no cost ([`Describe::free_norms`](super::Describe::free_norms)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NormRequest {
    /// ‖r‖₂, the residual's. It comes with a cycle at no cost on every back end.
    pub residual_l2: bool,
    /// ‖r‖∞.
    pub residual_max: bool,
    /// ‖Δu‖∞, the largest update of the last cycle.
    pub max_change: bool,
    /// ‖u − u*‖₂, where the exact solution u* of the discrete system is known.
    pub error: bool,
}

/// Two norms of a residual r = b − A u, over all interior points of all systems of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ResidualNorms {
    /// ‖r‖₂, not divided by the number of points.
    pub l2: f64,
    /// ‖r‖∞, where it was requested.
    pub max: Option<f64>,
}

/// Norms of one iterate. What was not requested, or is not known, is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Norms {
    /// The residual's.
    pub residual: Option<ResidualNorms>,
    /// ‖Δu‖∞ of the cycle that made it.
    pub max_change: Option<f64>,
    /// ‖u − u*‖₂.
    pub error: Option<f64>,
}

/// Norms of one cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CycleNorms {
    /// The residual of the iterate that the cycle **started from**: in the first subiteration an owned
    /// point is updated from fresh neighbours, so d·(u₁ − u₀) is its residual.
    pub residual_before: ResidualNorms,
    /// ‖Δu‖∞ between the start and the end of the cycle, where it was requested.
    pub max_change: Option<f64>,
    /// ‖u − u*‖₂ at the end of the cycle, where it was requested and u* is known.
    pub error: Option<f64>,
}

impl NormRequest {
    /// None: the cycles alone.
    pub const NONE: Self =
        Self { residual_l2: false, residual_max: false, max_change: false, error: false };

    /// ‖r‖₂ alone.
    pub const RESIDUAL_L2: Self = Self { residual_l2: true, ..Self::NONE };

    /// Both norms of the residual.
    pub const RESIDUAL: Self = Self { residual_max: true, ..Self::RESIDUAL_L2 };

    /// ‖Δu‖∞ alone.
    pub const MAX_CHANGE: Self = Self { max_change: true, ..Self::NONE };

    /// ‖u − u*‖₂ alone.
    pub const ERROR: Self = Self { error: true, ..Self::NONE };

    /// All of them.
    pub const ALL: Self =
        Self { residual_l2: true, residual_max: true, max_change: true, error: true };

    /// Whether it holds no norm.
    pub fn is_empty(self) -> bool {
        self == Self::NONE
    }

    /// Whether it holds all norms of `other`.
    pub fn covers(self, other: Self) -> bool {
        other.without(self).is_empty()
    }

    /// The norms of this set that are not in `other`.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self {
            residual_l2: self.residual_l2 && !other.residual_l2,
            residual_max: self.residual_max && !other.residual_max,
            max_change: self.max_change && !other.max_change,
            error: self.error && !other.error,
        }
    }
}
