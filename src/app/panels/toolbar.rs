//! The toolbar: the problem, run controls, the state of the run, and files.

use crate::app::actions;
use crate::app::actions::entry;
use crate::app::panels::view_menu;
use crate::app::panes::Panes;
use crate::app::state::address;
use crate::app::state::command::Command;
use crate::app::state::lesson::LessonOrder;
use crate::app::state::session::{Session, elsewhere};
use crate::app::widgets::icon::Icon;
use crate::app::widgets::labels::{cycles_per_second, explained, named};
use crate::app::widgets::theme;
use crate::picture::{counted, grouped, percent, rounded, two_digits};
use crate::run::{Outcome, PRESETS, Phase, Report, reduction};
use crate::solver::Subiterations;
use eframe::egui::{
    self, Align, Button, ComboBox, Label, Layout, RichText, TextStyle, TextWrapMode, Ui, WidgetText,
};
use std::time::Duration;

/// Speeds to choose from, in cycles per second.
const SPEEDS: [f64; 7] = [1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0];

/// Width of the choice of a speed, in points: room for `0.412 of 1,000/s`.
const SPEED: f32 = 132.0;

/// In a toolbar narrower than this, in points, some words are left out for long numbers of cycles.
const NARROW: f32 = 1220.0;

/// From this width on, in points, the toolbar has room for all of its words.
const ROOMY: f32 = 1360.0;

/// How often the window checks how far a file has been read.
const READ_CHECK: Duration = Duration::from_millis(150);

/// What the toolbar shows of the run.
#[derive(Clone, Copy)]
pub struct RunStatus<'a> {
    /// None before the first report.
    pub report: Option<&'a Report>,
    /// The cycles per second that are shown, where known.
    pub reached: Option<f64>,
    /// Whether the run is paused for a measurement.
    pub waits: bool,
    /// The part of a matrix that is read, while one is.
    pub reading: Option<f64>,
}

/// Draws the toolbar. `presenting` leaves out what an audience does not need; keys and palette have it.
pub fn ui(
    ui: &mut Ui,
    session: &Session,
    run: RunStatus<'_>,
    panes: &Panes,
    presenting: bool,
    commands: &mut Vec<Command>,
) {
    let report = run.report;
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        let narrow = ui.available_width() < NARROW;
        let roomy = ui.available_width() >= ROOMY;
        if roomy {
            ui.label(RichText::new("Tilescope").heading().size(17.0));
            ui.add_space(theme::GAP);
        }
        presets(ui, session, if narrow { 104.0 } else { 162.0 }, commands);
        ui.separator();
        transport(ui, session, run, commands);
        ui.separator();
        ui.label(progress(report, narrow, roomy))
            .on_hover_text("The cycle that is shown, and the sweeps up to it: k per cycle.");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            help(ui, commands);
            if !narrow {
                theme(ui, commands);
            }
            view_menu::ui(ui, session, panes, commands);
            if presenting || session.is_student_view {
                status(ui, session, run);
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
            if address::page().is_some() {
                let copy = ui.button(if narrow { "Link" } else { "Copy link" });
                let copy =
                    named(copy, "Copy link").on_hover_text(actions::COPY_LINK.tooltip(ui.ctx()));
                if copy.clicked() {
                    commands.push(Command::CopyLink);
                }
            }
            let copy = ui.button(if narrow { "Copy" } else { "Copy command" });
            let copy = named(copy, "Copy as command")
                .on_hover_text(actions::COPY_COMMAND.tooltip(ui.ctx()));
            if copy.clicked() {
                let text = crate::run::command_line(&session.spec);
                commands.push(Command::Copy { text, what: "Command line" });
            }
            status(ui, session, run);
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
        let lessons = Command::Lesson(LessonOrder::ShowList(true));
        entry(ui, &actions::LESSONS, lessons, commands);
    });
    named(menu.response, "Help")
        .on_hover_text("Keyboard shortcuts, command palette, examples and lessons.");
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
    let text = current.map_or(session.spec.problem.title(), |preset| preset.label);
    let combo = ComboBox::from_id_salt("preset").width(width).truncate();
    let response = combo.selected_text(text).show_ui(ui, |ui| {
        for preset in &PRESETS {
            let selected = current.is_some_and(|current| current.name == preset.name);
            if explained(ui.selectable_label(selected, preset.label), preset.about).clicked() {
                commands.push(Command::Change(session.with(preset)));
            }
        }
    });
    let about = "Choose a problem; its parameters are on the left.";
    named(response.response, "Problem").on_hover_text(actions::menu_tooltip("Problem", about));
}

