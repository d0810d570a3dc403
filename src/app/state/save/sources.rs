//! What a figure is drawn from: what the worker captured of the newest cycle, an earlier one in its
//! place where the window shows an earlier cycle, and pinned runs beside it.

use crate::app::state::compare::{AtEqual, ShownCycle};
use crate::app::state::pins::Pin;
use crate::app::state::session::Session;
use crate::picture::ViewSpec;
use crate::run::{Plan, RecordError, Report, RunArchive, Snapshot, SnapshotRequest};
use crate::solver::Acceleration;
use crate::stop_token::StopToken;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Which cycles of which runs a figure shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sources {
    /// What is kept of the run, once there is one.
    archive: Option<Arc<RunArchive>>,
    /// The earlier cycle that is shown in the place of the newest.
    back: Option<u64>,
    /// The pinned runs beside the run …
    pub others: Vec<Pin>,
    /// … and which of their cycles.
    at_equal: AtEqual,
    /// Whether the curve of Jacobi's iteration is drawn beside that of the run.
    has_reference: bool,
    /// The accelerations of it whose curves are drawn, too.
    accelerations: BTreeSet<Acceleration>,
}

impl Sources {
    /// The sources of `view` while the window shows this, with pinned runs if some are given. What is
    /// drawn over the cycles, and the space–time diagram, show all cycles, whichever the window
    /// shows.
    pub fn of(
        session: &Session,
        report: Option<&Report>,
        view: &ViewSpec,
        others: Vec<Pin>,
    ) -> Self {
        let report = report.filter(|report| report.epoch == session.epoch);
        let shows_all = view.kind.is_over_cycles();
        let back = report.filter(|report| !shows_all && !is_diagram(report, view));
        let ends = view.kind.shows_ends();
        Self {
            archive: report.map(|report| Arc::clone(&report.archive)),
            back: back.and_then(|report| session.travel.earlier(report.latest.cycle)),
            others,
            at_equal: if ends { AtEqual::End } else { session.view.compare.at_equal },
            has_reference: session.view.reference,
            accelerations: session.view.accelerations.clone(),
        }
    }

    /// How many sweeps of Jacobi's iteration are made alongside the run where that is repeated: as many
    /// as it makes, if any do.
    pub fn classic(&self, view: &ViewSpec) -> Option<u64> {
        (self.has_reference && view.uses().reference).then_some(u64::MAX)
    }

    /// The same of its accelerations, in the order of [`Acceleration::ALL`].
    pub fn accelerated(&self, view: &ViewSpec) -> [Option<u64>; Acceleration::ALL.len()] {
        let is_used = view.uses().reference;
        Acceleration::ALL
            .map(|it| (is_used && self.accelerations.contains(&it)).then_some(u64::MAX))
    }

    /// The same at this cycle, recomputed, in place of the one that the window shows.
    pub fn at(&self, cycle: u64) -> Self {
        Self { back: Some(cycle), ..self.clone() }
    }

    /// Takes what the figure shows: of the run, and of the pinned ones after it. Pauses where a run is recomputed.
    ///
    /// # Errors
    /// A sentence that says why it cannot be drawn or recomputed.
    pub(crate) async fn snapshots(
        &self,
        newest: &Snapshot,
        snapshot_request: &SnapshotRequest,
        view: &ViewSpec,
        cancel: &StopToken,
    ) -> Result<Vec<Snapshot>, String> {
        let shape = &newest.plan.problem.shape;
        let shapes: Vec<_> =
            self.others.iter().map(|pin| pin.archive.plan().problem.shape).collect();
        view.check_geometry(newest.plan.geometry().as_ref())
            .and_then(|()| view.check(shape, &shapes))
            .map_err(|refused| refused.to_string())?;
        let own = self.own(newest, snapshot_request, view, cancel).await?;
        let records: Vec<_> = own.history.records().copied().collect();
        let each = own.plan.sweeps_per_cycle();
        let shown = ShownCycle::of(own.cycle(), each, &records, own.start_residual);
        let mut snapshots = vec![own];
        for pin in &self.others {
            let cycle = self.at_equal.cycle(&shown, pin);
            let until = Some(pin.latest.cycle).filter(|_| view.shows_ends());
            let snapshot_request = view.snapshot_request_beside(snapshot_request.id, shape, until);
            let again =
                Snapshot::again_with_pauses(&pin.archive, cycle, &snapshot_request, cancel).await;
            snapshots.push(again.map_err(|error| error.to_string())?);
        }
        let seen: Vec<_> = snapshots.iter().collect();
        view.check_observed(&seen).map_err(|refused| refused.to_string())?;
        Ok(snapshots)
    }

    /// Whether they belong to the run of a snapshot, which may have been replaced since it was taken.
    pub fn are_of(&self, snapshot: &Snapshot) -> bool {
        let is_same = |run: &Plan| run.spec.is_same_run(&snapshot.plan.spec);
        self.archive.as_ref().is_none_or(|archive| is_same(archive.plan()))
    }

    /// Takes what the figure shows of the run itself.
    async fn own(
        &self,
        newest: &Snapshot,
        snapshot_request: &SnapshotRequest,
        view: &ViewSpec,
        cancel: &StopToken,
    ) -> Result<Snapshot, String> {
        let made = match (&self.archive, self.back) {
            (Some(archive), Some(cycle)) => {
                let goes_on = view.goes_on(newest.plan.problem.shape.dim());
                let until = Some(newest.cycle()).filter(|_| goes_on);
                let snapshot_request = SnapshotRequest { until, ..snapshot_request.clone() };
                let again =
                    Snapshot::again_with_pauses(archive, cycle, &snapshot_request, cancel).await;
                again.map(|again| Snapshot {
                    plan: Arc::clone(&newest.plan),
                    history: Arc::clone(&newest.history),
                    reference: newest.reference.clone(),
                    accelerated: newest.accelerated.clone(),
                    passes: Arc::clone(&newest.passes),
                    ..again
                })
            }
            (Some(archive), None) => {
                newest.clone().with_series_and_pauses(archive, snapshot_request, cancel).await
            }
            (None, _) => Ok(newest.clone()),
        };
        let mut made = made.map_err(|error| error.to_string())?;
        if !snapshot_request.measure(&made.plan, cancel).await {
            return Err(RecordError::Cancelled { cycle: made.cycle() }.to_string());
        }
        if !self.has_reference {
            made.reference = Arc::default();
        }
        made.accelerated.retain(|curve| self.accelerations.contains(&curve.acceleration));
        Ok(made)
    }
}

fn is_diagram(report: &Report, view: &ViewSpec) -> bool {
    report.plan.problem.shape.dim() == 1 && view.kind.is_map()
}
