//! The papers' own plots beside the map: time and cycles against overlap, one curve a k (Islam &
//! Wang, Figs. 6 and 8), and the speedup and the best overlap against k (Figs. 4 and 12).

use crate::app::tuning::{Seen, papers};
use crate::app::widgets::plot::{LABEL_ROOM, LABEL_SPACING, steps};
use crate::app::widgets::{plot, theme};
use crate::picture::{Layer, MapValue, SweepMap, number, rounded};
use crate::run::{CostPrediction, SweepRow};
use eframe::egui::{Color32, RichText, Ui};
use egui_plot::{
    AxisHints, Corner, GridMark, HLine, HoverPosition, Legend, Line, LineStyle, Plot, PlotUi,
    Points, uniform_grid_spacer,
};

/// The axis across reaches this far beyond the curves.
const LEGEND: f64 = 1.3;

/// Room for the labels of values, such as `0.002`.
const VALUE_ROOM: f32 = 44.0;

/// The name of what Islam & Wang published (Tables II and III).
const PUBLISHED: &str = "published";

/// What stands beside the map.
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
                "Time and cycles against overlap, one curve a k, as in Islam & Wang's Figs. 6 and 8."
            }
            Self::K => "Speedup and best overlap against k, as in Islam & Wang's Figs. 4 and 12.",
            Self::Papers => "Islam & Wang's Tables I to III, with what this machine does.",
        }
    }
}

/// The choice of what stands beside the map.
pub(super) fn choose(ui: &mut Ui, chart: &mut Chart) {
    ui.horizontal_wrapped(|ui| {
        for other in Chart::ALL {
            ui.selectable_value(chart, other, other.label()).on_hover_text(other.about());
        }
    });
}

pub(super) fn ui(ui: &mut Ui, seen: &Seen, layer: Layer, chart: Chart) {
    let height = (ui.available_height() - 56.0) / 2.0;
    let spec = &seen.outline.spec;
    match chart {
        Chart::Overlap => {
            let (upper, lower) = match MapValue::natural(spec) {
                MapValue::Time => (MapValue::Time, MapValue::Cycles),
                MapValue::SweepTime => (MapValue::SweepTime, MapValue::CycleTime),
                _ => (MapValue::Cycles, MapValue::Sweeps),
            };
            for value in [upper, lower] {
                against_overlap(ui, seen, layer, value, height);
            }
        }
        Chart::K => {
            speedup(ui, seen, layer, height);
            best_overlap(ui, seen, layer, height);
        }
        Chart::Papers => {}
    }
}

