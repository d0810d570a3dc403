//! Accelerations against naive ones on the matrix written out.

use super::*;
use crate::grid::Shape;
use crate::problem::{Boundary, Source, Stencil, residual_field, sine_mode};
use proptest::prelude::*;

fn problem(shape: Shape, stencil: Stencil) -> Problem {
    let [rhs, initial_guess] = [7, 8].map(|seed| Source::Random { seed });
    let boundary = Boundary { left: 1.0, bottom: -0.5, front: 0.25, ..Boundary::default() };
    Problem { shape, operator: stencil.into(), rhs, initial_guess, boundary }
}

/// Small grids with symmetric stencils that are diagonally dominant.
fn problems() -> impl Strategy<Value = Problem> {
    let sides = prop::collection::vec(1_usize..6, 1..4);
    let entries = prop::array::uniform3(-1.0_f64..1.0);
    (sides, entries, prop_oneof![-9.0_f64..-6.5, 6.5_f64..9.0]).prop_map(|(sides, entries, d)| {
        let shape = match sides[..] {
            [nx] => Shape::grid_1d(nx, 2),
            [nx, ny] => Shape::grid_2d(nx, ny),
            _ => Shape::grid_3d(sides[0], sides[1], sides[2]),
        };
        let [x, y, z] = [0, 1, 2].map(|axis| if axis < sides.len() { entries[axis] } else { 0.0 });
        problem(shape.unwrap(), Stencil { d, a: x, c: x, e: y, f: y, p: z, q: z })
    })
}

