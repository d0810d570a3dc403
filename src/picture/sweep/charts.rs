//! The papers' plots of a sweep: time and cycles against overlap, one curve per k (Islam & Wang,
//! Figs. 6 and 8), time and cycles against k (Fig. 4), and the speedup and the best overlap against k
//! (Tables I to III). Of passes, the budget is in the place of overlap and the height in that of k.

use crate::picture::axis::scale::{Range, ScaleKind};
use crate::picture::colour::theme::Theme;
use crate::picture::plot::description::{Level, Plot, PlotAxis, Series, TickStyle};
use crate::picture::sweep::data::SweepData;
use crate::picture::sweep::kind::SweepFigure;
use crate::picture::sweep::map::{Layer, MapValue, SweepMap};
use crate::run::papers::{EXPERIMENTS, ExperimentMethod, Group, PublishedExperiment};
use crate::run::{CycleLists, ListAxis, PerAxis, SweepRow, SweepSpec, TOLERANCE};

/// The name of the curves that Islam & Wang published (Tables II and III).
const PUBLISHED: &str = "published";

/// The same without overlap, and with the best, where both are shown.
const PUBLISHED_NONE: &str = "published, overlap 0";
const PUBLISHED_BEST: &str = "published, best overlap";

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

/// The plots of a figure of a sweep, from top to bottom; for the map, none.
pub fn charts(figure: SweepFigure, data: SweepData<'_>, layer: Layer, theme: Theme) -> Vec<Chart> {
    match figure {
        SweepFigure::Map => Vec::new(),
        SweepFigure::Overlap => {
            values(data).map(|value| against_overlap(data, layer, value, theme)).into()
        }
        SweepFigure::KTime => values(data).map(|value| against_k(data, layer, value, theme)).into(),
        SweepFigure::K => vec![speedup(data, layer, theme), best_overlap(data, layer, theme)],
    }
}

/// The values that the two plots of a figure show: what was measured of time and cycles.
fn values(data: SweepData<'_>) -> [MapValue; 2] {
    match MapValue::natural(&data.outline.spec) {
        MapValue::Time => [MapValue::Time, MapValue::Cycles],
        MapValue::SweepTime => [MapValue::SweepTime, MapValue::CycleTime],
        _ => [MapValue::Cycles, MapValue::Sweeps],
    }
}

/// The value of Jacobi's iteration.
fn of_classic(data: SweepData<'_>, value: MapValue) -> Option<Level> {
    let classic = data.classic?;
    let value = match value {
        MapValue::Time => classic.seconds(),
        MapValue::SweepTime => classic.time.map(|time| time.median),
        MapValue::Sweeps => classic.sweeps,
        _ => None,
    };
    let value = value.filter(|value| *value > 0.0)?;
    Some(Level { value, name: CLASSIC.to_owned() })
}

/// The title of a plot of a value.
fn titled(value: MapValue) -> String {
    let unit = match value.unit() {
        "seconds" => ", s",
        _ => "",
    };
    format!("{}{unit}", value.label())
}

/// A value against k, at the smallest overlap and at the best of each k.
fn against_k(data: SweepData<'_>, layer: Layer, value: MapValue, theme: Theme) -> Chart {
    let map = SweepMap::new(data, layer.by_k(), value);
    let best = best_of_k(&map);
    let curve = |index: usize, name: &str, cell_of: &dyn Fn(usize) -> Option<usize>| {
        let (mut points, mut errors) = (Vec::new(), Vec::new());
        for (down, k) in map.down.numbers.iter().enumerate() {
            let Some(k) = k.map(f64::log2) else { continue };
            let Some(cell) = cell_of(down).map(|across| &map.cells[down][across]) else { continue };
            let Some(value_of) = cell.value else { continue };
            points.push((k, value_of));
            if let Some(noise) = cell.row.and_then(|row| noise(value, row)) {
                errors.push((k, value_of * (1.0 - noise), value_of * (1.0 + noise)));
            }
        }
        let line = Series::line(name, points, theme.curve(index));
        Series { has_dots: true, errors, ..line }
    };
    let first = curve(0, &map.across.value(0), &|_| Some(0));
    let with_best = curve(1, &format!("best {}", map.across.name), &|down| {
        let best = best[down]?;
        let is_it = |cell: &SweepRow| std::ptr::eq(cell, best);
        map.cells[down].iter().position(|cell| cell.row.is_some_and(is_it))
    });
    let mut series = vec![first, with_best];
    if value == MapValue::Time {
        for (index, best) in [false, true].into_iter().enumerate() {
            let points = published(&data.outline.spec, best);
            let points = points.filter_map(|it| Some((it.log2_k(), it.seconds()?))).collect();
            let line = published_series(points, theme.curve(index));
            let name = if best { PUBLISHED_BEST } else { PUBLISHED_NONE };
            series.extend(line.map(|line| Series { name: name.to_owned(), ..line }));
        }
    }
    let title = titled(value);
    let levels = of_classic(data, value).into_iter().collect();
    Chart { plot: by_k(&map, series, levels, &title), title, about: value.about() }
}

