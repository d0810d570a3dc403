//! The CUDA back end: kernels from a table, the fastest first, on an NVIDIA GPU.
//!
//! The driver is opened at run time and is all that is needed: the kernels are compiled ahead to PTX
//! (`kernels/build.py`), which it compiles to machine code.

#[cfg(feature = "cuda")]
mod arguments;
#[cfg(feature = "cuda")]
mod blocks;
#[cfg(feature = "cuda")]
mod build;
#[cfg(feature = "cuda")]
mod classic;
#[cfg(feature = "cuda")]
mod classic_3d;
#[cfg(feature = "cuda")]
mod cycle_kernel;
mod device;
#[cfg(feature = "cuda")]
mod devices;
#[cfg(feature = "cuda")]
mod fused;
#[cfg(feature = "cuda")]
mod gather;
#[cfg(feature = "cuda")]
mod gpu;
#[cfg(feature = "cuda")]
mod graph_batch;
#[cfg(feature = "cuda")]
mod host;
mod kernels;
#[cfg(feature = "cuda")]
mod matrix;
mod names;
#[cfg(feature = "cuda")]
mod nccl;
#[cfg(feature = "cuda")]
mod observe;
mod properties;
#[cfg(feature = "cuda")]
mod ptx;
#[cfg(feature = "cuda")]
mod real;
#[cfg(feature = "cuda")]
mod register;
mod setting;
#[cfg(feature = "cuda")]
mod several;
#[cfg(feature = "cuda")]
mod shared;
#[cfg(feature = "cuda")]
mod shared_3d;
#[cfg(feature = "cuda")]
mod solver;
#[cfg(feature = "cuda")]
mod spectral;
#[cfg(feature = "cuda")]
mod statistics;
#[cfg(feature = "cuda")]
mod stream;
#[cfg(feature = "cuda")]
mod system;
#[cfg(feature = "cuda")]
mod tensor_map;

pub use super::Unavailable;
pub use device::{Device, Gpus};
pub use properties::{DeviceProperties, GpuLink};

#[cfg(not(target_arch = "wasm32"))]
use super::ArrayFiles;
use super::memory_traffic::{OnChip, TileWork};
use super::{GroupId, Kernel, Method, NcclError, RankOf, Solver, SolverError};
use crate::grid::{Precision, Shape};
use crate::problem::Problem;
use std::sync::Arc;

/// The names of the GPUs, by their ordinals; at least one, of which at least one can be used. It opens the
/// driver, which may take a second: not for a thread that draws.
///
/// # Errors
/// [`Unavailable`] says why there is none.
#[cfg(feature = "cuda")]
pub fn gpus() -> Result<Vec<String>, Unavailable> {
    gpu::names()
}

/// The names of the GPUs: none, in this build.
///
/// # Errors
/// Always [`Unavailable::NotBuilt`].
#[cfg(not(feature = "cuda"))]
pub fn gpus() -> Result<Vec<String>, Unavailable> {
    Err(Unavailable::NotBuilt)
}

/// The GPUs, in the driver's order; at least one. Like [`gpus`], it may take a second.
///
/// # Errors
/// [`Unavailable`] says why there is none.
#[cfg(feature = "cuda")]
pub fn devices() -> Result<Vec<DeviceProperties>, Unavailable> {
    gpu::devices()
}

/// The GPUs: none, in this build.
///
/// # Errors
/// Always [`Unavailable::NotBuilt`].
#[cfg(not(feature = "cuda"))]
pub fn devices() -> Result<Vec<DeviceProperties>, Unavailable> {
    Err(Unavailable::NotBuilt)
}

/// Latency and bandwidth of the links between these GPUs, measured with copies: it takes about a second for each pair.
///
/// # Errors
/// [`SolverError`] if one of them cannot be used, or has no room for the copies.
#[cfg(feature = "cuda")]
pub fn measure_links(ordinals: &[u32]) -> Result<Vec<GpuLink>, SolverError> {
    devices::measure_links(ordinals)
}

