//! `tilescope bench kernels`: the kernel comparison.

use super::super::console::{FAILED, UsageError, print_note};
use super::super::lists::ListArgs;
use super::super::progress::Progress;
use super::super::values::{self, Axes};
use super::frames;
use super::machine::Machine;
use super::measure::{self, Row, row};
use super::output::{BackendArgs, Output};
use super::record::Record;
use crate::cli::gpu_notes::print_gpu_notes;
use crate::grid::Precision;
use crate::run::{
    Backend, MethodName, MethodSpec, PerAxis, Plan, PlanError, Planner, ProblemKind, ProblemSpec,
    RunSpec, StopRule, StopSpec, TOLERANCE,
};
use crate::solver::Subiterations;
use crate::solver::{ExchangePath, Kernel, SolverError};
use clap::Args;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  tilescope bench kernels
      all kernels on 1024 x 1024 points of the model problem, compared with classic
  tilescope bench kernels --to-tolerance -o kernels.md
      the same with the time to 1e-4, also as a Markdown file
  tilescope bench kernels --shape 8192x8192 --precision f32 --kernel classic,register --k 32 --overlap 4
      a grid larger than any cache, in single precision
  tilescope bench kernels --shape 1024 --batch 1024 --tile 32,1024 --k 16,64 --to-tolerance
      a batch of 1D systems, and tiles that hold a whole system
  tilescope bench kernels --shape 512x512x512 --kernel classic,shared
      a 3D grid
  tilescope bench kernels --shape 16384x16384 --devices 0,1 --k 32 --overlap 4
      a grid that two GPUs share
  tilescope bench kernels --kernel register --k 32 --overlap 4 --frames
      how much of the speed remains while the window shows 60 frames per second

Defaults: kernels classic,shared,register,spectral (in 3D also fused; on the CPU classic,auto,spectral), k 8,16,32, overlap 0,4, tile 32;
in 1D k 16,64, overlap 0, tile 32,1024; in 3D k 4,8,16, overlap 0,2, tile 16. Times are taken by the solver's own clock (on a GPU by its
events), without set-up and transfers, which have columns of their own. Each is the median of several
samples after a warm-up; ± is half the range of the samples.";

/// The options of `tilescope bench kernels`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Kernels {
    /// The system to solve
    #[arg(long, default_value = "poisson", hide_default_value = true, help_heading = "Problem")]
    problem: ProblemKind,
    /// Interior grid points per axis, x first: 1024 in 1D, 256x192 in 2D, 256x256x256 in 3D
    #[arg(
        long,
        value_name = "N | NXxNY | NXxNYxNZ",
        default_value = "1024x1024",
        help_heading = "Problem",
        value_parser = values::axes
    )]
    shape: Axes,
    /// Independent 1D systems solved together
    #[arg(
        long,
        alias = "copies",
        value_name = "N",
        default_value = "1",
        help_heading = "Problem",
        value_parser = values::whole::<usize>
    )]
    batch: usize,

    #[command(flatten)]
    lists: ListArgs,
    /// Floating-point precision [default: f64]
    #[arg(
        long,
        default_value = "f64",
        hide_default_value = true,
        hide_possible_values = true,
        value_name = "f32 | f64",
        help_heading = "Measurement"
    )]
    precision: Precision,
    #[command(flatten)]
    on: BackendArgs,
    /// GPUs, by their numbers in `tilescope devices`: one, several with commas, which share the grid, or `all` [default: 0]
    #[arg(long, value_name = "N,…", help_heading = "Measurement", value_parser = values::gpus)]
    devices: Option<values::Gpus>,
    /// Path by which GPUs that share a grid exchange values
    #[arg(long, value_name = "PATH", default_value = "auto", help_heading = "Measurement")]
    exchange: ExchangePath,

    /// Samples per median
    #[arg(
        long,
        value_name = "N",
        default_value = "11",
        help_heading = "Measurement",
        value_parser = values::count::<1, 1000>,
        allow_negative_numbers = true
    )]
    repeats: u32,
    /// Also count the cycles to the tolerance, and give their time
    #[arg(long, help_heading = "Measurement")]
    to_tolerance: bool,
    /// Tolerance of the relative residual [default: 1e-4]
    #[arg(
        long,
        value_name = "TOL",
        requires = "to_tolerance",
        help_heading = "Measurement",
        value_parser = values::number
    )]
    tol: Option<f64>,
    /// Also measure the cycles per second while the iterate is observed 60 times per second, as by
    /// the window
    #[arg(long, help_heading = "Measurement")]
    frames: bool,
    /// Seconds of --frames per setting
    #[arg(
        long,
        value_name = "S",
        default_value = "6",
        requires = "frames",
        help_heading = "Measurement",
        value_parser = values::count::<1, 3600>
    )]
    seconds: u32,

    #[command(flatten)]
    output: Output,
}

