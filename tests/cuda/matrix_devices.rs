//! Devices that share the blocks of a matrix: those that GPUs are, or that one GPU simulates, make the bits of those
//! that a CPU simulates.

use crate::devices::{compare, compare_many, made, on_gpus, same};
use crate::gpu::several;
use crate::iterates::{bits, check, settings, share};
use crate::matrices::{in_order, kernels, larger, precisions};
use crate::matrix_cases::{Case, cases};
use proptest::prelude::*;
use std::cell::Cell;
use std::num::NonZeroU64;
use std::sync::Arc;
use tilescope::grid::{Field, Precision};
use tilescope::problem::Problem;
use tilescope::problem::matrix::Ordering;
use tilescope::run::{Backend, MatrixSpec, Outcome, Planner, ProblemKind, Run, RunSpec};
use tilescope::solver::{
    self, Devices, Kernel, Link, Method, NormRequest, Quantity, Solver, SolverError,
};

pub const TESTS: &[(&str, fn())] = &[
    ("devices_make_the_bits_of_the_cpu_on_matrices", devices_make_the_bits_of_the_cpu),
    ("devices_take_larger_matrices_in_any_order", devices_take_larger_matrices),
    ("norms_of_blocks_on_devices_are_those_of_one_gpu", norms_are_those_of_one_gpu),
    ("many_cycles_of_blocks_on_devices_are_the_same_cycles", many_cycles),
    ("a_matrix_on_devices_is_observed_as_one", a_matrix_on_devices_is_observed_as_one),
    ("checked_figures_hold_on_devices", checked_figures),
];

/// A method on as many of `count` devices as there are blocks.
pub fn shared(case: &Case, problem: &Problem, sweeps: Method, count: usize, every: u64) -> Method {
    let matrix = problem.operator.matrix().expect("a matrix");
    let Method::Hierarchical { tiling, .. } = case.method() else { panic!("blocks") };
    let (blocks, every) = (tiling.x(), NonZeroU64::new(every).expect("at least 1"));
    let count = count.min(blocks.count());
    let devices = Devices::of_blocks(&sweeps, matrix, blocks, count, every, Link::NVLINK);
    sweeps.on_devices(devices.expect("no more devices than blocks"))
}

pub fn exact(problem: &Problem) -> Field<f64> {
    Field::from_fn(problem.shape, |i, _| 0.1 * i as f64)
}

/// How many devices, and how often they exchange.
fn sharing() -> impl Strategy<Value = (usize, u64)> {
    (2..=4_usize, prop_oneof![2 => Just(1), 1 => 2..=4_u64])
}

fn devices_make_the_bits_of_the_cpu() {
    let is_classic = prop::bool::weighted(0.2);
    let how = (kernels(), precisions(), is_classic);
    check(settings() / 2, (cases(), how, sharing(), made()), |drawn| {
        let (case, (kernel, precision, is_classic), (count, every), made) = drawn;
        let sweeps = if is_classic { Method::Classic } else { case.method() };
        let problem = case.problem();
        let method = shared(&case, &problem, sweeps, count, every);
        let is_taken = compare(&problem, &method, (precision, kernel, made), exact(&problem), 2);
        assert!(is_taken, "{kernel:?} refuses {method:?}");
    });
}

fn devices_take_larger_matrices() {
    let compared = Cell::new(0);
    let count = settings() / 8;
    let orderings = prop::sample::select(Ordering::ALL.to_vec());
    let how = (kernels(), precisions(), orderings);
    check(count, (larger(), how, sharing(), made()), |drawn| {
        let (case, (kernel, precision, ordering), (devices, every), made) = drawn;
        let problem = in_order(&case.problem(), ordering, case.block);
        for sweeps in [case.method(), Method::Classic] {
            let is_classic = sweeps == Method::Classic;
            let method = shared(&case, &problem, sweeps, devices, every);
            let how = (precision, kernel, made);
            let is_taken = compare(&problem, &method, how, exact(&problem), 2);
            assert!(is_taken || !is_classic, "{method:?}");
            compared.set(compared.get() + u32::from(is_taken));
        }
    });
    // Large blocks, and those that many levels make large, are not for all kernels: perhaps for none of a few cases.
    let least = if count < 10 { count } else { count + count / 3 + 1 };
    assert!(compared.get() >= least, "only {} were compared", compared.get());
}

