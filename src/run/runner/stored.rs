//! A run whose arrays lie in a store: a checkpoint after every pass.

use super::Run;
use super::store::{Progress, Stored};
use crate::solver::{CycleNorms, NormRequest, ResidualNorms, SolverError};

impl Run {
    /// Makes one pass, and keeps it. The residual of its iterate is found at once, since an end that shows later
    /// would be behind.
    pub(super) fn make_stored(&mut self) -> Result<(), SolverError> {
        let Some(Stored { residual: residual_before, .. }) = self.stored else { return Ok(()) };
        let batch = self.solver.cycles(1, NormRequest::NONE)?;
        let max_change = if self.plan.stop.compares_change() || self.finds_all_norms {
            self.solver.norms(NormRequest::MAX_CHANGE)?.max_change
        } else {
            None
        };
        let norms = CycleNorms { residual_before, max_change, error: None };
        let end = self.take_in(norms, batch.seconds, self.cycle + 1)?;
        self.keep()?;
        match end {
            Some(end) => self.end_here(end.outcome),
            None => Ok(()),
        }
    }

    /// Writes a checkpoint of the present iterate, once that is on the disk.
    pub(super) fn keep(&mut self) -> Result<(), SolverError> {
        self.solver.sync()?;
        let record = *self.history.latest();
        // That of the record may be b − A u, if the run was about to end there.
        let max = self.history.of(0).residual.and_then(|residual| residual.max);
        let start = ResidualNorms { l2: self.start, max };
        let Some(stored) = &mut self.stored else { return Ok(()) };
        let progress = Progress {
            passes: self.cycle,
            seconds: self.seconds,
            max_change: record.max_change,
            start,
            residual: stored.residual,
            growth: self.growth,
            proposals: self.proposals,
            circling: self.circling,
        };
        stored
            .store
            .keep(progress, &record)
            .map_err(|error| SolverError::Checkpoint(error.to_string()))
    }

    /// Takes the residual of the present iterate of a run in a store.
    pub(super) fn note_stored(&mut self, found: ResidualNorms) {
        if let Some(stored) = &mut self.stored {
            stored.residual = found;
            self.proposals.note(self.cycle, found.l2);
        }
    }
}
