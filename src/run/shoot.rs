//! A run from its start to its end, looked at on the way: what figures and animations are made of.

use super::experiment::{Experiment, FieldKind, Picture};
use super::plan::{Plan, Stop};
use super::runner::{Divergence, Outcome, Run};
use super::worker::{Capture, Captured, Part};
use crate::grid::memory;
use crate::problem::{self, ExactError};
use crate::solver::SolverError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why a run could not be looked at; one sentence.
#[derive(Debug, thiserror::Error)]
pub enum ShootError {
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
pub enum When<'a> {
    /// Once, at its end.
    End,
    /// After each of these numbers of cycles, which rise, wherever the run would have stopped.
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
pub struct Watch<'a> {
    /// Set to stop.
    pub cancel: &'a AtomicBool,
    /// Called after every few cycles.
    pub told: &'a mut dyn FnMut(Stage<'_>),
}

/// What was seen of a run.
#[derive(Debug)]
pub struct Shots {
    /// One for each look. They share the curves of all of the run.
    pub shots: Vec<Captured>,
    /// How the run ended.
    pub outcome: Option<Outcome>,
}

/// Makes a run, forward and once, and looks at it on the way.
///
/// # Errors
/// [`ShootError`].
pub fn shoot(
    plan: &Plan,
    capture: &Capture,
    when: When<'_>,
    watch: &mut Watch<'_>,
) -> Result<Shots, ShootError> {
    let shape = plan.problem.shape;
    // All of a line's cycles are in its diagram at the end.
    let is_diagram = shape.dim() == 1 && capture.part == Part::All;
    let stop = match when {
        When::End => plan.stop,
        When::Cycles(cycles) => {
            if !is_diagram {
                check_memory(capture.part.window(&shape, capture.most).size(), cycles.len())?;
            }
            let last = cycles.last().copied().unwrap_or(0);
            Stop { tolerance: None, max_cycles: last, ..plan.stop }
        }
    };
    let plan = Arc::new(Plan { stop, ..plan.clone() });
    let mut experiment = Experiment::new(&plan)?;
    if capture.field == FieldKind::Error {
        match problem::exact(&plan.problem, watch.cancel) {
            Ok(exact) => experiment.set_exact(&Arc::new(exact))?,
            Err(ExactError::Cancelled) => return Err(ShootError::Cancelled { cycle: 0 }),
            Err(error) => return Err(ShootError::Exact(error)),
        }
    }
    let mut looks: Vec<(u64, Look)> = Vec::new();
    if let When::Cycles(cycles) = when
        && !is_diagram
    {
        for &cycle in cycles {
            make(&mut experiment, cycle, watch)?;
            looks.push((cycle, look(&mut experiment, capture, watch)?));
        }
    }
    make(&mut experiment, u64::MAX, watch)?;
    experiment.settle()?;
    let last = experiment.run().cycle();
    match when {
        When::Cycles(cycles) if is_diagram => {
            check_reached(&experiment, stop.max_cycles)?;
            let diagram = look(&mut experiment, capture, watch)?;
            looks.extend(cycles.iter().map(|&cycle| (cycle, diagram.clone())));
        }
        When::Cycles(_) => {}
        When::End => looks.push((last, look(&mut experiment, capture, watch)?)),
    }
    let outcome = experiment.run().outcome().cloned();
    let Some((_, (picture, more))) = looks.last().cloned() else {
        return Ok(Shots { shots: Vec::new(), outcome });
    };
    let seen = Captured::with(&experiment, capture, picture, more)?;
    let shot = |(cycle, (picture, more))| Captured { cycle, picture, more, ..seen.clone() };
    Ok(Shots { shots: looks.into_iter().map(shot).collect(), outcome })
}

/// What was asked for, and what else was.
type Look = (Arc<Picture>, Arc<[Arc<Picture>]>);

/// Refuses more pictures than the memory that is free now can hold.
fn check_memory(size: [usize; 2], looks: usize) -> Result<(), ShootError> {
    let samples = size[0] as u64 * size[1] as u64;
    let needed = samples.saturating_mul(looks as u64 * size_of::<f32>() as u64);
    let available = memory::available();
    if needed <= available {
        return Ok(());
    }
    Err(ShootError::Memory { looks, size, needed, available })
}

/// Makes cycles up to this one, or to the end of the run.
fn make(experiment: &mut Experiment, cycle: u64, watch: &mut Watch<'_>) -> Result<(), ShootError> {
    while experiment.run().outcome().is_none() && experiment.run().cycle() < cycle {
        let made = experiment.run().cycle();
        if watch.cancel.load(Ordering::Relaxed) {
            return Err(ShootError::Cancelled { cycle: made });
        }
        experiment.advance(cycle - made)?;
        (watch.told)(Stage::Run(experiment.run()));
    }
    if cycle == u64::MAX { Ok(()) } else { check_reached(experiment, cycle) }
}

/// A run that diverged never gets to the cycles after that.
fn check_reached(experiment: &Experiment, cycle: u64) -> Result<(), ShootError> {
    match experiment.run().outcome() {
        Some(Outcome::Diverged(divergence)) if experiment.run().cycle() < cycle => {
            Err(ShootError::Diverged(divergence.clone()))
        }
        _ => Ok(()),
    }
}

/// Looks at the present iterate, once all that is wanted of it can be told.
fn look(
    experiment: &mut Experiment,
    capture: &Capture,
    watch: &mut Watch<'_>,
) -> Result<Look, ShootError> {
    let cycle = experiment.run().cycle();
    while !experiment.is_ready(capture.field) {
        if watch.cancel.load(Ordering::Relaxed) {
            return Err(ShootError::Cancelled { cycle });
        }
        experiment.prepare(capture.field)?;
        (watch.told)(Stage::Jacobi(experiment.prepared()));
    }
    Ok((Arc::new(capture.picture(experiment)?), capture.more(experiment)?))
}
