//! What files need of earlier cycles: made again on the thread of whoever asks.

use super::remade::Remade;
use crate::problem::{self, ExactError};
use crate::run::archive::RunArchive;
use crate::run::experiment::FieldKind;
use crate::run::observation::ObservationRequest;
use crate::run::over_cycles::{RunSeries, SeriesRecorder, stride};
use crate::run::record_run::{Monitor, RecordAt, RecordError, Stage, record_run};
use crate::run::worker::{Part, Snapshot, SnapshotRequest};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

impl Snapshot {
    /// What a file needs of a cycle that a run has made: from the iterate before it that was kept or,
    /// for the diagram of a line, from the start. Of its curve there is what the run's plot shows.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn again(
        archive: &Arc<RunArchive>,
        cycle: u64,
        snapshot_request: &SnapshotRequest,
        cancel: &AtomicBool,
    ) -> Result<Self, RecordError> {
        let plan = archive.plan();
        if plan.problem.shape.dim() == 1 && snapshot_request.part == Part::All {
            let mut watch = Monitor { cancel, told: &mut |_: Stage<'_>| {} };
            let snapshots =
                record_run(plan, snapshot_request, RecordAt::Cycles(&[cycle]), &mut watch)?
                    .snapshots;
            let snapshot = snapshots.into_iter().next().ok_or(RecordError::Cancelled { cycle })?;
            return Ok(Self { plan: Arc::clone(plan), ..snapshot });
        }
        let mut again = Again::new(archive, snapshot_request, cancel)?;
        let over_cycles =
            again.over_cycles(cycle, snapshot_request.until.unwrap_or(cycle).max(cycle))?;
        again.go_to(cycle)?;
        let remade = &again.remade;
        let curve = archive.curve();
        let (before, after) = curve.split_at(curve.partition_point(|record| record.cycle < cycle));
        let here = [remade.norms()?];
        let after = after.iter().filter(|record| record.cycle > cycle);
        Ok(Self {
            history: Arc::new(before.iter().chain(&here).chain(after).copied().collect()),
            over_cycles,
            ..Self::of(remade.experiment(), snapshot_request)?
        })
    }

    /// The same with the numbers over the cycles that were wanted with it, which a worker does not
    /// tell: the run is made again from its start, or from iterates that were kept.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn with_numbers(
        self,
        archive: &Arc<RunArchive>,
        snapshot_request: &SnapshotRequest,
        cancel: &AtomicBool,
    ) -> Result<Self, RecordError> {
        if !snapshot_request.inquiry.is_over_cycles() {
            return Ok(self);
        }
        let over_cycles =
            Again::new(archive, snapshot_request, cancel)?.over_cycles(self.cycle, self.cycle)?;
        Ok(Self { over_cycles, ..self })
    }
}

/// A run that is made again for a file.
struct Again<'a> {
    remade: Remade,
    snapshot_request: &'a SnapshotRequest,
    view: ObservationRequest,
    cancel: &'a AtomicBool,
}

impl<'a> Again<'a> {
    fn new(
        archive: &Arc<RunArchive>,
        snapshot_request: &'a SnapshotRequest,
        cancel: &'a AtomicBool,
    ) -> Result<Self, RecordError> {
        if snapshot_request.field == FieldKind::Error && archive.exact().is_none() {
            match problem::exact(&archive.plan().problem, cancel) {
                Ok(exact) => archive.set_exact(&Arc::new(exact)),
                Err(ExactError::Cancelled) => return Err(RecordError::Cancelled { cycle: 0 }),
                Err(error) => return Err(RecordError::Exact(error)),
            }
        }
        let view =
            ObservationRequest { field: snapshot_request.field, ..ObservationRequest::default() };
        Ok(Self { remade: Remade::new(archive)?, snapshot_request, view, cancel })
    }

    fn go_to(&mut self, cycle: u64) -> Result<(), RecordError> {
        let goes_on = &mut |_: &Remade, _| !self.cancel.load(Ordering::Relaxed);
        match self.remade.go_to(cycle, &self.view, goes_on)? {
            true => Ok(()),
            false => Err(RecordError::Cancelled { cycle }),
        }
    }

    /// Numbers over the cycles up to the last, as [`record_run()`] takes them when it looks at `cycle`.
    fn over_cycles(&mut self, cycle: u64, last: u64) -> Result<Arc<RunSeries>, RecordError> {
        let inquiry = &self.snapshot_request.inquiry;
        let mut notes = SeriesRecorder::new(inquiry, self.snapshot_request.field);
        if !inquiry.is_over_cycles() {
            return Ok(Arc::default());
        }
        let step = stride(last);
        let mut cycles: Vec<_> = (0..=last / step).map(|n| n * step).chain([cycle, last]).collect();
        cycles.sort_unstable();
        cycles.dedup();
        for at in cycles {
            self.go_to(at)?;
            notes.take(self.remade.experiment(), at == cycle || at == last)?;
        }
        Ok(Arc::new(notes.told(last)))
    }
}
