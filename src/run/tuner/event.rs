//! What the tuner reports.

use crate::run::sweep::{ClassicBaseline, CostPrediction, Pyramid, SweepOutline, SweepRow};
use std::sync::Arc;

/// A result of the tuner.
#[derive(Clone, Debug)]
pub enum TunerEvent {
    /// The sweep is invalid, for this reason; nothing is measured.
    Rejected(String),
    /// The sweep is valid and has begun.
    Begun(Arc<SweepOutline>),
    /// What is done before the first cell is measured, in a few words.
    Stage(&'static str),
    /// Predictions for some of the settings that can run.
    Predicted(Vec<CostPrediction>),
    /// All settings that can run are predicted.
    Ordered {
        /// Settings predicted to cost more than [`SLOW`](crate::run::SLOW) times the best, which are
        /// measured last and only if that is wanted: their indices in [`SweepOutline::cells`].
        slow: Vec<usize>,
        /// Kochurov's best pyramid of the first tile size and kernel.
        pyramid: Option<Pyramid>,
    },
    /// Jacobi's iteration was measured.
    Classic(ClassicBaseline),
    /// A cell was measured.
    Measured {
        /// Its index in [`SweepOutline::cells`].
        index: usize,
        /// The result.
        row: Box<SweepRow>,
        /// Estimated seconds for the remaining cells.
        remaining: f64,
    },
    /// A GPU was lost, and measuring continues without it: what happened, in one sentence without its full stop.
    LostGpu(String),
    /// The sweep has ended.
    Ended(SweepEnd),
    /// The sweep continues with its slow settings.
    Continued,
}

/// How a sweep ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SweepEnd {
    /// All cells were measured.
    Complete,
    /// All cells but the slow ones were measured; these can be measured, too.
    WithoutSlow,
    /// It was stopped.
    Stopped,
    /// It failed, for this reason; the results so far are valid.
    Failed(String),
}
