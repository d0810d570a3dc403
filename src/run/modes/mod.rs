//! What a cycle does to single modes, and to what is left in the end: measured with the solver of a run, and by theory.

mod damping;
mod error;
mod error_cycle;
mod rate;

pub use damping::{ModeDamping, ModeFactors};
pub use error::ModeError;
pub use rate::CycleRate;

use crate::pauses::pause;
use crate::problem::Problem;
use crate::problem::matrix::SpectralRadius;
use crate::solver::Method;
use crate::stop_token::StopToken;
use damping::DampingSteps;
use rate::RateSteps;
use std::sync::OnceLock;

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

/// Measures with pauses the damping by mode of a cycle, unless that was done, or is cancelled.
pub(super) async fn measure_damping(
    problem: &Problem,
    method: &Method,
    measured: &MeasuredCycle,
    cancel: &StopToken,
) {
    let begin = async || DampingSteps::new(problem, method);
    measure(begin, &measured.damping, cancel).await;
}

/// Finds with pauses the asymptotic rate of a cycle, unless that was done, or is cancelled. `of_sweep` finds the spectral
/// radius of Jacobi's iteration, if it can.
pub(super) async fn find_rate(
    problem: &Problem,
    method: &Method,
    measured: &MeasuredCycle,
    of_sweep: impl AsyncFnOnce() -> Option<SpectralRadius>,
    cancel: &StopToken,
) {
    let begin = async || RateSteps::new(problem, method, of_sweep().await);
    measure(begin, &measured.rate, cancel).await;
}

/// Measures step by step, unless it is known, or is cancelled.
async fn measure<S: Steps>(
    begin: impl AsyncFnOnce() -> Result<S, ModeError>,
    known: &OnceLock<Result<S::Found, ModeError>>,
    cancel: &StopToken,
) {
    if known.get().is_some() || cancel.is_due() {
        return;
    }
    let found = async {
        let mut steps = begin().await?;
        loop {
            pause().await;
            if cancel.is_due() {
                return Ok(None);
            }
            if let Some(found) = steps.step()? {
                return Ok(Some(found));
            }
        }
    };
    if let Some(found) = found.await.transpose() {
        // It may have been found elsewhere meanwhile.
        _ = known.set(found);
    }
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
