//! Whatever number of cycles a solver makes at a time, a run is the same.

use super::*;
use crate::grid::Precision;
use crate::run::plan::Planner;
use crate::run::{Backend, MatrixSpec, MethodName, ProblemKind, RunSpec};
use crate::solver::fake::Batches;
use crate::solver::{ExchangePath, Height, StopToken};
use std::time::Duration;

/// Cycles at a time: one, as on the CPU; some; more than there are; and any.
fn sizes() -> Vec<Vec<u64>> {
    // A linear congruential sequence (Knuth's MMIX constants), for sizes in no order.
    let next = |x: &u64| Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    let random = std::iter::successors(Some(2026_u64), next).map(|x| 1 + (x >> 33) % 60);
    vec![vec![1], vec![2], vec![7], vec![50], vec![100_000], random.take(40).collect()]
}

fn small() -> RunSpec {
    let mut spec = RunSpec::default();
    spec.problem.shape = vec![48, 40];
    spec.method.tile = vec![16];
    spec.method.k = 4.into();
    spec.method.threads = 1;
    spec
}

fn run_of(spec: &RunSpec, sizes: Vec<u64>) -> Run {
    let plan = Arc::new(Planner::default().plan(spec).unwrap());
    let solver =
        solver::set_up(&plan.problem, plan.method.clone(), plan.precision, &plan.place).unwrap();
    let method = plan.method.clone();
    Run::at_start(plan, method, Box::new(Batches::new(solver, sizes))).unwrap()
}

/// A 3D iterate is copied some planes at a time, which changes no bit.
#[test]
fn the_true_residual_is_that_of_all_planes() {
    let mut spec = RunSpec::default();
    spec.problem.kind = ProblemKind::PointSources;
    spec.problem.shape = vec![128, 120, 90];
    spec.method.set_name(crate::run::MethodName::Classic);
    spec.method.backend = crate::run::Backend::Cpu;
    let plan = Arc::new(Planner::default().plan(&spec).unwrap());
    let mut run = Run::new(&plan).unwrap();
    run.advance(1).unwrap();
    let found = confirm::true_residual(&plan.problem, run.solver()).unwrap();
    let whole =
        crate::problem::residual_of_rows(&plan.problem, 0, &run.solver().solution().unwrap());
    let squares: f64 = whole.iter().fold(0.0, |sum, [squares, _]| sum + squares);
    assert_eq!(found.l2.to_bits(), squares.sqrt().to_bits());
}

fn finished(spec: &RunSpec, sizes: Vec<u64>, most: u64) -> Run {
    let mut run = run_of(spec, sizes);
    while run.advance(most).unwrap().is_none() {}
    run
}

/// All that is remembered of a run, but for the time that it took.
fn records(run: &Run) -> Vec<Record> {
    run.history().records().map(|record| Record { seconds: 0.0, ..*record }).collect()
}

#[track_caller]
fn is_the_same_for_all_sizes(spec: &RunSpec) -> Run {
    let expected = finished(spec, vec![1], 1);
    let iterate = expected.solver().solution().unwrap();
    assert_eq!(expected.history().latest().cycle, expected.cycle());
    for sizes in sizes() {
        for most in [u64::MAX, 13] {
            let run = finished(spec, sizes.clone(), most);
            let name = format!("{sizes:?}, at most {most}: {:?}", expected.outcome());
            // A NaN does not equal itself.
            let outcomes = [run.outcome(), expected.outcome()].map(|o| format!("{o:?}"));
            assert_eq!(outcomes[0], outcomes[1], "{name}");
            assert_eq!(
                (run.cycle(), run.sweeps()),
                (expected.cycle(), expected.sweeps()),
                "{name}"
            );
            let found = run.solver().solution().unwrap();
            let bits = |field: &Field<f64>| {
                field.to_interior().iter().map(|v| v.to_bits()).collect::<Vec<_>>()
            };
            assert_eq!(bits(&found), bits(&iterate), "{name}");
            assert_eq!(
                format!("{:?}", records(&run)),
                format!("{:?}", records(&expected)),
                "{name}"
            );
            assert!(!run.is_going_back());
            let seconds: Vec<_> = run.history().records().map(|record| record.seconds).collect();
            assert!(seconds.is_sorted() && run.seconds() >= seconds[seconds.len() - 1], "{name}");
        }
    }
    expected
}

