//! Sparse matrices on a GPU: every kernel gives the bits of the CPU and of the naive solver.

use crate::iterates::{bits, check, maxima, request, settings, share};
use crate::matrix_cases::{Case, cases};
use proptest::prelude::*;
use std::sync::Arc;
use tilescope::grid::{Precision, Real};
use tilescope::problem::matrix::{Graph, Ordering, shuffled};
use tilescope::problem::{Operator, Problem};
use tilescope::run::{Backend, MatrixSpec, Outcome, Planner, ProblemKind, Run, RunSpec};
use tilescope::solver::{
    FieldRequest, Kernel, Method, NormRequest, Quantity, Solver, SolverError, Window, on_cpu,
};

pub const TESTS: &[(&str, fn())] = &[
    ("random_matrices_have_the_bits_of_the_naive_solver", random_matrices),
    ("larger_matrices_in_any_order_have_the_bits_of_the_cpu", larger_matrices),
    ("many_cycles_of_a_matrix_replayed_are_the_same_cycles", many_cycles),
    ("a_matrix_is_observed_as_on_the_cpu", a_matrix_is_observed_as_on_the_cpu),
    ("checked_figures_hold_on_the_GPU", checked_figures),
    ("blocks_that_do_not_fit_are_refused", blocks_that_do_not_fit_are_refused),
];

pub fn kernels() -> impl Strategy<Value = Kernel> {
    prop::sample::select(Kernel::of_matrix())
}

pub fn precisions() -> impl Strategy<Value = Precision> {
    prop::sample::select(Precision::ALL.to_vec())
}

/// Makes cycles, on poison, on a GPU and on the CPU, compares what comes out, and returns the last iterate.
fn compare(
    problem: &Arc<Problem>,
    method: &Method,
    precision: Precision,
    kernel: Kernel,
    cycles: usize,
) -> Vec<f64> {
    let mut gpu = crate::gpu::poisoned_solver(problem, method.clone(), precision, kernel, None)
        .expect("a GPU that takes it");
    let mut cpu = on_cpu(problem, method.clone(), precision, 1).expect("memory");
    for cycle in 0..cycles {
        let with_maxima = cycle % 2 == 0;
        let there = gpu.cycles(1, request(with_maxima)).expect("a GPU at work").norms[0];
        let here = cpu.cycles(1, NormRequest::ALL).expect("a CPU").norms[0];
        let same = |a: f64, b: f64| {
            (a - b).abs() <= 1e-11 * b.abs().max(f64::MIN_POSITIVE) || a.is_nan() && b.is_nan()
        };
        let (a, b) = (there.residual_before.l2, here.residual_before.l2);
        assert!(same(a, b), "cycle {cycle}, kernel {kernel:?}: {there:?} {here:?}");
        assert_eq!(maxima(&there), if with_maxima { maxima(&here) } else { [None, None] });
        let [found, expected] =
            [&gpu, &cpu].map(|solver| solver.norms(NormRequest::ALL).expect("norms"));
        assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    }
    let (there, here) = (gpu.solution().expect("a GPU"), cpu.solution().expect("a CPU"));
    assert!(bits(&there) == bits(&here), "kernel {kernel:?} {precision:?} {method:?}");
    there.to_interior()
}

/// The iterate of the naive solver.
fn naive<R: Real>(case: &Case, cycles: usize) -> Vec<f64> {
    let mut naive = case.naive::<R>();
    for _ in 0..cycles {
        naive.cycle(case.sweeps, case.block, case.overlap);
    }
    naive.x.iter().map(|value| value.to_f64()).collect()
}

fn random_matrices() {
    let is_classic = prop::bool::weighted(0.1);
    check(settings(), (cases(), kernels(), precisions(), is_classic), |drawn| {
        let (case, kernel, precision, is_classic) = drawn;
        const CYCLES: usize = 3;
        if is_classic {
            compare(&case.problem(), &Method::Classic, precision, Kernel::AUTO, CYCLES);
            return;
        }
        let there = compare(&case.problem(), &case.method(), precision, kernel, CYCLES);
        let here = match precision {
            Precision::F32 => naive::<f32>(&case, CYCLES),
            Precision::F64 => naive::<f64>(&case, CYCLES),
        };
        let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert!(bits(&there) == bits(&here), "kernel {kernel:?} {precision:?} {case:?}");
    });
}

