//! A tile in the registers of warps (2D), or of lanes of a warp (1D).

use super::arguments::{Pointer, counted};
use super::cycle_kernel::{Cycle, CycleKernel, Launch, Step, WARP, tile_name, tiles_of};
use super::ptx::File;
use super::setting::Setting;
use super::system::DeviceSystem;
use crate::grid::{Real, Tiling};
use crate::solver::memory_traffic::{Moved, OnChip, TileWork};
use crate::solver::{Footprint, Method, SolverError};
use cudarc::driver::{CudaStream, DeviceRepr, DriverError};
use std::sync::Arc;

/// Threads of a block that computes 1D tiles.
const THREADS_1D: usize = 128;

/// Warps that can share a tile in registers: as many as a multiprocessor has registers for.
const MOST_WARPS: usize = 8;

/// How the kernel takes tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegisterLayout {
    /// A 2D tile in the registers of one or more warps, each with this many points across and down.
    Warps {
        function: &'static str,
        /// Warps across and down.
        warps: [usize; 2],
        /// Points of a warp across and down.
        part: [usize; 2],
    },
    /// A 1D tile in the registers of some lanes of a warp.
    Lanes {
        function: &'static str,
        /// The function for cycles with norms, if it is another.
        measured: &'static str,
        /// Lanes that share a tile.
        lanes: usize,
        /// Points of a lane.
        points: usize,
    },
}

/// How it takes the tiles of a setting.
///
/// # Errors
/// What it does not accept, such as `tile 96x96`.
pub(super) fn layout(setting: &Setting<'_>) -> Result<RegisterLayout, String> {
    let Method::Hierarchical { tiling, .. } = setting.method.plain() else {
        return Err(format!("method {}", setting.method.name().name()));
    };
    let layout = match tiling.axes() {
        [x] => layout_1d(x.tile()),
        [x, y] => layout_2d([x.tile(), y.tile()]),
        _ => None,
    };
    layout.ok_or_else(|| tile_name(tiling))
}

/// Points of a warp along either side, and its functions for tiles that fill it and for those that do not.
const SMALL: (usize, [&str; 2]) = (16, ["small", "small_partial"]);
const ALONE: (usize, [&str; 2]) = (32, ["full", "partial"]);
const SEVERAL: (usize, [&str; 2]) = (32, ["full_warps", "partial_warps"]);

fn layout_2d(tile: [usize; 2]) -> Option<RegisterLayout> {
    let (side, functions) = match tile[0].max(tile[1]) {
        0..=16 => SMALL,
        17..=32 => ALONE,
        _ => SEVERAL,
    };
    let warps = tile.map(|points| points.div_ceil(side));
    let is_full = tile.iter().all(|points| points.is_multiple_of(side));
    let function = functions[usize::from(!is_full)];
    (warps[0] * warps[1] <= MOST_WARPS).then_some(RegisterLayout::Warps {
        function,
        warps,
        part: [side, side],
    })
}

/// Points of a lane, and the functions likewise, each without and with norms.
const SHORT: (usize, [[&str; 2]; 2]) =
    (8, [["full", "full_measured"], ["partial", "partial_measured"]]);
const LONG: (usize, [[&str; 2]; 2]) =
    (32, [["full_long", "full_long_measured"], ["partial_long", "partial_long"]]);

fn layout_1d(tile: usize) -> Option<RegisterLayout> {
    let warp = WARP as usize;
    let (points, functions) = if tile <= SHORT.0 * warp { SHORT } else { LONG };
    let lanes = tile.div_ceil(points).next_power_of_two();
    let [function, measured] = functions[usize::from(lanes * points != tile)];
    (lanes <= warp).then_some(RegisterLayout::Lanes { function, measured, lanes, points })
}

/// What its tiles move on the chip. Iterate and right-hand side stay in registers, and come and go over the stage; of a
/// sweep, only what lies outside of a warp is read from shared memory. Lanes beyond a partial tile do all of that, too.
pub(super) fn on_chip(setting: &Setting<'_>, work: &TileWork) -> Option<OnChip> {
    let TileWork { tiles, points: owned, k, operands, .. } = *work;
    let (kept, halos, from_halos, to_halos) = match layout(setting).ok()? {
        RegisterLayout::Warps { warps, part, .. } => {
            let [across, down, width, height] =
                [warps[0], warps[1], part[0], part[1]].map(|it| it as u64);
            let count = across * down;
            let around = 2 * (width + height) * count;
            let sets = if count > 1 { 2 } else { 1 };
            // Two warps side by side write a side each into the halo of the other.
            let sides = 2 * (height * (across - 1) * down + width * across * (down - 1));
            (width * height * count, sets * around, around, sides)
        }
        // The halo is in registers, in those of every lane.
        RegisterLayout::Lanes { lanes, points, .. } => ((lanes * points) as u64, 0, 0, 0),
    };
    Some(OnChip {
        shared: Moved {
            read: tiles * (2 * kept + k * from_halos) + owned,
            written: tiles * (3 * kept + halos + k * to_halos),
        },
        registers: Some(Moved {
            read: tiles * (k * (operands * kept - from_halos) + kept),
            written: tiles * (2 + k) * kept,
        }),
    })
}

