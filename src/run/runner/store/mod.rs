//! A folder in which the arrays of a run lie, with a checkpoint after every pass, so that a run that ended before its time
//! goes on from there.

#[cfg(not(target_arch = "wasm32"))]
mod disk;
#[cfg(not(target_arch = "wasm32"))]
mod norms;
#[cfg(target_arch = "wasm32")]
mod page;

#[cfg(not(target_arch = "wasm32"))]
pub use disk::{Store, StoreError};
#[cfg(target_arch = "wasm32")]
pub use page::Store;

use crate::run::runner::circling::Circling;
use crate::run::runner::growth::Growth;
use crate::run::runner::proposals::Proposals;
use crate::solver::ResidualNorms;
use serde::{Deserialize, Serialize};

/// The store of a run that is under way.
pub(in crate::run::runner) struct Stored {
    pub store: Store,
    /// The residual of the present iterate, as the solver finds it.
    pub residual: ResidualNorms,
}

/// How far a run has come, with all that decides where it ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::run::runner) struct Progress {
    /// Passes made.
    pub passes: u64,
    /// Seconds that they took.
    pub seconds: f64,
    /// ‖Δu‖∞ of the last, where it was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_change: Option<f64>,
    /// The residual of the initial guess.
    pub start: ResidualNorms,
    /// That of the iterate.
    pub residual: ResidualNorms,
    pub growth: Growth,
    pub proposals: Proposals,
    pub circling: Circling,
}
