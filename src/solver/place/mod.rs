//! Where a solver runs, and how one is set up there.

#[cfg(not(target_arch = "wasm32"))]
use super::ArrayFiles;
use super::cuda::{self, Device, Gpus};
use super::{ExchangePath, Kernel, Method, RankOf, Solver, SolverError, cpu};
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
        /// How, where there is a choice: [`Kernel::FUSED`] for several sweeps at a time, or a layout of a matrix
        /// ([`Layout`](super::Layout)).
        kernel: Kernel,
    },
    /// On NVIDIA GPUs.
    Cuda {
        /// One for each device of the method ([`Method::devices`]), or a single one.
        devices: Vec<Device>,
        /// How values get from one to another.
        exchange: ExchangePath,
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
        Place::Cpu { threads, kernel } => {
            Ok(cpu::solver(problem, method, precision, *threads, *kernel)?)
        }
        Place::Cuda { devices, exchange, kernel, block_size } => {
            let gpus = Gpus { devices, exchange: *exchange };
            cuda::solver(problem, method, precision, gpus, *kernel, *block_size)
        }
    }
}

/// Sets up the part of one of several processes that share a grid or a matrix, on the GPU of `place`, and waits for the others. Making
/// cycles, norms, and the first copy of an iterate are collective from then on: every process of the group makes the same
/// calls in the same order, and each gets the values of the whole grid.
///
/// # Errors
/// [`SolverError`] if the grid cannot be shared so, the GPU cannot be used or is too small, or NCCL fails.
pub fn set_up_rank(
    problem: &Arc<Problem>,
    method: Method,
    precision: Precision,
    place: &Place,
    own: RankOf,
) -> Result<Box<dyn Solver>, SolverError> {
    match place {
        Place::Cpu { .. } => Err(SolverError::Operator("processes that share a run on CPUs")),
        Place::Cuda { devices, kernel, block_size, .. } => {
            let chosen = (*kernel, *block_size);
            cuda::rank_solver(problem, method, precision, devices, chosen, own)
        }
    }
}

/// Sets up a solver of a method that streams whose arrays lie in files, at the iterate that is there, or if they are new, at
/// the initial guess u₀.
///
/// # Errors
/// As [`set_up`], and [`SolverError::Files`] if the files cannot be used.
#[cfg(not(target_arch = "wasm32"))]
pub fn set_up_in(
    files: &ArrayFiles,
    problem: &Arc<Problem>,
    method: &Method,
    precision: Precision,
    place: &Place,
) -> Result<Box<dyn Solver>, SolverError> {
    match place {
        Place::Cpu { threads, .. } => cpu::in_files(files, problem, method, precision, *threads),
        Place::Cuda { devices, exchange, kernel, .. } => {
            let gpus = Gpus { devices, exchange: *exchange };
            cuda::solver_in_files(files, problem, method, precision, gpus, *kernel)
        }
    }
}

impl Place {
    /// The same place with the kernel chosen automatically: the one that was chosen may not go with
    /// another method.
    #[must_use]
    pub fn automatic(&self) -> Self {
        match self {
            // Other methods are made without it.
            Self::Cpu { .. } => self.clone(),
            Self::Cuda { devices, exchange, .. } => Self::Cuda {
                devices: devices.clone(),
                exchange: *exchange,
                kernel: Kernel::AUTO,
                block_size: None,
            },
        }
    }

    /// The first device alone, with the kernel chosen automatically.
    #[must_use]
    pub fn of_one_device(&self) -> Self {
        let mut place = self.automatic();
        if let Self::Cuda { devices, .. } = &mut place {
            devices.truncate(1);
        }
        place
    }

    /// Whether a solver here can share what it has with one in the other place
    /// ([`Solver::with_method`](super::Solver::with_method), which leaves the block size to the kernel).
    pub fn shares_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Cpu { .. }, Self::Cpu { .. }) => self == other,
            (
                Self::Cuda { devices: one, exchange: path, .. },
                Self::Cuda { devices: other, exchange: its, block_size: None, .. },
            ) => one == other && path == its,
            _ => false,
        }
    }

    /// The kernel that was chosen.
    pub fn kernel(&self) -> Kernel {
        match self {
            Self::Cpu { kernel, .. } | Self::Cuda { kernel, .. } => *kernel,
        }
    }
}
