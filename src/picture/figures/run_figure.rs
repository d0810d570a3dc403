//! Figures of runs: maps of a field, its values along a line, and the curves of convergence.

use crate::grid::Tiling;
use crate::picture::axis::scale::{Range, Scale, ScaleKind};
use crate::picture::axis::ticks::number;
use crate::picture::colour::paint::{NO_VALUE, Samples, colours, shown_values};
use crate::picture::figures::arrangement::arrangement;
use crate::picture::figures::distance::distance;
use crate::picture::figures::inside::inside;
use crate::picture::figures::names::{
    counted, grouped, problem_title, rounded, told_apart, value_label,
};
use crate::picture::figures::over_cycles::{edge_share, probes};
use crate::picture::figures::runs::runs;
use crate::picture::file::saved::Drawing;
use crate::picture::plot::curves::{Curve, CurvesFigure, Marks};
use crate::picture::plot::heat_map::{Axis, HeatMapFigure, Panel};
use crate::picture::view::figure_spec::FigureSpec;
use crate::picture::view::kind::FigureKind;
use crate::picture::view::spec::ViewSpec;
use crate::run::{CutLine, MethodName, Record, RunSpec, Snapshot, StopRule, reduction};
use clap::ValueEnum;
use image::RgbaImage;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// What a curve is drawn over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// Cycles of the first run; a sweep of Jacobi's is a k-th of one
    #[default]
    Cycles,
    /// Sweeps
    Sweeps,
    /// Seconds of the solver
    Seconds,
}

/// Draws what a view shows of one run, or of several. They were captured for it
/// ([`ViewSpec::snapshot_request`]), on grids that go together ([`ViewSpec::check`]).
pub fn figure(snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
    match view.kind {
        FigureKind::HeatMap | FigureKind::SpaceTime | FigureKind::SideBySide => {
            Drawing::Figure(maps(snapshots, view))
        }
        FigureKind::Curves => Drawing::Figure(curves(snapshots, view)),
        FigureKind::Profile => Drawing::Figure(profile(snapshots, view)),
        FigureKind::MeanTile => Drawing::Figure(mean_tile(snapshots, view)),
        FigureKind::Distance => Drawing::Figure(distance(snapshots, view)),
        FigureKind::EdgeShare => Drawing::Figure(edge_share(snapshots, view)),
        FigureKind::Probes => Drawing::Figure(probes(snapshots, view)),
        FigureKind::Inside => Drawing::Figure(inside(snapshots, view)),
        FigureKind::Runs => Drawing::Figure(runs(snapshots, view)),
        FigureKind::Arrangement => Drawing::Figure(arrangement(snapshots, view)),
        FigureKind::BareMap => Drawing::Map(bare(snapshots, view)),
    }
}

/// The range that shows all that these were captured for: what several figures with the same
/// colours need. `None` where nothing is known, and of figures that show all cycles in any case.
pub fn common_range(snapshots: &[&Snapshot], view: &ViewSpec) -> Option<Range> {
    match view.kind {
        FigureKind::Distance => return crate::picture::figures::distance::range(snapshots, view),
        FigureKind::Inside => return crate::picture::figures::inside::range(snapshots, view),
        kind if kind.is_over_cycles() => return None,
        _ => {}
    }
    let ranges = snapshots.iter().filter_map(|snapshot| {
        let values = Shown::of(snapshot, &view.figure);
        let known = values.known().values();
        let is_known = known.iter().any(|value| value.is_finite());
        let fitted = Range::of(view.figure.scale, known.iter().copied());
        // A curve shows its lowest values, too, as far as the six decades of a map go.
        let least = known.iter().map(|value| value.abs()).filter(|value| *value > 0.0);
        let least = f64::from(least.fold(f32::INFINITY, f32::min));
        let is_curve = view.kind == FigureKind::Profile && view.figure.scale == ScaleKind::Log;
        let down = Range::new(least.max(1e-6 * fitted.hi()), fitted.hi());
        is_known.then(|| if is_curve { fitted.union(down) } else { fitted })
    });
    ranges.reduce(Range::union)
}

