//! What runs take, stage by stage, as stacked bars; and what a faster processing would make of them.

use crate::grid::Need;
use crate::number::cell;
use crate::number::{grouped, seconds, two_digits};
use crate::picture::colour::theme::{MOST_BESIDE, Theme};
use crate::picture::draw::drawing::Drawing;
use crate::picture::figures::titles::Titles;
use crate::picture::plot::bars::{Bar, BarChart, BarGroup, BarPart};
use crate::picture::view::kind::{FigureKind, FigureType, Uses};
use crate::picture::view::spec::ViewSpec;
use crate::run::{CsvTable, FieldKind, RunTimes, Snapshot};

/// The stages of runs, to scale.
struct Times;

impl FigureKind {
    /// What runs take, stage by stage.
    pub const TIMES: Self = Self::new(&Times);
}

impl FigureType for Times {
    fn name(&self) -> &'static str {
        "times"
    }

    fn label(&self) -> &'static str {
        "Times"
    }

    fn about(&self) -> &'static str {
        "The time that a run takes to read, order, reorganise and upload its matrix, to make its cycles, and to download the unknowns; to scale."
    }

    fn about_table(&self) -> Option<&'static str> {
        Some("A table has the seconds of each stage.")
    }

    fn file_stem(&self, _: FieldKind) -> String {
        "times".to_owned()
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

    fn beside(&self) -> [usize; 2] {
        [0, MOST_BESIDE]
    }

    fn title(&self, _: &Snapshot, _: &ViewSpec) -> String {
        "Times by stage".to_owned()
    }

    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        let Titles { title, subtitle, each } = Titles::of(snapshots, view);
        let runs: Vec<_> =
            each.into_iter().zip(snapshots.iter().map(|snapshot| snapshot.times)).collect();
        let chart = times_chart(&runs, view.figure.theme);
        Drawing::Figure(chart.svg(&title, &subtitle, &view.figure.page()))
    }

    fn tables<'a>(
        &self,
        snapshots: &[&'a Snapshot],
        view: &ViewSpec,
    ) -> Vec<(String, CsvTable<'a>)> {
        let table = |snapshot: &&'a Snapshot| {
            let stages = snapshot.times.stages();
            let rows = stages.map(|(name, seconds)| [name.to_owned(), cell(Some(seconds))]);
            CsvTable::new(["stage", "seconds"], rows.into_iter())
        };
        let names = Titles::of(snapshots, view).each;
        names.into_iter().zip(snapshots.iter().map(table)).collect()
    }
}

/// The colours of the stages: those of set-up, of processing, and of shutdown.
fn colours(theme: Theme) -> [[u8; 3]; 6] {
    [1, 2, 3, 4, 0, 6].map(|index| theme.curve(index))
}

/// A bar for each run, in one scale.
pub fn times_chart(runs: &[(String, RunTimes)], theme: Theme) -> BarChart {
    let colours = colours(theme);
    let bar = |(name, times): &(String, RunTimes)| {
        let stages = times.stages();
        let known = stages.iter().filter(|(_, time)| *time > 0.0);
        let texts: Vec<_> =
            known.map(|(stage, time)| format!("{stage} {}", seconds(*time))).collect();
        let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
        let part = |((_, value), colour)| BarPart { value, colour, opacity: 1.0 };
        Bar {
            label: format!("{name}{}", texts.join(", ")),
            parts: stages.into_iter().zip(colours).map(part).collect(),
        }
    };
    let bars: Vec<_> = runs.iter().map(bar).collect();
    let longest = bars.iter().map(Bar::total).fold(0.0, f64::max);
    let names = RunTimes::default().stages().map(|(name, _)| name);
    let is_grid = runs.iter().all(|(_, times)| times.set_up() == 0.0);
    let notes = match is_grid {
        true => "Set-up is measured apart for sparse matrices alone.",
        false => {
            "Processing by the solver's own clock: the cycles, with the norms that were asked for. A matrix that was read, and an order that was found, for an earlier run of this program are not made again: their times are those of then."
        }
    };
    BarChart {
        legend: names.into_iter().zip(colours).collect(),
        groups: vec![BarGroup { name: "Times".to_owned(), longest, bars }],
        notes: notes.to_owned(),
    }
}

/// Amdahl's law: a time of which a part is processing, and what is left of it when processing is faster. `more` is what
/// the faster one needs beside it, in the same unit; `unit` writes a time.
pub fn amdahl_chart(
    [rest, processing]: [f64; 2],
    speedup: f64,
    more: f64,
    unit: impl Fn(f64) -> String,
    theme: Theme,
) -> BarChart {
    let (rest_colour, processing_colour) = (theme.curve(5), theme.curve(0));
    let bar = |name: String, rest: f64, processing: f64| Bar {
        label: format!("{name}: {} + {}", unit(rest), unit(processing)),
        parts: vec![
            BarPart { value: rest, colour: rest_colour, opacity: 1.0 },
            BarPart { value: processing, colour: processing_colour, opacity: 1.0 },
        ],
    };
    let all = rest + processing;
    let faster = [rest + more, processing / speedup];
    let total = all / (faster[0] + faster[1]);
    let most = match faster[0] > 0.0 {
        true => format!("at most {}×", two_digits(all / faster[0])),
        false => "no bound".to_owned(),
    };
    BarChart {
        legend: vec![("everything else", rest_colour), ("processing", processing_colour)],
        groups: vec![BarGroup {
            name: format!("{}× in total", two_digits(total)),
            longest: all.max(faster[0] + faster[1]),
            bars: vec![
                bar("as it is".to_owned(), rest, processing),
                bar(format!("processing {}× as fast", two_digits(speedup)), faster[0], faster[1]),
            ],
        }],
        notes: format!(
            "Amdahl's law: {} % of the time is not processing, so however fast that becomes, the whole gains {most}.",
            grouped((100.0 * rest / all.max(f64::MIN_POSITIVE)).round() as u64)
        ),
    }
}
