//! The menu of panes and of the appearance of the window.

use crate::app::actions::{self, entry};
use crate::app::panes::{Panes, list};
use crate::app::state::command::Command;
use crate::app::state::drag::HoldAt;
use crate::app::state::session::Session;
use crate::app::widgets::labels::explained;
use crate::app::widgets::theme;
use eframe::egui::{self, Ui};

/// Draws the View menu.
pub fn ui(ui: &mut Ui, session: &Session, panes: &Panes, commands: &mut Vec<Command>) {
    let stays = egui::containers::menu::MenuConfig::new()
        .close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside);
    let menu = egui::containers::menu::MenuButton::new("View").config(stays);
    let (button, _) = menu.ui(ui, |ui| {
        ui.set_min_width(theme::MENU_WIDTH);
        offered_panes(ui, session, panes, commands);
        ui.separator();
        explained(
            ui.label("Show a changed setting at"),
            "The picture stays until the new run has come as far as the previous one; then the new run is shown.",
        );
        for at in HoldAt::ALL {
            let chosen = ui.radio(session.hold_at == at, at.label());
            if explained(chosen, at.about()).clicked() {
                commands.push(Command::HoldAt(at));
            }
        }
        ui.separator();
        entry(ui, &actions::TUNING, Command::ShowTuning(true), commands);
        entry(ui, &actions::RESET_LAYOUT, Command::ResetLayout, commands);
        entry(ui, &actions::THEME, Command::ToggleTheme, commands);
        entry(ui, &actions::STUDENT_VIEW, Command::ToggleStudentView, commands);
        entry(ui, &actions::PRESENTATION, Command::TogglePresentation, commands);
    });
    button.on_hover_text("Show or hide panes, and change the appearance of the window.");
}

/// A checkbox for each pane that a run like this one can have, in two columns: one would be higher than small windows.
fn offered_panes(ui: &mut Ui, session: &Session, panes: &Panes, commands: &mut Vec<Command>) {
    let offered: Vec<_> = list::ALL.iter().filter(|pane| pane.is_offered(session)).collect();
    let rows = offered.len().div_ceil(2);
    egui::Grid::new("panes").num_columns(2).show(ui, |ui| {
        for row in 0..rows {
            for pane in [offered.get(row), offered.get(row + rows)].into_iter().flatten() {
                let mut shown = panes.is_shown(pane.id());
                let about = match pane.why_empty(session) {
                    Some(why) => format!("{} {why}", pane.about()),
                    None => pane.about().to_owned(),
                };
                if explained(ui.checkbox(&mut shown, pane.title()), about).changed() {
                    commands.push(Command::ShowPane(pane.id(), shown));
                }
            }
            ui.end_row();
        }
    });
}
