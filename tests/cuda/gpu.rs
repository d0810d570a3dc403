//! The GPU that the tests share: the first; and all of them.

use std::sync::{Arc, LazyLock};
use tilescope::grid::Precision;
use tilescope::problem::Problem;
use tilescope::solver::cuda::{self, Device, Gpus};
use tilescope::solver::{ExchangePath, Kernel, Method, Solver, SolverError};

/// The GPU, which stays open from test to test.
pub fn device() -> &'static Device {
    static DEVICE: LazyLock<Device> = LazyLock::new(|| Device::new(0));
    &DEVICE
}

/// All GPUs, the first among them.
pub fn several() -> &'static [Device] {
    static DEVICES: LazyLock<Vec<Device>> = LazyLock::new(|| {
        let count = cuda::gpus().map_or(1, |names| names.len()) as u32;
        let others = (1..count).map(Device::new);
        std::iter::once(device().clone()).chain(others).collect()
    });
    &DEVICES
}

/// It alone, as a solver takes it: it simulates the devices of a method that is shared out.
fn gpus() -> Gpus<'static> {
    Gpus { devices: std::slice::from_ref(device()), exchange: ExchangePath::Auto }
}

pub fn solver(
    problem: &Arc<Problem>,
    method: Method,
    precision: Precision,
    kernel: Kernel,
) -> Result<Box<dyn Solver>, SolverError> {
    cuda::solver(problem, method, precision, gpus(), kernel, None)
}

pub fn poisoned_solver(
    problem: &Arc<Problem>,
    method: Method,
    precision: Precision,
    kernel: Kernel,
    block_size: Option<u32>,
) -> Result<Box<dyn Solver>, SolverError> {
    cuda::poisoned_solver(problem, method, precision, gpus(), kernel, block_size)
}
