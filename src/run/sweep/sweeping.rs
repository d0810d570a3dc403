//! A sweep under way.

use super::classic::ClassicBaseline;
use super::count::{CountOutcome, CycleCache, CycleCount, count};
use super::cycle_predictor::CyclePredictor;
use super::model::{CostModel, Pyramid, at_once, work};
use super::order::CostPrediction;
use super::outline::{SweepCell, SweepOutline};
use super::row::SweepRow;
use super::sides::PerAxis;
use super::spec::{Measure, Setting, SweepError, SweepSpec};
use super::speed_reference::SpeedReference;
use super::timing::{BUDGET, CycleTime, PROBE, Timed, time};
use super::{CyclePrediction, ShouldStop, machine};
use crate::grid::TilingError;
use crate::run::plan::{Plan, PlanError, Planner};
use crate::run::spec::{MethodName, RunSpec, StopRule};
use crate::solver::{Kernel, Place, SolverError, cuda};
use rayon::prelude::*;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// A sweep that makes sense: its settings, and what is known of their cycles.
#[derive(Debug)]
pub struct Sweep {
    outline: SweepOutline,
    planner: Planner,
    cache: CycleCache,
    model: CostModel,
    predictor: CyclePredictor,
    /// Felt for the first time when something is timed for the first time.
    speed_reference: Option<SpeedReference>,
}

impl Sweep {
    /// Checks a sweep and each of its settings.
    ///
    /// # Errors
    /// [`SweepError`] if it makes no sense, or nothing of it can run here.
    pub fn new(spec: SweepSpec) -> Result<Self, SweepError> {
        let spec = spec.tidy();
        let settings = spec.settings()?;
        let mut planner = Planner::default();
        let mut cells = Vec::with_capacity(settings.len());
        for setting in settings {
            let cannot_run = why_not(&mut planner, &spec.run_of(&setting))?;
            cells.push(SweepCell { setting, cannot_run });
        }
        if let [SweepCell { cannot_run: Some(first), .. }, ..] = &cells[..]
            && cells.iter().all(|cell| cell.cannot_run.is_some())
        {
            let (settings, first) = (cells.len(), first.clone());
            return Err(SweepError::NoneCanRun { settings, first });
        }
        let method = &spec.run.method;
        let (machine, l2_bytes) = (machine::name(method)?, machine::l2_bytes(method));
        Ok(Self {
            outline: SweepOutline { spec, cells, machine, l2_bytes },
            planner,
            cache: CycleCache::default(),
            model: CostModel::default(),
            predictor: CyclePredictor::default(),
            speed_reference: None,
        })
    }

    /// Its settings and its machine, for a map.
    pub fn outline(&self) -> &SweepOutline {
        &self.outline
    }

    /// What it goes through, tidied up.
    pub fn spec(&self) -> &SweepSpec {
        &self.outline.spec
    }

    /// Its settings, in order.
    pub fn cells(&self) -> &[SweepCell] {
        &self.outline.cells
    }

    /// The cycles that were counted, for another sweep: they depend neither on the machine nor on the
    /// kernel.
    pub fn counted(&self) -> &CycleCache {
        &self.cache
    }

    /// Takes over what another sweep has counted.
    #[must_use]
    pub fn knowing(self, counted: CycleCache) -> Self {
        Self { cache: counted, ..self }
    }

    /// The machine that it measures on.
    pub fn machine(&self) -> &str {
        &self.outline.machine
    }

    /// The plan of a setting that can run.
    ///
    /// # Errors
    /// [`PlanError`] if it cannot after all, such as for memory that is no longer free.
    pub fn plan(&mut self, setting: &Setting) -> Result<Plan, PlanError> {
        self.planner.plan(&self.outline.spec.run_of(setting))
    }

    /// Takes in the rows that were measured before, and says which cells they are.
    ///
    /// # Errors
    /// The first row that is none of this sweep's, as on this machine.
    pub fn resume(&mut self, rows: &[SweepRow]) -> Result<Vec<usize>, RowMismatch> {
        let commands =
            self.outline.cells.iter().map(|cell| self.outline.blank(&cell.setting).command);
        let places: HashMap<_, _> = commands.zip(0..).collect();
        let mut done = Vec::with_capacity(rows.len());
        for row in rows {
            let place = places
                .get(&row.command)
                .copied()
                .ok_or_else(|| RowMismatch::Setting { command: row.command.clone() })?;
            let here = self.outline.blank(&self.outline.cells[place].setting);
            if row.measured != here.measured {
                return Err(RowMismatch::Measured {
                    there: row.measured.clone(),
                    here: here.measured,
                });
            }
            if row.machine != here.machine {
                return Err(RowMismatch::Machine {
                    there: row.machine.clone(),
                    here: here.machine,
                });
            }
            if let Some(count) = row.count() {
                self.cache
                    .insert(&self.outline.spec.run_of(&self.outline.cells[place].setting), count);
            }
            done.push(place);
        }
        Ok(done)
    }

