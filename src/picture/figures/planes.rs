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
use crate::solver::{Pass, PassMoment, Place, Scheme, Step, Streaming};

/// The most slabs or chunks that are drawn, from the first on: more are too narrow to tell apart.
const MOST_STEPS: usize = 12;

/// By what part of the height a line of the hatching rises across the base; there are twice as many lines in it.
const RISE: f64 = 1.0 / 6.0;

/// Steps along a line of the hatching by which its ends are found.
const HATCHED_STEPS: usize = 32;

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
        "Which planes each slab of a pyramid, or chunk of the wavefront, updates in each sweep of a pass; what slabs compute twice is hatched."
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
        PassPicture::of(&first.plan).map_or_else(|| self.label().to_owned(), |pass| pass.title())
    }

    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        figure_of_plot(snapshots, view, |first| {
            Some(PassPicture::of(&first.plan)?.plot(view.figure.theme, None))
        })
    }

    fn tables<'a>(&self, snapshots: &[&'a Snapshot], _: &ViewSpec) -> Vec<(String, CsvTable<'a>)> {
        let Some(first) = snapshots.first() else { return Vec::new() };
        let Some(PassPicture { pass, .. }) = PassPicture::of(&first.plan) else {
            return Vec::new();
        };
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
    plan.method.streaming().map(|streaming| (streaming, &plan.problem.shape))
}

/// Whether a figure of planes that pass through fast memory can be drawn of a run.
///
/// # Errors
/// [`ViewError::NotStreaming`] if its method streams none.
pub(super) fn check_streaming(kind: FigureKind, plan: &Plan) -> Result<(), ViewError> {
    streaming_of(plan).map(drop).ok_or(ViewError::NotStreaming { kind })
}

/// A pass as it is drawn.
#[derive(Clone, Copy, Debug)]
pub struct PassPicture {
    /// The method.
    pub streaming: Streaming,
    pass: Pass,
}

impl PassPicture {
    /// That of a run; `None` of a method that does not stream.
    pub fn of(plan: &Plan) -> Option<Self> {
        let (streaming, shape) = streaming_of(plan)?;
        Some(Self::new(*streaming, shape, matches!(plan.place, Place::Cuda { .. })))
    }

    /// That of a method on a grid, on a GPU or a CPU.
    pub fn new(streaming: Streaming, shape: &Shape, on_gpu: bool) -> Self {
        let pass = match on_gpu {
            true => Pass::on_gpu(&streaming, shape),
            false => Pass::on_cpu(&streaming, shape),
        };
        Self { streaming, pass }
    }

    fn is_pyramid(&self) -> bool {
        self.streaming.scheme() == Scheme::Pyramid
    }

    /// What is drawn: `Pyramid: 12 of 57 slabs of 64 planes, 24 sweeps high`.
    pub fn title(&self) -> String {
        let (steps, n) = (self.pass.steps(), self.pass.height());
        let shown = if steps > MOST_STEPS { format!("{MOST_STEPS} of ") } else { String::new() };
        let what = if self.is_pyramid() { "slab" } else { "chunk" };
        let [steps, planes, sweeps] =
            [(steps, what), (self.pass.most_swept(), "plane"), (n, "sweep")]
                .map(|(count, what)| counted(count as u64, what));
        let method = self.streaming.method().label();
        format!("{method}: {shown}{steps} of {planes}, {sweeps} high")
    }

    /// The plot: planes across, sweeps upwards. While a setting is dragged, its axes end where they ended before, at
    /// `held`, if they reach as far as the first slab or chunk.
    pub fn plot(&self, theme: Theme, held: Option<[f64; 2]>) -> Plot {
        let Self { pass, .. } = self;
        let steps = pass.steps().min(MOST_STEPS);
        let (mut series, mut bands, mut last) = (Vec::new(), Vec::new(), 1.0);
        let mut is_whole = steps == pass.steps();
        for number in 0..steps {
            let step = pass.step(number);
            let ends = ends(pass, number, &step);
            let end = ends.iter().map(|(_, right, _)| right.floor()).fold(1.0, f64::max);
            if number > 0 && held.is_some_and(|[most, _]| end > most) {
                is_whole = false;
                break;
            }
            // Neighbours overlap, or touch.
            let colour = theme.curve(number % 2);
            last = end.max(last);
            if self.is_pyramid() {
                series.extend(hatching(&ends, &step, colour));
            }
            bands.push(owned(&ends, &step, self.is_pyramid(), colour));
            series.extend(outline(&ends, colour));
        }
        // The plane beyond which nothing is drawn.
        let end = if is_whole { (pass.planes() + 1) as f64 } else { last };
        let [across, up] = held.map_or([end, 0.0], |[across, up]| [across.max(last), up]);
        let x = PlotAxis {
            range: Some(Range::new(0.0, across)),
            ..PlotAxis::new("plane", ScaleKind::Linear)
        };
        let y = PlotAxis {
            range: Some(Range::new(0.0, up.max(pass.height() as f64))),
            ..PlotAxis::new("sweeps", ScaleKind::Linear)
        };
        Plot { series, bands, ..Plot::new(x, y) }
    }