#[test]
fn the_first_iterate_that_meets_the_tolerance_ends_it() {
    // One tile that a cycle all but solves, too.
    let mut overshoot = small();
    overshoot.problem.shape = vec![16, 16];
    overshoot.method.k = 400.into();
    for rule in [StopRule::Residual, StopRule::Change] {
        for (mut spec, tolerance) in
            [(small(), 0.3), (small(), 1e-2), (small(), 1e-4), (overshoot.clone(), 1e-3)]
        {
            (spec.stop.rule, spec.stop.tolerance) = (rule, Some(tolerance));
            let run = is_the_same_for_all_sizes(&spec);
            assert_eq!(run.outcome(), Some(&Outcome::Converged));
            let met: Vec<_> =
                run.history().records().map(|record| run.is_converged(record)).collect();
            assert_eq!(met.iter().position(|&met| met), Some(met.len() - 1), "{rule:?}");
        }
    }
}

#[test]
fn divergence_ends_it_where_it_shows() {
    let mut spec = small();
    spec.problem.kind = ProblemKind::ConvectionDiffusion;
    for velocity in [190.0, 3e4] {
        spec.problem.velocity = Some([velocity, velocity, 0.0]);
        for tolerance in [Some(1e-4), None] {
            spec.stop.tolerance = tolerance;
            let run = is_the_same_for_all_sizes(&spec);
            assert!(matches!(run.outcome(), Some(Outcome::Diverged(_))), "{:?}", run.outcome());
        }
    }
}

#[test]
fn the_limit_of_cycles_is_kept() {
    let mut spec = small();
    for max_cycles in [0, 1, 2, 40] {
        for (rule, tolerance) in [
            (StopRule::Residual, Some(1e-9)),
            (StopRule::Change, Some(1e-9)),
            (StopRule::Residual, None),
        ] {
            (spec.stop.rule, spec.stop.tolerance) = (rule, tolerance);
            spec.stop.max_cycles = max_cycles;
            let run = is_the_same_for_all_sizes(&spec);
            assert_eq!((run.cycle(), run.outcome()), (max_cycles, Some(&Outcome::OutOfCycles)));
        }
    }
}

/// ‖b − A u‖ over ‖b − A u₀‖, by the matrix row as it is written.
fn true_reduction(run: &Run) -> f64 {
    let problem = &run.plan().problem;
    let norm = |u: &Field<f64>| {
        let (shape, at) = (problem.shape, u.as_slice());
        let by = [1, shape.stride(), shape.plane_stride()];
        let points = (0..shape.rows()).flat_map(|row| (0..shape.nx()).map(move |i| (i, row)));
        let squares = points.map(|(i, row)| {
            let here = shape.row_start(row) + 1 + i;
            let pairs = problem
                .operator
                .stencil()
                .unwrap()
                .neighbours()
                .into_iter()
                .zip(by)
                .take(shape.dim());
            let sum: f64 =
                pairs.map(|(pair, by)| pair[0] * at[here - by] + pair[1] * at[here + by]).sum();
            (problem.rhs.at(shape.nx(), i, row)
                - sum
                - problem.operator.stencil().unwrap().d * at[here])
                .powi(2)
        });
        squares.sum::<f64>().sqrt()
    };
    norm(&run.solver().solution().unwrap()) / norm(&problem.initial_iterate())
}

