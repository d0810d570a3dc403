//! The kinds of figures, a file each, and the list of them.
//!
//! A new kind is a file here that implements [`FigureType`](super::FigureType), its `mod` line and its
//! line in [`FigureKind::ALL`]; menus, options, files, the save dialog and tests follow.

pub(crate) mod arrangement;
mod bare_map;
pub(crate) mod curves;
pub(crate) mod damping_by_mode;
pub(crate) mod distance;
pub(crate) mod edge_share;
pub(crate) mod frequencies;
mod heat_map;
pub(crate) mod height;
pub(crate) mod inside;
pub(crate) mod lanes;
mod maps;
pub(crate) mod mean_tile;
pub(crate) mod memory_traffic;
pub(crate) mod names;
pub(crate) mod planes;
pub(crate) mod probes;
pub(crate) mod profile;
pub(crate) mod row_map;
mod run_colour;
mod runs;
mod side_by_side;
mod slices;
mod space_time;
pub(crate) mod speedup;
pub(crate) mod spy;
pub(crate) mod times;
mod titles;
mod volume;

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
        Self::SPEEDUP,
        Self::PROFILE,
        Self::MEAN_TILE,
        Self::DISTANCE,
        Self::EDGE_SHARE,
        Self::FREQUENCIES,
        Self::DAMPING_BY_MODE,
        Self::PROBES,
        Self::INSIDE,
        Self::MEMORY_TRAFFIC,
        Self::PLANES,
        Self::HEIGHT,
        Self::LANES,
        Self::SPY,
        Self::ROW_MAP,
        Self::TIMES,
        Self::SLICES,
        Self::VOLUME,
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
    /// What is wrong with the text, or an unknown kind of figure.
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_and_labels_are_unique_and_sentences_are_sentences() {
        let names: BTreeSet<_> = FigureKind::ALL.iter().map(|kind| kind.name()).collect();
        let labels: BTreeSet<_> = FigureKind::ALL.iter().map(|kind| kind.label()).collect();
        assert_eq!((names.len(), labels.len()), (FigureKind::ALL.len(), FigureKind::ALL.len()));
        for kind in FigureKind::ALL {
            let is_name = |c: char| c == '-' || c.is_ascii_lowercase();
            assert!(kind.name().chars().all(is_name), "{kind:?}");
            for text in [Some(kind.about()), kind.about_table()].into_iter().flatten() {
                assert!(text.ends_with('.'), "{kind:?}: {text}");
            }
            assert_eq!(FigureKind::named(kind.name()), Some(*kind));
        }
    }

    #[test]
    fn a_view_is_read_by_the_names_of_its_kinds() {
        let places = "[[places]]\nkind = \"mean-tile\"\narea = [0.0, 0.0, 1.0, 1.0]\n";
        let text = format!("cycle = 4\nfield = \"residual\"\nkind = \"arrangement\"\n{places}");
        let view = ViewSpec::from_toml(&text).unwrap();
        let placed = view.placed()[0].kind;
        assert_eq!((view.kind, placed), (FigureKind::ARRANGEMENT, FigureKind::MEAN_TILE));
        let refused = ViewSpec::from_toml(&text.replace("mean-tile", "pie")).unwrap_err();
        assert!(refused.to_string().contains("\u{201c}pie\u{201d}; it must be one of heat-map"));
    }
}
