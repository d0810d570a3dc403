//! How planes pass through fast memory: the trapezoids of a pyramid's slabs, or the staircase of the wavefront's chunks.

use crate::grid::{Need, Shape};
use crate::number::counted;
use crate::picture::axis::scale::{Range, ScaleKind};
use crate::picture::colour::theme::Theme;
use crate::picture::draw::drawing::Drawing;
use crate::picture::figures::titles::figure_of_plot;
use crate::picture::plot::description::{Band, Plot, PlotAxis, Series};
use crate::picture::view::error::ViewError;
use crate::picture::view::kind::{FigureKind, FigureType, Uses};
use crate::picture::view::spec::ViewSpec;
use crate::run::{CsvTable, FieldKind, Plan, Snapshot};
use crate::solver::{Method, Pass, Place, Scheme, Step, Streaming};

/// The most slabs or chunks that are drawn, from the first on: more are too narrow to tell apart.
const MOST_STEPS: usize = 12;

/// The most lines that hatch one side of a slab.
const MOST_LINES: usize = 24;

/// Slabs or chunks of a pass.
struct PlanesFigure;

impl FigureKind {
    /// How planes pass through fast memory.
    pub const PLANES: Self = Self::new(&PlanesFigure);
}

impl FigureType for PlanesFigure {
    fn name(&self) -> &'static str {
        "planes"
    }

    fn label(&self) -> &'static str {
        "Planes"
    }

    fn about(&self) -> &'static str {
        "Which planes each slab of a pyramid, or chunk of the wavefront, updates in each sweep of a pass; what is computed twice is hatched."
    }

    fn about_table(&self) -> Option<&'static str> {
        Some("A table has the first and the last plane of each sweep of each slab or chunk.")
    }

    fn file_stem(&self, _: FieldKind) -> String {
        "planes".to_owned()
    }

    fn need(&self) -> Need {
        Need::Nothing
    }

    fn uses(&self) -> Uses {
        Uses::default()
    }

    fn is_over_cycles(&self) -> bool {
        true
    }

    fn check_plan(&self, plan: &Plan) -> Result<(), ViewError> {
        check_streaming(FigureKind::PLANES, plan)
    }

    fn title(&self, first: &Snapshot, _: &ViewSpec) -> String {
        planes_title(&first.plan)
    }

    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        figure_of_plot(snapshots, view, |first| planes_plot(&first.plan, view.figure.theme))
    }

    fn tables<'a>(&self, snapshots: &[&'a Snapshot], _: &ViewSpec) -> Vec<(String, CsvTable<'a>)> {
        let Some(first) = snapshots.first() else { return Vec::new() };
        let Some(pass) = pass_of(&first.plan) else { return Vec::new() };
        let rows: Vec<_> = (0..pass.steps())
            .flat_map(|step| (1..=pass.height()).map(move |sweep| (step, sweep)))
            .filter_map(|(step, sweep)| {
                let planes = pass.level(step, sweep);
                let last = planes.end - 1;
                (!planes.is_empty())
                    .then(|| [step, sweep, planes.start, last].map(|it| it.to_string()))
            })
            .collect();
        let header = ["step", "sweep", "first_plane", "last_plane"];
        vec![(first.plan.method.name().label().to_owned(), CsvTable::new(header, rows.into_iter()))]
    }
}

/// The pass of a run that streams.
pub(super) fn streaming_of(plan: &Plan) -> Option<(&Streaming, &Shape)> {
    match &plan.method {
        Method::Streaming(streaming) => Some((streaming, &plan.problem.shape)),
        _ => None,
    }
}

/// Whether a figure of planes that pass through fast memory can be drawn of a run.
///
/// # Errors
/// [`ViewError::NotStreaming`] if its method streams none.
pub(super) fn check_streaming(kind: FigureKind, plan: &Plan) -> Result<(), ViewError> {
    streaming_of(plan).map(drop).ok_or(ViewError::NotStreaming { kind })
}

fn pass_of(plan: &Plan) -> Option<Pass> {
    let (streaming, shape) = streaming_of(plan)?;
    Some(match plan.place {
        Place::Cpu { .. } => Pass::on_cpu(streaming, shape),
        Place::Cuda { .. } => Pass::on_gpu(streaming, shape),
    })
}

/// What is drawn: `Pyramid: 12 of 57 slabs of 64 planes, 24 sweeps high`.
pub fn planes_title(plan: &Plan) -> String {
    let Some(((streaming, _), pass)) = streaming_of(plan).zip(pass_of(plan)) else {
        return "Planes".to_owned();
    };
    let (steps, n) = (pass.steps(), pass.height());
    let shown = if steps > MOST_STEPS { format!("{MOST_STEPS} of ") } else { String::new() };
    let what = match streaming.scheme() {
        Scheme::Pyramid => "slab",
        Scheme::Wavefront { .. } => "chunk",
    };
    let [steps, planes, sweeps] = [(steps, what), (pass.most_swept(), "plane"), (n, "sweep")]
        .map(|(count, what)| counted(count as u64, what));
    let method = streaming.method().label();
    format!("{method}: {shown}{steps} of {planes}, {sweeps} high")
}

