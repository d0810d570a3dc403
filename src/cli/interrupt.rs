//! Ctrl-C: a run stops at the end of its cycle, and a file is written whole or not at all.

use anyhow::anyhow;
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Nothing is under way that could be left half-done.
static MAY_EXIT: AtomicBool = AtomicBool::new(true);

/// Tells whether somebody wants to stop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interrupt(());

impl Interrupt {
    /// From now on Ctrl-C (and what else ends a program politely) is noted. A second one ends the
    /// program at once, unless it is saving.
    ///
    /// # Errors
    /// If the system does not allow to listen for it.
    pub fn listen() -> anyhow::Result<Self> {
        ctrlc::set_handler(|| {
            let again = INTERRUPTED.swap(true, Ordering::SeqCst);
            if again && MAY_EXIT.load(Ordering::SeqCst) {
                std::process::exit(super::console::INTERRUPTED.into());
            }
        })
        .map_err(|error| anyhow!("cannot listen for Ctrl-C: {error}"))?;
        Ok(Self(()))
    }

    /// Whether Ctrl-C was pressed.
    pub fn came(self) -> bool {
        INTERRUPTED.load(Ordering::SeqCst)
    }

    /// The same as a flag, for work that looks at one.
    pub fn flag(self) -> &'static AtomicBool {
        &INTERRUPTED
    }

    /// The same for work that asks now and then.
    pub fn halt(self) -> &'static (dyn Fn() -> bool + Sync) {
        &|| INTERRUPTED.load(Ordering::SeqCst)
    }

    /// Saves something, which is not left half-done.
    pub fn hold<T>(self, save: impl FnOnce() -> T) -> T {
        MAY_EXIT.store(false, Ordering::SeqCst);
        let saved = save();
        MAY_EXIT.store(true, Ordering::SeqCst);
        saved
    }
}
