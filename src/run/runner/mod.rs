//! The loop of a run: cycles, their norms, and when to stop.

mod back;
mod checkpoint;
mod circling;
pub(in crate::run) mod confirm;
mod convergence_forecast;
mod error_left;
pub(in crate::run) mod fingerprint;
mod growth;
#[cfg(not(target_arch = "wasm32"))]
mod in_store;
mod proposals;
mod store;
mod stored;
#[cfg(test)]
mod tests;

use crate::clock::Instant;
use crate::grid::Field;
use crate::number::{ratio, two_digits};
use crate::pauses::LONGEST_PIECE;
use crate::run::history::{History, Record};
use crate::run::plan::{Plan, Stop};
use crate::run::spec::StopRule;
use crate::solver::{
    self, CycleNorms, Devices, Kernel, Method, NextCycle, NormRequest, RankOf, ResidualNorms,
    Solver, SolverError, StopToken, Subiterations,
};
use back::Back;
use checkpoint::Checkpoint;
use circling::Circling;
use confirm::TrueResidual;
use convergence_forecast::ConvergenceForecast;
use growth::{GROWING_CYCLES, Growth};
#[cfg(not(target_arch = "wasm32"))]
pub use in_store::StoredRunError;
use proposals::Proposals;
use std::sync::Arc;
use std::time::Duration;
pub use store::Store;
#[cfg(not(target_arch = "wasm32"))]
pub use store::StoreError;
use store::Stored;

/// Once the tolerance of the residual may be met within this number of cycles, every iterate's is measured
/// at once, so that a run stops exactly at the first that meets it. Before, the residual of an
/// iterate comes at no cost with the next cycle.
const NEAR: u64 = 4;

/// Why a run came to its end.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The tolerance was met.
    Converged,
    /// Rounding keeps every later cycle from changing the iterate, or from changing more than its last digits, to no
    /// effect. It did not converge, if a tolerance was in force.
    RoundingLimit,
    /// The limit of cycles was reached before.
    OutOfCycles,
    /// It will never converge.
    Diverged(Divergence),
}

/// How a run diverged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Divergence {
    /// The norm of the residual is a NaN or an infinity.
    #[error("the norm of the residual is no longer finite at cycle {cycle}{hint}")]
    NotFinite {
        /// In which cycle.
        cycle: u64,
        /// What to change.
        hint: String,
    },
    /// The initial guess or the right-hand side is so large that the residual has no finite norm.
    #[error(
        "‖r₀‖₂, the norm of the first residual, is too large for a number of 64 bits; lower the right-hand side, the initial guess or the boundary values"
    )]
    Overflow,
    /// The residual keeps growing.
    #[error(
        "the residual has grown for {GROWING_CYCLES} consecutive cycles, to more than {} times that of the initial guess, at cycle {cycle}{hint}",
        two_digits(*.ratio)
    )]
    Growing {
        /// In which cycle.
        cycle: u64,
        /// ‖r‖₂ / ‖r₀‖₂ before that cycle.
        ratio: f64,
        /// What to change.
        hint: String,
    },
}

/// The residual of the initial guess, of which a solver finds `own`.
fn start_residual(
    plan: &Plan,
    solver: &dyn Solver,
    own: ResidualNorms,
) -> Result<ResidualNorms, SolverError> {
    let is_end = own.l2 == 0.0 || plan.stop.max_cycles == 0;
    if is_end { confirm::true_residual(&plan.problem, solver) } else { Ok(own) }
}

/// A plan and a method with the devices that the solver measured, if it did: where they meet is to be seen.
fn as_measured(plan: Arc<Plan>, method: Method, solver: &dyn Solver) -> (Arc<Plan>, Method) {
    let Some(devices) = solver.measured_devices() else { return (plan, method) };
    let of_plan = plan.method.clone().with_devices(devices.clone());
    let method = method.with_devices(devices.clone());
    (Arc::new(Plan { method: of_plan, ..Plan::clone(&plan) }), method)
}

/// Where a run stops; without an outcome, that is found out there.
struct RunEnd {
    cycle: u64,
    outcome: Option<Outcome>,
}

