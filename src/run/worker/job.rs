//! The run that is made, and its reports.

use super::catch_up::CatchUp;
use super::frequencies::FrequencySearch;
use super::messages::{ExactState, Phase, Report, WorkerRequest};
use super::observed_series::ObservedSeries;
use crate::clock::Instant;
use crate::grid::Field;
use crate::problem;
use crate::run::archive::RunArchive;
use crate::run::gpu_loss::go_on_without_failed_gpus;
use crate::run::history::{CURVE_POINTS, Record, SharedSeries};
use crate::run::observe::{
    Experiment, FieldKind, FieldStatistics, FrequencyRequest, Observation, ObservationRequest,
};
use crate::run::plan::Plan;
use crate::run::record::{RunTimes, Snapshot, SnapshotRequest};
use crate::run::runner::Outcome;
use crate::run::spec::Backend;
use crate::solver::{Acceleration, SolverError};
use std::sync::Arc;
use std::time::Duration;

/// Seconds of the solver over which its speed is averaged: long enough that the number can be read.
const AVERAGED_OVER: f64 = 0.5;

/// The run that is made, and how far the request is satisfied.
pub(super) struct Job {
    pub request: WorkerRequest,
    pub epoch: u64,
    pub plan: Arc<Plan>,
    pub experiment: Experiment,
    pub steps_made: u64,
    /// When the next cycle is due, at a pace.
    pub due: Instant,
    /// Seconds that Jacobi's iteration may take.
    pub classic_credit: f64,
    /// Whether something has changed since the last report.
    pub has_news: bool,
    /// Whether this run has been reported.
    pub is_reported: bool,
    /// Where it is reported for the first time, if it has to catch up with the run before it.
    catch_up: Option<CatchUp>,
    /// Why the run cannot continue, if its solver failed.
    pub failed: Option<String>,
    /// What was last said of a GPU that failed, without which the run went on.
    gpu_loss: Option<String>,
    /// Whether the GPU that `auto` may use was tried.
    has_tried_gpu: bool,
    /// Why Jacobi's iteration does not run alongside, if it failed.
    without_classic: Option<String>,
    /// The last statistics of the field by its tiles.
    statistics: Option<Arc<FieldStatistics>>,
    frequencies: FrequencySearch,
    /// At the end of the run, how much of the error is left, with the cycles made.
    error_left: Option<(u64, Option<f64>)>,
    /// ‖u₀ − u*‖₂: a run that began before the exact solution was there has no such norm of its initial guess.
    start_error: Option<f64>,
    archive: Arc<RunArchive>,
    speed: Speed,
    curve: SharedSeries<Record>,
    reference: SharedSeries<Record>,
    accelerated: [SharedSeries<Record>; Acceleration::ALL.len()],
    series: ObservedSeries,
}

/// The present speed of the run.
#[derive(Default)]
struct Speed {
    /// Cycles and seconds from which on the speed is measured.
    since: (u64, f64),
    /// Cycles per second in the time before that.
    known: Option<f64>,
}

impl Speed {
    /// Cycles per second, from the cycles made and the seconds they took.
    fn average(&mut self, cycles: u64, seconds: f64) -> Option<f64> {
        let (first, begin) = self.since;
        let passed = seconds - begin;
        let now = (passed > 0.0).then(|| (cycles - first) as f64 / passed);
        if passed >= AVERAGED_OVER {
            *self = Self { since: (cycles, seconds), known: now };
        }
        self.known.or(now)
    }
}

impl Job {
    /// A run at its initial guess.
    pub fn new(request: WorkerRequest, plan: Arc<Plan>, mut experiment: Experiment) -> Self {
        experiment.find_all_norms(request.all_norms);
        let archive = RunArchive::new(&plan, request.memory);
        if let Some(diagram) = experiment.diagram() {
            archive.set_diagram(diagram);
        }
        let catch_up = request.catch_up.map(|to| CatchUp::new(to, experiment.run()));
        Self {
            epoch: request.epoch,
            archive: Arc::new(archive),
            steps_made: request.steps_before,
            request,
            plan,
            experiment,
            due: Instant::now(),
            classic_credit: 0.0,
            has_news: true,
            is_reported: false,
            catch_up,
            failed: None,
            gpu_loss: None,
            has_tried_gpu: false,
            without_classic: None,
            statistics: None,
            frequencies: FrequencySearch::default(),
            error_left: None,
            start_error: None,
            speed: Speed::default(),
            curve: SharedSeries::default(),
            reference: SharedSeries::default(),
            accelerated: Default::default(),
            series: ObservedSeries::default(),
        }
    }

