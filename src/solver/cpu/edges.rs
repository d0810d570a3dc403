//! The edge share: how much of the residual lies near tile borders.

use super::matrix::MatrixSystem;
use super::observe::{BAND, TOGETHER};
use crate::grid::{Real, Shape, Tiling};
use crate::solver::EdgeShare;
use crate::solver::sample::near_borders;
use std::ops::Range;

/// Points near tile borders; for a matrix, rows with entries outside their block.
pub(super) struct Borders {
    /// Which columns and which rows are near a tile border.
    near: [Vec<bool>; 2],
    /// The columns, as ranges.
    columns: Vec<Range<usize>>,
}

impl Borders {
    pub fn new(tiling: &Tiling, shape: &Shape) -> Self {
        Self::of_near(near_borders(tiling, shape))
    }

    /// Of the blocks of a matrix: the rows that have entries outside their block.
    pub fn of_blocks<R: Real>(tiling: &Tiling, system: &MatrixSystem<R>) -> Self {
        let blocks = tiling.x();
        let owned = (0..blocks.count()).map(|block| blocks.owned(block));
        let has_outside = |row: usize, owned: &Range<usize>| {
            system.row(row).0.iter().any(|column| !owned.contains(&(*column as usize)))
        };
        let near = owned.flat_map(|owned| owned.clone().map(move |row| has_outside(row, &owned)));
        Self::of_near([near.collect(), vec![false]])
    }

    fn of_near(near: [Vec<bool>; 2]) -> Self {
        let mut columns: Vec<Range<usize>> = Vec::new();
        for column in (0..near[0].len()).filter(|&column| near[0][column]) {
            match columns.last_mut() {
                Some(last) if last.end == column => last.end += 1,
                _ => columns.push(column..column + 1),
            }
        }
        Self { near, columns }
    }

    /// Appends the sums of squares of some rows, from the row `first` on.
    #[inline(always)]
    pub fn add(&self, first: usize, changes: &[f64], squares: &mut Vec<[f64; 2]>) {
        let nx = self.near[0].len();
        if changes.len() == TOGETHER * nx {
            self.add_rows::<TOGETHER>(first, changes, squares);
            return;
        }
        for (row, changes) in (first..).zip(changes.chunks_exact(nx)) {
            self.add_rows::<1>(row, changes, squares);
        }
    }

    #[inline(always)]
    fn add_rows<const ROWS: usize>(
        &self,
        first: usize,
        changes: &[f64],
        squares: &mut Vec<[f64; 2]>,
    ) {
        let nx = self.near[0].len();
        let rows = std::array::from_fn(|row| &changes[row * nx..][..nx]);
        let all = sums_of_squares::<ROWS>(rows, std::slice::from_ref(&(0..nx)));
        let near = sums_of_squares::<ROWS>(rows, &self.columns);
        for row in 0..ROWS {
            let is_near = self.near[1][first + row];
            squares.push([if is_near { all[row] } else { near[row] }, all[row]]);
        }
    }

    /// The share, from the sums of all rows: added up in each band, then over the bands.
    pub fn share(&self, squares: &[[f64; 2]]) -> EdgeShare {
        let add = |a: [f64; 2], b: &[f64; 2]| [a[0] + b[0], a[1] + b[1]];
        let bands = squares.chunks(BAND).map(|rows| rows.iter().fold([0.0; 2], add));
        let [near, all] = bands.fold([0.0; 2], |a, b| add(a, &b));
        EdgeShare::of(near, all, &self.near)
    }
}

/// The sums of squares of some rows in some columns, each row from left to right: the sums of several
/// rows are independent of each other. Not inlined, so that they stay in registers.
#[inline(never)]
fn sums_of_squares<const ROWS: usize>(
    rows: [&[f64]; ROWS],
    columns: &[Range<usize>],
) -> [f64; ROWS] {
    let mut sums = [0.0; ROWS];
    for columns in columns {
        let width = columns.len();
        let rows = rows.map(|row| &row[columns.start..][..width]);
        for column in 0..width {
            for (sum, row) in sums.iter_mut().zip(rows) {
                *sum += row[column] * row[column];
            }
        }
    }
    sums
}
