//! The thread on which runs are made.
//!
//! It is told what is wanted as a whole ([`Wish`]), and only the newest wish counts: an older one
//! that was not read yet is replaced, so telling it never waits and never piles up. It answers
//! with whole [`Report`]s, one at a time: the next is made only when the last was taken. Between
//! the two it is one loop: read the newest wish, make some cycles, offer a report.

use super::experiment::{Experiment, FieldKind, Picture};
use super::history::{History, Record};
use super::plan::{Plan, Planner};
use super::runner::Outcome;
use super::spec::RunSpec;
use crate::grid::Field;
use crate::problem::{self, ExactError, Problem};
use crate::solver::{EdgeShare, Samples, Window};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError, bounded};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Cycles are made for this long before wishes are read again (one cycle at least).
const SLICE: Duration = Duration::from_millis(4);

/// For each second of the run, Jacobi's iteration beside it gets this part of a second.
const CLASSIC_SHARE: f64 = 0.25;

/// A report may take this part of the time while cycles are being made.
const REPORT_SHARE: f64 = 0.1;

/// Reports come no faster than this: a screen shows no more.
const REPORT_EVERY: Duration = Duration::from_millis(15);

/// How long to wait for something to do before looking again.
const IDLE: Duration = Duration::from_millis(5);

/// Points of a curve in a report: more than any plot has pixels.
const CURVE: usize = 2000;

/// All that is wanted of a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    /// The run. A new number starts it from cycle 0.
    pub epoch: u64,
    /// Its description.
    pub spec: Arc<RunSpec>,
    /// Whether cycles are to be made on and on.
    pub running: bool,
    /// Single cycles asked for since the epoch began; each is made once.
    pub steps: u64,
    /// Cycles a second at the most; `None` for as fast as it goes.
    pub pace: Option<f64>,
    /// What is looked at.
    pub view: View,
    /// Something to be saved; a new number is a new request.
    pub capture: Option<Capture>,
}

/// What is looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Which field.
    pub field: FieldKind,
    /// The part that is seen: columns and rows; `None` for all of it.
    pub part: Option<[std::ops::Range<usize>; 2]>,
    /// Samples across and down that can be shown.
    pub most: [usize; 2],
    /// A point (column, row) whose value is wanted exactly.
    pub probe: Option<[usize; 2]>,
    /// Whether Jacobi's iteration is to be made beside the run, as a reference.
    pub reference: bool,
    /// Whether the norm of the error is wanted, whichever field is looked at.
    pub error: bool,
}

/// A request for what a file needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Capture {
    /// Its number.
    pub id: u64,
    /// The field to sample.
    pub field: FieldKind,
    /// Samples across and down at the most.
    pub most: [usize; 2],
    /// Whether the iterate itself is wanted too.
    pub solution: bool,
}

/// What a file needs.
#[derive(Clone, Debug)]
pub struct Captured {
    /// The number of the request.
    pub id: u64,
    /// The run.
    pub plan: Arc<Plan>,
    /// Cycles made.
    pub cycle: u64,
    /// The field.
    pub picture: Picture,
    /// Which field it is.
    pub field: FieldKind,
    /// All norms so far.
    pub history: History,
    /// Those of Jacobi's iteration on the same system, if it is made beside the run.
    pub reference: Vec<Record>,
    /// ‖r₀‖₂.
    pub start_residual: f64,
    /// The iterate, if it was asked for.
    pub solution: Option<Field<f64>>,
}

impl Captured {
    /// Takes what was asked for from an experiment as it is now.
    pub fn of(experiment: &Experiment, capture: &Capture) -> Self {
        let run = experiment.run();
        let shape = run.plan().problem.shape;
        let window = Window { most: capture.most, ..Window::whole(shape.nx(), shape.rows()) };
        Self {
            id: capture.id,
            plan: Arc::clone(run.plan()),
            cycle: run.cycle(),
            picture: experiment.picture(capture.field, &window),
            field: capture.field,
            history: run.history().clone(),
            reference: experiment
                .classic()
                .map_or_else(Vec::new, |classic| classic.history().records().copied().collect()),
            start_residual: run.start_residual(),
            solution: capture.solution.then(|| run.solver().solution()),
        }
    }
}

