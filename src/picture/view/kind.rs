//! The kinds of figures.

use crate::picture::colour::theme::MOST_BESIDE;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// What a figure draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum FigureKind {
    /// Of a plane the map of a field, of a line its space–time diagram
    #[default]
    HeatMap,
    /// The maps of two runs, in the same colours (with --compare)
    SideBySide,
    /// A field of a line over its cycles
    SpaceTime,
    /// How the residual falls; of several runs with --compare
    Curves,
    /// A field along a line, with the tile borders; of several runs with --compare
    Profile,
    /// The magnitude of a field, folded onto one tile and averaged over all of them
    MeanTile,
    /// The magnitude of a field against the distance from the nearest tile border: median and quartiles
    Distance,
    /// How much of the residual lies near tile borders, over the cycles
    EdgeShare,
    /// A field at single points over the cycles (with --probe)
    Probes,
    /// A subiteration of one tile, with its frozen ring; of a line all of them (see --follow)
    Inside,
    /// How far several runs are, and how long they took, as a table (with --compare)
    Runs,
    /// Several of these in one figure, each in its place; see --place
    Arrangement,
    /// The map alone, one pixel a point
    BareMap,
}

impl FigureKind {
    /// Every kind.
    pub const ALL: [Self; 13] = [
        Self::HeatMap,
        Self::SideBySide,
        Self::SpaceTime,
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

    /// The name on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HeatMap => "heat-map",
            Self::SideBySide => "side-by-side",
            Self::SpaceTime => "space-time",
            Self::Curves => "curves",
            Self::Profile => "profile",
            Self::MeanTile => "mean-tile",
            Self::Distance => "distance",
            Self::EdgeShare => "edge-share",
            Self::Probes => "probes",
            Self::Inside => "inside",
            Self::Runs => "runs",
            Self::Arrangement => "arrangement",
            Self::BareMap => "bare-map",
        }
    }

    /// Whether it shows the field that was chosen, rather than norms, the residual's share or u.
    pub const fn shows_field(self) -> bool {
        !matches!(self, Self::Curves | Self::EdgeShare | Self::Inside | Self::Runs)
    }

    /// Whether it shows numbers of all cycles, and not one of them.
    pub const fn is_over_cycles(self) -> bool {
        matches!(self, Self::Curves | Self::EdgeShare | Self::Probes | Self::Runs)
    }

    /// Whether it can show more runs than one.
    pub const fn compares(self) -> bool {
        self.most_beside() > 0
    }

    /// How many runs it can show beside the first.
    pub const fn most_beside(self) -> usize {
        match self {
            Self::SideBySide => 1,
            Self::Curves | Self::Profile | Self::Runs | Self::Arrangement => MOST_BESIDE,
            _ => 0,
        }
    }

    /// Whether it can be part of an arrangement.
    pub const fn can_be_placed(self) -> bool {
        !matches!(self, Self::Arrangement | Self::BareMap)
    }

    /// Whether it has a size of its own choice, a title and letters.
    pub const fn is_figure(self) -> bool {
        !matches!(self, Self::BareMap)
    }
}
