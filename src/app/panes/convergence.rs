//! Convergence curves of the run, of pinned runs and of classic Jacobi.

use crate::app::actions;
use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::state::command::Command;
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::state::view_settings::{Against, CurveKind};
use crate::app::widgets::labels::named;
use crate::app::widgets::plot::{LABEL_ROOM, LABEL_SPACING, along, decade, decades, steps};
use crate::app::widgets::{legend, theme};
use crate::picture::{FigureKind, grouped, number, seconds as time};
use crate::run::{Record, Report, StopRule};
use eframe::egui::{
    self, Align, ComboBox, FontSelection, Layout, RichText, TextWrapMode, Ui, WidgetText,
};
use egui_plot::{
    AxisHints, Corner, HLine, HoverPosition, Legend, Line, LineStyle, Plot, PlotPoint, PlotPoints,
    Points, VLine, uniform_grid_spacer,
};

/// Largest share of the plot that the legend takes, across and down.
const LEGEND: [f64; 2] = [0.6, 0.2];

/// The name of the reference.
const CLASSIC: &str = "classic Jacobi";

/// Height of the table under the curves.
const TABLE_ROOM: f32 = 96.0;

/// The smallest useful height of the plot, in points.
const LEAST_PLOT: f32 = 96.0;

/// In a pane narrower than this, in points, the table has a small font.
const NARROW: f32 = 320.0;

/// The norms of the run over its cycles.
pub struct ConvergencePane;

/// Its name in files.
pub const ID: PaneId = PaneId("convergence");

impl PaneType for ConvergencePane {
    fn id(&self) -> PaneId {
        ID
    }

    fn title(&self) -> &'static str {
        "Convergence"
    }

    fn about(&self) -> &'static str {
        "The norms of the run over its cycles, with those of classic Jacobi."
    }

    fn slot(&self) -> Slot {
        Slot::TopRight
    }

    fn is_shown_at_first(&self) -> bool {
        true
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::CURVES
    }

    fn figure(&self, _: &Session) -> Option<FigureKind> {
        Some(FigureKind::CURVES)
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        self::ui(ui, context.session, context.report, context.commands);
    }
}

fn ui(ui: &mut Ui, session: &Session, report: Option<&Report>, commands: &mut Vec<Command>) {
    controls(ui, session, commands);
    let Some(report) = report else {
        return;
    };
    // In a low pane, the curves are shown without the table.
    let has_table = ui.available_height() >= TABLE_ROOM + LEAST_PLOT;
    let height = ui.available_height() - if has_table { TABLE_ROOM } else { 0.0 };
    convergence(ui, session, report, height, commands);
    if has_table {
        table(ui, session, report);
    }
}

fn controls(ui: &mut Ui, session: &Session, commands: &mut Vec<Command>) {
    let mut look = session.look.clone();
    ui.horizontal_wrapped(|ui| {
        let combo = ComboBox::from_id_salt("curve").width(96.0).selected_text(look.curve.label());
        let response = combo.show_ui(ui, |ui| {
            for curve in CurveKind::ALL {
                ui.selectable_value(&mut look.curve, curve, curve.label())
                    .on_hover_text(curve.about());
            }
        });
        let about = actions::menu_tooltip("Norm", "Which norm the curve shows.");
        named(response.response, "Norm").on_hover_text(about);
        let combo =
            ComboBox::from_id_salt("against").width(90.0).selected_text(look.against.label());
        let response = combo.show_ui(ui, |ui| {
            for against in Against::ALL {
                ui.selectable_value(&mut look.against, against, against.label())
                    .on_hover_text(against.about());
            }
        });
        let about = actions::menu_tooltip("Curves over", "The x axis of the curves.");
        named(response.response, "Against").on_hover_text(about);
        ui.checkbox(&mut look.reference, "Classic")
            .on_hover_text(actions::CLASSIC.tooltip(ui.ctx()));
        if ui.button("Pin").on_hover_text(actions::PIN.tooltip(ui.ctx())).clicked() {
            commands.push(Command::Pin);
        }
    });
    if look != session.look {
        commands.push(Command::Look(look));
    }
}

