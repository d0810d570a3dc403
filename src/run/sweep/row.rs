//! A row of a sweep's table: one setting with what was measured and predicted of it.

use super::cycle::{CycleSetting, PassSetting, TileSetting};
use super::measure::{CountOutcome, CycleCount, CycleTime};
use super::per_axis::PerAxis;
use super::predict::CyclePrediction;
use super::spec::{Measure, Setting};
use crate::grid::ByteCount;
use crate::run::command::command_line;
use crate::run::spec::{Backend, RunSpec};
use crate::solver::{Kernel, Layout, Subiterations};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::fmt;

/// A number of cycles, or a lower bound of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycles {
    /// Cycles made.
    pub count: u64,
    /// Whether the limit of cycles was reached before the tolerance was met.
    pub capped: bool,
}

/// The outcome of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowOutcome {
    /// All requested quantities were measured.
    Measured,
    /// The tolerance was not met within the limit of cycles.
    Capped,
    /// Rounding kept the iteration from meeting the tolerance.
    RoundingLimit,
    /// The iteration diverges.
    Diverged,
    /// The setting cannot run.
    CannotRun,
}

/// A row of a sweep's table. The fields are the columns ([`SweepRow::NAMES`]); what was not measured is an
/// empty field of the CSV file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepRow {
    /// Interior points of each axis, as on the command line: `1024x512`.
    pub shape: String,
    /// Subiterations of a cycle. A table has this and the next two columns where cycles are those of tiles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<Subiterations>,
    /// Points that neighbouring tiles share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap: Option<PerAxis>,
    /// Points of a tile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tile: Option<PerAxis>,
    /// Sweeps of a pass. A table has this and the next column where cycles are passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<usize>,
    /// The budget of fast memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<ByteCount>,
    /// The kernel that runs, on the CPU `tiled`, the method that streams or the layout of a matrix; the chosen one where none
    /// can run.
    pub kernel: String,
    /// Threads on the CPU; 0 for one per core. Older tables have it in the command line alone.
    #[serde(default)]
    pub threads: usize,
    /// Cycles to the tolerance; `>1000` where the limit of cycles was reached.
    pub cycles: Option<Cycles>,
    /// Sweeps to the tolerance.
    pub sweeps: Option<u64>,
    /// Seconds to the tolerance: cycles times seconds per cycle.
    pub seconds: Option<f64>,
    /// Seconds per cycle by the solver's clock, the median of repeats.
    pub seconds_per_cycle: Option<f64>,
    /// Its error in seconds, see [`CycleTime::error`].
    pub seconds_per_cycle_error: Option<f64>,
    /// Number of repeats.
    pub repeats: Option<usize>,
    /// Predicted seconds per cycle, by the cost model.
    pub predicted_seconds_per_cycle: Option<f64>,
    /// Relative error of that prediction; negative where less was predicted than measured.
    pub prediction_error: Option<f64>,
    /// Predicted cycles to the tolerance.
    pub predicted_cycles: Option<f64>,
    /// Error bar of the predicted cycles, relative to their number.
    pub predicted_cycles_bar: Option<f64>,
    /// Relative error of the predicted cycles.
    pub cycles_prediction_error: Option<f64>,
    /// Predicted seconds to the tolerance.
    pub predicted_seconds: Option<f64>,
    /// Relative error of the predicted seconds to the tolerance.
    pub seconds_prediction_error: Option<f64>,
    /// The share of ‖r‖₂² near tile borders when the tolerance was met.
    pub edge_share: Option<f64>,
    /// ‖u − u*‖₂ / ‖u₀ − u*‖₂ at the end, see [`CycleCount::error_left`]. Older tables lack it.
    pub error_left: Option<f64>,
    /// The outcome.
    pub outcome: RowOutcome,
    /// Why it cannot run.
    pub reason: Option<String>,
    /// The requested quantities: `time`, `cycles`, or `time+cycles`.
    pub measured: String,
    /// The machine.
    pub machine: String,
    /// The command line that repeats the run.
    pub command: String,
    /// The version of the program. It is the last column because it is never quoted: a row that was cut
    /// off therefore always lacks a field or the end of its line.
    pub version: String,
}

/// The name of the kernel on the CPU, where there is no choice.
const TILED: &str = "tiled";

/// The columns of tiles, in whose place a table of passes has its own.
const OF_TILES: [&str; 3] = ["k", "overlap", "tile"];

