//! The matrix: one row of constants for every interior point.

use crate::grid::{Real, Shape};
use serde::{Deserialize, Serialize};

/// The constants of a tri- or pentadiagonal matrix row (Islam & Wang, long version, Eqs. 4 and
/// 11): `d·u_ij + a·u_{i−1,j} + c·u_{i+1,j} + e·u_{i,j−1} + f·u_{i,j+1} = b_ij`.
///
/// Entries are those of A itself, with its 1/h² scaling; `e` and `f` are 0 for lines.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stencil {
    /// The diagonal.
    pub d: f64,
    /// West: the point before, along x.
    pub a: f64,
    /// East: the point after, along x.
    pub c: f64,
    /// South: the point before, along y.
    #[serde(default)]
    pub e: f64,
    /// North: the point after, along y.
    #[serde(default)]
    pub f: f64,
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
    /// Lines have no neighbours along y.
    #[error("stencil.{name} is {value}, but a line has no neighbours along y; leave it out or 0")]
    NoSuchAxis {
        /// `e` or `f`.
        name: &'static str,
        /// Its value.
        value: f64,
    },
}

/// The weights of a Jacobi update, `u_new = g + Σ w_i u_i` with `w_i = −a_i / d`.
///
/// Their form fixes the order of operations, which is the same in every back end, so that the
/// same bits come out everywhere. With `fma(a, b, c) = a·b + c` rounded once:
///
/// | form | 1D | 2D |
/// |---|---|---|
/// | `Isotropic` | `fma(w, west + east, g)` | `fma(w, (west + east) + (south + north), g)` |
/// | `PerAxis` | – | `fma(w_x, west + east, fma(w_y, south + north, g))` |
/// | `General` | `fma(w_w, west, fma(w_e, east, g))` | `fma(w_w, west, fma(w_e, east, fma(w_s, south, fma(w_n, north, g))))` |
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weights<R> {
    /// All weights equal.
    Isotropic(R),
    /// Equal along each axis of a plane.
    PerAxis {
        /// West and east.
        x: R,
        /// South and north.
        y: R,
    },
    /// Any weights.
    General {
        /// Of the point before, along x.
        west: R,
        /// Of the point after, along x.
        east: R,
        /// Of the point before, along y; 0 for lines.
        south: R,
        /// Of the point after, along y; 0 for lines.
        north: R,
    },
}

impl Stencil {
    /// −∇² with central differences on the unit interval or square, spacing h = 1/(n+1).
    pub fn poisson(shape: &Shape) -> Self {
        Self::convection_diffusion(shape, [0.0, 0.0])
    }

    /// −∇² + v·∇ with central differences on the unit interval or square; `velocity` is (v_x, v_y)
    /// in units of the diffusivity over the side.
    pub fn convection_diffusion(shape: &Shape, velocity: [f64; 2]) -> Self {
        // 1/h² and v/(2h) of an axis.
        let axis = |n: usize, v: f64| {
            let inverse_h = (n + 1) as f64;
            (inverse_h * inverse_h, 0.5 * v * inverse_h)
        };
        let (cx, vx) = axis(shape.nx(), velocity[0]);
        if shape.dim() == 1 {
            return Self { d: 2.0 * cx, a: -cx - vx, c: -cx + vx, e: 0.0, f: 0.0 };
        }
        let (cy, vy) = axis(shape.ny(), velocity[1]);
        Self { d: 2.0 * cx + 2.0 * cy, a: -cx - vx, c: -cx + vx, e: -cy - vy, f: -cy + vy }
    }

    /// Checks the constants against the shape they are to be used on.
    ///
    /// # Errors
    /// [`StencilError`] if the diagonal is zero, a constant is not finite, or a line is given
    /// neighbours along y.
    pub fn check(&self, shape: &Shape) -> Result<(), StencilError> {
        for (name, value) in
            [("d", self.d), ("a", self.a), ("c", self.c), ("e", self.e), ("f", self.f)]
        {
            if !value.is_finite() {
                return Err(StencilError::NotFinite { name, value });
            }
        }
        if self.d == 0.0 {
            return Err(StencilError::ZeroDiagonal);
        }
        if shape.dim() == 1 {
            for (name, value) in [("e", self.e), ("f", self.f)] {
                if value != 0.0 {
                    return Err(StencilError::NoSuchAxis { name, value });
                }
            }
        }
        Ok(())
    }

    /// The weights of the update on a grid of `dim` axes, computed in `f64` and rounded once.
    pub fn weights<R: Real>(&self, dim: usize) -> Weights<R> {
        let weight = |entry: f64| R::from_f64(-entry / self.d);
        let along_x = self.a == self.c;
        if dim == 1 {
            if along_x {
                return Weights::Isotropic(weight(self.a));
            }
        } else if along_x && self.e == self.f {
            if self.a == self.e {
                return Weights::Isotropic(weight(self.a));
            }
            return Weights::PerAxis { x: weight(self.a), y: weight(self.e) };
        }
        Weights::General {
            west: weight(self.a),
            east: weight(self.c),
            south: weight(self.e),
            north: weight(self.f),
        }
    }

    /// Σ|a_i| / |d| of a row: at most 1 where the matrix is diagonally dominant, which is what
    /// makes Jacobi's iteration converge for certain (Islam & Wang, section II-A).
    pub fn dominance(&self) -> f64 {
        (self.a.abs() + self.c.abs() + self.e.abs() + self.f.abs()) / self.d.abs()
    }

    /// Whether the matrix is diagonally dominant, up to rounding.
    pub fn is_dominant(&self) -> bool {
        self.dominance() <= 1.0 + 4.0 * f64::EPSILON
    }
}
