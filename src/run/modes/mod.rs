//! What a cycle does to single modes, and to what is left in the end: measured with the solver of a run, and by theory.

mod damping;
mod error;
mod error_cycle;
mod rate;

pub use damping::{ModeDamping, ModeFactors};
pub use error::ModeError;
pub use rate::CycleRate;

use std::sync::OnceLock;

/// What was measured of a run's cycle. It depends on the matrix and on the method alone, and is measured at most once.
#[derive(Debug, Default)]
pub(crate) struct MeasuredCycle {
    /// The damping of a sweep and of a cycle, mode by mode.
    pub damping: OnceLock<Result<ModeDamping, ModeError>>,
    /// The spectral radius of a cycle.
    pub rate: OnceLock<Result<CycleRate, ModeError>>,
}
