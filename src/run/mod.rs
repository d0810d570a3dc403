//! Floor 3: runs. What a person chose, the loop that makes cycles until it is time to stop, what
//! is remembered of them, and the thread on which all this happens.

#[cfg(test)]
pub(crate) mod any;
mod archive;
mod command;
mod convergence_forecast;
mod cut;
mod differences;
mod experiment;
mod export;
mod findings;
mod history;
mod host;
mod keyframes;
mod latest_slot;
mod observation;
pub mod papers;
mod plan;
mod preset;
mod record_run;
mod reductions;
mod rewind;
mod run_series;
mod runner;
mod series;
mod space_time;
mod spec;
mod sweep;
mod tuner;
mod worker;

pub use archive::{ArchivedRun, RunArchive, cycle_at, seconds_at};
pub use command::command_line;
pub(crate) use command::option;
pub use cut::{CutLine, FieldProfile, ProfileRequest};
pub use differences::differences;
pub use experiment::{Experiment, FieldKind, Picture};
pub(crate) use export::cell;
pub use export::{
    CURVE_HEADER, CsvTable, curve_table, distances_table, edge_share_table, inside_table,
    map_table, probes_table, profile_table, reduction, save_field, save_run, save_samples,
};
pub use findings::{Findings, Inquiry};
pub use history::{History, Largest, Record};
pub use observation::{FieldStatistics, Observation, ObservationRequest};
pub use plan::{MOST_SUBITERATIONS, MOST_THREADS, Plan, PlanError, Planner, Stop, WIND};
pub use preset::{PRESETS, Preset};
pub use record_run::{Monitor, RecordAt, RecordError, Recording, Stage, record_run};
pub use reductions::Reductions;
pub use rewind::{Difference, ReplayReport, ReplayRequest, ReplayTarget, Rewinder};
pub use run_series::{ProbeSeries, RunSeries};
pub use runner::{Divergence, Outcome, Run};
pub use series::CycleValue;
pub use space_time::LONGEST_KEPT;
pub use spec::{
    Backend, MethodName, MethodSpec, ProblemKind, ProblemSpec, RunSpec, SpecError, StopRule,
    StopSpec, TOLERANCE, VERSION,
};
pub use sweep::{
    ClassicBaseline, CostPrediction, CountOutcome, CycleCache, CycleCount, CyclePrediction,
    CycleTime, Cycles, MOST_SETTINGS, Measure, MeasureError, PerAxis, Pyramid, RowMismatch,
    RowOutcome, Setting, ShouldStop, Sweep, SweepCell, SweepError, SweepOutline, SweepRow,
    SweepSpec, SweepTable, SweepTableError, by_predicted_cost, coarse_to_fine, numbers,
    pyramid_seconds, sides,
};
pub use tuner::{SweepEnd, Tuner, TunerEvent};
pub use worker::{
    Answer, ExactState, Part, Phase, Report, RequestError, Snapshot, SnapshotRequest, Worker,
    WorkerRequest,
};
