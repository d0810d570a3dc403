//! How the residual of runs falls.

use crate::grid::{Need, Shape};
use crate::number::{grouped, number};
use crate::picture::axis::scale::ScaleKind;
use crate::picture::colour::theme::Theme;
use crate::picture::draw::drawing::Drawing;
use crate::picture::figures::run_colour::run_colour;
use crate::picture::figures::titles::Titles;
use crate::picture::plot::description::{Level, Plot, PlotAxis, Series};
use crate::picture::view::kind::{FigureKind, FigureType, Uses};
use crate::picture::view::norm::Norm;
use crate::picture::view::over::Over;
use crate::picture::view::spec::ViewSpec;
use crate::run::{
    self, AccelerationCurve, CsvTable, CycleRate, FieldKind, MethodName, Plan, Record, Snapshot,
    SnapshotRequest,
};

/// A norm of each run over its cycles, with the tolerance of the first.
struct Curves;

/// The name of Jacobi's iteration beside runs.
pub const CLASSIC_NAME: &str = "classic Jacobi";

/// The name of a run that is shown alone.
pub const THIS_RUN: &str = "this run";

impl FigureKind {
    /// How the residual falls.
    pub const CURVES: Self = Self::new(&Curves);
}

impl FigureType for Curves {
    fn name(&self) -> &'static str {
        "curves"
    }

    fn label(&self) -> &'static str {
        "Convergence"
    }

    fn about(&self) -> &'static str {
        "A norm over the cycles, for one run or several: the residual, the update or the error."
    }

    fn about_table(&self) -> Option<&'static str> {
        Some(
            "A table has all norms of each run, cycle by cycle (of runs over 262,144 cycles every second, fourth, …).",
        )
    }

    fn file_stem(&self, _: FieldKind) -> String {
        "convergence".to_owned()
    }

    fn need(&self) -> Need {
        Need::Nothing
    }

    fn uses(&self) -> Uses {
        Uses { over: true, norm: true, reference: true, rate: true, ..Uses::default() }
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

    fn request(&self, view: &ViewSpec, _: &Shape, request: &mut SnapshotRequest) {
        request.error |= view.norm == Norm::Error;
        request.observation.rate |= view.asymptotic_rate;
    }

    fn title(&self, _: &Snapshot, _: &ViewSpec) -> String {
        "Convergence".to_owned()
    }

    /// The curve of a run that continued after the selected cycle is faint from there on.
    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        let Some(first) = snapshots.first() else { return Drawing::Figure(String::new()) };
        let Titles { title, subtitle, each } = titles(snapshots, view);
        let cycle = first.plan.sweeps_per_cycle();
        let mut names = each.into_iter();
        let mut series: Vec<_> = snapshots
            .iter()
            .zip(&mut names)
            .enumerate()
            .map(|(index, (snapshot, name))| {
                let (points, so_far) = run_points(snapshot, view, cycle);
                Series { so_far, ..Series::line(name, points, run_colour(view, index)) }
            })
            .collect();
        if let Some(name) = names.next() {
            let start = first.start_residual;
            let value = |record: &Record| view.norm.of(record, start);
            let points = norm_points(&*first.reference, 1, view.over, cycle, value);
            let colour = view.figure.theme.reference();
            series.push(Series { dashed: true, ..Series::line(name, points, colour) });
        }
        let theme = view.figure.theme;
        series.extend(acceleration_series(&first.accelerated, view.over, cycle, theme, |record| {
            view.norm.of(record, first.start_residual)
        }));
        if let Some(rate) = rate_of(first, view) {
            let records: Vec<_> = first.history.records().copied().collect();
            let value = |record: &Record| view.norm.of(record, first.start_residual);
            series.extend(rate_series(rate, &records, value, theme, |record| {
                view.over.along(record, cycle, cycle)
            }));
        }
        let tolerance = view.norm.tolerance(&first.plan.spec.stop, cycle);
        let plot = convergence_plot(series, view.norm.label(), view.over, tolerance);
        let plot = if view.log_x { plot.with_log_x() } else { plot };
        Drawing::Figure(plot.svg(&title, &subtitle, &view.figure.page()))
    }

    fn tables<'a>(
        &self,
        snapshots: &[&'a Snapshot],
        view: &ViewSpec,
    ) -> Vec<(String, CsvTable<'a>)> {
        let table = |snapshot: &&'a Snapshot| {
            let sweeps = snapshot.plan.sweeps_per_cycle();
            run::curve_table(snapshot.history.records(), sweeps, snapshot.start_residual)
        };
        let reference = snapshots.first().filter(|first| !first.reference.is_empty());
        let reference =
            reference.map(|first| run::curve_table(&*first.reference, 1, first.start_residual));
        let tables = snapshots.iter().map(table).chain(reference);
        let mut tables: Vec<_> = titles(snapshots, view).each.into_iter().zip(tables).collect();
        if let Some(first) = snapshots.first() {
            for curve in first.accelerated.iter().filter(|curve| curve.is_known()) {
                let table = run::curve_table(&*curve.records, 1, first.start_residual);
                tables.push((curve.acceleration.label().to_owned(), table));
            }
        }
        tables
    }
}

