//! Methods: how one cycle turns an iterate into the next.

use super::method_name::MethodName;
use super::{Spectral, Streaming, Subiterations};
use crate::grid::Tiling;

/// How one cycle turns an iterate into the next.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// Jacobi's iteration: a cycle is one sweep over the whole grid.
    Classic,
    /// Islam & Wang's hierarchical iteration: a cycle is `k` sweeps (subiterations) inside every
    /// tile, with the halo around the tile frozen.
    Hierarchical {
        /// Subiterations of a cycle, at least 1.
        k: usize,
        /// How the grid is cut.
        tiling: Tiling,
    },
    /// The same with the subiterations of a tile made in its sine basis, at a cost that does not
    /// depend on k, which may be infinite. Its iterates are those of the sweeps up to rounding.
    Spectral(Spectral),
    /// Jacobi's iteration in slabs or in a window within a budget of fast memory: a cycle is one pass of n
    /// sweeps.
    Streaming(Streaming),
}

impl Method {
    /// Its name.
    pub fn name(&self) -> MethodName {
        match self {
            Self::Classic => MethodName::Classic,
            Self::Hierarchical { .. } | Self::Spectral(_) => MethodName::Hierarchical,
            Self::Streaming(streaming) => streaming.method(),
        }
    }

    /// Subiterations inside the tiles of one cycle: one where sweeps are made over the whole grid.
    pub fn k(&self) -> Subiterations {
        match self {
            Self::Classic | Self::Streaming(_) => Subiterations::Finite(1),
            Self::Hierarchical { k, .. } => Subiterations::Finite(*k),
            Self::Spectral(spectral) => spectral.k(),
        }
    }

    /// Its tiles, if it has any.
    pub fn tiling(&self) -> Option<&Tiling> {
        match self {
            Self::Classic | Self::Streaming(_) => None,
            Self::Hierarchical { tiling, .. } => Some(tiling),
            Self::Spectral(spectral) => Some(spectral.tiling()),
        }
    }

    /// Sweeps that one cycle counts as ([`Subiterations::counted_sweeps`]).
    pub fn sweeps_per_cycle(&self) -> u64 {
        match self {
            Self::Streaming(streaming) => streaming.height() as u64,
            _ => self.k().counted_sweeps(),
        }
    }
}
