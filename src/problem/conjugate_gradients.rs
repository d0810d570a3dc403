//! Conjugate gradients (Hestenes and Stiefel, *Methods of conjugate gradients for solving linear systems*, J. Res.
//! Nat. Bur. Standards 49 (1952)).

use rayon::prelude::*;

/// The arrays of an iteration from the solution 0.
pub(crate) struct ConjugateGradients {
    /// Values that are summed together: sums do not depend on the number of threads.
    width: usize,
    residual: Vec<f64>,
    direction: Vec<f64>,
    product: Vec<f64>,
    /// ‖residual‖².
    squares: f64,
}

impl ConjugateGradients {
    /// Arrays of the grid that it holds.
    pub const ARRAYS: usize = 3;

    /// An iteration that is yet to be started.
    pub fn new(points: usize, width: usize) -> Self {
        let zero = || vec![0.0; points];
        let [residual, direction, product] = [zero(), zero(), zero()];
        Self { width, residual, direction, product, squares: 0.0 }
    }

    /// Starts from the solution 0 with this right-hand side.
    pub fn start(&mut self, rhs: impl IndexedParallelIterator<Item = f64>) {
        self.residual.par_iter_mut().zip(rhs).for_each(|(residual, value)| *residual = value);
        self.direction.copy_from_slice(&self.residual);
        self.squares = self.dot(&self.residual, &self.residual);
    }

    /// The residual, by its recurrence.
    pub fn residual(&self) -> &[f64] {
        &self.residual
    }

    /// The square of its norm.
    pub fn squares(&self) -> f64 {
        self.squares
    }

    /// The direction of the next step, and where its product with the matrix goes before that.
    pub fn direction(&mut self) -> (&[f64], &mut [f64]) {
        (&self.direction, &mut self.product)
    }

    /// A step to the next `solution`, once the product of its direction is there. Returns the inner product of these
    /// two; where it is not positive, the matrix is not positive definite, and the step was of no use.
    pub fn step(&mut self, solution: &mut [f64]) -> f64 {
        let curvature = self.dot(&self.direction, &self.product);
        let alpha = self.squares / curvature;
        add(solution, alpha, &self.direction);
        add(&mut self.residual, -alpha, &self.product);
        let next = self.dot(&self.residual, &self.residual);
        let beta = next / self.squares;
        self.direction
            .par_iter_mut()
            .zip(&self.residual)
            .for_each(|(direction, residual)| *direction = residual + beta * *direction);
        self.squares = next;
        curvature
    }

    /// The inner product, summed part by part.
    fn dot(&self, one: &[f64], other: &[f64]) -> f64 {
        let parts = one.par_chunks(self.width).zip(other.par_chunks(self.width));
        let of_part = |(one, other): (&[f64], &[f64])| -> f64 {
            one.iter().zip(other).map(|(one, other)| one * other).sum()
        };
        parts.map(of_part).collect::<Vec<_>>().iter().sum()
    }
}

/// to += factor · values.
fn add(to: &mut [f64], factor: f64, values: &[f64]) {
    to.par_iter_mut().zip(values).for_each(|(to, value)| *to += factor * value);
}
