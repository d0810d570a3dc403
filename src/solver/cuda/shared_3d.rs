//! The kernel of the papers in 3D: one block of threads per tile, which stays in shared memory, or, where it is deep,
//! passes through it plane by plane.

use super::ptx::File;
use crate::grid::Tiling;

/// Functions of `shared_3d.cu` that keep columns along z in registers, the depth that each is made for, and the most
/// threads of a block.
const COLUMNS: [(&str, usize, usize); 2] = [("deep_16", 16, 256), ("deep_8", 8, 256)];

/// Columns of a thread: `ROWS` of `shared_3d.cu`.
const ROWS: usize = 2;

/// Points of a side of the tiles of `cube_3d.cu`, threads of a block, and values that a tile takes in shared memory with
/// its halo: `SIDE`, `THREADS`, and `PLANE` times the planes.
const CUBE: (usize, usize, usize) = (16, 128, 20 * 18 * 18);

/// Its functions without and with norms, for tiles that all begin at even places along x, and for others.
const CUBES: [[&str; 2]; 2] = [["odd_cube", "odd_cube_measured"], ["cube", "cube_measured"]];

/// Sweeps of a cycle for which `stream_3d.cu` has functions, and those for cycles with norms, if they are others.
const STREAMS: [(usize, &str, Option<&str>); 3] =
    [(4, "k_4", Some("k_4_measured")), (6, "k_6", Some("k_6_measured")), (7, "k_7", None)];

/// Points of a tile across and down, threads of a block and planes of the ring of `stream_3d.cu`.
pub(super) const SIDE: usize = 32;
pub(super) const THREADS: usize = 256;
const RING: usize = 16;

/// Sums of squares that a block of it writes: one for each warp.
pub(super) const PARTS_OF_STREAM: usize = THREADS / WARP;

/// Threads of a warp.
const WARP: usize = 32;

/// The most threads of a block of `any_box`.
const MOST_THREADS: usize = 1024;

/// Bytes of shared memory that the kernel keeps for itself.
const OWN_SHARED: usize = 1024;

/// How the kernel takes tiles: one block per tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shared3dLayout {
    pub file: File,
    pub function: &'static str,
    /// For cycles with norms, if it is another function.
    pub measured: Option<&'static str>,
    /// Threads across and down.
    pub block: [u32; 2],
    /// Bytes of shared memory.
    pub bytes: usize,
    /// Sums of squares that a block writes.
    pub parts_per_block: usize,
    /// Whether the right-hand side is in shared memory.
    pub keeps_right: bool,
}

/// How it takes 3D tiles of values of this many bytes, where a block may have `shared_bytes`; `None` if it does not.
/// `streamed` are the sweeps of a cycle, if these may all be under way at once.
pub(super) fn layout(
    tiling: &Tiling,
    streamed: Option<usize>,
    value: usize,
    shared_bytes: usize,
) -> Option<Shared3dLayout> {
    let [x, y, z] = tiling.axes() else { return None };
    let [width, height, depth] = [x, y, z].map(|axis| axis.tile());
    let room = shared_bytes.saturating_sub(OWN_SHARED);
    let with_halo = (width + 2) * (height + 2);
    if let Some((k, function, measured)) = stream(streamed, [width, height]) {
        let bytes = bytes_of_stream(k, value);
        if bytes <= room {
            return Some(Shared3dLayout {
                file: File::Stream3d,
                function,
                measured,
                block: [threads_of(THREADS), 1],
                bytes,
                parts_per_block: PARTS_OF_STREAM,
                keeps_right: false,
            });
        }
    }
    let (side, threads, values) = CUBE;
    if [width, height, depth] == [side; 3] && values * value <= room {
        let is_even = (0..x.count()).all(|tile| x.computed(tile).start % 2 == 0);
        let [function, measured] = CUBES[usize::from(is_even)];
        return Some(Shared3dLayout {
            file: File::Cube3d,
            function,
            measured: Some(measured),
            block: [threads_of(threads), 1],
            bytes: values * value,
            parts_per_block: threads / WARP,
            keeps_right: false,
        });
    }
    for (function, its_depth, most_threads) in COLUMNS {
        let threads = (width * height.div_ceil(ROWS)).next_multiple_of(WARP);
        let bytes = with_halo * depth * value;
        if depth == its_depth && height >= ROWS && threads <= most_threads && bytes <= room {
            let parts_per_block = threads / WARP;
            let block = [threads_of(threads), 1];
            return Some(Shared3dLayout {
                file: File::Shared3d,
                function,
                measured: None,
                block,
                bytes,
                parts_per_block,
                keeps_right: false,
            });
        }
    }
    // Two copies of the tile, and its right-hand side if there is room for it.
    let copies = 2 * with_halo * (depth + 2) * value;
    let right = width * height * depth * value;
    let keeps_right = copies + right <= room;
    if copies > room {
        return None;
    }
    let across = width.next_power_of_two().min(WARP);
    let fewest = WARP.div_ceil(across);
    let down = (height * depth).next_multiple_of(fewest).min(MOST_THREADS / across);
    Some(Shared3dLayout {
        file: File::Shared3d,
        function: "any_box",
        measured: None,
        block: [across, down].map(threads_of),
        bytes: if keeps_right { copies + right } else { copies },
        parts_per_block: 1,
        keeps_right,
    })
}

