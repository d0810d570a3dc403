//! Iterates, bit for bit.

use crate::cases::{Case, any_case, per_point_case};
use crate::naive::{Naive, Num};
use crate::{Cycles, bits, bits_of};
use proptest::prelude::*;
use std::num::NonZeroUsize;
use std::sync::Arc;
use tilescope::grid::{Shape, Tiling};
use tilescope::problem::{Boundary, Problem, Source, Stencil};
use tilescope::solver::cpu::Level;
use tilescope::solver::{CycleNorms, Kernel, Method, NormRequest, Schedule, Solver};

/// Runs a case and the reference side by side.
fn matches_naive<R: Num>(case: &Case) -> Result<(), TestCaseError> {
    let mut naive = Naive::<R>::new(&case.problem);
    let mut solver = case.plain::<R>(case.hierarchical());
    prop_assert_eq!(bits(&solver.iterate()), bits_of(&naive.u), "the start");
    for cycle in 0..case.cycles {
        naive.cycle(case.k, case.tile, case.overlap);
        solver.cycle();
        prop_assert_eq!(bits(&solver.iterate()), bits_of(&naive.u), "after cycle {}", cycle);
    }
    Ok(())
}

fn classic_matches_naive<R: Num>(case: &Case) -> Result<(), TestCaseError> {
    let mut naive = Naive::<R>::new(&case.problem);
    let mut solver = case.plain::<R>(Method::Classic);
    for sweep in 0..case.cycles * case.k {
        naive.sweep();
        solver.cycle();
        prop_assert_eq!(bits(&solver.iterate()), bits_of(&naive.u), "after sweep {}", sweep);
    }
    Ok(())
}

/// Damped sweeps of both methods, and the residual that comes with a cycle.
fn damped_matches_naive<R: Num>(case: &Case, omega: f64) -> Result<(), TestCaseError> {
    let damped = || {
        let mut naive = Naive::<R>::new(&case.problem);
        naive.omega = omega;
        naive
    };
    let (mut tiled, mut classic) = (damped(), damped());
    let mut tiled_solver = case.plain::<R>(case.hierarchical().damped(omega));
    let mut classic_solver = case.plain::<R>(Method::Classic.damped(omega));
    for cycle in 0..case.cycles {
        let [found, _] = [tiled_solver.cycle(), classic_solver.cycle()];
        let own = tiled.residual().iter().map(|r| r * r).sum::<f64>().sqrt();
        let points = case.problem.shape.points() as f64;
        let rounding = (4.0 + 1.0 / omega) * points.sqrt() * tiled.residual_rounding();
        prop_assert!((found.residual_before.l2 - own).abs() <= 1e-6 * own + rounding);
        tiled.cycle(case.k, case.tile, case.overlap);
        classic.sweep();
        prop_assert_eq!(bits(&tiled_solver.iterate()), bits_of(&tiled.u), "cycle {}", cycle);
        prop_assert_eq!(bits(&classic_solver.iterate()), bits_of(&classic.u), "sweep {}", cycle);
    }
    Ok(())
}

/// Waves of tiles and warps of points, in any combination with damping, for any number of threads; and the
/// residual that is measured beside a cycle.
fn scheduled_matches_naive<R: Num>(
    case: &Case,
    [wave, warp]: [Option<usize>; 2],
    omega: f64,
    threads: usize,
) -> Result<(), TestCaseError> {
    let counted = |points: Option<usize>| points.and_then(NonZeroUsize::new);
    let schedule = Schedule { wave: counted(wave), warp: counted(warp) };
    let mut naive = Naive::<R>::new(&case.problem);
    (naive.wave, naive.warp) = (wave.unwrap_or(usize::MAX), warp.unwrap_or(usize::MAX));
    naive.omega = omega;
    let method = case.hierarchical().scheduled(schedule).damped(omega);
    prop_assert_eq!((method.schedule(), method.omega()), (schedule, omega));
    let mut solver = case.solver::<R>(method, Level::best(), threads);
    for cycle in 0..case.cycles {
        let found = solver.cycle();
        let own = naive.residual().iter().map(|r| r * r).sum::<f64>().sqrt();
        let points = case.problem.shape.points() as f64;
        let rounding = 4.0 * points.sqrt() * naive.residual_rounding();
        prop_assert!((found.residual_before.l2 - own).abs() <= 1e-6 * own + rounding);
        naive.cycle(case.k, case.tile, case.overlap);
        // Over-relaxed tiles in waves may diverge beyond what a number holds: norms say nothing there.
        if !naive.u.iter().all(|value| value.to_f64().abs() < 1e30) {
            break;
        }
        prop_assert_eq!(bits(&solver.iterate()), bits_of(&naive.u), "cycle {}", cycle);
    }
    Ok(())
}