/// The colour of the `index`th run of a figure.
pub(crate) fn colour(view: &ViewSpec, index: usize) -> [u8; 3] {
    let theme = view.figure.theme;
    match index.checked_sub(1) {
        None => theme.curve(0),
        Some(beside) => theme.beside(view.colour(beside)),
    }
}

/// The colour of tile borders among those of curves: grey.
const REFERENCE: usize = 7;

/// What a figure shows of a field.
struct Shown<'a> {
    snapshot: &'a Snapshot,
    values: Cow<'a, [f32]>,
}

impl<'a> Shown<'a> {
    fn of(snapshot: &'a Snapshot, spec: &FigureSpec) -> Self {
        let values = shown_values(&snapshot.picture.samples.values, spec.scale, spec.absolute);
        Self { snapshot, values }
    }

    /// What is known: a space–time diagram down to the cycle that is shown.
    fn known(&self) -> Samples<'_> {
        let [cols, mut rows] = self.snapshot.picture.samples.size;
        if let Some(cycles) = self.cycles_per_row() {
            let made = usize::try_from(self.snapshot.cycle / cycles).unwrap_or(usize::MAX);
            rows = rows.min(made.saturating_add(1));
        }
        let values = self.values.get(..cols * rows).unwrap_or_default();
        Samples::new(cols, rows, values).unwrap_or(Samples::EMPTY)
    }

    /// The cycles that a row of samples stands for, in a space–time diagram.
    fn cycles_per_row(&self) -> Option<u64> {
        let picture = &self.snapshot.picture;
        let cycles = picture.cycles_per_row? * picture.samples.block[1] as u64;
        Some(cycles.max(1))
    }

    /// Where the samples end on the y axis.
    fn end(&self) -> f64 {
        let samples = &self.snapshot.picture.samples;
        let rows = self.known().rows();
        match self.cycles_per_row() {
            Some(cycles) => (rows as u64 * cycles) as f64,
            None => (samples.rows.start + rows * samples.block[1]) as f64,
        }
    }

    /// Rows in all: a space–time diagram has room for all cycles of the run.
    fn rows(&self) -> usize {
        let made = self.snapshot.history.latest().cycle;
        let rows = self.cycles_per_row().map_or(0, |cycles| made / cycles + 1);
        usize::try_from(rows)
            .unwrap_or(usize::MAX)
            .min(self.snapshot.picture.samples.size[1])
            .max(self.known().rows())
    }

    /// Where the y axis ends.
    fn last(&self) -> f64 {
        let samples = &self.snapshot.picture.samples;
        match self.cycles_per_row() {
            Some(cycles) => (self.rows() as u64 * cycles) as f64,
            None => (samples.rows.start + self.rows() * samples.block[1]) as f64,
        }
    }
}

/// The field of each run: of a plane its map, of a line its space–time diagram.
fn maps(snapshots: &[&Snapshot], view: &ViewSpec) -> String {
    let Some(first) = snapshots.first() else { return String::new() };
    let spec = &view.figure;
    let shown: Vec<_> = snapshots.iter().map(|snapshot| Shown::of(snapshot, spec)).collect();
    let known: Vec<_> = shown.iter().map(Shown::known).collect();
    let titles = Titles::of(snapshots, view);
    let is_plane = first.picture.cycles_per_row.is_none();
    let drawn = |borders: Vec<f64>| if spec.borders { borders } else { Vec::new() };
    let borders: Vec<[Vec<f64>; 2]> = snapshots
        .iter()
        .map(|snapshot| [0, 1].map(|axis| drawn(borders(&snapshot.plan.tiling, axis))))
        .collect();
    let panels = shown.iter().zip(&known).zip(&borders).zip(&titles.each);
    let panels: Vec<_> = panels
        .map(|(((shown, known), [across, down]), title)| Panel {
            title,
            samples: *known,
            end: shown.end(),
            tile_borders_x: across,
            tile_borders_y: if is_plane { down } else { &[] },
            outlines: &[],
        })
        .collect();
    let samples = &first.picture.samples;
    let x_axis = Axis {
        label: "i",
        start: samples.columns.start as f64,
        end: (samples.columns.start + samples.size[0] * samples.block[0]) as f64,
    };
    let end = shown.iter().map(Shown::last).fold(0.0, f64::max);
    HeatMapFigure {
        title: &titles.title,
        subtitle: &titles.subtitle,
        panels: &panels,
        x_axis,
        y_axis: match is_plane {
            true => Axis { label: "j", start: samples.rows.start as f64, end },
            false => Axis { label: "cycle", start: 0.0, end },
        },
        equal_aspect: is_plane,
        scale: scale(snapshots, view),
        map: spec.map,
        value_label: &value_label(first.field, spec.scale, spec.absolute),
        page: spec.page(),
    }
    .svg()
}

