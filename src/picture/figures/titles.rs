//! What is written above a figure, and above or beside each run in it.

use crate::grid::AXIS_NAMES;
use crate::number::{counted, grouped, rounded};
use crate::picture::draw::drawing::Drawing;
use crate::picture::figures::names::{distinguish, problem_title};
use crate::picture::plot::description::Plot;
use crate::picture::view::spec::ViewSpec;
use crate::run::{RunSpec, Snapshot, reduction};
use crate::solver::Subiterations;

/// A figure that is one plot of the first run; empty where there is nothing to plot.
pub(super) fn figure_of_plot(
    snapshots: &[&Snapshot],
    view: &ViewSpec,
    plot: impl FnOnce(&Snapshot) -> Option<Plot>,
) -> Drawing {
    let Some(plot) = snapshots.first().and_then(|first| plot(first)) else {
        return Drawing::Figure(String::new());
    };
    let Titles { title, subtitle, .. } = Titles::of(&snapshots[..1], view);
    Drawing::Figure(plot.svg(&title, &subtitle, &view.figure.page()))
}

/// The texts of a figure.
pub(crate) struct Titles {
    pub title: String,
    pub subtitle: String,
    /// The name of each run; empty for a single one.
    pub each: Vec<String>,
}

impl Titles {
    /// Those of a view of these runs.
    pub fn of(snapshots: &[&Snapshot], view: &ViewSpec) -> Self {
        let Some(first) = snapshots.first() else {
            return Self { title: String::new(), subtitle: String::new(), each: Vec::new() };
        };
        let same_cycle = snapshots.iter().all(|snapshot| snapshot.cycle() == first.cycle());
        let is_diagram = first.map().cycles_per_row.is_some();
        let shows_cycle = !view.kind.is_over_cycles() && !is_diagram;
        let after = |snapshot: &Snapshot| format!("after {}", counted(snapshot.cycle(), "cycle"));
        let runs: Vec<&RunSpec> = snapshots.iter().map(|snapshot| &snapshot.plan.spec).collect();
        let (common, mut each) = distinguish(&runs);

        let shape = &first.plan.problem.shape;
        let same_problem = runs.iter().all(|run| run.problem == runs[0].problem);
        let same_shape = snapshots.iter().all(|other| other.plan.problem.shape == *shape);
        let problem = match (same_problem, same_shape) {
            (true, _) => format!(" — {}", problem_title(runs[0], shape)),
            (false, true) => format!(" — {shape}"),
            (false, false) => String::new(),
        };
        // From frame to frame one line changes, below all that stays.
        let is_frame = view.frames.is_some();
        let when = match shows_cycle && same_cycle {
            true if !is_frame => format!(" {}", after(first)),
            _ => String::new(),
        };
        let map = first.map();
        let slice = map.samples.slice.map_or(String::new(), |slice| match map.is_projection {
            true => format!(", largest along {}", AXIS_NAMES[slice.axis]),
            false => format!(" at {}", slice.label()),
        });
        let title = format!("{}{slice}{when}{problem}", view.kind.title(first, view));

        let mut subtitle = common;
        if is_frame {
            subtitle.push_str(&format!("\ncycle {}", grouped(first.cycle())));
        }
        match snapshots {
            [snapshot] => {
                subtitle.push_str(&match view.kind.subtitle(snapshot) {
                    Some(text) => text,
                    None if view.kind.is_over_cycles() => String::new(),
                    None => progress_of(snapshot),
                });
                each = vec![String::new()];
            }
            _ => {
                let names = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh"];
                for ((title, snapshot), name) in each.iter_mut().zip(snapshots).zip(names) {
                    if title.is_empty() && (same_cycle || !shows_cycle) {
                        *title = format!("{name} run");
                    }
                    if shows_cycle && !same_cycle {
                        let between = if title.is_empty() { "" } else { ", " };
                        title.push_str(&format!("{between}{}", after(snapshot)));
                    }
                }
            }
        }
        if !view.figure.annotations {
            return Self { title: String::new(), subtitle: String::new(), each };
        }
        Self { title, subtitle, each }
    }
}

/// What a figure of the field itself is called: in 1D its space–time diagram.
pub(crate) fn field_title(first: &Snapshot) -> String {
    let label = first.field().label();
    match first.map().cycles_per_row {
        Some(_) => format!("{label}, cycle by cycle"),
        None => label.to_owned(),
    }
}

/// How far a run is: its sweeps, and what is left of the residual.
fn progress_of(snapshot: &Snapshot) -> String {
    let sweeps = snapshot.cycle() * snapshot.plan.sweeps_per_cycle();
    let mut text = match snapshot.plan.method.k() {
        Subiterations::Finite(_) => format!(" · {}", counted(sweeps, "sweep")),
        Subiterations::Infinite => " · exact local solves".to_owned(),
    };
    if let Some(reduction) = reduction_of(snapshot) {
        text.push_str(&format!(" · {reduction}"));
    }
    text
}

/// ‖r‖₂/‖r₀‖₂ at the cycle of a snapshot, as a text; `None` where it is not known.
pub(crate) fn reduction_of(snapshot: &Snapshot) -> Option<String> {
    let record = snapshot.history.records().find(|record| record.cycle == snapshot.cycle())?;
    let reduction = rounded(reduction(record.residual?.l2, snapshot.start_residual));
    Some(format!("‖r‖₂/‖r₀‖₂ = {reduction}"))
}
