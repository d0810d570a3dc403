//! The rows that blocks of a matrix compute, and those that they read.

use super::{Csr, Graph};
use crate::grid::AxisTiling;
use crate::number::{counted, grouped};
use std::ops::Range;

/// The rows that a block owns, and all that it computes, ascending.
pub(crate) type BlockRows = (Range<usize>, Vec<u32>);

/// Rows that may be computed for one of the matrix. An overlap that adds more costs far more than it gains, and finding its
/// rows would take minutes.
const MOST_TIMES: usize = 64;

/// Rows that may be computed of any matrix: for these it takes a moment.
const ALWAYS: usize = 1 << 22;

/// The overlap of blocks of a matrix adds too many rows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "overlap {overlap} is not allowed with blocks of {}: together they would compute more than {} rows, and the matrix has {}; use a smaller overlap or larger blocks",
    counted(*.block as u64, "row"), grouped(*.most as u64), grouped(*.rows as u64)
)]
pub struct OverlapError {
    /// Levels of overlap.
    pub overlap: usize,
    /// Rows of a block.
    pub block: usize,
    /// Rows of the matrix.
    pub rows: usize,
    /// Rows that all blocks together may compute.
    pub most: usize,
}

/// The rows of each block; the overlap of `tiling` counts levels.
///
/// # Errors
/// [`OverlapError`] if they are too many.
pub(crate) fn computed_rows(
    matrix: &Csr,
    tiling: &AxisTiling,
) -> Result<Vec<BlockRows>, OverlapError> {
    let levels = tiling.overlap() / 2;
    let graph = (levels > 0).then(|| Graph::new(matrix));
    let mut reached = vec![false; matrix.rows()];
    let most = (MOST_TIMES * matrix.rows()).max(ALWAYS);
    let mut left = most;
    let rows_of = |j| {
        let owned = tiling.owned(j);
        let rows = owned.clone().map(|row| row as u32);
        let computed = match &graph {
            Some(graph) => graph.around(rows, levels, left, &mut reached)?,
            None => rows.collect(),
        };
        left = left.checked_sub(computed.len())?;
        Some((owned, computed))
    };
    (0..tiling.count()).map(rows_of).collect::<Option<_>>().ok_or_else(|| OverlapError {
        overlap: tiling.overlap(),
        block: tiling.tile(),
        rows: matrix.rows(),
        most,
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
