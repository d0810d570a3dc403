//! Accelerations of Jacobi's iteration beside a run, as references.

use crate::problem::Problem;
use crate::run::history::{History, Record};
use crate::run::plan::{Plan, Stop};
use crate::run::spec::StopRule;
use crate::solver::{AcceleratedJacobi, Acceleration, AccelerationError};
use std::sync::Arc;

/// What an acceleration did beside a run.
#[derive(Clone, Debug)]
pub struct AccelerationCurve {
    /// Which one.
    pub acceleration: Acceleration,
    /// Its norms, sweep by sweep; their times are not known (NaN).
    pub records: Arc<[Record]>,
    /// Why there are none; a sentence.
    pub why_not: Option<String>,
}

impl AccelerationCurve {
    /// Whether any of its norms is known.
    pub fn is_known(&self) -> bool {
        self.records.iter().any(|record| record.residual.is_some())
    }

    /// Why an acceleration is not shown, in a sentence.
    pub(super) fn explain(acceleration: Acceleration, why: &AccelerationError) -> String {
        format!("“{}” is not shown: {why}.", acceleration.label())
    }
}

/// The accelerations that were set up beside a run, in the order of [`Acceleration::ALL`].
#[derive(Default)]
pub(super) struct Accelerations([Option<AcceleratedRun>; Acceleration::ALL.len()]);

/// An acceleration on the system of a run, from the same initial guess.
pub(in crate::run) struct AcceleratedRun {
    problem: Arc<Problem>,
    /// ‖r‖₂ at which it ends.
    level: f64,
    /// The tolerance that this follows from.
    tolerance: Option<f64>,
    /// While it can go on.
    iteration: Option<AcceleratedJacobi>,
    history: History,
    why_not: Option<AccelerationError>,
}

impl Accelerations {
    /// One of them, once it was set up.
    pub fn get(&self, acceleration: Acceleration) -> Option<&AcceleratedRun> {
        self.0[acceleration as usize].as_ref()
    }

    /// Makes a sweep of one of them, which is set up if it was not.
    pub fn sweep(&mut self, acceleration: Acceleration, plan: &Plan) {
        match &mut self.0[acceleration as usize] {
            Some(made) => made.sweep(),
            none => *none = Some(AcceleratedRun::new(acceleration, plan)),
        }
    }

    /// Drops those that still have arrays.
    pub fn drop_unfinished(&mut self) {
        for made in &mut self.0 {
            made.take_if(|made| made.iteration.is_some());
        }
    }

    /// Takes over those that another run of the same system has made to the same tolerance, where there is none.
    pub fn take_from(&mut self, other: &mut Self, plan: &Plan) {
        for (own, other) in self.0.iter_mut().zip(&mut other.0) {
            let fits = |it: &mut AcceleratedRun| {
                Arc::ptr_eq(&it.problem, &plan.problem) && it.tolerance == tolerance(&plan.stop)
            };
            if own.is_none() {
                *own = other.take_if(fits);
            }
        }
    }
}

impl AcceleratedRun {
    fn new(acceleration: Acceleration, plan: &Plan) -> Self {
        let radius = plan.known_radius_without_damping();
        let made = AcceleratedJacobi::new(acceleration, &plan.problem, radius);
        let (iteration, why_not) = match made {
            Ok(iteration) => (Some(iteration), None),
            Err(why) => (None, Some(why)),
        };
        let start = iteration.as_ref().map(record).unwrap_or_default();
        let tolerance = tolerance(&plan.stop);
        // Without a tolerance it ends where rounding does.
        let reduction = tolerance.unwrap_or(0.0).max(f64::EPSILON);
        let level = reduction * start.residual.map_or(0.0, |residual| residual.l2);
        let mut made = Self {
            problem: Arc::clone(&plan.problem),
            level,
            tolerance,
            iteration,
            history: History::new(start),
            why_not,
        };
        made.end_at_level();
        made
    }

    /// Whether it can make more sweeps, of which there are to be `goal`.
    pub fn goes_on(&self, goal: u64) -> bool {
        self.iteration.as_ref().is_some_and(|iteration| iteration.sweeps() < goal)
    }

