//! Which kernel can take what, and the shape that it takes it in. No card is needed to know.

use crate::grid::{Precision, Tiling};
use crate::solver::{Kernel, Method};

/// Threads of a warp.
pub(super) const WARP: u32 = 32;

/// The most threads of a block.
const MOST_THREADS: u32 = 1024;

/// The most shared memory of a block on any card so far (an H200), and what the kernels of the
/// ladder keep of it for themselves.
const MOST_SHARED: usize = 227 * 1024;
pub(super) const OWN_SHARED: usize = 1024;

/// Warps that can share a tile in registers: as many as a multiprocessor has registers for.
const MOST_WARPS: usize = 8;

/// How a kernel takes tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// No tiles: one thread a point.
    Points,
    /// A block a tile, in shared memory.
    Shared {
        /// Threads across and down.
        block: [u32; 2],
        /// Bytes of shared memory.
        bytes: usize,
    },
    /// A tile in the registers of one or more warps, each with this many points across and down.
    Warps {
        function: &'static str,
        /// Warps across and down.
        warps: [usize; 2],
        /// Points of a warp across and down.
        part: [usize; 2],
    },
    /// A tile of a line in the registers of some lanes of a warp.
    Lanes {
        function: &'static str,
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

/// Two copies of the tile with its ring, and its right-hand side, as in the paper.
fn shared(tiling: &Tiling, precision: Precision, most: usize) -> Result<Shape, Refused> {
    let bytes = tiling.bytes_per_tile(precision.bytes());
    if bytes + OWN_SHARED > most {
        return Err(named(tiling));
    }
    let width = u32::try_from(tiling.x().tile()).map_err(|_| named(tiling))?;
    let block = match tiling.y() {
        None => [width.next_multiple_of(WARP).min(MOST_THREADS), 1],
        Some(y) => {
            let across = width.next_power_of_two().min(WARP);
            let height = u32::try_from(y.tile()).map_err(|_| named(tiling))?;
            // Whole warps.
            let down = height.next_multiple_of(WARP / across).min(MOST_THREADS / across);
            [across, down]
        }
    };
    Ok(Shape::Shared { block, bytes })
}

fn register(tiling: &Tiling) -> Result<Shape, Refused> {
    match tiling.y() {
        None => register_line(tiling.x().tile()),
        Some(y) => register_plane([tiling.x().tile(), y.tile()]),
    }
    .ok_or_else(|| named(tiling))
}

/// Points of a warp, and its functions for tiles that fill it and for those that do not.
const SMALL: (usize, [&str; 2]) = (16, ["small", "small_partial"]);
const ALONE: (usize, [&str; 2]) = (32, ["full", "partial"]);
const SEVERAL: (usize, [&str; 2]) = (32, ["full_warps", "partial_warps"]);

fn register_plane(tile: [usize; 2]) -> Option<Shape> {
    let (side, functions) = match tile[0].max(tile[1]) {
        0..=16 => SMALL,
        17..=32 => ALONE,
        _ => SEVERAL,
    };
    let warps = tile.map(|points| points.div_ceil(side));
    let is_full = tile.iter().all(|points| points.is_multiple_of(side));
    let function = functions[usize::from(!is_full)];
    (warps[0] * warps[1] <= MOST_WARPS).then_some(Shape::Warps {
        function,
        warps,
        part: [side, side],
    })
}

/// Points of a lane, and the functions likewise.
const SHORT: (usize, [&str; 2]) = (8, ["full", "partial"]);
const LONG: (usize, [&str; 2]) = (32, ["full_long", "partial_long"]);

fn register_line(tile: usize) -> Option<Shape> {
    let warp = WARP as usize;
    let (points, functions) = if tile <= SHORT.0 * warp { SHORT } else { LONG };
    let lanes = tile.div_ceil(points).next_power_of_two();
    let function = functions[usize::from(lanes * points != tile)];
    (lanes <= warp).then_some(Shape::Lanes { function, lanes, points })
}

/// Whether a kernel can take a method on a card that is not known.
pub(super) fn takes(kernel: Kernel, method: &Method, precision: Precision) -> Result<(), String> {
    choose(kernel, method, precision, MOST_SHARED)
        .map(|_| ())
        .map_err(|(setting, instead)| format!("It cannot take {setting}; {instead} can."))
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
    fn the_papers_tile_is_one_warp_and_takes_as_much_shared_memory_as_in_the_paper() {
        let method = tiles(&[1024, 1024], &[32, 32]);
        let (kernel, shape) = chosen(Kernel::Auto, &method).unwrap();
        assert_eq!(kernel, Kernel::Register);
        assert_eq!(shape, Shape::Warps { function: "full", warps: [1, 1], part: [32, 32] });
        let shape = chosen(Kernel::Shared, &method).unwrap().1;
        assert_eq!(shape, Shape::Shared { block: [32, 32], bytes: 26_688 });
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