/// A value against overlap: measured as lines with points, predicted dashed.
fn against_overlap(data: SweepData<'_>, layer: Layer, value: MapValue, theme: Theme) -> Chart {
    let map = SweepMap::new(data, layer.by_k(), value);
    let mut series = Vec::new();
    for (down, k) in map.down.numbers.iter().enumerate() {
        let at = |across: usize| map.across.numbers[across].unwrap_or(f64::INFINITY);
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
            series.push(Series { dashed: true, ..Series::line(PREDICTED, predicted, colour) });
        }
        let line = Series::line(map.down.value(down), measured, colour);
        series.push(Series { has_dots: true, errors, ..line });
        if value == MapValue::Time {
            let of_k =
                |best| published(&data.outline.spec, best).filter(|it| Some(it.k as f64) == *k);
            let points: Vec<_> = of_k(false).chain(of_k(true)).collect();
            let points = points.iter().filter_map(|it| Some((it.overlap as f64, it.seconds()?)));
            let line = published_series(points.collect(), colour);
            series.extend(line.map(|line| Series { name: PUBLISHED.to_owned(), ..line }));
        }
    }
    // The legend has the dashed line at its end.
    series
        .sort_by_key(|series| [PUBLISHED, PREDICTED].iter().position(|name| series.name == *name));
    let title = titled(value);
    let ListAxis { name, unit, .. } = map.across;
    let x = PlotAxis::new(format!("{name}{unit}"), ScaleKind::Linear);
    let y = PlotAxis::new(title.clone(), ScaleKind::Log);
    let levels = of_classic(data, value).into_iter().collect();
    Chart { title, about: value.about(), plot: Plot { series, levels, ..Plot::new(x, y) } }
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

