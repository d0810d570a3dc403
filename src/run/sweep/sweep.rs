//! A checked sweep, and what is known of its settings.

use super::cycle::CycleSetting;
use super::measure::{Counting, CycleCache, SpeedReference, Timed, Timing, machine};
use super::outline::{RowMismatch, SweepCell, SweepOutline};
use super::per_axis::PerAxis;
use super::predict::{CostModel, CyclePredictor, Pyramid};
use super::row::SweepRow;
use super::spec::{Setting, SweepError, SweepSpec};
use crate::grid::TilingError;
use crate::run::gpu_loss::{GpuLossError, measure_without_failed_gpus};
use crate::run::plan::{Plan, PlanError, Planner};
use crate::run::spec::{Backend, RunSpec};
use crate::solver::cuda::{self, Device};
use crate::solver::{Place, SolverError, StopToken, StreamingError};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// A sweep whose settings are checked, with the counts, the cost model and the predictions that are known
/// so far.
#[derive(Debug)]
pub struct Sweep {
    outline: SweepOutline,
    planner: Planner,
    pub(super) cache: CycleCache,
    pub(super) model: CostModel,
    pub(super) predictor: CyclePredictor,
    /// Measured when something is timed for the first time.
    speed_reference: Option<SpeedReference>,
    /// Leaves the cycles of its settings unfinished while it is due.
    stop: StopToken,
    /// Called where a GPU was lost and measuring continues without it.
    on_gpu_loss: fn(&str),
}

/// Why measuring ended early.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// A setting that could run no longer can.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The solver failed.
    #[error(transparent)]
    Solver(#[from] SolverError),
    /// A GPU failed, and what is left does not take the settings.
    #[error(transparent)]
    GpuLoss(GpuLossError),
}

impl Sweep {
    /// Checks a sweep and each of its settings.
    ///
    /// # Errors
    /// [`SweepError`] if the sweep is invalid, or none of its settings can run here.
    pub fn new(spec: SweepSpec) -> Result<Self, SweepError> {
        let spec = spec.normalized();
        let settings = spec.settings()?;
        let mut planner = Planner::default();
        let backend = backend(&mut planner, &spec, &settings);
        let mut outline = SweepOutline {
            spec,
            backend,
            devices: Vec::new(),
            cells: Vec::with_capacity(settings.len()),
            machine: String::new(),
            l2_bytes: None,
        };
        for setting in settings {
            let cannot_run = why_not(&mut planner, &outline.run_of(&setting))?;
            outline.cells.push(SweepCell { setting, cannot_run });
        }
        if let Some(why) = why_none_runs(&outline.cells) {
            return Err(SweepError::NoneCanRun { settings: outline.cells.len(), why });
        }
        if backend == Backend::Cuda {
            outline.devices.clone_from(&outline.spec.run.method.devices);
        }
        outline.machine = machine::name(backend, &outline.devices)?;
        outline.l2_bytes = machine::l2_bytes(backend, &outline.devices);
        Ok(Self {
            outline,
            planner,
            cache: CycleCache::default(),
            model: CostModel::default(),
            predictor: CyclePredictor::default(),
            speed_reference: None,
            stop: StopToken::default(),
            on_gpu_loss: |_| (),
        })
    }

    /// The same with a function that is called where a GPU is lost and measuring continues without it. It gets what happened:
    /// one sentence without its full stop.
    #[must_use]
    pub fn on_gpu_loss(self, on_gpu_loss: fn(&str)) -> Self {
        Self { on_gpu_loss, ..self }
    }

    /// The same with the cycles that another sweep has counted.
    #[must_use]
    pub fn with_cycle_cache(self, cache: CycleCache) -> Self {
        Self { cache, ..self }
    }

    /// The same, but its cycles are left unfinished while this is due: measuring fails then.
    pub(in crate::run) fn with_stop(self, stop: &StopToken) -> Self {
        Self { stop: stop.clone(), ..self }
    }