impl SweepRow {
    /// The names of the columns: the first line of a table of tiles.
    pub const NAMES: [&'static str; 27] = [
        "shape",
        "k",
        "overlap",
        "tile",
        "kernel",
        "threads",
        "cycles",
        "sweeps",
        "seconds",
        "seconds_per_cycle",
        "seconds_per_cycle_error",
        "repeats",
        "predicted_seconds_per_cycle",
        "prediction_error",
        "predicted_cycles",
        "predicted_cycles_bar",
        "cycles_prediction_error",
        "predicted_seconds",
        "seconds_prediction_error",
        "edge_share",
        "error_left",
        "outcome",
        "reason",
        "measured",
        "machine",
        "command",
        "version",
    ];

    /// The same of a table of passes.
    pub fn names_of_passes() -> impl Iterator<Item = &'static str> {
        let others = Self::NAMES.into_iter().filter(|name| !OF_TILES.contains(name));
        others.clone().take(1).chain(["height", "memory"]).chain(others.skip(1))
    }

    /// The row of a setting, whose run this is, before anything of it is measured on that back end and machine.
    pub(super) fn new(
        run: &RunSpec,
        measure: &[Measure],
        setting: &Setting,
        backend: Backend,
        machine: &str,
    ) -> Self {
        let shape: Vec<_> = run.problem.shape.iter().map(ToString::to_string).collect();
        let measured: Vec<_> = measure.iter().map(|what| what.name()).collect();
        let (tiles, pass) = (setting.cycle.tiles(), setting.cycle.pass());
        Self {
            shape: shape.join("x"),
            k: tiles.map(|tiles| tiles.k),
            overlap: tiles.map(|tiles| tiles.overlap),
            tile: tiles.map(|tiles| tiles.tile),
            height: pass.map(|pass| pass.height),
            memory: pass.map(|pass| pass.memory),
            kernel: match backend {
                Backend::Cuda => setting.kernel.name().to_owned(),
                _ if run.problem.matrix.is_some() => {
                    Layout::named(setting.kernel).name().to_owned()
                }
                _ if pass.is_some() => run.method.name.name().to_owned(),
                _ if run.method.prefers_spectral() => Kernel::SPECTRAL.name().to_owned(),
                _ => TILED.to_owned(),
            },
            threads: setting.threads,
            cycles: None,
            sweeps: None,
            seconds: None,
            seconds_per_cycle: None,
            seconds_per_cycle_error: None,
            repeats: None,
            predicted_seconds_per_cycle: None,
            prediction_error: None,
            predicted_cycles: None,
            predicted_cycles_bar: None,
            cycles_prediction_error: None,
            predicted_seconds: None,
            seconds_prediction_error: None,
            edge_share: None,
            error_left: None,
            outcome: RowOutcome::Measured,
            reason: None,
            measured: measured.join("+"),
            machine: machine.to_owned(),
            command: command_line(run),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// What its cycle is, by its columns; every row of a table has those of tiles or those of a pass.
    pub fn cycle(&self) -> Option<CycleSetting> {
        let pass = self.height.zip(self.memory);
        let pass = pass.map(|(height, memory)| CycleSetting::Pass(PassSetting { height, memory }));
        let tiles = self.tile.zip(self.k).zip(self.overlap);
        let tiles = tiles.map(|((tile, k), overlap)| TileSetting { tile, k, overlap });
        tiles.map(CycleSetting::Tiles).or(pass)
    }

    /// Its setting in words, as [`CycleSetting`] has them.
    pub fn setting(&self) -> String {
        self.cycle().map(|cycle| cycle.to_string()).unwrap_or_default()
    }

    /// Its time per sweep; `None` for k = ∞.
    pub fn seconds_per_sweep(&self) -> Option<f64> {
        self.cycle()?.per_sweep(self.seconds_per_cycle?)
    }

    /// The same as the row of a setting that cannot run.
    pub(super) fn cannot_run(self, reason: String) -> Self {
        Self { outcome: RowOutcome::CannotRun, reason: Some(reason), ..self }
    }

    /// The same with the measured count and time, and the predicted seconds per cycle and cycles.
    pub(super) fn with(
        mut self,
        count: Option<CycleCount>,
        time: Option<CycleTime>,
        predicted: Option<f64>,
        cycle_prediction: Option<CyclePrediction>,
    ) -> Self {
        if let Some(CycleCount { cycles, outcome, edge_share, error_left }) = count {
            self.outcome = match outcome {
                CountOutcome::Converged => RowOutcome::Measured,
                CountOutcome::Capped => RowOutcome::Capped,
                CountOutcome::RoundingLimit => RowOutcome::RoundingLimit,
                CountOutcome::Diverged => RowOutcome::Diverged,
            };
            if outcome == CountOutcome::Converged {
                let sweeps = self.cycle().and_then(CycleSetting::sweeps);
                self.sweeps = sweeps.map(|sweeps| cycles * sweeps as u64);
                self.seconds = time.map(|time| time.median * cycles as f64);
            }
            if matches!(outcome, CountOutcome::Converged | CountOutcome::Capped) {
                let capped = outcome == CountOutcome::Capped;
                self.cycles = Some(Cycles { count: cycles, capped });
                self.error_left = error_left;
                // A pass has no tile borders.
                let is_of_tiles = self.tile.is_some();
                self.edge_share = Some(edge_share).filter(|share| is_of_tiles && share.is_finite());
            }
        }
        self.seconds_per_cycle = time.map(|time| time.median);
        self.seconds_per_cycle_error = time.map(|time| time.error);
        self.repeats = time.map(|time| time.repeats);
        let cycle_prediction = cycle_prediction.filter(|prediction| prediction.cycles.is_finite());
        let is_counted = self.outcome == RowOutcome::Measured;
        let counted = self.cycles.filter(|_| is_counted).map(|cycles| cycles.count as f64);
        let error = |predicted: Option<f64>, measured: Option<f64>| {
            let error =
                predicted.zip(measured).map(|(predicted, measured)| predicted / measured - 1.0);
            // Where the initial guess is within the tolerance there are no cycles to compare with.
            error.filter(|error| error.is_finite())
        };
        self.predicted_seconds_per_cycle = predicted;
        self.predicted_cycles = cycle_prediction.map(|prediction| prediction.cycles);
        self.predicted_cycles_bar = cycle_prediction.map(|prediction| prediction.error);
        self.predicted_seconds =
            self.predicted_cycles.zip(predicted).map(|(cycles, seconds)| cycles * seconds);
        self.prediction_error = error(predicted, self.seconds_per_cycle);
        self.cycles_prediction_error = error(self.predicted_cycles, counted);
        self.seconds_prediction_error = error(self.predicted_seconds, self.seconds);
        self
    }

    /// The count that the row holds, for a sweep that is resumed.
    pub(super) fn count(&self) -> Option<CycleCount> {
        let Cycles { count, capped } = self.cycles?;
        let outcome = if capped { CountOutcome::Capped } else { CountOutcome::Converged };
        let edge_share = self.edge_share.unwrap_or(f64::NAN);
        Some(CycleCount { cycles: count, outcome, edge_share, error_left: self.error_left })
    }

    /// The cost by which settings are compared: seconds to the tolerance; cycles where no time was measured;
    /// seconds per sweep where no cycles were counted. `None` unless the outcome is
    /// [`RowOutcome::Measured`].
    pub fn cost(&self) -> Option<f64> {
        match self.measured.as_str() {
            _ if self.outcome != RowOutcome::Measured => None,
            measured if measured == Measure::Time.name() => self.seconds_per_sweep(),
            measured if measured == Measure::Cycles.name() => {
                self.cycles.map(|cycles| cycles.count as f64)
            }
            _ => self.seconds,
        }
    }

    /// The error of [`SweepRow::cost`], in its unit.
    pub fn cost_error(&self) -> f64 {
        let relative = self.seconds_per_cycle_error.zip(self.seconds_per_cycle);
        self.cost().zip(relative).map_or(0.0, |(cost, (error, seconds))| cost * error / seconds)
    }

    /// Whether the costs of two rows differ by no more than their errors.
    pub fn equals_within_noise(&self, other: &Self) -> bool {
        self.cost().zip(other.cost()).is_some_and(|(one, other_cost)| {
            (one - other_cost).abs() <= self.cost_error() + other.cost_error()
        })
    }

    /// The median of the absolute value of an error, over the rows that have it.
    pub fn median_error<'a>(
        rows: impl IntoIterator<Item = &'a Self>,
        error: impl Fn(&Self) -> Option<f64>,
    ) -> Option<f64> {
        let mut errors: Vec<_> =
            rows.into_iter().filter_map(|row| error(row).map(f64::abs)).collect();
        errors.sort_unstable_by(f64::total_cmp);
        errors.get(errors.len() / 2).copied()
    }

    /// The row of lowest cost.
    pub fn best<'a>(rows: impl IntoIterator<Item = &'a Self>) -> Option<&'a Self> {
        let costs = rows.into_iter().filter_map(|row| row.cost().map(|cost| (row, cost)));
        costs.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(row, _)| row)
    }
}

impl fmt::Display for Cycles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.capped { ">" } else { "" }, self.count)
    }
}

/// A lower bound is serialized as text, so that no program takes it for the number of cycles.
impl Serialize for Cycles {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        if self.capped { out.collect_str(self) } else { out.serialize_u64(self.count) }
    }
}

impl<'de> Deserialize<'de> for Cycles {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let (capped, digits) = match text.strip_prefix('>') {
            Some(digits) => (true, digits),
            None => (false, text.as_str()),
        };
        let count = digits.parse().map_err(D::Error::custom)?;
        Ok(Self { count, capped })
    }
}
