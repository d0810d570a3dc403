//! What the height of a pyramid costs: the models over n, with the two parts of the cost, and passes that were measured.

use crate::grid::Need;
use crate::number::rounded;
use crate::picture::axis::scale::ScaleKind;
use crate::picture::colour::theme::Theme;
use crate::picture::draw::drawing::Drawing;
use crate::picture::figures::planes::{check_streaming, streaming_of};
use crate::picture::figures::titles::figure_of_plot;
use crate::picture::plot::description::{Plot, PlotAxis, Series, VerticalLines};
use crate::picture::view::error::ViewError;
use crate::picture::view::kind::{FigureKind, FigureType, Uses};
use crate::picture::view::slow_link::{RATIOS, SlowLink};
use crate::picture::view::spec::ViewSpec;
use crate::run::{CsvTable, FieldKind, MeasuredPass, PassLog, Plan, Snapshot};
use crate::solver::{MOST_HEIGHT, Place, PyramidModel, Scheme, Streaming};

/// The most that an update may cost to be drawn, over what it costs at the best height.
const HIGHEST: f64 = 6.0;

/// Nanoseconds of a second.
const NANOSECONDS: f64 = 1e9;

/// The colour of what was measured, by number.
const DOTS: usize = 6;

/// The models of a pyramid over its height.
struct HeightFigure;

impl FigureKind {
    /// What the height of a pyramid costs.
    pub const HEIGHT: Self = Self::new(&HeightFigure);
}

impl FigureType for HeightFigure {
    fn name(&self) -> &'static str {
        "height"
    }

    fn label(&self) -> &'static str {
        "Cost of the height"
    }

    fn about(&self) -> &'static str {
        "What a point update of a pyramid costs at every height, as the paper's model and the corrected ones predict it, with the parts of the corrected one: moving values and computing. Dots are the fastest passes that were measured."
    }

    fn about_table(&self) -> Option<&'static str> {
        Some("A table has each model at every height, and what was measured.")
    }

    fn file_stem(&self, _: FieldKind) -> String {
        "height".to_owned()
    }

    fn need(&self) -> Need {
        Need::Nothing
    }

    fn uses(&self) -> Uses {
        Uses { slow_link: true, ..Uses::default() }
    }

    fn is_over_cycles(&self) -> bool {
        true
    }

    fn check_plan(&self, plan: &Plan) -> Result<(), ViewError> {
        check_streaming(FigureKind::HEIGHT, plan)
    }

    fn title(&self, first: &Snapshot, view: &ViewSpec) -> String {
        HeightPicture::of(&first.plan, &first.passes, view.slow_link)
            .map_or_else(|| self.label().to_owned(), |picture| picture.title())
    }

    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        figure_of_plot(snapshots, view, |first| {
            let picture = HeightPicture::of(&first.plan, &first.passes, view.slow_link)?;
            Some(picture.plot(view.figure.theme))
        })
    }

    fn tables<'a>(
        &self,
        snapshots: &[&'a Snapshot],
        view: &ViewSpec,
    ) -> Vec<(String, CsvTable<'a>)> {
        let picture = snapshots
            .first()
            .and_then(|first| HeightPicture::of(&first.plan, &first.passes, view.slow_link));
        let Some(picture) = picture else { return Vec::new() };
        let dots = picture.dots();
        let rows: Vec<_> = picture
            .heights()
            .map(|n| {
                let of = |model: Model| picture.cost(model, n).to_string();
                let [paper, corrected, not_shrinking, in_flight] = Model::ALL.map(of);
                let dot = dots.iter().find(|(height, _)| *height == n as f64);
                let measured = dot.map_or_else(String::new, |(_, cost)| cost.to_string());
                [n.to_string(), paper, corrected, not_shrinking, in_flight, measured]
            })
            .collect();
        let header = match picture.is_measured() {
            true => [
                "height",
                "paper_ns",
                "corrected_ns",
                "not_shrinking_ns",
                "two_in_flight_ns",
                "measured_ns",
            ],
            // In updates; nothing was measured.
            false => ["height", "paper", "corrected", "not_shrinking", "two_in_flight", "measured"],
        };
        vec![("Pyramid".to_owned(), CsvTable::new(header, rows.into_iter()))]
    }
}

