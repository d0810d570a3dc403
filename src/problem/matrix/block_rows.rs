//! The rows that blocks of a matrix compute, and those that they read.

use super::{Csr, Graph};
use crate::grid::AxisTiling;
use std::ops::Range;

/// The rows that each block owns, and all that it computes, ascending; the overlap of `tiling` counts levels.
pub(crate) fn computed_rows(
    matrix: &Csr,
    tiling: &AxisTiling,
) -> impl Iterator<Item = (Range<usize>, Vec<u32>)> {
    let levels = tiling.overlap() / 2;
    let graph = (levels > 0).then(|| Graph::new(matrix));
    let mut reached = vec![false; matrix.rows()];
    (0..tiling.count()).map(move |j| {
        let owned = tiling.owned(j);
        let rows = owned.clone().map(|row| row as u32);
        let computed = match &graph {
            Some(graph) => graph.around(rows, levels, &mut reached),
            None => rows.collect(),
        };
        (owned, computed)
    })
}

/// Finds what rows of a matrix read.
pub(crate) struct Readers<'a> {
    matrix: &'a Csr,
    /// False everywhere, before and after.
    found: Vec<bool>,
}

impl<'a> Readers<'a> {
    pub fn new(matrix: &'a Csr) -> Self {
        Self { matrix, found: vec![false; matrix.rows()] }
    }

    /// Some rows and all whose values their updates read, ascending.
    pub fn read_by(&mut self, rows: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut read = Vec::new();
        for row in rows {
            // Its own value is that of the diagonal's column.
            for column in self.matrix.columns(row as usize) {
                if !std::mem::replace(&mut self.found[*column as usize], true) {
                    read.push(*column);
                }
            }
        }
        for row in &read {
            self.found[*row as usize] = false;
        }
        read.sort_unstable();
        read
    }
}