    /// Measures the constants of the cost model: with every tile and kernel the time of at most six
    /// settings, of few and many sweeps and of small and large overlaps. `false` if somebody stopped
    /// it before.
    ///
    /// # Errors
    /// What a solver says that fails, or a plan that nothing fits any more.
    pub fn probe(&mut self, halt: ShouldStop<'_>) -> Result<bool, MeasureError> {
        for tile in self.outline.spec.tile.clone() {
            for kernel in self.outline.spec.kernel.clone() {
                let mut probed = Vec::new();
                for setting in self.probed(tile, kernel) {
                    let plan = self.plan(&setting)?;
                    match self.time(&plan, PROBE, halt) {
                        Ok(Some(timed)) => probed.push((plan, timed)),
                        Ok(None) => return Ok(false),
                        Err(error) => drop(only_this(error)?),
                    }
                }
                let at_once =
                    probed.first().and_then(|(plan, timed)| at_once(plan, timed.footprint));
                let probe = |(plan, timed): &(Plan, Timed)| {
                    (work(plan, at_once), timed.time.median / timed.slowness)
                };
                if !probed.is_empty() {
                    let probes: Vec<_> = probed.iter().map(probe).collect();
                    self.model.fit(tile, kernel, at_once, &probes);
                }
            }
        }
        Ok(true)
    }

    /// The settings of a tile and a kernel that are probed: those between which the others lie, and
    /// two among them, without overlaps so large that a cycle takes many times the time of any that is
    /// worth choosing.
    fn probed(&self, tile: PerAxis, kernel: Kernel) -> Vec<Setting> {
        let can_run = self.outline.cells.iter().filter(|cell| cell.cannot_run.is_none());
        let here = can_run.map(|cell| cell.setting);
        let here: Vec<_> = here.filter(|s| (s.tile, s.kernel) == (tile, kernel)).collect();
        let (Some(first), Some(last)) = (here.first(), here.last()) else { return Vec::new() };
        // The largest overlap that is no more than so many quarters of the tile.
        let overlap = |quarters: usize| {
            let is_in = |overlap: &PerAxis| 4 * overlap.largest() <= quarters * tile.largest();
            here.iter().map(|s| s.overlap).filter(is_in).max().unwrap_or(first.overlap)
        };
        let mut middle: Vec<_> = here.iter().map(|s| s.k).collect();
        middle.dedup();
        let middle = middle[middle.len() / 2];
        let probed = [
            (first.k, first.overlap),
            (first.k, overlap(2)),
            (first.k, overlap(3)),
            (middle, overlap(1)),
            (last.k, first.overlap),
            (last.k, overlap(2)),
        ];
        let mut probed: Vec<_> =
            probed.map(|(k, overlap)| Setting { tile, k, overlap, kernel }).to_vec();
        probed.sort_unstable_by_key(|setting| (setting.k, setting.overlap));
        probed.dedup();
        probed
    }

    /// Times a plan, the machine's pulse beside it.
    fn time(
        &mut self,
        plan: &Plan,
        budget: Duration,
        halt: ShouldStop<'_>,
    ) -> Result<Option<Timed>, SolverError> {
        let speed_reference = match &mut self.speed_reference {
            Some(speed_reference) => speed_reference,
            none => none.insert(SpeedReference::start(plan)?),
        };
        time(plan, budget, speed_reference, halt)
    }

    /// What the settings that can run should cost: seconds of a cycle by the cost model, once its
    /// constants were measured, and cycles from the iteration's modes. `None` if somebody stopped it.
    ///
    /// # Errors
    /// What a solver says that fails, or a plan that nothing fits.
    pub fn predict(
        &mut self,
        halt: ShouldStop<'_>,
    ) -> Result<Option<Vec<CostPrediction>>, MeasureError> {
        let mut plans = Vec::new();
        for place in 0..self.outline.cells.len() {
            if self.outline.cells[place].cannot_run.is_none() {
                plans.push((place, self.plan(&self.outline.cells[place].setting.clone())?));
            }
        }
        let counts = self.outline.spec.measures(Measure::Cycles);
        let Self { outline: SweepOutline { cells, .. }, cache, model, predictor, .. } = self;
        let predict = |(place, plan): &(usize, Plan)| -> Result<CostPrediction, SolverError> {
            let setting = &cells[*place].setting;
            let cycles = cycle_prediction(cache, predictor, plan, halt)?;
            let seconds_per_cycle = model.seconds(setting.tile, setting.kernel, plan);
            Ok(CostPrediction::new(*place, setting.k, cycles, seconds_per_cycle, counts))
        };
        let predictions: Vec<_> = plans.par_iter().map(predict).collect::<Result<_, _>>()?;
        Ok((!halt()).then_some(predictions))
    }

