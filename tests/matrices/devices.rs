//! Devices that share the blocks of a matrix: exchanged after every cycle, the bits and norms of one device; in between,
//! those of devices whose view of the others is frozen. What they receive is what their entries name and others own.

use super::cases::{Case, cases};
use super::naive::Naive;
use super::random::{bits, cycle, iterate, solver};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::num::NonZeroU64;
use std::sync::Arc;
use tilescope::grid::{Field, Precision, Real};
use tilescope::problem::matrix::Ordering;
use tilescope::run::{MatrixSpec, Planner, ProblemKind, Run, RunSpec};
use tilescope::solver::{Devices, Exchange, Layout, Link, Method, NormRequest};

const LINK: Link = Link { latency: 2.0, bandwidth: 50.0 };

impl Case {
    /// A method on as many of `count` devices as there are blocks.
    fn shared(&self, sweeps: Method, count: usize, every: u64) -> (Method, Devices) {
        let problem = self.problem();
        let matrix = problem.operator.matrix().expect("a matrix");
        let Method::Hierarchical { tiling, .. } = self.method() else { panic!("blocks") };
        let blocks = tiling.x();
        let count = count.min(blocks.count());
        let every = NonZeroU64::new(every).expect("at least 1");
        let devices = Devices::of_blocks(&sweeps, matrix, blocks, count, every, LINK);
        let devices = devices.expect("no more devices than blocks");
        (sweeps.on_devices(devices.clone()), devices)
    }

    fn methods(&self) -> [Method; 2] {
        [self.method(), Method::Classic]
    }
}

fn equals_one_device<R: Real>(case: &Case, count: usize) -> Result<(), TestCaseError> {
    let exact = Arc::new(Field::from_fn(case.problem().shape, |i, _| 0.1 * i as f64));
    for layout in Layout::ALL {
        for sweeps in case.methods() {
            let (method, _) = case.shared(sweeps.clone(), count, 1);
            let [mut one, mut several] =
                [sweeps, method].map(|method| solver::<R>(case, method, layout));
            for solver in [&mut one, &mut several] {
                solver.set_exact(Arc::clone(&exact)).expect("the CPU does not fail");
            }
            for number in 0..3 {
                let [found, expected] = [&mut several, &mut one].map(|it| cycle(it.as_mut()));
                prop_assert_eq!(found, expected, "norms of cycle {}", number);
                let [found, expected] = [&several, &one].map(|it| iterate(it.as_ref()));
                prop_assert_eq!(found, expected, "cycle {}", number);
            }
        }
    }
    Ok(())
}

/// Devices with a view of all values each, of which only what they own is their own work.
fn frozen_matches_naive<R: Real>(
    case: &Case,
    count: usize,
    every: u64,
) -> Result<(), TestCaseError> {
    for sweeps in case.methods() {
        let is_classic = sweeps == Method::Classic;
        let (method, devices) = case.shared(sweeps, count, every);
        let mut solver = solver::<R>(case, method, Layout::default());
        let mut global: Naive<R> = case.naive();
        let mut views = vec![global.clone(); devices.count()];
        for number in 1..=2 * every + 1 {
            for (view, share) in views.iter_mut().zip(devices.shares().of_devices()) {
                let mut next = view.x.clone();
                match is_classic {
                    true => view.sweep(),
                    false => view.cycle(case.sweeps, case.block, case.overlap),
                }
                let owned = share.owned.clone();
                global.x[owned.clone()].copy_from_slice(&view.x[owned.clone()]);
                next[owned.clone()].copy_from_slice(&global.x[owned]);
                view.x = next;
            }
            if number % every == 0 {
                views.iter_mut().for_each(|view| view.x.clone_from(&global.x));
            }
            let residual = solver.norms(NormRequest::RESIDUAL).expect("the CPU does not fail");
            let found = cycle(solver.as_mut());
            if devices.have_frozen_halos() {
                prop_assert_eq!(Some(found.residual_before), residual.residual);
            }
            prop_assert_eq!(iterate(solver.as_ref()), bits(&global.x), "cycle {}", number);
        }
        // From an iterate after an exchange, the same cycles follow.
        solver.restart().expect("the CPU does not fail");
        let unmeasured = |_| _ = solver.cycles(1, NormRequest::NONE).expect("a CPU");
        (0..every).for_each(unmeasured);
        let exchanged = solver.solution().expect("the CPU does not fail");
        solver.start_from(&exchanged).expect("the CPU does not fail");
        (0..=every).for_each(|_| _ = solver.cycles(1, NormRequest::NONE).expect("a CPU"));
        prop_assert_eq!(iterate(solver.as_ref()), bits(&global.x));
    }
    Ok(())
}

