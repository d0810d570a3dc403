//! `tilescope bench matrices`: the kernels for sparse matrices, compared.

use super::super::console::{FAILED, UsageError, json, print_note};
use super::super::progress::Progress;
use super::super::values;
use super::machine::Machine;
use super::measure::{self, Row, Timing, row};
use super::output::{BackendArgs, Formats, Output};
use super::table::{Table, csv, known, percent};
use crate::cli::gpu_notes::print_gpu_notes;
use crate::grid::Precision;
use crate::picture::{digits, grouped, number};
use crate::problem::matrix::{BlockEntries, Ordering};
use crate::run::{
    Backend, MatrixSpec, MethodSpec, Plan, PlanError, Planner, ProblemKind, RunSpec, StopRule,
    StopSpec,
};
use crate::solver::{Kernel, SolverError};
use clap::Args;
use serde::Serialize;
use std::fmt::Write;
use std::iter;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  tilescope bench matrices
      the ice sheet in grid tiles, 8 sweeps in blocks of 256 rows, compared with Jacobi's iteration
  tilescope bench matrices --large poisson-3200x3200 --backend cuda -o matrices.md
      also the memory bandwidth of Jacobi's iteration on 10,240,000 rows, as a Markdown file
  tilescope bench matrices --matrix m.mtx --ordering rcm --tile 512 --k 4
      a matrix of your own

Every kernel makes the same iterates, so cycles are counted once for each k. Times to the tolerance are
those of the cycles with ‖r‖₂, by the solver's own clock, without set-up and transfers.";

/// The options of `tilescope bench matrices`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct Matrices {
    /// The matrix: a Matrix Market file, or the name of one that comes with the program
    #[arg(long, value_name = "FILE|NAME", default_value = "ice-sheet", help_heading = "Problem")]
    matrix: PathBuf,
    /// Order of the unknowns
    #[arg(long, default_value = "tiles", help_heading = "Problem")]
    ordering: Ordering,
    /// A large matrix, for which the memory bandwidth of Jacobi's iteration is measured
    #[arg(long, value_name = "FILE|NAME", help_heading = "Problem")]
    large: Option<PathBuf>,
    /// Rows of a block
    #[arg(
        long,
        value_name = "N",
        default_value = "256",
        help_heading = "Method",
        value_parser = values::whole::<usize>
    )]
    tile: usize,
    /// Levels of overlap
    #[arg(
        long,
        value_name = "N",
        default_value = "0",
        help_heading = "Method",
        value_parser = values::whole::<usize>
    )]
    overlap: usize,
    /// Inner sweeps
    #[arg(
        long,
        value_name = "N",
        default_value = "8",
        help_heading = "Method",
        value_parser = values::whole::<usize>
    )]
    k: usize,
    /// Tolerance of the relative residual
    #[arg(
        long,
        value_name = "TOL",
        default_value = "1e-6",
        help_heading = "Measurement",
        value_parser = values::number
    )]
    tol: f64,
    /// Floating-point precision
    #[arg(long, default_value = "f64", help_heading = "Method")]
    precision: Precision,
    #[command(flatten)]
    on: BackendArgs,
    /// Samples per median
    #[arg(
        long,
        value_name = "N",
        default_value = "5",
        help_heading = "Measurement",
        value_parser = values::count::<1, 1000>,
        allow_negative_numbers = true
    )]
    repeats: u32,

    #[command(flatten)]
    output: Output,
}

/// One setting, measured.
#[derive(Debug, Serialize)]
struct Line {
    matrix: String,
    #[serde(flatten)]
    row: Row,
    /// Cycles to the tolerance, and seconds of them with ‖r‖₂; for the large matrix they are not counted.
    cycles_to_tolerance: Option<u64>,
    processing_seconds: Option<Timing>,
    /// Bytes that a cycle of one sweep must move: entries, b_i / a_ii, and two iterates.
    sweep_bytes: Option<u64>,
    of_bandwidth: Option<f64>,
}

