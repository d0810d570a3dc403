//! The GPU that the tests share: the first.

use std::sync::{Arc, LazyLock};
use tilescope::grid::Precision;
use tilescope::problem::Problem;
use tilescope::solver::cuda::{self, Device};
use tilescope::solver::{Kernel, Method, Solver, SolverError};

/// The GPU, which stays open from test to test.
pub fn device() -> &'static Device {
    static DEVICE: LazyLock<Device> = LazyLock::new(|| Device::new(0));
    &DEVICE
}

pub fn solver(
    problem: &Arc<Problem>,
    method: Method,
    precision: Precision,
    kernel: Kernel,
) -> Result<Box<dyn Solver>, SolverError> {
    cuda::solver(problem, method, precision, std::slice::from_ref(device()), kernel, None)
}

pub fn poisoned_solver(
    problem: &Arc<Problem>,
    method: Method,
    precision: Precision,
    kernel: Kernel,
    block_size: Option<u32>,
) -> Result<Box<dyn Solver>, SolverError> {
    cuda::poisoned_solver(problem, method, precision, device(), kernel, block_size)
}
