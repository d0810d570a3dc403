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
//! The rows of a sparse matrix are cut into blocks of `T` instead, of which the last may be shorter; what
//! they share is counted in levels of the graph of the matrix, not along the axis.
//!
//! Source: Islam & Wang, section III-B (the left tile gives the left half of an overlap, the right
//! tile the right half); the last tile, moved back so that it is full, is this project's rule.

use super::{Shape, Slice};
use std::ops::Range;

/// The tiles of one axis. A few numbers determine all of them, so a tiling takes no memory,
/// however many tiles there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisTiling {
    n: usize,
    tile: usize,
    overlap: usize,
    count: usize,
    /// Whether these are blocks of matrix rows.
    are_blocks: bool,
    /// Points at either end that tiles compute and none of them owns: where the tiles are [cut out](Self::cut_out).
    not_owned: [usize; 2],
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
    /// An overlap that leaves a tile no points of its own.
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
        Ok(Self { n, tile: tile.min(n), overlap, count, are_blocks: false, not_owned: [0; 2] })
    }

    /// Cuts the `n ≥ 1` rows of a matrix into blocks of `block` rows, which share `overlap` levels.
    ///
    /// # Errors
    /// [`TilingError`] unless `block ≥ 1` and `overlap` is even.
    pub fn blocks(n: usize, block: usize, overlap: usize) -> Result<Self, TilingError> {
        if block == 0 {
            return Err(TilingError::ZeroTile);
        }
        if overlap % 2 == 1 {
            return Err(TilingError::OddOverlap { overlap });
        }
        let (tile, count) = (block.min(n), n.div_ceil(block));
        Ok(Self { n, tile, overlap, count, are_blocks: true, not_owned: [0; 2] })
    }

    /// An axis of `n` points in bands of `band`, of which the last may be shorter.
    pub(crate) fn bands(n: usize, band: usize) -> Self {
        let (tile, count) = (band.min(n), n.div_ceil(band));
        Self { n, tile, overlap: 0, count, are_blocks: true, not_owned: [0; 2] }
    }

    /// An axis of `n` points, each a tile of its own.
    pub(crate) fn single_points(n: usize) -> Self {
        Self { n, tile: 1, overlap: 0, count: n, are_blocks: false, not_owned: [0; 2] }
    }

    /// Some of its tiles as an axis of their own, which begins where the first of them does and ends where the last
    /// does: each computes and owns there what it does here.
    pub(crate) fn cut_out(&self, tiles: Range<usize>) -> Self {
        let (first, last) = (tiles.start, tiles.end - 1);
        let (start, end) = (self.computed(first).start, self.computed(last).end);
        let not_owned = [self.owned(first).start - start, end - self.owned(last).end];
        Self { n: end - start, count: tiles.len(), not_owned, ..self.clone() }
    }

    /// Points of the axis.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Points of every tile: the requested tile, or the whole axis if that is shorter.
    pub fn tile(&self) -> usize {
        self.tile
    }

    /// Points that neighbouring tiles share (the last two may share more); of blocks, levels.
    pub fn overlap(&self) -> usize {
        self.overlap
    }

    /// How many tiles there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether tile `j` has neighbours on both sides. Where no tile has, or where tiles are single points or
    /// blocks of a matrix, all of them count as inner ones.
    pub fn is_inner(&self, j: usize) -> bool {
        let has_inner = self.count > 2 && self.tile > 1 && !self.are_blocks;
        !has_inner || (0 < j && j + 1 < self.count)
    }

    /// The points that inner tiles own.
    pub fn inner(&self) -> Range<usize> {
        let (first, last) = (usize::from(!self.is_inner(0)), self.count - 1);
        let last = if self.is_inner(last) { last } else { last - 1 };
        self.owned(first).start..self.owned(last).end
    }

    /// The points that tile `j` computes; for a block, those that it owns, to which its levels come.
    pub fn computed(&self, j: usize) -> Range<usize> {
        if self.are_blocks {
            return self.owned(j);
        }
        self.start(j)..self.start(j) + self.tile
    }

    /// The points that tile `j` owns and writes back.
    pub fn owned(&self, j: usize) -> Range<usize> {
        self.border(j)..self.border(j + 1)
    }

    /// The points of tile `j` that `sweeps` sweeps of a cycle leave as Jacobi's iteration does: nothing of a
    /// frozen halo has come as far. The first sweep reads a halo that is up to date; each one after it brings
    /// what the halo lacks one point farther, from the sides where the tile has a halo and not the boundary.
    pub fn untouched(&self, j: usize, sweeps: usize) -> Range<usize> {
        let computed = self.computed(j);
        let depth = sweeps.saturating_sub(1);
        let start = if computed.start == 0 { 0 } else { computed.start.saturating_add(depth) };
        let end = if computed.end == self.n { self.n } else { computed.end.saturating_sub(depth) };
        let start = start.min(computed.end);
        start..end.max(start)
    }

    /// The borders between tiles: `c_1 … c_{m−1}`, each lying before the point of that number.
    pub fn borders(&self) -> impl Iterator<Item = usize> + '_ {
        (1..self.count).map(|j| self.border(j))
    }

    /// Whether they are blocks of rows of a matrix, which own what they compute.
    pub fn are_blocks(&self) -> bool {
        self.are_blocks
    }

    /// The tile that owns point `i`.
    pub fn owner(&self, i: usize) -> usize {
        if self.are_blocks {
            return i / self.tile;
        }
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

    /// Points from the start of a tile to the start of the next; between the last two it may be fewer.
    pub(crate) fn stride(&self) -> usize {
        if self.are_blocks {
            return self.tile;
        }
        // The only tile of a short axis may be shorter than the overlap.
        self.tile.saturating_sub(self.overlap).max(1)
    }

    /// `s_j`.
    fn start(&self, j: usize) -> usize {
        (j * self.stride()).min(self.n - self.tile)
    }

    /// `c_j`, with `c_0 = 0` and `c_m = n` but for what is not owned.
    fn border(&self, j: usize) -> usize {
        if j == 0 {
            self.not_owned[0]
        } else if j >= self.count {
            self.n - self.not_owned[1]
        } else if self.are_blocks {
            j * self.tile
        } else {
            let start = self.start(j);
            start + (self.start(j - 1) + self.tile - start) / 2
        }
    }

    /// How far point `i` is from the nearest tile border: 1 for the two points next to it, and `None` on an
    /// axis of one tile.
    pub fn distance(&self, i: usize) -> Option<usize> {
        let owned = self.owned(self.owner(i));
        let left = (owned.start > 0).then(|| i - owned.start + 1);
        let right = (owned.end < self.n).then(|| owned.end - i);
        left.into_iter().chain(right).min()
    }
}

