//! The rows of a sparse matrix that each of several devices keeps: those of its blocks, those that their overlap
//! computes, and those whose values these read of others.
//!
//! They stay in the order of the matrix. Devices own consecutive rows, so what one receives from another lies side by
//! side among the rows that it keeps: a message arrives as a single copy.

use super::matrix::MatrixSystem;
use crate::grid::{Real, Shares};
use crate::problem::Csr;
use crate::problem::matrix::{BlockRows, Readers};
use std::ops::Range;

/// What devices that share a matrix keep.
pub(in crate::solver) struct SharedRows {
    kept: Vec<KeptRows>,
    /// What the blocks of each device own and compute.
    blocks: Vec<Vec<BlockRows>>,
}

/// The rows that a device keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::solver) struct KeptRows {
    /// All of them, ascending.
    pub rows: Vec<u32>,
    /// Those that it owns.
    pub owned: Range<usize>,
    /// Where they begin among those that it keeps.
    pub first: usize,
}

/// What one device has: the rows that it keeps as a system of their own.
pub(in crate::solver) struct DeviceRows<R> {
    pub kept: KeptRows,
    /// Columns are places among the rows that it keeps. Only the rows that it computes have entries.
    pub system: MatrixSystem<R>,
    /// What its blocks own and compute, as places among the rows that it keeps.
    pub blocks: Vec<BlockRows>,
}

/// What a device sends to another in every exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::solver) struct RowMessage {
    pub from: usize,
    pub to: usize,
    /// Places among the rows that the sender keeps, ascending, in runs.
    pub sent: Vec<Range<usize>>,
    /// Where the first of them lies among the rows that the receiver keeps; the others follow it.
    pub received: usize,
}

impl RowMessage {
    /// How many values it has.
    #[cfg(feature = "cuda")]
    pub fn values(&self) -> usize {
        self.sent.iter().map(ExactSizeIterator::len).sum()
    }
}

impl SharedRows {
    /// Of devices with these blocks, ascending, none of which is owned by two devices.
    pub fn new(matrix: &Csr, shares: &Shares, blocks: Vec<BlockRows>) -> Self {
        let mut readers = Readers::new(matrix);
        let mut left = blocks.into_iter().peekable();
        let (mut kept, mut blocks) = (Vec::new(), Vec::new());
        for share in shares.of_devices() {
            let owned = share.owned.clone();
            let own = std::iter::from_fn(|| left.next_if(|(rows, _)| rows.start < owned.end));
            let own: Vec<BlockRows> = own.collect();
            let computed = own.iter().flat_map(|(_, rows)| rows).copied();
            let rows = readers.read_by(computed);
            let first = rows.partition_point(|row| (*row as usize) < owned.start);
            kept.push(KeptRows { rows, owned, first });
            blocks.push(own);
        }
        Self { kept, blocks }
    }

    /// What they send to each other, receiver by receiver.
    pub fn messages(&self) -> Vec<RowMessage> {
        let mut messages = Vec::new();
        for (to, receiver) in self.kept.iter().enumerate() {
            for (from, sender) in self.kept.iter().enumerate().filter(|(from, _)| *from != to) {
                let before =
                    |end: usize| receiver.rows.partition_point(|row| (*row as usize) < end);
                let (received, end) = (before(sender.owned.start), before(sender.owned.end));
                let there = |row: u32| row as usize - sender.owned.start + sender.first;
                let runs = receiver.rows[received..end].chunk_by(|a, b| a + 1 == *b);
                let sent: Vec<_> =
                    runs.map(|run| there(run[0])..there(run[0]) + run.len()).collect();
                if !sent.is_empty() {
                    messages.push(RowMessage { from, to, sent, received });
                }
            }
        }
        messages
    }

