//! Prediction of the number of cycles from the modes of Jacobi's iteration.
//!
//! A cycle reduces a long wave as much as [`EffectiveSweeps::sweeps`] sweeps of Jacobi's iteration, whose
//! modes and their rates are known ([`Spectrum`]). So after N cycles
//!
//! ```text
//! ‖r‖₂² / ‖r₀‖₂² =   amplification² Σ_smooth part e^(−2 rate sweeps N)
//!                  + checkerboard^2N Σ_checkerboard part e^(−2 rate k N)
//! ```
//!
//! Where a cycle is exact, this is Jacobi's iteration and the number is exact, too; elsewhere it is good as
//! long as the waves that are left are long compared with a tile. Where they are not, where the modes are
//! not sines, and where the stopping rule is the largest update, cycles are counted on two smaller grids
//! and extrapolated.

use super::effective_sweeps::{EffectiveSweeps, effective_sweeps};
use crate::grid::AxisTiling;
use crate::number::grouped;
use crate::problem::{Modes, Problem, Spectrum, first_below};
use crate::run::plan::{Plan, Planner};
use crate::run::spec::{ProblemKind, RunSpec, StopRule};
use crate::run::sweep::measure::{CountOutcome, Counting};
use crate::run::sweep::stepping::ShouldStop;
use crate::solver::{Devices, Kernel, Place, SolverError, Subiterations};
use crate::stop_token::StopToken;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::Poll;

/// The largest (tile side × wave number)² at which waves count as long compared with tiles.
const LONG: f64 = 1.5;

/// The error bar in 1D and 2D, in units of that square times the square root of how inexact the cycle is:
/// somewhat more than the largest error among 150 settings whose cycles were counted.
const ERROR_FACTORS: [f64; 2] = [0.2, 0.1];

/// Frozen halos turn a part of the checkerboard modes of an initial guess into smooth ones. The smooth
/// modes change by at most this factor times the checkerboard part, times k × overlap over the square of
/// the side of the grid.
const CHECKERBOARD_FACTOR: f64 = 25.0;

/// Extrapolations with a larger relative error are dropped.
const LARGEST_ERROR: f64 = 0.5;

/// Sides of the smaller grids over the side of the grid …
const SMALLER_SIDES: [f64; 2] = [0.17, 0.25];

/// … but at least this many tiles: with fewer, no tile is surrounded by others.
const SMALLER_TILES: [usize; 2] = [2, 3];

/// A predicted number of cycles to the tolerance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CyclePrediction {
    /// Number of cycles; infinite where the tolerance is never met.
    pub cycles: f64,
    /// Error bar, relative to the number.
    pub error: f64,
}

/// The number, and the bar in cycles: in percent it says nothing of few cycles.
impl fmt::Display for CyclePrediction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [cycles, bar] =
            [self.cycles, self.cycles * self.error].map(|cycles| grouped(cycles.round() as u64));
        if bar == "0" { write!(f, "{cycles}") } else { write!(f, "{cycles} ± {bar}") }
    }
}

/// Predictions that are known, and the spectrum of the problem. Threads can share it.
#[derive(Debug, Default)]
pub(in crate::run::sweep) struct CyclePredictor {
    spectrum: Mutex<Option<KnownSpectrum>>,
    known: Mutex<HashMap<Key, Option<CyclePrediction>>>,
}

/// The last problem with its spectrum, if its modes are sines. Its arrays are not kept.
type KnownSpectrum = (Weak<Problem>, Option<Arc<Spectrum>>);

/// k, and for each axis its points, tile and overlap; of a pass its height alone.
type Key = (Subiterations, Vec<[usize; 3]>);