    /// The one place where a solver's failure is handled: the run goes on on those of its GPUs that work, or stops, and a
    /// report says why. A cycle that was left unfinished is no failure.
    fn fail(&mut self, error: &SolverError) {
        if *error == SolverError::Stopped {
            return;
        }
        let plan = Arc::clone(&self.plan);
        let went_on = go_on_without_failed_gpus(&plan, error.clone(), |plan| {
            self.move_to(plan)?;
            Ok(self.experiment.run().cycle())
        });
        match went_on {
            Ok(said) => self.gpu_loss = Some(said),
            Err(why) => self.failed = Some(why.to_string()),
        }
        self.has_news = true;
    }

    /// Applies another request for the same run.
    pub fn request(&mut self, request: WorkerRequest) {
        self.archive.set_budget(request.memory);
        if request.observation.shows(FieldKind::Staleness)
            && !self.request.observation.shows(FieldKind::Staleness)
        {
            // There may be room for it now.
            self.without_classic = None;
        }
        self.experiment.find_all_norms(request.all_norms);
        if request.pace != self.request.pace {
            // What was due by another pace is not waited for.
            self.due = Instant::now();
        }
        self.request = request;
    }

    /// Whether another run can take arrays over from this one: it is of the same system in the same
    /// place.
    pub fn shares_with(&self, plan: &Plan) -> bool {
        Arc::ptr_eq(&self.plan.problem, &plan.problem)
            && self.plan.precision == plan.precision
            && self.plan.place.shares_with(&plan.place)
            && self.failed.is_none()
    }

    /// Limits the memory of the keyframes while the run is left, and gives back that of accelerations.
    pub fn share_memory(&mut self, bytes: usize) {
        self.archive.set_budget(bytes);
        self.experiment.drop_unfinished_accelerations();
    }

    /// Returns to the run, which was left for `other`: it is where it was, and is reported at once.
    pub fn resume(&mut self, other: &mut Self) {
        if other.shares_with(&self.plan) {
            self.experiment.take_references_of(&mut other.experiment);
        }
        (self.catch_up, self.is_reported, self.has_news) = (None, false, true);
        self.due = Instant::now();
    }

    /// Whether the exact solution is needed only to say how much of the error is left, now that the run has come
    /// to its end.
    pub fn wants_error_left(&self) -> bool {
        self.error_left_at().is_some() && problem::is_exact_cheap(&self.plan.problem)
    }

    /// The end of the run, if how much of the error is left there is to be found.
    fn error_left_at(&self) -> Option<u64> {
        let run = self.experiment.run();
        let has_ended = match run.outcome() {
            None | Some(Outcome::Diverged(_)) => false,
            Some(Outcome::Converged | Outcome::RoundingLimit | Outcome::OutOfCycles) => true,
        };
        let is_known = self.error_left.is_some_and(|(cycle, _)| cycle == run.cycle());
        (has_ended && self.failed.is_none() && !is_known).then(|| run.cycle())
    }

    /// Finds how much of the error is left at the end of the run, if it is there and that is not known.
    pub fn find_error_left(&mut self, exact: &Field<f64>) {
        let Some(cycle) = self.error_left_at() else { return };
        // Where there is no room for the iterate in double precision, nothing is said.
        let iterate = self.experiment.run().solver().solution().ok();
        let left = iterate.and_then(|it| problem::error_left(&self.plan.problem, &it, exact));
        self.error_left = Some((cycle, left));
        self.has_news = true;
    }

    /// Sets the exact solution.
    pub fn set_exact(&mut self, exact: &Arc<Field<f64>>) {
        self.archive.set_exact(exact);
        self.start_error = Some(problem::initial_error(&self.plan.problem, exact));
        if let Err(error) = self.experiment.set_exact(exact) {
            self.fail(&error);
        }
    }