    /// The best pyramid of a tile and a kernel by Kochurov's run time and the constants of the cost
    /// model; `None` before they were measured.
    pub fn pyramid(&self, tile: PerAxis, kernel: Kernel) -> Option<Pyramid> {
        self.model.pyramid(tile, kernel)
    }

    /// Measures Jacobi's iteration on the same system: the time of a sweep, and how many it takes to
    /// the tolerance; those are told by its modes where they are sines, and counted elsewhere. `None`
    /// if somebody stopped it.
    ///
    /// # Errors
    /// What a solver says that fails, or a plan that nothing fits.
    pub fn classic(
        &mut self,
        halt: ShouldStop<'_>,
    ) -> Result<Option<ClassicBaseline>, MeasureError> {
        let mut run = self.outline.spec.run.clone();
        (run.method.name, run.method.kernel) = (MethodName::Classic, Kernel::AUTO);
        let plan = self.planner.plan(&run)?;
        let mut time: Option<CycleTime> = None;
        if self.outline.spec.measures(Measure::Time) {
            let Some(timed) = self.time(&plan, BUDGET, halt)? else { return Ok(None) };
            time = Some(timed.time);
        }
        let mut sweeps = None;
        let counts = self.outline.spec.measures(Measure::Cycles);
        if let Some(tolerance) = plan.stop.tolerance {
            let is_residual = plan.stop.rule == StopRule::Residual;
            let spectrum = is_residual.then(|| self.predictor.spectrum(&plan.problem)).flatten();
            sweeps = match (spectrum, self.cache.get(&run)) {
                (Some(spectrum), _) => Some(spectrum.sweeps(tolerance)),
                (None, Some(count)) => converged(count),
                (None, None) if !counts => None,
                (None, None) => {
                    let Some(count) = count(&Arc::new(plan), halt)? else { return Ok(None) };
                    self.cache.insert(&run, count);
                    converged(count)
                }
            };
        }
        let sweeps = sweeps.filter(|sweeps| sweeps.is_finite());
        Ok(Some(ClassicBaseline { time, sweeps, counts }))
    }

    /// Measures some cells, as many at a time as there are threads for (`jobs`): their cycles side
    /// by side, and when all of these are counted, the time of each by itself. Gives their rows; fewer
    /// than cells if somebody stopped it before.
    ///
    /// # Errors
    /// What a solver says that fails, or a plan that nothing fits any more.
    pub fn measure(
        &mut self,
        cells: &[SweepCell],
        jobs: usize,
        halt: ShouldStop<'_>,
    ) -> Result<Vec<SweepRow>, MeasureError> {
        let mut plans = Vec::with_capacity(cells.len());
        for cell in cells {
            let plan = match cell.cannot_run {
                Some(_) => None,
                None => Some(Arc::new(self.plan(&cell.setting)?)),
            };
            plans.push(plan);
        }
        let mut refused: Vec<Option<String>> = vec![None; cells.len()];
        if self.outline.spec.measures(Measure::Cycles) {
            let unknown: Vec<_> = (plans.iter().enumerate())
                .filter_map(|(i, plan)| plan.as_ref().map(|plan| (i, plan)))
                .filter(|(_, plan)| self.cache.get(&plan.spec).is_none())
                .collect();
            for part in unknown.chunks(jobs.max(1)) {
                let plans: Vec<_> = part.iter().map(|(_, plan)| *plan).collect();
                let counted = count_together(&plans, halt);
                for ((i, plan), counted) in part.iter().zip(counted) {
                    match counted {
                        Ok(Some(count)) => self.cache.insert(&plan.spec, count),
                        Ok(None) => return Ok(Vec::new()),
                        Err(error) => refused[*i] = Some(only_this(error)?),
                    }
                }
            }
        }
        let mut rows = Vec::with_capacity(cells.len());
        for ((cell, plan), refused) in cells.iter().zip(plans).zip(refused) {
            let mut row = self.outline.blank(&cell.setting);
            let Some((plan, None)) = plan.map(|plan| (plan, refused.clone())) else {
                let reason = cell.cannot_run.clone().or(refused).unwrap_or_default();
                rows.push(row.cannot_run(reason));
                continue;
            };
            if let Place::Cuda { kernel, .. } = plan.place
                && let Ok(kernel) = cuda::takes(kernel, &plan.method, plan.precision)
            {
                kernel.name().clone_into(&mut row.kernel);
            }
            let mut timed = None;
            if self.outline.spec.measures(Measure::Time) {
                match self.time(&plan, BUDGET, halt) {
                    Ok(Some(time)) => timed = Some(time),
                    Ok(None) => return Ok(rows),
                    Err(error) => {
                        rows.push(row.cannot_run(only_this(error)?));
                        continue;
                    }
                }
            }
            let counts = self.outline.spec.measures(Measure::Cycles);
            let count = counts.then(|| self.cache.get(&plan.spec)).flatten();
            let Setting { tile, kernel, .. } = cell.setting;
            // As the machine was while it was timed.
            let predicted = self.model.seconds(tile, kernel, &plan).zip(timed);
            let predicted = predicted.map(|(seconds, timed)| seconds * timed.slowness);
            let cycle_prediction = self.predictor.cycles(&plan, halt)?;
            if let Some(kernel) = timed.and_then(|timed| timed.kernel) {
                kernel.name().clone_into(&mut row.kernel);
            }
            rows.push(row.with(count, timed.map(|timed| timed.time), predicted, cycle_prediction));
        }
        Ok(rows)
    }
}

