//! Slabs of a pyramid, or chunks of the wavefront.

use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::widgets::{plot, theme};
use crate::picture::{FigureKind, planes_plot, planes_title};
use eframe::egui::{Label, Ui};

/// How planes pass through fast memory.
pub struct PlanesPane;

impl PaneType for PlanesPane {
    fn id(&self) -> PaneId {
        PaneId("planes")
    }

    fn title(&self) -> &'static str {
        "Planes"
    }

    fn about(&self) -> &'static str {
        FigureKind::PLANES.about()
    }

    fn slot(&self) -> Slot {
        Slot::BottomRight
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::PLANES
    }

    fn figure(&self, session: &Session) -> Option<FigureKind> {
        session.spec.method.name.is_streaming().then_some(FigureKind::PLANES)
    }

    fn why_empty(&self, session: &Session) -> Option<&'static str> {
        why_no_planes(session)
    }

    fn is_offered(&self, session: &Session) -> bool {
        self.why_empty(session).is_none()
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        let Some(plan) = context.report.map(|report| &report.plan) else { return };
        let Some(planes) = planes_plot(plan, theme::of_figures(ui)) else { return };
        ui.add(Label::new(format!("{}.", planes_title(plan))).wrap());
        let height = ui.available_height();
        let frame = plot::Frame { id: "planes", height, cursor: None, has_legend: false };
        plot::ui(ui, &frame, &planes, |at| Some(format!("plane {:.0}", at.x.max(0.0))));
    }
}

/// Why a pane of planes is empty with another method.
pub(super) fn why_no_planes(session: &Session) -> Option<&'static str> {
    let streams = session.spec.method.name.is_streaming();
    (!streams).then_some("Only methods Pyramid and Wavefront stream planes through fast memory.")
}
