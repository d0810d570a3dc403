//! How far a pass has come while it is made.

use std::sync::atomic::{AtomicU64, Ordering};

/// A moment of a pass: all its steps before one are over, and some sweeps of that one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassMoment {
    /// The slab or chunk that is under way; the number of all of them once the pass is over.
    pub step: usize,
    /// How many of its sweeps are made.
    pub sweep: usize,
}

/// The moment of the pass under way. A solver writes it once a sweep of a step, which costs nothing beside the sweep, and
/// whoever draws it reads it from another thread. It has a page of its own, which a GPU can write to.
#[derive(Debug, Default)]
#[repr(align(4096))]
pub struct PassProgress(AtomicU64);

/// Bits of the sweep; those above are the step's.
const SWEEP_BITS: u32 = 32;

impl PassProgress {
    /// The newest moment.
    pub fn moment(&self) -> PassMoment {
        let packed = self.0.load(Ordering::Relaxed);
        PassMoment {
            step: (packed >> SWEEP_BITS) as usize,
            sweep: (packed & u64::from(u32::MAX)) as usize,
        }
    }

    /// Notes a moment.
    pub(in crate::solver) fn set(&self, step: usize, sweep: usize) {
        self.0.store(PassMoment { step, sweep }.packed(), Ordering::Relaxed);
    }
}

impl PassMoment {
    /// As a single number.
    pub(in crate::solver) fn packed(self) -> u64 {
        (self.step as u64) << SWEEP_BITS | self.sweep as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_as_it_was_written() {
        let progress = PassProgress::default();
        assert_eq!(progress.moment(), PassMoment::default());
        for (step, sweep) in [(0, 1), (3, 0), (1_000_000, 100_000)] {
            progress.set(step, sweep);
            assert_eq!(progress.moment(), PassMoment { step, sweep });
        }
    }
}
