//! Islam & Wang's tables beside what this machine does.

use super::{Order, Seen};
use crate::app::command::Command;
use crate::app::session::Session;
use crate::picture::grouped;
use crate::run::papers::{EXPERIMENTS, Experiment, Group, How};
use crate::run::{Backend, Measure, Row, RunSpec, Sides, SweepSpec, TOLERANCE};
use crate::solver::Kernel;
use eframe::egui::{Align, Grid, Layout, RichText, ScrollArea, Ui};

const TABLES: [(Group, &str, &str); 3] = [
    (Group::Table1, "Table I", "lines, no overlap"),
    (Group::Table2, "Table II", "lines, best overlap"),
    (Group::Table3, "Table III", "plane, best overlap"),
];

pub(super) fn ui(ui: &mut Ui, seen: Option<&Seen>, session: &Session, commands: &mut Vec<Command>) {
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        for (group, name, what) in TABLES {
            ui.horizontal(|ui| {
                ui.label(RichText::new(format!("{name} · {what}")).strong());
                let about = "Measure its settings here: the time of a cycle of each and of classic; their \
                             cycles are known.";
                if ui.button(format!("Measure {name}")).on_hover_text(about).clicked() {
                    let spec = sweep(group, session);
                    commands.push(Command::Tune(Order::Begin(Box::new(spec))));
                }
            });
            table(ui, group, seen);
        }
        ui.label(RichText::new(differs(seen)).weak());
    });
}

/// k with the best overlap and the speedup that were published of problems with so many axes.
pub(super) fn published(axes: usize) -> impl Iterator<Item = (usize, usize, f64)> {
    let group = if axes == 1 { Group::Table2 } else { Group::Table3 };
    EXPERIMENTS.iter().filter(move |experiment| experiment.group == group).filter_map(
        |experiment| {
            let How::Tiled { k, overlap, .. } = experiment.how else { return None };
            Some((k, overlap, experiment.published_speedup?))
        },
    )
}

/// The sweep over a table's settings, where the explorer's run is made.
fn sweep(group: Group, session: &Session) -> SweepSpec {
    let of = || EXPERIMENTS.iter().filter(move |experiment| experiment.group == group);
    let mut run = of().next().map(Experiment::run).unwrap_or_default();
    let method = &session.spec.method;
    (run.method.backend, run.method.threads) = (method.backend, method.threads);
    run.method.precision = crate::grid::Precision::F64;
    let tiled = |experiment: &Experiment| match experiment.how {
        How::Tiled { k, overlap, .. } => Some((k, Sides::all(overlap))),
        _ => None,
    };
    let kernel = match method.backend {
        Backend::Cpu => vec![Kernel::Auto],
        Backend::Cuda => vec![Kernel::Shared, Kernel::Register],
    };
    SweepSpec {
        run,
        k: of().filter_map(tiled).map(|(k, _)| k).collect(),
        overlap: of().filter_map(tiled).map(|(_, overlap)| overlap).collect(),
        tile: vec![Sides::all(32)],
        kernel,
        measure: vec![Measure::Time],
    }
}

fn table(ui: &mut Ui, group: Group, seen: Option<&Seen>) {
    Grid::new(("papers", group.name()))
        .num_columns(5)
        .min_col_width(48.0)
        .max_col_width(84.0)
        .spacing([14.0, 2.0])
        .striped(true)
        .show(ui, |ui| {
            for (text, about) in [
                ("k", "Subiterations of a cycle."),
                ("overlap", "The overlap that the paper found best."),
                ("cycles", "Cycles to 1e-4, counted by this program; the paper tells none."),
                ("published ×", "How many times as fast as classic, as published (TITAN V)."),
                ("here ×", "The same on this machine, by its fastest kernel, without transfers."),
            ] {
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    ui.label(RichText::new(text).weak()).on_hover_text(about);
                });
            }
            ui.end_row();
            for experiment in EXPERIMENTS.iter().filter(|experiment| experiment.group == group) {
                let How::Tiled { k, overlap, .. } = experiment.how else { continue };
                let here = seen.and_then(|seen| here(seen, experiment));
                let ratio = |ratio: Option<f64>| {
                    ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}"))
                };
                for text in [
                    k.to_string(),
                    overlap.to_string(),
                    grouped(experiment.cycles),
                    ratio(experiment.published_speedup),
                    ratio(here),
                ] {
                    ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(text));
                }
                ui.end_row();
            }
        });
}

/// How many times as fast as classic an experiment is here, if the map holds it.
fn here(seen: &Seen, experiment: &Experiment) -> Option<f64> {
    let How::Tiled { tile, k, overlap } = experiment.how else { return None };
    let (spec, published) = (&seen.outline.spec, experiment.run());
    let RunSpec { problem, stop, .. } = &spec.run;
    if *problem != published.problem || stop.tolerance != Some(TOLERANCE) {
        return None;
    }
    let is_it =
        |row: &&Row| (row.k, row.overlap, row.tile) == (k, Sides::all(overlap), Sides::all(tile));
    let times = seen.rows.iter().flatten().filter(is_it).filter_map(|row| row.seconds_per_cycle);
    let fastest = times.min_by(f64::total_cmp)?;
    Some(seen.classic?.seconds()? / (fastest * experiment.cycles as f64))
}

/// What differs from the papers' machine.
fn differs(seen: Option<&Seen>) -> String {
    let published =
        "Published: one TITAN V, the paper's kernel (shared memory), transfers included.";
    match seen.map(|seen| (&seen.outline.machine, seen.outline.spec.run.method.backend)) {
        None => published.to_owned(),
        Some((machine, Backend::Cpu)) => format!(
            "{published} Here: {machine}. A CPU has no launch for every sweep and caches that hold \
             tiles by themselves, so classic loses less, and the best k is another."
        ),
        Some((machine, Backend::Cuda)) => format!(
            "{published} Here: {machine}, without transfers. Where a card's L2 holds the whole \
             problem, classic is fast and the shared kernel gains less than published; the register \
             kernel, which came later, gains more."
        ),
    }
}
