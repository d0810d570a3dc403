//! The statistics of a field on a GPU: counted and summed there.

use super::arguments::{AxisArgument, Pointer, counted};
use super::observe::Values;
use super::ptx::File;
use super::real::DeviceReal;
use super::system::DeviceSystem;
use crate::solver::SolverError;
use crate::solver::statistics::{BINS, Sorting, Statistics, TOGETHER};
use cudarc::driver::{CudaFunction, CudaStream, DriverError, LaunchConfig, PushKernelArg};
use std::sync::Arc;

/// Threads of a block.
const THREADS: usize = 256;

/// Threads of a warp, which read points side by side.
const WARP: usize = 32;

/// Rows of points that a block reads side by side.
const ROWS: usize = THREADS / WARP;

/// How often it does so at most: a block writes what it counted in shared memory once for all …
const MOST_TURNS: usize = 8;

/// … and blocks that keep a GPU busy, before they take more than one turn.
const BUSY_BLOCKS: usize = 512;

/// The kernels of the statistics.
pub(super) struct Folder {
    fold_rows: CudaFunction,
    fold_tiles: CudaFunction,
}

impl Folder {
    /// The kernels, which the driver loads at first use.
    pub fn new<R>(system: &DeviceSystem<R>) -> Result<Self, SolverError> {
        let DeviceSystem { gpu, precision, form, .. } = system;
        let function = |name| gpu.function(File::Statistics, *precision, *form, name);
        Ok(Self { fold_rows: function("fold_rows")?, fold_tiles: function("fold_tiles")? })
    }

    /// The statistics of a field; `None` if there are more points or tiles than the kernels count.
    pub fn statistics<R: DeviceReal>(
        &self,
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        u: Pointer,
        values: Values,
        sorting: &Sorting,
    ) -> Result<Option<Statistics>, SolverError> {
        let gpu = &system.gpu;
        let [x, y] = &sorting.axes;
        let groups = x.count().div_ceil(TOGETHER);
        let across = groups * x.tile().div_ceil(WARP);
        let down = system.shape.rows().div_ceil(ROWS);
        let turns = (down * across / BUSY_BLOCKS).clamp(1, MOST_TURNS);
        let blocks = counted(down.div_ceil(turns) * across);
        let (Some(columns), Some(rows), Some(blocks)) =
            (AxisArgument::of(x), AxisArgument::of(y), blocks)
        else {
            return Ok(None);
        };
        let places = if sorting.folds { x.tile() * y.tile() } else { 0 };
        let room = if sorting.folds { system.shape.rows() * groups * x.tile() } else { 0 };
        // SAFETY: each part is written before they are added up.
        let mut parts = unsafe { gpu.allocate::<f64>(stream, room.max(1)) }?;
        // SAFETY: as above.
        let mut sums = unsafe { gpu.allocate::<f64>(stream, places.max(1)) }?;
        let (quantity, other) = values.arguments();
        let classes = i32::try_from(sorting.count).unwrap_or(i32::MAX);
        let together = turns as i32;
        let [first_plane, last_plane] = [sorting.planes.start, sorting.planes.end]
            .map(|plane| counted(plane).unwrap_or(i32::MAX));
        let none: Pointer = 0;
        let config = |blocks: i32| LaunchConfig {
            grid_dim: (blocks.unsigned_abs(), 1, 1),
            block_dim: (THREADS as u32, 1, 1),
            shared_mem_bytes: 0,
        };
        let mut call = || -> Result<(Vec<u64>, Vec<f64>), DriverError> {
            let mut counts = stream.alloc_zeros::<u64>((sorting.count * BINS).max(1))?;
            let column_classes = stream.clone_htod(&sorting.classes[0])?;
            let row_classes = stream.clone_htod(&sorting.classes[1])?;
            let mut fold = stream.launch_builder(&self.fold_rows);
            fold.arg(&u).arg(&system.rhs).arg(&other);
            fold.arg(&system.grid).arg(&system.weights).arg(&system.diagonal).arg(&quantity);
            fold.arg(&columns).arg(&together);
            fold.arg(&column_classes).arg(&row_classes).arg(&classes);
            fold.arg(&mut counts);
            if sorting.folds {
                fold.arg(&mut parts)
            } else {
                fold.arg(&none)
            };
            // SAFETY: the arguments are those of `statistics.cu`, and the arrays have the sizes that
            // follow from the grid and its tiles.
            unsafe { fold.launch(config(blocks)) }?;
            if sorting.folds {
                let mut fold = stream.launch_builder(&self.fold_tiles);
                fold.arg(&parts).arg(&columns).arg(&rows);
                // In 1D and 2D the kernel does not read the planes.
                fold.arg(&mut sums).arg(&first_plane).arg(&last_plane);
                let blocks = counted(places.div_ceil(THREADS)).unwrap_or(i32::MAX);
                // SAFETY: as above.
                unsafe { fold.launch(config(blocks)) }?;
            }
            let counts = stream.clone_dtoh(&counts)?;
            let sums = stream.clone_dtoh(&sums)?;
            stream.synchronize()?;
            Ok((counts, sums))
        };
        let (counts, sums) = gpu.check(call())?;
        Ok(Some(sorting.finish(&counts[..sorting.count * BINS], &sums[..places])))
    }
}
