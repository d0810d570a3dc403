//! The record of a kernel comparison: tables as text and Markdown, rows as CSV and JSON.

use super::super::console::json;
use super::machine::Machine;
use super::measure::{Row, Timing, Transfers};
use super::output::Formats;
use super::table::{NOTHING, Table, axes, csv, known, percent};
use crate::picture::{digits, grouped, number, problem_title};
use crate::run::Plan;
use crate::solver::{Kernel, Subiterations};
use serde::Serialize;
use std::fmt::Write;

/// The rows, and where they were measured.
#[derive(Debug, Serialize)]
pub(super) struct Record {
    title: String,
    precision: &'static str,
    tolerance: Option<f64>,
    /// Samples per median.
    repeats: u32,
    machine: Machine,
    #[serde(skip)]
    rows: Vec<Row>,
}

impl Record {
    /// A record of rows that solve the same problem as `plan`.
    pub fn new(plan: &Plan, repeats: u32, machine: Machine, rows: Vec<Row>) -> Self {
        Self {
            title: problem_title(&plan.spec, &plan.problem.shape),
            precision: plan.precision.name(),
            tolerance: plan.stop.tolerance,
            repeats,
            machine,
            rows,
        }
    }
}

impl Formats for Record {
    fn json(&self) -> anyhow::Result<String> {
        /// A row with its ratios to the peak and to classic.
        #[derive(Serialize)]
        struct Line<'a> {
            #[serde(flatten)]
            row: &'a Row,
            of_peak: Option<f64>,
            of_bandwidth: Option<f64>,
            ratio_to_classic: Option<f64>,
            seconds_to_tolerance: Option<f64>,
            speedup: Option<f64>,
        }
        #[derive(Serialize)]
        struct All<'a> {
            #[serde(flatten)]
            record: &'a Record,
            rows: Vec<Line<'a>>,
        }
        let line = |row| Line {
            row,
            of_peak: row.of_peak(),
            of_bandwidth: self.of_bandwidth(row),
            ratio_to_classic: self.ratio_to_classic(row),
            seconds_to_tolerance: row.to_tolerance().map(|time| time.median),
            speedup: self.speedup(row),
        };
        let all = All { record: self, rows: self.rows.iter().map(line).collect() };
        json(&all)
    }

    fn csv(&self) -> anyhow::Result<String> {
        #[derive(Serialize)]
        struct Line {
            kernel: &'static str,
            backend: &'static str,
            tile: String,
            k: Subiterations,
            overlap: String,
            cycle_us: f64,
            least_us: f64,
            largest_us: f64,
            with_norms_us: f64,
            computed_updates_per_second: Option<f64>,
            owned_updates_per_second: f64,
            of_peak: Option<f64>,
            of_bandwidth: Option<f64>,
            ratio_to_classic: Option<f64>,
            set_up_seconds: f64,
            transfer_seconds: Option<f64>,
            cycles_to_tolerance: Option<u64>,
            seconds_to_tolerance: Option<f64>,
            speedup: Option<f64>,
            unobserved_cycles_per_second: Option<f64>,
            observed_cycles_per_second: Option<f64>,
            with_reference_cycles_per_second: Option<f64>,
            reports_per_second: Option<f64>,
        }
        csv(self.rows.iter().map(|row| Line {
            kernel: row.name,
            backend: row.backend,
            tile: axes(&row.tile),
            k: row.k,
            overlap: axes(&row.overlap),
            cycle_us: row.cycle_us.median,
            least_us: row.cycle_us.least,
            largest_us: row.cycle_us.largest,
            with_norms_us: row.with_norms_us.median,
            computed_updates_per_second: row.computed_updates_per_second(),
            owned_updates_per_second: row.owned_updates_per_second,
            of_peak: row.of_peak(),
            of_bandwidth: self.of_bandwidth(row),
            ratio_to_classic: self.ratio_to_classic(row),
            set_up_seconds: row.set_up_seconds,
            transfer_seconds: row.transfers.map(Transfers::of_a_run),
            cycles_to_tolerance: row.cycles,
            seconds_to_tolerance: row.to_tolerance().map(|time| time.median),
            speedup: self.speedup(row),
            unobserved_cycles_per_second: row.frames.map(|frames| frames.unobserved),
            observed_cycles_per_second: row.frames.map(|frames| frames.observed),
            with_reference_cycles_per_second: row.frames.map(|frames| frames.with_reference),
            reports_per_second: row.frames.map(|frames| frames.reports),
        }))
    }

    fn text(&self) -> String {
        let mut text = format!("{}\n{}\n", self.heading(), self.machine.line());
        for table in self.tables() {
            _ = write!(text, "\n{}", table.text());
        }
        _ = write!(text, "\n{}\n", self.fastest());
        text
    }

    fn markdown(&self) -> String {
        let mut text = format!(
            "# {}\n\n{}\n\n`{}`\n",
            self.heading(),
            self.machine.line(),
            self.machine.command
        );
        for table in self.tables() {
            _ = write!(text, "\n{}", table.markdown());
        }
        _ = write!(
            text,
            "\n{}\n\nTimes are medians of {} samples after a warm-up, by the solver's own clock (on a GPU by its events); ± is half the range of the samples. Redundant work is computed point updates over owned ones. % of peak compares owned point updates with the GPU's arithmetic at its highest clock; of kernel spectral the multiplications of its products, where tensor cores make them with theirs. % of bandwidth compares the least traffic of a cycle (iterate and right-hand side read, next iterate written) with the GPU's memory; it may exceed 100 % where a cache holds the grid, and with kernel fused, which moves less per cycle.\n",
            self.fastest(),
            self.repeats
        );
        text
    }
}

