//! Observations of an iterate on a GPU: norms by a separate pass, and thinned out fields.

use super::arguments::{Norms, Pointer, WindowArgument, counted};
use super::graph_batch::fetch;
use super::ptx::File;
use super::real::DeviceReal;
use super::system::DeviceSystem;
use crate::grid::{Real, Tiling};
use crate::solver::sample::near_borders;
use crate::solver::{EdgeShare, SolverError, Window};
use cudarc::driver::{
    CudaFunction, CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError, LaunchConfig,
    PinnedHostSlice, PushKernelArg,
};
use std::cell::RefCell;
use std::sync::Arc;

/// Threads of a block.
const THREADS: u32 = 256;

/// The most blocks of a pass, across and down.
const BLOCKS: [u32; 2] = [16, 512];

/// The most blocks down of the pass for the other norms of a cycle: the parts of many cycles are kept.
const OTHER_DOWN: u32 = 128;

/// Rows that a warp reads for samples, or somewhat more: a whole number of rows of blocks.
const ROWS_OF_A_WARP: usize = 32;

/// Lanes of a warp.
const WARP: usize = 32;

/// What a field is made of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Values {
    Residual,
    Solution,
    /// u minus an array of doubles.
    MinusDouble(Pointer),
    /// u minus an array of its own precision, in double precision.
    MinusReal(Pointer),
    /// The same in its own precision, as updates are defined.
    Change(Pointer),
}

impl Values {
    /// The arguments of the kernels: the quantity (`Quantity` of `field.cuh`) and the other array.
    pub fn arguments(self) -> (i32, Pointer) {
        match self {
            Self::Residual => (0, 0),
            Self::Solution => (1, 0),
            Self::MinusDouble(other) => (2, other),
            Self::MinusReal(other) => (3, other),
            Self::Change(other) => (4, other),
        }
    }
}

/// The kernels that observe an iterate.
pub(super) struct Observer {
    residual: CudaFunction,
    add_parts: CudaFunction,
    /// Pinned memory for samples, as large as was needed so far.
    pinned: RefCell<Option<PinnedHostSlice<f32>>>,
    /// The borders of the last request.
    borders: RefCell<Option<Arc<Borders>>>,
}

impl Observer {
    pub fn new<R>(system: &DeviceSystem<R>) -> Result<Self, SolverError> {
        let DeviceSystem { gpu, precision, form, .. } = system;
        Ok(Self {
            residual: gpu.function(File::Observe, *precision, *form, "residual")?,
            add_parts: gpu.function(File::Sums, *precision, *form, "add_parts")?,
            pinned: RefCell::new(None),
            borders: RefCell::new(None),
        })
    }

    /// The norms of the update u₁ − u₀ that a sweep would make; in `error` the squares near tile borders, if
    /// those are given.
    pub fn residual<R: DeviceReal>(
        &self,
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        u: Pointer,
        borders: Option<&Borders>,
    ) -> Result<Norms, SolverError> {
        let [columns, rows] = borders.map_or([0, 0], |borders| borders.pointers);
        self.pass(system, stream, over_grid(system), |config, parts| {
            let mut launch = stream.launch_builder(&self.residual);
            launch.arg(&u).arg(&system.rhs).arg(&system.grid).arg(&system.weights);
            launch.arg(&columns).arg(&rows).arg(parts);
            // SAFETY: the arguments are those of `observe.cu`, and the arrays have the grid's size.
            unsafe { launch.launch(config) }.map(|_| ())
        })
    }

    /// The largest update of the cycle that made one iterate from another.
    pub fn max_change<R: DeviceReal>(
        &self,
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        [from, to]: [Pointer; 2],
    ) -> Result<f64, SolverError> {
        // Damping changes what is found of the first sweep alone.
        let others = OtherNorms::new(system, 1.0)?;
        let norms = self.pass(system, stream, others.blocks, |_, parts| {
            others.launch(stream, system, [from, to], 0, parts.device_ptr(stream).0)
        })?;
        Ok(norms.change)
    }

