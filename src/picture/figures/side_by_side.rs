//! The maps of two runs in the same colours.

use crate::grid::Shape;
use crate::picture::axis::scale::Range;
use crate::picture::draw::drawing::Drawing;
use crate::picture::figures::maps::{field_range, maps};
use crate::picture::figures::titles::{Titles, field_title, reduction_of};
use crate::picture::view::kind::{FigureKind, FigureType};
use crate::picture::view::spec::ViewSpec;
use crate::run::{FieldKind, MapRequest, Snapshot, SnapshotRequest};

/// The maps of two runs, side by side or one above the other, whichever is larger.
struct SideBySide;

impl FigureKind {
    /// The maps of two runs.
    pub const SIDE_BY_SIDE: Self = Self::new(&SideBySide);
}

impl FigureType for SideBySide {
    fn name(&self) -> &'static str {
        "side-by-side"
    }

    fn label(&self) -> &'static str {
        "Two maps side by side"
    }

    fn about(&self) -> &'static str {
        "The field of two runs in the same colours."
    }

    fn file_stem(&self, field: FieldKind) -> String {
        format!("{}-side-by-side", field.name())
    }

    fn is_map(&self) -> bool {
        true
    }

    fn beside(&self) -> [usize; 2] {
        [1, 1]
    }

    fn compares_points(&self) -> bool {
        true
    }

    fn size(&self) -> [u32; 2] {
        [1600, 900]
    }

    fn missing(&self, _: &ViewSpec, others: usize) -> Option<&'static str> {
        (others == 0).then_some("Pin a run first, to compare with.")
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
        let mut titles = Titles::of(snapshots, view);
        for (title, snapshot) in titles.each.iter_mut().zip(snapshots) {
            if let Some(reduction) = reduction_of(snapshot).filter(|_| snapshots.len() > 1) {
                title.push_str(&format!(" · {reduction}"));
            }
        }
        Drawing::Figure(maps(snapshots, view, &titles))
    }
}