/// A run under way: a solver, its history, and how it ended.
pub struct Run {
    plan: Arc<Plan>,
    method: Method,
    solver: Box<dyn Solver>,
    history: History,
    cycle: u64,
    seconds: f64,
    /// The cycle whose iterate the solver was given: what that cycle changed it does not know.
    given: u64,
    /// ‖r₀‖₂.
    start: f64,
    growth: Growth,
    forecast: ConvergenceForecast,
    /// While the solver is made to go back to a cycle that it passed, or lost.
    back: Option<Back>,
    outcome: Option<Outcome>,
    exact: Option<Arc<Field<f64>>>,
    checkpoint: Checkpoint,
    /// The folder in which its arrays lie, if they do.
    stored: Option<Stored>,
    /// Whether the solver failed, so that its iterate is unknown.
    is_lost: bool,
    finds_all_norms: bool,
    proposals: Proposals,
    circling: Circling,
    true_residual: Option<TrueResidual>,
    stops_at_rest: bool,
    /// What its solver leaves a cycle for.
    stop_token: StopToken,
}

impl Run {
    /// Sets up a run at its initial guess.
    ///
    /// # Errors
    /// [`SolverError`] if its arrays do not fit, or the device is not available.
    pub fn new(plan: &Arc<Plan>) -> Result<Self, SolverError> {
        let method = plan.method.clone();
        let solver = solver::set_up(&plan.problem, method.clone(), plan.precision, &plan.place)?;
        Self::at_start(Arc::clone(plan), method, solver)
    }

    /// The same as one of several processes that share the grid, each on the GPU of its plan; waits for the others. All of
    /// them make the same calls in the same order. What is observed of a run that has ended is on the machine of each, since
    /// b − A u of it was found there. Nothing is kept for another device: one process cannot go on alone.
    ///
    /// # Errors
    /// [`SolverError`] if its arrays do not fit, the GPU is not available, or NCCL fails.
    pub fn of_rank(plan: &Arc<Plan>, own: RankOf) -> Result<Self, SolverError> {
        let method = plan.method.clone();
        let Plan { problem, precision, place, .. } = &**plan;
        let solver = solver::set_up_rank(problem, method.clone(), *precision, place, own)?;
        let mut run = Self::at_start(Arc::clone(plan), method, solver)?;
        run.checkpoint.every = Duration::MAX;
        Ok(run)
    }

    /// Another run of the same system in the same place, from its initial guess; what can be shared is
    /// shared.
    ///
    /// # Errors
    /// [`SolverError`] if its arrays do not fit.
    pub fn with_plan(&self, plan: &Arc<Plan>) -> Result<Self, SolverError> {
        let method = plan.method.clone();
        let solver = self.solver.with_method(method.clone(), plan.place.kernel())?;
        Self::at_start(Arc::clone(plan), method, solver)
    }

    /// Jacobi's iteration on the same system, from its initial guess. It may make as many sweeps as this
    /// run, and more, to the tolerance of the residual or of the update per sweep; the largest update of a sweep is not a
    /// measure of that of a cycle, so a tolerance of the update does not end it.
    ///
    /// # Errors
    /// [`SolverError`] if its arrays do not fit.
    pub fn classic(&self) -> Result<Self, SolverError> {
        let classic = self.method.classic();
        let solver = self.solver.with_method(classic.clone(), Kernel::AUTO)?;
        let mut plan = Plan::clone(&self.plan);
        plan.place = plan.place.automatic();
        plan.stop = self.classic_stop();
        let Self { finds_all_norms, stops_at_rest, .. } = *self;
        let start = Self::at_start(Arc::new(plan), classic, solver)?;
        Ok(Self { finds_all_norms, stops_at_rest, ..start })
    }

    /// When Jacobi's iteration beside this run stops.
    fn classic_stop(&self) -> Stop {
        let stop = self.plan.stop;
        Stop {
            tolerance: stop.tolerance.filter(|_| stop.rule != StopRule::Change),
            max_cycles: stop.max_cycles.saturating_mul(self.sweeps_per_cycle()),
            ..stop
        }
    }

    /// Takes over Jacobi's iteration that was made alongside another run of this system, unless it stops
    /// at another tolerance. It may make as many sweeps as it takes for either run.
    pub(in crate::run) fn take_classic(&self, mut classic: Self) -> Option<Self> {
        let Stop { tolerance, max_cycles, rule } = self.classic_stop();
        let other = classic.plan.stop;
        if other.tolerance != tolerance || (tolerance.is_some() && other.rule != rule) {
            return None;
        }
        classic.allow(max_cycles);
        Some(classic)
    }

