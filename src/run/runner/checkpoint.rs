//! An iterate on this machine, for a run whose solver may be lost with its GPU.

use crate::clock::Instant;
use crate::grid::{Field, memory};
use crate::solver::{Solver, SolverError};
use std::time::Duration;

/// An iterate is kept no more often than this: what is lost with a GPU is recomputed as fast as
/// another solver can.
const EVERY: Duration = Duration::from_secs(2);

/// Bytes that are copied from a GPU in a hundredth of that time: 2,800² points in some 20 ms. Larger iterates are kept as
/// much more rarely, so that copies take no larger part of a run.
const OFTEN: usize = 64_000_000;

/// The part of the memory that is free which an iterate may take; for a larger one the run is recomputed from its initial
/// guess.
const PART_OF_MEMORY: u64 = 4;

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
        // In numbers, since the time may be without end.
        let every = self.every.as_secs_f64() * rarity(bytes);
        if !may_be_lost || self.last.elapsed().as_secs_f64() < every {
            return Ok(());
        }
        self.last = Instant::now();
        if bytes <= OFTEN || bytes as u64 <= memory::available() / PART_OF_MEMORY {
            self.kept = Some((cycle, solver.solution()?));
        }
        Ok(())
    }

    /// The iterate that was kept, with its cycle.
    pub fn kept(&self) -> Option<(u64, &Field<f64>)> {
        self.kept.as_ref().map(|(cycle, iterate)| (*cycle, iterate))
    }
}

/// How many times as rarely as a small one an iterate of so many bytes is kept.
fn rarity(bytes: usize) -> f64 {
    (bytes as f64 / OFTEN as f64).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_iterates_are_kept_as_much_more_rarely() {
        assert_eq!(rarity(1000), 1.0);
        assert_eq!(rarity(OFTEN), 1.0);
        assert_eq!(rarity(32 * OFTEN), 32.0);
    }
}
