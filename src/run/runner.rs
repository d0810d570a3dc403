//! The loop of a run: cycles, their norms, and when to stop.

use super::history::{History, Record};
use super::plan::Plan;
use super::spec::StopRule;
use crate::grid::memory::OutOfMemory;
use crate::solver::{self, Method, ResidualNorms, Solver};
use std::sync::Arc;
use std::time::Instant;

/// Once the residual is within this factor of its tolerance, every iterate's is measured at once,
/// so that a run stops exactly at the first that meets it. Before, the residual of an iterate
/// comes for nothing with the next cycle.
const NEAR: f64 = 1.25;

/// So many cycles of growth on end are steady growth …
const GROWING_CYCLES: u32 = 50;

/// … once the residual is this many times the smallest that it was.
const GROWTH: f64 = 10.0;

/// Why a run came to its end.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// What was to be small enough is.
    Converged,
    /// The limit of cycles was reached before.
    OutOfCycles,
    /// It will never converge.
    Diverged(Divergence),
}

/// How a run was seen to diverge.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Divergence {
    /// A NaN or an infinity turned up.
    #[error("the iterate is no longer finite at cycle {cycle}{hint}")]
    NotFinite {
        /// In which cycle.
        cycle: u64,
        /// What to change.
        hint: String,
    },
    /// The residual keeps growing.
    #[error(
        "the residual has grown for {GROWING_CYCLES} cycles on end, to {ratio:.1e} times the start's, at cycle {cycle}{hint}"
    )]
    Growing {
        /// In which cycle.
        cycle: u64,
        /// ‖r‖₂ / ‖r₀‖₂.
        ratio: f64,
        /// What to change.
        hint: String,
    },
}

/// Why a run cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Its arrays do not fit.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
}

/// A run under way: a solver, its history, and how it ended.
pub struct Run {
    plan: Arc<Plan>,
    method: Method,
    solver: Box<dyn Solver>,
    history: History,
    cycle: u64,
    seconds: f64,
    /// ‖r₀‖₂.
    start: f64,
    growth: Growth,
    outcome: Option<Outcome>,
}

impl Run {
    /// Sets up a run at its start.
    ///
    /// # Errors
    /// [`RunError`] if its arrays do not fit.
    pub fn new(plan: &Arc<Plan>) -> Result<Self, RunError> {
        let method = plan.method.clone();
        let solver = solver::on_cpu(&plan.problem, method.clone(), plan.precision, plan.threads)?;
        Ok(Self::at_start(Arc::clone(plan), method, solver))
    }

    /// Another run of the same system, from the start; what can be shared is shared.
    ///
    /// # Errors
    /// [`RunError`] if its arrays do not fit.
    pub fn with_plan(&self, plan: &Arc<Plan>) -> Result<Self, RunError> {
        let solver = self.solver.with_method(plan.method.clone())?;
        Ok(Self::at_start(Arc::clone(plan), plan.method.clone(), solver))
    }

    /// Jacobi's iteration on the same system, from the start. It may make as many sweeps as this
    /// run, and more, to the tolerance of the residual; the largest change of a sweep is no measure
    /// for that of a cycle, so a tolerance of the change does not end it.
    ///
    /// # Errors
    /// [`RunError`] if its arrays do not fit.
    pub fn classic(&self) -> Result<Self, RunError> {
        let solver = self.solver.with_method(Method::Classic)?;
        let mut plan = Plan::clone(&self.plan);
        plan.stop.max_cycles = plan.stop.max_cycles.saturating_mul(self.sweeps_per_cycle());
        if plan.stop.rule == StopRule::Change {
            plan.stop.tolerance = None;
        }
        Ok(Self::at_start(Arc::new(plan), Method::Classic, solver))
    }

    fn at_start(plan: Arc<Plan>, method: Method, solver: Box<dyn Solver>) -> Self {
        let residual = solver.residual();
        let history = History::new(Record {
            cycle: 0,
            seconds: 0.0,
            residual: Some(residual),
            max_change: None,
            error: solver.error(),
        });
        let mut run = Self {
            plan,
            method,
            solver,
            history,
            cycle: 0,
            seconds: 0.0,
            start: residual.l2,
            growth: Growth { last: residual.l2, smallest: residual.l2, cycles: 0 },
            outcome: None,
        };
        run.outcome = run.outcome_at(run.history.latest());
        run
    }

    /// Makes one cycle, unless the run has come to its end, and says whether it has.
    pub fn advance(&mut self) -> Option<&Outcome> {
        if self.outcome.is_some() {
            return self.outcome.as_ref();
        }
        let begin = Instant::now();
        let norms = self.solver.cycle();
        let residual = self.is_near(norms.residual_before).then(|| self.solver.residual());
        self.seconds += begin.elapsed().as_secs_f64();
        self.history.set_residual(self.cycle, norms.residual_before);
        let before = *self.history.latest();
        if before.cycle == self.cycle && self.is_converged(&before) {
            // The iterate before was good enough already, which shows only now.
            self.return_to(before.cycle);
            self.outcome = Some(Outcome::Converged);
            return self.outcome.as_ref();
        }
        self.growth.watch(norms.residual_before.l2);
        self.cycle += 1;
        self.history.push(Record {
            cycle: self.cycle,
            seconds: self.seconds,
            residual,
            max_change: Some(norms.max_change),
            error: norms.error,
        });
        if self.cycle >= self.plan.stop.max_cycles {
            // No further cycle would tell whether the last iterate is good enough.
            self.settle();
        }
        self.outcome = self.outcome_at(self.history.latest());
        if self.outcome.is_some() {
            self.settle();
        }
        self.outcome.as_ref()
    }

