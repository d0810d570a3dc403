//! Passes of a method that streams, as they were timed.

use crate::solver::{Method, PassTimes, Solver, Streaming};
use std::sync::Arc;

/// A setting of a method that streams, and what its fastest pass took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredPass {
    /// The method, its height and its budget.
    pub streaming: Streaming,
    /// Seconds per point and sweep of the whole pass.
    pub seconds: f64,
    /// Seconds to move a value, τ_c.
    pub per_value: f64,
    /// Seconds to update a point, τ_a.
    pub per_update: f64,
}

/// The passes that were made on one system in one place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PassLog {
    /// The fastest of each setting.
    fastest: Vec<MeasuredPass>,
    /// The last one of the run.
    last: Option<Arc<PassTimes>>,
}

impl PassLog {
    /// A log of these passes, each the fastest of its setting, and of the last one.
    pub fn new(fastest: Vec<MeasuredPass>, last: Option<PassTimes>) -> Self {
        Self { fastest, last: last.map(Arc::new) }
    }

    /// The fastest pass of each setting.
    pub fn fastest(&self) -> &[MeasuredPass] {
        &self.fastest
    }

    /// The least seconds to move a value and to update a point, τ_c and τ_a, of passes with the budget of a setting, or
    /// else of all; `None` before the first one.
    pub fn least(&self, streaming: &Streaming) -> Option<[f64; 2]> {
        let least = |passes: &mut dyn Iterator<Item = &MeasuredPass>| {
            let each = passes.map(|pass| [pass.per_value, pass.per_update]);
            each.reduce(|one, other| [one[0].min(other[0]), one[1].min(other[1])])
        };
        let has_budget = |pass: &&MeasuredPass| pass.streaming.planes() == streaming.planes();
        least(&mut self.fastest.iter().filter(has_budget))
            .or_else(|| least(&mut self.fastest.iter()))
    }

    /// The last pass of the run, step by step.
    pub fn last(&self) -> Option<&Arc<PassTimes>> {
        self.last.as_ref()
    }

    /// Whether a solver has made a pass that is not here.
    pub(super) fn has_news(&self, solver: &dyn Solver) -> bool {
        let made = solver.pass_times();
        made.is_some_and(|made| self.last.as_ref().is_none_or(|last| !Arc::ptr_eq(last, &made)))
    }

    /// Takes in the last pass of a solver.
    pub(super) fn update(&mut self, method: &Method, solver: &dyn Solver) {
        let (Some(streaming), Some(times)) = (method.streaming(), solver.pass_times()) else {
            return;
        };
        let needed = solver.traffic().map_or(0, |traffic| traffic.needed);
        if let (Some(per_value), Some(per_update), true) =
            (times.seconds_per_value(), times.seconds_per_update(), needed > 0)
        {
            let seconds = times.seconds / needed as f64;
            self.add(MeasuredPass { streaming: *streaming, seconds, per_value, per_update });
        }
        self.last = Some(times);
    }

    fn add(&mut self, pass: MeasuredPass) {
        let before = self.fastest.iter().position(|it| it.streaming == pass.streaming);
        let before = before.map(|at| self.fastest.remove(at));
        let is_slower = |it: &MeasuredPass| it.seconds <= pass.seconds;
        self.fastest.push(before.filter(is_slower).unwrap_or(pass));
    }

    /// The log of another run on the same system in the same place, which has made no pass yet.
    pub(super) fn of_next_run(&self) -> Self {
        Self { fastest: self.fastest.clone(), last: None }
    }

    /// Adds the settings of another run.
    pub(super) fn take_from(&mut self, other: &Self) {
        for pass in &other.fastest {
            self.add(*pass);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Precision, Shape};
    use crate::solver::{Height, MethodName};

    #[test]
    fn the_fastest_pass_of_each_setting_is_kept() {
        let shape = Shape::grid_2d(20, 300).unwrap();
        let with_planes = |planes, n, seconds| {
            let memory = Streaming::memory_of(planes, &shape, Precision::F64);
            let (method, height) = (MethodName::Pyramid, Height::Sweeps(n));
            let streaming = Streaming::new(method, height, memory, &shape, Precision::F64);
            let (per_value, per_update) = (seconds, 10.0 - seconds);
            MeasuredPass { streaming: streaming.unwrap(), seconds, per_value, per_update }
        };
        let pass = |n, seconds| with_planes(40, n, seconds);
        let mut log = PassLog::default();
        assert_eq!(log.least(&pass(3, 0.0).streaming), None);
        for (n, seconds) in [(3, 5.0), (4, 7.0), (3, 4.0), (3, 6.0)] {
            log.add(pass(n, seconds));
        }
        assert_eq!(log.fastest(), [pass(4, 7.0), pass(3, 4.0)]);
        assert_eq!(log.least(&pass(9, 0.0).streaming), Some([4.0, 3.0]));
        assert_eq!(log.least(&with_planes(50, 9, 0.0).streaming), Some([4.0, 3.0]));
        log.add(with_planes(50, 9, 5.0));
        assert_eq!(log.least(&with_planes(50, 8, 0.0).streaming), Some([5.0, 5.0]));
        log.fastest.pop();
        let mut next = log.of_next_run();
        next.add(pass(9, 1.0));
        next.take_from(&log);
        assert_eq!(next.fastest(), [pass(9, 1.0), pass(4, 7.0), pass(3, 4.0)]);
    }
}
