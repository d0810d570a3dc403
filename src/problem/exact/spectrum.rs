//! The residual of the initial guess in the modes of Jacobi's iteration: how many sweeps a reduction takes,
//! without making one.
//!
//! Where the matrix is symmetric along every axis its modes are products of sines, and a sweep
//! multiplies the residual in mode (p, q) by
//!
//! ```text
//! λ = 2 w_x cos(p π / (n_x + 1)) + 2 w_y cos(q π / (n_y + 1))
//! ```
//!
//! so that ‖r‖₂ after s sweeps is the root of Σ r̂² λ^(2s): a sine transform of the first residual
//! gives it for every s.

use super::residual_with_pauses;
use super::sine_transform::sine_amplitudes;
use crate::grid::{Precision, memory};
use crate::pauses::without_pauses;
use crate::problem::Problem;
use crate::stop_token::StopToken;
use std::collections::BTreeMap;
use std::f64::consts::PI;

/// Larger grids would take seconds.
const MOST_POINTS: usize = 1 << 24;

/// Modes whose rates differ by less than a factor of e^(1/256) are kept as one.
const MODES_PER_FACTOR: f64 = 256.0;

/// Modes that decay alike: the rate of ‖r‖ per sweep (−ln |λ|), and their part of ‖r₀‖₂².
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modes {
    /// −ln |λ|.
    pub rate: f64,
    /// Their part of ‖r₀‖₂².
    pub part: f64,
}

/// The residual of the initial guess in the modes of Jacobi's iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectrum {
    /// Those that keep their sign in a sweep: long waves last longest.
    pub smooth: Vec<Modes>,
    /// Those that change it: checkerboard ones last longest.
    pub checkerboard: Vec<Modes>,
}

impl Spectrum {
    /// The spectrum of a problem. `None` where its modes are not sines (the matrix is not symmetric
    /// along an axis) or the grid is 3D, where a mode does not decay, where the initial guess
    /// solves the system, where there are too many points or too little memory, or if it was cancelled.
    pub fn of(problem: &Problem, cancel: &StopToken) -> Option<Self> {
        let shape = &problem.shape;
        let stencil = problem.operator.stencil()?;
        let is_symmetric = stencil.a == stencil.c && stencil.e == stencil.f;
        if shape.dim() == 3
            || !is_symmetric
            || !stencil.is_dominant()
            || shape.points() > MOST_POINTS
        {
            return None;
        }
        memory::check(shape, 3, Precision::F64).ok()?;
        let (nx, plane) = (shape.nx(), shape.dim() == 2);
        let mut values = vec![0.0; shape.points()];
        without_pauses(residual_with_pauses(
            problem,
            &problem.initial_iterate(),
            &mut values,
            cancel,
        ))
        .ok()?;
        // In 1D each row is a system of the batch, and all have the same modes.
        without_pauses(sine_amplitudes(shape, &mut values, cancel)).ok()?;
        let weights = |n: usize, entry: f64| -> Vec<f64> {
            let angle = |mode: usize| PI * mode as f64 / (n + 1) as f64;
            (1..=n).map(|mode| -2.0 * entry / stencil.d * angle(mode).cos()).collect()
        };
        let along_x = weights(nx, stencil.a);
        let along_y = if plane { weights(shape.ny(), stencil.e) } else { vec![0.0] };
        let mut bins: [BTreeMap<i64, (f64, f64)>; 2] = Default::default();
        for (row, values) in values.chunks(nx).enumerate() {
            if cancel.is_due() {
                return None;
            }
            let y = if plane { along_y[row] } else { 0.0 };
            for (x, value) in along_x.iter().zip(values) {
                let (factor, part) = (x + y, value * value);
                let rate = -factor.abs().ln();
                if part == 0.0 || rate == f64::INFINITY {
                    continue;
                }
                if !(rate > 0.0 && part.is_finite()) {
                    return None;
                }
                let bin = (rate.ln() * MODES_PER_FACTOR).floor() as i64;
                let bin = bins[usize::from(factor < 0.0)].entry(bin).or_default();
                *bin = (bin.0 + part, bin.1 + part * rate);
            }
        }
        let whole: f64 = values.iter().map(|value| value * value).sum();
        let [smooth, checkerboard] = bins.map(|bins| {
            let modes =
                |&(part, moment): &(f64, f64)| Modes { rate: moment / part, part: part / whole };
            bins.values().map(modes).collect()
        });
        (whole > 0.0 && whole.is_finite()).then_some(Self { smooth, checkerboard })
    }

    /// ‖r‖₂ / ‖r₀‖₂ after `sweeps` sweeps of Jacobi's iteration.
    pub fn reduction(&self, sweeps: f64) -> f64 {
        let modes = self.smooth.iter().chain(&self.checkerboard);
        modes.map(|modes| modes.part * (-2.0 * modes.rate * sweeps).exp()).sum::<f64>().sqrt()
    }

