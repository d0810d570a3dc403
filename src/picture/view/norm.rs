//! The norm that convergence curves show.

use crate::run::{Record, StopRule, StopSpec, reduction};
use serde::{Deserialize, Serialize};

/// The norm that a convergence curve shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Norm {
    /// ‖r‖₂ / ‖r₀‖₂.
    #[default]
    Residual,
    /// ‖r‖∞.
    ResidualMax,
    /// ‖Δu‖∞.
    Update,
    /// ‖u − u*‖₂.
    Error,
}

impl Norm {
    /// All of them, in the order of menus.
    pub const ALL: [Self; 4] = [Self::Residual, Self::ResidualMax, Self::Update, Self::Error];

    /// The name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Residual => "residual",
            Self::ResidualMax => "residual-max",
            Self::Update => "update",
            Self::Error => "error",
        }
    }

    /// The formula, which is the title of the axis.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Residual => "‖r‖₂ / ‖r₀‖₂",
            Self::ResidualMax => "‖r‖∞",
            Self::Update => "‖Δu‖∞",
            Self::Error => "‖u − u*‖₂",
        }
    }

    /// What it is, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Residual => "The residual relative to that of the initial guess.",
            Self::ResidualMax => "The largest residual of any point.",
            Self::Update => "The largest update of any point in the last cycle.",
            Self::Error => {
                "The error: the distance from the exact solution of the discrete system."
            }
        }
    }

    /// Its value for an iterate, where that is known. `start_residual` is ‖r₀‖₂.
    pub fn of(self, record: &Record, start_residual: f64) -> Option<f64> {
        match self {
            Self::Residual => Some(reduction(record.residual?.l2, start_residual)),
            Self::ResidualMax => record.residual?.max,
            Self::Update => record.max_change,
            Self::Error => record.error,
        }
    }

    /// The value of this norm at which a run stops, if it does by this norm.
    pub fn tolerance(self, stop: &StopSpec, sweeps_per_cycle: u64) -> Option<f64> {
        let tolerance = stop.tolerance?;
        match (self, stop.rule) {
            (Self::Residual, StopRule::Residual) | (Self::Update, StopRule::Change) => {
                Some(tolerance)
            }
            (Self::Update, StopRule::ChangePerSweep) => Some(tolerance * sweeps_per_cycle as f64),
            _ => None,
        }
    }
}