/// The residual that comes with a cycle reads 0 once rounding stops the update; what is called
/// converged has a small b − A u.
#[test]
fn converged_means_that_b_minus_a_u_is_small() {
    let mut double = small();
    (double.problem.shape, double.method.tile) = (vec![16, 12], vec![8]);
    let mut single = double.clone();
    single.method.precision = Precision::F32;
    let mut by_change = single.clone();
    by_change.stop.rule = StopRule::Change;
    let mut cube = single.clone();
    cube.problem.shape = vec![8, 7, 6];
    let (mut converged, mut limited) = (0, 0);
    for (mut spec, tolerance) in [
        (single.clone(), 1e-3),
        (single.clone(), 1e-5),
        (single.clone(), 1e-6),
        (single.clone(), 1e-7),
        (single.clone(), 3e-8),
        (single.clone(), 1e-9),
        (cube, 1e-9),
        (double.clone(), 1e-9),
        (double.clone(), 1e-14),
        (double, 1e-20),
    ] {
        spec.stop.tolerance = Some(tolerance);
        let run = is_the_same_for_all_sizes(&spec);
        let found = true_reduction(&run);
        match run.outcome() {
            Some(Outcome::Converged) => {
                let exact = if tolerance < 1e-12 { 10.0 } else { 1.0 + 1e-6 };
                assert!(found <= tolerance * exact, "{tolerance}: {found}");
                converged += 1;
            }
            Some(Outcome::RoundingLimit) => {
                assert!(found > tolerance, "{tolerance}: {found}");
                limited += 1;
            }
            other => panic!("{tolerance}: {other:?}"),
        }
        // What is reported of it, and what its maps show. (In 64 bits the sum of a row is not exact enough
        // for residuals of its last bits.)
        if spec.method.precision == Precision::F64 && tolerance < 1e-9 {
            continue;
        }
        let recorded = run.record().residual.unwrap().l2;
        assert!((recorded / run.start_residual() / found - 1.0).abs() < 1e-6, "{tolerance}");
        let shown = run.residual_solver().norms(NormRequest::RESIDUAL_L2).unwrap();
        assert!((shown.residual.unwrap().l2 / recorded - 1.0).abs() <= 1e-3, "{tolerance}");
    }
    assert!(converged >= 4 && limited >= 3, "{converged} converged, {limited} limited");
    // A change of 0 is at most any tolerance.
    by_change.stop.tolerance = Some(1e-12);
    let run = is_the_same_for_all_sizes(&by_change);
    assert_eq!(run.outcome(), Some(&Outcome::Converged));
}

/// Cycles that change nothing end a run, whatever its residual; without a tolerance, too.
#[test]
fn a_run_at_rest_stops() {
    let mut spec = small();
    spec.problem.kind = ProblemKind::ConvectionDiffusion;
    spec.problem.shape = vec![32, 32];
    spec.problem.velocity = Some([90.0, 90.0, 0.0]);
    (spec.method.tile, spec.method.k) = (vec![32], 16.into());
    let with_tolerance = is_the_same_for_all_sizes(&spec);
    spec.stop.tolerance = None;
    for run in [with_tolerance, finished(&spec, vec![7], u64::MAX)] {
        assert_eq!(run.outcome(), Some(&Outcome::RoundingLimit));
        assert!(run.cycle() < 200, "{} cycles", run.cycle());
        assert!(run.record().residual.unwrap().l2 > 1e-3);
    }
}

#[test]
fn a_start_that_solves_the_system_has_converged_and_one_that_seems_to_has_not() {
    // One point: 8 u = 1, which 32 bits hold exactly, or 8 u = 1 + 2⁻³⁰, which they do not.
    let at_start = |rhs: f64| {
        let shape = crate::grid::Shape::grid_1d(1, 1).unwrap();
        let mut spec = small();
        (spec.problem.shape, spec.method.precision) = (vec![1], Precision::F32);
        let mut plan = Planner::default().plan(&spec).unwrap();
        plan.problem = Arc::new(crate::problem::Problem {
            rhs: crate::problem::Source::Constant(rhs),
            initial_guess: crate::problem::Source::Constant(0.125),
            ..crate::problem::Problem::clone(&plan.problem)
        });
        assert_eq!((plan.problem.shape, plan.problem.operator.stencil().unwrap().d), (shape, 8.0));
        let mut run = Run::new(&Arc::new(plan)).unwrap();
        while run.advance(u64::MAX).unwrap().is_none() {}
        (run.cycle(), run.outcome().cloned(), run.start_residual())
    };
    assert_eq!(at_start(1.0), (0, Some(Outcome::Converged), 0.0));
    let off = f64::powi(2.0, -30);
    assert_eq!(at_start(1.0 + off), (1, Some(Outcome::RoundingLimit), off));
}

