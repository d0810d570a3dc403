//! Figures of a run: the map of a field, and the curves of its convergence.

use super::colour_map::ColourMap;
use super::curves_figure::{Curve, CurvesFigure};
use super::heat_map::{Samples, colours, shown_values};
use super::heat_map_figure::{Axis, HeatMapFigure};
use super::scale::{Range, Scale, ScaleKind};
use super::theme::Theme;
use super::ticks::number;
use crate::grid::Shape;
use crate::run::{
    Backend, Captured, FieldKind, MethodName, Plan, ProblemKind, Record, RunSpec, StopRule,
    reduction,
};
use crate::solver::Kernel;
use clap::ValueEnum;
use image::RgbaImage;
use serde::{Deserialize, Serialize};

/// How a figure looks: everything about it that is not the run, the cycle or the field.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FigureSpec {
    /// How values are spread over the colours.
    pub scale: ScaleKind,
    /// On a linear scale: magnitudes in place of values with their sign.
    pub absolute: bool,
    /// The colours.
    pub map: ColourMap,
    /// The lowest and the highest value shown; `None` to fit the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    /// Pixels across and down.
    pub size: [u32; 2],
    /// For a bright or a dark room.
    pub theme: Theme,
    /// Whether tile borders are drawn over the map.
    pub borders: bool,
}

/// What was looked at, and how: with a [`RunSpec`](crate::run::RunSpec) all that a figure needs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewSpec {
    /// Cycles made.
    pub cycle: u64,
    /// The field.
    pub field: FieldKind,
    /// How it looks.
    #[serde(default)]
    pub figure: FigureSpec,
}

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

/// The convergence of one run, for [`curves_svg`].
#[derive(Clone, Copy, Debug)]
pub struct RunCurve<'a> {
    /// Its name in the legend; empty for none.
    pub label: &'a str,
    /// Its norms.
    pub records: &'a [Record],
    /// Sweeps that one of its cycles makes.
    pub sweeps_per_cycle: u64,
    /// ‖r₀‖₂.
    pub start_residual: f64,
    /// Whether it is a reference beside the runs: drawn dashed, and over cycles by its sweeps.
    pub reference: bool,
}

impl Default for FigureSpec {
    fn default() -> Self {
        Self {
            scale: ScaleKind::Log,
            absolute: false,
            map: ColourMap::Inferno,
            range: None,
            size: [1200, 900],
            theme: Theme::Light,
            borders: false,
        }
    }
}

impl FigureSpec {
    /// What suits a field: a logarithm for what goes to zero, and values as they are for the
    /// solution.
    pub fn suiting(field: FieldKind) -> Self {
        Self { scale: natural_scale(field), ..Self::default() }
    }
}

/// The scale that suits a field.
pub fn natural_scale(field: FieldKind) -> ScaleKind {
    match field {
        FieldKind::Solution => ScaleKind::Linear,
        _ => ScaleKind::Log,
    }
}

/// The map that suits a scale: a symmetric one wants zero in the middle.
pub fn natural_map(scale: ScaleKind) -> ColourMap {
    match scale {
        ScaleKind::Symmetric => ColourMap::RedBlue,
        _ => ColourMap::Inferno,
    }
}

/// The problem of a run as a title names it: `Poisson 2D, 256 × 256`.
pub fn problem_title(run: &RunSpec, shape: &Shape) -> String {
    let name = run.problem.kind.label();
    let dim = if run.problem.kind == ProblemKind::Poisson {
        format!(" {}D", shape.dim())
    } else {
        String::new()
    };
    match (shape.dim(), shape.copies()) {
        (1, 1) => format!("{name}{dim}, n = {}", shape.nx()),
        (1, copies) => format!("{name}{dim}, n = {}, {copies} copies", shape.nx()),
        _ => format!("{name}{dim}, {shape}"),
    }
}

