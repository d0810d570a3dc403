//! The papers' plots of a sweep: time and cycles against overlap, one curve per k (Islam & Wang,
//! Figs. 6 and 8), and the speedup and the best overlap against k (Figs. 4 and 12).

use crate::picture::axis::scale::{Range, ScaleKind};
use crate::picture::colour::theme::Theme;
use crate::picture::plot::description::{Level, Plot, PlotAxis, Series, TickStyle};
use crate::picture::sweep::data::SweepData;
use crate::picture::sweep::kind::SweepFigure;
use crate::picture::sweep::map::{Layer, MapValue, SweepMap};
use crate::run::papers::{EXPERIMENTS, Experiment, Group, How};
use crate::run::{PerAxis, SweepRow, SweepSpec, TOLERANCE};

/// The name of the curves that Islam & Wang published (Tables II and III).
const PUBLISHED: &str = "published";

/// The name of the dashed lines of predictions, which all k share.
const PREDICTED: &str = "predicted";

/// The name of Jacobi's iteration.
const CLASSIC: &str = "classic";

/// A plot of a chart.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What it shows, for its title.
    pub title: String,
    /// The same in a sentence.
    pub about: &'static str,
    /// The plot.
    pub plot: Plot,
}

/// The plots of a figure of a sweep, from top to bottom; of the map, none.
pub fn charts(figure: SweepFigure, data: SweepData<'_>, layer: Layer, theme: Theme) -> Vec<Chart> {
    match figure {
        SweepFigure::Map => Vec::new(),
        SweepFigure::Overlap => {
            let values = match MapValue::natural(&data.outline.spec) {
                MapValue::Time => [MapValue::Time, MapValue::Cycles],
                MapValue::SweepTime => [MapValue::SweepTime, MapValue::CycleTime],
                _ => [MapValue::Cycles, MapValue::Sweeps],
            };
            values.map(|value| against_overlap(data, layer, value, theme)).into()
        }
        SweepFigure::K => vec![speedup(data, layer, theme), best_overlap(data, layer, theme)],
    }
}

/// A value against overlap: measured as lines with points, predicted dashed.
fn against_overlap(data: SweepData<'_>, layer: Layer, value: MapValue, theme: Theme) -> Chart {
    let map = SweepMap::new(data, layer, value);
    let unit = match value.unit() {
        "seconds" => ", s",
        _ => "",
    };
    let classic = match value {
        MapValue::Time => data.classic.and_then(|classic| classic.seconds()),
        MapValue::SweepTime => {
            data.classic.and_then(|classic| classic.time).map(|time| time.median)
        }
        MapValue::Sweeps => data.classic.and_then(|classic| classic.sweeps),
        _ => None,
    };
    let mut series = Vec::new();
    let mut is_named = false;
    for (down, k) in map.ks.iter().enumerate() {
        let at = |across: usize| map.overlaps[across].largest() as f64;
        let cells = || map.cells[down].iter().enumerate();
        let measured: Vec<_> =
            cells().filter_map(|(across, cell)| Some((at(across), cell.value?))).collect();
        let predicted: Vec<_> =
            cells().filter_map(|(across, cell)| Some((at(across), cell.predicted?))).collect();
        let errors = cells().filter_map(|(across, cell)| {
            let value_of = cell.value?;
            let noise = noise(value, cell.row?)?;
            Some((at(across), value_of * (1.0 - noise), value_of * (1.0 + noise)))
        });
        let (errors, colour) = (errors.collect(), theme.curve(down));
        if !predicted.is_empty() {
            let name = if std::mem::replace(&mut is_named, true) { "" } else { PREDICTED };
            series.push(Series { dashed: true, ..Series::line(name, predicted, colour) });
        }
        let line = Series::line(format!("k = {}", k.label()), measured, colour);
        series.push(Series { has_dots: true, errors, ..line });
    }
    // The legend has the dashed line at its end.
    series.sort_by_key(|series| series.name == PREDICTED);
    let levels = classic.filter(|classic| *classic > 0.0);
    let levels = levels.map(|value| Level { value, name: CLASSIC.to_owned() });
    let title = format!("{}{unit}", value.label());
    let x = PlotAxis::new("overlap", ScaleKind::Linear);
    let y = PlotAxis::new(title.clone(), ScaleKind::Log);
    let plot = Plot { series, levels: levels.into_iter().collect(), ..Plot::new(x, y) };
    Chart { title, about: value.about(), plot }
}

/// The relative error of a measured value; `None` for counts, which are exact.
fn noise(value: MapValue, row: &SweepRow) -> Option<f64> {
    match value {
        MapValue::Time | MapValue::CycleTime | MapValue::SweepTime => {
            Some(row.seconds_per_cycle_error? / row.seconds_per_cycle?)
        }
        _ => None,
    }
}

/// The best row of each k.
fn best_of_k<'a>(map: &SweepMap<'a>) -> Vec<Option<&'a SweepRow>> {
    map.cells.iter().map(|row| SweepRow::best(row.iter().filter_map(|cell| cell.row))).collect()
}

/// k as a power of two, a speedup, and its error.
type Ratio = (f64, f64, f64);