/// There are none in this build.
///
/// # Errors
/// Always a [`SolverError`].
#[cfg(not(feature = "cuda"))]
pub fn measure_links(_ordinals: &[u32]) -> Result<Vec<GpuLink>, SolverError> {
    Err(Unavailable::NotBuilt.into())
}

/// The version of the driver, as text.
///
/// # Errors
/// [`Unavailable`] if there is none that answers.
#[cfg(feature = "cuda")]
pub fn driver_version() -> Result<String, Unavailable> {
    gpu::driver_version()
}

/// There is none in this build.
///
/// # Errors
/// Always [`Unavailable::NotBuilt`].
#[cfg(not(feature = "cuda"))]
pub fn driver_version() -> Result<String, Unavailable> {
    Err(Unavailable::NotBuilt)
}

/// How fast a GPU copies, in bytes per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkSpeed {
    /// From this machine's memory.
    pub up: f64,
    /// To this machine's memory.
    pub down: f64,
    /// Each way, where both are used at once.
    pub both: f64,
}

/// Measures how fast a GPU copies from and to pinned memory of this machine. It takes about a tenth of a second.
///
/// # Errors
/// [`SolverError`] if there is no such GPU, or no room for the copies.
#[cfg(feature = "cuda")]
pub fn link_speed(device: &Device) -> Result<LinkSpeed, SolverError> {
    stream::link_speed(&device.open()?)
}

/// There is none in this build.
///
/// # Errors
/// Always [`Unavailable::NotBuilt`].
#[cfg(not(feature = "cuda"))]
pub fn link_speed(_device: &Device) -> Result<LinkSpeed, SolverError> {
    Err(Unavailable::NotBuilt.into())
}

/// Sets up a solver on a GPU at the initial guess u₀. `block_size` is the threads of a block of kernel `classic`, a
/// power of two from 32 to 512; `None` for the fastest.
///
/// # Errors
/// [`SolverError`] if there are no such GPUs, the method is not shared out over as many, or the run does not fit onto them.
#[cfg(feature = "cuda")]
pub fn solver(
    problem: &Arc<Problem>,
    method: Method,
    precision: Precision,
    gpus: Gpus<'_>,
    kernel: Kernel,
    block_size: Option<u32>,
) -> Result<Box<dyn Solver>, SolverError> {
    match precision {
        Precision::F32 => set_up::<f32>(problem, method, gpus, (kernel, block_size), false),
        Precision::F64 => set_up::<f64>(problem, method, gpus, (kernel, block_size), false),
    }
}

/// Sets up the part of one of several processes that share a grid ([`super::set_up_rank`]); `devices` is its GPU.
///
/// # Errors
/// As [`super::set_up_rank`].
#[cfg(feature = "cuda")]
pub(super) fn rank_solver(
    problem: &Arc<Problem>,
    method: Method,
    precision: Precision,
    devices: &[Device],
    chosen: (Kernel, Option<u32>),
    own: RankOf,
) -> Result<Box<dyn Solver>, SolverError> {
    let device = device::single(devices)?;
    if problem.operator.matrix().is_none() && method.streaming().is_some() {
        let kernel = chosen.0;
        return Ok(match precision {
            Precision::F32 => Box::new(stream::StreamSolver::<f32>::of_rank(
                problem, &method, device, kernel, own,
            )?),
            Precision::F64 => Box::new(stream::StreamSolver::<f64>::of_rank(
                problem, &method, device, kernel, own,
            )?),
        });
    }
    match precision {
        Precision::F32 => devices::rank_solver::<f32>(problem, method, device, chosen, own),
        Precision::F64 => devices::rank_solver::<f64>(problem, method, device, chosen, own),
    }
}

