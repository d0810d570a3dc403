//! The figure of several runs in a table: how far they are, and how long they took.

use crate::picture::draw::canvas::{Anchor, Stroke, Style};
use crate::picture::draw::layout::{Head, Layout};
use crate::picture::draw::text::{Weight, fit, width};
use crate::picture::figures::names::{grouped, seconds};
use crate::picture::figures::run_figure::{Titles, colour};
use crate::picture::view::spec::ViewSpec;
use crate::run::{Record, Reductions, Snapshot};

/// What stands over the columns.
const HEADINGS: [&str; 5] = ["run", "cycles", "sweeps", "time", "speedup"];

/// Between two lines of the table, and the room that a run's name has at the least, in letters' sizes.
const LINE: f64 = 1.9;
const NAME: f64 = 8.0;

/// A line of the table.
pub(crate) struct Row {
    pub name: String,
    pub cycles: u64,
    pub sweeps: u64,
    /// Of the solver.
    pub seconds: f64,
    /// The time of the first run over its own; see [`Reductions::speedup_over`].
    pub speedup: Option<f64>,
    /// ‖r‖₂ / ‖r₀‖₂, as far as it is known.
    pub reduction: Option<f64>,
}

impl Row {
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

/// The runs of a figure as they ended, each with what tells it apart.
pub(crate) fn rows(snapshots: &[&Snapshot], view: &ViewSpec) -> Vec<Row> {
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
        Row {
            name: if name.is_empty() { "this run".to_owned() } else { name },
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
pub(crate) fn runs(snapshots: &[&Snapshot], view: &ViewSpec) -> String {
    let layout = Layout::new(&view.figure.page());
    let mut canvas = layout.canvas();
    let titles = Titles::of(snapshots, view);
    let head = Head::new(&layout, &titles.title, &titles.subtitle);
    head.draw(&mut canvas, &layout, 0.0, &[]);

    let rows: Vec<_> = rows(snapshots, view).iter().map(Row::texts).collect();
    let (unit, margin) = (layout.unit, layout.margin());
    let [across, down] = [layout.width, layout.height].map(f64::from);
    let label = layout.label();
    let widest = |column: usize| {
        let texts = rows.iter().map(|row| row[column].as_str()).chain([HEADINGS[column]]);
        texts.map(|text| width(text, label.weight, unit)).fold(0.0, f64::max) + 1.4 * unit
    };
    let widths: [f64; 5] =
        std::array::from_fn(|column| if column == 0 { NAME * unit } else { widest(column) });
    // Letters that have no room are made smaller.
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
        line(row.each_ref().map(String::as_str), label, Some(colour(view, index)));
    }
    let below = (head.height + LINE * size).round();
    let rule = Stroke { crisp: true, ..Stroke::solid(layout.hairline(), layout.palette.axis) };
    canvas.line(&format!("M{margin} {below}H{}", across - margin), rule);
    canvas.finish()
}
