//! Figures of a sweep.

/// A figure of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SweepFigure {
    /// The map of k × overlap, or of tile × overlap.
    #[default]
    Map,
    /// Time and cycles against overlap.
    Overlap,
    /// Speedup and best overlap against k.
    K,
    /// Time and cycles against k.
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

    /// The name in menus.
    pub fn label(self) -> &'static str {
        match self {
            Self::Map => "Map",
            Self::Overlap => "Against overlap",
            Self::K => "Against k",
            Self::KTime => "Time against k",
        }
    }

    /// What it shows, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Map => {
                "Every setting of k, or of the tile, and overlap as a coloured cell with its value."
            }
            Self::Overlap => {
                "Time and cycles against overlap, one curve per k, as in Islam & Wang's Figs. 6 and 8 (long version: 9 and 13)."
            }
            Self::K => "Speedup and best overlap against k, as in Islam & Wang's Tables I to III.",
            Self::KTime => {
                "Time and cycles against k, as in Islam & Wang's Fig. 4 (long version: 7 and 12)."
            }
        }
    }
}
