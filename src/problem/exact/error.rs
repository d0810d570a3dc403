//! Why there is no exact solution.

use crate::grid::memory::OutOfMemory;
use crate::number::two_digits;
use crate::problem::{ScalingError, Stencil, StencilError};

/// Why there is no exact solution.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ExactError {
    /// It was cancelled.
    #[error("the computation of the exact solution was cancelled")]
    Cancelled,
    /// It does not fit into memory.
    #[error("the exact solution could not be computed: {0}")]
    Memory(#[from] OutOfMemory),
    /// The stencil is invalid.
    #[error("the exact solution could not be computed: {0}")]
    Stencil(#[from] StencilError),
    /// The matrix has no inverse, to 16 digits.
    #[error(
        "the exact solution could not be computed: stencil d = {}, a = {}, c = {}, e = {}, f = {} \
         gives a singular matrix on shape {shape}; where |d| > |a| + |c| + |e| + |f| it never is",
        .stencil.d, .stencil.a, .stencil.c, .stencil.e, .stencil.f
    )]
    Singular {
        /// The constants.
        stencil: Stencil,
        /// The shape, as messages write it.
        shape: String,
    },
    /// A sparse matrix that conjugate gradients cannot solve with.
    #[error("the exact solution could not be computed: {0}, and conjugate gradients need that")]
    Matrix(#[from] ScalingError),
    /// A 3D grid that sine transforms cannot solve.
    #[error(
        "the exact solution could not be computed: on a 3D grid the matrix must be symmetric along \
         two axes, or nearly so"
    )]
    NotSymmetric,
    /// A value on the way is NaN or infinite.
    #[error(
        "the exact solution could not be computed: its values, or those of the right-hand side or \
         the boundary, are not finite numbers in 64 bits"
    )]
    NotFinite,
    /// The corrections did not vanish, or left a residual: the matrix is singular to working
    /// precision, or far from dominant.
    #[error(
        "the exact solution could not be computed: its last correction was {} of its \
         size, so the matrix is close to singular or far from diagonally dominant; where \
         |d| > |a| + |c| + |e| + |f| it is neither",
        two_digits(*.change)
    )]
    NotConverged {
        /// The size of the last correction, over the size of the solution.
        change: f64,
    },
}
