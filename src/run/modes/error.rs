//! Why a cycle cannot be measured.

use crate::solver::SolverError;

/// Why a cycle cannot be measured; one sentence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModeError {
    /// The eigenvectors of a sweep are no products of sines.
    #[error(
        "damping by mode is known where the modes of Jacobi's iteration are sines: on a grid with constant weights, symmetric along each axis"
    )]
    NotSines,
    /// A cycle with too many updates.
    #[error(
        "damping by mode would take too long to measure on so large a grid with so many subiterations; lower one of them"
    )]
    TooLong,
    /// The error did not come to fall by the same factor in every cycle.
    #[error("the rate of a cycle did not settle in the time that its measurement may take")]
    NotSettled,
    /// The solver cannot be set up.
    #[error(transparent)]
    Solver(#[from] SolverError),
}