    /// Continues the run elsewhere. `plan` differs only in that.
    pub fn move_to(&mut self, plan: Plan) -> Result<(), SolverError> {
        // The same problem and the same cycle, of which something may be known.
        let (problem, measured) = (Arc::clone(&self.plan.problem), Arc::clone(&self.plan.measured));
        let plan = Arc::new(Plan { problem, measured, ..plan });
        self.experiment.move_to(&plan)?;
        self.archive.set_place(&plan.place);
        let run = self.experiment.run();
        (self.plan, self.failed, self.without_classic) = (Arc::clone(run.plan()), None, None);
        self.speed = Speed { since: (run.history().latest().cycle, run.seconds()), known: None };
        Ok(())
    }

    /// Whether the run continues on the GPU once that is open. The first report does not wait for that.
    /// In the sine basis a GPU rounds differently: such a run stays where it began.
    pub fn awaits_gpu(&self) -> bool {
        self.is_reported
            && !self.has_tried_gpu
            && self.plan.spec.method.backend == Backend::Auto
            && self.plan.backend() == Backend::Cpu
            && !self.plan.method.is_spectral()
            && !self.is_over()
            && !self.is_going_back()
    }

    /// Continues the run where `plan` leads, now that the GPU was tried. Where it has no room there, it
    /// stays on the CPU, and the plan says why.
    pub fn leave_cpu(&mut self, plan: Option<Plan>) {
        self.has_tried_gpu = true;
        let Some(plan) = plan else { return };
        if plan.backend() == Backend::Cpu {
            self.plan = Arc::new(plan);
        } else if let Err(why) = self.move_to(plan) {
            self.plan = Arc::new(Plan { without_gpu: Some(why), ..Plan::clone(&self.plan) });
        }
        self.has_news = true;
    }

    /// Whether the run is on its way back to a cycle where it was.
    pub fn is_going_back(&self) -> bool {
        self.failed.is_none() && self.experiment.run().is_going_back()
    }

    /// Whether the run can be followed no further.
    fn is_over(&self) -> bool {
        self.failed.is_some() || self.experiment.run().outcome().is_some()
    }

    /// Whether the run is made on a GPU.
    pub fn is_on_gpu(&self) -> bool {
        self.experiment.run().solver().device().is_some()
    }

    /// Whether the run is to continue, and can.
    pub fn is_running(&self) -> bool {
        self.request.running && !self.request.held && !self.is_over()
    }

    /// Whether the run makes cycles on its way to where the run before it was.
    pub fn is_catching_up(&self) -> bool {
        !self.is_over() && self.catch_up.as_ref().is_some_and(|catch_up| !catch_up.is_there())
    }

    /// Whether newer requests wait for the first report: that of a run which catches up.
    pub fn is_awaited(&self) -> bool {
        self.catch_up.is_some() && !self.is_reported
    }

    /// Whether the first report waits until the run has caught up, and what is shown of it is ready;
    /// not longer than `longest`.
    pub fn is_withheld(&self, longest: Duration) -> bool {
        let waits = self.catch_up.as_ref().is_some_and(|it| it.elapsed() < longest);
        let is_ready = !self.is_catching_up() && (self.is_in_step() || self.failed.is_some());
        self.is_awaited() && waits && !is_ready
    }

    /// Whether a cycle is to be made now.
    pub fn has_run_work(&self) -> bool {
        if self.is_over() {
            return false;
        }
        if self.is_going_back() {
            return true;
        }
        let stepping = self.steps_made < self.request.steps;
        let running = self.is_running() && self.is_in_step() && Instant::now() >= self.due;
        self.is_catching_up() || stepping || running
    }

    /// Whether the staleness is requested, for the window or for a file, and can be computed.
    fn wants_staleness(&self) -> bool {
        self.without_classic.is_none()
            && (self.request.observation.shows(FieldKind::Staleness)
                || self.is_for_file(FieldKind::Staleness))
    }

