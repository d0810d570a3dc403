//! `tilescope bench paper`: repeats the experiments of the papers.

mod matrices;
mod pyramids;
mod record;

use super::super::progress::Progress;
use super::super::values;
use super::machine::Machine;
use super::measure::{self, Timing, Transfers};
use super::output::{Output, backends};
use crate::run::papers::{EXPERIMENTS, ExperimentMethod, Group, PublishedExperiment};
use crate::run::{Backend, MethodName, MethodSpec, Plan, Planner, RunSpec};
use crate::solver::cuda::Device;
use crate::solver::{ExchangePath, Kernel, Method, Place, SolverError};
use clap::Args;
use record::Record;
use std::process::ExitCode;
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  tilescope bench paper
      all experiments in full: seconds on a GPU, hours on a few cores
  tilescope bench paper --quick -o paper.md
      time a few cycles of each and multiply by the cycles of the whole run
  tilescope bench paper --only table-2,table-3 --csv
      two tables of Islam & Wang
  tilescope bench paper --only matrices
      the paper on sparse matrices: set-up, processing and shutdown over threads, and on a GPU
  tilescope bench paper --only pyramids --shrink 1
      the paper on grids larger than fast memory; without --shrink a quarter of each side on a CPU

Times are medians after a warm-up, by the solver's own clock (on a GPU by its events). As published,
times of Islam & Wang include the transfers to and from the GPU but no norms; times of the article
include the norms of every cycle but no transfers. × is the speedup over the first row of the same
problem: the classic iteration, or one CPU thread for the heat plate.";

/// The options of `tilescope bench paper`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Paper {
    /// Groups of experiments, comma-separated [default: all]; the reference of × is always included
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Measurement")]
    only: Vec<Group>,
    /// Back end [default: cuda with a GPU, otherwise cpu]
    #[arg(long, help_heading = "Measurement")]
    backend: Option<Backend>,
    /// Divide each side and the batch by this, for a trial: figures are no longer comparable
    /// [default: 1, and 4 for cubes larger than fast memory on a CPU]
    #[arg(
        long,
        value_name = "N",
        help_heading = "Measurement",
        value_parser = values::count::<1, 64>,
        allow_negative_numbers = true
    )]
    shrink: Option<u32>,
    /// Time a few cycles only, and multiply by the known number of cycles of the whole run
    #[arg(long, help_heading = "Measurement")]
    quick: bool,
    /// Samples per median
    #[arg(
        long,
        value_name = "N",
        default_value = "3",
        help_heading = "Measurement",
        value_parser = values::count::<1, 1000>,
        allow_negative_numbers = true
    )]
    repeats: u32,
    #[command(flatten)]
    output: Output,
}

/// One experiment with one kernel.
#[derive(Clone, Debug)]
struct Row {
    experiment: &'static PublishedExperiment,
    /// `None` of what was published alone.
    measured: Option<Measured>,
}

/// What was measured of an experiment with one kernel.
#[derive(Clone, Debug)]
struct Measured {
    /// Name of the kernel, or of the method on the CPU.
    kernel: &'static str,
    backend: &'static str,
    cycles: u64,
    /// Seconds without transfers.
    solver: Timing,
    /// Seconds of the transfers.
    transfers: Option<Transfers>,
}

impl Row {
    /// Seconds, including transfers where the paper includes them.
    fn seconds(&self) -> Option<f64> {
        let Measured { transfers, solver, .. } = self.measured.as_ref()?;
        let transfers = transfers.filter(|_| self.experiment.counts_transfers());
        Some(solver.median + transfers.map_or(0.0, Transfers::of_a_run))
    }
}

