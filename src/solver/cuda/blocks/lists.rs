//! The lists of entries of a matrix that is cut into blocks, as `kernels/blocks.cu` reads them: those of the
//! rows of a warp (a group) are padded to the longest of them and transposed.

use crate::grid::Real;
use crate::problem::matrix::BlockRows;
use crate::solver::cpu::MatrixSystem;

/// Rows of a group: `GROUP` of `blocks.cu`.
pub(super) const GROUP: usize = 32;

/// A block of rows, laid out as in `blocks.cu`, where each member is explained.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::solver::cuda) struct RowBlock {
    pub group: u32,
    pub rows: u32,
    pub first: u32,
    pub owned: u32,
    pub place: u32,
}

/// Where the lists of the groups begin, in entries of a row.
#[derive(Debug)]
pub(super) struct Starts(Vec<usize>);

/// Which lists the entries of a row go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::solver::cuda) enum Split {
    /// All into one, by ascending columns: Jacobi's iteration.
    None,
    /// All into one, the static ones first.
    Sorted,
    /// Static and dynamic ones into a list each.
    Apart,
}

/// The lengths of all lists, known before anything is allocated for them.
#[derive(Debug)]
pub(super) struct Lengths {
    outside: Starts,
    inside: Starts,
    /// Whether blocks compute more rows than they own.
    has_overlap: bool,
    groups: usize,
    blocks: usize,
}

/// Entries of one kind, group by group.
#[derive(Debug)]
pub(super) struct Entries<C, R> {
    pub starts: Vec<u32>,
    pub columns: Vec<C>,
    pub weights: Vec<R>,
}

/// All lists of a matrix.
#[derive(Debug)]
pub(super) struct Lists<R> {
    pub blocks: Vec<RowBlock>,
    /// The computed rows, group by group; empty where these are the owned ones.
    pub rows: Vec<u32>,
    pub outside: Entries<u32, R>,
    pub inside: Entries<u16, R>,
}

/// Where a column lies among the computed rows of a block, if it does.
fn place(column: u32, (owned, computed): &BlockRows) -> Option<usize> {
    if owned.len() == computed.len() {
        return owned.contains(&(column as usize)).then(|| column as usize - owned.start);
    }
    computed.binary_search(&column).ok()
}

/// How many entries of a row go to the list of the outside and to that of the inside.
fn lengths<R: Real>(
    system: &MatrixSystem<R>,
    block: &BlockRows,
    row: u32,
    split: Split,
) -> [usize; 2] {
    let (columns, _) = system.row(row as usize);
    let inside = match split {
        Split::None | Split::Sorted => 0,
        Split::Apart => columns.iter().filter(|column| place(**column, block).is_some()).count(),
    };
    [columns.len() - inside, inside]
}

impl Starts {
    fn push(&mut self, longest: usize) {
        self.0.push(self.0.last().unwrap_or(&0) + longest);
    }

    /// Entries of all lists, padding included; at least one, because a GPU has no empty arrays.
    fn entries(&self) -> usize {
        (GROUP * self.0.last().unwrap_or(&0)).max(1)
    }

    /// Entries whose columns are all padding so far.
    fn entries_of<C: Copy, R: Real>(&self, padding: C) -> Entries<C, R> {
        // More than can be numbered would take 1.6 TB.
        let starts = self.0.iter().map(|start| u32::try_from(*start).unwrap_or(u32::MAX));
        let (columns, weights) =
            (vec![padding; self.entries()], vec![R::default(); self.entries()]);
        Entries { starts: starts.collect(), columns, weights }
    }
}

impl Lengths {
    /// Of a matrix that is cut into these blocks.
    pub fn new<R: Real>(system: &MatrixSystem<R>, blocks: &[BlockRows], split: Split) -> Self {
        let [mut outside, mut inside] = [Starts(vec![0]), Starts(vec![0])];
        for block in blocks {
            for group in block.1.chunks(GROUP) {
                let longest = group.iter().fold([0, 0], |longest: [usize; 2], row| {
                    let own = lengths(system, block, *row, split);
                    [longest[0].max(own[0]), longest[1].max(own[1])]
                });
                outside.push(longest[0]);
                inside.push(longest[1]);
            }
        }
        let has_overlap = blocks.iter().any(|(owned, computed)| owned.len() != computed.len());
        let groups = outside.0.len() - 1;
        Self { outside, inside, has_overlap, groups, blocks: blocks.len() }
    }