    /// Planes of the grid.
    pub fn planes(&self) -> usize {
        self.pass.planes()
    }

    /// The moments of a pass: before and after each sweep of each slab or chunk, and its end.
    pub fn moments(&self) -> usize {
        self.pass.steps() * (self.pass.height() + 1)
    }

    /// A moment by its number, from 0 to [`PassPicture::moments`].
    pub fn moment(&self, number: usize) -> PassMoment {
        let each = self.pass.height() + 1;
        PassMoment { step: number / each, sweep: number % each }
    }

    /// The sweeps that planes have at a moment, from the first plane to the last in so many columns.
    pub fn sweeps_across(&self, moment: PassMoment, columns: usize) -> Vec<usize> {
        let runs = self.pass.sweeps_at(moment);
        let planes = self.pass.planes();
        let sweeps_of = |column: usize| {
            let plane = 1 + (column * planes + planes / 2) / columns;
            let run = runs.partition_point(|(run, _)| run.end <= plane);
            runs.get(run).map_or(0, |(_, sweeps)| *sweeps)
        };
        (0..columns).map(sweeps_of).collect()
    }

    /// A moment in words: `Slab 3 of 57, sweep 5 of 24`.
    pub fn moment_title(&self, moment: PassMoment) -> String {
        let (steps, n) = (self.pass.steps(), self.pass.height());
        if moment.step >= steps {
            return "The pass is over".to_owned();
        }
        let what = if self.is_pyramid() { "Slab" } else { "Chunk" };
        format!("{what} {} of {steps}, sweep {} of {n}", moment.step + 1, moment.sweep)
    }

    /// The middle of the first top: its height is that of the pass.
    pub fn apex(&self) -> (f64, f64) {
        let n = self.pass.height();
        let mut tops = (0..self.pass.steps()).map(|number| self.pass.level(number, n));
        let top = tops.find(|planes| !planes.is_empty()).unwrap_or(0..1);
        ((top.start + top.end - 1) as f64 / 2.0, n as f64)
    }

    /// The right end of the first base.
    pub fn base(&self) -> (f64, f64) {
        (self.pass.step(0).up.end as f64 - 0.5, 0.0)
    }

