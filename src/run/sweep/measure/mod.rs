//! Measurements of one setting on this machine: cycles to the tolerance, and the time of a cycle.

mod counting;
mod cycle_cache;
pub(super) mod machine;
mod speed_reference;
mod stopwatch;
mod timing;

#[cfg(test)]
pub(super) use counting::count;
pub use counting::{CountOutcome, CycleCount};
pub(super) use counting::{Counting, count_side_by_side, counted_plan};
pub use cycle_cache::CycleCache;
pub(super) use speed_reference::SpeedReference;
pub use timing::CycleTime;
pub(super) use timing::{BUDGET, PROBE_BUDGET, Timed, Timing};
