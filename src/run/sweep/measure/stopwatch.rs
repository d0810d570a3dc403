//! Clocks: the solver's own, and time for which the program's threads held a core.

use crate::solver::{NormRequest, Solver, SolverError};

/// Seconds of cycles in a repeat: far more than the resolution of the clock.
pub const REPEAT: f64 = 4e-3;

/// Makes cycles for at least `seconds`, and returns the mean seconds per cycle by the solver's clock.
///
/// # Errors
/// [`SolverError`] if the solver fails.
pub fn seconds_per_cycle(solver: &mut dyn Solver, seconds: f64) -> Result<f64, SolverError> {
    let (mut spent, mut cycles) = (0.0, 0_u64);
    while spent < seconds {
        let batch = solver.cycles(u64::MAX, NormRequest::RESIDUAL_L2)?;
        spent += batch.seconds;
        cycles += batch.cycles;
    }
    Ok(spent / cycles as f64)
}

/// Seconds that `work` measured, scaled by the share of the time in which the program's threads ran
/// instead of waiting for a core. Unscaled where the system does not report that.
///
/// # Errors
/// Those of the work.
pub fn without_waiting(
    work: impl FnOnce() -> Result<f64, SolverError>,
) -> Result<f64, SolverError> {
    let before = scheduled();
    let seconds = work()?;
    let share = before.zip(scheduled()).map(|([ran_before, waited_before], [ran, waited])| {
        let (ran, waited) = (ran - ran_before, waited - waited_before);
        ran / (ran + waited)
    });
    // The times of a thread that ended meanwhile are gone, so the share can be anything.
    let share = share.filter(|share| *share > 0.0 && *share <= 1.0);
    Ok(seconds * share.unwrap_or(1.0))
}

/// Nanoseconds for which the program's threads ran and waited for a core so far; `None` where the
/// system does not report them. Linux does (`/proc/self/task/*/schedstat`).
fn scheduled() -> Option<[f64; 2]> {
    let mut sums = [0.0; 2];
    for thread in std::fs::read_dir("/proc/self/task").ok()? {
        let statistics = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        let mut numbers = statistics.split_whitespace().map(str::parse::<f64>);
        for sum in &mut sums {
            *sum += numbers.next()?.ok()?;
        }
    }
    Some(sums)
}
