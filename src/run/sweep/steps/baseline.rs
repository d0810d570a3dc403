//! The measurement of Jacobi's iteration.

use crate::run::plan::Plan;
use crate::run::spec::{MethodName, StopRule};
use crate::run::sweep::baseline::ClassicBaseline;
use crate::run::sweep::measure::{BUDGET, CountOutcome, Counting, CycleCount, CycleTime, Timing};
use crate::run::sweep::spec::Measure;
use crate::run::sweep::sweep::{MeasureError, Sweep};
use crate::solver::Kernel;
use std::sync::Arc;
use std::task::Poll;

/// Measures Jacobi's iteration on the same system: the time of a sweep, and the sweeps to the tolerance. The
/// latter follow from its modes where these are sines; elsewhere they are counted, if cycles are.
pub(in crate::run) struct BaselineMeasurement {
    plan: Arc<Plan>,
    timing: Option<Timing>,
    time: Option<CycleTime>,
    counting: Option<Counting>,
}

impl BaselineMeasurement {
    /// # Errors
    /// [`MeasureError`] if the run is not possible.
    pub fn new(sweep: &mut Sweep) -> Result<Self, MeasureError> {
        let mut run = sweep.spec().run.clone();
        run.method.backend = sweep.outline().backend;
        run.method.set_name(MethodName::Classic);
        // One device makes the same sweeps; bands of rows may be too few for several.
        (run.method.simulate_devices, run.method.exchange_every) = (None, None);
        run.method.link = None;
        run.method.kernel = Kernel::AUTO;
        let plan = Arc::new(sweep.plan_run(&run)?);
        let times = sweep.spec().measures(Measure::Time);
        let timing = if times { Some(sweep.timing(&plan, BUDGET)?) } else { None };
        Ok(Self { plan, timing, time: None, counting: None })
    }

    /// # Errors
    /// [`MeasureError`] if a solver fails.
    pub fn step(&mut self, sweep: &mut Sweep) -> Result<Poll<ClassicBaseline>, MeasureError> {
        if let Some(timing) = &mut self.timing {
            if let Poll::Ready(timed) = sweep.step_timing(&self.plan, timing)? {
                (self.time, self.timing) = (Some(timed.time), None);
            }
            return Ok(Poll::Pending);
        }
        let counts = sweep.spec().measures(Measure::Cycles);
        let sweeps = if let Some(counting) = &mut self.counting {
            let Poll::Ready(count) = counting.step()? else { return Ok(Poll::Pending) };
            sweep.cache.insert(&self.plan.spec, count);
            converged(count)
        } else if let Some(tolerance) = self.plan.stop.tolerance {
            let is_residual = self.plan.stop.rule == StopRule::Residual;
            let spectrum = is_residual.then(|| sweep.predictor.spectrum(&self.plan)).flatten();
            match (spectrum, sweep.cache.get(&self.plan.spec)) {
                (Some(spectrum), _) => Some(spectrum.sweeps(tolerance)),
                (None, Some(count)) => converged(count),
                (None, None) if !counts => None,
                (None, None) => {
                    self.counting = Some(sweep.counting(&self.plan)?);
                    return Ok(Poll::Pending);
                }
            }
        } else {
            None
        };
        let sweeps = sweeps.filter(|sweeps| sweeps.is_finite());
        Ok(Poll::Ready(ClassicBaseline { time: self.time, sweeps, counts }))
    }
}

/// The cycles of a count that met the tolerance.
fn converged(count: CycleCount) -> Option<f64> {
    (count.outcome == CountOutcome::Converged).then_some(count.cycles as f64)
}