/// What the worker is at.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// Waiting to be told to go on.
    Paused,
    /// Making cycles.
    Running,
    /// The run has come to its end.
    Finished(Outcome),
}

/// How far the exact solution is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExactState {
    /// Nobody asked for it.
    NotWanted,
    /// It is being computed.
    Computing,
    /// It is there.
    Ready,
    /// It cannot be had; the sentence says why.
    Failed(String),
}

/// What is to be seen of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// The epoch of the wish that this run answers.
    pub epoch: u64,
    /// The run.
    pub plan: Arc<Plan>,
    /// What the worker is at.
    pub phase: Phase,
    /// Sweeps made.
    pub sweeps: u64,
    /// Cycles that the solver makes in a second, set-up and looking not counted; `None` at first.
    pub cycles_per_second: Option<f64>,
    /// ‖r₀‖₂.
    pub start_residual: f64,
    /// The norms of the newest iterate.
    pub latest: Record,
    /// The norms of the iterates so far, thinned out for a plot.
    pub curve: Arc<[Record]>,
    /// The same of Jacobi's iteration on this system (its cycles are sweeps).
    pub reference: Arc<[Record]>,
    /// The field that is looked at.
    pub field: FieldKind,
    /// What it looks like. `None` while it is not ready.
    pub picture: Option<Picture>,
    /// A line's field at the newest cycle; `None` for a plane or while it is not ready.
    pub profile: Option<Samples>,
    /// The value of the probe, with the point that it belongs to.
    pub probe: Option<([usize; 2], f32)>,
    /// How much of the residual lies at tile borders.
    pub edge: EdgeShare,
    /// How far the exact solution is.
    pub exact: ExactState,
    /// Of staleness that is being prepared, the part of Jacobi's sweeps that is made, 0 to 1.
    pub preparing: Option<f32>,
    /// What was asked to be saved.
    pub captured: Option<Arc<Captured>>,
}

/// What a worker sends.
pub type Answer = Result<Box<Report>, Refusal>;

/// A wish that cannot be fulfilled. The run before it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The epoch that was asked for.
    pub epoch: u64,
    /// Why not, in one sentence.
    pub why: String,
}

/// A handle on the worker thread. Dropping it ends the thread.
pub struct Worker {
    wishes: Sender<Wish>,
    /// The other end of `wishes`, to take back a wish that has not been read.
    unread: Receiver<Wish>,
    answers: Receiver<Answer>,
    thread: Option<JoinHandle<()>>,
    closing: Arc<AtomicBool>,
}

impl Worker {
    /// Starts the thread. `wake` is called after every report, on that thread.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(wake: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        let (wishes, unread) = bounded(1);
        let (answer, answers) = bounded(1);
        let closing = Arc::new(AtomicBool::new(false));
        let bench = Bench {
            wishes: unread.clone(),
            answers: answer,
            closing: Arc::clone(&closing),
            wake: Box::new(wake),
            planner: Planner::default(),
            exact: Exact::default(),
            refusal: None,
            last_report: None,
            report_took: Duration::ZERO,
        };
        let thread =
            std::thread::Builder::new().name("tilescope-worker".into()).spawn(|| bench.run())?;
        Ok(Self { wishes, unread, answers, thread: Some(thread), closing })
    }

    /// Says what is wanted from now on. Never waits.
    pub fn wish(&self, wish: Wish) {
        let mut wish = wish;
        // The slot is full only with an older wish; this is its one sender, so it is free next.
        while let Err(TrySendError::Full(again)) = self.wishes.try_send(wish) {
            _ = self.unread.try_recv();
            wish = again;
        }
    }

    /// The report that is waiting, if there is one. Never waits.
    pub fn answer(&self) -> Option<Answer> {
        self.answers.try_recv().ok()
    }

    /// Waits for a report, for tests and programs without a window.
    pub fn wait(&self, at_most: Duration) -> Option<Answer> {
        self.answers.recv_timeout(at_most).ok()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Relaxed);
        // Waits for the cycle under way, so that no thread outlives the window.
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

