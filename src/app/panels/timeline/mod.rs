//! The timeline under the panes: the shown cycle, and the replay.

mod track;

use crate::app::actions;
use crate::app::state::command::Command;
use crate::app::state::session::Session;
use crate::app::state::travel::{SPEEDS, Travel};
use crate::app::widgets::icon::Icon;
use crate::app::widgets::labels::{cycles_per_second, named};
use crate::picture::grouped;
use crate::run::Report;
use eframe::egui::{self, Align, Button, ComboBox, Layout, RichText, Ui};

/// Width of the number of the cycle, in points: `1,234,567 of 1,234,567`.
const NUMBER_ROOM: f32 = 152.0;

/// Draws the timeline. `under_way` is the progress towards the requested cycle, 0 to 1.
pub fn ui(
    ui: &mut Ui,
    session: &Session,
    report: Option<&Report>,
    under_way: Option<f32>,
    commands: &mut Vec<Command>,
) {
    let travel = session.travel;
    let latest = report.map_or(0, |report| report.latest.cycle);
    ui.add_space(2.0);
    ui.horizontal(|ui| {
        buttons(ui, travel, latest, commands);
        let shown = report.map_or(0, |report| report.observation.cycle);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            live(ui, travel, latest, commands);
            number(ui, travel, shown, latest, under_way);
            let wanted = travel.earlier(latest).unwrap_or(latest);
            if let Some(to) = track::ui(ui, travel, wanted, latest) {
                commands.push(Command::Travel(to));
            }
        });
    });
    ui.add_space(2.0);
}

fn buttons(ui: &mut Ui, travel: Travel, latest: u64, commands: &mut Vec<Command>) {
    let is_any = latest > 0;
    let (icon, name) = if travel.playing { (Icon::Pause, "Stop") } else { (Icon::Run, "Play") };
    let play = Button::new((icon.atom(), name)).min_size(egui::vec2(66.0, 0.0));
    let play = ui.add_enabled(is_any, play);
    let about = actions::PLAY.tooltip(ui.ctx());
    if play.on_hover_text(about).on_disabled_hover_text("No cycle has been made yet.").clicked() {
        commands.push(Command::Travel(travel.play(!travel.playing, latest)));
    }
    let combo =
        ComboBox::from_id_salt("speed").width(100.0).selected_text(cycles_per_second(travel.speed));
    let response = combo.show_ui(ui, |ui| {
        for speed in SPEEDS {
            let chosen = ui.selectable_label(travel.speed == speed, cycles_per_second(speed));
            if chosen.on_hover_text("Replayed cycles per second.").clicked() {
                commands.push(Command::Travel(Travel { speed, ..travel }));
            }
        }
    });
    named(response.response, "Speed").on_hover_text("Replayed cycles per second.");
    let mut looped = travel.looped;
    let about = "Start again after the last cycle.";
    if ui.checkbox(&mut looped, "Loop").on_hover_text(about).changed() {
        commands.push(Command::Travel(Travel { looped, ..travel }));
    }
}

/// The button that returns to the newest cycle.
fn live(ui: &mut Ui, travel: Travel, latest: u64, commands: &mut Vec<Command>) {
    let is_back = travel.at.is_some();
    let live = ui.add_enabled(is_back, Button::new("Live").min_size(egui::vec2(48.0, 0.0)));
    let live = live
        .on_hover_text(actions::LIVE.tooltip(ui.ctx()))
        .on_disabled_hover_text("The newest cycle is shown.");
    if live.clicked() {
        commands.push(Command::Travel(travel.to(latest, latest)));
    }
}

/// The shown cycle, in a fixed width: nothing moves when it grows.
fn number(ui: &mut Ui, travel: Travel, shown: u64, latest: u64, under_way: Option<f32>) {
    let wanted = travel.earlier(latest);
    let text = match (wanted, under_way) {
        (None, _) => format!("cycle {}, live", grouped(latest)),
        (Some(cycle), Some(part)) if shown != cycle => {
            format!("{} … {:.0} %", grouped(cycle), part * 100.0)
        }
        (Some(cycle), _) => format!("{} of {}", grouped(cycle), grouped(latest)),
    };
    let text = RichText::new(text);
    let text = if wanted.is_some() { text.strong() } else { text.weak() };
    let (width, height) = (NUMBER_ROOM, ui.spacing().interact_size.y);
    ui.allocate_ui_with_layout(
        egui::vec2(width, height),
        Layout::right_to_left(Align::Center),
        |ui| {
            ui.set_min_width(width);
            ui.add(egui::Label::new(text).truncate()).on_hover_text(
                "The cycle that all panes show. ←/→ moves by 1, with Shift by 10, with Ctrl by 100; Home goes to the initial guess, End to the newest cycle.",
            );
        },
    );
}
