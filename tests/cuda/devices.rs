//! Devices that share a grid or the lines of a batch: those that GPUs are, or that one GPU simulates, make the bits of
//! those that a CPU simulates.

use crate::cases::{Case, case, with_random_rows};
use crate::gpu::{device, several};
use crate::iterates::{LEAST, bits, check, large, maxima, request, settings, share};
use crate::volumes::{batches, compare_batches, volume, wide};
use proptest::prelude::*;
use std::cell::Cell;
use std::num::NonZeroU64;
use std::sync::Arc;
use tilescope::grid::{Field, Precision, Shape};
use tilescope::problem::{Boundary, Problem, Source, Stencil};
use tilescope::solver::cuda::{self, Device, Gpus};
use tilescope::solver::{
    self, CycleNorms, Devices, ExchangePath, Kernel, Link, Method, NormRequest, ShareBy, Solver,
    SolverError,
};

pub const TESTS: &[(&str, fn())] = &[
    ("devices_make_the_bits_of_the_cpu", devices_make_the_bits_of_the_cpu),
    (
        "devices_take_large_tiles_and_rows_of_their_own",
        devices_take_large_tiles_and_rows_of_their_own,
    ),
    ("devices_take_volumes", devices_take_volumes),
    ("norms_of_devices_are_those_of_one_gpu", norms_of_devices_are_those_of_one_gpu),
    ("many_cycles_of_devices_are_the_same_cycles", many_cycles_of_devices_are_the_same_cycles),
    ("unequal_shares_make_the_same_bits", unequal_shares_make_the_same_bits),
    ("devices_make_sweeps_together", devices_make_sweeps_together),
    ("devices_are_observed_as_one", devices_are_observed_as_one),
    ("devices_beside_one_GPU_have_frozen_halos", devices_beside_one_gpu),
    ("devices_refuse_what_they_do_not_share", devices_refuse_what_they_do_not_share),
];

/// A method on as many of `count` devices as its tiles allow.
pub fn shared(sweeps: Method, shape: &Shape, count: usize, every: u64) -> Method {
    let every = NonZeroU64::new(every).expect("at least 1");
    let made = (1..=count)
        .rev()
        .find_map(|count| Devices::new(&sweeps, shape, count, every, Link::NVLINK).ok());
    sweeps.on_devices(made.expect("one device shares with none"))
}

/// How devices are made: on as many GPUs as there are, some of which may have several, or on one; and how they exchange.
#[derive(Clone, Copy, Debug)]
pub struct Made {
    pub is_real: bool,
    pub exchange: ExchangePath,
}

pub fn made() -> impl Strategy<Value = Made> {
    let exchange = prop_oneof![2 => Just(ExchangePath::Auto), 1 => Just(ExchangePath::Host)];
    (any::<bool>(), exchange).prop_map(|(is_real, exchange)| Made { is_real, exchange })
}

/// A solver whose first cycle has only NaN to write over; an error if the kernel does not accept the method.
pub fn on_gpus(
    problem: &Arc<Problem>,
    method: &Method,
    precision: Precision,
    kernel: Kernel,
    Made { is_real, exchange }: Made,
) -> Result<Box<dyn Solver>, SolverError> {
    let count = method.devices().map_or(1, Devices::count);
    let most = if is_real { count.min(several().len()) } else { 1 };
    let devices = &several()[..most];
    let gpus = Gpus { devices, exchange };
    cuda::poisoned_solver(problem, method.clone(), precision, gpus, kernel, None)
}

/// Whether norms agree up to rounding. A run may diverge.
pub fn is_near(one: f64, other: f64) -> bool {
    let is_same = one == other || one.is_nan() && other.is_nan();
    is_same || (one - other).abs() <= 1e-11 * other.abs().max(f64::MIN_POSITIVE)
}

