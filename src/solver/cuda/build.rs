//! How a row of the table of kernels becomes a kernel on a GPU.

use super::arguments::Pointer;
use super::cycle_kernel::{CycleKernel, DeviceSystem};
use super::kernels::Setting;
use crate::solver::SolverError;
use cudarc::driver::CudaStream;
use std::sync::Arc;

/// Prepares a kernel, in either precision.
#[derive(Clone, Copy)]
pub(super) struct Build {
    pub f32: BuildFn<f32>,
    pub f64: BuildFn<f64>,
}

/// Prepares a kernel for a system; it may overwrite the two arrays of the grid to find its fastest
/// launch. `None` if there are more tiles than it can count.
pub(super) type BuildFn<R> = fn(
    &DeviceSystem<R>,
    &Setting<'_>,
    &Arc<CudaStream>,
    [Pointer; 2],
) -> Result<Option<Box<dyn CycleKernel<R>>>, SolverError>;

/// A precision that kernels are built in.
pub(super) trait BuildPrecision: Sized {
    /// The function that prepares a kernel in this precision.
    fn of(build: Build) -> BuildFn<Self>;
}

impl BuildPrecision for f32 {
    fn of(build: Build) -> BuildFn<Self> {
        build.f32
    }
}

impl BuildPrecision for f64 {
    fn of(build: Build) -> BuildFn<Self> {
        build.f64
    }
}
