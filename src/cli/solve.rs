//! `tilescope solve`: solves a system and prints a summary.

use super::args::{RunArgs, files_of};
use super::console::{FAILED, UsageError, as_note, json, named, print, print_note};
use super::devices_summary::DevicesSummary;
use super::gpu_notes::print_gpu_notes;
use super::interrupt::Interrupt;
use super::outputs::{self, Output};
use super::progress::Progress;
use super::ranks::{self, Launch, RankError};
use crate::clock::Instant;
use crate::grid::Precision;
use crate::grid::memory::human;
use crate::picture::{
    counted, grouped, method_title, percent, problem_title, ratio, rounded, seconds,
};
use crate::problem::matrix::{self, BlockEntries};
use crate::run::{
    Divergence, FieldKind, MemoryNeed, MethodName, Outcome, Plan, Planner, Record, Run, RunSpec,
    RunTimes, Stop, StopRule, Store, curve_table, go_on_without_failed_gpus, reduction,
    save_solution, save_unknowns,
};
use crate::solver::{EdgeShare, Kernel, SolverError, Subiterations, Traffic};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  tilescope solve
      the default experiment: Poisson on 256 x 256 points, k = 16, overlap 0, tile 32, to 1e-4
  tilescope solve --preset paper-1d --overlap 30 --json
      the paper's 1D problem with 1024 points; overlap 2 (k - 1) makes it exactly Jacobi's iteration
  tilescope solve --shape 1024x512 --tile 32x16 --overlap 4x2 --tol none --max-cycles 100 --save-curve c.csv
      exactly 100 cycles, and their norms as a table
  tilescope solve --rhs photo.png --tol 1e-6 --save-field u.npy
      an image as the right-hand side; the solution as a NumPy array
  tilescope solve --matrix ice-sheet --ordering tiles --tile 256 --k 8 --tol 1e-6
      block Jacobi on a sparse matrix: 8 inner sweeps in blocks of 256 rows
  tilescope solve --shape 256x256x256 --method wavefront --memory 64MB --max-cycles 5
      Jacobi's iteration in a window of 64 MB that flows over the grid; its traffic is in the summary
  tilescope solve --shape 4096x4096x4096 --method wavefront --memory 16GB --store arrays --save-field u.npy
      a grid that is larger than memory: its arrays lie in the folder arrays
  tilescope solve --problem heat-plate --boundary left=1,top=0.5 --stop update --tol 1e-5
      a plate with two warm sides, until the largest update of a cycle is at most 1e-5
  tilescope solve --problem heat-plate --hot-box left=0.3,right=0.5,value=100 --wave 16 --warp 32
      later tiles and points read what earlier ones wrote, in a fixed order
  torchrun --no-python --nproc-per-node 4 tilescope solve --shape 16384x16384 --k 32 --overlap 4
      a grid that four processes share, each with a GPU; also by Slurm or Kubernetes (examples/cluster)

Exit codes: 0 success; 1 failure, or the tolerance was not reached; 2 wrong usage; 130 interrupted by
Ctrl-C.";

/// The options of `tilescope solve`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Solve {
    #[command(flatten)]
    run: RunArgs,
    /// Print one JSON object instead of the summary
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Save the interior of u as a NumPy array: [nz, ny, nx] in 3D, [ny, nx] in 2D, [batch, nx] in 1D; for
    /// a matrix [n], in its own order
    #[arg(long, value_name = "U.npy", help_heading = "Output")]
    save_field: Option<PathBuf>,
    /// Save the matrix as a Matrix Market file: that of --matrix, or a grid problem written out as one
    #[arg(long, value_name = "M.mtx", help_heading = "Output")]
    save_matrix: Option<PathBuf>,
    /// Save the norms of every cycle as CSV; of runs of more than 262,144 cycles those of every second, fourth, …
    #[arg(long, value_name = "C.csv", help_heading = "Output")]
    save_curve: Option<PathBuf>,
    /// Folder for the arrays of --method pyramid or wavefront, where memory is too small for them. After Ctrl-C or a failure
    /// the same command goes on after the last complete pass. Arrays of --rhs and --initial stay in their files, too, if they
    /// are in C order. No other program may change any of these files meanwhile
    #[arg(long, value_name = "DIR", help_heading = "Method")]
    store: Option<PathBuf>,
    /// After Ctrl-C, save the results of the last whole cycle and print their summary
    #[arg(long, help_heading = "Output")]
    save_on_interrupt: bool,
}

