//! By which factor a sweep and a cycle multiply modes, by theory and as measured.

use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::widgets::labels::labelled;
use crate::app::widgets::{plot, theme};
use crate::grid::Need;
use crate::picture::{FigureKind, damping_plot, method_title, rounded};
use crate::run::{ModeDamping, ModeError, ObservationRequest, Report, RunSpec};
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

/// A run and its damping, or why that cannot be measured.
type Measured = (RunSpec, Result<ModeDamping, ModeError>);

/// The run whose damping is known: that of the report, or while a changed setting is being measured the one before it. The
/// plan is not kept, which holds arrays.
fn measured(ui: &Ui, report: &Report) -> Option<Arc<Measured>> {
    let id = Id::unique(("measured", ID.0));
    let known: Option<Arc<Measured>> = ui.data(|data| data.get_temp(id));
    let spec = &report.plan.spec;
    let found = match report.plan.damping() {
        Some(damping) if known.as_ref().is_none_or(|known| known.0 != *spec) => {
            let found = Arc::new((spec.clone(), damping.clone()));
            ui.data_mut(|data| data.insert_temp(id, Arc::clone(&found)));
            Some(found)
        }
        _ => known,
    };
    found.filter(|found| found.0.problem == spec.problem)
}

fn ui(ui: &mut Ui, report: &Report) {
    let measured = measured(ui, report);
    let (spec, damping) = match measured.as_deref() {
        Some((spec, Ok(damping))) => (spec, damping),
        Some((_, Err(why))) => {
            ui.label(RichText::new(why.to_string()).weak());
            return;
        }
        None => {
            ui.label(RichText::new("Measuring …").weak());
            return;
        }
    };
    let mut title = method_title(spec);
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
