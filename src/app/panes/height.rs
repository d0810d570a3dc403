//! What the height of a pyramid costs.

use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::panes::planes::why_no_planes;
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::widgets::labels::labelled;
use crate::app::widgets::{plot, theme};
use crate::picture::{FigureKind, height_plot};
use eframe::egui::Ui;

/// The models of a pyramid over its height.
pub struct HeightPane;

impl PaneType for HeightPane {
    fn id(&self) -> PaneId {
        PaneId("height")
    }

    fn title(&self) -> &'static str {
        "Cost of the height"
    }

    fn about(&self) -> &'static str {
        FigureKind::HEIGHT.about()
    }

    fn slot(&self) -> Slot {
        Slot::BottomRight
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::HEIGHT
    }

    fn figure(&self, session: &Session) -> Option<FigureKind> {
        session.spec.method.name.is_streaming().then_some(FigureKind::HEIGHT)
    }

    fn why_empty(&self, session: &Session) -> Option<&'static str> {
        why_no_planes(session)
    }

    fn is_offered(&self, session: &Session) -> bool {
        self.why_empty(session).is_none()
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        let Some(plan) = context.report.map(|report| &report.plan) else { return };
        let Some(models) = height_plot(plan, theme::of_figures(ui)) else { return };
        let height = ui.available_height();
        let frame = plot::Frame { id: "height", height, cursor: None, has_legend: true };
        plot::ui(ui, &frame, &models, |at| {
            let mut lines = vec![format!("height {:.0}", at.x.max(1.0))];
            lines.extend(at.values().map(|(name, cost)| labelled(name, &format!("{cost:.2}"))));
            Some(lines.join("\n"))
        });
    }
}