    /// The most dynamic entries of a row.
    pub fn longest_inside(&self) -> usize {
        let Starts(starts) = &self.inside;
        starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
    }

    /// Bytes of all lists, for values of that many bytes each.
    pub fn bytes(&self, value: usize) -> u64 {
        let rows = if self.has_overlap { 4 * GROUP * self.groups } else { 0 };
        let starts = 2 * 4 * (self.groups + 1);
        let entries = self.outside.entries() * (4 + value) + self.inside.entries() * (2 + value);
        (rows + starts + entries + self.blocks * size_of::<RowBlock>()) as u64
    }
}

impl<R: Real> Lists<R> {
    /// Whether all blocks own `rows` rows, but for the last, and compute no others: kernels then know them by number.
    pub fn is_uniform(&self, rows: usize) -> bool {
        let groups = rows.div_ceil(GROUP);
        self.blocks.iter().enumerate().all(|(number, block)| {
            let is_full = block.rows as usize == rows || number + 1 == self.blocks.len();
            let begins = [number * groups, number * rows];
            let [group, first] = [block.group, block.first].map(|at| at as usize);
            is_full && begins == [group, first] && (block.owned, block.place) == (block.rows, 0)
        })
    }

    /// Fills lists of known lengths.
    pub fn new(
        system: &MatrixSystem<R>,
        blocks: &[BlockRows],
        split: Split,
        lengths: &Lengths,
    ) -> Self {
        let mut lists = Self {
            blocks: Vec::with_capacity(blocks.len()),
            rows: Vec::new(),
            outside: lengths.outside.entries_of(u32::MAX),
            inside: lengths.inside.entries_of(u16::MAX),
        };
        let mut group = 0;
        for block in blocks {
            let (owned, computed) = block;
            lists.blocks.push(RowBlock {
                group: group as u32,
                rows: computed.len() as u32,
                first: owned.start as u32,
                owned: owned.len() as u32,
                place: computed.partition_point(|row| (*row as usize) < owned.start) as u32,
            });
            for rows in computed.chunks(GROUP) {
                if lengths.has_overlap {
                    lists.rows.extend_from_slice(rows);
                    lists.rows.resize((group + 1) * GROUP, u32::MAX);
                }
                for (lane, row) in rows.iter().enumerate() {
                    let at = [&lengths.outside, &lengths.inside]
                        .map(|starts| GROUP * starts.0[group] + lane);
                    lists.put(system, block, *row, split, at);
                }
                group += 1;
            }
        }
        lists
    }