/// Makes cycles and compares all that comes out, unless the kernel refuses the method; returns whether it did.
pub fn compare(
    problem: &Arc<Problem>,
    method: &Method,
    (precision, kernel, made): (Precision, Kernel, Made),
    exact: Field<f64>,
    cycles: usize,
) -> bool {
    let mut gpus = match on_gpus(problem, method, precision, kernel, made) {
        Ok(solver) => solver,
        Err(SolverError::Kernel { .. }) => return false,
        Err(error) => panic!("{error}"),
    };
    let mut cpu = solver::on_cpu(problem, method.clone(), precision, 1).expect("memory");
    let exact = Arc::new(exact);
    for solver in [&mut gpus, &mut cpu] {
        solver.set_exact(Arc::clone(&exact)).expect("there is room");
    }
    let every = method.devices().expect("devices").exchange_every() as usize;
    for cycle in 0..cycles + 2 * every {
        let with_maxima = (cycle + cycles).is_multiple_of(2);
        let there = gpus.cycles(1, request(with_maxima)).expect("GPUs at work").norms[0];
        let here = cpu.cycles(1, NormRequest::ALL).expect("a CPU").norms[0];
        assert!(
            is_near(there.residual_before.l2, here.residual_before.l2),
            "cycle {cycle}: {there:?} {here:?}"
        );
        if with_maxima {
            assert_eq!(maxima(&there), maxima(&here), "cycle {cycle}");
            let error = |norms: &CycleNorms| norms.error.expect("u* is known");
            assert!(is_near(error(&there), error(&here)), "cycle {cycle}: {there:?} {here:?}");
        }
        let [found, expected] = [&gpus, &cpu].map(|it| it.norms(NormRequest::ALL).expect("norms"));
        let [one, other] = [&found, &expected].map(|it| it.residual.expect("it was requested"));
        assert!(is_near(one.l2, other.l2), "after cycle {cycle}: {one:?} {other:?}");
        assert_eq!(one.max.map(f64::to_bits), other.max.map(f64::to_bits), "cycle {cycle}");
        let change = |norms: &solver::Norms| norms.max_change.map(f64::to_bits);
        assert_eq!(change(&found), change(&expected), "cycle {cycle}");
        same(&*gpus, &*cpu, cycle);
    }
    // From an iterate after an exchange, the same cycles follow.
    gpus.restart().expect("a GPU");
    cpu.restart().expect("a CPU");
    let again = |solver: &mut Box<dyn Solver>, cycles: usize| {
        for _ in 0..cycles {
            solver.cycles(1, NormRequest::NONE).expect("a solver at work");
        }
    };
    for solver in [&mut gpus, &mut cpu] {
        again(solver, every);
    }
    let exchanged = gpus.solution().expect("a GPU");
    gpus.start_from(&exchanged).expect("a GPU");
    for solver in [&mut gpus, &mut cpu] {
        again(solver, every + 1);
    }
    same(&*gpus, &*cpu, 0);
    true
}

/// Asserts that both iterates are the same to the last bit, and both iterates before.
pub fn same(gpus: &dyn Solver, cpu: &dyn Solver, cycle: usize) {
    let both = |field: fn(&dyn Solver) -> Field<f64>| bits(&field(gpus)) == bits(&field(cpu));
    assert!(both(|solver| solver.solution().expect("a solver")), "cycle {cycle}");
    assert!(both(|solver| solver.previous().expect("a solver")), "before cycle {cycle}");
}

/// What GPUs share: a 2D or 3D grid, or the lines of a batch.
pub fn of_planes(cases: impl Strategy<Value = Case>) -> impl Strategy<Value = Case> {
    cases.prop_filter("several planes or lines", |case| {
        let shape = &case.problem.shape;
        shape.dim() > 1 || shape.batch() > 1
    })
}

pub fn kernels() -> impl Strategy<Value = Kernel> {
    prop::sample::select(vec![Kernel::CLASSIC, Kernel::SHARED, Kernel::REGISTER, Kernel::AUTO])
}

pub fn precisions() -> impl Strategy<Value = Precision> {
    prop::sample::select(Precision::ALL.to_vec())
}

/// How many devices, how often they exchange, and the damping.
pub fn sharing() -> impl Strategy<Value = (usize, u64, f64)> {
    let omega = prop_oneof![3 => Just(1.0), 1 => 0.1..1.5_f64];
    (2..=4_usize, prop_oneof![2 => Just(1), 1 => 2..=4_u64], omega)
}