/// Why a row is none of a sweep's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowMismatch {
    /// The sweep has no such setting.
    #[error("its row of “{command}” is none of this sweep's settings")]
    Setting {
        /// The command line of the row.
        command: String,
    },
    /// Something else was measured.
    #[error("it measured {there}, and this sweep measures {here}")]
    Measured {
        /// What was measured.
        there: String,
        /// What is measured now.
        here: String,
    },
    /// Times of two machines do not stand in one table.
    #[error("it was measured on {there}, and this machine is {here}")]
    Machine {
        /// The machine of the row.
        there: String,
        /// This machine.
        here: String,
    },
}

/// Why measuring ended.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    /// A setting that could run no longer can.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The solver failed.
    #[error(transparent)]
    Solver(#[from] SolverError),
}

/// The sentence of an error that is this setting's alone: this GPU's kernel cannot take it. Any
/// other befalls the next setting as well.
fn only_this(error: SolverError) -> Result<String, SolverError> {
    match error {
        SolverError::Kernel { .. } => Ok(error.to_string()),
        _ => Err(error),
    }
}

/// Cycles of a plan: those that were counted for another sweep, or as they are foreseen.
fn cycle_prediction(
    cache: &CycleCache,
    predictor: &CyclePredictor,
    plan: &Plan,
    halt: ShouldStop<'_>,
) -> Result<Option<CyclePrediction>, SolverError> {
    match cache.get(&plan.spec) {
        Some(CycleCount { cycles, ending: CountOutcome::Converged, .. }) => {
            Ok(Some(CyclePrediction { cycles: cycles as f64, error: 0.0 }))
        }
        _ => predictor.cycles(plan, halt),
    }
}

/// The cycles of a run that met its tolerance.
fn converged(count: CycleCount) -> Option<f64> {
    (count.ending == CountOutcome::Converged).then_some(count.cycles as f64)
}

/// Counts the cycles of some settings at a time, each on a thread of its own; a single one has all
/// threads to itself.
fn count_together(
    plans: &[&Arc<Plan>],
    halt: ShouldStop<'_>,
) -> Vec<Result<Option<CycleCount>, SolverError>> {
    if let [plan] = plans {
        return vec![count(plan, halt)];
    }
    let alone = |plan: &Plan| {
        let mut plan = plan.clone();
        if let Place::Cpu { threads } = &mut plan.place {
            *threads = 1;
        }
        count(&Arc::new(plan), halt)
    };
    let alone = &alone;
    std::thread::scope(|scope| {
        let start = plans.iter().map(|plan| {
            let thread = std::thread::Builder::new().name("tilescope-count".to_owned());
            (plan, thread.spawn_scoped(scope, move || alone(plan)))
        });
        let counting: Vec<_> = start.collect();
        // What the system gives no thread for is counted on this one.
        let counted = counting.into_iter().map(|(plan, thread)| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => alone(plan),
        });
        counted.collect()
    })
}

/// Why a setting cannot run, if it cannot: its tiles do not go together, or its kernel cannot take
/// them.
///
/// # Errors
/// [`PlanError`] for all that is wrong whatever the other settings are.
fn why_not(planner: &mut Planner, run: &RunSpec) -> Result<Option<String>, PlanError> {
    match planner.plan(run) {
        Ok(plan) => Ok(match plan.place {
            Place::Cpu { .. } => None,
            Place::Cuda { kernel, .. } => cuda::takes(kernel, &plan.method, plan.precision)
                .err()
                .map(|why| format!("kernel {} {why}", kernel.name())),
        }),
        Err(PlanError::Tiling(why @ TilingError::OverlapTooLarge { .. })) => {
            Ok(Some(why.to_string()))
        }
        Err(error) => Err(error),
    }
}
