//! The map of a field.

use crate::grid::Shape;
use crate::picture::axis::scale::Range;
use crate::picture::draw::drawing::Drawing;
use crate::picture::figures::maps::{field_range, map_tables, maps};
use crate::picture::figures::titles::{Titles, field_title};
use crate::picture::view::kind::{FigureKind, FigureType};
use crate::picture::view::spec::ViewSpec;
use crate::run::{CsvTable, FieldKind, MapRequest, Snapshot, SnapshotRequest};

/// The map of a field; in 1D its space–time diagram.
struct HeatMap;

impl FigureKind {
    /// The map of a field.
    pub const HEAT_MAP: Self = Self::new(&HeatMap);
}

impl Default for FigureKind {
    fn default() -> Self {
        Self::HEAT_MAP
    }
}

impl FigureType for HeatMap {
    fn name(&self) -> &'static str {
        "heat-map"
    }

    fn label(&self) -> &'static str {
        "Heat map"
    }

    fn about(&self) -> &'static str {
        "The field as colours, with axes and colour bar; in 1D its space–time diagram."
    }

    fn about_table(&self) -> Option<&'static str> {
        Some("A table has the samples that are drawn.")
    }

    fn file_stem(&self, field: FieldKind) -> String {
        field.name().to_owned()
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
