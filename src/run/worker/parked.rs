//! Runs that were left, and to which the window may return with their cycles.

use super::job::Job;
use crate::run::observe::FieldKind;
use crate::run::record::MemoryNeed;

/// A run that was left keeps this part of its keyframes' memory.
const SHARE: usize = 8;

/// Runs that were left, as they were.
#[derive(Default)]
pub(super) struct ParkedRuns(Vec<Job>);

impl ParkedRuns {
    /// Keeps a run if its epoch is in `wanted`. Those that were left first make room for it: the
    /// arrays of all solvers together take at most `memory` bytes.
    pub fn park(&mut self, mut job: Job, wanted: &[u64], memory: usize) {
        if !wanted.contains(&job.epoch) || bytes(&job) > memory as u64 {
            return;
        }
        job.share_memory(memory / SHARE);
        self.0.push(job);
        while self.0.iter().map(bytes).sum::<u64>() > memory as u64 {
            self.0.remove(0);
        }
    }

    /// Drops the runs whose epochs are not in `wanted`.
    pub fn retain(&mut self, wanted: &[u64]) {
        self.0.retain(|job| wanted.contains(&job.epoch));
    }

    /// The run of an epoch, to be continued.
    pub fn take(&mut self, epoch: u64) -> Option<Job> {
        let index = self.0.iter().position(|job| job.epoch == epoch)?;
        Some(self.0.remove(index))
    }

    /// Drops all of them, and returns whether there was any.
    pub fn clear(&mut self) -> bool {
        let had_any = !self.0.is_empty();
        self.0.clear();
        had_any
    }
}

fn bytes(job: &Job) -> u64 {
    MemoryNeed::of(&job.plan, &[FieldKind::Staleness]).bytes()
}