/// Matrices of several blocks of many warps: a band, entries far away, and a few rows that are nearly full.
pub fn larger() -> impl Strategy<Value = Case> {
    let blocks = prop_oneof![1..64usize, 65..700usize, 1000..1300usize];
    let far = prop::collection::vec((any::<u32>(), any::<u32>(), -0.5..0.5f64), 0..4000);
    let dense = prop::collection::vec(any::<u32>(), 0..3);
    let settings = (1..9usize, blocks, prop_oneof![3 => Just(0usize), 1 => 1..4usize]);
    (100..3000usize, far, dense, settings, 0..12u32).prop_map(
        |(rows, far, dense, (sweeps, block, half_overlap), band)| {
            let count = rows as u32;
            let near = (0..count).flat_map(|row| {
                let columns = row.saturating_sub(band)..(row + band + 1).min(count);
                columns.map(move |column| (row, column, -0.5 / f64::from(band.max(1))))
            });
            let far = far.into_iter().map(|(row, column, a)| (row % count, column % count, a));
            let full = dense.into_iter().flat_map(|row| {
                (0..count).step_by(3).map(move |column| (row % count, column, 1e-3))
            });
            let entries = near.chain(far).chain(full).filter(|(row, column, _)| row != column);
            Case {
                rows,
                entries: entries.collect(),
                diagonal: vec![2.0; rows],
                rhs: (0..rows).map(|row| (row % 7) as f64 - 3.0).collect(),
                start: vec![0.25; rows],
                sweeps,
                block,
                overlap: 2 * half_overlap,
                threads: 1,
            }
        },
    )
}

/// The problem with its rows in another order.
pub fn in_order(problem: &Problem, ordering: Ordering, block: usize) -> Arc<Problem> {
    let matrix = problem.operator.matrix().expect("a matrix");
    let order = match ordering {
        Ordering::Rcm => Graph::new(matrix).reverse_cuthill_mckee(),
        Ordering::Grown => Graph::new(matrix).grown(block),
        Ordering::Random => shuffled(matrix.rows(), 5),
        Ordering::Natural | Ordering::Tiles => (0..matrix.rows() as u32).collect(),
    };
    let operator = Operator::Csr(Arc::new(matrix.permuted(&order)));
    Arc::new(Problem { operator, ..problem.clone() })
}

fn larger_matrices() {
    let orderings = prop::sample::select(Ordering::ALL.to_vec());
    check(settings() / 4, (larger(), kernels(), precisions(), orderings), |drawn| {
        let (case, kernel, precision, ordering) = drawn;
        let problem = in_order(&case.problem(), ordering, case.block);
        // A row of a thread each: of large blocks only the others.
        let is_taken = match crate::gpu::solver(&problem, case.method(), precision, kernel) {
            Ok(_) => true,
            Err(SolverError::Kernel { .. }) => false,
            Err(error) => panic!("{error}"),
        };
        let is_resident = kernel.name() == "resident";
        assert!(is_taken || is_resident || case.overlap > 0, "{kernel:?} refuses {}", case.block);
        let kernel = if is_taken { kernel } else { Kernel::AUTO };
        compare(&problem, &case.method(), precision, kernel, 2);
        compare(&problem, &Method::Classic, precision, kernel, 2);
    });
}

fn many_cycles() {
    check(share(40), (larger(), kernels(), 50..400_u64), |(case, kernel, cycles)| {
        let problem = case.problem();
        let kernel = if case.block + 2000 * case.overlap > 1024 { Kernel::AUTO } else { kernel };
        let on_gpu =
            || crate::gpu::solver(&problem, case.method(), Precision::F64, kernel).expect("a GPU");
        let mut cpu = on_cpu(&problem, case.method(), Precision::F64, 0).expect("memory");
        let mut expected = Vec::new();
        while (expected.len() as u64) < cycles {
            let left = cycles - expected.len() as u64;
            expected.extend(cpu.cycles(left, NormRequest::ALL).expect("a CPU").norms);
        }
        let here = bits(&cpu.solution().expect("a CPU"));
        for norms in [NormRequest::ALL, NormRequest::RESIDUAL_L2, NormRequest::NONE] {
            let mut gpu = on_gpu();
            let (mut made, mut found) = (0, Vec::new());
            while made < cycles {
                let batch = gpu.cycles(cycles - made, norms).expect("a GPU at work");
                made += batch.cycles;
                found.extend(batch.norms);
            }
            assert!(bits(&gpu.solution().expect("a GPU")) == here);
            if norms == NormRequest::ALL {
                assert!(found.iter().map(maxima).eq(expected.iter().map(maxima)));
            }
            gpu.restart().expect("a GPU");
            let again = gpu.cycles(1, NormRequest::ALL).expect("a GPU at work").norms[0];
            assert_eq!(maxima(&again), maxima(&expected[0]));
        }
    });
}

