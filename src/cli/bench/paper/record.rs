//! The record of the repeated experiments: measured figures beside the published ones.

use super::super::super::console::json;
use super::super::machine::Machine;
use super::super::output::Formats;
use super::super::table::{Table, csv, known, percent};
use super::Row;
use super::matrices::{MatrixRow, table};
use super::pyramids::{self, CubeRow};
use crate::picture::{digits, grouped};
use crate::run::flagg;
use crate::run::papers::{Group, PublishedExperiment};
use serde::Serialize;
use std::fmt::Write;

/// The rows, and where they were measured.
#[derive(Debug, Serialize)]
pub(super) struct Record {
    machine: Machine,
    /// Whether times are extrapolated from a few cycles.
    quick: bool,
    shrink: u32,
    repeats: u32,
    #[serde(skip)]
    rows: Vec<Row>,
    /// The runs of the paper on sparse matrices.
    matrices: Vec<MatrixRow>,
    /// The cubes of the paper on grids larger than fast memory.
    cubes: Vec<CubeRow>,
}

/// A row of the CSV and JSON formats. What was published alone has no measured values.
#[derive(Serialize)]
struct Line {
    source: &'static str,
    preset: &'static str,
    setting: String,
    kernel: Option<&'static str>,
    backend: Option<&'static str>,
    cycles: u64,
    published_ms: Option<f64>,
    measured_ms: Option<f64>,
    solver_ms: Option<f64>,
    solver_least_ms: Option<f64>,
    solver_largest_ms: Option<f64>,
    transfers_ms: Option<f64>,
    published_speedup: Option<f64>,
    measured_speedup: Option<f64>,
    /// The published time over the cycles of the whole run, as this program counts them.
    published_us_per_cycle: Option<f64>,
    /// The same by the formula in the notes.
    explained_us_per_cycle: Option<f64>,
    measured_us_per_cycle: Option<f64>,
}

impl Record {
    pub fn new(machine: Machine, quick: bool, shrink: u32, repeats: u32, rows: Vec<Row>) -> Self {
        Self { machine, quick, shrink, repeats, rows, matrices: Vec::new(), cubes: Vec::new() }
    }

    /// The same with the runs of the paper on sparse matrices.
    pub fn with_matrices(self, matrices: Vec<MatrixRow>) -> Self {
        Self { matrices, ..self }
    }

    /// The same with cubes larger than fast memory.
    pub fn with_cubes(self, cubes: Vec<CubeRow>) -> Self {
        Self { cubes, ..self }
    }

    fn lines(&self) -> impl Iterator<Item = Line> {
        self.rows.iter().map(|row| {
            let experiment = row.experiment;
            let &PublishedExperiment { source, preset, published_ms, published_speedup, .. } =
                experiment;
            let measured = row.measured.as_ref();
            let solver = measured.map(|measured| measured.solver);
            let cycles = measured.map_or(experiment.cycles, |measured| measured.cycles);
            let micros = |seconds: f64| 1e6 * seconds;
            Line {
                source,
                preset,
                setting: experiment.setting(),
                kernel: measured.map(|measured| measured.kernel),
                backend: measured.map(|measured| measured.backend),
                cycles,
                published_ms,
                measured_ms: row.seconds().map(|seconds| seconds * 1e3),
                solver_ms: solver.map(|solver| solver.median * 1e3),
                solver_least_ms: solver.map(|solver| solver.least * 1e3),
                solver_largest_ms: solver.map(|solver| solver.largest * 1e3),
                transfers_ms: measured
                    .and_then(|measured| measured.transfers)
                    .map(|transfers| transfers.of_a_run() * 1e3),
                published_speedup,
                measured_speedup: self.speedup(row),
                published_us_per_cycle: experiment.published_seconds_per_cycle().map(micros),
                explained_us_per_cycle: experiment.explained_seconds_per_cycle().map(micros),
                measured_us_per_cycle: row.seconds().map(|seconds| micros(seconds / cycles as f64)),
            }
        })
    }

    /// Speedup over the first row of the same problem.
    fn speedup(&self, row: &Row) -> Option<f64> {
        let mut same =
            self.rows.iter().filter(|other| other.experiment.preset == row.experiment.preset);
        Some(same.next()?.seconds()? / row.seconds()?)
    }