/// The titles, of which Jacobi's iteration beside the first run has the last, if it was made.
fn titles(snapshots: &[&Snapshot], view: &ViewSpec) -> Titles {
    let mut titles = Titles::of(snapshots, view);
    let Some(first) = snapshots.first() else { return titles };
    let has_classic = !first.reference.is_empty();
    let has_reference = has_classic || rate_of(first, view).is_some();
    if (has_reference || first.accelerated.iter().any(AccelerationCurve::is_known))
        && let [only] = &mut titles.each[..]
    {
        *only = THIS_RUN.to_owned();
    }
    if has_classic {
        titles.each.push(CLASSIC_NAME.to_owned());
    }
    titles
}

/// The curves of accelerations of Jacobi's iteration, as far as this norm of them is known. Over time there are none:
/// their sweeps are counted, and not timed.
pub fn acceleration_series(
    curves: &[AccelerationCurve],
    over: Over,
    cycle: u64,
    theme: Theme,
    value: impl Fn(&Record) -> Option<f64>,
) -> Vec<Series> {
    if over == Over::Seconds {
        return Vec::new();
    }
    let series = |curve: &AccelerationCurve| {
        let points = norm_points(&*curve.records, 1, over, cycle, &value);
        let colour = theme.acceleration(curve.acceleration as usize);
        let line = Series::line(curve.acceleration.label(), points, colour);
        (!line.points.is_empty()).then_some(Series { dashed: true, ..line })
    };
    curves.iter().filter_map(series).collect()
}

/// The asymptotic rate of the first run, where it is shown and known.
fn rate_of<'a>(first: &'a Snapshot, view: &ViewSpec) -> Option<&'a CycleRate> {
    first.plan.rate().filter(|_| view.asymptotic_rate)?.as_ref().ok()
}

/// The most points of the line of an asymptotic rate: on an axis that is not linear it is bent.
const RATE_POINTS: usize = 512;

/// The line that the asymptotic rate of a run predicts, through the last norm that is known of it, as far as it is no
/// higher than the curve: a run that has stopped falling is far above its beginning there. Its name says how long a digit
/// takes.
pub fn rate_series(
    rate: &CycleRate,
    records: &[Record],
    value: impl Fn(&Record) -> Option<f64>,
    theme: Theme,
    along: impl Fn(&Record) -> f64,
) -> Option<Series> {
    let known = records.iter().rev().find_map(|record| Some((record.cycle, value(record)?)));
    let (last, norm) = known?;
    let factor = |cycle: u64| rate.radius.value.powf(cycle as f64 - last as f64);
    let largest = records.iter().filter_map(&value).fold(norm, f64::max);
    let every = records.len().div_ceil(RATE_POINTS);
    let points = records.iter().step_by(every).chain(records.last());
    let points = points.map(|record| (along(record), norm * factor(record.cycle)));
    let points = points.filter(|(_, norm)| *norm <= largest);
    let source = if rate.is_measured { "measured" } else { "theory" };
    let long = match rate.per_digit() {
        Some((count, unit)) => format!("{} {unit} a digit", grouped(count.round() as u64)),
        None => "no convergence".to_owned(),
    };
    let name = format!("asymptotic rate ({source}): {long}");
    let line = Series::line(name, points.collect(), theme.borders());
    Some(Series { dashed: true, ..line })
}

