//! What is said between a worker and whoever watches it.

use crate::grid::{Field, Shape};
use crate::run::archive::RunArchive;
use crate::run::cut::CutLine;
use crate::run::experiment::{Experiment, FieldKind, Picture};
use crate::run::findings::{Findings, Inquiry};
use crate::run::history::{History, Largest, Record};
use crate::run::observation::{Observation, ObservationRequest};
use crate::run::plan::Plan;
use crate::run::run_series::{ProbeSeries, RunSeries};
use crate::run::runner::Outcome;
use crate::run::series::CycleValue;
use crate::run::spec::RunSpec;
use crate::solver::{Footprint, Kernel, MeanTile, Samples, SolverError, Window};
use std::sync::Arc;

/// All that is wanted of a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkerRequest {
    /// The run. A new number starts it from cycle 0.
    pub epoch: u64,
    /// Its description. In one epoch it may change in where and how the run is made
    /// ([`RunSpec::is_same_run`]): then the run goes on there.
    pub spec: Arc<RunSpec>,
    /// Whether cycles are to be made on and on.
    pub running: bool,
    /// Single cycles asked for since the epoch began; each is made once.
    pub steps: u64,
    /// Cycles a second at the most; `None` for as fast as it goes.
    pub pace: Option<f64>,
    /// What is looked at.
    pub view: ObservationRequest,
    /// Bytes that may be taken to keep iterates, so that any cycle can be seen again.
    pub memory: usize,
    /// What files need, in the order in which it was asked for; each number is answered once.
    pub snapshot_requests: Vec<SnapshotRequest>,
}

/// A request for what a file needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SnapshotRequest {
    /// Its number.
    pub id: u64,
    /// The field to sample.
    pub field: FieldKind,
    /// What of it is sampled.
    pub part: Part,
    /// What else of it is, for an arrangement of figures.
    pub more: Vec<Part>,
    /// Samples across and down at the most.
    pub most: [usize; 2],
    /// What is to be found out beside them. A worker tells it of the iterate alone: numbers over the
    /// cycles are made again by whoever needs them.
    pub inquiry: Inquiry,
    /// Whether the iterate itself is wanted too.
    pub solution: bool,
    /// How far a run is made that is made for this, for its curve, after the cycle that is looked at.
    pub until: Option<u64>,
    /// How many sweeps of Jacobi's iteration are made beside such a run, for their curve; `u64::MAX`
    /// for as many as the run makes.
    pub classic: Option<u64>,
}

/// What a file needs.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The number of the request.
    pub id: u64,
    /// The run.
    pub plan: Arc<Plan>,
    /// Cycles made.
    pub cycle: u64,
    /// The field.
    pub picture: Arc<Picture>,
    /// What else of it was asked for, in the same order.
    pub more: Arc<[Arc<Picture>]>,
    /// Which field it is.
    pub field: FieldKind,
    /// What was found out beside it.
    pub findings: Arc<Findings>,
    /// Numbers over the cycles.
    pub over_cycles: Arc<RunSeries>,
    /// All norms so far.
    pub history: Arc<History>,
    /// Those of Jacobi's iteration on the same system, if it is made beside the run.
    pub reference: Arc<[Record]>,
    /// ‖r₀‖₂.
    pub start_residual: f64,
    /// The iterate, if it was asked for.
    pub solution: Option<Arc<Field<f64>>>,
}

/// What a file needs of one iterate.
#[derive(Clone)]
pub(in crate::run) struct Look {
    pub picture: Arc<Picture>,
    pub more: Arc<[Arc<Picture>]>,
    pub findings: Arc<Findings>,
    pub solution: Option<Arc<Field<f64>>>,
}

/// What of a field is sampled for a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// All of it: of a plane its map, of a line its space–time diagram.
    #[default]
    All,
    /// All of the present iterate's, of a plane and of lines.
    Iterate,
    /// A line through it.
    Along(CutLine),
    /// Its magnitude, folded onto one tile; see [`MeanTile`](crate::solver::MeanTile).
    MeanTile,
}

impl SnapshotRequest {
    /// Samples across and down, at the most, that are taken of a grid.
    pub(in crate::run) fn size(&self, shape: &Shape) -> [usize; 2] {
        match self.part {
            Part::Along(line) => [line.within(shape).points(shape).len(), 1],
            _ => self.whole(shape).size(),
        }
    }

    /// All of a grid.
    fn whole(&self, shape: &Shape) -> Window {
        Window { most: self.most, ..Window::whole(shape.nx(), shape.rows()) }
    }

    /// Looks at an experiment as it is now.
    ///
    /// # Errors
    /// [`SolverError`] if its solver fails.
    pub(in crate::run) fn look(&self, experiment: &Experiment) -> Result<Look, SolverError> {
        let picture = |part: &Part| self.picture_of(*part, experiment).map(Arc::new);
        let solution = self.solution.then(|| experiment.run().solver().solution());
        Ok(Look {
            picture: picture(&self.part)?,
            more: self.more.iter().map(picture).collect::<Result<_, _>>()?,
            findings: Arc::new(self.inquiry.of(experiment, self.field)?),
            solution: solution.transpose()?.map(Arc::new),
        })
    }