/// Of many cases one in `taken` at the least is not refused, of few one in all.
fn compare_cases(count: u32, taken: u32, cases: impl Strategy<Value = Case>) {
    let compared = Cell::new(0);
    let count = count.max(LEAST);
    let least = if count < 100 { 1 } else { count / taken };
    let settings = (cases, kernels(), precisions(), sharing(), made());
    check(count, settings, |(case, kernel, precision, (devices, every, omega), made)| {
        let is_classic = kernel == Kernel::CLASSIC;
        let sweeps = if is_classic { Method::Classic } else { case.hierarchical() };
        let method = shared(sweeps, &case.problem.shape, devices, every).damped(omega);
        let how = (precision, kernel, made);
        let is_taken = compare(&case.problem, &method, how, case.other(), case.cycles);
        compared.set(compared.get() + u32::from(is_taken));
    });
    assert!(compared.get() >= least, "only {} of {count} were compared", compared.get());
}

fn devices_make_the_bits_of_the_cpu() {
    let count = settings() / 4;
    compare_cases(count, 2, of_planes(case()));
}

fn devices_take_large_tiles_and_rows_of_their_own() {
    let count = settings() / 16;
    compare_cases(count, 3, of_planes(large()));
    compare_cases(count, 4, of_planes(with_random_rows(case())));
}

fn devices_take_volumes() {
    let count = settings() / 8;
    compare_cases(count, 3, volume());
}

/// Sums of squares are added tile by tile, in the order of tiles and not of devices. On lines kernel `register` adds
/// those of several tiles first, beginning anew with each device.
fn norms_of_devices_are_those_of_one_gpu() {
    let cases = prop_oneof![of_planes(case()), of_planes(large()), volume()];
    let settings = (cases, kernels(), precisions(), 2..=4_usize, made());
    check(share(200), settings, |(case, kernel, precision, count, made)| {
        let are_lines = case.problem.shape.dim() == 1;
        if kernel == Kernel::CLASSIC || are_lines && kernel != Kernel::SHARED {
            return;
        }
        let one = crate::gpu::solver(&case.problem, case.hierarchical(), precision, kernel);
        let Ok(mut one) = one else { return };
        let method = shared(case.hierarchical(), &case.problem.shape, count, 1);
        let several = on_gpus(&case.problem, &method, precision, kernel, made);
        let mut several = several.expect("what one takes");
        for _ in 0..case.cycles {
            let [there, here] = [&mut several, &mut one].map(|solver| {
                let made = solver.cycles(1, NormRequest::RESIDUAL_L2).expect("a GPU at work");
                made.norms[0].residual_before.l2.to_bits()
            });
            assert_eq!(there, here, "{method:?}");
        }
    });
}

/// Batches are recorded as graphs over all devices.
fn many_cycles_of_devices_are_the_same_cycles() {
    let cases = prop_oneof![2 => of_planes(case()), 1 => volume()];
    let settings = (cases, 100..=400_u64, 2..=4_usize, 1..=3_u64, made());
    check(share(40), settings, |(case, cycles, count, every, made)| {
        for (sweeps, kernel) in
            [(Method::Classic, Kernel::AUTO), (case.hierarchical(), Kernel::SHARED)]
        {
            let method = shared(sweeps, &case.problem.shape, count, every);
            let gpus = on_gpus(&case.problem, &method, Precision::F64, kernel, made);
            let Ok(gpus) = gpus else { continue };
            compare_many(&case.problem, &method, gpus, cycles);
        }
    });
}

/// Makes cycles in batches, with norms and without, and compares them with those of a CPU.
pub fn compare_many(
    problem: &Arc<Problem>,
    method: &Method,
    mut gpus: Box<dyn Solver>,
    cycles: u64,
) {
    let mut cpu = solver::on_cpu(problem, method.clone(), Precision::F64, 1).expect("memory");
    let mut expected = Vec::new();
    while (expected.len() as u64) < cycles {
        expected.extend(cpu.cycles(1, NormRequest::ALL).expect("a CPU").norms);
    }
    for request in [NormRequest::NONE, NormRequest::RESIDUAL_L2, NormRequest::ALL] {
        gpus.restart().expect("a GPU");
        let mut done = 0;
        while done < cycles {
            let batch = gpus.cycles(cycles - done, request).expect("GPUs at work");
            for (norms, expected) in batch.norms.iter().zip(&expected[done as usize..]) {
                let [there, here] = [norms, expected].map(|it| it.residual_before.l2);
                assert!(is_near(there, here), "{request:?}: {there} {here}");
                if request == NormRequest::ALL {
                    assert_eq!(maxima(norms), maxima(expected), "after {done} cycles");
                }
            }
            done += batch.cycles;
        }
        assert_eq!(done, cycles);
        same(&*gpus, &*cpu, cycles as usize);
    }
}

