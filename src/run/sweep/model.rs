//! What a cycle should cost, from the work that it is.
//!
//! Islam & Wang count that work in point updates: every cycle makes k sweeps of T points a tile and
//! axis (Eqs. 10 and 18, with this project's number of tiles in place of (N − o)/(T − o), Eqs. 9
//! and 16). To these come the values that a cycle moves: each tile reads its points and its ring
//! (the papers' (T + 2)^d) and its right-hand side, and what it owns is written. So
//!
//! ```text
//! seconds a cycle = waiting · (a · updates + b · values) + c
//! ```
//!
//! where a, b and c are this machine's, measured by a short probe; a tile that fits another cache,
//! and another kernel, have constants of their own. What runs side by side waits for the last of
//! it: rows of tiles on the threads of a CPU, blocks on a GPU, which is filled a whole number of
//! times. How many times longer than without waiting that takes is `waiting`.
//!
//! Kochurov, Vorotnikova and Golovashkin's run time (2015) is one instance of this, at the exact end
//! of overlap, where a tile of R points is a pyramid of n sweeps: see [`pyramid_seconds`].

use super::sides::PerAxis;
use crate::grid::AxisTiling;
use crate::run::plan::Plan;
use crate::solver::cpu::Sharing;
use crate::solver::{Footprint, Kernel, Method, Place};
use std::collections::HashMap;

/// Constants of the model.
const CONSTANTS: usize = 3;

/// Seconds a point update, a value moved, and a cycle; each at least 0.
type Constants = [f64; CONSTANTS];

/// The model of one machine and one problem.
#[derive(Clone, Debug, Default)]
pub(super) struct CostModel(HashMap<(PerAxis, Kernel), Fitted>);

/// What was found out of a tile and a kernel.
#[derive(Clone, Copy, Debug)]
struct Fitted {
    constants: Constants,
    at_once: Option<f64>,
}

/// What was measured by the probe: the work of a cycle, and its seconds.
pub(super) type Probe = ([f64; CONSTANTS], f64);

/// Tiles that a GPU works on at a time, as a setting of some tiles was seen to run on it.
pub(super) fn at_once(plan: &Plan, footprint: Option<Footprint>) -> Option<f64> {
    let Method::Hierarchical { tiling, .. } = &plan.method else { return None };
    let waves = footprint?.waves();
    let lines = if plan.problem.shape.dim() == 1 { plan.problem.shape.batch() } else { 1 };
    (waves > 0.0).then(|| (tiling.count() * lines) as f64 / waves)
}

impl CostModel {
    /// Takes in what was measured with a tile and a kernel.
    pub fn fit(&mut self, tile: PerAxis, kernel: Kernel, at_once: Option<f64>, probes: &[Probe]) {
        self.0.insert((tile, kernel), Fitted { constants: fit(probes), at_once });
    }

    /// Seconds that a cycle should take, if the tile and the kernel were probed.
    pub fn seconds(&self, tile: PerAxis, kernel: Kernel, plan: &Plan) -> Option<f64> {
        let Fitted { constants, at_once } = self.0.get(&(tile, kernel))?;
        let work = work(plan, *at_once);
        Some(work.iter().zip(constants).map(|(work, constant)| work * constant).sum())
    }

    /// The best pyramid of a tile by Kochurov's run time, with the seconds of an update and of a value
    /// that were measured; `None` if the tile was not probed, or has no room for one.
    pub fn pyramid(&self, tile: PerAxis, kernel: Kernel) -> Option<Pyramid> {
        let [update, value, _] = self.0.get(&(tile, kernel))?.constants;
        let base = tile.largest();
        let heights = (1..base.div_ceil(2)).map(|height| Pyramid {
            height,
            seconds: pyramid_seconds(base, height, value, update),
        });
        heights.min_by(|one, other| one.seconds.total_cmp(&other.seconds))
    }
}

/// A pyramid: so many sweeps before anything is exchanged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pyramid {
    /// How many: k with an overlap of twice as much.
    pub height: usize,
    /// Seconds that a point takes in a sweep.
    pub seconds: f64,
}

/// Kochurov's run time of a sweep over its points, (R − n) / (R − 2n) · (3 τ_c / n + τ_a), in seconds:
/// a tile of R = `base` points along the axis that is tiled shrinks by n = `height` on its way up,
/// neighbours share 2n points, three arrays are moved (`transfer`, τ_c a value) and every point is
/// computed (`update`, τ_a). Infinite where neighbours would share a whole tile.
///
/// Source: Kochurov, Vorotnikova and Golovashkin, the estimate after Eq. 2, per step and point.
pub fn pyramid_seconds(base: usize, height: usize, transfer: f64, update: f64) -> f64 {
    if height == 0 || 2 * height >= base {
        return f64::INFINITY;
    }
    let (base, height) = (base as f64, height as f64);
    (base - height) / (base - 2.0 * height) * (3.0 / height * transfer + update)
}