/// The point of a curve for a record, on a logarithmic axis; `None` if its value is unknown.
///
/// `cycle` is how many sweeps make one on the axis: those of the run, for its reference too.
fn point(
    record: &Record,
    session: &Session,
    sweeps_per_cycle: u64,
    cycle: u64,
    start: f64,
) -> Option<[f64; 2]> {
    let value = match session.look.curve {
        CurveKind::Reduction => crate::run::reduction(record.residual?.l2, start),
        CurveKind::ResidualMax => record.residual?.max?,
        CurveKind::Change => record.max_change?,
        CurveKind::Error => record.error?,
    };
    let along = session.look.against.over().along(record, sweeps_per_cycle, cycle);
    (value > 0.0 && value.is_finite()).then(|| [along, value.log10()])
}

fn convergence(
    ui: &mut Ui,
    session: &Session,
    report: &Report,
    room: f32,
    commands: &mut Vec<Command>,
) {
    let start = report.start_residual;
    let cycle = report.plan.sweeps_per_cycle();
    let points = |records: &[Record], sweeps: u64| -> PlotPoints<'static> {
        records.iter().filter_map(|record| point(record, session, sweeps, cycle, start)).collect()
    };
    let run = points(&report.curve, report.plan.sweeps_per_cycle());
    let classic = points(&report.reference, 1);
    let reference = if session.look.reference { classic.points() } else { &[] };
    let corner = legend_corner([run.points(), reference]);
    let tolerance = tolerance(session, report);
    let (ink, reference, weak) =
        (theme::curve(ui, 0), theme::curve(ui, 1), ui.visuals().weak_text_color());
    let mut names = session.pins.names(&report.plan.spec);
    let own = names.pop().unwrap_or_default();
    let pinned =
        session.pins.all().iter().zip(names).filter(|(pin, _)| pin.archive != report.archive);
    let pinned = pinned.map(|(pin, name)| {
        let sweeps = pin.archive.plan().sweeps_per_cycle();
        let point = |record| point(record, session, sweeps, sweeps, pin.start_residual);
        let points: PlotPoints<'static> = pin.curve.iter().filter_map(point).collect();
        (name, theme::pin(ui, pin.number), points)
    });
    let pinned: Vec<_> = pinned.collect();
    let below = ui.cursor().top() + room;
    let name = if pinned.is_empty() {
        "this run".to_owned()
    } else {
        let pinned = pinned.iter().map(|(name, colour, _)| (name.clone(), *colour));
        let classic = session.look.reference.then(|| (CLASSIC.to_owned(), reference));
        let names: Vec<_> = pinned.chain([(own.clone(), ink)]).chain(classic).collect();
        legend::ui(ui, &names);
        own
    };
    let height = below - ui.cursor().top();
    let against = session.look.against.label();
    let grid = theme::grid(ui);
    let earlier = session.travel.earlier(report.latest.cycle).is_some();
    let shown = (earlier || report.observation.cycle < report.latest.cycle)
        .then_some(&report.observation.norms);
    let marker = shown.and_then(|norms| point(norms, session, cycle, cycle, start));
    let mut plot = Plot::new("convergence")
        .height(height)
        .width(ui.available_width() - LABEL_ROOM)
        .y_grid_spacer(uniform_grid_spacer(|input| decades(input.base_step_size)))
        .x_grid_spacer(uniform_grid_spacer(|input| steps(input.base_step_size)))
        .y_axis_formatter(|mark, _| decade(mark))
        .custom_x_axes(vec![
            AxisHints::new_x()
                .label(if session.look.against == Against::Time {
                    "solver time, s"
                } else {
                    against
                })
                .formatter(|mark, _| along(mark.value))
                .label_spacing(LABEL_SPACING),
        ])
        .label_formatter(move |hover| Some(read_off(hover, against)))
        .allow_scroll(false)
        .grid_color(grid)
        .show_axes(true);
    if pinned.is_empty() {
        plot = plot.legend(Legend::default().position(corner).follow_insertion_order(true));
    }
    let plot = plot.show(ui, |plot| {
        for (name, colour, points) in pinned {
            plot.line(Line::new(name, points).color(colour).width(1.5));
        }
        plot.line(Line::new(name, run).color(ink).width(2.0));
        if session.look.reference {
            let style = LineStyle::dashed_loose();
            plot.line(Line::new(CLASSIC, classic).color(reference).width(1.5).style(style));
        }
        if let Some(tolerance) = tolerance {
            let style = LineStyle::dotted_dense();
            plot.hline(HLine::new("tolerance", tolerance.log10()).color(weak).style(style));
        }
        if let Some(at) = marker {
            plot.vline(VLine::new("", at[0]).color(ink).width(1.0).allow_hover(false));
            let mark = Points::new("", vec![at]).radius(4.5).color(ink).allow_hover(false);
            plot.points(mark);
        }
        plot.response().hover_pos().map(|_| plot.pointer_coordinate())
    });
    let pointed = plot.inner.flatten();
    let pointed = pointed.and_then(|at| pointed_at(at.x, session, report));
    if let Some(cycle) = pointed {
        if plot.response.clicked() {
            let travel = session.travel;
            commands.push(Command::Travel(travel.to(cycle, report.latest.cycle)));
        } else if !plot.response.dragged() {
            commands.push(Command::Preview(cycle));
        }
    }
}

