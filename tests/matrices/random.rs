//! Random matrices of all kinds against the naive solver, bit for bit.

use super::cases::{Case, cases};
use proptest::prelude::*;
use tilescope::grid::{Precision, Real, Tiling};
use tilescope::solver::cpu::{self, Level};
use tilescope::solver::{CycleNorms, Layout, Method, NormRequest, Solver};

/// A solver behind the interface that the program uses, so that it is not compiled again for the tests.
pub fn solver<R: Real>(case: &Case, method: Method, layout: Layout) -> Box<dyn Solver> {
    let (problem, level) = (case.problem(), Level::best());
    cpu::at_level(&problem, method, R::PRECISION, case.threads, layout.kernel(), level)
        .expect("little memory")
}

/// Values as bits. Every value of single precision is one of double precision.
pub fn bits<R: Real>(values: &[R]) -> Vec<u64> {
    values.iter().map(|value| value.to_f64().to_bits()).collect()
}

pub fn iterate(solver: &dyn Solver) -> Vec<u64> {
    bits(&solver.solution().expect("a CPU").to_interior())
}

/// Makes a cycle, with all norms.
pub fn cycle(solver: &mut dyn Solver) -> CycleNorms {
    solver.cycles(1, NormRequest::ALL).expect("a CPU").norms[0]
}

fn check<R: Real>(case: &Case) {
    const CYCLES: usize = 3;
    let mut naive = case.naive::<R>();
    let mut classic = case.naive::<R>();
    let start = naive.residual();
    for _ in 0..CYCLES {
        naive.cycle(case.sweeps, case.block, case.overlap);
        classic.sweep();
    }
    let method = case.method();
    for layout in Layout::ALL {
        let mut solver = solver::<R>(case, method.clone(), layout);
        let norms = cycle(solver.as_mut());
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-4 * (1.0 + a.abs());
        assert!(near(norms.residual_before.l2, start), "{layout:?}: {norms:?}, {start}");
        for _ in 1..CYCLES {
            solver.cycles(1, NormRequest::NONE).expect("a CPU");
        }
        assert_eq!(iterate(solver.as_ref()), bits(&naive.x), "{layout:?}");
        let found = solver.norms(NormRequest::RESIDUAL_L2).expect("no GPU").residual;
        assert!(near(found.expect("it was requested").l2, naive.residual()));
    }
    let mut solver = solver::<R>(case, Method::Classic, Layout::Rows);
    for _ in 0..CYCLES {
        cycle(solver.as_mut());
    }
    assert_eq!(iterate(solver.as_ref()), bits(&classic.x));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn random_matrices_agree_in_double_precision(case in cases()) {
        check::<f64>(&case);
    }

    #[test]
    fn random_matrices_agree_in_single_precision(case in cases()) {
        check::<f32>(&case);
    }
}

/// Rows enough that several threads share a cycle.
#[test]
fn threads_change_no_bit() {
    let rows = 60_000;
    let step = |row: usize, far: usize| ((row * 7919 + far) % rows) as u32;
    let beside =
        (0..rows).flat_map(|row| (1..5).map(move |far| (row as u32, step(row, far), -0.2)));
    let case = Case {
        rows,
        entries: beside.filter(|(row, column, _)| row != column).collect(),
        diagonal: vec![1.0; rows],
        rhs: (0..rows).map(|row| (row % 17) as f64).collect(),
        start: vec![0.5; rows],
        sweeps: 3,
        block: 100,
        overlap: 2,
        threads: 0,
    };
    let problem = case.problem();
    let tiling = Tiling::blocks(rows, case.block, case.overlap).expect("valid blocks");
    let made = |threads| {
        let method = Method::Hierarchical { k: case.sweeps, tiling: tiling.clone() };
        let mut solver = cpu::on_cpu(&problem, method, Precision::F64, threads).expect("memory");
        let norms: Vec<_> = (0..3).map(|_| cycle(solver.as_mut()).residual_before).collect();
        (iterate(solver.as_ref()), norms)
    };
    let single = made(1);
    for threads in [2, 3] {
        assert!(made(threads) == single, "{threads} threads");
    }
}