/// The method of a run as a figure's settings name it: `k = 16, overlap 0, tile 32 · f64`, and the
/// card's kernel, where one was chosen.
pub fn method_title(run: &RunSpec) -> String {
    let method = &run.method;
    let axes = |values: &[usize]| {
        let texts: Vec<_> = values.iter().map(ToString::to_string).collect();
        let same = texts.windows(2).all(|pair| pair[0] == pair[1]);
        if same { texts.first().cloned().unwrap_or_default() } else { texts.join(" × ") }
    };
    let tiles = format!("overlap {}, tile {}", axes(&method.overlap), axes(&method.tile));
    let name = match method.name {
        MethodName::Classic => "classic Jacobi".to_owned(),
        MethodName::Hierarchical => format!("k = {}, {tiles}", method.k),
    };
    let place = match (method.backend, method.kernel) {
        (Backend::Cpu, _) => String::new(),
        (Backend::Cuda, Kernel::Auto) => " · CUDA".to_owned(),
        (Backend::Cuda, kernel) => format!(" · CUDA, {} kernel", kernel.name()),
    };
    format!("{name} · {}{place}", method.precision.name())
}

/// The figure of a field, as SVG: of a plane its map, of a line its space–time diagram.
pub fn heat_map_svg(captured: &Captured, spec: &FigureSpec) -> String {
    let plan = &captured.plan;
    let values = shown_values(&captured.picture.samples.values, spec.scale, spec.absolute);
    let known = known(captured, &values);
    let samples = &captured.picture.samples;
    let end =
        |axis: usize, start: usize, count: usize| (start + count * samples.block[axis]) as f64;
    let columns = samples.columns.start;
    let x_axis = Axis { label: "i", start: columns as f64, end: end(0, columns, samples.size[0]) };
    let problem = problem_title(&plan.spec, &plan.problem.shape);
    let label = captured.field.label();
    let (title, y_axis, y_borders) = match captured.picture.cycles_per_row {
        Some(stride) => {
            let title = format!("{label}, cycle by cycle — {problem}");
            let end = (known.rows() * samples.block[1]) as u64 * stride;
            (title, Axis { label: "cycle", start: 0.0, end: end as f64 }, Vec::new())
        }
        None => {
            let title = format!("{label} after {} — {problem}", counted(captured.cycle, "cycle"));
            let rows = samples.rows.start;
            let axis = Axis { label: "j", start: rows as f64, end: end(1, rows, samples.size[1]) };
            (title, axis, borders(plan, 1))
        }
    };
    let drawn = |borders: Vec<f64>| if spec.borders { borders } else { Vec::new() };
    HeatMapFigure {
        title: &title,
        subtitle: &settings(captured),
        samples: known,
        x_axis,
        y_axis,
        tile_borders_x: &drawn(borders(plan, 0)),
        tile_borders_y: &drawn(y_borders),
        equal_aspect: captured.picture.cycles_per_row.is_none(),
        scale: scale(&known, spec),
        map: spec.map,
        value_label: &value_label(captured.field, spec.scale, spec.absolute),
        width: spec.size[0],
        height: spec.size[1],
        theme: spec.theme,
    }
    .svg()
}

/// The bare map, one pixel a sample; where nothing is known it is transparent.
pub fn bare(captured: &Captured, spec: &FigureSpec) -> RgbaImage {
    let values = shown_values(&captured.picture.samples.values, spec.scale, spec.absolute);
    let known = known(captured, &values);
    let mut pixels = Vec::new();
    colours(&known, &scale(&known, spec), spec.map, &mut pixels);
    let size = u32::try_from(known.cols()).ok().zip(u32::try_from(known.rows()).ok());
    size.and_then(|(width, height)| RgbaImage::from_raw(width, height, pixels)).unwrap_or_default()
}

