//! What is kept of a run over its cycles: its norms, and series of numbers.

mod norms;
mod reductions;
mod series;
mod speedup;

pub(super) use norms::DIFFERS;
pub use norms::{History, Largest, Record};
pub use reductions::{Reductions, reduction};
pub use series::CycleValue;
pub(super) use series::{CURVE_POINTS, OfCycle, Series, SharedSeries};
pub use speedup::{CostAt, SpeedupAt, speedup_curve};