    /// Begins to count the cycles of a setting.
    pub(super) fn counting(&self, plan: &Arc<Plan>) -> Result<Counting, SolverError> {
        let mut counting = Counting::new(plan)?;
        counting.stop_on(&self.stop);
        Ok(counting)
    }

    /// Begins to time a setting.
    pub(super) fn timing(&self, plan: &Plan, budget: Duration) -> Result<Timing, SolverError> {
        let mut timing = Timing::new(plan, budget)?;
        timing.stop_on(&self.stop);
        Ok(timing)
    }

    /// The cycles that were counted, for another sweep.
    pub fn cycle_cache(&self) -> &CycleCache {
        &self.cache
    }

    /// Its settings and its machine, for a map.
    pub fn outline(&self) -> &SweepOutline {
        &self.outline
    }

    /// The normalized description.
    pub fn spec(&self) -> &SweepSpec {
        &self.outline.spec
    }

    /// One cell for each setting, in order.
    pub fn cells(&self) -> &[SweepCell] {
        &self.outline.cells
    }

    /// The machine that it is measured on.
    pub fn machine(&self) -> &str {
        &self.outline.machine
    }

    /// The plan of a setting that can run.
    ///
    /// # Errors
    /// [`PlanError`] if it no longer can, such as for memory that is no longer free.
    pub fn plan(&mut self, setting: &Setting) -> Result<Plan, PlanError> {
        let run = self.outline.run_of(setting);
        self.plan_run(&run)
    }

    /// The plan of a run where settings are measured: without the GPUs that were lost meanwhile.
    pub(super) fn plan_run(&mut self, run: &RunSpec) -> Result<Plan, PlanError> {
        let plan = self.planner.plan(run)?;
        Ok(plan.on_working_gpus().unwrap_or(plan))
    }

    /// Continues on what is left after a failure, if that is of a GPU. What is known of the speed of the machine is about
    /// another one then. Returns what happened: one sentence without its full stop.
    ///
    /// # Errors
    /// [`MeasureError`] if nothing is left.
    pub(in crate::run) fn go_on_after(
        &mut self,
        failure: SolverError,
    ) -> Result<String, MeasureError> {
        let can_run = self.outline.cells.iter().find(|cell| cell.cannot_run.is_none());
        let setting = can_run.map(|cell| cell.setting);
        let Self { outline, planner, .. } = self;
        let is_loss = outline.devices.iter().any(|gpu| planner.device(*gpu).has_failed());
        let Some(setting) = setting.filter(|_| is_loss) else { return Err(failure.into()) };
        let Ok(mut plan) = planner.plan(&outline.run_of(&setting)) else {
            return Err(failure.into());
        };
        plan.spec.method.backend = outline.spec.run.method.backend;
        let went_on = measure_without_failed_gpus(&plan, failure, |there| {
            let devices: Vec<_> = there.gpus().iter().map(Device::ordinal).collect();
            outline.machine = machine::name(there.backend(), &devices)?;
            outline.l2_bytes = machine::l2_bytes(there.backend(), &devices);
            (outline.backend, outline.devices) = (there.backend(), devices);
            Ok(())
        });
        let said = match went_on {
            Ok(said) => said,
            Err(GpuLossError::Alone(failure)) => return Err(failure.into()),
            Err(loss) => return Err(MeasureError::GpuLoss(loss)),
        };
        (self.on_gpu_loss)(&said);
        (self.model, self.speed_reference) = (CostModel::default(), None);
        Ok(said)
    }

    /// Takes over rows that were measured before, and returns the indices of their cells.
    ///
    /// # Errors
    /// [`RowMismatch`] for the first row that does not belong to this sweep on this machine.
    pub fn resume(&mut self, rows: &[SweepRow]) -> Result<Vec<usize>, RowMismatch> {
        let cells = self.outline.cells_of(rows)?;
        for (row, index) in rows.iter().zip(&cells) {
            if let Some(count) = row.count() {
                let run = self.outline.spec.run_of(&self.outline.cells[*index].setting);
                self.cache.insert(&run, count);
            }
        }
        Ok(cells)
    }

