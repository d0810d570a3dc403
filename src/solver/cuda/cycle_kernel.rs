//! What the kernels have in common.

use super::arguments::{
    AxisArgument, CubeArguments, CycleArguments, DampedArguments, FlatArguments, GridArgument,
    Pointer, ResidentArguments, SpectralArguments, SplitArgument, StripArguments, VolumeArguments,
    WeightsArgument, counted,
};
use super::gpu::Gpu;
use super::ptx::File;
use super::system::DeviceSystem;
use crate::grid::{Precision, Real, Tiling};
use crate::solver::{Footprint, SolverError};
use cudarc::driver::sys::{
    self, CUdevice_attribute_enum as Attribute, CUfunction_attribute_enum, CUlaunchAttribute,
    CUlaunchAttributeID, CUlaunchAttributeValue, CUlaunchConfig,
};
use cudarc::driver::{
    CudaFunction, CudaStream, DeviceRepr, DriverError, LaunchConfig, PushKernelArg,
};
use std::borrow::Cow;
use std::ptr;
use std::sync::Arc;

/// Threads of a warp.
pub(super) const WARP: u32 = 32;

/// The tile of a refusal: `tile 96`, or `tile 96x64`.
pub(super) fn tile_name(tiling: &Tiling) -> String {
    let sides: Vec<_> = tiling.axes().iter().map(|axis| axis.tile().to_string()).collect();
    format!("tile {}", sides.join("x"))
}

/// The first tile that a system computes and how many it computes; `None` if there are more tiles than kernels count.
pub(super) fn tiles_of<R>(system: &DeviceSystem<R>, tiling: &Tiling) -> Option<[i32; 2]> {
    let (slowest, others) = tiling.axes().split_last()?;
    if others.is_empty() {
        return Some([0, counted(slowest.count().checked_mul(system.shape.rows())?)?]);
    }
    let share = system.share.clone().unwrap_or(0..slowest.count());
    let of_row = others.iter().try_fold(1_usize, |tiles, axis| tiles.checked_mul(axis.count()))?;
    // The number of a tile is counted, too.
    counted(of_row.checked_mul(slowest.count())?)?;
    Some([counted(share.start * of_row)?, counted(share.len() * of_row)?])
}

/// The name of the function that makes the same sweeps damped by ω, `FUNCTION(name##_damped, …)` in its file; the name
/// itself without damping.
pub(super) fn damped(function: &str, omega: f64) -> Cow<'_, str> {
    match omega == 1.0 {
        true => function.into(),
        false => format!("{function}_damped").into(),
    }
}

/// One cycle: where it starts from, where it goes, and what it is to find out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// The iterate's first interior point.
    pub from: Pointer,
    /// That of the next iterate.
    pub to: Pointer,
    /// Where its parts write their sums of squares of the first sweep; 0 for no norms.
    pub squares: Pointer,
    /// Its place among the cycles whose sums are kept together.
    pub index: usize,
    /// How many cycles it makes: 1, or what a kernel makes together.
    pub cycles: usize,
    /// How many values lie from the sums of one of these to those of the next.
    pub apart: usize,
    /// Whether devices that share the grid exchange what it made.
    pub exchanges: bool,
}

/// A method on a GPU.
pub(super) trait CycleKernel<R>: Send {
    /// The number of partial sums of squares of a cycle.
    fn parts(&self) -> usize;

    /// How many cycles it can make together ([`Step::cycles`]): an odd number. They may write both arrays.
    fn cycles_together(&self) -> usize {
        1
    }

    /// Enqueues one cycle.
    fn launch(
        &self,
        stream: &Arc<CudaStream>,
        system: &DeviceSystem<R>,
        step: Step,
    ) -> Result<(), DriverError>;

    /// The resources of the GPU that it uses.
    fn footprint(&self) -> Footprint;
}

/// What the kernels are given of a method.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    /// The tiles of the axes.
    tiles: [AxisArgument; 3],
    k: i32,
    split: SplitArgument,
    /// The number of the first tile.
    first: i32,
    /// The fraction of each update that sweeps apply; functions without damping do not read it.
    omega: f64,
}

