//! The thread on which earlier cycles are recomputed to be observed.
//!
//! A [`ReplayRequest`] states all that is wanted, and only the newest counts: a newer one ends the
//! work for an older. The rewinder answers with all that is observed so far ([`ReplayReport`]):
//! first, where the way is long, with a cycle on the way, then with the requested one. How
//! a cycle was made changes no bit of it.

mod remake;
mod replayed_run;
mod rewind_loop;
#[cfg(test)]
mod tests;

use crate::run::archive::RunArchive;
use crate::run::host::{Host, LatestSlot};
use crate::run::observe::{Observation, ObservationRequest};
use crate::solver::StopToken;
use crossbeam_channel::Receiver;
use rewind_loop::RewindLoop;
use std::sync::Arc;
use std::time::Duration;

/// All that is wanted of a rewinder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplayRequest {
    /// The number of the request.
    pub id: u64,
    /// The runs that there are. The solvers of all others are dropped.
    pub runs: Vec<Arc<RunArchive>>,
    /// Bytes that each of them may use to keep its iterates.
    pub memory: usize,
    /// What is to be observed.
    pub targets: Vec<ReplayTarget>,
}

/// An iterate that is to be observed, or the difference of two.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayTarget {
    /// The run.
    pub archive: Arc<RunArchive>,
    /// The cycle.
    pub cycle: u64,
    /// What is observed. The field of a difference is that of the first iterate minus that of the
    /// second.
    pub request: ObservationRequest,
    /// The second iterate, of a difference.
    pub minus: Option<Difference>,
}

/// The iterate that is subtracted from another, on a grid of the same shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The run.
    pub archive: Arc<RunArchive>,
    /// The cycle.
    pub cycle: u64,
}

/// What a rewinder answers.
#[derive(Clone, Debug)]
pub struct ReplayReport {
    /// The request that it answers.
    pub id: u64,
    /// What is observed, target by target; `None` of what is not made yet. Where the cycle differs
    /// from the requested one, that one follows.
    pub observations: Vec<Option<Observation>>,
    /// While it is under way: the fraction of the way to the present target that is done, 0 to 1.
    pub progress: Option<f32>,
    /// Why the rest cannot be observed, in one sentence.
    pub failed: Option<String>,
}

/// A handle on the rewinder's thread. Dropping it ends the thread.
pub struct Rewinder {
    requests: LatestSlot<ReplayRequest>,
    stop: StopToken,
    reports: Receiver<ReplayReport>,
    host: Host,
}

impl Rewinder {
    /// Starts the thread. `notify` is called after every report, on that thread.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn start(notify: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        let (requests, unread) = LatestSlot::channel();
        let (send, reports) = LatestSlot::channel();
        let stop = StopToken::default();
        let mut work = RewindLoop::new(unread, send, stop.clone(), Box::new(notify));
        let host = Host::start("tilescope-rewinder", move || work.turn())?;
        Ok(Self { requests, stop, reports, host })
    }

    /// Sets what is wanted from now on. Never waits.
    pub fn request(&self, request: ReplayRequest) {
        self.requests.put(request);
        self.host.wake();
    }

    /// The newest report, if there is one. Never waits.
    pub fn answer(&self) -> Option<ReplayReport> {
        self.reports.try_recv().ok()
    }

    /// Waits for a report, for tests and programs without a window.
    pub fn wait(&self, at_most: Duration) -> Option<ReplayReport> {
        self.reports.recv_timeout(at_most).ok()
    }
}

impl Drop for Rewinder {
    /// The thread is waited for, but not its cycle.
    fn drop(&mut self) {
        self.stop.now();
    }
}
