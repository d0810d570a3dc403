//! The colours of a field alone, one pixel per point.

use crate::grid::Shape;
use crate::picture::axis::scale::Range;
use crate::picture::colour::paint::{NO_VALUE, colours};
use crate::picture::draw::drawing::Drawing;
use crate::picture::figures::maps::{ScaledSamples, field_range, scale};
use crate::picture::figures::titles::field_title;
use crate::picture::view::kind::{ALL_SAMPLES, FigureKind, FigureType};
use crate::picture::view::spec::ViewSpec;
use crate::run::{FieldKind, MapRequest, Snapshot, SnapshotRequest};
use image::RgbaImage;

/// The map without anything around it.
struct BareMap;

impl FigureKind {
    /// The map alone, one pixel per point.
    pub const BARE_MAP: Self = Self::new(&BareMap);
}

impl FigureType for BareMap {
    fn name(&self) -> &'static str {
        "bare-map"
    }

    fn label(&self) -> &'static str {
        "Raw map (1 px per point)"
    }

    fn about(&self) -> &'static str {
        "Only the colours, one pixel for each point of the grid."
    }

    fn file_stem(&self, field: FieldKind) -> String {
        field.name().to_owned()
    }

    fn is_map(&self) -> bool {
        true
    }

    fn can_be_placed(&self) -> bool {
        false
    }

    fn has_page(&self) -> bool {
        false
    }

    fn request(&self, _: &ViewSpec, _: &Shape, request: &mut SnapshotRequest) {
        request.observation.map = Some(MapRequest::whole(ALL_SAMPLES));
    }

    fn range(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Option<Range> {
        field_range(snapshots, view)
    }

    fn title(&self, first: &Snapshot, _: &ViewSpec) -> String {
        field_title(first)
    }

    /// Where nothing is known it is transparent.
    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        let Some(snapshot) = snapshots.first() else { return Drawing::Map(RgbaImage::default()) };
        let shown = ScaledSamples::of(snapshot, &view.figure);
        let known = shown.known();
        let mut pixels = Vec::new();
        colours(&known, &scale(snapshots, view), view.figure.map, &mut pixels);
        // Cycles to come, so that all frames of an animation are of one size.
        let rows = shown.rows();
        pixels.resize(known.cols() * rows * NO_VALUE.len(), 0);
        let size = u32::try_from(known.cols()).ok().zip(u32::try_from(rows).ok());
        let map = size.and_then(|(width, height)| RgbaImage::from_raw(width, height, pixels));
        Drawing::Map(map.unwrap_or_default())
    }
}
