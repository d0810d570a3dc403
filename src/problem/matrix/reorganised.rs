//! A row of a matrix taken apart into static and dynamic entries, as kernels of blocks keep it.

use super::csr::Csr;
use crate::grid::AxisTiling;
use std::ops::Range;

/// Rows whose lists are padded to the same length: those of a warp of a GPU.
pub const ROWS_OF_WARP: usize = 32;

/// A row of a matrix, reorganised.
#[derive(Clone, Debug, PartialEq)]
pub struct ReorganisedRow {
    /// Its diagonal.
    pub diagonal: f64,
    /// Static entries: their columns in the matrix, and coefficients.
    pub fixed: Vec<(u32, f64)>,
    /// Dynamic entries: their places among the rows of the block, and coefficients.
    pub dynamic: Vec<(u32, f64)>,
}

impl ReorganisedRow {
    /// A row of a matrix that is cut into blocks, by the rows that its block owns.
    pub fn new(matrix: &Csr, blocks: &AxisTiling, row: usize) -> Self {
        let block = blocks.owned(blocks.owner(row));
        let is_inside = |column: u32| block.contains(&(column as usize));
        let (inside, fixed): (Vec<_>, _) =
            matrix.off_diagonal(row).partition(|(column, _)| is_inside(*column));
        let local = |(column, value)| (column - block.start as u32, value);
        let dynamic = inside.into_iter().map(local).collect();
        Self { diagonal: matrix.diagonal(row), fixed, dynamic }
    }

    /// The entries in each of its lists: static, dynamic.
    pub fn lengths(&self) -> [usize; 2] {
        [self.fixed.len(), self.dynamic.len()]
    }
}

/// The rows whose lists have the lengths of the longest of them: those of a warp, which begin with the block.
pub fn rows_of_warp(blocks: &AxisTiling, row: usize) -> Range<usize> {
    let block = blocks.owned(blocks.owner(row));
    let start = row - (row - block.start) % ROWS_OF_WARP;
    start..(start + ROWS_OF_WARP).min(block.end)
}

#[cfg(test)]
mod tests {
    use super::super::Generated;
    use super::*;
    use crate::grid::Tiling;

    #[test]
    fn a_row_is_taken_apart_by_its_block() {
        let matrix = Generated::Heat1d { rows: 100 }.matrix().unwrap();
        let tiling = Tiling::blocks(100, 40, 0).unwrap();
        let row = ReorganisedRow::new(&matrix, tiling.x(), 40);
        let expected =
            ReorganisedRow { diagonal: 2.0, fixed: vec![(39, -1.0)], dynamic: vec![(1, -1.0)] };
        assert_eq!(row, expected);
        assert_eq!(row.lengths(), [1, 1]);
        let warps = [39, 40, 72, 99].map(|row| rows_of_warp(tiling.x(), row));
        assert_eq!(warps, [32..40, 40..72, 72..80, 80..100]);
    }
}
