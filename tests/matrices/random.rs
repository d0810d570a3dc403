//! Random matrices of all kinds against the naive solver, bit for bit.

use super::naive::Naive;
use proptest::prelude::*;
use std::sync::Arc;
use tilescope::grid::{Real, Shape, Tiling};
use tilescope::problem::matrix::Entry;
use tilescope::problem::{Boundary, Csr, Operator, Problem, Source};
use tilescope::solver::cpu::{CpuSolver, Level};
use tilescope::solver::{Layout, Method, NormRequest, Observe};

/// A system of a random matrix, and how it is solved.
#[derive(Clone, Debug)]
struct Case {
    rows: usize,
    /// Beside the diagonal, duplicates among them.
    entries: Vec<Entry>,
    diagonal: Vec<f64>,
    rhs: Vec<f64>,
    start: Vec<f64>,
    sweeps: usize,
    block: usize,
    overlap: usize,
    threads: usize,
}

fn cases() -> impl Strategy<Value = Case> {
    // One row, few and many; no entries beside the diagonal, a few, dense rows.
    let rows = prop_oneof![1 => Just(1usize), 6 => 2..40usize];
    (rows, 0..3u8).prop_flat_map(|(rows, density)| {
        let count = match density {
            0 => 0..1,
            1 => 0..3 * rows + 1,
            _ => 0..rows * rows + 1,
        };
        let last = rows as u32 - 1;
        let entry = (0..=last, 0..=last, prop_oneof![1 => Just(0.0), 6 => -1.0..1.0f64]);
        let dense_row = prop::option::of(0..=last);
        let values = || prop::collection::vec(-2.0..2.0f64, rows);
        let diagonal = prop::collection::vec(prop_oneof![1.0..9.0f64, -9.0..-1.0f64], rows);
        (
            (prop::collection::vec(entry, count), dense_row, diagonal, values(), values()),
            (1..6usize, 1..rows + 3, 0..4usize, 1..4usize),
        )
            .prop_map(move |((mut entries, dense, diagonal, rhs, start), settings)| {
                let (sweeps, block, half_overlap, threads) = settings;
                entries.extend(
                    dense.into_iter().flat_map(|row| (0..=last).map(move |c| (row, c, 0.25))),
                );
                entries.retain(|(row, column, _)| row != column);
                let overlap = 2 * half_overlap;
                Case { rows, entries, diagonal, rhs, start, sweeps, block, overlap, threads }
            })
    })
}

impl Case {
    fn problem(&self) -> Arc<Problem> {
        let diagonal =
            self.diagonal.iter().enumerate().map(|(row, d)| (row as u32, row as u32, *d));
        let entries: Vec<_> = self.entries.iter().copied().chain(diagonal).collect();
        let matrix = Csr::from_entries(self.rows, &entries).expect("a diagonal");
        Arc::new(Problem {
            shape: Shape::grid_1d(self.rows, 1).expect("some rows"),
            operator: Operator::Csr(Arc::new(matrix)),
            rhs: Source::Array(self.rhs.clone().into()),
            initial_guess: Source::Array(self.start.clone().into()),
            boundary: Boundary::default(),
        })
    }

    fn naive<R: Real>(&self) -> Naive<R> {
        let mut rows = vec![vec![None; self.rows]; self.rows];
        for (row, d) in self.diagonal.iter().enumerate() {
            rows[row][row] = Some(*d);
        }
        for (row, column, value) in &self.entries {
            let entry = &mut rows[*row as usize][*column as usize];
            *entry = Some(entry.map_or(*value, |sum: f64| sum + value));
        }
        Naive::new(rows, self.rhs.clone(), &self.start)
    }

    fn check<R: Real>(&self) {
        const CYCLES: usize = 3;
        let bits = |values: &[R]| -> Vec<u64> {
            values.iter().map(|value| value.to_f64().to_bits()).collect()
        };
        let problem = self.problem();
        let mut naive = self.naive::<R>();
        let mut classic = self.naive::<R>();
        let start = naive.residual();
        for _ in 0..CYCLES {
            naive.cycle(self.sweeps, self.block, self.overlap);
            classic.sweep();
        }
        let tiling = Tiling::blocks(self.rows, self.block, self.overlap).expect("valid blocks");
        let method = Method::Hierarchical { k: self.sweeps, tiling };
        let solver = |method: &Method, layout, threads| {
            let level = Level::best();
            CpuSolver::<R>::with_layout(&problem, method.clone(), layout, level, threads)
                .expect("little memory")
        };
        for layout in Layout::ALL {
            let mut solver = solver(&method, layout, self.threads);
            let norms = solver.cycle();
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-4 * (1.0 + a.abs());
            assert!(near(norms.residual_before.l2, start), "{layout:?}: {norms:?}, {start}");
            for _ in 1..CYCLES {
                solver.cycle_without_norms();
            }
            assert_eq!(bits(solver.iterate().interior(0)), bits(&naive.x), "{layout:?}");
            let found = solver.norms(NormRequest::RESIDUAL_L2).expect("no GPU").residual;
            assert!(near(found.expect("it was requested").l2, naive.residual()));
        }
        let mut solver = solver(&Method::Classic, Layout::Rows, self.threads);
        for _ in 0..CYCLES {
            solver.cycle();
        }
        assert_eq!(bits(solver.iterate().interior(0)), bits(&classic.x));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn random_matrices_agree_in_double_precision(case in cases()) {
        case.check::<f64>();
    }

    #[test]
    fn random_matrices_agree_in_single_precision(case in cases()) {
        case.check::<f32>();
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
        let mut solver =
            CpuSolver::<f64>::new(&problem, method, Level::best(), threads).expect("memory");
        let norms: Vec<_> = (0..3).map(|_| solver.cycle().residual_before).collect();
        (solver.iterate().to_interior(), norms)
    };
    let single = made(1);
    for threads in [2, 3] {
        assert!(made(threads) == single, "{threads} threads");
    }
}
