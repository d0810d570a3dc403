//! Devices that share a grid: exchanged after every cycle, the bits and norms of one device; in between, those of
//! devices whose view of the others is frozen. Slabs of a pyramid exchange nothing.

use crate::cases::{Case, any_case, case, with_random_rows};
use crate::naive::{Naive, Num};
use crate::{Cycles, bits, bits_of, on_cpu};
use proptest::prelude::*;
use std::num::NonZeroU64;
use std::sync::Arc;
use tilescope::grid::{Shape, Tiling};
use tilescope::problem::{Boundary, Problem, Source, Stencil};
use tilescope::solver::cpu::Level;
use tilescope::solver::{
    Devices, Height, Link, Method, MethodName, NormRequest, Spectral, Streaming,
};

/// A method on as many of `count` devices as its tiles allow, with what they own.
fn shared(sweeps: Method, shape: &Shape, count: usize, every: u64) -> (Method, Devices) {
    let every = NonZeroU64::new(every).expect("at least 1");
    let made = (1..=count)
        .rev()
        .find_map(|count| Devices::new(&sweeps, shape, count, every, Link::NVLINK).ok());
    let devices = made.expect("one device shares with none");
    (sweeps.on_devices(devices.clone()), devices)
}

/// As many devices as there are speeds, by which the grid is shared out.
fn equals_one_device<R: Num>(
    case: &Case,
    speeds: &[f64],
    omega: f64,
    threads: usize,
) -> Result<(), TestCaseError> {
    // Sweeps in the sine basis are not damped, and take only some weights.
    let spectral = (omega == 1.0 && !case.problem.operator.is_per_point())
        .then(|| case.spectral(case.k.into()).ok())
        .flatten();
    for sweeps in [case.hierarchical(), Method::Classic].into_iter().chain(spectral) {
        let (method, devices) = shared(sweeps.clone(), &case.problem.shape, speeds.len(), 1);
        let devices = devices.clone().of_speeds(&speeds[..devices.count()]);
        let method = method.with_devices(devices);
        let mut one = case.plain::<R>(sweeps.damped(omega));
        let mut several = case.solver::<R>(method.damped(omega), Level::best(), threads);
        for solver in [&mut one, &mut several] {
            solver.set_exact(Arc::new(case.other())).expect("the CPU does not fail");
        }
        for cycle in 0..case.cycles {
            prop_assert_eq!(several.cycle(), one.cycle(), "norms of cycle {}", cycle);
            prop_assert_eq!(bits(&several.iterate()), bits(&one.iterate()), "cycle {}", cycle);
        }
    }
    Ok(())
}

/// Devices with a view of the whole grid each, of which only what they own is their own work.
fn frozen_matches_naive<R: Num>(
    case: &Case,
    count: usize,
    every: u64,
) -> Result<(), TestCaseError> {
    let shape = &case.problem.shape;
    // Lines of a batch, or planes along the slowest axis.
    let slowest = if shape.batch() > 1 { shape.batch() } else { shape.axes()[shape.dim() - 1] };
    let plane = shape.points() / slowest;
    for sweeps in [case.hierarchical(), Method::Classic] {
        let is_classic = sweeps == Method::Classic;
        let (method, devices) = shared(sweeps, shape, count, every);
        let mut solver = case.plain::<R>(method);
        let mut global = Naive::<R>::new(&case.problem);
        let mut views = vec![global.clone(); devices.count()];
        for cycle in 1..=2 * every + 1 {
            for (view, share) in views.iter_mut().zip(devices.shares().of_devices()) {
                let frozen = view.u.clone();
                if is_classic {
                    view.sweep();
                } else {
                    view.cycle(case.k, case.tile, case.overlap);
                }
                let owned = share.owned.start * plane..share.owned.end * plane;
                global.u[owned.clone()].copy_from_slice(&view.u[owned.clone()]);
                let mut next = frozen;
                next[owned.clone()].copy_from_slice(&global.u[owned]);
                view.u = next;
            }
            if cycle % every == 0 {
                views.iter_mut().for_each(|view| view.u.clone_from(&global.u));
            }
            let residual = solver.norms(NormRequest::RESIDUAL).expect("the CPU does not fail");
            let found = solver.cycle();
            if devices.have_frozen_halos() {
                prop_assert_eq!(Some(found.residual_before), residual.residual);
            }
            prop_assert_eq!(bits(&solver.iterate()), bits_of(&global.u), "cycle {}", cycle);
        }
        // From an iterate after an exchange, the same cycles follow.
        solver.restart().expect("the CPU does not fail");
        (0..every).for_each(|_| solver.cycle_without_norms());
        let exchanged = solver.solution().expect("the CPU does not fail");
        (0..=every).for_each(|_| solver.cycle_without_norms());
        prop_assert_eq!(bits(&solver.iterate()), bits_of(&global.u));
        solver.start_from(&exchanged).expect("the CPU does not fail");
        (0..=every).for_each(|_| solver.cycle_without_norms());
        prop_assert_eq!(bits(&solver.iterate()), bits_of(&global.u));
    }
    Ok(())
}

