//! The problem's details, and when to stop.

use crate::app::panels::{editors, initial_guess};
use crate::app::state::command::Command;
use crate::app::state::session::Session;
use crate::app::widgets::labels::{explained, named, typed};
use crate::app::widgets::rows::{heading, row};
use crate::grid::AXIS_NAMES;
use crate::picture::{digits, grouped, number, parse_number, ratio, two_digits};
use crate::problem::Jump;
use crate::problem::matrix::{Analysis, Generated, Ordering};
use crate::problem::{HEAT, HotBox, hot_axes};
use crate::run::{
    MatrixSpec, Plan, ProblemKind, ProblemSpec, Report, RunSpec, StopRule, TOLERANCE,
};
use eframe::egui::{ComboBox, DragValue, RichText, Ui};
use std::path::Path;

/// Sides to choose from.
const SIDES: [usize; 7] = [64, 128, 256, 512, 1024, 2048, 4096];

/// The largest of them for 3D grids.
const LARGEST_3D: usize = 512;

pub fn ui(ui: &mut Ui, session: &Session, report: Option<&Report>, commands: &mut Vec<Command>) {
    let mut spec = RunSpec::clone(&session.spec);
    heading(ui, "Problem");
    ui.label(RichText::new(spec.problem.kind.about()).weak());
    if let Some(report) = report {
        warning(ui, &report.plan);
    }
    if spec.problem.kind != ProblemKind::Matrix {
        sides(ui, &mut spec);
    }
    details(ui, &mut spec);
    editors::ui(ui, &mut spec.problem);
    initial_guess::ui(ui, &mut spec.problem, commands);
    if let Some(report) = report {
        if let Some(analysis) = &report.plan.analysis {
            self::analysis(ui, analysis);
        }
        convergence(ui, &report.plan);
    }
    ui.label(
        RichText::new("Drop an image, an array, a run or a figure on the window to open it.")
            .weak(),
    );
    heading(ui, "Stop");
    stop(ui, &mut spec);
    if spec != *session.spec {
        commands.push(Command::Change(spec));
    }
}

/// Properties of a matrix.
fn analysis(ui: &mut Ui, analysis: &Analysis) {
    let about = "Rows of the matrix, and its entries with the diagonal.";
    let [rows, entries] = [analysis.rows, analysis.entries].map(|count| grouped(count as u64));
    row(ui, "Rows, entries", about, |ui| ui.label(format!("{rows}, {entries}")));
    let about = "The largest distance of an entry from the diagonal, in the order of the blocks; and whether a_ij = a_ji.";
    let symmetric = if analysis.is_symmetric { "symmetric" } else { "not symmetric" };
    let bandwidth = grouped(analysis.bandwidth as u64);
    row(ui, "Bandwidth", about, |ui| ui.label(format!("{bandwidth}, {symmetric}")));
    let about = "Rows whose other entries add up to more than the diagonal: where there is none, Jacobi's iteration does not diverge.";
    let above = match analysis.dominance.rows_above {
        0 => "all".to_owned(),
        above => format!("all but {}", grouped(above as u64)),
    };
    row(ui, "Dominant rows", about, |ui| ui.label(above));
}

/// How fast Jacobi's iteration converges.
fn convergence(ui: &mut Ui, plan: &Plan) {
    let (operator, name) = (&plan.problem.operator, plan.iteration());
    let (dominance, radius) = (operator.dominance(), plan.known_radius());
    let about = match radius.map(|radius| radius.sweeps_per_digit()) {
        None if plan.knows_radius() => "not found for so large a grid.".to_owned(),
        None => "being computed.".to_owned(),
        Some(None) => format!("{name} does not converge."),
        Some(Some(sweeps)) => {
            format!("asymptotically, {name} needs about {} sweeps per digit.", digits(sweeps))
        }
    };
    let about = format!(
        "The spectral radius ρ of {name}, which converges where it is below 1, and the largest sum of weights Σ|w| of a matrix row: at most 1 where the matrix is diagonally dominant. Here: {about}"
    );
    row(ui, "ρ, Σ|w|", &about, |ui| {
        let radius = radius.map_or_else(
            || "–".to_owned(),
            |radius| match radius.error > 0.0 {
                true => format!("{radius} ± {}", two_digits(radius.error)),
                false => radius.to_string(),
            },
        );
        ui.label(format!("{radius}, {}", ratio(dominance))).on_hover_text(&about);
    });
}

