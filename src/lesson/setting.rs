//! What a step of a lesson shows: a run, the cycle at which it waits, and how it is shown.
//!
//! A `tilescope` block is TOML. The keys of a run file are flat in it: `k = 16` stands for `k` of
//! `[method]`, and a single number for a list with one entry. Keys that are left out have the values of
//! the default run.

use super::error::Fault;
use crate::picture::{FigureKind, Norm, Over, Range, ScaleKind};
use crate::run::{CutLine, FieldKind, Plan, Planner, Preset, ProblemKind, RunSpec};
use crate::solver::Acceleration;
use serde::Deserialize;
use std::collections::BTreeSet;
use toml::{Table, Value};

/// Where a run is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum At {
    /// After this many cycles.
    Cycle(u64),
    /// After this many sweeps, to the nearest cycle.
    Sweeps(u64),
    /// At its end.
    #[default]
    End,
}

impl At {
    /// The cycle of a run with this many sweeps per cycle; `None` for its end.
    pub fn cycle(self, sweeps_per_cycle: u64) -> Option<u64> {
        match self {
            Self::Cycle(cycle) => Some(cycle),
            Self::Sweeps(sweeps) => Some((sweeps + sweeps_per_cycle / 2) / sweeps_per_cycle.max(1)),
            Self::End => None,
        }
    }
}

/// A run at one of its cycles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Target {
    /// The run.
    pub run: RunSpec,
    /// Where it is shown.
    pub at: At,
}

/// The control that a step is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// The slider of k.
    K,
    /// That of the overlap.
    Overlap,
    /// That of the tile.
    Tile,
    /// That of the height, of a method that streams.
    Height,
    /// The number of simulated devices.
    Devices,
    /// The slider of the cycles from one exchange between devices to the next.
    ExchangeEvery,
}

impl Control {
    /// Its name in the window.
    pub fn label(self) -> &'static str {
        match self {
            Self::K => "k",
            Self::Overlap => "Overlap",
            Self::Tile => "Tile",
            Self::Height => "Height",
            Self::Devices => "Devices",
            Self::ExchangeEvery => "Exchange every",
        }
    }
}

/// The range of values that the colours of the map span.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ShownRange {
    /// The values of the shown frame; equal colours while a setting changes.
    #[default]
    Follow,
    /// The values of all frames of the run.
    WholeRun,
    /// These.
    Fixed(Range),
}

/// What is shown of a run, and how.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Show {
    /// The field of the map.
    pub field: FieldKind,
    /// The scale of its colours; that of the field without one.
    pub scale: Option<ScaleKind>,
    /// Their range.
    pub range: ShownRange,
    /// Panes beside the map, by the figure that each shows. Without any, the convergence curve.
    pub panes: Vec<FigureKind>,
    /// The norm of the convergence curve.
    pub norm: Norm,
    /// Its x axis.
    pub over: Option<Over>,
    /// The line of the profile.
    pub cut: Option<CutLine>,
    /// Subiterations made, in the view inside a cycle.
    pub subiteration: Option<usize>,
    /// Whether tile borders are drawn over the map: they hide what lies along them.
    pub borders: bool,
    /// Whether the asymptotic rate of the run is drawn beside its convergence curve.
    pub asymptotic_rate: bool,
    /// The accelerations of Jacobi's iteration that are drawn there, too.
    pub references: BTreeSet<Acceleration>,
}

/// What a step shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Setting {
    /// The run.
    pub target: Target,
    /// Another run, with which it is compared by a wipe at equal sweeps.
    pub before: Option<RunSpec>,
    /// What follows the choice of a prediction.
    pub then: Option<Target>,
    /// The subiterations that are shown then, in the view inside a cycle.
    pub then_subiteration: Option<usize>,
    /// How it is shown.
    pub show: Show,
    /// The control that the text is about.
    pub highlight: Option<Control>,
}

/// Keys of a run file that a lesson can have, by their table.
const RUN_KEYS: [(&str, &[&str]); 3] = [
    (
        "problem",
        &[
            "shape",
            "batch",
            "rhs",
            "seed",
            "velocity",
            "conductivity",
            "jump",
            "interface",
            "hot_box",
            "initial",
            "boundary",
            "stencil",
        ],
    ),
    (
        "method",
        &[
            "k",
            "tile",
            "overlap",
            "omega",
            "wave",
            "warp",
            "precision",
            "kernel",
            "height",
            "memory",
            "simulate_devices",
            "exchange_every",
            "link",
        ],
    ),
    ("stop", &["rule", "tolerance"]),
];

