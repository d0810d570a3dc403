//! The asymptotic rate of a cycle: the factor that every cycle multiplies the error by in the end, its spectral radius.

use super::error::ModeError;
use super::error_cycle::{ErrorCycle, inner_product, product, updates_per_cycle};
use crate::grid::Field;
use crate::problem::matrix::SpectralRadius;
use crate::problem::{Problem, Source, sine_mode};
use crate::solver::{Method, Subiterations};
use std::sync::atomic::AtomicBool;

/// The most point updates of all cycles together: some seconds.
const MOST_UPDATES: f64 = 4e9;

/// The fewest cycles after which a rate is believed, and the most.
const CYCLES: [usize; 2] = [32, 1 << 14];

/// A rate has settled when it changes by no more than this share of its distance from 1.
const SETTLED: f64 = 0.002;

/// The seed of the error that a matrix without a grid begins with.
const SEED: u64 = 1;

/// The asymptotic rate of a cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CycleRate {
    /// The spectral radius of a cycle: of I − M⁻¹A, where a cycle adds M⁻¹r to the iterate.
    pub radius: SpectralRadius,
    /// Whether it was measured; otherwise it is that of theory.
    pub is_measured: bool,
    /// Sweeps of a cycle; `None` for k = ∞.
    pub sweeps: Option<u64>,
}

impl CycleRate {
    /// That of `method` on the matrix of `problem`. Where a cycle is so many sweeps of Jacobi's iteration, whose spectral
    /// radius is `of_sweep`, it follows from that. Otherwise it is measured by a power iteration with the solver, which
    /// takes up to some seconds.
    ///
    /// # Errors
    /// [`ModeError`].
    pub fn find(
        problem: &Problem,
        method: &Method,
        of_sweep: Option<SpectralRadius>,
        cancel: &AtomicBool,
    ) -> Result<Self, ModeError> {
        let sweeps = match method.k() {
            Subiterations::Finite(_) => Some(method.sweeps_per_cycle()),
            Subiterations::Infinite => None,
        };
        if let (Some(radius), Some(sweeps), true) = (of_sweep, sweeps, is_jacobi(method)) {
            let value = radius.value.powf(sweeps as f64);
            let error = radius.error * sweeps as f64 * value / radius.value.max(f64::MIN_POSITIVE);
            let is_measured = error > 0.0;
            let radius = SpectralRadius { value, error };
            return Ok(Self { radius, is_measured, sweeps: Some(sweeps) });
        }
        let mut cycle = ErrorCycle::new(problem, method.clone(), cancel)?;
        let cycles = (MOST_UPDATES / updates_per_cycle(problem, method)) as usize;
        let radius = power_iteration(&mut cycle, first_error(problem), cycles.min(CYCLES[1]))?;
        Ok(Self { radius, is_measured: true, sweeps })
    }

    /// Bytes that finding it may take; none where theory knows it.
    pub fn bytes(problem: &Problem, method: &Method) -> u64 {
        let is_known = is_jacobi(method) && problem.operator.stencil().is_some();
        if is_known { 0 } else { ErrorCycle::bytes(problem, &[method]) }
    }

    /// How long a digit takes, in words: so many sweeps, or cycles where these have no number of sweeps; `None` where the
    /// iteration does not converge.
    pub fn per_digit(&self) -> Option<(f64, &'static str)> {
        let cycles = self.radius.sweeps_per_digit()?;
        Some(match self.sweeps {
            Some(sweeps) => (cycles * sweeps as f64, "sweeps"),
            None => (cycles, "cycles"),
        })
    }
}

/// Whether a cycle is nothing but sweeps of Jacobi's iteration.
fn is_jacobi(method: &Method) -> bool {
    let is_exact = match (method.tiling(), method.k()) {
        (None, _) => true,
        (Some(tiling), Subiterations::Finite(k)) => tiling.is_exact(k),
        (Some(_), Subiterations::Infinite) => false,
    };
    is_exact && method.schedule().is_jacobi()
}

/// An error of the slowest modes: on a grid the smoothest wave and the finest zigzag, which makes it 0 at every other
/// point; without one a random error.
fn first_error(problem: &Problem) -> Field<f64> {
    let shape = problem.shape;
    if problem.operator.matrix().is_some() {
        let random = Source::Random { seed: SEED };
        return Field::from_fn(shape, |i, row| random.at(shape.nx(), i, row));
    }
    let waves = |number: fn(usize) -> usize| {
        let axes: Vec<_> = shape.axes().iter().map(|&n| sine_mode(n, number(n))).collect();
        product(problem, &axes)
    };
    let mut error = waves(|_| 1);
    for (value, zigzag) in error.as_mut_slice().iter_mut().zip(waves(|n| n).as_slice()) {
        *value += zigzag;
    }
    error
}

