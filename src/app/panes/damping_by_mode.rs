//! By which factor a sweep and a cycle multiply modes, by theory and as measured.

use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::widgets::labels::labelled;
use crate::app::widgets::{plot, theme};
use crate::grid::Need;
use crate::picture::{FigureKind, damping_plot, method_title, rounded};
use crate::run::{ObservationRequest, Plan, Report};
use eframe::egui::{Id, Label, RichText, Ui};
use std::sync::Arc;

/// The factors of modes.
pub struct DampingByModePane;

/// Its name in files.
pub const ID: PaneId = PaneId("damping-by-mode");

impl PaneType for DampingByModePane {
    fn id(&self) -> PaneId {
        ID
    }

    fn title(&self) -> &'static str {
        "Damping by mode"
    }

    fn about(&self) -> &'static str {
        "By which factor a sweep and a cycle multiply modes of the error, from smooth waves to zigzags, by theory and as measured: how much is left of a mode that was alone. Tile borders make other modes of the rest."
    }

    fn slot(&self) -> Slot {
        Slot::BottomRight
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::DAMPING_BY_MODE
    }

    fn figure(&self, _: &Session) -> Option<FigureKind> {
        Some(FigureKind::DAMPING_BY_MODE)
    }

    fn request(&self, _: &Session, request: &mut ObservationRequest) {
        request.damping = true;
    }

    fn need(&self) -> Need {
        Need::Grid
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        if let Some(report) = context.report {
            self::ui(ui, report);
        }
    }
}

/// The plan whose damping is known: that of the report, or while a changed setting is being measured the one before it.
fn measured(ui: &Ui, report: &Report) -> Option<Arc<Plan>> {
    let id = Id::unique(("measured", ID.0));
    let is_alike = |plan: &Arc<Plan>| plan.spec.problem == report.plan.spec.problem;
    if report.plan.damping().is_some() {
        ui.data_mut(|data| data.insert_temp(id, Arc::clone(&report.plan)));
    }
    ui.data(|data| data.get_temp(id)).filter(is_alike)
}

fn ui(ui: &mut Ui, report: &Report) {
    let plan = measured(ui, report);
    let damping = match plan.as_deref().and_then(Plan::damping) {
        Some(Ok(damping)) => damping,
        Some(Err(why)) => {
            ui.label(RichText::new(why.to_string()).weak());
            return;
        }
        None => {
            ui.label(RichText::new("Measuring …").weak());
            return;
        }
    };
    let mut title = plan.as_ref().map_or_else(String::new, |plan| method_title(&plan.spec));
    if report.plan.damping().is_none() {
        title = format!("Measuring … Shown: {title}");
    }
    ui.add(Label::new(RichText::new(title).small()).truncate());
    let plot = damping_plot(damping, report.plan.problem.shape.dim(), theme::of_figures(ui));
    let frame = plot::Frame {
        id: "damping by mode",
        height: ui.available_height(),
        cursor: None,
        has_legend: true,
    };
    plot::ui(ui, &frame, &plot, |at| {
        let mut lines = vec![labelled("half waves", &format!("{:.0}", at.x))];
        lines.extend(at.values().map(|(name, factor)| labelled(name, &rounded(factor))));
        Some(lines.join("\n"))
    });
}