/// The bare map, one pixel a sample; where nothing is known it is transparent.
fn bare(snapshots: &[&Snapshot], view: &ViewSpec) -> RgbaImage {
    let Some(snapshot) = snapshots.first() else { return RgbaImage::default() };
    let shown = Shown::of(snapshot, &view.figure);
    let known = shown.known();
    let mut pixels = Vec::new();
    colours(&known, &scale(snapshots, view), view.figure.map, &mut pixels);
    // Cycles to come, so that all frames of an animation are of one size.
    let rows = shown.rows();
    pixels.resize(known.cols() * rows * NO_VALUE.len(), 0);
    let size = u32::try_from(known.cols()).ok().zip(u32::try_from(rows).ok());
    size.and_then(|(width, height)| RgbaImage::from_raw(width, height, pixels)).unwrap_or_default()
}

/// The magnitude of a field, folded onto one tile: of a plane a map, of a line a curve. Inner tiles
/// own what lies between the borders.
fn mean_tile(snapshots: &[&Snapshot], view: &ViewSpec) -> String {
    let Some(snapshot) = snapshots.first() else { return String::new() };
    let spec = &view.figure;
    let values = &snapshot.picture.samples.values;
    let [across, down] = snapshot.picture.samples.size;
    let titles = Titles::of(&snapshots[..1], view);
    let value_label = format!("mean |{}|", snapshot.field.symbol());
    let inner = |axis: usize| {
        let axes = snapshot.plan.tiling.axes();
        let cut = axes.get(axis).filter(|axis| spec.borders && axis.count() > 1);
        cut.map_or_else(Vec::new, |axis| {
            let half = axis.overlap() / 2;
            let ends = [half, axis.tile() - half];
            ends.into_iter().filter(|_| half > 0).map(|end| end as f64).collect()
        })
    };
    if down == 1 {
        let point = |(index, value): (usize, &f32)| (index as f64, f64::from(*value));
        let points: Vec<_> = values.iter().enumerate().map(point).collect();
        let colour = spec.theme.curve(0);
        let so_far = points.len();
        let curve = Curve { label: "", points: &points, so_far, colour, dashed: false };
        let places: Vec<f64> = inner(0).iter().map(|end| end - 0.5).collect();
        let marks = Marks { places: &places, colour: spec.theme.curve(REFERENCE) };
        return CurvesFigure {
            x_label: "place in the tile",
            y_label: &value_label,
            curves: &[curve],
            y_range: spec.range.or_else(|| common_range(snapshots, view)),
            marks: &[marks],
            ..CurvesFigure::plain(&titles, spec)
        }
        .svg();
    }
    let panel = Panel {
        title: "",
        samples: Samples::new(across, down, values).unwrap_or(Samples::EMPTY),
        end: down as f64,
        tile_borders_x: &inner(0),
        tile_borders_y: &inner(1),
        outlines: &[],
    };
    HeatMapFigure {
        title: &titles.title,
        subtitle: &titles.subtitle,
        panels: &[panel],
        x_axis: Axis { label: "across the tile", start: 0.0, end: across as f64 },
        y_axis: Axis { label: "down the tile", start: 0.0, end: down as f64 },
        equal_aspect: true,
        scale: scale(&snapshots[..1], view),
        map: spec.map,
        value_label: &value_label,
        page: spec.page(),
    }
    .svg()
}

