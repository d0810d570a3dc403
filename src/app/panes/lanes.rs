//! When the parts of the last pass were made.

use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::panes::planes::why_no_planes;
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::widgets::{plot, theme};
use crate::picture::{FigureKind, lanes_plot, lanes_title};
use eframe::egui::{Label, RichText, Ui};

/// The lanes of a pass.
pub struct LanesPane;

/// Its name in files.
const ID: PaneId = PaneId("lanes");

impl PaneType for LanesPane {
    fn id(&self) -> PaneId {
        ID
    }

    fn title(&self) -> &'static str {
        "Lanes of a pass"
    }

    fn about(&self) -> &'static str {
        FigureKind::LANES.about()
    }

    fn slot(&self) -> Slot {
        Slot::BottomRight
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::LANES
    }

    fn figure(&self, session: &Session) -> Option<FigureKind> {
        session.spec.method.name.is_streaming().then_some(FigureKind::LANES)
    }

    fn why_empty(&self, session: &Session) -> Option<&'static str> {
        why_no_planes(session)
    }

    fn is_offered(&self, session: &Session) -> bool {
        self.why_empty(session).is_none()
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        let Some(report) = context.report else { return };
        let Some(times) = report.passes.last() else {
            ui.label(RichText::new("No pass was timed yet.").weak());
            return;
        };
        let lanes = lanes_plot(times, theme::of_figures(ui));
        ui.add(Label::new(format!("{}.", lanes_title(times))).wrap());
        let height = ui.available_height();
        let frame = plot::Frame { id: ID.0, height, cursor: None, has_legend: false };
        let unit = lanes.x.title.rsplit(' ').next().unwrap_or_default();
        plot::ui(ui, &frame, &lanes, |at| Some(format!("{:.3} {unit}", at.x.max(0.0))));
    }
}
