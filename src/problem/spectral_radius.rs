//! The spectral radius of Jacobi's iteration.

use super::Stencil;
use crate::grid::Shape;
use std::f64::consts::PI;
use std::fmt;

/// The spectral radius ρ(I − D⁻¹A), or an estimate of it: Jacobi's iteration converges where it is below 1
/// (Islam & Wang, long version, Eq. 3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpectralRadius {
    /// ρ.
    pub value: f64,
    /// Of an estimate, how much it still changed over the last half of the steps; 0 of a formula.
    pub error: f64,
}

impl SpectralRadius {
    /// That of a stencil with zero boundary values, from the eigenvalues of a tridiagonal matrix along each
    /// axis, 2 √(a c) cos(p π / (n + 1)) (Golub and Van Loan, *Matrix Computations*, section 4.8): those of the
    /// axes add up. Along an axis whose entries have opposite signs they are imaginary, so that the moduli of
    /// the two kinds combine as √(x² + y²).
    pub fn of_stencil(stencil: &Stencil, shape: &Shape) -> Self {
        let (mut real, mut imaginary) = (0.0, 0.0);
        for ([previous, next], &n) in stencil.neighbours().into_iter().zip(shape.axes()) {
            // Each weight by itself: a product of entries may overflow.
            let [previous, next] = [previous, next].map(|entry| entry / stencil.d);
            let modulus = 2.0 * previous.abs().sqrt() * next.abs().sqrt();
            let largest = modulus * (PI / (n + 1) as f64).cos();
            let part = if (previous < 0.0) == (next < 0.0) { &mut real } else { &mut imaginary };
            *part += largest;
        }
        Self { value: f64::hypot(real, imaginary), error: 0.0 }
    }

    /// Sweeps of Jacobi's iteration for each decimal digit, once the slowest mode alone is left: ln 10 / −ln ρ;
    /// `None` where it does not converge.
    pub fn sweeps_per_digit(&self) -> Option<f64> {
        let sweeps = -(10.0_f64.ln()) / self.value.ln();
        (self.value < 1.0).then_some(sweeps)
    }
}

/// With as many decimals as its distance from 1 takes, three at least: 0.850, 0.9999953.
impl fmt::Display for SpectralRadius {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let distance = (1.0 - self.value).abs().max(1e-14);
        let decimals = (1.0 - distance.log10().floor()).max(3.0) as usize;
        write!(f, "{:.decimals$}", self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Boundary, Problem, Source};
    use proptest::prelude::*;

    fn problem(shape: Shape, stencil: Stencil) -> Problem {
        let [rhs, initial_guess] = [0.0, 1.0].map(Source::Constant);
        let (operator, boundary) = (stencil.into(), Boundary::default());
        Problem { shape, operator, rhs, initial_guess, boundary }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Against the power iteration on the matrix written out, which knows no formula. Its rate is the
        /// gap between eigenvalues, which small grids have.
        #[test]
        fn the_formula_is_that_of_the_matrix(
            sides in prop::collection::vec(1_usize..6, 1..4),
            entries in prop::array::uniform6(-1.0_f64..1.0),
            signs_agree in any::<bool>(),
            d in prop_oneof![-5.0_f64..-1.0, 1.0_f64..5.0],
        ) {
            let shape = match sides[..] {
                [nx] => Shape::grid_1d(nx, 1),
                [nx, ny] => Shape::grid_2d(nx, ny),
                _ => Shape::grid_3d(sides[0], sides[1], sides[2]),
            }.unwrap();
            // Of one kind along all axes: eigenvalues of both kinds with one modulus turn, and a power
            // iteration would not come to rest.
            let of = |axis: usize, i: usize| {
                if axis >= sides.len() { return 0.0; }
                let entry = entries[2 * axis + i];
                let sign = if signs_agree || i == 0 { 1.0 } else { -1.0 };
                sign * entry.abs().max(0.1)
            };
            let stencil = Stencil {
                d,
                a: of(0, 0), c: of(0, 1), e: of(1, 0), f: of(1, 1), p: of(2, 0), q: of(2, 1),
            };
            let formula = SpectralRadius::of_stencil(&stencil, &shape);
            let matrix = problem(shape, stencil).as_matrix().unwrap();
            let power = SpectralRadius::of_matrix(matrix.operator.matrix().unwrap());
            let off = (formula.value - power.value).abs();
            prop_assert!(off <= 10.0 * power.error + 1e-6, "{formula:?}, {power:?}");
        }
    }

    /// Real along x and imaginary along y: from the eigenvalues of 2 × 2 points, ±√(ac) ± √(ef), by hand.
    #[test]
    fn real_and_imaginary_axes_combine_as_moduli() {
        let shape = Shape::grid_2d(2, 2).unwrap();
        let stencil = Stencil { d: 2.0, a: 1.0, c: 4.0, e: -9.0, f: 1.0, ..Stencil::default() };
        let value = SpectralRadius::of_stencil(&stencil, &shape).value;
        assert!((value - 13.0_f64.sqrt() / 2.0).abs() < 1e-14, "{value}");
    }

    #[test]
    fn a_radius_has_the_digits_that_count() {
        let text = |value| SpectralRadius { value, error: 0.0 }.to_string();
        let shape = Shape::grid_1d(1024, 1).unwrap();
        let poisson = SpectralRadius::of_stencil(&Stencil::poisson(&shape), &shape);
        assert_eq!(poisson.to_string(), "0.9999953");
        assert_eq!(poisson.sweeps_per_digit().unwrap().round(), 490_209.0);
        assert_eq!(
            (text(0.0), text(0.85), text(1.0651)),
            ("0.000".into(), "0.850".into(), "1.065".into())
        );
        assert_eq!(SpectralRadius { value: 1.0, error: 0.0 }.sweeps_per_digit(), None);
    }
}
