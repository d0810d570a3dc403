//! What was measured, as tables for a person and as JSON.

use super::measure::{Row, Timing};
use crate::picture::{grouped, number, problem_title};
use crate::run::{Backend, Plan};
use crate::solver::cuda;
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
    /// The command line, to measure it again.
    command: String,
    #[serde(skip)]
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Machine {
    version: &'static str,
    processor: String,
    cores: usize,
    card: Option<String>,
    driver: Option<String>,
    /// Seconds that the first use of the card took.
    opened_seconds: Option<f64>,
}

/// What there is no figure for.
const NOTHING: &str = "–";

impl Record {
    /// Takes the rows of some plans, which are of one problem, one of which is `plan`.
    pub fn new(plan: &Plan, repeats: u32, opened_seconds: Option<f64>, rows: Vec<Row>) -> Self {
        let on_card = plan.spec.method.backend == Backend::Cuda;
        let card = || cuda::cards().ok()?.into_iter().next();
        let words = std::env::args().skip(1);
        Self {
            title: problem_title(&plan.spec, &plan.problem.shape),
            precision: plan.precision.name(),
            tolerance: plan.stop.tolerance,
            repeats,
            machine: Machine {
                version: env!("CARGO_PKG_VERSION"),
                processor: processor(),
                cores: std::thread::available_parallelism().map_or(1, usize::from),
                card: on_card.then(card).flatten(),
                driver: on_card.then(|| cuda::driver_version().ok()).flatten(),
                opened_seconds,
            },
            command: ["tilescope".to_owned()]
                .into_iter()
                .chain(words)
                .collect::<Vec<_>>()
                .join(" "),
            rows,
        }
    }

