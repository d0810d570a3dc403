//! The loop of the rewinder. A turn reads the newest request, or takes one step towards the target
//! under way.

use super::replayed_run::{ReplayedRun, Step};
use super::{ReplayReport, ReplayRequest, ReplayTarget};
use crate::clock::Instant;
use crate::grid::Slice;
use crate::run::archive::RunArchive;
use crate::run::host::{LatestSlot, Turn};
use crate::run::observe::{FieldKind, Observation};
use crate::solver::{Quantity, Samples, SolverError, StopToken, Window, larger};
use crossbeam_channel::{Receiver, TryRecvError};
use std::sync::Arc;
use std::time::Duration;

/// The longest wait for a request.
const IDLE: Duration = Duration::from_millis(50);

/// Where the rest of the way takes longer than this, a cycle on it is shown meanwhile.
const LONG: Duration = Duration::from_millis(15);

/// The time between two reports of how far a long way is.
const REPORT_EVERY: Duration = Duration::from_millis(200);

/// The state of the rewinder between two turns.
pub(super) struct RewindLoop {
    requests: Receiver<ReplayRequest>,
    reports: LatestSlot<ReplayReport>,
    /// Ends a cycle when the rewinder is dropped.
    stop: StopToken,
    notify: Box<dyn Fn() + Send>,
    /// The runs that there are. Freeing the memory of one may take a frame of a screen or two,
    /// which is why the last reference is dropped on this thread.
    runs: Vec<Arc<RunArchive>>,
    replayed: Vec<ReplayedRun>,
    /// The request that is not answered yet.
    task: Option<ReplayTask>,
}

/// A request under way.
struct ReplayTask {
    request: ReplayRequest,
    report: ReplayReport,
    /// The target under way.
    index: usize,
    /// The run of the target, and the one that is subtracted from it, once they are set up.
    run: Option<ReplayedRun>,
    minus: Option<ReplayedRun>,
    /// When the way under way began, and when it was reported last.
    begin: Instant,
    reported: Option<Instant>,
}

impl RewindLoop {
    pub fn new(
        requests: Receiver<ReplayRequest>,
        reports: LatestSlot<ReplayReport>,
        stop: StopToken,
        notify: Box<dyn Fn() + Send>,
    ) -> Self {
        let (runs, replayed) = (Vec::new(), Vec::new());
        Self { requests, reports, stop, notify, runs, replayed, task: None }
    }

    /// Reads a newer request, if there is one, and takes one step of the newest.
    pub fn turn(&mut self) -> Turn {
        match self.requests.try_recv() {
            Ok(request) => self.take(request),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => return Turn::End,
        }
        let Some(mut task) = self.task.take() else { return Turn::Wait(IDLE) };
        let target = task.request.targets[task.index].clone();
        match self.step(&mut task, &target) {
            Ok(None) => {}
            Ok(Some(observation)) => {
                task.report.observations[task.index] = Some(observation);
                task.index += 1;
                self.replayed.extend(task.run.take().into_iter().chain(task.minus.take()));
            }
            Err(error) => {
                // The run is set up again next time, elsewhere if need be.
                self.replayed.retain(|run| !run.is_of(&target.archive));
                let why = format!("cycle {} cannot be shown: {error}", target.cycle);
                task.report.failed = Some(why);
            }
        }
        if task.report.failed.is_some() || task.index == task.request.targets.len() {
            task.report.progress = None;
            self.send(task.report);
        } else {
            self.task = Some(task);
        }
        Turn::Again
    }

    /// Replaces the request under way.
    fn take(&mut self, request: ReplayRequest) {
        if let Some(ReplayTask { run, minus, .. }) = self.task.take() {
            self.replayed.extend(run.into_iter().chain(minus));
        }
        self.replayed.retain(|run| request.runs.iter().any(|archive| run.is_of(archive)));
        request.runs.iter().for_each(|archive| archive.set_budget(request.memory));
        self.runs.clone_from(&request.runs);
        self.task = (!request.targets.is_empty()).then(|| ReplayTask {
            report: ReplayReport {
                id: request.id,
                observations: vec![None; request.targets.len()],
                progress: None,
                failed: None,
            },
            request,
            index: 0,
            run: None,
            minus: None,
            begin: Instant::now(),
            reported: None,
        });
    }

    fn send(&self, report: ReplayReport) {
        self.reports.put(report);
        (self.notify)();
    }

