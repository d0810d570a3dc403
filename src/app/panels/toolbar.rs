//! The toolbar: the problem, run controls, the state of the run, and files.

use crate::app::actions;
use crate::app::actions::entry;
use crate::app::panels::view_menu;
use crate::app::panes::Panes;
use crate::app::state::command::Command;
use crate::app::state::session::{Session, elsewhere};
use crate::app::widgets::icon::Icon;
use crate::app::widgets::labels::{cycles_per_second, named};
use crate::app::widgets::theme;
use crate::picture::grouped;
use crate::run::{Outcome, PRESETS, Phase, Report};
use crate::solver::Subiterations;
use eframe::egui::{
    self, Align, Button, ComboBox, Layout, RichText, TextStyle, TextWrapMode, Ui, WidgetText,
};

/// Speed limits to choose from, in cycles per second.
const PACES: [f64; 6] = [1.0, 3.0, 10.0, 30.0, 100.0, 300.0];

/// In a toolbar narrower than this, in points, some words are left out for long numbers of cycles.
const NARROW: f32 = 1220.0;

/// From this width on, in points, the toolbar has room for all of its words.
const ROOMY: f32 = 1360.0;

/// Draws the toolbar. `presenting` leaves out what an audience does not need; keys and palette have
/// it. `waits`: whether the run is paused for a measurement.
pub fn ui(
    ui: &mut Ui,
    session: &Session,
    report: Option<&Report>,
    panes: &Panes,
    presenting: bool,
    waits: bool,
    commands: &mut Vec<Command>,
) {
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        let narrow = ui.available_width() < NARROW;
        let roomy = ui.available_width() >= ROOMY;
        if !narrow {
            ui.label(RichText::new("Tilescope").heading().size(17.0));
            ui.add_space(theme::GAP);
        }
        presets(ui, session, if narrow { 104.0 } else { 210.0 }, commands);
        ui.separator();
        transport(ui, session, report, commands);
        ui.separator();
        ui.label(progress(report, narrow, roomy))
            .on_hover_text("The cycle that is shown, and the sweeps up to it: k per cycle.");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            help(ui, commands);
            if !narrow {
                theme(ui, commands);
            }
            view_menu::ui(ui, session, panes, commands);
            if presenting {
                status(ui, report, waits);
                return;
            }
            let [save, open] = if narrow { ["Save", "Open"] } else { ["Save …", "Open …"] };
            let save =
                named(ui.button(save), "Save …").on_hover_text(actions::SAVE.tooltip(ui.ctx()));
            if save.clicked() {
                commands.push(Command::ShowSave(true));
            }
            let open =
                named(ui.button(open), "Open …").on_hover_text(actions::OPEN.tooltip(ui.ctx()));
            if open.clicked() {
                commands.push(Command::ShowOpen(true));
            }
            let copy = ui.button(if roomy { "Copy as command" } else { "Copy" });
            let copy = named(copy, "Copy as command")
                .on_hover_text(actions::COPY_COMMAND.tooltip(ui.ctx()));
            if copy.clicked() {
                let text = crate::run::command_line(&session.spec);
                commands.push(Command::Copy { text, what: "Command line" });
            }
            status(ui, report, waits);
        });
    });
    ui.add_space(2.0);
}

/// The help menu.
fn help(ui: &mut Ui, commands: &mut Vec<Command>) {
    let menu = ui.menu_button("?", |ui| {
        ui.set_min_width(theme::MENU_WIDTH);
        entry(ui, &actions::KEYS, Command::ShowKeys(true), commands);
        entry(ui, &actions::PALETTE, Command::ShowPalette(true), commands);
        entry(ui, &actions::WELCOME, Command::ShowWelcome(true), commands);
    });
    named(menu.response, "Help").on_hover_text("Keyboard shortcuts, command palette and examples.");
}

/// The button that toggles the theme.
fn theme(ui: &mut Ui, commands: &mut Vec<Command>) {
    let dark = ui.visuals().dark_mode;
    let sign = if dark { Icon::Sun } else { Icon::Moon };
    let name = if dark { "Light theme" } else { "Dark theme" };
    let about = actions::THEME.tooltip(ui.ctx());
    if named(ui.button(sign.atom()), name).on_hover_text(about).clicked() {
        commands.push(Command::ToggleTheme);
    }
}

fn presets(ui: &mut Ui, session: &Session, width: f32, commands: &mut Vec<Command>) {
    let current = PRESETS.iter().find(|preset| preset.problem().0 == session.spec.problem);
    let text = current.map_or(session.spec.problem.kind.label(), |preset| preset.label);
    let combo = ComboBox::from_id_salt("preset").width(width).height(420.0).truncate();
    let response = combo.selected_text(text).show_ui(ui, |ui| {
        for preset in &PRESETS {
            let selected = current.is_some_and(|current| current.name == preset.name);
            if ui.selectable_label(selected, preset.label).on_hover_text(preset.about).clicked() {
                commands.push(Command::Change(session.with(preset)));
            }
        }
    });
    let about = "Choose a problem; its parameters are on the left.";
    named(response.response, "Problem").on_hover_text(actions::menu_tooltip("Problem", about));
}

