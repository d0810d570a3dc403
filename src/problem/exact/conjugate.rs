//! 2D grids with coefficients per point: conjugate gradients (Hestenes and Stiefel, *Methods of conjugate
//! gradients for solving linear systems*, J. Res. Nat. Bur. Standards 49 (1952)) on the matrix scaled to a unit
//! diagonal, D^−½ A D^−½, in which most of a jump of the coefficients is gone.

use super::error::ExactError;
use super::rows::each_row;
use crate::grid::Shape;
use crate::problem::Diffusion;
use rayon::prelude::*;
use std::sync::atomic::AtomicBool;

/// A solution is left to the next refinement once the square of its residual has fallen by this factor.
const REDUCTION: f64 = 1e-16;

/// Steps for each point along both axes after which a solution is left as it is.
const STEPS_PER_POINT: usize = 40;

/// The scaled matrix, whose diagonal is 1, and the arrays of an iteration; all in C order.
pub(super) struct Conjugate {
    nx: usize,
    /// The entry of the right neighbour; 0 at the end of a row.
    right: Vec<f64>,
    /// The entry of the neighbour in the next row; 0 in the last.
    below: Vec<f64>,
    /// 1 / √d.
    scale: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
    product: Vec<f64>,
}

impl Conjugate {
    /// Arrays of the grid that it holds.
    pub(super) const ARRAYS: usize = 6;

    pub(super) fn new(shape: &Shape, rows: &Diffusion) -> Self {
        let (nx, points) = (shape.nx(), shape.points());
        let at = |point: usize| rows.row(point % nx, point / nx);
        let array = |value: &(dyn Fn(usize) -> f64 + Sync)| -> Vec<f64> {
            (0..points).into_par_iter().map(value).collect()
        };
        let scale = array(&|point| at(point).d.sqrt().recip());
        let right = array(&|point| match (point + 1) % nx {
            0 => 0.0,
            _ => at(point).c * scale[point] * scale[point + 1],
        });
        let below = array(&|point| match scale.get(point + nx) {
            Some(next) => at(point).f * scale[point] * next,
            None => 0.0,
        });
        let zero = || vec![0.0; points];
        let [residual, direction, product] = [zero(), zero(), zero()];
        Self { nx, right, below, scale, residual, direction, product }
    }

    /// Replaces `values` (C order) by an approximation of A⁻¹ `values`.
    pub(super) fn solve(
        &mut self,
        values: &mut [f64],
        cancel: &AtomicBool,
    ) -> Result<(), ExactError> {
        self.residual.par_iter_mut().zip(&*values).zip(&self.scale).for_each(
            |((residual, value), scale)| {
                *residual = value * scale;
            },
        );
        self.direction.copy_from_slice(&self.residual);
        values.fill(0.0);
        let mut squares = dot(&self.residual, &self.residual, self.nx);
        let enough = REDUCTION * squares;
        let most = STEPS_PER_POINT * (self.nx + values.len() / self.nx);
        for _ in 0..most {
            if squares <= enough {
                break;
            }
            self.multiply(cancel)?;
            let alpha = squares / dot(&self.direction, &self.product, self.nx);
            add(values, alpha, &self.direction);
            add(&mut self.residual, -alpha, &self.product);
            let next = dot(&self.residual, &self.residual, self.nx);
            let beta = next / squares;
            self.direction
                .par_iter_mut()
                .zip(&self.residual)
                .for_each(|(direction, residual)| *direction = residual + beta * *direction);
            squares = next;
        }
        values.par_iter_mut().zip(&self.scale).for_each(|(value, scale)| *value *= scale);
        Ok(())
    }

    /// product = matrix · direction.
    fn multiply(&mut self, cancel: &AtomicBool) -> Result<(), ExactError> {
        let Self { nx, right, below, direction, product, .. } = self;
        let nx = *nx;
        let multiply_row = |(): &mut (), row: usize, product: &mut [f64]| {
            let first = row * nx;
            for (i, product) in product.iter_mut().enumerate() {
                let point = first + i;
                let mut sum = direction[point];
                if i > 0 {
                    sum += right[point - 1] * direction[point - 1];
                }
                if i + 1 < nx {
                    sum += right[point] * direction[point + 1];
                }
                if let Some(above) = point.checked_sub(nx) {
                    sum += below[above] * direction[above];
                }
                if let Some(next) = direction.get(point + nx) {
                    sum += below[point] * next;
                }
                *product = sum;
            }
            Ok(())
        };
        each_row(product, nx, cancel, || (), multiply_row)
    }
}

/// The inner product, summed row by row: it does not depend on the number of threads.
fn dot(one: &[f64], other: &[f64], nx: usize) -> f64 {
    let rows = one.par_chunks(nx).zip(other.par_chunks(nx));
    let of_row = |(one, other): (&[f64], &[f64])| -> f64 {
        one.iter().zip(other).map(|(one, other)| one * other).sum()
    };
    rows.map(of_row).collect::<Vec<_>>().iter().sum()
}

/// to += factor · values.
fn add(to: &mut [f64], factor: f64, values: &[f64]) {
    to.par_iter_mut().zip(values).for_each(|(to, value)| *to += factor * value);
}