/// Shares by any speeds, and by those that are measured when a solver is set up.
fn unequal_shares_make_the_same_bits() {
    let speeds = prop::option::of(prop::collection::vec(0.1..9.0_f64, 4));
    let cases = prop_oneof![2 => of_planes(case()), 1 => volume()];
    let settings = (cases, kernels(), precisions(), 2..=4_usize, speeds, made());
    let compared = Cell::new(0);
    check(share(80).max(LEAST), settings, |(case, kernel, precision, count, speeds, made)| {
        let is_classic = kernel == Kernel::CLASSIC;
        let sweeps = if is_classic { Method::Classic } else { case.hierarchical() };
        let method = shared(sweeps, &case.problem.shape, count, 1);
        let devices = method.devices().expect("devices").clone();
        let of_speeds = match &speeds {
            Some(speeds) => {
                let count = devices.count();
                devices.of_speeds(&speeds[..count])
            }
            None => devices.sharing_by(ShareBy::Speed),
        };
        let method = method.with_devices(of_speeds);
        if speeds.is_none()
            && let Ok(gpus) = on_gpus(&case.problem, &method, precision, kernel, made)
        {
            let measured = gpus.measured_devices().expect("they were measured");
            assert_eq!(measured.count(), method.devices().map_or(0, Devices::count));
        }
        let is_taken =
            compare(&case.problem, &method, (precision, kernel, made), case.other(), case.cycles);
        compared.set(compared.get() + u32::from(is_taken));
    });
    assert!(compared.get() > 0);
}

/// Kernel `fused`, whose tiles are shared out evenly or by any speeds; several rounds of the same sweeps, also where graphs are
/// recorded.
fn devices_make_sweeps_together() {
    let speeds = prop::option::of(prop::collection::vec(0.1..9.0_f64, 4));
    let settings = (wide(), precisions(), 2..=4_usize, speeds, made(), batches(), 0..400_u64);
    let shared_by = Cell::new([0; 5]);
    // Some volumes have room for one device alone.
    let count = share(60).max(8);
    check(count, settings, |(case, precision, most, speeds, made, mut batches, many)| {
        let problem = &case.problem;
        let of_count = |count| Devices::of_fused(&problem.shape, count, Link::NVLINK).ok();
        let devices = (1..=most).rev().find_map(of_count).expect("one device shares with none");
        let count = devices.count();
        let devices = match speeds {
            Some(speeds) => devices.of_speeds(&speeds[..count]),
            None => devices,
        };
        let method = Method::Classic.on_devices(devices);
        let gpus = on_gpus(problem, &method, precision, Kernel::FUSED, made);
        let gpus = gpus.expect("a wide volume");
        assert_eq!(gpus.device().expect("a GPU").kernel, Kernel::FUSED);
        batches.push((many, NormRequest::RESIDUAL_L2));
        compare_batches(problem, precision, gpus, batches);
        let mut counts = shared_by.get();
        counts[count] += 1;
        shared_by.set(counts);
    });
    assert!(shared_by.get()[2..].iter().any(|count| *count > 0), "{:?}", shared_by.get());
}

