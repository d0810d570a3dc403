//! A run at one of its cycles, as figures and files need it.

use super::run_series::{RunSeries, SeriesRequest};
use super::times::RunTimes;
use crate::grid::Shape;
use crate::run::history::{History, Record};
use crate::run::observe::{
    AccelerationCurve, Experiment, FieldKind, MapRequest, Observation, ObservationRequest, PassLog,
    Picture, VolumeSamples,
};
use crate::run::plan::Plan;
use crate::solver::{Acceleration, Samples, SolverError};
use crate::stop_token::StopToken;
use std::sync::Arc;

/// A request for a snapshot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SnapshotRequest {
    /// Its number.
    pub id: u64,
    /// What is observed of the iterate.
    pub observation: ObservationRequest,
    /// What is recorded over the cycles. A worker does not record it: the run is recomputed for it.
    pub series: SeriesRequest,
    /// The last cycle of a run that is made for this, for its curve; at least the one that is observed.
    pub until: Option<u64>,
    /// How many sweeps of Jacobi's iteration are made alongside such a run, for their curve; `u64::MAX`
    /// for as many as the run makes.
    pub classic: Option<u64>,
    /// The same of each acceleration of Jacobi's iteration, in the order of [`Acceleration::ALL`]. They stop earlier
    /// where they meet the tolerance of such a run.
    pub accelerated: [Option<u64>; Acceleration::ALL.len()],
    /// Whether the norm of the error is recorded, whichever field is observed.
    pub error: bool,
}

/// A run at one of its cycles.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The number of the request.
    pub id: u64,
    /// The run.
    pub plan: Arc<Plan>,
    /// The iterate.
    pub observation: Arc<Observation>,
    /// Series over the cycles.
    pub series: Arc<RunSeries>,
    /// All norms so far.
    pub history: Arc<History>,
    /// Those of Jacobi's iteration on the same system, if it runs alongside.
    pub reference: Arc<[Record]>,
    /// Those of its accelerations that run alongside.
    pub accelerated: Vec<AccelerationCurve>,
    /// ‖r₀‖₂.
    pub start_residual: f64,
    /// What the run took so far, by stages.
    pub times: RunTimes,
    /// The passes that were timed, with a method that streams.
    pub passes: Arc<PassLog>,
}

impl SnapshotRequest {
    /// The field that is observed.
    pub fn field(&self) -> FieldKind {
        self.observation.field
    }

    /// Whether the exact solution must be known.
    pub fn needs_exact(&self) -> bool {
        self.error || self.field() == FieldKind::Error
    }

    /// Measures with pauses what is wanted of a run's cycle, which does not depend on how far the run is, and returns
    /// whether the plan now has that, or why it cannot be measured: not if it was cancelled. Takes up to some seconds.
    pub(crate) async fn measure(&self, plan: &Plan, cancel: &StopToken) -> bool {
        let ObservationRequest { damping, rate, .. } = self.observation;
        if damping {
            plan.measure_damping_with_pauses(cancel).await;
        }
        if rate {
            plan.find_rate_with_pauses(cancel).await;
        }
        (!damping || plan.damping().is_some()) && (!rate || plan.rate().is_some())
    }

    /// The most samples across and down that are kept of each snapshot on this grid.
    pub fn size(&self, shape: &Shape) -> [usize; 2] {
        let ObservationRequest { map, profile, volume, frequencies, rows, .. } = &self.observation;
        if let Some([across, down]) = *rows {
            return [across.saturating_mul(down).min(shape.points()), 1];
        }
        if let (&[nx, ny, nz], Some(most)) = (shape.axes(), *volume) {
            let ([across, down, planes], _) = VolumeSamples::size([nx, ny, nz], [most; 3]);
            return [across, down * planes];
        }
        match (map, profile, *frequencies) {
            (Some(map), ..) => map.window(shape).size(),
            (None, Some(profile), _) => [profile.line.points(&shape.shown(profile.slice)).len(), 1],
            (None, None, Some(wanted)) => MapRequest::whole(wanted.most).window(shape).size(),
            (None, None, None) => [0, 0],
        }
    }

    /// Whether it shows the space–time diagram of a 1D run, which has all cycles.
    pub(in crate::run) fn is_diagram(&self, shape: &Shape) -> bool {
        let is_diagram = self.observation.map.as_ref().is_some_and(|map| !map.is_of_iterate);
        is_diagram && shape.dim() == 1
    }

    /// Whether it needs something of single iterates, beside the map.
    pub(super) fn is_of_iterates(&self) -> bool {
        let ObservationRequest { profile, statistics, inside, whole, frequencies, rows, .. } =
            &self.observation;
        profile.is_some()
            || *statistics
            || inside.is_some()
            || whole.is_some()
            || frequencies.is_some()
            || rows.is_some()
    }
}

impl Snapshot {
    /// A snapshot of an experiment as it is now, without series.
    ///
    /// # Errors
    /// [`SolverError`] if its solver fails.
    pub fn of(experiment: &Experiment, request: &SnapshotRequest) -> Result<Self, SolverError> {
        let observation = Arc::new(experiment.observe(&request.observation)?);
        Ok(Self::with(experiment, request, observation))
    }

    /// The same with what was observed before.
    pub(super) fn with(
        experiment: &Experiment,
        request: &SnapshotRequest,
        observation: Arc<Observation>,
    ) -> Self {
        let run = experiment.run();
        let known = |record: &&Record| request.classic.is_none_or(|last| record.cycle <= last);
        Self {
            id: request.id,
            plan: Arc::clone(run.plan()),
            observation,
            series: Arc::default(),
            history: Arc::new(run.history().clone()),
            reference: experiment.classic().map_or_else(Arc::default, |classic| {
                classic.history().records().filter(known).copied().collect()
            }),
            accelerated: experiment.acceleration_curves(|acceleration, made| {
                let last = request.accelerated[acceleration as usize].unwrap_or(u64::MAX);
                let known = |record: &&Record| record.cycle <= last;
                made.history().records().filter(known).copied().collect()
            }),
            start_residual: run.start_residual(),
            times: RunTimes::of(run),
            passes: Arc::clone(experiment.passes()),
        }
    }

    /// Cycles that made the iterate.
    pub fn cycle(&self) -> u64 {
        self.observation.cycle
    }

    /// The field that was observed.
    pub fn field(&self) -> FieldKind {
        self.observation.field
    }

    /// The map of the field, or the space–time diagram; empty where none was requested.
    pub fn map(&self) -> &Picture {
        const EMPTY: &Picture =
            &Picture { samples: NO_SAMPLES, cycles_per_row: None, is_projection: false };
        self.observation.picture.as_deref().unwrap_or(EMPTY)
    }

    /// The field along the line; empty where none was requested.
    pub fn profile(&self) -> &Samples {
        const EMPTY: &Samples = &NO_SAMPLES;
        self.observation.profiles.first().map_or(EMPTY, |profile| &profile.samples)
    }
}

const NO_SAMPLES: Samples = Samples {
    columns: 0..0,
    rows: 0..0,
    slice: None,
    block: [1, 1],
    size: [0, 0],
    values: Vec::new(),
};
