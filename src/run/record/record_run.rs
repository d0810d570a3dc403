//! A run from its start to its end, looked at on the way: what figures and animations are made of.

use super::run_series::SeriesRecorder;
use super::snapshot::{Look, Part, Snapshot, SnapshotRequest};
use crate::grid::memory;
use crate::problem::{self, ExactError};
use crate::run::observe::{Experiment, FieldKind};
use crate::run::plan::{Plan, Stop};
use crate::run::runner::{Divergence, Outcome, Run};
use crate::solver::SolverError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why a run could not be looked at; one sentence.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Somebody wanted it to stop.
    #[error("stopped after cycle {cycle}")]
    Cancelled {
        /// Cycles made by then.
        cycle: u64,
    },
    /// The solver failed.
    #[error(transparent)]
    Solver(#[from] SolverError),
    /// There is no exact solution, so no error to be shown.
    #[error(transparent)]
    Exact(ExactError),
    /// The run never gets to a cycle that was asked for.
    #[error(transparent)]
    Diverged(#[from] Divergence),
    /// More than fits into this machine.
    #[error(
        "{looks} pictures of {} × {} samples need {}; {} are free: take fewer of them, or a smaller size",
        .size[0], .size[1], memory::human(*.needed), memory::human(*.available)
    )]
    Memory {
        /// How often the run was to be looked at.
        looks: usize,
        /// Samples across and down.
        size: [usize; 2],
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        available: u64,
    },
}

/// When a run is looked at.
#[derive(Clone, Copy, Debug)]
pub enum RecordAt<'a> {
    /// Once, at its end.
    End,
    /// After each of these numbers of cycles, of which none is lower than the one before, wherever the
    /// run would have stopped. It goes on after the last where the capture says so.
    Cycles(&'a [u64]),
}

/// What is under way.
pub enum Stage<'a> {
    /// Cycles are made.
    Run(&'a Run),
    /// Jacobi's iteration catches up with the run; the part of it that is made, 0 to 1.
    Jacobi(f32),
}

/// Who waits for it: may stop it, and is told how far it is.
pub struct Monitor<'a> {
    /// Set to stop.
    pub cancel: &'a AtomicBool,
    /// Called after every few cycles.
    pub on_progress: &'a mut dyn FnMut(Stage<'_>),
}

/// What was seen of a run.
#[derive(Debug)]
pub struct Recording {
    /// One for each look. They share the curves of all of the run.
    pub snapshots: Vec<Snapshot>,
    /// How the run ended.
    pub outcome: Option<Outcome>,
}

/// Makes a run, forward and once, and looks at it on the way.
///
/// # Errors
/// [`RecordError`].
pub fn record_run(
    plan: &Plan,
    snapshot_request: &SnapshotRequest,
    when: RecordAt<'_>,
    monitor: &mut Monitor<'_>,
) -> Result<Recording, RecordError> {
    let shape = plan.problem.shape;
    // All of a line's cycles are in its diagram at the end.
    let is_diagram = shape.dim() == 1 && snapshot_request.part == Part::All;
    let is_all = is_diagram
        && snapshot_request.more.is_empty()
        && !snapshot_request.inquiry.is_of_iterates();
    let stop = match when {
        RecordAt::End => plan.stop,
        RecordAt::Cycles(cycles) => {
            if !is_diagram {
                check_memory(snapshot_request.size(&shape), cycles.len())?;
            }
            let last = cycles.last().copied().max(snapshot_request.until).unwrap_or(0);
            Stop { tolerance: None, max_cycles: last, ..plan.stop }
        }
    };
    let plan = Arc::new(Plan { stop, ..plan.clone() });
    let mut experiment = Experiment::new(&plan)?;
    if snapshot_request.field == FieldKind::Error {
        match problem::exact(&plan.problem, monitor.cancel) {
            Ok(exact) => experiment.set_exact(&Arc::new(exact))?,
            Err(ExactError::Cancelled) => return Err(RecordError::Cancelled { cycle: 0 }),
            Err(error) => return Err(RecordError::Exact(error)),
        }
    }
    let notes = SeriesRecorder::new(&snapshot_request.inquiry, snapshot_request.field);
    let mut shooting = Recorder { experiment, snapshot_request, notes };
    let mut looks: Vec<(u64, Look)> = Vec::new();
    if let RecordAt::Cycles(cycles) = when
        && !is_all
    {
        for &cycle in cycles {
            shooting.make(cycle, monitor)?;
            shooting.check_reached(cycle)?;
            let look = match looks.last() {
                Some((before, look)) if *before == cycle => look.clone(),
                _ => shooting.look(monitor)?,
            };
            looks.push((cycle, look));
        }
    }
    shooting.make(u64::MAX, monitor)?;
    shooting.experiment.settle()?;
    shooting.note_look(monitor)?;
    match when {
        RecordAt::Cycles(cycles) if is_diagram => {
            shooting.check_reached(stop.max_cycles)?;
            let end = shooting.look(monitor)?;
            looks.iter_mut().for_each(|(_, look)| look.picture = Arc::clone(&end.picture));
            if is_all {
                looks.extend(cycles.iter().map(|&cycle| (cycle, end.clone())));
            }
        }
        RecordAt::Cycles(_) => {}
        RecordAt::End => looks.push((shooting.cycle(), shooting.look(monitor)?)),
    }
    shooting.make_classic(monitor)?;
    let Recorder { experiment, notes, .. } = shooting;
    let outcome = experiment.run().outcome().cloned();
    let Some((_, look)) = looks.last().cloned() else {
        return Ok(Recording { snapshots: Vec::new(), outcome });
    };
    let over_cycles = Arc::new(notes.finish(experiment.run().cycle()));
    let observation =
        Snapshot { over_cycles, ..Snapshot::with(&experiment, snapshot_request, look) };
    let snapshot = |(cycle, look)| {
        let Look { picture, more, findings, solution } = look;
        Snapshot { cycle, picture, more, findings, solution, ..observation.clone() }
    };
    Ok(Recording { snapshots: looks.into_iter().map(snapshot).collect(), outcome })
}

