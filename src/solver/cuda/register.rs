//! A tile in the registers of warps.

use super::arguments::{AxisArgument, Pointer, WarpsArgument, counted};
use super::cycle_kernel::{CycleKernel, DeviceSystem, Launch, Step, WARP, tile_name};
use super::kernels::Setting;
use super::ptx::File;
use super::shared::axes;
use crate::grid::{Real, Tiling};
use crate::solver::{Footprint, Method, SolverError};
use cudarc::driver::sys::CUresult;
use cudarc::driver::{CudaStream, DeviceRepr, DriverError, LaunchConfig, PushKernelArg};
use std::sync::Arc;

/// Threads of a block that takes tiles of lines.
const LINE_THREADS: u32 = 128;

/// Warps that can share a tile in registers: as many as a multiprocessor has registers for.
const MOST_WARPS: usize = 8;

/// The functions of a cycle: without norms and with them.
type Functions = [&'static str; 2];

/// How the kernel takes tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// A 2D tile in the registers of one or more warps, each with this many points across and down.
    Warps {
        functions: Functions,
        /// Warps across and down.
        warps: [usize; 2],
        /// Points of a warp across and down.
        part: [usize; 2],
    },
    /// A 1D tile in the registers of some lanes of a warp.
    Lanes {
        functions: Functions,
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
pub(super) fn layout(setting: &Setting<'_>) -> Result<Layout, String> {
    let Method::Hierarchical { tiling, .. } = setting.method else {
        return Err(format!("method {}", setting.method.name().name()));
    };
    let layout = match tiling.y() {
        None => layout_1d(tiling.x().tile()),
        Some(y) => layout_2d([tiling.x().tile(), y.tile()]),
    };
    layout.ok_or_else(|| tile_name(tiling))
}

/// Points of a warp along either side, and its functions for tiles that fill it and for those that do not.
const SMALL: (usize, [Functions; 2]) =
    (16, [["small", "small_measured"], ["small_partial", "small_partial_measured"]]);
const ALONE: (usize, [Functions; 2]) =
    (32, [["full", "full_measured"], ["partial", "partial_measured"]]);
const SEVERAL: (usize, [Functions; 2]) =
    (32, [["full_warps", "full_warps_measured"], ["partial_warps", "partial_warps_measured"]]);

fn layout_2d(tile: [usize; 2]) -> Option<Layout> {
    let (side, functions) = match tile[0].max(tile[1]) {
        0..=16 => SMALL,
        17..=32 => ALONE,
        _ => SEVERAL,
    };
    let warps = tile.map(|points| points.div_ceil(side));
    let is_full = tile.iter().all(|points| points.is_multiple_of(side));
    let functions = functions[usize::from(!is_full)];
    (warps[0] * warps[1] <= MOST_WARPS).then_some(Layout::Warps {
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

fn layout_1d(tile: usize) -> Option<Layout> {
    let warp = WARP as usize;
    let (points, functions) = if tile <= SHORT.0 * warp { SHORT } else { LONG };
    let lanes = tile.div_ceil(points).next_power_of_two();
    let functions = functions[usize::from(lanes * points != tile)];
    (lanes <= warp).then_some(Layout::Lanes { functions, lanes, points })
}

/// Prepares the kernel ([`BuildFn`](super::build::BuildFn)).
pub(super) fn build<R: Real + DeviceRepr>(
    system: &DeviceSystem<R>,
    setting: &Setting<'_>,
    _stream: &Arc<CudaStream>,
    _arrays: [Pointer; 2],
) -> Result<Option<Box<dyn CycleKernel<R>>>, SolverError> {
    let (Method::Hierarchical { k, tiling }, Ok(layout)) = (setting.method, layout(setting)) else {
        return Ok(None);
    };
    let kernel = Register::new(system, tiling, *k, layout).transpose()?;
    Ok(kernel.map(|kernel| Box::new(kernel) as _))
}

pub(super) struct Register {
    measured: Launch,
    /// The kernel of cycles without norms, and its name.
    unmeasured: Option<Launch>,
    unmeasured_name: &'static str,
    axes: [AxisArgument; 2],
    k: i32,
    sharing: Sharing,
}

/// Who shares a tile.
enum Sharing {
    Warps(WarpsArgument),
    /// Lanes of a warp.
    Lanes(i32),
}

impl Register {
    /// `None` if there are too many tiles to count.
    pub fn new<R: Real>(
        system: &DeviceSystem<R>,
        tiling: &Tiling,
        k: usize,
        layout: Layout,
    ) -> Option<Result<Self, SolverError>> {
        let axes = axes(tiling)?;
        let k = counted(k)?;
        let tiles = tiling.x().count() * tiling.y().map_or(system.shape.rows(), |y| y.count());
        let tiles = counted(tiles)?.unsigned_abs();
        let size = R::PRECISION.bytes();
        let (functions, blocks, threads, bytes, sharing) = match layout {
            Layout::Warps { functions, warps: [across, down], part: [width, height] } => {
                // What lies outside of each warp, twice where warps share a tile, and a stage for
                // each, its rows a little apart (see `register.cu`).
                let warps = across * down;
                let outside = 2 * (width + height) * if warps > 1 { 2 } else { 1 };
                let stage = height * (width + 2);
                let values = warps * (outside + stage);
                let sharing = WarpsArgument { across: counted(across)?, down: counted(down)? };
                let threads = WARP * counted(warps)?.unsigned_abs();
                (functions, tiles, threads, values * size, Sharing::Warps(sharing))
            }
            Layout::Lanes { functions, lanes, points } => {
                let lanes = counted(lanes)?;
                let blocks = (u64::from(tiles) * u64::from(lanes.unsigned_abs()))
                    .div_ceil(u64::from(LINE_THREADS));
                // A stage for each lane, with one value left out after it.
                let bytes = LINE_THREADS as usize * (points + 1) * size;
                let blocks = counted(usize::try_from(blocks).ok()?)?.unsigned_abs();
                (functions, blocks, LINE_THREADS, bytes, Sharing::Lanes(lanes))
            }
        };
        let [unmeasured_name, name] = functions;
        let measured = Launch::new(system, File::Register, name, [blocks, 1], [threads, 1], bytes);
        let rung =
            |measured| Self { measured, unmeasured: None, unmeasured_name, axes, k, sharing };
        Some(measured.map(rung))
    }
}

impl<R: Real + DeviceRepr> CycleKernel<R> for Register {
    /// One of each warp.
    fn parts(&self) -> usize {
        let config = &self.measured.config;
        config.grid_dim.0 as usize * (config.block_dim.0 / WARP) as usize
    }

    fn prepare_without_norms(&mut self, system: &DeviceSystem<R>) -> Result<(), SolverError> {
        if self.unmeasured.is_none() {
            let LaunchConfig { grid_dim, block_dim, shared_mem_bytes } = self.measured.config;
            let [blocks, threads] = [grid_dim, block_dim].map(|(across, down, _)| [across, down]);
            let (name, bytes) = (self.unmeasured_name, shared_mem_bytes as usize);
            let launch = Launch::new(system, File::Register, name, blocks, threads, bytes)?;
            self.unmeasured = Some(launch);
        }
        Ok(())
    }

    fn launch(
        &self,
        stream: &Arc<CudaStream>,
        system: &DeviceSystem<R>,
        step: Step,
    ) -> Result<(), DriverError> {
        let kernel = match &self.unmeasured {
            _ if step.squares != 0 => &self.measured,
            Some(kernel) => kernel,
            None => return Err(DriverError(CUresult::CUDA_ERROR_NOT_FOUND)),
        };
        let mut launch = stream.launch_builder(&kernel.function);
        launch.arg(&step.from).arg(&system.g.interior).arg(&step.to);
        launch.arg(&system.grid).arg(&system.weights).arg(&self.axes[0]);
        match &self.sharing {
            Sharing::Warps(warps) => launch.arg(&self.axes[1]).arg(&self.k).arg(warps),
            Sharing::Lanes(lanes) => launch.arg(&self.k).arg(lanes),
        };
        launch.arg(&step.squares);
        // SAFETY: the arguments are those of `register.cu`, and the arrays have the grid's size.
        unsafe { launch.launch(kernel.config) }.map(|_| ())
    }

    fn footprint(&self) -> Footprint {
        self.measured.footprint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_tile_is_one_warp() {
        let functions = ["full", "full_measured"];
        let expected = Layout::Warps { functions, warps: [1, 1], part: [32, 32] };
        assert_eq!(layout_2d([32, 32]), Some(expected));
    }

    #[test]
    fn lanes_are_powers_of_two_that_hold_the_tile() {
        for tile in 1..=200 {
            let Some(Layout::Lanes { lanes, points, .. }) = layout_1d(tile) else {
                panic!("a 1D tile lies in lanes");
            };
            assert!(lanes.is_power_of_two() && lanes * points >= tile);
        }
    }
}
