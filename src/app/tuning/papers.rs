//! Islam & Wang's tables beside the results of this machine.

use crate::app::state::command::{Command, TuningOrder};
use crate::app::state::session::Session;
use crate::app::tuning::results::MapResults;
use crate::app::widgets::{bars, processing_speedup, theme};
use crate::grid::Precision;
use crate::grid::memory::human;
use crate::picture::{amdahl_chart, counted, digits, grouped, is_of_paper, seconds as time};
use crate::run::flagg::{self, GpuSpeedups, Speedups};
use crate::run::papers::{EXPERIMENTS, ExperimentMethod, Group, PublishedExperiment, TITAN_V_L2};
use crate::run::{
    Backend, CycleLists, CycleSetting, Measure, MethodName, PerAxis, SweepOutline, SweepRow,
    SweepSpec, TileLists, TileSetting,
};
use crate::solver::Kernel;
use eframe::egui::{Align, Button, Grid, Id, Layout, RichText, ScrollArea, Ui};
use std::sync::Arc;

const TABLES: [(Group, &str, &str); 4] = [
    (Group::Table1, "Table I", "1D, no overlap"),
    (Group::Table2, "Table II", "1D, best overlap"),
    (Group::Table3Long, "Table 3, long", "2D, no overlap"),
    (Group::Table3, "Table III", "2D, best overlap"),
];

/// Arrays that a sweep of classic Jacobi reads and writes: two iterates and the right-hand side.
const ARRAYS: u64 = 3;

/// The gap between the columns of a table, and the largest width of a column, in points.
const GAP: f32 = 10.0;
const WIDEST: f32 = 84.0;

/// What was measured of the tables on one machine, in all maps.
#[derive(Default)]
pub(super) struct MeasuredPapers {
    /// Of the newest map that contains one of the experiments.
    outline: Option<Arc<SweepOutline>>,
    /// One entry for each of [`EXPERIMENTS`].
    speedups: Vec<Option<Speedup>>,
}

/// The measured speedup of an experiment over classic Jacobi.
struct Speedup {
    ratio: f64,
    /// Its error.
    error: f64,
    /// The times from which it is computed, in a sentence.
    about: String,
}

impl MeasuredPapers {
    /// Adds the experiments that a map contains; results of another machine are dropped.
    pub fn update(&mut self, results: &MapResults) {
        for (index, experiment) in EXPERIMENTS.iter().enumerate() {
            let Some(speedup) = speedup(results, experiment) else { continue };
            if self.outline.as_ref().is_none_or(|known| known.machine != results.outline.machine) {
                self.speedups.clear();
                self.speedups.resize_with(EXPERIMENTS.len(), || None);
            }
            self.outline = Some(Arc::clone(&results.outline));
            self.speedups[index] = Some(speedup);
        }
    }
}

/// Draws the tables. Returns whether one is to be measured.
pub(super) fn ui(
    ui: &mut Ui,
    measured: &MeasuredPapers,
    is_measuring: bool,
    session: &Session,
    commands: &mut Vec<Command>,
) -> bool {
    let mut begins = false;
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        for (group, name, what) in TABLES {
            ui.horizontal(|ui| {
                ui.label(RichText::new(format!("{name} · {what}")).strong());
                let button = Button::new(format!("Measure {name}"));
                let button = ui.add_enabled(!is_measuring, button).on_hover_text(
                    "Measure these settings and classic Jacobi on this machine. The map shows them, \
                     and the table keeps the results.",
                );
                let button = button.on_disabled_hover_text("A map is being measured.");
                if button.clicked() {
                    begins = true;
                    let spec = sweep(group, session);
                    commands.push(Command::Tune(TuningOrder::Begin(Box::new(spec))));
                }
            });
            table(ui, group, measured);
            // Once for tables with the same explanation, below the last of them.
            let next = TABLES.iter().skip_while(|(other, ..)| *other != group).nth(1);
            if let Some(text) = group.explained()
                && next.and_then(|(next, ..)| next.explained()) != Some(text)
            {
                ui.label(RichText::new(text).weak());
            }
            ui.add_space(GAP);
        }
        classic_blocks(ui);
        ui.add_space(GAP);
        heat_plate(ui);
        ui.add_space(GAP);
        matrices(ui);
        ui.add_space(GAP);
        let outline = measured.outline.as_deref();
        for text in
            differences(outline.map_or(session.backend(), |it| it.backend), outline)
        {
            ui.label(RichText::new(text).weak());
        }
    });
    begins
}

