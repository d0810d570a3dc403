//! `tilescope sweep`: measures many settings and writes a table.

use super::args::CommonArgs;
use super::console::{FAILED, UsageError, json, named, print, print_note};
use super::gpu_notes::print_gpu_notes_of;
use super::interrupt::Interrupt;
use super::lists::CycleListArgs;
use super::outputs::{self, Output};
use super::progress::Progress;
use super::render::print_without_run;
use super::values;
use crate::clock::Instant;
use crate::grid::memory::{self, human};
use crate::grid::{ByteCount, Precision, Shape};
use crate::picture::{
    Drawing, FigureFile, FigureSpec, Layer, MapValue, SweepData, SweepFigure, SweepView, counted,
    problem_title, rounded, save_figure, sweep_svg,
};
use crate::run::{
    self, ClassicBaseline, Measure, PassLists, PerAxis, ProblemKind, RowOutcome, RunSpec,
    SweepError, SweepRow, SweepSpec, SweepTable, TileLists,
};
use crate::solver::Kernel;
use clap::Args;
use serde::Serialize;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  tilescope sweep --k 4,8,16 --overlap 0:30:2 --tile 16,32 -o sweep.csv --plot sweep.png
      time and cycles to 1e-4 on 256 x 256 points, and a map over k and overlap
  tilescope sweep --shape 1024 --k 1:32 --overlap 0:30:2 --measure cycles --jobs 0 -o s.csv
      cycles only, counted concurrently on all cores
  tilescope sweep --k 4:64:4 --overlap 0:16:2 -o sweep.csv --plot best.svg --plot-kind k
      speedup and best overlap against k
  tilescope sweep --k 4,8,16 --overlap 0:30:2 --tile 16,32 -o sweep.csv --resume
      continues an interrupted sweep; nothing is measured twice
  tilescope sweep --matrix ice-sheet --ordering tiles --k 1,8 --tile 64,256 --threads 1,2,4 -o s.csv
      blocks of a sparse matrix on several numbers of threads
  tilescope sweep --backend cuda --kernel shared,register --k 8:64:8 --overlap 0:8:2 -o s.csv
      two kernels of a GPU
  tilescope sweep --shape 512x512 --method pyramid --height 1,2,4,8,16 --memory 1MB,4MB -o s.csv --plot s.png
      passes through fast memory, and a map over height and budget

Lists are comma-separated values and ranges (from:to:step, the end included); an omitted list holds
the value of the run that the sweep starts from. Rows are written as they are measured. The row of a
setting that cannot run says why.

Exit codes: 0 success; 1 failure, or no setting reached the tolerance; 2 wrong usage; 130 interrupted
by Ctrl-C (the table keeps what was measured).";

/// The options of `tilescope sweep`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Sweep {
    #[command(flatten)]
    lists: CycleListArgs,
    /// Quantities to measure
    #[arg(
        long,
        value_name = "NAMES",
        help_heading = "Settings",
        value_delimiter = ',',
        default_value = "time,cycles"
    )]
    measure: Vec<Measure>,
    /// Settings whose cycles are counted concurrently on the CPU; 0 for one per core, as far as they fit into memory.
    /// Times are always measured one after the other
    #[arg(
        long,
        value_name = "N",
        help_heading = "Settings",
        default_value = "1",
        value_parser = values::jobs,
        allow_negative_numbers = true
    )]
    jobs: usize,
    #[command(flatten)]
    common: CommonArgs,
    /// Table (CSV)
    #[arg(short, long, value_name = "S.csv", help_heading = "Output")]
    output: PathBuf,
    /// Continue the table of an interrupted sweep, or of one with shorter lists
    #[arg(long, help_heading = "Output")]
    resume: bool,
    /// Draw a figure of the results: .png, .svg or .pdf
    #[arg(long, value_name = "FIGURE", help_heading = "Output")]
    plot: Option<PathBuf>,
    /// What that figure shows
    #[arg(
        long,
        value_name = "KIND",
        help_heading = "Output",
        default_value = "map",
        requires = "plot"
    )]
    plot_kind: SweepFigure,
    /// Print one JSON object instead of the summary
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// The fields of `--json`.
#[derive(Debug, Serialize)]
struct Listed<'a> {
    output: Cow<'a, str>,
    best: Option<&'a SweepRow>,
    /// Time to the tolerance of classic Jacobi over that of the best setting.
    speedup: Option<f64>,
    /// Median of the absolute relative prediction errors: of the time per cycle, and of the cycles.
    error_per_cycle: Option<f64>,
    error_of_cycles: Option<f64>,
    rows: &'a [SweepRow],
}

