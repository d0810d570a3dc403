//! The field at single points over the cycles.

use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::state::command::Command;
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::state::view_settings::MOST_PROBES;
use crate::app::widgets::labels::named;
use crate::app::widgets::plot::{LABEL_ROOM, VALUE_ROOM, counting_axis, decades, power, steps};
use crate::app::widgets::theme;
use crate::grid::Need;
use crate::picture::{FigureKind, grouped, number, point_label};
use crate::run::{ProbeSeries, Report};
use eframe::egui::{self, Label, RichText, Ui};
use egui_plot::{HoverPosition, Line, Plot, PlotPoints, uniform_grid_spacer};

/// The field at single points over the cycles.
pub struct ProbesPane;

/// Its name in files.
pub const ID: PaneId = PaneId("probes");

impl PaneType for ProbesPane {
    fn id(&self) -> PaneId {
        ID
    }

    fn title(&self) -> &'static str {
        "Probes"
    }

    fn about(&self) -> &'static str {
        "The field at single points over the cycles; D over the map, or a right click, adds one."
    }

    fn slot(&self) -> Slot {
        Slot::BelowMapRight
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::PROBES
    }

    fn figure(&self, session: &Session) -> Option<FigureKind> {
        (!session.look.probes.is_empty()).then_some(FigureKind::PROBES)
    }

    fn need(&self) -> Need {
        Need::Grid
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        self::ui(ui, context.session, context.report, context.commands);
    }
}

/// Draws the probes: their points, and the field there over the cycles.
fn ui(ui: &mut Ui, session: &Session, report: Option<&Report>, commands: &mut Vec<Command>) {
    let Some(report) = report else {
        return;
    };
    if session.look.probes.is_empty() {
        let text = format!(
            "Point at the map and press D, or right-click it, to add a probe; at most {MOST_PROBES}."
        );
        ui.add(Label::new(RichText::new(text).weak()).wrap());
        return;
    }
    let name = |point| point_label(point, report.plan.problem.shape.dim() == 1);
    ui.horizontal_wrapped(|ui| {
        for (index, &point) in session.look.probes.iter().enumerate() {
            let name = name(point);
            let text = RichText::new(format!("{name} ×")).color(theme::curve(ui, index));
            let button = named(ui.add(egui::Button::new(text)), &format!("Remove {name}"));
            if button.on_hover_text("Remove this probe.").clicked() {
                let mut look = session.look.clone();
                look.toggle_probe(point);
                commands.push(Command::Look(look));
            }
        }
    });
    let colour_of = |probe: &ProbeSeries| {
        let index = session.look.probes.iter().position(|point| *point == probe.point);
        theme::curve(ui, index.unwrap_or(0))
    };
    let curves: Vec<_> = report
        .probes
        .iter()
        .filter(|probe| probe.field == report.observation.field)
        .map(|probe| (name(probe.point), colour_of(probe), curve(probe)))
        .collect();
    let symbol = report.observation.field.symbol();
    Plot::new("probes")
        .height(ui.available_height())
        .width(ui.available_width() - LABEL_ROOM)
        .x_grid_spacer(uniform_grid_spacer(|input| steps(input.base_step_size)))
        .custom_x_axes(vec![counting_axis("cycles")])
        .y_axis_label(format!("|{symbol}|"))
        .y_axis_min_width(VALUE_ROOM)
        .y_axis_formatter(|mark, _| power(mark.value))
        .y_grid_spacer(uniform_grid_spacer(|input| decades(input.base_step_size)))
        .label_formatter(|hover| {
            let (name, at) = match hover {
                HoverPosition::NearDataPoint { plot_name, position, .. } => (*plot_name, *position),
                HoverPosition::Elsewhere { position } => ("", *position),
            };
            let cycle = grouped(at.x.max(0.0).round() as u64);
            Some(format!("{name}\ncycle {cycle}\n{}", number(10f64.powf(at.y))).trim().to_owned())
        })
        .allow_scroll(false)
        .grid_color(theme::grid(ui))
        .show(ui, |plot| {
            for (name, colour, points) in curves {
                plot.line(Line::new(name, points).color(colour).width(1.5));
            }
        });
}

/// Magnitudes over cycles, on a logarithmic axis; zeros are left out.
fn curve(probe: &ProbeSeries) -> PlotPoints<'static> {
    let points = probe.values.iter().map(|at| [at.cycle as f64, at.value.abs().log10()]);
    points.filter(|[_, y]| y.is_finite()).collect()
}