    /// As one JSON object.
    pub fn json(&self) -> anyhow::Result<String> {
        /// What follows from the rows together.
        #[derive(Serialize)]
        struct Told<'a> {
            #[serde(flatten)]
            row: &'a Row,
            of_limit: Option<f64>,
            ratio_to_classic: Option<f64>,
            seconds_to_tolerance: Option<f64>,
            speedup: Option<f64>,
        }
        #[derive(Serialize)]
        struct All<'a> {
            #[serde(flatten)]
            record: &'a Record,
            rows: Vec<Told<'a>>,
        }
        let told = |row| Told {
            row,
            of_limit: row.of_limit(),
            ratio_to_classic: self.ratio_to_classic(row),
            seconds_to_tolerance: row.to_tolerance().map(|time| time.median),
            speedup: self.speedup(row),
        };
        let all = All { record: self, rows: self.rows.iter().map(told).collect() };
        Ok(serde_json::to_string_pretty(&all)? + "\n")
    }

    /// As text with tables in columns.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n{}\n", self.heading(), self.place());
        for table in self.tables() {
            _ = write!(text, "\n{}", table.text());
        }
        _ = write!(text, "\n{}\n", self.fastest());
        text
    }

    /// As Markdown, with what is needed to measure it again.
    pub fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n{}\n\n`{}`\n", self.heading(), self.place(), self.command);
        for table in self.tables() {
            _ = write!(text, "\n{}", table.markdown());
        }
        _ = write!(
            text,
            "\n{}\n\nTimes are the solver's own clock (on a card its events), the medians of {} samples after a warm-up; ± is half of what lies between the least and the largest. The limit is that of the card's arithmetic for kept points.\n",
            self.fastest(),
            self.repeats
        );
        text
    }

    fn heading(&self) -> String {
        format!("{} · {}", self.title, self.precision)
    }

    fn place(&self) -> String {
        let Machine { version, processor, cores, card, driver, opened_seconds } = &self.machine;
        let mut parts = Vec::new();
        if let Some(card) = card {
            parts.push(card.clone());
        }
        if let Some(driver) = driver {
            parts.push(format!("driver {driver}"));
        }
        let plural = if *cores == 1 { "" } else { "s" };
        parts.push(format!("{processor}, {cores} core{plural}"));
        parts.push(format!("tilescope {version}"));
        if let Some(seconds) = opened_seconds {
            parts.push(format!("card opened in {seconds:.2} s"));
        }
        parts.join(" · ")
    }

    fn classic(&self) -> Option<&Row> {
        self.rows.iter().find(|row| row.is_classic())
    }

    /// How many times as fast as classic a sweep is.
    fn ratio_to_classic(&self, row: &Row) -> Option<f64> {
        Some(self.classic()?.sweep_us().median / row.sweep_us().median)
    }

    /// How many times as fast as classic the tolerance is met.
    fn speedup(&self, row: &Row) -> Option<f64> {
        Some(self.classic()?.to_tolerance()?.median / row.to_tolerance()?.median)
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
        let heads = ["kernel", "tile", "k", "overlap"].iter().chain(heads);
        let mut lines = vec![heads.map(ToString::to_string).collect::<Vec<_>>()];
        for row in &self.rows {
            if let Some(cells) = cells(row) {
                let mut line = vec![
                    row.name.to_owned(),
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
            "10⁹ points/s",
            "of limit",
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
                digits(row.points_per_second * 1e-9),
                known(row.of_limit(), percent),
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
            return self.name.to_owned();
        }
        let (tile, overlap) = (axes(&self.tile), axes(&self.overlap));
        format!("{}, tile {tile}, k {}, overlap {overlap}", self.name, self.k)
    }
}

/// The name of the processor, as the system tells it.
fn processor() -> String {
    let system = sysinfo::System::new().ok().map(|mut system| {
        system.refresh_cpu_list(sysinfo::CpuRefreshKind::nothing());
        system
    });
    let name = system.as_ref().and_then(|system| system.cpus().first()).map(sysinfo::Cpu::brand);
    match name {
        Some(name) if !name.trim().is_empty() => name.trim().to_owned(),
        _ => std::env::consts::ARCH.to_owned(),
    }
}

/// `32`, or `32x16`.
fn axes(values: &[usize]) -> String {
    match values {
        [] => NOTHING.to_owned(),
        [first, rest @ ..] if rest.iter().all(|value| value == first) => first.to_string(),
        values => values.iter().map(ToString::to_string).collect::<Vec<_>>().join("x"),
    }
}

fn known<T>(value: Option<T>, text: impl Fn(T) -> String) -> String {
    value.map_or_else(|| NOTHING.to_owned(), text)
}

fn percent(part: f64) -> String {
    format!("{:.1} %", 100.0 * part)
}

/// A positive number with three digits at the least, and no more after the point than that takes.
fn digits(value: f64) -> String {
    match value {
        value if value < 9.995 => format!("{value:.2}"),
        value if value < 99.95 => format!("{value:.1}"),
        // The cast saturates.
        value => grouped(value.round() as u64),
    }
}

/// Lines of cells, the first being the heads of the columns.
struct Table(Vec<Vec<String>>);

impl Table {
    /// A table without the columns that have nothing to say here, such as transfers on the CPU.
    fn of(lines: Vec<Vec<String>>) -> Self {
        let says =
            |column: usize| column == 0 || lines.iter().skip(1).any(|line| line[column] != NOTHING);
        let columns: Vec<_> = (0..lines.first().map_or(0, Vec::len)).filter(|&c| says(c)).collect();
        let kept = |line: &Vec<String>| columns.iter().map(|&c| line[c].clone()).collect();
        Self(lines.iter().map(kept).collect())
    }

    /// Columns in line: names to the left, numbers to the right.
    fn text(&self) -> String {
        self.lines(|cells| cells.join("  ").trim_end().to_owned())
    }

    fn markdown(&self) -> String {
        let mut lines = self.lines(|cells| format!("| {} |", cells.join(" | ")));
        let columns = self.0.first().map_or(0, Vec::len);
        let rule = (0..columns).map(|column| if column == 0 { "---|" } else { "--:|" });
        let rule: String = rule.collect();
        if let Some(end) = lines.find('\n') {
            lines.insert_str(end + 1, &format!("|{rule}\n"));
        }
        lines
    }

    fn lines(&self, joined: impl Fn(&[String]) -> String) -> String {
        let columns = self.0.first().map_or(0, Vec::len);
        let width = |column: usize| {
            let widths = self.0.iter().map(|line| line[column].chars().count());
            widths.max().unwrap_or(0)
        };
        let widths: Vec<_> = (0..columns).map(width).collect();
        let mut text = String::new();
        for line in &self.0 {
            let cells = line.iter().zip(&widths).enumerate();
            let cells = cells.map(|(column, (cell, &width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            text.push_str(&joined(&cells.collect::<Vec<_>>()));
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_in_line() {
        let line = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        let head = line(["kernel", "k", "of limit", "µs"]);
        let table = Table::of(vec![head, line(["register", "32", NOTHING, "24.1"])]);
        assert_eq!(table.text(), "kernel     k    µs\nregister  32  24.1\n");
        assert_eq!(
            table.markdown(),
            "| kernel   |  k |   µs |\n|---|--:|--:|\n| register | 32 | 24.1 |\n"
        );
    }

    #[test]
    fn numbers_have_three_digits_or_more() {
        let texts = [0.0312, 4.449, 24.14, 383.4, 12_345.6].map(digits);
        assert_eq!(texts, ["0.03", "4.45", "24.1", "383", "12,346"]);
    }
}