/// The worker's side.
struct Bench {
    wishes: Receiver<Wish>,
    answers: Sender<Answer>,
    closing: Arc<AtomicBool>,
    wake: Box<dyn Fn() + Send>,
    planner: Planner,
    exact: Exact,
    refusal: Option<Refusal>,
    last_report: Option<Instant>,
    report_took: Duration,
}

/// The run that is being made, and how far the wish is fulfilled.
struct Job {
    wish: Wish,
    epoch: u64,
    plan: Arc<Plan>,
    experiment: Experiment,
    steps_made: u64,
    captured: u64,
    /// When the next cycle is due, at a pace.
    due: Instant,
    /// Seconds that Jacobi's iteration may take.
    classic_credit: f64,
    /// Whether there is something that no report has told yet.
    is_news: bool,
}

impl Bench {
    fn run(mut self) {
        let mut job: Option<Job> = None;
        while !self.closing.load(Ordering::Relaxed) {
            let patience = job.as_ref().map_or(IDLE, |job| self.patience(job));
            match self.wishes.recv_timeout(patience) {
                Ok(wish) => self.take(wish, &mut job),
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
            job.due.saturating_duration_since(Instant::now()).min(IDLE)
        } else {
            IDLE
        }
    }

    /// Takes a wish in: a new run, or other demands on the one there is.
    fn take(&mut self, wish: Wish, job: &mut Option<Job>) {
        match job {
            Some(job) if job.wish.epoch == wish.epoch => {
                job.is_news |= job.wish.view != wish.view || job.wish.running != wish.running;
                job.wish = wish;
            }
            _ => match self.set_up(&wish, job.as_mut()) {
                Ok(new) => *job = Some(new),
                Err(why) => {
                    self.refusal = Some(Refusal { epoch: wish.epoch, why });
                    // The run that is there goes on, and is looked at as is wanted now.
                    if let Some(job) = job {
                        job.wish = Wish { steps: job.steps_made, ..wish };
                        job.is_news = true;
                    }
                }
            },
        }
    }

    fn set_up(&mut self, wish: &Wish, old: Option<&mut Job>) -> Result<Job, String> {
        let plan = Arc::new(self.planner.plan(&wish.spec).map_err(|error| error.to_string())?);
        let shared = old.filter(|old| {
            Arc::ptr_eq(&old.plan.problem, &plan.problem)
                && old.plan.precision == plan.precision
                && old.plan.threads == plan.threads
        });
        let experiment = match shared {
            Some(old) => old.experiment.with_plan(&plan),
            None => Experiment::new(&plan),
        };
        let mut experiment = experiment.map_err(|error| error.to_string())?;
        if let Some(exact) = self.exact.of(&plan.problem) {
            experiment.set_exact(exact);
        }
        Ok(Job {
            epoch: wish.epoch,
            wish: wish.clone(),
            plan,
            experiment,
            steps_made: 0,
            captured: 0,
            due: Instant::now(),
            classic_credit: 0.0,
            is_news: true,
        })
    }

    /// Makes cycles, of the run and of Jacobi's iteration beside it, for about one [`SLICE`].
    fn work(&self, job: &mut Job) {
        let begin = Instant::now();
        while job.has_run_work() && begin.elapsed() < SLICE && self.wishes.is_empty() {
            job.cycle();
        }
        job.classic_credit = if job.is_running() && job.experiment.is_ready(job.wish.view.field) {
            (job.classic_credit + begin.elapsed().as_secs_f64() * CLASSIC_SHARE)
                .min(SLICE.as_secs_f64())
        } else {
            SLICE.as_secs_f64()
        };
        while job.has_classic_work()
            && job.classic_credit > 0.0
            && begin.elapsed() < 2 * SLICE
            && self.wishes.is_empty()
        {
            let begin = Instant::now();
            job.classic_sweep();
            job.classic_credit -= begin.elapsed().as_secs_f64();
        }
    }

    /// Offers a report, if there is news, the last one was taken, and it is not too soon.
    fn report(&mut self, job: Option<&mut Job>) {
        if !self.answers.is_empty() {
            return;
        }
        if let Some(refusal) = self.refusal.take() {
            self.send(Err(refusal));
            return;
        }
        let Some(job) = job else {
            return;
        };
        let since = self.last_report.map_or(Duration::MAX, |last| last.elapsed());
        let busy = job.has_work();
        let rest = if busy { self.report_took.div_f64(REPORT_SHARE) } else { Duration::ZERO };
        if !job.is_news || since < rest.max(REPORT_EVERY) {
            return;
        }
        let begin = Instant::now();
        let report = job.report(self.exact.state());
        job.is_news = false;
        self.report_took = begin.elapsed();
        self.last_report = Some(Instant::now());
        self.send(Ok(Box::new(report)));
    }

    /// Sends an answer into the empty slot; if nobody is there to read it, the thread is about to
    /// be ended anyway.
    fn send(&self, answer: Answer) {
        _ = self.answers.try_send(answer);
        (self.wake)();
    }
}

impl Job {
    /// Whether the run is to go on, and can.
    fn is_running(&self) -> bool {
        self.wish.running && self.experiment.run().outcome().is_none()
    }

