//! The CUDA back end: three kernels, from the plainest to the fastest, on the first NVIDIA GPU.
//!
//! The driver is opened at run time and is all that is needed: the kernels are compiled ahead to PTX
//! (`kernels/build.py`), of which it makes machine code.

#[cfg(feature = "cuda")]
mod arguments;
#[cfg(feature = "cuda")]
mod classic;
#[cfg(feature = "cuda")]
mod cycle_kernel;
#[cfg(feature = "cuda")]
mod gather;
#[cfg(feature = "cuda")]
mod gpu;
#[cfg(feature = "cuda")]
mod graph_batch;
mod ladder;
#[cfg(feature = "cuda")]
mod observe;
#[cfg(feature = "cuda")]
mod ptx;
#[cfg(feature = "cuda")]
mod register;
#[cfg(feature = "cuda")]
mod shared;
#[cfg(feature = "cuda")]
mod solver;
#[cfg(feature = "cuda")]
mod statistics;

use super::{Kernel, Method, Solver, SolverError};
use crate::grid::Precision;
use crate::problem::Problem;
use std::sync::Arc;

/// Why no NVIDIA GPU can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// The program was built without the feature `cuda`.
    #[error("this build has no CUDA (feature `cuda`)")]
    NotBuilt,
    /// The driver's library cannot be opened.
    #[error("no NVIDIA driver is installed")]
    NoDriver,
    /// There is a driver, and no GPU that it can use.
    #[error("the NVIDIA driver finds no GPU")]
    NoCard,
    /// The GPU lacks what the kernels need.
    #[error("{name} is too old: it has compute capability {}.{}, and 7.0 is needed", .capability.0, .capability.1)]
    OldCard {
        /// Its name.
        name: String,
        /// Its compute capability.
        capability: (i32, i32),
    },
    /// The driver does not understand the kernels.
    #[error("the NVIDIA driver is too old; 550 or newer is needed")]
    OldDriver,
    /// The driver failed.
    #[error("the NVIDIA driver failed: {0}")]
    Driver(String),
}

/// The names of the GPUs, in the driver's order; at least one, and the first can be used. It opens the
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

/// A GPU, as its driver describes it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Its compute capability, such as 9.0.
    pub capability: (i32, i32),
    /// Its multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of shared memory that a block may have.
    pub shared_bytes_per_block: u64,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Bytes of memory that are free; `None` if the GPU gives no context to ask from.
    pub free_bytes: Option<u64>,
    /// Bytes a second that its memory moves by its clock and width, where the driver tells both.
    pub memory_bytes_per_second: Option<f64>,
    /// Bytes of its L2 cache, where the driver tells.
    pub l2_bytes: Option<u64>,
}

impl Device {
    /// Whether the kernels can run on it.
    ///
    /// # Errors
    /// [`Unavailable::OldCard`].
    pub fn check(&self) -> Result<(), Unavailable> {
        check_age(&self.name, self.capability)
    }
}

/// Refuses a GPU that the kernels are not made for.
fn check_age(name: &str, capability: (i32, i32)) -> Result<(), Unavailable> {
    if capability >= OLDEST {
        return Ok(());
    }
    Err(Unavailable::OldCard { name: name.to_owned(), capability })
}

/// The oldest compute capability that the kernels are made for.
const OLDEST: (i32, i32) = (7, 0);

/// The oldest CUDA whose driver understands the kernels, as drivers tell it: that of the compiler that
/// `kernels/build.py` takes.
#[cfg(feature = "cuda")]
const OLDEST_CUDA: i32 = 12_040;

/// The GPUs, in the driver's order; at least one. As [`gpus`], it may take a second.
///
/// # Errors
/// [`Unavailable`] says why there is none.
#[cfg(feature = "cuda")]
pub fn devices() -> Result<Vec<Device>, Unavailable> {
    gpu::devices()
}

/// The GPUs: none, in this build.
///
/// # Errors
/// Always [`Unavailable::NotBuilt`].
#[cfg(not(feature = "cuda"))]
pub fn devices() -> Result<Vec<Device>, Unavailable> {
    Err(Unavailable::NotBuilt)
}

/// The version of the driver, as a person reads it.
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

/// Sets up a solver on the first GPU at the start u₀.
///
/// # Errors
/// [`SolverError`] if there is no GPU, or if the run does not fit onto it.
#[cfg(feature = "cuda")]
pub fn solver(
    problem: &Arc<Problem>,
    method: Method,
    precision: Precision,
    kernel: Kernel,
) -> Result<Box<dyn Solver>, SolverError> {
    Ok(match precision {
        Precision::F32 => Box::new(solver::CudaSolver::<f32>::new(problem, method, kernel)?),
        Precision::F64 => Box::new(solver::CudaSolver::<f64>::new(problem, method, kernel)?),
    })
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
    kernel: Kernel,
) -> Result<Box<dyn Solver>, SolverError> {
    Ok(match precision {
        Precision::F32 => {
            let mut solver = solver::CudaSolver::<f32>::new(problem, method, kernel)?;
            solver.poison()?;
            Box::new(solver)
        }
        Precision::F64 => {
            let mut solver = solver::CudaSolver::<f64>::new(problem, method, kernel)?;
            solver.poison()?;
            Box::new(solver)
        }
    })
}

/// There is none in this build.
///
/// # Errors
/// Always [`Unavailable::NotBuilt`].
#[cfg(not(feature = "cuda"))]
pub fn solver(
    _problem: &Arc<Problem>,
    _method: Method,
    _precision: Precision,
    _kernel: Kernel,
) -> Result<Box<dyn Solver>, SolverError> {
    Err(Unavailable::NotBuilt.into())
}

/// Bytes of memory that are free on the first GPU.
///
/// # Errors
/// [`SolverError`] if there is no GPU, or it failed.
#[cfg(feature = "cuda")]
pub fn free_memory() -> Result<u64, SolverError> {
    gpu::Gpu::open()?.free()
}

/// The kernel that runs where `kernel` was chosen: for `auto`, the fastest that takes the method.
///
/// # Errors
/// Where it cannot take the method in this precision: what is to be said of it, such as “cannot take tile
/// 96; shared can”.
pub fn takes(kernel: Kernel, method: &Method, precision: Precision) -> Result<Kernel, String> {
    ladder::takes(kernel, method, precision)
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
