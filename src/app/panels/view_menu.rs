//! The menu of panes and of the appearance of the window.

use crate::app::actions::{self, entry};
use crate::app::panes::{Panes, list};
use crate::app::state::command::Command;
use crate::app::state::drag::HoldAt;
use crate::app::state::session::Session;
use crate::app::widgets::labels::explained;
use crate::app::widgets::theme;
use crate::grid::Need;
use eframe::egui::{self, Ui};

/// Draws the View menu.
pub fn ui(ui: &mut Ui, session: &Session, panes: &Panes, commands: &mut Vec<Command>) {
    let stays = egui::containers::menu::MenuConfig::new()
        .close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside);
    let menu = egui::containers::menu::MenuButton::new("View").config(stays);
    let (button, _) = menu.ui(ui, |ui| {
        ui.set_min_width(theme::MENU_WIDTH);
        for pane in list::ALL {
            // What this grid or matrix cannot have is not offered.
            if pane.need() != Need::Nothing && pane.why_empty(session).is_some() {
                continue;
            }
            let mut shown = panes.is_shown(pane.id());
            let about = match pane.why_empty(session) {
                Some(why) => format!("{} {why}", pane.about()),
                None => pane.about().to_owned(),
            };
            if explained(ui.checkbox(&mut shown, pane.title()), about).changed() {
                commands.push(Command::ShowPane(pane.id(), shown));
            }
        }
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
