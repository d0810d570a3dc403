//! Pinned runs, which are kept for comparison.

use crate::picture::{MOST_BESIDE, THIS_RUN, distinguish, grouped, rounded, seconds};
use crate::run::{ArchivedRun, Record, Reductions, Report, RunArchive, RunSpec};
use std::sync::Arc;

/// The largest number of pinned runs: there are colours for no more.
pub const MAX_PINS: usize = MOST_BESIDE;

/// A run as it was when it was pinned.
#[derive(Clone, Debug, PartialEq)]
pub struct Pin {
    /// Its number among the pinned runs, which determines its colour and default name.
    pub number: usize,
    /// Its name, which can be edited.
    pub name: String,
    /// Its archive, with its settings.
    pub archive: Arc<RunArchive>,
    /// ‖r₀‖₂.
    pub start_residual: f64,
    /// The norms of its newest cycle.
    pub latest: Record,
    /// The norms of all cycles, thinned for a plot.
    pub curve: Arc<[Record]>,
}

/// The pinned runs, and how their table is sorted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pins {
    /// In the order of pinning.
    pins: Vec<Pin>,
    /// The column to sort the table by, and whether in descending order; `None` for the order of
    /// pinning.
    pub sorted: Option<(Column, bool)>,
    /// The number of the run whose times are the baseline of speedups; the first one, if that is
    /// not pinned.
    pub baseline: usize,
}

/// A sortable column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    Name,
    Residual,
    Time,
    Speedup,
    Sweeps,
    Cycles,
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct PinnedRow {
    /// Its number among the pinned runs; `None` for the run itself.
    pub number: Option<usize>,
    pub name: String,
    /// The settings that distinguish it from the other runs.
    pub settings: String,
    pub cycles: u64,
    pub sweeps: u64,
    /// Solver time.
    pub seconds: f64,
    /// Solver time of the baseline divided by its own, each to the smallest relative residual that
    /// both have reached; `None` if unknown.
    pub speedup: Option<f64>,
    /// ‖r‖₂ / ‖r₀‖₂, if known.
    pub reduction: Option<f64>,
}

impl Pins {
    /// The pinned runs, in the order of pinning.
    pub fn all(&self) -> &[Pin] {
        &self.pins
    }

    /// Pins the run of a report, or updates its pin. Returns the pin; `None` if the limit is
    /// reached.
    pub fn pin(&mut self, report: &Report) -> Option<&Pin> {
        self.put(&report.archive, report.start_residual, &report.curve, None)
    }

    /// Pins a run that was made in the background, with this number unless another pin has it.
    /// Returns the existing pin of an equal run with equally many cycles.
    pub fn pin_made(&mut self, made: &ArchivedRun, number: usize) -> Option<&Pin> {
        let end = made.curve.last().map(|record| record.cycle);
        let is_alike = |pin: &Pin| {
            Some(pin.latest.cycle) == end && pin.archive.plan().spec == made.archive.plan().spec
        };
        match self.pins.iter().position(is_alike) {
            Some(index) => self.pins.get(index),
            None => self.put(&made.archive, made.start_residual, &made.curve, Some(number)),
        }
    }

    fn put(
        &mut self,
        archive: &Arc<RunArchive>,
        start_residual: f64,
        curve: &Arc<[Record]>,
        number: Option<usize>,
    ) -> Option<&Pin> {
        let index = self.pins.iter().position(|pin| Arc::ptr_eq(&pin.archive, archive));
        if index.is_none() && self.pins.len() >= MAX_PINS {
            return None;
        }
        let index = index.unwrap_or_else(|| {
            let taken = |number: &usize| self.pins.iter().any(|pin| pin.number == *number);
            let number = number.into_iter().chain(0..).find(|number| !taken(number)).unwrap_or(0);
            self.pins.push(Pin {
                number,
                name: letter(number),
                archive: Arc::clone(archive),
                start_residual,
                latest: Record::default(),
                curve: Arc::default(),
            });
            self.pins.len() - 1
        });
        let pin = &mut self.pins[index];
        pin.latest = curve.last().copied().unwrap_or_default();
        pin.curve = Arc::clone(curve);
        Some(pin)
    }

    /// Unpins a run.
    pub fn remove(&mut self, number: usize) {
        self.pins.retain(|pin| pin.number != number);
    }

