//! What the height of a pyramid costs: the models over n, with the two parts of the cost.

use crate::grid::Need;
use crate::picture::axis::scale::ScaleKind;
use crate::picture::colour::theme::Theme;
use crate::picture::draw::drawing::Drawing;
use crate::picture::figures::planes::{check_streaming, streaming_of};
use crate::picture::figures::titles::figure_of_plot;
use crate::picture::plot::description::{Plot, PlotAxis, Series, VerticalLines};
use crate::picture::view::error::ViewError;
use crate::picture::view::kind::{FigureKind, FigureType, Uses};
use crate::picture::view::spec::ViewSpec;
use crate::run::{CsvTable, FieldKind, Plan, Snapshot};
use crate::solver::{MOST_HEIGHT, Place, PyramidModel, Scheme, Streaming};

/// The most that an update may cost to be drawn, over what it costs at the best height.
const HIGHEST: f64 = 6.0;

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
        "What a point update of a pyramid costs at every height, by the paper's model and by the corrected ones, with its parts: moving values and computing."
    }

    fn about_table(&self) -> Option<&'static str> {
        Some("A table has each model at every height.")
    }

    fn file_stem(&self, _: FieldKind) -> String {
        "height".to_owned()
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
        check_streaming(FigureKind::HEIGHT, plan)
    }

    fn title(&self, first: &Snapshot, _: &ViewSpec) -> String {
        let Some((costs, ratio)) = costs_of(&first.plan) else { return "Height".to_owned() };
        let planes = costs.planes;
        format!("Cost of a pyramid by its height: {planes} planes, {ratio} updates to move a value")
    }

    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        figure_of_plot(snapshots, view, |first| height_plot(&first.plan, view.figure.theme))
    }

    fn tables<'a>(&self, snapshots: &[&'a Snapshot], _: &ViewSpec) -> Vec<(String, CsvTable<'a>)> {
        let Some((costs, ratio)) = snapshots.first().and_then(|first| costs_of(&first.plan)) else {
            return Vec::new();
        };
        let rows: Vec<_> = costs
            .heights()
            .map(|n| {
                let of = |model: Model| model.cost(costs.planes, n, ratio).to_string();
                let [paper, corrected, not_shrinking, in_flight] = Model::ALL.map(of);
                [n.to_string(), paper, corrected, not_shrinking, in_flight]
            })
            .collect();
        let header = ["height", "paper", "corrected", "not_shrinking", "two_in_flight"];
        vec![("Pyramid".to_owned(), CsvTable::new(header, rows.into_iter()))]
    }
}

/// A model with its name in the legend.
#[derive(Clone, Copy)]
struct Model(PyramidModel, &'static str);

impl Model {
    const ALL: [Self; 4] = [
        Self(PyramidModel::Paper, "the paper's model"),
        Self(PyramidModel::Corrected, "corrected"),
        Self(PyramidModel::NotShrinking, "corrected, not shrinking"),
        Self(PyramidModel::TwoInFlight, "two slabs in flight"),
    ];

    /// What an update costs, over one in fast memory. Two slabs share the planes.
    fn cost(self, planes: usize, height: usize, ratio: f64) -> f64 {
        let planes = if self.0 == PyramidModel::TwoInFlight { planes / 2 } else { planes };
        self.0.seconds(planes, height, ratio, 1.0)
    }
}

/// What the models are given of a run.
struct Costs {
    /// R: planes that the budget has room for.
    planes: usize,
    /// The height that was chosen, of a pyramid.
    chosen: Option<usize>,
}

impl Costs {
    fn heights(&self) -> std::ops::RangeInclusive<usize> {
        1..=((self.planes - 1) / 2).min(MOST_HEIGHT)
    }
}

/// The planes of a run, and the ratio of moving to updating that is assumed where it runs.
fn costs_of(plan: &Plan) -> Option<(Costs, f64)> {
    let (streaming, _) = streaming_of(plan)?;
    let on_gpu = matches!(plan.place, Place::Cuda { .. });
    let is_pyramid = streaming.scheme() == Scheme::Pyramid;
    let chosen = is_pyramid.then(|| streaming.height());
    Some((Costs { planes: streaming.planes(), chosen }, Streaming::ratio(on_gpu)))
}

/// The plot of the models; `None` of a method that does not stream.
pub fn height_plot(plan: &Plan, theme: Theme) -> Option<Plot> {
    let (costs, ratio) = costs_of(plan)?;
    let planes = costs.planes;
    let least = Model::ALL
        .iter()
        .flat_map(|model| costs.heights().map(|n| model.cost(planes, n, ratio)))
        .fold(f64::INFINITY, f64::min);
    let line = |name: &str, colour, dashed, cost: &dyn Fn(usize) -> f64| {
        let points = costs.heights().map(|n| (n as f64, cost(n)));
        let points = points.filter(|(_, cost)| *cost <= HIGHEST * least).collect();
        Series { dashed, ..Series::line(name, points, colour) }
    };
    let mut series: Vec<_> = Model::ALL
        .iter()
        .enumerate()
        .map(|(number, model)| {
            let cost = |n| model.cost(planes, n, ratio);
            line(model.1, theme.curve(number), false, &cost)
        })
        .collect();
    let corrected = PyramidModel::Corrected;
    let parts: [(&str, [f64; 2]); 2] =
        [("corrected: moving", [ratio, 0.0]), ("corrected: computing", [0.0, 1.0])];
    for (number, (name, [value, update])) in parts.into_iter().enumerate() {
        let cost = |n| corrected.seconds(planes, n, value, update);
        series.push(line(name, theme.curve(Model::ALL.len() + number), true, &cost));
    }
    let marks =
        costs.chosen.map(|n| VerticalLines { places: vec![n as f64], colour: theme.reference() });
    let x = PlotAxis::new("height n", ScaleKind::Linear);
    let y = PlotAxis::new("cost of an update, in updates in fast memory", ScaleKind::Log);
    Some(Plot { series, marks: marks.into_iter().collect(), ..Plot::new(x, y) })
}