/// Prepares the kernel ([`BuildFn`](super::build::BuildFn)).
pub(super) fn build<R: Real + DeviceRepr>(
    system: &DeviceSystem<R>,
    setting: &Setting<'_>,
    _stream: &Arc<CudaStream>,
    _arrays: [Pointer; 2],
) -> Result<Option<Box<dyn CycleKernel<R>>>, SolverError> {
    let (Method::Hierarchical { k, tiling }, Ok(layout)) =
        (setting.method.plain(), layout(setting))
    else {
        return Ok(None);
    };
    let kernel = Register::new(system, tiling, *k, layout).transpose()?;
    Ok(kernel.map(|kernel| Box::new(kernel) as _))
}

pub(super) struct Register {
    kernel: Launch,
    /// For cycles with norms, if it is another kernel.
    measured: Option<Launch>,
    cycle: Cycle,
}

impl Register {
    /// `None` if there are too many tiles to count.
    pub fn new<R: Real>(
        system: &DeviceSystem<R>,
        tiling: &Tiling,
        k: usize,
        layout: RegisterLayout,
    ) -> Option<Result<Self, SolverError>> {
        let [first, tiles] = tiles_of(system, tiling)?;
        let tiles = tiles.unsigned_abs() as usize;
        let (file, [function, measured], split, blocks, threads, values) = match layout {
            RegisterLayout::Warps { function, warps, part: [width, height] } => {
                // Two sets of halos where warps share a tile, and a stage for each warp, with gaps (see
                // `register_2d.cu`).
                let count = warps[0] * warps[1];
                let halos = 2 * (width + height) * if count > 1 { 2 } else { 1 };
                let stage = height * (width + 2);
                let threads = WARP as usize * count;
                (File::Register2d, [function; 2], warps, tiles, threads, count * (halos + stage))
            }
            RegisterLayout::Lanes { function, measured, lanes, points } => {
                // A stage for each lane, and one value after it (see `register_1d.cu`).
                let values = THREADS_1D * (points + 1);
                let blocks = tiles.checked_mul(lanes)?.div_ceil(THREADS_1D);
                let functions = [function, measured];
                (File::Register1d, functions, [lanes, 1], blocks, THREADS_1D, values)
            }
        };
        let cycle = Cycle::new(tiling, k, split)?.beginning_at(first);
        let blocks = [counted(blocks)?.unsigned_abs(), 1];
        let threads = [counted(threads)?.unsigned_abs(), 1];
        let bytes = values * R::PRECISION.bytes();
        let launch = |function| Launch::new(system, file, function, blocks, threads, bytes);
        let measured = (measured != function).then(|| launch(measured)).transpose();
        Some(launch(function).and_then(|kernel| Ok(Self { kernel, measured: measured?, cycle })))
    }
}

impl<R: Real + DeviceRepr> CycleKernel<R> for Register {
    /// One of each warp.
    fn parts(&self) -> usize {
        let config = &self.kernel.config;
        config.grid_dim.0 as usize * (config.block_dim.0 / WARP) as usize
    }

    fn launch(
        &self,
        stream: &Arc<CudaStream>,
        system: &DeviceSystem<R>,
        step: Step,
    ) -> Result<(), DriverError> {
        let kernel = match &self.measured {
            Some(measured) if step.squares != 0 => measured,
            _ => &self.kernel,
        };
        kernel.cycle(stream, system, step, &self.cycle)
    }

    fn footprint(&self) -> Footprint {
        self.kernel.footprint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_tile_is_one_warp() {
        let expected = RegisterLayout::Warps { function: "full", warps: [1, 1], part: [32, 32] };
        assert_eq!(layout_2d([32, 32]), Some(expected));
    }

    #[test]
    fn lanes_are_powers_of_two_that_hold_the_tile() {
        for tile in 1..=200 {
            let Some(RegisterLayout::Lanes { lanes, points, .. }) = layout_1d(tile) else {
                panic!("a 1D tile lies in lanes");
            };
            assert!(lanes.is_power_of_two() && lanes * points >= tile);
        }
    }
}
