//! Where a solver runs, and how one is set up there.

use super::cuda::{self, Device};
use super::{Kernel, Layout, Method, Solver, SolverError, cpu};
use crate::grid::Precision;
use crate::problem::Problem;
use std::sync::Arc;

/// Where a solver runs, and what can be chosen there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the cores of this machine.
    Cpu {
        /// 0 for one per core.
        threads: usize,
        /// How the entries of a sparse matrix are kept.
        layout: Layout,
    },
    /// On NVIDIA GPUs.
    Cuda {
        /// Which; exactly one so far.
        devices: Vec<Device>,
        /// How.
        kernel: Kernel,
        /// Threads of a block of kernel `classic`; `None` for the fastest.
        block_size: Option<u32>,
    },
}

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
        Place::Cpu { threads, layout } => {
            Ok(cpu::solver(problem, method, precision, *threads, *layout)?)
        }
        Place::Cuda { devices, kernel, block_size } => {
            cuda::solver(problem, method, precision, devices, *kernel, *block_size)
        }
    }
}

impl Place {
    /// The same place with the kernel chosen automatically: the one that was chosen may not go with
    /// another method.
    #[must_use]
    pub fn automatic(&self) -> Self {
        match self {
            Self::Cpu { .. } => self.clone(),
            Self::Cuda { devices, .. } => {
                Self::Cuda { devices: devices.clone(), kernel: Kernel::AUTO, block_size: None }
            }
        }
    }

    /// Whether a solver here can share what it has with one in the other place
    /// ([`Solver::with_method`](super::Solver::with_method), which leaves the block size to the kernel).
    pub fn shares_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Cpu { .. }, Self::Cpu { .. }) => self == other,
            (
                Self::Cuda { devices: one, .. },
                Self::Cuda { devices: other, block_size: None, .. },
            ) => one == other,
            _ => false,
        }
    }

    /// The kernel that was chosen; [`Kernel::AUTO`] on the CPU.
    pub fn kernel(&self) -> Kernel {
        match self {
            Self::Cpu { .. } => Kernel::AUTO,
            Self::Cuda { kernel, .. } => *kernel,
        }
    }
}
