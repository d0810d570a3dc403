//! The matrix A of a system: a stencil on a grid, or a sparse matrix by its rows.

use super::matrix::is_dominant;
use super::{Csr, Stencil};
use std::sync::Arc;

/// The matrix A of a system.
#[derive(Clone, Debug, PartialEq)]
pub enum Operator {
    /// One row of constants for every grid point.
    Stencil(Stencil),
    /// A sparse matrix. Its rows are the points of a 1D grid with a boundary that nothing reads.
    Csr(Arc<Csr>),
}

impl Operator {
    /// The stencil; `None` of a sparse matrix.
    pub fn stencil(&self) -> Option<&Stencil> {
        match self {
            Self::Stencil(stencil) => Some(stencil),
            Self::Csr(_) => None,
        }
    }

    /// The sparse matrix; `None` of a stencil.
    pub fn matrix(&self) -> Option<&Arc<Csr>> {
        match self {
            Self::Stencil(_) => None,
            Self::Csr(matrix) => Some(matrix),
        }
    }

    /// The largest Σ|a_ij| / |a_ii| of a row, j ≠ i: at most 1 where the matrix is diagonally dominant,
    /// which guarantees that Jacobi's iteration converges.
    pub fn dominance(&self) -> f64 {
        match self {
            Self::Stencil(stencil) => stencil.dominance(),
            Self::Csr(matrix) => matrix.dominance().largest,
        }
    }

    /// Whether the matrix is diagonally dominant, up to rounding.
    pub fn is_dominant(&self) -> bool {
        is_dominant(self.dominance())
    }
}

impl From<Stencil> for Operator {
    fn from(stencil: Stencil) -> Self {
        Self::Stencil(stencil)
    }
}
