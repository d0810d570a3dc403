//! Cycles to the tolerance, foreseen from what the iteration does to its modes.
//!
//! A long wave decays in a cycle as in [`EffectiveSweeps::sweeps`] sweeps of Jacobi's iteration, whose modes
//! are known ([`Spectrum`]), so that after N cycles
//!
//! ```text
//! ‖r‖₂² / ‖r₀‖₂² = lift² Σ_smooth part e^(−2 rate sweeps N) + chequered^2N Σ_chequered part e^(−2 rate k N)
//! ```
//!
//! Where the cycle is exact this is Jacobi's iteration to the last cycle; elsewhere it is good as
//! long as the waves that are left are long beside a tile. Where they are not, where the modes are no
//! sines, or where the largest change is what stops, cycles are counted on two smaller grids and
//! extrapolated.

use super::ShouldStop;
use super::count::{CountOutcome, count};
use super::effective_sweeps::{EffectiveSweeps, worth};
use crate::grid::AxisTiling;
use crate::problem::{Problem, Spectrum, first_below};
use crate::run::plan::{Plan, Planner};
use crate::run::spec::{ProblemKind, RunSpec, StopRule};
use crate::solver::{Method, Place, SolverError};
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

/// The square of a tile over a wave (in radians) up to which waves are long beside tiles.
const LONG: f64 = 1.5;

/// The error bar of lines and planes in parts of that square, times the root of how stale the rings
/// are: somewhat more than the largest error of 150 settings that were counted.
const BARS: [f64; 2] = [0.2, 0.1];

/// Frozen rings make smooth waves of some of a start's chequered ones: by no more than so much of their
/// part, times k times the overlap over the square of a side, it may change how large those are.
const TURNED: f64 = 25.0;

/// What is extrapolated with a larger error bar is not known.
const WORST: f64 = 0.5;

/// Sides of the smaller grids, in parts of the grid's …
const PARTS: [f64; 2] = [0.17, 0.25];

/// … and at least so many tiles: fewer have no tile that is surrounded by others.
const TILES: [usize; 2] = [2, 3];

/// Cycles to the tolerance, foreseen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CyclePrediction {
    /// How many; infinite where the tolerance is never met.
    pub cycles: f64,
    /// How far off that may be, as a part of it.
    pub error: f64,
}

/// What is known of cycles that were not counted. It can be asked by several threads at a time.
#[derive(Debug, Default)]
pub(super) struct CyclePredictor {
    spectrum: Mutex<Option<Modal>>,
    known: Mutex<HashMap<Key, Option<CyclePrediction>>>,
}

/// A problem with its modes, if they are sines.
type Modal = (Arc<Problem>, Option<Arc<Spectrum>>);

/// k, and of every axis points, tile and overlap.
type Key = (usize, Vec<[usize; 3]>);

impl CyclePredictor {
    /// The modes of a problem, if they are sines.
    pub fn spectrum(&self, problem: &Arc<Problem>) -> Option<Arc<Spectrum>> {
        let mut last = self.spectrum.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, spectrum)) = &*last
            && Arc::ptr_eq(known, problem)
        {
            return spectrum.clone();
        }
        let spectrum = Spectrum::of(problem, &AtomicBool::new(false)).map(Arc::new);
        *last = Some((Arc::clone(problem), spectrum.clone()));
        spectrum
    }

    /// Cycles that a plan should take. `None` where it has no tolerance, where nothing less than
    /// counting tells, or if somebody stopped it.
    ///
    /// # Errors
    /// What a solver says that fails on a smaller grid.
    pub fn cycles(
        &self,
        plan: &Plan,
        halt: ShouldStop<'_>,
    ) -> Result<Option<CyclePrediction>, SolverError> {
        let Method::Hierarchical { k, tiling } = &plan.method else { return Ok(None) };
        let axis = |axis: &AxisTiling| [axis.n(), axis.tile(), axis.overlap()];
        let key = (*k, tiling.axes().iter().map(axis).collect::<Vec<_>>());
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known().get(&key) {
            return Ok(*known);
        }
        let cycle_prediction = match self.by_modes(plan, halt) {
            Some(cycle_prediction) => Some(cycle_prediction),
            None => by_smaller_grids(&plan.spec, halt)?,
        };
        if !halt() {
            known().insert(key, cycle_prediction);
        }
        Ok(cycle_prediction)
    }

    fn by_modes(&self, plan: &Plan, halt: ShouldStop<'_>) -> Option<CyclePrediction> {
        let Method::Hierarchical { k, tiling } = &plan.method else { return None };
        let tolerance = plan.stop.tolerance.filter(|_| plan.stop.rule == StopRule::Residual)?;
        let spectrum = self.spectrum(&plan.problem)?;
        let stencil = &plan.problem.stencil;
        let weights = [-stencil.a / stencil.d, -stencil.e / stencil.d];
        // Only where rows add up to 0 is a parabola raised evenly.
        let is_balanced = (stencil.dominance() - 1.0).abs() < 1e-9 && weights[0] > 0.0;
        if !is_balanced && !tiling.is_exact(*k) {
            return None;
        }
        let worth = worth(*k, tiling, weights, halt)?;
        let cycles = first_below(tolerance, |cycles| reduction(&spectrum, &worth, *k, cycles));
        let cycles = cycles.ceil();
        let stale = (worth.lift - 1.0) + (1.0 - worth.sweeps / *k as f64);
        let tile = tiling.axes().iter().zip(weights).map(|(axis, weight)| {
            let tile = axis.tile() as f64;
            tile * tile / weight
        });
        let rate = rate(&spectrum, worth.sweeps * cycles);
        let square = rate * tile.fold(0.0, f64::max);
        if stale > 0.0 && (square > LONG || square.is_nan()) {
            return None;
        }
        let mut error = BARS[plan.problem.shape.dim() - 1] * stale.max(0.0).sqrt() * square
            + 1.0 / cycles.max(1.0);
        if stale > 0.0 {
            let chequered: f64 = spectrum.chequered.iter().map(|modes| modes.part).sum();
            let turned = tiling.axes().iter().map(|axis| {
                let (shared, side) = ((*k * axis.overlap()) as f64, (axis.n() + 1) as f64);
                TURNED * chequered * shared / (side * side)
            });
            error += turned.fold(0.0, f64::max) / (rate * worth.sweeps * cycles);
        }
        Some(CyclePrediction { cycles, error })
    }
}