impl Cycle {
    /// One sweep without tiles.
    pub fn sweep(omega: f64) -> Self {
        let tiles = [AxisArgument::NONE; 3];
        Self { tiles, k: 1, split: SplitArgument { x: 1, y: 1 }, first: 0, omega }
    }

    /// `k` sweeps in tiles that are split into x by y parts; `None` if a number is too large for the
    /// kernels.
    pub fn new(tiling: &Tiling, k: usize, [x, y]: [usize; 2]) -> Option<Self> {
        let mut tiles = [AxisArgument::NONE; 3];
        for (tiles, axis) in tiles.iter_mut().zip(tiling.axes()) {
            *tiles = AxisArgument::of(axis)?;
        }
        Some(Self {
            tiles,
            k: counted(k)?,
            split: SplitArgument { x: counted(x)?, y: counted(y)? },
            first: 0,
            omega: 1.0,
        })
    }

    /// The same from this tile on.
    pub fn beginning_at(self, first: i32) -> Self {
        Self { first, ..self }
    }

    /// The same with these tiles along z.
    pub fn along_z(self, axis: AxisArgument) -> Self {
        let [x, y, _] = self.tiles;
        Self { tiles: [x, y, axis], ..self }
    }

    /// The same where the sums of a sweep lie so many values before those of the next.
    pub fn with_sums_apart(self, apart: usize) -> Self {
        let split = SplitArgument { x: counted(apart).unwrap_or(i32::MAX), ..self.split };
        Self { split, ..self }
    }

    /// The same with damped sweeps.
    pub fn damped(self, omega: f64) -> Self {
        Self { omega, ..self }
    }

    /// The arguments of one cycle in 1D or 2D.
    fn flat<R: Real>(&self, system: &DeviceSystem<R>, step: Step) -> FlatArguments<R> {
        let [x, y, _] = self.tiles;
        self.arguments(system.g, step, system.grid.flat, [x, y], system.flat_weights)
    }

    /// The arguments of one cycle in 3D.
    fn volume<R: Real>(&self, system: &DeviceSystem<R>, step: Step) -> VolumeArguments<R> {
        self.volume_of(system.g, step, system.grid, system.weights)
    }

    /// The arguments of one cycle of this grid in 3D.
    pub fn volume_of<R: Real>(
        &self,
        g: Pointer,
        step: Step,
        grid: GridArgument,
        weights: WeightsArgument<R, 6>,
    ) -> VolumeArguments<R> {
        self.arguments(g, step, grid, self.tiles, weights)
    }

    /// The arguments of one cycle of this grid, with its tiles and weights as the kernel takes them.
    pub fn arguments<Grid, Tiles, Weights>(
        &self,
        g: Pointer,
        step: Step,
        grid: Grid,
        tiles: Tiles,
        weights: Weights,
    ) -> CycleArguments<Grid, Tiles, Weights> {
        let Step { from, to, squares, .. } = step;
        let Self { k, split, first, .. } = *self;
        CycleArguments { from, g, to, squares, grid, tiles, weights, k, split, first }
    }
}

/// The tiles of a cycle in the sine basis.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpectralTiles {
    /// Where their tables lie.
    pub tables: Pointer,
    /// How many there are.
    pub tiles: i32,
    /// What corrections are multiplied by in the end, where products are in half precision.
    pub correction_scale: f32,
    /// The columns that are copied for the tiles of a strip together, where they are in strips.
    pub strip: Option<u32>,
    /// Where they lie, where they are cubes that blocks take one after another.
    pub cubes: Option<PlacedCubes>,
}

/// Cubes that blocks take one after another.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedCubes {
    /// Where they lie; 0 if the kernel does not read it.
    pub places: Pointer,
    /// How many are taken.
    pub taken: Pointer,
}

/// Strips whose warps make several cycles.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResidentStrips {
    /// Where their counters lie.
    pub made: Pointer,
    /// On how many strips of a row, and rows of strips, on either side one depends.
    pub reach: [i32; 2],
}

/// A kernel with the shape that it is launched in.
pub(super) struct Launch {
    pub function: CudaFunction,
    pub config: LaunchConfig,
    footprint: Footprint,
    /// Whether its blocks may begin before the kernel before it in the stream has ended.
    begins_early: bool,
    /// Whether all its blocks run at the same time.
    is_cooperative: bool,
}