/// Keys that say something else than a run file has, or say it in another way.
const OWN_KEYS: [&str; 10] = [
    "problem",
    "method",
    "matrix",
    "ordering",
    "cycles",
    "sweeps",
    "before",
    "then",
    "show",
    "highlight",
];

/// Keys whose value may be a single number in place of a list.
const LISTS: [&str; 3] = ["shape", "tile", "overlap"];

fn unknown_key(key: &str, without: &[&str]) -> Fault {
    let of_run = RUN_KEYS.iter().flat_map(|(_, keys)| keys.iter());
    let all = OWN_KEYS.iter().filter(|key| !without.contains(key)).chain(of_run);
    let allowed: Vec<_> = all.copied().collect();
    Fault::Key { key: key.to_owned(), allowed: allowed.join(", ") }
}

impl Target {
    /// Changes one setting.
    ///
    /// # Errors
    /// [`Fault`] if there is no such key, or it cannot have this value.
    pub fn set(&mut self, key: &str, value: &Value) -> Result<(), Fault> {
        match key {
            "cycles" if value.as_str() == Some("end") => self.at = At::End,
            "cycles" => self.at = At::Cycle(count(key, value)?),
            "sweeps" => self.at = At::Sweeps(count(key, value)?),
            "problem" => self.set_problem(value)?,
            "method" => self.put("method", "name", key, value.clone())?,
            "matrix" => {
                let name = text(key, value)?;
                self.run.problem.kind = ProblemKind::Matrix;
                let mut matrix = Table::new();
                matrix.insert("source".into(), Value::String(name.to_owned()));
                self.put("problem", "matrix", key, Value::Table(matrix))?;
                // One number each, whatever the grid before it had.
                self.run.method.tile.truncate(1);
                self.run.method.overlap.truncate(1);
                let rows = self.run.problem.matrix.as_ref().map(|matrix| matrix.rows());
                if let Some(rows) = rows {
                    let rows = rows.map_err(|error| Fault::value(key, name, error.to_string()))?;
                    self.run.problem.shape = vec![rows];
                }
            }
            "ordering" => {
                let mut matrix = match self.section("problem").remove("matrix") {
                    Some(Value::Table(matrix)) => matrix,
                    _ => return Err(Fault::value(key, value, "it goes after a matrix")),
                };
                matrix.insert("ordering".into(), value.clone());
                self.put("problem", "matrix", key, Value::Table(matrix))?;
            }
            _ => {
                let sections = RUN_KEYS.iter().find(|(_, keys)| keys.contains(&key));
                let (section, _) = sections
                    .ok_or_else(|| unknown_key(key, &["before", "then", "show", "highlight"]))?;
                let is_single = LISTS.contains(&key) && value.is_integer();
                let value =
                    if is_single { Value::Array(vec![value.clone()]) } else { value.clone() };
                self.put(section, key, key, value)?;
            }
        }
        Ok(())
    }

    /// Takes a preset, or a problem with its default grid.
    fn set_problem(&mut self, value: &Value) -> Result<(), Fault> {
        let name = text("problem", value)?;
        if let Some(preset) = Preset::named(name) {
            (self.run.problem, self.run.stop) = preset.problem();
            return Ok(());
        }
        let kind = ProblemKind::ALL.into_iter().find(|kind| kind.name() == name);
        let kind = kind.ok_or_else(|| {
            let presets = crate::run::PRESETS.iter().map(|preset| preset.name);
            let kinds = ProblemKind::ALL.iter().map(|kind| kind.name());
            let is_other = |kind: &&str| Preset::named(kind).is_none();
            let all: Vec<_> = presets.chain(kinds.filter(is_other)).collect();
            Fault::value("problem", name, format!("it must be one of {}", all.join(", ")))
        })?;
        (self.run.problem.kind, self.run.stop) = (kind, kind.default_stop());
        Ok(())
    }

    /// A table of the run as a file has it.
    fn section(&self, section: &str) -> Table {
        let mut run = Table::try_from(&self.run).unwrap_or_default();
        match run.remove(section) {
            Some(Value::Table(table)) => table,
            _ => Table::new(),
        }
    }