    /// The best pyramid of each tile size with the first kernel, by Kochurov's run time and the constants of the cost model; none
    /// before the probe, and of passes.
    pub fn pyramids(&self) -> Vec<(PerAxis, Pyramid)> {
        let SweepSpec { cycle, kernel, .. } = self.spec();
        let tiles = cycle.tiles().into_iter().flat_map(|lists| &lists.tile);
        let best = |tile: &PerAxis| Some((*tile, self.model.pyramid(*tile, *kernel.first()?)?));
        tiles.filter_map(best).collect()
    }

    /// A step of a timing, with the speed reference beside it.
    pub(super) fn step_timing(
        &mut self,
        plan: &Arc<Plan>,
        timing: &mut Timing,
    ) -> Result<Poll<Timed>, SolverError> {
        let reference = match &mut self.speed_reference {
            Some(reference) => reference,
            none => none.insert(SpeedReference::new(plan)?),
        };
        timing.step(reference)
    }
}

/// The message of an error that concerns one setting only: the kernel rejects it on this GPU.
///
/// # Errors
/// Any other error, which would occur for the next setting as well.
pub(super) fn of_this_setting(error: SolverError) -> Result<String, SolverError> {
    match error {
        SolverError::Kernel { .. } => Ok(error.to_string()),
        _ => Err(error),
    }
}

/// Where all settings are measured: with [`Backend::Auto`] on the GPU, if one can be used and takes any of
/// them.
fn backend(planner: &mut Planner, spec: &SweepSpec, settings: &[Setting]) -> Backend {
    if spec.run.method.backend != Backend::Auto {
        return spec.run.method.backend;
    }
    for setting in settings {
        match planner.plan(&spec.run_of(setting)) {
            Ok(plan) if plan.backend() == Backend::Cuda => return Backend::Cuda,
            // No GPU takes such a problem, or there is none: so for every setting.
            Ok(Plan { without_gpu: None | Some(SolverError::Unavailable(_)), .. }) => break,
            _ => {}
        }
    }
    Backend::Cpu
}

/// Why none of the settings can run, if that is so: the reason of the first, of those with the largest budget.
fn why_none_runs(cells: &[SweepCell]) -> Option<String> {
    let budget = |cell: &&SweepCell| match cell.setting.cycle {
        CycleSetting::Tiles(_) => None,
        CycleSetting::Pass(pass) => Some(pass.memory),
    };
    if cells.iter().any(|cell| cell.cannot_run.is_none()) {
        return None;
    }
    // Of equal ones the last is taken.
    cells.iter().rev().max_by_key(budget)?.cannot_run.clone()
}

/// Why a setting cannot run, if it cannot: its overlap is too large for its tile, its budget too small for its height, or its
/// kernel rejects it or cannot make that many subiterations.
///
/// # Errors
/// [`PlanError`] for everything that is wrong whatever the other settings are.
fn why_not(planner: &mut Planner, run: &RunSpec) -> Result<Option<String>, PlanError> {
    match planner.plan(run) {
        Ok(plan) => Ok(match plan.place {
            Place::Cpu { .. } => None,
            Place::Cuda { kernel, .. } => {
                let is_per_point = plan.problem.operator.is_per_point();
                let shape = &plan.problem.shape;
                let taken = cuda::takes(kernel, &plan.method, plan.precision, shape, is_per_point);
                taken.err().map(|why| format!("kernel {} {why}", kernel.name()))
            }
        }),
        Err(PlanError::Tiling(why @ TilingError::OverlapTooLarge { .. })) => {
            Ok(Some(why.to_string()))
        }
        Err(PlanError::Streaming(
            why @ (StreamingError::NoOwnedPlane { .. } | StreamingError::TooSmall { .. }),
        )) => Ok(Some(why.to_string())),
        Err(error @ PlanError::Kernel { .. }) => Ok(Some(error.to_string())),
        Err(error) => Err(error),
    }
}