    /// Takes one step towards a target; returns what is observed there, once it is reached.
    fn step(
        &mut self,
        task: &mut ReplayTask,
        target: &ReplayTarget,
    ) -> Result<Option<Observation>, SolverError> {
        let field = target.request.field;
        if task.run.is_none() {
            (task.begin, task.reported) = (Instant::now(), None);
        }
        let mut run = match task.run.take() {
            Some(run) => run,
            None => self.replayed(&target.archive)?,
        };
        if task.minus.is_none()
            && let Step::OnTheWay(part) = run.step_to(target.cycle, field)?
        {
            if is_due(task, part) {
                if task.reported.is_none() && target.minus.is_none() {
                    task.report.observations[task.index] = Some(run.observe(&target.request)?);
                }
                self.report_progress(task, part);
            }
            task.run = Some(run);
            return Ok(None);
        }
        let Some(minus) = &target.minus else {
            let observation = run.observe(&target.request)?;
            task.run = Some(run);
            return Ok(Some(observation));
        };
        if task.minus.is_none() {
            (task.begin, task.reported) = (Instant::now(), None);
        }
        let mut other = match task.minus.take() {
            Some(other) => other,
            None => self.replayed(&minus.archive)?,
        };
        let observation = match other.step_to(minus.cycle, field)? {
            Step::There => Some(difference(&run, &other, target)?),
            Step::OnTheWay(part) => {
                if is_due(task, part) {
                    self.report_progress(task, part);
                }
                None
            }
        };
        (task.run, task.minus) = (Some(run), Some(other));
        Ok(observation)
    }

    fn report_progress(&self, task: &mut ReplayTask, part: f32) {
        task.reported = Some(Instant::now());
        task.report.progress = Some(part);
        self.send(task.report.clone());
    }

    /// The run that is recomputed, out of those that are set up and not in use.
    fn replayed(&mut self, archive: &Arc<RunArchive>) -> Result<ReplayedRun, SolverError> {
        match self.replayed.iter().position(|run| run.is_of(archive)) {
            Some(index) => Ok(self.replayed.swap_remove(index)),
            None => ReplayedRun::new(archive, &self.stop),
        }
    }
}

/// Whether it is time to report how far a long way is, of which this part is done.
fn is_due(task: &ReplayTask, part: f32) -> bool {
    let spent = task.begin.elapsed();
    let left = spent.div_f32(part.max(1e-6)).saturating_sub(spent);
    left > LONG && task.reported.is_none_or(|reported| reported.elapsed() > REPORT_EVERY)
}

/// What is observed of a run at its present cycle, minus what is observed of another.
fn difference(
    run: &ReplayedRun,
    other: &ReplayedRun,
    target: &ReplayTarget,
) -> Result<Observation, SolverError> {
    let (request, shape) = (&target.request, target.archive.plan().problem.shape);
    let differences = |window: &Window| field_difference(run, other, request.field, window);
    let mut observation = run.observe(request)?;
    let shown = request.map.as_ref().map(|map| map.window(&shape));
    let slice = shown.as_ref().and_then(|window| window.slice);
    if let Some((picture, window)) = observation.picture.as_mut().zip(shown) {
        let across = slice.filter(|_| picture.is_projection);
        let mut samples = differences(&window)?;
        for index in across.map_or(0..0, |slice| 0..shape.axes()[slice.axis]) {
            let slice = across.map(|slice| Slice { index, ..slice });
            let of_slice = differences(&Window { slice, ..window.clone() })?;
            for (most, value) in samples.values.iter_mut().zip(of_slice.values) {
                *most = larger((*most).into(), value.into()) as f32;
            }
        }
        Arc::make_mut(picture).samples = samples;
    }
    if let Some(([i, row], value)) = &mut observation.probe {
        *value = differences(&Window { slice, ..Window::point(*i, *row) })?.values[0];
    }
    Ok(observation)
}

/// The field of one run minus that of another on a window, of each block of points the value of
/// largest magnitude. Iterates are subtracted in their own precision, other fields in that of their
/// samples.
fn field_difference(
    a: &ReplayedRun,
    b: &ReplayedRun,
    field: FieldKind,
    window: &Window,
) -> Result<Samples, SolverError> {
    let [a, b] = [a.experiment(), b.experiment()];
    // For one system the errors differ as the iterates do.
    let is_of_iterates = match field {
        FieldKind::Solution => true,
        FieldKind::Error => Arc::ptr_eq(&a.run().plan().problem, &b.run().plan().problem),
        _ => false,
    };
    if is_of_iterates {
        return a.run().solver().sample(Quantity::Difference(b.run().solver()), window);
    }
    let whole = Window { most: [usize::MAX; 2], ..window.clone() };
    let [a, b] = [a.samples(field, &whole)?, b.samples(field, &whole)?];
    let difference = a.values.iter().zip(&b.values).map(|(a, b)| f64::from(*a) - f64::from(*b));
    Ok(pooled(&difference.collect::<Vec<f64>>(), window))
}

/// Samples of values that are given point by point.
fn pooled(values: &[f64], window: &Window) -> Samples {
    let (block, size) = (window.block(), window.size());
    let mut largest = vec![0.0; size[0] * size[1]];
    for (row, values) in values.chunks(window.columns.len()).enumerate() {
        let slots = &mut largest[row / block[1] * size[0]..][..size[0]];
        for (slot, block) in slots.iter_mut().zip(values.chunks(block[0])) {
            *slot = block.iter().fold(*slot, |a, &b| larger(a, b));
        }
    }
    Samples {
        columns: window.columns.clone(),
        rows: window.rows.clone(),
        slice: window.slice,
        block,
        size,
        values: largest.into_iter().map(|value| value as f32).collect(),
    }
}