/// A pyramid has the bits of one device, moves and computes as much, and every device has slabs of its own.
fn pyramid_equals_one_device<R: Num>(
    case: &Case,
    count: usize,
    (planes, height): (usize, usize),
) -> Result<(), TestCaseError> {
    let shape = &case.problem.shape;
    let memory = Streaming::memory_of(planes, shape, R::PRECISION);
    let height = Height::Sweeps(height.min((planes - 1) / 2));
    let streaming = Streaming::new(MethodName::Pyramid, height, memory, shape, R::PRECISION);
    let streaming = Method::Streaming(streaming.expect("room for the height"));
    let (method, devices) = shared(streaming.clone(), shape, count, 1);
    prop_assert!(!devices.exchange_values());
    let [mut one, mut several] = [streaming, method].map(|method| case.plain::<R>(method));
    for cycle in 0..case.cycles {
        prop_assert_eq!(several.cycle(), one.cycle(), "norms of cycle {}", cycle);
        prop_assert_eq!(bits(&several.iterate()), bits(&one.iterate()), "cycle {}", cycle);
        prop_assert_eq!(several.traffic(), one.traffic());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_number_of_devices_makes_the_bits_of_one(
        case in any_case(),
        speeds in prop_oneof![(1..=5_usize).prop_map(|count| vec![1.0; count]), prop::collection::vec(0.1..9.0, 1..=5)],
        omega in prop_oneof![Just(1.0), 0.1..1.5_f64],
        threads in 1..=3_usize,
    ) {
        equals_one_device::<f64>(&case, &speeds, omega, threads)?;
        equals_one_device::<f32>(&case, &speeds, omega, threads)?;
    }

    #[test]
    fn so_it_does_where_rows_differ(
        case in with_random_rows(case()), count in 2..=4_usize,
    ) {
        equals_one_device::<f64>(&case, &vec![1.0; count], 1.0, 2)?;
    }

    #[test]
    fn halos_are_frozen_between_exchanges(
        case in any_case(), count in 1..=4_usize, every in 1..=4_u64,
    ) {
        frozen_matches_naive::<f64>(&case, count, every)?;
        frozen_matches_naive::<f32>(&case, count, every)?;
    }
    #[test]
    fn slabs_of_a_pyramid_are_those_of_one_device(
        case in case(),
        count in 1..=5_usize,
        planes in 3..40_usize,
        height in 1..20_usize,
    ) {
        pyramid_equals_one_device::<f64>(&case, count, (planes, height))?;
        pyramid_equals_one_device::<f32>(&case, count, (planes, height))?;
    }
}

/// Short tiles of a line are swept together, and their norms added: also across the place where devices meet.
#[test]
fn many_tiles_of_a_line_are_those_of_one_device() {
    let shape = Shape::grid_1d(5000, 1).expect("a line");
    let problem = Arc::new(Problem {
        shape,
        operator: Stencil::poisson(&shape).into(),
        rhs: Source::Random { seed: 1 },
        initial_guess: Source::Random { seed: 2 },
        boundary: Boundary { left: 1.0, right: -3.0, ..Boundary::default() },
    });
    let tiling = Tiling::new(&[5000], &[48], &[6]).expect("valid tiles");
    let spectral = Spectral::new(40.into(), &tiling, &Stencil::poisson(&shape)).expect("weights");
    let sweeps = Method::Hierarchical { k: 7, tiling };
    for sweeps in [sweeps, Method::Spectral(spectral), Method::Classic] {
        let made = |method: Method, threads| {
            let level = Level::best();
            let mut solver = on_cpu::<f64>(&problem, method, level, threads);
            let norms: Vec<_> = (0..4).map(|_| solver.cycle()).collect();
            (bits(&solver.iterate()), norms)
        };
        let one = made(sweeps.clone(), 1);
        for (count, threads) in [(2, 1), (3, 2), (4, 3), (7, 1)] {
            let (method, devices) = shared(sweeps.clone(), &shape, count, 1);
            assert_eq!(devices.count(), count);
            assert!(made(method, threads) == one, "{count} devices");
        }
    }
}