/// The cycle at a position along the x axis; `None` beyond the curve.
fn pointed_at(x: f64, session: &Session, report: &Report) -> Option<u64> {
    let latest = &report.latest;
    let over = session.look.against.over();
    let sweeps = report.plan.sweeps_per_cycle();
    let end = over.along(latest, sweeps, sweeps);
    let part = (0.0..=end).contains(&x).then_some(x / end.max(f64::MIN_POSITIVE))?;
    Some(match session.look.against {
        Against::Time => crate::run::cycle_at(&report.curve, x),
        Against::Cycles | Against::Sweeps => (part * latest.cycle as f64).round() as u64,
    })
}

/// The tolerance, if it applies to the shown norm.
fn tolerance(session: &Session, report: &Report) -> Option<f64> {
    let stop = report.plan.stop;
    let shown = matches!(
        (stop.rule, session.look.curve),
        (StopRule::Residual, CurveKind::Reduction) | (StopRule::Change, CurveKind::Change)
    );
    stop.tolerance.filter(|_| shown)
}

fn read_off(hover: &HoverPosition<'_>, against: &str) -> String {
    let (name, at): (&str, PlotPoint) = match hover {
        HoverPosition::NearDataPoint { plot_name, position, .. } => (plot_name, *position),
        HoverPosition::Elsewhere { position } => ("", *position),
    };
    let x = if against == Against::Time.label() {
        format!("{:.4} s", at.x)
    } else {
        format!("{} {against}", grouped(at.x.max(0.0).round() as u64))
    };
    let value = number(10f64.powf(at.y));
    if name.is_empty() { format!("{x}\n{value}") } else { format!("{name}\n{x}\n{value}") }
}