    /// Puts the entries of a row into the lists, from these places on.
    fn put(
        &mut self,
        system: &MatrixSystem<R>,
        block: &BlockRows,
        row: u32,
        split: Split,
        [mut outside, mut inside]: [usize; 2],
    ) {
        let (columns, weights) = system.row(row as usize);
        let entries = || columns.iter().copied().zip(weights.iter().copied());
        let mut put_outside = |column: u32, weight: R| {
            self.outside.columns[outside] = column;
            self.outside.weights[outside] = weight;
            outside += GROUP;
        };
        for (column, weight) in entries() {
            match (split, place(column, block)) {
                (Split::None, _) | (_, None) => put_outside(column, weight),
                (Split::Sorted, Some(_)) => {}
                (Split::Apart, Some(place)) => {
                    self.inside.columns[inside] = place as u16;
                    self.inside.weights[inside] = weight;
                    inside += GROUP;
                }
            }
        }
        if split == Split::Sorted {
            for (column, weight) in entries().filter(|(column, _)| place(*column, block).is_some())
            {
                put_outside(column, weight);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{AxisTiling, Shape};
    use crate::problem::matrix::Entry;
    use crate::problem::matrix::computed_rows;
    use crate::problem::{Boundary, Csr, Operator, Problem, Source};
    use std::sync::Arc;

    /// −1 to both sides on a line, and a last row that is full.
    fn line(rows: usize) -> (Csr, MatrixSystem<f64>) {
        let last = rows as u32 - 1;
        let mut entries: Vec<Entry> = (0..=last).map(|row| (row, row, 2.0)).collect();
        entries.extend((1..last).flat_map(|row| [(row, row - 1, -1.0), (row, row + 1, -2.0)]));
        entries.extend((0..last).map(|column| (last, column, 0.5)));
        let matrix = Csr::from_entries(rows, &entries).unwrap();
        let problem = Problem {
            shape: Shape::grid_1d(rows, 1).unwrap(),
            operator: Operator::Csr(Arc::new(matrix.clone())),
            rhs: Source::Constant(1.0),
            initial_guess: Source::Constant(0.0),
            boundary: Boundary::default(),
        };
        let system = MatrixSystem::new(&problem, &matrix);
        (matrix, system)
    }

    /// Every list again as columns of the matrix, static ones first.
    fn of_row(
        lists: &Lists<f64>,
        blocks: &[BlockRows],
        block: usize,
        at: usize,
    ) -> Vec<(u32, f64)> {
        let group = lists.blocks[block].group as usize + at / GROUP;
        let lane = at % GROUP;
        let mut found = Vec::new();
        let range = |starts: &[u32]| starts[group] as usize..starts[group + 1] as usize;
        for entry in range(&lists.outside.starts).map(|entry| entry * GROUP + lane) {
            if lists.outside.columns[entry] != u32::MAX {
                found.push((lists.outside.columns[entry], lists.outside.weights[entry]));
            }
        }
        for entry in range(&lists.inside.starts).map(|entry| entry * GROUP + lane) {
            if lists.inside.columns[entry] != u16::MAX {
                let column = blocks[block].1[lists.inside.columns[entry] as usize];
                found.push((column, lists.inside.weights[entry]));
            }
        }
        found
    }

    #[test]
    fn lists_hold_every_entry_once_static_ones_first() {
        let (matrix, system) = line(200);
        for (block_rows, overlap) in [(70, 0), (64, 6), (1, 0), (300, 2)] {
            let tiling = AxisTiling::blocks(200, block_rows, overlap).unwrap();
            let blocks = computed_rows(&matrix, &tiling).unwrap();
            for split in [Split::None, Split::Sorted, Split::Apart] {
                let lengths = Lengths::new(&system, &blocks, split);
                let lists = Lists::new(&system, &blocks, split, &lengths);
                let stored = lists.rows.len() * 4
                    + (lists.outside.starts.len() + lists.inside.starts.len()) * 4
                    + lists.outside.columns.len() * (4 + 8)
                    + lists.inside.columns.len() * (2 + 8)
                    + lists.blocks.len() * 20;
                assert_eq!(lengths.bytes(8), stored as u64);
                let most_rows = blocks.iter().map(|(_, computed)| computed.len()).max().unwrap();
                let overlaps = overlap > 0 && blocks.len() > 1;
                assert_eq!(lists.is_uniform(most_rows), !overlaps, "{block_rows}, {overlap}");
                for (number, block) in blocks.iter().enumerate() {
                    for (at, row) in block.1.iter().enumerate() {
                        let (columns, weights) = system.row(*row as usize);
                        let mut expected: Vec<_> =
                            columns.iter().copied().zip(weights.iter().copied()).collect();
                        if split != Split::None {
                            expected.sort_by_key(|(column, _)| block.1.contains(column));
                        }
                        assert_eq!(of_row(&lists, &blocks, number, at), expected);
                    }
                }
            }
        }
    }

    #[test]
    fn padding_is_that_of_a_warp() {
        let (matrix, system) = line(96);
        let tiling = AxisTiling::blocks(96, 96, 0).unwrap();
        let blocks = computed_rows(&matrix, &tiling).unwrap();
        let lengths = Lengths::new(&system, &blocks, Split::Apart);
        // Two entries per row, and the full row in the last warp only.
        assert_eq!(lengths.inside.0, [0, 2, 4, 4 + 95]);
        assert_eq!(lengths.longest_inside(), 95);
        assert_eq!(lengths.outside.0, [0, 0, 0, 0]);
    }
}
