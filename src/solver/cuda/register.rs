//! A tile in the registers of warps.

use super::arguments::{AxisArgument, WarpsArgument, counted};
use super::cycle_kernel::{CycleKernel, DeviceSystem, Launch, Step};
use super::ladder::{Shape, WARP};
use super::ptx::File;
use super::shared::axes;
use crate::grid::{Real, Tiling};
use crate::solver::{Footprint, SolverError};
use cudarc::driver::sys::CUresult;
use cudarc::driver::{CudaStream, DeviceRepr, DriverError, LaunchConfig, PushKernelArg};
use std::sync::Arc;

/// Threads of a block that takes tiles of lines.
const LINE_THREADS: u32 = 128;

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
        shape: Shape,
    ) -> Option<Result<Self, SolverError>> {
        let axes = axes(tiling)?;
        let k = counted(k)?;
        let tiles = tiling.x().count() * tiling.y().map_or(system.shape.rows(), |y| y.count());
        let tiles = counted(tiles)?.unsigned_abs();
        let size = R::PRECISION.bytes();
        let (functions, blocks, threads, bytes, sharing) = match shape {
            Shape::Warps { functions, warps: [across, down], part: [width, height] } => {
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
            Shape::Lanes { functions, lanes, points } => {
                let lanes = counted(lanes)?;
                let blocks = (u64::from(tiles) * u64::from(lanes.unsigned_abs()))
                    .div_ceil(u64::from(LINE_THREADS));
                // A stage for each lane, with one value left out after it.
                let bytes = LINE_THREADS as usize * (points + 1) * size;
                let blocks = counted(usize::try_from(blocks).ok()?)?.unsigned_abs();
                (functions, blocks, LINE_THREADS, bytes, Sharing::Lanes(lanes))
            }
            Shape::Points | Shape::Shared { .. } => return None,
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