/// ‖r‖₂ / ‖r₀‖₂ after so many cycles.
fn reduction(spectrum: &Spectrum, worth: &EffectiveSweeps, k: usize, cycles: f64) -> f64 {
    let part = |modes: &[crate::problem::Modes], sweeps: f64| -> f64 {
        modes.iter().map(|modes| modes.part * (-2.0 * modes.rate * sweeps).exp()).sum()
    };
    let smooth = worth.lift.powi(2) * part(&spectrum.smooth, worth.sweeps * cycles);
    let left = worth.chequered.powf(2.0 * cycles);
    let chequered = left * part(&spectrum.chequered, k as f64 * cycles);
    (smooth + chequered).sqrt()
}

/// How fast the smooth part of ‖r‖₂ still falls a sweep, after so many: the square of its wave number
/// times the weight of a neighbour.
fn rate(spectrum: &Spectrum, sweeps: f64) -> f64 {
    // Before the longest wave, so that no exponential is too small to be told from 0.
    let longest = spectrum.smooth.first().map_or(0.0, |modes| modes.rate);
    let (parts, rates) = spectrum.smooth.iter().fold((0.0, 0.0), |(parts, rates), modes| {
        let part = modes.part * (-2.0 * (modes.rate - longest) * sweeps).exp();
        (parts + part, rates + part * modes.rate)
    });
    rates / parts
}

/// Cycles counted on two smaller grids, taken further as they grew from the one to the other; the
/// error bar is the distance from growth with the square of the side, as of long waves.
fn by_smaller_grids(
    run: &RunSpec,
    halt: ShouldStop<'_>,
) -> Result<Option<CyclePrediction>, SolverError> {
    let Some((side, grids)) = smaller(run) else { return Ok(None) };
    let mut counted = [0.0; 2];
    for ((_, spec), counted) in grids.iter().zip(&mut counted) {
        let Ok(mut plan) = Planner::default().plan(spec) else { return Ok(None) };
        plan.place = Place::Cpu { threads: 1 };
        let Some(count) = count(&Arc::new(plan), halt)? else { return Ok(None) };
        if count.ending != CountOutcome::Converged {
            return Ok(Some(CyclePrediction { cycles: f64::INFINITY, error: 0.0 }));
        }
        *counted = count.cycles as f64;
    }
    let [first, second] = grids.map(|(side, _)| (side + 1) as f64);
    let growth = (side + 1) as f64 / second;
    let power = (counted[1] / counted[0].max(1.0)).ln() / (second / first).ln();
    let (cycles, square) = (counted[1] * growth.powf(power), counted[1] * growth * growth);
    let error = (square / cycles - 1.0).abs() + 1.0 / counted[1].max(1.0);
    Ok((error <= WORST).then_some(CyclePrediction { cycles: cycles.ceil(), error }))
}

