//! Jacobi's iteration in 3D, several sweeps at a time: overlapping tiles stream through shared memory (`stream_3d.cu`), on one
//! GPU or on several that share their rows along z.

use super::arguments::Pointer;
use super::classic::Classic;
use super::cycle_kernel::{Cycle, CycleKernel, Launch, Step, tiles_of};
use super::ptx::File;
use super::setting::Setting;
pub(super) use super::shared_3d::THREADS;
use super::shared_3d::{PARTS_OF_STREAM, bytes_of_stream};
use super::system::DeviceSystem;
use crate::grid::{AxisTiling, Precision, Real, Shape, Tiling};
use crate::solver::fused_tiles::fused_tiling;
pub(super) use crate::solver::fused_tiles::{OVERLAP, SIDE};
use crate::solver::streaming::{LEAST_TOGETHER, TOGETHER};
use crate::solver::{Footprint, SolverError};
use cudarc::driver::{CudaStream, DeviceRepr, DriverError};
use std::sync::Arc;

/// Sweeps of a launch. Of 2 to 5, 5 is the fastest in f64 (`benches/results/volumes.md`): tiles then begin at multiples of 64
/// bytes.
pub(super) const SWEEPS: usize = TOGETHER;

/// Bytes of shared memory of a block.
pub(super) fn bytes_of_block(precision: Precision) -> usize {
    bytes_of_stream(SWEEPS, precision.bytes())
}

/// Whether it accepts a setting.
///
/// # Errors
/// What it does not accept, such as `a 2D grid`.
pub(super) fn accept(setting: &Setting<'_>) -> Result<(), String> {
    let Setting { method, precision, shape, shared_bytes, block_size, .. } = setting;
    if let Some(threads) = block_size {
        return Err(format!("blocks of {threads} threads"));
    }
    if let Some(devices) = method.devices()
        && devices.have_frozen_halos()
    {
        return Err(format!("an exchange every {} cycles", devices.exchange_every()));
    }
    let chunk = method.streaming().map(|streaming| streaming.chunk_on_gpu(shape));
    let needed = bytes_of_block(*precision);
    match *shape.axes() {
        [x, y, _] if x.min(y) < SIDE => {
            Err(format!("a grid with fewer than {SIDE} points along x or y"))
        }
        [_, _, _] if needed > *shared_bytes => Err(format!(
            "a GPU with {} KB of shared memory for a block (it takes {} KB)",
            shared_bytes / 1000,
            needed / 1000
        )),
        [_, _, _] => match chunk {
            Some((chunk, 0)) => Err(format!(
                "a window with room for chunks of {chunk} planes (it takes {LEAST_TOGETHER} or more, and {} planes beside them)",
                TOGETHER - 1
            )),
            _ => Ok(()),
        },
        _ => Err(format!("a {}D grid", shape.dim())),
    }
}

/// Prepares the kernel ([`BuildFn`](super::build::BuildFn)): for all tiles, or for a device's.
pub(super) fn build<R: Real + DeviceRepr>(
    system: &DeviceSystem<R>,
    setting: &Setting<'_>,
    stream: &Arc<CudaStream>,
    arrays: [Pointer; 2],
) -> Result<Option<Box<dyn CycleKernel<R>>>, SolverError> {
    let tiling = match setting.method.devices() {
        Some(devices) => tiling_along(&system.shape, devices.shares().axis()),
        None => fused_tiling(&system.shape, 1, system.gpu.multiprocessors as usize),
    };
    let tiles = |tiling: Tiling| Some((tiles_of(system, &tiling)?, tiling));
    let Some(([first, count], tiling)) = tiling.and_then(tiles) else { return Ok(None) };
    let blocks = count.unsigned_abs();
    let parts = blocks as usize * PARTS_OF_STREAM;
    let cycle = |sweeps| Some(Cycle::new(&tiling, sweeps, [parts, 1])?.beginning_at(first));
    let Some((one, together)) = cycle(1).zip(cycle(SWEEPS)) else { return Ok(None) };
    let launch = |function, sweeps| {
        let bytes = bytes_of_stream(sweeps, size_of::<R>());
        Launch::new(system, File::Stream3d, function, [blocks, 1], [THREADS as u32, 1], bytes)
    };
    let is_whole = system.share.is_none();
    let alone = is_whole.then(|| Classic::in_3d(system, stream, arrays, None, 1.0));
    Ok(Some(Box::new(Fused {
        single: alone.transpose()?,
        single_measured: (launch("fused_single", 1)?, one),
        together: launch("fused", SWEEPS)?,
        together_measured: launch("fused_measured", SWEEPS)?,
        cycle: together,
        parts,
    })))
}

/// The tiles of a grid that lie along z as those of an axis do.
fn tiling_along(shape: &Shape, z: &AxisTiling) -> Option<Tiling> {
    // A single one has the planes of a grid that may be thinner than the overlap.
    let depth = z.tile().max(OVERLAP + 2);
    Tiling::new(shape.axes(), &[SIDE, SIDE, depth], &[OVERLAP; 3]).ok()
}

struct Fused {
    /// A sweep alone, without norms, of a grid that no other device shares.
    single: Option<Classic>,
    /// A sweep alone with norms: of the same tiles, so that these have the same bits wherever batches end.
    single_measured: (Launch, Cycle),
    together: Launch,
    together_measured: Launch,
    cycle: Cycle,
    parts: usize,
}

impl<R: Real + DeviceRepr> CycleKernel<R> for Fused {
    fn parts(&self) -> usize {
        self.parts
    }

    fn cycles_together(&self) -> usize {
        SWEEPS
    }

    fn launch(
        &self,
        stream: &Arc<CudaStream>,
        system: &DeviceSystem<R>,
        step: Step,
    ) -> Result<(), DriverError> {
        let (launch, cycle) = match (step, &self.single) {
            (Step { cycles: 1, squares: 0, .. }, Some(single)) => {
                return single.launch(stream, system, step);
            }
            (Step { cycles: 1, .. }, _) => (&self.single_measured.0, &self.single_measured.1),
            (Step { squares: 0, .. }, _) => (&self.together, &self.cycle),
            _ => (&self.together_measured, &self.cycle),
        };
        launch.cycle(stream, system, step, &cycle.with_sums_apart(step.apart))
    }

    fn footprint(&self) -> Footprint {
        self.together.footprint()
    }
}