    /// Whether the exact solution is requested, for the window or for a file.
    pub fn wants_exact(&self) -> bool {
        self.request.error
            || self.request.observation.shows(FieldKind::Error)
            || self.is_for_file(FieldKind::Error)
    }

    fn is_for_file(&self, field: FieldKind) -> bool {
        self.request
            .snapshot_requests
            .iter()
            .any(|snapshot_request| snapshot_request.field() == field)
    }

    /// Whether Jacobi's iteration is where it is needed: staleness is shown cycle by cycle, and the run
    /// waits for it.
    pub fn is_in_step(&self) -> bool {
        !self.wants_staleness() || self.experiment.is_ready(FieldKind::Staleness)
    }

    /// Whether there is a sweep of Jacobi's iteration to make.
    pub fn has_classic_work(&self) -> bool {
        let is_possible = self.failed.is_none() && self.without_classic.is_none();
        if !is_possible || self.is_going_back() || self.is_catching_up() {
            return false;
        }
        if !self.is_in_step() {
            return true;
        }
        if !self.request.reference || self.wants_staleness() {
            return false;
        }
        let Some(classic) = self.experiment.classic() else {
            return true;
        };
        // While the run is made, its reference goes as far as the run; afterwards, to its end.
        let run = self.experiment.run();
        let behind = classic.cycle() < run.sweeps();
        let has_end = classic.plan().stop.tolerance.is_some();
        classic.outcome().is_none() && (behind || (has_end && run.outcome().is_some()))
    }

    /// The acceleration of which there is a sweep to make, if there is one.
    pub fn next_acceleration(&self) -> Option<Acceleration> {
        if self.failed.is_some()
            || self.is_going_back()
            || self.is_catching_up()
            || !self.is_reported
            || !self.is_in_step()
        {
            return None;
        }
        let mut wanted = self.request.accelerations.iter().copied();
        wanted.find(|acceleration| self.experiment.has_acceleration_work(*acceleration))
    }

    pub fn has_work(&self) -> bool {
        self.has_run_work() || self.has_classic_work() || self.next_acceleration().is_some()
    }

    /// Makes some cycles: one where each is to be observed, or as many as the solver makes at a time.
    pub fn cycle(&mut self) {
        let catching_up = self.catch_up.as_ref().filter(|_| self.is_catching_up());
        let is_moved = self.is_going_back() || catching_up.is_some();
        let stepping = self.steps_made < self.request.steps && !is_moved;
        let one_by_one = stepping || !self.is_reported || self.observes_every_cycle();
        let most = match catching_up {
            Some(catch_up) if !self.is_going_back() => catch_up.cycles_left(self.experiment.run()),
            None if one_by_one && !is_moved => 1,
            _ => u64::MAX,
        };
        let made = self.experiment.advance(most);
        self.steps_made += u64::from(stepping && made != Err(SolverError::Stopped));
        if let Err(error) = made.and_then(|()| self.take_in_cycles()) {
            self.fail(&error);
        }
        let now = Instant::now();
        // A run that catches up, or goes step by step, does not follow the pace: the next cycle need not wait.
        let pace = self.request.pace.filter(|_| !is_moved && !stepping);
        let seconds = pace.map_or(0.0, |pace| 1.0 / pace);
        // A pace of zero delays nothing.
        let period = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        // A run that falls behind its pace does not make up for it with a burst.
        self.due = (self.due + period).max(now);
        self.has_news = true;
    }

    /// Keeps what was made, and notes whether the run has caught up.
    fn take_in_cycles(&mut self) -> Result<(), SolverError> {
        self.archive.keep(self.experiment.run())?;
        if let Some(catch_up) = &mut self.catch_up {
            if catch_up.needs_residuals() {
                self.experiment.settle()?;
            }
            catch_up.update(self.experiment.run());
        }
        Ok(())
    }

    /// Whether each cycle is to be observed.
    fn observes_every_cycle(&self) -> bool {
        self.request.pace.is_some() || self.wants_staleness()
    }

    /// Lets the solver continue while its iterate is observed, if the run is to continue at once.
    fn go_on(&mut self) {
        if self.is_running()
            && self.has_run_work()
            && !self.is_catching_up()
            && !self.observes_every_cycle()
            && let Err(error) = self.experiment.begin()
        {
            self.fail(&error);
        }
    }

