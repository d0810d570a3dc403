//! Runs that are computed for files: snapshots, series over the cycles, archives.

mod archived_run;
mod memory_need;
mod record_run;
mod run_series;
mod snapshot;
mod times;

pub use archived_run::ArchivedRun;
pub use memory_need::{MemoryNeed, MemoryShort};
pub(crate) use record_run::record_run_with_pauses;
pub use record_run::{Monitor, RecordError, RecordedCycles, Recording, Stage, record_run};
pub use run_series::{ProbeSeries, RunSeries, SeriesRequest};
pub(super) use run_series::{SeriesRecorder, stride};
pub use snapshot::{Snapshot, SnapshotRequest};
pub use times::RunTimes;