impl Record {
    fn heading(&self) -> String {
        format!("{} · {}", self.title, self.precision)
    }

    /// The fastest classic row: that of the GPU where there is one.
    fn classic(&self) -> Option<&Row> {
        let classics = self.rows.iter().filter(|row| row.name == Kernel::CLASSIC.name());
        classics.min_by(|one, other| one.cycle_us.median.total_cmp(&other.cycle_us.median))
    }

    /// Time of a classic sweep over the time of a sweep of this row.
    fn ratio_to_classic(&self, row: &Row) -> Option<f64> {
        row.k.finite()?;
        Some(self.classic()?.sweep_us().median / row.sweep_us().median)
    }

    /// Time to the tolerance of classic over that of this row.
    fn speedup(&self, row: &Row) -> Option<f64> {
        Some(self.classic()?.to_tolerance()?.median / row.to_tolerance()?.median)
    }

    /// The least memory traffic of a cycle as a fraction of the GPU's bandwidth.
    fn of_bandwidth(&self, row: &Row) -> Option<f64> {
        row.footprint?;
        let rate = row.least_bytes / (row.cycle_us.median * 1e-6);
        Some(rate / self.machine.memory_bytes_per_second?)
    }

    fn tables(&self) -> Vec<Table> {
        let mut tables = vec![self.cycles()];
        if self.tolerance.is_some() {
            tables.push(self.to_tolerance());
        }
        if self.rows.iter().any(|row| row.frames.is_some()) {
            tables.push(self.frames());
        }
        if self.rows.iter().any(|row| row.footprint.is_some()) {
            tables.push(self.footprints());
        }
        tables
    }

    /// A table in which each row begins with its setting.
    fn table(&self, heads: &[&str], cells: impl Fn(&Row) -> Option<Vec<String>>) -> Table {
        let heads = ["kernel", "on", "tile", "k", "overlap"].iter().chain(heads);
        let mut lines = vec![heads.map(ToString::to_string).collect::<Vec<_>>()];
        for row in &self.rows {
            if let Some(cells) = cells(row) {
                let mut line = vec![
                    row.name.to_owned(),
                    row.backend.to_owned(),
                    axes(&row.tile),
                    row.k.to_string(),
                    axes(&row.overlap),
                ];
                line.extend(cells);
                lines.push(line);
            }
        }
        Table::of(lines)
    }