    /// Measures the norms of the present iterate that are not known yet: for whoever stops to
    /// look. It takes a pass over the grid for each.
    pub fn settle(&mut self) {
        let latest = self.history.latest();
        let (residual, error) = (latest.residual.is_none(), latest.error.is_none());
        if residual {
            self.history.set_residual(self.cycle, self.solver.residual());
        }
        if let Some(error) = error.then(|| self.solver.error()).flatten() {
            self.history.set_error(self.cycle, error);
        }
    }

    /// Goes to an earlier cycle, by way of the start; the history stays. It takes as long as the
    /// cycles from the start to there, without their norms.
    pub fn return_to(&mut self, cycle: u64) {
        self.rewind();
        while self.cycle < cycle {
            self.replay();
        }
    }

    /// Goes back to the start; the history stays.
    pub fn rewind(&mut self) {
        self.solver.restart();
        self.cycle = 0;
    }

    /// Makes one cycle that was made before, without its norms.
    pub fn replay(&mut self) {
        self.solver.cycle_unmeasured();
        self.cycle += 1;
    }

    /// Makes one cycle, whether it was made before or not, and past the run's end too.
    pub fn step(&mut self) {
        if self.cycle < self.history.latest().cycle || self.outcome.is_some() {
            self.replay();
        } else {
            self.advance();
        }
    }

    /// Takes the exact solution in, so that errors are told from now on.
    pub fn set_exact(&mut self, exact: Arc<crate::grid::Field<f64>>) {
        self.solver.set_exact(exact);
    }

    /// The plan that it follows.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The solver, to look at its fields.
    pub fn solver(&self) -> &dyn Solver {
        &*self.solver
    }

    /// The norms of all iterates so far.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Cycles made.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Sweeps made.
    pub fn sweeps(&self) -> u64 {
        self.cycle * self.sweeps_per_cycle()
    }

    /// Sweeps that a cycle makes.
    pub fn sweeps_per_cycle(&self) -> u64 {
        self.method.sweeps_per_cycle() as u64
    }

    /// Seconds that the solver took, set-up and looking at fields not counted.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// ‖r₀‖₂.
    pub fn start_residual(&self) -> f64 {
        self.start
    }

    /// How it ended, if it has.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    fn is_near(&self, residual: ResidualNorms) -> bool {
        let stop = self.plan.stop;
        let near = |tolerance: f64| residual.l2 <= NEAR * tolerance * self.start;
        stop.rule == StopRule::Residual && stop.tolerance.is_some_and(near)
    }

    fn is_converged(&self, record: &Record) -> bool {
        let reduction = record.residual.map(|residual| {
            // A start that solves the system has nothing left to reduce.
            if residual.l2 == 0.0 { 0.0 } else { residual.l2 / self.start }
        });
        self.plan.stop.is_met(reduction, record.max_change)
    }

    fn outcome_at(&self, record: &Record) -> Option<Outcome> {
        let cycle = record.cycle;
        let hint = || {
            if self.plan.problem.stencil.is_dominant() {
                String::new()
            } else {
                let dominance = self.plan.problem.stencil.dominance();
                format!(
                    "; the matrix is not diagonally dominant (Σ|w| = {dominance:.3} > 1): lower the velocity, raise the diagonal, or refine the grid"
                )
            }
        };
        let finite = self.growth.last.is_finite()
            && record.residual.is_none_or(|residual| residual.l2.is_finite())
            && record.max_change.is_none_or(f64::is_finite);
        if !finite {
            return Some(Outcome::Diverged(Divergence::NotFinite { cycle, hint: hint() }));
        }
        if self.is_converged(record) {
            return Some(Outcome::Converged);
        }
        if self.growth.is_steady() {
            let ratio = self.growth.last / self.start;
            return Some(Outcome::Diverged(Divergence::Growing { cycle, ratio, hint: hint() }));
        }
        (cycle >= self.plan.stop.max_cycles).then_some(Outcome::OutOfCycles)
    }
}

/// The residual, watched for steady growth.
#[derive(Clone, Copy, Debug)]
struct Growth {
    last: f64,
    smallest: f64,
    /// Cycles on end in which it grew.
    cycles: u32,
}

impl Growth {
    fn watch(&mut self, residual: f64) {
        self.cycles = if residual > self.last { self.cycles + 1 } else { 0 };
        self.last = residual;
        self.smallest = self.smallest.min(residual);
    }

    fn is_steady(&self) -> bool {
        self.cycles >= GROWING_CYCLES && self.last > GROWTH * self.smallest
    }
}