/// A value against overlap: measured as lines with points, predicted dashed where nothing was
/// measured yet.
fn against_overlap(ui: &mut Ui, seen: &Seen, layer: Layer, value: MapValue, height: f32) {
    let map = SweepMap::new(&seen.outline, &seen.rows, seen.classic, layer, value);
    let unit = match value.unit() {
        "seconds" => ", s",
        _ => "",
    };
    ui.label(format!("{}{unit}", value.label())).on_hover_text(value.about());
    let classic = match value {
        MapValue::Time => seen.classic.and_then(|classic| classic.seconds()),
        MapValue::SweepTime => {
            seen.classic.and_then(|classic| classic.time).map(|time| time.median)
        }
        MapValue::Sweeps => seen.classic.and_then(|classic| classic.sweeps),
        _ => None,
    };
    let grid = theme::grid(ui);
    let weak = ui.visuals().weak_text_color();
    let colours: Vec<_> = (0..map.ks.len()).map(|index| theme::curve(ui, index)).collect();
    // Room for the legend beside the curves.
    let widest = map.overlaps.iter().map(|sides| sides.largest()).max().unwrap_or(1) as f64;
    let plot = plot(&format!("{value:?} against overlap"), ui, height, grid);
    plot.include_x(LEGEND * widest).show(ui, |plot| {
        for (down, k) in map.ks.iter().enumerate() {
            let at = |across: usize| map.overlaps[across].largest() as f64;
            let log = |value: f64| (value > 0.0 && value.is_finite()).then(|| value.log10());
            let measured: Vec<_> = (0..map.overlaps.len())
                .filter_map(|across| Some([at(across), log(map.cells[down][across].value?)?]))
                .collect();
            let predicted: Vec<_> = (0..map.overlaps.len())
                .filter_map(|across| {
                    let place = map.cells[down][across].place?;
                    Some([at(across), log(predicted_cycles(seen.predictions[place]?, value, *k)?)?])
                })
                .collect();
            let (name, colour) = (format!("k = {k}"), colours[down]);
            if measured.len() < predicted.len() {
                let dashed = Line::new(name.clone(), predicted).color(colour).width(1.0);
                plot.line(dashed.style(LineStyle::dashed_dense()));
            }
            plot.points(Points::new(name.clone(), measured.clone()).color(colour).radius(2.5));
            plot.line(Line::new(name.clone(), measured).color(colour).width(1.5));
            for (across, cell) in map.cells[down].iter().enumerate() {
                let Some((value, noise)) =
                    cell.value.zip(cell.row.and_then(|row| noise(value, row)))
                else {
                    continue;
                };
                let ends = [log(value * (1.0 - noise)), log(value * (1.0 + noise))];
                bar(plot, &name, at(across), ends, colour);
            }
        }
        if let Some(classic) = classic.filter(|classic| *classic > 0.0) {
            let line = HLine::new("classic", classic.log10()).color(weak);
            plot.hline(line.style(LineStyle::dotted_dense()));
        }
    });
}

/// How far off a measured value may be, as a part of it; `None` for what is counted.
fn noise(value: MapValue, row: &SweepRow) -> Option<f64> {
    match value {
        MapValue::Time | MapValue::CycleTime | MapValue::SweepTime => {
            Some(row.seconds_per_cycle_error? / row.seconds_per_cycle?)
        }
        _ => None,
    }
}

/// An error bar under the name of its curve.
fn bar(plot: &mut PlotUi<'_>, name: &str, x: f64, ends: [Option<f64>; 2], colour: Color32) {
    if let [Some(low), Some(high)] = ends {
        let bar = Line::new(name.to_owned(), vec![[x, low], [x, high]]);
        plot.line(bar.color(colour).width(1.0).allow_hover(false));
    }
}

/// What is predicted of a value.
fn predicted_cycles(prediction: CostPrediction, value: MapValue, k: usize) -> Option<f64> {
    let cycles = prediction.cycles.map(|cycle_prediction| cycle_prediction.cycles);
    match value {
        MapValue::Time => Some(cycles? * prediction.seconds_per_cycle?),
        MapValue::Cycles => cycles,
        MapValue::Sweeps => cycles.map(|cycles| cycles * k as f64),
        MapValue::CycleTime => prediction.seconds_per_cycle,
        MapValue::SweepTime => prediction.seconds_per_cycle.map(|seconds| seconds / k as f64),
        MapValue::EdgeShare | MapValue::Error => None,
    }
}

/// The best row of every k, by its place.
fn best_of_k<'a>(map: &SweepMap<'a>) -> Vec<Option<&'a SweepRow>> {
    let best = |row: &Vec<crate::picture::MapCell<'a>>| {
        SweepRow::best(row.iter().filter_map(|cell| cell.row))
    };
    map.cells.iter().map(best).collect()
}