    /// Sets a key of a table of the run. `written` is the key as the lesson has it.
    fn put(&mut self, section: &str, key: &str, written: &str, value: Value) -> Result<(), Fault> {
        let mut table = self.section(section);
        table.insert(key.into(), value.clone());
        let mut run = Table::try_from(&self.run).unwrap_or_default();
        run.insert(section.into(), Value::Table(table));
        let why = |error: toml::de::Error| {
            Fault::value(written, &value, crate::run::toml_message(&error))
        };
        self.run = run.try_into().map_err(why)?;
        Ok(())
    }

    /// Changes several settings.
    fn set_all(&mut self, changes: &Table) -> Result<(), Fault> {
        // The problem first: it has a grid of its own.
        let is_problem = |key: &str| matches!(key, "problem" | "matrix");
        let (first, rest): (Vec<_>, Vec<_>) = changes.iter().partition(|(key, _)| is_problem(key));
        first.into_iter().chain(rest).try_for_each(|(key, value)| self.set(key, value))
    }

    /// The same with some changes, written as in a line of TOML: `k = 64, overlap = 4`.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn changed(&self, changes: &str) -> Result<Self, Fault> {
        let parsed: Result<Table, _> = toml::from_str(&format!("changes = {{ {changes} }}"));
        let parsed = parsed.map_err(|error| Fault::Toml(crate::run::toml_message(&error)))?;
        let mut changed = self.clone();
        if let Some(Value::Table(changes)) = parsed.get("changes") {
            changed.set_all(changes)?;
        }
        Ok(changed)
    }

    /// The plan of the run.
    ///
    /// # Errors
    /// [`Fault::Run`], which says why it cannot be made.
    pub fn plan(&self, planner: &mut Planner) -> Result<Plan, Fault> {
        planner.plan(&self.run).map_err(|error| Fault::Run(error.to_string()))
    }
}

impl Setting {
    /// Sets a key of a `tilescope` block.
    ///
    /// # Errors
    /// [`Fault`] if there is no such key, or it cannot have this value.
    pub(super) fn set(&mut self, key: &str, value: &Value) -> Result<(), Fault> {
        let table = || {
            let why = "it must be a table of keys, such as { overlap = 0 }";
            value.as_table().ok_or_else(|| Fault::value(key, value, why))
        };
        match key {
            "before" => {
                let mut before = self.target.clone();
                before.set_all(table()?)?;
                self.before = Some(before.run);
            }
            "then" => {
                let (mut then, mut changes) = (self.target.clone(), table()?.clone());
                if let Some(subiteration) = changes.remove("subiteration") {
                    self.then_subiteration = Some(read("subiteration", &subiteration)?);
                }
                then.set_all(&changes)?;
                self.then = Some(then);
            }
            "show" => {
                for (key, value) in table()? {
                    self.show.set(key, value)?;
                }
            }
            "highlight" => self.highlight = Some(read(key, value)?),
            _ if OWN_KEYS.contains(&key)
                || RUN_KEYS.iter().any(|(_, keys)| keys.contains(&key)) =>
            {
                self.target.set(key, value)?;
            }
            _ => return Err(unknown_key(key, &[])),
        }
        Ok(())
    }
}

impl Show {
    fn set(&mut self, key: &str, value: &Value) -> Result<(), Fault> {
        match key {
            "field" => self.field = read(key, value)?,
            "scale" => self.scale = Some(read(key, value)?),
            "range" => self.range = range(key, value)?,
            "panes" => {
                let names: Vec<String> = read(key, value)?;
                let kind = |name: &String| {
                    FigureKind::named(name).ok_or_else(|| {
                        let all: Vec<_> = FigureKind::ALL.iter().map(|kind| kind.name()).collect();
                        let why = format!("each must be one of {}", all.join(", "));
                        Fault::value(key, name, why)
                    })
                };
                self.panes = names.iter().map(kind).collect::<Result<_, _>>()?;
            }
            "norm" => self.norm = read(key, value)?,
            "over" => self.over = Some(read(key, value)?),
            "cut" => self.cut = Some(read(key, value)?),
            "subiteration" => self.subiteration = Some(read(key, value)?),
            "borders" => self.borders = read(key, value)?,
            "asymptotic_rate" => self.asymptotic_rate = read(key, value)?,
            "references" => {
                let names: Vec<String> = read(key, value)?;
                let reference = |name: &String| match &**name {
                    "chebyshev" => Ok(Acceleration::Chebyshev),
                    "conjugate-gradients" => Ok(Acceleration::ConjugateGradients),
                    _ => Err(Fault::value(
                        key,
                        name,
                        "each must be one of chebyshev, conjugate-gradients",
                    )),
                };
                self.references = names.iter().map(reference).collect::<Result<_, _>>()?;
            }
            _ => {
                let allowed = "field, scale, range, panes, norm, over, cut, subiteration, borders, asymptotic_rate, references";
                return Err(Fault::Key { key: format!("show.{key}"), allowed: allowed.into() });
            }
        }
        Ok(())
    }
}

