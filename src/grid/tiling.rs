//! How an axis is cut into overlapping tiles, and which tile owns a point.
//!
//! On an axis of `n` points with tile `T` and even overlap `o`:
//!
//! ```text
//! count   m = 1                        if n ≤ T (the tile is the whole axis)
//!         m = ⌈(n − o) / (T − o)⌉      otherwise
//! start   s_j = min(j · (T − o), n − T)               every tile is full
//! border  c_j = s_j + ⌊(s_{j−1} + T − s_j) / 2⌋       between tile j−1 and tile j
//! owned   [c_j, c_{j+1}),  c_0 = 0,  c_m = n
//! ```
//!
//! Source: Islam & Wang, section III-B (the left tile gives the left half of an overlap, the right
//! tile the right half); the last tile, moved back so that it is full, is this project's rule.

use std::ops::Range;

/// The tiles of one axis. Where they lie follows from four numbers, so that a tiling takes no
/// memory, however many tiles there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisTiling {
    n: usize,
    tile: usize,
    overlap: usize,
    count: usize,
}

/// Why a tile or an overlap was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TilingError {
    /// A tile of no points.
    #[error("tile is 0; it must be at least 1")]
    ZeroTile,
    /// An overlap that cannot be halved between two tiles.
    #[error("overlap {overlap} is odd; it must be even, so that both tiles give half of it")]
    OddOverlap {
        /// The overlap as it was given.
        overlap: usize,
    },
    /// An overlap that leaves a tile nothing of its own.
    #[error("overlap {overlap} is too large for tile {tile}; it must be 0 to {}", .tile.saturating_sub(2) & !1)]
    OverlapTooLarge {
        /// The overlap as it was given.
        overlap: usize,
        /// The tile as it was given.
        tile: usize,
    },
}

impl AxisTiling {
    /// Cuts an axis of `n ≥ 1` points into tiles of `tile` points that share `overlap` points.
    ///
    /// # Errors
    /// [`TilingError`] unless `tile ≥ 1` and `overlap` is even and 0 or at most `tile − 2`.
    pub fn new(n: usize, tile: usize, overlap: usize) -> Result<Self, TilingError> {
        if tile == 0 {
            return Err(TilingError::ZeroTile);
        }
        if overlap % 2 == 1 {
            return Err(TilingError::OddOverlap { overlap });
        }
        if overlap > tile.saturating_sub(2) {
            return Err(TilingError::OverlapTooLarge { overlap, tile });
        }
        let count = if n <= tile { 1 } else { (n - overlap).div_ceil(tile - overlap) };
        Ok(Self { n, tile: tile.min(n), overlap, count })
    }

    /// An axis of `n` points, each a tile of its own.
    pub(crate) fn single_points(n: usize) -> Self {
        Self { n, tile: 1, overlap: 0, count: n }
    }

    /// Points of the axis.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Points of every tile: the tile asked for, or the whole axis if that is shorter.
    pub fn tile(&self) -> usize {
        self.tile
    }

    /// Points that neighbouring tiles share (the last two may share more).
    pub fn overlap(&self) -> usize {
        self.overlap
    }

    /// How many tiles there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The points that tile `j` computes.
    pub fn computed(&self, j: usize) -> Range<usize> {
        self.start(j)..self.start(j) + self.tile
    }

    /// The points that tile `j` owns and writes back.
    pub fn owned(&self, j: usize) -> Range<usize> {
        self.border(j)..self.border(j + 1)
    }

