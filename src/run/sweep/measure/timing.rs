//! The time of a cycle: warm-up, the median of repeats, and its error.

use super::speed_reference::SpeedReference;
use super::stopwatch::{REPEAT, seconds_per_cycle, without_waiting};
use crate::clock::Instant;
use crate::run::plan::Plan;
use crate::solver::{self, Footprint, Kernel, Solver, SolverError, StopToken};
use std::task::Poll;
use std::time::Duration;

/// Cycles are made for this long before any is timed: caches fill, threads wake, clocks rise.
const WARM_UP: Duration = Duration::from_millis(30);

/// The speed reference is measured for as long as the repeat before it took, so that other programs
/// disturb both alike, but no longer than this (seconds).
const LONGEST_REFERENCE: f64 = 5e-2;

/// The fewest repeats that have a spread.
const FEWEST_REPEATS: usize = 7;

/// Repeats end when the relative error of the median is no more than this …
const RELATIVE_ERROR: f64 = 0.02;

/// … or when they have taken this long,
pub(in crate::run::sweep) const BUDGET: Duration = Duration::from_secs(1);

/// or this, for the probe.
pub(in crate::run::sweep) const PROBE_BUDGET: Duration = Duration::from_millis(300);

/// The time of a cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CycleTime {
    /// Seconds per cycle, the median of the repeats.
    pub median: f64,
    /// Half the width of the median's notch, in seconds: 1.57 times the interquartile range over the
    /// square root of the number of repeats. Two medians whose notches overlap do not differ at the
    /// 5 % level (McGill, Tukey & Larsen, "Variations of box plots", 1978).
    pub error: f64,
    /// Number of repeats.
    pub repeats: usize,
}

/// What timing a setting gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::run::sweep) struct Timed {
    /// The time of a cycle.
    pub time: CycleTime,
    /// How many times as long as at the beginning of the sweep the machine took for the same work.
    pub slowdown: f64,
    /// The kernel that ran; `None` on the CPU.
    pub kernel: Option<Kernel>,
    /// The resources that it used; `None` on the CPU.
    pub footprint: Option<Footprint>,
}

/// Timing of one setting under way. No other work of this program may run meanwhile.
pub(in crate::run::sweep) struct Timing {
    solver: Box<dyn Solver>,
    budget: Duration,
    warm_up: Duration,
    /// Time spent on repeats. Pauses lie between steps and do not count.
    spent: Duration,
    /// Seconds per cycle of each repeat.
    repeats: Vec<f64>,
    /// Each repeat over the speed reference measured beside it.
    ratios: Vec<f64>,
    /// Seconds that the last repeat took.
    last: f64,
    /// The speed reference beside the repeat that comes next, once it was measured.
    reference: Option<Option<f64>>,
}

impl Timing {
    /// Sets the solver up; no cycle is made yet.
    ///
    /// # Errors
    /// [`SolverError`] if the solver cannot be set up.
    pub fn new(plan: &Plan, budget: Duration) -> Result<Self, SolverError> {
        let method = plan.method.clone();
        Ok(Self {
            solver: solver::set_up(&plan.problem, method, plan.precision, &plan.place)?,
            budget,
            warm_up: Duration::ZERO,
            spent: Duration::ZERO,
            repeats: Vec::new(),
            ratios: Vec::new(),
            last: REPEAT,
            reference: None,
        })
    }

    /// Leaves cycles unfinished while this is due.
    pub fn stop_on(&mut self, stop: &StopToken) {
        self.solver.stop_on(stop);
    }

    /// Measures the speed reference or, after that, makes a repeat: in a page each is a turn.
    ///
    /// # Errors
    /// [`SolverError`] if a solver fails.
    pub fn step(&mut self, reference: &mut SpeedReference) -> Result<Poll<Timed>, SolverError> {
        let begin = Instant::now();
        if self.warm_up < WARM_UP {
            seconds_per_cycle(&mut *self.solver, REPEAT)?;
            self.warm_up += begin.elapsed();
            return Ok(Poll::Pending);
        }
        let Some(slowdown) = self.reference.take() else {
            let seconds = self.last.clamp(REPEAT, LONGEST_REFERENCE);
            self.reference = Some(reference.measure(seconds)?);
            self.spent += begin.elapsed();
            return Ok(Poll::Pending);
        };
        let mut repeat = 0.0;
        let ran = without_waiting(|| {
            repeat = seconds_per_cycle(&mut *self.solver, REPEAT)?;
            Ok(repeat)
        })?;
        self.last = begin.elapsed().as_secs_f64();
        self.repeats.push(repeat);
        self.ratios.extend(slowdown.map(|slowdown| ran / slowdown));
        self.spent += begin.elapsed();
        let time = CycleTime::of(&mut self.repeats);
        let is_known = time.error <= RELATIVE_ERROR * time.median || self.spent >= self.budget;
        if self.repeats.len() < FEWEST_REPEATS || !is_known {
            return Ok(Poll::Pending);
        }
        // The median of ratios is robust against a few disturbed ones.
        let slowdown = match &mut self.ratios[..] {
            [] => 1.0,
            ratios => time.median / CycleTime::of(ratios).median,
        };
        let device = self.solver.device();
        let kernel = device.map(|device| device.kernel);
        let footprint = device.map(|device| device.footprint);
        Ok(Poll::Ready(Timed { time, slowdown, kernel, footprint }))
    }
}

impl CycleTime {
    /// Of at least one repeat; sorts them.
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
    use super::super::super::stepping::finish;
    use super::*;
    use crate::run::{Planner, RunSpec};
    use proptest::prelude::*;

    proptest! {
        /// The median lies among the repeats, in whatever order, and one disturbed repeat moves it no
        /// further than to its neighbour.
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
    fn timing_ends_within_its_budget_of_steps() {
        let mut spec = RunSpec::default();
        spec.problem.shape = vec![64, 64];
        let plan = Planner::default().plan(&spec).unwrap();
        let mut reference = SpeedReference::new(&plan).unwrap();
        let mut timing = Timing::new(&plan, Duration::ZERO).unwrap();
        let timed = finish(&|| false, || timing.step(&mut reference)).unwrap().unwrap();
        assert!(timed.time.median > 0.0 && timed.time.repeats == FEWEST_REPEATS, "{timed:?}");
        assert!(timed.slowdown > 0.0 && timed.kernel.is_none());
    }
}