    /// ‖u − u*‖₂.
    pub fn distance<R: DeviceReal>(
        &self,
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        u: Pointer,
        exact: Pointer,
    ) -> Result<f64, SolverError> {
        let DeviceSystem { gpu, precision, form, .. } = system;
        // Loaded by the driver only once u* is known.
        let function = gpu.function(File::Observe, *precision, *form, "distance")?;
        let norms = self.pass(system, stream, over_grid(system), |config, parts| {
            let mut launch = stream.launch_builder(&function);
            launch.arg(&u).arg(&exact).arg(&system.grid).arg(parts);
            // SAFETY: as above.
            unsafe { launch.launch(config) }.map(|_| ())
        })?;
        Ok(norms.error.sqrt())
    }

    /// The sums of a pass over the grid, by across × down thread blocks.
    fn pass<R: DeviceReal>(
        &self,
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        [across, down]: [u32; 2],
        launch: impl FnOnce(LaunchConfig, &mut CudaSlice<Norms>) -> Result<(), DriverError>,
    ) -> Result<Norms, SolverError> {
        let gpu = &system.gpu;
        let count = i64::from(across) * i64::from(down);
        // SAFETY: each block writes its part before the parts are added.
        let mut parts = unsafe { gpu.allocate::<Norms>(stream, count as usize) }?;
        let call = || -> Result<Vec<Norms>, DriverError> {
            launch(blocks(across, down), &mut parts)?;
            let mut total = stream.alloc_zeros::<Norms>(1)?;
            let mut add = stream.launch_builder(&self.add_parts);
            add.arg(&parts).arg(&count).arg(&count).arg(&mut total);
            // SAFETY: the arguments are those of `observe.cu`.
            unsafe { add.launch(blocks(1, 1)) }?;
            let found = stream.clone_dtoh(&total)?;
            stream.synchronize()?;
            Ok(found)
        };
        let found = gpu.check(call())?;
        Ok(found.first().copied().unwrap_or_default())
    }

    /// How much of ‖r‖² lies near the borders of tiles.
    pub fn edge_share<R: DeviceReal>(
        &self,
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        u: Pointer,
        tiling: &Tiling,
    ) -> Result<EdgeShare, SolverError> {
        let borders = self.borders(system, stream, tiling)?;
        let norms = self.residual(system, stream, u, Some(&borders))?;
        Ok(borders.share(&norms))
    }

    /// The borders of a tiling, copied to the GPU unless those of the last request are the same.
    fn borders<R>(
        &self,
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        tiling: &Tiling,
    ) -> Result<Arc<Borders>, SolverError> {
        let mut kept = self.borders.borrow_mut();
        if let Some(borders) = kept.as_ref().filter(|borders| borders.tiling == *tiling) {
            return Ok(Arc::clone(borders));
        }
        let marks = near_borders(tiling, &system.shape);
        let copy = |marks: &[bool]| {
            let bytes: Vec<_> = marks.iter().map(|&is_near| u8::from(is_near)).collect();
            stream.clone_htod(&bytes)
        };
        let call = || {
            let there = [copy(&marks[0])?, copy(&marks[1])?];
            stream.synchronize()?;
            Ok(there)
        };
        let there = system.gpu.check(call())?;
        let pointers = there.each_ref().map(|marks| marks.device_ptr(stream).0);
        let borders = Borders { tiling: tiling.clone(), marks, pointers, _there: there };
        Ok(Arc::clone(kept.insert(Arc::new(borders))))
    }

    /// Samples of a field.
    pub fn sample<R: DeviceReal>(
        &self,
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        u: Pointer,
        values: Values,
        window: &Window,
    ) -> Result<Vec<f32>, SolverError> {
        let mut sampling = Sampling::new(system, stream, window, "sample")?;
        let (quantity, other) = values.arguments();
        let mut call = || {
            let mut launch = stream.launch_builder(&sampling.sample);
            launch.arg(&u).arg(&system.rhs).arg(&other);
            launch.arg(&system.grid).arg(&system.weights).arg(&system.diagonal);
            launch.arg(&quantity).arg(&sampling.argument).arg(&sampling.together);
            launch.arg(&mut sampling.ranks);
            // SAFETY: the arguments are those of `observe.cu`, and the arrays have the grid's size.
            unsafe { launch.launch(blocks(sampling.blocks, 1)) }?;
            sampling.values(stream)
        };
        system.gpu.check(call())?;
        self.fetch(system, stream, &sampling)
    }