/// There is none in this build.
///
/// # Errors
/// Always a [`SolverError`].
#[cfg(not(feature = "cuda"))]
pub(super) fn rank_solver(
    _problem: &Arc<Problem>,
    _method: Method,
    _precision: Precision,
    _devices: &[Device],
    _chosen: (Kernel, Option<u32>),
    _own: RankOf,
) -> Result<Box<dyn Solver>, SolverError> {
    Err(NcclError::NotBuilt.into())
}

/// The version of NCCL, which moves values between processes.
///
/// # Errors
/// [`NcclError`] if there is none that can be used.
#[cfg(feature = "cuda")]
pub fn nccl_version() -> Result<String, NcclError> {
    nccl::version()
}

/// There is none in this build.
///
/// # Errors
/// Always [`NcclError::NotBuilt`].
#[cfg(not(feature = "cuda"))]
pub fn nccl_version() -> Result<String, NcclError> {
    Err(NcclError::NotBuilt)
}

/// A new group of processes that share a grid, for rank 0 to hand to the others.
///
/// # Errors
/// [`NcclError`] if NCCL cannot be used, or fails.
#[cfg(feature = "cuda")]
pub fn new_group() -> Result<GroupId, NcclError> {
    nccl::new_group()
}

/// There is none in this build.
///
/// # Errors
/// Always [`NcclError::NotBuilt`].
#[cfg(not(feature = "cuda"))]
pub fn new_group() -> Result<GroupId, NcclError> {
    Err(NcclError::NotBuilt)
}

/// A solver for tests: what its first cycle does not write is NaN.
///
/// # Errors
/// As [`solver`].
#[cfg(feature = "cuda")]
#[doc(hidden)]
pub fn poisoned_solver(
    problem: &Arc<Problem>,
    method: Method,
    precision: Precision,
    gpus: Gpus<'_>,
    kernel: Kernel,
    block_size: Option<u32>,
) -> Result<Box<dyn Solver>, SolverError> {
    match precision {
        Precision::F32 => set_up::<f32>(problem, method, gpus, (kernel, block_size), true),
        Precision::F64 => set_up::<f64>(problem, method, gpus, (kernel, block_size), true),
    }
}

#[cfg(feature = "cuda")]
fn set_up<R: real::DeviceReal>(
    problem: &Arc<Problem>,
    method: Method,
    gpus: Gpus<'_>,
    (kernel, block_size): (Kernel, Option<u32>),
    is_poisoned: bool,
) -> Result<Box<dyn Solver>, SolverError> {
    let is_grid = problem.operator.matrix().is_none();
    if is_grid && method.streaming().is_some() {
        let mut solver = stream::StreamSolver::<R>::new(problem, &method, gpus, kernel)?;
        if is_poisoned {
            solver.poison()?;
        }
        return Ok(Box::new(solver));
    }
    if method.devices().is_some() {
        return devices::solver::<R>(problem, method, gpus, (kernel, block_size), is_poisoned);
    }
    let device = device::single(gpus.devices)?;
    if let Some(matrix) = problem.operator.matrix() {
        let mut solver = matrix::MatrixSolver::<R>::new(problem, matrix, &method, device, kernel)?;
        if is_poisoned {
            solver.poison()?;
        }
        return Ok(Box::new(solver));
    }
    let mut solver = solver::CudaSolver::<R>::new(problem, method, device, kernel, block_size)?;
    if is_poisoned {
        solver.poison()?;
    }
    Ok(Box::new(solver))
}

/// There is none in this build.
///
/// # Errors
/// Always a [`SolverError`].
#[cfg(not(feature = "cuda"))]
pub fn solver(
    _problem: &Arc<Problem>,
    _method: Method,
    _precision: Precision,
    _gpus: Gpus<'_>,
    _kernel: Kernel,
    _block_size: Option<u32>,
) -> Result<Box<dyn Solver>, SolverError> {
    Err(Unavailable::NotBuilt.into())
}

