//! A sweep under way.

use super::count::{CycleCache, CycleCount, count};
use super::machine;
use super::model::{CostModel, work};
use super::row::Row;
use super::spec::{Measure, Setting, SweepError, SweepSpec};
use super::timing::{BUDGET, PROBE, time};
use crate::grid::TilingError;
use crate::run::plan::{Plan, PlanError, Planner};
use crate::run::spec::RunSpec;
use crate::solver::{Kernel, Place, SolverError, cuda};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A setting of a sweep, and whether it can run.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The setting.
    pub setting: Setting,
    /// Why it cannot run, if it cannot.
    pub cannot_run: Option<String>,
}

/// A sweep that makes sense: its settings, and what is known of their cycles.
#[derive(Debug)]
pub struct Sweep {
    spec: SweepSpec,
    cells: Vec<Cell>,
    machine: String,
    planner: Planner,
    cache: CycleCache,
    model: CostModel,
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
            cells.push(Cell { setting, cannot_run });
        }
        if let [Cell { cannot_run: Some(first), .. }, ..] = &cells[..]
            && cells.iter().all(|cell| cell.cannot_run.is_some())
        {
            let (settings, first) = (cells.len(), first.clone());
            return Err(SweepError::NoneCanRun { settings, first });
        }
        let machine = machine::name(spec.run.method.backend)?;
        Ok(Self {
            spec,
            cells,
            machine,
            planner,
            cache: CycleCache::default(),
            model: CostModel::default(),
        })
    }

    /// What it goes through, tidied up.
    pub fn spec(&self) -> &SweepSpec {
        &self.spec
    }

    /// Its settings, in order.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The machine that it measures on.
    pub fn machine(&self) -> &str {
        &self.machine
    }

    /// The plan of a setting that can run.
    ///
    /// # Errors
    /// [`PlanError`] if it cannot after all, such as for memory that is no longer free.
    pub fn plan(&mut self, setting: &Setting) -> Result<Plan, PlanError> {
        self.planner.plan(&self.spec.run_of(setting))
    }

    /// Takes in the rows that were measured before, and says which cells they are.
    ///
    /// # Errors
    /// The first row that is none of this sweep's, as on this machine.
    pub fn resume(&mut self, rows: &[Row]) -> Result<Vec<usize>, Foreign> {
        let commands = self.cells.iter().map(|cell| self.row_of(&cell.setting).command);
        let places: HashMap<_, _> = commands.zip(0..).collect();
        let mut done = Vec::with_capacity(rows.len());
        for row in rows {
            let place = places
                .get(&row.command)
                .copied()
                .ok_or_else(|| Foreign::Setting { command: row.command.clone() })?;
            let here = self.row_of(&self.cells[place].setting);
            if row.measured != here.measured {
                return Err(Foreign::Measured { there: row.measured.clone(), here: here.measured });
            }
            if row.machine != here.machine {
                return Err(Foreign::Machine { there: row.machine.clone(), here: here.machine });
            }
            if let Some(count) = row.count() {
                self.cache.insert(&self.spec.run_of(&self.cells[place].setting), count);
            }
            done.push(place);
        }
        Ok(done)
    }

    /// The row of a setting before anything is known of it.
    fn row_of(&self, setting: &Setting) -> Row {
        Row::new(&self.spec, setting, &self.machine)
    }

    /// Measures the constants of the cost model: with every tile and kernel the time of at most four
    /// settings, of few and many sweeps and of small and large overlaps. `false` if somebody stopped
    /// it before.
    ///
    /// # Errors
    /// What a solver says that fails, or a plan that nothing fits any more.
    pub fn probe(&mut self, stop: &AtomicBool) -> Result<bool, MeasureError> {
        for tile in self.spec.tile.clone() {
            for kernel in self.spec.kernel.clone() {
                let mut probes = Vec::new();
                for setting in self.corners(tile, kernel) {
                    let plan = self.plan(&setting)?;
                    match time(&plan, PROBE, stop) {
                        Ok(Some(time)) => probes.push((work(&plan), time.median)),
                        Ok(None) => return Ok(false),
                        Err(error) => drop(only_this(error)?),
                    }
                }
                if !probes.is_empty() {
                    self.model.fit(tile, kernel, &probes);
                }
            }
        }
        Ok(true)
    }

    /// The settings of a tile and a kernel between which the others lie, without overlaps so large
    /// that a cycle takes many times the time of any that is worth choosing.
    fn corners(&self, tile: usize, kernel: Kernel) -> Vec<Setting> {
        let can_run = self.cells.iter().filter(|cell| cell.cannot_run.is_none());
        let here = can_run.map(|cell| cell.setting);
        let here: Vec<_> = here.filter(|s| (s.tile, s.kernel) == (tile, kernel)).collect();
        let (Some(first), Some(last)) = (here.first(), here.last()) else { return Vec::new() };
        let usual = here.iter().map(|s| s.overlap).filter(|overlap| 2 * overlap <= tile);
        let wide = usual.max().unwrap_or(first.overlap);
        let mut corners = Vec::new();
        for k in [first.k, last.k] {
            for overlap in [first.overlap, wide] {
                corners.push(Setting { tile, k, overlap, kernel });
            }
        }
        corners.sort_unstable_by_key(|setting| (setting.k, setting.overlap));
        corners.dedup();
        corners
    }

    /// Seconds of a cycle by the cost model, once its constants were measured.
    ///
    /// # Errors
    /// [`PlanError`] if the setting cannot run.
    pub fn predicted(&mut self, setting: &Setting) -> Result<Option<f64>, PlanError> {
        let plan = self.plan(setting)?;
        Ok(self.model.seconds(setting.tile, setting.kernel, &plan))
    }

    /// Measures some cells, as many at a time as there are threads for (`jobs`): their cycles side
    /// by side, and when all of these are counted, the time of each by itself. Gives their rows; fewer
    /// than cells if somebody stopped it before.
    ///
    /// # Errors
    /// What a solver says that fails, or a plan that nothing fits any more.
    pub fn measure(
        &mut self,
        cells: &[Cell],
        jobs: usize,
        stop: &AtomicBool,
    ) -> Result<Vec<Row>, MeasureError> {
        let mut plans = Vec::with_capacity(cells.len());
        for cell in cells {
            let plan = match cell.cannot_run {
                Some(_) => None,
                None => Some(Arc::new(self.plan(&cell.setting)?)),
            };
            plans.push(plan);
        }
        let mut refused: Vec<Option<String>> = vec![None; cells.len()];
        if self.spec.measures(Measure::Cycles) {
            let unknown: Vec<_> = (plans.iter().enumerate())
                .filter_map(|(i, plan)| plan.as_ref().map(|plan| (i, plan)))
                .filter(|(_, plan)| self.cache.get(&plan.spec).is_none())
                .collect();
            for part in unknown.chunks(jobs.max(1)) {
                let plans: Vec<_> = part.iter().map(|(_, plan)| *plan).collect();
                let counted = count_together(&plans, stop);
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
            let row = self.row_of(&cell.setting);
            let Some((plan, None)) = plan.map(|plan| (plan, refused.clone())) else {
                let reason = cell.cannot_run.clone().or(refused).unwrap_or_default();
                rows.push(row.cannot_run(reason));
                continue;
            };
            let mut timed = None;
            if self.spec.measures(Measure::Time) {
                match time(&plan, BUDGET, stop) {
                    Ok(Some(time)) => timed = Some(time),
                    Ok(None) => return Ok(rows),
                    Err(error) => {
                        rows.push(row.cannot_run(only_this(error)?));
                        continue;
                    }
                }
            }
            let counts = self.spec.measures(Measure::Cycles);
            let count = counts.then(|| self.cache.get(&plan.spec)).flatten();
            let Setting { tile, kernel, .. } = cell.setting;
            let predicted = self.model.seconds(tile, kernel, &plan);
            rows.push(row.with(count, timed, predicted));
        }
        Ok(rows)
    }
}

