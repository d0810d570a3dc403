//! The kinds of figures, a file each, and the list of them.
//!
//! A new kind is a file here that implements [`FigureType`](super::FigureType), its `mod` line and its
//! line in [`FigureKind::ALL`]; menus, options, files, the save dialog and tests follow.

mod arrangement;
mod bare_map;
pub(crate) mod curves;
pub(crate) mod distance;
pub(crate) mod edge_share;
mod heat_map;
pub(crate) mod inside;
mod maps;
pub(crate) mod mean_tile;
pub(crate) mod names;
pub(crate) mod probes;
pub(crate) mod profile;
mod run_colour;
mod runs;
mod side_by_side;
mod space_time;
mod titles;

use crate::picture::axis::scale::Range;
use crate::picture::draw::drawing::Drawing;
use crate::picture::view::kind::FigureKind;
use crate::picture::view::spec::ViewSpec;
use crate::run::Snapshot;
use serde::de::Error;

impl FigureKind {
    /// Every kind, in the order of menus.
    pub const ALL: &'static [Self] = &[
        Self::HEAT_MAP,
        Self::SIDE_BY_SIDE,
        Self::SPACE_TIME,
        Self::CURVES,
        Self::PROFILE,
        Self::MEAN_TILE,
        Self::DISTANCE,
        Self::EDGE_SHARE,
        Self::PROBES,
        Self::INSIDE,
        Self::RUNS,
        Self::ARRANGEMENT,
        Self::BARE_MAP,
    ];

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

impl ViewSpec {
    /// Reads a view as files have it.
    ///
    /// # Errors
    /// What is wrong with the text, or a kind of figure that there is not.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        let view: ViewSpec<String> = toml::from_str(text)?;
        view.with_kinds(FigureKind::named).map_err(|name| {
            let all: Vec<_> = FigureKind::ALL.iter().map(|kind| kind.name()).collect();
            let all = all.join(", ");
            toml::de::Error::custom(format!(
                "kind is \u{201c}{name}\u{201d}; it must be one of {all}"
            ))
        })
    }
}

/// Draws what a view shows of one run or several. The snapshots were taken for it
/// ([`ViewSpec::snapshot_request`]), of runs that go together ([`ViewSpec::check`]).
pub fn figure(snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
    view.kind.draw(snapshots, view)
}

/// The range of values that shows all of these snapshots, for several figures in the same colours.
/// `None` where none is known, and of figures that show all cycles in any case.
pub fn common_range(snapshots: &[&Snapshot], view: &ViewSpec) -> Option<Range> {
    view.kind.range(snapshots, view)
}
