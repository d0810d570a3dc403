//! What a cycle does to single modes, and to what is left in the end: measured with the solver of a run, and by theory.

mod damping;
mod error;
mod error_cycle;
mod rate;

pub use damping::{ModeDamping, ModeFactors};
pub use error::ModeError;
pub use rate::CycleRate;

use crate::problem::Problem;
use crate::problem::matrix::SpectralRadius;
use crate::run::host::Turn;
use crate::solver::Method;
use crate::stop_token::StopToken;
use damping::DampingSteps;
use rate::RateSteps;
use std::sync::{Arc, OnceLock};

/// What was measured of a run's cycle. It depends on the matrix and on the method alone, and is measured at most once.
#[derive(Debug, Default)]
pub(crate) struct MeasuredCycle {
    /// The damping of a sweep and of a cycle, mode by mode.
    pub damping: OnceLock<Result<ModeDamping, ModeError>>,
    /// The spectral radius of a cycle.
    pub rate: OnceLock<Result<CycleRate, ModeError>>,
}

/// A measurement in short steps.
trait Steps {
    type Found;
    /// Takes a step; returns what was found, at the end.
    fn step(&mut self) -> Result<Option<Self::Found>, ModeError>;
}

/// The first step sets up what takes the others.
fn next<S: Steps>(
    steps: &mut Option<S>,
    begin: impl FnOnce() -> Result<S, ModeError>,
) -> Result<Option<S::Found>, ModeError> {
    match steps {
        Some(steps) => steps.step(),
        None => {
            *steps = Some(begin()?);
            Ok(None)
        }
    }
}

/// Measures in turns the damping by mode of a cycle, unless that was done, or is cancelled.
pub(super) fn measure_damping(
    problem: Arc<Problem>,
    method: Method,
    measured: Arc<MeasuredCycle>,
    cancel: StopToken,
) -> impl FnMut() -> Turn {
    let mut steps = None;
    move || {
        if measured.damping.get().is_some() || cancel.is_due() {
            return Turn::End;
        }
        let found = next(&mut steps, || DampingSteps::new(&problem, &method));
        keep(found, &measured.damping)
    }
}

/// Finds in turns the asymptotic rate of a cycle, unless that was done, or is cancelled. `of_sweep` is the spectral radius
/// of Jacobi's iteration, if it is known.
pub(super) fn find_rate(
    problem: Arc<Problem>,
    method: Method,
    measured: Arc<MeasuredCycle>,
    of_sweep: impl Fn() -> Option<SpectralRadius>,
    cancel: StopToken,
) -> impl FnMut() -> Turn {
    let mut steps = None;
    move || {
        if measured.rate.get().is_some() || cancel.is_due() {
            return Turn::End;
        }
        let found = next(&mut steps, || RateSteps::new(&problem, &method, of_sweep()));
        keep(found, &measured.rate)
    }
}

/// Keeps what was found, and returns what follows.
fn keep<T>(found: Result<Option<T>, ModeError>, place: &OnceLock<Result<T, ModeError>>) -> Turn {
    let Some(found) = found.transpose() else { return Turn::Again };
    // It may have been found elsewhere meanwhile.
    _ = place.set(found);
    Turn::End
}

#[cfg(test)]
fn take_all<S: Steps>(begun: Result<S, ModeError>) -> Result<S::Found, ModeError> {
    let mut steps = begun?;
    loop {
        if let Some(found) = steps.step()? {
            return Ok(found);
        }
    }
}
