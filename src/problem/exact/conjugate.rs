//! 2D grids with coefficients per point, and sparse matrices: conjugate gradients on the matrix scaled to a unit
//! diagonal.

use super::error::ExactError;
use super::rows::each_row;
use crate::pauses::pause;
use crate::problem::Problem;
use crate::problem::conjugate_gradients::ConjugateGradients;
use crate::problem::scaled_matrix::ScaledMatrix;
use crate::stop_token::StopToken;
use rayon::prelude::*;

/// A solution is left to the next refinement once the square of its residual has fallen by this factor.
const REDUCTION: f64 = 1e-16;

/// Steps for each point along both axes after which a solution is left as it is; a sparse matrix is thought of as that
/// of a square grid.
const STEPS_PER_POINT: usize = 40;

/// The scaled matrix, and the arrays of an iteration.
pub(super) struct Conjugate {
    most_steps: usize,
    matrix: ScaledMatrix,
    iteration: ConjugateGradients,
}

impl Conjugate {
    /// Arrays of the grid that it holds.
    pub(super) const ARRAYS: usize = ScaledMatrix::ARRAYS + ConjugateGradients::ARRAYS;

    pub(super) fn new(problem: &Problem) -> Result<Self, ExactError> {
        let (shape, points) = (&problem.shape, problem.shape.points());
        let matrix = ScaledMatrix::new(problem)?;
        let across = match problem.operator.matrix() {
            Some(_) => points.isqrt(),
            None => shape.nx(),
        };
        let most_steps = STEPS_PER_POINT * (across + points / across);
        let iteration = ConjugateGradients::new(points, matrix.width());
        Ok(Self { most_steps, matrix, iteration })
    }

    /// Replaces `values` (C order) by an approximation of A⁻¹ `values`.
    pub(super) async fn solve(
        &mut self,
        values: &mut [f64],
        cancel: &StopToken,
    ) -> Result<(), ExactError> {
        let Self { most_steps, matrix, iteration } = self;
        let width = matrix.width();
        matrix.scale_residual(values);
        iteration.start(values.par_iter().copied());
        values.fill(0.0);
        let enough = REDUCTION * iteration.squares();
        for _ in 0..*most_steps {
            if iteration.squares() <= enough {
                break;
            }
            let (direction, product) = iteration.direction();
            let multiply_part = |(): &mut (), part: usize, to: &mut [f64]| {
                matrix.multiply_part(direction, part * width, to);
                Ok(())
            };
            each_row(product, width, cancel, || (), multiply_part).await?;
            // The matrix is not positive definite: what comes next is of no use.
            if iteration.step(values) <= 0.0 {
                break;
            }
            pause().await;
        }
        matrix.scale_solution(values);
        Ok(())
    }
}