impl Matrices {
    /// Times every kernel, prints the table and saves it.
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let large = self.large.iter().map(|path| ("--large", path.as_path()));
        let inputs = [("--matrix", self.matrix.as_path())].into_iter().chain(large);
        self.output.check(&inputs.collect::<Vec<_>>())?;
        if self.large.is_some() && self.on.backend == [Backend::Cpu] {
            let why = "--large has no effect with backend cpu; its bandwidth is measured on a GPU";
            return Err(UsageError(why.to_owned()).into());
        }
        let backends = self.on.backends()?;
        let mut planner = Planner::default();
        // All of them before the first is measured.
        let mut plans = Vec::new();
        for spec in self.specs(&backends)? {
            match planner.plan(&spec) {
                Ok(plan) => plans.push(Arc::new(plan)),
                Err(error @ PlanError::Kernel { .. }) => print_note(&error.to_string()),
                Err(error) => return Err(error.into()),
            }
        }
        let mut lines: Vec<Line> = Vec::new();
        let mut progress = Progress::start();
        let mut machine = None;
        for plan in plans {
            if machine.is_none() {
                print_gpu_notes(&plan);
                machine = Some(Machine::here(measure::open(&plan)?));
            }
            let (name, on) = (measure::name(&plan), plan.backend().name());
            progress.show(|| format!("{name} on {on}, k = {}", plan.method.k()));
            let bandwidth = machine.as_ref().and_then(|machine| machine.memory_bytes_per_second);
            match self.measure(&plan, &lines, bandwidth, &mut progress) {
                Ok(line) => lines.push(line),
                Err(error @ SolverError::Kernel { .. }) => print_note(&error.to_string()),
                Err(error) => return Err(error.into()),
            }
        }
        drop(progress);
        let (Some(machine), false) = (machine, lines.is_empty()) else {
            return Ok(ExitCode::from(FAILED));
        };
        let Self { tol, precision, repeats, .. } = *self;
        let title = format!("{} · order {}", self.name(), self.ordering.name());
        let precision = precision.name();
        self.output.publish(&Record {
            title,
            precision,
            tolerance: tol,
            repeats,
            machine,
            lines,
        })?;
        Ok(ExitCode::SUCCESS)
    }

    fn name(&self) -> String {
        MatrixSpec::new(&self.matrix).name()
    }

    fn measure(
        &self,
        plan: &Arc<Plan>,
        before: &[Line],
        bandwidth: Option<f64>,
        progress: &mut Progress,
    ) -> Result<Line, SolverError> {
        let row = row(plan, self.repeats)?;
        let matrix = plan.spec.problem.matrix.as_ref().map_or_else(String::new, MatrixSpec::name);
        let cycles = match plan.stop.tolerance {
            Some(_) => match before.iter().find(|line| line.row.method == plan.method) {
                Some(same) => same.cycles_to_tolerance,
                None => measure::cycles_to_tolerance(plan, progress)?,
            },
            None => None,
        };
        let processing = match cycles {
            Some(_) => Some(measure::whole(plan, cycles, true, self.repeats, |_| ())?.solver),
            None => None,
        };
        let sweep_bytes = (row.k.finite() == Some(1)).then(|| sweep_bytes(plan)).flatten();
        let of_bandwidth = row
            .footprint
            .and(sweep_bytes)
            .zip(bandwidth)
            .map(|(bytes, most)| bytes as f64 / (row.cycle_us.median * 1e-6) / most);
        Ok(Line {
            matrix,
            row,
            cycles_to_tolerance: cycles,
            processing_seconds: processing,
            sweep_bytes,
            of_bandwidth,
        })
    }

    /// The settings in the order of the table.
    fn specs(&self, backends: &[Backend]) -> anyhow::Result<Vec<RunSpec>> {
        let of = |source: &PathBuf, ordering, backend, kernel, k: usize, tolerance| {
            let matrix = MatrixSpec { ordering, ..MatrixSpec::new(source) };
            let mut spec = RunSpec::default();
            spec.problem.kind = ProblemKind::Matrix;
            spec.problem.shape = vec![matrix.rows()?];
            spec.problem.matrix = Some(matrix);
            spec.method = MethodSpec {
                k: k.into(),
                tile: vec![self.tile],
                overlap: vec![self.overlap],
                precision: self.precision,
                backend,
                threads: self.on.threads,
                kernel,
                ..MethodSpec::default()
            };
            spec.stop = StopSpec { rule: StopRule::Residual, tolerance, ..StopSpec::default() };
            Ok(spec)
        };
        let kernels = |backend| match backend {
            Backend::Cpu => Kernel::of_matrix_on_cpu(),
            Backend::Auto | Backend::Cuda => Kernel::of_matrix(),
        };
        // The slowest first, as in the comparison of kernels.
        let kernels = |backend| {
            let kernels = kernels(backend).into_iter().rev();
            kernels.filter(|kernel| *kernel != Kernel::AUTO)
        };
        let mut specs: Vec<anyhow::Result<RunSpec>> = Vec::new();
        for &backend in backends {
            let others = (self.k != 1).then_some(self.k);
            for k in iter::once(1).chain(others) {
                for kernel in kernels(backend) {
                    let tolerance = Some(self.tol);
                    specs.push(of(&self.matrix, self.ordering, backend, kernel, k, tolerance));
                }
            }
        }
        // On a CPU a sweep of it takes as long as all others together.
        for large in self.large.iter().filter(|_| backends.contains(&Backend::Cuda)) {
            for kernel in kernels(Backend::Cuda) {
                specs.push(of(large, Ordering::Natural, Backend::Cuda, kernel, 1, None));
            }
        }
        specs.into_iter().collect()
    }
}

/// Bytes that a sweep must move: of each entry its value and its column (four bytes outside its block, two
/// inside), of each row b_i / a_ii, the iterate and the next one.
fn sweep_bytes(plan: &Plan) -> Option<u64> {
    let matrix = plan.problem.operator.matrix()?;
    let entries = BlockEntries::of(matrix, plan.tiling.x());
    let value = plan.precision.bytes();
    let bytes = entries.outside * (4 + value) + entries.inside * (2 + value);
    Some((bytes + matrix.rows() * 3 * value) as u64)
}