    /// The planes in fast memory with which the first base ends there, at this height: as many at least as the method
    /// takes.
    pub fn planes_to(&self, base: f64) -> usize {
        let n = self.pass.height();
        let across = ((base + 0.5).round().max(0.0) as usize).min(self.pass.planes() + 1);
        let at_once = self.pass.windows_of_budget();
        match self.is_pyramid() {
            // The plane before the first is the boundary's, and the others are the first slab's but for n.
            true => at_once * (across + n).saturating_sub(1).max(2 * n + 1),
            // One chunk comes, one is swept and one leaves; the rest is what sweeps read around them.
            false => self.pass.window_planes() + 3 * across.max(1) - 3 * self.pass.most_swept(),
        }
    }
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

/// Slanted lines through what a slab computes and does not own, as another one does. They lean outwards, so that those of
/// neighbours cross.
fn hatching(ends: &[(f64, f64, f64)], step: &Step, colour: [u8; 3]) -> Vec<Series> {
    let (first, last) = (step.down.start as f64 - 0.5, step.down.end as f64 - 0.5);
    let left: Vec<_> = ends.iter().map(|&(left, _, sweep)| (sweep, first - left)).collect();
    let right: Vec<_> = ends.iter().map(|&(_, right, sweep)| (sweep, right - last)).collect();
    let of_left = slanted(&left).map(|ends| ends.map(|(sweep, beyond)| (first - beyond, sweep)));
    let of_right = slanted(&right).map(|ends| ends.map(|(sweep, beyond)| (last + beyond, sweep)));
    let line = |mut ends: [(f64, f64); 2]| {
        ends.sort_by(|one, other| one.0.total_cmp(&other.0));
        Series { so_far: 0, ..Series::line("", ends.to_vec(), colour) }
    };
    of_left.chain(of_right).map(line).collect()
}

/// Both ends of each line that hatches one side: the sweeps made, and the planes from what is owned. `width` has how many planes
/// are computed there in each sweep; it shrinks towards the last.
fn slanted(width: &[(f64, f64)]) -> impl Iterator<Item = [(f64, f64); 2]> {
    let (base, top) = (width.first().map_or(0.0, |it| it.1), width.last().map_or(0.0, |it| it.0));
    let width_at = |sweep: f64| {
        let next = width.partition_point(|(at, _)| *at < sweep).clamp(1, width.len() - 1);
        let [(from, one), (to, other)] = [width[next - 1], width[next]];
        one + (other - one) * (sweep - from) / (to - from)
    };
    let is_wide = base > 0.0 && width.len() > 1;
    let lines = if is_wide { (2.0 / RISE) as u32 + 2 } else { 0 };
    (1..lines).filter_map(move |line| {
        // Where it leaves what is owned, perhaps below the base.
        let start = top * RISE * (0.5 * f64::from(line) - 1.0);
        let points = (0..=HATCHED_STEPS).map(|step| step as f64 / HATCHED_STEPS as f64);
        let points = points.map(|part| (start + part * top * RISE, part * base));
        let mut inside = points
            .filter(|(sweep, beyond)| (0.0..=top).contains(sweep) && *beyond <= width_at(*sweep));
        Some([inside.next()?, inside.next_back()?])
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{ByteCount, Precision};
    use crate::solver::{Height, MethodName, Slabs};

    /// A handle that is not moved changes nothing, and one that is moved means what its picture then shows.
    #[test]
    fn a_base_is_where_its_planes_end() {
        let shape = Shape::grid_2d(20, 300).unwrap();
        let f64 = Precision::F64;
        let of = |method, slabs, n, planes| {
            let memory = Streaming::memory_of(planes, &shape, f64);
            let on_gpu = slabs == Slabs::Two;
            let height = Height::Sweeps(n);
            let streaming = match on_gpu {
                true => Streaming::on_gpu(method, height, slabs, memory, &shape, f64),
                false => Streaming::new(method, height, memory, &shape, f64),
            };
            PassPicture::new(streaming.unwrap(), &shape, on_gpu)
        };
        for (method, slabs, n, planes) in [
            (MethodName::Pyramid, Slabs::One, 3, 7),
            (MethodName::Pyramid, Slabs::One, 12, 64),
            (MethodName::Pyramid, Slabs::Two, 12, 64),
            (MethodName::Wavefront, Slabs::One, 12, 38),
        ] {
            let picture = of(method, slabs, n, planes);
            let (base, _) = picture.base();
            assert_eq!(picture.planes_to(base), planes, "{method:?}");
            assert_eq!(picture.apex().1, n as f64);
            // However far it is dragged, the method takes the planes.
            for to in [f64::NEG_INFINITY, -1e9, 0.0, base + 5.0, f64::NAN] {
                let moved = of(method, slabs, n, picture.planes_to(to));
                assert!(to != base + 5.0 || moved.base().0 == to, "{method:?}");
            }
            let most = picture.streaming.most_height();
            let height = |n| {
                Streaming::new(
                    method,
                    Height::Sweeps(n),
                    Streaming::memory_of(planes, &shape, f64),
                    &shape,
                    f64,
                )
            };
            if slabs == Slabs::One {
                assert!(height(most).is_ok() && height(most + 1).is_err(), "{method:?}");
            }
        }
        assert_eq!(Streaming::memory_of(2, &shape, f64), ByteCount::new(2 * 24 * 24));
    }

    #[test]
    fn axes_stay_while_a_setting_is_dragged() {
        let shape = Shape::grid_2d(20, 300).unwrap();
        let of = |n, planes| {
            let memory = Streaming::memory_of(planes, &shape, Precision::F64);
            let method = MethodName::Pyramid;
            let streaming =
                Streaming::new(method, Height::Sweeps(n), memory, &shape, Precision::F64);
            PassPicture::new(streaming.unwrap(), &shape, false)
        };
        let ends = |picture: PassPicture, held| {
            let plot = picture.plot(Theme::Dark, held);
            [plot.x.range, plot.y.range].map(|range| range.unwrap().hi())
        };
        assert_eq!(ends(of(3, 40), None), [301.0, 3.0]);
        let held = ends(of(3, 12), None);
        assert!(held[0] < 100.0, "twelve slabs of six planes: {held:?}");
        for (n, planes) in [(3, 40), (2, 12), (3, 8)] {
            assert_eq!(ends(of(n, planes), Some(held)), held);
        }
        // What is larger than the axes makes room for itself.
        assert_eq!(ends(of(9, 200), Some(held)), [191.0, 9.0]);
    }
}
