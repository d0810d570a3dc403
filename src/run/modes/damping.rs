//! Damping by mode: by which factor a sweep and a cycle multiply a mode, by theory and as measured.

use super::Steps;
use super::error::ModeError;
use super::error_cycle::{ErrorCycle, inner_product, product, updates_of};
use crate::grid::Shape;
use crate::problem::{Problem, Stencil, sine_mode};
use crate::solver::{Method, Subiterations};
use std::collections::BTreeSet;
use std::f64::consts::PI;

/// The most modes that are measured: enough for a smooth curve.
const MOST_MODES: usize = 49;

/// The most point updates of all cycles together: some seconds.
const MOST_UPDATES: f64 = 4e9;

/// The factors by which a sweep of Jacobi's iteration, damped where the run is, and a cycle multiply modes with as many
/// half waves along every axis: p = q in 2D.
#[derive(Clone, Debug, PartialEq)]
pub struct ModeDamping {
    /// The factors, in the order of the half waves: smooth waves first.
    pub modes: Vec<ModeFactors>,
    /// Cycles that are measured at once: 1, or those from one exchange between devices to the next.
    pub cycles: u64,
    /// Sweeps of these, of which theory knows the factor; `None` for k = ∞.
    pub sweeps: Option<u64>,
}

/// By which factors a mode is multiplied. Modes with a negative factor change their sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModeFactors {
    /// Half waves along each axis.
    pub half_waves: usize,
    /// By a sweep, in theory: λ.
    pub sweep: f64,
    /// By a sweep, as measured.
    pub measured_sweep: f64,
    /// By as many sweeps as [these cycles](ModeDamping::cycles) make, in theory: λᵏ of one; `None` for k = ∞.
    pub sweeps: Option<f64>,
    /// By these cycles, as measured: how much of the mode is left. Tile borders make other modes of the rest.
    pub measured_cycle: f64,
}

/// Measures a [`ModeDamping`]: feeds modes to a sweep and to a cycle, one in each step, and measures what is left.
pub(super) struct DampingSteps {
    shape: Shape,
    stencil: Stencil,
    omega: f64,
    sweep: ErrorCycle,
    cycle: ErrorCycle,
    /// The half waves of the modes that are to come.
    numbers: std::vec::IntoIter<usize>,
    found: ModeDamping,
}

impl DampingSteps {
    /// Those of `method` on the matrix of `problem`.
    ///
    /// # Errors
    /// [`ModeError`] if it cannot be measured.
    pub fn new(problem: &Problem, method: &Method) -> Result<Self, ModeError> {
        let (stencil, numbers) = can_be_measured(problem, method)?;
        let shape = problem.shape;
        let cycles = method.cycles_between_exchanges();
        let sweeps = match method.k() {
            Subiterations::Finite(_) => Some(cycles * method.sweeps_per_cycle()),
            Subiterations::Infinite => None,
        };
        Ok(Self {
            shape,
            stencil: *stencil,
            omega: method.omega(),
            sweep: ErrorCycle::new(problem, method.classic())?,
            cycle: ErrorCycle::new(problem, method.clone())?,
            numbers: numbers.into_iter(),
            found: ModeDamping { modes: Vec::new(), cycles, sweeps },
        })
    }
}

impl Steps for DampingSteps {
    type Found = ModeDamping;

    fn step(&mut self) -> Result<Option<ModeDamping>, ModeError> {
        let Some(half_waves) = self.numbers.next() else { return Ok(Some(self.found.clone())) };
        let along = |&n: &usize| sine_mode(n, half_waves);
        let mode = product(self.shape, &self.shape.axes().iter().map(along).collect::<Vec<_>>());
        let whole = inner_product(&mode, &mode);
        let left = |by: &mut ErrorCycle| -> Result<f64, ModeError> {
            Ok(inner_product(&by.apply(&mode)?, &mode) / whole)
        };
        let factor = sweep_factor(&self.stencil, &self.shape, self.omega, half_waves);
        self.found.modes.push(ModeFactors {
            half_waves,
            sweep: factor,
            measured_sweep: left(&mut self.sweep)?,
            sweeps: self.found.sweeps.map(|sweeps| factor.powf(sweeps as f64)),
            measured_cycle: left(&mut self.cycle)?,
        });
        Ok(None)
    }
}

impl ModeDamping {
    /// Whether it can be measured.
    ///
    /// # Errors
    /// [`ModeError`] where the modes are no sines, or it would take too long.
    pub fn check(problem: &Problem, method: &Method) -> Result<(), ModeError> {
        can_be_measured(problem, method).map(drop)
    }

    /// Bytes that measuring it takes; none where it cannot be measured.
    pub fn bytes(problem: &Problem, method: &Method) -> u64 {
        match can_be_measured(problem, method) {
            Ok(_) => ErrorCycle::bytes(problem, &[&method.classic(), method]),
            Err(_) => 0,
        }
    }
}

/// The row of the matrix, and the numbers of half waves that are measured.
///
/// # Errors
/// [`ModeError`] where the modes are no sines, or it would take too long.
fn can_be_measured<'a>(
    problem: &'a Problem,
    method: &Method,
) -> Result<(&'a Stencil, Vec<usize>), ModeError> {
    let shape = &problem.shape;
    let stencil = problem.operator.stencil().ok_or(ModeError::NotSines)?;
    let is_symmetric = |[previous, next]: [f64; 2]| previous == next;
    if !stencil.neighbours().into_iter().take(shape.dim()).all(is_symmetric) {
        return Err(ModeError::NotSines);
    }
    let numbers = half_waves(shape);
    if numbers.len() as f64 * updates_of(problem, method) > MOST_UPDATES {
        return Err(ModeError::TooLong);
    }
    Ok((stencil, numbers))
}

