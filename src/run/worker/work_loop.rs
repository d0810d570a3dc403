//! The loop of the worker thread. A turn reads the newest request, makes some cycles and offers a
//! report.

use super::exact::Exact;
use super::job::Job;
use super::measuring::Measuring;
use super::messages::{Answer, RequestError, WorkerRequest};
use super::pacing::{Pacing, Shares};
use super::parked::ParkedRuns;
use super::radius::Radius;
use crate::clock::Instant;
use crate::run::host::Turn;
use crate::run::observe::{Experiment, FieldKind};
use crate::run::plan::{Plan, Planner};
use crate::run::record::{MemoryNeed, MemoryShort};
use crate::run::spec::RunSpec;
use crate::solver::{SolverError, StopToken};
use crossbeam_channel::{Receiver, Sender, TryRecvError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A turn makes cycles for this long, and one cycle at least. In a page its frame must fit beside it into a sixtieth of a
/// second, also on a core that is slow for a page.
const SLICE: Duration = Duration::from_millis(if cfg!(target_arch = "wasm32") { 3 } else { 4 });

/// For each second of the run, Jacobi's iteration alongside, with its accelerations, gets this fraction of a second: on the CPU …
const CLASSIC_SHARE: f64 = 0.25;

/// … and on a GPU, of whose throughput 95 % is to be left. There the run ends long before Jacobi's
/// iteration could, which then has the GPU to itself.
const CLASSIC_SHARE_ON_GPU: f64 = 0.01;

/// The longest time in which a run that catches up makes cycles without a report, and in which newer
/// requests wait for it: a setting that is dragged shows pictures on the way, however fast it moves. Then the cycle
/// under way is left unfinished.
pub(super) const LONGEST_CATCH_UP: Duration = Duration::from_millis(300);

/// The longest wait while something is under way that nothing interrupts: a report that has not been
/// taken, a cycle that is due later, the exact solution.
const SOON: Duration = Duration::from_millis(5);

/// The longest wait where nothing is under way.
const IDLE: Duration = Duration::from_millis(50);

/// The worker's ends of the channels.
pub(super) struct Channels {
    pub requests: Receiver<WorkerRequest>,
    pub answers: Sender<Answer>,
    /// The other end of `answers`, to take back a report that has not been taken.
    pub untaken: Receiver<Answer>,
}

/// The state of the worker between two turns.
pub(super) struct WorkLoop {
    channels: Channels,
    resting: Arc<AtomicBool>,
    /// Ends a cycle of a run that is to be replaced.
    stop: StopToken,
    notify: Box<dyn Fn() + Send>,
    planner: Planner,
    exact: Exact,
    radius: Radius,
    measuring: Measuring,
    /// The run that is made.
    job: Option<Job>,
    /// Runs that were left, to which a request may return.
    parked: ParkedRuns,
    /// The error that is to be sent next.
    error: Option<RequestError>,
    /// What was rejected while there was no run to continue: the same is not tried again.
    rejected: Option<(u64, Arc<RunSpec>)>,
    /// The snapshots that were sent, in whichever run, of those that are still requested.
    answered: Vec<u64>,
    pacing: Pacing,
    /// [`LONGEST_CATCH_UP`], which tests change.
    longest_catch_up: Duration,
    /// Whether a piece of a cycle was made, and nothing else can be done until it is whole.
    is_within_cycle: bool,
}

impl WorkLoop {
    /// A loop without a run. `on_read` gets how far a matrix is read.
    pub fn new(
        channels: Channels,
        resting: Arc<AtomicBool>,
        stop: StopToken,
        notify: Box<dyn Fn() + Send>,
        on_read: impl FnMut(&str, f64) + Send + 'static,
    ) -> Self {
        Self {
            channels,
            resting,
            stop,
            notify,
            planner: Planner::without_waiting().on_read(on_read),
            exact: Exact::default(),
            radius: Radius::default(),
            measuring: Measuring::default(),
            job: None,
            parked: ParkedRuns::default(),
            error: None,
            rejected: None,
            answered: Vec::new(),
            pacing: Pacing::default(),
            longest_catch_up: LONGEST_CATCH_UP,
            is_within_cycle: false,
        }
    }

    /// Reads the newest request, makes cycles for about a [`SLICE`] and offers a report; or makes a piece of a cycle.
    pub fn turn(&mut self) -> Turn {
        if self.resting.load(Ordering::Relaxed) {
            return Turn::Wait(IDLE);
        }
        if !self.is_within_cycle && !self.prepare() {
            return Turn::End;
        }
        self.work();
        if self.is_within_cycle {
            return Turn::Again;
        }
        self.report();
        self.next()
    }

    /// Reads the newest request, and serves the run what it needs beside cycles. Returns whether there is anybody to work for.
    fn prepare(&mut self) -> bool {
        // A run that catches up is shown before a newer one replaces it.
        if !self.job.as_ref().is_some_and(Job::is_awaited) {
            match self.channels.requests.try_recv() {
                Ok(request) => {
                    self.stop.withdraw();
                    self.take(request);
                }
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => return false,
            }
        }
        if let Some(job) = &mut self.job {
            if job.awaits_gpu() && self.planner.knows_gpu_of(&job.plan.spec.method) {
                job.leave_cpu(self.planner.decide_again(&job.plan).ok());
                job.plan = Arc::new(self.planner.with_streamed(Plan::clone(&job.plan)));
            }
            self.exact.serve(job);
            self.radius.serve(job);
            self.measuring.serve(job);
            job.serve_frequencies();
        }
        true
    }

    /// What follows this turn: another at once while there is work.
    fn next(&self) -> Turn {
        let Some(job) = &self.job else { return Turn::Wait(IDLE) };
        if job.has_work() {
            return Turn::Again;
        }
        let wait = if job.is_running() {
            job.due.saturating_duration_since(Instant::now()).min(SOON)
        } else if job.has_news
            || self.exact.is_computing()
            || self.radius.is_computing()
            || self.measuring.is_measuring()
            || job.awaits_frequencies()
        {
            SOON
        } else {
            IDLE
        };
        if wait.is_zero() { Turn::Again } else { Turn::Wait(wait) }
    }

    /// Applies a request: a new run, or changes to the current one.
    fn take(&mut self, request: WorkerRequest) {
        if let Some(mut parked) = self.parked.take(request.epoch) {
            if let Some(left) = &mut self.job {
                parked.resume(left);
            }
            self.replace_job(parked, &request);
        }
        self.parked.retain(&request.kept);
        let rejected = |(epoch, spec): &(_, _)| *epoch == request.epoch && *spec == request.spec;
        match &mut self.job {
            None if self.rejected.as_ref().is_some_and(rejected) => {}
            Some(job) if job.request.epoch == request.epoch && job.request.spec == request.spec => {
                job.has_news |= job.request.observation != request.observation
                    || job.request.reference != request.reference
                    || job.request.accelerations != request.accelerations
                    || job.request.error != request.error
                    || job.request.all_norms != request.all_norms
                    || job.request.running != request.running
                    || job.request.held != request.held
                    || job.request.snapshot_requests != request.snapshot_requests;
                job.request(request);
            }
            Some(job)
                if job.request.epoch == request.epoch
                    && job.plan.spec.is_same_run(&request.spec) =>
            {
                if let Err(why) = move_to(&mut self.planner, &request.spec, job) {
                    self.error = Some(RequestError { epoch: request.epoch, why });
                }
                job.request(request);
                job.has_news = true;
            }
            _ => match self.set_up(&request) {
                Ok(new) => self.replace_job(new, &request),
                Err(why) => {
                    self.error = Some(RequestError { epoch: request.epoch, why });
                    self.rejected = Some((request.epoch, Arc::clone(&request.spec)));
                    // The run that is there continues, and is observed as is requested now.
                    if let Some(job) = &mut self.job {
                        // Steps are counted again in the requested epoch.
                        job.steps_made = request.steps;
                        job.epoch = request.epoch;
                        job.request(request);
                        job.has_news = true;
                    }
                }
            },
        }
    }

    /// Replaces the run. The one that is left is kept if it is requested.
    fn replace_job(&mut self, new: Job, request: &WorkerRequest) {
        if let Some(left) = self.job.replace(new) {
            self.parked.park(left, &request.kept, request.memory);
        }
    }

    fn set_up(&mut self, request: &WorkerRequest) -> Result<Job, String> {
        let mut plan =
            Arc::new(self.planner.plan(&request.spec).map_err(|error| error.to_string())?);
        if self.check_memory(&plan, request).is_err() {
            // Runs that were left make room for the one that is wanted.
            self.parked.clear();
            self.check_memory(&plan, request).map_err(|error| error.to_string())?;
        }
        let mut experiment = match self.experiment(&plan) {
            Err(_) if self.parked.clear() => self.experiment(&plan),
            experiment => experiment,
        };
        if let Err(why) = &experiment
            && let Some(on_cpu) = plan.on_cpu(why)
        {
            plan = Arc::new(self.planner.with_streamed(on_cpu));
            experiment = self.experiment(&plan);
        }
        let mut experiment = experiment.map_err(|error| error.to_string())?;
        // Devices whose view of the others is frozen could not go on from an iterate.
        let is_whole = experiment.run().has_frozen_halos();
        experiment.stop_on(&if is_whole { self.stop.for_good() } else { self.stop.clone() });
        let plan = Arc::clone(experiment.run().plan());
        let mut job = Job::new(request.clone(), plan, experiment);
        if let Some(exact) = self.exact.of(&job.plan.problem) {
            job.set_exact(exact);
        }
        Ok(job)
    }

    /// Sums what a run and the fields that are observed of it need, and checks it before anything is allocated. A run
    /// that takes arrays over from the one before it needs little more. Jacobi's iteration as a reference is left out
    /// where there is no room for it.
    fn check_memory(&self, plan: &Plan, request: &WorkerRequest) -> Result<(), MemoryShort> {
        if self.job.as_ref().is_some_and(|old| old.shares_with(plan)) {
            return Ok(());
        }
        let is_seen = |field: &FieldKind| {
            request.observation.shows(*field) || *field == FieldKind::Error && request.error
        };
        let fields: Vec<FieldKind> = FieldKind::ALL.into_iter().filter(is_seen).collect();
        MemoryNeed::of(plan, &fields).check(plan.precision)
    }

    fn experiment(&mut self, plan: &Arc<Plan>) -> Result<Experiment, SolverError> {
        match self.job.as_mut().filter(|old| old.shares_with(plan)) {
            Some(old) => old.experiment.with_plan(plan),
            None => Experiment::new(plan),
        }
    }

    /// Makes cycles, of the run and of Jacobi's iteration beside it, for about one [`SLICE`] each;
    /// of a new run a single one, so that its first report comes at once.
    fn work(&mut self) {
        let Some(job) = &mut self.job else { return };
        let requests = &self.channels.requests;
        let longest = self.longest_catch_up;
        let begin = Instant::now();
        while self.is_within_cycle
            || job.has_run_work()
                && begin.elapsed() < SLICE
                && (requests.is_empty() || job.is_awaited())
        {
            self.is_within_cycle = !job.experiment.make_piece();
            if self.is_within_cycle {
                return;
            }
            job.cycle();
            if requests.is_empty() {
                // The request that it was for is taken already.
                self.stop.withdraw();
            }
            if !job.is_reported && !job.is_withheld(longest) {
                return;
            }
        }
        let share = if job.is_on_gpu() { CLASSIC_SHARE_ON_GPU } else { CLASSIC_SHARE };
        job.classic_credit = if job.is_running() && job.is_in_step() {
            (job.classic_credit + begin.elapsed().as_secs_f64() * share).min(SLICE.as_secs_f64())
        } else {
            SLICE.as_secs_f64()
        };
        // Where a sweep takes longer than its share, later cycles make up for it. Accelerations come first: they
        // need few sweeps.
        let begin = Instant::now();
        while let Some(acceleration) = job.next_acceleration()
            && job.classic_credit > 0.0
            && begin.elapsed() < SLICE
            && (requests.is_empty() || job.is_awaited())
        {
            let sweep = Instant::now();
            job.accelerate(acceleration);
            job.classic_credit -= sweep.elapsed().as_secs_f64();
        }
        let begin = Instant::now();
        while job.has_classic_work()
            && job.classic_credit > 0.0
            && begin.elapsed() < SLICE
            && (requests.is_empty() || job.is_awaited())
        {
            let sweep = Instant::now();
            // Setting it up takes as long as very many sweeps of a large grid, and is done once.
            let is_there = job.experiment.classic().is_some();
            job.classic_sweep();
            if is_there {
                job.classic_credit -= sweep.elapsed().as_secs_f64();
            }
        }
    }

    /// Offers a report, if there is news, the last one was taken, and it is not too soon.
    fn report(&mut self) {
        let is_new = self.job.as_ref().is_some_and(|job| !job.is_reported);
        if !(self.channels.answers.is_empty() || is_new && self.take_back()) {
            return;
        }
        if let Some(error) = self.error.take() {
            self.send(Err(error));
            return;
        }
        let Some(job) = &mut self.job else { return };
        if job.is_withheld(self.longest_catch_up) {
            return;
        }
        let with_frequencies = job.request.observation.frequencies.is_some();
        let (busy, shares) = (job.has_work(), Shares::of(job.is_on_gpu(), with_frequencies));
        // The first report of a run does not wait.
        if !job.has_news || (job.is_reported && !self.pacing.is_due(busy, shares)) {
            return;
        }
        let with_statistics = job.needs_statistics()
            || (job.request.observation.statistics && self.pacing.is_statistics_due(busy, shares));
        let begin = Instant::now();
        let report = job.report(with_statistics, self.exact.state(), &mut self.answered);
        (job.has_news, job.is_reported) = (job.next_snapshot(&self.answered).is_some(), true);
        self.pacing.record(begin, with_statistics);
        self.send(Ok(Box::new(report)));
    }

    /// Takes back a report that was not received yet and belongs to an earlier run, and
    /// returns whether there is room now. An error stays, and a snapshot for a file.
    fn take_back(&self) -> bool {
        match self.channels.untaken.try_recv() {
            Ok(Ok(report)) if report.snapshot.is_none() => true,
            Ok(kept) => {
                _ = self.channels.answers.try_send(kept);
                false
            }
            Err(_) => true,
        }
    }

    /// Sends an answer into the empty slot; if there is no receiver, the thread is about to
    /// end anyway.
    fn send(&self, answer: Answer) {
        _ = self.channels.answers.try_send(answer);
        (self.notify)();
    }
}

/// Continues a run in the place that another description of it names.
fn move_to(planner: &mut Planner, spec: &RunSpec, job: &mut Job) -> Result<(), String> {
    // After an error the description is what it was.
    if *spec == job.plan.spec {
        return Ok(());
    }
    let plan = planner.plan(spec).map_err(|error| error.to_string())?;
    job.move_to(plan).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
