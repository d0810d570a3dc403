//! A line that says how far a long solve is, for a person at a terminal.

use crate::picture::{counted, rounded, seconds};
use crate::run::{Run, reduction};
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// Shorter solves need no line.
const AFTER: Duration = Duration::from_millis(500);

/// The line changes no faster than this.
const EVERY: Duration = Duration::from_millis(100);

/// Back to the start of the line, and clear it (ECMA-48: carriage return, erase in line).
const CLEAR: &str = "\r\x1b[2K";

/// The line; it vanishes when it is dropped.
pub(super) struct Progress {
    terminal: bool,
    next: Instant,
    shown: bool,
}

impl Progress {
    /// No line yet. A pipe never gets one.
    pub fn start() -> Self {
        let terminal = io::stderr().is_terminal();
        Self { terminal, next: Instant::now() + AFTER, shown: false }
    }

    /// Shows a new line, if it is time for one.
    pub fn show(&mut self, line: impl FnOnce() -> String) {
        if !self.terminal || Instant::now() < self.next {
            return;
        }
        self.next = Instant::now() + EVERY;
        self.shown = true;
        let _ = write!(io::stderr(), "{CLEAR}{}", line());
        let _ = io::stderr().flush();
    }

    /// Shows how far a run is.
    pub fn show_run(&mut self, run: &Run) {
        self.show(|| {
            let known = run.history().records().rev().find_map(|record| record.residual);
            let residual = known.map_or(f64::NAN, |norms| norms.l2);
            format!(
                "{} · {} · ‖r‖/‖r₀‖ = {} · {}",
                counted(run.cycle(), "cycle"),
                counted(run.sweeps(), "sweep"),
                rounded(reduction(residual, run.start_residual())),
                seconds(run.seconds()),
            )
        });
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(io::stderr(), "{CLEAR}");
        }
    }
}
