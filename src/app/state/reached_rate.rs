//! How many cycles per second are shown.

use crate::clock::Instant;
use std::time::Duration;

/// The time over which the rate is averaged: long enough that the number can be read.
const AVERAGED_OVER: Duration = Duration::from_secs(1);

/// The rate at which the shown cycle grows, per second of wall-clock time.
#[derive(Debug, Default)]
pub struct ReachedRate {
    /// The epoch of the run, when the average began, and the cycle that was shown.
    since: Option<(u64, Instant, u64)>,
    known: Option<f64>,
}

impl ReachedRate {
    /// Follows the shown cycle; `None` while nothing is to move.
    pub fn follow(&mut self, shown: Option<(u64, u64)>, now: Instant) {
        let Some((epoch, cycle)) = shown else {
            *self = Self::default();
            return;
        };
        let before = self.since.filter(|(of, _, first)| *of == epoch && *first <= cycle);
        let Some((_, begin, first)) = before else {
            *self = Self { since: Some((epoch, now, cycle)), known: None };
            return;
        };
        let passed = now.duration_since(begin);
        if passed >= AVERAGED_OVER && cycle > first {
            let rate = (cycle - first) as f64 / passed.as_secs_f64();
            *self = Self { since: Some((epoch, now, cycle)), known: Some(rate) };
        }
    }

    /// Cycles per second, once they are known.
    pub fn known(&self) -> Option<f64> {
        self.known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_last_second() {
        let (mut rate, begin) = (ReachedRate::default(), Instant::now());
        let at = |milliseconds| begin + Duration::from_millis(milliseconds);
        rate.follow(Some((1, 0)), at(0));
        rate.follow(Some((1, 15)), at(500));
        assert_eq!(rate.known(), None);
        rate.follow(Some((1, 30)), at(1000));
        assert_eq!(rate.known(), Some(30.0));
        // Slower than a cycle per second: the average lasts until there is one.
        rate.follow(Some((1, 30)), at(2500));
        assert_eq!(rate.known(), Some(30.0));
        rate.follow(Some((1, 31)), at(3000));
        assert_eq!(rate.known(), Some(0.5));
        // Another run, and a replay that begins again.
        rate.follow(Some((2, 31)), at(3100));
        assert_eq!(rate.known(), None);
        rate.follow(Some((2, 41)), at(4100));
        rate.follow(Some((2, 3)), at(4200));
        assert_eq!(rate.known(), None);
        rate.follow(None, at(4300));
        assert_eq!(rate.known(), None);
    }
}