/// Bytes of shared memory of `stream_3d.cu` with this many sweeps of values of so many bytes: two planes with their halos for
/// each sweep, and the ring buffer of halos.
pub(super) fn bytes_of_stream(sweeps: usize, value: usize) -> usize {
    (2 * sweeps * (SIDE + 2) * (SIDE + 2) + RING * 4 * SIDE) * value
}

/// The sweeps and functions that stream tiles of these sides with `k` sweeps, if there are some.
fn stream(
    k: Option<usize>,
    sides: [usize; 2],
) -> Option<(usize, &'static str, Option<&'static str>)> {
    STREAMS.into_iter().find(|(its, ..)| Some(*its) == k && sides == [SIDE; 2])
}

/// A number of threads, of which a block has at most 1024.
fn threads_of(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST_SHARED: usize = 227 * 1024;

    fn of_tile(tile: [usize; 3], k: usize, value: usize) -> Option<Shared3dLayout> {
        let tiling = Tiling::new(&[256; 3], &tile, &[0; 3]).unwrap();
        layout(&tiling, Some(k), value, MOST_SHARED)
    }

    fn function(tile: [usize; 3], k: usize) -> Option<&'static str> {
        of_tile(tile, k, 8).map(|layout| layout.function)
    }

    #[test]
    fn a_cube_of_16_stays_in_registers_and_one_copy() {
        let expected = Shared3dLayout {
            file: File::Cube3d,
            function: "cube",
            measured: Some("cube_measured"),
            block: [128, 1],
            bytes: 18 * 18 * 20 * 8,
            parts_per_block: 4,
            keeps_right: false,
        };
        assert_eq!(of_tile([16; 3], 4, 8), Some(expected));
        let odd = Tiling::new(&[255, 256, 256], &[16; 3], &[2; 3]).unwrap();
        let function = |tiling| layout(tiling, None, 4, MOST_SHARED).map(|found| found.function);
        assert_eq!(function(&odd), Some("odd_cube"), "the last tile begins at 239");
    }

    #[test]
    fn tiles_that_are_8_or_16_deep_stay_in_registers() {
        assert_eq!(function([32, 16, 16], 4), Some("deep_16"));
        assert_eq!(function([32, 15, 8], 4), Some("deep_8"));
        assert_eq!(function([16, 16, 12], 4), Some("any_box"));
    }

    #[test]
    fn wide_tiles_of_any_depth_stream_past() {
        let found = of_tile([32, 32, 256], 7, 8).unwrap();
        assert_eq!((found.function, found.bytes), ("k_7", (14 * 34 * 34 + 16 * 128) * 8));
        assert_eq!(function([32, 32, 1], 6), Some("k_6"));
        assert_eq!(function([32, 32, 256], 5), None);
        assert_eq!(function([32, 32, 6], 5), Some("any_box"));
    }

    #[test]
    fn the_largest_cubes_leave_their_right_hand_side_in_global_memory() {
        let keeps = |side, value| of_tile([side; 3], 5, value).map(|found| found.keeps_right);
        assert_eq!(keeps(19, 8), Some(true));
        assert_eq!(keeps(22, 8), Some(false));
        assert_eq!(keeps(23, 8), None);
        assert_eq!(keeps(29, 4), None);
        assert_eq!(keeps(28, 4), Some(false));
    }

    #[test]
    fn blocks_are_whole_warps() {
        for (x, y, z) in (1..=40).flat_map(|x| (1..=12).map(move |y| (x, y, 1 + (x * y) % 17))) {
            if let Some(Shared3dLayout { block, .. }) = of_tile([x, y, z], 4, 8) {
                assert_eq!(block[0] * block[1] % 32, 0, "{x} {y} {z}");
                assert!(block[0] * block[1] <= 1024);
            }
        }
    }
}