impl Sweep {
    /// Measures, writes the table and prints the best setting.
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let spec = self.spec()?;
        self.check_jobs(&spec)?;
        let mut outputs = vec![Output { option: "-o", path: &self.output, endings: &["csv"] }];
        if let Some(path) = &self.plot {
            outputs::check_has_name("--plot", path)?;
            if let Err(refused) = FigureFile::of(path) {
                return Err(UsageError(refused.to_string()).into());
            }
            outputs.push(Output { option: "--plot", path, endings: &[] });
        }
        outputs::check(&outputs, &self.common.inputs(&spec.run))?;
        let interrupt = Interrupt::install("interrupted before the first setting")?;
        let mut sweep = run::Sweep::new(spec).map_err(usage)?.on_gpu_loss(print_note);
        print_gpu_notes_of(&mut sweep)?;
        let jobs = self.jobs(&mut sweep)?;
        let mut done = Vec::new();
        let (table, rows) = if self.resume {
            SweepTable::resume(&self.output, |rows| sweep.resume(rows).map(|known| done = known))?
        } else {
            (SweepTable::create(&self.output)?, Vec::new())
        };
        interrupt.ends_with(format!(
            "interrupted; {} keeps the settings that are measured, and --resume continues",
            self.output.display()
        ));
        let mut measurement = Measurement { table, rows, jobs, failed: None };
        let times = sweep.spec().measures(Measure::Time);
        let is_new = done.len() < sweep.cells().len();
        let is_probed = !times || !is_new || sweep.probe(interrupt.should_stop())?;
        let is_whole = is_probed && measurement.complete(&mut sweep, &done, interrupt)?;
        let rows = in_order(&measurement.rows, &sweep);
        let classic = if is_whole { sweep.classic(interrupt.should_stop())? } else { None };
        let plot = || match &self.plot {
            Some(plot) => save_plot(plot, self.plot_kind, &sweep, &rows, classic),
            None => Ok(()),
        };
        if let Some(why) = measurement.failed.take() {
            self.print_numbers(&sweep, &rows, None)?;
            return Err(why);
        }
        if !is_whole {
            let all = counted(sweep.cells().len() as u64, "setting");
            print_note(&match rows.len() {
                0 => "interrupted before the first setting; --resume begins again".to_owned(),
                made => format!(
                    "interrupted after {made} of {all}; {} keeps {}, and --resume continues",
                    self.output.display(),
                    if made == 1 { "it" } else { "them" },
                ),
            });
            plot()?;
            return Ok(interrupt.exit_code());
        }
        // The numbers first: they are not lost where saving the figure fails.
        let printed = self.print_numbers(&sweep, &rows, classic);
        plot()?;
        printed?;
        Ok(match SweepRow::best(&rows) {
            Some(_) => ExitCode::SUCCESS,
            None => {
                print_note(&none_reached(&rows, &sweep.spec().run));
                ExitCode::from(FAILED)
            }
        })
    }

    /// Prints the best of some rows, or as JSON all of them.
    fn print_numbers(
        &self,
        sweep: &run::Sweep,
        rows: &[SweepRow],
        classic: Option<ClassicBaseline>,
    ) -> anyhow::Result<()> {
        let best = SweepRow::best(rows);
        let speedup = speedup(best, classic, sweep.machine());
        print(&if self.json {
            let listed = Listed {
                // JSON is text, and a path may not be.
                output: self.output.to_string_lossy(),
                best,
                speedup,
                error_per_cycle: SweepRow::median_error(rows, |row| row.prediction_error),
                error_of_cycles: SweepRow::median_error(rows, |row| row.cycles_prediction_error),
                rows,
            };
            json(&listed)?
        } else {
            summary(sweep, rows, speedup)
        })
    }

    fn spec(&self) -> anyhow::Result<SweepSpec> {
        if self.measure.contains(&Measure::Cycles) {
            self.common.check_has_tolerance()?;
        }
        let run = self.lists.run(&self.common)?;
        let tiles = TileLists {
            k: vec![run.method.k],
            overlap: vec![PerAxis::from_list(&run.method.overlap)],
            tile: vec![PerAxis::from_list(&self.common.tile(&run))],
        };
        let passes = |height: Option<Vec<usize>>, memory: Vec<ByteCount>| {
            // What the height of the run comes to with the smallest budget goes with all.
            let mut least = run.clone();
            least.method.memory = memory.iter().min().copied();
            let height = height.unwrap_or_else(|| vec![least.sweeps_per_cycle() as usize]);
            PassLists { height, memory }
        };
        Ok(SweepSpec {
            cycle: self.lists.cycle(&run, tiles, passes),
            kernel: self.lists.kernel(&[run.method.kernel]),
            threads: self.common.threads(&run),
            measure: self.measure.clone(),
            run,
        })
    }

    /// Refuses `--jobs` where nothing is counted concurrently.
    fn check_jobs(&self, spec: &SweepSpec) -> Result<(), UsageError> {
        let why = match spec.run.method.backend {
            _ if self.jobs == 1 => return Ok(()),
            run::Backend::Cuda => "with backend cuda, which counts one setting after the other",
            _ if !spec.measures(Measure::Cycles) => "on times; use it with --measure cycles",
            _ => return Ok(()),
        };
        Err(UsageError(format!("--jobs has no effect {why}")))
    }

    /// Settings whose cycles are counted at once; one on a GPU. One per core means as many of them as fit into memory;
    /// a number that does not fit is refused.
    fn jobs(&self, sweep: &mut run::Sweep) -> anyhow::Result<usize> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = match (sweep.outline().backend, self.jobs) {
            (run::Backend::Cuda, _) => 1,
            (_, 0) => cores,
            (_, jobs) => jobs,
        };
        if jobs == 1 || !sweep.spec().measures(Measure::Cycles) {
            return Ok(jobs);
        }
        let (need, available) = (sweep.counting_need()?, memory::available());
        let fitting = need.fitting(jobs, available);
        if fitting < jobs && self.jobs > 0 {
            return Err(TooManyJobs { jobs, fitting, needed: need.bytes(jobs), available }.into());
        }
        if fitting < jobs {
            let settings = counted(fitting as u64, "setting");
            print_note(&format!("{settings} counted at a time: more do not fit into memory"));
        }
        Ok(fitting)
    }
}