    /// Sweeps of Jacobi's iteration until ‖r‖₂ / ‖r₀‖₂ is at most `reduction`: a whole number but
    /// for rounding.
    pub fn sweeps(&self, reduction: f64) -> f64 {
        first_below(reduction, |sweeps| self.reduction(sweeps)).ceil()
    }
}

/// Where something that falls from its value at 0 is down to `goal`: infinite where it never is.
pub fn first_below(goal: f64, falling: impl Fn(f64) -> f64) -> f64 {
    if falling(0.0) <= goal {
        return 0.0;
    }
    let mut high = 1.0;
    while falling(high) > goal {
        high *= 2.0;
        if high > 1e18 {
            return f64::INFINITY;
        }
    }
    let mut low = 0.0;
    // To the last digit that matters: a part of a sweep.
    while high - low > 1e-12 * high + 1e-6 {
        let middle = 0.5 * (low + high);
        if falling(middle) > goal { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Shape;
    use crate::problem::{Boundary, Source, Stencil};

    fn problem(shape: Shape, initial_guess: Source, left: f64) -> Problem {
        let boundary = Boundary { left, ..Boundary::default() };
        let rhs = Source::Constant(1.0);
        Problem { shape, operator: Stencil::poisson(&shape).into(), rhs, initial_guess, boundary }
    }

    /// ‖r‖₂ / ‖r₀‖₂ after that number of sweeps, made one by one.
    fn swept(problem: &Problem, sweeps: usize) -> f64 {
        let mut field = problem.initial_iterate::<f64>();
        let (stride, shape) = (problem.shape.stride(), problem.shape);
        let Stencil { d, a, c, e, f, .. } = *problem.operator.stencil().unwrap();
        let down = shape.boundary_rows() * stride;
        let mut norms = Vec::new();
        for _ in 0..=sweeps {
            let from = field.clone();
            let (u, mut sum) = (from.as_slice(), 0.0);
            for row in 0..shape.rows() {
                let start = down + row * stride + 1;
                for (i, to) in field.interior_mut(row).iter_mut().enumerate() {
                    let k = start + i;
                    let around = a * u[k - 1] + c * u[k + 1] + e * u[k - down] + f * u[k + down];
                    let residual = 1.0 - around - d * u[k];
                    sum += residual * residual;
                    *to = u[k] + residual / d;
                }
            }
            norms.push(sum.sqrt());
        }
        norms[sweeps] / norms[0]
    }

    #[test]
    fn the_residual_is_known_after_any_number_of_sweeps() {
        let line = Shape::grid_1d(40, 2).unwrap();
        let plane = Shape::grid_2d(23, 12).unwrap();
        for problem in [
            problem(line, Source::Constant(1.0), 0.0),
            problem(line, Source::Random { seed: 3 }, 2.0),
            problem(plane, Source::Constant(1.0), 0.0),
            problem(plane, Source::Random { seed: 5 }, -1.0),
        ] {
            let spectrum = Spectrum::of(&problem, &StopToken::default()).unwrap();
            for sweeps in [0, 1, 7, 60, 400] {
                let (predicted, made) =
                    (spectrum.reduction(sweeps as f64), swept(&problem, sweeps));
                assert!((predicted / made - 1.0).abs() < 1e-2, "{sweeps}: {predicted}, {made}");
            }
            let sweeps = spectrum.sweeps(1e-3) as usize;
            assert!(swept(&problem, sweeps + 1) <= 1e-3 && swept(&problem, sweeps - 2) > 1e-3);
        }
    }

    #[test]
    fn a_wind_has_no_sines_and_a_solution_no_residual() {
        let shape = Shape::grid_2d(16, 16).unwrap();
        let go = StopToken::default();
        let mut windy = problem(shape, Source::Constant(1.0), 0.0);
        assert!(Spectrum::of(&windy, &go).is_some());
        windy.operator = Stencil::convection_diffusion(&shape, [3.0, 0.0, 0.0]).into();
        assert_eq!(Spectrum::of(&windy, &go), None);
        let solved =
            Problem { rhs: Source::Constant(0.0), ..problem(shape, Source::Constant(0.0), 0.0) };
        assert_eq!(Spectrum::of(&solved, &go), None);
    }

    #[test]
    fn what_falls_is_found_and_what_does_not_is_not() {
        assert!((first_below(1e-4, |at| (-at).exp()) - 1e4_f64.ln()).abs() < 1e-5);
        assert_eq!(first_below(1e-4, |_| 1.0), f64::INFINITY);
        assert_eq!(first_below(1.0, |_| 1.0), 0.0);
    }
}