/// A model with its name in the legend.
#[derive(Clone, Copy)]
struct Model(PyramidModel, &'static str);

impl Model {
    const ALL: [Self; 4] = [
        Self(PyramidModel::Paper, "paper"),
        Self(PyramidModel::Corrected, "corrected"),
        Self(PyramidModel::NotShrinking, "not shrinking"),
        Self(PyramidModel::TwoInFlight, "two in flight"),
    ];

    /// What an update costs, over one in fast memory. Two slabs share the planes.
    fn cost(self, planes: usize, height: usize, ratio: f64) -> f64 {
        let planes = if self.0 == PyramidModel::TwoInFlight { planes / 2 } else { planes };
        self.0.seconds(planes, height, ratio, 1.0)
    }
}

/// What a pyramid costs by its height: lines that models predict, and dots that were measured.
pub struct HeightPicture<'a> {
    /// R: planes that the budget has room for.
    planes: usize,
    /// The height of the run, if it is a pyramid.
    chosen: Option<usize>,
    /// ρ: seconds to move a value over seconds to update a point, as the models assume.
    ratio: f64,
    /// Where that is from.
    link: SlowLink,
    /// τ_c and τ_a, as passes were measured.
    measured: Option<[f64; 2]>,
    passes: &'a PassLog,
}

impl<'a> HeightPicture<'a> {
    /// That of a run, with the passes that were made; `None` of a method that does not stream. Before the first pass a
    /// named link is not known in units of an update, and what a machine is assumed to do takes its place.
    pub fn of(plan: &Plan, passes: &'a PassLog, link: SlowLink) -> Option<Self> {
        let (streaming, _) = streaming_of(plan)?;
        let on_gpu = matches!(plan.place, Place::Cuda { .. });
        let measured = passes.least(streaming);
        let bytes = plan.precision.bytes() as f64;
        let (link, ratio) = match (link, measured) {
            (SlowLink::Ratio(ratio), _) => (link, ratio),
            (SlowLink::Named(named), Some([_, update])) => {
                (link, bytes / named.bandwidth() / update)
            }
            (_, Some([value, update])) => (link, value / update),
            (_, None) => (SlowLink::ThisMachine, Streaming::ratio(on_gpu)),
        };
        let is_pyramid = streaming.scheme() == Scheme::Pyramid;
        let chosen = is_pyramid.then(|| streaming.height());
        Some(Self { planes: streaming.planes(), chosen, ratio, link, measured, passes })
    }

    /// ρ, as the models assume it.
    pub fn ratio(&self) -> f64 {
        self.ratio
    }

    /// Whether a pass was measured, so that costs are times.
    pub fn is_measured(&self) -> bool {
        self.measured.is_some()
    }

    /// What is drawn, with where ρ is from.
    pub fn title(&self) -> String {
        let (planes, assumed) = (self.planes, self.assumed());
        format!("Cost of a pyramid by its height: {planes} planes, predicted for {assumed}")
    }

    /// Which is predicted, and which was measured.
    pub fn caption(&self) -> String {
        let lines = format!("Lines: predicted for {}.", self.assumed());
        match self.dots().is_empty() {
            true => lines,
            false => format!("{lines} Dots: measured."),
        }
    }

    /// ρ, and where it is from.
    fn assumed(&self) -> String {
        let ratio = format!("ρ = {}", rounded(self.ratio));
        match self.link {
            SlowLink::ThisMachine if self.is_measured() => format!("the measured {ratio}"),
            SlowLink::ThisMachine => format!("an assumed {ratio}"),
            SlowLink::Named(link) => format!("{ratio}, a link as slow as {}", link.label()),
            SlowLink::Ratio(_) => ratio,
        }
    }

