//! How a row of the table of kernels becomes a kernel on a GPU.

use super::arguments::Pointer;
use super::blocks::BlocksType;
use super::cycle_kernel::CycleKernel;
use super::setting::Setting;
use super::system::DeviceSystem;
use crate::solver::SolverError;
use cudarc::driver::CudaStream;
use std::sync::Arc;

/// How a row of the table is prepared.
#[derive(Clone, Copy)]
pub(super) enum Build {
    /// A kernel for a grid, in either precision.
    Grid { f32: BuildFn<f32>, f64: BuildFn<f64> },
    /// One for blocks of rows of a matrix.
    Blocks(&'static BlocksType),
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
    /// The function that prepares a kernel for a grid in this precision.
    fn of(build: Build) -> Option<BuildFn<Self>>;
}

impl BuildPrecision for f32 {
    fn of(build: Build) -> Option<BuildFn<Self>> {
        match build {
            Build::Grid { f32, .. } => Some(f32),
            Build::Blocks(_) => None,
        }
    }
}

impl BuildPrecision for f64 {
    fn of(build: Build) -> Option<BuildFn<Self>> {
        match build {
            Build::Grid { f64, .. } => Some(f64),
            Build::Blocks(_) => None,
        }
    }
}