/// How many times as fast as classic: without overlap (Fig. 4), and with the best (Fig. 12).
fn speedup(ui: &mut Ui, seen: &Seen, layer: Layer, height: f32) {
    let value = MapValue::natural(&seen.outline.spec);
    let map = SweepMap::new(&seen.outline, &seen.rows, seen.classic, layer, value);
    let is_whole = value == MapValue::Time;
    let (title, about) = if is_whole {
        (
            "Speedup over classic",
            "How many times as soon as Jacobi's iteration: at its smallest overlap, and at its best.",
        )
    } else {
        (
            "Speed of a sweep over classic's",
            "How many times as fast as a sweep of Jacobi's iteration; cycles were not counted.",
        )
    };
    ui.label(title).on_hover_text(about);
    let Some(classic) = seen.classic.and_then(|classic| classic.cost()) else {
        ui.label(RichText::new("Classic Jacobi was not measured yet.").weak());
        return;
    };
    let sweep = seen.classic.and_then(|classic| classic.time);
    let unsure = sweep.map_or(0.0, |sweep| sweep.error / sweep.median);
    // k, the speedup, and how far off that may be.
    let ratio = |down: usize, row: Option<&SweepRow>| {
        let (row, ratio) = (row?, classic / row?.cost()?);
        let error = ratio * (row.cost_error() / row.cost()? + unsure);
        Some(((map.ks[down] as f64).log2(), ratio, error))
    };
    let best: Vec<_> = (best_of_k(&map).into_iter().enumerate())
        .filter_map(|(down, row)| ratio(down, row))
        .collect();
    let first: Vec<_> = (map.cells.iter().enumerate())
        .filter_map(|(down, row)| ratio(down, row.first()?.row))
        .collect();
    let none = format!("overlap {}", map.overlaps[0]);
    let colours = [theme::curve(ui, 0), theme::curve(ui, 1)];
    let grid = theme::grid(ui);
    let weak = ui.visuals().weak_text_color();
    by_k("speedup", ui, height, grid).show(ui, |plot| {
        for ((name, ratios), colour) in
            [(none, first), ("best overlap".to_owned(), best)].into_iter().zip(colours)
        {
            for &(k, ratio, error) in &ratios {
                bar(plot, &name, k, [Some(ratio - error), Some(ratio + error)], colour);
            }
            let points: Vec<_> = ratios.iter().map(|&(k, ratio, _)| [k, ratio]).collect();
            plot.points(Points::new(name.clone(), points.clone()).color(colour).radius(3.0));
            plot.line(Line::new(name, points).color(colour).width(1.5));
        }
        // What was published are speedups to the tolerance.
        let published = papers::published(&seen.outline.spec).filter(|_| is_whole);
        let points: Vec<_> = published.map(|(k, _, ratio)| [(k as f64).log2(), ratio]).collect();
        let line = Line::new(PUBLISHED, points).color(weak).width(1.0);
        plot.line(line.style(LineStyle::dashed_dense()));
        plot.hline(HLine::new("classic", 1.0).color(weak).style(LineStyle::dotted_dense()));
    });
}

/// The best overlap of every k, which grows with it (Tables II and III).
fn best_overlap(ui: &mut Ui, seen: &Seen, layer: Layer, height: f32) {
    let value = MapValue::natural(&seen.outline.spec);
    let map = SweepMap::new(&seen.outline, &seen.rows, seen.classic, layer, value);
    ui.label("Best overlap").on_hover_text(
        "The overlap that is done soonest, and between which others are equal within noise; more k \
         leaves more stale points at the edges, and wants more.",
    );
    let mut best = Vec::new();
    let mut equal = Vec::new();
    for (down, row) in best_of_k(&map).into_iter().enumerate() {
        let Some(row) = row else { continue };
        let k = (map.ks[down] as f64).log2();
        let alike = map.cells[down].iter().filter_map(|cell| cell.row);
        let alike = alike.filter(|other| other.equals_within_noise(row));
        let overlaps = alike.map(|other| other.overlap.largest() as f64);
        let ends = overlaps.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), overlap| {
            (low.min(overlap), high.max(overlap))
        });
        best.push([k, row.overlap.largest() as f64]);
        equal.push((k, ends));
    }
    let (colour, grid) = (theme::curve(ui, 2), theme::grid(ui));
    let weak = ui.visuals().weak_text_color();
    by_k("best overlap", ui, height, grid).show(ui, |plot| {
        for (k, (low, high)) in equal {
            bar(plot, "here", k, [Some(low), Some(high)], colour);
        }
        plot.points(Points::new("here", best.clone()).color(colour).radius(3.0));
        plot.line(Line::new("here", best).color(colour).width(1.5));
        let points: Vec<_> = papers::published(&seen.outline.spec)
            .map(|(k, overlap, _)| [(k as f64).log2(), overlap as f64])
            .collect();
        let line = Line::new(PUBLISHED, points).color(weak).width(1.0);
        plot.line(line.style(LineStyle::dashed_dense()));
    });
}