/// The sweep over a table's settings, on the back end of the explorer's run.
fn sweep(group: Group, session: &Session) -> SweepSpec {
    let of = || EXPERIMENTS.iter().filter(move |experiment| experiment.group == group);
    let mut run = of().next().map(PublishedExperiment::run).unwrap_or_default();
    let method = &session.spec.method;
    (run.method.backend, run.method.threads) = (method.backend, method.threads);
    run.method.devices.clone_from(&method.devices);
    run.method.precision = Precision::F64;
    let tiled = |experiment: &PublishedExperiment| match experiment.how {
        ExperimentMethod::Tiled { k, overlap, .. } => Some((k.into(), PerAxis::all(overlap))),
        _ => None,
    };
    // In 2D a CPU takes minutes per cell to the tolerance, and the number of cycles is known.
    let (kernel, counts) = match session.backend() {
        Backend::Auto | Backend::Cpu => {
            (vec![Kernel::AUTO], !matches!(group, Group::Table3 | Group::Table3Long))
        }
        Backend::Cuda => (Kernel::compared(MethodName::Hierarchical), true),
    };
    SweepSpec {
        threads: vec![run.method.threads],
        run,
        cycle: CycleLists::Tiles(TileLists {
            k: of().filter_map(tiled).map(|(k, _)| k).collect(),
            overlap: of().filter_map(tiled).map(|(_, overlap)| overlap).collect(),
            tile: vec![PerAxis::all(32)],
        }),
        kernel,
        measure: [Measure::Time].into_iter().chain(counts.then_some(Measure::Cycles)).collect(),
    }
}

fn table(ui: &mut Ui, group: Group, measured: &MeasuredPapers) {
    let columns = [
        ("k", "Subiterations per cycle."),
        ("overlap", "The overlap according to the paper."),
        ("cycles", "Cycles to 1e-4, counted by this program; the paper does not state them."),
        ("µs / cycle", "The published time over these cycles (TITAN V)."),
        ("published", "Published speedup over classic Jacobi (TITAN V)."),
        ("measured", "Speedup on this machine with its fastest kernel, without transfers."),
    ];
    let room = ui.available_width() / columns.len() as f32 - GAP;
    let rows = |ui: &mut Ui| {
        // The rows contain only text.
        ui.spacing_mut().interact_size.y = 0.0;
        Grid::new(("papers", group.name()))
            .num_columns(columns.len())
            .min_col_width(room.min(WIDEST))
            .spacing([GAP, 2.0])
            .striped(true)
            .show(ui, |ui| {
                for (text, about) in columns {
                    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                        ui.label(RichText::new(text).weak()).on_hover_text(about);
                    });
                }
                ui.end_row();
                for (index, experiment) in EXPERIMENTS.iter().enumerate() {
                    let ExperimentMethod::Tiled { k, overlap, .. } = experiment.how else {
                        continue;
                    };
                    if experiment.group != group {
                        continue;
                    }
                    let published = experiment.published_speedup;
                    let per_cycle = experiment.published_seconds_per_cycle();
                    for text in [
                        k.to_string(),
                        overlap.to_string(),
                        grouped(experiment.cycles),
                        per_cycle.map_or_else(String::new, |seconds| digits(1e6 * seconds)),
                        published.map_or_else(String::new, |ratio| format!("{ratio:.2} ×")),
                    ] {
                        ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(text));
                    }
                    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                        match measured.speedups.get(index).and_then(Option::as_ref) {
                            Some(Speedup { ratio, error, about }) => ui
                                .label(format!("{ratio:.2} ×"))
                                .on_hover_text(format!("{ratio:.2} ± {error:.2}: {about}")),
                            None => ui.label("–").on_hover_text("Not measured yet."),
                        }
                    });
                    ui.end_row();
                }
            });
    };
    ui.scope(rows);
}

/// The published times of classic Jacobi in 1D, by the threads of a block.
fn classic_blocks(ui: &mut Ui) {
    ui.label(RichText::new("Classic Jacobi · 1D").strong());
    let is_1d = |experiment: &&PublishedExperiment| {
        experiment.group == Group::Classic && experiment.run().problem.shape.len() == 1
    };
    let times = EXPERIMENTS.iter().filter(is_1d).filter_map(|experiment| {
        let time = time(experiment.published_seconds()?);
        let sweep = 1e6 * experiment.published_seconds_per_cycle()?;
        let block = match experiment.how {
            ExperimentMethod::ClassicBlock { threads } => format!("{threads} threads per block"),
            _ => "128 threads per block, the reference".to_owned(),
        };
        Some(format!("{block}: {time}, {} µs per sweep", digits(sweep)))
    });
    for text in times {
        ui.label(RichText::new(text).weak());
    }
}

/// The article's times, and why they cannot be those of whole runs.
fn heat_plate(ui: &mut Ui) {
    ui.label(RichText::new("Heat plate · 2D, the article").strong());
    for experiment in EXPERIMENTS.iter().filter(|it| it.group == Group::HeatPlate) {
        let Some(seconds) = experiment.published_seconds() else { continue };
        let text = format!("{}: {}", experiment.source, time(seconds));
        ui.label(RichText::new(text).weak());
    }
    if let Some(text) = Group::HeatPlate.explained() {
        ui.label(RichText::new(text).weak());
    }
}

