//! Islam & Wang's tables beside what this machine does.

use crate::app::state::command::{Command, TuningOrder};
use crate::app::state::session::Session;
use crate::app::tuning::Seen;
use crate::grid::Precision;
use crate::grid::memory::human;
use crate::picture::{grouped, seconds as time};
use crate::run::papers::{EXPERIMENTS, Experiment, Group, How, TITAN_V_L2};
use crate::run::{
    Backend, Measure, MethodName, PerAxis, SweepOutline, SweepRow, SweepSpec, TOLERANCE,
};
use crate::solver::Kernel;
use eframe::egui::{Align, Button, Grid, Layout, RichText, ScrollArea, Ui};
use std::sync::Arc;

const TABLES: [(Group, &str, &str); 3] = [
    (Group::Table1, "Table I", "lines, no overlap"),
    (Group::Table2, "Table II", "lines, best overlap"),
    (Group::Table3, "Table III", "plane, best overlap"),
];

/// Arrays of a problem that classic goes through: two iterates and the right-hand side.
const ARRAYS: u64 = 3;

/// Between the columns of a table, and the columns where there is room.
const APART: f32 = 10.0;
const WIDEST: f32 = 84.0;

/// What was measured of the tables on one machine, whichever maps it was measured for.
#[derive(Default)]
pub(super) struct Here {
    /// Of the newest map that held any of it.
    outline: Option<Arc<SweepOutline>>,
    /// By the places of [`EXPERIMENTS`].
    found: Vec<Option<Found>>,
}

/// What was measured of an experiment.
struct Found {
    /// How many times as fast as classic, and how far off that may be.
    speedup: f64,
    error: f64,
    /// How that came about.
    about: String,
}

impl Here {
    /// Takes over what a map holds of the tables; what another machine did, it forgets.
    pub fn take(&mut self, seen: &Seen) {
        for (place, experiment) in EXPERIMENTS.iter().enumerate() {
            let Some(found) = found(seen, experiment) else { continue };
            if self.outline.as_ref().is_none_or(|known| known.machine != seen.outline.machine) {
                self.found.clear();
                self.found.resize_with(EXPERIMENTS.len(), || None);
            }
            self.outline = Some(Arc::clone(&seen.outline));
            self.found[place] = Some(found);
        }
    }
}

pub(super) fn ui(
    ui: &mut Ui,
    here: &Here,
    is_measuring: bool,
    session: &Session,
    commands: &mut Vec<Command>,
) {
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        for (group, name, what) in TABLES {
            ui.horizontal(|ui| {
                ui.label(RichText::new(format!("{name} · {what}")).strong());
                let button = Button::new(format!("Measure {name}"));
                let button = ui.add_enabled(!is_measuring, button).on_hover_text(
                    "Measure its settings on this machine, and classic beside them; the map shows \
                     them, and the tables keep what was measured.",
                );
                let button = button.on_disabled_hover_text("A map is being measured already.");
                if button.clicked() {
                    let spec = sweep(group, session);
                    commands.push(Command::Tune(TuningOrder::Begin(Box::new(spec))));
                }
            });
            table(ui, group, here);
            ui.add_space(APART);
        }
        let outline = here.outline.as_deref();
        let method = &session.spec.method;
        for text in
            differs(outline.map_or(method.backend, |it| it.spec.run.method.backend), outline)
        {
            ui.label(RichText::new(text).weak());
        }
    });
}

/// k with the best overlap and the speedup that were published, where a sweep is of the same system.
pub(super) fn published(spec: &SweepSpec) -> impl Iterator<Item = (usize, usize, f64)> {
    EXPERIMENTS.iter().filter_map(|experiment| {
        let How::Tiled { tile, k, overlap } = experiment.how else { return None };
        let is_best = matches!(experiment.group, Group::Table2 | Group::Table3);
        let is_it = is_best && is_of(spec, experiment) && spec.tile.contains(&PerAxis::all(tile));
        is_it.then_some((k, overlap, experiment.published_speedup?))
    })
}

/// Whether a sweep is of an experiment's system, to the same tolerance.
fn is_of(spec: &SweepSpec, experiment: &Experiment) -> bool {
    spec.run.problem == experiment.run().problem && spec.run.stop.tolerance == Some(TOLERANCE)
}

/// The sweep over a table's settings, where the explorer's run is made.
fn sweep(group: Group, session: &Session) -> SweepSpec {
    let of = || EXPERIMENTS.iter().filter(move |experiment| experiment.group == group);
    let mut run = of().next().map(Experiment::run).unwrap_or_default();
    let method = &session.spec.method;
    (run.method.backend, run.method.threads) = (method.backend, method.threads);
    run.method.devices.clone_from(&method.devices);
    run.method.precision = Precision::F64;
    let tiled = |experiment: &Experiment| match experiment.how {
        How::Tiled { k, overlap, .. } => Some((k, PerAxis::all(overlap))),
        _ => None,
    };
    // The plane takes a CPU minutes a cell to the tolerance; how many cycles that is, is known.
    let (kernel, counts) = match method.backend {
        Backend::Cpu => (vec![Kernel::AUTO], group != Group::Table3),
        Backend::Cuda => (Kernel::compared(MethodName::Hierarchical), true),
    };
    SweepSpec {
        run,
        k: of().filter_map(tiled).map(|(k, _)| k).collect(),
        overlap: of().filter_map(tiled).map(|(_, overlap)| overlap).collect(),
        tile: vec![PerAxis::all(32)],
        kernel,
        measure: [Measure::Time].into_iter().chain(counts.then_some(Measure::Cycles)).collect(),
    }
}

