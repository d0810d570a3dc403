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
use crate::run::spec::RunSpec;
use crate::solver::StopToken;
use crossbeam_channel::{Receiver, bounded};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use work_loop::{Channels, LONGEST_CATCH_UP, WorkLoop};

/// A handle on the worker thread. Dropping it ends the thread.
pub struct Worker {
    requests: LatestSlot<WorkerRequest>,
    /// The epoch and the run of the last request.
    requested: Mutex<Option<(u64, Arc<RunSpec>)>>,
    /// Ends a cycle of a run that is not wanted any more.
    stop: StopToken,
    answers: Receiver<Answer>,
    /// Whether the worker rests: it makes no cycle and reads no request.
    resting: Arc<AtomicBool>,
    /// The part of a matrix that is read, in 1/1000; [`NOT_READING`] while none is.
    reading: Arc<AtomicU32>,
    host: Host,
}

/// What stands for a matrix that is not being read.
const NOT_READING: u32 = u32::MAX;

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
        let reading = Arc::new(AtomicU32::new(NOT_READING));
        let shared = Arc::clone(&reading);
        let on_read = move |_: &str, part: f64| {
            shared.store((1000.0 * part) as u32, Ordering::Relaxed);
        };
        let stop = StopToken::default();
        let (rests, stops) = (Arc::clone(&resting), stop.clone());
        let mut work = WorkLoop::new(channels, rests, stops, Box::new(notify), on_read);
        let shared = Arc::clone(&reading);
        let host = Host::start("tilescope-worker", move || {
            let turn = work.turn();
            shared.store(NOT_READING, Ordering::Relaxed);
            turn
        })?;
        let requested = Mutex::default();
        Ok(Self { requests, requested, stop, answers, resting, reading, host })
    }

    /// The part of a matrix that is read, 0 to 1; `None` while none is. Never waits.
    pub fn reading(&self) -> Option<f64> {
        let part = self.reading.load(Ordering::Relaxed);
        (part != NOT_READING).then(|| f64::from(part) / 1000.0)
    }

    /// Sets what is wanted from now on. Never waits.
    pub fn request(&self, request: WorkerRequest) {
        let wanted = (request.epoch, Arc::clone(&request.spec));
        let before = self.requested.lock().unwrap_or_else(PoisonError::into_inner).replace(wanted);
        let is_another = |(epoch, spec): &(u64, Arc<RunSpec>)| {
            *epoch != request.epoch || !spec.is_same_run(&request.spec)
        };
        let is_another = before.as_ref().is_some_and(is_another);
        self.requests.put(request);
        // After it is there: the loop withdraws this when it takes a request.
        if is_another {
            self.stop.after(LONGEST_CATCH_UP);
        }
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

impl Drop for Worker {
    /// The thread is waited for, but not its cycle.
    fn drop(&mut self) {
        self.stop.now();
    }
}