/// A run that falls steadily sees its end coming: no cycle is made past it, and few batches are
/// needed to get there.
#[test]
fn a_steady_run_goes_straight_to_its_end() {
    for rule in [StopRule::Residual, StopRule::Change] {
        let mut spec = small();
        (spec.stop.rule, spec.stop.tolerance) = (rule, Some(1e-4));
        let mut run = run_of(&spec, vec![u64::MAX]);
        let mut batches = 0;
        while run.advance(u64::MAX).unwrap().is_none() {
            assert!(!run.is_going_back(), "{rule:?}");
            batches += 1;
        }
        assert!(run.cycle() > 100 && batches < 40, "{batches} batches of {} cycles", run.cycle());
    }
}

#[test]
fn steps_go_one_by_one_whatever_the_solver_would_make() {
    let mut run = run_of(&small(), vec![50]);
    for cycle in 1..=20 {
        run.advance(1).unwrap();
        assert_eq!(run.cycle(), cycle);
    }
}

/// What was made is recomputed, up to where it was, and no record is lost or doubled.
#[test]
fn a_rewound_run_steps_on_to_where_it_was() {
    let mut expected = run_of(&small(), vec![1]);
    let mut run = run_of(&small(), vec![7]);
    for _ in 0..30 {
        expected.advance(1).unwrap();
    }
    while run.cycle() < 20 {
        run.step(20 - run.cycle()).unwrap();
    }
    run.rewind().unwrap();
    while run.cycle() < 30 {
        run.step(30 - run.cycle()).unwrap();
    }
    for run in [&mut expected, &mut run] {
        run.settle().unwrap();
    }
    assert_eq!(records(&run), records(&expected));
    assert_eq!(run.solver().solution(), expected.solver().solution());
}

/// A run whose GPU fails after that number of cycles, with what it has to continue from; `kept` says whether
/// iterates are kept on the way.
fn failing(spec: &RunSpec, sizes: Vec<u64>, after: u64, kept: bool) -> Run {
    let plan = Arc::new(Planner::default().plan(spec).unwrap());
    let solver =
        solver::set_up(&plan.problem, plan.method.clone(), plan.precision, &plan.place).unwrap();
    let method = plan.method.clone();
    let solver = Batches::new(solver, sizes).failing_after(after);
    let mut run = Run::at_start(plan, method, Box::new(solver)).unwrap();
    if kept {
        run.checkpoint.every = std::time::Duration::ZERO;
    }
    run
}

fn elsewhere(run: &Run) -> Arc<Plan> {
    let mut spec = run.plan().spec.clone();
    spec.method.threads = 2;
    assert!(run.plan().spec.is_same_run(&spec));
    Arc::new(Planner::default().plan(&spec).unwrap())
}

