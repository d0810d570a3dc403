//! The papers' kernel: a block a tile, the tile in shared memory.

use super::arguments::{AxisArgument, counted};
use super::cycle_kernel::{CycleKernel, DeviceSystem, Launch, Step};
use super::ladder::{ADDING, Shape, WARP};
use super::ptx::File;
use crate::grid::{Real, Tiling};
use crate::solver::{Footprint, SolverError};
use cudarc::driver::{CudaStream, DeviceRepr, DriverError, PushKernelArg};
use std::sync::Arc;

pub(super) struct Shared {
    kernel: Launch,
    /// Parts of a block that tell norms.
    parts_of_a_block: usize,
    axes: [AxisArgument; 2],
    k: i32,
}

impl Shared {
    /// `None` if there are too many tiles to count.
    pub fn new<R>(
        system: &DeviceSystem<R>,
        tiling: &Tiling,
        k: usize,
        shape: Shape,
    ) -> Option<Result<Self, SolverError>> {
        let Shape::Shared { function, block, bytes } = shape else {
            return None;
        };
        let parts_of_a_block = match function {
            "cycle" => 1,
            _ => (block[0] as usize).min(ADDING) / WARP as usize,
        };
        let axes = axes(tiling)?;
        let tiles = tiling.x().count() * tiling.y().map_or(system.shape.rows(), |y| y.count());
        let blocks = [counted(tiles)?.unsigned_abs(), 1];
        let k = counted(k)?;
        let kernel = Launch::new(system, File::Shared, function, blocks, block, bytes);
        Some(kernel.map(|kernel| Self { kernel, parts_of_a_block, axes, k }))
    }
}

/// Both axes of a tiling, as kernels are told them.
pub(super) fn axes(tiling: &Tiling) -> Option<[AxisArgument; 2]> {
    let y = tiling.y().map_or(Some(AxisArgument::NONE), AxisArgument::of);
    Some([AxisArgument::of(tiling.x())?, y?])
}

impl<R: Real + DeviceRepr> CycleKernel<R> for Shared {
    fn parts(&self) -> usize {
        self.kernel.config.grid_dim.0 as usize * self.parts_of_a_block
    }

    fn launch(
        &self,
        stream: &Arc<CudaStream>,
        system: &DeviceSystem<R>,
        step: Step,
    ) -> Result<(), DriverError> {
        let mut launch = stream.launch_builder(&self.kernel.function);
        launch.arg(&step.from).arg(&system.g.interior).arg(&step.to);
        launch.arg(&system.grid).arg(&system.weights);
        launch.arg(&self.axes[0]).arg(&self.axes[1]).arg(&self.k);
        launch.arg(&step.squares);
        // SAFETY: the arguments are those of `shared.cu`, and the arrays have the grid's size.
        unsafe { launch.launch(self.kernel.config) }.map(|_| ())
    }

    fn footprint(&self) -> Footprint {
        self.kernel.footprint()
    }
}
