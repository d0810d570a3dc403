//! What a worker and its owner send each other.

use super::catch_up::Milestone;
use crate::run::archive::RunArchive;
use crate::run::history::{CycleValue, Largest, Record};
use crate::run::observe::{AccelerationCurve, FieldKind, Observation, ObservationRequest, PassLog};
use crate::run::plan::Plan;
use crate::run::record::{ProbeSeries, RunTimes, Snapshot, SnapshotRequest};
use crate::run::runner::Outcome;
use crate::run::spec::RunSpec;
use crate::solver::{Acceleration, ExchangePath, Footprint, Kernel, PassProgress, Subiterations};
use std::collections::BTreeSet;
use std::sync::Arc;

/// All that is requested of a worker.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerRequest {
    /// The run. A new number starts it from cycle 0; that of a run which was left continues it.
    pub epoch: u64,
    /// The epochs of runs that are kept when they are left, so that a request can return to them.
    pub kept: Vec<u64>,
    /// Its description. In one epoch it may change in where and how the run is made
    /// ([`RunSpec::is_same_run`]): then the run continues there.
    pub spec: Arc<RunSpec>,
    /// Whether cycles are made continuously.
    pub running: bool,
    /// Single cycles requested since the epoch began; each is made once.
    pub steps: u64,
    /// How many of those cycles an earlier run of the same settings made, where this run repeats it.
    pub steps_before: u64,
    /// Where a new run is reported for the first time, or when that takes too long. Until then it
    /// makes cycles as fast as it can, whether or not it is `running`. It counts at the start of an
    /// epoch.
    pub catch_up: Option<Milestone>,
    /// Whether the run stays where it is, once it has caught up: a setting is being dragged.
    pub held: bool,
    /// The most cycles per second; `None` for maximum speed.
    pub pace: Option<f64>,
    /// What is observed of the newest iterate.
    pub observation: ObservationRequest,
    /// Whether Jacobi's iteration runs alongside, as a reference.
    pub reference: bool,
    /// Which accelerations of it run alongside, too.
    pub accelerations: BTreeSet<Acceleration>,
    /// Whether the norm of the error is computed, whichever field is observed.
    pub error: bool,
    /// Whether all norms of every cycle are computed, and not ‖r‖₂ alone.
    pub all_norms: bool,
    /// Bytes that may be used to keep iterates, so that any cycle can be replayed.
    pub memory: usize,
    /// What files need, in the order of the requests; each number is answered once.
    pub snapshot_requests: Vec<SnapshotRequest>,
}

/// What the worker does.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// Waiting for a request to continue.
    Paused,
    /// Making cycles.
    Running,
    /// Making cycles, on the way to where the run before it was.
    CatchingUp,
    /// Staying where it is while a setting is dragged.
    Held,
    /// Making cycles again, on the way back to a cycle where the run was: its end, which the solver
    /// passed, or where a solver was lost.
    Returning {
        /// Where it is.
        cycle: u64,
    },
    /// The run has come to its end.
    Finished(Outcome),
    /// The solver failed; the run stays where it was last reported, and can continue elsewhere.
    Failed {
        /// Why, in one sentence.
        why: String,
    },
}

/// How far the exact solution is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExactState {
    /// It was not requested.
    NotWanted,
    /// It is being computed.
    Computing,
    /// It is there.
    Ready,
    /// Not available; the sentence says why.
    Failed(String),
}