/// A plot against overlap with a logarithmic axis up.
fn plot<'a>(name: &str, ui: &Ui, height: f32, grid: Color32) -> Plot<'a> {
    let across = AxisHints::new_x()
        .label("overlap")
        .formatter(|mark, _| if mark.value < 0.0 { String::new() } else { mark.value.to_string() })
        .label_spacing(LABEL_SPACING);
    Plot::new(name)
        .height(height)
        .width(ui.available_width() - LABEL_ROOM)
        .x_grid_spacer(uniform_grid_spacer(|input| steps(input.base_step_size)))
        .custom_x_axes(vec![across])
        .y_grid_spacer(|input| decades(input.bounds))
        .y_axis_formatter(|mark, _| power(mark.value))
        .y_axis_min_width(VALUE_ROOM)
        .label_formatter(|hover| {
            Some(read_off(hover, |x, y| format!("overlap {x:.0}\n{}", rounded(10f64.powf(y)))))
        })
        .legend(Legend::default().position(Corner::RightTop).follow_insertion_order(true))
        .allow_scroll(false)
        .grid_color(grid)
}

/// A plot against k, in powers of two.
fn by_k<'a>(name: &str, ui: &Ui, height: f32, grid: Color32) -> Plot<'a> {
    Plot::new(name)
        .height(height)
        .width(ui.available_width() - LABEL_ROOM)
        .x_axis_label("k")
        .x_grid_spacer(uniform_grid_spacer(|input| plot::decades(input.base_step_size)))
        .x_axis_formatter(|mark, _| {
            let is_whole = (mark.value - mark.value.round()).abs() < 1e-6;
            let is_k = (0..usize::BITS as i64).contains(&(mark.value.round() as i64));
            if is_whole && is_k { format!("{:.0}", 2f64.powf(mark.value)) } else { String::new() }
        })
        .label_formatter(|hover| {
            Some(read_off(hover, |x, y| format!("k = {:.0}\n{}", 2f64.powf(x), rounded(y))))
        })
        .include_y(0.0)
        .legend(Legend::default().position(Corner::RightBottom).follow_insertion_order(true))
        .allow_scroll(false)
        .grid_color(grid)
}

/// Marks of a logarithmic axis between two powers of ten: 1, 2 and 5 times each, or where there are
/// many, the powers alone.
fn decades((low, high): (f64, f64)) -> Vec<GridMark> {
    if !(low.is_finite() && high.is_finite() && high - low < 100.0) {
        return Vec::new();
    }
    let factors: &[f64] = if high - low < 2.2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let powers = low.floor() as i32..=high.ceil() as i32;
    let values = powers.flat_map(|power| factors.iter().map(move |f| f64::from(power) + f.log10()));
    let seen = values.filter(|value| (low..=high).contains(value));
    seen.map(|value| GridMark { value, step_size: 1.0 }).collect()
}

/// A value of a logarithmic axis as a label.
fn power(value: f64) -> String {
    let value: f64 = format!("{:.0e}", 10f64.powf(value)).parse().unwrap_or(0.0);
    number(value)
}

fn read_off(hover: &HoverPosition<'_>, text: impl Fn(f64, f64) -> String) -> String {
    match hover {
        HoverPosition::NearDataPoint { plot_name, position, .. } => {
            format!("{plot_name}\n{}", text(position.x, position.y))
        }
        HoverPosition::Elsewhere { position } => text(position.x, position.y),
    }
}
