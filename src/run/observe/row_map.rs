//! A field by the rows of a matrix, as a picture: where rows have places, as a map; where they have none, as a strip of
//! rows that is folded, line below line.

use crate::problem::matrix::Places;
use crate::run::plan::Plan;

/// How the rows of a matrix lie in a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowLayout {
    /// So many to a line, in the order of the blocks.
    Folded(usize),
    /// On a grid of nodes, x to the right and y down.
    Grid([usize; 2]),
    /// By their coordinates, x to the right and y down: the least and the largest of each.
    Points([[f64; 2]; 2]),
}

/// A field by the rows of a matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct RowMap {
    /// How the rows lie.
    pub layout: RowLayout,
    /// Cells across and down.
    pub size: [usize; 2],
    /// Of each cell, line by line, the value of largest magnitude; NaN where no row lies.
    pub values: Vec<f32>,
    /// The row, in the order of the blocks, that it is the value of; [`NO_ROW`] where none lies.
    pub rows: Vec<u32>,
}

/// What stands for the row of a cell without one.
pub const NO_ROW: u32 = u32::MAX;

/// Rows that a cell has on average where rows have coordinates: with fewer, much would be empty.
const ROWS_OF_CELL: f64 = 2.0;

impl RowMap {
    /// Of the values of all rows of a matrix, in the order of the blocks, in at most `most` cells.
    pub(super) fn new(plan: &Plan, values: &[f32], most: [usize; 2]) -> Self {
        let layout = layout(plan, values.len());
        let [size, all] = cells(layout, values.len(), most.map(|most| most.max(1)));
        let mut map = Self {
            layout,
            size,
            values: vec![f32::NAN; size[0] * size[1]],
            rows: vec![NO_ROW; size[0] * size[1]],
        };
        for (row, value) in values.iter().enumerate() {
            let own = plan.order.as_deref().map_or(row, |order| order[row] as usize);
            let [column, line] = place(plan, layout, all, [row, own]);
            map.put([column * size[0] / all[0], line * size[1] / all[1]], row as u32, *value);
        }
        map
    }

    fn put(&mut self, [column, line]: [usize; 2], row: u32, value: f32) {
        let at = line * self.size[0] + column;
        let is_larger = value.abs() > self.values[at].abs() || self.values[at].is_nan();
        if self.rows[at] == NO_ROW || is_larger && !value.is_nan() {
            (self.values[at], self.rows[at]) = (value, row);
        }
    }

    /// The lines between cells of different blocks, from corner to corner, in cells: of a folded strip those across its
    /// lines. `block` gives the block of a row.
    pub fn borders(&self, block: impl Fn(usize) -> usize) -> Vec<[[f32; 2]; 2]> {
        let [across, down] = self.size;
        let of = |column: usize, line: usize| match self.rows[line * across + column] {
            NO_ROW => None,
            row => Some(block(row as usize)),
        };
        let differ = |one: Option<usize>, other: Option<usize>| {
            one.zip(other).is_some_and(|(one, other)| one != other)
        };
        let is_folded = matches!(self.layout, RowLayout::Folded(_));
        let mut borders = Vec::new();
        for line in 0..down {
            for column in 0..across {
                let own = of(column, line);
                let [x, y] = [column as f32, line as f32];
                if column + 1 < across && differ(own, of(column + 1, line)) {
                    borders.push([[x + 1.0, y], [x + 1.0, y + 1.0]]);
                }
                if !is_folded && line + 1 < down && differ(own, of(column, line + 1)) {
                    borders.push([[x, y + 1.0], [x + 1.0, y + 1.0]]);
                }
            }
        }
        borders
    }
}

/// The cells across and down of a picture of so many rows, at most `most`; and those that it would have with a cell for
/// every place.
fn cells(layout: RowLayout, rows: usize, most: [usize; 2]) -> [[usize; 2]; 2] {
    let all = match layout {
        RowLayout::Folded(columns) => [columns, rows.div_ceil(columns)],
        RowLayout::Grid(nodes) => nodes,
        RowLayout::Points(bounds) => {
            let [width, height] = bounds.map(|[least, largest]| largest - least);
            let cells = (rows as f64 / ROWS_OF_CELL).max(1.0);
            // Squares: both sides have cells in proportion to their lengths.
            let side = match width > 0.0 && height > 0.0 {
                true => (width * height / cells).sqrt(),
                false => (width.max(height) / cells).max(f64::MIN_POSITIVE),
            };
            let count = |length: f64, most: usize| ((length / side).ceil() as usize).clamp(1, most);
            let size = [count(width, most[0]), count(height, most[1])];
            return [size, size];
        }
    };
    [[all[0].min(most[0]), all[1].min(most[1])], all]
}