fn range(key: &str, value: &Value) -> Result<ShownRange, Fault> {
    let why = "it must be \"follow\", \"whole-run\" or two numbers, such as [1e-6, 1.0]";
    let refused = || Fault::value(key, value, why);
    match value {
        Value::String(name) if name == "follow" => Ok(ShownRange::Follow),
        Value::String(name) if name == "whole-run" => Ok(ShownRange::WholeRun),
        Value::Array(_) => {
            let [lo, hi]: [f64; 2] = value.clone().try_into().map_err(|_| refused())?;
            let is_range = lo < hi && lo.is_finite() && hi.is_finite();
            is_range.then(|| ShownRange::Fixed(Range::new(lo, hi))).ok_or_else(refused)
        }
        _ => Err(refused()),
    }
}

fn read<T: serde::de::DeserializeOwned>(key: &str, value: &Value) -> Result<T, Fault> {
    let why = |error: toml::de::Error| Fault::value(key, value, crate::run::toml_message(&error));
    value.clone().try_into().map_err(why)
}

fn count(key: &str, value: &Value) -> Result<u64, Fault> {
    let number = value.as_integer().and_then(|number| u64::try_from(number).ok());
    number.ok_or_else(|| {
        Fault::value(key, value, "it must be a whole number, at least 0, or, of cycles, \"end\"")
    })
}

fn text<'a>(key: &str, value: &'a Value) -> Result<&'a str, Fault> {
    value.as_str().ok_or_else(|| Fault::value(key, value, "it must be a text in quotes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_a_run_file_are_flat() {
        let changed = Target::default()
            .changed("problem = \"paper-1d\", k = inf, tile = 64, overlap = [4], sweeps = 640")
            .unwrap();
        let run = &changed.run;
        assert_eq!((&run.problem.shape[..], &run.method.tile[..]), (&[1024][..], &[64][..]));
        assert_eq!(run.method.k.finite(), None);
        assert_eq!(changed.at, At::Sweeps(640));
        assert_eq!((At::Sweeps(640).cycle(16), At::Sweeps(20).cycle(16)), (Some(40), Some(1)));
        let matrix = Target::default().changed("matrix = \"ice-sheet\", tile = 256").unwrap();
        assert_eq!(matrix.run.problem.kind, ProblemKind::Matrix);
        matrix.plan(&mut Planner::default()).unwrap();
        let pyramid = "method = \"pyramid\", height = 12, memory = \"400 kB\"";
        let pyramid = Target::default().changed(pyramid).unwrap();
        assert_eq!(pyramid.plan(&mut Planner::default()).unwrap().sweeps_per_cycle(), 12);
        assert_eq!(Target::default().changed("omega = 0.5").unwrap().run.method.omega, 0.5);
        assert_eq!(Target::default().changed("wave = 16").unwrap().run.method.wave, Some(16));
    }

    #[test]
    fn wrong_keys_and_values_say_what_is_allowed() {
        let why = |changes: &str| Target::default().changed(changes).unwrap_err().to_string();
        assert!(
            why("overlapp = 4").contains("there is no key overlapp; choose from problem, method")
        );
        let refused = why("k = \"many\"");
        assert!(refused.starts_with("k = \"many\" is not possible: "), "{refused}");
        assert!(why("cycles = -1").contains("a whole number, at least 0, or"));
        assert!(why("problem = \"poison\"").contains("it must be one of poisson-2d"));
        assert!(why("k = ").contains("this is not TOML"));
        assert!(why("backend = \"cuda\"").contains("there is no key backend"));
        let odd = Target::default().changed("overlap = 3").unwrap();
        let refused = odd.plan(&mut Planner::default()).unwrap_err().to_string();
        assert!(refused.contains("overlap 3 is odd"), "{refused}");
    }
}
