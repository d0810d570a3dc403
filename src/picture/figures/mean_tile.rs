//! The magnitude of a field, folded onto one tile.

use crate::grid::{AxisTiling, Shape};
use crate::picture::axis::scale::{Range, ScaleKind};
use crate::picture::colour::paint::Samples;
use crate::picture::colour::theme::Theme;
use crate::picture::draw::drawing::Drawing;
use crate::picture::figures::maps::{known_range, scale};
use crate::picture::figures::titles::Titles;
use crate::picture::plot::description::{Plot, PlotAxis, Series, VerticalLines};
use crate::picture::plot::heat_map::{HeatMapFigure, MapAxis, Panel};
use crate::picture::view::error::ViewError;
use crate::picture::view::kind::{FigureKind, FigureType, Uses};
use crate::picture::view::spec::ViewSpec;
use crate::run::{self, CsvTable, FieldKind, Plan, Snapshot, SnapshotRequest};

/// The mean of a field's magnitude over all inner tiles: in 2D a map, in 1D a curve.
struct MeanTile;

impl FigureKind {
    /// A field folded onto one tile.
    pub const MEAN_TILE: Self = Self::new(&MeanTile);
}

impl FigureType for MeanTile {
    fn name(&self) -> &'static str {
        "mean-tile"
    }

    fn label(&self) -> &'static str {
        "Mean tile"
    }

    fn about(&self) -> &'static str {
        "The magnitude of the field, folded onto one tile and averaged over all inner tiles."
    }

    fn about_table(&self) -> Option<&'static str> {
        Some("A table has the mean at each place of a tile.")
    }

    fn file_stem(&self, _: FieldKind) -> String {
        "mean-tile".to_owned()
    }

    fn check_plan(&self, plan: &Plan) -> Result<(), ViewError> {
        check_tiles(FigureKind::MEAN_TILE, plan)
    }

    fn uses(&self) -> Uses {
        Uses { absolute: false, slice: false, projection: false, ..Uses::MAP }
    }

    fn request(&self, _: &ViewSpec, _: &Shape, request: &mut SnapshotRequest) {
        request.observation.statistics = true;
    }

    fn check_observed(&self, first: &Snapshot) -> Result<(), ViewError> {
        match first.observation.mean_tile() {
            None => Err(ViewError::NotFolded),
            Some(_) => Ok(()),
        }
    }

    fn range(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Option<Range> {
        let means = |snapshot: &&Snapshot| {
            snapshot.observation.mean_tile().and_then(|mean| known_range(&mean.means, view))
        };
        snapshots.iter().filter_map(means).reduce(Range::union)
    }

    fn title(&self, first: &Snapshot, _: &ViewSpec) -> String {
        format!("Mean tile of the {}", first.field().name())
    }

    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        let nothing = || Drawing::Figure(String::new());
        let Some(snapshot) = snapshots.first() else { return nothing() };
        let Some(mean) = snapshot.observation.mean_tile() else { return nothing() };
        let spec = &view.figure;
        let [across, down] = mean.size;
        let titles = Titles::of(&snapshots[..1], view);
        let value_label = mean_label(snapshot.field());
        let inner = |axis: usize| {
            let axis = snapshot.plan.tiling.axes().get(axis).filter(|_| spec.borders);
            axis.map_or_else(Vec::new, inner_points)
        };
        if down == 1 {
            let mut plot =
                mean_tile_plot(&mean.means, &inner(0), snapshot.field(), spec.scale, spec.theme);
            plot.y.range = spec.range.or_else(|| self.range(snapshots, view));
            return Drawing::Figure(plot.svg(&titles.title, &titles.subtitle, &spec.page()));
        }
        let panel = Panel {
            title: "",
            samples: Samples::new(across, down, &mean.means).unwrap_or(Samples::EMPTY),
            end: down as f64,
            tile_borders_x: &inner(0),
            tile_borders_y: &inner(1),
            device_borders_y: &[],
            cell_borders: &[],
            outlines: &[],
            lines: &[],
        };
        let figure = HeatMapFigure {
            title: &titles.title,
            subtitle: &titles.subtitle,
            panels: &[panel],
            x_axis: MapAxis { label: "across the tile", start: 0.0, end: across as f64 },
            y_axis: MapAxis { label: "down the tile", start: 0.0, end: down as f64 },
            equal_aspect: true,
            scale: scale(&snapshots[..1], view),
            map: spec.map,
            value_label: &value_label,
            page: spec.page(),
        };
        Drawing::Figure(figure.svg())
    }

    fn tables<'a>(
        &self,
        snapshots: &[&'a Snapshot],
        view: &ViewSpec,
    ) -> Vec<(String, CsvTable<'a>)> {
        let table = |(name, snapshot): (String, &&'a Snapshot)| {
            let value = format!("mean_abs_{}", snapshot.field().name());
            let mean = snapshot.observation.mean_tile()?;
            Some((name, run::mean_tile_table(["across", "down", &value], mean)))
        };
        let names = Titles::of(snapshots, view).each;
        names.into_iter().zip(snapshots).filter_map(table).collect()
    }
}

/// What is written along the values of a mean tile.
fn mean_label(field: FieldKind) -> String {
    format!("mean |{}|", field.symbol())
}

/// Where the points that an inner tile owns begin and end along an axis, within the tile; empty where
/// it owns all of them.
pub fn inner_points(axis: &AxisTiling) -> Vec<f64> {
    let half = if axis.count() > 1 { axis.overlap() / 2 } else { 0 };
    let ends = [half, axis.tile() - half];
    ends.into_iter().filter(|_| half > 0).map(|end| end as f64).collect()
}

/// The plot of a 1D mean tile, with what inner tiles own between the marks.
pub fn mean_tile_plot(
    means: &[f32],
    inner: &[f64],
    field: FieldKind,
    scale: ScaleKind,
    theme: Theme,
) -> Plot {
    let point = |(index, value): (usize, &f32)| (index as f64, f64::from(*value));
    let points = means.iter().enumerate().map(point).collect();
    let places = inner.iter().map(|end| end - 0.5).collect();
    let x = PlotAxis::new("position in the tile", ScaleKind::Linear);
    Plot {
        series: vec![Series::line("", points, theme.curve(0))],
        marks: vec![VerticalLines { places, colour: theme.borders() }],
        ..Plot::new(x, PlotAxis::new(mean_label(field), scale))
    }
}

/// Whether a figure about tiles can be drawn of a run.
///
/// # Errors
/// [`ViewError::NoTiles`] if its method streams planes.
pub(super) fn check_tiles(kind: FigureKind, plan: &Plan) -> Result<(), ViewError> {
    let method = plan.spec.method.name;
    if method.is_streaming() { Err(ViewError::NoTiles { kind, method }) } else { Ok(()) }
}