/// Arrays that saving the unknowns of a matrix takes: as they are solved for, and in the order of the matrix.
const UNKNOWNS_TO_SAVE: usize = 2;

impl Solve {
    /// Solves, saves and prints the summary: alone, or as one of several processes.
    pub(super) fn run(&self, launch: Option<Launch>) -> anyhow::Result<ExitCode> {
        let mut spec = self.run.spec()?;
        self.run.check_tiles(&spec)?;
        spec.store = self.store.clone().or(spec.store);
        if let Some(launch) = launch {
            return self.run_as_rank(&spec, &launch);
        }
        self.check_outputs(&spec)?;
        let interrupt =
            Interrupt::install(format!("interrupted before the first cycle{}", self.unsaved()))?;
        let begin = Instant::now();
        let plan = Arc::new(planner().plan_to_fit(&spec)?);
        let mut setup_seconds = begin.elapsed().as_secs_f64();
        self.print_notes(&plan);
        self.memory_need(&plan).check(plan.precision)?;
        let begin = Instant::now();
        let mut run = set_up(&plan, interrupt, self.save_curve.is_some())?;
        setup_seconds += begin.elapsed().as_secs_f64();
        run.find_all_norms(self.save_curve.is_some());
        match self.save_on_interrupt {
            // Without a gap: what comes between the last cycle and the files is completed, too.
            true => {
                run.stop_on(interrupt.stop());
                interrupt.complete(|| self.solve(&mut run, setup_seconds, interrupt))
            }
            false => self.solve(&mut run, setup_seconds, interrupt),
        }
    }

    /// Solves as one of several processes that share the grid. Rank 0 prints and saves; the others end with it, and say on
    /// stderr only what keeps them from that.
    fn run_as_rank(&self, spec: &RunSpec, launch: &Launch) -> anyhow::Result<ExitCode> {
        if self.save_on_interrupt {
            let (option, count) = ("--save-on-interrupt", launch.rank.count);
            let why = "Ctrl-C ends all processes at once";
            return Err(RankError::Option { option, count, why }.into());
        }
        let is_first = launch.rank.index == 0;
        if is_first {
            self.check_outputs(spec)?;
        }
        let interrupt =
            Interrupt::install(format!("interrupted before the first cycle{}", self.unsaved()))?;
        let begin = Instant::now();
        let mut plan = ranks::plan(spec, launch)?;
        // What is recorded decides what the processes exchange.
        let settings = format!("norms of every cycle: {}\n", self.save_curve.is_some());
        let (inputs, needed) = (files_of(spec), self.memory_need(&plan).bytes());
        let details = ranks::RunDetails { inputs: &inputs, settings: &settings, needed };
        let on_lost = move |sentence: &str| interrupt.fail(sentence);
        let (own, watch) = ranks::join(launch, &mut plan, details, on_lost)?;
        let plan = Arc::new(plan);
        if is_first {
            self.print_notes(&plan);
        }
        let made = Run::of_rank(&plan, own).map_err(anyhow::Error::from).and_then(|mut run| {
            run.find_all_norms(self.save_curve.is_some());
            let setup_seconds = begin.elapsed().as_secs_f64();
            match is_first {
                true => self.solve(&mut run, setup_seconds, interrupt),
                false => self.take_part(&mut run, interrupt),
            }
        });
        match made {
            Ok(code) if !interrupt.is_requested() => Ok(match is_first {
                true => {
                    watch.finish(code == ExitCode::SUCCESS);
                    code
                }
                false if watch.wait_for_end() => ExitCode::SUCCESS,
                false => ExitCode::from(FAILED),
            }),
            Ok(code) => Ok(code),
            Err(error) => {
                watch.wait_for_news();
                Err(error)
            }
        }
    }

    /// Makes the cycles as another process than rank 0. Every end of a run is confirmed by b − A u, for which the iterate is
    /// copied to each process: rank 0 observes and saves it without the others then.
    fn take_part(&self, run: &mut Run, interrupt: Interrupt) -> anyhow::Result<ExitCode> {
        if !self.advance(run, interrupt, Progress::silent())? {
            return Ok(interrupt.report(&self.interrupted(run)));
        }
        run.settle()?;
        Ok(ExitCode::SUCCESS)
    }

