//! 2D and 3D grids whose matrix is symmetric along all axes but one, or can be made so: sine transforms
//! along these axes leave one tridiagonal system per mode along the last (Buzbee, Golub and Nielson, *On
//! direct methods for solving Poisson's equations*, SIAM J. Numer. Anal. 7 (1970), section 2).
//!
//! Entries (lower, upper) of the same sign are made symmetric by u_j = ρ^j v_j with ρ = √(lower / upper).
//! That multiplies rounding errors by ρⁿ, which refinement takes away again as long as there is room for it.

use super::sine_transform::SineTransform;
use super::tridiagonal::Tridiagonal;
use super::{ExactError, each_row, row_sum, singular, transpose};
use crate::grid::Shape;
use crate::problem::Stencil;
use crate::stop_token::StopToken;
use std::f64::consts::PI;

/// The largest ρⁿ of all axes together: half of an `f64`'s digits are left, so that each correction adds
/// eight.
const LARGEST_SCALING: f64 = 1e8;

/// Which axis is eliminated, and how the others are made symmetric.
#[derive(Clone, Copy)]
pub(super) struct Elimination {
    eliminated: usize,
    /// ρ of each axis.
    rho: [f64; 3],
}

impl Elimination {
    /// Eliminates along the axis that needs the strongest scaling, the last of those that need the same;
    /// `None` if the others cannot be made symmetric.
    pub(super) fn new(shape: &Shape, stencil: &Stencil) -> Option<Self> {
        let axes = shape.axes().iter().zip(stencil.neighbours());
        let scalings: Vec<_> = axes.map(|(&n, [lower, upper])| scaling(n, lower, upper)).collect();
        let strength = |axis: usize| scalings[axis].map_or(f64::INFINITY, |(_, strength)| strength);
        let stronger = |a: usize, b: usize| if strength(b) >= strength(a) { b } else { a };
        let eliminated = (0..shape.dim()).reduce(stronger)?;
        let others: f64 = (0..shape.dim()).filter(|axis| *axis != eliminated).map(strength).sum();
        let mut rho = [1.0; 3];
        for (rho, scaling) in rho.iter_mut().zip(&scalings) {
            *rho = scaling.map_or(1.0, |(rho, _)| rho);
        }
        (others <= LARGEST_SCALING.ln()).then_some(Self { eliminated, rho })
    }
}

/// ρ of an axis, and |ln ρⁿ|.
fn scaling(n: usize, lower: f64, upper: f64) -> Option<(f64, f64)> {
    if lower == upper || n == 1 {
        return Some((1.0, 0.0));
    }
    let ratio = lower / upper;
    let usable = ratio > 0.0 && ratio.is_finite();
    usable.then(|| (ratio.sqrt(), (0.5 * ratio.ln() * (n - 1) as f64).abs()))
}

/// A grid with the modes of its axes and its array.
///
/// Values are turned so that the axis that is worked on is the fastest in memory: a transposition makes the
/// fastest axis the slowest, so that after as many as there are axes the order is the first again.
pub(super) struct Sine {
    axes: Vec<Axis>,
    eliminated: usize,
    shape: Shape,
    stencil: Stencil,
    work: Vec<f64>,
}

impl Sine {
    pub(super) fn new(plan: Elimination, shape: &Shape, stencil: &Stencil) -> Self {
        let neighbours = stencil.neighbours();
        let axes = shape.axes().iter().enumerate();
        Self {
            axes: axes
                .map(|(axis, &n)| Axis::new(n, plan.rho[axis], neighbours[axis][0]))
                .collect(),
            eliminated: plan.eliminated,
            shape: *shape,
            stencil: *stencil,
            work: vec![0.0; shape.points()],
        }
    }

