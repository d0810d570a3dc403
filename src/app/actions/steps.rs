//! Settings of the method, changed by a step.

use crate::app::actions::action::{Action, BLANK, plain, shift};
use crate::app::state::command::Command;
use crate::run::{MethodName, MethodSpec, RunSpec};
use crate::solver::Subiterations;
use eframe::egui::{Key, KeyboardShortcut};

/// The largest finite k that steps lead to.
const LARGEST: usize = 1024;

/// ω where damping begins: in 2D it smooths best at 4/5, in 1D at 2/3 (Trottenberg, Oosterlee and Schüller,
/// *Multigrid*, section 2.1).
const DAMPING: f64 = 2.0 / 3.0;

/// The next power of two; after [`LARGEST`], infinity.
fn doubled(k: Subiterations) -> Subiterations {
    match k {
        Subiterations::Finite(k) if k < LARGEST => (k + 1).next_power_of_two().into(),
        _ => Subiterations::Infinite,
    }
}

/// The power of two before, 1 at least; before infinity, [`LARGEST`].
fn halved(k: Subiterations) -> Subiterations {
    k.finite().map_or(LARGEST, |k| (k.next_power_of_two() / 2).max(1)).into()
}

/// A change of the method by a step.
struct MethodStep {
    name: &'static str,
    about: &'static str,
    keys: &'static [KeyboardShortcut],
    change: fn(&mut MethodSpec),
}

const SETTINGS: [MethodStep; 10] = [
    MethodStep {
        name: "k up",
        about: "Double the subiterations; the last step is ∞.",
        keys: &[plain(Key::K)],
        change: |method| method.k = doubled(method.k),
    },
    MethodStep {
        name: "k down",
        about: "Halve the subiterations.",
        keys: &[shift(Key::K)],
        change: |method| method.k = halved(method.k),
    },
    MethodStep {
        name: "overlap up",
        about: "Increase the overlap by two points.",
        keys: &[plain(Key::O)],
        change: |method| each_axis(method, |tile, overlap| (tile, overlap.saturating_add(2))),
    },
    MethodStep {
        name: "overlap down",
        about: "Decrease the overlap by two points.",
        keys: &[shift(Key::O)],
        change: |method| each_axis(method, |tile, overlap| (tile, overlap.saturating_sub(2))),
    },
    MethodStep {
        name: "tile up",
        about: "Increase the tile by four points along each axis.",
        keys: &[plain(Key::T)],
        change: |method| each_axis(method, |tile, overlap| (tile.saturating_add(4), overlap)),
    },
    MethodStep {
        name: "tile down",
        about: "Decrease the tile by four points along each axis.",
        keys: &[shift(Key::T)],
        change: |method| {
            each_axis(method, |tile, overlap| (tile.saturating_sub(4).max(4), overlap))
        },
    },
    MethodStep {
        name: "Toggle classic / hierarchical",
        about: "A cycle is one sweep over the whole grid, or k sweeps inside every tile.",
        keys: &[plain(Key::C)],
        change: |method| {
            method.set_name(match method.name {
                MethodName::Classic => MethodName::Hierarchical,
                _ => MethodName::Classic,
            });
        },
    },
    MethodStep {
        name: "Toggle damping",
        about: "Damped Jacobi: every sweep applies 2/3 of Jacobi's update; the Method panel then shows ω.",
        keys: &[shift(Key::C)],
        change: |method| method.omega = if method.omega == 1.0 { DAMPING } else { 1.0 },
    },
    MethodStep {
        name: "Toggle waves of tiles",
        about: "Later tiles read what earlier ones wrote in the same cycle; the Method panel then shows tiles per wave.",
        keys: &[shift(Key::W)],
        change: |method| toggle(method, |method| &mut method.wave, MethodSpec::WAVE),
    },
    MethodStep {
        name: "Toggle updates in place",
        about: "Later points of a tile read the new values of earlier ones; the Method panel then shows points per warp.",
        keys: &[shift(Key::R)],
        change: |method| toggle(method, |method| &mut method.warp, MethodSpec::WARP),
    },
];

/// Sets a number of the hierarchical method, or leaves it out.
fn toggle(
    method: &mut MethodSpec,
    count: impl Fn(&mut MethodSpec) -> &mut Option<usize>,
    first: usize,
) {
    let is_on = count(method).is_some();
    if !is_on {
        method.set_name(MethodName::Hierarchical);
    }
    *count(method) = (!is_on).then_some(first);
}

/// Changes tile and overlap along each axis; the overlap stays what the tile has room for.
fn each_axis(method: &mut MethodSpec, change: impl Fn(usize, usize) -> (usize, usize)) {
    let axes = method.tile.len().max(method.overlap.len());
    let both = (0..axes).map(|axis| change(method.tile_of(axis), method.overlap_of(axis)));
    let both: Vec<_> = both.collect();
    let room = |tile: usize| tile.saturating_sub(2) & !1;
    method.overlap = both.iter().map(|&(tile, overlap)| overlap.min(room(tile))).collect();
    method.tile = both.into_iter().map(|(tile, _)| tile).collect();
}

pub fn all() -> impl Iterator<Item = Action> {
    SETTINGS.iter().enumerate().map(|(which, setting)| Action {
        group: "Method",
        name: setting.name,
        about: setting.about,
        keys: setting.keys,
        which,
        command: |it, which| {
            let mut spec = RunSpec::clone(&it.session.spec);
            (SETTINGS[which].change)(&mut spec.method);
            (spec != *it.session.spec).then_some(Command::Change(spec))
        },
        ..BLANK
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_a_setting_stay_within_its_limits() {
        let step = |name: &str, method: &mut MethodSpec| {
            let setting = SETTINGS.iter().find(|setting| setting.name == name).unwrap();
            (setting.change)(method);
        };
        let mut method = MethodSpec { k: 13.into(), ..MethodSpec::default() };
        step("k up", &mut method);
        assert_eq!(method.k, 16);
        step("k up", &mut method);
        assert_eq!(method.k, 32);
        (0..20).for_each(|_| step("k up", &mut method));
        assert_eq!(method.k, Subiterations::Infinite);
        step("k down", &mut method);
        assert_eq!(method.k, LARGEST);
        (0..20).for_each(|_| step("k down", &mut method));
        assert_eq!(method.k, 1);
        (0..40).for_each(|_| step("overlap up", &mut method));
        assert_eq!((method.overlap[0], method.tile[0]), (30, 32));
        (0..40).for_each(|_| step("tile down", &mut method));
        assert_eq!((method.overlap[0], method.tile[0]), (2, 4));
        step("overlap down", &mut method);
        step("overlap down", &mut method);
        assert_eq!(method.overlap[0], 0);
    }
}
