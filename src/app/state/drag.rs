//! Settings that change while the picture stays: where the old run and the new one are compared.

use crate::app::state::travel::Travel;
use crate::picture::{counted, grouped, number};
use crate::run::{
    MethodName, MethodSpec, Milestone, Phase, ProblemSpec, Report, RunSpec, reduction,
};

/// The time that a new run may take to catch up, in seconds of the solver: with the time of two
/// frames, a picture follows a step of a slider within 150 ms.
const IN_TIME: f64 = 0.06;

/// The redundant work of the settings that are reached in that time. More is shown later …
const REDUNDANT_WORK: f64 = 2.0;

/// … but the slowest setting that the slider reaches within this time, in seconds: with set-up and frames, no picture
/// comes after more than a second.
const AT_MOST: f64 = 0.8;

/// What two runs have in common when their pictures are exchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HoldAt {
    #[default]
    Sweeps,
    Residual,
}

impl HoldAt {
    pub const ALL: [Self; 2] = [Self::Sweeps, Self::Residual];

    pub fn label(self) -> &'static str {
        match self {
            Self::Sweeps => "Equal sweeps",
            Self::Residual => "Equal residual",
        }
    }

    /// A description in one sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::Sweeps => {
                "A changed setting is shown once its run has made as many sweeps as the previous one."
            }
            Self::Residual => {
                "A changed setting is shown once its relative residual is as small as that of the previous run."
            }
        }
    }

    /// Where a run with `spec` is shown in place of the run of a report, if other settings have at most `slowest`
    /// times the work of a sweep.
    pub fn milestone(self, report: &Report, spec: &RunSpec, slowest: f64) -> Milestone {
        let each = report.plan.sweeps_per_cycle();
        let shown = report.observation.cycle * each;
        let sweeps = reached_in_time(shown, report, &spec.problem, slowest);
        let known = report.observation.norms.residual.filter(|_| sweeps == shown).or_else(|| {
            let before = report.curve.iter().rev().filter(|record| record.cycle * each <= sweeps);
            before.filter_map(|record| record.residual).next()
        });
        match (self, known) {
            (Self::Residual, Some(residual)) => {
                Milestone::Reduction(reduction(residual.l2, report.start_residual))
            }
            _ => Milestone::Sweeps(sweeps),
        }
    }
}

/// A setting that is being dragged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drag {
    /// Where its values are compared, from the first change on.
    pub goal: Option<Milestone>,
    /// The sweeps to which the picture was moved, where those that were shown are too many for
    /// other values to reach in time.
    pub moved_to: Option<u64>,
    /// The most redundant work of a setting that the slider reaches.
    pub slowest: f64,
    /// The epoch of the run that was shown before.
    pub from: u64,
    /// The cycle that was chosen before.
    pub before: Travel,
}

impl Drag {
    /// Where the picture is held, in words.
    pub fn caption(&self, report: &Report) -> String {
        let sweeps = report.observation.cycle * report.plan.sweeps_per_cycle();
        let shown = counted(sweeps, "sweep");
        match (self.goal, self.moved_to) {
            (Some(Milestone::Sweeps(goal)), _) if report.phase == Phase::CatchingUp => {
                format!("{} of {} …", grouped(sweeps), counted(goal, "sweep"))
            }
            (Some(Milestone::Reduction(goal)), _) if report.phase == Phase::CatchingUp => {
                format!("{shown}, on the way to ‖r‖₂/‖r₀‖₂ = {} …", number(goal))
            }
            (Some(Milestone::Reduction(goal)), _) => {
                format!("Held at ‖r‖₂/‖r₀‖₂ = {}: {shown}", number(goal))
            }
            (_, Some(moved_to)) => {
                let each = report.plan.sweeps_per_cycle();
                let held = counted(moved_cycle(moved_to, each) * each, "sweep");
                format!("Held at {held}, which other values reach in time")
            }
            _ => format!("Held at {shown}"),
        }
    }

    /// Whether the picture of a report is the one to which the drag moved, or that of a changed setting. A run that
    /// makes some more cycles before it is held has not moved.
    pub fn has_moved(&self, report: &Report) -> bool {
        let is_there = |sweeps| {
            report.observation.cycle == moved_cycle(sweeps, report.plan.sweeps_per_cycle())
        };
        report.epoch != self.from || self.moved_to.is_none_or(is_there)
    }
}

/// The cycle to which a picture moves, given the sweeps: whole cycles, and one at least.
pub fn moved_cycle(sweeps: u64, sweeps_per_cycle: u64) -> u64 {
    (sweeps / sweeps_per_cycle).max(1)
}

