//! Jacobi's iteration: one thread a point, through global memory.

use super::arguments::Pointer;
use super::cycle_kernel::{CycleKernel, DeviceSystem, Launch, Step};
use super::kernels::Setting;
use super::ptx::File;
use crate::grid::Real;
use crate::solver::{Footprint, SolverError};
use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaStream, DeviceRepr, DriverError, PushKernelArg};
use std::sync::{Arc, PoisonError};

/// Blocks that are tried, of a plane or of many lines, and of few lines.
const BLOCKS: [[u32; 2]; 4] = [[32, 4], [32, 8], [32, 16], [32, 32]];
const LINE_BLOCKS: [[u32; 2]; 4] = [[128, 1], [256, 1], [512, 1], [1024, 1]];

/// Sweeps that a block is timed for, after as many that are not.
const TRIED: usize = 20;

/// The most blocks down of a launch; the rows beyond are looped over.
const MOST_DOWN: u32 = 65_535;

/// Rows that a thread of a sweep with norms looks at, as in `classic.cu`.
const MEASURED: u32 = 8;

/// Prepares the kernel ([`BuildFn`](super::build::BuildFn)).
pub(super) fn build<R: Real + DeviceRepr>(
    system: &DeviceSystem<R>,
    _setting: &Setting<'_>,
    stream: &Arc<CudaStream>,
    arrays: [Pointer; 2],
) -> Result<Option<Box<dyn CycleKernel<R>>>, SolverError> {
    Ok(Some(Box::new(Classic::new(system, stream, arrays)?)))
}

pub(super) struct Classic {
    sweep: Launch,
    measured: Launch,
}

impl Classic {
    /// The kernel with the block that is the fastest on this GPU for this grid; that is found out
    /// once, by sweeps from one array into another, which is spoiled.
    pub fn new<R: Real + DeviceRepr>(
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        arrays: [Pointer; 2],
    ) -> Result<Self, SolverError> {
        let key = (system.shape.nx(), system.shape.rows(), system.precision, system.form);
        let known = |gpu: &super::gpu::Gpu| {
            let blocks = gpu.classic_blocks.lock().unwrap_or_else(PoisonError::into_inner);
            blocks.get(&key).copied()
        };
        if let Some(block) = known(&system.gpu) {
            return Self::with_block(system, block);
        }
        let candidates = if system.shape.rows() < 4 { LINE_BLOCKS } else { BLOCKS };
        let mut best: Option<(f32, [u32; 2], Self)> = None;
        for block in candidates {
            let rung = Self::with_block(system, block)?;
            let took = system.gpu.check(rung.time(system, stream, arrays))?;
            if best.as_ref().is_none_or(|(fastest, ..)| took < *fastest) {
                best = Some((took, block, rung));
            }
        }
        let (_, block, rung) = match best {
            Some(best) => best,
            None => (0.0, BLOCKS[0], Self::with_block(system, BLOCKS[0])?),
        };
        let mut blocks = system.gpu.classic_blocks.lock().unwrap_or_else(PoisonError::into_inner);
        blocks.insert(key, block);
        Ok(rung)
    }

    fn with_block<R>(system: &DeviceSystem<R>, block: [u32; 2]) -> Result<Self, SolverError> {
        let columns = system.grid.columns.unsigned_abs();
        let rows = system.grid.rows.unsigned_abs();
        let launch = |name, rows_of_a_thread| {
            let down = rows.div_ceil(block[1] * rows_of_a_thread).min(MOST_DOWN);
            let blocks = [columns.div_ceil(block[0]), down];
            Launch::new(system, File::Classic, name, blocks, block, 0)
        };
        Ok(Self { sweep: launch("sweep", 1)?, measured: launch("sweep_measured", MEASURED)? })
    }

    /// Milliseconds of some sweeps.
    fn time<R: Real + DeviceRepr>(
        &self,
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        [from, to]: [Pointer; 2],
    ) -> Result<f32, DriverError> {
        let step = Step { from, to, squares: 0 };
        for _ in 0..TRIED {
            self.launch(stream, system, step)?;
        }
        let start = stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT))?;
        for _ in 0..TRIED {
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
        let is_measured = step.squares != 0;
        let kernel = if is_measured { &self.measured } else { &self.sweep };
        let mut launch = stream.launch_builder(&kernel.function);
        launch.arg(&step.from).arg(&system.g.interior).arg(&step.to);
        launch.arg(&system.grid).arg(&system.weights);
        if is_measured {
            launch.arg(&step.squares);
        }
        // SAFETY: the arguments are those of `classic.cu`, and the arrays have the grid's size.
        unsafe { launch.launch(kernel.config) }.map(|_| ())
    }

    fn footprint(&self) -> Footprint {
        self.sweep.footprint()
    }
}
