//! Sweeps of some planes in working arrays: the kernels of method `classic`, on a grid of these planes.

use super::together::{Together, moved_back};
use crate::grid::Shape;
use crate::problem::System;
use crate::solver::cuda::arguments::{
    AxisArgument, GridArgument, Pointer, RowsArgument, WeightsArgument,
};
use crate::solver::cuda::cycle_kernel::{Cycle, Launch, Step, WARP, operations_per_second};
use crate::solver::cuda::gpu::Gpu;
use crate::solver::cuda::ptx::{File, Form};
use crate::solver::cuda::real::DeviceReal;
use crate::solver::cuda::system::too_large;
use crate::solver::cuda::{classic, classic_3d};
use crate::solver::pass::SweptTogether;
use crate::solver::streaming::{Planes, TOGETHER};
use crate::solver::{Footprint, Kernel, SolverError};
use cudarc::driver::sys::CUresult;
use cudarc::driver::{CudaStream, DriverError, LaunchConfig, PushKernelArg};
use std::sync::Arc;

/// Threads of a block along x and y, by the axes of the grid: in 3D the fastest on a whole grid.
const BLOCKS: [[u32; 2]; 3] = [[256, 1], [32, 8], [64, 8]];

/// Threads of a block that copies the boundary values around planes, a warp for each row.
const THREADS: u32 = 256;

/// The functions that work on planes, prepared for a grid.
pub(super) struct PlaneSweep<R> {
    shape: Shape,
    sweep: Launch,
    /// Several sweeps together, where the kernel makes them so.
    together: Option<Together>,
    /// Copies the boundary values around planes; in 1D there are none.
    rims: Option<Launch>,
    weights: WeightsArgument<R, 6>,
    flat_weights: WeightsArgument<R, 4>,
}

impl<R: DeviceReal> PlaneSweep<R> {
    /// Prepares sweeps of at most `most` planes at a time, by kernel `classic` or `fused`.
    ///
    /// # Errors
    /// [`SolverError`] if there are more than kernels can count, or the driver refuses them.
    pub fn new(
        gpu: &Gpu,
        system: &System<R>,
        shape: Shape,
        (kernel, most): (Kernel, usize),
    ) -> Result<Self, SolverError> {
        let grid = GridArgument::of_planes(&shape, most);
        let blocks = grid.and_then(|grid| blocks(&shape, most, &grid));
        let blocks = blocks.ok_or_else(|| too_large(Kernel::CLASSIC, &shape))?;
        let form = Form::of(&system.weights, shape.dim());
        let points = gpu.check(operations_per_second(gpu, R::PRECISION))?;
        let points = points / (2.0 * shape.dim() as f64);
        let launch = |file, name, blocks, threads| {
            let function = gpu.function(file, R::PRECISION, form, name)?;
            Launch::of(gpu, function, blocks, threads, 0, points)
        };
        let together = match kernel {
            Kernel::FUSED => {
                let made = Together::new(gpu, (R::PRECISION, form), &shape, points)?;
                Some(made.ok_or_else(|| too_large(kernel, &shape))?)
            }
            _ => None,
        };
        let file = if shape.dim() == 3 { File::Classic3d } else { File::Classic };
        let rims = || launch(File::Planes, "copy_rims", [1, 1], [THREADS, 1]);
        Ok(Self {
            sweep: launch(file, "sweep", blocks, BLOCKS[shape.dim() - 1])?,
            together,
            rims: (shape.dim() > 1).then(rims).transpose()?,
            weights: WeightsArgument::of(&system.weights, RowsArgument::default()),
            flat_weights: WeightsArgument::of(&system.weights, RowsArgument::default()),
            shape,
        })
    }

    pub fn footprint(&self) -> Footprint {
        self.together.as_ref().map_or_else(|| self.sweep.footprint(), Together::footprint)
    }

    /// How many sweeps it can make together: an odd number.
    pub fn sweeps_together(&self) -> usize {
        if self.together.is_some() { TOGETHER } else { 1 }
    }

    /// The updates that so many sweeps of planes make, with what tiles compute twice.
    pub fn updates(&self, sweeps: usize, planes: &SweptTogether) -> u64 {
        let points = match &self.together {
            Some(together) if sweeps > 1 => together.points(),
            _ => Planes::of(&self.shape).points,
        };
        (sweeps * planes.swept.len() * points) as u64
    }

