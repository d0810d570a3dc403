//! How soon what a run compares with its tolerance will meet it, judged by how fast it fell.

use std::collections::VecDeque;

/// The forecast uses the last cycles, this many: enough that a single slow one does not count.
const RECENT: usize = 16;

/// A norm's way down to its goal. It falls by about the same factor in every cycle, so logarithms are kept.
#[derive(Clone, Debug)]
pub(in crate::run) struct ConvergenceForecast {
    /// ln of what is to be reached; `None` where nothing is.
    goal: Option<f64>,
    /// ln of the norm after the last cycles that are known, the newest last.
    recent: VecDeque<f64>,
    /// The newest of them.
    cycle: u64,
}

impl ConvergenceForecast {
    pub fn new(goal: Option<f64>) -> Self {
        Self { goal: goal.map(f64::ln), recent: VecDeque::new(), cycle: 0 }
    }

    /// Adds the norm after `cycle` cycles, unless it is known already.
    pub fn note(&mut self, cycle: u64, norm: f64) {
        if !self.recent.is_empty() && cycle <= self.cycle {
            return;
        }
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(norm.ln());
        self.cycle = cycle;
    }

    /// Cycles that are left from `cycle` on until the goal is met, if the norm continues to fall as
    /// fast as it did at its fastest: 0 while nothing is known, `u64::MAX` where there is no goal,
    /// or where nothing falls.
    pub fn left(&self, cycle: u64) -> u64 {
        let Some(goal) = self.goal else {
            return u64::MAX;
        };
        let falls = self.recent.iter().zip(self.recent.iter().skip(1)).map(|(a, b)| a - b);
        let (Some(fastest), Some(last)) = (falls.reduce(f64::max), self.recent.back()) else {
            return 0;
        };
        if fastest <= 0.0 {
            return u64::MAX;
        }
        // The cast saturates.
        let left = ((last - goal) / fastest) as u64;
        left.saturating_sub(cycle.saturating_sub(self.cycle))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_decline_is_foreseen_to_the_cycle() {
        let mut forecast = ConvergenceForecast::new(Some(1e-4));
        assert_eq!(forecast.left(0), 0, "nothing is known");
        for cycle in 0..=20 {
            forecast.note(cycle, 0.9_f64.powf(cycle as f64));
        }
        // 0.9^88 is the first below 1e-4.
        assert_eq!((forecast.left(20), forecast.left(25), forecast.left(200)), (67, 62, 0));
        // What is known already counts once.
        forecast.note(20, 1e-3);
        assert_eq!(forecast.left(20), 67);
    }

    #[test]
    fn the_steepest_of_the_recent_cycles_counts() {
        let mut forecast = ConvergenceForecast::new(Some(1.0));
        for (cycle, power) in [(0, 100.0), (1, 90.0), (2, 89.0), (3, 88.5)] {
            forecast.note(cycle, f64::exp(power));
        }
        assert_eq!(forecast.left(3), 8);
        for cycle in 4..40 {
            forecast.note(cycle, f64::exp(89.0 - 0.5 * cycle as f64 / 2.0));
        }
        assert!(forecast.left(39) >= 300, "{}", forecast.left(39));
    }

    #[test]
    fn without_a_goal_or_a_fall_there_is_no_end() {
        let mut endless = ConvergenceForecast::new(None);
        let mut growing = ConvergenceForecast::new(Some(1e-4));
        for cycle in 0..5 {
            endless.note(cycle, 1.0 / (1 + cycle) as f64);
            growing.note(cycle, (1 + cycle) as f64);
        }
        assert_eq!((endless.left(5), growing.left(5)), (u64::MAX, u64::MAX));
        growing.note(5, f64::NAN);
        assert_eq!(growing.left(5), u64::MAX);
    }
}