impl Launch {
    /// A kernel for a system, with the number of blocks of its launch.
    ///
    /// # Errors
    /// [`SolverError`] if the driver refuses it.
    pub fn new<R>(
        system: &DeviceSystem<R>,
        file: File,
        name: &str,
        blocks: [u32; 2],
        threads: [u32; 2],
        shared_bytes: usize,
    ) -> Result<Self, SolverError> {
        let gpu = &system.gpu;
        let function = gpu.function(file, system.precision, system.form, name)?;
        let operations = 2.0 * system.shape.dim() as f64;
        let most = gpu.check(operations_per_second(gpu, system.precision))? / operations;
        Self::of(gpu, function, blocks, threads, shared_bytes, most)
    }

    /// A function that is launched in this shape, on a GPU whose arithmetic can make that many point updates
    /// per second.
    ///
    /// # Errors
    /// [`SolverError`] if the driver refuses it.
    pub fn of(
        gpu: &Gpu,
        function: CudaFunction,
        blocks: [u32; 2],
        threads: [u32; 2],
        shared_bytes: usize,
        points_per_second: f64,
    ) -> Result<Self, SolverError> {
        let bytes = u32::try_from(shared_bytes).unwrap_or(u32::MAX);
        gpu.check(function.set_attribute(
            CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
            i32::try_from(bytes).unwrap_or(i32::MAX),
        ))?;
        let config = LaunchConfig {
            grid_dim: (blocks[0], blocks[1], 1),
            block_dim: (threads[0], threads[1], 1),
            shared_mem_bytes: bytes,
        };
        let call = || -> Result<Footprint, DriverError> {
            let block = threads[0] * threads[1];
            let resident = function.occupancy_max_active_blocks_per_multiprocessor(
                block,
                shared_bytes,
                None,
            )?;
            Ok(Footprint {
                threads: block,
                registers: u32::try_from(function.num_regs()?).unwrap_or(0),
                shared_bytes: shared_bytes
                    + usize::try_from(function.shared_size_bytes()?).unwrap_or(0),
                blocks: u64::from(blocks[0]) * u64::from(blocks[1]),
                blocks_per_multiprocessor: resident,
                multiprocessors: gpu.multiprocessors,
                points_per_second,
                products: None,
            })
        };
        let footprint = gpu.check(call())?;
        Ok(Self { function, config, footprint, begins_early: false, is_cooperative: false })
    }

    /// Enqueues one cycle of a kernel that takes `CycleArguments`, or `DampedArguments`, which begin with them.
    pub fn cycle<R: Real + DeviceRepr>(
        &self,
        stream: &Arc<CudaStream>,
        system: &DeviceSystem<R>,
        step: Step,
        cycle: &Cycle,
    ) -> Result<(), DriverError> {
        let mut launch = stream.launch_builder(&self.function);
        let omega = R::from_f64(cycle.omega);
        let flat = DampedArguments { cycle: cycle.flat(system, step), omega };
        let volume = DampedArguments { cycle: cycle.volume(system, step), omega };
        if system.shape.dim() < 3 {
            launch.arg(&flat)
        } else {
            launch.arg(&volume)
        };
        // SAFETY: all kernels that make cycles take these arguments, and the arrays have the grid's size.
        unsafe { launch.launch(self.config) }.map(|_| ())
    }