    /// Raises the limit of the run to that number of cycles, if it is lower.
    pub(in crate::run) fn allow(&mut self, max_cycles: u64) {
        let stop = self.plan.stop;
        if stop.max_cycles < max_cycles {
            let stop = Stop { max_cycles, ..stop };
            self.plan = Arc::new(Plan { stop, ..Plan::clone(&self.plan) });
            self.outcome.take_if(|outcome| *outcome == Outcome::OutOfCycles);
        }
    }

    pub(in crate::run) fn at_start(
        plan: Arc<Plan>,
        method: Method,
        solver: Box<dyn Solver>,
    ) -> Result<Self, SolverError> {
        let request = NormRequest { error: true, ..NormRequest::RESIDUAL };
        let norms = solver.norms(request)?;
        let (plan, method) = as_measured(plan, method, &*solver);
        let residual = start_residual(&plan, &*solver, norms.residual.unwrap_or_default())?;
        let mut run = Self::before_start(plan, method, solver, residual);
        if let Some(error) = norms.error {
            run.history.set_error(0, error);
        }
        run.update_forecast();
        if let Some(end) = run.end_at(run.history.latest()) {
            run.end_here(end.outcome)?;
        }
        Ok(run)
    }

    /// A run before its first cycle, with the residual of its initial guess.
    fn before_start(
        plan: Arc<Plan>,
        method: Method,
        solver: Box<dyn Solver>,
        residual: ResidualNorms,
    ) -> Self {
        let history = History::new(Record { residual: Some(residual), ..Record::unknown(0, 0.0) });
        let goal = plan.stop.tolerance.map(|tolerance| match plan.stop.rule {
            StopRule::Residual => tolerance * residual.l2,
            StopRule::Change | StopRule::ChangePerSweep => tolerance,
        });
        Self {
            plan,
            method,
            solver,
            history,
            cycle: 0,
            seconds: 0.0,
            given: 0,
            start: residual.l2,
            growth: Growth { last: residual.l2, smallest: residual.l2, cycles: 0 },
            forecast: ConvergenceForecast::new(goal),
            back: None,
            outcome: None,
            exact: None,
            checkpoint: Checkpoint::new(),
            stored: None,
            is_lost: false,
            finds_all_norms: true,
            proposals: Proposals::new(),
            circling: Circling::new(),
            true_residual: None,
            stops_at_rest: true,
            stop_token: StopToken::default(),
        }
    }

    /// Makes at least one cycle and at most `most`, unless the run has come to its end, and
    /// returns whether it has. How many are made at a time changes nothing but the time that they take:
    /// where cycles were made past the end, the run goes back to it, in as many turns as the solver
    /// needs for that.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails; the run can continue elsewhere then ([`Run::move_to`]).
    pub fn advance(&mut self, most: u64) -> Result<Option<&Outcome>, SolverError> {
        let made = self.make(most.max(1));
        self.is_lost |= made.as_ref().is_err_and(|error| *error != SolverError::Stopped);
        made?;
        Ok(self.outcome.as_ref())
    }

    /// Leaves cycles unfinished while this is due: [`Run::advance`] then fails with [`SolverError::Stopped`], and the
    /// run stands at its last whole cycle. A GPU makes its cycle to the end.
    pub fn stop_on(&mut self, stop: &StopToken) {
        self.stop_token = stop.clone();
        self.solver.stop_on(stop);
    }

    /// Begins the cycles that the next [`Run::advance`] takes in, at most `most`, where the solver can
    /// make them while its present iterate is observed.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails; the run can continue elsewhere then ([`Run::move_to`]).
    pub fn begin(&mut self, most: u64) -> Result<(), SolverError> {
        let is_examined = self.circling.is_due(self.cycle);
        if self.back.is_some() || self.outcome.is_some() || is_examined {
            return Ok(());
        }
        let most = self.batch().min(most.max(1));
        let begun = self.solver.begin(most, self.norm_request());
        self.is_lost |= begun.is_err();
        begun
    }

    /// Makes a piece of the cycle that the next [`Run::advance`] begins with, where that takes long and there is a single thread for
    /// all, as in a page; returns whether nothing is left of it that takes long. Until that, only the present iterate may be
    /// observed.
    pub(crate) fn make_piece(&mut self) -> bool {
        let is_examined = self.circling.is_due(self.cycle);
        let has_pieces = cfg!(target_arch = "wasm32")
            && !(self.back.is_some()
                || self.outcome.is_some()
                || is_examined
                || self.stored.is_some());
        !has_pieces || self.solver.make_piece(self.norm_request(), LONGEST_PIECE)
    }

