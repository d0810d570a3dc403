//! The time of a cycle, honestly: warm-up, the median of repeats, and how far it can be trusted.

use crate::run::plan::Plan;
use crate::solver::{self, Solver, SolverError};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Cycles are made for so long before any is timed: caches fill, threads wake, clocks rise.
const WARM_UP: Duration = Duration::from_millis(30);

/// A repeat makes cycles until so many seconds have passed, far more than the clock's grain.
const REPEAT: f64 = 4e-3;

/// Fewer repeats say nothing of their spread.
const FEWEST: usize = 7;

/// Repeats stop when the median is known to this part of itself …
const WANTED: f64 = 0.01;

/// … or when so much time was spent on them,
pub(super) const BUDGET: Duration = Duration::from_millis(1500);

/// or this, for a first impression.
pub(super) const PROBE: Duration = Duration::from_millis(300);

/// The time of a cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CycleTime {
    /// Seconds of a cycle, the median of the repeats.
    pub median: f64,
    /// How far off the median may be, in seconds: 1.57 times the distance between the quartiles
    /// over the root of the number of repeats. Where the intervals of two medians overlap, they do
    /// not differ (at the 5 % level; McGill, Tukey & Larsen, "Variations of box plots", 1978).
    pub error: f64,
    /// How many repeats there were.
    pub repeats: usize,
}

/// Times the cycles of a setting; `None` if somebody stopped it before. Nothing else of this
/// program may be under way.
///
/// # Errors
/// [`SolverError`] if the solver cannot be set up, or fails.
pub(super) fn time(
    plan: &Plan,
    budget: Duration,
    stop: &AtomicBool,
) -> Result<Option<CycleTime>, SolverError> {
    let method = plan.method.clone();
    let mut solver = solver::set_up(&plan.problem, method, plan.precision, plan.place)?;
    let begin = Instant::now();
    while begin.elapsed() < WARM_UP {
        repeat(&mut *solver)?;
    }
    let begin = Instant::now();
    let mut repeats = Vec::new();
    loop {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        repeats.push(repeat(&mut *solver)?);
        let time = CycleTime::of(&mut repeats);
        let is_known = time.error <= WANTED * time.median || begin.elapsed() >= budget;
        if repeats.len() >= FEWEST && is_known {
            return Ok(Some(time));
        }
    }
}

/// Seconds of a cycle over a few milliseconds of them.
fn repeat(solver: &mut dyn Solver) -> Result<f64, SolverError> {
    let (mut seconds, mut cycles) = (0.0, 0_u64);
    while seconds < REPEAT {
        let batch = solver.cycles(u64::MAX)?;
        seconds += batch.seconds;
        cycles += batch.norms.len() as u64;
    }
    Ok(seconds / cycles as f64)
}

impl CycleTime {
    /// Of repeats, of which there is at least one; it sorts them.
    fn of(repeats: &mut [f64]) -> Self {
        repeats.sort_unstable_by(f64::total_cmp);
        let quantile = |part: f64| {
            let place = part * (repeats.len() - 1) as f64;
            let (below, share) = (place.floor() as usize, place.fract());
            let above = (below + 1).min(repeats.len() - 1);
            repeats[below] * (1.0 - share) + repeats[above] * share
        };
        let spread = quantile(0.75) - quantile(0.25);
        Self {
            median: quantile(0.5),
            error: 1.57 * spread / (repeats.len() as f64).sqrt(),
            repeats: repeats.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Planner, RunSpec};
    use proptest::prelude::*;

    proptest! {
        /// The median lies among the repeats, whatever their order, and one that was disturbed
        /// moves it no further than to its neighbour.
        #[test]
        fn one_disturbed_repeat_does_not_matter(
            mut repeats in prop::collection::vec(1e-6..1.0_f64, 3..40),
            at in any::<prop::sample::Index>(),
        ) {
            let time = CycleTime::of(&mut repeats);
            prop_assert!(repeats[0] <= time.median && time.median <= repeats[repeats.len() - 1]);
            prop_assert!(time.error >= 0.0);
            let (mut disturbed, middle) = (repeats.clone(), repeats.len() / 2);
            disturbed[at.index(repeats.len())] = 1e9;
            prop_assert!(CycleTime::of(&mut disturbed).median <= repeats[middle + 1]);
        }
    }

    #[test]
    fn a_time_is_positive_and_stops_at_once() {
        let plan = Planner::default().plan(&RunSpec::default()).unwrap();
        let time = |stop| super::time(&plan, PROBE, &AtomicBool::new(stop)).unwrap();
        let measured = time(false).unwrap();
        assert!(measured.median > 0.0 && measured.repeats >= FEWEST, "{measured:?}");
        assert_eq!(time(true), None);
    }
}
