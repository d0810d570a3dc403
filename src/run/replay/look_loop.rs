//! The loop of the replay thread: read the newest wish, go to each cycle that is to be seen, tell.

use super::remade::Remade;
use super::{Difference, ReplayReport, ReplayRequest, ReplayTarget};
use crate::clock::Instant;
use crate::run::archive::RunArchive;
use crate::run::experiment::FieldKind;
use crate::run::latest_slot::LatestSlot;
use crate::run::observation::Observation;
use crate::solver::{Quantity, Samples, SolverError, Window, larger};
use crossbeam_channel::{Receiver, RecvTimeoutError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long to wait for a wish before looking whether to close.
const IDLE: Duration = Duration::from_millis(50);

/// Where the rest of the way takes longer than this, a cycle on it is shown meanwhile.
const LONG: Duration = Duration::from_millis(15);

/// How often it is told how far a long way is.
const TOLD_EVERY: Duration = Duration::from_millis(200);

/// The replay's side.
pub(super) struct LookLoop {
    requests: Receiver<ReplayRequest>,
    answers: LatestSlot<ReplayReport>,
    closing: Arc<AtomicBool>,
    wake: Box<dyn Fn() + Send>,
    /// The runs that there are. Whoever lets one go last waits until its memory is free, which may
    /// be a screen's frame or two: that is this thread.
    runs: Vec<Arc<RunArchive>>,
    remade: Vec<Remade>,
}

impl LookLoop {
    pub fn new(
        requests: Receiver<ReplayRequest>,
        answers: LatestSlot<ReplayReport>,
        closing: Arc<AtomicBool>,
        wake: Box<dyn Fn() + Send>,
    ) -> Self {
        Self { requests, answers, closing, wake, runs: Vec::new(), remade: Vec::new() }
    }

    /// Works until it is told to close, or nobody can wish for anything any more.
    pub fn run(mut self) {
        while !self.closing.load(Ordering::Relaxed) {
            match self.requests.recv_timeout(IDLE) {
                Ok(request) => {
                    self.remade
                        .retain(|remade| request.runs.iter().any(|archive| remade.is_of(archive)));
                    request.runs.iter().for_each(|archive| archive.set_budget(request.memory));
                    self.fulfil(&request);
                    self.runs = request.runs;
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
    }

    /// Makes all that is to be seen, and tells of it, unless something newer is wanted meanwhile.
    fn fulfil(&mut self, request: &ReplayRequest) {
        let mut answer = ReplayReport {
            id: request.id,
            observations: vec![None; request.targets.len()],
            under_way: None,
            failed: None,
        };
        for (index, target) in request.targets.iter().enumerate() {
            match self.see(target, index, &mut answer) {
                Ok(Some(observation)) => answer.observations[index] = Some(observation),
                Ok(None) => return,
                Err(error) => {
                    // It is set up anew next time, elsewhere if need be.
                    self.remade.retain(|remade| !remade.is_of(&target.archive));
                    answer.failed = Some(format!("cycle {} cannot be seen: {error}", target.cycle));
                    break;
                }
            }
        }
        if !request.targets.is_empty() {
            answer.under_way = None;
            self.tell(answer);
        }
    }

    fn tell(&self, answer: ReplayReport) {
        self.answers.put(answer);
        (self.wake)();
    }

    /// What is to be seen; `None` if something newer is wanted by now.
    fn see(
        &mut self,
        target: &ReplayTarget,
        index: usize,
        answer: &mut ReplayReport,
    ) -> Result<Option<Observation>, SolverError> {
        let mut remade = self.take(&target.archive)?;
        let reached = self.go(&mut remade, target, Some(index), answer)?;
        let observation = match (&target.minus, reached) {
            (_, false) => None,
            (None, true) => Some(remade.observation(&target.view)?),
            (Some(minus), true) => self.difference(&remade, target, minus, answer)?,
        };
        self.remade.push(remade);
        Ok(observation)
    }

    /// Goes to where a sight is, and says whether it got there. What is seen on the way is shown in
    /// place `index` of the answer.
    fn go(
        &self,
        remade: &mut Remade,
        target: &ReplayTarget,
        index: Option<usize>,
        answer: &mut ReplayReport,
    ) -> Result<bool, SolverError> {
        let begin = Instant::now();
        let mut told = None::<Instant>;
        let mut failed = None;
        let reached = remade.go_to(target.cycle, &target.view, &mut |remade, part| {
            if !self.requests.is_empty() || self.closing.load(Ordering::Relaxed) {
                return false;
            }
            let spent = begin.elapsed();
            let left = spent.div_f32(part.max(1e-6)).saturating_sub(spent);
            if left > LONG && told.is_none_or(|told| told.elapsed() > TOLD_EVERY) {
                if let Some(index) = index.filter(|_| told.is_none() && target.minus.is_none()) {
                    match remade.observation(&target.view) {
                        Ok(observation) => answer.observations[index] = Some(observation),
                        Err(error) => failed = Some(error),
                    }
                }
                told = Some(Instant::now());
                answer.under_way = Some(part);
                self.tell(answer.clone());
            }
            failed.is_none()
        })?;
        failed.map_or(Ok(reached), Err)
    }

    /// The run that is made again, out of those that there are.
    fn take(&mut self, archive: &Arc<RunArchive>) -> Result<Remade, SolverError> {
        match self.remade.iter().position(|remade| remade.is_of(archive)) {
            Some(index) => Ok(self.remade.swap_remove(index)),
            None => Remade::new(archive),
        }
    }

    /// How a run differs, where it is, from another: the field of the one less that of the other,
    /// and of these differences the largest of every block of points.
    fn difference(
        &mut self,
        remade: &Remade,
        target: &ReplayTarget,
        minus: &Difference,
        answer: &mut ReplayReport,
    ) -> Result<Option<Observation>, SolverError> {
        let there = ReplayTarget {
            archive: Arc::clone(&minus.archive),
            cycle: minus.cycle,
            view: target.view.clone(),
            minus: None,
        };
        let mut other = self.take(&minus.archive)?;
        let reached = self.go(&mut other, &there, None, answer)?;
        let observation = reached.then(|| less(remade, &other, target)).transpose();
        self.remade.push(other);
        observation
    }
}

/// What is seen of a run, where it is, less what is seen of another.
fn less(
    remade: &Remade,
    other: &Remade,
    target: &ReplayTarget,
) -> Result<Observation, SolverError> {
    let (view, shape) = (&target.view, target.archive.plan().problem.shape);
    let differences = |window: &Window| differences(remade, other, view.field, window);
    let mut observation = remade.observation(view)?;
    if let Some(picture) = &mut observation.picture {
        picture.samples = differences(&view.window(&shape))?;
    }
    if let Some(([i, row], value)) = &mut observation.probe {
        *value = differences(&Window::point(*i, *row))?.values[0];
    }
    Ok(observation)
}

/// The field of one run less that of another, on a window. Of the iterates themselves it is told in
/// their own precision; of other fields, in that of their samples.
fn differences(
    a: &Remade,
    b: &Remade,
    field: FieldKind,
    window: &Window,
) -> Result<Samples, SolverError> {
    let [a, b] = [a.experiment(), b.experiment()];
    // Of one system the errors differ as the iterates do.
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

/// Samples of values that are there point by point.
fn pooled(values: &[f64], window: &Window) -> Samples {
    let (block, size) = (window.block(), window.size());
    let mut largest = vec![0.0; size[0] * size[1]];
    for (row, line) in values.chunks(window.columns.len()).enumerate() {
        let slots = &mut largest[row / block[1] * size[0]..][..size[0]];
        for (slot, block) in slots.iter_mut().zip(line.chunks(block[0])) {
            *slot = block.iter().fold(*slot, |a, &b| larger(a, b));
        }
    }
    Samples {
        columns: window.columns.clone(),
        rows: window.rows.clone(),
        block,
        size,
        values: largest.into_iter().map(|value| value as f32).collect(),
    }
}
