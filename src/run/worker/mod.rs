//! The thread on which runs are made.
//!
//! It is told what is wanted as a whole ([`Wish`]), and only the newest wish counts: an older one
//! that was not read yet is replaced, so telling it never waits and never piles up. It answers
//! with whole [`Report`]s, one at a time: the next is made only when the last was taken. Between
//! the two it is one loop: read the newest wish, make some cycles, offer a report.

mod exact;
mod job;
mod messages;
mod work_loop;

pub use messages::{Answer, Capture, Captured, ExactState, Part, Phase, Refusal, Report, Wish};

use super::newest::Newest;
use crossbeam_channel::{Receiver, bounded};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use work_loop::{Channels, WorkLoop};

/// A handle on the worker thread. Dropping it ends the thread.
pub struct Worker {
    wishes: Newest<Wish>,
    answers: Receiver<Answer>,
    thread: Option<JoinHandle<()>>,
    closing: Arc<AtomicBool>,
}

impl Worker {
    /// Starts the thread. `wake` is called after every report, on that thread.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(wake: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        let (wishes, unread) = Newest::channel();
        let (answer, answers) = bounded(1);
        let closing = Arc::new(AtomicBool::new(false));
        let channels = Channels { wishes: unread, answers: answer, untaken: answers.clone() };
        let work = WorkLoop::new(channels, Arc::clone(&closing), Box::new(wake));
        let thread =
            std::thread::Builder::new().name("tilescope-worker".into()).spawn(|| work.run())?;
        Ok(Self { wishes, answers, thread: Some(thread), closing })
    }

    /// Says what is wanted from now on. Never waits.
    pub fn wish(&self, wish: Wish) {
        self.wishes.tell(wish);
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
        self.closing.store(true, Ordering::Relaxed);
        // Waits for the cycle under way, so that no thread outlives the window.
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}
