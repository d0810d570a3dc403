//! The k subiterations of a tile as one linear map, diagonal in the tile's sine basis.
//!
//! For constant weights, with the halo frozen, u_k = u₀ + Σ_{i<k} Mⁱ r, where r = u₁ − u₀ is the update of the
//! first sweep. M couples neighbours inside the tile alone. Along an axis of T points with weights w⁻ and
//! w⁺ of the previous and the next point, D = diag(ρⁱ) with ρ = √(w⁻ / w⁺) makes it symmetric, and the
//! orthonormal sine matrix S makes it diagonal:
//!
//! ```text
//! u_k = u₀ + D S (Φ_k ∘ (S D⁻¹ r))      S_pi = √(2 / (T + 1)) sin(p i π / (T + 1)),  S² = 1
//! Φ_k = (1 − λᵏ) / (1 − λ)              λ = Σ_axes 2 w cos(p π / (T + 1)),  w = ±√(w⁻ w⁺)
//! Φ_∞ = 1 / (1 − λ)
//! ```
//!
//! along every axis. Its cost does not depend on k. k = ∞ solves every tile exactly; overlapping exact
//! solves are the restricted additive Schwarz method (Cai and Sarkis, SIAM J. Sci. Comput. 21 (1999)).
//!
//! The rounding differs from that of sweeps, so iterates agree with theirs up to rounding, not to the last
//! bit. Sines and powers are those of `libm`, the same on every machine; those of systems differ in their last bits.

use super::Subiterations;
use crate::grid::{AXIS_NAMES, AxisTiling, Tiling};
use crate::problem::Stencil;
use std::f64::consts::PI;

/// The largest side of a tile.
pub(crate) const LARGEST_SIDE: usize = 128;

/// The largest product of ρ^(T − 1) over the axes: scaling by it loses as many digits, and four are what can
/// be spared.
const LARGEST_SCALING: f64 = 1e4;

/// Φ_∞ at most: beyond it a tile is singular to working precision.
const LARGEST_FACTOR: f64 = 1e12;

/// Why subiterations cannot be made in the sine basis.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpectralError {
    /// A tile larger than the tables are made for.
    #[error("tile {side} along {}; it must be at most {LARGEST_SIDE}", AXIS_NAMES[*.axis])]
    Tile {
        /// The axis.
        axis: usize,
        /// The side of the tile.
        side: usize,
    },
    /// Neighbours whose weights have opposite signs, or of which one is missing.
    #[error(
        "the weights {previous} and {next} of the neighbours along {}; they must have the same sign",
        AXIS_NAMES[*.axis]
    )]
    Signs {
        /// The axis.
        axis: usize,
        /// The weight of the previous point.
        previous: f64,
        /// The weight of the next point.
        next: f64,
    },
    /// Weights so unequal that the scaling loses too many digits.
    #[error(
        "the weights {previous} and {next} of the neighbours along {}; over a tile of {side} points \
         they would lose more than four digits",
        AXIS_NAMES[*.axis]
    )]
    Digits {
        /// The axis.
        axis: usize,
        /// The weight of the previous point.
        previous: f64,
        /// The weight of the next point.
        next: f64,
        /// The side of the tile.
        side: usize,
    },
    /// A matrix whose rows are not all the same.
    #[error("a matrix whose rows differ; use another kernel")]
    Rows,
    /// A tile without an exact solution.
    #[error("k inf on tiles whose matrix is singular; use a finite k")]
    Singular,
}

/// The modes of a tile along one axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AxisModes {
    /// Points of the tile.
    side: usize,
    /// ±√(w⁻ w⁺).
    weight: f64,
    /// ρ; `None` where both neighbours have the same entry in a row.
    scaling: Option<f64>,
}

/// The hierarchical iteration with its subiterations made in the sine basis of a tile: valid for the
/// weights that it was made for.
#[derive(Clone, Debug, PartialEq)]
pub struct Spectral {
    k: Subiterations,
    tiling: Tiling,
    axes: Vec<AxisModes>,
}

impl AxisModes {
    fn new(
        axis: usize,
        tiles: &AxisTiling,
        [previous, next]: [f64; 2],
        is_symmetric: bool,
    ) -> Result<Self, SpectralError> {
        let side = tiles.tile();
        if side > LARGEST_SIDE {
            return Err(SpectralError::Tile { axis, side });
        }
        if is_symmetric {
            return Ok(Self { side, weight: previous, scaling: None });
        }
        if side == 1 {
            // There are no neighbours inside the tile.
            return Ok(Self { side, weight: 0.0, scaling: None });
        }
        let ratio = previous / next;
        if !(ratio > 0.0 && ratio.is_finite()) {
            return Err(SpectralError::Signs { axis, previous, next });
        }
        let weight = (previous * next).sqrt().copysign(previous);
        Ok(Self { side, weight, scaling: Some(ratio.sqrt()) })
    }

