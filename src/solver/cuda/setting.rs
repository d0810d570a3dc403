//! What a kernel is to run, and what one does not accept of it.

use crate::grid::{Precision, Shape};
use crate::solver::Method;
#[cfg(feature = "cuda")]
use crate::solver::{Kernel, SolverError};

/// What a kernel must be able to run.
pub(super) struct Setting<'a> {
    pub method: &'a Method,
    #[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "no kernel is built"))]
    pub precision: Precision,
    /// The grid.
    #[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "no kernel is built"))]
    pub shape: &'a Shape,
    /// Bytes of shared memory that a block may have.
    #[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "no kernel is built"))]
    pub shared_bytes: usize,
    /// Whether every point of the grid has a row of its own.
    pub is_per_point: bool,
    /// Threads of a block of kernel `classic`; `None` for the fastest.
    #[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "no kernel is built"))]
    pub block_size: Option<u32>,
}

/// What a kernel does not accept of a setting, and what accepts it instead.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused {
    /// Such as `tile 96x96`.
    pub setting: String,
    /// Such as `kernel shared`.
    pub instead: String,
}

#[cfg(feature = "cuda")]
impl Refused {
    /// The error of a solver where `kernel` was chosen.
    pub(super) fn error(self, kernel: Kernel) -> SolverError {
        let Self { setting, instead } = self;
        SolverError::Kernel { kernel, setting, instead }
    }
}

/// What to choose where no kernel accepts the setting.
pub(super) const NO_KERNEL: &str = "a smaller tile or backend cpu";

/// What no kernel accepts of a [`Schedule`](crate::solver::Schedule): blocks of threads run in any order.
pub(super) const SCHEDULES: &str = "an order of tiles or points (waves, warps)";