    /// Unpins every run.
    pub fn remove_all(&mut self) {
        self.pins.clear();
    }

    /// Renames a pinned run. An empty name restores the default one.
    pub fn rename(&mut self, number: usize, name: &str) {
        if let Some(pin) = self.pins.iter_mut().find(|pin| pin.number == number) {
            let name = name.trim();
            pin.name = if name.is_empty() { letter(number) } else { name.to_owned() };
        }
    }

    /// The names of the pinned runs and then of the run of `spec`, with the settings that
    /// distinguish them, as figures name them: `A · k = 16`.
    pub fn names(&self, spec: &RunSpec) -> Vec<String> {
        let specs = self.pins.iter().map(|pin| &pin.archive.plan().spec).chain([spec]);
        let (_, settings) = distinguish(&specs.collect::<Vec<_>>());
        let names = self.pins.iter().map(|pin| pin.name.as_str()).chain([THIS_RUN]);
        let named = names.zip(settings).map(|(name, settings)| match settings.is_empty() {
            true => name.to_owned(),
            false => format!("{name} · {settings}"),
        });
        named.collect()
    }

    /// The pinned run whose times are the baseline of speedups.
    pub fn baseline(&self) -> Option<&Pin> {
        let chosen = self.pins.iter().find(|pin| pin.number == self.baseline);
        chosen.or(self.pins.first())
    }

    /// The rows of the table, sorted as chosen: those of the pinned runs, and of the run of a report
    /// at the cycle that is shown, unless it is pinned as it is.
    pub fn rows(&self, report: Option<&Report>) -> Vec<PinnedRow> {
        let own = report.map(|report| {
            let shown = report.observation.norms;
            let is_earlier = shown.cycle < report.latest.cycle;
            let so_far = report.curve.partition_point(|record| record.cycle <= shown.cycle);
            Pin {
                number: 0,
                name: THIS_RUN.to_owned(),
                archive: Arc::clone(&report.archive),
                start_residual: report.start_residual,
                latest: if is_earlier { shown } else { report.latest },
                curve: match is_earlier {
                    true => report.curve[..so_far].into(),
                    false => Arc::clone(&report.curve),
                },
            }
        });
        let is_pinned = |own: &Pin| {
            let is_same =
                |pin: &Pin| (&pin.archive, pin.latest.cycle) == (&own.archive, own.latest.cycle);
            self.pins.iter().any(is_same)
        };
        let own = own.filter(|own| !is_pinned(own));
        let pinned = self.pins.iter().map(|pin| (Some(pin.number), pin));
        let runs: Vec<_> = pinned.chain(own.as_ref().map(|own| (None, own))).collect();
        let specs: Vec<_> = runs.iter().map(|(_, run)| &run.archive.plan().spec).collect();
        let (common, settings) = distinguish(&specs);
        let rows = runs.into_iter().zip(settings).map(|((number, run), settings)| PinnedRow {
            number,
            name: run.name.clone(),
            settings: if settings.is_empty() { common.clone() } else { settings },
            cycles: run.latest.cycle,
            sweeps: run.latest.cycle * run.archive.plan().sweeps_per_cycle(),
            seconds: run.latest.seconds,
            speedup: self.baseline().and_then(|baseline| {
                run.known_reductions().speedup_over(&baseline.known_reductions())
            }),
            reduction: run.known_reductions().last(),
        });
        let mut rows: Vec<_> = rows.collect();
        if let Some((column, largest_first)) = self.sorted {
            rows.sort_by(|a, b| {
                let order = column.compare(a, b);
                if largest_first { order.reverse() } else { order }
            });
        }
        rows
    }
}

impl Pin {
    /// ‖r‖₂ / ‖r₀‖₂ of its cycles, where it is known.
    pub fn reductions(&self) -> impl Iterator<Item = (&Record, f64)> {
        let start = self.start_residual;
        self.curve.iter().filter_map(move |record| {
            Some((record, crate::run::reduction(record.residual?.l2, start)))
        })
    }

    /// The reductions of its curve.
    fn known_reductions(&self) -> Reductions<'_> {
        let problem = &self.archive.plan().spec.problem;
        Reductions { problem, records: &self.curve, start_residual: self.start_residual }
    }
}

/// The message when no other run can be pinned.
pub fn too_many() -> String {
    format!("{MAX_PINS} runs are pinned, which is the limit; unpin one first.")
}

