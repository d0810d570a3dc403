//! What is shown of the inside of a cycle.

use crate::grid::Slice;
use crate::picture::axis::scale::Range;
use crate::solver::Followed;
use serde::{Deserialize, Serialize};

/// Which tile is followed through the next cycle, how far, and what is shown of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InsideView {
    /// From the left and from the top; in 3D of the tiles that the slice cuts.
    pub tile: [usize; 2],
    /// Whether all tiles of a 1D grid are followed.
    pub all_of_line: bool,
    /// Subiterations made; all of them, if there are fewer.
    pub subiteration: usize,
    /// What is shown of the tile.
    pub kind: InsideKind,
    /// The lowest and the highest value of all frames, while those of an animation are drawn.
    #[serde(skip)]
    pub range: Option<Range>,
}

/// What is shown of the inside of a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InsideKind {
    /// u − u_J: how far each point is from exact Jacobi sweeps.
    #[default]
    #[serde(alias = "lag")]
    Staleness,
    /// u: the tile's own iterate and its frozen halo.
    Iterate,
}

impl Default for InsideView {
    /// A tile that has neighbours on all sides, where there is one, far enough into the cycle to see the effect
    /// of its halo.
    fn default() -> Self {
        let kind = InsideKind::default();
        Self { tile: [1, 1], all_of_line: false, subiteration: 4, kind, range: None }
    }
}

impl InsideView {
    /// What is followed of a grid, in 3D on a slice.
    pub fn followed(&self, is_1d: bool, slice: Option<Slice>) -> Followed {
        if is_1d && self.all_of_line { Followed::Line } else { Followed::Tile(self.tile, slice) }
    }
}

impl InsideKind {
    /// Both, in the order of the menu.
    pub const ALL: [Self; 2] = [Self::Staleness, Self::Iterate];

    /// The name on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Staleness => "staleness",
            Self::Iterate => "iterate",
        }
    }

    /// The name in a menu.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Staleness => "Staleness",
            Self::Iterate => "u",
        }
    }

    /// What it is, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Staleness => {
                "How far each point is from the exact Jacobi iterate: zero until staleness reaches it."
            }
            Self::Iterate => "The tile's own iterate and its frozen halo.",
        }
    }
}
