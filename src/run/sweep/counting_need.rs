//! What counting the cycles of several settings at a time needs in memory.

use super::measure::counted_plan;
use super::sweep::Sweep;
use crate::run::observe::FieldKind;
use crate::run::plan::PlanError;
use crate::run::record::MemoryNeed;
use std::sync::Arc;

/// The bytes that the counts of the settings of a sweep need, the largest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountingNeed(Vec<u64>);

impl CountingNeed {
    /// Of settings that need this many bytes each, in any order.
    pub fn new(mut bytes: Vec<u64>) -> Self {
        bytes.sort_unstable_by(|one, other| other.cmp(one));
        Self(bytes)
    }

    /// The bytes of that many settings at a time, whichever they are: those of the largest.
    pub fn bytes(&self, jobs: usize) -> u64 {
        self.0.iter().take(jobs).fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }

    /// How many settings at a time fit into this memory, at most `jobs` and at least one: a single one that does not
    /// fit is refused when it is set up.
    pub fn fitting(&self, jobs: usize, available: u64) -> usize {
        (1..=jobs).rev().find(|&jobs| self.bytes(jobs) <= available).unwrap_or(1)
    }
}

impl Sweep {
    /// What counting the cycles of its settings needs.
    ///
    /// # Errors
    /// [`PlanError`] if a setting that could run no longer can.
    pub fn counting_need(&mut self) -> Result<CountingNeed, PlanError> {
        let can_run = self.cells().iter().filter(|cell| cell.cannot_run.is_none());
        let settings: Vec<_> = can_run.map(|cell| cell.setting).collect();
        let mut bytes = Vec::with_capacity(settings.len());
        for setting in settings {
            let plan = counted_plan(&Arc::new(self.plan(&setting)?));
            bytes.push(MemoryNeed::of(&plan, &[FieldKind::Residual]).bytes());
        }
        Ok(CountingNeed::new(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_settings_may_come_together() {
        let need = CountingNeed::new(vec![3, 10, 5, 2]);
        assert_eq!([0, 1, 2, 4, 9].map(|jobs| need.bytes(jobs)), [0, 10, 15, 20, 20]);
        assert_eq!([100, 20, 19, 15, 14, 0].map(|free| need.fitting(4, free)), [4, 4, 3, 2, 1, 1]);
        assert_eq!(need.fitting(9, 100), 9);
    }
}
