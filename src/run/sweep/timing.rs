//! The time of a cycle, honestly: warm-up, the median of repeats, and how far it can be trusted.

use super::ShouldStop;
use super::speed_reference::{SpeedReference, running};
use crate::clock::Instant;
use crate::run::plan::Plan;
use crate::solver::{self, Footprint, Kernel, NormRequest, Solver, SolverError};
use std::time::Duration;

/// Cycles are made for so long before any is timed: caches fill, threads wake, clocks rise.
const WARM_UP: Duration = Duration::from_millis(30);

/// A repeat makes cycles until so many seconds have passed, far more than the clock's grain.
pub(super) const REPEAT: f64 = 4e-3;

/// A beat of the pulse lasts as long as the repeat before it, so that both lose alike to whoever else
/// wants the machine, but no longer than this.
const LONGEST_BEAT: f64 = 5e-2;

/// Fewer repeats say nothing of their spread.
const FEWEST: usize = 7;

/// Repeats stop when the median is known to this part of itself …
const WANTED: f64 = 0.02;

/// … or when so much time was spent on them,
pub(super) const BUDGET: Duration = Duration::from_secs(1);

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

/// What was found out by timing a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Timed {
    /// The time of a cycle.
    pub time: CycleTime,
    /// How many times as long as at first the machine took meanwhile, for the same work.
    pub slowness: f64,
    /// The kernel that ran; `None` on the CPU.
    pub kernel: Option<Kernel>,
    /// What it took of the GPU; `None` on the CPU.
    pub footprint: Option<Footprint>,
}

/// Times the cycles of a setting, with a beat of the pulse between every two repeats; `None` if
/// somebody stopped it before. Nothing else of this program may be under way.
///
/// # Errors
/// [`SolverError`] if the solver cannot be set up, or fails.
pub(super) fn time(
    plan: &Plan,
    budget: Duration,
    speed_reference: &mut SpeedReference,
    halt: ShouldStop<'_>,
) -> Result<Option<Timed>, SolverError> {
    let method = plan.method.clone();
    let mut solver = solver::set_up(&plan.problem, method, plan.precision, &plan.place)?;
    let begin = Instant::now();
    while begin.elapsed() < WARM_UP {
        if halt() {
            return Ok(None);
        }
        repeat(&mut *solver, REPEAT)?;
    }
    let mut spent = Duration::ZERO;
    let (mut repeats, mut ratios) = (Vec::new(), Vec::new());
    let mut last = REPEAT;
    loop {
        if halt() {
            return Ok(None);
        }
        // A pause, which lasts as long as it lasts, is no part of what is spent.
        let begin = Instant::now();
        let measure = speed_reference.measure(last.clamp(REPEAT, LONGEST_BEAT))?;
        let middle = Instant::now();
        let mut seconds_per_cycle = 0.0;
        let ran = running(|| {
            seconds_per_cycle = repeat(&mut *solver, REPEAT)?;
            Ok(seconds_per_cycle)
        })?;
        last = middle.elapsed().as_secs_f64();
        repeats.push(seconds_per_cycle);
        ratios.extend(measure.map(|measure| ran / measure));
        spent += begin.elapsed();
        let time = CycleTime::of(&mut repeats);
        let is_known = time.error <= WANTED * time.median || spent >= budget;
        if repeats.len() >= FEWEST && is_known {
            // The median of ratios, so that what disturbs a few of them does not count.
            let slowness = match &mut ratios[..] {
                [] => 1.0,
                ratios => time.median / CycleTime::of(ratios).median,
            };
            let device = solver.device();
            let kernel = device.map(|device| device.kernel);
            let footprint = device.map(|device| device.footprint);
            return Ok(Some(Timed { time, slowness, kernel, footprint }));
        }
    }
}

/// Seconds of a cycle over so many seconds of them.
pub(super) fn repeat(solver: &mut dyn Solver, over: f64) -> Result<f64, SolverError> {
    let (mut seconds, mut cycles) = (0.0, 0_u64);
    while seconds < over {
        let batch = solver.cycles(u64::MAX, NormRequest::RESIDUAL_L2)?;
        seconds += batch.seconds;
        cycles += batch.cycles;
    }
    Ok(seconds / cycles as f64)
}

impl CycleTime {
    /// Of repeats, of which there is at least one; it sorts them.
    pub(super) fn of(repeats: &mut [f64]) -> Self {
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
        let mut speed_reference = SpeedReference::start(&plan).unwrap();
        let mut time =
            |stop| super::time(&plan, PROBE, &mut speed_reference, &move || stop).unwrap();
        let Timed { time: measured, slowness, kernel, .. } = time(false).unwrap();
        assert!(measured.median > 0.0 && measured.repeats >= FEWEST, "{measured:?}");
        assert!(slowness > 0.0 && kernel.is_none());
        assert_eq!(time(true), None);
    }
}