/// The field of each run along a cut.
fn profile(snapshots: &[&Snapshot], view: &ViewSpec) -> String {
    let Some(first) = snapshots.first() else { return String::new() };
    let spec = &view.figure;
    let shape = &first.plan.problem.shape;
    let cut = view.cut.unwrap_or(CutLine::middle(shape));
    let points: Vec<Vec<(f64, f64)>> = snapshots
        .iter()
        .map(|snapshot| {
            let samples = &snapshot.picture.samples;
            let values = shown_values(&samples.values, spec.scale, spec.absolute);
            let magnitude = spec.scale == ScaleKind::Log;
            let value = |value: f32| f64::from(if magnitude { value.abs() } else { value });
            let starts = cut.points(shape).step_by(cut.block(samples));
            starts.zip(&*values).map(|(point, shown)| (cut.place(point), value(*shown))).collect()
        })
        .collect();
    let titles = Titles::of(snapshots, view);
    let curves: Vec<_> = points
        .iter()
        .zip(&titles.each)
        .enumerate()
        .map(|(index, (points, label))| Curve {
            label,
            points,
            so_far: points.len(),
            colour: colour(view, index),
            dashed: false,
        })
        .collect();
    // Runs with other tiles have borders of their own.
    let same = snapshots.iter().all(|snapshot| snapshot.plan.tiling == first.plan.tiling);
    let tilings = if same { &snapshots[..1] } else { snapshots };
    let places: Vec<Vec<f64>> =
        tilings.iter().map(|snapshot| cut.borders(shape, &snapshot.plan.tiling)).collect();
    let marks = places.iter().enumerate().map(|(index, places)| Marks {
        places,
        colour: if same { spec.theme.curve(REFERENCE) } else { colour(view, index) },
    });
    let marks: Vec<_> = marks.filter(|_| spec.borders).collect();
    CurvesFigure {
        x_label: &cut.axis_label(),
        y_label: &value_label(first.field, spec.scale, spec.absolute),
        curves: &curves,
        y_range: spec.range.or_else(|| common_range(snapshots, view)),
        marks: &marks,
        ..CurvesFigure::plain(&titles, spec)
    }
    .svg()
}

/// ‖r‖₂ / ‖r₀‖₂ of each run, and the tolerance of the first. The curve of a run that went on after
/// the cycle that is shown is faint from there on.
fn curves(snapshots: &[&Snapshot], view: &ViewSpec) -> String {
    let Some(first) = snapshots.first() else { return String::new() };
    let spec = &view.figure;
    let cycle = first.plan.sweeps_per_cycle();
    let runs = snapshots.iter().map(|snapshot| RunCurve::of(snapshot, view.over, cycle));
    let reference = &*first.reference;
    let reference = (!reference.is_empty()).then(|| RunCurve {
        points: points(reference, 1, first.start_residual, view.over, cycle),
        so_far: usize::MAX,
    });
    let drawn: Vec<_> = runs.chain(reference).collect();
    let titles = Titles::of_curves(snapshots, view);
    let curves: Vec<_> = drawn
        .iter()
        .zip(&titles.each)
        .enumerate()
        .map(|(index, (curve, label))| {
            let is_reference = index >= snapshots.len();
            Curve {
                label,
                points: &curve.points,
                so_far: curve.so_far,
                colour: if is_reference { spec.theme.reference() } else { colour(view, index) },
                dashed: is_reference,
            }
        })
        .collect();
    let stop = &first.plan.spec.stop;
    let tolerance = stop.tolerance.filter(|_| stop.rule == StopRule::Residual);
    let level_label = tolerance.map(|value| format!("tolerance {}", number(value)));
    CurvesFigure {
        x_label: match view.over {
            Over::Cycles => "cycles",
            Over::Sweeps => "sweeps",
            Over::Seconds => "seconds",
        },
        y_label: "‖r‖₂ / ‖r₀‖₂",
        curves: &curves,
        y_scale: ScaleKind::Log,
        level: tolerance.zip(level_label.as_deref()),
        ..CurvesFigure::plain(&titles, spec)
    }
    .svg()
}

