//! GPUs of one process that exchange values through NCCL make the bits of the CPU. Where there are fewer GPUs than devices, some
//! have several. There are few settings: NCCL takes a second to make a group.

use crate::cases::case;
use crate::devices::{
    Made, compare, compare_many, kernels, of_planes, on_gpus, precisions, shared, sharing,
};
use crate::gpu::several;
use crate::iterates::{check, share};
use crate::matrix_cases::cases;
use crate::matrix_devices;
use crate::volumes::volume;
use proptest::prelude::*;
use std::cell::Cell;
use std::sync::LazyLock;
use std::time::Instant;
use tilescope::grid::Precision;
use tilescope::solver::cuda;
use tilescope::solver::{ExchangePath, Kernel, Method, NormRequest, SolverError};

/// They need two GPUs and NCCL.
pub const TESTS: &[(&str, fn())] = &[
    ("grids_exchanged_through_nccl_have_the_bits_of_the_cpu", grids),
    ("matrices_exchanged_through_nccl_have_the_bits_of_the_cpu", matrices),
    ("many_cycles_through_nccl_are_the_same_cycles", many_cycles),
    ("solvers_through_nccl_come_and_go", solvers_come_and_go),
];

/// Whether NCCL can be used; says loudly if not.
pub fn has_nccl() -> bool {
    static HAS: LazyLock<bool> = LazyLock::new(|| match cuda::nccl_version() {
        Ok(version) => {
            eprintln!("NCCL {version}");
            true
        }
        Err(why) => {
            eprintln!("EXCHANGE THROUGH NCCL: not run, {why}");
            false
        }
    });
    *HAS
}

const MADE: Made = Made { is_real: true, exchange: ExchangePath::Nccl };

fn grids() {
    let compared = Cell::new(0);
    let count = share(80);
    let cases = prop_oneof![2 => of_planes(case()), 1 => volume()];
    let all = (cases, kernels(), precisions(), sharing());
    check(count, all, |(case, kernel, precision, (devices, every, omega))| {
        let is_classic = kernel == Kernel::CLASSIC;
        let sweeps = if is_classic { Method::Classic } else { case.hierarchical() };
        let method = shared(sweeps, &case.problem.shape, devices, every).damped(omega);
        let how = (precision, kernel, MADE);
        let is_taken = compare(&case.problem, &method, how, case.other(), case.cycles);
        compared.set(compared.get() + u32::from(is_taken));
    });
    assert!(compared.get() >= count / 3, "only {} of {count} were compared", compared.get());
}

fn matrices() {
    let how = (crate::matrices::kernels(), crate::matrices::precisions());
    let sharing = (2..=4_usize, prop_oneof![2 => Just(1), 1 => 2..=4_u64]);
    check(share(60), (cases(), how, sharing), |drawn| {
        let (case, (kernel, precision), (count, every)) = drawn;
        let problem = case.problem();
        let method = matrix_devices::shared(&case, &problem, case.method(), count, every);
        let exact = matrix_devices::exact(&problem);
        let is_taken = compare(&problem, &method, (precision, kernel, MADE), exact, 2);
        assert!(is_taken, "{kernel:?} refuses {method:?}");
    });
}

/// Batches are recorded as graphs over all devices, with what NCCL does.
fn many_cycles() {
    let cases = prop_oneof![2 => of_planes(case()), 1 => volume()];
    let all = (cases, 100..=400_u64, 2..=4_usize, 1..=3_u64);
    check(share(16), all, |(case, cycles, count, every)| {
        for (sweeps, kernel) in
            [(Method::Classic, Kernel::AUTO), (case.hierarchical(), Kernel::SHARED)]
        {
            let method = shared(sweeps, &case.problem.shape, count, every);
            match on_gpus(&case.problem, &method, Precision::F64, kernel, MADE) {
                Ok(gpus) => compare_many(&case.problem, &method, gpus, cycles),
                Err(SolverError::Kernel { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    });
}

/// A group of GPUs is closed with its solver, also where graphs were recorded in it and another solver is beside it.
fn solvers_come_and_go() {
    let begin = Instant::now();
    let count = Cell::new(0);
    check(share(12), of_planes(case()), |case| {
        let method = shared(case.hierarchical(), &case.problem.shape, several().len(), 1);
        let solver = on_gpus(&case.problem, &method, Precision::F64, Kernel::SHARED, MADE);
        let Ok(mut solver) = solver else { return };
        let mut beside = solver.with_method(Method::Classic, Kernel::AUTO).expect("room");
        for _ in 0..3 {
            for solver in [&mut solver, &mut beside] {
                solver.cycles(500, NormRequest::NONE).expect("GPUs at work");
            }
        }
        let is_shared = method.devices().is_some_and(|devices| devices.count() > 1);
        let paths: &[_] = if is_shared { &[ExchangePath::Nccl] } else { &[] };
        assert_eq!(solver.exchange_paths(), paths);
        count.set(count.get() + 2);
    });
    eprintln!("{} solvers in {:.1} s", count.get(), begin.elapsed().as_secs_f64());
}
