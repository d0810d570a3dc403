//! The dialog that opens a file by its name, as an alternative to dropping it on the window.

use crate::app::state::command::Command;
use crate::app::widgets::labels::named;
use crate::app::widgets::rows::row;
use eframe::egui::{self, Key, TextEdit};
use std::path::PathBuf;

/// The dialog while it is open.
pub struct OpenDialog {
    folder: PathBuf,
    name: String,
    /// Whether it was drawn, so that its field has the keyboard focus.
    is_ready: bool,
}

impl OpenDialog {
    pub fn new() -> Self {
        let folder = std::env::current_dir().unwrap_or_default();
        Self { folder, name: String::new(), is_ready: false }
    }

    pub fn ui(&mut self, context: &egui::Context, commands: &mut Vec<Command>) {
        let frame = egui::Frame::popup(&context.global_style()).inner_margin(16.0);
        let modal = egui::Modal::new(egui::Id::unique("open")).frame(frame);
        let response = modal.show(context, |ui| {
            ui.set_width(460.0);
            ui.heading("Open");
            ui.add_space(4.0);
            let about = "A run (.toml), or a figure that contains its run (.png, .svg), is run again. Any other image, or an array (.npy), becomes the right-hand side.";
            ui.label(egui::RichText::new(about).weak());
            ui.add_space(4.0);
            let about = "The name of the file, in the folder below unless it contains one.";
            row(ui, "File", about, |ui| {
                let edit = TextEdit::singleline(&mut self.name).desired_width(350.0);
                let edit = named(ui.add(edit), "File").on_hover_text(about);
                if !std::mem::replace(&mut self.is_ready, true) {
                    edit.request_focus();
                }
            });
            row(ui, "Folder", "The folder of the file, unless its name contains one.", |ui| {
                ui.add(egui::Label::new(self.folder.display().to_string()).truncate());
            });
            ui.add_space(8.0);
            ui.horizontal(|ui| {
                let named = !self.name.trim().is_empty();
                let open = ui.add_enabled(named, egui::Button::new("Open"));
                let enter = named && ui.input(|input| input.key_pressed(Key::Enter));
                if open.on_hover_text("Read the file.").clicked() || enter {
                    // An absolute path replaces the folder.
                    commands.push(Command::Open(self.folder.join(self.name.trim())));
                    commands.push(Command::ShowOpen(false));
                }
                if ui.button("Cancel").on_hover_text("Close without opening a file.").clicked() {
                    commands.push(Command::ShowOpen(false));
                }
            });
        });
        if response.should_close() {
            commands.push(Command::ShowOpen(false));
        }
    }
}
