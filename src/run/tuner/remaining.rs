//! An estimate of the time that a sweep still takes.

use crate::run::sweep::{CostPrediction, SweepOutline};
use crate::solver::Subiterations;

/// Estimated seconds for timing a setting.
const TIMING: f64 = 0.7;

/// The largest number of cycles that an estimate assumes.
const MOST_CYCLES: f64 = 1e9;

/// Seconds per point of k where no time of a cycle is predicted.
const SECONDS_PER_SWEEP: f64 = 1e-6;

/// The predicted time of the remaining cells, scaled by how long the measured ones took.
pub(super) struct RemainingTime {
    /// Predicted seconds of each cell; 0 once it is measured.
    cells: Vec<f64>,
    /// Predicted seconds of the measured cells.
    predicted: f64,
    /// Their measured seconds.
    measured: f64,
}

impl RemainingTime {
    /// Before any cell is measured; `times` says whether cells are timed.
    pub fn new(outline: &SweepOutline, predictions: &[CostPrediction], times: bool) -> Self {
        let mut cells = vec![0.0; outline.cells.len()];
        for CostPrediction { index, cycles, seconds_per_cycle, .. } in predictions {
            let sweeps = outline.cells[*index].setting.cycle.sweeps();
            let k = sweeps.unwrap_or(Subiterations::Infinite.followed()) as f64;
            let counting = cycles.map_or(0.0, |cycles| {
                cycles.cycles.min(MOST_CYCLES) * seconds_per_cycle.unwrap_or(SECONDS_PER_SWEEP * k)
            });
            cells[*index] = counting + if times { TIMING } else { 0.0 };
        }
        Self { cells, predicted: 0.0, measured: 0.0 }
    }

    /// Takes the time of a cell, and returns the estimated seconds of the remaining ones.
    pub fn measured<'a>(
        &mut self,
        index: usize,
        seconds: f64,
        remaining: impl Iterator<Item = &'a usize>,
    ) -> f64 {
        self.predicted += std::mem::take(&mut self.cells[index]);
        self.measured += seconds;
        let scale = if self.predicted > 0.0 { self.measured / self.predicted } else { 1.0 };
        scale * remaining.map(|index| self.cells[*index]).sum::<f64>()
    }
}
