//! The cost model of a cycle: seconds from the work that a cycle is.
//!
//! Islam & Wang count the work in point updates: a cycle makes k sweeps of T points per tile and axis
//! (Eqs. 10 and 18, with this project's number of tiles in place of (N − o)/(T − o), Eqs. 9 and 16). The
//! model adds the values that a cycle moves: each tile reads its points, its halo (the papers' (T + 2)^d)
//! and its right-hand side, and writes the points that it owns:
//!
//! ```text
//! seconds per cycle = imbalance · (a · updates + b · values) + c
//! ```
//!
//! a, b and c are constants of this machine, fitted to a short probe, for each tile size and each kernel:
//! a tile that fits another cache has constants of its own. In the sine basis a cycle makes no sweeps but
//! products with T × T matrices along every axis: T stands for k there. `imbalance` is the time of parallel
//! work over its time with perfect balance: rows of tiles are shared among the threads of a CPU, and tiles
//! fill a GPU in whole waves.
//!
//! A pass through fast memory has the updates and the values of the corrected model of pyramids
//! ([`Streaming::work`](crate::solver::Streaming::work)), and constants for each budget.
//!
//! The run time of Kochurov, Vorotnikova and Golovashkin (2015) is a special case, at the overlap from
//! which a cycle is exact; there a tile of R points is a pyramid of n sweeps: see [`pyramid_seconds`].

use crate::grid::AxisTiling;
use crate::run::plan::Plan;
use crate::run::sweep::cycle::WorkingSet;
use crate::run::sweep::per_axis::PerAxis;
use crate::run::sweep::spec::Setting;
use crate::solver::cpu::Sharing;
use crate::solver::{Footprint, Kernel, Method, Place};
use std::collections::HashMap;

/// Number of constants: a, b and c.
const CONSTANTS: usize = 3;

/// Seconds per point update, per value moved, and per cycle; each at least 0.
type Constants = [f64; CONSTANTS];

/// The model of one machine and one problem: constants for each working set and kernel that was probed.
#[derive(Clone, Debug, Default)]
pub(in crate::run::sweep) struct CostModel(HashMap<Key, Fitted>);

/// What a cycle works in, kernel, and whether subiterations are made in the sine basis.
type Key = (WorkingSet, Kernel, bool);

/// The constants of a working set and a kernel.
#[derive(Clone, Copy, Debug)]
struct Fitted {
    constants: Constants,
    /// See [`concurrent_tiles`].
    concurrent: Option<f64>,
}

/// One measurement of the probe: the work of a cycle, and its seconds.
type Probe = ([f64; CONSTANTS], f64);

/// Tiles that a GPU works on at a time, from the number of waves in which it worked on all tiles of a plan.
pub(in crate::run::sweep) fn concurrent_tiles(
    plan: &Plan,
    footprint: Option<Footprint>,
) -> Option<f64> {
    let tiling = plan.method.tiling()?;
    let waves = footprint?.waves();
    let systems = if plan.problem.shape.dim() == 1 { plan.problem.shape.batch() } else { 1 };
    (waves > 0.0).then(|| (tiling.count() * systems) as f64 / waves)
}

impl CostModel {
    /// Fits the constants of a working set and a kernel to measurements.
    pub fn fit(
        &mut self,
        of: WorkingSet,
        kernel: Kernel,
        is_spectral: bool,
        concurrent: Option<f64>,
        probes: &[Probe],
    ) {
        self.0.insert((of, kernel, is_spectral), Fitted { constants: fit(probes), concurrent });
    }

    /// Predicted seconds per cycle; `None` if the working set and the kernel were not probed.
    pub fn seconds(&self, setting: &Setting, plan: &Plan) -> Option<f64> {
        let Setting { cycle, kernel, .. } = *setting;
        let key = (cycle.working_set(), kernel, plan.method.is_spectral());
        let Fitted { constants, concurrent } = self.0.get(&key)?;
        let work = work(plan, *concurrent);
        Some(work.iter().zip(constants).map(|(work, constant)| work * constant).sum())
    }