/// The convergence of a run, and how many of its points there are by the cycle that is shown.
struct RunCurve {
    points: Vec<(f64, f64)>,
    so_far: usize,
}

impl RunCurve {
    fn of(snapshot: &Snapshot, over: Over, cycle: u64) -> Self {
        let records: Vec<_> = snapshot.history.records().copied().collect();
        let made = records.iter().take_while(|record| record.cycle <= snapshot.cycle);
        let so_far = made.filter(|record| record.residual.is_some()).count();
        // A cycle of each run is a cycle; what has other ones is put beside it by its sweeps.
        let own = snapshot.plan.sweeps_per_cycle();
        let is_classic = snapshot.plan.spec.method.name == MethodName::Classic;
        let cycle = if is_classic { cycle } else { own };
        Self { points: points(&records, own, snapshot.start_residual, over, cycle), so_far }
    }
}

/// Reductions over cycles, sweeps or seconds. A cycle on the axis is `cycle` sweeps.
fn points(
    records: &[Record],
    sweeps_per_cycle: u64,
    start_residual: f64,
    over: Over,
    cycle: u64,
) -> Vec<(f64, f64)> {
    let point = |record: &Record| {
        let reduction = reduction(record.residual?.l2, start_residual);
        Some((over.along(record, sweeps_per_cycle, cycle), reduction))
    };
    records.iter().filter_map(point).collect()
}

impl Over {
    /// Where a record stands along the axis, whose run makes so many sweeps a cycle; a cycle on
    /// the axis is `cycle` sweeps.
    pub fn along(self, record: &Record, sweeps_per_cycle: u64, cycle: u64) -> f64 {
        let sweeps = (record.cycle * sweeps_per_cycle) as f64;
        match self {
            Self::Cycles => sweeps / cycle.max(1) as f64,
            Self::Sweeps => sweeps,
            Self::Seconds => record.seconds,
        }
    }
}

/// Where values lie on the colour bar: the same for all runs.
fn scale(snapshots: &[&Snapshot], view: &ViewSpec) -> Scale {
    let spec = &view.figure;
    let fitted = || common_range(snapshots, view).unwrap_or(Range::of(spec.scale, []));
    Scale::new(spec.scale, spec.range.unwrap_or_else(fitted))
}

fn borders(tiling: &Tiling, axis: usize) -> Vec<f64> {
    let axis = tiling.axes().get(axis);
    axis.map(|axis| axis.borders().map(|border| border as f64).collect()).unwrap_or_default()
}

/// What is written above a figure, and above or beside each run in it.
pub(crate) struct Titles {
    pub title: String,
    pub subtitle: String,
    /// Empty for a single run.
    pub each: Vec<String>,
}

impl Titles {
    /// Those of curves, of which Jacobi's iteration beside the first run has the last, if there is one.
    pub fn of_curves(snapshots: &[&Snapshot], view: &ViewSpec) -> Self {
        let mut titles = Self::of(snapshots, view);
        if snapshots.first().is_some_and(|first| !first.reference.is_empty()) {
            if let [only] = &mut titles.each[..] {
                *only = "this run".to_owned();
            }
            titles.each.push("classic Jacobi".to_owned());
        }
        titles
    }