    fn heights(&self) -> std::ops::RangeInclusive<usize> {
        1..=((self.planes - 1) / 2).min(MOST_HEIGHT)
    }

    /// The unit of costs: an update, or nanoseconds.
    fn unit(&self) -> f64 {
        self.measured.map_or(1.0, |[_, update]| update * NANOSECONDS)
    }

    fn cost(&self, model: Model, height: usize) -> f64 {
        model.cost(self.planes, height, self.ratio) * self.unit()
    }

    /// The part of the corrected model that moves values, for ρ = 1.
    fn moving(&self, height: usize) -> f64 {
        PyramidModel::Corrected.seconds(self.planes, height, 1.0, 0.0) * self.unit()
    }

    /// The passes of pyramids in this budget that were made, with their heights.
    fn dots(&self) -> Vec<(f64, f64)> {
        let passes = self.passes.fastest().iter().filter(|pass| {
            pass.streaming.scheme() == Scheme::Pyramid && pass.streaming.planes() == self.planes
        });
        let dot =
            |pass: &MeasuredPass| (pass.streaming.height() as f64, pass.seconds * NANOSECONDS);
        let mut dots: Vec<_> = passes.map(dot).collect();
        dots.sort_by(|one, other| one.0.total_cmp(&other.0));
        dots
    }

    /// Where the line of the moved values is dragged: at the best height of that model.
    pub fn handle(&self) -> (f64, f64) {
        let height = PyramidModel::Corrected.best_height(self.planes, self.ratio);
        (height as f64, self.ratio * self.moving(height))
    }

    /// ρ, if the line leads through the second point in the place of the first.
    pub fn ratio_to(&self, from: (f64, f64), to: f64) -> f64 {
        let height = (from.0.round() as usize).max(1);
        (to / self.moving(height)).clamp(*RATIOS.start(), *RATIOS.end())
    }

    /// The plot.
    pub fn plot(&self, theme: Theme) -> Plot {
        let least = Model::ALL
            .iter()
            .flat_map(|model| self.heights().map(|n| self.cost(*model, n)))
            .fold(f64::INFINITY, f64::min);
        let line = |name: &str, colour, dashed, cost: &dyn Fn(usize) -> f64| {
            let points = self.heights().map(|n| (n as f64, cost(n)));
            let points = points.filter(|(_, cost)| *cost <= HIGHEST * least).collect();
            Series { dashed, ..Series::line(name, points, colour) }
        };
        let mut series: Vec<_> = Model::ALL
            .iter()
            .enumerate()
            .map(|(number, model)| {
                line(model.1, theme.curve(number), false, &|n| self.cost(*model, n))
            })
            .collect();
        let computing = |n| PyramidModel::Corrected.seconds(self.planes, n, 0.0, 1.0) * self.unit();
        let moving = |n| self.ratio * self.moving(n);
        let parts: [(&str, &dyn Fn(usize) -> f64); 2] =
            [("moving", &moving), ("computing", &computing)];
        for (number, (name, cost)) in parts.into_iter().enumerate() {
            series.push(line(name, theme.curve(Model::ALL.len() + number), true, cost));
        }
        let dots = self.dots();
        if !dots.is_empty() {
            // Nothing lies between two dots.
            let points = dots.into_iter().flat_map(|(n, cost)| [(n, cost), (n + 0.5, f64::NAN)]);
            let dots = Series::line("measured", points.collect(), theme.curve(DOTS));
            series.push(Series { has_dots: true, ..dots });
        }
        let marks = self
            .chosen
            .map(|n| VerticalLines { places: vec![n as f64], colour: theme.reference() });
        let x = PlotAxis::new("height n", ScaleKind::Linear);
        let title = match self.is_measured() {
            true => "ns per point and sweep",
            false => "cost, in updates in fast memory",
        };
        let y = PlotAxis::new(title, ScaleKind::Log);
        Plot { series, marks: marks.into_iter().collect(), ..Plot::new(x, y) }
    }
}