fn transport(ui: &mut Ui, session: &Session, run: RunStatus<'_>, commands: &mut Vec<Command>) {
    let RunStatus { report, reached, waits, .. } = run;
    let finished = session.is_finished(report);
    // There are no cycles of a run that was refused.
    let is_refused = report.is_none() && session.rejection.is_some();
    let going = session.running && !finished && !is_refused;
    let (travel, latest) = (session.travel, report.map_or(0, |report| report.latest.cycle));
    // What it does depends on the cycle that is shown: the newest is followed by new ones, an earlier one,
    // or that of a run that has ended, by those that were made.
    let replays = latest > 0 && (finished || travel.is_back());
    let (icon, text, action, command) = match (replays, travel.playing, going) {
        (true, true, _) => {
            (Icon::Pause, "Stop", actions::PLAY, Command::Travel(travel.play(false, latest)))
        }
        (true, false, _) => {
            (Icon::Run, "Play", actions::PLAY, Command::Travel(travel.play(true, latest)))
        }
        (false, _, true) => (Icon::Pause, "Pause", actions::RUN, Command::Run(false)),
        (false, _, false) => (Icon::Run, "Run", actions::RUN, Command::Run(true)),
    };
    // All texts have the same width, so that nothing moves when one replaces another.
    let run = Button::new((icon.atom(), text)).min_size(egui::vec2(74.0, 0.0));
    let run = ui.add_enabled(!is_refused, run);
    if run.on_hover_text(action.tooltip(ui.ctx())).clicked() {
        commands.push(command);
    }
    // From an earlier cycle, a step shows the next one.
    let earlier = report.and_then(|report| {
        Some((session.travel.earlier(report.latest.cycle)?, report.latest.cycle))
    });
    let can_step = !(finished || is_refused) || earlier.is_some();
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
    // The achieved rate beside the chosen one.
    let is_timed = travel.playing || (session.pace.is_some() && going);
    let shown = match (reached.filter(|_| is_timed && !waits), session.pace) {
        (Some(rate), Some(pace)) => format!("{} of {}/s", rounded(rate), rounded(pace)),
        (Some(rate), None) => cycles_per_second(rate),
        (None, pace) => text(pace),
    };
    let combo = ComboBox::from_id_salt("speed").width(SPEED).truncate().selected_text(shown);
    // The rate changes all the time: nothing beside it moves.
    let size = egui::vec2(SPEED, ui.spacing().interact_size.y);
    ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
        let response = combo.show_ui(ui, |ui| {
            for pace in [None].into_iter().chain(SPEEDS.map(Some)) {
                let about = match pace {
                    None => "Runs as fast as the solver can; replays as fast as the eye can follow.",
                    Some(_) => "At most this many cycles per second, of the run and of replays.",
                };
                let chosen = ui.selectable_label(session.pace == pace, text(pace));
                if explained(chosen, about).clicked() {
                    commands.push(Command::Pace(pace));
                }
            }
        });
        named(response.response, "Speed").on_hover_text(
            "Cycles per second, of the run and of replays. The achieved rate stands before the chosen one.",
        );
    });
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
        format!("{cycle} · {}", counted(sweeps, "sweep"))
    }
}

/// The first of some texts that there is room for; if there is for none, nothing.
fn fitting<const N: usize>(ui: &Ui, texts: [String; N]) -> String {
    let fits = |text: &String| {
        let mode = Some(TextWrapMode::Extend);
        let galley = WidgetText::from(text).into_galley(ui, mode, f32::INFINITY, TextStyle::Body);
        galley.size().x <= ui.available_width()
    };
    texts.into_iter().find(fits).unwrap_or_default()
}

/// How a run ended, with the fraction of the error that is left where there is room for it.
fn converged(ui: &Ui, report: &Report) -> String {
    let short = "✓ converged".to_owned();
    let Some(left) = report.error_left else { return short };
    let left = percent(left);
    let residual = report.latest.residual.map_or(f64::NAN, |residual| residual.l2);
    let residual = two_digits(reduction(residual, report.start_residual));
    let long = format!("{short} · residual {residual}, error {left}");
    match fitting(ui, [long, format!("{short} · error {left}")]) {
        text if text.is_empty() => short,
        text => text,
    }
}