/// The figure of convergence, as SVG: ‖r‖₂ / ‖r₀‖₂ of each curve, and the tolerance of `plan`,
/// whose problem titles the figure. `settings` is the line below the title: what the runs have in
/// common, such as [`method_title`] of a single one.
pub fn curves_svg(
    plan: &Plan,
    settings: &str,
    curves: &[RunCurve<'_>],
    over: Over,
    spec: &FigureSpec,
) -> String {
    let points: Vec<Vec<(f64, f64)>> =
        curves.iter().map(|curve| curve.points(over, plan.sweeps_per_cycle())).collect();
    let mut runs = 0;
    let drawn: Vec<_> = curves
        .iter()
        .zip(&points)
        .map(|(curve, points)| {
            let colour = if curve.reference { REFERENCE } else { runs };
            runs += usize::from(!curve.reference);
            Curve {
                label: curve.label,
                points,
                colour: spec.theme.curve(colour),
                dashed: curve.reference,
            }
        })
        .collect();
    let tolerance = plan.stop.tolerance.filter(|_| plan.stop.rule == StopRule::Residual);
    let level_label = tolerance.map(|value| format!("tolerance {}", number(value)));
    CurvesFigure {
        title: &format!("Convergence — {}", problem_title(&plan.spec, &plan.problem.shape)),
        subtitle: settings,
        x_label: match over {
            Over::Cycles => "cycles",
            Over::Sweeps => "sweeps",
            Over::Seconds => "seconds",
        },
        y_label: "‖r‖₂ / ‖r₀‖₂",
        curves: &drawn,
        y_log: true,
        level: tolerance.zip(level_label.as_deref()),
        width: spec.size[0],
        height: spec.size[1],
        theme: spec.theme,
    }
    .svg()
}

/// The colour of references among those of curves: grey.
const REFERENCE: usize = 7;

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

impl RunCurve<'_> {
    fn points(&self, over: Over, sweeps_per_cycle: u64) -> Vec<(f64, f64)> {
        let cycle = if self.reference { sweeps_per_cycle } else { self.sweeps_per_cycle };
        let point = |record: &Record| {
            let reduction = reduction(record.residual?.l2, self.start_residual);
            Some((over.along(record, self.sweeps_per_cycle, cycle), reduction))
        };
        self.records.iter().filter_map(point).collect()
    }
}

/// What is known of a picture: a space–time diagram without the cycles to come.
fn known<'a>(captured: &Captured, values: &'a [f32]) -> Samples<'a> {
    let samples = &captured.picture.samples;
    let [cols, mut rows] = samples.size;
    if let Some(stride) = captured.picture.cycles_per_row {
        let made = captured.history.latest().cycle.max(captured.cycle);
        let made = made / (stride * samples.block[1] as u64).max(1);
        rows = rows.min(usize::try_from(made).unwrap_or(usize::MAX).saturating_add(1));
    }
    let values = values.get(..cols * rows).unwrap_or_default();
    Samples::new(cols, rows, values).unwrap_or(Samples::EMPTY)
}

fn scale(samples: &Samples<'_>, spec: &FigureSpec) -> Scale {
    let fitted = || Range::of(spec.scale, samples.values().iter().copied());
    Scale::new(spec.scale, spec.range.unwrap_or_else(fitted))
}

fn borders(plan: &Plan, axis: usize) -> Vec<f64> {
    let tiles = plan.tiling.axes().get(axis);
    tiles.map(|axis| axis.borders().map(|b| b as f64).collect()).unwrap_or_default()
}

/// The line below the title.
fn settings(captured: &Captured) -> String {
    let plan = &captured.plan;
    let mut text = method_title(&plan.spec);
    let sweeps = captured.cycle * plan.sweeps_per_cycle();
    text.push_str(&format!(" · {}", counted(sweeps, "sweep")));
    let record = captured.history.records().find(|record| record.cycle == captured.cycle);
    if let Some(residual) = record.and_then(|record| record.residual) {
        let reduction = rounded(reduction(residual.l2, captured.start_residual));
        text.push_str(&format!(" · ‖r‖/‖r₀‖ = {reduction}"));
    }
    text
}

/// Three digits are as many as anybody reads off a figure.
pub fn rounded(value: f64) -> String {
    number(format!("{value:.2e}").parse().unwrap_or(value))
}

/// `1 cycle`, `12,000 cycles`.
pub fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(count))
}

