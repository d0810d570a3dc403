//! Ctrl-C: a run stops at the end of its cycle; a file is written completely or not at all.

use anyhow::anyhow;
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether a second Ctrl-C may end the process at once: not while a file is being saved.
static MAY_EXIT: AtomicBool = AtomicBool::new(true);

/// Access to the interrupt flag; exists once the handler is installed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interrupt(());

impl Interrupt {
    /// Installs the handler for Ctrl-C and for requests to terminate (SIGTERM, SIGHUP). The first one
    /// sets the flag; a second one ends the process at once, unless a file is being saved.
    ///
    /// # Errors
    /// If the system does not allow a handler.
    pub fn install() -> anyhow::Result<Self> {
        ctrlc::set_handler(|| {
            let again = INTERRUPTED.swap(true, Ordering::SeqCst);
            if again && MAY_EXIT.load(Ordering::SeqCst) {
                std::process::exit(super::console::INTERRUPTED.into());
            }
        })
        .map_err(|error| anyhow!("cannot install a handler for Ctrl-C: {error}"))?;
        Ok(Self(()))
    }

    /// Whether an interrupt was requested.
    pub fn is_requested(self) -> bool {
        INTERRUPTED.load(Ordering::SeqCst)
    }

    /// The flag itself, for work that polls one.
    pub fn flag(self) -> &'static AtomicBool {
        &INTERRUPTED
    }

    /// The flag as a function, for work that polls one.
    pub fn should_stop(self) -> &'static (dyn Fn() -> bool + Sync) {
        &|| INTERRUPTED.load(Ordering::SeqCst)
    }

    /// Runs `save` without letting a second Ctrl-C end the process before it returns.
    pub fn protect<T>(self, save: impl FnOnce() -> T) -> T {
        MAY_EXIT.store(false, Ordering::SeqCst);
        let saved = save();
        MAY_EXIT.store(true, Ordering::SeqCst);
        saved
    }
}