/// The speedups of the paper on sparse matrices, and Amdahl's law, which explains them, to drag.
fn matrices(ui: &mut Ui) {
    ui.label(RichText::new("Tables 2 and 3 · sparse matrices, Flagg et al.").strong());
    for GpuSpeedups { gpus, normal, reorganised } in flagg::TABLES {
        let of = |name: &str, speedups: Speedups| {
            format!(
                "{name} {:.2} × in total, {:.2} × in processing",
                speedups.total, speedups.processing
            )
        };
        let gpus = counted(gpus as u64, "GPU");
        let text = format!("{gpus}: {}; {}", of("normal", normal), of("reorganised", reorganised));
        ui.label(RichText::new(text).weak());
    }
    ui.label(RichText::new(flagg::EXPLAINED).weak());
    let speedup = processing_speedup::ui(ui, Id::unique("times of the paper"));
    let share = flagg::processing_share();
    // What one GPU adds to the CPU's set-up and shutdown.
    let added = flagg::TABLES[0].normal.added();
    let unit = |time: f64| format!("{time:.2}");
    let theme = theme::of_figures(ui);
    let mut chart = amdahl_chart([1.0 - share, share], speedup, added, unit, theme);
    chart.notes = format!(
        "In units of the CPU's time; one GPU adds {added:.2} of set-up. With processing 3.30 × as fast, the total is the paper's 1.55 ×; with 6.72 ×, its 1.78 ×. {}",
        chart.notes
    );
    bars::stacked(ui, &chart);
}

/// The speedup of an experiment that a map contains, with the fastest kernel.
fn speedup(results: &MapResults, experiment: &PublishedExperiment) -> Option<Speedup> {
    let ExperimentMethod::Tiled { tile, k, overlap } = experiment.how else { return None };
    if !is_of_paper(&results.outline.spec, experiment) {
        return None;
    }
    let (tile, overlap) = (PerAxis::all(tile), PerAxis::all(overlap));
    let setting = CycleSetting::Tiles(TileSetting { tile, k: k.into(), overlap });
    let is_it = |row: &&SweepRow| row.cycle() == Some(setting);
    let times = (results.rows.iter().flatten().filter(is_it))
        .filter_map(|row| Some((row, row.seconds_per_cycle?, row.seconds_per_cycle_error?)));
    let (row, seconds, error) = times.min_by(|(_, one, _), (_, other, _)| one.total_cmp(other))?;
    let classic = results.classic?;
    let sweep = classic.time?;
    let ratio = classic.seconds()? / (seconds * experiment.cycles as f64);
    Some(Speedup {
        ratio,
        error: ratio * (error / seconds + sweep.error / sweep.median),
        about: format!(
            "a cycle takes {} with kernel {}, a sweep of classic Jacobi {}.",
            time(seconds),
            row.kernel,
            time(sweep.median)
        ),
    })
}

/// The differences from the paper's experiments, one sentence each.
fn differences(backend: Backend, measured: Option<&SweepOutline>) -> Vec<String> {
    let machine = measured.map_or("not measured yet", |outline| &outline.machine);
    let bytes = ARRAYS * Precision::F64.bytes() as u64 * points();
    let titan_v = format!(
        "its L2 of {} holds {:.0} % of the problem's {}",
        human(TITAN_V_L2),
        100.0 * TITAN_V_L2 as f64 / bytes as f64,
        human(bytes)
    );
    let mut differences = match backend {
        Backend::Auto | Backend::Cpu => vec![
            format!("Machine: published for a TITAN V; this machine: {machine}."),
            format!(
                "Cache: on the TITAN V {titan_v}, so each sweep of classic Jacobi reads main memory. A CPU \
                 has no launch overhead and larger caches: classic Jacobi is slowed down less, and \
                 another k is best."
            ),
            "Kernel: the paper uses a block of threads per tile in shared memory; the CPU uses a \
             thread per row of tiles, vectorized."
                .to_owned(),
        ],
        Backend::Cuda => {
            let l2 = match measured.and_then(|outline| outline.l2_bytes) {
                Some(l2) if l2 >= bytes => format!(
                    "this GPU's {} hold all of it: classic Jacobi rarely reads main memory, and \
                     tiles gain less",
                    human(l2)
                ),
                Some(l2) => format!(
                    "this GPU's {} hold {:.0} %",
                    human(l2),
                    100.0 * l2 as f64 / bytes as f64
                ),
                None => "the driver does not report this GPU's".to_owned(),
            };
            vec![
                format!("GPU: published for a TITAN V; this machine: {machine}."),
                format!("L2: on the TITAN V {titan_v}; {l2}."),
                "Kernel: the paper's corresponds to kernel shared; kernel register is newer. The faster \
                 one is shown."
                    .to_owned(),
            ]
        }
    };
    differences
        .push("Time: published with transfers to and from the GPU; measured without.".to_owned());
    differences
}

/// Number of points of the tables' problems; all have the same.
fn points() -> u64 {
    let of = EXPERIMENTS.iter().find(|experiment| experiment.group == Group::Table3);
    let problem = of.map(PublishedExperiment::run).unwrap_or_default().problem;
    problem.shape.iter().map(|&side| side as u64).product()
}