/// The shortest side of a grid, and the same run on two smaller grids with theirs; `None` where they
/// would not be smaller.
fn smaller(run: &RunSpec) -> Option<(usize, [(usize, RunSpec); 2])> {
    let shortest = run.problem.shape.iter().copied().min().filter(|side| *side > 0)?;
    let tile = run.method.tile.iter().copied().max().unwrap_or(1);
    let sides = [0, 1].map(|grid| {
        let part = (PARTS[grid] * shortest as f64).ceil() as usize;
        part.max(TILES[grid] * tile)
    });
    let grid = |side: usize| {
        let mut smaller = run.clone();
        for n in &mut smaller.problem.shape {
            *n = (*n * side).div_ceil(shortest);
        }
        // How long the long waves last does not depend on the right-hand side.
        if run.problem.kind == ProblemKind::Picture {
            (smaller.problem.kind, smaller.problem.rhs) = (ProblemKind::Poisson, None);
        }
        // One line converges as many do.
        smaller.problem.batch = 1;
        (side, smaller)
    };
    (sides[0] < sides[1] && 2 * sides[1] <= shortest).then(|| (shortest, sides.map(grid)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(shape: &[usize], k: usize, overlap: usize, tile: usize) -> Plan {
        let mut spec = RunSpec::default();
        spec.problem.shape = shape.to_vec();
        (spec.method.k, spec.method.overlap, spec.method.tile) = (k, vec![overlap], vec![tile]);
        Planner::default().plan(&spec).unwrap()
    }

    /// Cycles of the papers' experiments, which this program has counted (`run/papers.rs`).
    #[test]
    fn the_papers_cycles_are_foreseen_within_the_error_bar() {
        let predictor = CyclePredictor::default();
        let mut errors = Vec::new();
        for experiment in crate::run::papers::EXPERIMENTS {
            let crate::run::papers::How::Tiled { tile, k, overlap } = experiment.how else {
                continue;
            };
            let mut spec = experiment.run();
            if spec.stop.rule == StopRule::Change {
                continue;
            }
            spec.problem.batch = 1;
            (spec.method.k, spec.method.overlap, spec.method.tile) = (k, vec![overlap], vec![tile]);
            let plan = Planner::default().plan(&spec).unwrap();
            let cycle_prediction = predictor.cycles(&plan, &|| false).unwrap().unwrap();
            let counted = experiment.cycles as f64;
            let off = (cycle_prediction.cycles / counted - 1.0).abs();
            assert!(
                off <= cycle_prediction.error,
                "{}: {cycle_prediction:?}, {counted}",
                experiment.setting()
            );
            errors.push(off);
        }
        errors.sort_by(f64::total_cmp);
        assert!(errors.len() == 18 && errors[9] < 1e-3, "{errors:?}");
    }

    #[test]
    fn small_grids_of_few_tiles_are_foreseen_within_the_error_bar() {
        let (predictor, go) = (CyclePredictor::default(), || false);
        for (shape, k, overlap, tile) in [
            (&[128, 128][..], 16, 0, 32),
            (&[128, 128], 64, 4, 32),
            (&[96, 128], 8, 2, 16),
            (&[256], 64, 24, 32),
            (&[256], 4, 0, 32),
            (&[200, 100], 12, 2, 16),
            (&[128, 128], 2, 8, 32),
        ] {
            let plan = Arc::new(plan(shape, k, overlap, tile));
            let cycle_prediction = predictor.cycles(&plan, &go).unwrap().unwrap();
            let counted = count(&plan, &go).unwrap().unwrap().cycles as f64;
            let off = (cycle_prediction.cycles / counted - 1.0).abs();
            assert!(
                off <= cycle_prediction.error,
                "{shape:?} {k} {overlap}: {cycle_prediction:?}, {counted}"
            );
            assert!(cycle_prediction.error < 0.25, "{shape:?} {k} {overlap}: {cycle_prediction:?}");
        }
    }

    #[test]
    fn what_has_no_sines_is_counted_on_smaller_grids() {
        let mut windy = plan(&[96, 96], 4, 2, 8).spec;
        windy.problem.kind = ProblemKind::ConvectionDiffusion;
        windy.problem.velocity = Some([3.0, 2.0]);
        let plan = Arc::new(Planner::default().plan(&windy).unwrap());
        let cycle_prediction = CyclePredictor::default().cycles(&plan, &|| false).unwrap().unwrap();
        let counted = count(&plan, &|| false).unwrap().unwrap().cycles as f64;
        assert!(
            (0.5..2.0).contains(&(cycle_prediction.cycles / counted)),
            "{cycle_prediction:?}, {counted}"
        );
        assert!(cycle_prediction.error > 0.0);
    }

    #[test]
    fn the_smaller_grids_have_tiles_enough_and_the_same_aspect() {
        let mut run = RunSpec::default();
        run.problem.shape = vec![1024, 512];
        let (shortest, [(_, first), (side, second)]) = smaller(&run).unwrap();
        assert_eq!((shortest, side), (512, 128));
        assert_eq!(second.problem.shape, [256, 128]);
        assert_eq!(first.problem.shape, [176, 88]);
        run.method.tile = vec![64];
        assert_eq!(smaller(&run).unwrap().1[1].1.problem.shape, [384, 192]);
        run.problem.shape = vec![100, 100];
        assert_eq!(smaller(&run), None);
    }
}
