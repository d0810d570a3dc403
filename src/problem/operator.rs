//! The matrix A of a system: a stencil on a grid, the same or another at every point, or a sparse matrix by its
//! rows.

use super::matrix::is_dominant;
use super::{Csr, Diffusion, Stencil};
use crate::grid::Shape;
use std::sync::Arc;

/// The matrix A of a system.
#[derive(Clone, Debug, PartialEq)]
pub enum Operator {
    /// One row of constants for every grid point.
    Stencil(Stencil),
    /// A row of its own for every point of a 1D or 2D grid.
    PerPoint(Diffusion),
    /// A sparse matrix. Its rows are the points of a 1D grid with a boundary that nothing reads.
    Csr(Arc<Csr>),
}

impl Operator {
    /// The stencil that is the same for all points; `None` where rows differ.
    pub fn stencil(&self) -> Option<&Stencil> {
        match self {
            Self::Stencil(stencil) => Some(stencil),
            Self::PerPoint(_) | Self::Csr(_) => None,
        }
    }

    /// Whether every point of a grid has a row of its own.
    pub fn is_per_point(&self) -> bool {
        matches!(self, Self::PerPoint(_))
    }

    /// The arrays of a grid that a solver keeps of the rows: none where they are constants, else a weight for
    /// each neighbour, and the diagonal.
    pub fn row_arrays(&self, shape: &Shape) -> usize {
        if self.is_per_point() { 2 * shape.dim() + 1 } else { 0 }
    }

    /// The sparse matrix; `None` on a grid.
    pub fn matrix(&self) -> Option<&Arc<Csr>> {
        match self {
            Self::Stencil(_) | Self::PerPoint(_) => None,
            Self::Csr(matrix) => Some(matrix),
        }
    }

    /// The largest Σ|a_ij| / |a_ii| of a row, j ≠ i: at most 1 where the matrix is diagonally dominant,
    /// which guarantees that Jacobi's iteration converges.
    pub fn dominance(&self) -> f64 {
        match self {
            Self::Stencil(stencil) => stencil.dominance(),
            // The diagonal is the sum of the others, those towards the boundary included.
            Self::PerPoint(_) => 1.0,
            Self::Csr(matrix) => matrix.dominance().largest,
        }
    }

    /// Whether the matrix is diagonally dominant, up to rounding.
    pub fn is_dominant(&self) -> bool {
        is_dominant(self.dominance())
    }
}

impl From<Diffusion> for Operator {
    fn from(rows: Diffusion) -> Self {
        Self::PerPoint(rows)
    }
}

impl From<Stencil> for Operator {
    fn from(stencil: Stencil) -> Self {
        Self::Stencil(stencil)
    }
}
