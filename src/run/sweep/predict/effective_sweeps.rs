//! Effective sweeps of a cycle: the sweeps of Jacobi's iteration that reduce a long wave as much.
//!
//! Long waves decide how many cycles a reduction takes. On the scale of a tile such a wave is a parabola,
//! which a sweep of Jacobi's iteration raises by the same amount at every point, as a constant source does.
//! So the cycle is made on one tile of a periodic tiling with a source of 1: a sweep of Jacobi's iteration
//! raises all points by 1, a cycle with frozen halos raises them by less per sweep. After some cycles every
//! point rises by the same amount per cycle, and that amount is the number of effective sweeps, however
//! large the grid is (the first two terms of homogenization; Bensoussan, Lions & Papanicolaou, *Asymptotic
//! Analysis for Periodic Structures*, 1978). The differences between the points by then are the pattern of
//! the tile borders; it makes the residual larger than that of the smooth wave, by `residual_amplification`.
//!
//! Checkerboard waves change sign from point to point and from sweep to sweep. Jacobi's iteration reduces
//! them as slowly as long waves, but a frozen halo does not follow the change of sign. The factor by which
//! a cycle reduces one is `checkerboard`.

use crate::grid::Tiling;
use crate::run::sweep::stepping::ShouldStop;

/// The rise is even when that of no two points differs by more than this part of it.
const EVEN: f64 = 1e-5;

/// The most point updates that are spent: about half a second.
const MOST_UPDATES: usize = 500_000_000;

/// The fewest cycles after which the rise of the largest tiles is even.
const FEWEST_CYCLES: usize = 8;

/// Cycles over which the decay of checkerboard waves is measured …
const CHECKERBOARD_CYCLES: i32 = 64;

/// … unless they are smaller than this before.
const NEGLIGIBLE: f64 = 1e-9;

/// What one cycle does to long waves and to checkerboard waves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct EffectiveSweeps {
    /// Sweeps of Jacobi's iteration that reduce a long wave as much: at most k.
    pub sweeps: f64,
    /// ‖r‖₂ over that of the long wave alone: at least 1.
    pub residual_amplification: f64,
    /// Factor by which the cycle reduces a checkerboard wave: 0 to 1.
    pub checkerboard: f64,
}

/// The effective sweeps of a cycle of `k` sweeps on a periodic tiling of a 1D or 2D grid, with the weights
/// of the neighbours along x and y, which add up to ½. `None` in 3D, where an axis has a single tile, where
/// it would take too long, or if it was stopped.
pub(super) fn effective_sweeps(
    k: usize,
    tiling: &Tiling,
    weights: [f64; 2],
    should_stop: ShouldStop<'_>,
) -> Option<EffectiveSweeps> {
    if tiling.is_exact(k) {
        let sweeps = k as f64;
        return Some(EffectiveSweeps { sweeps, residual_amplification: 1.0, checkerboard: 1.0 });
    }
    let axes = tiling.axes();
    if axes.len() > 2 || axes.iter().any(|axis| axis.count() == 1) {
        return None;
    }
    // Before anything is allocated: a tile may have as many points as the grid.
    let points: usize = axes.iter().map(|axis| axis.tile() + 2).product();
    if k.saturating_mul(points) > MOST_UPDATES / FEWEST_CYCLES {
        return None;
    }
    let mut updates_left = MOST_UPDATES;
    let mut may_cycle = |tile: &PeriodicTile| {
        updates_left = updates_left.saturating_sub(tile.updates(k));
        updates_left > 0 && !should_stop()
    };
    let mut tile = PeriodicTile::new(tiling, 0.0);
    let mut sweeps = 0.0;
    let mut is_even = false;
    while !is_even {
        if !may_cycle(&tile) {
            return None;
        }
        let before = tile.owned.clone();
        tile.cycle(k, weights, 1.0);
        let rises = tile.owned.iter().zip(&before).map(|(after, before)| after - before);
        let (mut low, mut high, mut sum) = (f64::INFINITY, 0.0_f64, 0.0);
        for rise in rises {
            (low, high, sum) = (low.min(rise), high.max(rise), sum + rise);
        }
        sweeps = sum / before.len() as f64;
        is_even = high - low <= EVEN * sweeps;
        // Only differences between points matter; values that grow would lose digits.
        let first = tile.owned[0];
        tile.owned.iter_mut().for_each(|value| *value -= first);
    }
    let residual_amplification = tile.residual_amplification(weights).max(1.0);
    let mut tile = PeriodicTile::new(tiling, 1.0);
    let mut size = 1.0;
    let mut left = [1.0; 2];
    for half in &mut left {
        for _ in 0..CHECKERBOARD_CYCLES / 2 {
            if size < NEGLIGIBLE {
                break;
            }
            if !may_cycle(&tile) {
                return None;
            }
            // With every other sign changed, a checkerboard wave is a smooth one.
            tile.cycle(k, weights.map(|weight| -weight), 0.0);
            let sum = tile.owned.iter().map(|value| value * value).sum::<f64>();
            size = (sum / tile.owned.len() as f64).sqrt();
        }
        *half = size;
    }
    // The first half still holds components that decay quickly.
    let checkerboard = if size < NEGLIGIBLE {
        0.0
    } else {
        (left[1] / left[0]).powf(2.0 / f64::from(CHECKERBOARD_CYCLES)).min(1.0)
    };
    Some(EffectiveSweeps { sweeps, residual_amplification, checkerboard })
}

/// One tile of a periodic tiling. A 1D tile is a 2D tile of one row whose neighbours along y weigh 0.
struct PeriodicTile {
    /// Owned points along x and y: the period of the tiling.
    owns: [usize; 2],
    /// Points of the tile with its halo along x and y.
    whole: [usize; 2],
    /// Points from the halo's corner to the first owned point.
    first: [usize; 2],
    /// Values of the owned points, x fastest.
    owned: Vec<f64>,
    from: Vec<f64>,
    to: Vec<f64>,
}

