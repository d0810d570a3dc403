//! The asymptotic rate of a cycle: the factor that every cycle multiplies the error by in the end, its spectral radius.

use super::Steps;
use super::error::ModeError;
use super::error_cycle::{ErrorCycle, inner_product, product, updates_of};
use crate::grid::Field;
use crate::problem::matrix::SpectralRadius;
use crate::problem::{Problem, Source, sine_mode};
use crate::solver::{Method, Subiterations};

/// The most point updates of all cycles together: some seconds.
const MOST_UPDATES: f64 = 4e9;

/// The fewest cycles after which a rate is believed, and the most.
const CYCLES: [usize; 2] = [32, 1 << 14];

/// A rate has settled when it changes by no more than this share of its distance from 1.
const SETTLED: f64 = 0.002;

/// The seed of the error that a matrix without a grid begins with.
const SEED: u64 = 1;

/// The asymptotic rate of a cycle. Where devices exchange after several cycles it is the mean factor of these, since
/// they differ.
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

/// Finds a [`CycleRate`]: by theory, or by a power iteration with the solver, a cycle in each step.
pub(super) enum RateSteps {
    /// It follows from theory.
    Known(CycleRate),
    /// It is measured.
    Measured(Box<PowerIteration>, Measured),
}

/// What is measured: cycles from one exchange between devices to the next, and the sweeps of each of them.
#[derive(Clone, Copy)]
pub(super) struct Measured {
    cycles: u64,
    /// `None` for k = ∞.
    sweeps: Option<u64>,
}

impl RateSteps {
    /// Those of `method` on the matrix of `problem`. Where a cycle is so many sweeps of Jacobi's iteration, whose spectral
    /// radius is `of_sweep`, the rate follows from that.
    ///
    /// # Errors
    /// [`ModeError`] if it cannot be measured.
    pub fn new(
        problem: &Problem,
        method: &Method,
        of_sweep: Option<SpectralRadius>,
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
            return Ok(Self::Known(CycleRate { radius, is_measured, sweeps: Some(sweeps) }));
        }
        let cycle = ErrorCycle::new(problem, method.clone())?;
        let most = (MOST_UPDATES / updates_of(problem, method)) as usize;
        let iteration = PowerIteration::new(cycle, first_error(problem), most.min(CYCLES[1]));
        let cycles = method.cycles_between_exchanges();
        Ok(Self::Measured(Box::new(iteration), Measured { cycles, sweeps }))
    }
}

impl Steps for RateSteps {
    type Found = CycleRate;

    fn step(&mut self) -> Result<Option<CycleRate>, ModeError> {
        match self {
            Self::Known(rate) => Ok(Some(*rate)),
            Self::Measured(iteration, Measured { cycles, sweeps }) => {
                let found = iteration.step()?.map(|all| mean_of(all, *cycles));
                Ok(found.map(|radius| CycleRate { radius, is_measured: true, sweeps: *sweeps }))
            }
        }
    }
}

/// Whether a cycle is nothing but sweeps of Jacobi's iteration.
fn is_jacobi(method: &Method) -> bool {
    let is_exact = match (method.tiling(), method.k()) {
        (None, _) => true,
        (Some(tiling), Subiterations::Finite(k)) => tiling.is_exact(k),
        (Some(_), Subiterations::Infinite) => false,
    };
    is_exact && method.schedule().is_jacobi() && method.cycles_between_exchanges() == 1
}

/// The mean factor of one of so many cycles, from that of all of them.
fn mean_of(all: SpectralRadius, cycles: u64) -> SpectralRadius {
    if cycles == 1 {
        return all;
    }
    let power = 1.0 / cycles as f64;
    let value = all.value.powf(power);
    SpectralRadius { value, error: power * all.error * value / all.value.max(f64::MIN_POSITIVE) }
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
        product(shape, &axes)
    };
    let mut error = waves(|_| 1);
    for (value, zigzag) in error.as_mut_slice().iter_mut().zip(waves(|n| n).as_slice()) {
        *value += zigzag;
    }
    error
}