/// Sets up a solver of a method that streams whose arrays lie in files ([`super::set_up_in`]).
///
/// # Errors
/// As [`solver`], and [`SolverError::Files`] if the files cannot be used.
#[cfg(feature = "cuda")]
pub(super) fn solver_in_files(
    files: &ArrayFiles,
    problem: &Arc<Problem>,
    method: &Method,
    precision: Precision,
    gpus: Gpus<'_>,
    kernel: Kernel,
) -> Result<Box<dyn Solver>, SolverError> {
    Ok(match precision {
        Precision::F32 => {
            Box::new(stream::StreamSolver::<f32>::in_files(files, problem, method, gpus, kernel)?)
        }
        Precision::F64 => {
            Box::new(stream::StreamSolver::<f64>::in_files(files, problem, method, gpus, kernel)?)
        }
    })
}

/// There is none in this build.
///
/// # Errors
/// Always a [`SolverError`].
#[cfg(not(any(feature = "cuda", target_arch = "wasm32")))]
pub(super) fn solver_in_files(
    _files: &ArrayFiles,
    _problem: &Arc<Problem>,
    _method: &Method,
    _precision: Precision,
    _gpus: Gpus<'_>,
    _kernel: Kernel,
) -> Result<Box<dyn Solver>, SolverError> {
    Err(Unavailable::NotBuilt.into())
}

/// Checks that the arrays of a solver fit into the memory that is free on its GPUs ([`Gpus::devices`]).
///
/// # Errors
/// [`SolverError`] if they do not, or a GPU cannot be used.
#[cfg(feature = "cuda")]
pub fn check_memory(
    problem: &Problem,
    method: &Method,
    precision: Precision,
    devices: &[Device],
) -> Result<(), SolverError> {
    let matrix = problem.operator.matrix();
    if matrix.is_none() && method.streaming().is_some() {
        return stream::check_memory(&problem.shape, method, precision, devices);
    }
    if method.devices().is_some() {
        return devices::check(problem, method, precision, devices);
    }
    let needed = match matrix {
        Some(matrix) => matrix::least_bytes(matrix, precision),
        None => solver::bytes_of(problem, solver::ARRAYS, precision.bytes()),
    };
    devices.iter().try_for_each(|device| device.open()?.check_room(needed))
}

/// Checks the memory of GPUs: there are none in this build.
///
/// # Errors
/// Always [`Unavailable::NotBuilt`], if GPUs are named.
#[cfg(not(feature = "cuda"))]
pub fn check_memory(
    _problem: &Problem,
    _method: &Method,
    _precision: Precision,
    devices: &[Device],
) -> Result<(), SolverError> {
    devices.iter().try_for_each(Device::check)
}

/// The kernel that runs where `kernel` is chosen, on a GPU that is not known: for [`Kernel::AUTO`], the
/// first of the table that accepts the method on a grid of this shape, and points that have rows of their own if they do.
///
/// # Errors
/// If it does not accept the method in this precision, a predicate such as "does not accept tile 96x96;
/// use kernel shared".
pub fn takes(
    kernel: Kernel,
    method: &Method,
    precision: Precision,
    shape: &Shape,
    is_per_point: bool,
) -> Result<Kernel, String> {
    kernels::takes(kernel, method, precision, shape, is_per_point)
}

/// What a cycle of tiles moves on the chip of a GPU where `kernel` is chosen; `None` if that is not counted, or the
/// kernel does not accept the method.
pub(super) fn on_chip(
    kernel: Kernel,
    method: &Method,
    precision: Precision,
    shape: &Shape,
    work: &TileWork,
) -> Option<OnChip> {
    kernels::on_chip(kernel, method, precision, shape, work)
}

#[cfg(test)]
mod tests {
    /// The machine of the tests may have a GPU or none: either way there is an answer, no panic,
    /// and never an empty list.
    #[test]
    fn asking_for_gpus_always_gives_an_answer() {
        match super::gpus() {
            Ok(names) => assert!(!names.is_empty()),
            Err(why) => assert!(!why.to_string().is_empty()),
        }
    }
}