impl CyclePredictor {
    /// The spectrum of a plan's problem; `None` where its modes are not sines, or where the sweeps are not Jacobi's:
    /// damped, in waves or warps, or of devices with frozen halos.
    pub fn spectrum(&self, Plan { problem, method, .. }: &Plan) -> Option<Arc<Spectrum>> {
        let has_frozen_halos = method.devices().is_some_and(Devices::have_frozen_halos);
        if method.omega() != 1.0 || !method.schedule().is_jacobi() || has_frozen_halos {
            return None;
        }
        let mut last = self.spectrum.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, spectrum)) = &*last
            && known.ptr_eq(&Arc::downgrade(problem))
        {
            return spectrum.clone();
        }
        let spectrum = Spectrum::of(problem, &StopToken::default()).map(Arc::new);
        *last = Some((Arc::downgrade(problem), spectrum.clone()));
        spectrum
    }

    fn known(&self, key: &Key) -> Option<Option<CyclePrediction>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }

    fn insert(&self, key: Key, prediction: Option<CyclePrediction>) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, prediction);
    }

    fn by_modes(&self, plan: &Plan, should_stop: ShouldStop<'_>) -> Option<CyclePrediction> {
        if let Some(streaming) = plan.method.streaming() {
            return self.by_sweeps(plan, streaming.height());
        }
        let (k, tiling) = (&plan.method.k().finite()?, plan.method.tiling()?);
        let error_factor = ERROR_FACTORS.get(plan.problem.shape.dim() - 1)?;
        let (tolerance, spectrum) = self.reduction_by_modes(plan)?;
        let stencil = plan.problem.operator.stencil()?;
        let weights = [-stencil.a / stencil.d, -stencil.e / stencil.d];
        // A sweep raises a parabola evenly only where the rows of the matrix add up to 0.
        let rows_add_up_to_zero = (stencil.dominance() - 1.0).abs() < 1e-9 && weights[0] > 0.0;
        if !rows_add_up_to_zero && !tiling.is_exact(*k) {
            return None;
        }
        let effective = effective_sweeps(*k, tiling, weights, should_stop)?;
        let cycles = first_below(tolerance, |cycles| reduction(&spectrum, &effective, *k, cycles));
        let cycles = cycles.ceil();
        let inexactness =
            (effective.residual_amplification - 1.0) + (1.0 - effective.sweeps / *k as f64);
        let squared_sides = tiling.axes().iter().zip(weights).map(|(axis, weight)| {
            let tile = axis.tile() as f64;
            tile * tile / weight
        });
        let rate = rate(&spectrum, effective.sweeps * cycles);
        let square = rate * squared_sides.fold(0.0, f64::max);
        if inexactness > 0.0 && (square > LONG || square.is_nan()) {
            return None;
        }
        let mut error = error_factor * inexactness.max(0.0).sqrt() * square + 1.0 / cycles.max(1.0);
        if inexactness > 0.0 {
            let checkerboard: f64 = spectrum.checkerboard.iter().map(|modes| modes.part).sum();
            let turned_smooth = tiling.axes().iter().map(|axis| {
                let (shared, side) = ((*k * axis.overlap()) as f64, (axis.n() + 1) as f64);
                CHECKERBOARD_FACTOR * checkerboard * shared / (side * side)
            });
            error += turned_smooth.fold(0.0, f64::max) / (rate * effective.sweeps * cycles);
        }
        Some(CyclePrediction { cycles, error })
    }

    /// Cycles of so many sweeps of Jacobi's iteration each.
    fn by_sweeps(&self, plan: &Plan, sweeps_per_cycle: usize) -> Option<CyclePrediction> {
        let (tolerance, spectrum) = self.reduction_by_modes(plan)?;
        let cycles = (spectrum.sweeps(tolerance) / sweeps_per_cycle as f64).ceil();
        Some(CyclePrediction { cycles, error: 1.0 / cycles.max(1.0) })
    }

    /// The tolerance of the residual, and the modes that make up the residual.
    fn reduction_by_modes(&self, plan: &Plan) -> Option<(f64, Arc<Spectrum>)> {
        let tolerance = plan.stop.tolerance.filter(|_| plan.stop.rule == StopRule::Residual)?;
        Some((tolerance, self.spectrum(plan)?))
    }
}