/// A box of points: a range of each axis, x first; `0..1` for axes that the grid does not have.
pub type Region = [Range<usize>; 3];

/// How a grid is partitioned into tiles: the product of the tiles of its axes.
///
/// Tiles are numbered from 0, those along x first. A solver needs of a tile what it computes and
/// what it owns; its halo is the layer of one point around what it computes. The systems of a batch
/// are all partitioned alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tiling {
    axes: Vec<AxisTiling>,
}

impl Tiling {
    /// Cuts every axis, of `axes[d]` points (x first), into tiles of `tile[d]` points that share
    /// `overlap[d]` points.
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

    /// Cuts the `n ≥ 1` rows of a matrix into blocks of `block` rows, which share `overlap` levels.
    ///
    /// # Errors
    /// [`TilingError`] unless `block ≥ 1` and `overlap` is even.
    pub fn blocks(n: usize, block: usize, overlap: usize) -> Result<Self, TilingError> {
        Ok(Self { axes: vec![AxisTiling::blocks(n, block, overlap)?] })
    }

    /// One tile that is the whole grid.
    pub(crate) fn whole(shape: &Shape) -> Self {
        let axis = |&n: &usize| AxisTiling {
            n,
            tile: n,
            overlap: 0,
            count: 1,
            are_blocks: false,
            not_owned: [0; 2],
        };
        Self { axes: shape.axes().iter().map(axis).collect() }
    }

