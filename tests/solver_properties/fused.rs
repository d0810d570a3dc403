//! Kernel `fused` on the CPU: sweeps that are made several at a time are those that are made one by one, with their norms.

use crate::cases::{Case, tall_volume};
use crate::naive::Num;
use crate::{Cycles, bits};
use proptest::prelude::*;
use std::sync::Arc;
use tilescope::grid::Real;
use tilescope::solver::cpu::{self, Level};
use tilescope::solver::{Kernel, Method, NormRequest, Solver, StopToken};

fn solver<R: Real>(case: &Case, kernel: Kernel, level: Level, threads: usize) -> Box<dyn Solver> {
    cpu::at_level(&case.problem, Method::Classic, R::PRECISION, threads, kernel, level)
        .expect("little memory")
}

/// Batches of at most so many cycles, against single ones.
fn matches_single<R: Num>(
    case: &Case,
    threads: usize,
    batches: &[u64],
    norms: NormRequest,
    with_exact: bool,
) -> Result<(), TestCaseError> {
    for level in Level::available() {
        let mut single = solver::<R>(case, Kernel::AUTO, level, 1);
        let mut fused = solver::<R>(case, Kernel::FUSED, level, threads);
        if with_exact {
            let exact = Arc::new(case.other());
            single.set_exact(Arc::clone(&exact)).expect("a CPU");
            fused.set_exact(exact).expect("a CPU");
        }
        for &most in batches {
            let batch = fused.cycles(most, norms).expect("a CPU");
            prop_assert!((1..=most).contains(&batch.cycles));
            prop_assert!(norms.is_empty() || batch.norms.len() as u64 == batch.cycles);
            for cycle in 0..batch.cycles as usize {
                let one = single.cycles(1, norms).expect("a CPU");
                if let Some(expected) = one.norms.first() {
                    let found = batch.norms[cycle];
                    prop_assert_eq!(found.residual_before, expected.residual_before);
                    prop_assert_eq!(found.max_change, expected.max_change);
                    prop_assert!(!norms.error || found.error == expected.error);
                }
            }
            prop_assert_eq!(bits(&fused.iterate()), bits(&single.iterate()));
            let before = [&fused, &single].map(|it| bits(&it.previous().expect("a CPU")));
            prop_assert_eq!(&before[0], &before[1]);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn sweeps_made_together_are_single_ones(
        case in tall_volume(),
        threads in 1..=5_usize,
        batches in prop::collection::vec(1..=23_u64, 1..=3),
        norms in prop_oneof![
            Just(NormRequest::NONE),
            Just(NormRequest::RESIDUAL_L2),
            Just(NormRequest::ALL),
        ],
        with_exact: bool,
        is_double: bool,
    ) {
        if is_double {
            matches_single::<f64>(&case, threads, &batches, norms, with_exact)?;
        } else {
            matches_single::<f32>(&case, threads, &batches, norms, with_exact)?;
        }
    }

    /// What was made before it was stopped is whole.
    #[test]
    fn sweeps_that_are_stopped_leave_the_iterate(case in tall_volume(), before in 1..=12_u64) {
        let mut fused = solver::<f64>(&case, Kernel::FUSED, Level::best(), 2);
        let stop = StopToken::default();
        fused.stop_on(&stop);
        fused.cycles(before, NormRequest::NONE).expect("it is not stopped");
        let iterate = bits(&fused.iterate());
        stop.now();
        prop_assert!(fused.cycles(20, NormRequest::NONE).is_err());
        prop_assert_eq!(bits(&fused.iterate()), iterate);
    }
}
