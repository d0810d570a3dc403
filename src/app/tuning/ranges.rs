//! The settings to measure: the lists, and the start button.

use crate::app::state::command::{Command, TuningOrder};
use crate::app::state::session::Session;
use crate::app::tuning::results::system;
use crate::app::widgets::labels::named;
use crate::app::widgets::rows::row;
use crate::picture::counted;
use crate::run::{
    Backend, CycleLists, Measure, MethodName, PassLists, RunSpec, SweepSpec, TileLists,
    parse_budgets, parse_heights, parse_per_axis, parse_subiterations,
};
use crate::solver::Kernel;
use eframe::egui::{Button, RichText, TextEdit, Ui};

/// The most cells of a map in the window.
const MOST_CELLS: usize = 4096;

/// The lists as typed.
#[derive(Clone, Debug)]
pub(super) struct Ranges {
    of_grid: Lists,
    of_matrix: Lists,
    of_passes: Lists,
    times: bool,
    counts: bool,
}

/// The lists of settings, and the kernels to compare.
#[derive(Clone, Debug)]
struct Lists {
    cycle: CycleFields,
    kernels: Vec<Kernel>,
}

/// The lists that say what a cycle is.
#[derive(Clone, Debug)]
enum CycleFields {
    /// k, overlap and tile.
    Tiles([ListField; 3]),
    /// Height and budget.
    Passes([ListField; 2]),
}

/// A list as typed.
#[derive(Clone, Debug)]
struct ListField {
    name: &'static str,
    about: String,
    text: String,
}

/// How lists of numbers, of heights and of budgets are typed.
const NUMBERS: &str =
    "Values and ranges (from:to:step), separated by commas, such as 4,8,16 or 0:30:2.";
const HEIGHTS: &str =
    "Values and ranges (from:to:step), separated by commas, such as 1,2,4 or 8:64:8.";
const BUDGETS: &str = "Values with a unit, separated by commas, such as 1MB,4MB.";

impl Default for Ranges {
    /// The settings of Islam & Wang, six k and all even overlaps of a tile of 32 points, and exact solves of the tiles.
    /// Blocks of a matrix are square numbers, so that every order takes them. Budgets are caches.
    fn default() -> Self {
        let field = |name, about: &str, list: &str, text: &str| ListField {
            name,
            about: format!("{about} {list}"),
            text: text.to_owned(),
        };
        let of_grid = CycleFields::Tiles([
            field(
                "k",
                "Subiterations per cycle; inf for exact solves of the tiles.",
                NUMBERS,
                "4,8,16,32,64,128,inf",
            ),
            field(
                "Overlap",
                "Points that neighbouring tiles share, even; 4x2 for separate x and y.",
                NUMBERS,
                "0:30:2",
            ),
            field(
                "Tile",
                "Points of a tile along each axis; 32x16 for separate x and y.",
                NUMBERS,
                "32",
            ),
        ]);
        let of_matrix = CycleFields::Tiles([
            field("k", "Subiterations per cycle.", NUMBERS, "1,2,4,8,16,32"),
            field("Overlap", "Levels of overlap, even.", NUMBERS, "0:4:2"),
            field(
                "Tile",
                "Rows of a block; with ordering tiles, square numbers.",
                NUMBERS,
                "64,256,1024",
            ),
        ]);
        let about =
            "Fast memory for a slab or the moving window: two iterates and the right-hand side.";
        let of_passes = CycleFields::Passes([
            field("Height", "Sweeps of a pass.", HEIGHTS, "1,2,4,8,16,32"),
            field("Budget", about, BUDGETS, "250kB,1MB,4MB,16MB"),
        ]);
        let lists = |cycle| Lists { cycle, kernels: vec![Kernel::AUTO] };
        Self {
            of_grid: lists(of_grid),
            of_matrix: lists(of_matrix),
            of_passes: lists(of_passes),
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
        ui.label(RichText::new(system(run, session.backend())).weak()).on_hover_text(
            "The problem, the precision and the back end of the explorer, on which Start measures.",
        );
        ui.add_enabled_ui(!is_measuring, |ui| {
            let lists = self.lists(run);
            for ListField { name, about, text } in lists.cycle.fields() {
                field(ui, name, about, text);
            }
            if session.backend() == Backend::Cuda {
                lists.choose_kernels(ui, run);
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
                let cells = spec.count().unwrap_or_default();
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

    /// The lists for such a run.
    fn lists(&mut self, run: &RunSpec) -> &mut Lists {
        if run.problem.matrix.is_some() {
            &mut self.of_matrix
        } else if run.method.name.is_streaming() {
            &mut self.of_passes
        } else {
            &mut self.of_grid
        }
    }

    /// The sweep of the lists, or what is wrong with them.
    fn spec(&mut self, session: &Session) -> Result<SweepSpec, String> {
        let mut measure = Vec::new();
        measure.extend(self.times.then_some(Measure::Time));
        measure.extend(self.counts.then_some(Measure::Cycles));
        if measure.is_empty() {
            return Err("Measure: choose time, cycles, or both".to_owned());
        }
        let lists = self.lists(&session.spec);
        let kernel = match session.backend() {
            Backend::Auto | Backend::Cpu => vec![Kernel::AUTO],
            Backend::Cuda if lists.kernels.is_empty() => {
                return Err("Kernels: choose at least one".to_owned());
            }
            Backend::Cuda => lists.kernels.clone(),
        };
        let spec = SweepSpec {
            run: (*session.spec).clone(),
            cycle: lists.cycle.parsed()?,
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

impl CycleFields {
    fn fields(&mut self) -> &mut [ListField] {
        match self {
            Self::Tiles(fields) => fields,
            Self::Passes(fields) => fields,
        }
    }

    /// The lists, or what is wrong with the first that is not one.
    fn parsed(&self) -> Result<CycleLists, String> {
        Ok(match self {
            Self::Tiles([k, overlap, tile]) => CycleLists::Tiles(TileLists {
                k: k.parsed(parse_subiterations)?,
                overlap: overlap.parsed(parse_per_axis)?,
                tile: tile.parsed(parse_per_axis)?,
            }),
            Self::Passes([height, memory]) => CycleLists::Passes(PassLists {
                height: height.parsed(parse_heights)?,
                memory: memory.parsed(parse_budgets)?,
            }),
        })
    }
}

impl ListField {
    /// Its values, or what is wrong with them.
    fn parsed<T>(&self, parse: fn(&str) -> Result<Vec<T>, String>) -> Result<Vec<T>, String> {
        parse(&self.text).map_err(|why| format!("{}: {why}", self.name))
    }
}

impl Lists {
    /// Check boxes of the kernels.
    fn choose_kernels(&mut self, ui: &mut Ui, run: &RunSpec) {
        let kernels = match run.method.name {
            _ if run.problem.matrix.is_some() => Kernel::of_matrix(),
            name if name.is_streaming() => Kernel::of(name),
            _ => Kernel::of(MethodName::Hierarchical),
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