    /// Enqueues one cycle of a kernel that takes `SpectralArguments`, `StripArguments` where its tiles are in strips, or
    /// `CubeArguments` where they are cubes; or several of one that takes `ResidentArguments`.
    pub fn spectral_cycles<R: Real + DeviceRepr>(
        &self,
        stream: &Arc<CudaStream>,
        system: &DeviceSystem<R>,
        step: Step,
        cycle: &Cycle,
        of_cycle: SpectralTiles,
        resident: Option<ResidentStrips>,
    ) -> Result<(), DriverError> {
        let SpectralTiles { tables, tiles, correction_scale, strip, cubes } = of_cycle;
        let cycle = cycle.with_sums_apart(step.apart);
        let flat =
            SpectralArguments::new(cycle.flat(system, step), tables, tiles, correction_scale);
        let spectral =
            SpectralArguments::new(cycle.volume(system, step), tables, tiles, correction_scale);
        // SAFETY: the kernels of `spectral` take these arguments; arrays, tables and counters have the sizes of the grid, of
        // its tiles and of its strips.
        unsafe {
            match (strip, resident) {
                (Some(columns), Some(ResidentStrips { made, reach })) => {
                    let strips = StripArguments::new(flat, columns)?;
                    let arguments =
                        ResidentArguments::new(strips, columns, made, step.cycles, reach)?;
                    self.enqueue(stream, &arguments)
                }
                (Some(columns), None) => self.enqueue(stream, &StripArguments::new(flat, columns)?),
                _ if system.shape.dim() < 3 => self.enqueue(stream, &flat),
                _ => match cubes {
                    Some(PlacedCubes { places, taken }) => {
                        self.enqueue(stream, &CubeArguments { spectral, places, taken })
                    }
                    None => self.enqueue(stream, &spectral),
                },
            }
        }
    }

    /// Lets its blocks begin before the kernel before it in the stream has ended. The function waits for that itself.
    pub fn beginning_early(self) -> Self {
        Self { begins_early: true, ..self }
    }

    /// Lets all its blocks run at the same time; there are no more than fit the GPU.
    pub fn cooperative(self) -> Self {
        Self { is_cooperative: true, ..self }
    }

    /// Enqueues it with its only argument.
    ///
    /// # Safety
    /// That of the function.
    unsafe fn enqueue<A: DeviceRepr>(
        &self,
        stream: &Arc<CudaStream>,
        argument: &A,
    ) -> Result<(), DriverError> {
        let Self { function, config, .. } = self;
        stream.context().bind_to_thread()?;
        let early = CUlaunchAttribute {
            id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            pad: [0; 4],
            value: CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
        };
        let cooperative = CUlaunchAttribute {
            id: CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
            pad: [0; 4],
            value: CUlaunchAttributeValue { cooperative: 1 },
        };
        // A GPU may lack what is not set.
        let all = [(self.begins_early, early), (self.is_cooperative, cooperative)];
        let mut attributes: Vec<_> =
            all.into_iter().filter_map(|(is_set, attribute)| is_set.then_some(attribute)).collect();
        let config = CUlaunchConfig {
            gridDimX: config.grid_dim.0,
            gridDimY: config.grid_dim.1,
            gridDimZ: config.grid_dim.2,
            blockDimX: config.block_dim.0,
            blockDimY: config.block_dim.1,
            blockDimZ: config.block_dim.2,
            sharedMemBytes: config.shared_mem_bytes,
            hStream: stream.cu_stream(),
            attrs: attributes.as_mut_ptr(),
            numAttrs: attributes.len() as u32,
        };
        let mut arguments = [ptr::from_ref(argument).cast_mut().cast()];
        // SAFETY: the driver copies the argument before it returns.
        unsafe {
            let at = arguments.as_mut_ptr();
            sys::cuLaunchKernelEx(&raw const config, function.cu_function(), at, ptr::null_mut())
        }
        .result()
    }

    pub fn footprint(&self) -> Footprint {
        self.footprint
    }
}

/// Multiplications with an addition that the arithmetic of the GPU can make per second at its highest clock. A
/// point of a grid takes 2, 4 or 6 operations (see the order of operations in `problem/stencil.rs`).
pub(super) fn operations_per_second(gpu: &Gpu, precision: Precision) -> Result<f64, DriverError> {
    let context = &gpu.context;
    let clock = context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)?;
    let lanes = match (precision, context.compute_capability()?) {
        // CUDA C++ Programming Guide, arithmetic instructions: results per clock and multiprocessor.
        (Precision::F64, (7 | 8, 0)) => 32.0,
        (Precision::F64, (9, _) | (10, 0)) => 64.0,
        (Precision::F64, _) => 2.0,
        (Precision::F32, (7, _) | (8, 0)) => 64.0,
        (Precision::F32, _) => 128.0,
    };
    Ok(f64::from(clock) * 1e3 * lanes * f64::from(gpu.multiprocessors))
}
