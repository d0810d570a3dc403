//! Floor 3: runs. What was chosen, the loop that makes cycles until it is time to stop, what
//! is remembered of them, and the thread on which all this happens.

#[cfg(test)]
pub(crate) mod any;
mod archive;
mod auto_gpu;
mod auto_stream;
mod command;
mod export;
mod fit_to_gpu;
pub mod flagg;
mod gpu_loss;
mod history;
pub(crate) mod host;
mod initial_guess;
pub mod kochurov;
mod matrix;
mod modes;
mod observe;
pub mod papers;
mod plan;
mod preset;
mod record;
mod rewind;
mod runner;
mod spec;
mod sweep;
mod toml_message;
mod tuner;
mod worker;

pub use archive::{RunArchive, cycle_at, seconds_at};
pub use auto_stream::AutoStream;
pub(crate) use command::option;
pub use command::{command_line, drawing_command_line};
pub use export::{
    CURVE_HEADER, CsvTable, curve_table, damping_table, distances_table, edge_share_table,
    frequencies_table, inside_table, map_table, mean_tile_table, probes_table, profile_table,
    row_map_table, save_field, save_run, save_shown, save_solution, save_unknowns,
};
pub use gpu_loss::{GpuLossError, go_on_without_failed_gpus};
pub use history::{
    CostAt, CycleValue, History, Largest, Record, Reductions, SpeedupAt, reduction, speedup_curve,
};
pub use initial_guess::InitialGuess;
pub use matrix::{BLOCK, MatrixSpec, PlanTimes};
pub use modes::{CycleRate, ModeDamping, ModeError, ModeFactors};
pub use observe::{
    AccelerationCurve, CutLine, Experiment, FieldKind, FieldProfile, FieldStatistics, Frequencies,
    FrequencyRequest, LONGEST_KEPT, MODE_NAMES, MOST_FREQUENCIES, MOST_VOLUME_SAMPLES, MapRequest,
    MeasuredPass, NO_ROW, Observation, ObservationRequest, PassLog, Picture, ProfileRequest,
    RowLayout, RowMap, SlicesRequest, VolumeSamples,
};
pub use plan::{
    MOST_SUBITERATIONS, MOST_THREADS, Plan, PlanError, Planner, Stop, StreamedRun, WIND,
};
pub use preset::{PRESETS, Preset};
#[cfg(feature = "gui")]
pub(crate) use record::record_run_with_pauses;
pub use record::{
    ArchivedRun, MemoryNeed, MemoryShort, Monitor, ProbeSeries, RecordError, RecordedCycles,
    Recording, RunSeries, RunTimes, SeriesRequest, Snapshot, SnapshotRequest, Stage, record_run,
};
pub use rewind::{Difference, ReplayReport, ReplayRequest, ReplayTarget, Rewinder};
pub use runner::fingerprint::fingerprint;
pub use runner::{Divergence, Outcome, Run, Store};
#[cfg(not(target_arch = "wasm32"))]
pub use runner::{StoreError, StoredRunError};
pub use spec::{
    BLOCK_SIZES, Backend, MEMORY, MEMORY_ON_GPU, MOST_SWEEPS, MethodName, MethodSpec, ProblemKind,
    ProblemSpec, RunSpec, SpecError, StopRule, StopSpec, TOLERANCE, VERSION, all_gpus,
};
pub use sweep::{
    ClassicBaseline, CostPrediction, CountOutcome, CountingNeed, CycleCache, CycleCount,
    CycleLists, CyclePrediction, CycleSetting, CycleTime, Cycles, ListAxis, MOST_SETTINGS, Measure,
    MeasureError, PassLists, PassSetting, PerAxis, Pyramid, RowMismatch, RowOutcome, SLOW, Setting,
    ShouldStop, Sweep, SweepCell, SweepError, SweepOutline, SweepRow, SweepSpec, SweepTable,
    SweepTableError, TileLists, TileSetting, by_predicted_cost, parse_budgets, parse_heights,
    parse_numbers, parse_per_axis, parse_subiterations, pyramid_seconds, sweep_command_line,
};
pub(crate) use toml_message::toml_message;
pub use tuner::{SweepEnd, Tuner, TunerEvent};
pub use worker::{
    Answer, ExactState, Milestone, Phase, Report, RequestError, Worker, WorkerRequest,
};
