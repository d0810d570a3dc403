//! The settings to measure: the lists, and the start button.

use crate::app::state::command::{Command, TuningOrder};
use crate::app::state::session::Session;
use crate::app::tuning::results::system;
use crate::app::widgets::labels::named;
use crate::app::widgets::rows::row;
use crate::picture::counted;
use crate::run::{Backend, Measure, MethodName, SweepSpec, parse_per_axis, parse_subiterations};
use crate::solver::Kernel;
use eframe::egui::{Button, RichText, TextEdit, Ui};

/// The most cells of a map in the window.
const MOST_CELLS: usize = 4096;

/// The lists as typed.
#[derive(Clone, Debug)]
pub(super) struct Ranges {
    of_grid: Lists,
    of_matrix: Lists,
    times: bool,
    counts: bool,
}

/// The lists of settings of a grid, or of a matrix.
#[derive(Clone, Debug)]
struct Lists {
    k: String,
    overlap: String,
    tile: String,
    kernels: Vec<Kernel>,
}

impl Default for Ranges {
    /// The settings of Islam & Wang, six k and all even overlaps of a tile of 32 points, and exact solves of the tiles.
    /// Blocks of a matrix are square numbers, so that every order takes them.
    fn default() -> Self {
        let lists = |k: &str, overlap: &str, tile: &str| Lists {
            k: k.to_owned(),
            overlap: overlap.to_owned(),
            tile: tile.to_owned(),
            kernels: vec![Kernel::AUTO],
        };
        Self {
            of_grid: lists("4,8,16,32,64,128,inf", "0:30:2", "32"),
            of_matrix: lists("1,2,4,8,16,32", "0:4:2", "64,256,1024"),
            times: true,
            counts: true,
        }
    }
}

impl Ranges {
    /// Draws the lists, and requests their sweep.
    pub fn ui(
        &mut self,
        ui: &mut Ui,
        session: &Session,
        is_measuring: bool,
        commands: &mut Vec<Command>,
    ) {
        let run = &session.spec;
        let is_matrix = run.problem.matrix.is_some();
        ui.label(RichText::new(system(run, session.backend())).weak()).on_hover_text(
            "The problem, the precision and the back end of the explorer, on which Start measures.",
        );
        ui.add_enabled_ui(!is_measuring, |ui| {
            let list =
                "Values and ranges (from:to:step), separated by commas, such as 4,8,16 or 0:30:2";
            let lists = if is_matrix { &mut self.of_matrix } else { &mut self.of_grid };
            let about = match is_matrix {
                true => "Subiterations per cycle.",
                false => "Subiterations per cycle; inf for exact solves of the tiles.",
            };
            field(ui, "k", &format!("{about} {list}."), &mut lists.k);
            let about = match is_matrix {
                true => "Levels of overlap, even.",
                false => "Points that neighbouring tiles share, even; 4x2 for separate x and y.",
            };
            field(ui, "Overlap", &format!("{about} {list}."), &mut lists.overlap);
            let about = match is_matrix {
                true => "Rows of a block; with ordering tiles, square numbers.",
                false => "Points of a tile along each axis; 32x16 for separate x and y.",
            };
            field(ui, "Tile", &format!("{about} {list}."), &mut lists.tile);
            if session.backend() == Backend::Cuda {
                lists.choose_kernels(ui, is_matrix);
            }
            row(ui, "Measure", "What is measured for each setting.", |ui| {
                ui.checkbox(&mut self.times, "time")
                    .on_hover_text("Solver time per cycle: the median of repeats after a warm-up.");
                ui.checkbox(&mut self.counts, "cycles")
                    .on_hover_text("Cycles to the tolerance. Known counts are reused.");
            });
        });
        let spec = self.spec(session);
        if is_measuring {
            return;
        }
        let about = match &spec {
            Ok(spec) => {
                let cells = spec.k.len() * spec.overlap.len() * spec.tile.len() * spec.kernel.len();
                format!("Measure {}, one after the other.", counted(cells as u64, "setting"))
            }
            Err(why) => why.clone(),
        };
        let start = ui.add_enabled(spec.is_ok(), Button::new("▶  Start"));
        let start = start.on_hover_text(&about).on_disabled_hover_text(&about);
        if let Err(why) = &spec {
            ui.label(RichText::new(why).color(ui.visuals().error_fg_color));
        }
        if let Ok(spec) = spec
            && start.clicked()
        {
            commands.push(Command::Tune(TuningOrder::Begin(Box::new(spec))));
        }
    }

    /// The sweep of the lists, or what is wrong with them.
    fn spec(&self, session: &Session) -> Result<SweepSpec, String> {
        let of = |name: &str, why: String| format!("{name}: {why}");
        let is_matrix = session.spec.problem.matrix.is_some();
        let lists = if is_matrix { &self.of_matrix } else { &self.of_grid };
        let mut measure = Vec::new();
        measure.extend(self.times.then_some(Measure::Time));
        measure.extend(self.counts.then_some(Measure::Cycles));
        if measure.is_empty() {
            return Err("Measure: choose time, cycles, or both".to_owned());
        }
        let kernel = match session.backend() {
            Backend::Auto | Backend::Cpu => vec![Kernel::AUTO],
            Backend::Cuda if lists.kernels.is_empty() => {
                return Err("Kernels: choose at least one".to_owned());
            }
            Backend::Cuda => lists.kernels.clone(),
        };
        let spec = SweepSpec {
            run: (*session.spec).clone(),
            k: parse_subiterations(&lists.k).map_err(|why| of("k", why))?,
            overlap: parse_per_axis(&lists.overlap).map_err(|why| of("Overlap", why))?,
            tile: parse_per_axis(&lists.tile).map_err(|why| of("Tile", why))?,
            kernel,
            threads: vec![session.spec.method.threads],
            measure,
        }
        .normalized();
        let cells = spec.count().map_err(|error| error.to_string())?;
        if cells > MOST_CELLS {
            return Err(format!(
                "the lists make {cells} settings; a map takes at most {MOST_CELLS}"
            ));
        }
        Ok(spec)
    }
}

impl Lists {
    /// Check boxes of the kernels.
    fn choose_kernels(&mut self, ui: &mut Ui, is_matrix: bool) {
        let kernels = match is_matrix {
            true => Kernel::of_matrix(),
            false => Kernel::of(MethodName::Hierarchical),
        };
        row(ui, "Kernels", "The GPU kernels to compare.", |ui| {
            ui.vertical(|ui| {
                for kernel in kernels {
                    let mut chosen = self.kernels.contains(&kernel);
                    let checkbox = ui.checkbox(&mut chosen, kernel.label());
                    if checkbox.on_hover_text(kernel.about()).changed() {
                        self.kernels.retain(|other| *other != kernel);
                        if chosen {
                            self.kernels.push(kernel);
                        }
                    }
                }
            });
        });
    }
}

fn field(ui: &mut Ui, name: &str, about: &str, text: &mut String) {
    row(ui, name, about, |ui| {
        let edit = TextEdit::singleline(text).desired_width(150.0);
        named(ui.add(edit), &format!("{name} list")).on_hover_text(about);
    });
}