/// The corner where the legend covers no point of a curve; the upper right one if there is none.
fn legend_corner(curves: [&[PlotPoint]; 2]) -> Corner {
    let points = || curves.into_iter().flatten();
    let ends = |value: fn(&PlotPoint) -> f64| {
        points().map(value).fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), value| {
            (value.min(lo), value.max(hi))
        })
    };
    let ((left, right), (bottom, top)) = (ends(|at| at.x), ends(|at| at.y));
    let covered = |corner: Corner| {
        let (wide, high) = (LEGEND[0] * (right - left), LEGEND[1] * (top - bottom));
        points().any(|at| {
            let across = match corner {
                Corner::LeftTop | Corner::LeftBottom => at.x < left + wide,
                Corner::RightTop | Corner::RightBottom => at.x > right - wide,
            };
            let along = match corner {
                Corner::LeftTop | Corner::RightTop => at.y > top - high,
                Corner::LeftBottom | Corner::RightBottom => at.y < bottom + high,
            };
            across && along
        })
    };
    let corners = [Corner::RightTop, Corner::LeftTop, Corner::LeftBottom, Corner::RightBottom];
    corners.into_iter().find(|&corner| !covered(corner)).unwrap_or(Corner::RightTop)
}

/// The run and its reference in numbers.
fn table(ui: &mut Ui, session: &Session, report: &Report) {
    ui.add_space(4.0);
    let narrow = ui.available_width() < NARROW;
    if narrow {
        ui.style_mut().override_text_style = Some(egui::TextStyle::Small);
    }
    let gap = if narrow { 5.0 } else { 10.0 };
    egui::Grid::new("numbers").num_columns(5).spacing([gap, 4.0]).show(ui, |ui| {
        let [time, reduction] = if narrow {
            ["time", "‖r‖/‖r₀‖"]
        } else {
            ["solver time", "‖r‖₂/‖r₀‖₂"]
        };
        for heading in ["", "cycles", "sweeps", time, reduction] {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if heading == time {
                    // As wide as most times, so that nothing moves with a new digit.
                    let galley = WidgetText::from("88.8 ms").into_galley(
                        ui,
                        Some(TextWrapMode::Extend),
                        f32::INFINITY,
                        FontSelection::Default,
                    );
                    ui.set_min_width(galley.size().x);
                }
                ui.label(RichText::new(heading).weak());
            });
        }
        ui.end_row();
        let sweeps = report.plan.sweeps_per_cycle();
        // The newest residual is computed with the next cycle: until then the previous one is
        // shown.
        let reduction = |records: &[Record]| {
            let known = records.iter().rev().find_map(|record| record.residual);
            known.map(|residual| crate::run::reduction(residual.l2, report.start_residual))
        };
        numbers(
            ui,
            "this run",
            theme::curve(ui, 0),
            Some(&report.observation.norms),
            sweeps,
            norm_of_shown(report).or_else(|| reduction(&report.curve)),
        );
        if session.look.reference {
            let colour = theme::curve(ui, 1);
            numbers(
                ui,
                "classic",
                colour,
                report.reference.last(),
                1,
                reduction(&report.reference),
            );
        }
    });
}

/// ‖r‖₂ / ‖r₀‖₂ of the shown cycle, if known.
fn norm_of_shown(report: &Report) -> Option<f64> {
    let residual = report.observation.norms.residual?;
    Some(crate::run::reduction(residual.l2, report.start_residual))
}

fn numbers(
    ui: &mut Ui,
    name: &str,
    colour: egui::Color32,
    record: Option<&Record>,
    sweeps: u64,
    reduction: Option<f64>,
) {
    ui.label(RichText::new(name).color(colour).strong());
    let reduction =
        reduction.map_or_else(|| "–".to_owned(), |reduction| format!("{reduction:.2e}"));
    let (cycle, seconds) = record.map_or((0, 0.0), |record| (record.cycle, record.seconds));
    for text in [grouped(cycle), grouped(cycle * sweeps), time(seconds), reduction] {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(text));
    }
    ui.end_row();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_logarithmic_axis_has_a_line_a_decade_and_never_more_than_it_has_room_for() {
        for least in [0.0, 0.01, 1.0] {
            assert_eq!(decades(least), [1.0, 1.0, 10.0]);
        }
        for least in [1.5, 10.0, 3e5] {
            let [step, ..] = decades(least);
            assert!(least <= step && step <= 10.0 * least, "{least}: {step}");
        }
    }
}