/// More settings at a time than fit into memory.
#[derive(Debug, thiserror::Error)]
#[error(
    "--jobs {jobs} needs {} of memory for the settings that are counted at a time; {} is free: use --jobs {fitting}",
    human(*.needed), human(*.available)
)]
struct TooManyJobs {
    jobs: usize,
    fitting: usize,
    needed: u64,
    available: u64,
}

/// An invalid sweep is wrong usage; one that cannot run on this machine is a failure.
pub(super) fn usage(error: SweepError) -> anyhow::Error {
    match error {
        SweepError::Plan(error) => error.into(),
        SweepError::Unavailable(_) => error.into(),
        other => UsageError(other.to_string()).into(),
    }
}

/// The rows of a sweep in progress, and the table that they are written to.
struct Measurement {
    table: SweepTable,
    rows: Vec<SweepRow>,
    jobs: usize,
    /// Why a row could not be written.
    failed: Option<anyhow::Error>,
}

impl Measurement {
    /// Measures all cells except those in `done`; `false` if it was interrupted, or a row could not be written.
    fn complete(
        &mut self,
        sweep: &mut run::Sweep,
        done: &[usize],
        interrupt: Interrupt,
    ) -> anyhow::Result<bool> {
        let mut is_done = vec![false; sweep.cells().len()];
        for &place in done {
            is_done[place] = true;
        }
        let cells = sweep.cells().iter().zip(is_done).filter(|(_, is_done)| !is_done);
        let cells: Vec<_> = cells.map(|(cell, _)| cell.clone()).collect();
        let (all, begin) = (sweep.cells().len(), Instant::now());
        let before = self.rows.len();
        let mut progress = Progress::start();
        for part in cells.chunks(self.jobs) {
            progress.show(|| {
                let made = self.rows.len() - before;
                let left = begin.elapsed().as_secs_f64() / made.max(1) as f64
                    * all.saturating_sub(self.rows.len()) as f64;
                let left =
                    if made > 0 { format!(" · about {left:.0} s left") } else { String::new() };
                format!("{} of {}{left}", self.rows.len(), counted(all as u64, "setting"))
            });
            let rows = sweep.measure(part, self.jobs, interrupt.should_stop())?;
            let is_whole = rows.len() == part.len();
            for row in rows {
                let written = interrupt.protect(|| self.table.push(&row));
                // What was measured is printed, also where it cannot be kept.
                self.rows.push(row);
                if let Err(why) = written {
                    self.failed = Some(why.into());
                    return Ok(false);
                }
            }
            if !is_whole {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The rows in the order of the settings of the sweep.
fn in_order(rows: &[SweepRow], sweep: &run::Sweep) -> Vec<SweepRow> {
    sweep.outline().rows_by_cell(rows).into_iter().flatten().collect()
}

/// Saves a figure of a sweep; it carries the best run.
fn save_plot(
    path: &Path,
    figure: SweepFigure,
    sweep: &run::Sweep,
    rows: &[SweepRow],
    classic: Option<ClassicBaseline>,
) -> anyhow::Result<()> {
    let cell = SweepRow::best(rows).and_then(|best| sweep.outline().cell_of(best));
    let run =
        cell.map_or_else(|| sweep.spec().run.clone(), |cell| sweep.spec().run_of(&cell.setting));
    let rows = sweep.outline().rows_by_cell(rows);
    let data = SweepData { outline: sweep.outline(), rows: &rows, predictions: &[], classic };
    let (value, layer) = (MapValue::natural(sweep.spec()), Layer::natural(sweep.spec()));
    let svg = sweep_svg(data, SweepView { figure, value, layer }, &FigureSpec::default());
    save_figure(path, &Drawing::Figure(svg), &run, None)?;
    print_without_run(path, std::iter::once(&run));
    Ok(())
}

/// The problem of a sweep, as its summary names it.
pub(super) fn problem_name(run: &RunSpec) -> String {
    let sides = &run.problem.shape;
    let rows = run.problem.matrix.as_ref().and(sides.first());
    if let Some(shape) = rows.and_then(|rows| Shape::grid_1d(*rows, 1).ok()) {
        return named(&problem_title(run, &shape));
    }
    let sides: Vec<_> = sides.iter().map(ToString::to_string).collect();
    format!("{}, {}", run.problem.title(), sides.join(" × "))
}

/// The summary on stdout.
fn summary(sweep: &run::Sweep, rows: &[SweepRow], speedup: Option<f64>) -> String {
    let count = |outcome: RowOutcome| rows.iter().filter(|row| row.outcome == outcome).count();
    let run = &sweep.spec().run;
    let settings = counted(rows.len() as u64, "setting");
    let mut text = format!("{} · {settings}\n", problem_name(run));
    for (outcome, said) in [
        (RowOutcome::CannotRun, "cannot run"),
        (RowOutcome::Capped, "did not reach the tolerance within the cycle limit"),
        (RowOutcome::RoundingLimit, "stopped at the rounding limit before the tolerance"),
        (RowOutcome::Diverged, "diverged"),
    ] {
        if count(outcome) > 0 {
            text.push_str(&format!("  {} {said}\n", count(outcome)));
        }
    }
    text.push_str(&best(rows));
    if let Some(speedup) = speedup {
        text.push_str(&format!("      {speedup:.2} × the speed of classic Jacobi\n"));
    }
    for (error, what) in [
        (SweepRow::median_error(rows, |row| row.prediction_error), "the time per cycle"),
        (SweepRow::median_error(rows, |row| row.cycles_prediction_error), "the cycles"),
    ] {
        if let Some(error) = error {
            let percent = 100.0 * error;
            text.push_str(&format!("      prediction error of {what}: {percent:.2} % (median)\n"));
        }
    }
    for (tile, pyramid) in sweep.pyramids() {
        text.push_str(&format!(
            "      Kochurov's optimal pyramid height for tile {tile} is {} (overlap {})\n",
            counted(pyramid.height as u64, "sweep"),
            2 * pyramid.height,
        ));
    }
    text.push_str(&format!("      on {}\n", machine_of_best(sweep, rows)));
    text
}

/// The machine that the best of some rows was measured on: one with a GPU that was lost since, or the present one.
pub(super) fn machine_of_best<'a>(sweep: &'a run::Sweep, rows: &'a [SweepRow]) -> &'a str {
    SweepRow::best(rows).map_or(sweep.machine(), |best| &best.machine)
}

/// Time to the tolerance of classic Jacobi, which was measured on this machine, over that of the best setting: that may have
/// been measured on a GPU that was lost since.
fn speedup(
    best: Option<&SweepRow>,
    classic: Option<ClassicBaseline>,
    machine: &str,
) -> Option<f64> {
    let best = best.filter(|best| best.machine == machine)?;
    let speedup = classic?.cost()? / best.cost()?;
    // Where the initial guess is within the tolerance both take no time.
    speedup.is_finite().then_some(speedup)
}

/// The best of some rows, the number of rows equal to it, and its command line.
pub(super) fn best(rows: &[SweepRow]) -> String {
    let Some(best) = SweepRow::best(rows) else { return String::new() };
    let mut text = format!("best  {}\n", described(best));
    let equal = rows.iter().filter(|row| *row != best && row.equals_within_noise(best)).count();
    if equal > 0 {
        let others = counted(equal as u64, "other");
        text.push_str(&format!("      {others} equal within noise\n"));
    }
    text + &format!("      {}\n", best.command)
}

/// Why none of some settings reached the tolerance, and what helps.
pub(super) fn none_reached(rows: &[SweepRow], run: &RunSpec) -> String {
    let f64_helps =
        if run.method.precision == Precision::F32 { ", or use --precision f64" } else { "" };
    let diverged = match run.problem.kind {
        ProblemKind::Matrix => "change the matrix",
        _ => "a lower --omega may help, or another problem",
    };
    let reasons = [
        (
            RowOutcome::Capped,
            "stopped at the cycle limit: allow more with --max-cycles, or raise --tol".to_owned(),
        ),
        (
            RowOutcome::RoundingLimit,
            format!("stopped at the rounding limit: raise --tol{f64_helps}"),
        ),
        (RowOutcome::Diverged, format!("diverged: {diverged}")),
        (RowOutcome::CannotRun, "cannot run".to_owned()),
    ];
    let count = |outcome: RowOutcome| rows.iter().filter(|row| row.outcome == outcome).count();
    let reasons = reasons.iter().filter(|(outcome, _)| count(*outcome) > 0);
    let reasons: Vec<_> =
        reasons.map(|(outcome, why)| format!("{} {why}", count(*outcome))).collect();
    format!("no setting reached the tolerance; {}", reasons.join("; "))
}

/// A row in one line.
pub(super) fn described(row: &SweepRow) -> String {
    let mut text = row.setting();
    if Kernel::ALL.iter().any(|kernel| kernel.name() == row.kernel) {
        text.push_str(&format!(", {} kernel", row.kernel));
    }
    if let Some(seconds) = row.seconds {
        text.push_str(&format!(
            ": projected {} s ± {}",
            rounded(seconds),
            rounded(row.cost_error())
        ));
    }
    if let Some(cycles) = row.cycles {
        text.push_str(&format!(" · {}", counted(cycles.count, "cycle")));
    }
    if let Some(seconds) = row.seconds_per_cycle {
        text.push_str(&format!(" · {} µs per cycle", rounded(seconds * 1e6)));
    }
    text
}
