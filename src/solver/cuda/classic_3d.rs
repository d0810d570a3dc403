//! Jacobi's iteration in 3D: one sweep through global memory, by blocks that march along z.

use super::arguments::{Pointer, counted};
use super::classic::{Classic, by_warps};
use super::cycle_kernel::Launch;
use super::ptx::File;
use super::system::{DeviceSystem, too_large};
use crate::grid::{Real, Shape};
use crate::solver::{Kernel, SolverError};
use cudarc::driver::{CudaStream, DeviceRepr};
use std::sync::Arc;

/// Blocks that are timed: threads along x and y.
const BLOCKS: [[u32; 2]; 4] = [[64, 8], [64, 4], [128, 4], [32, 8]];

/// Neighbouring points of a row of a thread, and planes that a block marches through: `POINTS` and `PLANES` of `classic_3d.cu`.
const POINTS: usize = 2;
const PLANES: usize = 8;

impl Classic {
    /// The kernel for a 3D grid, with blocks of this many threads, or the fastest block.
    pub fn in_3d<R: Real + DeviceRepr>(
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        arrays: [Pointer; 2],
        block_size: Option<u32>,
        omega: f64,
    ) -> Result<Self, SolverError> {
        if let Some(threads) = block_size {
            return marching(system, by_warps(threads), omega);
        }
        Self::fastest(system, stream, arrays, &BLOCKS, |block| marching(system, block, omega))
    }
}

/// The kernel with a block of threads along x and y.
fn marching<R>(
    system: &DeviceSystem<R>,
    block: [u32; 2],
    omega: f64,
) -> Result<Classic, SolverError> {
    let shape = &system.shape;
    let blocks =
        blocks(shape, shape.nz(), block).ok_or_else(|| too_large(Kernel::CLASSIC, shape))?;
    Classic::of(omega, |name, _| Launch::new(system, File::Classic3d, name, [blocks, 1], block, 0))
}

/// The blocks that sweep so many planes of a 3D grid; `None` if they are too many.
pub(super) fn blocks(shape: &Shape, planes: usize, block: [u32; 2]) -> Option<u32> {
    let [width, height] = block.map(|threads| threads as usize);
    let across = shape.nx().div_ceil(POINTS * width) * shape.ny().div_ceil(height);
    counted(across.checked_mul(planes.div_ceil(PLANES))?).map(i32::unsigned_abs)
}