/// The rows, and where they were measured.
#[derive(Debug, Serialize)]
struct Record {
    title: String,
    precision: &'static str,
    tolerance: f64,
    /// Samples per median.
    repeats: u32,
    machine: Machine,
    lines: Vec<Line>,
}

impl Record {
    /// Time of a sweep of kernel `rows` at the same setting over that of a line.
    fn ratio_to_rows(&self, line: &Line) -> Option<f64> {
        let is_rows = |other: &&Line| {
            other.row.name == "rows"
                && (&other.matrix, other.row.backend, other.row.k)
                    == (&line.matrix, line.row.backend, line.row.k)
        };
        let rows = self.lines.iter().find(is_rows)?;
        Some(rows.row.cycle_us.median / line.row.cycle_us.median)
    }

    /// Time to the tolerance of the fastest sweeps of Jacobi's iteration on the same back end over that of a
    /// line.
    fn speedup(&self, line: &Line) -> Option<f64> {
        let jacobi = self.lines.iter().filter(|other| {
            other.row.k.finite() == Some(1) && other.row.backend == line.row.backend
        });
        let times = jacobi.filter_map(|line| Some(line.processing_seconds?.median));
        let fastest = times.min_by(f64::total_cmp)?;
        Some(fastest / line.processing_seconds?.median)
    }

    fn heading(&self) -> String {
        format!("Sparse matrices: {} · {}", self.title, self.precision)
    }

    fn table(&self) -> Table {
        let cycles = format!("cycles to {}", number(self.tolerance));
        let heads = [
            "matrix",
            "kernel",
            "on",
            "k",
            "µs/cycle",
            "±",
            "with norms",
            "µs/sweep",
            "× rows",
            &*cycles,
            "processing ms",
            "±",
            "× Jacobi",
            "MB/sweep",
            "% of bandwidth",
            "set-up ms",
        ];
        let mut lines = vec![heads.map(str::to_owned).to_vec()];
        for line in &self.lines {
            let Line { row, processing_seconds, .. } = line;
            lines.push(vec![
                line.matrix.clone(),
                row.name.to_owned(),
                row.backend.to_owned(),
                row.k.to_string(),
                digits(row.cycle_us.median),
                percent(row.cycle_us.spread()),
                digits(row.with_norms_us.median),
                digits(row.sweep_us().median),
                known(self.ratio_to_rows(line), |ratio| format!("{ratio:.2}")),
                known(line.cycles_to_tolerance, grouped),
                known(*processing_seconds, |time| digits(time.median * 1e3)),
                known(*processing_seconds, |time| percent(time.spread())),
                known(self.speedup(line), |ratio| format!("{ratio:.2}")),
                known(line.sweep_bytes, |bytes| digits(bytes as f64 * 1e-6)),
                known(line.of_bandwidth, percent),
                digits(row.set_up_seconds * 1e3),
            ]);
        }
        Table::of(lines)
    }
}

impl Formats for Record {
    fn json(&self) -> anyhow::Result<String> {
        json(self)
    }

    fn csv(&self) -> anyhow::Result<String> {
        #[derive(Serialize)]
        struct Cells<'a> {
            matrix: &'a str,
            kernel: &'static str,
            backend: &'static str,
            k: usize,
            cycle_us: f64,
            with_norms_us: f64,
            sweep_us: f64,
            ratio_to_rows: Option<f64>,
            cycles_to_tolerance: Option<u64>,
            processing_seconds: Option<f64>,
            speedup: Option<f64>,
            sweep_bytes: Option<u64>,
            of_bandwidth: Option<f64>,
            set_up_seconds: f64,
        }
        csv(self.lines.iter().map(|line| Cells {
            matrix: &line.matrix,
            kernel: line.row.name,
            backend: line.row.backend,
            k: line.row.k.finite().unwrap_or_default(),
            cycle_us: line.row.cycle_us.median,
            with_norms_us: line.row.with_norms_us.median,
            sweep_us: line.row.sweep_us().median,
            ratio_to_rows: self.ratio_to_rows(line),
            cycles_to_tolerance: line.cycles_to_tolerance,
            processing_seconds: line.processing_seconds.map(|time| time.median),
            speedup: self.speedup(line),
            sweep_bytes: line.sweep_bytes,
            of_bandwidth: line.of_bandwidth,
            set_up_seconds: line.row.set_up_seconds,
        }))
    }

    fn text(&self) -> String {
        format!("{}\n{}\n\n{}", self.heading(), self.machine.line(), self.table().text())
    }

    fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n{}\n\n", self.heading(), self.machine.line());
        _ = write!(text, "`{}`\n\n{}", self.machine.command, self.table().markdown());
        _ = write!(
            text,
            "\nTimes are medians of {} samples after a warm-up, by the solver's own clock (on a GPU by its events); ± is half the range of the samples. × rows compares sweeps with kernel `rows`, × Jacobi times to the tolerance with the fastest kernel at k = 1 on the same back end. A sweep must move the value and the column of each entry, and three values of each row; % of bandwidth compares that with the GPU's memory, and may exceed 100 % where a cache holds the matrix.\n",
            self.repeats
        );
        text
    }
}