    /// What the devices have of a system, one after the other.
    pub fn into_devices<R: Real>(
        self,
        system: &MatrixSystem<R>,
    ) -> impl Iterator<Item = DeviceRows<R>> {
        // Room for the place of every row.
        let mut places = vec![0; system.g.len()];
        self.kept.into_iter().zip(self.blocks).map(move |(kept, blocks)| {
            let mut computed: Vec<u32> =
                blocks.iter().flat_map(|(_, rows)| rows).copied().collect();
            computed.sort_unstable();
            computed.dedup();
            let system = system.of_device(&kept.rows, &computed, &mut places);
            let shifted = |row: usize| row - kept.owned.start + kept.first;
            let here = |(owned, computed): BlockRows| {
                let computed = computed.iter().map(|row| places[*row as usize]).collect();
                (shifted(owned.start)..shifted(owned.end), computed)
            };
            let blocks = blocks.into_iter().map(here).collect();
            DeviceRows { kept, system, blocks }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{AxisTiling, Shape};
    use crate::problem::matrix::{Entry, computed_rows};
    use crate::problem::{Boundary, Operator, Problem, Source};
    use crate::solver::{Devices, Link, Method};
    use proptest::prelude::*;
    use std::num::NonZeroU64;
    use std::sync::Arc;

    /// A matrix with these entries beside its diagonal.
    fn matrix(rows: usize, beside: &[(u32, u32)]) -> (Csr, MatrixSystem<f64>) {
        let last = rows as u32;
        let places = beside.iter().map(|(row, column)| (row % last, column % last));
        let beside = places.filter(|(row, column)| row != column);
        let diagonal = (0..last).map(|row| (row, row, 4.0));
        let value = |(row, column): (u32, u32)| (row, column, f64::from(row + 2 * column + 1));
        let entries: Vec<Entry> = diagonal.chain(beside.map(value)).collect();
        let matrix = Csr::from_entries(rows, &entries).unwrap();
        let problem = Problem {
            shape: Shape::grid_1d(rows, 1).unwrap(),
            operator: Operator::Csr(Arc::new(matrix.clone())),
            rhs: Source::Random { seed: 3 },
            initial_guess: Source::Constant(0.0),
            boundary: Boundary::default(),
        };
        let system = MatrixSystem::new(&problem, &matrix);
        (matrix, system)
    }

    proptest! {
        /// With the rows that a device keeps in place of its own numbers, all is as in the matrix; and messages bring
        /// every value that it keeps and does not own, to its place.
        #[test]
        fn devices_have_the_rows_of_the_matrix_and_receive_those_of_others(
            rows in 1..40_usize,
            block in 1..12_usize,
            levels in 0..3_usize,
            count in 1..5_usize,
            beside in prop::collection::vec((0..40_u32, 0..40_u32), 0..120),
        ) {
            let (matrix, system) = matrix(rows, &beside);
            let blocks = AxisTiling::blocks(rows, block, 2 * levels).unwrap();
            let count = count.min(blocks.count());
            let tiling = crate::grid::Tiling::blocks(rows, block, 2 * levels).unwrap();
            let method = Method::Hierarchical { k: 2, tiling };
            let link = Link::NVLINK;
            let devices =
                Devices::of_blocks(&method, &matrix, &blocks, count, NonZeroU64::MIN, link).unwrap();
            let shares = devices.shares();
            let all = computed_rows(&matrix, &blocks).unwrap();
            let shared = SharedRows::new(&matrix, shares, all.clone());
            let messages = shared.messages();
            let devices: Vec<_> = shared.into_devices(&system).collect();
            prop_assert_eq!(devices.len(), count);
            let mut found = Vec::new();
            for (device, share) in devices.iter().zip(shares.of_devices()) {
                let DeviceRows { kept, system: own, blocks } = device;
                prop_assert!(kept.rows.is_sorted_by(|a, b| a < b));
                prop_assert_eq!(&kept.owned, &share.owned);
                prop_assert_eq!(kept.rows.len(), kept.owned.len() + share.received_planes());
                let mut computed = vec![false; kept.rows.len()];
                for (owned, places) in blocks {
                    let rows = |at: usize| kept.rows[at] as usize;
                    let computed_there: Vec<u32> =
                        places.iter().map(|at| kept.rows[*at as usize]).collect();
                    found.push((rows(owned.start)..rows(owned.end - 1) + 1, computed_there));
                    places.iter().for_each(|at| computed[*at as usize] = true);
                }
                for (at, row) in kept.rows.iter().enumerate() {
                    let row = *row as usize;
                    prop_assert_eq!((own.g[at], own.diagonal[at]), (system.g[row], system.diagonal[row]));
                    let (columns, weights) = own.row(at);
                    let columns: Vec<_> = columns.iter().map(|at| kept.rows[*at as usize]).collect();
                    let expected = if computed[at] { system.row(row) } else { (&[][..], &[][..]) };
                    prop_assert_eq!((&columns[..], weights), expected);
                }
            }
            prop_assert_eq!(found, all, "the blocks of all devices");
            prop_assert_eq!(messages.len(), shares.messages());
            let mut is_there: Vec<Vec<bool>> = devices
                .iter()
                .map(|it| {
                    let own = |row: &u32| it.kept.owned.contains(&(*row as usize));
                    it.kept.rows.iter().map(own).collect()
                })
                .collect();
            for message in &messages {
                let [sender, receiver] =
                    [message.from, message.to].map(|device| &devices[device].kept);
                let sent = message.sent.iter().cloned().flatten();
                for (at, place) in (message.received..).zip(sent) {
                    prop_assert_eq!(sender.rows[place], receiver.rows[at]);
                    prop_assert!(sender.owned.contains(&(sender.rows[place] as usize)));
                    prop_assert!(!std::mem::replace(&mut is_there[message.to][at], true), "once");
                }
            }
            prop_assert!(is_there.iter().flatten().all(|is_there| *is_there));
        }
    }
}
