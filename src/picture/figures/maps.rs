//! What kinds that map a field have in common.

use crate::grid::{Slice, Tiling};
use crate::picture::axis::scale::{Range, Scale};
use crate::picture::colour::paint::{Samples, shown_values};
use crate::picture::figures::names::value_label;
use crate::picture::figures::titles::Titles;
use crate::picture::plot::heat_map::{HeatMapFigure, MapAxis, Panel};
use crate::picture::view::figure_spec::FigureSpec;
use crate::picture::view::spec::ViewSpec;
use crate::run::{self, CsvTable, Plan, Snapshot};
use std::borrow::Cow;

/// The samples of a field as they are drawn.
pub(crate) struct ScaledSamples<'a> {
    snapshot: &'a Snapshot,
    values: Cow<'a, [f32]>,
}

impl<'a> ScaledSamples<'a> {
    pub fn of(snapshot: &'a Snapshot, spec: &FigureSpec) -> Self {
        let values = shown_values(&snapshot.map().samples.values, spec.scale, spec.absolute);
        Self { snapshot, values }
    }

    /// What is known: a space–time diagram down to the cycle that is shown.
    pub fn known(&self) -> Samples<'_> {
        let [cols, mut rows] = self.snapshot.map().samples.size;
        if let Some(cycles) = self.cycles_per_row() {
            let made = usize::try_from(self.snapshot.cycle() / cycles).unwrap_or(usize::MAX);
            rows = rows.min(made.saturating_add(1));
        }
        let values = self.values.get(..cols * rows).unwrap_or_default();
        Samples::new(cols, rows, values).unwrap_or(Samples::EMPTY)
    }

    /// The cycles that a row of samples stands for, in a space–time diagram.
    fn cycles_per_row(&self) -> Option<u64> {
        let picture = self.snapshot.map();
        let cycles = picture.cycles_per_row? * picture.samples.block[1] as u64;
        Some(cycles.max(1))
    }

    /// Where the samples end on the y axis.
    fn end(&self) -> f64 {
        self.y_at(self.known().rows())
    }

    /// Rows in all: a space–time diagram has room for all cycles of the run.
    pub fn rows(&self) -> usize {
        let made = self.snapshot.history.latest().cycle;
        let rows = self.cycles_per_row().map_or(0, |cycles| made / cycles + 1);
        usize::try_from(rows)
            .unwrap_or(usize::MAX)
            .min(self.snapshot.map().samples.size[1])
            .max(self.known().rows())
    }

    /// Where the y axis ends.
    fn last(&self) -> f64 {
        self.y_at(self.rows())
    }

    /// Where the first `rows` rows end on the y axis.
    fn y_at(&self, rows: usize) -> f64 {
        let samples = &self.snapshot.map().samples;
        match self.cycles_per_row() {
            Some(cycles) => (rows as u64 * cycles) as f64,
            None => (samples.rows.start + rows * samples.block[1]) as f64,
        }
    }
}