/// A, B, C, … Z, A2, B2, …
fn letter(number: usize) -> String {
    let letter = char::from(b'A' + (number % 26) as u8);
    if number < 26 { letter.to_string() } else { format!("{letter}{}", number / 26 + 1) }
}

impl Column {
    /// All columns, in the order of the table.
    pub const ALL: [Self; 6] =
        [Self::Name, Self::Residual, Self::Time, Self::Speedup, Self::Sweeps, Self::Cycles];

    /// The heading.
    pub fn label(self) -> &'static str {
        match self {
            Self::Name => "run",
            Self::Residual => "‖r‖₂/‖r₀‖₂",
            Self::Cycles => "cycles",
            Self::Sweeps => "sweeps",
            Self::Time => "time",
            Self::Speedup => "speedup",
        }
    }

    /// A description in one sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::Name => "The name of the run.",
            Self::Residual => "‖r‖₂ / ‖r₀‖₂ that the run reached.",
            Self::Cycles => "Cycles made by the time the run was pinned.",
            Self::Sweeps => "Sweeps made: k per cycle.",
            Self::Time => {
                "Solver time, measured while the window and other runs share the machine; observing the iterate is not counted. The tuning map measures alone."
            }
            Self::Speedup => {
                "Solver time of the baseline divided by that of this run, each to the smallest relative residual that both have reached."
            }
        }
    }

    fn compare(self, a: &PinnedRow, b: &PinnedRow) -> std::cmp::Ordering {
        // Unknown values come last.
        let known = |value: Option<f64>| value.unwrap_or(f64::INFINITY);
        match self {
            Self::Name => a.name.cmp(&b.name),
            Self::Residual => known(a.reduction).total_cmp(&known(b.reduction)),
            Self::Cycles => a.cycles.cmp(&b.cycles),
            Self::Sweeps => a.sweeps.cmp(&b.sweeps),
            Self::Time => a.seconds.total_cmp(&b.seconds),
            Self::Speedup => known(a.speedup).total_cmp(&known(b.speedup)),
        }
    }
}

impl PinnedRow {
    /// The cells, in the order of [`Column::ALL`].
    pub fn texts(&self) -> [String; 6] {
        let known = |text: Option<String>| text.unwrap_or_else(|| "–".to_owned());
        [
            self.name.clone(),
            known(self.reduction.map(rounded)),
            seconds(self.seconds),
            known(self.speedup.map(|speedup| format!("{speedup:.2}×"))),
            grouped(self.sweeps),
            grouped(self.cycles),
        ]
    }
}

