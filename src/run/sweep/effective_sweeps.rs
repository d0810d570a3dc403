//! What a cycle is worth: the sweeps of Jacobi's iteration that it stands for.
//!
//! Long waves decide how many cycles a reduction takes. Seen from one of them a tile is small and
//! has the same tiles all around, and within it the wave is a parabola, which a sweep raises by the
//! same at every point, as a source does. So one tile is taken whose neighbours are its own copies,
//! with a source of 1: every sweep of Jacobi's iteration raises its points by 1, and a cycle, whose
//! rings are frozen, by less. After some cycles every point rises by the same, `sweeps`; that many
//! sweeps a cycle is worth, however large the grid is (the first two terms of homogenisation;
//! Bensoussan, Lions & Papanicolaou, *Asymptotic Analysis for Periodic Structures*, 1978).
//! What the points differ by then is the pattern of tile edges, and how much larger its residual is
//! than that of a smooth wave is `lift`.
//!
//! Chequered waves, whose sign changes from point to point and from sweep to sweep, last as long on
//! a line; but a frozen ring does not follow their change of sign. What a cycle leaves of one is
//! `chequered`.

use super::ShouldStop;
use crate::grid::Tiling;

/// Points of the tile rise by the same when they differ by no more than this part of it.
const EVEN: f64 = 1e-5;

/// Point updates after which it takes too long: half a second.
const MOST_UPDATES: usize = 500_000_000;

/// Cycles that it takes at the least until points of such large tiles rise by the same.
const FEWEST_CYCLES: usize = 8;

/// Cycles over which chequered waves are seen to decay …
const CYCLES: i32 = 64;

/// … unless so little is left of them before.
const FORGOTTEN: f64 = 1e-9;

/// What a cycle is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct EffectiveSweeps {
    /// The sweeps of Jacobi's iteration that it stands for: k at the most.
    pub sweeps: f64,
    /// How much larger ‖r‖₂ is than that of the long wave alone, at least 1.
    pub lift: f64,
    /// The part of a chequered wave that is left, 0 to 1.
    pub chequered: f64,
}

/// What a cycle of `k` sweeps is worth on many such tiles, with the weights of the neighbours along
/// x and y, which add up to ½. `None` where an axis has a single tile, where it would take too long,
/// or if somebody stopped it.
pub(super) fn worth(
    k: usize,
    tiling: &Tiling,
    weights: [f64; 2],
    halt: ShouldStop<'_>,
) -> Option<EffectiveSweeps> {
    if tiling.is_exact(k) {
        return Some(EffectiveSweeps { sweeps: k as f64, lift: 1.0, chequered: 1.0 });
    }
    if tiling.axes().iter().any(|axis| axis.count() == 1) {
        return None;
    }
    // Looked at before anything is allocated: such a tile may have as many points as the grid.
    let points: usize = tiling.axes().iter().map(|axis| axis.tile() + 2).product();
    if k.saturating_mul(points) > MOST_UPDATES / FEWEST_CYCLES {
        return None;
    }
    let mut left = MOST_UPDATES;
    let mut spend = |cell: &PeriodicTile| {
        left = left.saturating_sub(cell.updates(k));
        left > 0 && !halt()
    };
    let mut cell = PeriodicTile::new(tiling, 0.0);
    let mut raised = 0.0;
    let mut is_even = false;
    while !is_even {
        if !spend(&cell) {
            return None;
        }
        let before = cell.owned.clone();
        cell.cycle(k, weights, 1.0);
        let rises = cell.owned.iter().zip(&before).map(|(after, before)| after - before);
        let (mut low, mut high, mut sum) = (f64::INFINITY, 0.0_f64, 0.0);
        for rise in rises {
            (low, high, sum) = (low.min(rise), high.max(rise), sum + rise);
        }
        raised = sum / before.len() as f64;
        is_even = high - low <= EVEN * raised;
        // What matters is how they differ.
        let lowest = cell.owned[0];
        cell.owned.iter_mut().for_each(|value| *value -= lowest);
    }
    let lift = cell.lift(weights);
    let mut cell = PeriodicTile::new(tiling, 1.0);
    let mut size = 1.0;
    let mut left = [1.0; 2];
    for half in &mut left {
        for _ in 0..CYCLES / 2 {
            if size < FORGOTTEN {
                break;
            }
            if !spend(&cell) {
                return None;
            }
            // Seen with every other sign changed, a chequered wave is a smooth one.
            cell.cycle(k, weights.map(|weight| -weight), 0.0);
            let mean = cell.owned.iter().map(|value| value * value).sum::<f64>();
            size = (mean / cell.owned.len() as f64).sqrt();
        }
        *half = size;
    }
    // In the first half what dies soon was still there.
    let chequered =
        if size < FORGOTTEN { 0.0 } else { (left[1] / left[0]).powf(2.0 / f64::from(CYCLES)) };
    Some(EffectiveSweeps { sweeps: raised, lift: lift.max(1.0), chequered: chequered.min(1.0) })
}

