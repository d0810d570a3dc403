//! The dialog that saves: what, where, and how large.

use super::command::Command;
use super::session::{RangeMode, Session};
use super::theme::row;
use super::toolbar::{named, typed};
use crate::picture::{FigureSpec, LARGEST_SIDE, Over, Range, SMALLEST_SIDE, Theme};
use crate::run::FieldKind;
use eframe::egui::{self, Key, TextEdit};
use std::path::PathBuf;

/// What can be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Figure,
    Curves,
    BareMap,
    Run,
    CurveTable,
    Field,
}

impl What {
    const ALL: [Self; 6] =
        [Self::Figure, Self::Curves, Self::BareMap, Self::Run, Self::CurveTable, Self::Field];

    fn label(self) -> &'static str {
        match self {
            Self::Figure => "Figure of the map",
            Self::Curves => "Figure of the curves",
            Self::BareMap => "Bare map, one pixel a point",
            Self::Run => "Run description",
            Self::CurveTable => "Curve as a table",
            Self::Field => "Iterate as an array",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::Figure => {
                "A PNG or SVG with title, axes and colour bar. It carries its run: drop it on the window to have it back."
            }
            Self::Curves => "A PNG or SVG of the convergence curves. It carries its run.",
            Self::BareMap => "A PNG of the colours alone, one pixel for each point of the grid.",
            Self::Run => {
                "A small TOML file; open it, or give it to the command line, to make the run again."
            }
            Self::CurveTable => {
                "A CSV file with the norms, cycle by cycle (of runs over 262,144 cycles every second, fourth, …)."
            }
            Self::Field => "An NPY file with the interior of u, [ny, nx] or [copies, nx].",
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Figure | Self::Curves | Self::BareMap => "png",
            Self::Run => "toml",
            Self::CurveTable => "csv",
            Self::Field => "npy",
        }
    }

    fn has_figure(self) -> bool {
        matches!(self, Self::Figure | Self::Curves)
    }
}

/// A file to be saved.
#[derive(Clone, Debug)]
pub(super) struct SaveRequest {
    pub what: What,
    pub path: PathBuf,
    pub field: FieldKind,
    pub figure: FigureSpec,
    /// What a figure of curves is drawn over.
    pub over: Over,
}

impl SaveRequest {
    /// Why it cannot be done, if that is known beforehand.
    pub fn refusal(&self) -> Option<String> {
        let sides = ["width", "height"].into_iter().zip(self.figure.size);
        let mut sides = sides.filter(|_| self.what.has_figure());
        let (name, side) =
            sides.find(|(_, side)| !(SMALLEST_SIDE..=LARGEST_SIDE).contains(side))?;
        Some(format!("{name} is {side}; it must be {SMALLEST_SIDE} to {LARGEST_SIDE} pixels"))
    }
}

/// The dialog while it is open.
pub(super) struct SaveDialog {
    what: What,
    folder: PathBuf,
    name: String,
    size: [u32; 2],
    theme: Theme,
    cycle: u64,
}

impl SaveDialog {
    pub fn new(field: FieldKind, cycle: u64, dark: bool) -> Self {
        let mut dialog = Self {
            what: What::Figure,
            folder: std::env::current_dir().unwrap_or_default(),
            name: String::new(),
            size: [1200, 900],
            theme: if dark { Theme::Dark } else { Theme::Light },
            cycle,
        };
        dialog.suggest(field);
        dialog
    }

    /// Suggests a name for what is to be saved.
    fn suggest(&mut self, field: FieldKind) {
        let stem = match self.what {
            What::Figure | What::BareMap => format!("{}-cycle-{}", field.name(), self.cycle),
            What::Curves | What::CurveTable => "convergence".to_owned(),
            What::Run => "run".to_owned(),
            What::Field => format!("u-cycle-{}", self.cycle),
        };
        self.name = format!("{stem}.{}", self.what.extension());
    }

    pub fn ui(
        &mut self,
        context: &egui::Context,
        session: &Session,
        shown: Option<Range>,
        commands: &mut Vec<Command>,
    ) {
        let frame = egui::Frame::popup(&context.global_style()).inner_margin(16.0);
        let modal = egui::Modal::new(egui::Id::unique("save")).frame(frame);
        let response = modal.show(context, |ui| {
            ui.set_width(460.0);
            ui.heading("Save");
            ui.add_space(4.0);
            for what in What::ALL {
                let chosen = ui.radio_value(&mut self.what, what, what.label());
                if chosen.on_hover_text(what.about()).changed() {
                    self.suggest(session.look.field);
                }
            }
            ui.add_space(4.0);
            ui.label(egui::RichText::new(self.what.about()).weak());
            ui.add_space(4.0);
            let about = "The name of the file; with folders, or in the one below.";
            row(ui, "File", about, |ui| {
                let edit = TextEdit::singleline(&mut self.name).desired_width(350.0);
                named(ui.add(edit), "File").on_hover_text(about);
            });
            row(ui, "Folder", "Where it goes unless the name says otherwise.", |ui| {
                ui.add(egui::Label::new(self.folder.display().to_string()).truncate());
            });
            if self.what.has_figure() {
                row(ui, "Pixels", "The size of the figure.", |ui| {
                    let names =
                        [("Width", "Pixels across."), ("Height", "Pixels from top to bottom.")];
                    for (side, (name, about)) in self.size.iter_mut().zip(names) {
                        let number = typed(ui, side, SMALLEST_SIDE..=LARGEST_SIDE);
                        named(ui.add(number), name).on_hover_text(about);
                    }
                });
                row(ui, "Theme", "Light for print, dark for slides.", |ui| {
                    ui.selectable_value(&mut self.theme, Theme::Light, "Light")
                        .on_hover_text("Dark on white.");
                    ui.selectable_value(&mut self.theme, Theme::Dark, "Dark")
                        .on_hover_text("White on dark.");
                });
            }
            ui.add_space(8.0);
            ui.horizontal(|ui| {
                let named = !self.name.trim().is_empty();
                let save = ui.add_enabled(named, egui::Button::new("Save"));
                let enter = named && ui.input(|input| input.key_pressed(Key::Enter));
                if save.on_hover_text("Write the file.").clicked() || enter {
                    commands.push(Command::Save(self.request(session, shown)));
                }
                if ui.button("Cancel").on_hover_text("Save nothing.").clicked() {
                    commands.push(Command::ShowSave(false));
                }
            });
        });
        if response.should_close() {
            commands.push(Command::ShowSave(false));
        }
    }

    fn request(&self, session: &Session, shown: Option<Range>) -> SaveRequest {
        let field = session.look.field;
        let colours = session.look.of_field(field);
        // A figure of one frame fits itself; any other range is the window's.
        let range = shown.filter(|_| colours.range != RangeMode::ThisFrame);
        SaveRequest {
            what: self.what,
            // A name with a whole path in it stands for itself.
            path: self.folder.join(self.name.trim()),
            field,
            over: session.look.against.over(),
            figure: FigureSpec {
                scale: colours.scale,
                absolute: colours.absolute,
                map: colours.map,
                range,
                size: self.size,
                theme: self.theme,
                borders: session.look.borders,
                ..FigureSpec::default()
            },
        }
    }
}