    fn picture_of(&self, part: Part, experiment: &Experiment) -> Result<Picture, SolverError> {
        let shape = &experiment.run().plan().problem.shape;
        let samples = match part {
            Part::All => return experiment.picture(self.field, &self.whole(shape)),
            Part::Iterate => experiment.samples(self.field, &self.whole(shape))?,
            Part::Along(line) => {
                line.within(shape).samples(experiment, self.field, self.most[line.axis()])?
            }
            Part::MeanTile => experiment
                .statistics(self.field)?
                .and_then(|statistics| statistics.mean_tile)
                .map_or_else(Samples::default, MeanTile::samples),
        };
        Ok(Picture { samples, cycles_per_row: None })
    }
}

impl Snapshot {
    /// Takes what was asked for from an experiment as it is now.
    ///
    /// # Errors
    /// [`SolverError`] if its solver fails.
    pub fn of(
        experiment: &Experiment,
        snapshot_request: &SnapshotRequest,
    ) -> Result<Self, SolverError> {
        Ok(Self::with(experiment, snapshot_request, snapshot_request.look(experiment)?))
    }

    /// The same with what was seen before.
    pub(in crate::run) fn with(
        experiment: &Experiment,
        snapshot_request: &SnapshotRequest,
        look: Look,
    ) -> Self {
        let Look { picture, more, findings, solution } = look;
        let run = experiment.run();
        let known =
            |record: &&Record| snapshot_request.classic.is_none_or(|last| record.cycle <= last);
        Self {
            id: snapshot_request.id,
            plan: Arc::clone(run.plan()),
            cycle: run.cycle(),
            picture,
            more,
            field: snapshot_request.field,
            findings,
            over_cycles: Arc::default(),
            history: Arc::new(run.history().clone()),
            reference: experiment.classic().map_or_else(Arc::default, |classic| {
                classic.history().records().filter(known).copied().collect()
            }),
            start_residual: run.start_residual(),
            solution,
        }
    }
}

/// What the worker is at.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// Waiting to be told to go on.
    Paused,
    /// Making cycles.
    Running,
    /// Making cycles again, on the way back to a cycle where the run was: its end, which the solver
    /// passed, or where a solver was lost.
    Returning {
        /// Where it is.
        cycle: u64,
    },
    /// The run has come to its end.
    Finished(Outcome),
    /// The solver failed; the run stands where it was seen last, and can go on elsewhere.
    Failed {
        /// Why, in one sentence.
        why: String,
    },
}

/// How far the exact solution is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExactState {
    /// Nobody asked for it.
    NotWanted,
    /// It is being computed.
    Computing,
    /// It is there.
    Ready,
    /// It cannot be had; the sentence says why.
    Failed(String),
}

/// What is to be seen of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// The epoch of the wish that this run answers.
    pub epoch: u64,
    /// The run.
    pub plan: Arc<Plan>,
    /// What the worker is at.
    pub phase: Phase,
    /// Sweeps made.
    pub sweeps: u64,
    /// Cycles that the solver made in a second of late, set-up and looking not counted; `None` at
    /// first.
    pub cycles_per_second: Option<f64>,
    /// The GPU that it runs on; `None` on the CPU.
    pub device: Option<String>,
    /// The kernel that runs there, never [`Kernel::Auto`].
    pub kernel: Option<Kernel>,
    /// What the kernel takes of the GPU.
    pub footprint: Option<Footprint>,
    /// ‖r₀‖₂.
    pub start_residual: f64,
    /// The norms of the newest iterate.
    pub latest: Record,
    /// The largest magnitudes of all cycles so far, as far as cycles tell theirs.
    pub largest: Largest,
    /// The norms of the iterates so far, thinned out for a plot.
    pub curve: Arc<[Record]>,
    /// The same of Jacobi's iteration on this system (its cycles are sweeps).
    pub reference: Arc<[Record]>,
    /// What is to be seen of an iterate: the newest; where the solver failed, nothing.
    pub observation: Observation,
    /// How much of the residual lay at tile borders, at the cycles that were looked at.
    pub edges: Arc<[CycleValue]>,
    /// The field at the points that are looked at, at those cycles.
    pub probes: Vec<ProbeSeries>,
    /// What is kept of the run, so that any cycle of it can be seen again.
    pub archive: Arc<RunArchive>,
    /// How far the exact solution is.
    pub exact: ExactState,
    /// Of staleness that is being prepared, the part of Jacobi's sweeps that is made, 0 to 1.
    pub preparing: Option<f32>,
    /// Why there is no Jacobi's iteration beside the run, if it failed; one sentence.
    pub without_classic: Option<String>,
    /// What a file needs, of those that were asked for.
    pub snapshot: Option<Arc<Snapshot>>,
}

impl Report {
    /// Why a field cannot be shown of this run, if it never can; one sentence.
    pub fn cannot_show(&self, field: FieldKind) -> Option<&str> {
        match (&self.phase, &self.exact, &self.without_classic) {
            (Phase::Failed { why }, ..) => Some(why),
            (_, ExactState::Failed(why), _) if field == FieldKind::Error => Some(why),
            (_, _, Some(why)) if field == FieldKind::Staleness => Some(why),
            _ => None,
        }
    }
}

/// What a worker sends.
pub type Answer = Result<Box<Report>, RequestError>;

/// A wish that cannot be fulfilled. The run before it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestError {
    /// The epoch that was asked for.
    pub epoch: u64,
    /// Why not, in one sentence.
    pub why: String,
}
