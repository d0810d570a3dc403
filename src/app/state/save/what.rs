//! What can be saved.

use crate::picture::FigureKind;

/// A file of what is shown, or of what is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Map,
    SideBySide,
    Curves,
    Profile,
    MeanTile,
    Distance,
    EdgeShare,
    Probes,
    Inside,
    Runs,
    Arrangement,
    BareMap,
    Run,
    Field,
    Iterate,
}

impl What {
    /// What can be saved as a picture, which carries its run, and mostly as a table.
    pub const PICTURES: [Self; 12] = [
        Self::Map,
        Self::SideBySide,
        Self::Curves,
        Self::Profile,
        Self::MeanTile,
        Self::Distance,
        Self::EdgeShare,
        Self::Probes,
        Self::Inside,
        Self::Runs,
        Self::Arrangement,
        Self::BareMap,
    ];

    /// The columns of the dialog.
    pub const COLUMNS: [&[Self]; 2] = [
        &[
            Self::Map,
            Self::SideBySide,
            Self::Curves,
            Self::Profile,
            Self::MeanTile,
            Self::Distance,
            Self::EdgeShare,
            Self::Probes,
        ],
        &[
            Self::Inside,
            Self::Runs,
            Self::Arrangement,
            Self::BareMap,
            Self::Field,
            Self::Iterate,
            Self::Run,
        ],
    ];

    /// What a figure of this kind is saved as.
    pub fn of(kind: FigureKind) -> Self {
        Self::PICTURES.into_iter().find(|what| what.kind() == Some(kind)).unwrap_or(Self::Map)
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Map => "Heat map",
            Self::SideBySide => "Two maps side by side",
            Self::Curves => "Convergence",
            Self::Profile => "Profile",
            Self::MeanTile => "Mean tile",
            Self::Distance => "By distance",
            Self::EdgeShare => "Edge share",
            Self::Probes => "Probes",
            Self::Inside => "Inside a cycle",
            Self::Runs => "Table of runs",
            Self::Arrangement => "The panes as they lie",
            Self::BareMap => "Bare map, one pixel a point",
            Self::Run => "Run description",
            Self::Field => "Field as an array",
            Self::Iterate => "Iterate as an array",
        }
    }

    pub fn about(self) -> &'static str {
        match self {
            Self::Map => {
                "The field with title, axes and colour bar. A picture carries its run; a table has the samples of the figure."
            }
            Self::SideBySide => {
                "The field of this run and of a pinned one, in the same colours. It carries both runs."
            }
            Self::Curves => {
                "The convergence curves. A table has all norms of this run, cycle by cycle (of runs over 262,144 cycles every second, fourth, …)."
            }
            Self::Profile => "The field along a line, with the tile borders.",
            Self::MeanTile => "The magnitude of the field, folded onto one tile.",
            Self::Distance => {
                "The field's magnitude by distance from the nearest tile border: median and quartiles."
            }
            Self::EdgeShare => {
                "How much of ‖r‖² lies near tile borders, from the start on: at every cycle (from 512 cycles on, every second, fourth, …)."
            }
            Self::Probes => {
                "The field at the points that are followed, from the start on: at every cycle (from 512 cycles on, every second, fourth, …)."
            }
            Self::Inside => {
                "The tile and the subiteration that the pane shows, with the frozen ring."
            }
            Self::Runs => {
                "This run and the pinned ones: cycles, sweeps, solver time, and the first run's time over each one's."
            }
            Self::Arrangement => "All panes that are shown.",
            Self::BareMap => "The colours alone, one pixel for each point of the grid.",
            Self::Run => {
                "A small TOML file, which makes the run again: open it, or use it as --run."
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
            Self::Probes => "Drop a probe first: point at the map and press D.",
            _ => "Show one of these panes first.",
        }
    }

    /// The extension of its files; of pictures the usual one.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Run => "toml",
            Self::Field | Self::Iterate => "npy",
            _ => "png",
        }
    }

    /// What is drawn for it; numbers are seen as a figure, too.
    pub fn kind(self) -> Option<FigureKind> {
        match self {
            Self::Map => Some(FigureKind::HEAT_MAP),
            Self::SideBySide => Some(FigureKind::SIDE_BY_SIDE),
            Self::Curves => Some(FigureKind::CURVES),
            Self::Profile => Some(FigureKind::PROFILE),
            Self::MeanTile => Some(FigureKind::MEAN_TILE),
            Self::Distance => Some(FigureKind::DISTANCE),
            Self::EdgeShare => Some(FigureKind::EDGE_SHARE),
            Self::Probes => Some(FigureKind::PROBES),
            Self::Inside => Some(FigureKind::INSIDE),
            Self::Runs => Some(FigureKind::RUNS),
            Self::Arrangement => Some(FigureKind::ARRANGEMENT),
            Self::BareMap | Self::Field | Self::Iterate => Some(FigureKind::BARE_MAP),
            Self::Run => None,
        }
    }

    /// Whether its file is a picture.
    pub fn is_picture(self) -> bool {
        Self::PICTURES.contains(&self)
    }

    /// Whether its file can be a table of numbers.
    pub fn has_table(self) -> bool {
        self.is_picture() && self.kind().is_some_and(FigureKind::has_table)
    }

    /// Whether its picture has letters, and a size of its own.
    pub fn has_letters(self) -> bool {
        self.is_picture() && self != Self::BareMap
    }
}
