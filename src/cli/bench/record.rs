//! What was measured of the kernels, as tables for a person and as JSON.

use super::Told;
use super::machine::Machine;
use super::measure::{Row, Timing, Transfers};
use super::table::{NOTHING, Table, axes, csv, known, percent};
use crate::picture::{digits, grouped, number, problem_title};
use crate::run::Plan;
use serde::Serialize;
use std::fmt::Write;

/// All rows, and where they were measured.
#[derive(Debug, Serialize)]
pub(super) struct Record {
    title: String,
    precision: &'static str,
    tolerance: Option<f64>,
    /// Samples of each time.
    repeats: u32,
    machine: Machine,
    #[serde(skip)]
    rows: Vec<Row>,
}

impl Record {
    /// Takes the rows of some plans, which are of one problem, one of which is `plan`.
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

impl Told for Record {
    fn json(&self) -> anyhow::Result<String> {
        /// What follows from the rows together.
        #[derive(Serialize)]
        struct Line<'a> {
            #[serde(flatten)]
            row: &'a Row,
            of_limit: Option<f64>,
            of_memory: Option<f64>,
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
        let told = |row| Line {
            row,
            of_limit: row.of_limit(),
            of_memory: self.of_memory(row),
            ratio_to_classic: self.ratio_to_classic(row),
            seconds_to_tolerance: row.to_tolerance().map(|time| time.median),
            speedup: self.speedup(row),
        };
        let all = All { record: self, rows: self.rows.iter().map(told).collect() };
        Ok(serde_json::to_string_pretty(&all)? + "\n")
    }

