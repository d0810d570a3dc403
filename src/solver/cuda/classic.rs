//! Jacobi's iteration: one sweep through global memory.

use super::arguments::Pointer;
use super::cycle_kernel::{Cycle, CycleKernel, Launch, Step, WARP, damped};
use super::ptx::File;
use super::setting::Setting;
use super::system::DeviceSystem;
use crate::grid::Real;
use crate::solver::devices::BAND;
use crate::solver::{Footprint, SolverError};
use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaStream, DeviceRepr, DriverError};
use std::sync::{Arc, PoisonError};

/// Blocks that are timed, threads along x and y: for grids with several rows, and for those with few.
const BLOCKS: [[u32; 2]; 4] = [[32, 4], [32, 8], [32, 16], [32, 32]];
const FLAT_BLOCKS: [[u32; 2]; 4] = [[128, 1], [256, 1], [512, 1], [1024, 1]];

/// Sweeps that a block is timed for, after as many to warm up.
const TIMED: usize = 20;

/// The most blocks of a launch along y; threads loop over the rows beyond.
const MAX_BLOCKS_Y: u32 = 65_535;

/// Rows per thread of a sweep with norms: `ROWS` of `classic.cu`.
const ROWS_PER_THREAD: u32 = 8;

/// Threads of a block on a device that shares a grid with others: it is not timed.
const SHARING: u32 = 256;

/// Threads along x and y of a block of a sweep with norms there: one band of rows, by which sweeps are shared out, so
/// that norms have the same bits for any number of devices.
const OF_BAND: [u32; 2] = [128, BAND as u32 / ROWS_PER_THREAD];

/// Prepares the kernel ([`BuildFn`](super::build::BuildFn)).
pub(super) fn build<R: Real + DeviceRepr>(
    system: &DeviceSystem<R>,
    setting: &Setting<'_>,
    stream: &Arc<CudaStream>,
    arrays: [Pointer; 2],
) -> Result<Option<Box<dyn CycleKernel<R>>>, SolverError> {
    let block_size = setting.block_size.or(system.share.as_ref().map(|_| SHARING));
    let omega = setting.method.omega();
    let kernel = match system.shape.dim() {
        3 => Classic::in_3d(system, stream, arrays, block_size, omega),
        _ => Classic::new(system, stream, arrays, block_size, omega),
    };
    Ok(Some(Box::new(kernel?)))
}

/// The blocks of a launch with a thread per column and row.
pub(super) fn blocks([columns, rows]: [u32; 2], [width, height]: [u32; 2]) -> [u32; 2] {
    [columns.div_ceil(width), rows.div_ceil(height).min(MAX_BLOCKS_Y)]
}

/// A block of whole warps, one above the other.
pub(super) fn by_warps(threads: u32) -> [u32; 2] {
    [WARP, (threads / WARP).max(1)]
}

pub(super) struct Classic {
    sweep: Launch,
    measured: Launch,
    cycle: Cycle,
}

impl Classic {
    /// The kernel whose functions `launch` prepares: one without norms, and one with them (`true`).
    ///
    /// # Errors
    /// Those of `launch`.
    pub fn of(
        omega: f64,
        launch: impl Fn(&str, bool) -> Result<Launch, SolverError>,
    ) -> Result<Self, SolverError> {
        Ok(Self {
            sweep: launch(&damped("sweep", omega), false)?,
            measured: launch(&damped("sweep_measured", omega), true)?,
            cycle: Cycle::sweep(omega),
        })
    }

    /// The kernel for a 1D or 2D grid, with blocks of this many threads, or the fastest block.
    fn new<R: Real + DeviceRepr>(
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        arrays: [Pointer; 2],
        block_size: Option<u32>,
        omega: f64,
    ) -> Result<Self, SolverError> {
        let is_flat = system.shape.rows() < 4;
        if let Some(threads) = block_size {
            // As in the papers: along x in 1D, by warps in 2D.
            let is_line = is_flat || system.shape.dim() == 1;
            let block = if is_line { [threads, 1] } else { by_warps(threads) };
            return Self::with_block(system, block, omega);
        }
        let candidates = if is_flat { FLAT_BLOCKS } else { BLOCKS };
        let with_block = |block| Self::with_block(system, block, omega);
        Self::fastest(system, stream, arrays, &candidates, with_block)
    }

    /// The kernel with the fastest block on this GPU for this grid. The blocks are timed once, by sweeps from
    /// the first array into the second, which is overwritten; damped sweeps have the same fastest block.
    pub fn fastest<R: Real + DeviceRepr>(
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        arrays: [Pointer; 2],
        candidates: &[[u32; 2]],
        with_block: impl Fn([u32; 2]) -> Result<Self, SolverError>,
    ) -> Result<Self, SolverError> {
        let key = (system.shape.nx(), system.shape.rows(), system.precision, system.form);
        let known = |gpu: &super::gpu::Gpu| {
            let blocks = gpu.classic_blocks.lock().unwrap_or_else(PoisonError::into_inner);
            blocks.get(&key).copied()
        };
        if let Some(block) = known(&system.gpu) {
            return with_block(block);
        }
        let mut best: Option<(f32, [u32; 2], Self)> = None;
        for &block in candidates {
            let kernel = with_block(block)?;
            let took = system.gpu.check(kernel.time(system, stream, arrays))?;
            if best.as_ref().is_none_or(|(fastest, ..)| took < *fastest) {
                best = Some((took, block, kernel));
            }
        }
        let (_, block, kernel) = match best {
            Some(best) => best,
            None => (0.0, BLOCKS[0], with_block(BLOCKS[0])?),
        };
        let mut blocks = system.gpu.classic_blocks.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.insert(key, block);
        Ok(kernel)
    }

    fn with_block<R>(
        system: &DeviceSystem<R>,
        block: [u32; 2],
        omega: f64,
    ) -> Result<Self, SolverError> {
        let columns = system.grid.flat.columns.unsigned_abs();
        let rows = system.grid.flat.rows.unsigned_abs();
        Self::of(omega, |name, is_measured| {
            let is_shared = is_measured && system.share.is_some();
            let block = if is_shared { OF_BAND } else { block };
            let rows_per_thread = if is_measured { ROWS_PER_THREAD } else { 1 };
            let blocks = blocks([columns, rows], [block[0], block[1] * rows_per_thread]);
            Launch::new(system, File::Classic, name, blocks, block, 0)
        })
    }

    /// Milliseconds that TIMED sweeps take.
    fn time<R: Real + DeviceRepr>(
        &self,
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        [from, to]: [Pointer; 2],
    ) -> Result<f32, DriverError> {
        let step = Step { from, to, squares: 0, index: 0, cycles: 1, apart: 0, exchanges: false };
        for _ in 0..TIMED {
            self.launch(stream, system, step)?;
        }
        let start = stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT))?;
        for _ in 0..TIMED {
            self.launch(stream, system, step)?;
        }
        let end = stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT))?;
        start.elapsed_ms(&end)
    }
}

impl<R: Real + DeviceRepr> CycleKernel<R> for Classic {
    fn parts(&self) -> usize {
        let (across, down, _) = self.measured.config.grid_dim;
        across as usize * down as usize
    }

    fn launch(
        &self,
        stream: &Arc<CudaStream>,
        system: &DeviceSystem<R>,
        step: Step,
    ) -> Result<(), DriverError> {
        let kernel = if step.squares == 0 { &self.sweep } else { &self.measured };
        kernel.cycle(stream, system, step, &self.cycle)
    }

    fn footprint(&self) -> Footprint {
        self.sweep.footprint()
    }
}
