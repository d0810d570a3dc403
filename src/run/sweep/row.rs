//! What a sweep found out about a setting.

use super::count::{CountOutcome, CycleCount};
use super::cycle_predictor::CyclePrediction;
use super::sides::PerAxis;
use super::spec::{Measure, Setting, SweepSpec};
use super::timing::CycleTime;
use crate::run::command::command_line;
use crate::run::spec::Backend;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::fmt;

/// A number of cycles, or that there were more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cycles {
    /// Cycles made.
    pub count: u64,
    /// Whether the tolerance was not met by then.
    pub capped: bool,
}

/// What came of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowOutcome {
    /// All that was asked was measured.
    Measured,
    /// The tolerance was not met within the cap.
    Capped,
    /// It will never be met.
    Diverged,
    /// The setting cannot run.
    CannotRun,
}

/// A row of a sweep's table, under these names. What was not measured is an empty cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepRow {
    /// Interior points of each axis, as on the command line: `1024x512`.
    pub shape: String,
    /// Subiterations of a cycle.
    pub k: usize,
    /// Points that neighbouring tiles share.
    pub overlap: PerAxis,
    /// Points of a tile.
    pub tile: PerAxis,
    /// The kernel that runs, `tiled` on the CPU; where none can, the one that was asked for.
    pub kernel: String,
    /// Cycles to the tolerance; `>1000` where they were capped.
    pub cycles: Option<Cycles>,
    /// Sweeps to the tolerance.
    pub sweeps: Option<u64>,
    /// Seconds to the tolerance: the cycles times the seconds of one.
    pub seconds: Option<f64>,
    /// Seconds of a cycle, the median of repeats, by the solver's own clock.
    pub seconds_per_cycle: Option<f64>,
    /// How far off that may be, see [`CycleTime::error`].
    pub seconds_per_cycle_error: Option<f64>,
    /// How many repeats there were.
    pub repeats: Option<usize>,
    /// Seconds of a cycle by the cost model.
    pub predicted_seconds_per_cycle: Option<f64>,
    /// How much more that is than what was measured, as a part of it; negative for less.
    pub prediction_error: Option<f64>,
    /// Cycles to the tolerance, foreseen without counting them.
    pub predicted_cycles: Option<f64>,
    /// How far off that may be, as a part of it.
    pub predicted_cycles_bar: Option<f64>,
    /// How much more that is than what was counted, as a part of it.
    pub cycles_prediction_error: Option<f64>,
    /// Seconds to the tolerance by both.
    pub predicted_seconds: Option<f64>,
    /// How much more that is than what was measured, as a part of it.
    pub seconds_prediction_error: Option<f64>,
    /// The part of ‖r‖₂² near tile borders when the tolerance was met.
    pub edge_share: Option<f64>,
    /// What came of it.
    pub outcome: RowOutcome,
    /// Why it cannot run.
    pub reason: Option<String>,
    /// What was asked: `time`, `cycles`, or `time+cycles`.
    pub measured: String,
    /// The machine.
    pub machine: String,
    /// The command line that makes the run again.
    pub command: String,
    /// The version of the program. It stands last since it never has quotes: so a row that was cut
    /// off always lacks a cell or the end of its line.
    pub version: String,
}

/// What runs on the CPU, where there are no kernels to choose from.
const TILED: &str = "tiled";

impl SweepRow {
    /// The names of its cells: the first line of a table.
    pub const NAMES: [&'static str; 25] = [
        "shape",
        "k",
        "overlap",
        "tile",
        "kernel",
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
        "outcome",
        "reason",
        "measured",
        "machine",
        "command",
        "version",
    ];

