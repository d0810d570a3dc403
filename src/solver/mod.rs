//! Floor 2: iterations that solve a system, one folder a back end and one file a method.
//!
//! A [`Solver`] has three roles: it makes cycles ([`Advance`]), it is observed ([`Observe`]), and it describes
//! itself ([`Describe`]). It knows nothing of threads that wait for it, nor of colours.

pub mod cpu;
pub mod cuda;
mod error;
#[cfg(test)]
pub(crate) mod fake;
mod inside;
mod kernel;
mod method;
mod norms;
mod place;
mod roles;
mod sample;
mod statistics;

pub use error::SolverError;
pub use inside::{Followed, Inside, NextCycle};
pub use kernel::{Footprint, Kernel};
pub use method::{Method, MethodName};
pub use norms::{CycleNorms, NormRequest, Norms, ResidualNorms};
pub use place::{DeviceInfo, Place};
pub use roles::{Advance, Batch, Describe, Observe, Solver};
pub use sample::{
    EDGE_WIDTH, EdgeShare, FieldObservation, FieldRequest, Quantity, Samples, Window, larger,
};
pub use statistics::{AtDistance, LONGEST_FOLDED, MeanTile, Statistics};

use crate::grid::{Precision, memory::OutOfMemory};
use crate::problem::Problem;
use std::sync::Arc;

/// Sets up a solver at the initial guess u₀.
///
/// # Errors
/// [`SolverError`] if its arrays would not fit, which is checked before anything is allocated, or if
/// there is no such place.
pub fn set_up(
    problem: &Arc<Problem>,
    method: Method,
    precision: Precision,
    place: &Place,
) -> Result<Box<dyn Solver>, SolverError> {
    match place {
        Place::Cpu { threads } => Ok(on_cpu(problem, method, precision, *threads)?),
        Place::Cuda { devices, kernel } => {
            cuda::solver(problem, method, precision, devices, *kernel)
        }
    }
}

/// Sets up a solver on the CPU.
///
/// `threads` of 0 means one for each core.
///
/// # Errors
/// [`OutOfMemory`] if its arrays would not fit, which is checked before anything is allocated.
pub fn on_cpu(
    problem: &Arc<Problem>,
    method: Method,
    precision: Precision,
    threads: usize,
) -> Result<Box<dyn Solver>, OutOfMemory> {
    let level = cpu::Level::best();
    Ok(match precision {
        Precision::F32 => Box::new(cpu::CpuSolver::<f32>::new(problem, method, level, threads)?),
        Precision::F64 => Box::new(cpu::CpuSolver::<f64>::new(problem, method, level, threads)?),
    })
}
