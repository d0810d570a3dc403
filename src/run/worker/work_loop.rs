//! The loop of the worker thread: read the newest wish, make some cycles, offer a report.

use super::WorkerFlags;
use super::exact::Exact;
use super::job::Job;
use super::messages::{Answer, RequestError, WorkerRequest};
use super::pacing::Pacing;
use crate::run::experiment::Experiment;
use crate::run::plan::Planner;
use crate::run::spec::RunSpec;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Cycles are made for this long before wishes are read again (one cycle at least).
const SLICE: Duration = Duration::from_millis(4);

/// For each second of the run, Jacobi's iteration beside it gets this part of a second: on the CPU …
const CLASSIC_SHARE: f64 = 0.25;

/// … and on a GPU, of whose throughput 95 % is to be left. There the run is at its end long before
/// Jacobi's iteration could be, which then has the GPU to itself.
const CLASSIC_SHARE_ON_GPU: f64 = 0.02;

/// How long to wait while something is under way that no wish tells of: a report that has not
/// been taken, a cycle that is due later, the exact solution.
const SOON: Duration = Duration::from_millis(5);

/// How long to wait for a wish where nothing is under way, before looking whether to close.
const IDLE: Duration = Duration::from_millis(50);

/// What the worker hears and says.
pub(super) struct Channels {
    pub requests: Receiver<WorkerRequest>,
    pub answers: Sender<Answer>,
    /// The other end of `answers`, to take back a report that has not been taken.
    pub untaken: Receiver<Answer>,
}

/// The worker's side.
pub(super) struct WorkLoop {
    channels: Channels,
    conduct: Arc<WorkerFlags>,
    wake: Box<dyn Fn() + Send>,
    planner: Planner,
    exact: Exact,
    refusal: Option<RequestError>,
    /// What was refused while there was no run to go on with: asking again is no use.
    refused: Option<(u64, Arc<RunSpec>)>,
    /// The requests for files that were answered, in whichever run, of those that are still wished for.
    answered: Vec<u64>,
    pacing: Pacing,
}

impl WorkLoop {
    pub fn new(channels: Channels, conduct: Arc<WorkerFlags>, wake: Box<dyn Fn() + Send>) -> Self {
        Self {
            channels,
            conduct,
            wake,
            planner: Planner::default(),
            exact: Exact::default(),
            refusal: None,
            refused: None,
            answered: Vec::new(),
            pacing: Pacing::default(),
        }
    }