    fn cycles(&self) -> Table {
        let heads = [
            "µs/cycle",
            "±",
            "with norms",
            "redundant work",
            "10⁹ updates/s",
            "owned",
            "% of peak",
            "% of bandwidth",
            "× classic",
            "set-up ms",
            "transfers ms",
        ];
        self.table(&heads, |row| {
            let Timing { median, .. } = row.cycle_us;
            Some(vec![
                digits(median),
                percent(row.cycle_us.spread()),
                format!("{:+.1} %", 100.0 * (row.with_norms_us.median / median - 1.0)),
                known(row.redundancy, |times| format!("{times:.2}×")),
                known(row.computed_updates_per_second(), |rate| digits(rate * 1e-9)),
                digits(row.owned_updates_per_second * 1e-9),
                known(row.of_peak(), percent),
                known(self.of_bandwidth(row), percent),
                known(self.ratio_to_classic(row), |ratio| format!("{ratio:.2}")),
                digits(row.set_up_seconds * 1e3),
                known(row.transfers, |transfers| digits(transfers.of_a_run() * 1e3)),
            ])
        })
    }

    fn to_tolerance(&self) -> Table {
        let tolerance = self.tolerance.unwrap_or_default();
        let cycles = format!("cycles to {}", number(tolerance));
        let heads = [&*cycles, "sweeps", "ms", "± ms", "× classic", "with transfers ms"];
        self.table(&heads, |row| {
            let Some((cycles, time)) = row.cycles.zip(row.to_tolerance()) else {
                return Some(vec![NOTHING.to_owned(); 6]);
            };
            Some(vec![
                grouped(cycles),
                row.k.finite().map_or_else(|| "–".to_owned(), |k| grouped(cycles * k as u64)),
                digits(time.median * 1e3),
                digits(time.spread() * time.median * 1e3),
                known(self.speedup(row), |ratio| format!("{ratio:.2}")),
                known(row.transfers, |transfers| {
                    digits((time.median + transfers.of_a_run()) * 1e3)
                }),
            ])
        })
    }

    fn frames(&self) -> Table {
        let heads = ["cycles/s", "observed", "ratio", "frames/s", "with classic Jacobi", "ratio"];
        self.table(&heads, |row| {
            let frames = row.frames?;
            Some(vec![
                digits(frames.unobserved),
                digits(frames.observed),
                percent(frames.observed / frames.unobserved),
                format!("{:.0}", frames.reports),
                digits(frames.with_reference),
                percent(frames.with_reference / frames.unobserved),
            ])
        })
    }

    fn footprints(&self) -> Table {
        let heads = ["threads", "registers", "shared B", "blocks", "blocks per SM", "waves"];
        self.table(&heads, |row| {
            let footprint = row.footprint?;
            Some(vec![
                footprint.threads.to_string(),
                footprint.registers.to_string(),
                grouped(footprint.shared_bytes as u64),
                grouped(footprint.blocks),
                footprint.blocks_per_multiprocessor.to_string(),
                format!("{:.2}", footprint.waves()),
            ])
        })
    }

    /// The fastest row, by the time to the tolerance where that is known, otherwise by the time of a
    /// sweep, and the rows that are equal to it within noise.
    fn fastest(&self) -> String {
        let has_tolerance = self.tolerance.is_some();
        let time =
            |row: &Row| if has_tolerance { row.to_tolerance() } else { Some(row.sweep_us()) };
        let timed = self.rows.iter().filter_map(|row| Some((row, time(row)?)));
        let mut timed: Vec<_> = timed.collect();
        timed.sort_by(|(_, one), (_, other)| one.median.total_cmp(&other.median));
        let Some(((best, least), others)) = timed.split_first() else {
            return "No setting reached the tolerance.".to_owned();
        };
        let what = if has_tolerance { "to the tolerance" } else { "per sweep" };
        let mut text = format!("Fastest {what}: {}", best.setting());
        for (row, time) in others {
            if time.is_equal(least) {
                _ = write!(text, "; equal within noise: {}", row.setting());
            }
        }
        text.push('.');
        if self.rows.iter().any(|row| row.method.is_spectral()) {
            text += " Kernel spectral with k inf solves every tile exactly; a tile that covers the grid makes \
                     it a direct solver.";
        }
        text
    }
}

impl Row {
    fn has_no_tiles(&self) -> bool {
        self.tile.is_empty()
    }

    fn setting(&self) -> String {
        if self.has_no_tiles() {
            return format!("{} on {}", self.name, self.backend);
        }
        let (tile, overlap) = (axes(&self.tile), axes(&self.overlap));
        format!(
            "{} on {}, tile {tile}, k {}, overlap {overlap}",
            self.name,
            self.backend,
            self.k.label()
        )
    }
}
