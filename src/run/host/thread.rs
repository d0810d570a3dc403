//! A thread for each loop and for each job.

use super::turn::Turn;
use crate::pauses::without_pauses;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, bounded};
use std::io;
use std::thread::{Builder, JoinHandle};

/// A job that is done once. Dropping it lets it go on.
pub(crate) type Aside = JoinHandle<()>;

/// Does a job once, on a named thread.
///
/// # Errors
/// If the thread cannot be started.
pub(crate) fn aside(name: &str, job: impl FnOnce() + Send + 'static) -> io::Result<Aside> {
    Builder::new().name(name.into()).spawn(job)
}

/// Does a job once that may pause, on a named thread: without pauses.
///
/// # Errors
/// If the thread cannot be started.
pub(crate) fn aside_with_pauses(
    name: &str,
    job: impl AsyncFnOnce() + Send + 'static,
) -> io::Result<Aside> {
    aside(name, move || without_pauses(job()))
}

/// The answer of a job, for which this waits.
///
/// # Errors
/// [`TryRecvError::Disconnected`] if the job ended without an answer.
pub(in crate::run) fn receive<T>(answer: &Receiver<T>) -> Result<T, TryRecvError> {
    Ok(answer.recv()?)
}

/// A named thread that takes the turns of one loop. Dropping it ends the loop after the turn under
/// way, and joins the thread.
#[derive(Debug)]
pub(in crate::run) struct Host {
    /// Holds at most one wake-up. Disconnected: the loop is to end.
    wake: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Host {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn start(name: &str, mut turn: impl FnMut() -> Turn + Send + 'static) -> io::Result<Self> {
        let (wake, woken) = bounded(1);
        let thread =
            Builder::new().name(name.into()).spawn(move || while wait(turn(), &woken) {})?;
        Ok(Self { wake: Some(wake), thread: Some(thread) })
    }

    /// Ends a wait of the loop, the present one or else the next. Never waits.
    pub fn wake(&self) {
        if let Some(wake) = &self.wake {
            // A wake-up that is there already does for both.
            _ = wake.try_send(());
        }
    }
}

/// Waits as long as a turn requests, and returns whether there is another turn.
fn wait(turn: Turn, woken: &Receiver<()>) -> bool {
    match turn {
        Turn::Again => woken.try_recv() != Err(TryRecvError::Disconnected),
        Turn::Wait(most) => woken.recv_timeout(most) != Err(RecvTimeoutError::Disconnected),
        Turn::End => false,
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        drop(self.wake.take());
        // Waits for the turn under way, so that no thread outlives its owner.
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}
