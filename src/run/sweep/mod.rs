//! Sweeps over settings: which there are, which of them cannot run and why, and what is measured of
//! the others. The rows of a sweep outlive it in a table that grows row by row.

mod classic;
mod count;
mod cycle_predictor;
mod effective_sweeps;
mod lists;
mod machine;
mod model;
mod order;
mod outline;
mod row;
mod sides;
mod spec;
mod speed_reference;
mod sweeping;
mod table;
mod timing;

pub use classic::ClassicBaseline;
pub use count::{CountOutcome, CycleCache, CycleCount};
pub use cycle_predictor::CyclePrediction;
pub use lists::{numbers, sides};
pub use model::{Pyramid, pyramid_seconds};
pub use order::{CostPrediction, by_predicted_cost, coarse_to_fine};
pub use outline::{SweepCell, SweepOutline};
pub use row::{Cycles, RowOutcome, SweepRow};
pub use sides::PerAxis;
pub use spec::{MOST_SETTINGS, Measure, Setting, SweepError, SweepSpec};
pub use sweeping::{MeasureError, RowMismatch, Sweep};
pub use table::{SweepTable, SweepTableError};
pub use timing::CycleTime;

/// Asked between two cycles whether to stop. It may wait before it answers, while a sweep pauses.
pub type ShouldStop<'a> = &'a (dyn Fn() -> bool + Sync);
