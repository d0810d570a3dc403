//! Snapshots of earlier cycles, recomputed on the caller's thread.

use super::replayed_run::{ReplayedRun, Step};
use crate::pauses::{pause, without_pauses};
use crate::problem::{self, ExactError};
use crate::run::archive::RunArchive;
use crate::run::observe::FieldKind;
use crate::run::record::{
    Monitor, RecordError, RecordedCycles, RunSeries, SeriesRecorder, Snapshot, SnapshotRequest,
    Stage, record_run_with_pauses, stride,
};
use crate::stop_token::StopToken;
use std::sync::Arc;

impl Snapshot {
    /// A snapshot of a cycle that a run has made: from the iterate before it that was kept or, for the
    /// diagram of a 1D run, from the initial guess. Of its curve there is what the run's plot shows.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn again(
        archive: &Arc<RunArchive>,
        cycle: u64,
        request: &SnapshotRequest,
        cancel: &StopToken,
    ) -> Result<Self, RecordError> {
        without_pauses(Self::again_with_pauses(archive, cycle, request, cancel))
    }

    /// [`Snapshot::again`] with pauses.
    ///
    /// # Errors
    /// [`RecordError`].
    pub(crate) async fn again_with_pauses(
        archive: &Arc<RunArchive>,
        cycle: u64,
        request: &SnapshotRequest,
        cancel: &StopToken,
    ) -> Result<Self, RecordError> {
        let plan = archive.plan();
        if request.is_diagram(&plan.problem.shape) {
            let mut monitor = Monitor { cancel, on_progress: &mut |_: Stage<'_>| {} };
            let at = RecordedCycles::Each(&[cycle]);
            let recording = record_run_with_pauses(plan, request, at, &mut monitor).await?;
            let snapshot = recording.snapshots.into_iter().next();
            let snapshot = snapshot.ok_or(RecordError::Cancelled { cycle })?;
            return Ok(Self { plan: Arc::clone(plan), ..snapshot });
        }
        let mut remake = Remake::new(archive, request, cancel).await?;
        let series = remake.series(cycle, request.until.unwrap_or(cycle).max(cycle)).await?;
        remake.go_to(cycle).await?;
        let run = &remake.run;
        let curve = archive.curve();
        let (before, after) = curve.split_at(curve.partition_point(|record| record.cycle < cycle));
        let here = [run.norms()?];
        let after = after.iter().filter(|record| record.cycle > cycle);
        Ok(Self {
            history: Arc::new(before.iter().chain(&here).chain(after).copied().collect()),
            series,
            ..Self::of(run.experiment(), request)?
        })
    }

    /// The same with the series over the cycles that were requested with it, which a worker does not
    /// record: the run is recomputed from its initial guess, or from iterates that were kept.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn with_series(
        self,
        archive: &Arc<RunArchive>,
        request: &SnapshotRequest,
        cancel: &StopToken,
    ) -> Result<Self, RecordError> {
        without_pauses(self.with_series_and_pauses(archive, request, cancel))
    }

    /// [`Snapshot::with_series`] with pauses.
    ///
    /// # Errors
    /// [`RecordError`].
    pub(crate) async fn with_series_and_pauses(
        self,
        archive: &Arc<RunArchive>,
        request: &SnapshotRequest,
        cancel: &StopToken,
    ) -> Result<Self, RecordError> {
        if request.series.is_empty() {
            return Ok(self);
        }
        let mut remake = Remake::new(archive, request, cancel).await?;
        let series = remake.series(self.cycle(), self.cycle()).await?;
        Ok(Self { series, ..self })
    }
}

/// A run that is recomputed for a snapshot.
struct Remake<'a> {
    run: ReplayedRun,
    request: &'a SnapshotRequest,
    cancel: &'a StopToken,
}

impl<'a> Remake<'a> {
    async fn new(
        archive: &Arc<RunArchive>,
        request: &'a SnapshotRequest,
        cancel: &'a StopToken,
    ) -> Result<Self, RecordError> {
        if request.field() == FieldKind::Error && archive.exact().is_none() {
            match problem::exact_with_pauses(&archive.plan().problem, cancel).await {
                Ok(exact) => archive.set_exact(&Arc::new(exact)),
                Err(ExactError::Cancelled) => return Err(RecordError::Cancelled { cycle: 0 }),
                Err(error) => return Err(RecordError::Exact(error)),
            }
        }
        Ok(Self { run: ReplayedRun::new(archive, cancel)?, request, cancel })
    }

    async fn go_to(&mut self, cycle: u64) -> Result<(), RecordError> {
        let field = self.request.field();
        let mut step = || self.run.step_to(cycle, field);
        while step().map_err(|error| RecordError::after(cycle, error))? != Step::There {
            if self.cancel.is_due() {
                return Err(RecordError::Cancelled { cycle });
            }
            pause().await;
        }
        Ok(())
    }

    /// Series over the cycles up to `last`, as [`record_run`](crate::run::record::record_run()) records them with a snapshot of `cycle`.
    async fn series(&mut self, cycle: u64, last: u64) -> Result<Arc<RunSeries>, RecordError> {
        let request = &self.request.series;
        let mut series = SeriesRecorder::new(request, self.request.field());
        if request.is_empty() {
            return Ok(Arc::default());
        }
        let step = stride(last);
        let mut cycles: Vec<_> = (0..=last / step).map(|n| n * step).chain([cycle, last]).collect();
        cycles.sort_unstable();
        cycles.dedup();
        for at in cycles {
            self.go_to(at).await?;
            series.take(self.run.experiment(), at == cycle || at == last)?;
        }
        Ok(Arc::new(series.finish(last)))
    }
}
