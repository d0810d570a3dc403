//! The thread on which earlier cycles are made again, to be seen.
//!
//! It is told what is to be seen as a whole ([`ReplayRequest`]), and only the newest wish counts: a
//! newer one stops the work for an older. It answers with all that is seen so far ([`ReplayReport`]):
//! first, where the way is long, with a cycle shortly before the one that was asked for, then with
//! that one. How it was made changes no bit of it.

mod again;
mod look_loop;
mod remade;
#[cfg(test)]
mod tests;

use super::archive::RunArchive;
use super::latest_slot::LatestSlot;
use super::observation::{Observation, ObservationRequest};
use crossbeam_channel::Receiver;
use look_loop::LookLoop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// All that is wanted of a replay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplayRequest {
    /// The number of the wish.
    pub id: u64,
    /// The runs that there are. What is held of any other is let go.
    pub runs: Vec<Arc<RunArchive>>,
    /// Bytes that each of them may keep of its iterates.
    pub memory: usize,
    /// What is to be seen.
    pub targets: Vec<ReplayTarget>,
}

/// An iterate that is to be seen, or how two of them differ.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayTarget {
    /// The run.
    pub archive: Arc<RunArchive>,
    /// The cycle.
    pub cycle: u64,
    /// What is looked at. Of two iterates the field is told of the first less that of the second.
    pub view: ObservationRequest,
    /// The other iterate, if it is the difference from one that is to be seen.
    pub minus: Option<Difference>,
}

/// The iterate that is taken away from another, on a grid of the same shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The run.
    pub archive: Arc<RunArchive>,
    /// The cycle.
    pub cycle: u64,
}

/// What a replay says.
#[derive(Clone, Debug)]
pub struct ReplayReport {
    /// The wish that it answers.
    pub id: u64,
    /// What is seen, sight by sight; `None` of what is not made yet. Where the cycle is another
    /// than the one that was asked for, that one follows.
    pub observations: Vec<Option<Observation>>,
    /// While it goes on: how much of the present sight's way is made, 0 to 1.
    pub under_way: Option<f32>,
    /// Why the rest cannot be seen, in one sentence.
    pub failed: Option<String>,
}

/// A handle on the replay thread. Dropping it ends the thread.
pub struct Rewinder {
    requests: LatestSlot<ReplayRequest>,
    answers: Receiver<ReplayReport>,
    thread: Option<JoinHandle<()>>,
    closing: Arc<AtomicBool>,
}

impl Rewinder {
    /// Starts the thread. `wake` is called after every answer, on that thread.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(wake: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        let (requests, unread) = LatestSlot::channel();
        let (tell, answers) = LatestSlot::channel();
        let closing = Arc::new(AtomicBool::new(false));
        let work = LookLoop::new(unread, tell, Arc::clone(&closing), Box::new(wake));
        let thread =
            std::thread::Builder::new().name("tilescope-replay".into()).spawn(|| work.run())?;
        Ok(Self { requests, answers, thread: Some(thread), closing })
    }

    /// Says what is wanted from now on. Never waits.
    pub fn request(&self, request: ReplayRequest) {
        self.requests.put(request);
    }

    /// The newest answer, if there is one. Never waits.
    pub fn answer(&self) -> Option<ReplayReport> {
        self.answers.try_recv().ok()
    }

    /// Waits for an answer, for tests and programs without a window.
    pub fn wait(&self, at_most: Duration) -> Option<ReplayReport> {
        self.answers.recv_timeout(at_most).ok()
    }
}

impl Drop for Rewinder {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Relaxed);
        // Waits for the cycle under way, so that no thread outlives the window.
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}
