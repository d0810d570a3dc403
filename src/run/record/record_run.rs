//! A run from its initial guess to its end, observed on the way: figures and animations are made of it.

use super::memory_need::{MemoryNeed, MemoryShort};
use super::run_series::SeriesRecorder;
use super::snapshot::{Snapshot, SnapshotRequest};
use crate::grid::memory;
use crate::pauses::{pause, without_pauses};
use crate::problem::{self, ExactError};
use crate::run::gpu_loss::{GpuLossError, go_on_without_failed_gpus};
use crate::run::observe::{Experiment, Observation};
use crate::run::plan::{Plan, Stop};
use crate::run::runner::{Divergence, Outcome, Run};
use crate::solver::{Acceleration, SolverError};
use crate::stop_token::StopToken;
use std::sync::Arc;

/// Why a run could not be recorded; one sentence.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// It was cancelled.
    #[error("stopped after cycle {cycle}")]
    Cancelled {
        /// Cycles made by then.
        cycle: u64,
    },
    /// The solver failed.
    #[error(transparent)]
    Solver(#[from] SolverError),
    /// A GPU failed, and those that are left do not take the run.
    #[error(transparent)]
    GpuLoss(GpuLossError),
    /// There is no exact solution, and so no error.
    #[error(transparent)]
    Exact(ExactError),
    /// The run never reaches a cycle that was requested.
    #[error(transparent)]
    Diverged(#[from] Divergence),
    /// The run does not fit into this machine.
    #[error(transparent)]
    Run(#[from] MemoryShort),
    /// More than fits into this machine.
    #[error(
        "{count} pictures of {} × {} samples need {}; {} is free: use fewer of them, or a smaller size",
        .size[0], .size[1], memory::human(*.needed), memory::human(*.available)
    )]
    Memory {
        /// How often the run was to be observed.
        count: usize,
        /// Samples across and down.
        size: [usize; 2],
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        available: u64,
    },
}

impl RecordError {
    /// That of a solver in the cycle after `cycle`: it leaves one unfinished where it is cancelled.
    pub(in crate::run) fn after(cycle: u64, error: SolverError) -> Self {
        match error {
            SolverError::Stopped => Self::Cancelled { cycle },
            error => Self::Solver(error),
        }
    }
}

/// When a run is observed.
#[derive(Clone, Copy, Debug)]
pub enum RecordedCycles<'a> {
    /// Once, at its end.
    Last,
    /// After each of these numbers of cycles, of which none is lower than the one before, wherever the
    /// run would have stopped. It continues after the last where the request names a later cycle.
    Each(&'a [u64]),
    /// The same up to the rounding limit. Later cycles bring the iterate no further: that of the last is observed in
    /// their place.
    UpToRoundingLimit(&'a [u64]),
}

impl<'a> RecordedCycles<'a> {
    /// The cycles that are named; `None` for the end.
    fn named(self) -> Option<&'a [u64]> {
        match self {
            Self::Last => None,
            Self::Each(cycles) | Self::UpToRoundingLimit(cycles) => Some(cycles),
        }
    }
}

/// The work under way.
pub enum Stage<'a> {
    /// Cycles are made.
    Run(&'a Run),
    /// Jacobi's iteration, or an acceleration of it, catches up with the run; the fraction of it that is made, 0 to 1.
    Jacobi(f32),
    /// A GPU was lost, and the run continues on those that are left: what happened, in one sentence without its full stop.
    GpuLoss(&'a str),
}

/// The owner's side of work that takes long: it may cancel it, and follows its progress.
pub struct Monitor<'a> {
    /// Ends the work once it is due.
    pub cancel: &'a StopToken,
    /// Called after every few cycles.
    pub on_progress: &'a mut dyn FnMut(Stage<'_>),
}

/// The snapshots of a run.
#[derive(Debug)]
pub struct Recording {
    /// One for each cycle. They share the curves of the whole run.
    pub snapshots: Vec<Snapshot>,
    /// How the run ended.
    pub outcome: Option<Outcome>,
}