/// The norms of a run, and how many of them there are by the selected cycle.
fn run_points(snapshot: &Snapshot, view: &ViewSpec, cycle: u64) -> (Vec<(f64, f64)>, usize) {
    let records: Vec<_> = snapshot.history.records().copied().collect();
    let made = records.iter().take_while(|record| record.cycle <= snapshot.cycle());
    let own = snapshot.plan.sweeps_per_cycle();
    let cycle = sweeps_per_axis_cycle(&snapshot.plan, cycle);
    let start = snapshot.start_residual;
    let value = |record: &Record| view.norm.of(record, start);
    let so_far = made.filter(|record| value(record).is_some()).count();
    (norm_points(&records, own, view.over, cycle, value), so_far)
}

/// How many sweeps of a run are a cycle on the axis, where those of the first run are `first`: its own,
/// but of Jacobi's iteration those of the first, so that both are compared by their sweeps.
pub fn sweeps_per_axis_cycle(plan: &Plan, first: u64) -> u64 {
    match plan.spec.method.name {
        MethodName::Classic => first,
        _ => plan.sweeps_per_cycle(),
    }
}

/// A norm along the axis, where it is known. A cycle on the axis is `cycle` sweeps.
pub fn norm_points<'a>(
    records: impl IntoIterator<Item = &'a Record>,
    sweeps_per_cycle: u64,
    over: Over,
    cycle: u64,
    value: impl Fn(&Record) -> Option<f64>,
) -> Vec<(f64, f64)> {
    let point = |record| Some((over.along(record, sweeps_per_cycle, cycle), value(record)?));
    records.into_iter().filter_map(point).collect()
}

/// The plot of norms that fall, with the tolerance where it belongs to the norm.
pub fn convergence_plot(
    series: Vec<Series>,
    norm: &str,
    over: Over,
    tolerance: Option<f64>,
) -> Plot {
    let name = |value| format!("tolerance {}", number(value));
    let level = tolerance.map(|value| Level { value, name: name(value) });
    let x = PlotAxis::new(over.axis_title(), ScaleKind::Linear);
    let levels = level.into_iter().collect();
    Plot { series, levels, ..Plot::new(x, PlotAxis::new(norm, ScaleKind::Log)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::SpectralRadius;
    use crate::run::CycleRate;

    fn record(cycle: u64) -> Record {
        Record { cycle, ..Record::default() }
    }

    /// Of a run that falls by half in every cycle, and then no more.
    #[test]
    fn a_rate_is_a_line_through_the_last_norm_and_no_higher_than_the_curve() {
        let rate = CycleRate {
            radius: SpectralRadius { value: 0.5, error: 0.0 },
            is_measured: true,
            sweeps: Some(4),
        };
        let records: Vec<_> = (0..2000).map(record).collect();
        let line = |until: u64| {
            let value = |record: &Record| Some(0.5_f64.powf(record.cycle.min(until) as f64));
            let along = |record: &Record| record.cycle as f64;
            rate_series(&rate, &records, value, Theme::Light, along).unwrap()
        };
        let whole = line(900);
        // ln 10 / ln 2 cycles.
        assert_eq!(whole.name, "asymptotic rate (measured): 13 sweeps a digit");
        let (last, first) = (whole.points.last().unwrap(), whole.points[0]);
        assert_eq!(*last, (1999.0, 0.5_f64.powi(900)));
        assert!(first.0 >= 1099.0 && first.1 <= 1.0, "{first:?}");
        assert!(whole.points.len() <= RATE_POINTS + 1);
        let value = |_: &Record| None;
        assert!(rate_series(&rate, &records, value, Theme::Light, |_| 0.0).is_none());
    }
}
