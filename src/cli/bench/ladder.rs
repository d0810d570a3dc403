//! `tilescope bench ladder`: the kernels side by side.

use super::super::console::{FAILED, tell};
use super::super::lists::ListArgs;
use super::super::progress::Progress;
use super::super::values::{self, Axes};
use super::machine::Machine;
use super::measure::{self, Row, row};
use super::record::Record;
use super::{Output, backends, frames};
use crate::grid::Precision;
use crate::run::{
    Backend, MethodName, MethodSpec, PerAxis, Plan, Planner, ProblemKind, ProblemSpec, RunSpec,
    StopRule, StopSpec, TOLERANCE,
};
use crate::solver::{Kernel, SolverError};
use clap::Args;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  tilescope bench ladder
      the kernels on 1024 x 1024 points of the model problem, each beside classic
  tilescope bench ladder --to-tolerance -o ladder.md
      the same with the time to 1e-4, as a Markdown file
  tilescope bench ladder --shape 8192x8192 --precision f32 --kernel classic,register --k 32 --overlap 4
      a grid that no cache holds, in single precision
  tilescope bench ladder --shape 1024 --copies 1024 --tile 32,1024 --k 16,64 --to-tolerance
      lines, and tiles that hold a whole one
  tilescope bench ladder --kernel register --k 32 --overlap 4 --frames
      what showing 60 frames a second takes away

Where nothing else is given: kernels classic,shared,register (on the CPU classic,auto), k 8,16,32,
overlap 0,4 and tile 32; of lines k 16,64, overlap 0 and tile 32,1024. Times are the solver's own clock
(on a GPU its events) without set-up and transfers, which stand apart. Each is the median of some samples after a warm-up; ± is half of what lies between the least
and the largest of them.";

/// The options of `tilescope bench ladder`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Ladder {
    /// The system to solve
    #[arg(long, default_value = "poisson", hide_default_value = true, help_heading = "Problem")]
    problem: ProblemKind,
    /// Interior points: 1024 for a line, 256x192 for a plane
    #[arg(
        long,
        value_name = "N | NXxNY",
        default_value = "1024x1024",
        help_heading = "Problem",
        value_parser = values::axes
    )]
    shape: Axes,
    /// Independent copies of a line
    #[arg(
        long,
        value_name = "N",
        default_value = "1",
        help_heading = "Problem",
        value_parser = values::whole::<usize>
    )]
    copies: usize,

    #[command(flatten)]
    lists: ListArgs,
    /// Precision of the arithmetic [default: f64]
    #[arg(
        long,
        default_value = "f64",
        hide_default_value = true,
        hide_possible_values = true,
        value_name = "f32 | f64",
        help_heading = "What is timed"
    )]
    precision: Precision,
    /// Back ends, with commas between them [default: cuda,cpu where there is a GPU]
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "What is timed")]
    backend: Vec<Backend>,
    /// Threads on the CPU; 0 for one a core
    #[arg(
        long,
        value_name = "N",
        default_value = "0",
        hide_default_value = true,
        help_heading = "What is timed",
        value_parser = values::whole::<usize>
    )]
    threads: usize,

    /// Samples that a median is taken of
    #[arg(
        long,
        value_name = "N",
        default_value = "11",
        help_heading = "How",
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    repeats: u32,
    /// Count the cycles to the tolerance too, and tell the time that they take
    #[arg(long, help_heading = "How")]
    to_tolerance: bool,
    /// The tolerance of the residual [default: 1e-4]
    #[arg(
        long,
        value_name = "TOL",
        requires = "to_tolerance",
        help_heading = "How",
        value_parser = values::number
    )]
    tol: Option<f64>,
    /// Measure too how many of the cycles are left while reports are taken 60 times a second, as
    /// by the window
    #[arg(long, help_heading = "How")]
    frames: bool,
    /// Seconds that --frames takes for each setting
    #[arg(
        long,
        value_name = "S",
        default_value = "6",
        requires = "frames",
        help_heading = "How",
        value_parser = clap::value_parser!(u32).range(1..=3600)
    )]
    seconds: u32,

    #[command(flatten)]
    output: Output,
}

