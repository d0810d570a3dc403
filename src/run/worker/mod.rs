//! The thread on which runs are computed.
//!
//! A [`WorkerRequest`] states all that is wanted, and only the newest counts: an older one that was
//! not read yet is replaced, so that sending never waits and requests never pile up. The worker
//! answers with complete [`Report`]s, one at a time: the next is made only when the last was taken.
//! A turn of its loop reads the newest request, makes some cycles and offers a report.
//!
//! A new run may have to catch up with the one before it: it is reported for the first time where
//! the two are compared ([`Milestone`]), so that a window can exchange their pictures. Runs that were
//! left are kept as they are while a request names them: a request of their epoch continues them.

mod catch_up;
mod exact;
mod frequencies;
mod job;
mod measuring;
mod messages;
mod observed_series;
mod pacing;
mod parked;
mod radius;
mod work_loop;

pub use catch_up::Milestone;
pub use messages::{Answer, ExactState, Phase, Report, RequestError, WorkerRequest};

use crate::run::host::{Host, LatestSlot};
use crossbeam_channel::{Receiver, bounded};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use work_loop::{Channels, WorkLoop};

/// A handle on the worker thread. Dropping it ends the thread.
pub struct Worker {
    requests: LatestSlot<WorkerRequest>,
    answers: Receiver<Answer>,
    /// Whether the worker rests: it makes no cycle and reads no request.
    resting: Arc<AtomicBool>,
    host: Host,
}

impl Worker {
    /// Starts the thread. `notify` is called after every report, on that thread.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn start(notify: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        let (requests, unread) = LatestSlot::channel();
        let (answer, answers) = bounded(1);
        let resting = Arc::new(AtomicBool::new(false));
        let channels = Channels { requests: unread, answers: answer, untaken: answers.clone() };
        let mut work = WorkLoop::new(channels, Arc::clone(&resting), Box::new(notify));
        let host = Host::start("tilescope-worker", move || work.turn())?;
        Ok(Self { requests, answers, resting, host })
    }

    /// Sets what is wanted from now on. Never waits.
    pub fn request(&self, request: WorkerRequest) {
        self.requests.put(request);
        self.host.wake();
    }

    /// Suspends all work while something else is timed, or resumes it with the newest request. Never
    /// waits.
    pub fn rest(&self, resting: bool) {
        self.resting.store(resting, Ordering::Relaxed);
        self.host.wake();
    }

    /// The report that is waiting, if there is one. Never waits.
    pub fn answer(&self) -> Option<Answer> {
        self.answers.try_recv().ok()
    }

    /// Waits for a report, for tests and programs without a window.
    pub fn wait(&self, at_most: Duration) -> Option<Answer> {
        self.answers.recv_timeout(at_most).ok()
    }
}