/// Wherever a GPU fails, the run continues elsewhere as if nothing had happened.
#[test]
fn a_run_whose_gpu_failed_goes_on_elsewhere() {
    let mut change = small();
    change.stop.rule = StopRule::Change;
    let mut overshoot = small();
    overshoot.problem.shape = vec![16, 16];
    overshoot.method.k = 400.into();
    overshoot.stop.tolerance = Some(1e-3);
    let mut limited = small();
    limited.stop.max_cycles = 60;
    let mut at_rest = small();
    at_rest.problem.shape = vec![12, 10];
    (at_rest.method.precision, at_rest.stop.tolerance) = (Precision::F32, Some(1e-9));
    for spec in [small(), change, overshoot, limited, at_rest] {
        let expected = finished(&spec, vec![1], 1);
        let last = expected.cycle();
        for sizes in [vec![1], vec![7], vec![50]] {
            for after in [1, 2, 10, 59, 60, 61, (last - 1).max(1), last, last + 1, last + 5] {
                for kept in [false, true] {
                    let name = format!("{sizes:?}, {after} of {last} cycles, kept {kept}");
                    let mut run = failing(&spec, sizes.clone(), after, kept);
                    let mut failed = false;
                    while run.outcome().is_none() && !failed {
                        failed = run.advance(u64::MAX).is_err();
                    }
                    let observation = run.history().latest().cycle;
                    run.move_to(&elsewhere(&run)).unwrap();
                    if failed {
                        assert!(run.cycle() <= observation, "{name}");
                        assert!(!kept || run.cycle() > 0 || observation < 2 * sizes[0], "{name}");
                    }
                    while run.advance(u64::MAX).unwrap().is_none() {}
                    assert_eq!(run.outcome(), expected.outcome(), "{name}");
                    assert_eq!(run.cycle(), last, "{name}");
                    assert_eq!(records(&run), records(&expected), "{name}");
                    let iterates = [&run, &expected].map(|run| run.solver().solution().unwrap());
                    assert_eq!(iterates[0], iterates[1], "{name}");
                }
            }
        }
    }
}

/// Where the devices do not make the iterates, those that are left share the grid anew; else they stay as many.
#[test]
fn a_run_goes_on_on_fewer_devices_to_the_same_bits() {
    let with = |devices: usize, every: u64| {
        let mut spec = small();
        (spec.problem.shape, spec.stop.max_cycles) = (vec![48, 96], 70);
        (spec.stop.tolerance, spec.method.backend) = (None, Backend::Cpu);
        (spec.method.simulate_devices, spec.method.exchange_every) = (Some(devices), Some(every));
        spec
    };
    for (every, count) in [(1, 3), (3, 4)] {
        let spec = with(4, every);
        let expected = finished(&spec, vec![1], 1);
        for kept in [false, true] {
            let mut run = failing(&spec, vec![7], 40, kept);
            while run.advance(u64::MAX).is_ok() {}
            let fewer = Arc::new(Planner::default().plan(&with(3, every)).unwrap());
            run.move_to(&fewer).unwrap();
            assert_eq!(run.cycle() > 0, kept);
            assert_eq!(run.method.devices().map(Devices::count), Some(count));
            while run.advance(u64::MAX).unwrap().is_none() {}
            assert_eq!(records(&run), records(&expected));
            assert_eq!(run.solver().solution(), expected.solver().solution());
        }
    }
}

/// A solver that failed gives its memory back before another one is set up, and says so.
#[test]
fn a_lost_run_that_finds_no_place_stays_lost() {
    let mut run = failing(&small(), vec![7], 20, false);
    while run.advance(u64::MAX).is_ok() {}
    let mut nowhere = Plan::clone(run.plan());
    nowhere.place = solver::Place::Cuda {
        devices: Vec::new(),
        exchange: ExchangePath::Auto,
        kernel: Kernel::AUTO,
        block_size: None,
    };
    assert!(run.move_to(&Arc::new(nowhere)).is_err());
    assert_eq!(run.solver().device().map(|it| it.kernel), Some(Kernel::SHARED));
    let said = run.solver().solution().unwrap_err().to_string();
    assert_eq!(said, "a GPU of the tests failed: its arrays are gone");
    run.move_to(&elsewhere(&run)).unwrap();
    while run.advance(u64::MAX).unwrap().is_none() {}
    assert_eq!(run.cycle(), finished(&small(), vec![1], 1).cycle());
}

