//! The norms that a cycle finds of its iterate, against sums taken point by point.

use crate::Cycles;
use crate::cases::{Case, any_case};
use crate::naive::{AxisTiles, Naive, Num};
use proptest::prelude::*;
use std::sync::Arc;
use tilescope::solver::{EDGE_WIDTH, Method, NormRequest, Norms, ResidualNorms};

fn l2(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

fn max(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |a, b| a.max(b.abs()))
}

fn close(a: f64, b: f64, relative: f64, absolute: f64) -> bool {
    (a - b).abs() <= relative * a.abs().max(b.abs()) + absolute
}

/// The norms of these values, which may be summed in another order.
fn agree(norms: ResidualNorms, values: &[f64]) -> bool {
    let is_max = |norm| close(norm, max(values), 1e-15, 0.0);
    close(norms.l2, l2(values), 1e-12, 0.0) && norms.max.is_some_and(is_max)
}

fn norms_are_true<R: Num>(case: &Case) -> Result<(), TestCaseError> {
    for (method, k) in [(Method::Classic, 0), (case.hierarchical(), case.k)] {
        let mut naive = Naive::<R>::new(&case.problem);
        let mut solver = case.plain::<R>(method);
        let exact = case.other();
        prop_assert_eq!(solver.norms(NormRequest::ERROR), Ok(Norms::default()));
        prop_assert_eq!(solver.cycle().error, None);
        solver.restart().expect("the CPU does not fail");
        solver.set_exact(Arc::new(exact.clone())).expect("the CPU does not fail");
        for _ in 0..case.cycles {
            let residual = naive.residual();
            let rounding = naive.residual_rounding();
            let by_hand = naive.scaled_change();
            let asked = solver
                .norms(NormRequest::RESIDUAL)
                .expect("the CPU does not fail")
                .residual
                .expect("it");
            prop_assert!(agree(asked, &by_hand), "{:?} {} {}", asked, l2(&by_hand), max(&by_hand));
            let in_all = rounding * (residual.len() as f64).sqrt();
            prop_assert!(close(asked.l2, l2(&residual), 1e-12, in_all));
            let asked_max = asked.max.expect("a pass finds it");
            prop_assert!(close(asked_max, max(&residual), 1e-12, rounding));

            let before = naive.u.clone();
            match k {
                0 => naive.sweep(),
                k => naive.cycle(k, case.tile, case.overlap),
            }
            let norms = solver.cycle();
            prop_assert!(agree(norms.residual_before, &by_hand));
            prop_assert!(close(norms.residual_before.l2, asked.l2, 1e-12, 0.0));
            prop_assert_eq!(norms.residual_before.max, asked.max);

            let changes: Vec<_> =
                naive.u.iter().zip(&before).map(|(new, old)| (*new - *old).to_f64()).collect();
            prop_assert_eq!(norms.max_change, Some(max(&changes)));
            let found = solver.norms(NormRequest::ALL).expect("the CPU does not fail");
            prop_assert_eq!(found.max_change, norms.max_change);

            let exact = exact.to_interior();
            let errors: Vec<_> = naive.u.iter().zip(exact).map(|(u, e)| u.to_f64() - e).collect();
            let error = norms.error.expect("the exact solution is known");
            prop_assert!(close(error, l2(&errors), 1e-12, 0.0));
            prop_assert!(close(error, found.error.expect("known"), 1e-12, 0.0));
        }
    }
    Ok(())
}

fn edge_share_is_true<R: Num>(case: &Case) -> Result<(), TestCaseError> {
    let mut naive = Naive::<R>::new(&case.problem);
    let mut solver = case.plain::<R>(case.hierarchical());
    naive.cycle(case.k, case.tile, case.overlap);
    solver.cycle();
    let shape = &case.problem.shape;
    let axis = |axis: usize, n| AxisTiles::new(n, case.tile[axis], case.overlap[axis]);
    let (x, y, z) = (axis(0, shape.nx()), axis(1, shape.ny()), axis(2, shape.nz()));
    let is_near = |index: usize| {
        let (i, row) = (index % shape.nx(), index / shape.nx());
        x.near(i, EDGE_WIDTH)
            || (shape.dim() > 1 && y.near(row % shape.ny(), EDGE_WIDTH))
            || (shape.dim() > 2 && z.near(row / shape.ny(), EDGE_WIDTH))
    };
    let squares: Vec<_> = naive.scaled_change().iter().map(|r| r * r).collect();
    let near: Vec<_> = (0..squares.len()).filter(|&index| is_near(index)).collect();
    let all: f64 = squares.iter().sum();
    let share = solver.edge_share(&case.tiling()).expect("the CPU does not fail");
    let residual: f64 = near.iter().map(|&index| squares[index]).sum();
    let expected = if all == 0.0 { 0.0 } else { residual / all };
    prop_assert!(close(share.residual, expected, 1e-12, 1e-15));
    prop_assert!(close(share.points, near.len() as f64 / squares.len() as f64, 1e-12, 1e-15));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn norms_are_those_of_the_points(case in any_case()) {
        norms_are_true::<f64>(&case)?;
        norms_are_true::<f32>(&case)?;
    }

    #[test]
    fn edge_share_counts_points_near_borders(case in any_case()) {
        edge_share_is_true::<f64>(&case)?;
        edge_share_is_true::<f32>(&case)?;
    }
}
