//! Why Jacobi's iteration is not accelerated.

use crate::grid::memory::OutOfMemory;
use crate::problem::ScalingError;

/// Why Jacobi's iteration is not accelerated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AccelerationError {
    /// Its theory is that of symmetric matrices.
    #[error(transparent)]
    Matrix(#[from] ScalingError),
    /// The ends of the interval are needed.
    #[error("the spectral radius ρ of Jacobi's iteration is not known")]
    RadiusUnknown,
    /// The interval must end below 1.
    #[error("the spectral radius ρ of Jacobi's iteration is not below 1")]
    NotConvergent,
    /// A direction has no positive curvature.
    #[error("the matrix is not positive definite")]
    NotDefinite,
    /// There is no room.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
}