    /// The borders between tiles: `c_1 … c_{m−1}`, each lying before the point of that number.
    pub fn borders(&self) -> impl Iterator<Item = usize> + '_ {
        (1..self.count).map(|j| self.border(j))
    }

    /// The tile that owns point `i`.
    pub fn owner(&self, i: usize) -> usize {
        // All borders but the last are a stride apart, so the tile at that many strides is the one
        // or its neighbour.
        let guess = (i.saturating_sub(self.overlap / 2) / self.stride()).min(self.count - 1);
        let owns = |j: usize| self.owned(j).contains(&i);
        if owns(guess) {
            guess
        } else if guess > 0 && i < self.border(guess) {
            guess - 1
        } else {
            guess + 1
        }
    }

    /// Points from the start of a tile to that of the next; of the last two it may be fewer.
    pub(crate) fn stride(&self) -> usize {
        // The one tile of a short axis may be shorter than the overlap that was asked for.
        self.tile.saturating_sub(self.overlap).max(1)
    }

    /// `s_j`.
    fn start(&self, j: usize) -> usize {
        (j * self.stride()).min(self.n - self.tile)
    }

    /// `c_j`, with `c_0 = 0` and `c_m = n`.
    fn border(&self, j: usize) -> usize {
        if j == 0 {
            0
        } else if j >= self.count {
            self.n
        } else {
            let start = self.start(j);
            start + (self.start(j - 1) + self.tile - start) / 2
        }
    }

    /// How far point `i` is from the nearest border between two tiles: 1 for the two points next
    /// to it, and `None` on an axis of one tile.
    pub fn distance(&self, i: usize) -> Option<usize> {
        let owned = self.owned(self.owner(i));
        let left = (owned.start > 0).then(|| i - owned.start + 1);
        let right = (owned.end < self.n).then(|| owned.end - i);
        left.into_iter().chain(right).min()
    }
}

/// The tiles of a grid: the product of the tiles of its axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiling {
    axes: Vec<AxisTiling>,
}

impl Tiling {
    /// Cuts every axis of `axes` points (x first) into tiles.
    ///
    /// # Errors
    /// [`TilingError`] of the first axis that cannot be cut so.
    ///
    /// # Panics
    /// If `tile` or `overlap` has fewer entries than `axes`.
    pub fn new(axes: &[usize], tile: &[usize], overlap: &[usize]) -> Result<Self, TilingError> {
        let axes = axes
            .iter()
            .enumerate()
            .map(|(axis, &n)| AxisTiling::new(n, tile[axis], overlap[axis]))
            .collect::<Result<_, _>>()?;
        Ok(Self { axes })
    }

    /// The tiles along x.
    pub fn x(&self) -> &AxisTiling {
        &self.axes[0]
    }

    /// The tiles along y, if there is that axis.
    pub fn y(&self) -> Option<&AxisTiling> {
        self.axes.get(1)
    }

    /// The tiles of every axis, x first.
    pub fn axes(&self) -> &[AxisTiling] {
        &self.axes
    }

    /// The tile that owns a point (column, row), from the left and from the top.
    pub fn owner(&self, [i, j]: [usize; 2]) -> [usize; 2] {
        [self.x().owner(i), self.y().map_or(0, |axis| axis.owner(j))]
    }

    /// Tiles in all: the thread blocks of a GPU (paper, Eqs. 9 and 16, with the last tile whole).
    pub fn count(&self) -> usize {
        self.axes.iter().map(AxisTiling::count).product()
    }

    /// Point updates computed for each useful one: what overlap costs.
    #[allow(clippy::cast_precision_loss)]
    pub fn redundancy(&self) -> f64 {
        self.axes.iter().map(|axis| (axis.count() * axis.tile()) as f64 / axis.n() as f64).product()
    }

    /// Fast memory of one tile: two copies of it with its ring, and its right-hand side
    /// (paper, section IV: (2 · (T+2)^d + T^d) values).
    pub fn bytes_per_tile(&self, bytes_per_value: usize) -> usize {
        let with_ring: usize = self.axes.iter().map(|axis| axis.tile() + 2).product();
        let alone: usize = self.axes.iter().map(AxisTiling::tile).product();
        (2 * with_ring + alone) * bytes_per_value
    }

    /// Whether `k` subiterations make exactly `k` sweeps of Jacobi's iteration: staleness travels
    /// one point a sweep, so it never reaches an owned point when `o ≥ 2(k − 1)` on every axis
    /// that has more than one tile.
    pub fn is_exact(&self, k: usize) -> bool {
        self.axes.iter().all(|axis| axis.count() == 1 || axis.overlap() >= 2 * (k.max(1) - 1))
    }

    /// How far point (`i`, `j`) is from the nearest border between two tiles, counted along the
    /// axes: 1 for points next to one, and `None` where there is one tile only.
    pub fn distance(&self, i: usize, j: usize) -> Option<usize> {
        let y = self.y().and_then(|axis| axis.distance(j));
        self.x().distance(i).into_iter().chain(y).min()
    }
}
