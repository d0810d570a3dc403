//! Turns and jobs on the one thread of a page in a browser, between its frames.

use super::turn::Turn;
use crate::clock::Instant;
use crate::pauses::next_piece;
use crossbeam_channel::{Receiver, TryRecvError};
use std::cell::{Cell, RefCell};
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wasm_bindgen::prelude::*;
use web_sys::window;

/// A loop begins turns for this long before the browser may draw a frame: one of the worker, or two that observe nothing.
/// More would not fit into a sixtieth of a second with the frame's own work of some milliseconds.
const BUDGET: Duration = Duration::from_millis(4);

/// A job that is done once. Dropping it lets it go on.
pub(crate) struct Aside {
    is_done: Arc<AtomicBool>,
}

impl Aside {
    /// Whether it has ended.
    pub fn is_finished(&self) -> bool {
        self.is_done.load(Ordering::Relaxed)
    }

    /// Nothing waits in a page.
    ///
    /// # Errors
    /// None.
    pub fn join(self) -> std::thread::Result<()> {
        Ok(())
    }
}

/// Does a job once, after the frame that is drawn now.
///
/// # Errors
/// If the page has no clock, which a page in a window has.
pub(crate) fn aside(name: &str, job: impl FnOnce() + Send + 'static) -> io::Result<Aside> {
    aside_with_pauses(name, async move || job())
}

/// Does a job once that pauses, between frames.
///
/// # Errors
/// If the page has no clock, which a page in a window has.
pub(crate) fn aside_with_pauses(
    _: &str,
    job: impl AsyncFnOnce() + Send + 'static,
) -> io::Result<Aside> {
    let is_done = Arc::new(AtomicBool::new(false));
    let mut work = Box::pin(job());
    let turn = move || match next_piece(work.as_mut()) {
        Some(()) => Turn::End,
        None => Turn::Again,
    };
    go_on(turn, Arc::clone(&is_done), Duration::ZERO)?;
    Ok(Aside { is_done })
}

/// Takes the next turns after a time, and those after them.
fn go_on(
    mut turn: impl FnMut() -> Turn + 'static,
    is_done: Arc<AtomicBool>,
    wait: Duration,
) -> io::Result<()> {
    let turns = Closure::once_into_js(move || match take_turns(&mut turn) {
        // Without a clock nothing goes on.
        Some(wait) => _ = go_on(turn, is_done, wait),
        None => is_done.store(true, Ordering::Relaxed),
    });
    wake_after(turns.unchecked_ref(), wait)?;
    Ok(())
}

/// The answer of a job, if it is there: nothing waits in a page.
///
/// # Errors
/// [`TryRecvError::Empty`] until it is there, [`TryRecvError::Disconnected`] if the job ended without it.
pub(in crate::run) fn receive<T>(answer: &Receiver<T>) -> Result<T, TryRecvError> {
    answer.try_recv()
}

/// Takes the turns of one loop. Dropping it ends the loop.
#[derive(Debug)]
pub(in crate::run) struct Host {
    /// Of the next turns.
    timer: Rc<Cell<i32>>,
    turns: Closure<dyn FnMut()>,
}

impl Host {
    /// Starts the loop.
    ///
    /// # Errors
    /// If the page has no clock, which a page in a window has.
    pub fn start(_: &str, mut turn: impl FnMut() -> Turn + Send + 'static) -> io::Result<Self> {
        let timer = Rc::new(Cell::new(0));
        let itself: Rc<RefCell<Option<js_sys::Function>>> = Rc::default();
        let turns = {
            let (timer, itself) = (Rc::clone(&timer), Rc::clone(&itself));
            Closure::new(move || {
                let Some(wait) = take_turns(&mut turn) else { return };
                if let Some(Ok(next)) = itself.borrow().as_ref().map(|it| wake_after(it, wait)) {
                    timer.set(next);
                }
            })
        };
        let turns: Closure<dyn FnMut()> = turns;
        let function: &js_sys::Function = turns.as_ref().unchecked_ref();
        itself.replace(Some(function.clone()));
        timer.set(wake_after(function, Duration::ZERO)?);
        Ok(Self { timer, turns })
    }

    /// Ends a wait of the loop. Never waits.
    pub fn wake(&self) {
        self.stop();
        if let Ok(timer) = wake_after(self.turns.as_ref().unchecked_ref(), Duration::ZERO) {
            self.timer.set(timer);
        }
    }

    fn stop(&self) {
        if let Some(window) = window() {
            window.clear_timeout_with_handle(self.timer.get());
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Takes turns until the loop waits or its time is up. How long it waits; `None` if the loop is over.
fn take_turns(turn: &mut impl FnMut() -> Turn) -> Option<Duration> {
    let begin = Instant::now();
    loop {
        match turn() {
            Turn::Again if begin.elapsed() < BUDGET => {}
            Turn::Again => return Some(Duration::ZERO),
            Turn::Wait(wait) => return Some(wait),
            Turn::End => return None,
        }
    }
}

/// Lets the browser call a function after a time, and returns the number by which that can be cleared.
fn wake_after(function: &js_sys::Function, wait: Duration) -> io::Result<i32> {
    let wait = i32::try_from(wait.as_millis()).unwrap_or(i32::MAX);
    let timer = window().and_then(|window| {
        window.set_timeout_with_callback_and_timeout_and_arguments_0(function, wait).ok()
    });
    timer.ok_or_else(|| io::Error::other("the page has no clock"))
}
