//! What ends work early, whoever makes it.

use crate::clock::Instant;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// Ends work from some moment on, and leaves a cycle under way unfinished. Clones share that moment.
///
/// A solver reads it many times in a cycle, so it must stay due until that cycle has ended: only who makes the cycles may
/// [withdraw](StopToken::withdraw) it, between two of them.
#[derive(Clone, Debug, Default)]
pub struct StopToken {
    /// Milliseconds since [`START`] at which it is due, [`FOR_GOOD`], or 0 for never.
    at: Arc<AtomicU64>,
    /// Whether it is due only [`FOR_GOOD`].
    is_for_good_only: bool,
}

/// The origin of the times.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// It is due, and is not withdrawn.
const FOR_GOOD: u64 = 1;

impl StopToken {
    /// At once, and for good. Who sees it due sees what was written before.
    pub fn now(&self) {
        self.at.store(FOR_GOOD, Ordering::Release);
    }

    /// After so long, unless it is due sooner already.
    pub fn after(&self, wait: Duration) {
        let at = (START.elapsed() + wait).as_millis().try_into().unwrap_or(u64::MAX);
        let sooner = |present| (present == 0 || at < present).then_some(at.max(FOR_GOOD + 1));
        _ = self.at.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sooner);
    }

    /// Lets cycles be made again, unless it is for good.
    pub fn withdraw(&self) {
        let never = |present| (present != FOR_GOOD).then_some(0);
        _ = self.at.fetch_update(Ordering::Relaxed, Ordering::Relaxed, never);
    }

    /// A token that is due when this one is for good, and no sooner.
    #[must_use]
    pub fn for_good(&self) -> Self {
        Self { at: Arc::clone(&self.at), is_for_good_only: true }
    }

    /// Whether the work is to end.
    #[inline(always)]
    pub fn is_due(&self) -> bool {
        match self.at.load(Ordering::Acquire) {
            0 => false,
            at if self.is_for_good_only => at == FOR_GOOD,
            at => at == FOR_GOOD || is_past(at),
        }
    }
}

#[cold]
fn is_past(at: u64) -> bool {
    START.elapsed().as_millis() >= u128::from(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_due_after_its_time_until_it_is_withdrawn() {
        let stop = StopToken::default();
        assert!(!stop.is_due());
        stop.after(Duration::from_secs(3600));
        assert!(!stop.is_due());
        let copy = stop.clone();
        copy.after(Duration::ZERO);
        // The first milliseconds of the program.
        while !stop.is_due() {
            std::thread::yield_now();
        }
        // A later time does not put it off.
        copy.after(Duration::from_secs(3600));
        assert!(stop.is_due());
        let for_good = stop.for_good();
        assert!(!for_good.is_due());
        stop.withdraw();
        assert!(!copy.is_due());
        copy.now();
        assert!(for_good.is_due());
        stop.withdraw();
        stop.after(Duration::from_secs(3600));
        assert!(stop.is_due());
    }
}
