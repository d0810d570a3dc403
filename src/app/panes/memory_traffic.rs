//! What a cycle of the run moves between the kinds of memory, and what it computes.

use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::widgets::{bars, theme};
use crate::picture::{FigureKind, compared_traffic, cycle_name, seconds};
use crate::run::Report;
use eframe::egui::{Label, RichText, Ui};

/// The memory picture, to scale.
pub struct MemoryTrafficPane;

impl PaneType for MemoryTrafficPane {
    fn id(&self) -> PaneId {
        PaneId("memory-traffic")
    }

    fn title(&self) -> &'static str {
        "Memory traffic"
    }

    fn about(&self) -> &'static str {
        "Bytes that a cycle moves in each kind of memory, and updates that it computes, beside as many sweeps of classic Jacobi; to scale."
    }

    fn slot(&self) -> Slot {
        Slot::BottomRight
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::MEMORY_TRAFFIC
    }

    fn figure(&self, _: &Session) -> Option<FigureKind> {
        Some(FigureKind::MEMORY_TRAFFIC)
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        if let Some(report) = context.report {
            self::ui(ui, report);
        }
    }
}

fn ui(ui: &mut Ui, report: &Report) {
    let compared = match compared_traffic(&report.plan, report.kernel, report.observation.traffic) {
        Ok(compared) => compared,
        Err(why) => {
            ui.label(RichText::new(why).weak());
            return;
        }
    };
    let name = cycle_name(&report.plan);
    let text = match report.cycles_per_second {
        Some(rate) => format!("{name}; measured: {} per cycle.", seconds(1.0 / rate)),
        None => format!("{name}."),
    };
    ui.add(Label::new(text).wrap());
    let theme = theme::of_figures(ui);
    bars::ui(ui, "memory-traffic", &compared.chart([theme.reference(), theme.curve(0)]));
}
