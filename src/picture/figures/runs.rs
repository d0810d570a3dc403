//! Several runs as a table: how far they are, and how long they took.

use crate::grid::Need;
use crate::number::cell;
use crate::number::{grouped, seconds};
use crate::picture::draw::canvas::{Anchor, Stroke, Style};
use crate::picture::draw::drawing::Drawing;
use crate::picture::draw::layout::{Head, Layout};
use crate::picture::draw::text::{Weight, fit, width};
use crate::picture::figures::curves::THIS_RUN;
use crate::picture::figures::run_colour::run_colour;
use crate::picture::figures::titles::Titles;
use crate::picture::view::kind::{FigureKind, FigureType, Uses};
use crate::picture::view::spec::ViewSpec;
use crate::run::{CsvTable, FieldKind, Record, Reductions, Snapshot};

/// A row for each run: cycles, sweeps, solver time and speedup.
struct Runs;

impl FigureKind {
    /// Several runs as a table.
    pub const RUNS: Self = Self::new(&Runs);
}

impl FigureType for Runs {
    fn name(&self) -> &'static str {
        "runs"
    }

    fn label(&self) -> &'static str {
        "Table of runs"
    }

    fn about(&self) -> &'static str {
        "Cycles, sweeps, solver time and speedup of several runs, as a table."
    }

    fn about_table(&self) -> Option<&'static str> {
        Some("A table has their residual reduction, too.")
    }

    fn file_stem(&self, _: FieldKind) -> String {
        "runs".to_owned()
    }

    fn need(&self) -> Need {
        Need::Nothing
    }

    fn uses(&self) -> Uses {
        Uses::default()
    }

    fn is_over_cycles(&self) -> bool {
        true
    }

    fn shows_ends(&self) -> bool {
        true
    }

    fn beside(&self) -> [usize; 2] {
        [0, crate::picture::MOST_BESIDE]
    }

    fn title(&self, _: &Snapshot, _: &ViewSpec) -> String {
        "Runs".to_owned()
    }

    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        Drawing::Figure(draw(snapshots, view))
    }

    fn tables<'a>(
        &self,
        snapshots: &[&'a Snapshot],
        view: &ViewSpec,
    ) -> Vec<(String, CsvTable<'a>)> {
        let row = |row: RunRow| {
            [
                row.name,
                row.cycles.to_string(),
                row.sweeps.to_string(),
                format!("{:.6}", row.seconds),
                cell(row.speedup),
                cell(row.reduction),
            ]
        };
        let header = ["run", "cycles", "sweeps", "seconds", "speedup", "reduction"];
        let rows = rows(snapshots, view).into_iter().map(row);
        vec![(String::new(), CsvTable::new(header, rows))]
    }
}

/// The headings of the columns.
const HEADINGS: [&str; 5] = ["run", "cycles", "sweeps", "time", "speedup"];

/// The distance of two rows, and the least room for a run's name, in font sizes.
const LINE: f64 = 1.9;
const NAME: f64 = 8.0;

/// A row of the table.
struct RunRow {
    name: String,
    cycles: u64,
    sweeps: u64,
    /// Solver time.
    seconds: f64,
    /// The time of the first run over its own; see [`Reductions::speedup_over`].
    speedup: Option<f64>,
    /// ‖r‖₂ / ‖r₀‖₂, as far as it is known.
    reduction: Option<f64>,
}

impl RunRow {
    fn texts(&self) -> [String; 5] {
        [
            self.name.clone(),
            grouped(self.cycles),
            grouped(self.sweeps),
            seconds(self.seconds),
            self.speedup.map_or_else(|| "–".to_owned(), |speedup| format!("{speedup:.2}×")),
        ]
    }
}

/// The runs of a figure as they ended, each with the settings that distinguish it.
fn rows(snapshots: &[&Snapshot], view: &ViewSpec) -> Vec<RunRow> {
    let records: Vec<Vec<Record>> =
        snapshots.iter().map(|snapshot| snapshot.history.records().copied().collect()).collect();
    let reductions: Vec<_> = snapshots
        .iter()
        .zip(&records)
        .map(|(snapshot, records)| {
            let problem = &snapshot.plan.spec.problem;
            Reductions { problem, records, start_residual: snapshot.start_residual }
        })
        .collect();
    let names = Titles::of(snapshots, view).each;
    let row = |((snapshot, own), name): ((&&Snapshot, &Reductions<'_>), String)| {
        let latest = snapshot.history.latest();
        RunRow {
            name: if name.is_empty() { THIS_RUN.to_owned() } else { name },
            cycles: latest.cycle,
            sweeps: latest.cycle * snapshot.plan.sweeps_per_cycle(),
            seconds: latest.seconds,
            speedup: reductions.first().and_then(|first| own.speedup_over(first)),
            reduction: own.last(),
        }
    };
    snapshots.iter().zip(&reductions).zip(names).map(row).collect()
}

/// Draws the table.
fn draw(snapshots: &[&Snapshot], view: &ViewSpec) -> String {
    let layout = Layout::new(&view.figure.page());
    let mut canvas = layout.canvas();
    let titles = Titles::of(snapshots, view);
    let head = Head::new(&layout, &titles.title, &titles.subtitle);
    head.draw(&mut canvas, &layout, 0.0, &[]);

    let rows: Vec<_> = rows(snapshots, view).iter().map(RunRow::texts).collect();
    let (unit, margin) = (layout.unit, layout.margin());
    let [across, down] = [layout.width, layout.height].map(f64::from);
    let label = layout.label();
    let widest = |column: usize| {
        let texts = rows.iter().map(|row| row[column].as_str()).chain([HEADINGS[column]]);
        texts.map(|text| width(text, label.weight, unit)).fold(0.0, f64::max) + 1.4 * unit
    };
    let widths: [f64; 5] =
        std::array::from_fn(|column| if column == 0 { NAME * unit } else { widest(column) });
    // Text that has no room is made smaller.
    let lines = (rows.len() + 1) as f64 * LINE * unit;
    let room = [across - 2.0 * margin, down - head.height - margin];
    let small = (room[0] / widths.iter().sum::<f64>()).min(room[1] / lines).clamp(0.1, 1.0);
    let size = small * unit;
    let label = Style { size, ..label };
    let heading = Style { weight: Weight::SemiBold, ..label };
    // Right ends of the columns of numbers; the name has what is left.
    let end = |column: usize| across - margin - small * widths[column + 1..].iter().sum::<f64>();
    let name = margin + 1.2 * size;

    let mut y = head.height + 0.5 * LINE * size;
    let mut line = |texts: [&str; 5], style: Style, mark: Option<[u8; 3]>| {
        if let Some(mark) = mark {
            canvas.rect(margin, y - 0.35 * size, 0.7 * size, 0.7 * size, mark, 1.0);
        }
        let text = fit(texts[0], style.weight, size, end(0) - name);
        canvas.words(name, y, Anchor::Start, style, &text);
        for (column, text) in texts.into_iter().enumerate().skip(1) {
            canvas.words(end(column), y, Anchor::End, style, text);
        }
        y += LINE * size;
    };
    line(HEADINGS, heading, None);
    for (index, row) in rows.iter().enumerate() {
        line(row.each_ref().map(String::as_str), label, Some(run_colour(view, index)));
    }
    let below = (head.height + LINE * size).round();
    let rule = Stroke { crisp: true, ..Stroke::solid(layout.hairline(), layout.palette.axis) };
    canvas.line(&format!("M{margin} {below}H{}", across - margin), rule);
    canvas.finish()
}
