//! 2D grids whose matrix cannot be made symmetric: alternating directions (Peaceman and Rachford, *The
//! numerical solution of parabolic and elliptic differential equations*, J. SIAM 3 (1955)).
//!
//! A = H + V, with H along x and V along y, which commute. With a shift p of the diagonal's sign,
//!
//! ```text
//! (H + p) w = r + (p − V) u        (V + p) u' = r + (p − H) w
//! ```
//!
//! brings u closer to A⁻¹ r, for any p, where the symmetric parts of H and V are positive definite: so for
//! every dominant matrix, and for central differences of convection and diffusion at any speed.

use super::tridiagonal::Tridiagonal;
use super::{ExactError, row_sum, singular, solve_rows, transpose};
use crate::grid::Shape;
use crate::problem::Stencil;
use crate::stop_token::StopToken;
use rayon::prelude::*;
use std::f64::consts::PI;

/// The ratio between neighbouring shifts: four take an error of the eigenvalues between them down
/// to (√4 − 1)² / (√4 + 1)² = 1/9 or less.
const SHIFT_RATIO: f64 = 4.0;

/// The split matrix with its shifts and its arrays.
pub(super) struct Alternating {
    x: Axis,
    y: Axis,
    shifts: Vec<f64>,
    /// The right-hand side of the next half step.
    sums: Vec<f64>,
    /// The solution of the last one, in rows along x and along y.
    along_x: Vec<f64>,
    along_y: Vec<f64>,
    shape: Shape,
    stencil: Stencil,
}

impl Alternating {
    pub(super) fn new(shape: &Shape, stencil: &Stencil) -> Self {
        let Stencil { d, a, c, e, f, .. } = *stencil;
        // Each axis gets what its symmetric part needs, and half of what is over.
        let over = 0.5 * (d.abs() - (a + c).abs() - (e + f).abs());
        let axis = |n, lower: f64, upper: f64| {
            let diagonal = d.signum() * ((lower + upper).abs() + over);
            Axis { n, lower, diagonal, upper }
        };
        let (x, y) = (axis(shape.nx(), a, c), axis(shape.ny(), e, f));
        let largest = x.largest().max(y.largest());
        let floor = largest / ((shape.nx() + shape.ny()) as f64).powi(2);
        let smallest = x.smallest().min(y.smallest()).max(floor);
        let count = ((largest / smallest).ln() / SHIFT_RATIO.ln()).ceil().max(1.0);
        let shift = |j: i32| {
            let place = (f64::from(j) + 0.5) / count;
            d.signum() * smallest * (largest / smallest).powf(place)
        };
        Self {
            x,
            y,
            shifts: (0..count as i32).map(shift).collect(),
            sums: vec![0.0; shape.points()],
            along_x: vec![0.0; shape.points()],
            along_y: vec![0.0; shape.points()],
            shape: *shape,
            stencil: *stencil,
        }
    }

    /// Replaces `values` (C order) by what one round of the shifts, from zero, makes of A⁻¹
    /// `values`. No product with H or V is formed: `(p − H) w = 2p w − (H + p) w`, and likewise V.
    pub(super) async fn solve(
        &mut self,
        values: &mut [f64],
        cancel: &StopToken,
    ) -> Result<(), ExactError> {
        let Self { x, y, shifts, sums, along_x, along_y, shape, stencil } = self;
        let scale = row_sum(stencil);
        let factors =
            |axis: &Axis, shift| axis.shifted(shift, scale).ok_or_else(|| singular(shape, stencil));
        sums.copy_from_slice(values);
        for (step, &shift) in shifts.iter().enumerate() {
            along_x.copy_from_slice(sums);
            solve_rows(&factors(x, shift)?, along_x, cancel).await?;
            reflect(sums, values, 2.0 * shift, along_x);
            transpose(sums, x.n, along_y, cancel).await?;
            solve_rows(&factors(y, shift)?, along_y, cancel).await?;
            transpose(along_y, y.n, along_x, cancel).await?;
            if let Some(next) = shifts.get(step + 1) {
                reflect(sums, values, shift + next, along_x);
            }
        }
        values.copy_from_slice(along_x);
        Ok(())
    }
}

/// A matrix along one axis: its constant diagonals.
struct Axis {
    n: usize,
    lower: f64,
    diagonal: f64,
    upper: f64,
}

impl Axis {
    /// A bound of its eigenvalues, without their sign.
    fn largest(&self) -> f64 {
        self.diagonal.abs() + self.lower.abs() + self.upper.abs()
    }

    /// The smallest eigenvalue of its symmetric part, without its sign.
    fn smallest(&self) -> f64 {
        self.diagonal.abs() - (self.lower + self.upper).abs() * (PI / (self.n + 1) as f64).cos()
    }

    /// The factors of this matrix plus `shift`.
    fn shifted(&self, shift: f64, scale: f64) -> Option<Tridiagonal> {
        let mut matrix = Tridiagonal::new(self.n);
        matrix.factor(self.lower, self.diagonal + shift, self.upper, scale)?;
        Some(matrix)
    }
}

/// sums = right + factor · solved − sums.
fn reflect(sums: &mut [f64], right: &[f64], factor: f64, solved: &[f64]) {
    sums.par_iter_mut()
        .zip(right)
        .zip(solved)
        .for_each(|((sum, right), solved)| *sum = right + factor * solved - *sum);
}