/// The speed of the run, as precise as there is room for.
fn speed(ui: &Ui, rate: f64) -> String {
    let whole = rate.round() as u64;
    let exact = format!("{} cycle{}/s", grouped(whole), if whole == 1 { "" } else { "s" });
    if rate < 1e3 {
        return fitting(ui, [exact, format!("{}/s", grouped(whole))]);
    }
    let thousands = grouped((rate / 1e3).round() as u64);
    fitting(ui, [exact, format!("{thousands}k cycles/s"), format!("{thousands}k/s")])
}

/// How much of the residual and of the error a run left at its end; `None` where the exact solution is unknown.
fn what_is_left(report: &Report) -> Option<String> {
    let residual = rounded(reduction(report.latest.residual?.l2, report.start_residual));
    let left = percent(report.error_left?);
    Some(format!(
        "Stopped at ‖r‖₂ = {residual} ‖r₀‖₂: {left} of the error ‖u − u*‖₂ of the initial guess is left."
    ))
}

/// What is said of an earlier cycle that is shown, the long text first.
fn earlier(report: &Report) -> [String; 2] {
    let short = format!("of {}", grouped(report.latest.cycle));
    let residual = report.observation.norms.residual;
    let long = residual.map_or_else(
        || short.clone(),
        |residual| {
            let residual = two_digits(reduction(residual.l2, report.start_residual));
            format!("{short} · residual {residual}")
        },
    );
    [long, short]
}

/// The state of the run at the cycle that is shown.
fn status(ui: &mut Ui, session: &Session, run: RunStatus<'_>) {
    let RunStatus { report, waits, reading, .. } = run;
    let is_matrix = session.spec.problem.matrix.is_some();
    if is_matrix && report.is_none_or(|report| report.epoch != session.epoch) {
        // The worker does not call while it reads a file.
        ui.ctx().request_repaint_after(READ_CHECK);
        if let Some(part) = reading {
            let text = format!("reading {:.0} %", 100.0 * part);
            ui.add(Label::new(text).truncate()).on_hover_text("The matrix is being read.");
            return;
        }
    }
    let Some(report) = report else {
        if let Some(why) = &session.rejection {
            let text = RichText::new("⚠ refused").color(ui.visuals().error_fg_color);
            ui.label(text).on_hover_text(why);
        }
        return;
    };
    if waits {
        ui.label("waiting").on_hover_text(
            "The tuning map is being measured. The run is paused so that timings are clean; it continues afterwards.",
        );
        return;
    }
    if session.travel.earlier(report.latest.cycle).is_some() {
        let about = format!("The run is at cycle {}.", grouped(report.latest.cycle));
        let text = fitting(ui, earlier(report));
        ui.add(Label::new(RichText::new(text).weak()).truncate()).on_hover_text(about);
        return;
    }
    let text = match &report.phase {
        Phase::Paused => "paused".to_owned(),
        Phase::CatchingUp => "catching up".to_owned(),
        Phase::Held => "held".to_owned(),
        // Where a speed is chosen, the rate that is reached stands beside it, and that of the solver would be
        // another one.
        Phase::Running => match report.cycles_per_second.filter(|_| session.pace.is_none()) {
            Some(rate) => speed(ui, rate),
            None => "running".to_owned(),
        },
        Phase::Finished(Outcome::Converged) => converged(ui, report),
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
            "The run is replaying cycles, to return to where it was or to its end.".to_owned()
        }
        Phase::Finished(Outcome::RoundingLimit) => {
            let about = "Because of rounding, further cycles do not change the solution.";
            what_is_left(report).map_or_else(|| about.to_owned(), |left| format!("{about} {left}"))
        }
        Phase::Finished(Outcome::Converged | Outcome::OutOfCycles) => {
            what_is_left(report).unwrap_or_else(|| "The run has ended.".to_owned())
        }
        Phase::CatchingUp | Phase::Held => {
            "The run is held where the settings are compared. It continues when the slider is released."
                .to_owned()
        }
        _ => "The state of the run; at maximum speed, its cycles per second of solver time.".to_owned(),
    };
    // The smallest window has no room for it beside a long number of cycles.
    ui.add(Label::new(RichText::new(text).color(colour)).truncate()).on_hover_text(about);
}
