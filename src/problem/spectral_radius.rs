//! The spectral radius of Jacobi's iteration on a grid.

use super::Stencil;
use super::matrix::SpectralRadius;
use crate::grid::Shape;
use std::f64::consts::PI;

impl SpectralRadius {
    /// That of a stencil with zero boundary values, from the eigenvalues of a tridiagonal matrix along each
    /// axis, 2 √(a c) cos(p π / (n + 1)) (Golub and Van Loan, *Matrix Computations*, section 4.8): those of the
    /// axes add up. Along an axis whose entries have opposite signs they are imaginary, so that the moduli of
    /// the two kinds combine as √(x² + y²). Damping by ω makes 1 − ω + ω λ of every eigenvalue λ; without, ω is 1.
    pub fn of_stencil(stencil: &Stencil, shape: &Shape, omega: f64) -> Self {
        let (mut real, mut imaginary) = (0.0, 0.0);
        for ([previous, next], &n) in stencil.neighbours().into_iter().zip(shape.axes()) {
            // Each weight by itself: a product of entries may overflow.
            let [previous, next] = [previous, next].map(|entry| entry / stencil.d);
            let modulus = 2.0 * previous.abs().sqrt() * next.abs().sqrt();
            let largest = modulus * (PI / (n + 1) as f64).cos();
            let part = if (previous < 0.0) == (next < 0.0) { &mut real } else { &mut imaginary };
            *part += largest;
        }
        let of = |real: f64| f64::hypot(1.0 - omega + omega * real, omega * imaginary);
        Self { value: of(real).max(of(-real)), error: 0.0 }
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
            let formula = SpectralRadius::of_stencil(&stencil, &shape, 1.0);
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
        let value = SpectralRadius::of_stencil(&stencil, &shape, 1.0).value;
        assert!((value - 13.0_f64.sqrt() / 2.0).abs() < 1e-14, "{value}");
    }

    /// Below 1 the slowest smooth mode decides, above 1 its mirror image, which changes sign.
    #[test]
    fn damping_shifts_the_modes() {
        let shape = Shape::grid_1d(9, 1).unwrap();
        let of = |omega| SpectralRadius::of_stencil(&Stencil::poisson(&shape), &shape, omega).value;
        let slowest = (PI / 10.0).cos();
        assert!((of(1.0) - slowest).abs() < 1e-14);
        assert!((of(0.5) - 0.5 * (1.0 + slowest)).abs() < 1e-14);
        assert!((of(1.5) - (0.5 + 1.5 * slowest)).abs() < 1e-14);
    }

    #[test]
    fn a_radius_has_the_digits_that_count() {
        let text = |value| SpectralRadius { value, error: 0.0 }.to_string();
        let shape = Shape::grid_1d(1024, 1).unwrap();
        let poisson = SpectralRadius::of_stencil(&Stencil::poisson(&shape), &shape, 1.0);
        assert_eq!(poisson.to_string(), "0.9999953");
        assert_eq!(poisson.sweeps_per_digit().unwrap().round(), 490_222.0);
        assert_eq!(
            (text(0.0), text(0.85), text(1.0651)),
            ("0.000".into(), "0.850".into(), "1.065".into())
        );
        assert_eq!(SpectralRadius { value: 1.0, error: 0.0 }.sweeps_per_digit(), None);
    }
}
