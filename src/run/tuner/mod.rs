//! The tuner: measures the sweeps of the window's tuning map on a thread of its own.
//!
//! It measures one sweep at a time and sends an event for each result. The receiver never waits for it; it
//! waits for the receiver when a few dozen events have not been received. It can be paused and stopped
//! between any two steps of some milliseconds. Cycles that it has counted are known in later sweeps.

mod event;
mod measuring;
mod remaining;
mod tuner_loop;

pub use event::{SweepEnd, TunerEvent};

use super::host::Host;
use super::sweep::SweepSpec;
use crate::solver::StopToken;
use crossbeam_channel::{Receiver, Sender, bounded};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tuner_loop::{Control, Orders, TunerLoop};

/// Events that may be waiting to be received.
const MOST_EVENTS: usize = 64;

/// The longest wait for a cycle of a sweep that is stopped.
const LONGEST_STEP: Duration = Duration::from_millis(300);

/// A handle on the tuner's thread. Dropping it ends the thread.
pub struct Tuner {
    sweeps: Sender<SweepSpec>,
    events: Receiver<TunerEvent>,
    control: Arc<Mutex<Control>>,
    with_slow: Arc<AtomicBool>,
    stop: StopToken,
    host: Host,
}

impl Tuner {
    /// Starts the thread. `notify` is called on it after each event.
    ///
    /// # Errors
    /// If the thread cannot be started.
    pub fn start(notify: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        let (sweeps, next) = bounded(1);
        let (sender, events) = bounded(MOST_EVENTS);
        let control = Arc::new(Mutex::new(Control::Run));
        let with_slow = Arc::new(AtomicBool::new(false));
        let stop = StopToken::default();
        let orders = Orders {
            control: Arc::clone(&control),
            with_slow: Arc::clone(&with_slow),
            stop: stop.clone(),
        };
        let mut tuner_loop = TunerLoop::new(next, sender, orders, Box::new(notify));
        let host = Host::start("tilescope-tuner", move || tuner_loop.turn())?;
        Ok(Self { sweeps, events, control, with_slow, stop, host })
    }

    /// Begins a sweep after the one before has ended. `false` if another one is waiting already.
    pub fn begin(&self, spec: SweepSpec) -> bool {
        self.set(Control::Run);
        let is_accepted = self.sweeps.try_send(spec).is_ok();
        self.host.wake();
        is_accepted
    }

    /// Whether settings that are predicted to be slow are measured, too, after all others. A sweep
    /// that has ended without them continues.
    pub fn measure_slow(&self, with_slow: bool) {
        self.with_slow.store(with_slow, Ordering::Relaxed);
        self.host.wake();
    }

    /// Pauses the sweep after the step under way, or continues it.
    pub fn pause(&self, paused: bool) {
        self.set(if paused { Control::Pause } else { Control::Run });
    }

    /// Stops the sweep after the step under way. A cycle that takes long is left unfinished.
    pub fn stop(&self) {
        self.set(Control::Stop);
        self.stop.after(LONGEST_STEP);
    }

    /// The oldest event that was not received. Never waits.
    pub fn event(&self) -> Option<TunerEvent> {
        let event = self.events.try_recv().ok();
        if event.is_some() {
            // There is room for another event.
            self.host.wake();
        }
        event
    }

    /// Waits for an event, for programs without a window.
    pub fn wait(&self, at_most: Duration) -> Option<TunerEvent> {
        let event = self.events.recv_timeout(at_most).ok();
        self.host.wake();
        event
    }

    fn set(&self, control: Control) {
        tuner_loop::set(&self.control, control);
        self.host.wake();
    }
}

impl Drop for Tuner {
    fn drop(&mut self) {
        // The host waits for the step under way, which a stop shortens.
        self.set(Control::Stop);
        self.stop.now();
    }
}

impl std::fmt::Debug for Tuner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tuner").field("control", &self.control).finish_non_exhaustive()
    }
}