/// The sweeps at which runs of a problem are compared with the run of a report that is shown after so many: these, or
/// the next smaller power of two that every setting reaches in time, which is a whole number of cycles for most k.
/// `slowest` is the most redundant work of these settings.
pub fn reached_in_time(shown: u64, report: &Report, problem: &ProblemSpec, slowest: f64) -> u64 {
    let spec = &report.plan.spec;
    // At the initial guess the time of a sweep is unknown, and not needed.
    let Some(cycles_per_second) = report.cycles_per_second else { return shown };
    let sweeps_per_second = cycles_per_second * report.plan.sweeps_per_cycle() as f64;
    // Of the point updates that are computed, whether they are kept or not.
    let work = redundant_work(&spec.problem, &spec.method) * points(&spec.problem);
    let updates_per_second = sweeps_per_second * work;
    let longest = (IN_TIME / REDUNDANT_WORK).min(AT_MOST / slowest);
    let most = longest * updates_per_second / points(problem);
    if !most.is_finite() || shown as f64 <= most {
        return shown;
    }
    1 << (most.max(1.0) as u64).ilog2()
}

fn points(problem: &ProblemSpec) -> f64 {
    problem.shape.iter().map(|&n| n as f64).product::<f64>() * problem.batch as f64
}

/// The redundant work of a method; 1 while its tiles are invalid.
pub fn redundant_work(problem: &ProblemSpec, method: &MethodSpec) -> f64 {
    match method.name {
        MethodName::Hierarchical => {
            method.tiling_of(problem).map_or(1.0, |tiling| tiling.redundancy())
        }
        _ => 1.0,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::app::state::session::Session;
    use crate::run::Worker;
    use std::time::Duration;

    /// A report of the default run as if it made so many sweeps per second.
    pub fn report(sweeps_per_second: Option<f64>) -> Box<Report> {
        let worker = Worker::start(|| {}).unwrap();
        let session = Session::default();
        worker.request(session.request(session.observation(None, [8, 8], None)));
        let mut report = worker.wait(Duration::from_secs(60)).unwrap().unwrap();
        let each = report.plan.sweeps_per_cycle() as f64;
        report.cycles_per_second = sweeps_per_second.map(|sweeps| sweeps / each);
        report
    }

    #[test]
    fn what_is_reached_in_time_depends_on_the_speed_and_on_the_points() {
        // Without overlap nothing is redundant: 10,000 sweeps per second, of which 300 are in time.
        let report = report(Some(1e4));
        let mut problem = report.plan.spec.problem.clone();
        for (shown, expected) in [(0, 0), (299, 299), (301, 256), (16_000, 256)] {
            assert_eq!(reached_in_time(shown, &report, &problem, 1.0), expected, "{shown}");
        }
        problem.shape = vec![512, 512];
        assert_eq!(reached_in_time(16_000, &report, &problem, 1.0), 64);
        problem.shape = vec![65_536, 65_536];
        assert_eq!(reached_in_time(16_000, &report, &problem, 1.0), 1);
    }

    #[test]
    fn a_run_that_makes_some_more_cycles_before_it_is_held_has_not_moved() {
        let mut report = report(Some(1e4));
        let each = report.plan.sweeps_per_cycle();
        let mut session = Session::default();
        (report.observation.cycle, report.latest.cycle) = (10_000, 10_000);
        session.begin_drag(Some(&report), &[]);
        let drag = session.drag.unwrap();
        for (epoch, cycle, expected) in
            [(1, 10_000, false), (1, 10_007, false), (1, 256 / each, true), (2, 3, true)]
        {
            (report.epoch, report.observation.cycle) = (epoch, cycle);
            assert_eq!(drag.has_moved(&report), expected, "{cycle}");
        }
    }

    #[test]
    fn without_a_known_speed_all_sweeps_are_in_time() {
        let report = report(None);
        assert_eq!(reached_in_time(640, &report, &report.plan.spec.problem, 1.0), 640);
    }

    #[test]
    fn the_slowest_setting_of_a_slider_is_reached_within_a_second() {
        // So many sweeps per second make two cores at 256², and a GPU at 1024².
        for sweeps_per_second in [1.5e4, 1e5] {
            let mut report = report(Some(sweeps_per_second));
            let mut session = Session::default();
            report.observation.cycle = 10_000;
            report.latest.cycle = 10_000;
            let mut widest = session.spec.method.clone();
            widest.overlap = vec![30];
            let problem = report.plan.spec.problem.clone();
            let work = redundant_work(&problem, &widest);
            assert!(work > 100.0, "{work}");
            session.begin_drag(Some(&report), &[widest]);
            let drag = session.drag.expect("it has begun");
            let sweeps = drag.moved_to.expect("so many sweeps are not reached in time");
            let seconds = sweeps as f64 * work / sweeps_per_second;
            // Within the power of two.
            assert!(
                (AT_MOST / 2.0..=AT_MOST).contains(&seconds),
                "{sweeps} sweeps take {seconds} s"
            );
            // A slider of other settings is held later.
            session.drag = None;
            session.begin_drag(Some(&report), &[]);
            assert!(session.drag.and_then(|drag| drag.moved_to) > Some(sweeps));
        }
    }
}
