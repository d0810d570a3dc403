//! The papers' plots beside the map: time and cycles against overlap, one curve per k (Islam & Wang,
//! Figs. 6 and 8), and the speedup and the best overlap against k (Figs. 4 and 12).

use crate::app::tuning::papers;
use crate::app::tuning::results::MapResults;
use crate::app::widgets::{plot, theme};
use crate::picture::{
    Layer, Level, MapValue, Plot, PlotAxis, Range, ScaleKind, Series, SweepMap, TickStyle, rounded,
};
use crate::run::{CostPrediction, SweepRow};
use crate::solver::Subiterations;
use eframe::egui::{RichText, Ui};

/// The name of the curves that Islam & Wang published (Tables II and III).
const PUBLISHED: &str = "published";

/// The view beside the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chart {
    /// Time and cycles against overlap.
    Overlap,
    /// Speedup and best overlap against k.
    K,
    /// The papers' tables.
    Papers,
}

impl Chart {
    const ALL: [Self; 3] = [Self::Overlap, Self::K, Self::Papers];

    fn label(self) -> &'static str {
        match self {
            Self::Overlap => "Against overlap",
            Self::K => "Against k",
            Self::Papers => "Papers' tables",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::Overlap => {
                "Time and cycles against overlap, one curve per k, as in Islam & Wang's Figs. 6 and 8."
            }
            Self::K => "Speedup and best overlap against k, as in Islam & Wang's Figs. 4 and 12.",
            Self::Papers => "Islam & Wang's Tables I to III, with the results of this machine.",
        }
    }
}

/// The choice of the view beside the map.
pub(super) fn choose(ui: &mut Ui, chart: &mut Chart) {
    ui.horizontal_wrapped(|ui| {
        for other in Chart::ALL {
            ui.selectable_value(chart, other, other.label()).on_hover_text(other.about());
        }
    });
}

pub(super) fn ui(ui: &mut Ui, results: &MapResults, layer: Layer, chart: Chart) {
    let height = (ui.available_height() - 56.0) / 2.0;
    let spec = &results.outline.spec;
    match chart {
        Chart::Overlap => {
            let (upper, lower) = match MapValue::natural(spec) {
                MapValue::Time => (MapValue::Time, MapValue::Cycles),
                MapValue::SweepTime => (MapValue::SweepTime, MapValue::CycleTime),
                _ => (MapValue::Cycles, MapValue::Sweeps),
            };
            for value in [upper, lower] {
                against_overlap(ui, results, layer, value, height);
            }
        }
        Chart::K => {
            speedup(ui, results, layer, height);
            best_overlap(ui, results, layer, height);
        }
        Chart::Papers => {}
    }
}