    /// Refuses files that cannot be saved.
    fn check_outputs(&self, spec: &RunSpec) -> anyhow::Result<()> {
        let matrix = ("--save-matrix", &self.save_matrix, &["mtx"]);
        let field = ("--save-field", &self.save_field, &["npy"]);
        let curve = ("--save-curve", &self.save_curve, &["csv"]);
        let outputs = [matrix, field, curve].into_iter().filter_map(|(option, path, endings)| {
            Some(Output { option, path: path.as_deref()?, endings })
        });
        outputs::check(&outputs.collect::<Vec<_>>(), &self.run.inputs(spec))?;
        if self.save_on_interrupt && self.save_field.is_none() && self.save_curve.is_none() {
            let why = "--save-on-interrupt needs a file to save: --save-field or --save-curve";
            return Err(UsageError(why.to_owned()).into());
        }
        Ok(())
    }

    /// Says on stderr what is worth knowing of a run before it is made.
    fn print_notes(&self, plan: &Plan) {
        if let Some(note) = self.run.lacks_tolerance(&plan.spec) {
            print_note(&note);
        }
        // A warning goes by it.
        plan.spectral_radius();
        if let Some(warning) = plan.warning() {
            print_note(&as_note(&warning));
        }
        print_gpu_notes(plan);
    }

    /// What a run needs of the memory of this machine.
    fn memory_need(&self, plan: &Plan) -> MemoryNeed {
        let mut need = match &plan.spec.store {
            Some(_) => MemoryNeed::in_store(plan),
            None => MemoryNeed::of(plan, &[FieldKind::Residual]),
        };
        if self.save_matrix.is_some() {
            need.add("the matrix to save", plan.problem.matrix_bytes());
        }
        if self.save_field.is_some() && plan.problem.operator.matrix().is_some() {
            let bytes = plan.problem.shape.array_bytes(UNKNOWNS_TO_SAVE, Precision::F64);
            need.add("the unknowns to save", bytes);
        }
        need
    }

    /// Makes the cycles, prints the summary, and saves what was asked for.
    fn solve(
        &self,
        run: &mut Run,
        setup_seconds: f64,
        interrupt: Interrupt,
    ) -> anyhow::Result<ExitCode> {
        let is_whole = self.advance(run, interrupt, Progress::start())?;
        if !is_whole && !self.save_on_interrupt {
            return Ok(interrupt.report(&self.interrupted(run)));
        }
        run.settle()?;
        if !is_whole {
            print_note(&format!("{}; its results are saved", how_far(run)));
        }
        // The numbers first: they are not lost where saving fails.
        let mut summary = Summary::of(run, setup_seconds)?;
        // But for one object that has the time of saving in it.
        let is_late = self.json && summary.matrix.is_some() && !self.saved().is_empty();
        let print_summary = |summary: &Summary, run: &Run| -> anyhow::Result<()> {
            print(&if self.json { json(summary)? } else { summary.text(run) })
        };
        let printed = if is_late { Ok(()) } else { print_summary(&summary, run) };
        // None is that of interrupted work.
        let code = is_whole.then(|| exit_code(run));
        let hint = if self.save_on_interrupt { "" } else { " (--save-on-interrupt completes all)" };
        // A summary that is printed after the files would be left out, too.
        interrupt.saves(self.saved(), code.filter(|_| !is_late), hint);
        let begin = Instant::now();
        let saved = self.save(run);
        summary.saved_in(begin.elapsed().as_secs_f64());
        let printed = if is_late { print_summary(&summary, run) } else { printed };
        saved?;
        printed?;
        Ok(code.map_or_else(|| interrupt.exit_code(), ExitCode::from))
    }

    /// The files that are saved, in their order.
    fn saved(&self) -> Vec<PathBuf> {
        let files = [&self.save_curve, &self.save_matrix, &self.save_field];
        files.into_iter().flatten().cloned().collect()
    }

    /// What there was when Ctrl-C ended the run, and what there still is.
    fn interrupted(&self, run: &Run) -> String {
        let text = how_far(run);
        if let Some(store) = &run.plan().spec.store {
            return text + &format!("; the same command goes on from {}", store.display());
        }
        text + self.unsaved()
    }