/// Fields come from this machine, so what is to be seen is that they are those of the present iterate.
fn devices_are_observed_as_one() {
    check(share(40), (of_planes(case()), 2..=4_usize, made()), |(case, count, made)| {
        let method = shared(case.hierarchical(), &case.problem.shape, count, 1);
        let kernel = Kernel::SHARED;
        let gpus = on_gpus(&case.problem, &method, Precision::F64, kernel, made);
        let Ok(mut gpus) = gpus else { return };
        let mut cpu =
            solver::on_cpu(&case.problem, method.clone(), Precision::F64, 1).expect("memory");
        let last = [case.problem.shape.nx() - 1, case.problem.shape.rows() - 1];
        for _ in 0..3 {
            for solver in [&mut gpus, &mut cpu] {
                solver.cycles(1, NormRequest::NONE).expect("a solver at work");
            }
            for quantity in [solver::Quantity::Residual, solver::Quantity::Change] {
                let at = |it: &dyn Solver| it.values(quantity, &[[0, 0], last]).expect("values");
                let bits =
                    |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect::<Vec<_>>();
                let [there, here] = [at(&*gpus), at(&*cpu)].map(bits);
                assert_eq!(there, here);
            }
            let tiling = case.tiling();
            let statistics = |it: &dyn Solver| {
                it.statistics(solver::Quantity::Residual, &tiling).expect("statistics")
            };
            // As text: what no tile has is NaN.
            let [there, here] = [statistics(&*gpus), statistics(&*cpu)];
            assert_eq!(format!("{there:?}"), format!("{here:?}"));
        }
        // Another method beside it is shared out likewise.
        let mut classic = gpus.with_method(Method::Classic, Kernel::AUTO).expect("there is room");
        let mut here =
            solver::on_cpu(&case.problem, Method::Classic, Precision::F64, 1).expect("memory");
        for _ in 0..3 {
            classic.cycles(1, NormRequest::NONE).expect("GPUs at work");
            here.cycles(1, NormRequest::NONE).expect("a CPU");
        }
        assert!(bits(&classic.solution().expect("GPUs")) == bits(&here.solution().expect("a CPU")));
    });
}

/// A solver of one GPU leads to one of devices that it simulates, and not to its own cycles.
fn devices_beside_one_gpu() {
    let settings = (of_planes(case()), 2..=3_usize, 2..=3_u64);
    check(share(20), settings, |(case, count, every)| {
        let (problem, kernel) = (&case.problem, Kernel::SHARED);
        let one = crate::gpu::solver(problem, case.hierarchical(), Precision::F64, kernel);
        let Ok(one) = one else { return };
        let method = shared(case.hierarchical(), &problem.shape, count, every);
        let mut beside = one.with_method(method.clone(), kernel).expect("there is room");
        let mut cpu = solver::on_cpu(problem, method, Precision::F64, 1).expect("memory");
        for cycle in 0..2 * every as usize {
            for solver in [&mut beside, &mut cpu] {
                solver.cycles(1, NormRequest::NONE).expect("a solver at work");
            }
            same(&*beside, &*cpu, cycle);
        }
    });
}

fn devices_refuse_what_they_do_not_share() {
    let shape = Shape::grid_2d(64, 64).expect("a small shape");
    let problem = Arc::new(Problem {
        shape,
        operator: Stencil::poisson(&shape).into(),
        rhs: Source::Constant(1.0),
        initial_guess: Source::Constant(0.0),
        boundary: Boundary::default(),
    });
    let method = shared(Method::Classic, &shape, 2, 1);
    let refused = |devices: &[Device], kernel| {
        let gpus = Gpus { devices, exchange: ExchangePath::Auto };
        let made = cuda::solver(&problem, method.clone(), Precision::F64, gpus, kernel, None);
        made.err().expect("it is refused").to_string()
    };
    let one = std::slice::from_ref(device());
    let said = refused(one, Kernel::SHARED);
    assert!(said.contains("kernel shared does not accept method classic"), "{said}");
    let three = [0, 0, 0].map(|_| device().clone());
    let said = refused(&three, Kernel::AUTO);
    assert!(said.contains("devices names 3 GPUs, but the method is not shared out"), "{said}");
    let far = [device().clone(), Device::new(99)];
    let said = refused(&far, Kernel::AUTO);
    assert!(said.contains("devices names GPU 99"), "{said}");
    let line = Shape::grid_1d(64, 1).expect("a small shape");
    let operator = Stencil::poisson(&line).into();
    let problem = Arc::new(Problem { shape: line, operator, ..(*problem).clone() });
    let gpus = Gpus { devices: one, exchange: ExchangePath::Auto };
    let method = shared(Method::Classic, &line, 2, 1);
    let made = cuda::solver(&problem, method, Precision::F64, gpus, Kernel::AUTO, None);
    let said = made.err().expect("it is refused").to_string();
    assert_eq!(said, "this solver does not take a single line that several devices share");
}