/// Why a row is none of a sweep's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Foreign {
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

/// The sentence of an error that is this setting's alone: this card's kernel cannot take it. Any
/// other befalls the next setting as well.
fn only_this(error: SolverError) -> Result<String, SolverError> {
    match error {
        SolverError::Kernel { .. } => Ok(error.to_string()),
        _ => Err(error),
    }
}

/// Counts the cycles of some settings at a time, each on a thread of its own; a single one has all
/// threads to itself.
pub(super) fn count_together(
    plans: &[&Arc<Plan>],
    stop: &AtomicBool,
) -> Vec<Result<Option<CycleCount>, SolverError>> {
    if let [plan] = plans {
        return vec![count(plan, stop)];
    }
    let alone = |plan: &Plan| {
        let mut plan = plan.clone();
        if let Place::Cpu { threads } = &mut plan.place {
            *threads = 1;
        }
        count(&Arc::new(plan), stop)
    };
    std::thread::scope(|scope| {
        let counting: Vec<_> = plans.iter().map(|plan| scope.spawn(|| alone(plan))).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| match thread.join() {
            Ok(counted) => counted,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        counting.into_iter().map(join).collect()
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
            Place::Cuda { kernel } => cuda::takes(kernel, &plan.method, plan.precision)
                .err()
                .map(|why| format!("kernel {}: {why}", kernel.name())),
        }),
        Err(PlanError::Tiling(why @ TilingError::OverlapTooLarge { .. })) => {
            Ok(Some(why.to_string()))
        }
        Err(error) => Err(error),
    }
}