/// Lists that are used where none is given: of planes and of lines.
const PLANES: (&[usize], &[usize], &[usize]) = (&[8, 16, 32], &[0, 4], &[32]);
const LINES: (&[usize], &[usize], &[usize]) = (&[16, 64], &[0], &[32, 1024]);

impl Ladder {
    /// Times every setting, prints the tables, saves them.
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        self.output.check()?;
        let backends = backends(&self.backend)?;
        let mut planner = Planner::default();
        let plans = backends.iter().flat_map(|&backend| self.specs(backend, backends.len() > 1));
        // All that makes no sense is refused before anything is timed.
        let plans: Vec<_> =
            plans.map(|spec| planner.plan(&spec).map(Arc::new)).collect::<Result<_, _>>()?;
        let Some(first) = plans.first() else {
            return Ok(ExitCode::from(FAILED));
        };
        let opened = measure::open(first)?;
        let mut rows = Vec::new();
        let mut refused = Vec::new();
        let mut progress = Progress::start();
        for (number, plan) in plans.iter().enumerate() {
            let name = measure::name(plan);
            let on = plan.spec.method.backend.name();
            progress.show(|| format!("{} of {}: {name} on {on}", number + 1, plans.len()));
            match self.measure(plan, &rows, &mut progress) {
                Ok(row) => rows.push(row),
                // The others go on without it.
                Err(error) => match error.downcast::<SolverError>()? {
                    error @ SolverError::Kernel { .. } if refused.contains(&error) => {}
                    error @ SolverError::Kernel { .. } => refused.push(error),
                    error => return Err(error.into()),
                },
            }
        }
        drop(progress);
        for error in &refused {
            tell(&error.to_string());
        }
        if rows.is_empty() {
            return Ok(ExitCode::from(FAILED));
        }
        self.output.tell(&Record::new(first, self.repeats, Machine::here(opened), rows))?;
        Ok(ExitCode::SUCCESS)
    }

    fn measure(
        &self,
        plan: &Arc<Plan>,
        before: &[Row],
        progress: &mut Progress,
    ) -> anyhow::Result<Row> {
        let mut row = row(plan, self.repeats)?;
        if self.to_tolerance {
            // Every kernel makes the same iterates: they are counted once.
            let same = before.iter().find(|before| before.method == plan.method);
            row.cycles = match same {
                Some(same) => same.cycles,
                None => measure::cycles_to_tolerance(plan, progress)?,
            };
        }
        if self.frames {
            let span = Duration::from_secs(self.seconds.into());
            row.frames = Some(frames::measure(plan, span)?);
        }
        Ok(row)
    }

    /// What is timed, in the order of the table: classic first, and then by kernel.
    fn specs(&self, backend: Backend, beside_others: bool) -> Vec<RunSpec> {
        let Axes(shape) = &self.shape;
        let (k, overlap, tile) = if shape.len() == 1 { LINES } else { PLANES };
        let sides = |points: &[usize]| points.iter().copied().map(PerAxis::all).collect::<Vec<_>>();
        let k = self.lists.k(k);
        let (overlaps, tiles) =
            (self.lists.overlap(&sides(overlap)), self.lists.tile(&sides(tile)));
        let usual: &[Kernel] = match backend {
            Backend::Cpu => &[Kernel::Classic, Kernel::Auto],
            Backend::Cuda => &[Kernel::Classic, Kernel::Shared, Kernel::Register],
        };
        let mut kernels = self.lists.kernel(usual);
        if backend == Backend::Cpu && beside_others {
            // Kernels that were asked for by name are the GPU's.
            kernels.retain(|kernel| usual.contains(kernel));
        }
        let mut methods = Vec::new();
        if kernels.contains(&Kernel::Classic) {
            methods.push(MethodSpec { name: MethodName::Classic, ..MethodSpec::default() });
        }
        for &kernel in kernels.iter().filter(|kernel| **kernel != Kernel::Classic) {
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
                copies: self.copies,
                ..ProblemSpec::default()
            },
            method: MethodSpec {
                precision: self.precision,
                backend,
                threads: self.threads,
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