impl PeriodicTile {
    fn new(tiling: &Tiling, value: f64) -> Self {
        let axis = |place: usize| {
            tiling.axes().get(place).map_or((1, 0), |axis| (axis.tile(), axis.overlap()))
        };
        let axes = [axis(0), axis(1)];
        let owns = axes.map(|(tile, overlap)| tile - overlap);
        let whole = axes.map(|(tile, _)| tile + 2);
        let first = axes.map(|(_, overlap)| 1 + overlap / 2);
        let all = vec![0.0; whole[0] * whole[1]];
        Self {
            owns,
            whole,
            first,
            owned: vec![value; owns[0] * owns[1]],
            from: all.clone(),
            to: all,
        }
    }

    fn updates(&self, k: usize) -> usize {
        k * self.from.len()
    }

    /// One cycle: fills the tile and its halo from the owned points, makes `k` sweeps, and takes the owned
    /// points back.
    fn cycle(&mut self, k: usize, weights: [f64; 2], source: f64) {
        let Self { owns, whole, first, .. } = *self;
        let wrapped =
            |at: usize, axis: usize| (at + owns[axis] * whole[axis] - first[axis]) % owns[axis];
        for (y, row) in self.from.chunks_mut(whole[0]).enumerate() {
            let owned = &self.owned[wrapped(y, 1) * owns[0]..][..owns[0]];
            for (x, value) in row.iter_mut().enumerate() {
                *value = owned[wrapped(x, 0)];
            }
        }
        self.to.copy_from_slice(&self.from);
        for _ in 0..k {
            sweep(&self.from, &mut self.to, whole[0], weights, source);
            std::mem::swap(&mut self.from, &mut self.to);
        }
        for (y, owned) in self.owned.chunks_mut(owns[0]).enumerate() {
            owned.copy_from_slice(&self.from[(y + first[1]) * whole[0] + first[0]..][..owns[0]]);
        }
    }

    /// The root mean square of the residual over its mean.
    fn residual_amplification(&self, [along_x, along_y]: [f64; 2]) -> f64 {
        let [width, height] = self.owns;
        let at = |x: usize, y: usize| self.owned[(y % height) * width + x % width];
        let (mut sum, mut squares) = (0.0, 0.0);
        for y in 0..height {
            for x in 0..width {
                let x_sum = at(x + 1, y) + at(x + width - 1, y);
                let y_sum = at(x, y + 1) + at(x, y + height - 1);
                let residual = 1.0 + along_x * x_sum + along_y * y_sum - at(x, y);
                (sum, squares) = (sum + residual, squares + residual * residual);
            }
        }
        (squares * (width * height) as f64).sqrt() / sum
    }
}

/// One sweep over all points but the halo.
fn sweep(from: &[f64], to: &mut [f64], width: usize, [along_x, along_y]: [f64; 2], source: f64) {
    let rows = from.windows(3 * width).step_by(width);
    for (rows, to) in rows.zip(to[width..].chunks_mut(width)) {
        let (y_prev, rest) = rows.split_at(width);
        let (row, y_next) = rest.split_at(width);
        for x in 1..width - 1 {
            to[x] =
                source + along_x * (row[x - 1] + row[x + 1]) + along_y * (y_prev[x] + y_next[x]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(axes: &[usize], k: usize, tile: usize, overlap: usize) -> EffectiveSweeps {
        let dim = axes.len();
        let tiling = Tiling::new(axes, &vec![tile; dim], &vec![overlap; dim]).unwrap();
        let weights = if dim == 1 { [0.5, 0.0] } else { [0.25, 0.25] };
        effective_sweeps(k, &tiling, weights, &|| false).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Effective sweeps are at most k, equal to k where the cycle is exact, and grow with k and with the
        /// overlap.
        #[test]
        fn effective_sweeps_grow_with_k_and_overlap(
            is_2d in any::<bool>(), k in 1..20_usize, half in 2..6_usize, overlap in 0..3_usize,
        ) {
            let axes = if is_2d { &[64, 64][..] } else { &[64] };
            let (tile, overlap) = (2 * half, 2 * overlap.min(half - 2));
            let here = of(axes, k, tile, overlap);
            prop_assert!(here.sweeps > 0.0 && here.sweeps <= k as f64 * (1.0 + EVEN));
            prop_assert!(here.residual_amplification >= 1.0 && (0.0..=1.0).contains(&here.checkerboard));
            if overlap >= 2 * (k - 1) {
                let exact =
                    EffectiveSweeps { sweeps: k as f64, residual_amplification: 1.0, checkerboard: 1.0 };
                prop_assert_eq!(here, exact);
            } else {
                prop_assert!(here.checkerboard < 1.0);
            }
            let slack = 1.0 - 3.0 * EVEN;
            prop_assert!(of(axes, k + 1, tile, overlap).sweeps >= here.sweeps * slack);
            prop_assert!(of(axes, k, tile, overlap + 2).sweeps >= here.sweeps * slack);
        }
    }

    #[test]
    fn a_single_tile_has_no_effective_sweeps_and_a_stop_ends_the_work() {
        let tiling = Tiling::new(&[40, 8], &[8, 8], &[0, 0]).unwrap();
        assert_eq!(effective_sweeps(4, &tiling, [0.25; 2], &|| false), None);
        let tiling = Tiling::new(&[40, 40], &[8, 8], &[0, 0]).unwrap();
        assert_eq!(effective_sweeps(4, &tiling, [0.25; 2], &|| true), None);
    }
}
