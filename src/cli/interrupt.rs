//! Ctrl-C: work stops within a second, wherever it is; a file is written completely or not at all.

use super::console::{self, print_note};
use crate::files;
use anyhow::anyhow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Whether the first Ctrl-C came.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether the work has noticed it, and is about to end.
static SEEN: AtomicBool = AtomicBool::new(false);

/// Whether what is under way is completed after the first Ctrl-C.
static COMPLETES: AtomicBool = AtomicBool::new(false);

/// Locked where the process must not end: a row is being written to a table.
static WRITING: Mutex<()> = Mutex::new(());

/// The message when the process ends in the middle of work that does not check the flag.
static ENDED: Mutex<String> = Mutex::new(String::new());

/// The work may take this long to notice the first Ctrl-C. Then the process ends without it: nothing is
/// lost, since files are written elsewhere and renamed. The rest of a second is for its end: gigabytes are given
/// back to the system.
const PATIENCE: Duration = Duration::from_millis(250);

/// Access to the interrupt flag; exists once the handler is installed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interrupt(());

impl Interrupt {
    /// Installs the handler for Ctrl-C and for requests to terminate (SIGTERM, SIGHUP). The first one
    /// sets the flag, and ends the process if the work does not see it in time; a second one ends it at
    /// once. `ended` is the sentence that is printed where the process ends so.
    ///
    /// # Errors
    /// If the system does not allow a handler.
    pub fn install(ended: impl Into<String>) -> anyhow::Result<Self> {
        Self(()).ends_with(ended);
        ctrlc::set_handler(|| {
            if INTERRUPTED.swap(true, Ordering::SeqCst) {
                end();
            }
            // A thread of its own: the handler waits for the second Ctrl-C. Without one the work has to
            // see the flag.
            let watch = std::thread::Builder::new().name("tilescope-interrupt".to_owned());
            _ = watch.spawn(end_or_say_so);
        })
        .map_err(|error| anyhow!("cannot install a handler for Ctrl-C: {error}"))?;
        Ok(Self(()))
    }

    /// Changes the sentence that is printed where the process ends in the middle of work.
    pub fn ends_with(self, ended: impl Into<String>) {
        *ENDED.lock().unwrap_or_else(PoisonError::into_inner) = ended.into();
    }

    /// Whether an interrupt was requested; the caller then ends its work.
    pub fn is_requested(self) -> bool {
        let is_requested = INTERRUPTED.load(Ordering::SeqCst);
        if is_requested {
            SEEN.store(true, Ordering::SeqCst);
        }
        is_requested
    }

    /// The flag itself, for work that polls one.
    pub fn flag(self) -> &'static AtomicBool {
        &INTERRUPTED
    }

    /// The flag as a function, for work that polls one and keeps what it has.
    pub fn should_stop(self) -> &'static (dyn Fn() -> bool + Sync) {
        &|| Self(()).is_requested()
    }

    /// Runs `work` to its end after a first Ctrl-C; a second one ends the process.
    pub fn complete<T>(self, work: impl FnOnce() -> T) -> T {
        COMPLETES.store(true, Ordering::SeqCst);
        let done = work();
        COMPLETES.store(false, Ordering::SeqCst);
        done
    }

    /// Runs a short `write` that must not be cut off.
    pub fn protect<T>(self, write: impl FnOnce() -> T) -> T {
        let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        write()
    }
}

/// Ends the process if the work does not see the flag in time, or reports that it takes longer.
fn end_or_say_so() {
    std::thread::sleep(PATIENCE);
    if SEEN.load(Ordering::SeqCst) || COMPLETES.load(Ordering::SeqCst) {
        print_note("stopping …; Ctrl-C again stops now");
        return;
    }
    end();
}

/// Ends the process, and leaves no unfinished file.
fn end() {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    print_note(&ENDED.lock().unwrap_or_else(PoisonError::into_inner));
    files::remove_unfinished();
    std::process::exit(console::INTERRUPTED.into());
}
