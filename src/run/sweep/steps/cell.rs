//! The measurement of one cell.

use crate::run::plan::Plan;
use crate::run::sweep::measure::{BUDGET, Counting, Timed, Timing};
use crate::run::sweep::outline::SweepCell;
use crate::run::sweep::predict::{CyclePrediction, Predicting};
use crate::run::sweep::row::SweepRow;
use crate::run::sweep::spec::{Measure, Setting};
use crate::run::sweep::stepping::ShouldStop;
use crate::run::sweep::sweep::{MeasureError, Sweep, of_this_setting};
use crate::solver::{Place, SolverError, cuda};
use std::sync::Arc;
use std::task::Poll;

/// Measures one cell: counts its cycles unless they are known, then times a cycle, then predicts the cycles
/// for the comparison.
pub(in crate::run) struct CellMeasurement {
    setting: Setting,
    row: SweepRow,
    phase: CellPhase,
}

enum CellPhase {
    CannotRun(String),
    Begin(Arc<Plan>),
    Count(Arc<Plan>, Box<Counting>),
    Time(Arc<Plan>, Timing),
    Predict(Arc<Plan>, Option<Timed>, Option<Predicting>),
}

impl CellMeasurement {
    /// # Errors
    /// [`MeasureError::Plan`] if a setting that could run no longer can.
    pub fn new(sweep: &mut Sweep, cell: &SweepCell) -> Result<Self, MeasureError> {
        let setting = cell.setting;
        let mut row = sweep.outline().empty_row(&setting);
        let phase = match &cell.cannot_run {
            Some(why) => CellPhase::CannotRun(why.clone()),
            None => {
                let plan = Arc::new(sweep.plan(&setting)?);
                if let Place::Cuda { kernel, .. } = plan.place
                    && let is_per_point = plan.problem.operator.is_per_point()
                    && let Ok(kernel) = cuda::takes(
                        kernel,
                        &plan.method,
                        plan.precision,
                        &plan.problem.shape,
                        is_per_point,
                    )
                {
                    kernel.name().clone_into(&mut row.kernel);
                }
                CellPhase::Begin(plan)
            }
        };
        Ok(Self { setting, row, phase })
    }

    /// # Errors
    /// [`MeasureError`] if the solver fails. That a kernel rejects the setting is not an error: the row says so.
    pub fn step(
        &mut self,
        sweep: &mut Sweep,
        should_stop: ShouldStop<'_>,
    ) -> Result<Poll<SweepRow>, MeasureError> {
        match self.advance(sweep, should_stop) {
            Ok(step) => Ok(step),
            Err(error) => {
                let reason = of_this_setting(error)?;
                Ok(Poll::Ready(self.row.clone().cannot_run(reason)))
            }
        }
    }

    fn advance(
        &mut self,
        sweep: &mut Sweep,
        should_stop: ShouldStop<'_>,
    ) -> Result<Poll<SweepRow>, SolverError> {
        match &mut self.phase {
            CellPhase::CannotRun(reason) => {
                return Ok(Poll::Ready(self.row.clone().cannot_run(reason.clone())));
            }
            CellPhase::Begin(plan) => {
                let plan = Arc::clone(plan);
                let counts = sweep.spec().measures(Measure::Cycles);
                self.phase = if counts && sweep.cache.get(&plan.spec).is_none() {
                    let counting = sweep.counting(&plan)?;
                    CellPhase::Count(plan, Box::new(counting))
                } else {
                    after_count(sweep, plan)?
                };
            }
            CellPhase::Count(plan, counting) => {
                if let Poll::Ready(count) = counting.step()? {
                    let plan = Arc::clone(plan);
                    sweep.cache.insert(&plan.spec, count);
                    self.phase = after_count(sweep, plan)?;
                }
            }
            CellPhase::Time(plan, timing) => {
                if let Poll::Ready(timed) = sweep.step_timing(plan, timing)? {
                    let plan = Arc::clone(plan);
                    let predicting = Predicting::new(&plan);
                    self.phase = CellPhase::Predict(plan, Some(timed), predicting);
                }
            }
            CellPhase::Predict(plan, timed, predicting) => {
                let prediction = match predicting {
                    Some(predicting) => predicting.step(&sweep.predictor, should_stop)?,
                    None => Poll::Ready(None),
                };
                if let Poll::Ready(prediction) = prediction {
                    let (plan, timed) = (Arc::clone(plan), *timed);
                    return Ok(Poll::Ready(self.row(sweep, &plan, timed, prediction)));
                }
            }
        }
        Ok(Poll::Pending)
    }

    fn row(
        &self,
        sweep: &Sweep,
        plan: &Plan,
        timed: Option<Timed>,
        prediction: Option<CyclePrediction>,
    ) -> SweepRow {
        let mut row = self.row.clone();
        if let Some(kernel) = timed.and_then(|timed| timed.kernel) {
            kernel.name().clone_into(&mut row.kernel);
        }
        let counts = sweep.spec().measures(Measure::Cycles);
        let count = counts.then(|| sweep.cache.get(&plan.spec)).flatten();
        // At the machine's speed while the setting was timed.
        let predicted = sweep.model.seconds(&self.setting, plan).zip(timed);
        let predicted = predicted.map(|(seconds, timed)| seconds * timed.slowdown);
        row.with(count, timed.map(|timed| timed.time), predicted, prediction)
    }
}

/// What follows the count: the timing, where times are measured.
fn after_count(sweep: &Sweep, plan: Arc<Plan>) -> Result<CellPhase, SolverError> {
    Ok(if sweep.spec().measures(Measure::Time) {
        let timing = sweep.timing(&plan, BUDGET)?;
        CellPhase::Time(plan, timing)
    } else {
        let predicting = Predicting::new(&plan);
        CellPhase::Predict(plan, None, predicting)
    })
}