/// The table in Markdown.
pub fn markdown(rows: &[PinnedRow]) -> String {
    let mut text = "| run | settings | cycles | sweeps | time, s | speedup | ‖r‖₂/‖r₀‖₂ |\n\
                    |---|---|---:|---:|---:|---:|---:|\n"
        .to_owned();
    for row in rows {
        // A bar would end the cell.
        let cells = cells(row).map(|cell| cell.replace('|', "\\|"));
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    text
}

/// The table as comma-separated values.
pub fn csv(rows: &[PinnedRow]) -> String {
    let quoted = |cell: String| {
        let plain = !cell.contains([',', '"', '\n']);
        if plain { cell } else { format!("\"{}\"", cell.replace('"', "\"\"")) }
    };
    let mut text = "run,settings,cycles,sweeps,seconds,speedup,reduction\n".to_owned();
    for row in rows {
        text.push_str(&cells(row).map(quoted).join(","));
        text.push('\n');
    }
    text
}

/// The cells of a copied row, with numbers for programs; unknown values are empty.
fn cells(row: &PinnedRow) -> [String; 7] {
    let known = |value: Option<String>| value.unwrap_or_default();
    [
        row.name.clone(),
        row.settings.clone(),
        row.cycles.to_string(),
        row.sweeps.to_string(),
        format!("{:.6}", row.seconds),
        known(row.speedup.map(|speedup| format!("{speedup:.4}"))),
        known(row.reduction.map(|reduction| format!("{reduction:e}"))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Planner;
    use crate::solver::ResidualNorms;

    /// A run with overlap `overlap` that reduces its residual tenfold in each of that many cycles, of
    /// `seconds` each.
    fn pin(number: usize, overlap: usize, cycles: u64, seconds: f64) -> Pin {
        let mut spec = RunSpec::default();
        spec.method.overlap = vec![overlap];
        let plan = Arc::new(Planner::default().plan(&spec).unwrap());
        let record = |cycle: u64| Record {
            cycle,
            seconds: cycle as f64 * seconds,
            residual: Some(ResidualNorms { l2: 10f64.powi(-(cycle as i32)), max: Some(1.0) }),
            ..Record::default()
        };
        Pin {
            number,
            name: letter(number),
            archive: Arc::new(RunArchive::new(&plan, 0)),
            start_residual: 1.0,
            latest: record(cycles),
            curve: (0..=cycles).map(record).collect(),
        }
    }

    fn pins(pins: Vec<Pin>) -> Pins {
        Pins { pins, ..Pins::default() }
    }

    #[test]
    fn a_speedup_compares_times_to_the_same_residual() {
        let pins =
            pins(vec![pin(0, 0, 4, 1.0), pin(1, 4, 8, 0.5), pin(2, 8, 2, 2.0), pin(3, 2, 0, 1.0)]);
        let speedups: Vec<_> = pins.rows(None).iter().map(|row| row.speedup).collect();
        assert_eq!(speedups, [Some(1.0), Some(2.0), Some(0.5), None]);
        let pins = Pins { baseline: 1, ..pins };
        let speedups: Vec<_> = pins.rows(None).iter().map(|row| row.speedup).collect();
        assert_eq!(speedups, [Some(0.5), Some(1.0), Some(0.25), None]);
    }

    #[test]
    fn runs_of_other_problems_have_no_speedup() {
        let mut other = RunSpec::default();
        other.problem.shape = vec![64, 64];
        let plan = Arc::new(Planner::default().plan(&other).unwrap());
        let other = Pin { archive: Arc::new(RunArchive::new(&plan, 0)), ..pin(1, 0, 4, 0.5) };
        let speedups: Vec<_> =
            pins(vec![pin(0, 0, 4, 1.0), other]).rows(None).iter().map(|row| row.speedup).collect();
        assert_eq!(speedups, [Some(1.0), None]);
    }

    #[test]
    fn a_table_is_sorted_both_ways() {
        let mut pins = pins(vec![pin(0, 0, 4, 1.0), pin(1, 4, 8, 0.6), pin(2, 8, 2, 1.5)]);
        let order =
            |pins: &Pins| pins.rows(None).iter().filter_map(|row| row.number).collect::<Vec<_>>();
        assert_eq!(order(&pins), [0, 1, 2]);
        for column in Column::ALL {
            pins.sorted = Some((column, false));
            let rising = order(&pins);
            pins.sorted = Some((column, true));
            let falling = order(&pins);
            assert_eq!((rising[0], rising.len()), (falling[2], 3), "{column:?}");
        }
        pins.sorted = Some((Column::Cycles, true));
        assert_eq!(order(&pins), [1, 0, 2]);
    }

    #[test]
    fn a_table_is_copied_whole() {
        let mut pins = pins(vec![pin(0, 0, 1, 1.0), pin(1, 4, 1, 0.5)]);
        pins.rename(1, "wide, \"good\" | best");
        pins.rename(0, "  ");
        let rows = pins.rows(None);
        assert_eq!(
            csv(&rows),
            "run,settings,cycles,sweeps,seconds,speedup,reduction\n\
             A,overlap 0,1,16,1.000000,1.0000,1e-1\n\
             \"wide, \"\"good\"\" | best\",overlap 4,1,16,0.500000,2.0000,1e-1\n"
        );
        let markdown = markdown(&rows);
        assert_eq!(markdown.lines().count(), 4);
        assert!(
            markdown.contains("| wide, \"good\" \\| best | overlap 4 | 1 | 16 |"),
            "{markdown}"
        );
    }

    #[test]
    fn names_continue_after_the_alphabet_and_are_reused() {
        assert_eq!([0, 25, 26, 53].map(letter), ["A", "Z", "A2", "B3"]);
        let mut pins = pins(vec![pin(0, 0, 1, 1.0), pin(1, 4, 1, 1.0)]);
        pins.remove(0);
        assert_eq!(pins.all().iter().map(|pin| pin.number).collect::<Vec<_>>(), [1]);
        let names = pins.names(&RunSpec::default());
        assert_eq!(names, ["B · overlap 4", "this run · overlap 0"]);
    }
}