/// A value against overlap: measured as lines with points, predicted dashed where nothing was
/// measured yet.
fn against_overlap(ui: &mut Ui, results: &MapResults, layer: Layer, value: MapValue, height: f32) {
    let map = SweepMap::new(&results.outline, &results.rows, results.classic, layer, value);
    let unit = match value.unit() {
        "seconds" => ", s",
        _ => "",
    };
    ui.label(format!("{}{unit}", value.label())).on_hover_text(value.about());
    let classic = match value {
        MapValue::Time => results.classic.and_then(|classic| classic.seconds()),
        MapValue::SweepTime => {
            results.classic.and_then(|classic| classic.time).map(|time| time.median)
        }
        MapValue::Sweeps => results.classic.and_then(|classic| classic.sweeps),
        _ => None,
    };
    let theme = theme::of_figures(ui);
    let mut series = Vec::new();
    for (down, k) in map.ks.iter().enumerate() {
        let at = |across: usize| map.overlaps[across].largest() as f64;
        let cells = || map.cells[down].iter().enumerate();
        let measured: Vec<_> =
            cells().filter_map(|(across, cell)| Some((at(across), cell.value?))).collect();
        let predicted = cells().filter_map(|(across, cell)| {
            Some((at(across), predicted(results.predictions[cell.index?]?, value, *k)?))
        });
        let predicted: Vec<_> = predicted.collect();
        let errors = cells().filter_map(|(across, cell)| {
            let value_of = cell.value?;
            let noise = noise(value, cell.row?)?;
            Some((at(across), value_of * (1.0 - noise), value_of * (1.0 + noise)))
        });
        let (errors, colour) = (errors.collect(), theme.curve(down));
        if measured.len() < predicted.len() {
            series.push(Series { dashed: true, ..Series::line("", predicted, colour) });
        }
        let line = Series::line(format!("k = {}", k.label()), measured, colour);
        series.push(Series { has_dots: true, errors, ..line });
    }
    let levels = classic.filter(|classic| *classic > 0.0);
    let levels = levels.map(|value| Level { value, name: "classic".to_owned() });
    let x = PlotAxis::new("overlap", ScaleKind::Linear);
    let y = PlotAxis::new(format!("{}{unit}", value.label()), ScaleKind::Log);
    let plot = Plot { series, levels: levels.into_iter().collect(), ..Plot::new(x, y) };
    paint(ui, &format!("{value:?} against overlap"), height, &plot, |overlap, value| {
        format!("overlap {overlap:.0}\n{}", rounded(value))
    });
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

/// The predicted value.
fn predicted(prediction: CostPrediction, value: MapValue, k: Subiterations) -> Option<f64> {
    let cycles = prediction.cycles.map(|cycles| cycles.cycles);
    match value {
        MapValue::Time => Some(cycles? * prediction.seconds_per_cycle?),
        MapValue::Cycles => cycles,
        MapValue::Sweeps => cycles.zip(k.finite()).map(|(cycles, k)| cycles * k as f64),
        MapValue::CycleTime => prediction.seconds_per_cycle,
        MapValue::SweepTime => {
            prediction.seconds_per_cycle.and_then(|seconds| k.per_sweep(seconds))
        }
        MapValue::EdgeShare | MapValue::Error => None,
    }
}

/// The best row of each k.
fn best_of_k<'a>(map: &SweepMap<'a>) -> Vec<Option<&'a SweepRow>> {
    let best = |row: &Vec<crate::picture::MapCell<'a>>| {
        SweepRow::best(row.iter().filter_map(|cell| cell.row))
    };
    map.cells.iter().map(best).collect()
}

/// k as a power of two, a speedup, and its error.
type Ratio = (f64, f64, f64);

/// Speedup over classic Jacobi: without overlap (Fig. 4), and with the best overlap (Fig. 12).
fn speedup(ui: &mut Ui, results: &MapResults, layer: Layer, height: f32) {
    let value = MapValue::natural(&results.outline.spec);
    let map = SweepMap::new(&results.outline, &results.rows, results.classic, layer, value);
    let is_whole = value == MapValue::Time;
    let (title, about) = if is_whole {
        (
            "Speedup over classic",
            "Time of Jacobi's iteration to the tolerance over that of the setting, at the smallest \
             and at the best overlap.",
        )
    } else {
        (
            "Speedup per sweep over classic",
            "Time of a sweep of Jacobi's iteration over that of the setting; cycles were not counted.",
        )
    };
    ui.label(title).on_hover_text(about);
    let Some(classic) = results.classic.and_then(|classic| classic.cost()) else {
        ui.label(RichText::new("Classic Jacobi was not measured yet.").weak());
        return;
    };
    let sweep = results.classic.and_then(|classic| classic.time);
    let classic_error = sweep.map_or(0.0, |sweep| sweep.error / sweep.median);
    // k, the speedup, and its error.
    let ratio = |down: usize, row: Option<&SweepRow>| {
        let (row, ratio) = (row?, classic / row?.cost()?);
        let error = ratio * (row.cost_error() / row.cost()? + classic_error);
        Some(((map.ks[down].finite()? as f64).log2(), ratio, error))
    };
    let best: Vec<_> = (best_of_k(&map).into_iter().enumerate())
        .filter_map(|(down, row)| ratio(down, row))
        .collect();
    let first: Vec<_> = (map.cells.iter().enumerate())
        .filter_map(|(down, row)| ratio(down, row.first()?.row))
        .collect();
    let none = format!("overlap {}", map.overlaps[0]);
    let theme = theme::of_figures(ui);
    let curve = |index: usize, name: String, ratios: &[Ratio]| {
        let points = ratios.iter().map(|&(k, ratio, _)| (k, ratio)).collect();
        let errors = ratios.iter().map(|&(k, ratio, error)| (k, ratio - error, ratio + error));
        let line = Series::line(name, points, theme.curve(index));
        Series { has_dots: true, errors: errors.collect(), ..line }
    };
    let measured = [(none, first), ("best overlap".to_owned(), best)];
    // What was published are speedups to the tolerance.
    let published = papers::published(&results.outline.spec).filter(|_| is_whole);
    let published = published.map(|(k, _, ratio)| ((k as f64).log2(), ratio)).collect();
    let published = published_series(published, theme.borders());
    let curves = measured.into_iter().enumerate();
    let curves = curves.map(|(index, (name, ratios))| curve(index, name, &ratios));
    let series = curves.chain(published).collect();
    let levels = vec![Level { value: 1.0, name: "classic".to_owned() }];
    let plot = Plot { levels, ..by_k(series, title) };
    paint(ui, "speedup", height, &plot, |k, ratio| {
        format!("k = {:.0}\n{}", k.exp2(), rounded(ratio))
    });
}