    /// Points of the tile.
    pub fn side(&self) -> usize {
        self.side
    }

    /// S_pi of mode `p` at point `i`, both from 1 to T.
    pub fn sine(&self, p: usize, i: usize) -> f64 {
        let period = 2 * (self.side + 1);
        let angle = (p * i % period) as f64 * PI / (self.side + 1) as f64;
        (2.0 / (self.side + 1) as f64).sqrt() * libm::sin(angle)
    }

    /// What r is multiplied by at point `i`, counted from 0, to become symmetric; `None` if it is.
    /// The result is divided by the same. The middle of the tile keeps its size.
    pub fn scale(&self, i: usize) -> Option<f64> {
        let from_middle = i as f64 - 0.5 * (self.side - 1) as f64;
        self.scaling.map(|scaling| libm::pow(scaling, -from_middle))
    }

    /// The contribution of this axis to 1 − λ in mode `p`, without 1 − Σ 2 w: 4 w sin²(p π / 2 (T + 1)).
    fn fall(&self, p: usize) -> f64 {
        let half_angle = 0.5 * p as f64 * PI / (self.side + 1) as f64;
        4.0 * self.weight * libm::sin(half_angle).powi(2)
    }
}

impl Spectral {
    /// A cycle of `k` subiterations in the tiles of a tiling.
    ///
    /// # Errors
    /// [`SpectralError`] if the weights or the tile do not allow it.
    pub fn new(
        k: Subiterations,
        tiling: &Tiling,
        stencil: &Stencil,
    ) -> Result<Self, SpectralError> {
        let (mut axes, mut loss) = (Vec::new(), 0.0);
        for (axis, (tiles, pair)) in tiling.axes().iter().zip(stencil.neighbours()).enumerate() {
            let [previous, next] = pair.map(|entry| -entry / stencil.d);
            let modes = AxisModes::new(axis, tiles, [previous, next], pair[0] == pair[1])?;
            loss += modes.scaling.map_or(0.0, |it| (it.ln() * (modes.side - 1) as f64).abs());
            if loss > LARGEST_SCALING.ln() {
                return Err(SpectralError::Digits { axis, previous, next, side: modes.side });
            }
            axes.push(modes);
        }
        let made = Self { k, axes, tiling: tiling.clone() };
        if k == Subiterations::Infinite && !made.is_regular() {
            return Err(SpectralError::Singular);
        }
        Ok(made)
    }

    /// Subiterations of a cycle.
    pub fn k(&self) -> Subiterations {
        self.k
    }

    /// How the grid is cut.
    pub fn tiling(&self) -> &Tiling {
        &self.tiling
    }

    /// Whether 1 − λ is far enough from 0 in every mode.
    fn is_regular(&self) -> bool {
        let falls: [Vec<f64>; 3] = std::array::from_fn(|axis| {
            let modes = |axis: &AxisModes| (1..=axis.side).map(|p| axis.fall(p)).collect();
            self.axes.get(axis).map_or_else(|| vec![0.0], modes)
        });
        let rest = self.rest();
        let is_regular = |sum: f64| sum.abs() * LARGEST_FACTOR > 1.0;
        let [x, y, z] = &falls;
        z.iter().all(|z| y.iter().all(|y| x.iter().all(|x| is_regular(rest + x + y + z))))
    }

    /// The modes of every axis, x first.
    pub(super) fn axes(&self) -> &[AxisModes] {
        &self.axes
    }

    /// 1 − Σ 2 w.
    fn rest(&self) -> f64 {
        2.0 * self.axes.iter().fold(0.5, |rest, axis| rest - axis.weight)
    }

    /// Multiplications with an addition that the products of a cycle need, in all tiles of one system: with matrices of
    /// half of a side, there and back along every axis, or, in 1D, both at once.
    #[cfg(feature = "cuda")]
    pub(super) fn products(&self) -> f64 {
        let sides = self.axes.iter().map(|axis| axis.side as f64);
        let points: f64 = self.tiling.count() as f64 * sides.product::<f64>();
        let of_axis = |axis: &AxisModes| {
            let [sums, differences] = [axis.side.div_ceil(2), axis.side / 2];
            (sums * sums + differences * differences) as f64 / axis.side as f64
        };
        let times = if self.axes.len() == 1 { 1.0 } else { 2.0 };
        times * points * self.axes.iter().map(of_axis).sum::<f64>()
    }