/// The column and the line of a row, given its number in the order of the blocks and in the matrix, among `all` cells.
fn place(plan: &Plan, layout: RowLayout, all: [usize; 2], [row, own]: [usize; 2]) -> [usize; 2] {
    match (layout, &plan.places) {
        (RowLayout::Folded(columns), _) => [row % columns, row / columns],
        (RowLayout::Grid([nx, _]), _) => [own % nx, own / nx],
        (RowLayout::Points(bounds), Some(Places::Points(points))) => [0, 1].map(|axis| {
            let [least, largest] = bounds[axis];
            let share = match largest > least {
                true => (points[own][axis] - least) / (largest - least),
                false => 0.5,
            };
            ((share * all[axis] as f64) as usize).min(all[axis] - 1)
        }),
        (RowLayout::Points(_), _) => [0, 0],
    }
}

/// How the rows of a matrix lie. A folded strip has whole blocks to a line where those are not much longer than it is
/// high.
fn layout(plan: &Plan, rows: usize) -> RowLayout {
    match &plan.places {
        Some(Places::Grid(nodes)) => RowLayout::Grid(*nodes),
        Some(Places::Points(points)) => {
            let bounds = |axis: usize| {
                let of_axis = || points.iter().map(|at| at[axis]);
                let least = of_axis().fold(f64::INFINITY, f64::min);
                [least, of_axis().fold(f64::NEG_INFINITY, f64::max)]
            };
            RowLayout::Points([bounds(0), bounds(1)])
        }
        None => {
            let side = rows.isqrt().max(1);
            let block = plan.tiling.x().tile();
            let columns = if block <= 4 * side { side.next_multiple_of(block) } else { side };
            RowLayout::Folded(columns.min(rows.max(1)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::matrix::Ordering;
    use crate::run::{MatrixSpec, Planner, ProblemKind, RunSpec};

    fn plan(source: &str, ordering: Ordering, block: usize) -> Plan {
        let mut spec = RunSpec::default();
        let matrix = MatrixSpec { ordering, ..MatrixSpec::new(source) };
        spec.problem.kind = ProblemKind::Matrix;
        spec.problem.shape = vec![matrix.rows().unwrap()];
        spec.problem.matrix = Some(matrix);
        spec.method.tile = vec![block];
        Planner::default().plan(&spec).unwrap()
    }

    #[test]
    fn a_grid_is_a_map_in_any_order_and_its_blocks_are_squares() {
        let plan = plan("poisson-20x12", Ordering::Tiles, 16);
        // The value of a row is its number in the matrix.
        let values: Vec<_> = plan.order.as_deref().unwrap().iter().map(|own| *own as f32).collect();
        let map = RowMap::new(&plan, &values, [1000, 1000]);
        assert_eq!((map.layout, map.size), (RowLayout::Grid([20, 12]), [20, 12]));
        assert!(map.values.iter().enumerate().all(|(at, value)| *value == at as f32));
        let borders = map.borders(|row| plan.tiling.x().owner(row));
        // 5 × 3 tiles of 4 × 4 nodes: 4 lines down, 2 across.
        assert_eq!(borders.len(), 4 * 12 + 2 * 20);
        // Pooled, the largest magnitude stays.
        let map = RowMap::new(&plan, &values, [5, 3]);
        assert_eq!((map.size, map.values[14]), ([5, 3], 239.0));
    }

    #[test]
    fn rows_without_places_are_a_folded_strip_of_whole_blocks() {
        let plan = plan("trefethen-1000", Ordering::Natural, 50);
        let values: Vec<_> = (0..1000).map(|row| row as f32).collect();
        let map = RowMap::new(&plan, &values, [1000, 1000]);
        assert_eq!((map.layout, map.size), (RowLayout::Folded(50), [50, 20]));
        assert!(map.borders(|row| plan.tiling.x().owner(row)).is_empty());
        assert!(map.rows.iter().enumerate().all(|(at, row)| *row == at as u32));
    }

    #[test]
    fn coordinates_place_every_row() {
        let plan = plan("graph", Ordering::Natural, 256);
        let mut values = vec![1.0; 20_000];
        (values[7], values[9]) = (-5.0, f32::NAN);
        let map = RowMap::new(&plan, &values, [4000, 4000]);
        assert!(matches!(map.layout, RowLayout::Points(_)));
        assert!(map.values.contains(&-5.0));
        let known = map.rows.iter().filter(|row| **row != NO_ROW).count();
        assert!((6_000..=10_201).contains(&known), "{known} of {:?}", map.size);
    }
}