    fn make(&mut self, most: u64) -> Result<(), SolverError> {
        if self.back.is_some() {
            return self.go_back(most);
        }
        if self.outcome.is_some() {
            return Ok(());
        }
        if self.circling.is_due(self.cycle) && self.find_circling()? {
            return self.end_here(None);
        }
        if self.stored.is_some() {
            return self.make_stored();
        }
        let batch = self.solver.cycles(self.batch().min(most), self.norm_request())?;
        let each = batch.seconds / batch.cycles as f64;
        let reached = self.cycle + batch.cycles;
        for norms in batch.norms {
            if let Some(end) = self.take_in(norms, each, reached)? {
                return self.stop_at(end, reached);
            }
        }
        if !self.is_continued_from_iterate() {
            return Ok(());
        }
        let bytes = self.plan.problem.shape.stored() * size_of::<f64>();
        self.checkpoint.keep(self.cycle, &*self.solver, bytes)
    }

    /// Cycles that may be made before the stopping rule is checked: half of those that the forecast
    /// leaves, and no more than were made, since a forecast reaches no further than its data. Where the
    /// tolerance seemed to be met and was not, those until that is examined again. In any case those until it is
    /// examined whether they have any effect.
    fn batch(&self) -> u64 {
        let allowed = self.plan.stop.max_cycles.saturating_sub(self.cycle).max(1);
        let allowed = allowed.min(self.circling.wait(self.cycle));
        if self.plan.stop.tolerance.is_none() {
            return allowed;
        }
        if let Some(wait) = self.proposals.wait(self.cycle) {
            return wait.min(allowed);
        }
        (self.forecast.left(self.cycle) / 2).min(self.cycle).clamp(1, allowed)
    }

    /// Records the norms of the next cycle of a batch, the last of which is `reached`. Returns the
    /// end of the run, if it shows.
    fn take_in(
        &mut self,
        norms: CycleNorms,
        seconds: f64,
        reached: u64,
    ) -> Result<Option<RunEnd>, SolverError> {
        if !self.proposals.is_refused(self.cycle) {
            self.history.set_residual(self.cycle, norms.residual_before);
        }
        self.update_forecast();
        let before = *self.history.latest();
        if before.cycle == self.cycle {
            self.proposals.note(self.cycle, norms.residual_before.l2);
            // In a store it was known at once.
            if self.stored.is_none() && self.is_proposed(&before) {
                // The iterate before was good enough already, which shows only now.
                return Ok(Some(RunEnd { cycle: before.cycle, outcome: None }));
            }
        }
        self.growth.watch(norms.residual_before.l2);
        self.cycle += 1;
        self.seconds += seconds;
        self.history.push(Record {
            cycle: self.cycle,
            seconds: self.seconds,
            residual: None,
            max_change: norms.max_change,
            error: norms.error,
        });
        let is_near = self.is_near() && self.proposals.is_due(self.cycle);
        if self.cycle == reached && (is_near || self.stored.is_some()) {
            let begin = Instant::now();
            let found = self.solver.norms(NormRequest::RESIDUAL)?.residual.unwrap_or_default();
            self.history.set_residual(self.cycle, found);
            self.note_stored(found);
            self.seconds += begin.elapsed().as_secs_f64();
        }
        self.update_forecast();
        Ok(self.end_at(self.history.latest()))
    }

