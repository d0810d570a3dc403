//! The space–time diagram of a 1D run.

use crate::grid::{Need, Shape};
use crate::picture::axis::scale::Range;
use crate::picture::draw::drawing::Drawing;
use crate::picture::figures::maps::{field_range, map_tables, maps};
use crate::picture::figures::titles::{Titles, field_title};
use crate::picture::view::kind::{FigureKind, FigureType};
use crate::picture::view::spec::ViewSpec;
use crate::run::{CsvTable, FieldKind, MapRequest, Snapshot, SnapshotRequest};

/// A field of a 1D run over its cycles: what a heat map is in 1D.
struct SpaceTime;

impl FigureKind {
    /// The space–time diagram of a 1D run.
    pub const SPACE_TIME: Self = Self::new(&SpaceTime);
}

impl FigureType for SpaceTime {
    fn name(&self) -> &'static str {
        "space-time"
    }

    fn label(&self) -> &'static str {
        "Space–time diagram"
    }

    fn about(&self) -> &'static str {
        "A field of a 1D run over its cycles: x across, cycles downwards."
    }

    fn about_table(&self) -> Option<&'static str> {
        Some("A table has the samples that are drawn.")
    }

    fn file_stem(&self, field: FieldKind) -> String {
        format!("{}-space-time", field.name())
    }

    fn need(&self) -> Need {
        Need::Grid1d
    }

    fn is_in_menus(&self) -> bool {
        // The heat map of a 1D run is the same.
        false
    }

    fn is_map(&self) -> bool {
        true
    }

    fn request(&self, view: &ViewSpec, _: &Shape, request: &mut SnapshotRequest) {
        let most = view.figure.size.map(|side| side as usize);
        request.observation.map = Some(MapRequest::whole(most));
    }

    fn range(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Option<Range> {
        field_range(snapshots, view)
    }

    fn title(&self, first: &Snapshot, _: &ViewSpec) -> String {
        field_title(first)
    }

    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        Drawing::Figure(maps(snapshots, view, &Titles::of(snapshots, view)))
    }

    fn tables<'a>(
        &self,
        snapshots: &[&'a Snapshot],
        view: &ViewSpec,
    ) -> Vec<(String, CsvTable<'a>)> {
        map_tables(snapshots, view)
    }
}
