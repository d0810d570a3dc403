//! Coefficients per point: on random conductivities the solvers give the bits of the rules.

use crate::cases::{Case, per_point_case};
use crate::naive::{Naive, Num};
use crate::{Cycles, bits, bits_of, on_cpu};
use proptest::prelude::*;
use std::sync::Arc;
use tilescope::grid::{Shape, Tiling};
use tilescope::problem::{
    Boundary, Conductivity, Diffusion, Operator, Problem, Source, Stencil, residual_field,
};
use tilescope::solver::cpu::Level;
use tilescope::solver::{Followed, Method, NextCycle, NormRequest, Quantity, Schedule, Window};

/// Both methods, plain and damped, with and without norms; and the residual, which d_i weighs, as every way of
/// asking for it gives it.
fn matches_naive<R: Num>(case: &Case, omega: f64, measure: bool) -> Result<(), TestCaseError> {
    for method in [case.hierarchical(), Method::Classic] {
        let is_tiled = method.tiling().is_some();
        let mut naive = Naive::<R>::new(&case.problem);
        naive.omega = omega;
        let mut solver = case.plain::<R>(method.damped(omega));
        for cycle in 0..case.cycles {
            let expected = naive.scaled_change();
            let jacobi = |value: f64| value / omega;
            if omega == 1.0 {
                let shape = case.problem.shape;
                let (nx, rows) = (shape.nx(), shape.rows());
                let window = Window { most: [nx, rows], ..Window::whole(nx, rows) };
                let samples = solver.sample(Quantity::Residual, &window).expect("a CPU");
                prop_assert_eq!(
                    samples.values,
                    expected.iter().map(|r| *r as f32).collect::<Vec<_>>()
                );
            }
            let l2 = expected.iter().map(|r| jacobi(*r).powi(2)).sum::<f64>().sqrt();
            let max = expected.iter().fold(0.0, |max: f64, r| max.max(jacobi(*r).abs()));
            let before = naive.u.clone();
            if is_tiled {
                naive.cycle(case.k, case.tile, case.overlap);
            } else {
                naive.sweep();
            }
            if measure {
                let norms = solver.cycle();
                let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs();
                prop_assert!(near(norms.residual_before.l2, l2), "{norms:?} {l2}");
                prop_assert!(
                    near(norms.residual_before.max.expect("a CPU"), max),
                    "{norms:?} {max}"
                );
                let changes = naive.u.iter().zip(&before).map(|(new, old)| (*new - *old).to_f64());
                let change = changes.fold(0.0, |most: f64, change| most.max(change.abs()));
                prop_assert_eq!(norms.max_change, Some(change));
            } else {
                solver.cycle_without_norms();
            }
            prop_assert_eq!(bits(&solver.iterate()), bits_of(&naive.u), "cycle {}", cycle);
        }
        // The residual that confirms a stop is b − A u of the same rows.
        let found = residual_field(&case.problem, &solver.iterate()).to_interior();
        let rounding = naive.residual_rounding();
        for (found, expected) in found.iter().zip(naive.residual()) {
            prop_assert!((found - expected).abs() <= rounding, "{found} {expected}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn cycles_and_residuals_are_those_of_the_rules(
        case in per_point_case(),
        omega in prop_oneof![2 => Just(1.0), 1 => 0.1..1.9_f64],
        measure in any::<bool>(),
    ) {
        matches_naive::<f64>(&case, omega, measure)?;
        matches_naive::<f32>(&case, omega, measure)?;
    }

    /// Any vector length and number of threads.
    #[test]
    fn every_machine_has_the_same_bits(case in per_point_case()) {
        for method in [Method::Classic, case.hierarchical()] {
            let run = |level, threads| {
                let mut solver = case.solver::<f64>(method.clone(), level, threads);
                let norms: Vec<_> = (0..case.cycles).map(|_| solver.cycle()).collect();
                let share = solver.edge_share(&case.tiling()).expect("a CPU");
                (norms, solver.norms(NormRequest::ALL).expect("a CPU").residual, share, bits(&solver.iterate()))
            };
            let expected = run(Level::Plain, 1);
            for level in Level::available() {
                prop_assert_eq!(run(level, 3), expected.clone(), "{:?}", level);
            }
        }
    }

    /// Written out as a sparse matrix the rows are those of the grid: both residuals are the same sums.
    #[test]
    fn rows_are_those_of_the_matrix(case in per_point_case()) {
        let problem = Problem { boundary: Boundary::default(), ..(*case.problem).clone() };
        let of_grid = residual_field(&problem, &problem.initial_iterate()).to_interior();
        let matrix = problem.as_matrix().expect("small");
        let of_matrix = residual_field(&matrix, &matrix.initial_iterate()).to_interior();
        let largest = of_grid.iter().fold(0.0, |most: f64, r| most.max(r.abs()));
        for (one, other) in of_grid.iter().zip(&of_matrix) {
            prop_assert!((one - other).abs() <= 1e-11 * largest, "{one} {other}");
        }
    }

    /// The view inside a cycle cuts rows out of the grid.
    #[test]
    fn the_inside_of_a_cycle_has_the_rows_of_its_tile(case in per_point_case(), tile in any::<[u8; 2]>()) {
        let tiling = case.tiling();
        let solver = case.plain::<f64>(case.hierarchical());
        let cycle = NextCycle {
            solver: solver.as_ref(),
            problem: &case.problem,
            tiling: &tiling,
            schedule: Schedule::default(),
            k: case.k,
            omega: 1.0,
            precision: tilescope::grid::Precision::F64,
        };
        prop_assume!(case.problem.shape.dim() == 2);
        let inside = cycle.inside(Followed::Tile(tile.map(usize::from), None), case.k).expect("a CPU");
        let inside = inside.expect("a small tile");
        let mut after = case.plain::<f64>(case.hierarchical());
        after.cycle();
        let [columns, rows] = &inside.owned;
        let [left, top] = [0, 1].map(|axis| inside.computed[axis].start);
        for (i, row) in columns.clone().flat_map(|i| rows.clone().map(move |row| (i, row))) {
            let at = (row - top + 1) * inside.size[0] + i - left + 1;
            prop_assert_eq!(inside.iterate[at], after.iterate().at(i, row) as f32);
        }
    }
}

/// A constant conductivity of 1 is Poisson's equation. Its order of operations is that of any weights, so that the
/// iterates agree to rounding.
#[test]
fn a_constant_conductivity_is_poissons_equation() {
    let shape = Shape::grid_2d(37, 21).unwrap();
    let ones = Conductivity::Array(vec![1.0; shape.points()].into());
    let rows = Diffusion::new(&shape, ones).unwrap();
    let poisson = Stencil::poisson(&shape);
    let rhs = Source::Random { seed: 4 };
    let problem = |operator: Operator| Problem {
        shape,
        operator,
        rhs: rhs.clone(),
        initial_guess: Source::Constant(0.0),
        boundary: Boundary::default(),
    };
    let tiling = Tiling::new(shape.axes(), &[16, 8], &[4, 2]).unwrap();
    let method = Method::Hierarchical { k: 5, tiling };
    let solver = |operator: Operator| {
        let problem = Arc::new(problem(operator));
        on_cpu::<f64>(&problem, method.clone(), Level::best(), 1)
    };
    let (mut own, mut same) = (solver(rows.into()), solver(poisson.into()));
    for _ in 0..20 {
        own.cycle();
        same.cycle();
    }
    let (own, same) = (own.iterate().to_interior(), same.iterate().to_interior());
    for (own, same) in own.iter().zip(&same) {
        assert!((own - same).abs() <= 1e-13, "{own} {same}");
    }
}