    fn csv(&self) -> anyhow::Result<String> {
        #[derive(Serialize)]
        struct Line {
            kernel: &'static str,
            backend: &'static str,
            tile: String,
            k: usize,
            overlap: String,
            cycle_us: f64,
            least_us: f64,
            largest_us: f64,
            with_norms_us: f64,
            raw_points_per_second: f64,
            useful_points_per_second: f64,
            of_limit: Option<f64>,
            of_memory: Option<f64>,
            ratio_to_classic: Option<f64>,
            set_up_seconds: f64,
            transfer_seconds: Option<f64>,
            cycles_to_tolerance: Option<u64>,
            seconds_to_tolerance: Option<f64>,
            speedup: Option<f64>,
            bare_cycles_per_second: Option<f64>,
            watched_cycles_per_second: Option<f64>,
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
            raw_points_per_second: row.raw_points_per_second(),
            useful_points_per_second: row.points_per_second,
            of_limit: row.of_limit(),
            of_memory: self.of_memory(row),
            ratio_to_classic: self.ratio_to_classic(row),
            set_up_seconds: row.set_up_seconds,
            transfer_seconds: row.transfers.map(Transfers::of_a_run),
            cycles_to_tolerance: row.cycles,
            seconds_to_tolerance: row.to_tolerance().map(|time| time.median),
            speedup: self.speedup(row),
            bare_cycles_per_second: row.frames.map(|frames| frames.bare),
            watched_cycles_per_second: row.frames.map(|frames| frames.watched),
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
            "\n{}\n\nTimes are the solver's own clock (on a GPU its events), the medians of {} samples after a warm-up; ± is half of what lies between the least and the largest. Useful points are those that are kept, raw ones all that are computed. The limit is that of the GPU's arithmetic for useful points at its highest clock; of memory is what a cycle must move at the least (the iterate and the right-hand side read, the next iterate written) over what the GPU's memory moves at its clock, and may pass 100 % where a cache holds the grid.\n",
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

    /// The best classic there is: the GPU's, where there is one.
    fn classic(&self) -> Option<&Row> {
        let classics = self.rows.iter().filter(|row| row.is_classic());
        classics.min_by(|one, other| one.cycle_us.median.total_cmp(&other.cycle_us.median))
    }

    /// How many times as fast as classic a sweep is.
    fn ratio_to_classic(&self, row: &Row) -> Option<f64> {
        Some(self.classic()?.sweep_us().median / row.sweep_us().median)
    }

    /// How many times as fast as classic the tolerance is met.
    fn speedup(&self, row: &Row) -> Option<f64> {
        Some(self.classic()?.to_tolerance()?.median / row.to_tolerance()?.median)
    }

    /// The part of what the GPU's memory moves that the cycles of a row must move.
    fn of_memory(&self, row: &Row) -> Option<f64> {
        row.footprint?;
        let rate = row.least_bytes / (row.cycle_us.median * 1e-6);
        Some(rate / self.machine.memory_bytes_per_second?)
    }

    fn tables(&self) -> Vec<Table> {
        let mut tables = vec![self.cycles()];
        if self.tolerance.is_some() {
            tables.push(self.tolerance_met());
        }
        if self.rows.iter().any(|row| row.frames.is_some()) {
            tables.push(self.frames());
        }
        if self.rows.iter().any(|row| row.footprint.is_some()) {
            tables.push(self.footprints());
        }
        tables
    }

    /// A table with the setting in front of each row.
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
            "µs a cycle",
            "±",
            "with norms",
            "work",
            "raw 10⁹ points/s",
            "useful",
            "of limit",
            "of memory",
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
                format!("{:.2}", row.work),
                digits(row.raw_points_per_second() * 1e-9),
                digits(row.points_per_second * 1e-9),
                known(row.of_limit(), percent),
                known(self.of_memory(row), percent),
                known(self.ratio_to_classic(row), |ratio| format!("{ratio:.2}")),
                digits(row.set_up_seconds * 1e3),
                known(row.transfers, |transfers| digits(transfers.of_a_run() * 1e3)),
            ])
        })
    }

    fn tolerance_met(&self) -> Table {
        let tolerance = self.tolerance.unwrap_or_default();
        let cycles = format!("cycles to {}", number(tolerance));
        let heads = [&*cycles, "sweeps", "ms", "± ms", "× classic", "with transfers ms"];
        self.table(&heads, |row| {
            let Some((cycles, time)) = row.cycles.zip(row.to_tolerance()) else {
                return Some(vec![NOTHING.to_owned(); 6]);
            };
            Some(vec![
                grouped(cycles),
                grouped(cycles * row.k as u64),
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
        let heads =
            ["cycles/s unseen", "watched", "part", "reports/s", "with Jacobi's beside", "part"];
        self.table(&heads, |row| {
            let frames = row.frames?;
            Some(vec![
                digits(frames.bare),
                digits(frames.watched),
                percent(frames.watched / frames.bare),
                format!("{:.0}", frames.reports),
                digits(frames.with_reference),
                percent(frames.with_reference / frames.bare),
            ])
        })
    }

    fn footprints(&self) -> Table {
        let heads =
            ["threads", "registers", "shared B", "blocks", "blocks a multiprocessor", "waves"];
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

    /// Which row is the fastest, by the time to the tolerance where that is known, and which are as
    /// fast as far as the samples tell.
    fn fastest(&self) -> String {
        let all_met = self.tolerance.is_some();
        let time = |row: &Row| if all_met { row.to_tolerance() } else { Some(row.sweep_us()) };
        let timed = self.rows.iter().filter_map(|row| Some((row, time(row)?)));
        let mut timed: Vec<_> = timed.collect();
        timed.sort_by(|(_, one), (_, other)| one.median.total_cmp(&other.median));
        let Some(((best, least), others)) = timed.split_first() else {
            return "No setting reached the tolerance.".to_owned();
        };
        let what = if all_met { "to the tolerance" } else { "a sweep" };
        let mut text = format!("Fastest {what}: {}", best.setting());
        for (row, time) in others {
            if time.is_equal(least) {
                _ = write!(text, "; equal within the noise: {}", row.setting());
            }
        }
        text + "."
    }
}

impl Row {
    fn is_classic(&self) -> bool {
        self.tile.is_empty()
    }

    fn setting(&self) -> String {
        if self.is_classic() {
            return format!("{} on {}", self.name, self.backend);
        }
        let (tile, overlap) = (axes(&self.tile), axes(&self.overlap));
        format!("{} on {}, tile {tile}, k {}, overlap {overlap}", self.name, self.backend, self.k)
    }
}