    /// Enqueues so many sweeps, as many as it makes together: of the iterate at `from` with the right-hand side at `g` to
    /// `to`, where the first plane that is swept starts in each array.
    pub fn launch_together(
        &self,
        stream: &Arc<CudaStream>,
        start: [Pointer; 3],
        planes: &SweptTogether,
    ) -> Result<(), DriverError> {
        let shape = &self.shape;
        let grid = GridArgument::of_planes(shape, planes.swept.len());
        let layer = self.together.as_ref().and_then(|it| Some((it, it.layer(planes)?)));
        // It was prepared for as many planes.
        let (grid, (together, (cycle, planes_before))) =
            grid.zip(layer).ok_or(DriverError(CUresult::CUDA_ERROR_INVALID_VALUE))?;
        let plane_bytes = shape.stored_plane() * size_of::<R>();
        let [from, g, to] =
            start.map(|it| self.interior(moved_back(it, planes_before, plane_bytes)));
        let volume = cycle.volume_of(g, Self::step(from, to, TOGETHER), grid, self.weights);
        let mut launch = stream.launch_builder(&together.launch.function);
        launch.arg(&volume);
        // SAFETY: the kernel takes these arguments; what it reads of planes, and one before and after them, lies in the
        // working arrays.
        unsafe { launch.launch(together.launch.config) }.map(|_| ())
    }

    /// The first interior point of a plane.
    fn interior(&self, start: Pointer) -> Pointer {
        start + (first_point(&self.shape) * size_of::<R>()) as u64
    }

    fn step(from: Pointer, to: Pointer, sweeps: usize) -> Step {
        Step { from, to, squares: 0, index: 0, cycles: sweeps, apart: 0, exchanges: false }
    }

    /// Enqueues a sweep of so many planes: of the iterate at `from` with the right-hand side at `g` to `to`, where the
    /// first of them starts in each array.
    pub fn launch(
        &self,
        stream: &Arc<CudaStream>,
        [from, g, to]: [Pointer; 3],
        planes: usize,
    ) -> Result<(), DriverError> {
        let shape = &self.shape;
        let grid = GridArgument::of_planes(shape, planes);
        let blocks = grid.and_then(|grid| Some((grid, blocks(shape, planes, &grid)?)));
        // It was prepared for as many planes.
        let (grid, [across, down]) =
            blocks.ok_or(DriverError(CUresult::CUDA_ERROR_INVALID_VALUE))?;
        let config = LaunchConfig { grid_dim: (across, down, 1), ..self.sweep.config };
        let step = Self::step(self.interior(from), self.interior(to), 1);
        let (g, cycle) = (self.interior(g), Cycle::sweep(1.0));
        let flat = cycle.arguments(g, step, grid.flat, [AxisArgument::NONE; 2], self.flat_weights);
        let volume = cycle.volume_of(g, step, grid, self.weights);
        let mut launch = stream.launch_builder(&self.sweep.function);
        if shape.dim() < 3 {
            launch.arg(&flat)
        } else {
            launch.arg(&volume)
        };
        // SAFETY: the kernels of method `classic` take these arguments; the planes, and one before and after them, lie
        // in the working arrays.
        unsafe { launch.launch(config) }.map(|_| ())
    }

    /// Enqueues a copy of the boundary values around so many planes, from one array to another: sweeps read them
    /// there and never write them.
    pub fn copy_rims(
        &self,
        stream: &Arc<CudaStream>,
        [from, to]: [Pointer; 2],
        planes: usize,
    ) -> Result<(), DriverError> {
        let Some(rims) = &self.rims else { return Ok(()) };
        let shape = &self.shape;
        let in_plane = if shape.dim() == 3 { shape.ny() + 2 } else { 1 };
        let first = (shape.first_row_of_plane() * size_of::<R>()) as u64;
        let [from, to] = [from + first, to + first];
        let [rows, columns] = [planes * in_plane, shape.nx() + 2].map(|number| number as i64);
        let [in_plane, pitch, plane_pitch] =
            [in_plane, shape.stride(), shape.stored_plane()].map(|number| number as i64);
        // As many warps as rows, and for very many rows several of each.
        let blocks = (rows as u64).div_ceil(u64::from(THREADS / WARP)).min(1 << 16);
        let blocks = u32::try_from(blocks).unwrap_or(1);
        let config = LaunchConfig { grid_dim: (blocks, 1, 1), ..rims.config };
        let mut launch = stream.launch_builder(&rims.function);
        launch.arg(&from).arg(&to).arg(&rows).arg(&columns);
        launch.arg(&in_plane).arg(&pitch).arg(&plane_pitch);
        // SAFETY: `copy_rims` of `planes.cu` takes these arguments, and the planes lie in both arrays.
        unsafe { launch.launch(config) }.map(|_| ())
    }
}

/// Where the first point of a plane lies in it.
fn first_point(shape: &Shape) -> usize {
    match shape.dim() {
        1 => 0,
        _ => shape.row_start(0) + 1 - shape.stored_plane(),
    }
}

/// Blocks of a sweep of so many planes.
fn blocks(shape: &Shape, planes: usize, grid: &GridArgument) -> Option<[u32; 2]> {
    let block = BLOCKS[shape.dim() - 1];
    match shape.dim() {
        3 => classic_3d::blocks(shape, planes, block).map(|blocks| [blocks, 1]),
        _ => {
            let sides = [grid.flat.columns, grid.flat.rows].map(i32::unsigned_abs);
            Some(classic::blocks(sides, block))
        }
    }
}