/// The state of a run.
#[derive(Clone, Debug)]
pub struct Report {
    /// The epoch of the request that this run answers.
    pub epoch: u64,
    /// The run.
    pub plan: Arc<Plan>,
    /// What the worker does.
    pub phase: Phase,
    /// What was last said of a GPU that failed, where the run went on on the others; one sentence without its full stop.
    pub gpu_loss: Option<String>,
    /// Sweeps made.
    pub sweeps: u64,
    /// Cycles per second of the solver, over the last half second, without set-up and observation; `None` at
    /// first.
    pub cycles_per_second: Option<f64>,
    /// The GPU that it runs on; `None` on the CPU.
    pub device: Option<String>,
    /// What values go through from one of its GPUs to another; none on a single GPU, and on the CPU.
    pub exchange_paths: Vec<ExchangePath>,
    /// The kernel that runs there, never [`Kernel::AUTO`].
    pub kernel: Option<Kernel>,
    /// The resources of the GPU that the kernel uses.
    pub footprint: Option<Footprint>,
    /// Rows that all blocks of a matrix compute in a sweep; `None` on a grid, and without blocks.
    pub computed_rows: Option<usize>,
    /// What the run took so far, by stages.
    pub times: RunTimes,
    /// The passes that were timed on its system where it is made, with a method that streams.
    pub passes: Arc<PassLog>,
    /// How far the pass under way has come, with such a method: it goes on while the report is shown.
    pub pass_progress: Option<Arc<PassProgress>>,
    /// How many times as fast that GPU would be in f32, if the run is in f64 and the GPU is made for f32.
    pub slow_f64: Option<u32>,
    /// ‖r₀‖₂.
    pub start_residual: f64,
    /// ‖u₀ − u*‖₂, once the exact solution is there that was requested.
    pub start_error: Option<f64>,
    /// The norms of the newest iterate.
    pub latest: Record,
    /// The largest magnitudes of all cycles so far, as far as they are known.
    pub largest: Largest,
    /// The norms of the iterates so far, thinned out for a plot.
    pub curve: Arc<[Record]>,
    /// The same of Jacobi's iteration on this system (its cycles are sweeps).
    pub reference: Arc<[Record]>,
    /// The same of the accelerations of Jacobi's iteration that were requested, as far as they are made: up to the
    /// tolerance of the run, or to as many sweeps as it has made.
    pub accelerated: Vec<AccelerationCurve>,
    /// The observation of the newest iterate; empty where the solver failed.
    pub observation: Observation,
    /// The share of the residual near tile borders, at the cycles that were observed.
    pub edges: Arc<[CycleValue]>,
    /// The field at the probes, at those cycles.
    pub probes: Vec<ProbeSeries>,
    /// What is kept of the run, so that any cycle of it can be replayed.
    pub archive: Arc<RunArchive>,
    /// How far the exact solution is.
    pub exact: ExactState,
    /// At the end of a run, ‖u − u*‖₂ relative to that of the initial guess; `None` where the exact solution is
    /// unknown, or takes long and was not requested.
    pub error_left: Option<f64>,
    /// For staleness that is being prepared, the share of Jacobi's sweeps that is made, 0 to 1.
    pub preparing: Option<f32>,
    /// Why Jacobi's iteration does not run alongside, if it failed; one sentence.
    pub without_classic: Option<String>,
    /// The snapshot for a file, if one was requested.
    pub snapshot: Option<Arc<Snapshot>>,
}

impl Report {
    /// Why a field cannot be shown of this run, if it never can; one sentence.
    pub fn cannot_show(&self, field: FieldKind) -> Option<&str> {
        match (&self.phase, &self.exact, &self.without_classic) {
            (Phase::Failed { why }, ..) => Some(why),
            (_, ExactState::Failed(why), _) if field == FieldKind::Error => Some(why),
            (_, _, Some(why)) if field == FieldKind::Staleness => Some(why),
            _ if field == FieldKind::Staleness
                && self.plan.method.k() == Subiterations::Infinite =>
            {
                Some("With k = ∞ a cycle has no number of sweeps, so there is no staleness.")
            }
            _ => None,
        }
    }
}

/// What a worker sends.
pub type Answer = Result<Box<Report>, RequestError>;

/// A request that cannot be satisfied. The run before it continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestError {
    /// The requested epoch.
    pub epoch: u64,
    /// Why not, in one sentence.
    pub why: String,
}
