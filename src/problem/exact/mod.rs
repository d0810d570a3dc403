//! The exact solution u* of the discrete system A u = b, which errors are measured against.
//!
//! A fast solver gives a first solution; its error is then computed and subtracted until nothing
//! is left to subtract (iterative refinement; Higham, *Accuracy and Stability of Numerical
//! Algorithms*, ch. 12). Residuals are formed with twice the working precision, so what comes out
//! is u* to about the last digit of an `f64`, not merely a u with a small residual.
//!
//! | matrix | solver | time |
//! |---|---|---|
//! | 1D, also with coefficients per point | elimination | O(n) |
//! | 2D or 3D, symmetric along all axes but one, or nearly so | sine transforms along them, elimination along the last | O(n log n) |
//! | other 2D | alternating directions | O(n log n), 50–100 times slower |
//! | 2D with coefficients per point, or a symmetric sparse matrix | conjugate gradients | O(n^1.5), slower still |
//!
//! Dividing the rows by the diagonal rounds the matrix that a solver iterates with: what it
//! converges to differs from u* by up to the condition number times the rounding of a weight.

mod alternating;
mod conjugate;
mod error;
mod error_left;
mod rows;
mod sine;
mod sine_transform;
mod spectrum;
#[cfg(test)]
mod tests;
mod tridiagonal;

pub use error::ExactError;
pub use error_left::{error_left, initial_error, is_exact_cheap};
pub(crate) use sine_transform::sine_amplitudes;
pub use sine_transform::sine_mode;
pub use spectrum::{Modes, Spectrum, first_below};

use super::residual::residual_of_row;
use super::{Csr, Diffusion, Operator, Problem, Source, Stencil};
use crate::grid::memory;
use crate::grid::{Field, Precision, Shape};
use crate::pauses::without_pauses;
use crate::stop_token::StopToken;
use alternating::Alternating;
use conjugate::Conjugate;
use rayon::prelude::*;
use rows::{each_row, transpose};
use sine::Sine;
use tridiagonal::Tridiagonal;

/// A residual may be this many times max Σ|a_i| · max|u|: some roundings of u.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// The solution u* of A u = b inside its boundary of Dirichlet values (that of
/// [`Problem::initial_iterate`]), correct to about 16 digits of its largest value.
///
/// Runs on the threads of rayon, and checks `cancel` in every row.
///
/// # Errors
/// [`ExactError`] if it was cancelled, or if it could not be computed or verified.
///
/// # Panics
/// If the right-hand side is an array that does not fit the shape.
pub fn exact(problem: &Problem, cancel: &StopToken) -> Result<Field<f64>, ExactError> {
    without_pauses(exact_with_pauses(problem, cancel))
}

/// [`exact`] with pauses.
///
/// # Errors
/// Those of [`exact`].
///
/// # Panics
/// If the right-hand side is an array that does not fit the shape.
pub(crate) async fn exact_with_pauses(
    problem: &Problem,
    cancel: &StopToken,
) -> Result<Field<f64>, ExactError> {
    let shape = &problem.shape;
    let method = ExactMethod::of(problem)?;
    memory::check(shape, exact_arrays(problem), Precision::F64)?;
    let mut solver = method.solver(problem)?;
    let row_sum = method.row_sum(shape);
    let initial_guess = Source::Constant(0.0);
    let mut u: Field<f64> = Problem { initial_guess, ..problem.clone() }.initial_iterate();
    let mut rest = vec![0.0; shape.points()];
    let mut previous = None;
    let mut settled = false;
    let mut relative = f64::NAN;
    for _ in 0..=method.steps() {
        residual_with_pauses(problem, &u, &mut rest, cancel).await?;
        let size = largest(u.as_slice());
        if settled && largest(&rest) <= ROUNDING * row_sum * size {
            return Ok(u);
        }
        solver.solve(&mut rest, cancel).await?;
        let change = largest(&rest);
        add(&mut u, &rest);
        let size = largest(u.as_slice());
        if !(change.is_finite() && size.is_finite()) {
            if previous.is_none() {
                return Err(ExactError::NotFinite);
            }
            break;
        }
        relative = change / size;
        settled = is_settled(change, previous, size);
        previous = Some(change);
    }
    Err(ExactError::NotConverged { change: relative })
}