/// What a cycle is: point updates, values moved, and one cycle. Where threads of a CPU share out
/// rows of tiles, they wait for the last of them ([`Sharing::waiting`]), and where a GPU works on
/// `at_once` tiles at a time, the last of them leave it half empty: their time counts for all.
pub(super) fn work(plan: &Plan, at_once: Option<f64>) -> [f64; CONSTANTS] {
    let shape = &plan.problem.shape;
    let points = shape.points() as f64;
    let Method::Hierarchical { k, tiling } = &plan.method else {
        // A sweep over the grid reads the iterate and the right-hand side, and writes.
        return [points, 3.0 * points, 1.0];
    };
    let product = |of: fn(&AxisTiling) -> usize| {
        tiling.axes().iter().map(|axis| of(axis) as f64).product::<f64>()
    };
    let copies = if shape.dim() == 1 { shape.batch() } else { 1 };
    let tiles = copies as f64 * product(AxisTiling::count);
    let (inside, with_ring) = (product(AxisTiling::tile), product(|axis| axis.tile() + 2));
    let waiting = match plan.place {
        Place::Cuda { .. } => at_once.map_or(1.0, |at_once| {
            let waves = tiles / at_once;
            waves.ceil() / waves
        }),
        Place::Cpu { threads } => Sharing::of(shape, *k, tiling, threads).waiting(),
    };
    let updates = tiles * inside * *k as f64;
    let values = tiles * (with_ring + inside) + points;
    [waiting * updates, waiting * values, 1.0]
}

/// The constants that meet the probes best in relative terms, none below 0: the best of all choices
/// of constants that are let be other than 0.
fn fit(probes: &[Probe]) -> Constants {
    let misfit = |constants: &Constants| -> f64 {
        let predicted = |work: &[f64; CONSTANTS]| -> f64 {
            work.iter().zip(constants).map(|(work, constant)| work * constant).sum()
        };
        probes.iter().map(|(work, seconds)| (predicted(work) / seconds - 1.0).powi(2)).sum()
    };
    let choices = (1..1_u32 << CONSTANTS).filter_map(|chosen| {
        let free: Vec<_> = (0..CONSTANTS).filter(|place| chosen & (1 << place) != 0).collect();
        let solved = least_squares(probes, &free)?;
        let mut constants = [0.0; CONSTANTS];
        for (place, value) in free.into_iter().zip(solved) {
            constants[place] = value;
        }
        constants.iter().all(|constant| *constant >= 0.0).then_some(constants)
    });
    choices.min_by(|one, other| misfit(one).total_cmp(&misfit(other))).unwrap_or([0.0; CONSTANTS])
}

