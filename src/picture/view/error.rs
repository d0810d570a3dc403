//! Why a view cannot be drawn.

use crate::grid::{Shape, SliceError};
use crate::picture::view::kind::FigureKind;
use crate::run::{FieldKind, ModeError};
use crate::solver::{LONGEST_FOLDED, MethodName};

/// Why a view cannot be drawn of a run; one sentence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ViewError {
    /// A kind that needs another grid, or one at all.
    #[error("{} cannot be drawn for this run: {}", .kind.name(), clause(.reason))]
    Geometry {
        /// The requested kind.
        kind: FigureKind,
        /// Why not.
        reason: &'static str,
    },
    /// A slice that the grid does not have.
    #[error(transparent)]
    Slice(#[from] SliceError),
    /// A projection of a grid that has no slices.
    #[error("a projection needs a 3D grid; this one is {dim}D")]
    Projection {
        /// The axes of the grid.
        dim: usize,
    },
    /// A kind that needs other runs.
    #[error("{} needs a second run to compare with", .kind.name())]
    NoSecond {
        /// The requested kind.
        kind: FigureKind,
    },
    /// A kind that shows one run.
    #[error(
        "{} shows one run; side-by-side compares two, and curves, profile and runs more",
        .kind.name()
    )]
    OneRun {
        /// The requested kind.
        kind: FigureKind,
    },
    /// More runs than a kind shows.
    #[error(
        "{} shows {} runs at most; this one and {given} others were given",
        .kind.name(),
        .kind.most_beside() + 1
    )]
    TooMany {
        /// The requested kind.
        kind: FigureKind,
        /// How many others there are.
        given: usize,
    },
    /// No point to be followed over the cycles.
    #[error("{} shows a field at single points and none is given; add one, such as --probe 40,32", .kind.name())]
    NoProbe {
        /// The requested kind.
        kind: FigureKind,
    },
    /// A tile that is too large to be followed through a cycle, or reads what others write in it.
    #[error(
        "the tile cannot be followed through a cycle: it has too many points and subiterations, or is computed in waves or warps"
    )]
    NotFollowed,
    /// Memory traffic that is not counted; why, in one sentence.
    #[error("memory-traffic cannot be drawn for this run: {}", clause(.0))]
    NotCounted(&'static str),
    /// Lanes of a run that has made no pass.
    #[error("lanes needs a pass that was timed: make a cycle first")]
    NoPass,
    /// Planes of a method that streams none.
    #[error("{} needs a method that streams planes through fast memory: pyramid or wavefront", .kind.name())]
    NotStreaming {
        /// The requested kind.
        kind: FigureKind,
    },
    /// A kind that is about tiles, of a method that streams planes.
    #[error("{} needs tiles, which method {} does not have", .kind.name(), .method.name())]
    NoTiles {
        /// The requested kind.
        kind: FigureKind,
        /// The method.
        method: MethodName,
    },
    /// No border to measure distances from.
    #[error("this run has one tile and no tile border")]
    NoBorder,
    /// Two runs that do not fit into one figure.
    #[error(
        "the run to compare with has {other} points, this one {shape}; runs in one figure must be on the same grid"
    )]
    OtherGrid {
        /// The points of this run.
        shape: Shape,
        /// Those of the other.
        other: Shape,
    },
    /// A cut outside of the grid.
    #[error("cut is {cut}; {allowed}")]
    Cut {
        /// The cut, as it is written.
        cut: String,
        /// What it may be.
        allowed: String,
    },
    /// A field that is not known at this cycle.
    #[error("the {} is not known at cycle {cycle} of this run; choose another field", .field.name())]
    Unknown {
        /// The field.
        field: FieldKind,
        /// The cycle.
        cycle: u64,
    },
    /// Tiles that are too large to be folded.
    #[error(
        "the tiles of this run are too large for a mean tile; a side has at most {LONGEST_FOLDED} points"
    )]
    NotFolded,
    /// A cycle that cannot be measured.
    #[error(transparent)]
    Cycle(#[from] ModeError),
    /// A part that an arrangement cannot have.
    #[error("{} cannot be part of an arrangement", .kind.name())]
    NotPlaced {
        /// The requested kind.
        kind: FigureKind,
    },
    /// An animation of a figure that shows all cycles at once.
    #[error("an arrangement in 1D shows all cycles; choose another kind for an animation")]
    NoFilm,
    /// A number out of its range.
    #[error("{field} is {value}; {allowed}")]
    Value {
        /// Which field.
        field: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        allowed: String,
    },
}

/// A sentence as a part of another.
fn clause(sentence: &str) -> String {
    let mut rest = sentence.trim_end_matches('.').chars();
    rest.next().map_or_else(String::new, |first| first.to_lowercase().chain(rest).collect())
}
