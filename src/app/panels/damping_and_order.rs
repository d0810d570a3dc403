//! Damping, and the order of tiles and of points.

use crate::app::widgets::labels::{named, typed};
use crate::app::widgets::rows::row;
use crate::run::{MethodName, MethodSpec};
use eframe::egui::{CollapsingHeader, Ui};

/// The range of ω that can be typed.
const SMALLEST_OMEGA: f64 = 0.001;
const LARGEST_OMEGA: f64 = 1.999;

/// The rows under a header, which stays open while one of them is in force.
pub(super) fn ui(ui: &mut Ui, method: &mut MethodSpec, is_matrix: bool) {
    let MethodSpec { omega, wave, warp, .. } = *method;
    let is_in_force = omega != 1.0 || wave.is_some() || warp.is_some();
    let header = CollapsingHeader::new("Damping and order").open(is_in_force.then_some(true));
    let header = header.show(ui, |ui| {
        // What is in force can be taken back, whatever the method.
        let takes_damping = !is_matrix && !method.name.is_streaming();
        ui.add_enabled_ui(takes_damping || omega != 1.0, |ui| damping(ui, method));
        let has_order = !is_matrix && method.name == MethodName::Hierarchical;
        ui.add_enabled_ui(has_order || wave.is_some() || warp.is_some(), |ui| order(ui, method));
    });
    let about = "The fraction of Jacobi's update that a sweep applies, and whether later tiles and points read what earlier ones wrote.";
    header.header_response.on_hover_text(about);
}

/// ω of damped Jacobi.
fn damping(ui: &mut Ui, method: &mut MethodSpec) {
    let about = "Damped Jacobi: u + ω (u_J − u) in every sweep. 1 is Jacobi's iteration. It gains little: in 1D with 1024 points ω = 0.999 takes 115,854 sweeps, 1 takes 128,760 and 2/3 takes 173,608.";
    row(ui, "ω", about, |ui| {
        let value = typed(ui, &mut method.omega, SMALLEST_OMEGA..=LARGEST_OMEGA).speed(0.002);
        named(ui.add(value.max_decimals(4)), "ω").on_hover_text(about);
        if ui.button("1").on_hover_text("No damping.").clicked() {
            method.omega = 1.0;
        }
    });
}

/// Waves of tiles and warps of points.
fn order(ui: &mut Ui, method: &mut MethodSpec) {
    let about = "Tiles that start from the same state, in parallel, in the order of their rows; those of later waves read what earlier ones wrote in the same cycle. From 1, Gauss–Seidel's iteration of the tiles, to all of them, Jacobi's. On the CPU.";
    counted(ui, ["Tiles per wave", "In waves"], about, MethodSpec::WAVE, &mut method.wave);
    let about = "Points of a tile that a sweep updates at once, in place, in the order of their rows; later ones read the new values. 32 is a warp of a GPU whose threads write what their neighbours still read, here in a fixed order; 1 is Gauss–Seidel's iteration. On the CPU.";
    counted(ui, ["Points per warp", "In warps"], about, MethodSpec::WARP, &mut method.warp);
}

/// A row for a number that can be left out; it begins with `first`.
fn counted(
    ui: &mut Ui,
    [name, wanted]: [&str; 2],
    about: &str,
    first: usize,
    count: &mut Option<usize>,
) {
    row(ui, name, about, |ui| {
        let mut is_wanted = count.is_some();
        let choice = named(ui.checkbox(&mut is_wanted, ""), wanted).on_hover_text(about);
        if choice.changed() {
            *count = is_wanted.then_some(first);
        }
        let Some(mut number) = *count else {
            ui.label("all at once");
            return;
        };
        let value = typed(ui, &mut number, 1..=usize::MAX).speed(0.1);
        if named(ui.add(value), name).on_hover_text(about).changed() {
            *count = Some(number);
        }
    });
}