    /// Measures the norms of the present iterate that are not known yet: when the run
    /// stands. Each takes a pass over the grid.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub fn settle(&mut self) -> Result<(), SolverError> {
        let latest = self.history.latest();
        if latest.cycle != self.cycle {
            return Ok(());
        }
        let norms = self.solver.norms(NormRequest {
            max_change: self.cycle > self.given && latest.max_change.is_none(),
            error: latest.error.is_none(),
            ..NormRequest::NONE
        })?;
        if latest.residual.is_none() {
            self.record_true_residual()?;
        }
        if let Some(error) = norms.error {
            self.history.set_error(self.cycle, error);
        }
        if let Some(change) = norms.max_change {
            self.history.set_max_change(self.cycle, change);
        }
        Ok(())
    }

    /// Goes back to the initial guess; the history stays.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub fn rewind(&mut self) -> Result<(), SolverError> {
        (self.cycle, self.given) = (0, 0);
        let done = self.solver.restart();
        self.is_lost |= done.is_err();
        done
    }

    /// Makes at least one cycle and at most `most`, whether they were made before or not, and past
    /// the run's end too.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub fn step(&mut self, most: u64) -> Result<(), SolverError> {
        let known = self.history.latest().cycle.saturating_sub(self.cycle);
        if self.back.is_none() && (known > 0 || self.outcome.is_some()) {
            self.replay(if known > 0 { most.min(known) } else { most })
        } else {
            self.advance(most).map(drop)
        }
    }

    /// Takes an iterate of this run that was kept, that of `cycle`. Its norms are not known.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub(in crate::run) fn put_at(
        &mut self,
        cycle: u64,
        iterate: &Field<f64>,
    ) -> Result<(), SolverError> {
        (self.cycle, self.given) = (cycle, cycle);
        let done = self.solver.start_from(iterate);
        self.is_lost |= done.is_err();
        done
    }

    /// Makes one cycle that was made before, and returns its norms.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub(in crate::run) fn replay_one(&mut self) -> Result<CycleNorms, SolverError> {
        let made = self.solver.cycles(1, NormRequest::ALL);
        self.is_lost |= made.is_err();
        self.cycle += 1;
        Ok(made?.norms.first().copied().unwrap_or_default())
    }

    /// Makes cycles without their norms: they were made before, or are not requested.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub(in crate::run) fn replay(&mut self, most: u64) -> Result<(), SolverError> {
        let made = self.solver.cycles(most, NormRequest::NONE);
        self.is_lost |= made.is_err();
        self.cycle += made?.cycles;
        Ok(())
    }

    /// Whether every cycle finds all its norms from now on, as it does at first, and not ‖r‖₂ alone. Where
    /// ‖Δu‖∞ ends the run, it is found in any case. Norms that are not among the
    /// [free ones](crate::solver::Describe::free_norms) of the solver slow it down.
    pub fn find_all_norms(&mut self, wanted: bool) {
        self.finds_all_norms = wanted;
    }

    /// Makes all cycles up to the limit, also where rounding keeps them from changing anything: each of
    /// them is requested by its number.
    pub(in crate::run) fn make_all_cycles(&mut self) {
        self.stops_at_rest = false;
    }

    fn norm_request(&self) -> NormRequest {
        if self.finds_all_norms || self.plan.stop.compares_change() {
            NormRequest::ALL
        } else {
            NormRequest::RESIDUAL_L2
        }
    }

    /// Sets the exact solution, so that errors are known from now on.
    ///
    /// # Errors
    /// [`SolverError`] if the solver has no room for it, or fails.
    pub fn set_exact(&mut self, exact: Arc<Field<f64>>) -> Result<(), SolverError> {
        self.exact = Some(Arc::clone(&exact));
        self.solver.set_exact(exact)
    }

    /// Whether the exact solution was given.
    pub fn knows_exact(&self) -> bool {
        self.exact.is_some()
    }

    /// The exact solution, if it was given.
    pub fn exact(&self) -> Option<&Arc<Field<f64>>> {
        self.exact.as_ref()
    }

    /// The plan that it follows.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The solver, to observe its fields.
    pub fn solver(&self) -> &dyn Solver {
        &*self.solver
    }

    /// The next cycle, to observe its inside.
    pub fn next_cycle(&self) -> NextCycle<'_> {
        let Plan { problem, tiling, precision, .. } = &*self.plan;
        let k = self.method.k().followed();
        let (omega, schedule) = (self.method.omega(), self.method.schedule());
        let (solver, precision) = (self.solver(), *precision);
        NextCycle { solver, problem, tiling, k, omega, schedule, precision }
    }

    /// The norms of all iterates so far.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The norms of the present iterate, as far as they are known.
    pub fn record(&self) -> Record {
        self.history.of(self.cycle)
    }

    /// Cycles made.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Sweeps made.
    pub fn sweeps(&self) -> u64 {
        self.cycle * self.sweeps_per_cycle()
    }

    /// Whether the present iterate alone determines the cycles that follow. Where devices that share the grid exchange
    /// every c cycles, it does after every c-th: in between they read older values of each other.
    pub(in crate::run) fn is_continued_from_iterate(&self) -> bool {
        self.method.devices().is_none_or(|devices| devices.exchange_after(self.cycle))
    }

    /// Whether devices that share the grid compute some cycles with values of others that are older than the cycle
    /// before.
    pub(in crate::run) fn has_frozen_halos(&self) -> bool {
        self.method.devices().is_some_and(Devices::have_frozen_halos)
    }

    /// Whether a cycle that leaves the iterate as it was is followed by none that changes it: not where devices may have
    /// come to rest for frozen values of each other.
    fn rests_after(&self, cycle: u64) -> bool {
        let is_fresh = |before: u64| {
            self.method.devices().is_none_or(|devices| devices.exchange_after(before))
        };
        cycle.checked_sub(1).is_none_or(is_fresh)
    }

    /// Subiterations of a cycle.
    pub fn k(&self) -> Subiterations {
        self.method.k()
    }

    /// Sweeps that a cycle makes.
    pub fn sweeps_per_cycle(&self) -> u64 {
        self.method.sweeps_per_cycle()
    }

    /// Seconds that the solver took, without set-up and observation.
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

    /// Whether the present iterate may be the one that meets the tolerance of the residual.
    fn is_near(&self) -> bool {
        let stop = self.plan.stop;
        stop.rule == StopRule::Residual && self.forecast.left(self.cycle) <= NEAR
    }

    /// Adds the newest value of the compared norm to the forecast.
    fn update_forecast(&mut self) {
        let latest = *self.history.latest();
        let residual = latest.residual.map(|residual| residual.l2);
        let sweeps = self.sweeps_per_cycle();
        if let Some(norm) = self.plan.stop.compared(residual, latest.max_change, sweeps) {
            self.forecast.note(latest.cycle, norm);
        }
    }

    fn is_converged(&self, record: &Record) -> bool {
        let reduction = record.residual.map(|residual| {
            // An initial guess that solves the system has nothing left to reduce.
            if residual.l2 == 0.0 { 0.0 } else { residual.l2 / self.start }
        });
        let stop = &self.plan.stop;
        let compared = stop.compared(reduction, record.max_change, self.sweeps_per_cycle());
        compared.zip(stop.tolerance).is_some_and(|(compared, tolerance)| compared <= tolerance)
    }

    /// Whether what came with the cycles proposes that the run stops at the newest iterate.
    fn is_proposed(&self, record: &Record) -> bool {
        let may_rest = self.stops_at_rest && self.rests_after(record.cycle);
        if may_rest && self.proposals.is_surely_at_rest(record) {
            return true;
        }
        let seems_at_rest = may_rest && self.proposals.seems_at_rest(record);
        (self.is_converged(record) || seems_at_rest) && self.proposals.is_due(record.cycle)
    }

    /// Where the run stops, if that shows in what came with the cycles up to the newest iterate.
    fn end_at(&self, record: &Record) -> Option<RunEnd> {
        let cycle = record.cycle;
        if self.is_proposed(record) {
            return Some(RunEnd { cycle, outcome: None });
        }
        match self.outcome_at(record) {
            Some(outcome @ Outcome::Diverged(_)) => Some(RunEnd { cycle, outcome: Some(outcome) }),
            Some(Outcome::OutOfCycles) => Some(RunEnd { cycle, outcome: None }),
            _ if cycle >= self.plan.stop.max_cycles => Some(RunEnd { cycle, outcome: None }),
            _ => None,
        }
    }

    fn outcome_at(&self, record: &Record) -> Option<Outcome> {
        let cycle = record.cycle;
        let hint = || {
            let plan = &self.plan;
            if plan.problem.operator.is_dominant() {
                return String::new();
            }
            let dominance = ratio(plan.problem.operator.dominance());
            let radius =
                plan.known_radius().map_or_else(String::new, |radius| format!(", ρ = {radius}"));
            format!(
                "; the matrix is not diagonally dominant (Σ|w| = {dominance} > 1{radius}): {}",
                plan.remedy()
            )
        };
        let finite = self.growth.last.is_finite()
            && record.residual.is_none_or(|residual| residual.l2.is_finite())
            && record.max_change.is_none_or(f64::is_finite);
        if !finite && cycle == 0 {
            return Some(Outcome::Diverged(Divergence::Overflow));
        }
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