    /// The pyramid of least run time by Kochurov's formula, with the fitted seconds per update and per
    /// value; `None` if the tile size was not probed, or is too small for a pyramid.
    pub fn pyramid(&self, tile: PerAxis, kernel: Kernel) -> Option<Pyramid> {
        let [update, value, _] = self.0.get(&(WorkingSet::Tile(tile), kernel, false))?.constants;
        let base = tile.largest();
        let heights = (1..base.div_ceil(2)).map(|height| Pyramid {
            height,
            seconds: pyramid_seconds(base, height, value, update),
        });
        heights.min_by(|one, other| one.seconds.total_cmp(&other.seconds))
    }
}

/// A pyramid: sweeps of a tile between two exchanges of halos.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pyramid {
    /// Number of sweeps: k, with an overlap of twice as much.
    pub height: usize,
    /// Seconds per point and sweep.
    pub seconds: f64,
}

/// Kochurov's run time per point and sweep, (R − n) / (R − 2n) · (3 τ_c / n + τ_a), in seconds: a tile of
/// R = `base` points along the tiled axis shrinks by n = `height` points per side over the sweeps,
/// neighbours share 2n points, three arrays are moved (`transfer`, τ_c, seconds per value) and every point
/// is updated (`update`, τ_a, seconds). Infinite where 2n ≥ R.
///
/// Source: Kochurov, Vorotnikova and Golovashkin (2015), the estimate after Eq. 2.
pub fn pyramid_seconds(base: usize, height: usize, transfer: f64, update: f64) -> f64 {
    if height == 0 || 2 * height >= base {
        return f64::INFINITY;
    }
    let (base, height) = (base as f64, height as f64);
    (base - height) / (base - 2.0 * height) * (3.0 / height * transfer + update)
}

/// The work of a cycle: point updates, values moved, and one cycle, the first two times the imbalance. On
/// a CPU that is [`Sharing::waiting`]; a GPU that works on `concurrent` tiles at a time needs a whole
/// number of waves.
pub(in crate::run::sweep) fn work(plan: &Plan, concurrent: Option<f64>) -> [f64; CONSTANTS] {
    let shape = &plan.problem.shape;
    let points = shape.points() as f64;
    if let Some(streaming) = plan.method.streaming() {
        let [updates, values] = streaming.work(shape, matches!(plan.place, Place::Cuda { .. }));
        return [updates, values, 1.0];
    }
    let Some(tiling) = plan.method.tiling() else {
        // A sweep over the grid reads the iterate and the right-hand side, and writes.
        return [points, 3.0 * points, 1.0];
    };
    let sweeps = match plan.method.plain() {
        Method::Hierarchical { k, .. } => *k,
        // A product with a small matrix along every axis and back, whatever k is.
        _ => tiling.axes().iter().map(AxisTiling::tile).sum(),
    };
    let product = |of: fn(&AxisTiling) -> usize| {
        tiling.axes().iter().map(|axis| of(axis) as f64).product::<f64>()
    };
    let systems = if shape.dim() == 1 { shape.batch() } else { 1 };
    let tiles = systems as f64 * product(AxisTiling::count);
    let (tile, with_halo) = (product(AxisTiling::tile), product(|axis| axis.tile() + 2));
    let imbalance = match plan.place {
        Place::Cuda { .. } => concurrent.map_or(1.0, |concurrent| {
            let waves = tiles / concurrent;
            waves.ceil() / waves
        }),
        Place::Cpu { threads, .. } => Sharing::of(shape, sweeps, tiling, threads).waiting(),
    };
    let updates = tiles * tile * sweeps as f64;
    let values = tiles * (with_halo + tile) + points;
    [imbalance * updates, imbalance * values, 1.0]
}

/// Least squares of the relative errors with no constant below 0: the best of all solutions in which some
/// constants are fixed at 0.
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