/// The hierarchical method takes `cycles` cycles, Jacobi's iteration `k` sweeps for each.
fn equals_classic<R: Num>(case: &Case) -> Result<(), TestCaseError> {
    let mut hierarchical = case.plain::<R>(case.hierarchical());
    let mut classic = case.plain::<R>(Method::Classic);
    for _ in 0..case.cycles {
        hierarchical.cycle();
        (0..case.k).for_each(|_| {
            classic.cycle();
        });
        prop_assert_eq!(bits(&hierarchical.iterate()), bits(&classic.iterate()));
    }
    Ok(())
}

/// One solver measures every cycle, the other only those whose bit in `which` is set.
fn unmeasured_is_the_same<R: Num>(case: &Case, which: u8) -> Result<(), TestCaseError> {
    for method in [Method::Classic, case.hierarchical()] {
        let mut always = case.plain::<R>(method.clone());
        let mut sometimes = case.solver::<R>(method, Level::best(), 2);
        for cycle in 0..case.cycles {
            let expected = always.cycle();
            if which >> cycle & 1 == 1 {
                prop_assert_eq!(sometimes.cycle(), expected);
            } else {
                sometimes.cycle_without_norms();
            }
            prop_assert_eq!(bits(&sometimes.iterate()), bits(&always.iterate()));
        }
    }
    Ok(())
}

/// Every number of a cycle's norms, as bits.
fn norm_bits(norms: CycleNorms) -> [u64; 4] {
    let CycleNorms { residual_before, max_change, error } = norms;
    let [max, change] = [residual_before.max, max_change]
        .map(|maximum| maximum.expect("the CPU solver reports it"));
    let error = error.expect("the exact solution is known");
    [residual_before.l2, max, change, error].map(f64::to_bits)
}

/// Iterates and all norms of all cycles.
fn history(mut solver: Box<dyn Solver>, case: &Case) -> (Vec<[u64; 4]>, Vec<u64>) {
    solver.set_exact(Arc::new(case.other())).expect("the CPU does not fail");
    let mut norms: Vec<_> = (0..case.cycles).map(|_| norm_bits(solver.cycle())).collect();
    let found = solver.norms(NormRequest::ALL).expect("the CPU does not fail");
    let residual_before = found.residual.expect("requested");
    norms.push(norm_bits(CycleNorms {
        residual_before,
        max_change: found.max_change,
        error: found.error,
    }));
    (norms, bits(&solver.iterate()))
}

