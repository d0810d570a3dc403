//! The clock of a pass.

use crate::clock::Instant;
use crate::solver::pass_times::{MOST_TIMED, PassTimes, StepTimes};
use crate::solver::streaming::Traffic;

/// The clock of a pass: it is read at the beginning of a step, and after each of its parts.
pub(super) struct PassClock {
    begin: Instant,
    /// Of the present step.
    marks: Vec<f64>,
    times: PassTimes,
}

impl PassClock {
    pub fn start() -> Self {
        Self { begin: Instant::now(), marks: Vec::new(), times: PassTimes::default() }
    }

    /// Notes the time, while steps are timed, with what was moved and computed so far.
    pub fn mark(&mut self, traffic: &Traffic) {
        if self.times.steps.len() == MOST_TIMED {
            return;
        }
        self.marks.push(self.begin.elapsed().as_secs_f64());
        if let [begin, copied, swept, end] = self.marks[..] {
            let (up, sweeps, down) = ([begin, copied], [copied, swept], [swept, end]);
            self.times.steps.push(StepTimes { up, sweeps, down });
            self.times.traffic = *traffic;
            self.marks.clear();
        }
    }

    /// The times of the pass, now that it has ended.
    pub fn stop(self) -> PassTimes {
        PassTimes { seconds: self.begin.elapsed().as_secs_f64(), ..self.times }
    }
}
