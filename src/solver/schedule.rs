//! In which order the tiles of a cycle, and the points of a tile, are written where that is not all at once.

use std::num::NonZeroUsize;

/// Which values of the same cycle are read: by a tile those of tiles before it, by a point of a tile those of
/// points before it. By default none are: every tile starts from the iterate of the cycle before, and every sweep
/// reads the values before the sweep.
///
/// A GPU that writes into the array that it reads leaves this to chance. Here it is a fixed order, so that the
/// iterates are the same on any machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// Tiles of a wave, counted along x first, in 1D those of each system of a batch: they start from what the
    /// waves before them wrote. One tile at a time makes Gauss–Seidel's iteration of the tiles, all of them at
    /// once, `None`, Jacobi's.
    pub wave: Option<NonZeroUsize>,
    /// Points of a warp: points of a tile, counted along x first, that a subiteration updates at once and in place,
    /// so that the warps after them read the new values. One point at a time makes Gauss–Seidel's iteration of
    /// the points of a tile, all of them at once, `None`, Jacobi's.
    pub warp: Option<NonZeroUsize>,
}

impl Schedule {
    /// Whether nothing is read that was written in the same cycle.
    pub fn is_jacobi(&self) -> bool {
        *self == Self::default()
    }
}