    /// The end of the sentence where Ctrl-C ends the process before there is a file that was asked for.
    fn unsaved(&self) -> &'static str {
        match self.save_field.is_some() || self.save_curve.is_some() {
            true if self.save_on_interrupt => "; nothing was saved",
            true => "; nothing was saved (--save-on-interrupt saves the results so far)",
            false => "",
        }
    }

    /// Makes cycles to the end of the run; `false` if it was interrupted.
    fn advance(
        &self,
        run: &mut Run,
        interrupt: Interrupt,
        mut progress: Progress,
    ) -> anyhow::Result<bool> {
        while run.outcome().is_none() {
            if interrupt.is_requested() {
                return Ok(false);
            }
            // The next cycles may take minutes: then the process ends without them, or the run at the last whole one.
            interrupt.ends_with(self.interrupted(run));
            match progress.advance(run) {
                Err(SolverError::Stopped) => return Ok(false),
                Err(failure) => go_on(run, failure)?,
                Ok(()) => {}
            }
            progress.show_run(run);
        }
        // Its summary may take long, too.
        interrupt.ends_with(self.interrupted(run));
        Ok(true)
    }

    fn save(&self, run: &Run) -> anyhow::Result<()> {
        let plan = run.plan();
        if let Some(path) = &self.save_curve {
            curve_table(run.history().records(), run.sweeps_per_cycle(), run.start_residual())
                .save(path)?;
            let stride = run.history().stride();
            if stride > 1 {
                let [path, stride] = [path.display().to_string(), grouped(stride)];
                print_note(&format!("of so many cycles {path} has the norms of one in {stride}"));
            }
        }
        if let Some(path) = &self.save_matrix {
            save_matrix(path, plan)?;
        }
        if let Some(path) = &self.save_field {
            match plan.problem.operator.matrix() {
                Some(_) => {
                    let solution = run.solver().solution()?;
                    save_unknowns(path, &solution, plan.order.as_deref())?;
                }
                None => save_solution(path, run.solver(), plan.precision)?,
            }
        }
        Ok(())
    }
}

/// Continues a run that failed on those of its GPUs that work, and says so.
fn go_on(run: &mut Run, failure: SolverError) -> anyhow::Result<()> {
    let plan = Arc::clone(run.plan());
    if plan.spec.store.is_some() {
        // The same command goes on from there.
        return Err(failure.into());
    }
    let said = go_on_without_failed_gpus(&plan, failure, |plan| {
        run.move_to(&Arc::new(plan))?;
        Ok(run.cycle())
    })?;
    print_note(&said);
    Ok(())
}

/// How far Ctrl-C let a run come: the cycles that were made whole.
fn how_far(run: &Run) -> String {
    let mut text = format!("interrupted after {}", counted(run.cycle(), "cycle"));
    let known = run.history().records().rev().find_map(|record| record.residual);
    if let Some(norms) = known {
        let reduction = rounded(reduction(norms.l2, run.start_residual()));
        text += &format!(", at ‖r‖₂ / ‖r₀‖₂ = {reduction}");
    }
    text
}

/// Sets up a run: in its store if it has one, where it goes on after the passes that were made.
fn set_up(plan: &Arc<Plan>, interrupt: Interrupt, has_curve: bool) -> anyhow::Result<Run> {
    let Some(path) = &plan.spec.store else { return Ok(Run::new(plan)?) };
    let goes_on = format!(
        "interrupted before the next pass; the same command goes on from {}",
        path.display()
    );
    interrupt.ends_with(goes_on);
    let store = Store::open(path, plan)?;
    if let Some(passes) = store.passes() {
        print_note(&format!("continues from {} after {}", path.display(), passes_made(passes)));
        if has_curve && !store.knows_norms() {
            let why =
                "the store has no norms of the passes that were made; the curve begins after them";
            print_note(why);
        }
    }
    Ok(Run::in_store(plan, store)?)
}

/// A number of passes, as part of a sentence.
fn passes_made(passes: u64) -> String {
    if passes == 1 { "1 pass".to_owned() } else { format!("{} passes", grouped(passes)) }
}

/// A planner that shows how far it has read a matrix.
fn planner() -> Planner {
    let mut progress = Progress::start();
    Planner::default().on_read(move |name, part| {
        progress.show(|| format!("reading {name} · {:.0} %", 100.0 * part));
    })
}

