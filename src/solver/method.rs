//! Methods: how one cycle turns an iterate into the next.

use super::{Spectral, Subiterations};
use crate::grid::Tiling;
use serde::{Deserialize, Serialize};

/// The two methods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MethodName {
    /// Jacobi's iteration, a sweep over the whole grid at a time
    Classic,
    /// k sweeps inside every tile, with its halo frozen
    #[default]
    Hierarchical,
}

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
}

impl Method {
    /// Its name.
    pub fn name(&self) -> MethodName {
        match self {
            Self::Classic => MethodName::Classic,
            Self::Hierarchical { .. } | Self::Spectral(_) => MethodName::Hierarchical,
        }
    }

    /// Subiterations of one cycle: of a sweep, one.
    pub fn k(&self) -> Subiterations {
        match self {
            Self::Classic => Subiterations::Finite(1),
            Self::Hierarchical { k, .. } => Subiterations::Finite(*k),
            Self::Spectral(spectral) => spectral.k(),
        }
    }

    /// Its tiles, if it has any.
    pub fn tiling(&self) -> Option<&Tiling> {
        match self {
            Self::Classic => None,
            Self::Hierarchical { tiling, .. } => Some(tiling),
            Self::Spectral(spectral) => Some(spectral.tiling()),
        }
    }

    /// Sweeps that one cycle counts as ([`Subiterations::counted_sweeps`]).
    pub fn sweeps_per_cycle(&self) -> u64 {
        self.k().counted_sweeps()
    }
}

impl MethodName {
    /// All of them, as they stand in menus.
    pub const ALL: [Self; 2] = [Self::Classic, Self::Hierarchical];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Hierarchical => "hierarchical",
        }
    }

    /// What it means, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Classic => "Jacobi's iteration, one sweep over the whole grid per cycle.",
            Self::Hierarchical => {
                "k sweeps inside every tile per cycle, with the halo of the tile frozen."
            }
        }
    }
}
