//! Predictions for all settings that can run.

use crate::run::sweep::measure::{CountOutcome, CycleCount};
use crate::run::sweep::predict::{CostPrediction, CyclePrediction, Predicting};
use crate::run::sweep::spec::Measure;
use crate::run::sweep::stepping::ShouldStop;
use crate::run::sweep::sweep::{MeasureError, Sweep};
use crate::solver::SolverError;
use rayon::prelude::*;
use std::collections::VecDeque;
use std::task::Poll;

/// Predicts the cost of the settings that can run: seconds per cycle by the cost model, cycles by the modes
/// of the iteration. Cycles that were counted before are taken as they are.
pub(in crate::run) struct Predictions {
    /// Indices of cells that are still to be predicted.
    cells: VecDeque<usize>,
    /// Cells whose cycles are being predicted, one per thread.
    active: Vec<Active>,
    predictions: Vec<CostPrediction>,
    /// How many of the predictions were taken by [`Predictions::take_new`].
    taken: usize,
}

/// A prediction under way.
struct Active {
    index: usize,
    seconds_per_cycle: Option<f64>,
    predicting: Predicting,
}

impl Predictions {
    pub fn new(sweep: &Sweep) -> Self {
        let cells = sweep.cells().iter().zip(0..);
        let cells = cells.filter(|(cell, _)| cell.cannot_run.is_none()).map(|(_, index)| index);
        Self { cells: cells.collect(), active: Vec::new(), predictions: Vec::new(), taken: 0 }
    }

    /// Takes a step for one setting per thread. The predictions are in the order of the cells.
    ///
    /// # Errors
    /// [`MeasureError`] if a solver fails, or a plan is no longer possible.
    pub fn step(
        &mut self,
        sweep: &mut Sweep,
        should_stop: ShouldStop<'_>,
    ) -> Result<Poll<Vec<CostPrediction>>, MeasureError> {
        while self.active.len() < rayon::current_num_threads()
            && let Some(index) = self.cells.pop_front()
        {
            self.begin(sweep, index)?;
        }
        let predictor = &sweep.predictor;
        let step = |active: &mut Active| active.predicting.step(predictor, should_stop);
        let steps: Vec<_> =
            self.active.par_iter_mut().map(step).collect::<Result<_, SolverError>>()?;
        let active = std::mem::take(&mut self.active);
        for (active, step) in active.into_iter().zip(steps) {
            match step {
                Poll::Pending => self.active.push(active),
                Poll::Ready(cycles) => {
                    self.push(sweep, active.index, cycles, active.seconds_per_cycle);
                }
            }
        }
        if !self.active.is_empty() || !self.cells.is_empty() {
            return Ok(Poll::Pending);
        }
        let mut predictions = std::mem::take(&mut self.predictions);
        predictions.sort_unstable_by_key(|prediction| prediction.index);
        Ok(Poll::Ready(predictions))
    }

    /// The predictions that were made since the last call, before the last step.
    pub fn take_new(&mut self) -> Vec<CostPrediction> {
        let new = self.predictions[self.taken..].to_vec();
        self.taken = self.predictions.len();
        new
    }

    fn begin(&mut self, sweep: &mut Sweep, index: usize) -> Result<(), MeasureError> {
        let setting = sweep.cells()[index].setting;
        let plan = std::sync::Arc::new(sweep.plan(&setting)?);
        let seconds_per_cycle = sweep.model.seconds(&setting, &plan);
        match (sweep.cache.get(&plan.spec), Predicting::new(&plan)) {
            (Some(CycleCount { cycles, outcome: CountOutcome::Converged, .. }), _) => {
                let counted = CyclePrediction { cycles: cycles as f64, error: 0.0 };
                self.push(sweep, index, Some(counted), seconds_per_cycle);
            }
            (_, Some(predicting)) => {
                self.active.push(Active { index, seconds_per_cycle, predicting });
            }
            (_, None) => self.push(sweep, index, None, seconds_per_cycle),
        }
        Ok(())
    }

    fn push(
        &mut self,
        sweep: &Sweep,
        index: usize,
        cycles: Option<CyclePrediction>,
        seconds_per_cycle: Option<f64>,
    ) {
        let cycle = sweep.cells()[index].setting.cycle;
        let counts = sweep.spec().measures(Measure::Cycles);
        self.predictions.push(CostPrediction::new(index, cycle, cycles, seconds_per_cycle, counts));
    }
}