    /// Makes some sweeps of Jacobi's iteration: towards the staleness that is waited for, or else
    /// for the reference. Where its arrays do not fit, the run continues without it, and reports say why.
    pub fn classic_sweep(&mut self) {
        let swept = if self.is_in_step() {
            self.experiment.advance_classic()
        } else {
            self.experiment.prepare(FieldKind::Staleness)
        };
        match swept {
            Ok(()) => {
                if let Some(classic) = self.experiment.classic() {
                    // What is not kept now can be recomputed.
                    _ = self.archive.keep_classic(classic);
                }
            }
            Err(SolverError::Stopped) => {}
            Err(error) => self.without_classic = Some(error.to_string()),
        }
        self.has_news = true;
    }

    /// Makes a sweep of an acceleration.
    pub fn accelerate(&mut self, acceleration: Acceleration) {
        self.experiment.accelerate(acceleration);
        self.has_news = true;
    }

    /// Notes frequencies that were found, or are to be found now.
    pub fn serve_frequencies(&mut self) {
        if let Some(wanted) = self.wanted_frequencies() {
            self.has_news |= self.frequencies.serve(&self.experiment, wanted);
        }
    }

    /// Whether frequencies are being found, or will be soon.
    pub fn awaits_frequencies(&self) -> bool {
        let wanted = self.wanted_frequencies();
        wanted.is_some_and(|wanted| self.frequencies.is_busy(&self.experiment, wanted))
    }

    fn wanted_frequencies(&self) -> Option<(FieldKind, FrequencyRequest)> {
        let ObservationRequest { field, frequencies, .. } = self.request.observation;
        Some((field, frequencies.filter(|_| self.failed.is_none())?))
    }

    /// Whether the field has to be sorted by its tiles now: that is wanted, and it was not yet.
    pub fn needs_statistics(&self) -> bool {
        let request = &self.request.observation;
        request.statistics
            && self.statistics.as_ref().is_none_or(|sorted| sorted.field != request.field)
    }

    /// The report of the run now. Unless `with_statistics`, the statistics by tile are those of the last
    /// report. `answered` are the requests for files that were answered.
    pub fn report(
        &mut self,
        with_statistics: bool,
        exact: ExactState,
        answered: &mut Vec<u64>,
    ) -> Report {
        self.go_on();
        let observed = self.observe(with_statistics, answered).or_else(|error| {
            self.fail(&error);
            // It may have gone on on other GPUs.
            self.observe(with_statistics, answered)
        });
        let (observation, snapshot) = observed.unwrap_or_else(|error| {
            self.fail(&error);
            (self.nothing(), None)
        });
        if let Some(snapshot) = &snapshot {
            answered.retain(|id| {
                self.request
                    .snapshot_requests
                    .iter()
                    .any(|snapshot_request| snapshot_request.id == *id)
            });
            answered.push(snapshot.id);
        }
        if self.failed.is_none() {
            self.series.push(&observation, &self.archive);
        }
        let experiment = &self.experiment;
        let run = experiment.run();
        let device = run.solver().device();
        let field = self.request.observation.field;
        let curve = run.history().curve(&mut self.curve, CURVE_POINTS);
        self.archive.set_curve(&curve);
        Report {
            epoch: self.epoch,
            plan: Arc::clone(&self.plan),
            phase: self.phase(),
            gpu_loss: self.gpu_loss.clone(),
            sweeps: run.sweeps(),
            cycles_per_second: self.speed.average(run.history().latest().cycle, run.seconds()),
            device: device.map(|device| device.name.clone()),
            exchange_paths: run.solver().exchange_paths().to_vec(),
            kernel: device.map(|device| device.kernel),
            footprint: device.map(|device| device.footprint),
            computed_rows: run.solver().computed_rows(),
            times: RunTimes::of(run),
            passes: Arc::clone(experiment.passes()),
            pass_progress: run.solver().pass_progress(),
            slow_f64: self.plan.slow_f64(),
            start_residual: run.start_residual(),
            start_error: self.start_error,
            latest: *run.history().latest(),
            largest: run.history().largest(),
            curve,
            reference: experiment.classic().map_or_else(Arc::default, |classic| {
                classic.history().curve(&mut self.reference, CURVE_POINTS)
            }),
            accelerated: experiment.acceleration_curves(|acceleration, made| {
                let shared = &mut self.accelerated[acceleration as usize];
                made.history().curve(shared, CURVE_POINTS)
            }),
            observation,
            edges: self.series.edges(),
            probes: self.series.probes(field),
            archive: Arc::clone(&self.archive),
            exact,
            error_left: self.error_left.filter(|(at, _)| *at == run.cycle()).and_then(|it| it.1),
            preparing: (!experiment.is_ready(field)).then(|| experiment.prepared()),
            without_classic: self.without_classic.clone(),
            snapshot,
        }
    }

