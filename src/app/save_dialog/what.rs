//! What can be saved.

use crate::picture::FigureKind;

/// A file of what is shown, or of what is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::app) enum What {
    Map,
    SideBySide,
    Curves,
    Profile,
    MeanTile,
    Arrangement,
    BareMap,
    Run,
    CurveTable,
    ProfileTable,
    MapTable,
    MeanTileTable,
    Field,
    Iterate,
}

impl What {
    /// What files carry their run.
    pub const PICTURES: [Self; 7] = [
        Self::Map,
        Self::SideBySide,
        Self::Curves,
        Self::Profile,
        Self::MeanTile,
        Self::Arrangement,
        Self::BareMap,
    ];

    /// Files of text and numbers.
    pub const DATA: [Self; 7] = [
        Self::Run,
        Self::CurveTable,
        Self::ProfileTable,
        Self::MapTable,
        Self::MeanTileTable,
        Self::Field,
        Self::Iterate,
    ];

    /// What a figure of this kind is saved as.
    pub fn of(kind: FigureKind) -> Self {
        Self::PICTURES.into_iter().find(|what| what.kind() == Some(kind)).unwrap_or(Self::Map)
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Map => "Figure of the map",
            Self::SideBySide => "Two maps side by side",
            Self::Curves => "Figure of the curves",
            Self::Profile => "Figure of a profile",
            Self::MeanTile => "Figure of the mean tile",
            Self::Arrangement => "The panes as they lie",
            Self::BareMap => "Bare map, one pixel a point",
            Self::Run => "Run description",
            Self::CurveTable => "Curve as a table",
            Self::ProfileTable => "Profile as a table",
            Self::MapTable => "Map as a table",
            Self::MeanTileTable => "Mean tile as a table",
            Self::Field => "Field as an array",
            Self::Iterate => "Iterate as an array",
        }
    }

    pub fn about(self) -> &'static str {
        match self {
            Self::Map => "The field with title, axes and colour bar. The file carries its run.",
            Self::SideBySide => {
                "The field of this run and of a pinned one, in the same colours. It carries both runs."
            }
            Self::Curves => "The convergence curves. The file carries its run.",
            Self::Profile => "The field along a line, with the tile borders. It carries its run.",
            Self::MeanTile => {
                "The magnitude of the field, folded onto one tile. It carries its run."
            }
            Self::Arrangement => {
                "The map, the curves, the profile and the mean tile, as far as their panes are shown. It carries its run."
            }
            Self::BareMap => "The colours alone, one pixel for each point of the grid.",
            Self::Run => {
                "A small TOML file, which makes the run again: open it, or use it as --run."
            }
            Self::CurveTable => {
                "A CSV file with the norms, cycle by cycle (of runs over 262,144 cycles every second, fourth, …)."
            }
            Self::ProfileTable => "A CSV file with the field along a line, point by point.",
            Self::MapTable => {
                "A CSV file with the values of the map, or of the space–time diagram: the samples of the figure."
            }
            Self::MeanTileTable => {
                "A CSV file with the magnitude of the field, folded onto one tile, point by point."
            }
            Self::Field => {
                "An NPY file with the field that is shown, [ny, nx] or [copies, nx], in single precision."
            }
            Self::Iterate => {
                "An NPY file with the interior of u, [ny, nx] or [copies, nx], in the run's precision."
            }
        }
    }

    /// Why it cannot be saved now, where it cannot.
    pub fn missing(self) -> &'static str {
        match self {
            Self::SideBySide => "Pin a run first, to stand beside.",
            _ => "Show one of these panes first: map, convergence, cut, mean tile.",
        }
    }

    /// The extension of its files, where there is one kind of them.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Run => "toml",
            Self::CurveTable | Self::ProfileTable | Self::MapTable | Self::MeanTileTable => "csv",
            Self::Field | Self::Iterate => "npy",
            _ => "png",
        }
    }

    /// What is drawn for it; numbers are seen as a figure, too.
    pub fn kind(self) -> Option<FigureKind> {
        match self {
            Self::Map | Self::MapTable => Some(FigureKind::HeatMap),
            Self::SideBySide => Some(FigureKind::SideBySide),
            Self::Curves | Self::CurveTable => Some(FigureKind::Curves),
            Self::Profile | Self::ProfileTable => Some(FigureKind::Profile),
            Self::MeanTile | Self::MeanTileTable => Some(FigureKind::MeanTile),
            Self::Arrangement => Some(FigureKind::Arrangement),
            Self::BareMap | Self::Field | Self::Iterate => Some(FigureKind::BareMap),
            Self::Run => None,
        }
    }

    /// Whether its file is a picture.
    pub fn is_picture(self) -> bool {
        Self::PICTURES.contains(&self)
    }

    /// Whether it has letters, and a size of its own.
    pub fn has_letters(self) -> bool {
        self.is_picture() && self != Self::BareMap
    }
}