    /// The row of a setting of which nothing is known yet.
    pub(super) fn new(spec: &SweepSpec, setting: &Setting, machine: &str) -> Self {
        let run = spec.run_of(setting);
        let shape: Vec<_> = run.problem.shape.iter().map(ToString::to_string).collect();
        let measured: Vec<_> = spec.measure.iter().map(|what| what.name()).collect();
        Self {
            shape: shape.join("x"),
            k: setting.k,
            overlap: setting.overlap,
            tile: setting.tile,
            kernel: match run.method.backend {
                Backend::Cpu => TILED.to_owned(),
                Backend::Cuda => setting.kernel.name().to_owned(),
            },
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
            outcome: RowOutcome::Measured,
            reason: None,
            measured: measured.join("+"),
            machine: machine.to_owned(),
            command: command_line(&run),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// The same for a setting that cannot run.
    pub(super) fn cannot_run(self, reason: String) -> Self {
        Self { outcome: RowOutcome::CannotRun, reason: Some(reason), ..self }
    }

    /// The same with what was measured, the seconds of a cycle that were predicted, and the cycles
    /// that were foreseen.
    pub(super) fn with(
        mut self,
        count: Option<CycleCount>,
        time: Option<CycleTime>,
        predicted: Option<f64>,
        cycle_prediction: Option<CyclePrediction>,
    ) -> Self {
        if let Some(CycleCount { cycles, ending, edge_share }) = count {
            self.outcome = match ending {
                CountOutcome::Converged => RowOutcome::Measured,
                CountOutcome::Capped => RowOutcome::Capped,
                CountOutcome::Diverged => RowOutcome::Diverged,
            };
            if ending == CountOutcome::Converged {
                self.sweeps = Some(cycles * self.k as u64);
                self.seconds = time.map(|time| time.median * cycles as f64);
            }
            if ending != CountOutcome::Diverged {
                let capped = ending == CountOutcome::Capped;
                self.cycles = Some(Cycles { count: cycles, capped });
                self.edge_share = Some(edge_share).filter(|share| share.is_finite());
            }
        }
        self.seconds_per_cycle = time.map(|time| time.median);
        self.seconds_per_cycle_error = time.map(|time| time.error);
        self.repeats = time.map(|time| time.repeats);
        let cycle_prediction =
            cycle_prediction.filter(|cycle_prediction| cycle_prediction.cycles.is_finite());
        let counted = self.sweeps.and(self.cycles).map(|cycles| cycles.count as f64);
        let off = |predicted: Option<f64>, measured: Option<f64>| {
            predicted.zip(measured).map(|(predicted, measured)| predicted / measured - 1.0)
        };
        self.predicted_seconds_per_cycle = predicted;
        self.predicted_cycles = cycle_prediction.map(|cycle_prediction| cycle_prediction.cycles);
        self.predicted_cycles_bar = cycle_prediction.map(|cycle_prediction| cycle_prediction.error);
        self.predicted_seconds =
            self.predicted_cycles.zip(predicted).map(|(cycles, seconds)| cycles * seconds);
        self.prediction_error = off(predicted, self.seconds_per_cycle);
        self.cycles_prediction_error = off(self.predicted_cycles, counted);
        self.seconds_prediction_error = off(self.predicted_seconds, self.seconds);
        self
    }

    /// What is known of the cycles, for a sweep that goes on.
    pub(super) fn count(&self) -> Option<CycleCount> {
        let Cycles { count, capped } = self.cycles?;
        let ending = if capped { CountOutcome::Capped } else { CountOutcome::Converged };
        let edge_share = self.edge_share.unwrap_or(f64::NAN);
        Some(CycleCount { cycles: count, ending, edge_share })
    }

    /// What the best setting has least of: seconds to the tolerance; where no time was measured,
    /// cycles; where no cycles were counted, seconds a sweep.
    pub fn cost(&self) -> Option<f64> {
        match self.measured.as_str() {
            _ if self.outcome != RowOutcome::Measured => None,
            measured if measured == Measure::Time.name() => {
                self.seconds_per_cycle.map(|seconds| seconds / self.k as f64)
            }
            measured if measured == Measure::Cycles.name() => {
                self.cycles.map(|cycles| cycles.count as f64)
            }
            _ => self.seconds,
        }
    }

    /// How far off [`SweepRow::cost`] may be, in its unit.
    pub fn cost_error(&self) -> f64 {
        let relative = self.seconds_per_cycle_error.zip(self.seconds_per_cycle);
        self.cost().zip(relative).map_or(0.0, |(cost, (error, seconds))| cost * error / seconds)
    }

    /// Whether the two differ by no more than noise.
    pub fn equals_within_noise(&self, other: &Self) -> bool {
        self.cost().zip(other.cost()).is_some_and(|(one, other_cost)| {
            (one - other_cost).abs() <= self.cost_error() + other.cost_error()
        })
    }

    /// The median of a relative error of the rows that have it, regardless of its sign.
    pub fn median_error<'a>(
        rows: impl IntoIterator<Item = &'a Self>,
        error: impl Fn(&Self) -> Option<f64>,
    ) -> Option<f64> {
        let mut errors: Vec<_> =
            rows.into_iter().filter_map(|row| error(row).map(f64::abs)).collect();
        errors.sort_unstable_by(f64::total_cmp);
        errors.get(errors.len() / 2).copied()
    }

    /// The best of some rows, if any was measured.
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

/// A number, but for a capped one, which no program should take for the number of cycles.
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
