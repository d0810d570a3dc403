//! Entries of menus.

use crate::app::actions::action::Action;
use crate::app::state::command::Command;
use crate::app::widgets::labels::{explained, named};
use eframe::egui::{Button, Ui};

/// Draws an entry of a menu, which sends a command and closes the menu.
pub fn entry(ui: &mut Ui, action: &Action, command: Command, commands: &mut Vec<Command>) {
    let button = Button::new(action.name).shortcut_text(action.key(ui.ctx()));
    let button = named(ui.add(button), action.name);
    if explained(button, action.tooltip(ui.ctx())).clicked() {
        commands.push(command);
        ui.close();
    }
}