#[test]
fn a_run_that_is_well_moves_where_it_stands() {
    let mut expected = run_of(&small(), vec![1]);
    let mut run = run_of(&small(), vec![5]);
    for _ in 0..20 {
        expected.advance(1).unwrap();
        run.advance(1).unwrap();
    }
    run.move_to(&elsewhere(&run)).unwrap();
    assert_eq!((run.cycle(), run.is_going_back()), (20, false));
    assert_eq!(run.solver().device(), None);
    expected.advance(1).unwrap();
    run.advance(1).unwrap();
    assert_eq!(records(&run), records(&expected));
    assert_eq!(run.solver().solution(), expected.solver().solution());
}

#[test]
fn a_place_that_cannot_be_had_leaves_the_run_where_it_is() {
    let mut run = run_of(&small(), vec![5]);
    run.advance(1).unwrap();
    let mut nowhere = Plan::clone(run.plan());
    let devices = vec![solver::cuda::Device::new(0)];
    nowhere.place = solver::Place::Cuda {
        devices,
        exchange: ExchangePath::Auto,
        kernel: Kernel::AUTO,
        block_size: None,
    };
    // A machine with a GPU could go there.
    if run.move_to(&Arc::new(nowhere)).is_err() {
        let device = run.solver().device();
        assert_eq!((run.cycle(), device.map(|it| it.kernel)), (1, Some(Kernel::SHARED)));
        run.advance(1).unwrap();
        assert_eq!(run.cycle(), 2);
    }
}

/// A tolerance that was lowered, or more cycles that are allowed, are those of the reference too.
#[test]
fn jacobis_iteration_beside_another_run_stops_where_that_runs_own_would() {
    let with = |k: usize, tolerance: Option<f64>, max_cycles: u64| {
        let mut spec = small();
        spec.method.k = k.into();
        (spec.stop.tolerance, spec.stop.max_cycles) = (tolerance, max_cycles);
        spec
    };
    let begin = with(4, Some(0.3), 1000);
    let first = run_of(&begin, vec![1]);
    let mut classic = first.classic().unwrap();
    while classic.advance(u64::MAX).unwrap().is_none() {}
    let sweeps = classic.cycle();

    // The same run in other tiles continues with the reference that there is.
    let alike = run_of(&with(8, Some(0.3), 1000), vec![1]);
    classic = alike.take_classic(classic).unwrap();
    assert_eq!((classic.cycle(), classic.outcome()), (sweeps, Some(&Outcome::Converged)));
    let mut by_update = with(4, Some(0.3), 1000);
    by_update.stop.rule = StopRule::ChangePerSweep;
    assert!(run_of(&by_update, vec![1]).take_classic(alike.classic().unwrap()).is_none());
    let lower = run_of(&with(4, Some(0.1), 1000), vec![1]);
    assert!(lower.take_classic(classic).is_none());

    let mut classic = run_of(&with(2, None, 3), vec![1]).classic().unwrap();
    while classic.advance(u64::MAX).unwrap().is_none() {}
    assert_eq!((classic.cycle(), classic.outcome()), (6, Some(&Outcome::OutOfCycles)));
    let mut classic = run_of(&with(4, None, 3), vec![1]).take_classic(classic).unwrap();
    while classic.advance(u64::MAX).unwrap().is_none() {}
    let mut expected = run_of(&with(1, None, 12), vec![1]).classic().unwrap();
    while expected.advance(u64::MAX).unwrap().is_none() {}
    assert_eq!(records(&classic), records(&expected));
}