    /// Φ in mode `p` of every axis, from 1.
    pub(super) fn factor(&self, p: &[usize]) -> f64 {
        let falls = self.axes.iter().zip(p).map(|(axis, p)| axis.fall(*p));
        factor(self.k, falls.fold(self.rest(), |sum, fall| sum + fall))
    }
}

/// Φ_k, from 1 − λ, which is small and exact where λ is near 1.
fn factor(k: Subiterations, one_minus: f64) -> f64 {
    let Subiterations::Finite(k) = k else { return 1.0 / one_minus };
    if one_minus == 0.0 {
        return k as f64;
    }
    let lambda = 1.0 - one_minus;
    // 1 − λᵏ without cancellation: k may be a million.
    let power = if lambda > 0.0 {
        -libm::expm1(k as f64 * libm::log1p(-one_minus))
    } else if lambda < 0.0 {
        let magnitude = libm::exp(k as f64 * libm::log(-lambda));
        1.0 - if k.is_multiple_of(2) { magnitude } else { -magnitude }
    } else {
        1.0
    };
    power / one_minus
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_factor_is_a_geometric_sum(k in 1..300_usize, one_minus in 1e-6..1.999_f64) {
            let lambda = 1.0 - one_minus;
            let sum = (0..k).rev().fold(0.0, |sum, _| 1.0 + lambda * sum);
            let found = factor(k.into(), one_minus);
            prop_assert!((found - sum).abs() <= 1e-12 * sum.abs().max(1.0), "{found} {sum}");
        }
    }

    #[test]
    fn the_factor_of_many_subiterations_is_that_of_infinitely_many() {
        for one_minus in [1e-3, 0.5, 1.0, 1.5] {
            let [many, all] =
                [1_000_000.into(), Subiterations::Infinite].map(|k| factor(k, one_minus));
            assert!((many - all).abs() <= 1e-14 * all, "{many} {all}");
        }
        assert_eq!(factor(7.into(), 0.0), 7.0);
    }

    #[cfg(feature = "cuda")]
    #[test]
    fn a_cycle_needs_products_of_half_of_a_side() {
        let of = |axes: &[usize], tile: usize| {
            let tiling = Tiling::new(axes, &[tile; 3][..axes.len()], &[0; 3]).unwrap();
            let stencil = Stencil { d: 6.0, a: -1.0, c: -1.0, e: -1.0, f: -1.0, p: -1.0, q: -1.0 };
            Spectral::new(4.into(), &tiling, &stencil).unwrap().products()
        };
        assert_eq!(of(&[128], 32), 128.0 * 16.0);
        assert_eq!(of(&[64, 64], 32), 64.0 * 64.0 * 2.0 * 32.0);
        assert_eq!(of(&[32, 32, 32], 16), 32.0_f64.powi(3) * 3.0 * 16.0);
        // 2² + 1² a row.
        assert_eq!(of(&[3], 3), 5.0);
    }

    #[test]
    fn what_the_weights_do_not_allow_is_refused_with_a_reason() {
        let refused = |neighbours: [f64; 2], side: usize, k: Subiterations| {
            let stencil =
                Stencil { d: 4.0, a: neighbours[0], c: neighbours[1], ..Stencil::default() };
            let tiling = Tiling::new(&[300], &[side], &[0]).unwrap();
            Spectral::new(k, &tiling, &stencil).err().map(|error| error.to_string())
        };
        assert_eq!(refused([-1.0, -1.0], 128, 4.into()), None);
        let said = |found: Option<String>, part: &str| assert!(found.unwrap().contains(part));
        said(refused([-1.0, -1.0], 129, 4.into()), "at most 128");
        said(refused([-1.0, 1.0], 8, 4.into()), "same sign");
        said(refused([-1.0, 0.0], 8, 4.into()), "same sign");
        said(refused([-2.0, -1.0], 64, 4.into()), "four digits");
        assert_eq!(refused([-2.0, -1.0], 16, 4.into()), None);
        // λ = 2 · 2 cos(π / 3) / 4 · … = 1 on a tile of two points.
        said(refused([-4.0, -4.0], 2, Subiterations::Infinite), "singular");
        assert_eq!(refused([-4.0, -4.0], 2, 4.into()), None);
    }
}