/// The mean factor of the last half of the cycles, once it is that of the quarter before.
fn power_iteration(
    cycle: &mut ErrorCycle<'_>,
    mut error: Field<f64>,
    most: usize,
) -> Result<SpectralRadius, ModeError> {
    let mut before = inner_product(&error, &error).sqrt();
    // The logarithms of all factors so far, by cycles.
    let mut sums = vec![0.0];
    for made in 1..=most {
        error = cycle.apply(&error)?;
        let size = inner_product(&error, &error).sqrt();
        if size == 0.0 {
            return Ok(SpectralRadius { value: 0.0, error: 0.0 });
        }
        sums.push(sums[made - 1] + (size / before).ln());
        // Neither zero nor infinity is ever near.
        error.as_mut_slice().iter_mut().for_each(|value| *value /= size);
        before = 1.0;
        if made.is_power_of_two() && made >= CYCLES[0] {
            let mean =
                |from: usize, to: usize| ((sums[to] - sums[from]) / (to - from) as f64).exp();
            let (value, earlier) = (mean(made / 2, made), mean(made / 4, made / 2));
            let radius = SpectralRadius { value, error: (value - earlier).abs() };
            if radius.error <= SETTLED * (1.0 - value).abs() {
                return Ok(radius);
            }
        }
    }
    Err(ModeError::NotSettled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Shape, Tiling};
    use crate::problem::{Boundary, Stencil};

    fn poisson(shape: Shape) -> Problem {
        let [rhs, initial_guess] = [1.0, 2.0].map(Source::Constant);
        let (operator, boundary) = (Stencil::poisson(&shape).into(), Boundary::default());
        Problem { shape, operator, rhs, initial_guess, boundary }
    }

    fn tiled(shape: &Shape, k: usize, tile: usize, overlap: usize) -> Method {
        let dim = shape.dim();
        let tiling = Tiling::new(shape.axes(), &vec![tile; dim], &vec![overlap; dim]).unwrap();
        Method::Hierarchical { k, tiling }
    }

    fn find(problem: &Problem, method: &Method, of_sweep: Option<SpectralRadius>) -> CycleRate {
        CycleRate::find(problem, method, of_sweep, &AtomicBool::new(false)).unwrap()
    }

    /// Where theory knows the rate, a measurement that is not told finds it.
    #[test]
    fn what_is_measured_is_what_theory_knows() {
        for (shape, omega) in [
            (Shape::grid_1d(24, 2).unwrap(), 1.0),
            (Shape::grid_2d(24, 20).unwrap(), 0.7),
            (Shape::grid_2d(24, 24).unwrap(), 1.3),
        ] {
            let problem = poisson(shape);
            let stencil = problem.operator.stencil().unwrap();
            let of_sweep = SpectralRadius::of_stencil(stencil, &shape, omega);
            let method = tiled(&shape, 4, 8, 6).damped(omega);
            let theory = find(&problem, &method, Some(of_sweep));
            assert!(!theory.is_measured);
            assert!((theory.radius.value - of_sweep.value.powi(4)).abs() < 1e-14);
            let measured = find(&problem, &method, None);
            assert!(measured.is_measured);
            let off = (measured.radius.value - theory.radius.value).abs();
            assert!(off <= 0.01 * (1.0 - theory.radius.value).abs(), "{measured:?}, {theory:?}");
        }
    }

    /// The numbers of lesson 9, which are read off a run.
    #[test]
    fn a_frozen_halo_makes_a_cycle_slower_than_its_sweeps() {
        let shape = Shape::grid_2d(32, 32).unwrap();
        let problem = poisson(shape);
        let of_sweep = SpectralRadius::of_stencil(problem.operator.stencil().unwrap(), &shape, 1.0);
        for (k, expected) in [(16, 0.96), (64, 0.945)] {
            let rate = find(&problem, &tiled(&shape, k, 16, 0), Some(of_sweep));
            assert!(rate.is_measured && (rate.radius.value - expected).abs() < 0.006, "{rate:?}");
            let (sweeps, unit) = rate.per_digit().unwrap();
            assert!(unit == "sweeps" && sweeps > of_sweep.sweeps_per_digit().unwrap());
        }
    }

    #[test]
    fn it_stops_when_it_is_cancelled() {
        let shape = Shape::grid_2d(16, 16).unwrap();
        let method = tiled(&shape, 4, 8, 0);
        let found = CycleRate::find(&poisson(shape), &method, None, &AtomicBool::new(true));
        assert_eq!(found, Err(ModeError::Cancelled));
    }
}