/// Makes a run, forward and once, and observes it on the way.
///
/// # Errors
/// [`RecordError`].
pub fn record_run(
    plan: &Plan,
    request: &SnapshotRequest,
    at: RecordedCycles<'_>,
    monitor: &mut Monitor<'_>,
) -> Result<Recording, RecordError> {
    without_pauses(record_run_with_pauses(plan, request, at, monitor))
}

/// [`record_run`] with pauses.
///
/// # Errors
/// [`RecordError`].
pub(crate) async fn record_run_with_pauses(
    plan: &Plan,
    request: &SnapshotRequest,
    at: RecordedCycles<'_>,
    monitor: &mut Monitor<'_>,
) -> Result<Recording, RecordError> {
    let shape = plan.problem.shape;
    // At the end a space–time diagram has all cycles.
    let is_diagram = request.is_diagram(&shape);
    let is_all = is_diagram && !request.is_of_iterates();
    let samples = request.size(&shape);
    let stop = match at.named() {
        None => plan.stop,
        Some(cycles) => {
            if !is_diagram {
                check_memory(samples, cycles.len())?;
            }
            let last = cycles.last().copied().max(request.until).unwrap_or(0);
            Stop { tolerance: None, max_cycles: last, ..plan.stop }
        }
    };
    let mut need = MemoryNeed::of_snapshot(plan, request);
    if let Some(cycles) = at.named()
        && !is_diagram
    {
        need.add("the samples of all cycles", bytes_of(samples, cycles.len()));
    }
    need.check(plan.precision)?;
    let plan = Arc::new(Plan { stop, ..plan.clone() });
    let mut experiment = Experiment::new(&plan)?;
    experiment.stop_on(monitor.cancel);
    if let RecordedCycles::Each(_) = at {
        experiment.run_mut().make_all_cycles();
    }
    if request.needs_exact() {
        match problem::exact_with_pauses(&plan.problem, monitor.cancel).await {
            Ok(exact) => experiment.set_exact(&Arc::new(exact))?,
            Err(ExactError::Cancelled) => return Err(RecordError::Cancelled { cycle: 0 }),
            Err(error) => return Err(RecordError::Exact(error)),
        }
    }
    let series = SeriesRecorder::new(&request.series, request.field());
    let mut recorder = Recorder { experiment, request, series };
    let mut observations: Vec<(u64, Arc<Observation>)> = Vec::new();
    if let Some(cycles) = at.named()
        && !is_all
    {
        for &cycle in cycles {
            let observe = async |recorder: &mut Recorder<'_>, monitor: &mut Monitor<'_>| {
                recorder.check_reached(cycle)?;
                let cycle = cycle.min(recorder.cycle());
                let observation = match observations.last() {
                    Some((before, observation)) if *before == cycle => Arc::clone(observation),
                    _ => Arc::new(recorder.observe(monitor).await?),
                };
                Ok((cycle, observation))
            };
            let observed = recorder.at(cycle, monitor, observe).await?;
            observations.push(observed);
        }
    }
    let settle = async |recorder: &mut Recorder<'_>, monitor: &mut Monitor<'_>| {
        recorder.experiment.settle()?;
        recorder.record_requested(monitor).await
    };
    recorder.at_end(monitor, settle).await?;
    match at.named() {
        Some(cycles) if is_diagram => {
            recorder.check_reached(stop.max_cycles)?;
            let end = Arc::new(recorder.at_end(monitor, Recorder::observe).await?);
            for (_, observation) in &mut observations {
                Arc::make_mut(observation).picture.clone_from(&end.picture);
            }
            if is_all {
                let reached = cycles.iter().map(|&cycle| cycle.min(recorder.cycle()));
                observations.extend(reached.map(|cycle| (cycle, Arc::clone(&end))));
            }
        }
        Some(_) => {}
        None => {
            let observation = Arc::new(recorder.at_end(monitor, Recorder::observe).await?);
            observations.push((recorder.cycle(), observation));
        }
    }
    recorder.at_end(monitor, Recorder::advance_classic).await?;
    recorder.accelerate(monitor).await?;
    if !request.measure(&plan, monitor.cancel).await {
        return Err(RecordError::Cancelled { cycle: recorder.cycle() });
    }
    let Recorder { experiment, series, .. } = recorder;
    let outcome = experiment.run().outcome().cloned();
    let Some((_, last)) = observations.last() else {
        return Ok(Recording { snapshots: Vec::new(), outcome });
    };
    let series = Arc::new(series.finish(experiment.run().cycle()));
    let last = Snapshot { series, ..Snapshot::with(&experiment, request, Arc::clone(last)) };
    let snapshot = |(cycle, observation): (u64, Arc<Observation>)| {
        let mut observation = observation;
        if observation.cycle != cycle {
            // A space–time diagram at the end of the run shows this cycle as well.
            Arc::make_mut(&mut observation).cycle = cycle;
        }
        Snapshot { observation, ..last.clone() }
    };
    Ok(Recording { snapshots: observations.into_iter().map(snapshot).collect(), outcome })
}

