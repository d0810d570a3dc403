//! A field by the rows of a matrix: a map where rows have places, a folded strip where they have none.

use crate::grid::{Need, Shape};
use crate::picture::axis::scale::Range;
use crate::picture::colour::paint::{Samples, shown_values};
use crate::picture::draw::drawing::Drawing;
use crate::picture::figures::maps::{known_range, scale};
use crate::picture::figures::names::value_label;
use crate::picture::figures::titles::{Titles, field_title};
use crate::picture::plot::heat_map::{HeatMapFigure, MapAxis, Panel};
use crate::picture::view::kind::{FigureKind, FigureType, Uses};
use crate::picture::view::spec::ViewSpec;
use crate::run::{self, CsvTable, FieldKind, Plan, RowLayout, RowMap, Snapshot, SnapshotRequest};

/// A field by the rows of a matrix.
struct RowMapFigure;

impl FigureKind {
    /// A field by the rows of a matrix.
    pub const ROW_MAP: Self = Self::new(&RowMapFigure);
}

/// The borders of blocks that have fewer cells than this on average would hide them.
const FEWEST_CELLS: usize = 30;

/// More borders than one for this many cells would hide them.
const MOST_BORDERS: usize = 4;

impl FigureType for RowMapFigure {
    fn name(&self) -> &'static str {
        "row-map"
    }

    fn label(&self) -> &'static str {
        "Rows"
    }

    fn about(&self) -> &'static str {
        "The field by the rows of a matrix: a map where their places are known, otherwise a folded strip; the lines are block borders."
    }

    fn about_table(&self) -> Option<&'static str> {
        Some("A table has the value of each cell, and the row that it is of.")
    }

    fn file_stem(&self, field: FieldKind) -> String {
        format!("{}-by-row", field.name())
    }

    fn need(&self) -> Need {
        Need::Matrix
    }

    fn uses(&self) -> Uses {
        Uses { slice: false, projection: false, ..Uses::MAP }
    }

    fn request(&self, view: &ViewSpec, _: &Shape, request: &mut SnapshotRequest) {
        request.observation.rows = Some(view.figure.size.map(|side| side as usize));
    }

    fn range(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Option<Range> {
        let of =
            |snapshot: &&Snapshot| known_range(&snapshot.observation.rows.as_ref()?.values, view);
        snapshots.iter().filter_map(of).reduce(Range::union)
    }

    fn title(&self, first: &Snapshot, _: &ViewSpec) -> String {
        format!("{} by row", field_title(first))
    }

    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        let nothing = || Drawing::Figure(String::new());
        let Some(snapshot) = snapshots.first() else { return nothing() };
        let Some(map) = &snapshot.observation.rows else { return nothing() };
        let spec = &view.figure;
        let titles = Titles::of(&snapshots[..1], view);
        let values = shown_values(&map.values, spec.scale, spec.absolute);
        let [x_axis, y_axis] = axes(map);
        let borders = if spec.borders { block_borders(map, &snapshot.plan) } else { Vec::new() };
        let panel = Panel {
            title: "",
            samples: Samples::new(map.size[0], map.size[1], &values).unwrap_or(Samples::EMPTY),
            end: y_axis.end,
            tile_borders_x: &[],
            tile_borders_y: &[],
            device_borders_y: &[],
            cell_borders: &borders,
            outlines: &[],
            lines: &[],
        };
        let figure = HeatMapFigure {
            title: &titles.title,
            subtitle: &titles.subtitle,
            panels: &[panel],
            x_axis,
            y_axis,
            equal_aspect: true,
            scale: scale(&snapshots[..1], view),
            map: spec.map,
            value_label: &value_label(snapshot.field(), spec.scale, spec.absolute),
            page: spec.page(),
        };
        Drawing::Figure(figure.svg())
    }

    fn tables<'a>(
        &self,
        snapshots: &[&'a Snapshot],
        view: &ViewSpec,
    ) -> Vec<(String, CsvTable<'a>)> {
        let table = |(name, snapshot): (String, &&'a Snapshot)| {
            let map = snapshot.observation.rows.as_deref()?;
            let order = snapshot.plan.order.as_deref();
            Some((name, run::row_map_table(snapshot.field().name(), map, order)))
        };
        let names = Titles::of(snapshots, view).each;
        names.into_iter().zip(snapshots).filter_map(table).collect()
    }
}

/// The axes of a map of rows.
fn axes(map: &RowMap) -> [MapAxis<'static>; 2] {
    let from_zero = |label, end: usize| MapAxis { label, start: 0.0, end: end as f64 };
    match map.layout {
        RowLayout::Folded(columns) => [
            from_zero("row of the line", columns),
            from_zero("first row of the line", columns * map.size[1]),
        ],
        RowLayout::Grid([nx, ny]) => [from_zero("i", nx), from_zero("j", ny)],
        RowLayout::Points(bounds) => {
            let axis = |label, [start, end]: [f64; 2]| MapAxis {
                label,
                start,
                // An axis has a length, also where all rows lie on a line.
                end: if end > start { end } else { start + 1.0 },
            };
            [axis("x", bounds[0]), axis("y", bounds[1])]
        }
    }
}

/// The borders of blocks between the cells of a map of rows ([`RowMap::borders`]); none where they would hide the cells.
pub fn block_borders(map: &RowMap, plan: &Plan) -> Vec<[[f32; 2]; 2]> {
    let blocks = plan.tiling.x();
    if map.values.len() < FEWEST_CELLS * blocks.count() {
        return Vec::new();
    }
    let borders = map.borders(|row| blocks.owner(row));
    // Blocks that are narrow lines of rows have a border at every cell.
    if MOST_BORDERS * borders.len() > map.values.len() { Vec::new() } else { borders }
}
