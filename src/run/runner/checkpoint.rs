//! An iterate on this machine, for a run whose solver may be lost with its GPU.

use crate::clock::Instant;
use crate::grid::{Field, memory};
use crate::solver::{Solver, SolverError};
use std::time::Duration;

/// An iterate is kept no more often than this: what is lost with a GPU is recomputed as fast as
/// another solver can.
const EVERY: Duration = Duration::from_secs(2);

/// What copies may take of the time of a run: where one takes longer, they are made more rarely.
const SHARE: f64 = 0.01;

/// Bytes of an iterate that is kept whatever memory is free: 2,800² points, which take some 20 ms.
const SMALL: usize = 64_000_000;
const SMALL_TAKES: Duration = Duration::from_millis(20);

/// The part of the memory that is free which an iterate may take; for a larger one the run is recomputed from its initial
/// guess.
const PART_OF_MEMORY: u64 = 4;

/// The newest iterate that was kept.
pub(super) struct Checkpoint {
    pub every: Duration,
    last: Instant,
    /// How long the last copy took.
    took: Duration,
    kept: Option<(u64, Field<f64>)>,
}

impl Checkpoint {
    /// None yet.
    pub fn new() -> Self {
        Self { every: EVERY, last: Instant::now(), took: Duration::ZERO, kept: None }
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
        let expected = SMALL_TAKES.mul_f64(bytes as f64 / SMALL as f64);
        // In numbers, since the time may be without end.
        let every = self.every.as_secs_f64() * rarity(self.took.max(expected));
        if !may_be_lost || self.last.elapsed().as_secs_f64() < every {
            return Ok(());
        }
        let begin = Instant::now();
        if bytes <= SMALL || bytes as u64 <= memory::available() / PART_OF_MEMORY {
            self.kept = Some((cycle, solver.solution()?));
        }
        (self.last, self.took) = (Instant::now(), begin.elapsed());
        Ok(())
    }

    /// The iterate that was kept, with its cycle.
    pub fn kept(&self) -> Option<(u64, &Field<f64>)> {
        self.kept.as_ref().map(|(cycle, iterate)| (*cycle, iterate))
    }
}

/// How many times as rarely as one that takes no time a copy is made that takes so long.
fn rarity(took: Duration) -> f64 {
    (took.div_duration_f64(EVERY) / SHARE).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_take_a_hundredth_of_the_time() {
        assert_eq!([0, 20].map(|ms| rarity(Duration::from_millis(ms))), [1.0, 1.0]);
        assert_eq!(rarity(Duration::from_millis(200)), 10.0);
    }
}
