//! 2D grids with coefficients per point: conjugate gradients on the matrix scaled to a unit diagonal.

use super::error::ExactError;
use super::rows::each_row;
use crate::grid::Shape;
use crate::problem::Diffusion;
use crate::problem::conjugate_gradients::ConjugateGradients;
use crate::problem::scaled_matrix::ScaledMatrix;
use rayon::prelude::*;
use std::sync::atomic::AtomicBool;

/// A solution is left to the next refinement once the square of its residual has fallen by this factor.
const REDUCTION: f64 = 1e-16;

/// Steps for each point along both axes after which a solution is left as it is.
const STEPS_PER_POINT: usize = 40;

/// The scaled matrix, and the arrays of an iteration.
pub(super) struct Conjugate {
    nx: usize,
    matrix: ScaledMatrix,
    iteration: ConjugateGradients,
}

impl Conjugate {
    /// Arrays of the grid that it holds.
    pub(super) const ARRAYS: usize = ScaledMatrix::ARRAYS + ConjugateGradients::ARRAYS;

    pub(super) fn new(shape: &Shape, rows: &Diffusion) -> Self {
        let matrix = ScaledMatrix::per_point(shape, rows);
        let iteration = ConjugateGradients::new(shape.points(), shape.nx());
        Self { nx: shape.nx(), matrix, iteration }
    }

    /// Replaces `values` (C order) by an approximation of A⁻¹ `values`.
    pub(super) fn solve(
        &mut self,
        values: &mut [f64],
        cancel: &AtomicBool,
    ) -> Result<(), ExactError> {
        let Self { nx, matrix, iteration } = self;
        let nx = *nx;
        matrix.scale_residual(values);
        iteration.start(values.par_iter().copied());
        values.fill(0.0);
        let enough = REDUCTION * iteration.squares();
        let most = STEPS_PER_POINT * (nx + values.len() / nx);
        for _ in 0..most {
            if iteration.squares() <= enough {
                break;
            }
            iteration.step(values, |from, to| {
                let multiply_row = |(): &mut (), row: usize, to: &mut [f64]| {
                    matrix.multiply_part(from, row * nx, to);
                    Ok(())
                };
                each_row(to, nx, cancel, || (), multiply_row)
            })?;
        }
        matrix.scale_solution(values);
        Ok(())
    }
}
