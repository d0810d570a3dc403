//! Figures of a sweep.

use crate::run::CycleLists;

/// A figure of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SweepFigure {
    /// The map of k × overlap, of tile × overlap, or of height × budget.
    #[default]
    Map,
    /// Time and cycles against overlap, or budget.
    Overlap,
    /// Speedup and best overlap against k, or best budget against height.
    K,
    /// Time and cycles against k, or height.
    KTime,
}

impl SweepFigure {
    /// All of them, as they stand in menus.
    pub const ALL: [Self; 4] = [Self::Map, Self::Overlap, Self::K, Self::KTime];

    /// The name on the command line and in the names of files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Map => "map",
            Self::Overlap => "overlap",
            Self::K => "k",
            Self::KTime => "k-time",
        }
    }

    /// The name in menus, for a sweep of these lists.
    pub fn label(self, lists: &CycleLists) -> String {
        let [down, across] = lists.axes().map(|axis| axis.name);
        match self {
            Self::Map => "Map".to_owned(),
            Self::Overlap => format!("Against {across}"),
            Self::K => format!("Against {down}"),
            Self::KTime => format!("Time against {down}"),
        }
    }

    /// What it shows, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Map => {
                "Every setting of k, or of the tile, and overlap (of height and budget) as a coloured cell with its value."
            }
            Self::Overlap => {
                "Time and cycles against overlap (budget), one curve per k (height), as in Islam & Wang's Figs. 6 and 8 (long version: 9 and 13)."
            }
            Self::K => {
                "Speedup and best overlap (budget) against k (height), as in Islam & Wang's Tables I to III."
            }
            Self::KTime => {
                "Time and cycles against k (height), as in Islam & Wang's Fig. 4 (long version: 7 and 12)."
            }
        }
    }
}