/// Refuses more pictures than the memory that is free now can hold.
fn check_memory(size: [usize; 2], looks: usize) -> Result<(), RecordError> {
    let samples = size[0] as u64 * size[1] as u64;
    let needed = samples.saturating_mul(looks as u64 * size_of::<f32>() as u64);
    let available = memory::available();
    if needed <= available {
        return Ok(());
    }
    Err(RecordError::Memory { looks, size, needed, available })
}

/// A run that is made and looked at.
struct Recorder<'a> {
    experiment: Experiment,
    snapshot_request: &'a SnapshotRequest,
    notes: SeriesRecorder<'a>,
}

impl Recorder<'_> {
    fn cycle(&self) -> u64 {
        self.experiment.run().cycle()
    }

    /// Makes cycles up to this one, or to the end of the run, and notes numbers on the way.
    fn make(&mut self, cycle: u64, monitor: &mut Monitor<'_>) -> Result<(), RecordError> {
        let mut next = self.note(monitor)?;
        while self.experiment.run().outcome().is_none() && self.cycle() < cycle {
            let made = self.cycle();
            if monitor.cancel.load(Ordering::Relaxed) {
                return Err(RecordError::Cancelled { cycle: made });
            }
            self.experiment.advance(cycle.min(next) - made)?;
            (monitor.on_progress)(Stage::Run(self.experiment.run()));
            if self.cycle() == next {
                next = self.note(monitor)?;
            }
        }
        Ok(())
    }

    /// Notes numbers of the present cycle, and gives the next of which they are noted.
    fn note(&mut self, monitor: &mut Monitor<'_>) -> Result<u64, RecordError> {
        let cycle = self.cycle();
        let next = self.notes.next(cycle);
        if next < u64::MAX {
            self.prepare(monitor)?;
            self.notes.take(&self.experiment, false)?;
        }
        Ok(next)
    }

    /// A run that diverged never gets to the cycles after that.
    fn check_reached(&self, cycle: u64) -> Result<(), RecordError> {
        match self.experiment.run().outcome() {
            Some(Outcome::Diverged(divergence)) if self.cycle() < cycle => {
                Err(RecordError::Diverged(divergence.clone()))
            }
            _ => Ok(()),
        }
    }

    /// Looks at the present iterate.
    fn look(&mut self, monitor: &mut Monitor<'_>) -> Result<Look, RecordError> {
        self.prepare(monitor)?;
        self.note_look(monitor)?;
        Ok(self.snapshot_request.look(&self.experiment)?)
    }

    /// Notes numbers of a cycle that are told in any case.
    fn note_look(&mut self, monitor: &mut Monitor<'_>) -> Result<(), RecordError> {
        if self.snapshot_request.inquiry.is_over_cycles() {
            self.prepare(monitor)?;
            self.notes.take(&self.experiment, true)?;
        }
        Ok(())
    }

    /// Does the work that has to be done before the field of the present iterate can be told.
    fn prepare(&mut self, monitor: &mut Monitor<'_>) -> Result<(), RecordError> {
        let field = self.snapshot_request.field;
        while !self.experiment.is_ready(field) {
            if monitor.cancel.load(Ordering::Relaxed) {
                return Err(RecordError::Cancelled { cycle: self.cycle() });
            }
            self.experiment.prepare(field)?;
            (monitor.on_progress)(Stage::Jacobi(self.experiment.prepared()));
        }
        Ok(())
    }

    /// Makes the sweeps of Jacobi's iteration whose curve is wanted, and the one after them, with
    /// which the residual of the last comes.
    fn make_classic(&mut self, monitor: &mut Monitor<'_>) -> Result<(), RecordError> {
        let Some(sweeps) = self.snapshot_request.classic else { return Ok(()) };
        let sweeps = if sweeps == u64::MAX { self.experiment.run().sweeps() } else { sweeps };
        loop {
            let classic = self.experiment.advance_classic_to(sweeps.saturating_add(1))?;
            let made = classic.cycle();
            if made > sweeps || classic.outcome().is_some() {
                return Ok(());
            }
            if monitor.cancel.load(Ordering::Relaxed) {
                return Err(RecordError::Cancelled { cycle: self.cycle() });
            }
            (monitor.on_progress)(Stage::Jacobi(made as f32 / sweeps.max(1) as f32));
        }
    }
}
