//! The run that is being made, and what is told of it.

use super::messages::{Captured, ExactState, Phase, Report, Wish};
use crate::run::experiment::{Experiment, FieldKind};
use crate::run::plan::Plan;
use crate::solver::Window;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Points of a curve in a report: more than any plot has pixels.
const CURVE: usize = 2000;

/// The run that is being made, and how far the wish is fulfilled.
pub(super) struct Job {
    pub wish: Wish,
    pub epoch: u64,
    pub plan: Arc<Plan>,
    pub experiment: Experiment,
    pub steps_made: u64,
    /// When the next cycle is due, at a pace.
    pub due: Instant,
    /// Seconds that Jacobi's iteration may take.
    pub classic_credit: f64,
    /// Whether there is something that no report has told yet.
    pub is_news: bool,
    /// Whether any report has told of this run.
    pub is_told: bool,
}

impl Job {
    /// A run at its start.
    pub fn new(wish: Wish, plan: Arc<Plan>, experiment: Experiment) -> Self {
        Self {
            epoch: wish.epoch,
            wish,
            plan,
            experiment,
            steps_made: 0,
            due: Instant::now(),
            classic_credit: 0.0,
            is_news: true,
            is_told: false,
        }
    }

    /// Whether the run is to go on, and can.
    pub fn is_running(&self) -> bool {
        self.wish.running && self.experiment.run().outcome().is_none()
    }

    /// Whether a cycle is to be made now.
    pub fn has_run_work(&self) -> bool {
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
    pub fn has_classic_work(&self) -> bool {
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
        let run = self.experiment.run();
        let behind = classic.cycle() < run.sweeps();
        let has_end = classic.plan().stop.tolerance.is_some();
        classic.outcome().is_none() && (behind || (has_end && run.outcome().is_some()))
    }

    pub fn has_work(&self) -> bool {
        self.has_run_work() || self.has_classic_work()
    }

    pub fn cycle(&mut self) {
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
    pub fn classic_sweep(&mut self) {
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

    /// What is told of the run now. `answered` is the newest request for a file that was answered.
    pub fn report(&mut self, exact: ExactState, answered: &mut u64) -> Report {
        if !self.is_running() {
            self.experiment.settle();
        }
        let view = &self.wish.view;
        let experiment = &self.experiment;
        let run = experiment.run();
        let shape = run.plan().problem.shape;
        let ready = experiment.is_ready(view.field)
            && (view.field != FieldKind::Error || exact == ExactState::Ready);
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
        // A field that is not ready is waited for: no file says less than it seems to.
        let capture = self
            .wish
            .capture
            .as_ref()
            .filter(|capture| capture.id > *answered && experiment.is_ready(capture.field));
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
            preparing: (!experiment.is_ready(view.field)).then(|| experiment.prepared()),
            captured,
        };
        if let Some(captured) = &report.captured {
            *answered = captured.id;
        }
        report
    }
}