    fn phase(&self) -> Phase {
        let run = self.experiment.run();
        match (&self.failed, run.outcome()) {
            (Some(why), _) => Phase::Failed { why: why.clone() },
            (None, Some(outcome)) => Phase::Finished(outcome.clone()),
            (None, None) if run.is_going_back() => Phase::Returning { cycle: run.cycle() },
            (None, None) if self.is_catching_up() => Phase::CatchingUp,
            (None, None) if self.request.held => Phase::Held,
            (None, None) if self.request.running => Phase::Running,
            (None, None) => Phase::Paused,
        }
    }

    /// Observes the iterate, and all its norms where the run is paused; nothing of a solver that
    /// failed. Also returns what a file requested.
    fn observe(
        &mut self,
        with_statistics: bool,
        answered: &[u64],
    ) -> Result<(Observation, Option<Arc<Snapshot>>), SolverError> {
        if self.failed.is_some() {
            return Ok((self.nothing(), None));
        }
        if !self.is_running() {
            self.experiment.settle()?;
        }
        let is_wanted = self.request.observation.statistics;
        let frequencies = self.request.observation.frequencies;
        let request = ObservationRequest {
            statistics: is_wanted && with_statistics,
            frequencies: None,
            ..self.request.observation.clone()
        };
        let mut observation = self.experiment.observe(&request)?;
        if let Some(wanted) = frequencies {
            let wanted = (request.field, wanted);
            observation.frequencies = self.frequencies.observe(&self.experiment, wanted)?;
        }
        if with_statistics || !is_wanted {
            self.statistics.clone_from(&observation.statistics);
        } else {
            observation.statistics.clone_from(&self.statistics);
        }
        let snapshot_request =
            |snapshot_request| Snapshot::of(&self.experiment, snapshot_request).map(Arc::new);
        Ok((observation, self.next_snapshot(answered).map(snapshot_request).transpose()?))
    }

    /// The oldest request for a file that can be answered now, and was not. A field that cannot be shown
    /// yet is waited for, so that no file lacks it.
    pub fn next_snapshot(&self, answered: &[u64]) -> Option<&SnapshotRequest> {
        if self.failed.is_some() || self.is_going_back() {
            return None;
        }
        let is_new = |snapshot_request: &&SnapshotRequest| !answered.contains(&snapshot_request.id);
        let mut wanted = self.request.snapshot_requests.iter().filter(is_new);
        wanted.find(|snapshot_request| self.experiment.can_show(snapshot_request.field()))
    }

    /// The observation of a solver that failed: empty.
    fn nothing(&self) -> Observation {
        let run = self.experiment.run();
        Observation {
            cycle: run.cycle(),
            norms: run.record(),
            field: self.request.observation.field,
            ..Observation::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_speed_is_averaged_over_the_last_half_second() {
        let mut speed = Speed::default();
        assert_eq!(speed.average(0, 0.0), None);
        assert_eq!(speed.average(10, 0.1), Some(100.0));
        assert_eq!(speed.average(50, 0.5), Some(100.0));
        // Of the last half second, whatever was before, and no faster than it can be read.
        assert_eq!(speed.average(60, 0.6), Some(100.0));
        assert_eq!(speed.average(75, 1.0), Some(50.0));
        assert_eq!(speed.average(75, 1.0), Some(50.0));
    }
}