/// Sums come block by block, in the order of blocks and not of devices.
fn norms_are_those_of_one_gpu() {
    let settings_of_devices = (larger(), kernels(), precisions(), 2..=4_usize, made());
    check(share(200), settings_of_devices, |(case, kernel, precision, count, made)| {
        let problem = case.problem();
        let one = crate::gpu::solver(&problem, case.method(), precision, kernel);
        let Ok(mut one) = one else { return };
        let method = shared(&case, &problem, case.method(), count, 1);
        let several = on_gpus(&problem, &method, precision, kernel, made);
        let mut several = several.expect("what one takes");
        let exact = Arc::new(exact(&problem));
        for solver in [&mut several, &mut one] {
            solver.set_exact(Arc::clone(&exact)).expect("there is room");
        }
        for norms in [NormRequest::RESIDUAL_L2, NormRequest::ALL, NormRequest::RESIDUAL_L2] {
            let [there, here] = [&mut several, &mut one].map(|solver| {
                let made = solver.cycles(1, norms).expect("a GPU at work").norms[0];
                // As text: every digit, and NaN is NaN.
                format!("{made:?}")
            });
            assert_eq!(there, here, "{kernel:?} {method:?}");
        }
    });
}

/// Batches are recorded as graphs over all devices.
fn many_cycles() {
    let settings = (larger(), 100..=400_u64, 2..=4_usize, 1..=3_u64, made());
    check(share(40), settings, |(case, cycles, count, every, made)| {
        let problem = case.problem();
        for sweeps in [case.method(), Method::Classic] {
            let method = shared(&case, &problem, sweeps, count, every);
            let gpus = on_gpus(&problem, &method, Precision::F64, Kernel::AUTO, made);
            match gpus {
                Ok(gpus) => compare_many(&problem, &method, gpus, cycles),
                Err(SolverError::Kernel { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    });
}

/// Fields come from this machine, so what is to be seen is that they are those of the present iterate.
fn a_matrix_on_devices_is_observed_as_one() {
    check(share(100), (larger(), precisions(), 2..=4_usize, made()), |drawn| {
        let (case, precision, count, made) = drawn;
        let problem = case.problem();
        let method = shared(&case, &problem, case.method(), count, 1);
        let gpus = on_gpus(&problem, &method, precision, Kernel::AUTO, made);
        let mut gpus = match gpus {
            Ok(gpus) => gpus,
            Err(SolverError::Kernel { .. }) => return,
            Err(error) => panic!("{error}"),
        };
        let mut cpu = solver::on_cpu(&problem, case.method(), precision, 1).expect("memory");
        let exact = Arc::new(exact(&problem));
        for solver in [&mut gpus, &mut cpu] {
            solver.set_exact(Arc::clone(&exact)).expect("there is room");
        }
        for cycle in 0..3 {
            for solver in [&mut gpus, &mut cpu] {
                solver.cycles(1, NormRequest::NONE).expect("a solver at work");
            }
            for quantity in [Quantity::Residual, Quantity::Change, Quantity::Error] {
                let at = |it: &dyn Solver| {
                    let values = it.values(quantity, &[[0, 0], [case.rows - 1, 0]]);
                    format!("{:?}", values.expect("values"))
                };
                assert_eq!(at(&*gpus), at(&*cpu), "cycle {cycle}");
            }
            same(&*gpus, &*cpu, cycle);
        }
        // Another method beside it is shared out likewise.
        for other in [Method::Classic, case.method()] {
            let mut there = gpus.with_method(other.clone(), Kernel::AUTO).expect("room");
            let mut here = solver::on_cpu(&problem, other, precision, 1).expect("memory");
            for _ in 0..3 {
                there.cycles(1, NormRequest::ALL).expect("GPUs at work");
                here.cycles(1, NormRequest::NONE).expect("a CPU");
            }
            assert!(bits(&there.solution().expect("it")) == bits(&here.solution().expect("it")));
        }
    });
}

/// Runs from start to end, on simulated devices and on as many GPUs as there are.
fn checked_figures() {
    for (source, ordering, block, sweeps, cycles) in [
        ("heat-1d", Ordering::Natural, 25, 8, 4_462),
        ("trefethen-2000", Ordering::Natural, 128, 4, 19),
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
        let real: Vec<u32> = several().iter().map(|device| device.ordinal()).collect();
        for (devices, simulated) in [(vec![0], Some(3)), (real, None)] {
            for backend in [Backend::Cuda, Backend::Auto] {
                (spec.method.devices, spec.method.backend) = (devices.clone(), backend);
                spec.method.simulate_devices = simulated;
                let plan = Arc::new(planner.plan(&spec).expect("a valid run"));
                assert_eq!(plan.backend(), Backend::Cuda, "{:?}", plan.without_gpu);
                let mut run = Run::new(&plan).expect("memory");
                while run.outcome().is_none() {
                    run.advance(u64::MAX).expect("GPUs at work");
                }
                let end = (run.outcome(), run.cycle());
                assert_eq!(end, (Some(&Outcome::Converged), cycles), "{source} on {devices:?}");
            }
        }
    }
}