/// The exit code of a run that came to its end; prints the reason if it is not 0.
fn exit_code(run: &Run) -> u8 {
    let why = match run.outcome() {
        Some(Outcome::Diverged(divergence)) => Some(divergence.to_string()),
        _ => not_converged(run),
    };
    let Some(why) = why else { return 0 };
    print_note(&why);
    FAILED
}

/// Why a run did not reach the tolerance that was in force, if it did not.
fn not_converged(run: &Run) -> Option<String> {
    let stop = run.plan().stop;
    let tolerance = stop.tolerance?;
    match run.outcome()? {
        Outcome::OutOfCycles => Some(out_of_cycles(&stop, tolerance, run.cycle())),
        Outcome::RoundingLimit => {
            Some(format!("{}; {}", rounding_limit(run), above_rounding(run.plan())))
        }
        Outcome::Converged | Outcome::Diverged(_) => None,
    }
}

/// The message of a run that made all cycles that were allowed before it met its tolerance.
pub(super) fn out_of_cycles(stop: &Stop, tolerance: f64, cycles: u64) -> String {
    format!(
        "the {} did not reach the tolerance {tolerance:?} within {}; allow more with --max-cycles, or raise --tol",
        stop.rule.name().replace('-', " "),
        counted(cycles, "cycle"),
    )
}

/// The message of a run that stopped at the rounding limit.
pub(super) fn rounding_limit(run: &Run) -> String {
    let Record { residual, max_change, .. } = run.record();
    let residual = residual.map_or(f64::NAN, |norms| norms.l2);
    let what = if max_change == Some(0.0) { "nothing" } else { "only the last digits" };
    format!(
        "the rounding limit is reached: cycles after {} change {what}, at ‖r‖₂ / ‖r₀‖₂ = {}",
        grouped(run.cycle()),
        rounded(reduction(residual, run.start_residual())),
    )
}

/// What helps where rounding keeps a run from its tolerance.
fn above_rounding(plan: &Plan) -> &'static str {
    match plan.precision {
        Precision::F32 => "raise --tol, or use --precision f64",
        Precision::F64 => "raise --tol",
    }
}

/// Saves the matrix of a plan in its own order.
fn save_matrix(path: &Path, plan: &Plan) -> anyhow::Result<()> {
    let of_grid = plan.problem.as_matrix();
    let matrix = of_grid.as_ref().unwrap_or(&plan.problem).operator.matrix();
    let matrix =
        matrix.ok_or_else(|| anyhow::anyhow!("the grid has too many points for a matrix"))?;
    match &plan.order {
        Some(order) => {
            let mut place = vec![0; order.len()];
            for (new, old) in order.iter().enumerate() {
                place[*old as usize] = new as u32;
            }
            matrix::save_matrix(path, &matrix.permuted(&place))?;
        }
        None => matrix::save_matrix(path, matrix)?,
    }
    Ok(())
}

/// The message after Ctrl-C.
pub(super) fn interrupted(cycle: u64) -> String {
    format!("interrupted after {}; nothing was saved", counted(cycle, "cycle"))
}

/// The fields of `--json`. Numbers that are not finite become null.
#[derive(Debug, Serialize)]
struct Summary {
    problem: &'static str,
    shape: Vec<usize>,
    method: &'static str,
    k: Subiterations,
    overlap: Vec<usize>,
    tile: Vec<usize>,
    /// Of a method that streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    streaming: Option<StreamingSummary>,
    /// Of a matrix.
    #[serde(skip_serializing_if = "Option::is_none")]
    matrix: Option<MatrixSummary>,
    /// Of a run that several devices share.
    #[serde(skip_serializing_if = "Option::is_none")]
    devices: Option<DevicesSummary>,
    precision: &'static str,
    backend: &'static str,
    kernel: Option<&'static str>,
    device: Option<String>,
    cycles: u64,
    /// Σ|w|: the largest Σ|a_ij| / |a_ii| of a row, j ≠ i.
    dominance: f64,
    /// ρ(I − D⁻¹A), or ρ(I − ω D⁻¹A) with damping; left out where it takes too long to find.
    #[serde(skip_serializing_if = "Option::is_none")]
    spectral_radius: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sweeps_per_digit: Option<f64>,
    /// None for k = ∞.
    sweeps: Option<u64>,
    converged: bool,
    /// Why it stopped.
    stopped: &'static str,
    residual0: f64,
    residual: Option<f64>,
    reduction: Option<f64>,
    max_change: Option<f64>,
    /// ‖u − u*‖₂ / ‖u₀ − u*‖₂ at the end, where the exact solution is computed in little time.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_left: Option<f64>,
    seconds: f64,
    /// In JSON only its share of the residual.
    #[serde(serialize_with = "residual_share")]
    edge_share: EdgeShare,
}

