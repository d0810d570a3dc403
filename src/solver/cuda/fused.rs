//! Jacobi's iteration in 3D, several sweeps at a time: overlapping tiles stream through shared memory (`stream_3d.cu`).
//!
//! What a frozen halo makes wrong lies at the edge of a tile after the second sweep, and one point deeper after each that
//! follows. An overlap of 2 (SWEEPS − 1) points keeps that away from what a tile owns, so that the bits are those of sweeps
//! of the whole grid, at less memory traffic and more redundant work.

use super::arguments::Pointer;
use super::classic::Classic;
use super::cycle_kernel::{Cycle, CycleKernel, Launch, Step, tiles_of};
use super::ptx::File;
use super::setting::Setting;
use super::shared_3d::{PARTS_OF_STREAM, bytes_of_stream};
pub(super) use super::shared_3d::{SIDE, THREADS};
use super::system::DeviceSystem;
use crate::grid::{Precision, Real, Shape, Tiling};
use crate::solver::streaming::{LEAST_TOGETHER, TOGETHER};
use crate::solver::{Footprint, SolverError};
use cudarc::driver::{CudaStream, DeviceRepr, DriverError};
use std::sync::Arc;

/// Sweeps of a launch. Of 2 to 5, 5 is the fastest in f64 (`benches/results/volumes.md`): tiles then begin at multiples of 64
/// bytes.
pub(super) const SWEEPS: usize = TOGETHER;

/// Points that neighbouring tiles share.
pub(super) const OVERLAP: usize = 2 * (SWEEPS - 1);

/// The most tiles along z.
const MOST_ALONG_Z: usize = 8;

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
    if method.devices().is_some() {
        return Err("a grid that several devices share".to_owned());
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

/// Prepares the kernel ([`BuildFn`](super::build::BuildFn)).
pub(super) fn build<R: Real + DeviceRepr>(
    system: &DeviceSystem<R>,
    _setting: &Setting<'_>,
    stream: &Arc<CudaStream>,
    arrays: [Pointer; 2],
) -> Result<Option<Box<dyn CycleKernel<R>>>, SolverError> {
    let tiling = tiling(&system.shape, system.gpu.multiprocessors as usize);
    let tiles = |tiling: Tiling| Some((tiles_of(system, &tiling)?[1].unsigned_abs(), tiling));
    let Some((blocks, tiling)) = tiling.and_then(tiles) else { return Ok(None) };
    let parts = blocks as usize * PARTS_OF_STREAM;
    let cycle = |sweeps| Cycle::new(&tiling, sweeps, [parts, 1]);
    let Some((one, together)) = cycle(1).zip(cycle(SWEEPS)) else { return Ok(None) };
    let launch = |function, sweeps| {
        let bytes = bytes_of_stream(sweeps, size_of::<R>());
        Launch::new(system, File::Stream3d, function, [blocks, 1], [THREADS as u32, 1], bytes)
    };
    Ok(Some(Box::new(Fused {
        single: Classic::in_3d(system, stream, arrays, None, 1.0)?,
        single_measured: (launch("fused_single", 1)?, one),
        together: launch("fused", SWEEPS)?,
        together_measured: launch("fused_measured", SWEEPS)?,
        cycle: together,
        parts,
    })))
}

/// The tiles of a grid: of as many depths as keep this number of multiprocessors busy best, with a block on each at a time.
fn tiling(shape: &Shape, multiprocessors: usize) -> Option<Tiling> {
    let [x, y, z] = *shape.axes() else { return None };
    let of_depth = |depth| Tiling::new(&[x, y, z], &[SIDE, SIDE, depth], &[OVERLAP; 3]).ok();
    let along_z = (1..=MOST_ALONG_Z).map(|tiles| (z + (tiles - 1) * OVERLAP).div_ceil(tiles));
    let tilings = along_z.filter_map(|depth| of_depth(depth.max(OVERLAP + 2)));
    // A tile takes a step for each of its planes and of its sweeps.
    let steps = |tiling: &Tiling| {
        let depth = tiling.axes()[2].tile();
        tiling.count().div_ceil(multiprocessors.max(1)) * (depth + SWEEPS + 2)
    };
    tilings.min_by_key(steps)
}

struct Fused {
    /// A sweep alone, without norms.
    single: Classic,
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

    fn sweeps_together(&self) -> usize {
        SWEEPS
    }

    fn launch(
        &self,
        stream: &Arc<CudaStream>,
        system: &DeviceSystem<R>,
        step: Step,
    ) -> Result<(), DriverError> {
        let (launch, cycle) = match step {
            Step { sweeps: 1, squares: 0, .. } => return self.single.launch(stream, system, step),
            Step { sweeps: 1, .. } => (&self.single_measured.0, &self.single_measured.1),
            Step { squares: 0, .. } => (&self.together, &self.cycle),
            _ => (&self.together_measured, &self.cycle),
        };
        launch.cycle(stream, system, step, cycle)
    }

    fn footprint(&self) -> Footprint {
        self.together.footprint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tiles_own_nothing_that_a_frozen_halo_has_reached(
            axes in (32..200_usize, 32..200_usize, 1..200_usize),
            multiprocessors in 0..200_usize,
        ) {
            let shape = Shape::grid_3d(axes.0, axes.1, axes.2).unwrap();
            let tiling = tiling(&shape, multiprocessors).unwrap();
            for axis in tiling.axes() {
                for tile in 0..axis.count() {
                    let (computed, owned) = (axis.computed(tile), axis.owned(tile));
                    let before = owned.start - computed.start;
                    let after = computed.end - owned.end;
                    prop_assert!(computed.start == 0 || before >= SWEEPS - 1);
                    prop_assert!(tile + 1 == axis.count() || after >= SWEEPS - 1);
                }
            }
            prop_assert!(tiling.axes()[..2].iter().all(|axis| axis.tile() == SIDE));
        }
    }

    #[test]
    fn a_large_grid_has_two_tiles_along_z() {
        let shape = Shape::grid_3d(512, 512, 512).unwrap();
        let tiling = tiling(&shape, 132).unwrap();
        let [x, _, z] = tiling.axes() else { panic!("three axes") };
        assert_eq!((x.count(), z.count(), z.tile()), (21, 2, 260));
    }
}
