//! `tilescope tune`: the best setting for a problem, by measuring the most promising ones.

use super::args::CommonArgs;
use super::console::{FAILED, INTERRUPTED, print, tell};
use super::interrupt::Interrupt;
use super::progress::Progress;
use super::sweep::{described, usage};
use super::values::{self, List};
use crate::picture::{counted, rounded};
use crate::run::{Backend, Measure, Prediction, Row, Sweep, SweepSpec};
use crate::solver::Kernel;
use clap::Args;
use serde::Serialize;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  tilescope tune --shape 512x512
      the setting that gets to 1e-4 soonest, and the command line that runs it
  tilescope tune --shape 1024 --copies 64 --tile 32,64 --tol 1e-6 --json
      of two tiles, for a program
  tilescope tune --backend cuda --kernel shared,register --shape 1024x1024
      on a card, both kernels

A cost model, whose constants a short probe measures, and cycles counted on a smaller grid say which
settings are promising; 15 % of them are measured, the most promising first.";

/// The part of the settings that is measured.
const MEASURED: f64 = 0.15;

/// No fewer are measured, however few there are.
const FEWEST: usize = 3;

/// A setting that should take so many times as long as the best that was measured should have is left
/// alone.
const HOPELESS: f64 = 2.0;

/// The options of `tilescope tune`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Tune {
    /// Subiterations of a cycle
    #[arg(
        long,
        value_name = "LIST",
        help_heading = "Settings",
        default_value = "2,4,8,16,32,64",
        value_parser = values::list
    )]
    k: List,
    /// Points that neighbouring tiles share, even
    #[arg(
        long,
        value_name = "LIST",
        help_heading = "Settings",
        default_value = "0,2,4,6,8,12,16,24",
        value_parser = values::list
    )]
    overlap: List,
    /// Points of a tile along every axis
    #[arg(
        long,
        value_name = "LIST",
        help_heading = "Settings",
        default_value = "16,32,64",
        value_parser = values::list
    )]
    tile: List,
    /// Kernels of a card [default: auto]
    #[arg(long, value_name = "NAMES", help_heading = "Settings", value_delimiter = ',')]
    kernel: Option<Vec<Kernel>>,
    #[command(flatten)]
    common: CommonArgs,
    /// Print one JSON object in place of the summary
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Found<'a> {
    /// Settings that can run.
    settings: usize,
    best: Option<&'a Row>,
    /// What was measured, the most promising first.
    measured: &'a [Tried],
}

/// A setting that was measured, beside what was predicted of it.
#[derive(Debug, Serialize)]
struct Tried {
    predicted_seconds: f64,
    predicted_cycles: f64,
    #[serde(flatten)]
    row: Row,
}

impl Tune {
    /// Predicts, measures, says what is best.
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let List(k) = self.k.clone();
        let List(overlap) = self.overlap.clone();
        let List(tile) = self.tile.clone();
        let kernel = self.kernel.clone().unwrap_or_else(|| vec![Kernel::Auto]);
        let measure = vec![Measure::Time, Measure::Cycles];
        let spec = SweepSpec { run: self.common.spec()?, k, overlap, tile, kernel, measure };
        let mut sweep = Sweep::new(spec).map_err(usage)?;
        let interrupt = Interrupt::listen()?;
        let Some((settings, tried)) = search(&mut sweep, interrupt)? else {
            tell("interrupted before the most promising settings were measured");
            return Ok(ExitCode::from(INTERRUPTED));
        };
        let best = Row::best(tried.iter().map(|tried| &tried.row));
        print(&if self.json {
            let found = Found { settings, best, measured: &tried };
            serde_json::to_string_pretty(&found)? + "\n"
        } else {
            summary(&sweep, settings, &tried, best)
        })?;
        Ok(if best.is_some() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
    }
}

/// Measures what is promising; gives how many settings there are, and what was measured. `None` if
/// somebody stopped it before.
fn search(sweep: &mut Sweep, interrupt: Interrupt) -> anyhow::Result<Option<(usize, Vec<Tried>)>> {
    let mut progress = Progress::start();
    progress.show(|| "a short probe of this machine".to_owned());
    if !sweep.probe(interrupt.flag())? {
        return Ok(None);
    }
    // A card counts one by one.
    let jobs = match sweep.spec().run.method.backend {
        Backend::Cuda => 1,
        Backend::Cpu => std::thread::available_parallelism().map_or(1, usize::from),
    };
    progress.show(|| "counting cycles on a smaller grid".to_owned());
    let Some(predictions) = sweep.promising(jobs, interrupt.flag())? else { return Ok(None) };
    let settings = predictions.len();
    let most = ((settings as f64 * MEASURED) as usize).max(FEWEST);
    let mut tried: Vec<Tried> = Vec::new();
    for Prediction { place, cycles, seconds } in predictions.into_iter().take(most) {
        // Prediction against prediction: the machine may have become faster or slower since.
        let best = Row::best(tried.iter().map(|tried| &tried.row));
        let best = tried.iter().find(|tried| Some(&tried.row) == best);
        if best.is_some_and(|best| seconds > HOPELESS * best.predicted_seconds) {
            break;
        }
        progress.show(|| format!("{} of {most} measured", tried.len()));
        let cell = sweep.cells()[place].clone();
        let rows = sweep.measure(std::slice::from_ref(&cell), 1, interrupt.flag())?;
        let Some(row) = rows.into_iter().next() else { return Ok(None) };
        tried.push(Tried { predicted_seconds: seconds, predicted_cycles: cycles, row });
    }
    Ok(Some((settings, tried)))
}

/// What is said in the end.
fn summary(sweep: &Sweep, settings: usize, tried: &[Tried], best: Option<&Row>) -> String {
    let run = &sweep.spec().run;
    let shape: Vec<_> = run.problem.shape.iter().map(ToString::to_string).collect();
    let mut text = format!(
        "{}, {} · {} of {} measured, the most promising first\n",
        run.problem.kind.label(),
        shape.join(" × "),
        tried.len(),
        counted(settings as u64, "setting"),
    );
    for Tried { predicted_seconds, row, .. } in tried {
        let name = format!("k = {}, overlap {}, tile {}", row.k, row.overlap, row.tile);
        let seconds = row.seconds.map_or_else(|| "–".to_owned(), |s| rounded(s) + " s");
        let off = row.seconds.map(|seconds| 100.0 * (predicted_seconds / seconds - 1.0));
        let off = off.map_or_else(String::new, |off| format!(", off by {off:+.0} %"));
        let predicted = rounded(*predicted_seconds);
        text.push_str(&format!("  {name:<32}{seconds:<12} predicted {predicted} s{off}\n"));
    }
    match best {
        Some(best) => {
            text.push_str(&format!("best  {}\n", described(best)));
            let equal = tried.iter().map(|tried| &tried.row);
            let equal = equal.filter(|row| *row != best && row.equals_within_noise(best)).count();
            if equal > 0 {
                let others = counted(equal as u64, "other");
                text.push_str(&format!("      {others} within the noise of it\n"));
            }
            text.push_str(&format!("      {}\n", best.command));
        }
        None => text.push_str("no setting met the tolerance; allow more with --max-cycles\n"),
    }
    text.push_str(&format!("      on {}\n", sweep.machine()));
    text
}
