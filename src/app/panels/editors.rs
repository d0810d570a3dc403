//! Editors of the boundary values and of the matrix row.

use crate::app::widgets::labels::{named, typed};
use crate::app::widgets::rows::row;
use crate::problem::{Boundary, Stencil};
use crate::run::{ProblemKind, ProblemSpec};
use eframe::egui::{CollapsingHeader, Ui};

/// The sides along each axis, as rows of the panel name them.
const SIDES: [&str; 3] = ["Left, right", "Top, bottom", "Front, back"];

/// The entries of the neighbours along each axis, likewise.
const NEIGHBOURS: [&str; 3] = ["Along x: a, c", "Along y: e, f", "Along z: p, q"];

pub fn ui(ui: &mut Ui, problem: &mut ProblemSpec) {
    if problem.kind == ProblemKind::Matrix {
        return;
    }
    let about = "The values that surround the grid.";
    let header = CollapsingHeader::new("Boundary").show(ui, |ui| boundary(ui, problem));
    header.header_response.on_hover_text(about);
    // The conductivity makes the rows.
    if problem.kind != ProblemKind::Diffusion {
        let about = "The matrix row of every point, with its 1/h² scaling.";
        let header = CollapsingHeader::new("Stencil").show(ui, |ui| stencil(ui, problem));
        header.header_response.on_hover_text(about);
    }
}

fn boundary(ui: &mut Ui, problem: &mut ProblemSpec) {
    let mut boundary = problem.boundary();
    let Boundary { left, right, top, bottom, front, back } = &mut boundary;
    let values = [[left, right], [top, bottom], [front, back]];
    let axes = values.into_iter().zip(SIDES).zip(Boundary::NAMES).take(problem.shape.len());
    for ((values, title), names) in axes {
        let about = "The Dirichlet values of u on these sides.";
        row(ui, title, about, |ui| {
            for (value, name) in values.into_iter().zip(names) {
                let field = typed(ui, value, -1e6..=1e6).speed(0.01);
                named(ui.add(field), &format!("Boundary {name}")).on_hover_text(about);
            }
        });
    }
    if boundary != problem.boundary() {
        problem.boundary = None;
        if boundary != problem.boundary() {
            problem.boundary = Some(boundary);
        }
    }
}

fn stencil(ui: &mut Ui, problem: &mut ProblemSpec) {
    let about = "Use these entries in place of the problem's own.";
    let mut is_chosen = problem.stencil.is_some();
    row(ui, "Own entries", about, |ui| {
        let choice = named(ui.checkbox(&mut is_chosen, ""), "Own stencil").on_hover_text(about);
        if choice.changed() {
            problem.stencil = problem.own_stencil().filter(|_| is_chosen);
        }
    });
    let axes = problem.shape.len();
    let Some(stencil) = problem.stencil.as_mut() else {
        return;
    };
    let speed = 0.002 * stencil.d.abs().max(1.0);
    let Stencil { d, a, c, e, f, p, q } = stencil;
    let entry = |ui: &mut Ui, value: &mut f64, name: &str, about: &str| {
        let field = typed(ui, value, -1e12..=1e12).speed(speed);
        named(ui.add(field), &format!("Stencil {name}")).on_hover_text(about);
    };
    let about = "The diagonal, which rows are divided by.";
    row(ui, "Diagonal d", about, |ui| entry(ui, d, "d", about));
    let about = "The entries of the previous and of the next point.";
    let pairs = [[(a, "a"), (c, "c")], [(e, "e"), (f, "f")], [(p, "p"), (q, "q")]];
    for (pair, title) in pairs.into_iter().zip(NEIGHBOURS).take(axes) {
        row(ui, title, about, |ui| {
            for (value, name) in pair {
                entry(ui, value, name, about);
            }
        });
    }
}