/// A warning where the iteration does not converge, or may not.
fn warning(ui: &mut Ui, plan: &Plan) {
    if let Some(warning) = plan.warning() {
        let what = match plan.problem.operator.is_dominant() {
            false => "not diagonally dominant",
            true if plan.spec.method.omega > 1.0 => "ω is too large",
            true => "singular matrix",
        };
        let text = RichText::new(format!("⚠ {what}")).color(ui.visuals().warn_fg_color);
        ui.label(text).on_hover_text(warning);
    }
}

fn sides(ui: &mut Ui, spec: &mut RunSpec) {
    let problem = &mut spec.problem;
    let about = "Interior points along each axis.";
    // Large numbers, or three, take two lines.
    let points = |ui: &mut Ui| {
        let axes = problem.shape.len();
        for (axis, (points, name)) in problem.shape.iter_mut().zip(AXIS_NAMES).enumerate() {
            let value = typed(ui, points, 1..=usize::MAX).speed(1.0);
            named(ui.add(value), &format!("Points along {name}")).on_hover_text(about);
            if axis + 1 < axes {
                ui.label("×");
            }
        }
        let response =
            ComboBox::from_id_salt("side").width(20.0).selected_text("").show_ui(ui, |ui| {
                for side in SIDES.into_iter().filter(|&side| axes < 3 || side <= LARGEST_3D) {
                    let text = format!("{side}{}", ["", "²", "³"][axes.clamp(1, 3) - 1]);
                    let same = problem.shape.iter().all(|&n| n == side);
                    let chosen = ui.selectable_label(same, text);
                    if explained(chosen, "Points along each axis.").clicked() {
                        problem.shape.fill(side);
                    }
                }
            });
        named(response.response, "Common sizes").on_hover_text("Choose a common size.");
    };
    row(ui, "Points", about, |ui| ui.horizontal_wrapped(points));
    if problem.shape.len() == 1 {
        let about = "Systems of the batch, solved at once; the first is shown.";
        row(ui, "Batch", about, |ui| {
            let value = typed(ui, &mut problem.batch, 1..=usize::MAX).speed(1.0);
            named(ui.add(value), "Batch").on_hover_text(about);
        });
    }
}