/// The rows of the matrix, the right-hand side with what the boundary adds, and the initial guess.
fn written_out(problem: &Problem) -> (Vec<Vec<f64>>, Vec<f64>, Vec<f64>) {
    let dense = problem.as_matrix().unwrap();
    let matrix = dense.operator.matrix().unwrap();
    let n = matrix.rows();
    let rows = (0..n).map(|row| (0..n).map(|column| matrix.at(row, column)).collect()).collect();
    let values = |source: &Source| (0..n).map(|i| source.at(n, i, 0)).collect();
    (rows, values(&dense.rhs), values(&dense.initial_guess))
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

fn residual(rows: &[Vec<f64>], rhs: &[f64], u: &[f64]) -> Vec<f64> {
    let product = |row: &Vec<f64>| row.iter().zip(u).map(|(a, u)| a * u).sum::<f64>();
    rows.iter().zip(rhs).map(|(row, b)| b - product(row)).collect()
}

fn radius(problem: &Problem) -> SpectralRadius {
    SpectralRadius::of_stencil(problem.operator.stencil().unwrap(), &problem.shape, 1.0)
}

/// ‖b − A u‖₂ of the iterate, computed with twice the precision.
fn true_residual(made: &AcceleratedJacobi, problem: &Problem) -> f64 {
    norm(&residual_field(problem, &made.solution(problem)).to_interior())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn chebyshev_is_the_three_term_recurrence(problem in problems()) {
        let (rows, rhs, mut current) = written_out(&problem);
        let rho = radius(&problem).value;
        let jacobi = |u: &[f64]| -> Vec<f64> {
            let changes = residual(&rows, &rhs, u);
            (0..u.len()).map(|i| u[i] + changes[i] / rows[i][i]).collect()
        };
        let mut made =
            AcceleratedJacobi::new(Acceleration::Chebyshev, &problem, Some(radius(&problem)))
                .unwrap();
        let start = norm(&residual(&rows, &rhs, &current));
        let mut previous = current.clone();
        let mut omega = 1.0;
        for sweep in 1..=12 {
            omega = match sweep {
                1 => 1.0,
                2 => 1.0 / (1.0 - rho * rho / 2.0),
                _ => 1.0 / (1.0 - rho * rho * omega / 4.0),
            };
            let swept = jacobi(&current);
            let next =
                (0..swept.len()).map(|i| omega * (swept[i] - previous[i]) + previous[i]).collect();
            previous = std::mem::replace(&mut current, next);
            made.sweep().unwrap();
            let expected = norm(&residual(&rows, &rhs, &current));
            let found = made.residual().l2;
            prop_assert!((found - expected).abs() <= 1e-12 * start, "{found} {expected}");
            prop_assert!((true_residual(&made, &problem) - expected).abs() <= 1e-12 * start);
        }
        prop_assert_eq!(made.sweeps(), 12);
    }

    #[test]
    fn conjugate_gradients_end_after_as_many_sweeps_as_points(problem in problems()) {
        let mut made =
            AcceleratedJacobi::new(Acceleration::ConjugateGradients, &problem, None).unwrap();
        let start = made.residual().l2;
        for _ in 0..problem.shape.points() {
            made.sweep().unwrap();
            let left = true_residual(&made, &problem);
            prop_assert!((made.residual().l2 - left).abs() <= 1e-12 * start);
        }
        prop_assert!(made.residual().l2 <= 1e-10 * start, "{}", made.residual().l2 / start);
        // At the end it stays.
        made.sweep().unwrap();
    }
}

#[test]
fn both_are_far_faster_than_jacobi_s_iteration() {
    let shape = Shape::grid_2d(48, 48).unwrap();
    let problem = problem(shape, Stencil::poisson(&shape));
    let rho = radius(&problem).value;
    let jacobi = (1e-6_f64.ln() / rho.ln()) as u64;
    for acceleration in Acceleration::ALL {
        let mut made =
            AcceleratedJacobi::new(acceleration, &problem, Some(radius(&problem))).unwrap();
        let start = made.residual().l2;
        while made.residual().l2 > 1e-6 * start {
            made.sweep().unwrap();
            assert!(made.sweeps() < jacobi / 10, "{acceleration:?}");
        }
    }
}

/// Of an error in the slowest mode Chebyshev's polynomial leaves 1 / T_m(1/ρ) = 1 / cosh(m arcosh(1/ρ)) after m sweeps;
/// of conjugate gradients the residual is at most 2 √κ q^m of the first, with κ = (1 + ρ) / (1 − ρ) of the scaled matrix
/// and q = (√κ − 1) / (√κ + 1).
#[test]
fn both_are_as_fast_as_theory_says() {
    let shape = Shape::grid_2d(40, 24).unwrap();
    let [x, y] = [40, 24].map(|n| sine_mode(n, 1));
    let mode: Vec<f64> = y.iter().flat_map(|y| x.iter().map(move |x| x * y)).collect();
    let smooth = Problem {
        shape,
        operator: Stencil::poisson(&shape).into(),
        rhs: Source::Constant(0.0),
        initial_guess: Source::Array(mode.into()),
        boundary: Boundary::default(),
    };
    let rho = radius(&smooth).value;
    let mut made =
        AcceleratedJacobi::new(Acceleration::Chebyshev, &smooth, Some(radius(&smooth))).unwrap();
    let start = made.residual().l2;
    for sweep in 1..=150 {
        made.sweep().unwrap();
        let expected = start / (f64::from(sweep) * (1.0 / rho).acosh()).cosh();
        let found = made.residual().l2;
        assert!((found - expected).abs() <= 1e-9 * start, "{sweep}: {found} {expected}");
    }
    let rough = problem(shape, Stencil::poisson(&shape));
    let mut made = AcceleratedJacobi::new(Acceleration::ConjugateGradients, &rough, None).unwrap();
    let start = made.residual().l2;
    let kappa = ((1.0 + rho) / (1.0 - rho)).sqrt();
    let q = (kappa - 1.0) / (kappa + 1.0);
    for sweep in 1..=150 {
        made.sweep().unwrap();
        let share = made.residual().l2 / start / (2.0 * kappa * q.powi(sweep));
        assert!(share <= 1.0, "{sweep}: {share}");
    }
    // The bound says something: a method as slow as Jacobi's would break it.
    assert!(rho.powi(150) > 2.0 * kappa * q.powi(150));
}

#[test]
fn what_cannot_be_accelerated_is_refused_in_a_sentence() {
    let shape = Shape::grid_2d(6, 5).unwrap();
    let poisson = problem(shape, Stencil::poisson(&shape));
    let wind = problem(shape, Stencil::convection_diffusion(&shape, [3.0, 0.0, 0.0]));
    let of = |acceleration, problem: &Problem, value: Option<f64>| {
        let radius = value.map(|value| SpectralRadius { value, error: 0.01 });
        AcceleratedJacobi::new(acceleration, problem, radius).err()
    };
    for acceleration in Acceleration::ALL {
        let why = of(acceleration, &wind, Some(0.5));
        assert_eq!(
            why,
            Some(AccelerationError::Matrix(crate::problem::ScalingError::NotSymmetric))
        );
    }
    let chebyshev = |value| of(Acceleration::Chebyshev, &poisson, value);
    assert_eq!(chebyshev(None), Some(AccelerationError::RadiusUnknown));
    assert_eq!(chebyshev(Some(0.995)), Some(AccelerationError::NotConvergent));
    assert_eq!(chebyshev(Some(0.98)), None);
    assert_eq!(of(Acceleration::ConjugateGradients, &poisson, None), None);
    // −∇²u − c u with a large c has eigenvalues of both signs.
    let indefinite = Stencil { d: 0.1, a: -1.0, c: -1.0, e: -1.0, f: -1.0, ..Stencil::default() };
    let indefinite = problem(shape, indefinite);
    let mut made =
        AcceleratedJacobi::new(Acceleration::ConjugateGradients, &indefinite, None).unwrap();
    let end = (0..30).find_map(|_| made.sweep().err());
    assert_eq!(end, Some(AccelerationError::NotDefinite));
}
