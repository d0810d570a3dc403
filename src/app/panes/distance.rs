//! The field against the distance from the nearest tile border.

use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::state::kept_range::KeptRange;
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::widgets::labels::small_mathematics;
use crate::app::widgets::{plot, theme};
use crate::grid::Need;
use crate::picture::{FigureKind, distance_plot, distance_unit, grouped, number};
use crate::run::{ObservationRequest, Report};
use crate::solver::AtDistance;
use eframe::egui::{Label, RichText, Ui};

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
        let range = &mut context.pictures.of(ID).range;
        self::ui(ui, range, context.session, context.report);
    }
}

/// Draws the median and the quartiles of the magnitude by distance.
fn ui(ui: &mut Ui, range: &mut KeptRange, session: &Session, report: Option<&Report>) {
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
    if statistics.distances.iter().all(|class| class.quartiles[1] == 0.0) {
        let text = "More than half of the points are zero at every distance.";
        ui.label(RichText::new(text).weak());
        return;
    }
    let cycle = grouped(sorted.cycle);
    let about = format!("|{}|: median and quartiles, cycle {cycle}", sorted.field.symbol());
    ui.add(Label::new(small_mathematics(ui, &about)).truncate()).on_hover_text(
        "The median and the quartiles of the magnitude over all points of inner tiles at each distance from the nearest tile border; of a matrix over all rows, by the steps along entries to a row with static ones. They are exact to within 6 %.",
    );
    let classes = &statistics.distances;
    let scale = session.view.of_field(sorted.field).scale;
    let tiling = &report.plan.tiling;
    let mut plot = distance_plot(classes, tiling, sorted.field, scale, theme::of_figures(ui));
    range.hold(&mut plot, session, report, sorted.field);
    let frame = plot::Frame {
        id: "distance",
        height: ui.available_height(),
        cursor: None,
        has_legend: true,
    };
    let unit = distance_unit(tiling);
    plot::ui(ui, &frame, &plot, |at| nearest(classes, at.x).map(|class| read_off(class, unit)));
}

fn nearest(classes: &[AtDistance], x: f64) -> Option<&AtDistance> {
    let far = |class: &&AtDistance| (class.middle() - x).abs();
    classes.iter().min_by(|a, b| far(a).total_cmp(&far(b)))
}

fn read_off(class: &AtDistance, unit: &str) -> String {
    let (first, last) = (class.distances.start(), class.distances.end());
    let place = match (first, last) {
        (1, 1) => "at a tile border".to_owned(),
        (first, last) if first == last => format!("{first} {unit} from a tile border"),
        (first, last) => format!("{first} to {last} {unit} from a tile border"),
    };
    let [low, median, high] = class.quartiles.map(|value| number(value.into()));
    format!("{place}\nmedian {median}\nquartiles {low}, {high}\n{} points", grouped(class.points))
}