fn same_for_all_machines<R: Num>(case: &Case) -> Result<(), TestCaseError> {
    for method in [Method::Classic, case.hierarchical()] {
        let expected = history(case.solver::<R>(method.clone(), Level::Plain, 1), case);
        for level in Level::available() {
            for threads in [1, 2, 3, 5] {
                let found = history(case.solver::<R>(method.clone(), level, threads), case);
                prop_assert_eq!(&found, &expected, "{:?}, {} threads", level, threads);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn hierarchical_cycles_are_those_of_the_rules(case in any_case()) {
        matches_naive::<f64>(&case)?;
        matches_naive::<f32>(&case)?;
    }

    #[test]
    fn damped_sweeps_are_those_of_the_rules(
        case in any_case(),
        omega in prop_oneof![Just(2.0 / 3.0), Just(0.999), 0.05..1.95_f64],
    ) {
        damped_matches_naive::<f64>(&case, omega)?;
        damped_matches_naive::<f32>(&case, omega)?;
    }

    #[test]
    fn waves_and_warps_are_those_of_the_rules(
        case in prop_oneof![3 => any_case(), 1 => per_point_case()],
        wave in prop::option::weighted(0.7, 1..=20_usize),
        warp in prop::option::weighted(0.7, prop_oneof![1..=70_usize, Just(32)]),
        omega in prop_oneof![3 => Just(1.0), 1 => 0.05..1.95_f64],
        threads in 1..=4_usize,
    ) {
        scheduled_matches_naive::<f64>(&case, [wave, warp], omega, threads)?;
        scheduled_matches_naive::<f32>(&case, [wave, warp], omega, threads)?;
    }

    /// All tiles in one wave and all points in one warp: the bits of the method without an order.
    #[test]
    fn one_wave_of_one_warp_is_the_method_itself(case in any_case()) {
        let all = NonZeroUsize::new(case.problem.shape.points());
        let schedule = Schedule { wave: all, warp: all };
        let mut one = case.plain::<f64>(case.hierarchical().scheduled(schedule));
        let mut plain = case.plain::<f64>(case.hierarchical());
        for _ in 0..case.cycles {
            one.cycle();
            plain.cycle();
        }
        prop_assert_eq!(bits(&one.iterate()), bits(&plain.iterate()));
    }

    #[test]
    fn classic_sweeps_are_those_of_the_rules(case in any_case()) {
        classic_matches_naive::<f64>(&case)?;
        classic_matches_naive::<f32>(&case)?;
    }

    #[test]
    fn one_subiteration_is_jacobi_at_any_overlap(case in any_case()) {
        let case = Case { k: 1, ..case };
        equals_classic::<f64>(&case)?;
        equals_classic::<f32>(&case)?;
    }

    #[test]
    fn enough_overlap_makes_k_sweeps_of_jacobi(case in any_case(), more in [0..3_usize, 0..3, 0..3]) {
        let overlap = more.map(|more| 2 * (case.k - 1) + 2 * more);
        let tile = [0, 1, 2].map(|axis| case.tile[axis].max(overlap[axis] + 2));
        let case = Case { overlap, tile, ..case };
        prop_assert!(case.tiling().is_exact(case.k));
        equals_classic::<f64>(&case)?;
        equals_classic::<f32>(&case)?;
    }

    #[test]
    fn an_axis_of_one_tile_needs_no_overlap(case in any_case(), along in 0..3_usize) {
        let enough = 2 * (case.k - 1);
        let mut case = case;
        case.overlap = [enough; 3];
        case.tile = case.tile.map(|tile| tile.max(enough + 2));
        let axes = case.problem.shape.axes();
        let axis = along.min(axes.len() - 1);
        (case.tile[axis], case.overlap[axis]) = (axes[axis], 0);
        prop_assert!(case.tiling().is_exact(case.k));
        equals_classic::<f64>(&case)?;
        equals_classic::<f32>(&case)?;
    }

    #[test]
    fn cycles_without_norms_make_the_same_iterates(case in any_case(), which in any::<u8>()) {
        unmeasured_is_the_same::<f64>(&case, which)?;
        unmeasured_is_the_same::<f32>(&case, which)?;
    }

    #[test]
    fn restart_and_another_method_begin_at_the_start(case in any_case()) {
        let mut solver = case.plain::<f64>(case.hierarchical());
        let start = bits(&solver.iterate());
        solver.cycle();
        let after_one = bits(&solver.iterate());
        let mut again = solver.with_method(case.hierarchical(), Kernel::AUTO).expect("little memory");
        let solution = |solver: &dyn Solver| bits(&solver.solution().expect("the CPU does not fail"));
        prop_assert_eq!(solution(&*again), start.clone());
        again.cycles(1, NormRequest::ALL).expect("the CPU does not fail");
        prop_assert_eq!(solution(&*again), after_one.clone());
        again.restart().expect("the CPU does not fail");
        again.start_from(&solver.solution().expect("the CPU does not fail")).expect("it fits");
        prop_assert_eq!(solution(&*again), after_one.clone(), "from another's iterate");
        solver.restart().expect("the CPU does not fail");
        prop_assert_eq!(bits(&solver.iterate()), start);
        solver.cycle();
        prop_assert_eq!(bits(&solver.iterate()), after_one);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn threads_and_vector_lengths_change_no_bit(case in any_case()) {
        same_for_all_machines::<f64>(&case)?;
        same_for_all_machines::<f32>(&case)?;
    }
}

/// Too little overlap must show, or the tests above prove nothing.
#[test]
fn too_little_overlap_is_not_jacobi() {
    let shape = Shape::grid_2d(40, 40).expect("a small shape");
    let problem = Problem {
        shape,
        operator: Stencil::poisson(&shape).into(),
        rhs: Source::Constant(1.0),
        initial_guess: Source::Random { seed: 1 },
        boundary: Boundary::default(),
    };
    let tiling = Tiling::new(shape.axes(), &[16, 16], &[4, 4]).expect("a valid tiling");
    assert!(tiling.is_exact(3) && !tiling.is_exact(4));
    let case = Case { problem: Arc::new(problem), tile: [16; 3], overlap: [4; 3], k: 4, cycles: 1 };
    assert!(equals_classic::<f64>(&Case { k: 3, ..case.clone() }).is_ok());
    assert!(equals_classic::<f64>(&case).is_err());
}

/// The exact discrete solution of a 1D problem, −u″ = 1 between two values, moves by rounding alone.
#[test]
fn a_solved_line_stays_where_it_is() {
    let n = 1000;
    let shape = Shape::grid_1d(n, 2).expect("a small shape");
    let (left, right) = (-0.5, 2.0);
    let solution = |at: usize| {
        let x = (at % n + 1) as f64 / (n + 1) as f64;
        0.5 * x * (1.0 - x) + left + (right - left) * x
    };
    let problem = Arc::new(Problem {
        shape,
        operator: Stencil::poisson(&shape).into(),
        rhs: Source::Constant(1.0),
        initial_guess: Source::Array((0..2 * n).map(solution).collect()),
        boundary: Boundary { left, right, ..Boundary::default() },
    });
    let case = Case { problem, tile: [32, 1, 1], overlap: [4, 0, 0], k: 16, cycles: 20 };
    for method in [Method::Classic, case.hierarchical()] {
        let mut solver = case.plain::<f64>(method);
        let start = solver.solution().expect("the CPU does not fail");
        for _ in 0..case.cycles {
            assert!(solver.cycle().max_change.expect("the CPU solver reports it") < 1e-14);
        }
        let end = solver.solution().expect("the CPU does not fail");
        let moved = end.to_interior().into_iter().zip(start.to_interior());
        assert!(moved.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) < 1e-13);
    }
}