/// Refuses more pictures than the memory that is free now can hold.
fn check_memory(size: [usize; 2], count: usize) -> Result<(), RecordError> {
    let needed = bytes_of(size, count);
    let available = memory::available();
    if needed <= available {
        return Ok(());
    }
    Err(RecordError::Memory { count, size, needed, available })
}

/// Bytes of the samples of that many cycles.
fn bytes_of(size: [usize; 2], count: usize) -> u64 {
    let samples = size[0] as u64 * size[1] as u64;
    samples.saturating_mul(count as u64 * size_of::<f32>() as u64)
}

/// A run that is made and observed.
struct Recorder<'a> {
    experiment: Experiment,
    request: &'a SnapshotRequest,
    series: SeriesRecorder<'a>,
}

impl Recorder<'_> {
    fn cycle(&self) -> u64 {
        self.experiment.run().cycle()
    }

    /// Does work at the iterate of a cycle, or of the end of the run before that. Where a GPU is lost, the run is brought
    /// there again on those that are left.
    async fn at<T>(
        &mut self,
        cycle: u64,
        monitor: &mut Monitor<'_>,
        mut work: impl AsyncFnMut(&mut Self, &mut Monitor<'_>) -> Result<T, RecordError>,
    ) -> Result<T, RecordError> {
        loop {
            let done = match self.advance_to(cycle, monitor).await {
                Ok(()) => work(self, monitor).await,
                Err(error) => Err(error),
            };
            match done {
                Err(RecordError::Solver(failure)) => self.go_on_after(failure, monitor)?,
                done => return done,
            }
        }
    }

    /// The same at the end of the run.
    async fn at_end<T>(
        &mut self,
        monitor: &mut Monitor<'_>,
        work: impl AsyncFnMut(&mut Self, &mut Monitor<'_>) -> Result<T, RecordError>,
    ) -> Result<T, RecordError> {
        self.at(u64::MAX, monitor, work).await
    }

    /// Continues after a failure on the GPUs that are left, if it is of a GPU and there are any.
    fn go_on_after(
        &mut self,
        failure: SolverError,
        monitor: &mut Monitor<'_>,
    ) -> Result<(), RecordError> {
        let plan = Arc::clone(self.experiment.run().plan());
        let experiment = &mut self.experiment;
        let went_on = go_on_without_failed_gpus(&plan, failure, |plan| {
            experiment.move_to(&Arc::new(plan))?;
            Ok(experiment.run().cycle())
        });
        match went_on {
            Ok(said) => (monitor.on_progress)(Stage::GpuLoss(&said)),
            Err(GpuLossError::Alone(failure)) => return Err(failure.into()),
            Err(loss) => return Err(RecordError::GpuLoss(loss)),
        }
        Ok(())
    }

    /// Makes cycles up to this one, or to the end of the run, and records the series on the way.
    async fn advance_to(
        &mut self,
        cycle: u64,
        monitor: &mut Monitor<'_>,
    ) -> Result<(), RecordError> {
        let mut next = self.record(monitor).await?;
        while self.experiment.run().outcome().is_none() && self.cycle() < cycle {
            let made = self.cycle();
            if monitor.cancel.is_due() {
                return Err(RecordError::Cancelled { cycle: made });
            }
            let most = cycle.min(next) - made;
            while !self.experiment.make_piece() {
                pause().await;
            }
            self.experiment.advance(most).map_err(|error| RecordError::after(made, error))?;
            (monitor.on_progress)(Stage::Run(self.experiment.run()));
            if self.cycle() == next {
                next = self.record(monitor).await?;
            }
            pause().await;
        }
        Ok(())
    }

    /// Records the numbers of the present cycle, and returns the next that is recorded.
    async fn record(&mut self, monitor: &mut Monitor<'_>) -> Result<u64, RecordError> {
        if self.series.next(self.cycle()) < u64::MAX {
            self.prepare(monitor).await?;
            self.series.take(&self.experiment, false)?;
        }
        Ok(self.series.next(self.cycle()))
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

    /// Observes the present iterate.
    async fn observe(&mut self, monitor: &mut Monitor<'_>) -> Result<Observation, RecordError> {
        self.prepare(monitor).await?;
        self.record_requested(monitor).await?;
        Ok(self.experiment.observe(&self.request.observation)?)
    }

    /// Records the numbers of a cycle of a snapshot.
    async fn record_requested(&mut self, monitor: &mut Monitor<'_>) -> Result<(), RecordError> {
        if !self.request.series.is_empty() {
            self.prepare(monitor).await?;
            self.series.take(&self.experiment, true)?;
        }
        Ok(())
    }

    /// Does the work without which the field of the present iterate is not known.
    async fn prepare(&mut self, monitor: &mut Monitor<'_>) -> Result<(), RecordError> {
        let field = self.request.field();
        while !self.experiment.is_ready(field) {
            if monitor.cancel.is_due() {
                return Err(RecordError::Cancelled { cycle: self.cycle() });
            }
            self.experiment.prepare(field)?;
            (monitor.on_progress)(Stage::Jacobi(self.experiment.prepared()));
            pause().await;
        }
        Ok(())
    }

    /// Makes the sweeps of Jacobi's iteration whose curve is requested, and the one after them, with
    /// which the residual of the last comes.
    async fn advance_classic(&mut self, monitor: &mut Monitor<'_>) -> Result<(), RecordError> {
        let Some(sweeps) = self.request.classic else { return Ok(()) };
        let sweeps = if sweeps == u64::MAX { self.experiment.run().sweeps() } else { sweeps };
        loop {
            let classic = self.experiment.advance_classic_to(sweeps.saturating_add(1))?;
            let made = classic.cycle();
            if made > sweeps || classic.outcome().is_some() {
                return Ok(());
            }
            if monitor.cancel.is_due() {
                return Err(RecordError::Cancelled { cycle: self.cycle() });
            }
            (monitor.on_progress)(Stage::Jacobi(made as f32 / sweeps.max(1) as f32));
            pause().await;
        }
    }

    /// Makes the sweeps of the accelerations whose curves are requested. One that cannot be made says so in its curve.
    async fn accelerate(&mut self, monitor: &mut Monitor<'_>) -> Result<(), RecordError> {
        for acceleration in Acceleration::ALL {
            let Some(sweeps) = self.request.accelerated[acceleration as usize] else { continue };
            let experiment = &mut self.experiment;
            let sweeps = if sweeps == u64::MAX { experiment.run().sweeps() } else { sweeps };
            if acceleration.needs_radius() {
                experiment.run().plan().spectral_radius_with_pauses().await;
            }
            while experiment.has_acceleration_work_to(acceleration, sweeps) {
                let made = experiment.accelerated(acceleration);
                let made = made.map_or(0, |made| made.history().latest().cycle);
                if monitor.cancel.is_due() {
                    return Err(RecordError::Cancelled { cycle: experiment.run().cycle() });
                }
                (monitor.on_progress)(Stage::Jacobi(made as f32 / sweeps.max(1) as f32));
                experiment.accelerate(acceleration);
                pause().await;
            }
        }
        Ok(())
    }
}