/// Default k, overlap and tile in 3D, in 2D and in 1D.
const DEFAULTS_3D: (&[usize], &[usize], &[usize]) = (&[4, 8, 16], &[0, 2], &[16]);
const DEFAULTS_2D: (&[usize], &[usize], &[usize]) = (&[8, 16, 32], &[0, 4], &[32]);
const DEFAULTS_1D: (&[usize], &[usize], &[usize]) = (&[16, 64], &[0], &[32, 1024]);

impl Kernels {
    /// Times every setting, prints the tables and saves them.
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        self.output.check(&[])?;
        self.check_options()?;
        let backends = self.on.backends()?;
        let mut planner = Planner::default();
        let specs = backends.iter().flat_map(|&backend| self.specs(backend, backends.len() > 1));
        // Invalid settings are refused before the first measurement; those that are not for their kernel are
        // left out.
        let mut plans = Vec::new();
        for spec in specs {
            match planner.plan(&spec) {
                Ok(plan) => plans.push(Arc::new(plan)),
                Err(error @ PlanError::Kernel { .. }) => print_note(&error.to_string()),
                Err(error) => return Err(error.into()),
            }
        }
        let Some(first) = plans.first() else {
            return Ok(ExitCode::from(FAILED));
        };
        let opened = measure::open(first)?;
        print_gpu_notes(first);
        let mut rows = Vec::new();
        let mut refused = Vec::new();
        let mut progress = Progress::start();
        for (number, plan) in plans.iter().enumerate() {
            let name = measure::name(plan);
            let on = plan.backend().name();
            progress.show(|| format!("{} of {}: {name} on {on}", number + 1, plans.len()));
            match self.measure(plan, &rows, &mut progress) {
                Ok(row) => rows.push(row),
                // A setting that a kernel cannot run does not stop the others.
                Err(error) => match error.downcast::<SolverError>()? {
                    error @ SolverError::Kernel { .. } if refused.contains(&error) => {}
                    error @ SolverError::Kernel { .. } => refused.push(error),
                    error => return Err(error.into()),
                },
            }
        }
        drop(progress);
        for error in &refused {
            print_note(&error.to_string());
        }
        if rows.is_empty() {
            return Ok(ExitCode::from(FAILED));
        }
        self.output.publish(&Record::new(first, self.repeats, Machine::here(opened), rows))?;
        Ok(ExitCode::SUCCESS)
    }

    /// The GPUs, by their numbers.
    fn gpus(&self) -> Vec<u32> {
        self.devices.as_ref().map_or(vec![0], |values::Gpus(gpus)| gpus.clone())
    }

    /// Refuses options that change nothing of what is measured.
    fn check_options(&self) -> Result<(), UsageError> {
        let classic = Kernel::compared(MethodName::Classic);
        let kernels = self.lists.kernel(&[Kernel::AUTO]);
        let has_tiles = kernels.iter().any(|it| !classic.contains(it));
        match self.lists.given().filter(|_| !has_tiles).zip(kernels.first()) {
            Some((option, kernel)) => Err(UsageError(format!(
                "{option} has no effect on kernel {}, which takes no tiles; name another with --kernel",
                kernel.name()
            ))),
            None => Ok(()),
        }
    }

    fn measure(
        &self,
        plan: &Arc<Plan>,
        before: &[Row],
        progress: &mut Progress,
    ) -> anyhow::Result<Row> {
        let mut row = row(plan, self.repeats)?;
        if self.to_tolerance {
            // All kernels make the same iterates, so cycles are counted once per method.
            let same = before.iter().find(|before| before.method == plan.method);
            row.cycles = match same {
                Some(same) => same.cycles,
                None => measure::cycles_to_tolerance(plan, progress)?,
            };
        }
        if self.frames {
            let span = Duration::from_secs(self.seconds.into());
            row.frames = frames::measure(plan, span)?;
            if row.frames.is_none() {
                print_note(&format!(
                    "kernel {}, k = {}: the run ended before its speed under observation was measured; \
                     use a larger grid",
                    row.name, row.k
                ));
            }
        }
        Ok(row)
    }

    /// The settings in the order of the table: classic first, then by kernel.
    fn specs(&self, backend: Backend, beside_others: bool) -> Vec<RunSpec> {
        let Axes(shape) = &self.shape;
        let (k, overlap, tile) = match shape.len() {
            1 => DEFAULTS_1D,
            3 => DEFAULTS_3D,
            _ => DEFAULTS_2D,
        };
        let sides = |points: &[usize]| points.iter().copied().map(PerAxis::all).collect::<Vec<_>>();
        let k = self.lists.k(&k.iter().map(|k| Subiterations::Finite(*k)).collect::<Vec<_>>());
        let (overlaps, tiles) =
            (self.lists.overlap(&sides(overlap)), self.lists.tile(&sides(tile)));
        let classic = Kernel::compared(MethodName::Classic);
        let mut of_sweeps = classic.clone();
        // Several sweeps at a time are made in 3D.
        of_sweeps.retain(|kernel| shape.len() == 3 || *kernel == Kernel::CLASSIC);
        let mut tiled = match backend {
            Backend::Auto | Backend::Cpu => vec![Kernel::AUTO],
            Backend::Cuda => Kernel::compared(MethodName::Hierarchical),
        };
        tiled.push(Kernel::SPECTRAL);
        let defaults = [of_sweeps, tiled].concat();
        let mut kernels = self.lists.kernel(&defaults);
        if backend == Backend::Cpu && beside_others {
            // Kernels named on the command line are kernels of the GPU.
            kernels.retain(|kernel| defaults.contains(kernel));
        }
        let mut methods = Vec::new();
        for &kernel in kernels.iter().filter(|kernel| classic.contains(kernel)) {
            // The CPU has no kernel of this name.
            let is_of_gpu = backend == Backend::Cuda || kernel != Kernel::CLASSIC;
            let kernel = if is_of_gpu { kernel } else { Kernel::AUTO };
            methods.push(MethodSpec { name: MethodName::Classic, kernel, ..MethodSpec::default() });
        }
        for &kernel in kernels.iter().filter(|kernel| !classic.contains(kernel)) {
            for tile in &tiles {
                for overlap in &overlaps {
                    for &k in &k {
                        let (tile, overlap) = (tile.list(), overlap.list());
                        methods.push(MethodSpec {
                            k,
                            tile,
                            overlap,
                            kernel,
                            ..MethodSpec::default()
                        });
                    }
                }
            }
        }
        let spec = |method| RunSpec {
            problem: ProblemSpec {
                kind: self.problem,
                shape: shape.clone(),
                batch: self.batch,
                ..ProblemSpec::default()
            },
            method: MethodSpec {
                precision: self.precision,
                backend,
                threads: self.on.threads,
                devices: self.gpus(),
                exchange: self.exchange,
                ..method
            },
            stop: StopSpec {
                rule: StopRule::Residual,
                tolerance: self.to_tolerance.then(|| self.tol.unwrap_or(TOLERANCE)),
                ..StopSpec::default()
            },
            ..RunSpec::default()
        };
        methods.into_iter().map(spec).collect()
    }
}