    fn sweep(&mut self) {
        let Some(iteration) = &mut self.iteration else { return };
        match iteration.sweep() {
            Ok(()) => {
                self.history.push(record(iteration));
                self.end_at_level();
            }
            Err(why) => {
                // What it made until then means nothing.
                self.history = History::new(Record::default());
                (self.iteration, self.why_not) = (None, Some(why));
            }
        }
    }

    /// Gives its arrays back where it has come to its end: its residual is small enough, or no number.
    fn end_at_level(&mut self) {
        let residual = self.history.latest().residual.map(|residual| residual.l2);
        if !residual.is_some_and(|residual| residual > self.level && residual.is_finite()) {
            self.iteration = None;
        }
    }

    /// The norms so far.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Why it makes no sweeps.
    pub fn why_not(&self) -> Option<&AccelerationError> {
        self.why_not.as_ref()
    }
}

/// The tolerance of the residual at which a reference stops; that of an update is not a measure of it.
fn tolerance(stop: &Stop) -> Option<f64> {
    stop.tolerance.filter(|_| stop.rule == StopRule::Residual)
}

fn record(iteration: &AcceleratedJacobi) -> Record {
    let residual = Some(iteration.residual());
    Record { residual, ..Record::unknown(iteration.sweeps(), f64::NAN) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::residual_values;
    use crate::run::plan::Planner;
    use crate::run::spec::{ProblemKind, RunSpec};

    fn plan(change: impl FnOnce(&mut RunSpec)) -> Arc<Plan> {
        let mut spec = RunSpec::default();
        (spec.problem.shape, spec.method.tile) = (vec![24, 20], vec![8]);
        change(&mut spec);
        Arc::new(Planner::default().plan(&spec).unwrap())
    }

    /// Sweeps as long as there are some to make, at most this many.
    fn made(acceleration: Acceleration, plan: &Plan, goal: u64) -> AcceleratedRun {
        let mut made = AcceleratedRun::new(acceleration, plan);
        while made.goes_on(goal) {
            made.sweep();
        }
        made
    }

    #[test]
    fn an_acceleration_ends_at_the_tolerance_and_gives_its_arrays_back() {
        for acceleration in Acceleration::ALL {
            let plan = plan(|spec| spec.stop.tolerance = Some(1e-6));
            let short = made(acceleration, &plan, 5);
            assert_eq!((short.history().latest().cycle, short.iteration.is_some()), (5, true));
            let whole = made(acceleration, &plan, u64::MAX);
            let residual = |record: &Record| record.residual.unwrap().l2;
            let start = residual(&whole.history().of(0));
            let u = plan.problem.initial_iterate::<f64>();
            let squares: f64 =
                residual_values(&plan.problem, &u).iter().map(|value| value * value).sum();
            assert!((start - squares.sqrt()).abs() <= 1e-13 * start);
            let last = whole.history().latest();
            assert!(residual(last) <= 1e-6 * start && whole.iteration.is_none());
            assert!(residual(&whole.history().of(last.cycle - 1)) > 1e-6 * start);
            assert!(last.seconds.is_nan(), "nothing is timed");
        }
    }

    #[test]
    fn without_a_tolerance_it_ends_where_rounding_does() {
        let plan = plan(|spec| spec.stop.tolerance = None);
        let made = made(Acceleration::ConjugateGradients, &plan, 24 * 20);
        assert!(made.iteration.is_none() && made.why_not().is_none());
    }

    #[test]
    fn a_matrix_that_is_not_symmetric_has_no_curve_and_a_reason() {
        let plan = plan(|spec| spec.problem.kind = ProblemKind::ConvectionDiffusion);
        for acceleration in Acceleration::ALL {
            let made = made(acceleration, &plan, 9);
            let why = AccelerationCurve::explain(acceleration, made.why_not().unwrap());
            assert!(why.ends_with("is not shown: the matrix is not symmetric."), "{why}");
            assert!(made.history().records().all(|record| record.residual.is_none()));
        }
    }
}