/// What the entries of the rows that each device computes name, and others own.
fn is_counted_from_the_lists(case: &Case, count: usize) -> Result<(), TestCaseError> {
    let (problem, naive) = (case.problem(), case.naive::<f64>());
    for sweeps in case.methods() {
        let overlap = if sweeps == Method::Classic { 0 } else { case.overlap };
        let (_, devices) = case.shared(sweeps, count, 1);
        let (mut messages, mut values, mut slowest) = (0, 0, 0.0_f64);
        for share in devices.shares().of_devices() {
            let starts = share.owned.clone().step_by(case.block);
            let blocks = starts.map(|start| start..(start + case.block).min(share.owned.end));
            let computed = blocks.flat_map(|owned| naive.around(owned, overlap / 2));
            let read: BTreeSet<usize> =
                computed.flat_map(|row| naive.columns(row).chain([row])).collect();
            let mut seconds = 0.0;
            for other in devices.shares().of_devices() {
                let sent = read.iter().filter(|row| other.owned.contains(row)).count();
                if other != share && sent > 0 {
                    (messages, values) = (messages + 1, values + sent);
                    seconds += 2e-6 + 8.0 * sent as f64 / 50e9;
                }
            }
            slowest = slowest.max(seconds);
        }
        let Exchange { messages: found, bytes, seconds } =
            devices.exchange(&problem.shape, Precision::F64);
        prop_assert_eq!((found, bytes), (messages, 8 * values as u64));
        prop_assert!((seconds - slowest).abs() < 1e-12, "{}, {}", seconds, slowest);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_number_of_devices_makes_the_bits_of_one(case in cases(), count in 1..=5_usize) {
        equals_one_device::<f64>(&case, count)?;
        equals_one_device::<f32>(&case, count)?;
    }

    #[test]
    fn values_of_others_are_frozen_between_exchanges(
        case in cases(), count in 1..=4_usize, every in 1..=4_u64,
    ) {
        frozen_matches_naive::<f64>(&case, count, every)?;
        frozen_matches_naive::<f32>(&case, count, every)?;
    }

    #[test]
    fn messages_are_what_entries_name_and_others_own(case in cases(), count in 1..=5_usize) {
        is_counted_from_the_lists(&case, count)?;
    }
}

/// The matrices that come with the program, in every order of their unknowns.
#[test]
fn runs_are_those_of_one_device_in_every_order() {
    for (source, block, overlap) in [("poisson-40x30", 25, 0), ("trefethen-500", 32, 2)] {
        for ordering in Ordering::ALL {
            let mut spec = RunSpec::default();
            let matrix = MatrixSpec { ordering, ..MatrixSpec::new(source) };
            spec.problem.kind = ProblemKind::Matrix;
            spec.problem.shape = vec![matrix.rows().expect("a known name")];
            spec.problem.matrix = Some(matrix);
            (spec.method.tile, spec.method.overlap) = (vec![block], vec![overlap]);
            spec.method.k = 4.into();
            (spec.stop.tolerance, spec.stop.max_cycles) = (Some(1e-4), 60);
            let mut made = |devices| {
                spec.method.simulate_devices = devices;
                let plan = Arc::new(match Planner::default().plan(&spec) {
                    Ok(plan) => plan,
                    // Only grids are cut into tiles.
                    Err(_) => return None,
                });
                let mut run = Run::new(&plan).expect("little memory");
                while run.outcome().is_none() {
                    run.advance(u64::MAX).expect("the CPU does not fail");
                }
                let norms = |cycle| {
                    let record = run.history().of(cycle);
                    (record.residual, record.max_change)
                };
                let norms: Vec<_> = (0..=run.cycle()).map(norms).collect();
                Some((run.cycle(), run.outcome().cloned(), norms))
            };
            let one = made(None);
            for devices in 2..=4 {
                let is_same = made(Some(devices)) == one;
                assert!(is_same, "{source}, {ordering:?}, {devices} devices");
            }
        }
    }
}
