//! The figure of a field's magnitude against the distance from the nearest tile border.

use crate::picture::axis::scale::{Range, ScaleKind};
use crate::picture::figures::run_figure::Titles;
use crate::picture::plot::curves::{Band, Curve, CurvesFigure};
use crate::picture::view::figure_spec::FigureSpec;
use crate::picture::view::spec::ViewSpec;
use crate::run::Snapshot;
use crate::solver::AtDistance;

/// Draws the median over the distances, and the middle half of the points as a band.
pub(crate) fn distance(snapshots: &[&Snapshot], view: &ViewSpec) -> String {
    let Some(snapshot) = snapshots.first() else { return String::new() };
    let spec = &view.figure;
    let titles = Titles::of(&snapshots[..1], view);
    let classes = &snapshot.findings.distances;
    let [low, median, high] = [0, 1, 2].map(|quarter| {
        let point = |class: &AtDistance| (class.middle(), f64::from(class.quartiles[quarter]));
        classes.iter().map(point).collect::<Vec<_>>()
    });
    let colour = spec.theme.curve(0);
    let so_far = classes.len();
    let side = Curve { label: "", points: &low, so_far, colour, dashed: true };
    let curves = [
        side,
        Curve { points: &high, label: "quartiles", ..side },
        Curve { points: &median, label: "median", dashed: false, ..side },
    ];
    CurvesFigure {
        x_label: "points from the nearest tile border",
        y_label: &format!("|{}|", snapshot.field.symbol()),
        curves: &curves,
        bands: &[Band { low: &low, high: &high, colour }],
        y_scale: y_scale(spec),
        y_range: spec.range.or_else(|| range(snapshots, view)),
        ..CurvesFigure::plain(&titles, spec)
    }
    .svg()
}

/// The range of all quartiles.
pub(crate) fn range(snapshots: &[&Snapshot], view: &ViewSpec) -> Option<Range> {
    let ranges = snapshots.iter().filter_map(|snapshot| {
        let quartiles = snapshot.findings.distances.iter().flat_map(|class| class.quartiles);
        let is_shown = |value: &f32| value.is_finite() && *value > 0.0;
        let (lo, hi) = quartiles
            .filter(is_shown)
            .map(f64::from)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), value| {
                (value.min(lo), value.max(hi))
            });
        let lo = if y_scale(&view.figure) == ScaleKind::Log { lo } else { 0.0 };
        hi.is_finite().then(|| Range::new(lo, hi))
    });
    ranges.reduce(Range::union)
}

/// Magnitudes have no sign.
fn y_scale(spec: &FigureSpec) -> ScaleKind {
    match spec.scale {
        ScaleKind::Linear => ScaleKind::Linear,
        ScaleKind::Log | ScaleKind::Symmetric => ScaleKind::Log,
    }
}
