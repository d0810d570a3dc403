//! The fields that can be shown of an iterate.

use crate::solver::{Quantity, Samples, Solver};
use serde::{Deserialize, Serialize};

/// The fields that can be shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FieldKind {
    /// r = b − A u: by how much each equation is not satisfied; tile borders stand out
    #[default]
    Residual,
    /// u − u*: the distance from the exact solution of the discrete system
    Error,
    /// The update of the last cycle
    // Files have its older name, which older programs read, too.
    #[serde(rename = "change", alias = "update")]
    Change,
    /// u minus Jacobi's iterate after the same number of sweeps: how stale a point is
    Staleness,
    /// The iterate u itself
    Solution,
}

impl FieldKind {
    /// All of them, as they stand in menus.
    pub const ALL: [Self; 5] =
        [Self::Residual, Self::Error, Self::Change, Self::Staleness, Self::Solution];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Residual => "residual",
            Self::Error => "error",
            Self::Change => "update",
            Self::Staleness => "staleness",
            Self::Solution => "solution",
        }
    }

    /// The name in menus and titles.
    pub fn label(self) -> &'static str {
        match self {
            Self::Residual => "Residual",
            Self::Error => "Error",
            Self::Change => "Update",
            Self::Staleness => "Staleness",
            Self::Solution => "Solution",
        }
    }

    /// The name in formulas.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Residual => "r",
            Self::Error => "u − u*",
            Self::Change => "Δu",
            Self::Staleness => "u − u_J",
            Self::Solution => "u",
        }
    }

    /// What it shows, in one sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::Residual => {
                "r = b − A u: by how much each equation is not satisfied. Tile borders stand out."
            }
            Self::Error => {
                "u − u*: the difference from the exact solution. It is smooth: tile borders hardly show."
            }
            Self::Change => "Δu: the update of each point in the last cycle.",
            Self::Staleness => {
                "u minus Jacobi's iterate after the same number of sweeps: how stale a point is. Exactly zero when o ≥ 2(k − 1)."
            }
            Self::Solution => "u: the iterate itself.",
        }
    }

    /// The solver's quantity; staleness is the difference from `classic`.
    pub(in crate::run) fn quantity(self, classic: Option<&dyn Solver>) -> Quantity<'_> {
        match (self, classic) {
            (Self::Residual, _) => Quantity::Residual,
            (Self::Error, _) => Quantity::Error,
            (Self::Change, _) => Quantity::Change,
            (Self::Staleness, Some(classic)) => Quantity::Difference(classic),
            (Self::Staleness, None) | (Self::Solution, _) => Quantity::Solution,
        }
    }
}

/// A sampled field: a map in 2D, or a space–time diagram in 1D.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// The values. In a space–time diagram rows are cycles.
    pub samples: Samples,
    /// In a space–time diagram the cycles from one row to the next; `None` in a map.
    pub cycles_per_row: Option<u64>,
    /// Whether values are the largest along the axis across the slice that the samples name.
    pub is_projection: bool,
}

impl Picture {
    /// A field of one iterate.
    pub(super) fn of_iterate(samples: Samples) -> Self {
        Self { samples, cycles_per_row: None, is_projection: false }
    }
}