fn details(ui: &mut Ui, spec: &mut RunSpec) {
    let problem = &mut spec.problem;
    match problem.kind {
        ProblemKind::Random => {
            let mut seed = problem.seed.unwrap_or(1);
            let about = "The seed of the random initial guess. The same seed gives the same values everywhere.";
            row(ui, "Seed", about, |ui| {
                if named(ui.add(DragValue::new(&mut seed).update_while_editing(false)), "Seed")
                    .on_hover_text(about)
                    .changed()
                {
                    problem.seed = Some(seed);
                }
            });
        }
        ProblemKind::HeatPlate if problem.initial.is_none() => hot_box(ui, problem),
        ProblemKind::ConvectionDiffusion => {
            let mut velocity = problem.velocity.unwrap_or(crate::run::WIND);
            let about = "The velocity along each axis, relative to diffusivity and side length. Beyond 2 (n + 1) the matrix is not diagonally dominant.";
            let names = ["Velocity along x", "Velocity along y", "Velocity along z"];
            let axes = problem.shape.len().clamp(2, 3);
            row(ui, "Velocity", about, |ui| {
                for (axis, name) in names.iter().enumerate().take(axes) {
                    let value = DragValue::new(&mut velocity[axis])
                        .speed(1.0)
                        .max_decimals(1)
                        .update_while_editing(false);
                    if named(ui.add(value), name).on_hover_text(about).changed() {
                        problem.velocity = Some(velocity);
                    }
                }
            });
        }
        ProblemKind::Diffusion => match &problem.conductivity {
            Some(path) => {
                let about =
                    "The file of the conductivity. Drop another array on the window to replace it.";
                file(ui, "Conductivity", path, about);
            }
            None => materials(ui, problem),
        },
        ProblemKind::Picture => {
            if let Some(path) = &problem.rhs {
                let about =
                    "The file of the right-hand side. Drop another on the window to replace it.";
                file(ui, "File", path, about);
            }
        }
        ProblemKind::Matrix => {
            if let Some(matrix) = &mut problem.matrix {
                if let Some(chosen) = choose_matrix(ui, matrix) {
                    *matrix = chosen;
                    problem.rhs = None;
                    problem.shape = matrix.rows().map_or_else(|_| Vec::new(), |rows| vec![rows]);
                }
                let about = "The order of the unknowns: blocks are consecutive rows, so the order decides which unknowns a block holds.";
                row(ui, "Ordering", about, |ui| {
                    let combo = ComboBox::from_id_salt("ordering")
                        .selected_text(matrix.ordering.name())
                        .show_ui(ui, |ui| {
                            for ordering in Ordering::ALL {
                                let entry = ui.selectable_value(
                                    &mut matrix.ordering,
                                    ordering,
                                    ordering.name(),
                                );
                                explained(entry, ordering.about());
                            }
                        });
                    named(combo.response, "Ordering").on_hover_text(about);
                });
            }
        }
        _ => {}
    }
}

/// The matrix: one that comes with the program, or a file. Returns another one that was chosen.
fn choose_matrix(ui: &mut Ui, matrix: &MatrixSpec) -> Option<MatrixSpec> {
    let mut chosen = None;
    let about = "The matrix. Drop a Matrix Market file on the window to replace it.";
    row(ui, "Matrix", about, |ui| {
        let name = matrix.name();
        let combo = ComboBox::from_id_salt("matrix").selected_text(&name).show_ui(ui, |ui| {
            for (generated, about) in Generated::NAMES {
                let entry = ui.selectable_label(name == generated, generated);
                if explained(entry, about).clicked() && name != generated {
                    let mut other = MatrixSpec::new(generated);
                    // Tiles need a grid of nodes.
                    if matrix.ordering != Ordering::Tiles || other.node_grid().is_some() {
                        other.ordering = matrix.ordering;
                    }
                    chosen = Some(other);
                }
            }
        });
        let source = matrix.source.display().to_string();
        named(combo.response, "Matrix").on_hover_text(format!("{about} Here: {source}"));
    });
    chosen
}

/// A file that a problem was read from.
fn file(ui: &mut Ui, what: &str, path: &Path, about: &str) {
    let name = path
        .file_name()
        .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    row(ui, what, about, |ui| ui.label(name).on_hover_text(path.display().to_string()));
}

/// The conductivity of two materials, and the line between them.
fn materials(ui: &mut Ui, problem: &mut ProblemSpec) {
    let Jump { mut ratio, mut interface } = problem.jump();
    let about =
        "The conductivity on the side of the interface with larger x; on the other it is 1.";
    row(ui, "Conductivity", about, |ui| {
        ui.label("1 :");
        let value = typed(ui, &mut ratio, 1e-6..=1e6).speed(0.01 * problem.jump().ratio);
        let value = value.custom_formatter(|ratio, _| number(ratio)).custom_parser(parse_number);
        if named(ui.add(value), "Conductivity beyond the interface").on_hover_text(about).changed()
        {
            problem.jump = Some(ratio);
        }
    });
    let about = "Two points of the interface, x and y from 0 to 1. Or drag the line on the map.";
    let names = [("Interface", "Interface"), ("to", "Interface to")];
    for (end, (title, name)) in interface.iter_mut().zip(names) {
        row(ui, title, about, |ui| {
            for (value, axis) in end.iter_mut().zip(AXIS_NAMES) {
                let field = typed(ui, value, 0.0..=1.0).speed(0.005).max_decimals(3);
                let label = format!("{name} {axis}");
                named(ui.add(field.prefix(format!("{axis} "))), &label).on_hover_text(about);
            }
        });
    }
    if interface != problem.jump().interface {
        problem.interface = Some(interface);
    }
}