/// A number with its thousands apart: 1,234,567.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// What a colour bar says: a logarithm shows magnitudes, the other scales show signs unless
/// magnitudes were asked for.
pub fn value_label(field: FieldKind, scale: ScaleKind, absolute: bool) -> String {
    match scale {
        ScaleKind::Linear if absolute => format!("|{}|", field.symbol()),
        ScaleKind::Log => format!("|{}|", field.symbol()),
        _ => field.symbol().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Capture, Experiment, Planner};
    use std::sync::Arc;

    fn captured(spec: &RunSpec, cycles: u64, most: usize) -> Captured {
        let plan = Arc::new(Planner::default().plan(spec).unwrap());
        let mut experiment = Experiment::new(&plan).unwrap();
        (0..cycles).for_each(|_| experiment.advance(1).unwrap());
        experiment.settle().unwrap();
        let field = FieldKind::Residual;
        let capture = Capture { id: 1, field, most: [most; 2], solution: false };
        Captured::of(&experiment, &capture).unwrap()
    }

    #[test]
    fn a_title_names_the_card_and_its_kernel() {
        let mut run = RunSpec::default();
        let title = "k = 16, overlap 0, tile 32 · f64";
        assert_eq!(method_title(&run), title);
        run.method.backend = Backend::Cuda;
        assert_eq!(method_title(&run), format!("{title} · CUDA"));
        run.method.kernel = Kernel::Register;
        assert_eq!(method_title(&run), format!("{title} · CUDA, register kernel"));
    }

    fn spec(shape: &[usize]) -> RunSpec {
        let mut spec = RunSpec::default();
        spec.problem.shape = shape.to_vec();
        spec.method.tile = vec![8];
        spec.method.k = 4;
        spec
    }

    #[test]
    fn a_map_says_what_it_shows() {
        let captured = captured(&spec(&[40, 24]), 3, 4096);
        let svg = heat_map_svg(&captured, &FigureSpec { borders: true, ..Default::default() });
        for text in [
            "Residual after 3 cycles — Poisson 2D, 40 × 24",
            "k = 4, overlap 0, tile 8 · f64 · 12 sweeps · ‖r‖/‖r₀‖ = 0.",
            ">|r|<",
            ">i<",
            ">j<",
        ] {
            assert!(svg.contains(text), "{text}");
        }
        let image = bare(&captured, &FigureSpec::default());
        assert_eq!(image.dimensions(), (40, 24));
        assert!(image.pixels().all(|pixel| pixel.0[3] == 255));
    }

    #[test]
    fn a_line_is_drawn_down_to_its_newest_cycle() {
        let captured = captured(&spec(&[50]), 30, 4096);
        let figure = FigureSpec { scale: ScaleKind::Symmetric, ..Default::default() };
        let svg = heat_map_svg(&captured, &figure);
        for text in ["Residual, cycle by cycle — Poisson 1D, n = 50", ">cycle<", ">r<"] {
            assert!(svg.contains(text), "{text}");
        }
        let image = bare(&captured, &figure);
        assert_eq!(image.dimensions(), (50, 31));
        assert!(image.pixels().all(|pixel| pixel.0[3] == 255));
    }

    #[test]
    fn the_classic_run_is_put_beside_cycles_by_its_sweeps() {
        let captured = captured(&spec(&[40]), 5, 64);
        let records: Vec<_> = captured.history.records().copied().collect();
        let mut curve = RunCurve {
            label: "classic Jacobi",
            records: &records,
            sweeps_per_cycle: 1,
            start_residual: captured.start_residual,
            reference: true,
        };
        let last = |curve: &RunCurve<'_>, over| curve.points(over, 4).last().unwrap().0;
        assert_eq!((last(&curve, Over::Cycles), last(&curve, Over::Sweeps)), (1.25, 5.0));
        curve.reference = false;
        assert_eq!(last(&curve, Over::Cycles), 5.0);
        assert_eq!(curve.points(Over::Sweeps, 4)[0], (0.0, 1.0));
        let svg = curves_svg(&captured.plan, "f64", &[curve], Over::Cycles, &FigureSpec::default());
        assert!(svg.contains("tolerance 1×10⁻⁴") && svg.contains("classic Jacobi"));
    }

    #[test]
    fn a_view_survives_being_written() {
        let figure = FigureSpec { range: Some(Range::new(1e-7, 3.0)), ..Default::default() };
        let view = ViewSpec { cycle: 40, field: FieldKind::Staleness, figure };
        let text = toml::to_string(&view).unwrap();
        assert_eq!(toml::from_str::<ViewSpec>(&text).unwrap(), view);
    }
}