    /// Replaces `values` (C order) by A⁻¹ `values`.
    pub(super) async fn solve(
        &mut self,
        values: &mut [f64],
        cancel: &StopToken,
    ) -> Result<(), ExactError> {
        let dim = self.axes.len();
        // After that many turns the eliminated axis is the fastest, after all others were.
        let middle = dim - 1 + (self.eliminated + 1) % dim;
        let last = middle + dim - 1;
        for turn in 0..last.next_multiple_of(dim) {
            let axis = &self.axes[turn % dim];
            if turn + dim > middle && turn < middle {
                axis.transform(values, cancel).await?;
            } else if turn == middle {
                self.eliminate(values, cancel).await?;
            } else if turn > middle && turn <= last {
                axis.transform_back(values, cancel).await?;
            }
            transpose(values, axis.n, &mut self.work, cancel).await?;
            values.copy_from_slice(&self.work);
        }
        if last.is_multiple_of(dim) {
            self.axes[0].transform_back(values, cancel).await?;
        }
        Ok(())
    }

    /// Solves for every row along the eliminated axis, which is the fastest.
    async fn eliminate(&self, values: &mut [f64], cancel: &StopToken) -> Result<(), ExactError> {
        let dim = self.axes.len();
        let [lower, upper] = self.stencil.neighbours()[self.eliminated];
        let scale = row_sum(&self.stencil);
        let n = self.axes[self.eliminated].n;
        each_row(
            values,
            n,
            cancel,
            || Tridiagonal::new(n),
            |matrix, row, values| {
                let mut rest = row;
                let mut diagonal = self.stencil.d;
                for turn in 1..dim {
                    let axis = &self.axes[(self.eliminated + turn) % dim];
                    diagonal += axis.eigenvalues[rest % axis.n];
                    rest /= axis.n;
                }
                matrix
                    .factor(lower, diagonal, upper, scale)
                    .ok_or_else(|| singular(&self.shape, &self.stencil))?;
                matrix.solve(values);
                Ok(())
            },
        )
        .await
    }
}

/// The modes of an axis.
struct Axis {
    n: usize,
    transform: SineTransform,
    /// What values are multiplied by before and after: ρ^∓j, and 2 / (n+1), since two transforms
    /// multiply by (n+1) / 2.
    before: Vec<f64>,
    after: Vec<f64>,
    /// What each mode adds to the diagonal.
    eigenvalues: Vec<f64>,
}

impl Axis {
    fn new(n: usize, rho: f64, lower: f64) -> Self {
        let middle = 0.5 * (n - 1) as f64;
        let power = |j: usize| rho.powf(j as f64 - middle);
        let modes = (n + 1) as f64;
        let eigenvalue = |k: usize| 2.0 * (lower / rho) * (PI * k as f64 / modes).cos();
        Self {
            n,
            transform: SineTransform::new(n),
            before: (0..n).map(|j| power(j).recip()).collect(),
            after: (0..n).map(|j| power(j) * 2.0 / modes).collect(),
            eigenvalues: (1..=n).map(eigenvalue).collect(),
        }
    }

    /// Turns rows along this axis into its modes.
    async fn transform(&self, values: &mut [f64], cancel: &StopToken) -> Result<(), ExactError> {
        each_row(
            values,
            self.n,
            cancel,
            || self.transform.scratch(),
            |scratch, _, row| {
                multiply(row, &self.before);
                self.transform.row(row, scratch);
                Ok(())
            },
        )
        .await
    }

    /// Turns modes into rows along this axis.
    async fn transform_back(
        &self,
        values: &mut [f64],
        cancel: &StopToken,
    ) -> Result<(), ExactError> {
        each_row(
            values,
            self.n,
            cancel,
            || self.transform.scratch(),
            |scratch, _, row| {
                self.transform.row(row, scratch);
                multiply(row, &self.after);
                Ok(())
            },
        )
        .await
    }
}

/// Multiplies values by factors, one by one.
fn multiply(values: &mut [f64], factors: &[f64]) {
    for (value, factor) in values.iter_mut().zip(factors) {
        *value *= factor;
    }
}
