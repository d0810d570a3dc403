//! Drives a loop on a thread of its own.
//!
//! A loop of this floor is a sequence of turns. A turn does a short piece of work and returns; it
//! never waits. Its driver decides how to wait: this host blocks its thread, a browser would
//! ask for the next frame, and tests take turn after turn without sleeping.

mod latest_slot;

pub(in crate::run) use latest_slot::LatestSlot;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, bounded};
use std::io;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// What follows a turn of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// There is more work now.
    Again,
    /// There is no work until the loop is woken, or until this time has passed.
    Wait(Duration),
    /// The loop is over.
    End,
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// Waits so long that a test that relies on it hangs.
    const LONG: Turn = Turn::Wait(Duration::from_secs(3600));

    #[test]
    fn a_loop_runs_until_it_ends() {
        let (send, turns) = mpsc::channel();
        let mut left = 3;
        let host = Host::start("tilescope-test", move || {
            send.send(left).unwrap();
            left -= 1;
            if left > 0 { Turn::Again } else { Turn::End }
        });
        assert_eq!(turns.iter().collect::<Vec<_>>(), [3, 2, 1]);
        drop(host);
    }

    #[test]
    fn a_wake_up_ends_the_wait_and_dropping_the_host_ends_the_loop() {
        let (send, turns) = mpsc::channel();
        let host = Host::start("tilescope-test", move || {
            send.send(()).unwrap();
            LONG
        })
        .unwrap();
        for _ in 0..3 {
            turns.recv().unwrap();
            host.wake();
        }
        // The third wake-up may still be on its way.
        drop(host);
        assert!(turns.iter().count() <= 1);
    }
}
