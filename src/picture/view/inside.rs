//! What a figure or a pane shows of the inside of a cycle.

use crate::picture::axis::scale::Range;
use crate::solver::Followed;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Which tile is followed through the next cycle, how far, and what is shown of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct InsideView {
    /// From the left and from the top.
    pub tile: [usize; 2],
    /// Whether of a line all tiles are followed.
    pub all_of_line: bool,
    /// Subiterations that it has made; all of them, if there are fewer.
    pub subiteration: usize,
    /// What is shown of it.
    pub kind: InsideKind,
    /// The lowest and the highest value of all frames, while those of an animation are drawn.
    #[serde(skip)]
    pub range: Option<Range>,
}

/// What is shown of the inside of a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum InsideKind {
    /// u − u_Jacobi: how far each point lags behind Jacobi's sweeps from the same start
    #[default]
    Lag,
    /// u: the tile's own iterate, and the ring that stands still
    Iterate,
}

impl Default for InsideView {
    /// The first tile, far enough into the cycle to see its ring made felt.
    fn default() -> Self {
        let kind = InsideKind::default();
        Self { tile: [0, 0], all_of_line: false, subiteration: 4, kind, range: None }
    }
}

impl InsideView {
    /// What is followed of a line, or of a plane.
    pub fn followed(&self, is_line: bool) -> Followed {
        if is_line && self.all_of_line { Followed::Line } else { Followed::Tile(self.tile) }
    }
}

impl InsideKind {
    /// Both, in the order of the menu.
    pub const ALL: [Self; 2] = [Self::Lag, Self::Iterate];

    /// The name on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lag => "lag",
            Self::Iterate => "iterate",
        }
    }

    /// The name in a menu.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Lag => "u − u_Jacobi",
            Self::Iterate => "u",
        }
    }

    /// What it is, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Lag => {
                "How far each point lags behind Jacobi's sweeps from the same start: zero until the frozen ring has made itself felt."
            }
            Self::Iterate => "The tile's own iterate, and the ring that stands still.",
        }
    }
}
