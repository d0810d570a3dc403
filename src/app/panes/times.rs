//! How long each stage of the run takes, and what faster processing would change.

use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::widgets::{bars, processing_speedup, theme};
use crate::picture::{FigureKind, amdahl_chart, seconds, times_chart};
use crate::run::Report;
use eframe::egui::{Id, Ui};

/// The stages of the run, to scale.
pub struct TimesPane;

/// Its name in files.
const ID: PaneId = PaneId("times");

impl PaneType for TimesPane {
    fn id(&self) -> PaneId {
        ID
    }

    fn title(&self) -> &'static str {
        "Times"
    }

    fn about(&self) -> &'static str {
        "The time to read, order, reorganise and upload the matrix, to make the cycles and to download the unknowns, and what faster processing would change by Amdahl's law."
    }

    fn slot(&self) -> Slot {
        Slot::BottomRight
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::TIMES
    }

    fn figure(&self, _: &Session) -> Option<FigureKind> {
        Some(FigureKind::TIMES)
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        if let Some(report) = context.report {
            self::ui(ui, report);
        }
    }
}

fn ui(ui: &mut Ui, report: &Report) {
    let (times, theme) = (report.times, theme::of_figures(ui));
    let mut chart = times_chart(&[(String::new(), times)], theme);
    let speedup = processing_speedup::ui(ui, Id::unique("times of the run"));
    let faster = amdahl_chart(
        [times.set_up() + times.download, times.processing],
        speedup,
        0.0,
        seconds,
        theme,
    );
    chart.groups.extend(faster.groups);
    chart.legend.extend(faster.legend.first());
    chart.notes = format!("{} {}", faster.notes, chart.notes);
    bars::ui(ui, "times", &chart);
}
