//! `tilescope tune`: finds the fastest setting for a problem by measuring those predicted fastest.

use super::args::CommonArgs;
use super::console::{FAILED, json, print, print_note};
use super::gpu_notes::print_gpu_notes_of;
use super::interrupt::Interrupt;
use super::lists::CycleListArgs;
use super::progress::Progress;
use super::sweep::{best, described, machine_of_best, none_reached, problem_name, usage};
use crate::grid::ByteCount;
use crate::picture::{counted, rounded};
use crate::run::{
    CostPrediction, CyclePrediction, Measure, PassLists, PerAxis, Sweep, SweepRow, SweepSpec,
    TileLists, by_predicted_cost,
};
use crate::solver::Subiterations;
use clap::Args;
use serde::Serialize;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  tilescope tune --shape 512x512
      the fastest setting to 1e-4, and its command line
  tilescope tune --shape 1024 --batch 64 --tile 32,64 --tol 1e-6 --json
      only two tile sizes; output for a program
  tilescope tune --backend cuda --kernel shared,register --shape 1024x1024
      two kernels of a GPU
  tilescope tune --shape 256x256x256 --method wavefront --memory 32MB
      the fastest height and budget of a method that streams, with at most so much fast memory

Defaults: k 2,4,8,16,32,64, overlap 0,2,4,6,8,12,16,24, tile 16,32,64; of a matrix overlap 0,2,4, tile
64,256,1024; of passes height 1,2,4,8,16,32,64, and for a single budget its eighth, quarter and half
as well. A cost model, calibrated by a short probe, predicts the time per cycle; the modes of
Jacobi's iteration predict the cycles. The 15 % of the settings with the lowest predicted cost are
measured. Where nothing can be predicted, as of a matrix, the search begins in the middle of the lists
and goes on to the fastest neighbour until none is faster.

Exit codes: 0 success; 1 failure, or no setting reached the tolerance; 2 wrong usage; 130 interrupted
by Ctrl-C.";

/// Fraction of the settings that is measured.
const MEASURED: f64 = 0.15;

/// Least number of settings that is measured.
const FEWEST: usize = 3;

/// The search ends at a setting whose predicted cost is this many times that of the best measured one.
const TOO_SLOW: f64 = 2.0;

/// Default lists.
const K: [usize; 6] = [2, 4, 8, 16, 32, 64];
const OVERLAPS: [usize; 8] = [0, 2, 4, 6, 8, 12, 16, 24];
const TILES: [usize; 3] = [16, 32, 64];

/// Those of passes, and the parts of a single budget.
const HEIGHTS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
const PARTS: [u64; 4] = [8, 4, 2, 1];

/// Those of a matrix: levels, and rows of a block, square numbers so that every order takes them.
const LEVELS: [usize; 3] = [0, 2, 4];
const BLOCKS: [usize; 3] = [64, 256, 1024];

/// The options of `tilescope tune`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Tune {
    #[command(flatten)]
    lists: CycleListArgs,
    #[command(flatten)]
    common: CommonArgs,
    /// Print one JSON object instead of the summary
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// The fields of `--json`.
#[derive(Debug, Serialize)]
struct Found<'a> {
    /// Settings that can run.
    settings: usize,
    best: Option<&'a SweepRow>,
    /// The measured settings with their predictions, lowest predicted cost first.
    measured: &'a [SweepRow],
}

impl Tune {
    /// Predicts, measures and prints the best setting.
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        self.common.check_has_tolerance()?;
        let run = self.lists.run(&self.common)?;
        let (overlaps, tiles) = match run.problem.matrix {
            Some(_) => (&LEVELS[..], &BLOCKS[..]),
            None => (&OVERLAPS[..], &TILES[..]),
        };
        let all = |sides: &[usize]| sides.iter().copied().map(PerAxis::all).collect::<Vec<_>>();
        let tiles = TileLists {
            k: K.map(Subiterations::Finite).to_vec(),
            overlap: all(overlaps),
            tile: all(tiles),
        };
        let passes = |height: Option<Vec<usize>>, memory: Vec<ByteCount>| PassLists {
            height: height.unwrap_or_else(|| HEIGHTS.to_vec()),
            memory: match memory[..] {
                [most] => PARTS.map(|part| ByteCount::new(most.bytes() / part)).to_vec(),
                _ => memory,
            },
        };
        let spec = SweepSpec {
            cycle: self.lists.cycle(&run, tiles, passes),
            kernel: self.lists.kernel(&[run.method.kernel]),
            threads: self.common.threads(&run),
            run,
            measure: vec![Measure::Time, Measure::Cycles],
        };
        let interrupt = Interrupt::install("interrupted before the search was complete")?;
        let mut sweep = Sweep::new(spec).map_err(usage)?.on_gpu_loss(print_note);
        print_gpu_notes_of(&mut sweep)?;
        let mut tried = Vec::new();
        let Some(settings) = search(&mut sweep, interrupt, &mut tried)? else {
            let so_far = SweepRow::best(&tried).map_or_else(String::new, |best| {
                let made = counted(tried.len() as u64, "setting");
                format!("; the best of {made} so far: {}", described(best))
            });
            print_note(&format!("interrupted before the search was complete{so_far}"));
            return Ok(interrupt.exit_code());
        };
        let fastest = SweepRow::best(&tried);
        print(&if self.json {
            let found = Found { settings, best: fastest, measured: &tried };
            json(&found)?
        } else {
            summary(&sweep, settings, &tried)
        })?;
        Ok(match fastest {
            Some(_) => ExitCode::SUCCESS,
            None => {
                print_note(&none_reached(&tried, &sweep.spec().run));
                ExitCode::from(FAILED)
            }
        })
    }
}