    /// Samples of the residual, and on the way how much of ‖r‖² lies near the borders of tiles: of a
    /// window that is the whole grid.
    pub fn sample_residual<R: DeviceReal>(
        &self,
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        u: Pointer,
        window: &Window,
        tiling: &Tiling,
    ) -> Result<(Vec<f32>, EdgeShare), SolverError> {
        let borders = self.borders(system, stream, tiling)?;
        let is_same = system.rhs.is_same();
        let name = if is_same { "residual_samples_same" } else { "residual_samples_varied" };
        let mut sampling = Sampling::new(system, stream, window, name)?;
        let [columns, rows] = borders.pointers;
        let norms = self.pass(system, stream, [sampling.blocks, 1], |config, parts| {
            let mut launch = stream.launch_builder(&sampling.sample);
            launch.arg(&u).arg(&system.rhs);
            launch.arg(&system.grid).arg(&system.weights).arg(&system.diagonal);
            launch.arg(&sampling.argument).arg(&sampling.together).arg(&mut sampling.ranks);
            launch.arg(&columns).arg(&rows).arg(parts);
            // SAFETY: as above; each block writes its part.
            unsafe { launch.launch(config) }?;
            sampling.values(stream)
        })?;
        Ok((self.fetch(system, stream, &sampling)?, borders.share(&norms)))
    }

    /// Waits for samples in the stream and copies them.
    fn fetch<R>(
        &self,
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        sampling: &Sampling,
    ) -> Result<Vec<f32>, SolverError> {
        let gpu = &system.gpu;
        let count = sampling.there.len();
        let mut pinned = self.pinned.borrow_mut();
        if pinned.as_ref().is_none_or(|pinned| pinned.len() < count) {
            // SAFETY: it is written before it is read.
            *pinned = Some(gpu.check(unsafe { gpu.context.alloc_pinned_with_flags(count, 0) })?);
        }
        let Some(pinned) = pinned.as_mut() else {
            return Ok(Vec::new());
        };
        let mut call = || -> Result<Vec<f32>, DriverError> {
            fetch(stream, &sampling.there, &mut pinned.as_mut_slice()?[..count])?;
            stream.synchronize()?;
            Ok(pinned.as_slice()?[..count].to_vec())
        };
        gpu.check(call())
    }
}

/// The pass that finds the norms of a cycle that do not come with it.
pub(super) struct OtherNorms {
    function: CudaFunction,
    blocks: [u32; 2],
    omega: f64,
}

impl OtherNorms {
    /// That of cycles whose sweeps are damped by `omega`; 1 without damping.
    pub fn new<R>(system: &DeviceSystem<R>, omega: f64) -> Result<Self, SolverError> {
        let DeviceSystem { gpu, precision, form, .. } = system;
        let function = gpu.function(File::Observe, *precision, *form, "other_norms")?;
        let [across, down] = over_grid(system);
        Ok(Self { function, blocks: [across, down.min(OTHER_DOWN)], omega })
    }

    /// In how many parts they come.
    pub fn parts(&self) -> usize {
        self.blocks.iter().map(|&blocks| blocks as usize).product()
    }

    /// Enqueues the pass for the cycle that made one iterate from another, with the error if u* is known.
    pub fn launch<R: Real + DeviceRepr>(
        &self,
        stream: &Arc<CudaStream>,
        system: &DeviceSystem<R>,
        [from, to]: [Pointer; 2],
        exact: Pointer,
        parts: Pointer,
    ) -> Result<(), DriverError> {
        let omega = R::from_f64(self.omega);
        let mut launch = stream.launch_builder(&self.function);
        launch.arg(&from).arg(&to).arg(&system.rhs);
        launch.arg(&system.grid).arg(&system.weights).arg(&exact).arg(&parts).arg(&omega);
        let [across, down] = self.blocks;
        // SAFETY: the arguments are those of `observe.cu`, and the arrays have the grid's size.
        unsafe { launch.launch(blocks(across, down)) }.map(|_| ())
    }
}

