//! Jacobi's iteration as the baseline of all settings.

use super::measure::CycleTime;
use serde::Serialize;

/// Jacobi's iteration on the same system and machine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClassicBaseline {
    /// The time of a sweep, where times are measured.
    #[serde(skip)]
    pub time: Option<CycleTime>,
    /// Sweeps to the tolerance, where they are known.
    pub sweeps: Option<f64>,
    /// Whether the sweep that it belongs to counts cycles.
    #[serde(skip)]
    pub counts: bool,
}

impl ClassicBaseline {
    /// Seconds to the tolerance.
    pub fn seconds(&self) -> Option<f64> {
        Some(self.sweeps? * self.time?.median)
    }

    /// The cost that [`SweepRow::cost`](super::SweepRow::cost) is compared with.
    pub fn cost(&self) -> Option<f64> {
        match (self.time, self.counts) {
            (Some(_), true) => self.seconds(),
            (Some(time), false) => Some(time.median),
            // A cycle of tiles and a sweep of the grid cannot be compared by number.
            (None, _) => None,
        }
    }
}