/// However many sweeps a cycle has, the update per sweep ends the run as that of classic Jacobi would, at the first whole cycle;
/// classic Jacobi beside it stops by the same rule.
#[test]
fn the_update_per_sweep_ends_a_run_whatever_its_cycle() {
    let with = |name: MethodName, height: Option<usize>| {
        let mut spec = small();
        spec.method.set_name(name);
        spec.method.height = height.map(Height::Sweeps);
        spec.method.backend = Backend::Cpu;
        spec.stop =
            Stop { rule: StopRule::ChangePerSweep, tolerance: Some(1e-5), max_cycles: 100_000 };
        finished(&spec, vec![1, 5], 1)
    };
    let classic = with(MethodName::Classic, None);
    for height in [2, 4] {
        let run = with(MethodName::Wavefront, Some(height));
        assert_eq!(run.outcome(), Some(&Outcome::Converged));
        let sweeps = run.sweeps_per_cycle();
        assert_eq!(sweeps, height as u64);
        let per_sweep = run.record().max_change.unwrap() / sweeps as f64;
        assert!(per_sweep <= 1e-5 && run.record().max_change.unwrap() > 1e-5);
        // The mean over a pass is larger than its last update.
        let beyond = (run.cycle() * sweeps).checked_sub(classic.cycle()).unwrap();
        assert!(beyond <= 2 * sweeps, "{beyond}");
        let mut beside = run.classic().unwrap();
        while beside.advance(u64::MAX).unwrap().is_none() {}
        assert_eq!(beside.cycle(), classic.cycle());
    }
}

/// A solver that was given an iterate does not know what the cycle before changed.
#[test]
fn the_change_of_a_cycle_is_known_to_the_solver_that_made_it_alone() {
    let mut run = run_of(&small(), vec![1]);
    run.find_all_norms(false);
    let settled = |run: &mut Run| {
        run.settle().unwrap();
        *run.history().latest()
    };
    for cycle in 1..=3 {
        run.advance(1).unwrap();
        let known = settled(&mut run);
        assert!(known.max_change.is_some_and(|change| change > 0.0), "cycle {cycle}");
        run.advance(1).unwrap();
        let plan = Arc::clone(run.plan());
        run.move_to(&plan).unwrap();
        let known = settled(&mut run);
        assert!(known.max_change.is_none() && known.residual.is_some(), "cycle {cycle}");
    }
}

fn on_devices(exchange_every: u64) -> RunSpec {
    let mut spec = small();
    spec.method.simulate_devices = Some(3);
    spec.method.exchange_every = Some(exchange_every);
    spec
}

/// Between exchanges an iterate does not determine what follows: a run that moves then makes its cycles again.
#[test]
fn a_run_on_devices_moves_and_continues_as_if_nothing_had_happened() {
    let spec = on_devices(4);
    let expected = finished(&spec, vec![1], 1);
    for moved_at in [7, 8] {
        let mut run = run_of(&spec, vec![1]);
        while run.cycle() < moved_at {
            run.advance(1).unwrap();
        }
        run.move_to(&elsewhere(&run)).unwrap();
        assert_eq!(run.is_going_back(), moved_at == 7);
        while run.advance(u64::MAX).unwrap().is_none() {}
        assert_eq!(records(&run), records(&expected));
        assert_eq!(run.solver().solution(), expected.solver().solution());
    }
}

#[test]
fn a_run_on_devices_is_the_same_for_all_sizes_of_batches() {
    let one = is_the_same_for_all_sizes(&small());
    let every_cycle = is_the_same_for_all_sizes(&on_devices(1));
    assert_eq!(records(&every_cycle), records(&one), "the bits of one device");
    let rarely = is_the_same_for_all_sizes(&on_devices(5));
    assert_eq!(rarely.outcome(), Some(&Outcome::Converged));
    assert!(rarely.cycle() > one.cycle(), "values of the others are older");
}

/// Each device comes to rest for what it knows of the others long before the exchange: that is no end.
#[test]
fn devices_at_rest_wait_for_the_exchange() {
    let mut spec = on_devices(2000);
    (spec.stop.tolerance, spec.stop.max_cycles) = (None, 2001);
    let run = finished(&spec, vec![1], u64::MAX);
    assert_eq!((run.outcome(), run.cycle()), (Some(&Outcome::OutOfCycles), 2001));
}