/// The fields of `--json` about a method that streams; its traffic is that of one cycle.
#[derive(Debug, Serialize)]
struct StreamingSummary {
    height: usize,
    memory_bytes: u64,
    working_bytes: u64,
    planes: usize,
    values_up: u64,
    values_down: u64,
    updates: u64,
    duplicate_updates: u64,
    #[serde(skip)]
    traffic: Traffic,
}

impl StreamingSummary {
    /// `None` before the first cycle, whose traffic is counted while it is made.
    fn of(run: &Run) -> Option<Self> {
        let plan = run.plan();
        let streaming = plan.method.streaming()?;
        let traffic = run.solver().traffic()?;
        let Traffic { up, down, updates, .. } = traffic;
        Some(Self {
            height: streaming.height(),
            memory_bytes: plan.spec.method.memory().bytes(),
            working_bytes: streaming.working_bytes(&plan.problem.shape, plan.precision),
            planes: streaming.planes(),
            values_up: up,
            values_down: down,
            updates,
            duplicate_updates: traffic.duplicates(),
            traffic,
        })
    }

    /// The lines of the summary: names and values.
    fn rows(&self) -> [(&'static str, String); 3] {
        let Self { height, working_bytes, values_up, values_down, updates, .. } = self;
        [
            ("height", format!("{height}, in {} of working arrays", human(*working_bytes))),
            (
                "moved per cycle",
                format!(
                    "{} values to fast memory, {} back: {:.3} per update",
                    grouped(*values_up),
                    grouped(*values_down),
                    self.traffic.values_per_update()
                ),
            ),
            (
                "updates per cycle",
                format!(
                    "{}, {} of them duplicate: {:.3}× redundant work",
                    grouped(*updates),
                    grouped(self.duplicate_updates),
                    self.traffic.redundancy()
                ),
            ),
        ]
    }
}

/// The fields of `--json` about a matrix.
#[derive(Debug, Serialize)]
struct MatrixSummary {
    name: String,
    ordering: &'static str,
    rows: usize,
    entries: usize,
    static_entries: usize,
    dynamic_entries: usize,
    bandwidth: usize,
    symmetric: bool,
    rows_not_dominant: usize,
    /// As of any problem, here by a power iteration of a bounded number of steps, and how far it may be off.
    spectral_radius: Option<f64>,
    spectral_radius_error: Option<f64>,
    sweeps_per_digit: Option<f64>,
    /// To make the run: of it to read the matrix, to order it, to put its entries into lists, and to upload them.
    setup_seconds: f64,
    read_seconds: f64,
    order_seconds: f64,
    reorganise_seconds: f64,
    upload_seconds: f64,
    /// Of the cycles, by the solver's own clock.
    processing_seconds: f64,
    /// To download x, and to write what is saved; the latter is not known before that.
    shutdown_seconds: f64,
    download_seconds: f64,
    write_seconds: Option<f64>,
}

impl MatrixSummary {
    fn of(run: &Run, setup_seconds: f64) -> anyhow::Result<Option<Self>> {
        let plan = run.plan();
        let of_matrix = plan.spec.problem.matrix.as_ref().zip(plan.problem.operator.matrix());
        let Some(((spec, matrix), analysis)) = of_matrix.zip(plan.analysis.as_ref()) else {
            return Ok(None);
        };
        let begin = Instant::now();
        run.solver().solution()?;
        let download_seconds = begin.elapsed().as_secs_f64();
        let times = RunTimes::of(run);
        let radius = plan.spectral_radius();
        let split = BlockEntries::of(matrix, plan.tiling.x());
        Ok(Some(Self {
            name: spec.name(),
            ordering: spec.ordering.name(),
            rows: matrix.rows(),
            entries: matrix.entries(),
            static_entries: split.outside,
            dynamic_entries: split.inside,
            bandwidth: analysis.bandwidth,
            symmetric: analysis.is_symmetric,
            rows_not_dominant: analysis.dominance.rows_above,
            spectral_radius: radius.map(|radius| radius.value),
            spectral_radius_error: radius.map(|radius| radius.error),
            sweeps_per_digit: radius.and_then(|radius| radius.sweeps_per_digit()),
            setup_seconds,
            read_seconds: times.read,
            order_seconds: times.order,
            reorganise_seconds: times.reorganise,
            upload_seconds: times.upload,
            processing_seconds: times.processing,
            shutdown_seconds: download_seconds,
            download_seconds,
            write_seconds: None,
        }))
    }
}

impl MatrixSummary {
    /// The lines of the summary: names and values.
    fn rows(&self) -> [(&'static str, String); 4] {
        let [entries, fixed, dynamic, bandwidth] =
            [self.entries, self.static_entries, self.dynamic_entries, self.bandwidth]
                .map(|count| grouped(count as u64));
        let symmetric = if self.symmetric { "symmetric" } else { "not symmetric" };
        let dominant = match self.rows_not_dominant {
            0 => "diagonally dominant".to_owned(),
            rows => format!("{} not diagonally dominant", counted(rows as u64, "row")),
        };
        let stages = [
            ("read", self.read_seconds),
            ("order", self.order_seconds),
            ("reorganise", self.reorganise_seconds),
            ("upload", self.upload_seconds),
        ];
        let stages = stages.map(|(stage, time)| format!("{stage} {}", seconds(time))).join(", ");
        [
            ("entries", format!("{entries}: {fixed} static, {dynamic} dynamic, and the diagonal")),
            ("matrix", format!("{symmetric}, {dominant}, bandwidth {bandwidth}")),
            ("set-up", format!("{}: {stages}", seconds(self.setup_seconds))),
            ("download", seconds(self.download_seconds)),
        ]
    }
}

/// The line of the summary about convergence: its name, and the spectral radius, the dominance, and the asymptotic
/// number of sweeps per digit where the iteration converges.
fn convergence(plan: &Plan) -> (&'static str, String) {
    let is_damped = plan.spec.method.omega != 1.0;
    let name = if is_damped { "ρ(I − ω D⁻¹A)" } else { "ρ(I − D⁻¹A)" };
    let dominance = ratio(plan.problem.operator.dominance());
    let Some(radius) = plan.spectral_radius() else {
        return (name, format!("not known for so large a grid, Σ|w| = {dominance}"));
    };
    let value = match radius.error > 0.0 {
        true => format!("{radius} ± {}", rounded(radius.error)),
        false => radius.to_string(),
    };
    let sweeps = radius.sweeps_per_digit().map_or_else(
        || format!("{} does not converge", plan.iteration()),
        |sweeps| format!("{} sweeps of {} per digit", rounded(sweeps), plan.iteration()),
    );
    (name, format!("{value}, Σ|w| = {dominance}, {sweeps}"))
}

fn residual_share<S: serde::Serializer>(share: &EdgeShare, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_f64(share.residual)
}

impl Summary {
    fn of(run: &Run, setup_seconds: f64) -> anyhow::Result<Self> {
        let plan = run.plan();
        let Plan { spec, problem, tiling, .. } = &**plan;
        let latest = run.history().latest();
        let residual = latest.residual.map(|norms| norms.l2);
        let axes = 0..problem.shape.dim();
        let radius = plan.spectral_radius();
        let kernel = run.solver().device().map(|device| device.kernel);
        Ok(Self {
            problem: spec.problem.kind.name(),
            shape: problem.shape.axes().to_vec(),
            method: spec.method.name.name(),
            k: run.k(),
            overlap: axes.clone().map(|axis| spec.method.overlap_of(axis)).collect(),
            tile: axes.map(|axis| spec.method.tile_of(axis)).collect(),
            streaming: StreamingSummary::of(run),
            matrix: MatrixSummary::of(run, setup_seconds)?,
            devices: DevicesSummary::of(run),
            precision: spec.method.precision.name(),
            backend: plan.backend().name(),
            kernel: kernel.or(plan.kernel_on_cpu()).map(Kernel::name),
            device: run.solver().device().map(|device| device.name.clone()),
            dominance: problem.operator.dominance(),
            spectral_radius: radius.map(|radius| radius.value),
            sweeps_per_digit: radius.and_then(|radius| radius.sweeps_per_digit()),
            cycles: run.cycle(),
            sweeps: run.k().finite().map(|_| run.sweeps()),
            converged: run.outcome() == Some(&Outcome::Converged),
            stopped: match run.outcome() {
                Some(Outcome::Converged) => "converged",
                Some(Outcome::RoundingLimit) => "rounding-limit",
                Some(Outcome::OutOfCycles) => "cycle-limit",
                Some(Outcome::Diverged(_)) => "diverged",
                None => "interrupted",
            },
            residual0: run.start_residual(),
            residual,
            reduction: residual.map(|residual| reduction(residual, run.start_residual())),
            max_change: latest.max_change,
            error_left: run.error_left(),
            seconds: run.seconds(),
            edge_share: run.residual_solver().edge_share(tiling)?,
        })
    }

