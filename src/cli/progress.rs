//! A progress line on the terminal for long runs.

use crate::clock::Instant;
use crate::picture::{PassPicture, counted, rounded, seconds};
use crate::run::{Run, reduction};
use crate::solver::SolverError;
use crossbeam_channel::RecvTimeoutError;
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
        self.show(|| line_of(run));
    }

    /// Makes cycles of a run, and shows meanwhile how far a pass that takes long has come.
    ///
    /// # Errors
    /// As [`Run::advance`].
    pub fn advance(&mut self, run: &mut Run) -> Result<(), SolverError> {
        let is_short =
            run.solver().pass_times().is_some_and(|last| last.seconds < AFTER.as_secs_f64());
        let followed = run.solver().pass_progress().zip(PassPicture::of(run.plan()));
        let Some((moment, pass)) = followed.filter(|_| self.terminal && !is_short) else {
            return run.advance(u64::MAX).map(drop);
        };
        let line = line_of(run);
        let (making, is_made) = crossbeam_channel::bounded::<()>(0);
        std::thread::scope(|scope| {
            let shown = move || {
                while is_made.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                    self.show(|| format!("{line} · {}", pass.moment_title(moment.moment())));
                }
            };
            let shown =
                std::thread::Builder::new().name("progress".to_owned()).spawn_scoped(scope, shown);
            let made = run.advance(u64::MAX).map(drop);
            // A line is not worth a run: without a thread there is none.
            drop((making, shown));
            made
        })
    }
}

/// Cycle, sweeps, relative residual and solver time of a run.
fn line_of(run: &Run) -> String {
    let known = run.history().records().rev().find_map(|record| record.residual);
    let residual = known.map_or(f64::NAN, |norms| norms.l2);
    format!(
        "{} · {} · ‖r‖₂/‖r₀‖₂ = {} · {}",
        counted(run.cycle(), "cycle"),
        counted(run.sweeps(), "sweep"),
        rounded(reduction(residual, run.start_residual())),
        seconds(run.seconds()),
    )
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(io::stderr(), "{CLEAR}");
        }
    }
}