fn table(ui: &mut Ui, group: Group, here: &Here) {
    let columns = [
        ("k", "Subiterations of a cycle."),
        ("overlap", "The overlap that the paper found best."),
        ("cycles", "Cycles to 1e-4, counted by this program; the paper tells none."),
        ("published", "How many times as fast as classic, as published (TITAN V)."),
        ("here", "The same on this machine, by its fastest kernel, without transfers."),
    ];
    let room = ui.available_width() / columns.len() as f32 - APART;
    let rows = |ui: &mut Ui| {
        // They hold text alone.
        ui.spacing_mut().interact_size.y = 0.0;
        Grid::new(("papers", group.name()))
            .num_columns(columns.len())
            .min_col_width(room.min(WIDEST))
            .spacing([APART, 2.0])
            .striped(true)
            .show(ui, |ui| {
                for (text, about) in columns {
                    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                        ui.label(RichText::new(text).weak()).on_hover_text(about);
                    });
                }
                ui.end_row();
                for (place, experiment) in EXPERIMENTS.iter().enumerate() {
                    let How::Tiled { k, overlap, .. } = experiment.how else { continue };
                    if experiment.group != group {
                        continue;
                    }
                    let published = experiment.published_speedup;
                    for text in [
                        k.to_string(),
                        overlap.to_string(),
                        grouped(experiment.cycles),
                        published.map_or_else(String::new, |ratio| format!("{ratio:.2} ×")),
                    ] {
                        ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(text));
                    }
                    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                        match here.found.get(place).and_then(Option::as_ref) {
                            Some(Found { speedup, error, about }) => ui
                                .label(format!("{speedup:.2} ×"))
                                .on_hover_text(format!("{speedup:.2} ± {error:.2}: {about}")),
                            None => ui.label("–").on_hover_text("It was not measured yet."),
                        }
                    });
                    ui.end_row();
                }
            });
    };
    ui.scope(rows);
}

/// What a map holds of an experiment, by the fastest kernel.
fn found(seen: &Seen, experiment: &Experiment) -> Option<Found> {
    let How::Tiled { tile, k, overlap } = experiment.how else { return None };
    if !is_of(&seen.outline.spec, experiment) {
        return None;
    }
    let is_it = |row: &&SweepRow| {
        (row.k, row.overlap, row.tile) == (k, PerAxis::all(overlap), PerAxis::all(tile))
    };
    let times = (seen.rows.iter().flatten().filter(is_it))
        .filter_map(|row| Some((row, row.seconds_per_cycle?, row.seconds_per_cycle_error?)));
    let (row, seconds, error) = times.min_by(|(_, one, _), (_, other, _)| one.total_cmp(other))?;
    let classic = seen.classic?;
    let sweep = classic.time?;
    let speedup = classic.seconds()? / (seconds * experiment.cycles as f64);
    Some(Found {
        speedup,
        error: speedup * (error / seconds + sweep.error / sweep.median),
        about: format!(
            "a cycle takes {} by kernel {}, a sweep of classic {}.",
            time(seconds),
            row.kernel,
            time(sweep.median)
        ),
    })
}

/// What differs from what the paper did, point by point.
fn differs(backend: Backend, measured: Option<&SweepOutline>) -> Vec<String> {
    let machine = measured.map_or("not measured yet", |outline| &outline.machine);
    let bytes = ARRAYS * Precision::F64.bytes() as u64 * points();
    let there = format!(
        "its L2 of {} holds {:.0} % of the problem's {}",
        human(TITAN_V_L2),
        100.0 * TITAN_V_L2 as f64 / bytes as f64,
        human(bytes)
    );
    let mut said = match backend {
        Backend::Cpu => vec![
            format!("Machine: published on a TITAN V; here {machine}."),
            format!(
                "Cache: there {there}, so that classic goes to memory in every sweep. A CPU launches \
                 nothing for a sweep, and its larger caches hold more: classic loses less, and the \
                 best k is another."
            ),
            "Kernel: there a block of threads a tile, in shared memory; here a thread a row of \
             tiles, in vectors."
                .to_owned(),
        ],
        Backend::Cuda => {
            let here = match measured.and_then(|outline| outline.l2_bytes) {
                Some(l2) if l2 >= bytes => format!(
                    "here one of {} holds all of it: classic hardly goes to memory, and tiles \
                     gain less",
                    human(l2)
                ),
                Some(l2) => format!("here one of {} holds a larger part or a smaller", human(l2)),
                None => "here the driver tells none".to_owned(),
            };
            vec![
                format!("GPU: published on a TITAN V; here {machine}."),
                format!("L2: there {there}; {here}."),
                "Kernel: the paper's is kernel shared; register came after it. The faster of both \
                 is shown."
                    .to_owned(),
            ]
        }
    };
    said.push("Time: published with transfers to and from the GPU; here without.".to_owned());
    said
}

/// Points of the tables' problems, of which all have as many.
fn points() -> u64 {
    let of = EXPERIMENTS.iter().find(|experiment| experiment.group == Group::Table3);
    let problem = of.map(Experiment::run).unwrap_or_default().problem;
    problem.shape.iter().map(|&side| side as u64).product()
}