/// Measures the settings with the lowest predicted cost; their rows go to `tried`. Returns the number of settings that can
/// run; `None` if it was interrupted.
fn search(
    sweep: &mut Sweep,
    interrupt: Interrupt,
    tried: &mut Vec<SweepRow>,
) -> anyhow::Result<Option<usize>> {
    let mut progress = Progress::start();
    progress.show(|| "measuring the constants of the cost model".to_owned());
    if !sweep.probe(interrupt.should_stop())? {
        return Ok(None);
    }
    progress.show(|| "predicting cycles".to_owned());
    let Some(mut predictions) = sweep.predict(interrupt.should_stop())? else { return Ok(None) };
    let settings = predictions.len();
    if predictions.iter().all(|prediction| prediction.cost.is_none()) {
        let cells = predictions.iter().map(|prediction| prediction.index).collect();
        let is_whole = climb(sweep, cells, &mut progress, interrupt, tried)?;
        return Ok(is_whole.then_some(settings));
    }
    predictions.sort_by(by_predicted_cost);
    let most = ((settings as f64 * MEASURED) as usize).max(FEWEST);
    let mut least = f64::INFINITY;
    for CostPrediction { index, cost, .. } in predictions.into_iter().take(most) {
        // Predictions are compared with predictions: the speed of the machine may change meanwhile.
        let cost = cost.unwrap_or(f64::INFINITY);
        if cost > TOO_SLOW * least {
            break;
        }
        progress.show(|| format!("{} of {most} measured", tried.len()));
        let cell = sweep.cells()[index].clone();
        let rows = sweep.measure(std::slice::from_ref(&cell), 1, interrupt.should_stop())?;
        let Some(row) = rows.into_iter().next() else { return Ok(None) };
        if SweepRow::best(&*tried).is_none_or(|best| row.cost() < best.cost()) {
            least = cost;
        }
        tried.push(row);
    }
    Ok(Some(settings))
}

/// Measures settings without predictions: from the middle of the lists on, the neighbours of the fastest, which differ
/// from it by one place in one list, until it is faster than all of them; their rows go to `tried`. Returns whether it was not
/// interrupted.
fn climb(
    sweep: &mut Sweep,
    mut left: Vec<usize>,
    progress: &mut Progress,
    interrupt: Interrupt,
    tried: &mut Vec<SweepRow>,
) -> anyhow::Result<bool> {
    let lists = sweep.spec().clone();
    let all = left.len();
    // Places may lie between two values of a list: twice their number is whole.
    let mut around: Vec<_> = lists.places(0).iter().map(|[_, length]| length - 1).collect();
    let mut reach = usize::MAX;
    let mut least = f64::INFINITY;
    loop {
        let distance = |index: &usize| {
            let places = lists.places(*index);
            let apart =
                places.iter().zip(&around).map(|([place, _], at)| (2 * place).abs_diff(*at));
            apart.sum::<usize>()
        };
        let nearest = left.iter().copied().min_by_key(distance);
        let Some(index) = nearest.filter(|index| distance(index) <= reach) else { break };
        left.retain(|other| *other != index);
        progress.show(|| format!("{} of at most {all} measured", tried.len()));
        let cell = sweep.cells()[index].clone();
        let rows = sweep.measure(std::slice::from_ref(&cell), 1, interrupt.should_stop())?;
        let Some(row) = rows.into_iter().next() else { return Ok(false) };
        let cost = row.cost().unwrap_or(f64::INFINITY);
        if cost < least || reach == usize::MAX {
            (least, reach) = (cost, 2);
            around = lists.places(index).iter().map(|[place, _]| 2 * place).collect();
        }
        tried.push(row);
    }
    Ok(true)
}

/// The summary on stdout.
fn summary(sweep: &Sweep, settings: usize, tried: &[SweepRow]) -> String {
    let run = &sweep.spec().run;
    let how = match tried.iter().any(|row| row.predicted_seconds.is_some()) {
        true => "lowest predicted cost first",
        false => "without predictions: from the middle to the fastest neighbour",
    };
    let mut text = format!(
        "{} · {} of {} measured, {how}\n",
        problem_name(run),
        tried.len(),
        counted(settings as u64, "setting"),
    );
    for row in tried {
        let name = row.setting();
        let seconds = row.seconds.map_or_else(|| "–".to_owned(), |s| rounded(s) + " s");
        text.push_str(&format!("  {name:<32}{seconds:<12}"));
        if let (Some(predicted), Some(cycles)) = (row.predicted_seconds, row.predicted_cycles) {
            text.push_str(&format!("predicted {} s", rounded(predicted)));
            if let Some(error) = row.seconds_prediction_error {
                text.push_str(&format!(", error {:+.0} %", 100.0 * error));
            }
            let error = row.predicted_cycles_bar.unwrap_or(0.0);
            text.push_str(&format!(" (cycles: {}", CyclePrediction { cycles, error }));
            if let Some(error) = row.cycles_prediction_error {
                text.push_str(&format!(", error {:+.2} %", 100.0 * error));
            }
            text.push(')');
        }
        text.push('\n');
    }
    text.push_str(&best(tried));
    text.push_str(&format!("      on {}\n", machine_of_best(sweep, tried)));
    text
}
