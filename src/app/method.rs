//! The sliders: method, k, overlap, tile.

use super::backend::Backends;
use super::command::Command;
use super::session::Session;
use super::theme::{heading, row};
use crate::grid::Precision;
use crate::run::{MethodName, MethodSpec, RunSpec};
use eframe::egui::{Slider, SliderClamping, Ui};

/// The largest k on the slider; more can be typed.
const LARGEST_K: usize = 256;

/// The largest k that a run may have.
const LIMIT_K: usize = 4096;

/// The tiles on the slider; others can be typed.
const TILES: std::ops::RangeInclusive<usize> = 4..=128;

/// The largest tile that can be typed.
const LIMIT_TILE: usize = 4096;

/// Tiles come in steps of this while the slider is dragged.
const TILE_STEP: usize = 4;

pub(super) fn ui(ui: &mut Ui, session: &Session, backends: &Backends, commands: &mut Vec<Command>) {
    let mut spec = RunSpec::clone(&session.spec);
    heading(ui, "Method");
    let method = &mut spec.method;
    row(ui, "Iteration", "How one cycle turns an iterate into the next.", |ui| {
        let about = "k sweeps inside every tile while the ring around it stays frozen.";
        ui.selectable_value(&mut method.name, MethodName::Hierarchical, "Hierarchical")
            .on_hover_text(about);
        let about = "Jacobi's iteration: a cycle is one sweep over the whole grid.";
        ui.selectable_value(&mut method.name, MethodName::Classic, "Classic").on_hover_text(about);
    });
    let tiled = method.name == MethodName::Hierarchical;
    ui.add_enabled_ui(tiled, |ui| sliders(ui, method, session.spec.problem.shape.len()));
    row(ui, "Precision", "The floating-point type of the arithmetic.", |ui| {
        for precision in Precision::ALL {
            let about = match precision {
                Precision::F32 => "32 bits, about 7 digits.",
                Precision::F64 => "64 bits, about 16 digits.",
            };
            ui.selectable_value(&mut method.precision, precision, precision.name())
                .on_hover_text(about);
        }
    });
    backends.ui(ui, method);
    if spec != *session.spec {
        commands.push(Command::Change(spec));
    }
}

fn sliders(ui: &mut Ui, method: &mut MethodSpec, axes: usize) {
    let about = "Subiterations: sweeps that every tile makes before it writes back. More save memory traffic, but the ring goes stale.";
    row(ui, "k", about, |ui| {
        let slider = Slider::new(&mut method.k, 1..=LARGEST_K)
            .logarithmic(true)
            .clamping(SliderClamping::Never);
        let response = super::toolbar::named(ui.add(slider), "k").on_hover_text(about);
        if response.dragged() {
            method.k = 1 << method.k.max(1).ilog2();
        }
        method.k = method.k.clamp(1, LIMIT_K);
    });
    let mut each = method.tile.len() > 1 || method.overlap.len() > 1;
    let lists = if each { axes } else { 1 };
    for axis in 0..lists {
        let name = |what: &str| {
            if each { format!("{what} {}", ["x", "y"][axis]) } else { what.to_owned() }
        };
        let mut overlap = method.overlap_of(axis);
        let mut tile = method.tile_of(axis);
        let largest = tile.saturating_sub(2) & !1;
        let about = "Points that neighbouring tiles share, even. Each owns its half; more overlap keeps stale points away from owned ones, and costs double work.";
        row(ui, &name("Overlap"), about, |ui| {
            let slider = Slider::new(&mut overlap, 0..=largest).step_by(2.0);
            super::toolbar::named(ui.add(slider), &name("Overlap")).on_hover_text(about);
        });
        let about = "Points of a tile along an axis: what fits into fast memory.";
        row(ui, &name("Tile"), about, |ui| {
            let slider =
                Slider::new(&mut tile, TILES).logarithmic(true).clamping(SliderClamping::Never);
            let response =
                super::toolbar::named(ui.add(slider), &name("Tile")).on_hover_text(about);
            if response.dragged() {
                tile = (tile / TILE_STEP * TILE_STEP).max(TILE_STEP);
            }
            tile = tile.clamp(1, LIMIT_TILE);
        });
        // The largest overlap follows the tile, so that a slider never stands where it may not.
        overlap = overlap.min(tile.saturating_sub(2)) & !1;
        set(&mut method.overlap, axis, each, overlap);
        set(&mut method.tile, axis, each, tile);
    }
    if axes > 1 {
        let about = "Choose overlap and tile for x and y apart.";
        row(ui, "", about, |ui| {
            if ui.checkbox(&mut each, "x and y apart").on_hover_text(about).changed() {
                method.tile =
                    if each { vec![method.tile_of(0); axes] } else { vec![method.tile_of(0)] };
                method.overlap = if each {
                    vec![method.overlap_of(0); axes]
                } else {
                    vec![method.overlap_of(0)]
                };
            }
        });
    }
}

fn set(list: &mut Vec<usize>, axis: usize, each: bool, value: usize) {
    let at = if each { axis } else { 0 };
    if list.len() <= at {
        list.resize(at + 1, value);
    }
    list[at] = value;
}
