//! The dialog that opens a file: by its name, from the recent ones, or with the system's dialog.

use crate::app::state::command::{BrowseFor, Command};
use crate::app::widgets::labels::named;
use crate::app::widgets::rows::{folder_row, row};
use crate::files;
use eframe::egui::{self, Button, Key, RichText, TextEdit};
use std::path::{Path, PathBuf};

/// Width of the dialog, in points.
const WIDTH: f32 = 520.0;

const ANYTHING: &str = "A run (.toml), or a figure that contains its run (.png, .svg, .pdf), is run again; a lesson (.md) begins; a sparse matrix (.mtx, .mtx.gz) is solved. Any other image, or an array (.npy), becomes the right-hand side.";
const INITIAL_GUESS: &str = "An array (.npy) in the shape of the grid, for a matrix also a Matrix Market file (.mtx), becomes the initial guess of this run. Or drop it on the window.";

/// What a file is opened for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum OpenFor {
    /// Whatever it holds.
    Anything,
    /// The initial guess of the run.
    InitialGuess,
}

/// The dialog while it is open.
pub struct OpenDialog {
    purpose: OpenFor,
    folder: PathBuf,
    name: String,
    /// Whether its field is to have the keyboard focus.
    wants_focus: bool,
    /// The file that is being read.
    reading: Option<PathBuf>,
    /// Why the last file could not be opened.
    failed: Option<String>,
}

impl OpenDialog {
    /// The dialog as it opens, in a folder.
    pub fn new(purpose: OpenFor, folder: PathBuf) -> Self {
        let name = String::new();
        Self { purpose, folder, name, wants_focus: true, reading: None, failed: None }
    }

    /// Whether the file becomes the initial guess of the run.
    pub fn takes_initial_guess(&self) -> bool {
        self.purpose == OpenFor::InitialGuess
    }

    /// Shows why a file could not be opened, and keeps its name to be corrected. `false` if the dialog
    /// did not open that file.
    pub fn fail(&mut self, path: &Path, why: &str) -> bool {
        let is_own = self.reading.take_if(|reading| reading == path).is_some();
        if is_own {
            (self.failed, self.wants_focus) = (Some(why.to_owned()), true);
        }
        is_own
    }

    /// Takes a file that was chosen in the system's dialog.
    pub fn choose(&mut self, path: &Path, commands: &mut Vec<Command>) {
        self.name = path.display().to_string();
        self.read(path.to_owned(), commands);
    }

    /// Opens a file. The dialog stays until it is read.
    fn read(&mut self, path: PathBuf, commands: &mut Vec<Command>) {
        self.failed = None;
        self.reading = Some(path.clone());
        commands.push(match self.purpose {
            OpenFor::Anything => Command::Open(path),
            OpenFor::InitialGuess => Command::OpenInitialGuess(path),
        });
    }

    /// The name of the file.
    fn name_row(&mut self, ui: &mut egui::Ui) {
        let about = "The name of the file, in the folder below unless the name contains a folder.";
        row(ui, "File", about, |ui| {
            let edit = TextEdit::singleline(&mut self.name).desired_width(400.0);
            let edit = named(ui.add(edit), "File").on_hover_text(about);
            if std::mem::take(&mut self.wants_focus) {
                edit.request_focus();
            }
            if edit.changed() {
                self.failed = None;
            }
        });
    }

    pub fn ui(
        &mut self,
        context: &egui::Context,
        recent: &[PathBuf],
        has_system_dialog: bool,
        commands: &mut Vec<Command>,
    ) {
        let frame = egui::Frame::popup(&context.global_style()).inner_margin(16.0);
        let modal = egui::Modal::new(egui::Id::unique("open")).frame(frame);
        let response = modal.show(context, |ui| {
            ui.set_width(WIDTH);
            ui.heading(match self.purpose {
                OpenFor::Anything => "Open",
                OpenFor::InitialGuess => "Initial guess",
            });
            ui.add_space(4.0);
            let about = match self.purpose {
                OpenFor::Anything => ANYTHING,
                OpenFor::InitialGuess => INITIAL_GUESS,
            };
            ui.label(RichText::new(about).weak());
            ui.add_space(4.0);
            // A page in a browser knows the files that it was given, and no others.
            if files::HAS_FOLDERS {
                self.name_row(ui);
                folder_row(ui, &self.folder);
            }
            if let Some(why) = &self.failed {
                let text = RichText::new(why).color(ui.visuals().error_fg_color);
                ui.add(egui::Label::new(text).wrap());
            }
            if files::HAS_FOLDERS && !recent.is_empty() {
                ui.add_space(8.0);
                ui.label("Recent files").on_hover_text("Files that were opened or saved last.");
                for path in recent {
                    let name = path.file_name().unwrap_or(path.as_os_str()).display().to_string();
                    let button = ui.add(Button::new(&name).frame_when_inactive(false));
                    if named(button, &name).on_hover_text(path.display().to_string()).clicked() {
                        self.name = path.display().to_string();
                        self.read(path.clone(), commands);
                    }
                }
            }
            ui.add_space(8.0);
            ui.horizontal(|ui| {
                if files::HAS_FOLDERS {
                    let can_open = !self.name.trim().is_empty() && self.reading.is_none();
                    let open = ui.add_enabled(can_open, Button::new("Open"));
                    let enter = can_open && ui.input(|input| input.key_pressed(Key::Enter));
                    if open.on_hover_text("Read the file.").clicked() || enter {
                        // An absolute path replaces the folder.
                        self.read(self.folder.join(self.name.trim()), commands);
                    }
                }
                if has_system_dialog {
                    let browse = ui.button("Browse …");
                    if browse.on_hover_text("Choose a file with the system's dialog.").clicked() {
                        commands.push(Command::Browse(BrowseFor::Open(self.folder.clone())));
                    }
                }
                if ui.button("Cancel").on_hover_text("Close without opening a file.").clicked() {
                    commands.push(Command::ShowOpen(false));
                }
                if self.reading.is_some() {
                    ui.label(RichText::new("Reading …").weak());
                }
            });
        });
        if response.should_close() {
            commands.push(Command::ShowOpen(false));
        }
    }
}
