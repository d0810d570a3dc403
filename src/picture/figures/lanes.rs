//! When the parts of a real pass were made: copies to fast memory, sweeps and copies back, a lane for each.

use crate::grid::Need;
use crate::number::{percent, seconds};
use crate::picture::axis::scale::{Range, ScaleKind};
use crate::picture::colour::theme::Theme;
use crate::picture::draw::drawing::Drawing;
use crate::picture::figures::planes::check_streaming;
use crate::picture::figures::titles::figure_of_plot;
use crate::picture::plot::description::{Band, Plot, PlotAxis, Series, TickStyle};
use crate::picture::view::error::ViewError;
use crate::picture::view::kind::{FigureKind, FigureType, Uses};
use crate::picture::view::spec::ViewSpec;
use crate::run::{CsvTable, FieldKind, Plan, Snapshot};
use crate::solver::{PassTimes, StepTimes};

/// The lanes, from the bottom up.
const NAMES: [&str; 3] = ["copy down", "sweep", "copy up"];

/// The part of its lane that a bar takes.
const BAR: f64 = 0.8;

/// The lanes of a pass.
struct LanesFigure;

impl FigureKind {
    /// When the parts of a pass were made.
    pub const LANES: Self = Self::new(&LanesFigure);
}

impl FigureType for LanesFigure {
    fn name(&self) -> &'static str {
        "lanes"
    }

    fn label(&self) -> &'static str {
        "Lanes of a pass"
    }

    fn about(&self) -> &'static str {
        "When the last pass copied planes to fast memory, swept them and copied them back, as it was measured: what lies above or below a sweep is hidden behind it."
    }

    fn about_table(&self) -> Option<&'static str> {
        Some("A table has the times of each slab or chunk, in seconds.")
    }

    fn file_stem(&self, _: FieldKind) -> String {
        "lanes".to_owned()
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

    fn check_plan(&self, plan: &Plan) -> Result<(), ViewError> {
        check_streaming(FigureKind::LANES, plan)
    }

    fn check_observed(&self, first: &Snapshot) -> Result<(), ViewError> {
        first.passes.last().map(drop).ok_or(ViewError::NoPass)
    }

    fn title(&self, first: &Snapshot, _: &ViewSpec) -> String {
        first.passes.last().map_or_else(|| self.label().to_owned(), |times| lanes_title(times))
    }

    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        figure_of_plot(snapshots, view, |first| {
            Some(lanes_plot(first.passes.last()?, view.figure.theme))
        })
    }

    fn tables<'a>(&self, snapshots: &[&'a Snapshot], _: &ViewSpec) -> Vec<(String, CsvTable<'a>)> {
        let Some(times) = snapshots.first().and_then(|first| first.passes.last()) else {
            return Vec::new();
        };
        let row = |(number, step): (usize, &StepTimes)| {
            let [up, sweeps, down] = [step.up, step.sweeps, step.down];
            let [a, b, c, d, e, f] =
                [up[0], up[1], sweeps[0], sweeps[1], down[0], down[1]].map(|it| it.to_string());
            [number.to_string(), a, b, c, d, e, f]
        };
        let rows: Vec<_> = times.steps.iter().enumerate().map(row).collect();
        let header = ["step", "up_from", "up_to", "sweep_from", "sweep_to", "down_from", "down_to"];
        vec![("Lanes".to_owned(), CsvTable::new(header, rows.into_iter()))]
    }
}

/// What is drawn, and how much of the copies is hidden: `Lanes of a pass of 1.2 ms: 30 % of the time of copies is hidden
/// behind sweeps`.
pub fn lanes_title(times: &PassTimes) -> String {
    let pass = format!("Lanes of a pass of {}", seconds(times.seconds));
    match times.hidden() {
        Some(hidden) => {
            format!("{pass}: {} of the time of copies is hidden behind sweeps", percent(hidden))
        }
        None => pass,
    }
}

/// The plot: time across, a lane above the other.
pub fn lanes_plot(times: &PassTimes, theme: Theme) -> Plot {
    let end = times.steps.iter().map(|step| step.down[1].max(step.sweeps[1]));
    let end = end.fold(0.0, f64::max);
    // Without a digit that is always 0.
    let (unit, per_second) = if end < 1e-3 { ("µs", 1e6) } else { ("ms", 1e3) };
    let (mut series, mut bands) = (Vec::new(), Vec::new());
    for (number, step) in times.steps.iter().enumerate() {
        let colour = theme.curve(number % 2);
        for (lane, ends) in [step.down, step.sweeps, step.up].into_iter().enumerate() {
            let [from, to] = ends.map(|end| end * per_second);
            if from == to {
                continue;
            }
            let middle = lane as f64 + 0.5;
            let (low, high) = (middle - BAR / 2.0, middle + BAR / 2.0);
            let corners = |y: f64| vec![(from, y), (to, y)];
            bands.push(Band { low: corners(low), high: corners(high), colour });
            let upright = |x: f64| vec![(x, low), (x, high)];
            let outlines = [corners(low), corners(high), upright(from), upright(to)];
            series.extend(outlines.map(|line| Series::line("", line, colour)));
        }
    }
    let x = PlotAxis {
        range: Some(Range::new(0.0, end * per_second)),
        ..PlotAxis::new(format!("time since the pass began, {unit}"), ScaleKind::Linear)
    };
    let y = PlotAxis {
        range: Some(Range::new(0.0, NAMES.len() as f64)),
        ticks: TickStyle::Names(&NAMES),
        ..PlotAxis::new("", ScaleKind::Linear)
    };
    Plot { series, bands, ..Plot::new(x, y) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::Traffic;

    #[test]
    fn lanes_are_named_and_bars_lie_in_them() {
        let steps = vec![
            StepTimes { up: [0.0, 1e-3], sweeps: [1e-3, 3e-3], down: [3e-3, 4e-3] },
            StepTimes { up: [2e-3, 3e-3], sweeps: [3e-3, 3e-3], down: [4e-3, 5e-3] },
        ];
        let times = PassTimes { steps, traffic: Traffic::default(), seconds: 5e-3 };
        let plot = lanes_plot(&times, Theme::Dark);
        assert_eq!(plot.bands.len(), 5, "a part that took no time has no bar");
        assert_eq!(plot.x.range, Some(Range::new(0.0, 5.0)));
        let [_, scale] = plot.scales();
        let labels: Vec<_> = plot.y.ticks(&scale, 2).into_iter().map(|tick| tick.label).collect();
        assert_eq!(labels, NAMES);
        // The second copy up lies beside a sweep.
        let title = lanes_title(&times);
        assert!(title.contains("5.00 ms: 25 % of the time of copies is hidden"), "{title}");
        // A pass without steps, or of no time, has an empty picture.
        for steps in [Vec::new(), vec![StepTimes::default()]] {
            let nothing = PassTimes { steps, ..PassTimes::default() };
            assert!(lanes_plot(&nothing, Theme::Light).bands.is_empty());
            assert!(lanes_title(&nothing).starts_with("Lanes of a pass"));
        }
    }
}