/// A tile among copies of itself. A line is a plane of one row, whose neighbours weigh nothing.
struct PeriodicTile {
    /// Points that the tile owns, across and down: from one tile to the next.
    owns: [usize; 2],
    /// Points of the tile with its ring.
    whole: [usize; 2],
    /// Points from the ring's corner to the first that is owned.
    first: [usize; 2],
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

    /// One cycle: the tile and its ring from the copies, `k` sweeps, what is owned back.
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
    fn lift(&self, [along_x, along_y]: [f64; 2]) -> f64 {
        let [width, height] = self.owns;
        let at = |x: usize, y: usize| self.owned[(y % height) * width + x % width];
        let (mut sum, mut squares) = (0.0, 0.0);
        for y in 0..height {
            for x in 0..width {
                let beside = at(x + 1, y) + at(x + width - 1, y);
                let above = at(x, y + 1) + at(x, y + height - 1);
                let residual = 1.0 + along_x * beside + along_y * above - at(x, y);
                (sum, squares) = (sum + residual, squares + residual * residual);
            }
        }
        (squares * (width * height) as f64).sqrt() / sum
    }
}

/// One sweep over all but the ring.
fn sweep(from: &[f64], to: &mut [f64], width: usize, [along_x, along_y]: [f64; 2], source: f64) {
    let rows = from.windows(3 * width).step_by(width);
    for (rows, to) in rows.zip(to[width..].chunks_mut(width)) {
        let (above, rest) = rows.split_at(width);
        let (row, below) = rest.split_at(width);
        for x in 1..width - 1 {
            to[x] = source + along_x * (row[x - 1] + row[x + 1]) + along_y * (above[x] + below[x]);
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
        worth(k, &tiling, weights, &|| false).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// A cycle is worth no more than its sweeps, all of them where it is exact, and more with
        /// more sweeps and with more overlap.
        #[test]
        fn a_cycle_is_worth_more_the_fresher_its_rings_are(
            plane in any::<bool>(), k in 1..20_usize, half in 2..6_usize, overlap in 0..3_usize,
        ) {
            let axes = if plane { &[64, 64][..] } else { &[64] };
            let (tile, overlap) = (2 * half, 2 * overlap.min(half - 2));
            let here = of(axes, k, tile, overlap);
            prop_assert!(here.sweeps > 0.0 && here.sweeps <= k as f64 * (1.0 + EVEN));
            prop_assert!(here.lift >= 1.0 && (0.0..=1.0).contains(&here.chequered));
            if overlap >= 2 * (k - 1) {
                prop_assert_eq!(here, EffectiveSweeps { sweeps: k as f64, lift: 1.0, chequered: 1.0 });
            } else {
                prop_assert!(here.chequered < 1.0);
            }
            let slack = 1.0 - 3.0 * EVEN;
            prop_assert!(of(axes, k + 1, tile, overlap).sweeps >= here.sweeps * slack);
            prop_assert!(of(axes, k, tile, overlap + 2).sweeps >= here.sweeps * slack);
        }
    }

    #[test]
    fn a_single_tile_has_no_neighbours_and_a_stop_is_heard() {
        let tiling = Tiling::new(&[40, 8], &[8, 8], &[0, 0]).unwrap();
        assert_eq!(worth(4, &tiling, [0.25; 2], &|| false), None);
        let tiling = Tiling::new(&[40, 40], &[8, 8], &[0, 0]).unwrap();
        assert_eq!(worth(4, &tiling, [0.25; 2], &|| true), None);
    }
}
