//! Which kernel can take what, and the shape that it takes it in. No GPU is needed to know.

use crate::grid::{Precision, Tiling};
use crate::solver::{Kernel, Method};

/// Threads of a warp.
pub(super) const WARP: u32 = 32;

/// The most threads of a block.
const MOST_THREADS: u32 = 1024;

/// The most shared memory of a block on any GPU so far (an H200), and what the kernels of the
/// ladder keep of it for themselves.
const MOST_SHARED: usize = 227 * 1024;
pub(super) const OWN_SHARED: usize = 1024;

/// Warps that can share a tile in registers: as many as a multiprocessor has registers for.
const MOST_WARPS: usize = 8;

/// The functions that make a cycle, and one of which the norms are told.
pub(super) type Functions = [&'static str; 2];

/// How a kernel takes tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// No tiles: one thread a point.
    Points,
    /// A block a tile, in shared memory.
    Shared {
        function: &'static str,
        /// Threads across and down.
        block: [u32; 2],
        /// Bytes of shared memory.
        bytes: usize,
    },
    /// A tile in the registers of one or more warps, each with this many points across and down.
    Warps {
        functions: Functions,
        /// Warps across and down.
        warps: [usize; 2],
        /// Points of a warp across and down.
        part: [usize; 2],
    },
    /// A tile of a line in the registers of some lanes of a warp.
    Lanes {
        functions: Functions,
        /// Lanes that share a tile.
        lanes: usize,
        /// Points of a lane.
        points: usize,
    },
}

/// Why a kernel cannot take a method: what it is about the method, such as `tile 96`.
pub(super) type Refused = String;

/// The kernel that runs when `kernel` was chosen, and how.
///
/// # Errors
/// What it cannot take, and which kernel can.
pub(super) fn choose(
    kernel: Kernel,
    method: &Method,
    precision: Precision,
    most_shared: usize,
) -> Result<(Kernel, Shape), (Refused, String)> {
    let tiling = match method {
        Method::Classic => return Ok((Kernel::Classic, Shape::Points)),
        Method::Hierarchical { tiling, .. } => tiling,
    };
    let shape_of = |kernel| match kernel {
        Kernel::Register => register(tiling),
        _ => shared(tiling, precision, most_shared),
    };
    let ladder = match kernel {
        // The fastest first, on every setting that was measured (benches/results).
        Kernel::Auto | Kernel::Classic => [Kernel::Register, Kernel::Shared],
        Kernel::Register => [Kernel::Register, Kernel::Shared],
        Kernel::Shared => [Kernel::Shared, Kernel::Register],
    };
    let shapes = ladder.map(shape_of);
    match (kernel, &shapes) {
        (Kernel::Auto, [Err(_), Ok(shape)]) => Ok((ladder[1], *shape)),
        (_, [Ok(shape), _]) => Ok((ladder[0], *shape)),
        (_, [Err(refused), Ok(_)]) => {
            Err((refused.clone(), format!("kernel {}", ladder[1].name())))
        }
        (_, [Err(refused), Err(_)]) => {
            Err((refused.clone(), "a smaller tile or backend cpu".into()))
        }
    }
}

/// `tile 96`, or `tile 96x64`.
fn named(tiling: &Tiling) -> String {
    let sides: Vec<_> = tiling.axes().iter().map(|axis| axis.tile().to_string()).collect();
    format!("tile {}", sides.join("x"))
}

/// How `shared.cu` takes tiles, the first that can: the points of a thread, one below the other, the most
/// threads of a block, and whether the right-hand side stays in their registers.
const COLUMNS: [(&str, usize, usize, bool); 3] = [
    ("one_point", 1, 1024, true),
    ("eight_points", 8, 512, true),
    ("twelve_points", 12, 768, false),
];

/// Threads of a block that add up what all found out, through shared memory, and the bytes of each.
pub(super) const ADDING: usize = 128;
const ADDED_BYTES: usize = size_of::<f64>();

/// Two copies of the tile with its ring, and its right-hand side, as in the paper.
fn shared(tiling: &Tiling, precision: Precision, most: usize) -> Result<Shape, Refused> {
    let all = tiling.bytes_per_tile(precision.bytes());
    if all + OWN_SHARED > most {
        return Err(named(tiling));
    }
    let width = tiling.x().tile();
    let height = tiling.y().map_or(1, |y| y.tile());
    for (function, points, most_threads, keeps_right) in COLUMNS {
        let threads = (width * height.div_ceil(points)).next_multiple_of(WARP as usize);
        if threads > most_threads || points > height {
            continue;
        }
        let right = if keeps_right { width * height * precision.bytes() } else { 0 };
        let added = if threads > ADDING { threads * ADDED_BYTES } else { 0 };
        let threads = u32::try_from(threads).map_err(|_| named(tiling))?;
        return Ok(Shape::Shared { function, block: [threads, 1], bytes: added.max(all - right) });
    }
    // What is wide and flat: threads go over it as often as they must.
    let across =
        width.next_power_of_two().min(if height > 1 { WARP } else { MOST_THREADS } as usize);
    let down = MOST_THREADS as usize / across;
    let block = [across, down.min(height.next_multiple_of((WARP as usize).div_ceil(across)))];
    let block = block.map(|threads| u32::try_from(threads).unwrap_or(WARP));
    Ok(Shape::Shared { function: "cycle", block, bytes: all })
}

fn register(tiling: &Tiling) -> Result<Shape, Refused> {
    match tiling.y() {
        None => register_line(tiling.x().tile()),
        Some(y) => register_plane([tiling.x().tile(), y.tile()]),
    }
    .ok_or_else(|| named(tiling))
}

