//! Drives loops, and does jobs once beside them.
//!
//! A loop of this floor is a sequence of turns. A turn does a short piece of work and returns; it never waits. Its
//! driver decides how to wait: a thread of its own blocks, a page in a browser lets the browser wake it, and tests take
//! turn after turn without sleeping.

mod latest_slot;
#[cfg(target_arch = "wasm32")]
mod page;
#[cfg(not(target_arch = "wasm32"))]
mod thread;
mod turn;

pub(in crate::run) use latest_slot::LatestSlot;
#[cfg(target_arch = "wasm32")]
pub(crate) use page::{Aside, aside, aside_with_pauses};
#[cfg(target_arch = "wasm32")]
pub(in crate::run) use page::{Host, receive};
#[cfg(not(target_arch = "wasm32"))]
pub(crate) use thread::{Aside, aside, aside_with_pauses};
#[cfg(not(target_arch = "wasm32"))]
pub(in crate::run) use thread::{Host, receive};
pub(in crate::run) use turn::Turn;

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

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
