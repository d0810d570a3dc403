//! Methods that stream: pyramids and the wavefront give the bits of Jacobi's iteration, whatever the height,
//! the budget, the shape, the vector length and the number of threads.

use crate::cases::{Case, any_case};
use crate::naive::{Naive, Num};
use crate::{Cycles, bits, bits_of, on_cpu};
use proptest::prelude::*;
use std::sync::Arc;
use tilescope::grid::{ByteCount, Precision, Real, Shape};
use tilescope::problem::{Boundary, Problem, Source, Stencil};
use tilescope::solver::cpu::Level;
use tilescope::solver::{Height, Method, MethodName, NormRequest, Streaming};

/// Bytes of a plane of three arrays: an xy-plane, a row or a point, with what is stored around it.
fn plane_bytes(shape: &Shape, precision: Precision) -> u64 {
    let values = [1, shape.stride(), shape.plane_stride()][shape.dim() - 1];
    3 * (values * precision.bytes()) as u64
}

/// A height and a budget that go together: the latter in planes, with less than a plane beside them.
#[derive(Clone, Copy, Debug)]
struct Budget {
    method: MethodName,
    height: Height,
    planes: u64,
    beside: f64,
}

impl Budget {
    fn of(self, shape: &Shape, precision: Precision) -> Method {
        let plane = plane_bytes(shape, precision);
        let bytes = self.planes * plane + (self.beside * (plane - 1) as f64) as u64;
        let memory = ByteCount::new(bytes);
        let streaming = Streaming::new(self.method, self.height, memory, shape, precision);
        Method::Streaming(streaming.expect("they go together"))
    }
}

fn budget() -> impl Strategy<Value = Budget> {
    let pyramid = (3..=70_u64).prop_flat_map(|planes| {
        (Just((MethodName::Pyramid, planes)), 1..=((planes - 1) / 2).min(20) as usize)
    });
    let wavefront = (6..=90_u64).prop_flat_map(|planes| {
        (Just((MethodName::Wavefront, planes)), 1..=(planes - 5).min(20) as usize)
    });
    (prop_oneof![pyramid, wavefront], prop::bool::weighted(0.1), 0.0..1.0).prop_map(
        |(((method, planes), height), auto, beside)| {
            // The best height of a large budget may be more than the naive solver has time for.
            let height = if auto && planes < 30 { Height::Auto } else { Height::Sweeps(height) };
            Budget { method, height, planes, beside }
        },
    )
}

fn matches_naive<R: Num>(case: &Case, budget: Budget, threads: usize) -> Result<(), TestCaseError> {
    for level in Level::available() {
        let method = budget.of(&case.problem.shape, R::PRECISION);
        let sweeps = method.sweeps_per_cycle();
        let mut naive = Naive::<R>::new(&case.problem);
        let mut solver = case.solver::<R>(method, level, threads);
        for cycle in 0..2 {
            let before = solver.iterate();
            (0..sweeps).for_each(|_| naive.sweep());
            solver.cycle_without_norms();
            let what = format!("after cycle {cycle} of {sweeps} sweeps");
            prop_assert_eq!(bits(&solver.iterate()), bits_of(&naive.u), "{}", what);
            let previous = solver.previous().expect("the CPU does not fail");
            prop_assert_eq!(bits(&previous), bits(&before.to_f64()), "the iterate before");
        }
    }
    Ok(())
}

/// What a cycle reports of its norms is what its iterates have.
fn norms_are_true<R: Real>(case: &Case, budget: Budget) -> Result<(), TestCaseError> {
    let mut solver = case.plain::<R>(budget.of(&case.problem.shape, R::PRECISION));
    for _ in 0..2 {
        let before = solver.norms(NormRequest::RESIDUAL).expect("the CPU does not fail");
        let of_cycle = solver.cycle();
        let after = solver.norms(NormRequest::MAX_CHANGE).expect("the CPU does not fail");
        prop_assert_eq!(Some(of_cycle.residual_before), before.residual);
        prop_assert_eq!(of_cycle.max_change, after.max_change);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_height_and_budget_makes_jacobis_sweeps(
        case in any_case(),
        budget in budget(),
        threads in 1..=3_usize,
        single in any::<bool>(),
    ) {
        if single {
            matches_naive::<f32>(&case, budget, threads)?;
        } else {
            matches_naive::<f64>(&case, budget, threads)?;
        }
    }

    #[test]
    fn norms_of_a_cycle_are_those_of_its_iterates(case in any_case(), budget in budget()) {
        norms_are_true::<f64>(&case, budget)?;
    }

    #[test]
    fn what_is_counted_is_what_a_pass_needs_at_least(case in any_case(), budget in budget()) {
        let shape = case.problem.shape;
        let method = budget.of(&shape, Precision::F64);
        let sweeps = method.sweeps_per_cycle();
        let mut solver = case.plain::<f64>(method);
        prop_assert_eq!(solver.traffic(), None);
        solver.cycle_without_norms();
        let traffic = solver.traffic().expect("a pass was made");
        let points = shape.points() as u64;
        prop_assert_eq!((traffic.down, traffic.needed), (points, points * sweeps));
        prop_assert!(traffic.up >= 2 * points && traffic.updates >= traffic.needed);
        if budget.method == MethodName::Wavefront {
            prop_assert_eq!((traffic.up, traffic.duplicates()), (2 * points, 0));
        }
    }
}

/// Grids that are large enough for threads to share the planes of a slab.
#[test]
fn threads_share_planes_bit_for_bit() {
    let shapes = [
        Shape::grid_1d(300_000, 1).unwrap(),
        Shape::grid_2d(700, 400).unwrap(),
        Shape::grid_3d(96, 90, 40).unwrap(),
    ];
    for shape in shapes {
        let problem = Arc::new(Problem {
            shape,
            operator: Stencil::poisson(&shape).into(),
            rhs: Source::Random { seed: 5 },
            initial_guess: Source::Random { seed: 6 },
            boundary: Boundary::default(),
        });
        let solver = |method, threads| on_cpu::<f64>(&problem, method, Level::best(), threads);
        for method in [MethodName::Pyramid, MethodName::Wavefront] {
            let third =
                plane_bytes(&shape, Precision::F64) * *shape.axes().last().unwrap() as u64 / 3;
            let streaming = Streaming::new(
                method,
                Height::Sweeps(3),
                ByteCount::new(third.max(400_000)),
                &shape,
                Precision::F64,
            );
            let streaming = Method::Streaming(streaming.unwrap());
            let (mut shared, mut alone) = (solver(streaming, 4), solver(Method::Classic, 1));
            shared.cycle_without_norms();
            for _ in 0..3 {
                alone.cycle_without_norms();
            }
            assert!(bits(&shared.iterate()) == bits(&alone.iterate()), "{shape} {method:?}");
        }
    }
}
