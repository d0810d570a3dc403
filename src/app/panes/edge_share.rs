//! The edge share over cycles.

use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::widgets::labels::labelled;
use crate::app::widgets::{plot, theme};
use crate::grid::Need;
use crate::picture::{FigureKind, edge_share_plot, grouped};
use crate::run::Report;
use eframe::egui::Ui;

/// The edge share over cycles.
pub struct EdgeSharePane;

/// Its name in files.
pub const ID: PaneId = PaneId("edge-share");

impl PaneType for EdgeSharePane {
    fn id(&self) -> PaneId {
        ID
    }

    fn title(&self) -> &'static str {
        "Edge share"
    }

    fn about(&self) -> &'static str {
        "How much of ‖r‖² lies near tile borders, over the cycles."
    }

    fn slot(&self) -> Slot {
        Slot::BelowMapRight
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::EDGE_SHARE
    }

    fn figure(&self, _: &Session) -> Option<FigureKind> {
        Some(FigureKind::EDGE_SHARE)
    }

    fn need(&self) -> Need {
        Need::Grid
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        self::ui(ui, context.report);
    }
}

/// Draws the share of ‖r‖² near tile borders, and the share of points there.
fn ui(ui: &mut Ui, report: Option<&Report>) {
    let Some(report) = report else {
        return;
    };
    let observation = &report.observation;
    let theme = theme::of_figures(ui);
    let plot = edge_share_plot(
        &report.edges,
        observation.edge.points,
        &report.plan.tiling,
        observation.cycle,
        theme,
    );
    let frame = plot::Frame {
        id: "edge share",
        height: ui.available_height(),
        cursor: Some(observation.cycle as f64),
        has_legend: true,
    };
    plot::ui(ui, &frame, &plot, |at| {
        let mut lines = vec![format!("cycle {}", grouped(at.x.max(0.0).round() as u64))];
        lines.extend(at.values().map(|(name, share)| labelled(name, &format!("{share:.1} %"))));
        Some(lines.join("\n"))
    });
}