    /// Whether a cycle is to be made now.
    fn has_run_work(&self) -> bool {
        let run = self.experiment.run();
        if run.outcome().is_some() {
            return false;
        }
        let stepping = self.steps_made < self.wish.steps;
        // Staleness is shown cycle by cycle: the run waits until Jacobi's iteration is in step.
        let in_step = self.experiment.is_ready(self.wish.view.field);
        stepping || (self.wish.running && in_step && Instant::now() >= self.due)
    }

    /// Whether there is a sweep of Jacobi's iteration to make.
    fn has_classic_work(&self) -> bool {
        if !self.experiment.is_ready(self.wish.view.field) {
            return true;
        }
        if !self.wish.view.reference || self.wish.view.field == FieldKind::Staleness {
            return false;
        }
        let Some(classic) = self.experiment.classic() else {
            return true;
        };
        // While the run is made, its reference goes as far as the run; afterwards, to its end.
        let behind = classic.cycle() < self.experiment.run().sweeps();
        classic.outcome().is_none() && (behind || !self.is_running())
    }

    fn has_work(&self) -> bool {
        self.has_run_work() || self.has_classic_work()
    }

    fn cycle(&mut self) {
        if self.steps_made < self.wish.steps {
            self.steps_made += 1;
        }
        self.experiment.advance();
        let now = Instant::now();
        let period =
            self.wish.pace.map_or(Duration::ZERO, |pace| Duration::from_secs_f64(1.0 / pace));
        // A run that falls behind its pace does not make up for it with a burst.
        self.due = (self.due + period).max(now);
        self.is_news = true;
    }

    /// Makes one sweep of Jacobi's iteration: towards the staleness that is waited for, or else
    /// for the reference. Where its arrays do not fit, it is done without.
    fn classic_sweep(&mut self) {
        let field = self.wish.view.field;
        let swept = if self.experiment.is_ready(field) {
            self.experiment.advance_classic()
        } else {
            self.experiment.prepare(field)
        };
        if swept.is_err() {
            self.wish.view.reference = false;
            self.wish.view.field = FieldKind::Residual;
        }
        self.is_news = true;
    }