    /// The position of a tile along each axis, x first.
    pub fn position(&self, tile: usize) -> [usize; 3] {
        let mut rest = tile;
        std::array::from_fn(|axis| {
            let count = self.axes.get(axis).map_or(1, AxisTiling::count);
            let position = rest % count;
            rest /= count;
            position
        })
    }

    /// The points that a tile computes.
    pub fn computed(&self, tile: usize) -> Region {
        self.region(tile, AxisTiling::computed)
    }

    /// The points that a tile owns and writes back.
    pub fn owned(&self, tile: usize) -> Region {
        self.region(tile, AxisTiling::owned)
    }

    fn region(&self, tile: usize, range: impl Fn(&AxisTiling, usize) -> Range<usize>) -> Region {
        let position = self.position(tile);
        std::array::from_fn(|axis| {
            self.axes.get(axis).map_or(0..1, |tiles| range(tiles, position[axis]))
        })
    }

    /// Some tiles of the slowest axis ([`AxisTiling::cut_out`]), with all of the others.
    pub(crate) fn cut_out(&self, tiles: Range<usize>) -> Self {
        let mut axes = self.axes.clone();
        if let Some(slowest) = axes.last_mut() {
            *slowest = slowest.cut_out(tiles);
        }
        Self { axes }
    }

    /// The tiles that a slice through a 3D grid cuts.
    pub(super) fn slice(&self, slice: Slice) -> Self {
        Self { axes: slice.axes().map(|axis| self.axes[axis].clone()).to_vec() }
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

    /// The tile that owns a point (column, row) of a 1D or 2D grid: its position along x and y.
    pub fn owner(&self, [i, j]: [usize; 2]) -> [usize; 2] {
        [self.x().owner(i), self.y().map_or(0, |axis| axis.owner(j))]
    }

    /// The middle of the tile in the middle of an axis: a line through it crosses tile borders, and
    /// runs along none. An axis that the grid does not have has one point.
    pub fn middle(&self, axis: usize) -> usize {
        self.axes.get(axis).map_or(0, |axis| {
            let owned = axis.owned(axis.owner(axis.n() / 2));
            usize::midpoint(owned.start, owned.end)
        })
    }

    /// Tiles in all: the thread blocks of a GPU (paper, Eqs. 9 and 16, with the last tile whole).
    pub fn count(&self) -> usize {
        self.axes.iter().map(AxisTiling::count).fold(1, usize::saturating_mul)
    }

    /// Point updates computed for each useful one: what overlap costs.
    #[allow(clippy::cast_precision_loss)]
    pub fn redundancy(&self) -> f64 {
        let computed = |axis: &AxisTiling| axis.count() as f64 * axis.tile() as f64;
        self.axes.iter().map(|axis| computed(axis) / axis.n() as f64).product()
    }

    /// Shared memory per tile, in bytes: two iterates of it with its halo, and its right-hand side
    /// (paper, section IV: (2 · (T+2)^d + T^d) values); `usize::MAX` if that has no room in the number.
    pub fn bytes_per_tile(&self, bytes_per_value: usize) -> usize {
        let values = |halo: usize| {
            let sides = self.axes.iter().map(|axis| axis.tile().saturating_add(halo));
            sides.fold(1, usize::saturating_mul)
        };
        let both = values(2).saturating_mul(2).saturating_add(values(0));
        both.saturating_mul(bytes_per_value)
    }

    /// Whether `k` subiterations make exactly `k` sweeps of Jacobi's iteration: staleness travels
    /// one point per sweep, so it never reaches an owned point when `o ≥ 2(k − 1)` on every axis
    /// that has more than one tile.
    pub fn is_exact(&self, k: usize) -> bool {
        self.axes.iter().all(|axis| axis.count() == 1 || axis.overlap() >= 2 * (k.max(1) - 1))
    }

    /// How far a point is from the nearest tile border, counted along the axes: 1 for points next
    /// to one, and `None` where there is one tile only.
    pub fn distance(&self, point: &[usize]) -> Option<usize> {
        self.axes.iter().zip(point).filter_map(|(axis, &i)| axis.distance(i)).min()
    }
}