    pub fn of(snapshots: &[&Snapshot], view: &ViewSpec) -> Self {
        let Some(first) = snapshots.first() else {
            return Self { title: String::new(), subtitle: String::new(), each: Vec::new() };
        };
        let same =
            |of: fn(&Snapshot) -> u64| snapshots.iter().all(|snapshot| of(snapshot) == of(first));
        let same_cycle = same(|snapshot| snapshot.cycle);
        let is_diagram = first.picture.cycles_per_row.is_some();
        let shows_cycle = !view.kind.is_over_cycles() && !is_diagram;
        let after = |snapshot: &Snapshot| format!("after {}", counted(snapshot.cycle, "cycle"));
        let runs: Vec<&RunSpec> = snapshots.iter().map(|snapshot| &snapshot.plan.spec).collect();
        let (common, mut each) = told_apart(&runs);

        let shape = &first.plan.problem.shape;
        let same_problem = runs.iter().all(|run| run.problem == runs[0].problem);
        let same_shape = snapshots.iter().all(|snapshot| snapshot.plan.problem.shape == *shape);
        let problem = match (same_problem, same_shape) {
            (true, _) => format!(" — {}", problem_title(runs[0], shape)),
            (false, true) => format!(" — {shape}"),
            (false, false) => String::new(),
        };
        let label = first.field.label();
        let what = match view.kind {
            FigureKind::Curves => "Convergence".to_owned(),
            FigureKind::Runs => "Runs".to_owned(),
            FigureKind::Profile if shape.dim() == 2 => {
                format!("{label} along {}", spaced(view.cut.unwrap_or(CutLine::middle(shape))))
            }
            FigureKind::MeanTile => format!("Mean tile of the {}", first.field.name()),
            FigureKind::Distance => format!("{label} by distance"),
            FigureKind::EdgeShare => "Residual near tile borders".to_owned(),
            FigureKind::Probes => format!("{label} at single points"),
            FigureKind::Inside => match &first.findings.inside {
                Some(inside) => crate::picture::figures::inside::what(inside, shape.dim() == 1),
                None => "Inside a cycle".to_owned(),
            },
            _ if is_diagram => format!("{label}, cycle by cycle"),
            _ => label.to_owned(),
        };
        // From frame to frame one line changes, below all that stays.
        let is_frame = view.frames.is_some();
        let when = match shows_cycle && same_cycle {
            true if !is_frame => format!(" {}", after(first)),
            _ => String::new(),
        };
        let title = format!("{what}{when}{problem}");

        let mut subtitle = common;
        if is_frame {
            subtitle.push_str(&format!("\ncycle {}", grouped(first.cycle)));
        }
        match snapshots {
            [snapshot] => {
                match (view.kind, &snapshot.findings.inside) {
                    (FigureKind::Inside, Some(inside)) => {
                        subtitle.push_str(&crate::picture::figures::inside::lagging(
                            inside,
                            shape.dim() == 1,
                        ));
                    }
                    (kind, _) if kind.is_over_cycles() => {}
                    _ => subtitle.push_str(&told_of(snapshot)),
                }
                each = vec![String::new()];
            }
            _ => {
                let names = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh"];
                for ((title, snapshot), name) in each.iter_mut().zip(snapshots).zip(names) {
                    if title.is_empty() && (same_cycle || !shows_cycle) {
                        *title = format!("{name} run");
                    }
                    if shows_cycle && !same_cycle {
                        let between = if title.is_empty() { "" } else { ", " };
                        title.push_str(&format!("{between}{}", after(snapshot)));
                    }
                    if view.kind == FigureKind::SideBySide
                        && let Some(reduction) = reduction_of(snapshot)
                    {
                        title.push_str(&format!(" · {reduction}"));
                    }
                }
            }
        }
        if !view.figure.annotations {
            return Self { title: String::new(), subtitle: String::new(), each };
        }
        Self { title, subtitle, each }
    }
}

/// A cut as a title names it.
fn spaced(cut: CutLine) -> String {
    match cut {
        CutLine::Segment([[i, row], [to, to_row]]) => format!("({i}, {row}) – ({to}, {to_row})"),
        _ => cut.to_string().replace('=', " = "),
    }
}

/// How far a run is: its sweeps, and what is left of the residual.
fn told_of(snapshot: &Snapshot) -> String {
    let sweeps = snapshot.cycle * snapshot.plan.sweeps_per_cycle();
    let mut text = format!(" · {}", counted(sweeps, "sweep"));
    if let Some(reduction) = reduction_of(snapshot) {
        text.push_str(&format!(" · {reduction}"));
    }
    text
}

fn reduction_of(snapshot: &Snapshot) -> Option<String> {
    let record = snapshot.history.records().find(|record| record.cycle == snapshot.cycle)?;
    let reduction = rounded(reduction(record.residual?.l2, snapshot.start_residual));
    Some(format!("‖r‖/‖r₀‖ = {reduction}"))
}
