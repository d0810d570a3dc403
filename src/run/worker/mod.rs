//! The thread on which runs are made.
//!
//! It is told what is wanted as a whole ([`WorkerRequest`]), and only the newest wish counts: an older one
//! that was not read yet is replaced, so telling it never waits and never piles up. It answers
//! with whole [`Report`]s, one at a time: the next is made only when the last was taken. Between
//! the two it is one loop: read the newest wish, make some cycles, offer a report.

mod exact;
mod job;
mod messages;
mod pacing;
mod work_loop;

pub use messages::{
    Answer, ExactState, Part, Phase, Report, RequestError, Snapshot, SnapshotRequest, WorkerRequest,
};

pub(super) use messages::Look;

use super::latest_slot::LatestSlot;
use crossbeam_channel::{Receiver, bounded};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use work_loop::{Channels, WorkLoop};

/// A handle on the worker thread. Dropping it ends the thread.
pub struct Worker {
    requests: LatestSlot<WorkerRequest>,
    answers: Receiver<Answer>,
    thread: Option<JoinHandle<()>>,
    conduct: Arc<WorkerFlags>,
}

/// How the thread is to behave, whatever it is wished.
#[derive(Debug, Default)]
struct WorkerFlags {
    /// It ends.
    closing: AtomicBool,
    /// It makes nothing, and hears no wish.
    resting: AtomicBool,
}

impl Worker {
    /// Starts the thread. `wake` is called after every report, on that thread.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(wake: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        let (requests, unread) = LatestSlot::channel();
        let (answer, answers) = bounded(1);
        let conduct = Arc::<WorkerFlags>::default();
        let channels = Channels { requests: unread, answers: answer, untaken: answers.clone() };
        let work = WorkLoop::new(channels, Arc::clone(&conduct), Box::new(wake));
        let thread =
            std::thread::Builder::new().name("tilescope-worker".into()).spawn(|| work.run())?;
        Ok(Self { requests, answers, thread: Some(thread), conduct })
    }

    /// Says what is wanted from now on. Never waits.
    pub fn request(&self, request: WorkerRequest) {
        self.requests.tell(request);
    }

    /// Lets it make nothing at all, as long as something else is timed, or lets it go on with the newest
    /// wish. Never waits.
    pub fn rest(&self, resting: bool) {
        let rested = self.conduct.resting.swap(resting, Ordering::Relaxed);
        if rested && !resting {
            self.wake_up();
        }
    }

    fn wake_up(&self) {
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
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

impl Drop for Worker {
    fn drop(&mut self) {
        self.conduct.closing.store(true, Ordering::Relaxed);
        self.wake_up();
        // Waits for the cycle under way, so that no thread outlives the window.
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}
