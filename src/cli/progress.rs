//! A progress line on the terminal for long runs.

use crate::clock::Instant;
use crate::picture::{counted, rounded, seconds};
use crate::run::{Run, reduction};
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

/// The line appears after this time; shorter runs show none.
const AFTER: Duration = Duration::from_millis(500);

/// Shortest time between two updates of the line.
const EVERY: Duration = Duration::from_millis(100);

/// Carriage return and "erase in line" (ECMA-48).
const CLEAR: &str = "\r\x1b[2K";

/// The progress line on stderr; dropping it clears it.
pub(super) struct Progress {
    terminal: bool,
    next: Instant,
    shown: bool,
}

impl Progress {
    /// Starts without a line. Only a terminal ever shows one.
    pub fn start() -> Self {
        let terminal = io::stderr().is_terminal();
        Self { terminal, next: Instant::now() + AFTER, shown: false }
    }

    /// Shows nothing.
    pub fn silent() -> Self {
        Self { terminal: false, ..Self::start() }
    }

    /// Replaces the line, if enough time has passed.
    pub fn show(&mut self, line: impl FnOnce() -> String) {
        if !self.terminal || Instant::now() < self.next {
            return;
        }
        self.next = Instant::now() + EVERY;
        self.shown = true;
        let _ = write!(io::stderr(), "{CLEAR}{}", line());
        let _ = io::stderr().flush();
    }

    /// Shows cycle, sweeps, relative residual and solver time of a run.
    pub fn show_run(&mut self, run: &Run) {
        self.show(|| {
            let known = run.history().records().rev().find_map(|record| record.residual);
            let residual = known.map_or(f64::NAN, |norms| norms.l2);
            format!(
                "{} · {} · ‖r‖₂/‖r₀‖₂ = {} · {}",
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
