//! What can be saved.

use crate::picture::FigureKind;

/// A file of what is shown, or of what is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::app) enum What {
    Map,
    Curves,
    Profile,
    MeanTile,
    BareMap,
    Run,
    CurveTable,
    ProfileTable,
    Field,
}

impl What {
    pub const ALL: [Self; 9] = [
        Self::Map,
        Self::Curves,
        Self::Profile,
        Self::MeanTile,
        Self::BareMap,
        Self::Run,
        Self::CurveTable,
        Self::ProfileTable,
        Self::Field,
    ];

    pub fn label(self) -> &'static str {
        match self {
            Self::Map => "Figure of the map",
            Self::Curves => "Figure of the curves",
            Self::Profile => "Figure of a profile",
            Self::MeanTile => "Figure of the mean tile",
            Self::BareMap => "Bare map, one pixel a point",
            Self::Run => "Run description",
            Self::CurveTable => "Curve as a table",
            Self::ProfileTable => "Profile as a table",
            Self::Field => "Iterate as an array",
        }
    }

    pub fn about(self) -> &'static str {
        match self {
            Self::Map => "The field with title, axes and colour bar. The file carries its run.",
            Self::Curves => "The convergence curves. The file carries its run.",
            Self::Profile => "The field along a line, with the tile borders. It carries its run.",
            Self::MeanTile => {
                "The magnitude of the field, folded onto one tile. It carries its run."
            }
            Self::BareMap => "The colours alone, one pixel for each point of the grid.",
            Self::Run => {
                "A small TOML file, which makes the run again: open it, or use it as --run."
            }
            Self::CurveTable => {
                "A CSV file with the norms, cycle by cycle (of runs over 262,144 cycles every second, fourth, …)."
            }
            Self::ProfileTable => "A CSV file with the field along a line, point by point.",
            Self::Field => "An NPY file with the interior of u, [ny, nx] or [copies, nx].",
        }
    }

    /// The extension of its files, where there is one kind of them.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Map | Self::Curves | Self::Profile | Self::MeanTile | Self::BareMap => "png",
            Self::Run => "toml",
            Self::CurveTable | Self::ProfileTable => "csv",
            Self::Field => "npy",
        }
    }

    /// What is drawn for it; numbers are seen as a figure, too.
    pub fn kind(self) -> Option<FigureKind> {
        match self {
            Self::Map => Some(FigureKind::HeatMap),
            Self::Curves | Self::CurveTable => Some(FigureKind::Curves),
            Self::Profile | Self::ProfileTable => Some(FigureKind::Profile),
            Self::MeanTile => Some(FigureKind::MeanTile),
            Self::BareMap | Self::Field => Some(FigureKind::BareMap),
            Self::Run => None,
        }
    }

    /// Whether its file is a picture.
    pub fn is_picture(self) -> bool {
        self.has_letters() || self == Self::BareMap
    }

    /// Whether it has letters, and a size of its own.
    pub fn has_letters(self) -> bool {
        matches!(self, Self::Map | Self::Curves | Self::Profile | Self::MeanTile)
    }
}