/// The best overlap of each k (Tables II and III).
fn best_overlap(ui: &mut Ui, results: &MapResults, layer: Layer, height: f32) {
    let value = MapValue::natural(&results.outline.spec);
    let map = SweepMap::new(&results.outline, &results.rows, results.classic, layer, value);
    ui.label("Best overlap").on_hover_text(
        "The fastest overlap, and the range of overlaps that equal it within noise. More \
         subiterations leave more stale points near tile borders, and need more overlap.",
    );
    let mut best = Vec::new();
    let mut equal = Vec::new();
    for (down, row) in best_of_k(&map).into_iter().enumerate() {
        let Some(row) = row else { continue };
        let Some(k) = map.ks[down].finite().map(|k| (k as f64).log2()) else { continue };
        let equal_rows = map.cells[down].iter().filter_map(|cell| cell.row);
        let equal_rows = equal_rows.filter(|other| other.equals_within_noise(row));
        let overlaps = equal_rows.map(|other| other.overlap.largest() as f64);
        let ends = overlaps.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), overlap| {
            (low.min(overlap), high.max(overlap))
        });
        best.push((k, row.overlap.largest() as f64));
        equal.push((k, ends));
    }
    let theme = theme::of_figures(ui);
    let errors = equal.into_iter().map(|(k, (low, high))| (k, low, high)).collect();
    let measured =
        Series { has_dots: true, errors, ..Series::line("measured", best, theme.curve(2)) };
    let published = papers::published(&results.outline.spec);
    let published = published.map(|(k, overlap, _)| ((k as f64).log2(), overlap as f64)).collect();
    let published = published_series(published, theme.borders());
    let plot = by_k([measured].into_iter().chain(published).collect(), "best overlap");
    paint(ui, "best overlap", height, &plot, |k, overlap| {
        format!("k = {:.0}\n{}", k.exp2(), rounded(overlap))
    });
}

/// What was published, if there is anything to compare with.
fn published_series(points: Vec<(f64, f64)>, colour: [u8; 3]) -> Option<Series> {
    let series = Series { dashed: true, ..Series::line(PUBLISHED, points, colour) };
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

fn paint<'a>(
    ui: &mut Ui,
    id: &str,
    height: f32,
    plot: &'a Plot,
    text: impl Fn(f64, f64) -> String + 'a,
) {
    let frame = plot::Frame { id, height, cursor: None, has_legend: true };
    plot::ui(ui, &frame, plot, move |name, x, y| {
        Some(format!("{name}\n{}", text(x, y)).trim().to_owned())
    });
}
