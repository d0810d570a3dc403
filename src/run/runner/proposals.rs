//! When a run is examined for its end.

use crate::run::history::Record;
use serde::{Deserialize, Serialize};

/// What proposes that a run stops, and when the next proposal is examined.
///
/// After each proposal that is refused, twice as many cycles pass as before: many cycles lie between
/// the first residual that seems small enough and the rounding limit, and examining each would take as
/// long as making it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Proposals {
    next: u64,
    gap: u64,
    /// The last cycle whose proposal was refused; its record holds ‖b − A u‖.
    refused: Option<u64>,
    /// The last cycle whose residual came with the next, and ‖r‖₂.
    last: Option<(u64, f64)>,
    /// The cycle that seems to have left the iterate as it was, by its residuals.
    at_rest: Option<u64>,
}

impl Proposals {
    pub fn new() -> Self {
        Self { next: 0, gap: 1, refused: None, last: None, at_rest: None }
    }

    /// Whether a proposal at this cycle is to be examined.
    pub fn is_due(&self, cycle: u64) -> bool {
        cycle >= self.next
    }

    /// Whether the record of this cycle holds ‖b − A u‖ because its proposal was refused.
    pub fn is_refused(&self, cycle: u64) -> bool {
        self.refused == Some(cycle)
    }

    /// Cycles until a proposal is examined again; `None` if none was refused.
    pub fn wait(&self, cycle: u64) -> Option<u64> {
        self.refused.map(|_| self.next.saturating_sub(cycle).max(1))
    }

    /// Notes that the run continues after this cycle.
    pub fn refuse(&mut self, cycle: u64) {
        self.refused = Some(cycle);
        self.next = cycle.saturating_add(self.gap);
        self.gap = self.gap.saturating_mul(2);
    }

    /// Notes ‖r‖₂ of the iterate of a cycle as it came with the next one. Where it is 0, the next cycle
    /// changes nothing; where it is that of the cycle before to the last bit, this one may have changed
    /// nothing.
    pub fn note(&mut self, cycle: u64, norm: f64) {
        if self.last.is_some_and(|(last, _)| last >= cycle) {
            return;
        }
        let is_repeated = self
            .last
            .is_some_and(|(last, before)| last + 1 == cycle && before.to_bits() == norm.to_bits());
        self.at_rest = if norm == 0.0 { Some(cycle + 1) } else { is_repeated.then_some(cycle) };
        self.last = Some((cycle, norm));
    }

    /// Whether the cycle of this record seems to have left the iterate as it was.
    pub fn seems_at_rest(&self, record: &Record) -> bool {
        match record.max_change {
            Some(change) => change == 0.0,
            None => self.at_rest == Some(record.cycle),
        }
    }

    /// Whether it surely did: its changes are known, or the residual before it was 0.
    pub fn is_surely_at_rest(&self, record: &Record) -> bool {
        let before_was_0 =
            || self.last.is_some_and(|(last, norm)| last + 1 == record.cycle && norm == 0.0);
        self.seems_at_rest(record) && (record.max_change.is_some() || before_was_0())
    }
}