    fn table(&self) -> Table {
        let heads = [
            "source",
            "run",
            "setting",
            "kernel",
            "on",
            "cycles",
            "published ms",
            "ms",
            "±",
            "published ×",
            "×",
            "published µs/cycle",
            "explained",
            "µs/cycle",
        ];
        let mut lines = vec![heads.map(str::to_owned).to_vec()];
        for (line, row) in self.lines().zip(&self.rows) {
            let name = |name: Option<&str>| name.unwrap_or("–").to_owned();
            let solver = row.measured.as_ref().map(|measured| measured.solver);
            lines.push(vec![
                line.source.to_owned(),
                line.preset.to_owned(),
                line.setting,
                name(line.kernel),
                name(line.backend),
                grouped(line.cycles),
                known(line.published_ms, digits),
                known(line.measured_ms, digits),
                solver.map_or_else(|| "–".to_owned(), |solver| percent(solver.spread())),
                known(line.published_speedup, |ratio| format!("{ratio:.2}")),
                known(line.measured_speedup, |ratio| format!("{ratio:.2}")),
                known(line.published_us_per_cycle, digits),
                known(line.explained_us_per_cycle, digits),
                known(line.measured_us_per_cycle, digits),
            ]);
        }
        Table::of(lines)
    }

    /// The tables that have rows.
    fn tables(&self) -> impl Iterator<Item = Table> {
        let grids = (!self.rows.is_empty()).then(|| self.table());
        let matrices = (!self.matrices.is_empty()).then(|| table(&self.matrices));
        let cubes = (!self.cubes.is_empty()).then(|| pyramids::table(&self.cubes));
        [grids, matrices, cubes].into_iter().flatten()
    }

    /// What a reader must know to compare the figures.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.shrink > 1 && !self.rows.is_empty() {
            notes.push(format!(
                "Each side is 1/{} of the published one: the figures are not comparable.",
                self.shrink
            ));
        }
        if self.quick && !self.rows.is_empty() {
            notes.push("Quick: the time of a cycle, measured over a few, times the number of cycles of the whole run as counted by this program (the papers give none).".to_owned());
        }
        if !self.matrices.is_empty() {
            notes.push(format!(
                "Matrices: whole runs, from reading the file to saving x; of {} samples the one of median time.",
                self.repeats
            ));
            notes.extend([Group::Matrices.differs(), flagg::EXPLAINED].map(str::to_owned));
        }
        if !self.cubes.is_empty() {
            notes.extend(pyramids::smaller(&self.cubes));
            let group = Group::Pyramids;
            let said = [Some(group.differs()), group.explained()];
            notes.extend(said.into_iter().flatten().map(str::to_owned));
        }
        if self.rows.is_empty() {
            return notes;
        }
        notes.push(format!(
            "Times are medians of {} samples after a warm-up, by the solver's own clock (on a GPU by its events); ± is half the range of the samples. As published, times of Islam & Wang include the transfers but no norms, those of the article the norms of every cycle but no transfers. × is the speedup over the first row of the same problem.",
            self.repeats
        ));
        for row in &self.rows {
            let group = row.experiment.group;
            for note in [Some(group.differs()), group.explained()].into_iter().flatten() {
                if !notes.iter().any(|known| known == note) {
                    notes.push(note.to_owned());
                }
            }
        }
        notes
    }
}

/// The title of the record.
const HEADING: &str = "The experiments of the papers, repeated";

impl Formats for Record {
    fn text(&self) -> String {
        let mut text = format!("{HEADING}\n{}\n", self.machine.line());
        for table in self.tables() {
            _ = write!(text, "\n{}", table.text());
        }
        for note in self.notes() {
            _ = write!(text, "\n{note}\n");
        }
        text
    }

    fn markdown(&self) -> String {
        let machine = &self.machine;
        let mut text = format!("# {HEADING}\n\n{}\n\n`{}`\n", machine.line(), machine.command);
        for table in self.tables() {
            _ = write!(text, "\n{}", table.markdown());
        }
        for note in self.notes() {
            _ = write!(text, "\n{note}\n");
        }
        text
    }

    fn csv(&self) -> anyhow::Result<String> {
        // One kind of rows: those of grids, or else of matrices, or else of cubes.
        match (self.rows.is_empty(), self.matrices.is_empty()) {
            (false, _) => csv(self.lines()),
            (true, false) => csv(self.matrices.iter()),
            (true, true) => csv(self.cubes.iter()),
        }
    }

    fn json(&self) -> anyhow::Result<String> {
        #[derive(Serialize)]
        struct All<'a> {
            #[serde(flatten)]
            record: &'a Record,
            rows: Vec<Line>,
            notes: Vec<String>,
        }
        let all = All { record: self, rows: self.lines().collect(), notes: self.notes() };
        json(&all)
    }
}
