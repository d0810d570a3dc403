//! Sweeps over settings: which there are, which of them cannot run and why, and what is measured of
//! the others. The rows of a sweep outlive it in a table that grows row by row.

mod count;
mod machine;
mod model;
mod promise;
mod row;
mod spec;
mod sweeping;
mod table;
mod timing;

pub use count::{CycleCount, Ending};
pub use promise::Prediction;
pub use row::{Cycles, Row, RowOutcome};
pub use spec::{MOST_SETTINGS, Measure, Setting, SweepError, SweepSpec};
pub use sweeping::{Cell, Foreign, MeasureError, Sweep};
pub use table::{Table, TableError};
pub use timing::CycleTime;
