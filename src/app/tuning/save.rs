//! The dialog that saves a tuning map, its charts and its table.

use crate::app::state::command::{Command, SaveSweep};
use crate::app::tuning::results::MapResults;
use crate::app::widgets::labels::named;
use crate::app::widgets::rows::{folder_row, row};
use crate::app::widgets::theme;
use crate::picture::{FigureSpec, Layer, MapValue, SweepFigure, SweepView, sweep_svg};
use crate::run::{CycleLists, option, sweep_command_line};
use eframe::egui::{self, Key, RichText, TextEdit};
use std::path::{Path, PathBuf};

/// Width of the dialog, in points.
const WIDTH: f32 = 520.0;

/// What is saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TuningFile {
    Figure(SweepFigure),
    Table,
}

impl TuningFile {
    const ALL: [Self; 5] = [
        Self::Figure(SweepFigure::Map),
        Self::Figure(SweepFigure::Overlap),
        Self::Figure(SweepFigure::K),
        Self::Figure(SweepFigure::KTime),
        Self::Table,
    ];

    fn label(self, lists: &CycleLists) -> String {
        match self {
            Self::Figure(figure) => figure.label(lists),
            Self::Table => "Table".to_owned(),
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::Figure(figure) => figure.about(),
            Self::Table => {
                "Every measured setting with its numbers, as `tilescope sweep` writes them."
            }
        }
    }

    fn file_name(self) -> String {
        match self {
            Self::Figure(figure) => format!("tuning-{}.png", figure.name()),
            Self::Table => "tuning.csv".to_owned(),
        }
    }
}

/// The dialog while it is open.
pub(super) struct SaveMapDialog {
    what: TuningFile,
    folder: PathBuf,
    name: String,
    is_ready: bool,
}

impl SaveMapDialog {
    /// The dialog for what is shown, in a folder.
    pub fn new(folder: PathBuf) -> Self {
        let what = TuningFile::Figure(SweepFigure::Map);
        Self { what, folder, name: what.file_name(), is_ready: false }
    }

    pub fn ui(
        &mut self,
        context: &egui::Context,
        results: &MapResults,
        value: MapValue,
        layer: Layer,
        commands: &mut Vec<Command>,
    ) {
        let frame = egui::Frame::popup(&context.global_style()).inner_margin(16.0);
        let modal = egui::Modal::new(egui::Id::unique("save tuning")).frame(frame);
        let response = modal.show(context, |ui| {
            ui.set_width(WIDTH);
            ui.heading("Save the tuning map");
            ui.add_space(4.0);
            ui.horizontal(|ui| {
                for what in TuningFile::ALL {
                    let button =
                        ui.radio(self.what == what, what.label(&results.outline.spec.cycle));
                    if button.on_hover_text(what.about()).clicked() {
                        (self.what, self.name) = (what, what.file_name());
                    }
                }
            });
            ui.label(RichText::new(self.what.about()).weak());
            let about = "A figure is .png, .svg or .pdf, a table .csv.";
            row(ui, "File", about, |ui| {
                let edit = TextEdit::singleline(&mut self.name).desired_width(350.0);
                let edit = named(ui.add(edit), "File").on_hover_text(about);
                if !std::mem::replace(&mut self.is_ready, true) {
                    edit.request_focus();
                }
            });
            folder_row(ui, &self.folder);
            ui.add_space(8.0);
            let path = self.folder.join(self.name.trim());
            ui.horizontal(|ui| {
                let is_named = !self.name.trim().is_empty();
                let save = ui.add_enabled(is_named, egui::Button::new("Save"));
                let enter = is_named && ui.input(|input| input.key_pressed(Key::Enter));
                if save.on_hover_text("Write the file.").clicked() || enter {
                    let request = match self.what {
                        TuningFile::Figure(figure) => {
                            let view = SweepView { figure, value, layer };
                            let theme = theme::of_figures(ui);
                            let spec = FigureSpec { theme, ..FigureSpec::default() };
                            SaveSweep::Figure {
                                svg: sweep_svg(results.data(), view, &spec),
                                run: Box::new(results.best_run()),
                            }
                        }
                        TuningFile::Table => {
                            SaveSweep::Table(results.rows.iter().flatten().cloned().collect())
                        }
                    };
                    commands.push(Command::SaveSweep(path.clone(), request));
                }
                if ui.button("Cancel").on_hover_text("Close without saving.").clicked() {
                    commands.push(Command::ShowSave(false));
                }
                let copy = ui.button("Copy as command line");
                let about =
                    "Copy the command line that measures the same settings and writes this file.";
                if copy.on_hover_text(about).clicked() {
                    let text = self.command_line(results, &path);
                    commands.push(Command::Copy { text, what: "Command line" });
                }
            });
        });
        if response.should_close() {
            commands.push(Command::ShowSave(false));
        }
    }

    fn command_line(&self, results: &MapResults, path: &Path) -> String {
        let mut line = sweep_command_line(&results.outline.spec);
        let table = path.with_extension("csv");
        option(&mut line, "output", &table.to_string_lossy());
        if let TuningFile::Figure(figure) = self.what {
            option(&mut line, "plot", &path.to_string_lossy());
            if figure != SweepFigure::default() {
                option(&mut line, "plot-kind", figure.name());
            }
        }
        line
    }
}