/// λ of a mode, by which a sweep multiplies it: 1 − ω + ω Σ 2 w cos(p π / (n + 1)) over the axes, with the weight w of
/// both neighbours along an axis.
fn sweep_factor(stencil: &Stencil, shape: &Shape, omega: f64, half_waves: usize) -> f64 {
    let axes = stencil.neighbours().into_iter().zip(shape.axes());
    let along = |([entry, _], &n): ([f64; 2], &usize)| {
        -2.0 * entry / stencil.d * (PI * half_waves as f64 / (n + 1) as f64).cos()
    };
    1.0 - omega + omega * axes.map(along).sum::<f64>()
}

/// The numbers of half waves that are measured: all that every axis has, or as many as there may be, closer to each
/// other at both ends, where a cycle's factors change most.
fn half_waves(shape: &Shape) -> Vec<usize> {
    let most = shape.axes().iter().copied().min().unwrap_or(1);
    if most <= MOST_MODES {
        return (1..=most).collect();
    }
    let number = |at: usize| {
        let place = 0.5 - 0.5 * (PI * at as f64 / (MOST_MODES - 1) as f64).cos();
        1 + (place * (most - 1) as f64).round() as usize
    };
    (0..MOST_MODES).map(number).collect::<BTreeSet<_>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::take_all;
    use super::*;
    use crate::grid::Tiling;
    use crate::problem::{Boundary, Source};
    use proptest::prelude::*;

    fn poisson(shape: Shape) -> Problem {
        Problem {
            shape,
            operator: Stencil::poisson(&shape).into(),
            rhs: Source::Constant(1.0),
            initial_guess: Source::Constant(2.0),
            boundary: Boundary { left: 1.0, ..Boundary::default() },
        }
    }

    fn tiled(shape: &Shape, k: usize, tile: usize, overlap: usize) -> Method {
        let dim = shape.dim();
        let tiling = Tiling::new(shape.axes(), &vec![tile; dim], &vec![overlap; dim]).unwrap();
        Method::Hierarchical { k, tiling }
    }

    fn measure(shape: Shape, method: &Method) -> ModeDamping {
        take_all(DampingSteps::new(&poisson(shape), method)).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// One tile has no border: what is measured is theory, whatever the right-hand side and the boundary are.
        #[test]
        fn sweeps_of_one_tile_are_those_of_theory(
            sides in prop::collection::vec(2..24_usize, 1..=3),
            k in 1..20_usize,
            omega in prop_oneof![Just(1.0), 0.3..1.6_f64],
        ) {
            let shape = match sides[..] {
                [nx] => Shape::grid_1d(nx, 3),
                [nx, ny] => Shape::grid_2d(nx, ny),
                _ => Shape::grid_3d(sides[0], sides[1], sides[2]),
            }.unwrap();
            let largest = *sides.iter().max().unwrap();
            let method = tiled(&shape, k, largest, 0).damped(omega);
            let found = measure(shape, &method);
            prop_assert_eq!(found.modes.len(), *sides.iter().min().unwrap());
            prop_assert_eq!(found.sweeps, Some(k as u64));
            for mode in &found.modes {
                prop_assert!((mode.measured_sweep - mode.sweep).abs() < 1e-12, "{:?}", mode);
                let whole = mode.sweep.powi(k as i32);
                let off = [mode.sweeps.unwrap(), mode.measured_cycle].map(|it| (it - whole).abs());
                prop_assert!(off.iter().all(|off| *off < 1e-12 * whole.abs().max(1.0)), "{:?}", mode);
            }
        }
    }

    #[test]
    fn a_frozen_halo_damps_smooth_waves_less_and_overlap_repairs_that() {
        let shape = Shape::grid_2d(64, 64).unwrap();
        let smoothest = |tile, overlap| measure(shape, &tiled(&shape, 16, tile, overlap)).modes[0];
        let (none, some, exact) = (smoothest(16, 0), smoothest(16, 8), smoothest(40, 30));
        assert!(none.measured_cycle > some.measured_cycle + 1e-3, "{none:?}, {some:?}");
        assert!(some.measured_cycle > exact.measured_cycle, "{some:?}, {exact:?}");
        assert!((exact.measured_cycle - exact.sweeps.unwrap()).abs() < 1e-12, "{exact:?}");
    }

    #[test]
    fn the_ends_of_a_long_axis_are_measured_closely() {
        let numbers = half_waves(&Shape::grid_2d(1000, 4000).unwrap());
        assert!(numbers.len() <= MOST_MODES && numbers[..2] == [1, 2], "{numbers:?}");
        assert_eq!(numbers.last(), Some(&1000));
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn what_has_no_sines_or_takes_too_long_says_so() {
        let shape = Shape::grid_2d(16, 16).unwrap();
        let windy = Problem {
            operator: Stencil::convection_diffusion(&shape, [3.0, 0.0, 0.0]).into(),
            ..poisson(shape)
        };
        let of = |problem: &Problem, method: &Method| DampingSteps::new(problem, method).err();
        assert_eq!(of(&windy, &Method::Classic), Some(ModeError::NotSines));
        let endless = tiled(&shape, 10_000_000, 16, 0);
        assert_eq!(of(&poisson(shape), &endless), Some(ModeError::TooLong));
    }
}
