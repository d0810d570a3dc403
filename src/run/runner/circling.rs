//! The rounding limit where the last digits of an iterate circle: cycles change it for ever, and bring it no further.

use serde::{Deserialize, Serialize};

/// The first cycle whose residual is kept to compare with.
const FIRST: u64 = 1 << 10;

/// b − A u at cycles that double, which says whether the last half of all cycles brought the iterate any further.
///
/// A run that converges slowly is further after twice as many cycles, if by little: it is not taken for one that circles.
/// Nor is one whose residual grows for a while, since its cycles change more than last digits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Circling {
    /// The cycle that is examined next.
    next: u64,
    /// The least ‖b − A u‖₂ at those that were.
    least: f64,
    /// The cycle at which nothing came of the last half of all cycles.
    found: Option<u64>,
}

impl Circling {
    pub fn new() -> Self {
        Self { next: FIRST, least: f64::INFINITY, found: None }
    }

    /// Whether a cycle is to be examined, before the next one is made.
    pub fn is_due(&self, cycle: u64) -> bool {
        cycle >= self.next
    }

    /// Cycles until then, at least 1.
    pub fn wait(&self, cycle: u64) -> u64 {
        self.next.saturating_sub(cycle).max(1)
    }

    /// Whether the iterate of this cycle was found to circle.
    pub fn is_found(&self, cycle: u64) -> bool {
        self.found == Some(cycle)
    }

    /// Notes that the iterate of this cycle circles.
    pub fn find(&mut self, cycle: u64) {
        self.found = Some(cycle);
    }

    /// Takes in ‖b − A u‖₂ of the cycle that is examined; returns whether it is no less than before.
    pub fn note(&mut self, cycle: u64, norm: f64) -> bool {
        let is_no_less = norm >= self.least;
        self.least = self.least.min(norm);
        self.next = cycle.saturating_mul(2);
        is_no_less
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_that_double_are_compared_with_the_best_before() {
        let mut circling = Circling::new();
        assert!(!circling.is_due(FIRST - 1) && circling.is_due(FIRST));
        assert_eq!((circling.wait(0), circling.wait(FIRST)), (FIRST, 1));
        assert!(!circling.note(FIRST, 1e-3));
        assert_eq!(circling.wait(FIRST), FIRST);
        // However little it fell.
        assert!(!circling.note(2 * FIRST, 1e-3 - 1e-18));
        assert!(circling.note(4 * FIRST, 1e-3));
        assert!(circling.note(8 * FIRST, 1e-3 - 1e-18));
        assert!(!circling.note(16 * FIRST, f64::NAN), "it diverges");
    }
}