/// The plot of a pass: planes across, sweeps upwards. `None` of a method that does not stream.
pub fn planes_plot(plan: &Plan, theme: Theme) -> Option<Plot> {
    let (streaming, _) = streaming_of(plan)?;
    let pass = pass_of(plan)?;
    let steps = pass.steps().min(MOST_STEPS);
    let is_pyramid = streaming.scheme() == Scheme::Pyramid;
    let (mut series, mut bands, mut last) = (Vec::new(), Vec::new(), 1);
    for number in 0..steps {
        let step = pass.step(number);
        // Neighbours overlap, or touch.
        let colour = theme.curve(number % 2);
        let ends = ends(&pass, number, &step);
        last = last.max(ends.iter().map(|(_, right, _)| *right as usize).max().unwrap_or(1));
        if is_pyramid {
            series.extend(hatching(&ends, &step, colour));
        }
        bands.push(owned(&ends, &step, is_pyramid, colour));
        series.extend(outline(&ends, colour));
    }
    // The plane beyond which nothing is drawn.
    let end = if steps < pass.steps() { last } else { pass.planes() + 1 };
    let x = PlotAxis {
        range: Some(Range::new(0.0, end as f64)),
        ..PlotAxis::new("plane", ScaleKind::Linear)
    };
    let y = PlotAxis {
        range: Some(Range::new(0.0, pass.height() as f64)),
        ..PlotAxis::new("sweeps", ScaleKind::Linear)
    };
    Some(Plot { series, bands, ..Plot::new(x, y) })
}

/// The left and the right end of what a step has in fast memory after each sweep, from the copies up on; without sweeps
/// of no plane.
fn ends(pass: &Pass, number: usize, step: &Step) -> Vec<(f64, f64, f64)> {
    let copied = Some((step.up.clone(), 0)).filter(|(up, _)| !up.is_empty());
    let swept = (1..=pass.height()).map(|sweep| (pass.level(number, sweep), sweep));
    let shown = copied.into_iter().chain(swept).filter(|(planes, _)| !planes.is_empty());
    // A plane reaches half a step to either side.
    shown
        .map(|(planes, sweep)| (planes.start as f64 - 0.5, planes.end as f64 - 0.5, sweep as f64))
        .collect()
}

/// The sides of a step, its base and its top, each from left to right.
fn outline(ends: &[(f64, f64, f64)], colour: [u8; 3]) -> Vec<Series> {
    let sides = [
        ends.iter().map(|&(left, _, sweep)| (left, sweep)).collect::<Vec<_>>(),
        ends.iter().map(|&(_, right, sweep)| (right, sweep)).collect(),
    ];
    let across = [ends.first(), ends.last()].into_iter().flatten();
    let across = across.map(|&(left, right, sweep)| vec![(left, sweep), (right, sweep)]);
    let lines = sides.into_iter().chain(across).map(|mut line| {
        // Sides lean one way: reversed, not sorted, they keep the order of sweeps that end at the same plane.
        if line.first().zip(line.last()).is_some_and(|(first, last)| first.0 > last.0) {
            line.reverse();
        }
        Series::line("", line, colour)
    });
    lines.collect()
}

/// Lines through what a slab computes and does not own, as another one does.
fn hatching(ends: &[(f64, f64, f64)], step: &Step, colour: [u8; 3]) -> Vec<Series> {
    let (first, last) = (step.down.start as f64 - 0.5, step.down.end as f64 - 0.5);
    let every = ends.len().div_ceil(MOST_LINES).max(1);
    let lines = ends.iter().skip(1).step_by(every).flat_map(|&(left, right, sweep)| {
        [(left, first), (last, right)].map(|(from, to)| (from, to, sweep))
    });
    let lines = lines.filter(|(from, to, _)| from < to);
    lines.map(|(from, to, y)| Series::line("", vec![(from, y), (to, y)], colour)).collect()
}

/// What a step owns: of a slab a rectangle, of a chunk all of it.
fn owned(ends: &[(f64, f64, f64)], step: &Step, is_pyramid: bool, colour: [u8; 3]) -> Band {
    let top = ends.last().map_or(0.0, |it| it.2);
    if is_pyramid {
        let (first, last) = (step.down.start as f64 - 0.5, step.down.end as f64 - 0.5);
        let at = |y: f64| vec![(first, y), (last, y)];
        return Band { low: at(0.0), high: at(top), colour };
    }
    // The lower edge climbs at the right end of the staircase, the upper one at its left end.
    let mut places: Vec<_> = ends.iter().flat_map(|&(left, right, _)| [left, right]).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let inside = |x: f64| ends.iter().filter(move |(left, right, _)| (*left..=*right).contains(&x));
    let low = places.iter().filter_map(|&x| Some((x, inside(x).next()?.2))).collect();
    let high = places.iter().filter_map(|&x| Some((x, inside(x).next_back()?.2))).collect();
    Band { low, high, colour }
}