    /// Adds the time of saving.
    fn saved_in(&mut self, seconds: f64) {
        if let Some(matrix) = &mut self.matrix {
            matrix.write_seconds = Some(seconds);
            matrix.shutdown_seconds = matrix.download_seconds + seconds;
        }
    }

    /// The device, and the kernel if that was chosen automatically.
    fn device(&self, chosen: Kernel) -> String {
        match (self.kernel, &self.device) {
            (Some(kernel), Some(device)) if chosen == Kernel::AUTO => {
                format!("{kernel} kernel · {device}")
            }
            (_, Some(device)) => device.clone(),
            (_, None) => self.backend.to_owned(),
        }
    }

    fn text(&self, run: &Run) -> String {
        let plan = run.plan();
        let known = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), rounded);
        let outcome = match run.outcome() {
            Some(Outcome::Converged) => "converged after",
            Some(Outcome::Diverged(Divergence::Overflow)) => "ended after",
            Some(Outcome::Diverged(_)) => "diverged after",
            Some(Outcome::RoundingLimit) => "rounding limit reached after",
            None => "interrupted after",
            Some(Outcome::OutOfCycles) => "stopped after",
        };
        let mut text = format!(
            "{}\n{} · {}\n{outcome} {}, {}, {}\n",
            named(&problem_title(&plan.spec, &plan.problem.shape)),
            method_title(&plan.spec),
            self.device(plan.spec.method.kernel),
            counted(self.cycles, "cycle"),
            self.sweeps
                .map_or_else(|| "exact local solves".to_owned(), |sweeps| counted(sweeps, "sweep")),
            seconds(self.seconds),
        );
        let criterion = |rule: StopRule| match plan.stop.tolerance {
            Some(tolerance) if plan.stop.rule == rule => {
                format!("   (tolerance {})", rounded(tolerance))
            }
            _ => String::new(),
        };
        let mut row = |name: &str, value: String| text.push_str(&format!("  {name:<18}{value}\n"));
        row("‖r₀‖₂", rounded(self.residual0));
        row("‖r‖₂", known(self.residual));
        row("‖r‖₂ / ‖r₀‖₂", known(self.reduction) + &criterion(StopRule::Residual));
        row("‖Δu‖∞", known(self.max_change) + &criterion(StopRule::Change));
        if plan.stop.rule == StopRule::ChangePerSweep {
            let change = self.max_change.map(|change| change / plan.sweeps_per_cycle() as f64);
            row("‖Δu‖∞ per sweep", known(change) + &criterion(StopRule::ChangePerSweep));
        }
        if let Some(left) = self.error_left {
            row("error left", format!("{} of the initial guess's ‖u − u*‖₂", percent(left)));
        }
        let (name, value) = convergence(plan);
        row(name, value);
        for (name, value) in self.streaming.iter().flat_map(StreamingSummary::rows) {
            row(name, value);
        }
        if let Some(devices) = &self.devices {
            row("exchange", devices.text());
        }
        if let Some(matrix) = &self.matrix {
            for (name, value) in matrix.rows() {
                row(name, value);
            }
        }
        let share = self.edge_share;
        if plan.spec.method.name == MethodName::Hierarchical && share.residual.is_finite() {
            let [residual, points] = [share.residual, share.points].map(|part| 100.0 * part);
            row("edge share", format!("{residual:.1} % of ‖r‖₂² on {points:.1} % of the points"));
        }
        text
    }
}
