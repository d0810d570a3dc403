//! The sheet of keys: every action that has one, by group.

use super::actions;
use super::command::Command;
use eframe::egui::{self, RichText, Ui};

/// Width of the sheet, and what it leaves of the window's height, in points.
const WIDTH: f32 = 660.0;
const BESIDE: f32 = 150.0;

/// Width of its widest column, in points.
const SENTENCE: f32 = 400.0;

pub(super) fn ui(context: &egui::Context, commands: &mut Vec<Command>) {
    let frame = egui::Frame::popup(&context.global_style()).inner_margin(16.0);
    let response = egui::Modal::new(egui::Id::unique("keys")).frame(frame).show(context, |ui| {
        ui.set_width(WIDTH);
        ui.heading("Keys");
        let palette = actions::PALETTE.key(context);
        let hint = format!("{palette} finds everything by its name, what has no key too.");
        ui.label(RichText::new(hint).weak());
        ui.add_space(8.0);
        let height = context.content_rect().height() - BESIDE;
        egui::ScrollArea::vertical().max_height(height).auto_shrink([false, true]).show(ui, table);
        ui.add_space(8.0);
        if ui.button("Close").on_hover_text("Back to the run; Escape does it, too.").clicked() {
            commands.push(Command::ShowKeys(false));
        }
    });
    if response.should_close() {
        commands.push(Command::ShowKeys(false));
    }
}

fn table(ui: &mut Ui) {
    let grid = egui::Grid::new("keys").num_columns(3).max_col_width(SENTENCE);
    grid.spacing([16.0, 4.0]).striped(true).show(ui, |ui| {
        let mut group = "";
        for action in actions::ALL.iter().filter(|action| !action.keys.is_empty()) {
            let is_first = std::mem::replace(&mut group, action.group) != action.group;
            ui.label(RichText::new(if is_first { group } else { "" }).strong());
            let keys: Vec<_> =
                action.keys.iter().map(|key| ui.ctx().format_shortcut(key)).collect();
            ui.label(RichText::new(keys.join("  or  ")).monospace());
            ui.add(egui::Label::new(action.about).wrap());
            ui.end_row();
        }
    });
}