    /// Works until it is told to close, or nobody can wish for anything any more.
    pub fn run(mut self) {
        let mut job: Option<Job> = None;
        while !self.conduct.closing.load(Ordering::Relaxed) {
            if self.conduct.resting.load(Ordering::Relaxed) {
                std::thread::park_timeout(IDLE);
                continue;
            }
            let patience = job.as_ref().map_or(IDLE, |job| self.patience(job));
            match self.channels.requests.recv_timeout(patience) {
                Ok(request) => self.take(request, &mut job),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if let Some(job) = &mut job {
                self.exact.serve(job);
                self.work(job);
            }
            self.report(job.as_mut());
        }
    }

    /// How long to wait for a wish: not at all while there is work.
    fn patience(&self, job: &Job) -> Duration {
        if job.has_work() {
            Duration::ZERO
        } else if job.is_running() {
            job.due.saturating_duration_since(Instant::now()).min(SOON)
        } else if job.is_news || self.exact.is_computing() {
            SOON
        } else {
            IDLE
        }
    }

    /// Takes a wish in: a new run, or other demands on the one there is.
    fn take(&mut self, request: WorkerRequest, job: &mut Option<Job>) {
        let refused = |(epoch, spec): &(_, _)| *epoch == request.epoch && *spec == request.spec;
        match job {
            None if self.refused.as_ref().is_some_and(refused) => {}
            Some(job) if job.request.epoch == request.epoch && job.request.spec == request.spec => {
                job.is_news |= job.request.view != request.view
                    || job.request.running != request.running
                    || job.request.snapshot_requests != request.snapshot_requests;
                job.request(request);
            }
            Some(job)
                if job.request.epoch == request.epoch
                    && job.plan.spec.is_same_run(&request.spec) =>
            {
                if let Err(why) = self.move_to(&request.spec, job) {
                    self.refusal = Some(RequestError { epoch: request.epoch, why });
                }
                job.request(request);
                job.is_news = true;
            }
            _ => match self.set_up(&request, job.as_mut()) {
                Ok(new) => *job = Some(new),
                Err(why) => {
                    self.refusal = Some(RequestError { epoch: request.epoch, why });
                    self.refused = Some((request.epoch, Arc::clone(&request.spec)));
                    // The run that is there goes on, and is looked at as is wanted now.
                    if let Some(job) = job {
                        // Steps are counted anew in the epoch that was asked for.
                        job.steps_made = request.steps;
                        job.epoch = request.epoch;
                        job.request(request);
                        job.is_news = true;
                    }
                }
            },
        }
    }

    /// Lets the run go on where another description of it says.
    fn move_to(&mut self, spec: &RunSpec, job: &mut Job) -> Result<(), String> {
        // After a refusal the description is what it was.
        if *spec == job.plan.spec {
            return Ok(());
        }
        let plan = self.planner.plan(spec).map_err(|error| error.to_string())?;
        job.move_to(plan).map_err(|error| error.to_string())
    }

    fn set_up(&mut self, request: &WorkerRequest, old: Option<&mut Job>) -> Result<Job, String> {
        let plan = Arc::new(self.planner.plan(&request.spec).map_err(|error| error.to_string())?);
        let shared = old.filter(|old| {
            Arc::ptr_eq(&old.plan.problem, &plan.problem)
                && old.plan.precision == plan.precision
                && old.plan.place.shares_with(plan.place)
                && old.failed.is_none()
        });
        let experiment = match shared {
            Some(old) => old.experiment.with_plan(&plan),
            None => Experiment::new(&plan),
        };
        let experiment = experiment.map_err(|error| error.to_string())?;
        let mut job = Job::new(request.clone(), plan, experiment);
        if let Some(exact) = self.exact.of(&job.plan.problem) {
            job.set_exact(exact);
        }
        Ok(job)
    }

    /// Makes cycles, of the run and of Jacobi's iteration beside it, for about one [`SLICE`]; at
    /// first a single one, so that there is something to be seen.
    fn work(&self, job: &mut Job) {
        let begin = Instant::now();
        while job.has_run_work() && begin.elapsed() < SLICE && self.channels.requests.is_empty() {
            job.cycle();
            if !job.is_told {
                return;
            }
        }
        let share = if job.is_on_gpu() { CLASSIC_SHARE_ON_GPU } else { CLASSIC_SHARE };
        job.classic_credit = if job.is_running() && job.is_in_step() {
            (job.classic_credit + begin.elapsed().as_secs_f64() * share).min(SLICE.as_secs_f64())
        } else {
            SLICE.as_secs_f64()
        };
        // Where a sweep takes longer than its share, the debt is worked off by later cycles.
        let begin = Instant::now();
        while job.has_classic_work()
            && job.classic_credit > 0.0
            && begin.elapsed() < SLICE
            && self.channels.requests.is_empty()
        {
            let sweep = Instant::now();
            // To set it up takes as long as very many sweeps of a large grid, and is done once.
            let is_there = job.experiment.classic().is_some();
            job.classic_sweep();
            if is_there {
                job.classic_credit -= sweep.elapsed().as_secs_f64();
            }
        }
    }

    /// Offers a report, if there is news, the last one was taken, and it is not too soon.
    fn report(&mut self, job: Option<&mut Job>) {
        let is_new = job.as_ref().is_some_and(|job| !job.is_told);
        if !(self.channels.answers.is_empty() || is_new && self.take_back()) {
            return;
        }
        if let Some(refusal) = self.refusal.take() {
            self.send(Err(refusal));
            return;
        }
        let Some(job) = job else {
            return;
        };
        let (busy, on_gpu) = (job.has_work(), job.is_on_gpu());
        // The first picture of a run waits for nothing.
        if !job.is_news || (job.is_told && !self.pacing.is_due(busy, on_gpu)) {
            return;
        }
        let sorts = job.must_sort()
            || (job.request.view.statistics && self.pacing.is_sorting_due(busy, on_gpu));
        let begin = Instant::now();
        let report = job.report(sorts, self.exact.state(), &mut self.answered);
        (job.is_news, job.is_told) = (job.next_snapshot(&self.answered).is_some(), true);
        self.pacing.note(begin, sorts);
        self.send(Ok(Box::new(report)));
    }

    /// Takes a report back that nobody has taken, since it is of a run that nobody wants any more,
    /// and says whether there is room now. A refusal stays, and what a file waits for.
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

    /// Sends an answer into the empty slot; if nobody is there to read it, the thread is about to
    /// be ended anyway.
    fn send(&self, answer: Answer) {
        _ = self.channels.answers.try_send(answer);
        (self.wake)();
    }
}

#[cfg(test)]
mod tests;