/// ‖r‖₂ / ‖r₀‖₂ after a number of cycles.
fn reduction(spectrum: &Spectrum, effective: &EffectiveSweeps, k: usize, cycles: f64) -> f64 {
    let part = |modes: &[Modes], sweeps: f64| -> f64 {
        modes.iter().map(|modes| modes.part * (-2.0 * modes.rate * sweeps).exp()).sum()
    };
    let smooth = effective.residual_amplification.powi(2)
        * part(&spectrum.smooth, effective.sweeps * cycles);
    let factor = effective.checkerboard.powf(2.0 * cycles);
    let checkerboard = factor * part(&spectrum.checkerboard, k as f64 * cycles);
    (smooth + checkerboard).sqrt()
}

/// The rate per sweep at which the smooth part of ‖r‖₂ decays after a number of sweeps: the square of its
/// wave number times the weight of a neighbour.
fn rate(spectrum: &Spectrum, sweeps: f64) -> f64 {
    // Relative to the longest wave, so that no exponential underflows.
    let longest = spectrum.smooth.first().map_or(0.0, |modes| modes.rate);
    let (parts, rates) = spectrum.smooth.iter().fold((0.0, 0.0), |(parts, rates), modes| {
        let part = modes.part * (-2.0 * (modes.rate - longest) * sweeps).exp();
        (parts + part, rates + part * modes.rate)
    });
    rates / parts
}

/// The prediction of one plan's cycles under way.
pub(in crate::run::sweep) struct Predicting {
    plan: Arc<Plan>,
    key: Key,
    /// `None` before the modes were tried.
    extrapolation: Option<Box<Extrapolation>>,
}

impl Predicting {
    /// `None` if the plan has no cycles of tiles or passes to predict, or no tolerance: counted on smaller grids, such a run
    /// would go on to its limit.
    pub fn new(plan: &Arc<Plan>) -> Option<Self> {
        plan.stop.tolerance?;
        let key = if let Some(streaming) = plan.method.streaming() {
            (streaming.height().into(), Vec::new())
        } else {
            let axis = |axis: &AxisTiling| [axis.n(), axis.tile(), axis.overlap()];
            (plan.method.k(), plan.method.tiling()?.axes().iter().map(axis).collect())
        };
        Some(Self { plan: Arc::clone(plan), key, extrapolation: None })
    }

    /// Predicts from the modes, which takes up to half a second; where that is impossible, each further step
    /// makes a batch of cycles on a smaller grid. The result is `None` where nothing but counting gives
    /// the number.
    ///
    /// # Errors
    /// [`SolverError`] if a solver fails on a smaller grid.
    pub fn step(
        &mut self,
        predictor: &CyclePredictor,
        should_stop: ShouldStop<'_>,
    ) -> Result<Poll<Option<CyclePrediction>>, SolverError> {
        let prediction = if let Some(extrapolation) = &mut self.extrapolation {
            match extrapolation.step()? {
                Poll::Ready(prediction) => prediction,
                Poll::Pending => return Ok(Poll::Pending),
            }
        } else if let Some(known) = predictor.known(&self.key) {
            return Ok(Poll::Ready(known));
        } else if let Some(prediction) = predictor.by_modes(&self.plan, should_stop) {
            Some(prediction)
        } else if should_stop() {
            return Ok(Poll::Pending);
        } else {
            // Few cycles of many sweeps say little of their number on another grid.
            let spec = Some(&self.plan.spec).filter(|spec| !spec.method.name.is_streaming());
            self.extrapolation = spec.and_then(Extrapolation::new).map(Box::new);
            if self.extrapolation.is_some() {
                return Ok(Poll::Pending);
            }
            None
        };
        predictor.insert(self.key.clone(), prediction);
        Ok(Poll::Ready(prediction))
    }
}

/// Cycles counted on two smaller grids and extrapolated by the power law through both. The error bar is the
/// distance from growth with the square of the side, as of long waves.
struct Extrapolation {
    /// The shortest side of the grid.
    side: usize,
    /// The smaller grids, by their shortest sides.
    grids: [(usize, RunSpec); 2],
    counted: Vec<f64>,
    counting: Option<Counting>,
}

