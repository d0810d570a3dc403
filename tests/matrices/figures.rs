//! Cycles and entries that an independent program counted (b = 1, x₀ = 0, tolerance 1e-6).

use std::sync::Arc;
use tilescope::problem::matrix::{BlockEntries, Ordering};
use tilescope::run::{MatrixSpec, Outcome, Plan, Planner, ProblemKind, Run, RunSpec};

fn plan(source: &str, ordering: Ordering, block: usize, sweeps: usize) -> Arc<Plan> {
    let mut spec = RunSpec::default();
    let matrix = MatrixSpec { ordering, ..MatrixSpec::new(source) };
    spec.problem.kind = ProblemKind::Matrix;
    spec.problem.shape = vec![matrix.rows().expect("a known name")];
    spec.problem.matrix = Some(matrix);
    (spec.method.tile, spec.method.k) = (vec![block], sweeps.into());
    spec.stop.tolerance = Some(1e-6);
    Arc::new(Planner::default().plan(&spec).expect("a valid run"))
}

#[track_caller]
fn check(plan: &Arc<Plan>, cycles: u64, [outside, inside]: [usize; 2]) {
    let matrix = plan.problem.operator.matrix().expect("a matrix");
    let entries = BlockEntries::of(matrix, plan.tiling.x());
    assert_eq!([entries.outside, entries.inside], [outside, inside]);
    let mut run = Run::new(plan).expect("little memory");
    while run.outcome().is_none() {
        run.advance(u64::MAX).expect("the CPU does not fail");
    }
    assert_eq!((run.outcome(), run.cycle()), (Some(&Outcome::Converged), cycles));
}

#[test]
fn heat_1d() {
    for (block, sweeps, cycles, entries) in
        [(100, 1, 28_348, [0, 198]), (25, 8, 4_462, [6, 192]), (25, 32, 1_958, [6, 192])]
    {
        check(&plan("heat-1d", Ordering::Natural, block, sweeps), cycles, entries);
    }
}

#[test]
fn trefethen() {
    for (sweeps, cycles) in [(1, 76), (4, 19)] {
        check(&plan("trefethen-2000", Ordering::Natural, 128, sweeps), cycles, [15_970, 23_936]);
    }
}

#[test]
fn ice_sheet_of_256_rows() {
    let entries = [1_010_434, 335_286];
    check(&plan("ice-sheet", Ordering::Natural, 256, 1), 596, entries);
    check(&plan("ice-sheet", Ordering::Natural, 256, 8), 449, entries);
}

#[test]
fn ice_sheet_of_1024_rows() {
    check(&plan("ice-sheet", Ordering::Natural, 1024, 8), 164, [295_856, 1_049_864]);
}

#[test]
fn ice_sheet_in_tiles() {
    check(&plan("ice-sheet", Ordering::Tiles, 256, 8), 137, [174_546, 1_171_174]);
}