/// Points of a warp, and its functions for tiles that fill it and for those that do not.
const SMALL: (usize, [Functions; 2]) =
    (16, [["small", "small_measured"], ["small_partial", "small_partial_measured"]]);
const ALONE: (usize, [Functions; 2]) =
    (32, [["full", "full_measured"], ["partial", "partial_measured"]]);
const SEVERAL: (usize, [Functions; 2]) =
    (32, [["full_warps", "full_warps_measured"], ["partial_warps", "partial_warps_measured"]]);

fn register_plane(tile: [usize; 2]) -> Option<Shape> {
    let (side, functions) = match tile[0].max(tile[1]) {
        0..=16 => SMALL,
        17..=32 => ALONE,
        _ => SEVERAL,
    };
    let warps = tile.map(|points| points.div_ceil(side));
    let is_full = tile.iter().all(|points| points.is_multiple_of(side));
    let functions = functions[usize::from(!is_full)];
    (warps[0] * warps[1] <= MOST_WARPS).then_some(Shape::Warps {
        functions,
        warps,
        part: [side, side],
    })
}

/// Points of a lane, and the functions likewise.
const SHORT: (usize, [Functions; 2]) =
    (8, [["full", "full_measured"], ["partial", "partial_measured"]]);
const LONG: (usize, [Functions; 2]) =
    (32, [["full_long", "full_long_measured"], ["partial_long", "partial_long_measured"]]);

fn register_line(tile: usize) -> Option<Shape> {
    let warp = WARP as usize;
    let (points, functions) = if tile <= SHORT.0 * warp { SHORT } else { LONG };
    let lanes = tile.div_ceil(points).next_power_of_two();
    let functions = functions[usize::from(lanes * points != tile)];
    (lanes <= warp).then_some(Shape::Lanes { functions, lanes, points })
}

/// The kernel that takes a method on a GPU that is not known.
pub(super) fn takes(
    kernel: Kernel,
    method: &Method,
    precision: Precision,
) -> Result<Kernel, String> {
    choose(kernel, method, precision, MOST_SHARED)
        .map(|(runs, _)| runs)
        .map_err(|(setting, instead)| format!("cannot take {setting}; {instead} can"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiles(axes: &[usize], tile: &[usize]) -> Method {
        let tiling = Tiling::new(axes, tile, &[0, 0]).unwrap();
        Method::Hierarchical { k: 4, tiling }
    }

    fn chosen(kernel: Kernel, method: &Method) -> Result<(Kernel, Shape), (String, String)> {
        choose(kernel, method, Precision::F64, MOST_SHARED)
    }

    #[test]
    fn what_a_kernel_cannot_take_another_can() {
        let large = tiles(&[512, 512], &[96, 96]);
        assert_eq!(chosen(Kernel::Auto, &large).unwrap().0, Kernel::Shared);
        let (refused, instead) = chosen(Kernel::Register, &large).unwrap_err();
        assert_eq!((refused.as_str(), instead.as_str()), ("tile 96x96", "kernel shared"));
        let wide = tiles(&[512, 512], &[128, 64]);
        let little = choose(Kernel::Shared, &wide, Precision::F64, 96 * 1024);
        assert_eq!(little.unwrap_err().1, "kernel register");
        assert!(chosen(Kernel::Auto, &tiles(&[4096, 4096], &[512, 512])).is_err());
    }

    #[test]
    fn the_papers_tile_is_one_warp_or_a_block_of_a_thread_a_point() {
        let method = tiles(&[1024, 1024], &[32, 32]);
        let (kernel, shape) = chosen(Kernel::Auto, &method).unwrap();
        assert_eq!(kernel, Kernel::Register);
        let functions = ["full", "full_measured"];
        assert_eq!(shape, Shape::Warps { functions, warps: [1, 1], part: [32, 32] });
        let shape = chosen(Kernel::Shared, &method).unwrap().1;
        // Two copies with their rings; the right-hand side stays in registers.
        let bytes = 2 * 34 * 34 * 8;
        assert_eq!(shape, Shape::Shared { function: "one_point", block: [1024, 1], bytes });
    }

    #[test]
    fn the_largest_tile_of_the_paper_takes_all_that_a_block_may_have() {
        let method = tiles(&[1024, 1024], &[96, 96]);
        let shape = chosen(Kernel::Shared, &method).unwrap().1;
        // Two copies with their rings, and the right-hand side.
        let bytes = (2 * 98 * 98 + 96 * 96) * 8;
        assert_eq!(shape, Shape::Shared { function: "twelve_points", block: [768, 1], bytes });
    }

    #[test]
    fn blocks_are_whole_warps_and_lanes_powers_of_two() {
        for side in 1..=200 {
            if let Ok((_, Shape::Shared { block, .. })) =
                chosen(Kernel::Shared, &tiles(&[400, 400], &[side, 200 / side]))
            {
                assert_eq!(block[0] * block[1] % WARP, 0, "{side}");
                assert!(block[0] * block[1] <= MOST_THREADS);
            }
            let line = Tiling::new(&[400], &[side], &[0]).unwrap();
            let method = Method::Hierarchical { k: 1, tiling: line };
            let Shape::Lanes { lanes, points, .. } = chosen(Kernel::Register, &method).unwrap().1
            else {
                panic!("a line lies in lanes");
            };
            assert!(lanes.is_power_of_two() && lanes * points >= side);
        }
    }
}
