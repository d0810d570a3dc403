//! Planes that are symmetric along an axis, or can be made so: a sine transform along it leaves
//! one tridiagonal system a mode (Buzbee, Golub and Nielson, *On direct methods for solving
//! Poisson's equations*, SIAM J. Numer. Anal. 7 (1970), section 2).
//!
//! Couplings (lower, upper) of the same sign are made symmetric by u_j = ρ^j v_j with
//! ρ = √(lower / upper). That multiplies rounding errors by ρⁿ, which refinement takes away again
//! as long as there is room for it.

use super::tridiagonal::Tridiagonal;
use super::{ExactError, each_row, row_sum, singular, transpose};
use crate::grid::Shape;
use crate::problem::Stencil;
use rustdct::{DctPlanner, Dst1};
use std::f64::consts::PI;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The largest ρⁿ: half of an `f64`'s digits are left, so that each correction adds eight.
const LARGEST_SCALING: f64 = 1e8;

/// Which axis is transformed, and how it is made symmetric.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    along_x: bool,
    rho: f64,
}

impl Plan {
    /// The axis that needs the milder scaling, x if both need the same; `None` if neither can be
    /// made symmetric.
    pub(super) fn new(shape: &Shape, stencil: &Stencil) -> Option<Self> {
        let x = scaling(shape.nx(), stencil.a, stencil.c);
        let y = scaling(shape.ny(), stencil.e, stencil.f);
        let strength = |scaling: Option<(f64, f64)>| scaling.map_or(f64::INFINITY, |s| s.1);
        let along_x = strength(x) <= strength(y);
        let (rho, strength) = if along_x { x } else { y }?;
        (strength <= LARGEST_SCALING.ln()).then_some(Self { along_x, rho })
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

/// A plan with its modes and its array.
pub(super) struct Sine {
    along_x: bool,
    modes: Modes,
    work: Vec<f64>,
}

impl Sine {
    pub(super) fn new(plan: Plan, shape: &Shape, stencil: &Stencil) -> Self {
        let modes = Modes::new(plan, shape, stencil);
        Self { along_x: plan.along_x, modes, work: vec![0.0; shape.points()] }
    }

    /// Replaces `values` (C order) by A⁻¹ `values`.
    pub(super) fn solve(
        &mut self,
        values: &mut [f64],
        cancel: &AtomicBool,
    ) -> Result<(), ExactError> {
        let Self { along_x, modes, work } = self;
        if *along_x {
            return modes.solve(values, work, cancel);
        }
        transpose(values, modes.height, work, cancel)?;
        modes.solve(work, values, cancel)?;
        transpose(work, modes.width, values, cancel)
    }
}

/// The matrix in its modes, on rows that lie along the transformed axis.
struct Modes {
    width: usize,
    height: usize,
    transform: Arc<dyn Dst1<f64>>,
    /// What values are multiplied by before and after: ρ^∓j, and 2 / (n+1), since two transforms
    /// of rustdct multiply by (n+1) / 2.
    before: Vec<f64>,
    after: Vec<f64>,
    /// The diagonal of each mode's matrix, and what is below and above it in all of them.
    diagonals: Vec<f64>,
    lower: f64,
    upper: f64,
    shape: Shape,
    stencil: Stencil,
}

impl Modes {
    fn new(Plan { along_x, rho }: Plan, shape: &Shape, stencil: &Stencil) -> Self {
        let Stencil { d, a, c, e, f, .. } = *stencil;
        let (width, height, along, lower, upper) = if along_x {
            (shape.nx(), shape.ny(), a, e, f)
        } else {
            (shape.ny(), shape.nx(), e, a, c)
        };
        let middle = 0.5 * (width - 1) as f64;
        let power = |j: usize| rho.powf(j as f64 - middle);
        let modes = (width + 1) as f64;
        Self {
            width,
            height,
            transform: DctPlanner::new().plan_dst1(width),
            before: (0..width).map(|j| power(j).recip()).collect(),
            after: (0..width).map(|j| power(j) * 2.0 / modes).collect(),
            diagonals: (1..=width)
                .map(|k| d + 2.0 * (along / rho) * (PI * k as f64 / modes).cos())
                .collect(),
            lower,
            upper,
            shape: *shape,
            stencil: *stencil,
        }
    }

    /// Solves for rows of `values`; `work` is as long.
    fn solve(
        &self,
        values: &mut [f64],
        work: &mut [f64],
        cancel: &AtomicBool,
    ) -> Result<(), ExactError> {
        let Self { width, height, .. } = *self;
        let scale = row_sum(&self.stencil);
        let scratch = || vec![0.0; self.transform.get_scratch_len()];
        each_row(values, width, cancel, scratch, |scratch, _, row| {
            multiply(row, &self.before);
            self.transform(row, scratch);
            Ok(())
        })?;
        transpose(values, width, work, cancel)?;
        each_row(
            work,
            height,
            cancel,
            || Tridiagonal::new(height),
            |matrix, mode, row| {
                matrix
                    .factor(self.lower, self.diagonals[mode], self.upper, scale)
                    .ok_or_else(|| singular(&self.shape, &self.stencil))?;
                matrix.solve(row);
                Ok(())
            },
        )?;
        transpose(work, height, values, cancel)?;
        each_row(values, width, cancel, scratch, |scratch, _, row| {
            self.transform(row, scratch);
            multiply(row, &self.after);
            Ok(())
        })
    }

    /// The sine transform of a row. rustdct 0.7.1 counts on zeros in a scratch that it leaves
    /// dirty; what lies there doubles with every row.
    fn transform(&self, row: &mut [f64], scratch: &mut [f64]) {
        scratch.fill(0.0);
        self.transform.process_dst1_with_scratch(row, scratch);
    }
}

/// Multiplies values by factors, one by one.
fn multiply(values: &mut [f64], factors: &[f64]) {
    for (value, factor) in values.iter_mut().zip(factors) {
        *value *= factor;
    }
}
