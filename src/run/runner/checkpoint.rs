//! An iterate on this machine, for a run whose solver may be lost with its GPU.

use crate::clock::Instant;
use crate::grid::Field;
use crate::solver::{Solver, SolverError};
use std::time::Duration;

/// An iterate is kept no more often than this: what is lost with a GPU is recomputed as fast as
/// another solver can.
const EVERY: Duration = Duration::from_secs(2);

/// The largest iterate that is kept, in bytes: 2,800² points. Copying it from a GPU takes some
/// 20 ms, a hundredth of the time; for a larger one the run is recomputed from its initial guess.
const LARGEST: usize = 64_000_000;

/// The newest iterate that was kept.
pub(super) struct Checkpoint {
    pub every: Duration,
    last: Instant,
    kept: Option<(u64, Field<f64>)>,
}

impl Checkpoint {
    /// None yet.
    pub fn new() -> Self {
        Self { every: EVERY, last: Instant::now(), kept: None }
    }

    /// Keeps the iterate of a cycle, if its solver may be lost, and if it is time.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub fn keep(
        &mut self,
        cycle: u64,
        solver: &dyn Solver,
        bytes: usize,
    ) -> Result<(), SolverError> {
        let may_be_lost = solver.device().is_some();
        if may_be_lost && bytes <= LARGEST && self.last.elapsed() >= self.every {
            self.kept = Some((cycle, solver.solution()?));
            self.last = Instant::now();
        }
        Ok(())
    }

    /// The iterate that was kept, with its cycle.
    pub fn kept(&self) -> Option<(u64, &Field<f64>)> {
        self.kept.as_ref().map(|(cycle, iterate)| (*cycle, iterate))
    }
}