/// Arrays of the grid, in f64, that [`exact`] needs at a time.
pub fn exact_arrays(problem: &Problem) -> usize {
    // The solution, what is left to correct, and what the method works in; nothing where there is none.
    ExactMethod::of(problem).map_or(0, |method| 2 + method.arrays())
}

/// Whether what is left after a correction is less than the rounding of the values: each
/// correction is a factor smaller than the one before, so those to come are a geometric series.
fn is_settled(change: f64, previous: Option<f64>, size: f64) -> bool {
    let left = previous.map_or(f64::INFINITY, |previous| {
        let factor = change / previous;
        if factor < 1.0 { change * factor / (1.0 - factor) } else { f64::INFINITY }
    });
    change <= 2.0 * f64::EPSILON * size || left <= 0.5 * f64::EPSILON * size
}

/// What a matrix is solved by.
#[derive(Clone, Copy)]
enum ExactMethod<'a> {
    /// Elimination along every row of a 1D grid.
    Lines(&'a Stencil),
    /// The same where every point has a row of its own.
    Rows(&'a Diffusion),
    /// Conjugate gradients, on a 2D grid of such points.
    Conjugate(&'a Diffusion),
    /// The same with a sparse matrix.
    Sparse(&'a Csr),
    /// Sine transforms along all axes but one.
    Sine(sine::Elimination, &'a Stencil),
    /// Alternating directions.
    Alternating(&'a Stencil),
}

impl<'a> ExactMethod<'a> {
    fn of(problem: &'a Problem) -> Result<Self, ExactError> {
        let shape = &problem.shape;
        let stencil = match &problem.operator {
            Operator::Stencil(stencil) => stencil,
            Operator::PerPoint(rows) if shape.dim() == 1 => return Ok(Self::Rows(rows)),
            Operator::PerPoint(rows) => return Ok(Self::Conjugate(rows)),
            Operator::Csr(matrix) => return Ok(Self::Sparse(matrix)),
        };
        stencil.check(shape)?;
        if shape.dim() == 1 {
            return Ok(Self::Lines(stencil));
        }
        match (sine::Elimination::new(shape, stencil), shape.dim()) {
            (Some(plan), _) => Ok(Self::Sine(plan, stencil)),
            (None, 2) => Ok(Self::Alternating(stencil)),
            (None, _) => Err(ExactError::NotSymmetric),
        }
    }

    /// Whether it comes to an end after some steps that do not depend on the matrix.
    fn is_direct(self) -> bool {
        !matches!(self, Self::Alternating(_) | Self::Conjugate(_) | Self::Sparse(_))
    }

    /// Arrays of the grid that it works in.
    fn arrays(self) -> usize {
        match self {
            Self::Lines(_) | Self::Rows(_) => 0,
            Self::Sine(..) => 1,
            Self::Alternating(_) => 3,
            Self::Conjugate(_) | Self::Sparse(_) => Conjugate::ARRAYS,
        }
    }

    /// ‖A‖∞.
    fn row_sum(self, shape: &Shape) -> f64 {
        match self {
            Self::Lines(stencil) | Self::Sine(_, stencil) | Self::Alternating(stencil) => {
                row_sum(stencil)
            }
            Self::Rows(rows) | Self::Conjugate(rows) => {
                let points =
                    (0..shape.rows()).flat_map(|row| (0..shape.nx()).map(move |i| (i, row)));
                points.fold(0.0, |most: f64, (i, row)| most.max(row_sum(&rows.row(i, row))))
            }
            Self::Sparse(matrix) => {
                let sum = |row| matrix.values(row).iter().map(|value| value.abs()).sum();
                (0..matrix.rows()).map(sum).fold(0.0, f64::max)
            }
        }
    }

    /// Corrections after which it has failed. The direct methods err only in the last digits
    /// unless the matrix is all but singular.
    fn steps(self) -> usize {
        match self {
            Self::Lines(_) | Self::Rows(_) | Self::Sine(..) => 12,
            Self::Alternating(_) | Self::Conjugate(_) | Self::Sparse(_) => 200,
        }
    }

    fn solver(self, problem: &Problem) -> Result<ExactSolver<'a>, ExactError> {
        let shape = &problem.shape;
        Ok(match self {
            Self::Lines(stencil) => {
                let mut line = Tridiagonal::new(shape.nx());
                line.factor(stencil.a, stencil.d, stencil.c, row_sum(stencil))
                    .ok_or_else(|| singular(shape, stencil))?;
                ExactSolver::Lines(line)
            }
            Self::Rows(rows) => ExactSolver::Rows(rows, shape.nx()),
            Self::Conjugate(_) | Self::Sparse(_) => {
                ExactSolver::Conjugate(Conjugate::new(problem)?)
            }
            Self::Sine(plan, stencil) => ExactSolver::Sine(Sine::new(plan, shape, stencil)),
            Self::Alternating(stencil) => {
                ExactSolver::Alternating(Alternating::new(shape, stencil))
            }
        })
    }
}

/// A method with its factors and its arrays.
enum ExactSolver<'a> {
    Lines(Tridiagonal),
    /// The rows, and the points of a system.
    Rows(&'a Diffusion, usize),
    Sine(Sine),
    Alternating(Alternating),
    Conjugate(Conjugate),
}

impl ExactSolver<'_> {
    /// Replaces `values` (C order, no boundary) by A⁻¹ `values`, or by an approximation.
    async fn solve(&mut self, values: &mut [f64], cancel: &StopToken) -> Result<(), ExactError> {
        match self {
            Self::Lines(line) => solve_rows(line, values, cancel).await,
            Self::Rows(rows, n) => solve_own_rows(rows, *n, values, cancel).await,
            Self::Sine(sine) => sine.solve(values, cancel).await,
            Self::Alternating(alternating) => alternating.solve(values, cancel).await,
            Self::Conjugate(conjugate) => conjugate.solve(values, cancel).await,
        }
    }
}

fn singular(shape: &Shape, stencil: &Stencil) -> ExactError {
    ExactError::Singular { stencil: *stencil, shape: shape.to_string() }
}

/// Σ|a_i| of a matrix row: ‖A‖∞.
fn row_sum(stencil: &Stencil) -> f64 {
    (1.0 + stencil.dominance()) * stencil.d.abs()
}

/// b − A u at every interior point, in C order, as if computed with 106 bits and rounded once. Checks `cancel` in every
/// row.
///
/// # Errors
/// [`ExactError::Cancelled`].
///
/// # Panics
/// If the right-hand side is an array that does not fit the shape.
pub(crate) async fn residual_with_pauses(
    problem: &Problem,
    u: &Field<f64>,
    out: &mut [f64],
    cancel: &StopToken,
) -> Result<(), ExactError> {
    each_row(
        out,
        u.shape().nx(),
        cancel,
        || (),
        |(), row, out| {
            residual_of_row(problem, 0, u, row, out);
            Ok(())
        },
    )
    .await
}

/// Adds interior values in C order to a field.
fn add(u: &mut Field<f64>, values: &[f64]) {
    let nx = u.shape().nx();
    for (row, values) in values.chunks(nx).enumerate() {
        for (u, value) in u.interior_mut(row).iter_mut().zip(values) {
            *u += value;
        }
    }
}

/// max|value|; NaN if there is one, which the bits of an absolute value order last.
fn largest(values: &[f64]) -> f64 {
    f64::from_bits(values.par_iter().map(|value| value.abs().to_bits()).max().unwrap_or(0))
}

/// Solves for every row, all with one matrix.
async fn solve_rows(
    matrix: &Tridiagonal,
    rows: &mut [f64],
    cancel: &StopToken,
) -> Result<(), ExactError> {
    each_row(
        rows,
        matrix.len(),
        cancel,
        || (),
        |(), _, row| {
            matrix.solve(row);
            Ok(())
        },
    )
    .await
}

/// Solves for every system of a 1D grid, each with a matrix of its own.
async fn solve_own_rows(
    rows: &Diffusion,
    n: usize,
    values: &mut [f64],
    cancel: &StopToken,
) -> Result<(), ExactError> {
    each_row(
        values,
        n,
        cancel,
        || Tridiagonal::new(n),
        |matrix, system, values| {
            let row = |i| {
                let Stencil { a, d, c, .. } = rows.row(i, system);
                [a, d, c]
            };
            // The diagonal is the sum of the others, with those of the boundary: no pivot is 0, whatever the scale.
            if matrix.factor_rows(row, 0.0).is_none() {
                return Err(ExactError::NotFinite);
            }
            matrix.solve(values);
            Ok(())
        },
    )
    .await
}
