//! How far the rows of a block are from its border, in steps through the matrix.

use super::csr::Csr;
use crate::grid::AxisTiling;

/// For each row the steps to the border of its block: 1 with a static entry, 2 with an entry in the column of such a
/// row, and so on; 0 where no number of steps leads out of the block. After so many subiterations the row reads what was
/// computed from frozen values.
pub fn steps_to_border(matrix: &Csr, blocks: &AxisTiling) -> Vec<u32> {
    let mut steps = vec![0; matrix.rows()];
    for block in (0..blocks.count()).map(|block| blocks.owned(block)) {
        let first = block.start;
        let is_inside = |column: &u32| block.contains(&(*column as usize));
        // The rows that have an entry in each column of the block: a sort of its entries by columns, by counting.
        let mut starts = vec![0_usize; block.len() + 1];
        for row in block.clone() {
            for (column, _) in matrix.off_diagonal(row).filter(|(column, _)| is_inside(column)) {
                starts[column as usize - first + 1] += 1;
            }
        }
        for column in 0..block.len() {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let mut users = vec![0; starts[block.len()]];
        let mut level: Vec<usize> = Vec::new();
        for row in block.clone() {
            for (column, _) in matrix.off_diagonal(row) {
                if is_inside(&column) {
                    let place = &mut next[column as usize - first];
                    users[*place] = row;
                    *place += 1;
                } else if steps[row] == 0 {
                    steps[row] = 1;
                    level.push(row);
                }
            }
        }
        let mut far = 1;
        while !level.is_empty() {
            far += 1;
            let mut reached = Vec::new();
            for column in level {
                for row in &users[starts[column - first]..starts[column - first + 1]] {
                    if steps[*row] == 0 {
                        steps[*row] = far;
                        reached.push(*row);
                    }
                }
            }
            level = reached;
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use super::super::Entry;
    use super::*;
    use crate::grid::Tiling;
    use proptest::prelude::*;

    proptest! {
        /// As by relaxation: one more than the nearest row that it has an entry of.
        #[test]
        fn steps_are_the_fewest(
            rows in 1..30_usize,
            block in 1..32_usize,
            beside in prop::collection::vec((0..30_u32, 0..30_u32), 0..80),
        ) {
            let last = rows as u32;
            let beside = beside.into_iter().map(|(row, column)| (row % last, column % last, 0.5));
            let diagonal = (0..last).map(|row| (row, row, 4.0));
            let entries: Vec<Entry> =
                diagonal.chain(beside.filter(|(row, column, _)| row != column)).collect();
            let matrix = Csr::from_entries(rows, &entries).unwrap();
            let tiling = Tiling::blocks(rows, block, 0).unwrap();
            let blocks = tiling.x();
            let mut expected = vec![u32::MAX; rows];
            for _ in 0..=rows {
                for row in 0..rows {
                    for (column, _) in matrix.off_diagonal(row) {
                        let is_inside = blocks.owner(row) == blocks.owner(column as usize);
                        let there = if is_inside { expected[column as usize] } else { 0 };
                        expected[row] = expected[row].min(there.saturating_add(1));
                    }
                }
            }
            let expected: Vec<_> =
                expected.into_iter().map(|steps| if steps == u32::MAX { 0 } else { steps }).collect();
            prop_assert_eq!(steps_to_border(&matrix, blocks), expected);
        }
    }
}
