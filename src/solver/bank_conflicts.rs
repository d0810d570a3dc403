//! Bank conflicts in the shared memory of a GPU.
//!
//! Shared memory has 32 banks of 4 bytes each, one after the other; a bank serves one address at a time. Values of 8
//! bytes are read by half a warp at a time. Sources: NVIDIA, *CUDA C++ Programming Guide*, "Shared Memory" of compute
//! capability 5.x and later; Islam & Wang, long version, 4.1.

use crate::grid::{Precision, Tiling};

/// Threads of a warp.
const WARP: usize = 32;

/// Banks, and the bytes of each.
const BANKS: usize = 32;
const BANK_BYTES: usize = 4;

/// The most bytes of shared memory that a block has on any GPU (NVIDIA H100 and H200): 227 KiB.
const MOST_SHARED: usize = 227 * 1024;

/// What the width of a tile does to the reads of the papers' kernel: a thread for each point, counted along x first,
/// and a halo of a point around the tile, so that rows lie two points farther apart than they are long.
///
/// All five reads of a sweep have the same conflicts, since they are shifted against each other; the right-hand side,
/// which has no halo, has none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BankConflicts {
    /// The most addresses that one bank has to serve for one read; 1 without conflicts.
    pub ways: usize,
    /// Time of all reads of a tile, relative to that without conflicts.
    pub slowdown: f64,
}

impl BankConflicts {
    /// Those of a tile; `None` if no GPU has room for it in shared memory.
    pub fn of(tiling: &Tiling, precision: Precision) -> Option<Self> {
        if tiling.bytes_per_tile(precision.bytes()) > MOST_SHARED {
            return None;
        }
        let [width, height, depth] =
            [0, 1, 2].map(|axis| tiling.axes().get(axis).map_or(1, |axis| axis.tile()));
        let (stride, plane) = (width + 2, (width + 2) * (height + 2));
        let address = |thread: usize| {
            let (x, row) = (thread % width, thread / width);
            x + row % height * stride + row / height * plane
        };
        // As many threads as are served at a time, each of which takes so many banks.
        let banks_of_value = (precision.bytes() / BANK_BYTES).max(1);
        let at_once = WARP / banks_of_value;
        // After so many rows of a plane the reads repeat.
        let threads = width * height.saturating_mul(depth).min(BANKS);
        let (mut ways, mut passes, mut reads) = (1, 0, 0);
        for first in (0..threads).step_by(at_once) {
            let mut addresses_of_bank = [0; BANKS];
            for thread in first..(first + at_once).min(threads) {
                addresses_of_bank[address(thread) % (BANKS / banks_of_value)] += 1;
            }
            let most = addresses_of_bank.into_iter().max().unwrap_or(1);
            (ways, passes, reads) = (ways.max(most), passes + most, reads + 1);
        }
        Some(Self { ways, slowdown: f64::from(passes as u32) / f64::from(reads.max(1) as u32) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tile: &[usize], precision: Precision) -> BankConflicts {
        let overlap = vec![0; tile.len()];
        let points: Vec<_> = tile.iter().map(|tile| 4 * tile).collect();
        BankConflicts::of(&Tiling::new(&points, tile, &overlap).unwrap(), precision).unwrap()
    }

    /// Counting them would take hours.
    #[test]
    fn a_tile_that_no_gpu_has_room_for_is_not_counted() {
        for tile in [&[99_999_999_999_999, 30][..], &[usize::MAX / 4], &[1 << 40, 1 << 40, 1 << 40]]
        {
            let tiling = Tiling::new(tile, tile, &[0; 3][..tile.len()]).unwrap();
            assert_eq!(BankConflicts::of(&tiling, Precision::F64), None, "{tile:?}");
        }
    }

    /// The paper's remedy: 32 points along x, so that each warp reads a row.
    #[test]
    fn a_row_for_each_warp_has_none() {
        let none = BankConflicts { ways: 1, slowdown: 1.0 };
        for precision in Precision::ALL {
            for tile in [&[32, 32][..], &[64, 8], &[96, 96], &[1024], &[7], &[32, 4, 4]] {
                assert_eq!(of(tile, precision), none, "{tile:?} {precision:?}");
            }
        }
        // Half a warp reads a row.
        assert_eq!(of(&[16, 16], Precision::F64), none);
    }

    #[test]
    fn a_warp_that_reads_parts_of_rows_has_some() {
        // Words 0 to 15 of one row and 18 to 33 of the next: 32 and 33 lie in the banks of 0 and 1.
        let two = BankConflicts { ways: 2, slowdown: 2.0 };
        assert_eq!(of(&[16, 16], Precision::F32), two);
        // Half a warp: 0 to 7 and 10 to 17, of 16 pairs of banks.
        assert_eq!(of(&[8, 8], Precision::F64), two);
        // Of three halves, the first reads a row, the second the ends of two rows, the third a row.
        let third = of(&[24, 2], Precision::F64);
        assert_eq!(third.ways, 2);
        assert!((third.slowdown - 4.0 / 3.0).abs() < 1e-12, "{third:?}");
        // Rows of one value: 0, 3, 6 … 45 of 16, each once; 32 of 32 likewise.
        assert_eq!(of(&[1, 64], Precision::F64).ways, 1);
    }

    /// Counted in another way: one address of each bank at a time.
    #[test]
    fn conflicts_are_those_of_served_addresses() {
        for width in 1..=40_usize {
            for precision in Precision::ALL {
                let words = precision.bytes() / 4;
                let (at_once, mut passes, mut reads) = (32 / words, 0, 0);
                let points: Vec<_> =
                    (0..width * 5).map(|p| p / width * (width + 2) + p % width).collect();
                for group in points.chunks(at_once) {
                    let mut left = group.to_vec();
                    while !left.is_empty() {
                        let mut busy = std::collections::BTreeSet::new();
                        left.retain(|address| !busy.insert(address * words % 32));
                        passes += 1;
                    }
                    reads += 1;
                }
                let found = of(&[width, 5], precision).slowdown;
                assert!((found - f64::from(passes) / f64::from(reads)).abs() < 1e-12, "{width}");
            }
        }
    }
}