fn a_matrix_is_observed_as_on_the_cpu() {
    check(settings() / 20, (larger(), precisions()), |(case, precision)| {
        let problem = case.problem();
        let both = || -> [Box<dyn Solver>; 2] {
            let method = case.method();
            let gpu = crate::gpu::solver(&problem, method.clone(), precision, Kernel::AUTO);
            let cpu = on_cpu(&problem, method, precision, 1).expect("memory");
            [gpu.expect("a GPU that takes it"), cpu]
        };
        let mut solvers = both();
        let mut others = both();
        let exact = Arc::new(solvers[1].solution().expect("it"));
        for (solver, other) in solvers.iter_mut().zip(&mut others) {
            solver.set_exact(Arc::clone(&exact)).expect("room");
            for _ in 0..5 {
                solver.cycles(1, NormRequest::ALL).expect("a cycle");
            }
            let beside = solver.with_method(Method::Classic, Kernel::AUTO).expect("room");
            *other = beside;
            other.cycles(1, NormRequest::ALL).expect("a cycle");
            solver.start_from(&other.solution().expect("it")).expect("room");
            solver.cycles(1, NormRequest::ALL).expect("a cycle");
        }
        let tiling = case.method().tiling().expect("blocks").clone();
        let window = Window::whole(case.rows, 1);
        let seen: Vec<_> = solvers
            .iter()
            .zip(&others)
            .map(|(solver, other)| {
                let quantities = [
                    Quantity::Solution,
                    Quantity::Residual,
                    Quantity::Change,
                    Quantity::Error,
                    Quantity::Difference(&**other),
                ];
                let fields = quantities.map(|quantity| {
                    let request = FieldRequest {
                        window: Some(&window),
                        edge_share: Some(&tiling),
                        statistics: Some(&tiling),
                        ..FieldRequest::nothing(quantity)
                    };
                    let values = solver.values(quantity, &[[0, 0], [case.rows - 1, 0]]);
                    (solver.observe(request).expect("it"), values.expect("it"))
                });
                let previous = bits(&solver.previous().expect("it"));
                let part = solver.solution_part(&[3..50, 0..1, 0..1]).expect("it").to_interior();
                let row = solver.solution_row(0).expect("it");
                let norms = solver.norms(NormRequest::ALL).expect("it");
                format!("{fields:?} {previous:?} {part:?} {row:?} {norms:?}")
            })
            .collect();
        assert!(seen[0] == seen[1], "{} {}", seen[0], seen[1]);
    });
}

fn checked_figures() {
    for (source, ordering, block, sweeps, cycles) in [
        ("heat-1d", Ordering::Natural, 100, 1, 28_348),
        ("heat-1d", Ordering::Natural, 25, 8, 4_462),
        ("heat-1d", Ordering::Natural, 25, 32, 1_958),
        ("trefethen-2000", Ordering::Natural, 128, 1, 76),
        ("trefethen-2000", Ordering::Natural, 128, 4, 19),
        ("ice-sheet", Ordering::Natural, 256, 1, 596),
        ("ice-sheet", Ordering::Natural, 256, 8, 449),
        ("ice-sheet", Ordering::Natural, 1024, 8, 164),
        ("ice-sheet", Ordering::Tiles, 256, 8, 137),
    ] {
        if cycles > u64::from(share(40_000)) {
            continue;
        }
        let mut spec = RunSpec::default();
        let matrix = MatrixSpec { ordering, ..MatrixSpec::new(source) };
        spec.problem.kind = ProblemKind::Matrix;
        spec.problem.shape = vec![matrix.rows().expect("a known name")];
        spec.problem.matrix = Some(matrix);
        (spec.method.tile, spec.method.k) = (vec![block], sweeps.into());
        spec.stop.tolerance = Some(1e-6);
        let mut planner = Planner::default();
        for kernel in Kernel::of_matrix() {
            for backend in [Backend::Cuda, Backend::Auto] {
                (spec.method.kernel, spec.method.backend) = (kernel, backend);
                let plan = Arc::new(planner.plan(&spec).expect("a valid run"));
                assert_eq!(plan.backend(), Backend::Cuda, "{:?}", plan.without_gpu);
                let mut run = Run::new(&plan).expect("memory");
                while run.outcome().is_none() {
                    run.advance(u64::MAX).expect("a GPU at work");
                }
                let end = (run.outcome(), run.cycle());
                assert_eq!(end, (Some(&Outcome::Converged), cycles), "{source} {kernel:?}");
            }
        }
    }
}

fn blocks_that_do_not_fit_are_refused() {
    let rows = 40_000;
    let case = Case {
        rows,
        entries: (1..rows as u32).map(|row| (row, row - 1, -1.0)).collect(),
        diagonal: vec![2.0; rows],
        rhs: vec![1.0; rows],
        start: vec![0.0; rows],
        sweeps: 2,
        block: rows,
        overlap: 0,
        threads: 1,
    };
    let refused = |block: usize, overlap: usize, kernel: &str| {
        let case = Case { block, overlap, ..case.clone() };
        let kernel = Kernel::of_matrix().into_iter().find(|known| known.name() == kernel);
        let kernel = kernel.expect("a known name");
        match crate::gpu::solver(&case.problem(), case.method(), Precision::F64, kernel) {
            Err(SolverError::Kernel { setting, instead, .. }) => [setting, instead],
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("kernel {kernel:?} takes blocks of {block} rows"),
        }
    };
    let nothing = "a smaller tile or backend cpu";
    assert_eq!(refused(rows, 0, "auto"), ["blocks of 40000 rows", nothing]);
    assert_eq!(refused(1025, 0, "resident"), ["blocks of 1025 rows", "kernel hoisted"]);
    // The levels make them larger than they seem.
    assert_eq!(refused(1024, 2, "resident"), ["blocks of 1026 rows", "kernel hoisted"]);
}
