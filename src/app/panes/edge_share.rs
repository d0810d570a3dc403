//! The edge share over cycles.

use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::widgets::plot::{LABEL_ROOM, counting_axis, steps};
use crate::app::widgets::theme;
use crate::grid::Need;
use crate::picture::{FigureKind, grouped};
use crate::run::Report;
use crate::solver::EDGE_WIDTH;
use eframe::egui::{RichText, Ui};
use egui_plot::{
    HLine, HoverPosition, Line, LineStyle, Plot, PlotPoints, VLine, uniform_grid_spacer,
};

/// Width of the tick labels, such as `100 %`.
const VALUE_ROOM: f32 = 44.0;

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
    let (ink, second) = (theme::curve(ui, 0), theme::curve(ui, 1));
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.label(RichText::new("‖r‖²").color(ink).strong().small());
        ui.label(RichText::new("and").small());
        ui.label(RichText::new("points").color(second).strong().small());
        ui.label(RichText::new(format!("within {EDGE_WIDTH} points of a tile border")).small());
    })
    .response
    .on_hover_text(
        "The share of ‖r‖² near tile borders, at the observed cycles. Dashed: the share of points near tile borders, which it would equal for an evenly spread residual.",
    );
    let points: PlotPoints<'_> =
        report.edges.iter().map(|point| [point.cycle as f64, 100.0 * point.value]).collect();
    let even = 100.0 * report.observation.edge.points;
    let weak = ui.visuals().weak_text_color();
    let now = report.observation.cycle as f64;
    Plot::new("edge share")
        .height(ui.available_height())
        .width(ui.available_width() - LABEL_ROOM)
        .x_grid_spacer(uniform_grid_spacer(|input| steps(input.base_step_size)))
        .custom_x_axes(vec![counting_axis("cycles")])
        .y_axis_min_width(VALUE_ROOM)
        .y_axis_formatter(|mark, _| format!("{:.0} %", mark.value))
        .label_formatter(|hover| {
            let (HoverPosition::NearDataPoint { position: at, .. }
            | HoverPosition::Elsewhere { position: at }) = hover;
            Some(format!("cycle {}\n{:.1} %", grouped(at.x.max(0.0).round() as u64), at.y))
        })
        .include_y(0.0)
        .include_y(100.0)
        .allow_scroll(false)
        .grid_color(theme::grid(ui))
        .show(ui, |plot| {
            plot.line(Line::new("of ‖r‖²", points).color(ink).width(2.0));
            let style = LineStyle::dashed_loose();
            plot.hline(HLine::new("of the points", even).color(second).style(style));
            plot.vline(VLine::new("", now).color(weak).width(1.0).allow_hover(false));
        });
}
