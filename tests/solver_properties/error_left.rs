//! How much of the error is left.

use proptest::prelude::*;
use tilescope::grid::{Field, Shape};
use tilescope::problem::{Boundary, Problem, Source, Stencil, error_left, exact, is_exact_cheap};
use tilescope::solver::StopToken;

fn problem(shape: Shape, stencil: Stencil, guess: f64) -> Problem {
    let [rhs, initial_guess] = [1.0, guess].map(Source::Constant);
    let (operator, boundary) = (stencil.into(), Boundary::default());
    Problem { shape, operator, rhs, initial_guess, boundary }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// On the way from the initial guess to the solution, the part that is left is what is left of the way.
    #[test]
    fn a_part_of_the_way_leaves_the_rest(
        sides in prop::collection::vec(1_usize..9, 1..3),
        guess in 2.0_f64..5.0,
        part in 0.0_f64..1.0,
    ) {
        let shape = match sides[..] {
            [nx] => Shape::grid_1d(nx, 1),
            _ => Shape::grid_2d(sides[0], sides[1]),
        }.unwrap();
        let problem = problem(shape, Stencil::poisson(&shape), guess);
        prop_assert!(is_exact_cheap(&problem));
        let exact = exact(&problem, &StopToken::default()).unwrap();
        let mut iterate: Field<f64> = problem.initial_iterate();
        for (value, exact) in iterate.as_mut_slice().iter_mut().zip(exact.as_slice()) {
            *value += part * (exact - *value);
        }
        let left = error_left(&problem, &iterate, &exact).unwrap();
        prop_assert!((left - (1.0 - part)).abs() < 1e-12, "{left}, {part}");
    }
}

#[test]
fn without_an_error_at_first_there_is_no_part_of_it() {
    let shape = Shape::grid_1d(5, 1).unwrap();
    let mut problem = problem(shape, Stencil::poisson(&shape), 0.0);
    problem.rhs = Source::Constant(0.0);
    let exact = exact(&problem, &StopToken::default()).unwrap();
    assert_eq!(error_left(&problem, &problem.initial_iterate(), &exact), None);
}

#[test]
fn large_grids_matrices_and_alternating_directions_are_not_cheap() {
    let of = |shape: Shape| problem(shape, Stencil::poisson(&shape), 1.0);
    let grid = |n| Shape::grid_2d(n, 1024).unwrap();
    assert!(is_exact_cheap(&of(grid(2048))));
    assert!(!is_exact_cheap(&of(grid(2049))));
    assert!(!is_exact_cheap(&of(grid(8)).as_matrix().unwrap()));
    // Weights that differ much along both axes.
    let shape = grid(1024);
    let wind = Stencil { d: 4.0, a: -1.9, c: -0.1, e: -1.9, f: -0.1, ..Stencil::default() };
    assert!(!is_exact_cheap(&problem(shape, wind, 1.0)));
}
