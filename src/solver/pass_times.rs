//! When the parts of a pass were made: its copies to fast memory, its sweeps, and its copies back.

use super::streaming::Traffic;

/// Steps of a pass that are timed, from the first on: a clock that is read more often would slow short steps down.
pub(in crate::solver) const MOST_TIMED: usize = 48;

/// When the parts of a step began and ended, in seconds from the beginning of its pass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepTimes {
    /// Its copies to fast memory.
    pub up: [f64; 2],
    /// Its sweeps.
    pub sweeps: [f64; 2],
    /// Its copies back.
    pub down: [f64; 2],
}

/// A pass, timed while it was made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PassTimes {
    /// Its first slabs or chunks.
    pub steps: Vec<StepTimes>,
    /// What these moved and computed.
    pub traffic: Traffic,
    /// How long all of it took.
    pub seconds: f64,
}

impl PassTimes {
    /// τ_c: seconds to move a value; `None` where too little was timed.
    pub fn seconds_per_value(&self) -> Option<f64> {
        let Traffic { up, down, .. } = self.traffic;
        ratio(self.sum(|step| length(step.up) + length(step.down)), up + down)
    }

    /// τ_a: seconds to update a point; `None` where too little was timed.
    pub fn seconds_per_update(&self) -> Option<f64> {
        ratio(self.sum(|step| length(step.sweeps)), self.traffic.updates)
    }

    /// The share of the time of copies in which planes were swept, too; `None` without copies.
    pub fn hidden(&self) -> Option<f64> {
        let copies = self.steps.iter().flat_map(|step| [step.up, step.down]);
        let total: f64 = copies.clone().map(length).sum();
        let beside = |copy: [f64; 2]| {
            let sweeps = self.steps.iter().map(|step| step.sweeps);
            let both = sweeps.map(|[from, to]| (to.min(copy[1]) - from.max(copy[0])).max(0.0));
            both.sum::<f64>()
        };
        (total > 0.0).then(|| copies.map(beside).sum::<f64>() / total)
    }

    fn sum(&self, seconds: impl Fn(&StepTimes) -> f64) -> f64 {
        self.steps.iter().map(seconds).sum()
    }
}

fn length([begin, end]: [f64; 2]) -> f64 {
    end - begin
}

/// Seconds for each; a coarse clock may have seen none.
fn ratio(seconds: f64, count: u64) -> Option<f64> {
    (seconds > 0.0 && count > 0).then(|| seconds / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_updates_share_the_time_of_their_lanes() {
        let steps = vec![
            StepTimes { up: [0.0, 2.0], sweeps: [2.0, 5.0], down: [5.0, 6.0] },
            StepTimes { up: [6.0, 7.0], sweeps: [7.0, 12.0], down: [12.0, 12.0] },
        ];
        let traffic = Traffic { up: 12, down: 4, updates: 64, needed: 50 };
        let times = PassTimes { steps, traffic, seconds: 12.0 };
        assert_eq!(times.seconds_per_value(), Some(4.0 / 16.0));
        assert_eq!(times.seconds_per_update(), Some(8.0 / 64.0));
        assert_eq!(times.hidden(), Some(0.0), "one after the other");
        let side_by_side = StepTimes { up: [2.0, 4.0], sweeps: [3.0, 9.0], down: [4.0, 6.0] };
        let hidden = PassTimes { steps: vec![side_by_side], ..PassTimes::default() }.hidden();
        assert_eq!((hidden, PassTimes::default().hidden()), (Some(3.0 / 4.0), None));
        assert_eq!(PassTimes::default().seconds_per_value(), None);
        assert_eq!(PassTimes::default().seconds_per_update(), None);
    }
}