/// Speedup over Jacobi's iteration: without overlap, and with the best overlap (Tables I to III).
fn speedup(data: SweepData<'_>, layer: Layer, theme: Theme) -> Chart {
    let value = MapValue::natural(&data.outline.spec);
    let map = SweepMap::new(data, layer.by_k(), value);
    let is_whole = value == MapValue::Time;
    let (title, about) = if is_whole {
        (
            "Speedup over classic",
            "Projected time of Jacobi's iteration to the tolerance over that of the setting, at the smallest and at the best overlap or budget.",
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
        Some((map.down.numbers[down]?.log2(), ratio, error))
    };
    let best = best_of_k(&map);
    let best = best.into_iter().enumerate().filter_map(|(down, row)| ratio(down, row));
    let first = map.cells.iter().enumerate();
    let first = first.filter_map(|(down, row)| ratio(down, row.first()?.row));
    let curve = |index: usize, name: String, ratios: Vec<Ratio>| {
        let points = ratios.iter().map(|&(k, ratio, _)| (k, ratio)).collect();
        let errors = ratios.iter().map(|&(k, ratio, error)| (k, ratio - error, ratio + error));
        let line = Series::line(name, points, theme.curve(index));
        Series { has_dots: true, errors: errors.collect(), ..line }
    };
    let name = format!("best {}", map.across.name);
    let measured = [curve(0, map.across.value(0), first.collect()), curve(1, name, best.collect())];
    // What was published are speedups to the tolerance.
    let published = published(&data.outline.spec, true).filter(|_| is_whole);
    let published = published.filter_map(|it| Some((it.log2_k(), it.speedup?))).collect();
    let published = published_series(published, theme.borders());
    let series = measured.into_iter().chain(published).collect();
    let levels = vec![Level { value: 1.0, name: CLASSIC.to_owned() }];
    Chart { title: title.to_owned(), about, plot: by_k(&map, series, levels, title) }
}

/// The best overlap of each k (Tables II and III).
fn best_overlap(data: SweepData<'_>, layer: Layer, theme: Theme) -> Chart {
    let map = SweepMap::new(data, layer.by_k(), MapValue::natural(&data.outline.spec));
    let mut best = Vec::new();
    let mut errors = Vec::new();
    for (down, row) in best_of_k(&map).into_iter().enumerate() {
        let Some(row) = row else { continue };
        let Some(k) = map.down.numbers[down].map(f64::log2) else { continue };
        let cells = || {
            let cells = map.cells[down].iter().zip(&map.across.numbers);
            cells.filter_map(|(cell, at)| Some((cell.row?, (*at)?)))
        };
        let Some((_, at)) = cells().find(|(other, _)| std::ptr::eq(*other, row)) else { continue };
        let equal = cells().filter(|(other, _)| other.equals_within_noise(row));
        let (low, high) = equal.fold((at, at), |(low, high), (_, at)| (low.min(at), high.max(at)));
        best.push((k, at));
        errors.push((k, low, high));
    }
    let measured =
        Series { has_dots: true, errors, ..Series::line("measured", best, theme.curve(2)) };
    let published = published(&data.outline.spec, true);
    let published = published.map(|it| (it.log2_k(), it.overlap as f64)).collect();
    let published = published_series(published, theme.borders());
    let series = [measured].into_iter().chain(published).collect();
    let ListAxis { name, unit, .. } = map.across;
    Chart {
        title: format!("Best {name}"),
        about: match data.outline.spec.cycle {
            CycleLists::Tiles(_) => {
                "The fastest overlap, and the range of overlaps that equal it within noise. More subiterations leave more stale points near tile borders, and need more overlap."
            }
            CycleLists::Passes(_) => {
                "The fastest budget, and the range of budgets that equal it within noise."
            }
        },
        plot: by_k(&map, series, Vec::new(), &format!("best {name}{unit}")),
    }
}

/// A published result of a setting.
struct Published {
    k: usize,
    overlap: usize,
    speedup: Option<f64>,
    experiment: &'static PublishedExperiment,
}

impl Published {
    /// Where it lies along an axis of powers of two.
    fn log2_k(&self) -> f64 {
        (self.k as f64).log2()
    }

    fn seconds(&self) -> Option<f64> {
        self.experiment.published_seconds()
    }
}

/// What was published of the best overlaps, or without overlap, if a sweep is of the same system.
fn published(spec: &SweepSpec, best: bool) -> impl Iterator<Item = Published> {
    EXPERIMENTS.iter().filter_map(move |experiment| {
        let ExperimentMethod::Tiled { tile, k, overlap } = experiment.how else { return None };
        let is_meant = match experiment.group {
            Group::Table2 | Group::Table3 => best,
            Group::Table1 | Group::Table3Long => !best,
            Group::Classic | Group::HeatPlate | Group::Matrices | Group::Pyramids => false,
        };
        let is_it = is_meant
            && is_of_paper(spec, experiment)
            && spec.cycle.tiles().is_some_and(|it| it.tile.contains(&PerAxis::all(tile)));
        let speedup = experiment.published_speedup;
        is_it.then_some(Published { k, overlap, speedup, experiment })
    })
}

/// Whether a sweep is of the system of a paper's experiment, with the same tolerance.
pub fn is_of_paper(spec: &SweepSpec, experiment: &PublishedExperiment) -> bool {
    let method = &spec.run.method;
    let has_its_sweeps =
        method.omega == 1.0 && method.schedule().is_jacobi() && !method.has_frozen_devices();
    has_its_sweeps
        && spec.run.problem == experiment.run().problem
        && spec.run.stop.tolerance == Some(TOLERANCE)
}

/// What was published, if there is anything to compare with.
fn published_series(points: Vec<(f64, f64)>, colour: [u8; 3]) -> Option<Series> {
    let line = Series::line(PUBLISHED, points, colour);
    let series = Series { dashed: true, has_dots: true, ..line };
    (!series.points.is_empty()).then_some(series)
}

/// A plot against k or the height, in powers of two, from zero upwards.
fn by_k(map: &SweepMap<'_>, series: Vec<Series>, levels: Vec<Level>, title: &str) -> Plot {
    let x = PlotAxis::new(map.down.name, ScaleKind::Linear);
    let x = PlotAxis { ticks: TickStyle::PowersOfTwo, ..x };
    let plot = Plot { series, levels, ..Plot::new(x, PlotAxis::new(title, ScaleKind::Linear)) };
    let values = plot.series.iter().flat_map(|series| {
        let ends = series.errors.iter().map(|(_, _, high)| *high);
        series.points.iter().map(|(_, value)| *value).chain(ends)
    });
    let values = values.chain(plot.levels.iter().map(|level| level.value));
    let most = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
    let y = PlotAxis { range: Some(Range::new(0.0, most)), ..plot.y.clone() };
    Plot { y, ..plot }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{MethodSpec, Preset, RunSpec, StopSpec, TileLists};

    fn of_tile(points: usize) -> CycleLists {
        let tile = vec![PerAxis::all(points)];
        CycleLists::Tiles(TileLists { tile, ..TileLists::default() })
    }

    fn sweep_of(preset: &str) -> SweepSpec {
        let run = Preset::named(preset).unwrap().run();
        let cycle = of_tile(32);
        let (kernel, measure) = Default::default();
        SweepSpec { run, cycle, kernel, threads: vec![0], measure }
    }

    fn points(spec: &SweepSpec, best: bool) -> Vec<(usize, usize, f64)> {
        published(spec, best).map(|it| (it.k, it.overlap, it.speedup.unwrap())).collect()
    }

    /// Table 3 of the long version and table III, from the papers.
    #[test]
    fn the_published_points_are_those_of_the_tables() {
        let spec = sweep_of("paper-2d");
        let long = [2.17, 3.67, 3.98, 2.96, 1.86, 1.09];
        let ks = [4, 8, 16, 32, 64, 128];
        let expected: Vec<_> = ks.into_iter().zip(long).map(|(k, ratio)| (k, 0, ratio)).collect();
        assert_eq!(points(&spec, false), expected);
        let best = [(0, 2.18), (2, 4.22), (2, 5.58), (4, 5.84), (6, 4.88), (8, 3.50)];
        let expected: Vec<_> =
            ks.into_iter().zip(best).map(|(k, (overlap, ratio))| (k, overlap, ratio)).collect();
        assert_eq!(points(&spec, true), expected);
        // 7,901.1 ms of the classic iteration over the speedup.
        let first = published(&spec, false).next().unwrap().seconds().unwrap();
        assert!((first - 7.9011 / 2.17).abs() < 1e-12, "{first}");
        assert_eq!(points(&sweep_of("paper-1d-batch"), true).len(), 6);
    }

    #[test]
    fn nothing_was_published_of_other_systems() {
        let spec = sweep_of("paper-2d");
        let run = spec.run.clone();
        let other_stop = StopSpec { tolerance: Some(1e-5), ..run.stop };
        let damped = MethodSpec { omega: 0.9, ..run.method.clone() };
        for run in [
            RunSpec::default(),
            RunSpec { stop: other_stop, ..run.clone() },
            RunSpec { method: damped, ..run },
        ] {
            assert!(points(&SweepSpec { run, ..spec.clone() }, true).is_empty());
        }
        let cycle = of_tile(16);
        assert!(points(&SweepSpec { cycle, ..spec }, false).is_empty());
    }
}
