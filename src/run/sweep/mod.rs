//! Sweeps over settings of k, overlap and tile, or of height and budget, and of kernels: which of them can run, what is
//! measured and predicted of each, and the table that keeps the rows.

mod baseline;
mod blocking;
mod command;
mod counting_need;
mod cycle;
mod measure;
mod order;
mod outline;
mod per_axis;
mod predict;
mod row;
mod row_check;
mod spec;
mod stepping;
mod steps;
#[expect(clippy::module_inception, reason = "the folder holds all that concerns sweeps")]
mod sweep;
mod table;

pub use baseline::ClassicBaseline;
pub use command::sweep_command_line;
pub use counting_need::CountingNeed;
pub use cycle::{
    CycleLists, CycleSetting, ListAxis, PassLists, PassSetting, TileLists, TileSetting,
    parse_budgets, parse_heights, parse_numbers, parse_per_axis, parse_subiterations,
};
pub use measure::{CountOutcome, CycleCache, CycleCount, CycleTime};
pub use order::{MeasuringOrder, SLOW};
pub use outline::{RowMismatch, SweepCell, SweepOutline};
pub use per_axis::PerAxis;
pub use predict::{CostPrediction, CyclePrediction, Pyramid, by_predicted_cost, pyramid_seconds};
pub use row::{Cycles, RowOutcome, SweepRow};
pub use spec::{MOST_SETTINGS, Measure, Setting, SweepError, SweepSpec};
pub use stepping::ShouldStop;
pub(super) use steps::{BaselineMeasurement, CellMeasurement, Predictions, Probe};
pub use sweep::{MeasureError, Sweep};
pub use table::{SweepTable, SweepTableError};
