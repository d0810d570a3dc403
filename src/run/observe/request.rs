//! What can be requested of an iterate.

use super::cut::CutLine;
use super::field::FieldKind;
use super::frequencies::FrequencyRequest;
use crate::grid::{GridPoint, Shape, Slice};
use crate::solver::{Followed, Window};
use std::ops::Range;

/// What is to be observed of one iterate. Nothing is computed that is not requested here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObservationRequest {
    /// The field of which the map, the values at points and the statistics are.
    pub field: FieldKind,
    /// The map of the field.
    pub map: Option<MapRequest>,
    /// Fields along a line.
    pub profile: Option<ProfileRequest>,
    /// Three slices of a 3D grid.
    pub slices: Option<SlicesRequest>,
    /// The field in a volume of at most this many samples along each axis of a 3D grid.
    pub volume: Option<usize>,
    /// A point (column, row) of the map whose value is wanted exactly.
    pub probe: Option<[usize; 2]>,
    /// Points whose values are followed over the cycles.
    pub probes: Vec<GridPoint>,
    /// The frequencies of the field.
    pub frequencies: Option<FrequencyRequest>,
    /// The field by the rows of a matrix, as a picture of at most this many cells across and down.
    pub rows: Option<[usize; 2]>,
    /// Whether the damping by mode of the run's cycle is measured beside it ([`Plan::damping`](crate::run::Plan::damping)).
    pub damping: bool,
    /// Whether the asymptotic rate of its cycle is found beside it ([`Plan::rate`](crate::run::Plan::rate)).
    pub rate: bool,
    /// Whether the share of the residual near tile borders is wanted.
    pub edge_share: bool,
    /// Whether the magnitude of the field by distance from tile borders, and in the mean tile, is
    /// wanted.
    pub statistics: bool,
    /// A tile, or in 1D all tiles, to be followed through the next cycle, and for how many
    /// subiterations.
    pub inside: Option<(Followed, usize)>,
    /// A field whose values at all points are wanted, in double precision.
    pub whole: Option<FieldKind>,
}

/// A map of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapRequest {
    /// The part of the grid, columns and rows; `None` for all of it.
    pub part: Option<[Range<usize>; 2]>,
    /// The slice through a 3D grid; `None` for the middle one. Columns and rows, also those of
    /// [`ObservationRequest::probe`], are of the slice.
    pub slice: Option<Slice>,
    /// Whether a map of a 3D grid shows, in place of the slice, the value of largest magnitude along the axis across it.
    pub is_projection: bool,
    /// The most samples across and down.
    pub most: [usize; 2],
    /// Whether a 1D run is shown at the present cycle alone, system below system, and not by its
    /// space–time diagram.
    pub is_of_iterate: bool,
}

/// The field on three slices of a 3D grid, across each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlicesRequest {
    /// The point that they have in common: its indices along x, y and z.
    pub through: [usize; 3],
    /// The most samples along each axis.
    pub most: usize,
}

/// Fields along a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileRequest {
    /// The line; the last one of the grid, if the grid has fewer.
    pub line: CutLine,
    /// The slice through a 3D grid in which it lies; `None` for the middle one.
    pub slice: Option<Slice>,
    /// The fields.
    pub fields: Vec<FieldKind>,
    /// The most samples along it.
    pub most: usize,
}

impl ObservationRequest {
    /// Whether a field is observed, in the map or along the line.
    pub fn shows(&self, field: FieldKind) -> bool {
        let along = self.profile.as_ref().map_or(&[][..], |profile| &profile.fields);
        self.field == field || along.contains(&field)
    }
}

impl MapRequest {
    /// A map of the whole grid with at most that many samples across and down.
    pub fn whole(most: [usize; 2]) -> Self {
        Self { most, ..Self::default() }
    }

    /// The part of a grid that is sampled, and in how many samples.
    pub fn window(&self, shape: &Shape) -> Window {
        let whole = Window { most: self.most, ..Window::shown(shape, self.slice) };
        // At least a point of the grid, whatever was asked for.
        let within = |part: &Range<usize>, points: usize| {
            let start = part.start.min(points - 1);
            start..part.end.clamp(start + 1, points)
        };
        match &self.part {
            Some([columns, rows]) => Window {
                columns: within(columns, whole.columns.len()),
                rows: within(rows, whole.rows.len()),
                ..whole
            },
            None => whole,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window that is smaller than the margins of the map once asked for such a part.
    #[test]
    fn an_impossible_part_is_at_least_a_point_of_the_grid() {
        let shape = Shape::grid_2d(64, 40).unwrap();
        for part in [[(32, 8), (39, 3)], [(90, 200), (0, 0)], [(usize::MAX, 1), (40, 41)]] {
            let part = part.map(|(start, end)| start..end);
            let map = MapRequest { part: Some(part), ..MapRequest::default() };
            let Window { columns, rows, .. } = map.window(&shape);
            assert!(columns.start < columns.end && columns.end <= 64, "{columns:?}");
            assert!(rows.start < rows.end && rows.end <= 40, "{rows:?}");
        }
    }
}