/// Draws the field of each run: in 2D its map, in 1D its space–time diagram.
pub(crate) fn maps(snapshots: &[&Snapshot], view: &ViewSpec, titles: &Titles) -> String {
    let Some(first) = snapshots.first() else { return String::new() };
    let spec = &view.figure;
    let shown: Vec<_> =
        snapshots.iter().map(|snapshot| ScaledSamples::of(snapshot, spec)).collect();
    let known: Vec<_> = shown.iter().map(ScaledSamples::known).collect();
    let is_diagram = first.map().cycles_per_row.is_some();
    let drawn = |borders: Vec<f64>| if spec.borders { borders } else { Vec::new() };
    let borders: Vec<[Vec<f64>; 2]> = snapshots
        .iter()
        .map(|snapshot| {
            let shown = snapshot.plan.shown(snapshot.map().samples.slice);
            [0, 1].map(|axis| drawn(borders(shown.tiling(), axis)))
        })
        .collect();
    let device_borders: Vec<_> = snapshots
        .iter()
        // Below each other a diagram has cycles.
        .map(|snapshot| match snapshot.map().cycles_per_row {
            None => device_borders(&snapshot.plan, snapshot.map().samples.slice),
            Some(_) => Vec::new(),
        })
        .collect();
    let borders = borders.iter().zip(&device_borders);
    let panels = shown.iter().zip(&known).zip(borders).zip(&titles.each);
    let panels: Vec<_> = panels
        .map(|(((shown, known), ([across, down], devices)), title)| Panel {
            title,
            samples: *known,
            end: shown.end(),
            tile_borders_x: across,
            tile_borders_y: if is_diagram { &[] } else { down },
            device_borders_y: devices,
            cell_borders: &[],
            outlines: &[],
            lines: &[],
        })
        .collect();
    let samples = &first.map().samples;
    let [across, down] = Slice::index_names(samples.slice);
    let x_axis = MapAxis {
        label: across,
        start: samples.columns.start as f64,
        end: (samples.columns.start + samples.size[0] * samples.block[0]) as f64,
    };
    let end = shown.iter().map(ScaledSamples::last).fold(0.0, f64::max);
    HeatMapFigure {
        title: &titles.title,
        subtitle: &titles.subtitle,
        panels: &panels,
        x_axis,
        y_axis: match is_diagram {
            false => MapAxis { label: down, start: samples.rows.start as f64, end },
            true => MapAxis { label: "cycle", start: 0.0, end },
        },
        equal_aspect: !is_diagram,
        scale: scale(snapshots, view),
        map: spec.map,
        value_label: &value_label(first.field(), spec.scale, spec.absolute),
        page: spec.page(),
    }
    .svg()
}

/// Where values lie on the colour bar: the same for all runs.
pub(crate) fn scale(snapshots: &[&Snapshot], view: &ViewSpec) -> Scale {
    let spec = &view.figure;
    let fitted = || view.kind.range(snapshots, view).unwrap_or(Range::of(spec.scale, []));
    Scale::new(spec.scale, spec.range.unwrap_or_else(fitted))
}

/// The range of the field in all snapshots; `None` where nothing of it is known.
pub(crate) fn field_range(snapshots: &[&Snapshot], view: &ViewSpec) -> Option<Range> {
    let ranges = snapshots.iter().filter_map(|snapshot| {
        let shown = ScaledSamples::of(snapshot, &view.figure);
        range_of(shown.known().values(), &view.figure)
    });
    ranges.reduce(Range::union)
}

/// The range of values as they are shown; `None` where none is known.
pub(crate) fn known_range(values: &[f32], view: &ViewSpec) -> Option<Range> {
    range_of(&shown_values(values, view.figure.scale, view.figure.absolute), &view.figure)
}

/// The range of values as they are drawn; `None` where none is known.
pub(crate) fn range_of(shown: &[f32], spec: &FigureSpec) -> Option<Range> {
    let is_known = shown.iter().any(|value| value.is_finite());
    is_known.then(|| Range::of(spec.scale, shown.iter().copied()))
}

/// The samples of each run's field, point by point.
pub(crate) fn map_tables<'a>(
    snapshots: &[&'a Snapshot],
    view: &ViewSpec,
) -> Vec<(String, CsvTable<'a>)> {
    let table = |snapshot: &&'a Snapshot| {
        let map = snapshot.map();
        let [across, down] = Slice::index_names(map.samples.slice);
        let down = if map.cycles_per_row.is_some() { "cycle" } else { down };
        run::map_table([across, down, snapshot.field().name()], map)
    };
    let names = Titles::of(snapshots, view).each;
    names.into_iter().zip(snapshots.iter().map(table)).collect()
}

/// Where devices meet on the vertical axis of a map.
pub(crate) fn device_borders(plan: &Plan, slice: Option<Slice>) -> Vec<f64> {
    plan.device_borders_along(1, slice).into_iter().map(|border| border as f64).collect()
}

/// Where tile borders cross an axis of a grid.
pub(crate) fn borders(tiling: &Tiling, axis: usize) -> Vec<f64> {
    let axis = tiling.axes().get(axis);
    axis.map(|axis| axis.borders().map(|border| border as f64).collect()).unwrap_or_default()
}