    fn report(&mut self, exact: ExactState) -> Report {
        if !self.is_running() {
            self.experiment.settle();
        }
        let view = &self.wish.view;
        let experiment = &self.experiment;
        let run = experiment.run();
        let shape = run.plan().problem.shape;
        let ready = experiment.is_ready(view.field);
        let whole = Window { most: view.most, ..Window::whole(shape.nx(), shape.rows()) };
        let window = match &view.part {
            Some([columns, rows]) => Window {
                columns: columns.start.min(shape.nx() - 1)..columns.end.min(shape.nx()),
                rows: rows.start.min(shape.rows() - 1)..rows.end.min(shape.rows()),
                most: view.most,
            },
            None => whole,
        };
        let one_row =
            Window { rows: 0..1, most: [view.most[0], 1], ..Window::whole(shape.nx(), 1) };
        let probe = view.probe.filter(|[i, row]| *i < shape.nx() && *row < shape.rows());
        let value = |point: [usize; 2]| {
            let window = Window {
                columns: point[0]..point[0] + 1,
                rows: point[1]..point[1] + 1,
                most: [1, 1],
            };
            (point, experiment.samples(view.field, &window).values[0])
        };
        let capture = self.wish.capture.as_ref().filter(|capture| capture.id > self.captured);
        let captured = capture.map(|capture| Arc::new(Captured::of(experiment, capture)));
        let classic = experiment.classic();
        let report = Report {
            epoch: self.epoch,
            plan: Arc::clone(&self.plan),
            phase: match run.outcome() {
                Some(outcome) => Phase::Finished(outcome.clone()),
                None if self.wish.running => Phase::Running,
                None => Phase::Paused,
            },
            sweeps: run.sweeps(),
            cycles_per_second: (run.seconds() > 0.0)
                .then(|| run.history().latest().cycle as f64 / run.seconds()),
            start_residual: run.start_residual(),
            latest: *run.history().latest(),
            curve: run.history().thinned(CURVE).into(),
            reference: classic
                .map_or_else(Vec::new, |classic| classic.history().thinned(CURVE))
                .into(),
            field: view.field,
            picture: ready.then(|| experiment.picture(view.field, &window)),
            profile: (ready && shape.dim() == 1).then(|| experiment.samples(view.field, &one_row)),
            probe: probe.filter(|_| ready).map(value),
            edge: run.solver().edge_share(&self.plan.tiling),
            exact,
            preparing: (!ready).then(|| experiment.prepared()),
            captured,
        };
        if let Some(captured) = &report.captured {
            self.captured = captured.id;
        }
        report
    }
}

/// The exact solution of one problem at a time, computed on a thread of its own.
#[derive(Default)]
struct Exact {
    task: Option<ExactTask>,
}

struct ExactTask {
    problem: Arc<Problem>,
    cancel: Arc<AtomicBool>,
    answer: Receiver<Result<Field<f64>, ExactError>>,
    result: Option<Result<Arc<Field<f64>>, String>>,
}

impl Exact {
    /// Starts, follows and hands over the exact solution of the job's problem, if it is wanted.
    fn serve(&mut self, job: &mut Job) {
        let problem = &job.plan.problem;
        let same = |task: &ExactTask| Arc::ptr_eq(&task.problem, problem);
        if self.task.as_ref().is_some_and(|task| !same(task)) {
            self.task = None;
        }
        let view = &job.wish.view;
        if self.task.is_none() && (view.error || view.field == FieldKind::Error) {
            self.task = Some(ExactTask::start(problem));
            job.is_news = true;
        }
        let Some(task) = &mut self.task else {
            return;
        };
        if task.result.is_none()
            && let Ok(answer) = task.answer.try_recv()
        {
            let result = answer.map(Arc::new).map_err(|error| error.to_string());
            if let Ok(exact) = &result {
                job.experiment.set_exact(exact);
            }
            task.result = Some(result);
            job.is_news = true;
        }
    }

    /// The exact solution of a problem, if it is there.
    fn of(&self, problem: &Arc<Problem>) -> Option<&Arc<Field<f64>>> {
        let task = self.task.as_ref().filter(|task| Arc::ptr_eq(&task.problem, problem))?;
        task.result.as_ref()?.as_ref().ok()
    }

    fn state(&self) -> ExactState {
        match self.task.as_ref().map(|task| &task.result) {
            None => ExactState::NotWanted,
            Some(None) => ExactState::Computing,
            Some(Some(Ok(_))) => ExactState::Ready,
            Some(Some(Err(why))) => ExactState::Failed(why.clone()),
        }
    }
}

impl ExactTask {
    fn start(problem: &Arc<Problem>) -> Self {
        let (send, answer) = bounded(1);
        let cancel = Arc::new(AtomicBool::new(false));
        let work = {
            let (problem, cancel) = (Arc::clone(problem), Arc::clone(&cancel));
            // Nobody waits for a task that was cancelled.
            move || _ = send.send(problem::exact(&problem, &cancel))
        };
        let spawned = std::thread::Builder::new().name("tilescope-exact".into()).spawn(work);
        let result = spawned.err().map(|error| {
            Err(format!(
                "the exact solution cannot be computed: the system gives no thread ({error})"
            ))
        });
        Self { problem: Arc::clone(problem), cancel, answer, result }
    }
}

impl Drop for ExactTask {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}
