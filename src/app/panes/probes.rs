//! The field at single points over the cycles.

use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::state::command::Command;
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::state::view_settings::MAX_PROBES;
use crate::app::widgets::labels::{labelled, named};
use crate::app::widgets::{plot, theme};
use crate::grid::{GridPoint, Need};
use crate::picture::{FigureKind, grouped, number, point_label, probe_series, probes_plot};
use crate::run::{ProbeSeries, Report};
use eframe::egui::{self, Label, RichText, Ui};

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
        Slot::BottomRight
    }

    fn is_shown_at_first(&self) -> bool {
        true
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::PROBES
    }

    fn figure(&self, session: &Session) -> Option<FigureKind> {
        (!session.probes().is_empty()).then_some(FigureKind::PROBES)
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
    let probes = session.probes();
    if probes.is_empty() {
        let text = format!(
            "Point at the map and press D, or right-click it, to add a probe; at most {MAX_PROBES}."
        );
        ui.add(Label::new(RichText::new(text).weak()).wrap());
        return;
    }
    let name = |point| point_label(point, report.plan.problem.shape.dim() == 1);
    ui.horizontal_wrapped(|ui| {
        for (index, &point) in probes.iter().enumerate() {
            let name = name(point);
            let now = report.observation.probes.iter().find(|(at, _)| *at == point);
            let sign = if now.is_some_and(|(_, value)| value.is_infinite()) { " ∞" } else { "" };
            let text = RichText::new(format!("{name}{sign} ×")).color(theme::curve(ui, index));
            let button = named(ui.add(egui::Button::new(text)), &format!("Remove {name}"));
            if button.on_hover_text("Remove this probe.").clicked() {
                let mut view = session.view.clone();
                view.toggle_probe(point);
                commands.push(Command::SetView(view));
            }
        }
    });
    let observation = &report.observation;
    let colours = session.view.of_field(observation.field);
    let is_1d = report.plan.problem.shape.dim() == 1;
    let theme = theme::of_figures(ui);
    let series = |probe: &ProbeSeries| {
        let index = probes.iter().position(|point| *point == probe.point);
        let colour = theme.curve(index.unwrap_or(0));
        probe_series(probe, is_1d, colours.scale, colours.absolute, observation.cycle, colour)
    };
    let shown = report.probes.iter().filter(|probe| probe.field == observation.field);
    let series = shown.map(series).collect();
    let is_filling = |point: &&GridPoint| {
        let mut known = report.probes.iter().filter(|probe| probe.field == observation.field);
        let known = known.find(|probe| probe.point == **point);
        report.latest.cycle > 1 && known.is_none_or(|probe| probe.values.len() < 2)
    };
    let filling: Vec<_> = probes.iter().filter(is_filling).map(|&point| name(point)).collect();
    if !filling.is_empty() {
        let text = format!("Recorded from the next cycle on: {}", filling.join(", "));
        ui.add(Label::new(RichText::new(text).small().weak()).truncate());
    }
    let plot = probes_plot(series, observation.field, colours.scale, colours.absolute);
    let earlier = session.travel.earlier(report.latest.cycle);
    let frame = plot::Frame {
        id: "probes",
        height: ui.available_height(),
        cursor: earlier.map(|cycle| cycle as f64),
        // The buttons above have the names, in the same colours.
        has_legend: false,
    };
    plot::ui(ui, &frame, &plot, |at| {
        let cycle = format!("cycle {}", grouped(at.x.max(0.0).round() as u64));
        let values = at.values().map(|(name, value)| labelled(name, &number(value)));
        Some(std::iter::once(cycle).chain(values).collect::<Vec<_>>().join("\n"))
    });
}
