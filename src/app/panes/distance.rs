//! The field against the distance from the nearest tile border.

use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::widgets::plot::{LABEL_ROOM, VALUE_ROOM, counting_axis, decades, power, steps};
use crate::app::widgets::theme;
use crate::grid::Need;
use crate::picture::{FigureKind, grouped, number};
use crate::run::{ObservationRequest, Report};
use crate::solver::AtDistance;
use eframe::egui::{Label, RichText, Ui};
use egui_plot::{
    FilledArea, HoverPosition, Line, LineStyle, Plot, PlotPoints, uniform_grid_spacer,
};

/// The magnitude of the field by distance from a tile border.
pub struct DistancePane;

/// Its name in files.
pub const ID: PaneId = PaneId("distance");

impl PaneType for DistancePane {
    fn id(&self) -> PaneId {
        ID
    }

    fn title(&self) -> &'static str {
        "By distance"
    }

    fn about(&self) -> &'static str {
        "The field's magnitude against the distance from the nearest tile border: median and quartiles."
    }

    fn slot(&self) -> Slot {
        Slot::BelowMapRight
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::DISTANCE
    }

    fn figure(&self, _: &Session) -> Option<FigureKind> {
        Some(FigureKind::DISTANCE)
    }

    fn request(&self, _: &Session, request: &mut ObservationRequest) {
        request.statistics = true;
    }

    fn need(&self) -> Need {
        Need::Grid
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        self::ui(ui, context.report);
    }
}

/// Draws the median and the quartiles of the magnitude by distance.
fn ui(ui: &mut Ui, report: Option<&Report>) {
    let Some(report) = report else {
        return;
    };
    let Some(sorted) = &report.observation.statistics else {
        return;
    };
    let statistics = &sorted.statistics;
    if statistics.distances.is_empty() {
        ui.label(RichText::new("There is one tile, and no tile border.").weak());
        return;
    }
    let curves = [0, 1, 2].map(|quarter| curve(&statistics.distances, quarter));
    if curves[1].is_empty() {
        let text = "More than half of the points are zero at every distance.";
        ui.label(RichText::new(text).weak());
        return;
    }
    let ink = theme::curve(ui, 0);
    let classes = statistics.distances.clone();
    let symbol = sorted.field.symbol();
    let cycle = grouped(sorted.cycle);
    let about = format!("|{symbol}|: median and middle half, cycle {cycle}");
    ui.add(Label::new(RichText::new(about).small()).truncate()).on_hover_text(
        "The median and the quartiles of the magnitude over all points at each distance from the nearest tile border (within 6 %).",
    );
    Plot::new("distance")
        .height(ui.available_height())
        .width(ui.available_width() - LABEL_ROOM)
        .x_grid_spacer(uniform_grid_spacer(|input| steps(input.base_step_size)))
        .custom_x_axes(vec![counting_axis("points from a tile border")])
        .y_axis_min_width(VALUE_ROOM)
        .y_axis_formatter(|mark, _| power(mark.value))
        .y_grid_spacer(uniform_grid_spacer(|input| decades(input.base_step_size)))
        .label_formatter(move |hover| {
            let (HoverPosition::NearDataPoint { position: at, .. }
            | HoverPosition::Elsewhere { position: at }) = hover;
            nearest(&classes, at.x).map(read_off)
        })
        .include_x(0.0)
        .allow_scroll(false)
        .grid_color(theme::grid(ui))
        .show(ui, |plot| {
            let [low, median, high] = curves;
            let band = band(&low, &high);
            plot.add(
                FilledArea::new("middle half", &band[0], &band[1], &band[2])
                    .fill_color(ink.gamma_multiply(0.22))
                    .allow_hover(false),
            );
            for (name, points) in [("upper quartile", high), ("lower quartile", low)] {
                let style = LineStyle::dashed_dense();
                plot.line(Line::new(name, PlotPoints::from(points)).color(ink).style(style));
            }
            plot.line(Line::new("median", PlotPoints::from(median)).color(ink).width(2.0));
        });
}

/// A quartile over the distances, on a logarithmic axis; zeros are left out.
fn curve(classes: &[AtDistance], quarter: usize) -> Vec<[f64; 2]> {
    let point = |class: &AtDistance| [class.middle(), f64::from(class.quartiles[quarter]).log10()];
    classes.iter().map(point).filter(|[_, y]| y.is_finite()).collect()
}

/// Distances where both quartiles can be drawn, with them.
fn band(low: &[[f64; 2]], high: &[[f64; 2]]) -> [Vec<f64>; 3] {
    let mut band = [Vec::new(), Vec::new(), Vec::new()];
    for [x, low] in low {
        if let Some([_, high]) = high.iter().find(|[other, _]| other == x) {
            for (side, value) in band.iter_mut().zip([*x, *low, *high]) {
                side.push(value);
            }
        }
    }
    band
}

fn nearest(classes: &[AtDistance], x: f64) -> Option<&AtDistance> {
    let far = |class: &&AtDistance| (class.middle() - x).abs();
    classes.iter().min_by(|a, b| far(a).total_cmp(&far(b)))
}

fn read_off(class: &AtDistance) -> String {
    let (first, last) = (class.distances.start(), class.distances.end());
    let place = match (first, last) {
        (1, 1) => "at a tile border".to_owned(),
        (first, last) if first == last => format!("{first} points from a border"),
        (first, last) => format!("{first} to {last} points from a border"),
    };
    let [low, median, high] = class.quartiles.map(|value| number(value.into()));
    format!("{place}\nmedian {median}\nquartiles {low}, {high}\n{} points", grouped(class.points))
}