fn transport(ui: &mut Ui, session: &Session, report: Option<&Report>, commands: &mut Vec<Command>) {
    let finished = session.is_finished(report);
    let going = session.running && !finished;
    // Both texts have the same width, so that nothing moves when one replaces the other.
    let (icon, text) = if going { (Icon::Pause, "Pause") } else { (Icon::Run, "Run") };
    let run = Button::new((icon.atom(), text)).min_size(egui::vec2(74.0, 0.0));
    let about = actions::RUN.tooltip(ui.ctx());
    if ui
        .add_enabled(!finished, run)
        .on_hover_text(&about)
        .on_disabled_hover_text("The run has ended; Reset starts it again.")
        .clicked()
    {
        commands.push(Command::Run(!session.running));
    }
    // From an earlier cycle, a step shows the next one.
    let earlier = report.and_then(|report| {
        Some((session.travel.earlier(report.latest.cycle)?, report.latest.cycle))
    });
    let can_step = !finished || earlier.is_some();
    let step = ui.add_enabled(can_step, Button::new((Icon::Step.atom(), "Step")));
    if step.on_hover_text(actions::STEP.tooltip(ui.ctx())).clicked() {
        commands.push(match earlier {
            Some((cycle, latest)) => Command::Travel(session.travel.to(cycle + 1, latest)),
            None => Command::Step(1),
        });
    }
    let reset = ui.button((Icon::Reset.atom(), "Reset"));
    if reset.on_hover_text(actions::RESET.tooltip(ui.ctx())).clicked() {
        commands.push(Command::Reset);
    }
    let text = |pace: Option<f64>| pace.map_or_else(|| "Max speed".into(), cycles_per_second);
    let combo = ComboBox::from_id_salt("pace").width(96.0).selected_text(text(session.pace));
    let response = combo.show_ui(ui, |ui| {
        for pace in [None].into_iter().chain(PACES.map(Some)) {
            let about = match pace {
                None => "As fast as the solver runs.",
                Some(_) => "At most this many cycles per second.",
            };
            let chosen = ui.selectable_label(session.pace == pace, text(pace));
            if chosen.on_hover_text(about).clicked() {
                commands.push(Command::Pace(pace));
            }
        }
    });
    named(response.response, "Pace").on_hover_text("Limit of cycles per second, or maximum speed.");
}

/// The cycles and sweeps of what is shown. Large numbers of sweeps are left out where there is no room.
fn progress(report: Option<&Report>, narrow: bool, roomy: bool) -> String {
    const MAX_SWEEPS: u64 = 999_999;
    let cycle = report.map_or(0, |report| report.observation.cycle);
    let sweeps = cycle * report.map_or(1, |report| report.plan.sweeps_per_cycle());
    let cycle = format!("cycle {}", grouped(cycle));
    let is_exact = report.is_some_and(|report| report.plan.method.k() == Subiterations::Infinite);
    if narrow || is_exact || (!roomy && sweeps > MAX_SWEEPS) {
        cycle
    } else {
        format!("{cycle} · {} sweeps", grouped(sweeps))
    }
}

/// The speed of the run, as precise as there is room for.
fn speed(ui: &Ui, rate: f64) -> String {
    let exact = format!("{} cycles/s", grouped(rate.round() as u64));
    if rate < 1e3 {
        return exact;
    }
    let thousands = grouped((rate / 1e3).round() as u64);
    let texts = [exact, format!("{thousands}k cycles/s"), format!("{thousands}k/s")];
    let fits = |text: &String| {
        let mode = Some(TextWrapMode::Extend);
        let galley = WidgetText::from(text).into_galley(ui, mode, f32::INFINITY, TextStyle::Body);
        galley.size().x <= ui.available_width()
    };
    texts.into_iter().find(fits).unwrap_or_default()
}

/// The state of the run.
fn status(ui: &mut Ui, report: Option<&Report>, waits: bool) {
    let Some(report) = report else {
        return;
    };
    if waits {
        ui.label("waiting").on_hover_text(
            "The tuning map is being measured. The run is paused so that timings are clean; it continues afterwards.",
        );
        return;
    }
    let text = match &report.phase {
        Phase::Paused => "paused".to_owned(),
        Phase::CatchingUp => "catching up".to_owned(),
        Phase::Held => "held".to_owned(),
        Phase::Running => match report.cycles_per_second {
            Some(rate) => speed(ui, rate),
            None => "running".to_owned(),
        },
        Phase::Finished(Outcome::Converged) => "✓ converged".to_owned(),
        Phase::Finished(Outcome::RoundingLimit) => "rounding limit".to_owned(),
        Phase::Finished(Outcome::OutOfCycles) => "cycle limit".to_owned(),
        Phase::Finished(Outcome::Diverged(_)) => "⚠ diverged".to_owned(),
        Phase::Returning { cycle } => format!("replaying cycle {}", grouped(*cycle)),
        Phase::Failed { .. } => "⚠ failed".to_owned(),
    };
    let is_bad =
        matches!(&report.phase, Phase::Finished(Outcome::Diverged(_)) | Phase::Failed { .. });
    let colour = if is_bad { ui.visuals().error_fg_color } else { ui.visuals().weak_text_color() };
    let about = match &report.phase {
        Phase::Failed { why } => format!("{why}. {}", elsewhere(report)),
        Phase::Returning { .. } => {
            "The run repeats cycles, to return to where it was or to its end.".to_owned()
        }
        Phase::Finished(Outcome::RoundingLimit) => {
            "Rounding keeps further cycles from changing the solution.".to_owned()
        }
        Phase::CatchingUp | Phase::Held => {
            "The run stays where its settings are compared. It goes on when the setting is released."
                .to_owned()
        }
        _ => "The state of the run; while it runs, cycles per second of solver time.".to_owned(),
    };
    ui.label(RichText::new(text).color(colour)).on_hover_text(about);
}
