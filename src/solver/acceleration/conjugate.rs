//! Conjugate gradients on the scaled system: those of A with its diagonal as preconditioner.

use super::error::AccelerationError;
use crate::problem::conjugate_gradients::ConjugateGradients;
use crate::problem::scaled_matrix::ScaledMatrix;
use rayon::prelude::*;

/// An iteration from the correction 0.
pub(super) struct Conjugate {
    iteration: ConjugateGradients,
    correction: Vec<f64>,
}

impl Conjugate {
    /// Arrays of the grid that it holds.
    pub const ARRAYS: usize = 1 + ConjugateGradients::ARRAYS;

    /// An iteration towards the solution of the scaled system with this right-hand side, the residual of the
    /// initial guess; `width` values are summed together.
    pub fn new(rhs: &[f64], width: usize) -> Self {
        let mut iteration = ConjugateGradients::new(rhs.len(), width);
        iteration.start(rhs.par_iter().copied());
        Self { iteration, correction: vec![0.0; rhs.len()] }
    }

    /// Makes the next correction. Where nothing is left to correct, it stays.
    pub fn sweep(&mut self, matrix: &ScaledMatrix) -> Result<(), AccelerationError> {
        if self.iteration.squares() <= f64::MIN_POSITIVE {
            return Ok(());
        }
        let (direction, product) = self.iteration.direction();
        matrix.multiply(direction, product);
        let curvature = self.iteration.step(&mut self.correction);
        if curvature > 0.0 { Ok(()) } else { Err(AccelerationError::NotDefinite) }
    }

    pub fn residual(&self) -> &[f64] {
        self.iteration.residual()
    }

    pub fn correction(&self) -> &[f64] {
        &self.correction
    }
}
