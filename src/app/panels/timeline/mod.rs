//! The timeline under the panes: the shown cycle, and the part that is replayed.

mod track;

use crate::app::actions;
use crate::app::panels::method;
use crate::app::state::command::Command;
use crate::app::state::session::Session;
use crate::app::state::travel::Travel;
use crate::picture::grouped;
use crate::run::Report;
use eframe::egui::{self, Align, Button, Layout, RichText, Ui};

/// Width of the number of the cycle, in points: `1,234,567 of 1,234,567`.
const NUMBER_ROOM: f32 = 152.0;

/// Draws the timeline. `presenting`: with the sliders of the method at its left end. `under_way` is the
/// progress towards the requested cycle, 0 to 1.
pub fn ui(
    ui: &mut Ui,
    session: &Session,
    report: Option<&Report>,
    presenting: bool,
    under_way: Option<f32>,
    commands: &mut Vec<Command>,
) {
    let travel = session.travel;
    let latest = report.map_or(0, |report| report.latest.cycle);
    ui.add_space(2.0);
    ui.horizontal(|ui| {
        if presenting && method::is_short(session) {
            method::strip(ui, session, commands);
        } else {
            looped(ui, travel, commands);
        }
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

fn looped(ui: &mut Ui, travel: Travel, commands: &mut Vec<Command>) {
    let mut looped = travel.looped;
    let about = "Start a replay again after its last cycle.";
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