/// Least squares for some of the constants, by the normal equations; `None` where the probes do not
/// tell them apart.
fn least_squares(probes: &[Probe], free: &[usize]) -> Option<Vec<f64>> {
    // Each kind of work in units of its mean, so that what is small is so beside 1.
    let unit = |place: usize| {
        probes.iter().map(|(work, seconds)| work[place] / seconds).sum::<f64>()
            / probes.len() as f64
    };
    let units: Vec<_> = free.iter().map(|&place| unit(place)).collect();
    let entry = |probe: &Probe, at: usize| probe.0[free[at]] / probe.1 / units[at];
    let size = free.len();
    let mut rows: Vec<Vec<f64>> = (0..size)
        .map(|i| {
            let with = |j: usize| probes.iter().map(|p| entry(p, i) * entry(p, j)).sum::<f64>();
            let right = probes.iter().map(|p| entry(p, i)).sum::<f64>();
            (0..size).map(with).chain([right]).collect()
        })
        .collect();
    for pivot in 0..size {
        // The matrix is symmetric and positive definite, or the probes do not tell.
        if rows[pivot][pivot] < 1e-9 * probes.len() as f64 || rows[pivot][pivot].is_nan() {
            return None;
        }
        let (upper, lower) = rows.split_at_mut(pivot + 1);
        let pivot_row = &upper[pivot];
        for row in lower {
            let factor = row[pivot] / pivot_row[pivot];
            for (to, from) in row.iter_mut().zip(pivot_row) {
                *to -= factor * from;
            }
        }
    }
    let mut solved = vec![0.0; size];
    for i in (0..size).rev() {
        let known: f64 = (i + 1..size).map(|j| rows[i][j] * solved[j]).sum();
        solved[i] = (rows[i][size] - known) / rows[i][i];
    }
    Some(solved.into_iter().zip(units).map(|(value, unit)| value / unit).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Planner, RunSpec};
    use proptest::prelude::*;

    fn plan(k: usize, overlap: usize) -> Plan {
        let mut spec = RunSpec::default();
        (spec.method.k, spec.method.overlap, spec.method.threads) = (k, vec![overlap], 1);
        Planner::default().plan(&spec).unwrap()
    }

    #[test]
    fn the_best_pyramid_is_the_least_of_its_formula() {
        // Free transfers want the lowest, free updates one in between (R = 32: n = 9).
        assert_eq!(pyramid_seconds(32, 8, 0.0, 1.0), 24.0 / 16.0);
        assert_eq!(pyramid_seconds(32, 8, 1.0, 0.0), 24.0 / 16.0 * 3.0 / 8.0);
        assert_eq!(pyramid_seconds(32, 16, 1.0, 1.0), f64::INFINITY);
        let best = |update: f64, value: f64| {
            let mut model = CostModel::default();
            let probed = [(1, 0), (32, 0), (1, 16), (32, 16)].map(|(k, overlap)| plan(k, overlap));
            let seconds = |work: [f64; 3]| update * work[0] + value * work[1];
            let probes = probed.map(|plan| (work(&plan, None), seconds(work(&plan, None))));
            model.fit(PerAxis::all(32), Kernel::AUTO, None, &probes);
            model.pyramid(PerAxis::all(32), Kernel::AUTO).unwrap().height
        };
        assert_eq!(best(1e-9, 0.0), 1);
        assert_eq!(best(0.0, 1e-9), 9);
        assert!((2..9).contains(&best(1e-9, 1e-9)));
    }

    #[test]
    fn the_work_is_that_of_the_paper() {
        // 8 × 8 tiles of 32 × 32 points, k = 16; each reads 34² values and 32² of the right-hand side.
        let [updates, values, cycles] = work(&plan(16, 0), None);
        assert_eq!(updates, 64.0 * 1024.0 * 16.0);
        assert_eq!(values, 64.0 * (34.0 * 34.0 + 1024.0) + 65_536.0);
        assert_eq!(cycles, 1.0);
        // ⌈(256 − 16) / (32 − 16)⌉ = 15 tiles an axis.
        assert_eq!(work(&plan(4, 16), None)[0], 225.0 * 1024.0 * 4.0);
    }

    #[test]
    fn others_wait_for_the_last_row_of_tiles() {
        let sharing = |parts, at_once| Sharing { parts, at_once, threads: 16 };
        assert_eq!(sharing(8, 16).waiting(), 2.0);
        assert_eq!(sharing(160, 16).waiting(), (10.0 + 15.0 / 32.0) / 10.0);
        assert_eq!(Sharing { threads: 1, ..sharing(5, 1) }.waiting(), 1.0);
        // Work that is too small to be shared out lets all threads but one wait.
        assert_eq!(sharing(4, 1).waiting(), 16.0);
        let of = |k| {
            let plan = plan(k, 0);
            let Method::Hierarchical { tiling, .. } = &plan.method else { panic!("it has tiles") };
            Sharing::of(&plan.problem.shape, k, tiling, 4)
        };
        assert_eq!((of(1).at_once, of(4)), (1, Sharing { parts: 8, at_once: 4, threads: 4 }));
    }

    proptest! {
        /// What follows the model exactly is found again, and predicted where it was not probed.
        #[test]
        fn a_machine_that_follows_the_model_is_predicted(
            a in 0.0..1e-8_f64, b in 0.0..1e-8_f64, c in 0.0..1e-3_f64, extra in 1e-10..1e-9_f64,
            k in 1..64_usize, overlap in 0..12_usize,
        ) {
            let seconds = |plan: &Plan| {
                let [updates, values, cycles] = work(plan, None);
                (a + extra) * updates + b * values + c * cycles
            };
            let probed = [(1, 0), (32, 0), (1, 16), (32, 16)].map(|(k, overlap)| plan(k, overlap));
            let probes: Vec<_> = probed.iter().map(|plan| (work(plan, None), seconds(plan))).collect();
            let mut model = CostModel::default();
            model.fit(PerAxis::all(32), Kernel::AUTO, None, &probes);
            let asked = plan(k, 2 * overlap);
            let predicted = model.seconds(PerAxis::all(32), Kernel::AUTO, &asked).unwrap();
            prop_assert!((predicted / seconds(&asked) - 1.0).abs() < 1e-3);
            prop_assert_eq!(model.seconds(PerAxis::all(16), Kernel::AUTO, &asked), None);
        }

        /// Whatever the probes measured, a prediction is a number that is not negative.
        #[test]
        fn no_prediction_is_negative(times in prop::collection::vec(1e-7..1.0_f64, 1..5)) {
            let probed = [(1, 0), (32, 0), (1, 16), (32, 16)].map(|(k, overlap)| plan(k, overlap));
            let probes: Vec<_> =
                probed.iter().zip(&times).map(|(plan, time)| (work(plan, None), *time)).collect();
            let mut model = CostModel::default();
            model.fit(PerAxis::all(32), Kernel::AUTO, None, &probes);
            let predicted = model.seconds(PerAxis::all(32), Kernel::AUTO, &plan(8, 4)).unwrap();
            prop_assert!(predicted >= 0.0 && predicted.is_finite());
        }
    }
}
