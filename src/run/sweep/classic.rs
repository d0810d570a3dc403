//! Jacobi's iteration, which all settings are compared with.

use super::timing::CycleTime;
use serde::Serialize;

/// Jacobi's iteration on the same system and machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClassicBaseline {
    /// Seconds of a sweep, where times are measured.
    #[serde(skip)]
    pub time: Option<CycleTime>,
    /// Sweeps to the tolerance, where that is known.
    pub sweeps: Option<f64>,
    /// Whether cycles of the settings are counted, which it is compared with.
    #[serde(skip)]
    pub counts: bool,
}

impl ClassicBaseline {
    /// Seconds to the tolerance.
    pub fn seconds(&self) -> Option<f64> {
        Some(self.sweeps? * self.time?.median)
    }

    /// What it has of that of which the best setting has least, see [`SweepRow::cost`](super::SweepRow::cost).
    pub fn cost(&self) -> Option<f64> {
        match (self.time, self.counts) {
            (Some(_), true) => self.seconds(),
            (Some(time), false) => Some(time.median),
            // Cycles of tiles and sweeps of a grid do not compare.
            (None, _) => None,
        }
    }
}
