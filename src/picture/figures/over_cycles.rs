//! Figures of single numbers over the cycles: the edge share, and a field at some points.

use crate::picture::axis::scale::{Range, ScaleKind};
use crate::picture::colour::paint::shown_values;
use crate::picture::figures::names::value_label;
use crate::picture::figures::run_figure::Titles;
use crate::picture::plot::curves::{Curve, CurvesFigure};
use crate::picture::view::spec::ViewSpec;
use crate::run::{CycleValue, Snapshot};
use crate::solver::EDGE_WIDTH;

const PERCENT: f64 = 100.0;

/// Draws how much of ‖r‖² lies near tile borders, beside the part of the points that do.
pub(crate) fn edge_share(snapshots: &[&Snapshot], view: &ViewSpec) -> String {
    let Some(snapshot) = snapshots.first() else { return String::new() };
    let titles = Titles::of(&snapshots[..1], view);
    let numbers = &snapshot.over_cycles;
    let points = points(&numbers.edges, |share| PERCENT * share);
    let so_far = so_far(&numbers.edges, snapshot);
    let colour = view.figure.theme.curve(0);
    CurvesFigure {
        x_label: "cycles",
        y_label: &format!("% within {EDGE_WIDTH} points of a tile border"),
        curves: &[Curve { label: "of ‖r‖²", points: &points, so_far, colour, dashed: false }],
        y_scale: ScaleKind::Linear,
        y_range: Some(Range::new(0.0, PERCENT)),
        level: Some((PERCENT * numbers.near_borders, "of the points")),
        ..CurvesFigure::plain(&titles, &view.figure)
    }
    .svg()
}

/// Draws a field at single points.
pub(crate) fn probes(snapshots: &[&Snapshot], view: &ViewSpec) -> String {
    let Some(snapshot) = snapshots.first() else { return String::new() };
    let spec = &view.figure;
    let titles = Titles::of(&snapshots[..1], view);
    let is_line = snapshot.plan.problem.shape.dim() == 1;
    let shown = |value: f64| {
        let shown = shown_values(&[value as f32], spec.scale, spec.absolute)[0];
        f64::from(if spec.scale == ScaleKind::Log { shown.abs() } else { shown })
    };
    let probes = &snapshot.over_cycles.probes;
    let all: Vec<_> = probes.iter().map(|probe| points(&probe.values, shown)).collect();
    let labels: Vec<_> = probes.iter().map(|probe| point_label(probe.point, is_line)).collect();
    let curves: Vec<_> = (0..probes.len())
        .map(|index| Curve {
            label: &labels[index],
            points: &all[index],
            so_far: so_far(&probes[index].values, snapshot),
            colour: spec.theme.curve(index),
            dashed: false,
        })
        .collect();
    CurvesFigure {
        x_label: "cycles",
        y_label: &value_label(snapshot.field, spec.scale, spec.absolute),
        curves: &curves,
        y_scale: spec.scale,
        ..CurvesFigure::plain(&titles, spec)
    }
    .svg()
}

/// A point as a legend names it.
pub fn point_label([i, j]: [usize; 2], is_line: bool) -> String {
    if is_line { format!("i {i}") } else { format!("({i}, {j})") }
}

fn points(numbers: &[CycleValue], shown: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    numbers.iter().map(|at| (at.cycle as f64, shown(at.value))).collect()
}

/// How many of them there are by the cycle that is shown.
fn so_far(numbers: &[CycleValue], snapshot: &Snapshot) -> usize {
    numbers.partition_point(|at| at.cycle <= snapshot.cycle)
}
