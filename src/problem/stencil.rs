//! A matrix row, and the weights that it becomes.

use super::matrix::is_dominant;
use crate::grid::{AXIS_NAMES, Real, Shape};
use serde::{Deserialize, Serialize};

/// The constants of a matrix row with 2, 4 or 6 neighbours (Islam & Wang, long version, Eqs. 4 and
/// 11; p and q continue them in 3D):
/// `d·u_ijk + a·u_{i−1} + c·u_{i+1} + e·u_{j−1} + f·u_{j+1} + p·u_{k−1} + q·u_{k+1} = b_ijk`.
///
/// Entries are those of A itself, with its 1/h² scaling; those of axes that the grid does not have
/// are 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stencil {
    /// The diagonal.
    pub d: f64,
    /// The previous point along x.
    pub a: f64,
    /// The next point along x.
    pub c: f64,
    /// The previous point along y.
    #[serde(default)]
    pub e: f64,
    /// The next point along y.
    #[serde(default)]
    pub f: f64,
    /// The previous point along z.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub p: f64,
    /// The next point along z.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub q: f64,
}

/// Why a stencil was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StencilError {
    /// The matrix row cannot be divided by its diagonal.
    #[error("stencil.d is 0; the diagonal must not be zero")]
    ZeroDiagonal,
    /// A coefficient is NaN or infinite.
    #[error("stencil.{name} is {value}; coefficients must be finite numbers")]
    NotFinite {
        /// Which coefficient.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// A neighbour along an axis that the grid does not have.
    #[error("stencil.{name} is {value}, but a {dim}D grid has no neighbours along {}; leave it out or 0", AXIS_NAMES[*.axis])]
    NoSuchAxis {
        /// Which coefficient.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The axis.
        axis: usize,
        /// The axes of the grid.
        dim: usize,
    },
}

/// The weights of a Jacobi update, `u_new = g + Σ w_i u_i` with `w_i = −a_i / d`.
///
/// Their form fixes the order of operations, which is the same in every back end, so that the
/// same bits come out everywhere. With `fma(a, b, c) = a·b + c` rounded once, `x⁻` the previous
/// point along x and `x⁺` the next:
///
/// | form | 1D | 2D | 3D |
/// |---|---|---|---|
/// | `Isotropic` | `fma(w, x⁻ + x⁺, g)` | `fma(w, (x⁻ + x⁺) + (y⁻ + y⁺), g)` | `fma(w, ((x⁻ + x⁺) + (y⁻ + y⁺)) + (z⁻ + z⁺), g)` |
/// | `PerAxis` | – | `fma(w_x, x⁻ + x⁺, fma(w_y, y⁻ + y⁺, g))` | the same around `fma(w_z, z⁻ + z⁺, g)` |
/// | `General` | `fma(w_x⁻, x⁻, fma(w_x⁺, x⁺, g))` | the same around `fma(w_y⁻, y⁻, fma(w_y⁺, y⁺, g))` | the same around `fma(w_z⁻, z⁻, fma(w_z⁺, z⁺, g))` |
/// | `PerPoint` | that of `General` | that of `General` | – |
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weights<R> {
    /// All weights equal.
    Isotropic(R),
    /// Equal along each axis of a 2D or 3D grid; 0 for axes that it does not have.
    PerAxis([R; 3]),
    /// Any weights: along each axis those of the previous and of the next point.
    General([[R; 2]; 3]),
    /// Weights of its own for every point of a 1D or 2D grid, which lie in [`RowArrays`](super::RowArrays).
    PerPoint,
}

fn is_zero(entry: &f64) -> bool {
    *entry == 0.0
}

impl Stencil {
    /// −∇² with central differences on the unit interval, square or cube, spacing h = 1/(n+1).
    pub fn poisson(shape: &Shape) -> Self {
        Self::convection_diffusion(shape, [0.0; 3])
    }

    /// −∇² + v·∇ with central differences on the unit interval, square or cube; `velocity` is
    /// (v_x, v_y, v_z) in units of the diffusivity over the side. Components along axes that the
    /// grid does not have are ignored.
    pub fn convection_diffusion(shape: &Shape, velocity: [f64; 3]) -> Self {
        let mut stencil = Self::default();
        for (axis, &n) in shape.axes().iter().enumerate() {
            let inverse_h = (n + 1) as f64;
            let (diffusion, convection) = (inverse_h * inverse_h, 0.5 * velocity[axis] * inverse_h);
            stencil.d += 2.0 * diffusion;
            let neighbours = [-diffusion - convection, -diffusion + convection];
            let [previous, next] = stencil.along_mut(axis);
            [*previous, *next] = neighbours;
        }
        stencil
    }

    /// The entries of the neighbours: along each axis, x first, the previous and the next point.
    pub fn neighbours(&self) -> [[f64; 2]; 3] {
        [[self.a, self.c], [self.e, self.f], [self.p, self.q]]
    }

    fn along_mut(&mut self, axis: usize) -> [&mut f64; 2] {
        match axis {
            0 => [&mut self.a, &mut self.c],
            1 => [&mut self.e, &mut self.f],
            _ => [&mut self.p, &mut self.q],
        }
    }

    /// Checks the constants against the shape they are to be used on.
    ///
    /// # Errors
    /// [`StencilError`] if the diagonal is zero, a constant is not finite, or there are neighbours
    /// along an axis that the grid does not have.
    pub fn check(&self, shape: &Shape) -> Result<(), StencilError> {
        const NAMES: [[&str; 2]; 3] = [["a", "c"], ["e", "f"], ["p", "q"]];
        let entries = || {
            let pairs = NAMES.into_iter().zip(self.neighbours()).enumerate();
            pairs.flat_map(|(axis, (names, pair))| {
                names.into_iter().zip(pair).map(move |(name, value)| (axis, name, value))
            })
        };
        for (name, value) in
            [("d", self.d)].into_iter().chain(entries().map(|(_, name, value)| (name, value)))
        {
            if !value.is_finite() {
                return Err(StencilError::NotFinite { name, value });
            }
        }
        if self.d == 0.0 {
            return Err(StencilError::ZeroDiagonal);
        }
        let dim = shape.dim();
        match entries().find(|&(axis, _, value)| axis >= dim && value != 0.0) {
            Some((axis, name, value)) => Err(StencilError::NoSuchAxis { name, value, axis, dim }),
            None => Ok(()),
        }
    }

    /// The weights of the update on a grid of `dim` axes, computed in `f64` and rounded once.
    pub fn weights<R: Real>(&self, dim: usize) -> Weights<R> {
        let weight = |entry: f64| R::from_f64(-entry / self.d);
        let axes = &self.neighbours()[..dim];
        if axes.iter().all(|[previous, next]| previous == next) {
            if axes.iter().all(|[entry, _]| *entry == self.a) {
                return Weights::Isotropic(weight(self.a));
            }
            return Weights::PerAxis(self.neighbours().map(|[entry, _]| weight(entry)));
        }
        Weights::General(self.neighbours().map(|pair| pair.map(weight)))
    }

    /// Σ|a_i| / |d| of a row: at most 1 where the matrix is diagonally dominant, which guarantees
    /// that Jacobi's iteration converges (Islam & Wang, section II-A).
    pub fn dominance(&self) -> f64 {
        self.neighbours().into_iter().flatten().map(f64::abs).sum::<f64>() / self.d.abs()
    }

    /// Whether the matrix is diagonally dominant, up to rounding.
    pub fn is_dominant(&self) -> bool {
        is_dominant(self.dominance())
    }
}