/// Whatever makes the cycles of a CPU leaves one unfinished on request, and stands at the last whole one.
#[test]
fn a_cycle_that_is_stopped_leaves_the_iterate_of_the_last_whole_one() {
    let mut specs = vec![small(), on_devices(1), on_devices(3)];
    let method = |name: MethodName| {
        let mut spec = small();
        spec.method.set_name(name);
        spec
    };
    specs.extend([MethodName::Classic, MethodName::Wavefront, MethodName::Pyramid].map(method));
    let mut warps = small();
    warps.method.warp = Some(8);
    let mut exact = small();
    exact.method.k = Subiterations::Infinite;
    let mut matrix = small();
    matrix.problem.kind = ProblemKind::Matrix;
    matrix.problem.shape = vec![1920];
    matrix.problem.matrix = Some(MatrixSpec::new("poisson-48x40"));
    let mut rows = matrix.clone();
    rows.method.set_name(MethodName::Classic);
    specs.extend([warps, exact, matrix, rows]);
    for mut spec in specs {
        spec.method.backend = Backend::Cpu;
        let name = format!("{:?}", spec.method);
        let stop = StopToken::default();
        let mut run = Run::new(&Arc::new(Planner::default().plan(&spec).unwrap())).unwrap();
        run.stop_on(&stop);
        for _ in 0..3 {
            run.advance(1).unwrap();
        }
        let expected = run.solver().solution().unwrap();
        stop.after(Duration::ZERO);
        while !stop.is_due() {}
        assert_eq!(run.advance(1), Err(SolverError::Stopped), "{name}");
        assert_eq!((run.cycle(), run.history().latest().cycle), (3, 3), "{name}");
        assert_eq!(run.solver().solution().unwrap(), expected, "{name}");
        run.settle().unwrap();
        let record = run.record();
        assert!(record.residual.is_some_and(|norms| norms.l2 > 0.0), "{name}");
        // It is unknown, not 0.
        assert!(record.max_change.is_none_or(|change| change > 0.0), "{name}");
        // It goes on from there.
        stop.withdraw();
        run.advance(1).unwrap();
        let mut other = Run::new(&Arc::new(Planner::default().plan(&spec).unwrap())).unwrap();
        (0..4).for_each(|_| _ = other.advance(1).unwrap());
        assert_eq!(run.solver().solution().unwrap(), other.solver().solution().unwrap(), "{name}");
    }
}

/// Exact local solves, the sine basis and orders of sums bring an iterate to circle in its last digits.
#[test]
fn a_run_that_circles_stops_at_the_rounding_limit() {
    let mut spec = small();
    (spec.problem.shape, spec.method.tile) = (vec![16, 12], vec![16]);
    (spec.method.precision, spec.method.k) = (Precision::F32, Subiterations::Infinite);
    spec.stop.max_cycles = 20_000;
    for tolerance in [Some(1e-9), None] {
        spec.stop.tolerance = tolerance;
        let run = is_the_same_for_all_sizes(&spec);
        assert_eq!(run.outcome(), Some(&Outcome::RoundingLimit));
        assert!(run.cycle() < 10_000, "{} cycles", run.cycle());
    }
}

/// Little progress is progress.
#[test]
fn a_slow_run_is_not_taken_for_one_that_circles() {
    let mut slow = small();
    slow.method.set_name(MethodName::Classic);
    (slow.method.omega, slow.stop.tolerance) = (1e-9, None);
    slow.stop.max_cycles = 5000;
    let mut single = slow.clone();
    (single.method.omega, single.method.precision) = (1e-4, Precision::F32);
    let mut line = slow.clone();
    (line.problem.shape, line.method.tile, line.method.omega) = (vec![400], vec![16], 1.0);
    line.method.precision = Precision::F32;
    for spec in [slow, single, line] {
        let run = finished(&spec, vec![50], u64::MAX);
        assert_eq!((run.outcome(), run.cycle()), (Some(&Outcome::OutOfCycles), 5000));
    }
}