/// Least squares for the constants in `free`, by the normal equations; `None` if these are singular.
fn least_squares(probes: &[Probe], free: &[usize]) -> Option<Vec<f64>> {
    // Columns are scaled by their means, so that the test for a singular matrix is relative.
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
        // The matrix is symmetric and positive semidefinite.
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
    use crate::run::sweep::cycle::{CycleSetting, TileSetting};
    use crate::run::{Planner, RunSpec};
    use proptest::prelude::*;

    fn plan(k: usize, overlap: usize) -> Plan {
        let mut spec = RunSpec::default();
        (spec.method.k, spec.method.overlap, spec.method.threads) = (k.into(), vec![overlap], 1);
        Planner::default().plan(&spec).unwrap()
    }

    fn setting(tile: usize) -> Setting {
        let tile = TileSetting { tile: PerAxis::all(tile), k: 1.into(), overlap: PerAxis::all(0) };
        Setting { cycle: CycleSetting::Tiles(tile), kernel: Kernel::AUTO, threads: 0 }
    }

    #[test]
    fn the_best_pyramid_minimizes_its_formula() {
        // Without transfers the lowest is best, without updates one in between (R = 32: n = 9).
        assert_eq!(pyramid_seconds(32, 8, 0.0, 1.0), 24.0 / 16.0);
        assert_eq!(pyramid_seconds(32, 8, 1.0, 0.0), 24.0 / 16.0 * 3.0 / 8.0);
        assert_eq!(pyramid_seconds(32, 16, 1.0, 1.0), f64::INFINITY);
        let best = |update: f64, value: f64| {
            let mut model = CostModel::default();
            let probed = [(1, 0), (32, 0), (1, 16), (32, 16)].map(|(k, overlap)| plan(k, overlap));
            let seconds = |work: [f64; 3]| update * work[0] + value * work[1];
            let probes = probed.map(|plan| (work(&plan, None), seconds(work(&plan, None))));
            model.fit(WorkingSet::Tile(PerAxis::all(32)), Kernel::AUTO, false, None, &probes);
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
    fn imbalance_follows_from_the_last_row_of_tiles() {
        let sharing = |parts, at_once| Sharing { parts, at_once, threads: 16 };
        assert_eq!(sharing(8, 16).waiting(), 2.0);
        assert_eq!(sharing(160, 16).waiting(), (10.0 + 15.0 / 32.0) / 10.0);
        assert_eq!(Sharing { threads: 1, ..sharing(5, 1) }.waiting(), 1.0);
        // Work too small to be shared leaves all threads but one idle.
        assert_eq!(sharing(4, 1).waiting(), 16.0);
        let of = |k| {
            let plan = plan(k, 0);
            let tiling = plan.method.tiling().expect("it has tiles");
            Sharing::of(&plan.problem.shape, k, tiling, 4)
        };
        assert_eq!((of(1).at_once, of(4)), (1, Sharing { parts: 8, at_once: 4, threads: 4 }));
    }

    proptest! {
        /// The constants of a machine that follows the model are recovered.
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
            model.fit(WorkingSet::Tile(PerAxis::all(32)), Kernel::AUTO, false, None, &probes);
            let asked = plan(k, 2 * overlap);
            let predicted = model.seconds(&setting(32), &asked).unwrap();
            prop_assert!((predicted / seconds(&asked) - 1.0).abs() < 1e-3);
            prop_assert_eq!(model.seconds(&setting(16), &asked), None);
        }

        /// Whatever the probes measured, predictions are finite and not negative.
        #[test]
        fn no_prediction_is_negative(times in prop::collection::vec(1e-7..1.0_f64, 1..5)) {
            let probed = [(1, 0), (32, 0), (1, 16), (32, 16)].map(|(k, overlap)| plan(k, overlap));
            let probes: Vec<_> =
                probed.iter().zip(&times).map(|(plan, time)| (work(plan, None), *time)).collect();
            let mut model = CostModel::default();
            model.fit(WorkingSet::Tile(PerAxis::all(32)), Kernel::AUTO, false, None, &probes);
            let predicted = model.seconds(&setting(32), &plan(8, 4)).unwrap();
            prop_assert!(predicted >= 0.0 && predicted.is_finite());
        }
    }
}