impl Extrapolation {
    /// `None` if the grid is too small for two smaller ones.
    fn new(run: &RunSpec) -> Option<Self> {
        let (side, grids) = smaller_grids(run)?;
        Some(Self { side, grids, counted: Vec::new(), counting: None })
    }

    fn step(&mut self) -> Result<Poll<Option<CyclePrediction>>, SolverError> {
        let Some(counting) = &mut self.counting else {
            let (_, spec) = &self.grids[self.counted.len()];
            let Ok(mut plan) = Planner::default().plan(spec) else { return Ok(Poll::Ready(None)) };
            plan.place = Place::Cpu { threads: 1, kernel: Kernel::AUTO };
            self.counting = Some(Counting::new(&Arc::new(plan))?);
            return Ok(Poll::Pending);
        };
        let Poll::Ready(count) = counting.step()? else { return Ok(Poll::Pending) };
        if count.outcome != CountOutcome::Converged {
            return Ok(Poll::Ready(Some(CyclePrediction { cycles: f64::INFINITY, error: 0.0 })));
        }
        self.counting = None;
        self.counted.push(count.cycles as f64);
        Ok(match self.counted[..] {
            [first, second] => Poll::Ready(self.extrapolated(first, second)),
            _ => Poll::Pending,
        })
    }

    fn extrapolated(&self, first: f64, second: f64) -> Option<CyclePrediction> {
        let [first_side, second_side] = [0, 1].map(|grid| (self.grids[grid].0 + 1) as f64);
        let growth = (self.side + 1) as f64 / second_side;
        let power = (second / first.max(1.0)).ln() / (second_side / first_side).ln();
        let (cycles, square) = (second * growth.powf(power), second * growth * growth);
        let error = (square / cycles - 1.0).abs() + 1.0 / second.max(1.0);
        (error <= LARGEST_ERROR).then_some(CyclePrediction { cycles: cycles.ceil(), error })
    }
}

