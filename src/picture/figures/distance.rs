//! The magnitude of a field against the distance from the nearest tile border.

use crate::grid::{Shape, Tiling};
use crate::picture::axis::scale::{Range, ScaleKind};
use crate::picture::colour::theme::Theme;
use crate::picture::draw::drawing::Drawing;
use crate::picture::figures::mean_tile::check_tiles;
use crate::picture::figures::titles::{Titles, figure_of_plot};
use crate::picture::plot::description::{Band, Plot, PlotAxis, Series};
use crate::picture::view::error::ViewError;
use crate::picture::view::kind::{FigureKind, FigureType, Uses};
use crate::picture::view::spec::ViewSpec;
use crate::run::{self, CsvTable, FieldKind, Plan, Snapshot, SnapshotRequest};
use crate::solver::AtDistance;

/// The median over the distances, and the middle half of the points as a band.
struct Distance;

impl FigureKind {
    /// A field against the distance from tile borders.
    pub const DISTANCE: Self = Self::new(&Distance);
}

impl FigureType for Distance {
    fn name(&self) -> &'static str {
        "distance"
    }

    fn label(&self) -> &'static str {
        "By distance"
    }

    fn about(&self) -> &'static str {
        "The field's magnitude by distance from the nearest tile border: median and quartiles."
    }

    fn about_table(&self) -> Option<&'static str> {
        Some("A table has a row for each distance.")
    }

    fn file_stem(&self, field: FieldKind) -> String {
        format!("{}-by-distance", field.name())
    }

    fn check_plan(&self, plan: &Plan) -> Result<(), ViewError> {
        check_tiles(FigureKind::DISTANCE, plan)
    }

    fn uses(&self) -> Uses {
        Uses { field: true, range: true, ..Uses::default() }
    }

    fn request(&self, _: &ViewSpec, _: &Shape, request: &mut SnapshotRequest) {
        request.observation.statistics = true;
    }

    fn check_observed(&self, first: &Snapshot) -> Result<(), ViewError> {
        match first.observation.distances().is_empty() {
            true => Err(ViewError::NoBorder),
            false => Ok(()),
        }
    }

    /// The range of all quartiles.
    fn range(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Option<Range> {
        let scale = magnitude_scale(view.figure.scale);
        let ranges = snapshots
            .iter()
            .filter_map(|snapshot| quartile_range(snapshot.observation.distances(), scale));
        ranges.reduce(Range::union)
    }

    fn title(&self, first: &Snapshot, _: &ViewSpec) -> String {
        format!("{} by distance", first.field().label())
    }

    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        let spec = &view.figure;
        figure_of_plot(snapshots, view, |first| {
            let (distances, tiling) = (first.observation.distances(), &first.plan.tiling);
            let mut plot = distance_plot(distances, tiling, first.field(), spec.scale, spec.theme);
            plot.y.range = spec.range.or_else(|| self.range(snapshots, view));
            Some(plot)
        })
    }

    fn tables<'a>(
        &self,
        snapshots: &[&'a Snapshot],
        view: &ViewSpec,
    ) -> Vec<(String, CsvTable<'a>)> {
        let table =
            |snapshot: &&'a Snapshot| run::distances_table(snapshot.observation.distances());
        let names = Titles::of(snapshots, view).each;
        names.into_iter().zip(snapshots.iter().map(table)).collect()
    }
}

/// What distances are counted in: points from a tile border, or steps through the matrix from the border of a block.
pub fn distance_unit(tiling: &Tiling) -> &'static str {
    if tiling.x().are_blocks() { "steps" } else { "points" }
}

/// The plot of quartiles over the distances.
pub fn distance_plot(
    classes: &[AtDistance],
    tiling: &Tiling,
    field: FieldKind,
    scale: ScaleKind,
    theme: Theme,
) -> Plot {
    let scale = magnitude_scale(scale);
    let [low, median, high] = [0, 1, 2].map(|quarter| {
        let point = |class: &AtDistance| (class.middle(), f64::from(class.quartiles[quarter]));
        classes.iter().map(point).collect::<Vec<_>>()
    });
    let colour = theme.curve(0);
    let side =
        |name, points: &[_]| Series { dashed: true, ..Series::line(name, points.to_vec(), colour) };
    let series =
        vec![side("", &low), side("quartiles", &high), Series::line("median", median, colour)];
    let title = match tiling.x().are_blocks() {
        true => "steps to the border of the block",
        false => "points from the nearest tile border",
    };
    let x = PlotAxis::new(title, ScaleKind::Linear);
    let y = PlotAxis::new(format!("|{}|", field.symbol()), scale);
    Plot {
        series,
        bands: vec![Band { low, high, colour }],
        y: PlotAxis { range: quartile_range(classes, scale), ..y.clone() },
        ..Plot::new(x, y)
    }
}

/// The range of quartiles; from zero on a linear scale.
fn quartile_range(classes: &[AtDistance], scale: ScaleKind) -> Option<Range> {
    let quartiles = classes.iter().flat_map(|class| class.quartiles);
    let is_shown = |value: &f32| value.is_finite() && *value > 0.0;
    let (lo, hi) = quartiles
        .filter(is_shown)
        .map(f64::from)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), value| (value.min(lo), value.max(hi)));
    let lo = if scale == ScaleKind::Log { lo } else { 0.0 };
    hi.is_finite().then(|| Range::new(lo, hi))
}

/// Magnitudes have no sign.
fn magnitude_scale(scale: ScaleKind) -> ScaleKind {
    match scale {
        ScaleKind::Linear => ScaleKind::Linear,
        ScaleKind::Log | ScaleKind::Symmetric => ScaleKind::Log,
    }
}