/// The value of the hot box, whose sides are dragged on the map, and the article's.
fn hot_box(ui: &mut Ui, problem: &mut ProblemSpec) {
    let mut value = problem.hot_box.map_or(HEAT, |hot| hot.value);
    let about = "The value of the initial guess inside the hot box; it is 0 outside. Drag the sides or the centre of the box on the map.";
    row(ui, "Hot box", about, |ui| {
        let number = DragValue::new(&mut value).speed(0.1).update_while_editing(false);
        if named(ui.add(number), "Hot box").on_hover_text(about).changed() {
            let own = problem
                .grid()
                .map(|shape| HotBox::of_points(&hot_axes(None, &shape), &shape, value));
            let known = problem.hot_box.map(|hot| HotBox { value, ..hot });
            problem.hot_box = known.or(own);
        }
    });
    let about = "Which part of the plate is hot.";
    row(ui, "Extent", about, |ui| {
        let is_articles = problem.hot_box == Some(HotBox::ARTICLE);
        let button = ui.selectable_label(is_articles, "Article's");
        let about = "The article's start: 100 on |i − N/2| ≤ N/10 along each axis, where N points include the boundary.";
        if button.on_hover_text(about).clicked() {
            problem.hot_box = Some(HotBox::ARTICLE);
        }
        let about = "The middle quarter of each side, of value 1.";
        let button = ui.selectable_label(problem.hot_box.is_none(), "Quarter");
        if button.on_hover_text(about).clicked() {
            problem.hot_box = None;
        }
    });
}

fn stop(ui: &mut Ui, spec: &mut RunSpec) {
    let stop = &mut spec.stop;
    let about = "What must fall to the tolerance: the relative residual, or the largest update of a cycle or of a sweep.";
    row(ui, "When", about, |ui| {
        let label = |rule| match rule {
            StopRule::Residual => "Residual",
            StopRule::Change => "Update",
            StopRule::ChangePerSweep => "Update per sweep",
        };
        let combo = ComboBox::from_id_salt("stop").selected_text(label(stop.rule));
        let combo = combo.show_ui(ui, |ui| {
            for rule in StopRule::ALL {
                let entry = ui.selectable_value(&mut stop.rule, rule, label(rule));
                explained(entry, rule.about());
            }
        });
        named(combo.response, "Stop when").on_hover_text(about);
    });
    let about = "The run stops at this value.";
    row(ui, "Tolerance", about, |ui| {
        let mut wanted = stop.tolerance.is_some();
        let why = "Stop at a tolerance; without one, the run continues to the cycle limit.";
        if named(ui.checkbox(&mut wanted, ""), "Stop at a tolerance").on_hover_text(why).changed() {
            stop.tolerance = wanted.then_some(TOLERANCE);
        }
        if !wanted {
            ui.label("none");
            return;
        }
        let mut exponent = stop.tolerance.unwrap_or(TOLERANCE).log10();
        let value = typed(ui, &mut exponent, -15.0..=-0.1)
            .speed(0.05)
            .custom_formatter(|exponent, _| two_digits(10f64.powf(exponent)))
            .custom_parser(|text| {
                // Values without a logarithm become 0, which is refused.
                parse_number(text).map(|value| value.max(0.0).log10())
            });
        if named(ui.add(value), "Tolerance").on_hover_text(about).changed() {
            // Two digits, as shown: the displayed value is the exact one.
            stop.tolerance = format!("{:.1e}", 10f64.powf(exponent)).parse().ok();
        }
    });
}