impl Paper {
    /// Runs the experiments, prints the table and saves it.
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        self.output.check(&[])?;
        let requested = self.backend.as_slice();
        // The GPU comes first where there is one.
        let backend = backends(requested)?.into_iter().next().unwrap_or(Backend::Cpu);
        let mut planner = Planner::default();
        let mut plans = Vec::new();
        for experiment in EXPERIMENTS.iter().filter(|experiment| self.includes(experiment)) {
            let specs = self.specs(experiment, backend);
            if specs.is_empty() {
                plans.push((experiment, None));
            }
            for spec in specs {
                plans.push((experiment, Some(Arc::new(planner.plan(&spec)?))));
            }
        }
        let known = || plans.iter().filter_map(|(_, plan)| plan.as_ref());
        let gpu = known().find(|plan| plan.backend() == Backend::Cuda);
        let opened = gpu.map(|plan| measure::open(plan)).transpose()?.flatten();
        let mut progress = Progress::start();
        let mut counted = Vec::new();
        let mut rows = Vec::new();
        for (number, (experiment, plan)) in plans.iter().enumerate() {
            let Some(plan) = plan else {
                rows.push(Row { experiment, measured: None });
                continue;
            };
            let PublishedExperiment { source, .. } = experiment;
            let setting = experiment.setting();
            let what = format!("{} of {}: {source}, {setting}", number + 1, plans.len());
            progress.show(|| what.clone());
            let cycles = self.cycles(experiment, plan, backend, &mut counted, &mut progress)?;
            rows.push(self.measure(experiment, plan, cycles, |part| {
                progress.show(|| format!("{what} · {:.0} %", 100.0 * part));
            })?);
        }
        // A trial of smaller grids leaves matrices out: their sizes are those of the paper.
        let has_matrices =
            self.only.is_empty() && self.shrink() == 1 || self.only.contains(&Group::Matrices);
        let matrices = match has_matrices {
            true => matrices::measure(backend, self.repeats, self.quick, &mut progress)?,
            false => Vec::new(),
        };
        let has_pyramids = self.only.is_empty() || self.only.contains(&Group::Pyramids);
        let cubes = match has_pyramids {
            true => pyramids::measure(backend, self.shrink, self.repeats, &mut progress)?,
            false => Vec::new(),
        };
        drop(progress);
        let machine = Machine::here(opened);
        let record = Record::new(machine, self.quick, self.shrink(), self.repeats, rows)
            .with_matrices(matrices)
            .with_cubes(cubes);
        self.output.publish(&record)?;
        Ok(ExitCode::SUCCESS)
    }

    /// By what sides and the batch are divided.
    fn shrink(&self) -> u32 {
        self.shrink.unwrap_or(1)
    }

    /// Whether an experiment is selected, or is the reference of a selected one.
    fn includes(&self, experiment: &PublishedExperiment) -> bool {
        let is_selected =
            |other: &PublishedExperiment| self.only.is_empty() || self.only.contains(&other.group);
        is_selected(experiment)
            || experiment.is_reference()
                && EXPERIMENTS
                    .iter()
                    .any(|other| other.preset == experiment.preset && is_selected(other))
    }

    /// The runs of an experiment: on a GPU one with the paper's kernel and one with the fastest. None where the back
    /// end has no such choice.
    fn specs(&self, experiment: &PublishedExperiment, backend: Backend) -> Vec<RunSpec> {
        let mut run = experiment.run();
        let shrink = self.shrink() as usize;
        for points in run.problem.shape.iter_mut().chain([&mut run.problem.batch]) {
            *points = points.div_ceil(shrink);
        }
        let method = MethodSpec { backend, ..MethodSpec::default() };
        let methods = match experiment.how {
            ExperimentMethod::Serial => vec![MethodSpec {
                name: MethodName::Classic,
                backend: Backend::Cpu,
                threads: 1,
                ..method
            }],
            ExperimentMethod::ClassicBlock { threads } if backend == Backend::Cuda => {
                vec![MethodSpec { name: MethodName::Classic, block_size: Some(threads), ..method }]
            }
            ExperimentMethod::ClassicBlock { .. } => Vec::new(),
            ExperimentMethod::Classic => vec![MethodSpec { name: MethodName::Classic, ..method }],
            ExperimentMethod::Tiled { tile, k, overlap } => {
                let kernels = match backend {
                    Backend::Auto | Backend::Cpu => vec![Kernel::AUTO],
                    Backend::Cuda => Kernel::compared(MethodName::Hierarchical),
                };
                let with = |kernel| MethodSpec {
                    tile: vec![tile],
                    k: k.into(),
                    overlap: vec![overlap],
                    kernel,
                    ..method.clone()
                };
                kernels.into_iter().map(with).collect()
            }
        };
        methods.into_iter().map(|method| RunSpec { method, ..run.clone() }).collect()
    }

    /// Cycles of a whole run: known for the sizes of the papers, otherwise counted once for all
    /// kernels.
    fn cycles(
        &self,
        experiment: &'static PublishedExperiment,
        plan: &Plan,
        backend: Backend,
        counted: &mut Vec<(&'static str, Method, u64)>,
        progress: &mut Progress,
    ) -> anyhow::Result<u64> {
        if self.quick && self.shrink() == 1 {
            return Ok(experiment.cycles);
        }
        let same = counted
            .iter()
            .find(|(preset, method, _)| *preset == experiment.preset && *method == plan.method);
        if let Some((_, _, cycles)) = same {
            return Ok(*cycles);
        }
        let place = match backend {
            Backend::Auto | Backend::Cpu => Place::Cpu { threads: 0, kernel: Kernel::AUTO },
            Backend::Cuda => {
                let (devices, kernel) = (vec![Device::new(0)], Kernel::AUTO);
                let exchange = ExchangePath::Auto;
                Place::Cuda { devices, exchange, kernel, block_size: None }
            }
        };
        // The number of cycles is the same for every kernel, so the fastest counts them.
        let plan = Arc::new(Plan { place, ..plan.clone() });
        let cycles = measure::to_the_end(&plan, progress)?.history().latest().cycle;
        counted.push((experiment.preset, plan.method.clone(), cycles));
        Ok(cycles)
    }

    fn measure(
        &self,
        experiment: &'static PublishedExperiment,
        plan: &Plan,
        cycles: u64,
        show: impl FnMut(f64),
    ) -> Result<Row, SolverError> {
        let whole = (!self.quick).then_some(cycles);
        let norms = experiment.counts_norms();
        let measure::Whole { solver, transfers, kernel } =
            measure::whole(plan, whole, norms, self.repeats, show)?;
        // A sample is the time of the whole run, or of one cycle.
        let solver = if self.quick { solver.times(cycles as f64) } else { solver };
        let backend = plan.backend().name();
        let measured = Some(Measured { kernel, backend, cycles, solver, transfers });
        Ok(Row { experiment, measured })
    }
}