/// Speedup over Jacobi's iteration: without overlap (Fig. 4), and with the best overlap (Fig. 12).
fn speedup(data: SweepData<'_>, layer: Layer, theme: Theme) -> Chart {
    let value = MapValue::natural(&data.outline.spec);
    let map = SweepMap::new(data, layer, value);
    let is_whole = value == MapValue::Time;
    let (title, about) = if is_whole {
        (
            "Speedup over classic",
            "Projected time of Jacobi's iteration to the tolerance over that of the setting, at the smallest and at the best overlap.",
        )
    } else {
        (
            "Speedup per sweep over classic",
            "Time of a sweep of Jacobi's iteration over that of the setting; cycles were not counted.",
        )
    };
    let classic = data.classic.and_then(|classic| classic.cost());
    let sweep = data.classic.and_then(|classic| classic.time);
    let classic_error = sweep.map_or(0.0, |sweep| sweep.error / sweep.median);
    let ratio = |down: usize, row: Option<&SweepRow>| -> Option<Ratio> {
        let (row, ratio) = (row?, classic? / row?.cost()?);
        let error = ratio * (row.cost_error() / row.cost()? + classic_error);
        Some(((map.ks[down].finite()? as f64).log2(), ratio, error))
    };
    let best = best_of_k(&map);
    let best = best.into_iter().enumerate().filter_map(|(down, row)| ratio(down, row));
    let first = map.cells.iter().enumerate();
    let first = first.filter_map(|(down, row)| ratio(down, row.first()?.row));
    let none = map.overlaps.first().map_or_else(String::new, |none| format!("overlap {none}"));
    let curve = |index: usize, name: String, ratios: Vec<Ratio>| {
        let points = ratios.iter().map(|&(k, ratio, _)| (k, ratio)).collect();
        let errors = ratios.iter().map(|&(k, ratio, error)| (k, ratio - error, ratio + error));
        let line = Series::line(name, points, theme.curve(index));
        Series { has_dots: true, errors: errors.collect(), ..line }
    };
    let measured =
        [curve(0, none, first.collect()), curve(1, "best overlap".to_owned(), best.collect())];
    // What was published are speedups to the tolerance.
    let published = published(&data.outline.spec).filter(|_| is_whole);
    let published = published.map(|(k, _, ratio)| ((k as f64).log2(), ratio)).collect();
    let series = measured.into_iter().chain(published_series(published, theme)).collect();
    let levels = vec![Level { value: 1.0, name: CLASSIC.to_owned() }];
    Chart { title: title.to_owned(), about, plot: Plot { levels, ..by_k(series, title) } }
}

/// The best overlap of each k (Tables II and III).
fn best_overlap(data: SweepData<'_>, layer: Layer, theme: Theme) -> Chart {
    let map = SweepMap::new(data, layer, MapValue::natural(&data.outline.spec));
    let mut best = Vec::new();
    let mut errors = Vec::new();
    for (down, row) in best_of_k(&map).into_iter().enumerate() {
        let Some(row) = row else { continue };
        let Some(k) = map.ks[down].finite().map(|k| (k as f64).log2()) else { continue };
        let equal = map.cells[down].iter().filter_map(|cell| cell.row);
        let equal = equal.filter(|other| other.equals_within_noise(row));
        let overlaps = equal.map(|other| other.overlap.largest() as f64);
        let (low, high) = overlaps.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), at| {
            (low.min(at), high.max(at))
        });
        best.push((k, row.overlap.largest() as f64));
        errors.push((k, low, high));
    }
    let measured =
        Series { has_dots: true, errors, ..Series::line("measured", best, theme.curve(2)) };
    let published = published(&data.outline.spec);
    let published = published.map(|(k, overlap, _)| ((k as f64).log2(), overlap as f64)).collect();
    let series = [measured].into_iter().chain(published_series(published, theme)).collect();
    Chart {
        title: "Best overlap".to_owned(),
        about: "The fastest overlap, and the range of overlaps that equal it within noise. More subiterations leave more stale points near tile borders, and need more overlap.",
        plot: by_k(series, "best overlap"),
    }
}

/// k, the best overlap and the speedup as published, if a sweep is of the same system.
fn published(spec: &SweepSpec) -> impl Iterator<Item = (usize, usize, f64)> {
    EXPERIMENTS.iter().filter_map(|experiment| {
        let How::Tiled { tile, k, overlap } = experiment.how else { return None };
        let is_best = matches!(experiment.group, Group::Table2 | Group::Table3);
        let is_it =
            is_best && is_of_paper(spec, experiment) && spec.tile.contains(&PerAxis::all(tile));
        is_it.then_some((k, overlap, experiment.published_speedup?))
    })
}

/// Whether a sweep is of the system of a paper's experiment, with the same tolerance.
pub fn is_of_paper(spec: &SweepSpec, experiment: &Experiment) -> bool {
    spec.run.problem == experiment.run().problem && spec.run.stop.tolerance == Some(TOLERANCE)
}

/// What was published, if there is anything to compare with.
fn published_series(points: Vec<(f64, f64)>, theme: Theme) -> Option<Series> {
    let series = Series { dashed: true, ..Series::line(PUBLISHED, points, theme.borders()) };
    (!series.points.is_empty()).then_some(series)
}

/// A plot against k, in powers of two, from zero upwards.
fn by_k(series: Vec<Series>, title: &str) -> Plot {
    let x = PlotAxis { ticks: TickStyle::PowersOfTwo, ..PlotAxis::new("k", ScaleKind::Linear) };
    let plot = Plot { series, ..Plot::new(x, PlotAxis::new(title, ScaleKind::Linear)) };
    let values = plot.series.iter().flat_map(|series| {
        let ends = series.errors.iter().map(|(_, _, high)| *high);
        series.points.iter().map(|(_, value)| *value).chain(ends)
    });
    let most = values.filter(|value| value.is_finite()).fold(1.0, f64::max);
    let y = PlotAxis { range: Some(Range::new(0.0, most)), ..plot.y.clone() };
    Plot { y, ..plot }
}
