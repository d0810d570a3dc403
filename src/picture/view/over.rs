//! What convergence curves are drawn over.

use crate::run::Record;
use serde::{Deserialize, Serialize};

/// What a convergence curve is drawn over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// Cycles of the first run; a sweep of Jacobi's iteration is a k-th of one.
    #[default]
    Cycles,
    /// Sweeps.
    Sweeps,
    /// Seconds of solver time.
    Seconds,
}

impl Over {
    /// All of them, in the order of menus.
    pub const ALL: [Self; 3] = [Self::Cycles, Self::Sweeps, Self::Seconds];

    /// The name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Sweeps => "sweeps",
            Self::Seconds => "seconds",
        }
    }

    /// What it is, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Cycles => "Cycles of the first run; a sweep of Jacobi's iteration is 1/k of one.",
            Self::Sweeps => "Sweeps.",
            Self::Seconds => "Solver time in seconds.",
        }
    }

    /// The title of the axis.
    pub const fn axis_title(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Sweeps => "sweeps",
            Self::Seconds => "solver time, s",
        }
    }

    /// Where a record lies along the axis, in cycles, sweeps or seconds. Its run makes
    /// `sweeps_per_cycle`; a cycle on the axis is `cycle` sweeps.
    pub fn along(self, record: &Record, sweeps_per_cycle: u64, cycle: u64) -> f64 {
        let sweeps = (record.cycle * sweeps_per_cycle) as f64;
        match self {
            Self::Cycles => sweeps / cycle.max(1) as f64,
            Self::Sweeps => sweeps,
            Self::Seconds => record.seconds,
        }
    }
}