/// The shortest side of a grid, and the same run on two smaller grids with their shortest sides; `None`
/// where these would not be smaller.
fn smaller_grids(run: &RunSpec) -> Option<(usize, [(usize, RunSpec); 2])> {
    let shortest = run.problem.shape.iter().copied().min().filter(|side| *side > 0)?;
    let tile = run.method.tile.iter().copied().max().unwrap_or(1);
    let sides = [0, 1].map(|grid| {
        let part = (SMALLER_SIDES[grid] * shortest as f64).ceil() as usize;
        part.max(SMALLER_TILES[grid] * tile)
    });
    if run.problem.matrix.is_some() {
        return None;
    }
    let grid = |side: usize| {
        let mut smaller = run.clone();
        for n in &mut smaller.problem.shape {
            *n = (*n * side).div_ceil(shortest);
        }
        // The decay of long waves does not depend on the right-hand side.
        if run.problem.kind == ProblemKind::Picture {
            (smaller.problem.kind, smaller.problem.rhs) = (ProblemKind::Poisson, None);
        }
        // A file has no coarser grid: the default materials.
        smaller.problem.conductivity = None;
        // One system converges as a batch does.
        smaller.problem.batch = 1;
        (side, smaller)
    };
    (sides[0] < sides[1] && 2 * sides[1] <= shortest).then(|| (shortest, sides.map(grid)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::papers::{EXPERIMENTS, ExperimentMethod};
    use crate::run::sweep::measure::count;
    use crate::run::sweep::stepping::finish;

    fn plan(shape: &[usize], k: usize, overlap: usize, tile: usize) -> Plan {
        let mut spec = RunSpec::default();
        spec.problem.shape = shape.to_vec();
        (spec.method.k, spec.method.overlap, spec.method.tile) =
            (k.into(), vec![overlap], vec![tile]);
        Planner::default().plan(&spec).unwrap()
    }

    fn predict(plan: &Arc<Plan>, predictor: &CyclePredictor) -> CyclePrediction {
        let mut predicting = Predicting::new(plan).unwrap();
        finish(&|| false, || predicting.step(predictor, &|| false)).unwrap().unwrap().unwrap()
    }

    #[test]
    fn the_error_bar_is_in_cycles_and_left_out_where_it_is_none() {
        let text = |cycles, error| CyclePrediction { cycles, error }.to_string();
        assert_eq!(text(0.0, 1.0), "0");
        assert_eq!(text(1.0, 1.0), "1 ± 1");
        assert_eq!(text(12_000.0, 0.01), "12,000 ± 120");
    }

    #[test]
    fn without_a_tolerance_there_is_nothing_to_predict() {
        let plan = |tolerance| {
            let mut spec = RunSpec::default();
            spec.stop.tolerance = tolerance;
            Arc::new(Planner::default().plan(&spec).unwrap())
        };
        assert!(Predicting::new(&plan(None)).is_none());
        assert!(Predicting::new(&plan(Some(1e-4))).is_some());
    }

    /// Cycles of the papers' experiments, which this program has counted (`run/papers.rs`).
    #[test]
    fn cycles_of_the_papers_are_predicted_within_the_error_bar() {
        let predictor = CyclePredictor::default();
        let mut errors = Vec::new();
        for experiment in EXPERIMENTS {
            let ExperimentMethod::Tiled { tile, k, overlap } = experiment.how else {
                continue;
            };
            let mut spec = experiment.run();
            if spec.stop.rule == StopRule::Change {
                continue;
            }
            spec.problem.batch = 1;
            (spec.method.k, spec.method.overlap, spec.method.tile) =
                (k.into(), vec![overlap], vec![tile]);
            let plan = Arc::new(Planner::default().plan(&spec).unwrap());
            let prediction = predict(&plan, &predictor);
            let counted = experiment.cycles as f64;
            let error = (prediction.cycles / counted - 1.0).abs();
            assert!(
                error <= prediction.error,
                "{}: {prediction:?}, {counted}",
                experiment.setting()
            );
            errors.push(error);
        }
        errors.sort_by(f64::total_cmp);
        assert!(errors.len() == 24 && errors[12] < 1e-3, "{errors:?}");
    }

    #[test]
    fn cycles_of_small_grids_are_predicted_within_the_error_bar() {
        let predictor = CyclePredictor::default();
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
            let prediction = predict(&plan, &predictor);
            let counted = count(&plan, &|| false).unwrap().unwrap().cycles as f64;
            let error = (prediction.cycles / counted - 1.0).abs();
            assert!(
                error <= prediction.error,
                "{shape:?} {k} {overlap}: {prediction:?}, {counted}"
            );
            assert!(prediction.error < 0.25, "{shape:?} {k} {overlap}: {prediction:?}");
        }
    }

    #[test]
    fn cycles_without_sine_modes_are_extrapolated_from_smaller_grids() {
        let mut convective = plan(&[96, 96], 4, 2, 8).spec;
        convective.problem.kind = ProblemKind::ConvectionDiffusion;
        convective.problem.velocity = Some([3.0, 2.0, 0.0]);
        let plan = Arc::new(Planner::default().plan(&convective).unwrap());
        let prediction = predict(&plan, &CyclePredictor::default());
        let counted = count(&plan, &|| false).unwrap().unwrap().cycles as f64;
        assert!((0.5..2.0).contains(&(prediction.cycles / counted)), "{prediction:?}, {counted}");
        assert!(prediction.error > 0.0);
    }

    #[test]
    fn smaller_grids_have_enough_tiles_and_the_same_aspect_ratio() {
        let mut run = RunSpec::default();
        run.problem.shape = vec![1024, 512];
        let (shortest, [(_, first), (side, second)]) = smaller_grids(&run).unwrap();
        assert_eq!((shortest, side), (512, 128));
        assert_eq!(second.problem.shape, [256, 128]);
        assert_eq!(first.problem.shape, [176, 88]);
        run.method.tile = vec![64];
        assert_eq!(smaller_grids(&run).unwrap().1[1].1.problem.shape, [384, 192]);
        run.problem.shape = vec![100, 100];
        assert_eq!(smaller_grids(&run), None);
    }
}
