//! A field at single points over the cycles.

use crate::grid::{GridPoint, Need, Shape};
use crate::picture::axis::scale::ScaleKind;
use crate::picture::colour::paint::shown_values;
use crate::picture::draw::drawing::Drawing;
use crate::picture::figures::names::value_label;
use crate::picture::figures::titles::{Titles, figure_of_plot};
use crate::picture::plot::description::{Plot, PlotAxis, Series};
use crate::picture::view::error::ViewError;
use crate::picture::view::kind::{FigureKind, FigureType, Uses};
use crate::picture::view::spec::ViewSpec;
use crate::run::{self, CsvTable, FieldKind, ProbeSeries, Snapshot, SnapshotRequest};

/// A curve for each point that is followed.
struct Probes;

impl FigureKind {
    /// A field at single points over the cycles.
    pub const PROBES: Self = Self::new(&Probes);
}

impl FigureType for Probes {
    fn name(&self) -> &'static str {
        "probes"
    }

    fn label(&self) -> &'static str {
        "Probes"
    }

    fn about(&self) -> &'static str {
        "The field at single points, over the cycles."
    }

    fn about_table(&self) -> Option<&'static str> {
        Some("A table has every cycle (from 512 cycles on, every second, fourth, …).")
    }

    fn need(&self) -> Need {
        Need::Grid
    }

    fn file_stem(&self, field: FieldKind) -> String {
        format!("{}-probes", field.name())
    }

    fn uses(&self) -> Uses {
        Uses { field: true, absolute: true, probes: true, ..Uses::default() }
    }

    fn is_over_cycles(&self) -> bool {
        true
    }

    fn missing(&self, view: &ViewSpec, _: usize) -> Option<&'static str> {
        view.probes.is_empty().then_some("Add a probe first: point at the map and press D.")
    }

    fn request(&self, view: &ViewSpec, shape: &Shape, request: &mut SnapshotRequest) {
        let is_there = |point: &GridPoint| point.place(shape).is_some();
        request.series.probes = view.probes.iter().copied().filter(is_there).collect();
    }

    fn check(&self, view: &ViewSpec, shape: &Shape) -> Result<(), ViewError> {
        if view.probes.is_empty() {
            return Err(ViewError::NoProbe { kind: FigureKind::PROBES });
        }
        let outside = view.probes.iter().find(|point| point.place(shape).is_none());
        outside.map_or(Ok(()), |point| {
            let [x, y, z] = [shape.nx(), shape.rows_per_plane(), shape.nz()].map(|n| n - 1);
            let (first, last) = match shape.dim() {
                3 => (GridPoint::Volume([0; 3]), GridPoint::Volume([x, y, z])),
                _ => (GridPoint::Flat([0; 2]), GridPoint::Flat([x, y])),
            };
            let allowed = format!("points are {first} to {last}");
            Err(ViewError::Value { field: "the probe", value: point.to_string(), allowed })
        })
    }

    fn title(&self, first: &Snapshot, _: &ViewSpec) -> String {
        format!("{} at single points", first.field().label())
    }

    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        let spec = &view.figure;
        let (scale, absolute) = (spec.scale, spec.absolute);
        figure_of_plot(snapshots, view, |first| {
            let is_1d = first.plan.problem.shape.dim() == 1;
            let series = first.series.probes.iter().enumerate().map(|(index, probe)| {
                let colour = spec.theme.curve(index);
                probe_series(probe, is_1d, scale, absolute, first.cycle(), colour)
            });
            Some(probes_plot(series.collect(), first.field(), scale, absolute))
        })
    }

    fn tables<'a>(
        &self,
        snapshots: &[&'a Snapshot],
        view: &ViewSpec,
    ) -> Vec<(String, CsvTable<'a>)> {
        let table = |snapshot: &&'a Snapshot| run::probes_table(&snapshot.series.probes);
        let names = Titles::of(snapshots, view).each;
        names.into_iter().zip(snapshots.iter().map(table)).collect()
    }
}

/// The curve of a point, faint after the selected `cycle`.
pub fn probe_series(
    probe: &ProbeSeries,
    is_1d: bool,
    scale: ScaleKind,
    absolute: bool,
    cycle: u64,
    colour: [u8; 3],
) -> Series {
    let shown = |value: f64| {
        let shown = shown_values(&[value as f32], scale, absolute)[0];
        f64::from(if scale == ScaleKind::Log { shown.abs() } else { shown })
    };
    let points = probe.values.iter().map(|at| (at.cycle as f64, shown(at.value))).collect();
    let so_far = probe.values.partition_point(|at| at.cycle <= cycle);
    Series { so_far, ..Series::line(point_label(probe.point, is_1d), points, colour) }
}

/// The plot of a field at single points.
pub fn probes_plot(
    series: Vec<Series>,
    field: FieldKind,
    scale: ScaleKind,
    absolute: bool,
) -> Plot {
    let x = PlotAxis::new("cycles", ScaleKind::Linear);
    Plot { series, ..Plot::new(x, PlotAxis::new(value_label(field, scale, absolute), scale)) }
}

/// A point as a legend names it.
pub fn point_label(point: GridPoint, is_1d: bool) -> String {
    match point {
        GridPoint::Flat([i, _]) if is_1d => format!("i {i}"),
        GridPoint::Flat([i, j]) => format!("({i}, {j})"),
        GridPoint::Volume([i, j, k]) => format!("({i}, {j}, {k})"),
    }
}