/// Finds the mean factor of the last half of the cycles, once it is that of the quarter before.
pub(super) struct PowerIteration {
    cycle: ErrorCycle,
    error: Field<f64>,
    /// The size of the error.
    size: f64,
    /// The logarithms of all factors so far, by cycles.
    sums: Vec<f64>,
    /// The most cycles.
    most: usize,
}

impl PowerIteration {
    fn new(cycle: ErrorCycle, error: Field<f64>, most: usize) -> Self {
        let size = inner_product(&error, &error).sqrt();
        Self { cycle, error, size, sums: vec![0.0], most }
    }

    /// Makes a cycle.
    fn step(&mut self) -> Result<Option<SpectralRadius>, ModeError> {
        let made = self.sums.len();
        if made > self.most {
            return Err(ModeError::NotSettled);
        }
        self.error = self.cycle.apply(&self.error)?;
        let size = inner_product(&self.error, &self.error).sqrt();
        if size == 0.0 {
            return Ok(Some(SpectralRadius { value: 0.0, error: 0.0 }));
        }
        self.sums.push(self.sums[made - 1] + (size / self.size).ln());
        // Neither zero nor infinity is ever near.
        self.error.as_mut_slice().iter_mut().for_each(|value| *value /= size);
        self.size = 1.0;
        if made.is_power_of_two() && made >= CYCLES[0] {
            let mean = |from: usize, to: usize| {
                ((self.sums[to] - self.sums[from]) / (to - from) as f64).exp()
            };
            let (value, earlier) = (mean(made / 2, made), mean(made / 4, made / 2));
            let radius = SpectralRadius { value, error: (value - earlier).abs() };
            if radius.error <= SETTLED * (1.0 - value).abs() {
                return Ok(Some(radius));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::super::take_all;
    use super::*;
    use crate::grid::{Shape, Tiling};
    use crate::problem::{Boundary, Stencil};
    use crate::solver::{Devices, Link};
    use std::num::NonZeroU64;

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
        take_all(RateSteps::new(problem, method, of_sweep)).unwrap()
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

    /// Plain sweeps on two devices that exchange after every fourth are cycles of four sweeps in two tiles.
    #[test]
    fn devices_that_exchange_rarely_are_tiles() {
        let shape = Shape::grid_2d(32, 32).unwrap();
        let problem = poisson(shape);
        let devices = |method: &Method, every: u64| {
            let every = NonZeroU64::new(every).unwrap();
            Devices::new(method, &shape, 2, every, Link::NVLINK).unwrap()
        };
        let sweeps = Method::Classic.on_devices(devices(&Method::Classic, 4));
        let tiling = Tiling::new(shape.axes(), &[32, 16], &[0; 2]).unwrap();
        let tiles = find(&problem, &Method::Hierarchical { k: 4, tiling }, None);
        let of_sweep = SpectralRadius::of_stencil(problem.operator.stencil().unwrap(), &shape, 1.0);
        let found = find(&problem, &sweeps, Some(of_sweep));
        assert!(found.is_measured && found.sweeps == Some(1));
        // A search that is out of time is left at any step.
        let off = (found.radius.value.powi(4) - tiles.radius.value).abs();
        let error = 4.0 * found.radius.error + tiles.radius.error;
        assert!(off <= error + 1e-12, "{found:?}, {tiles:?}");
        assert!(found.radius.value > of_sweep.value + 1e-4, "{found:?}");

        // Exchanged after every cycle, several devices are one.
        let exact = tiled(&shape, 4, 8, 6);
        let [often, rarely] = [1, 3].map(|every| exact.clone().on_devices(devices(&exact, every)));
        let often = find(&problem, &often, Some(of_sweep));
        assert!(!often.is_measured && often == find(&problem, &exact, Some(of_sweep)));
        let rarely = find(&problem, &rarely, Some(of_sweep));
        assert!(rarely.radius.value > often.radius.value + 1e-4, "{rarely:?}, {often:?}");
    }
}
