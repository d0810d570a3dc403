//! Methods by name.

use serde::{Deserialize, Serialize};

/// The methods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MethodName {
    /// Jacobi's iteration, a sweep over the whole grid at a time
    Classic,
    /// k sweeps inside every tile, with its halo frozen
    #[default]
    Hierarchical,
    /// Jacobi's iteration, n sweeps at a time in overlapping slabs that visit fast memory
    Pyramid,
    /// Jacobi's iteration, n sweeps at a time in a window of fast memory that flows over the grid
    Wavefront,
}

impl MethodName {
    /// All of them, as they stand in menus.
    pub const ALL: [Self; 4] = [Self::Classic, Self::Hierarchical, Self::Pyramid, Self::Wavefront];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Hierarchical => "hierarchical",
            Self::Pyramid => "pyramid",
            Self::Wavefront => "wavefront",
        }
    }

    /// What it means, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Classic => "Jacobi's iteration, one sweep over the whole grid per cycle.",
            Self::Hierarchical => {
                "k sweeps inside every tile per cycle, with the halo of the tile frozen."
            }
            Self::Pyramid => {
                "Jacobi's iteration, --height sweeps per cycle in overlapping slabs of --memory."
            }
            Self::Wavefront => {
                "Jacobi's iteration, --height sweeps per cycle in a moving window of --memory."
            }
        }
    }

    /// The name in menus.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Classic => "Classic",
            Self::Hierarchical => "Hierarchical",
            Self::Pyramid => "Pyramid",
            Self::Wavefront => "Wavefront",
        }
    }

    /// Whether its planes visit fast memory of a given size, so that it has a height and a budget.
    pub const fn is_streaming(self) -> bool {
        matches!(self, Self::Pyramid | Self::Wavefront)
    }

    /// Whether its iterates are those of Jacobi's iteration whatever is set.
    pub const fn is_jacobi(self) -> bool {
        !matches!(self, Self::Hierarchical)
    }
}