/// A launch of that number of blocks.
fn blocks(across: u32, down: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (across, down, 1), block_dim: (THREADS, 1, 1), shared_mem_bytes: 0 }
}

/// The blocks, across and down, that pass over a grid.
fn over_grid<R>(system: &DeviceSystem<R>) -> [u32; 2] {
    [
        system.grid.flat.columns.unsigned_abs().div_ceil(THREADS).min(BLOCKS[0]),
        system.grid.flat.rows.unsigned_abs().min(BLOCKS[1]),
    ]
}

/// Which columns and rows lie near the borders of tiles, here and on the GPU.
pub(super) struct Borders {
    tiling: Tiling,
    marks: [Vec<bool>; 2],
    pointers: [Pointer; 2],
    _there: [CudaSlice<u8>; 2],
}

impl Borders {
    fn share(&self, norms: &Norms) -> EdgeShare {
        EdgeShare::of(norms.error, norms.squares, &self.marks)
    }
}

/// Samples that are taken.
struct Sampling {
    /// The kernels, which the driver loads when a field is first sampled.
    sample: CudaFunction,
    values_of_ranks: CudaFunction,
    argument: WindowArgument,
    /// Rows that a warp reads, and blocks of all warps.
    together: i32,
    blocks: u32,
    /// As integers that are compared, and as values.
    ranks: CudaSlice<u64>,
    there: CudaSlice<f32>,
}

/// A number as kernels count; none of those that get here is too large.
fn number(number: usize) -> i32 {
    counted(number).unwrap_or(i32::MAX)
}

impl Sampling {
    fn new<R>(
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        window: &Window,
        sample: &'static str,
    ) -> Result<Self, SolverError> {
        let block = window.block();
        let samples = window.size();
        let count = samples[0] * samples[1];
        let together = block[1] * ROWS_OF_A_WARP.div_ceil(block[1]);
        let warps = window.columns.len().div_ceil(WARP) * window.rows.len().div_ceil(together);
        let shape = &system.shape;
        // From point to point along the axes, and from the first point of the grid to that of the slice.
        let strides = [1, shape.stride(), shape.plane_stride()].map(|values| values as i64);
        let [across, down] =
            window.slice.map_or([0; 2], |slice| slice.axes().map(|axis| strides[axis]));
        let origin = window.slice.map_or(0, |slice| strides[slice.axis] * slice.index as i64);
        let argument = WindowArgument {
            origin,
            across,
            down,
            first_column: number(window.columns.start),
            first_row: number(window.rows.start),
            columns: number(window.columns.len()),
            rows: number(window.rows.len()),
            block_x: number(block[0]),
            block_y: number(block[1]),
            samples_x: number(samples[0]),
            samples_y: number(samples[1]),
        };
        let blocks = number(warps.div_ceil(THREADS as usize / WARP)).unsigned_abs();
        let DeviceSystem { gpu, precision, form, .. } = system;
        let sample = gpu.function(File::Observe, *precision, *form, sample)?;
        let values_of_ranks = gpu.function(File::Sums, *precision, *form, "values_of_ranks")?;
        let ranks = gpu.check(stream.alloc_zeros(count))?;
        // SAFETY: the kernel writes every sample before they are copied.
        let there = unsafe { gpu.allocate::<f32>(stream, count) }?;
        let together = number(together);
        Ok(Self { sample, values_of_ranks, argument, together, blocks, ranks, there })
    }

    /// Enqueues the conversion of the ranks that were found to values.
    fn values(&mut self, stream: &Arc<CudaStream>) -> Result<(), DriverError> {
        let samples = self.ranks.len();
        let count = samples as i64;
        let mut launch = stream.launch_builder(&self.values_of_ranks);
        launch.arg(&self.ranks).arg(&count).arg(&mut self.there);
        let blocks_of_values = number(samples.div_ceil(THREADS as usize)).unsigned_abs();
        // SAFETY: the arguments are those of `observe.cu`; both arrays have a value for each sample.
        unsafe { launch.launch(blocks(blocks_of_values, 1)) }.map(|_| ())
    }
}
