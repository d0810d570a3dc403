//! What is different where devices share a grid and where they share a matrix: what a device makes of a cycle.

use super::messages::Message;
use super::paths::Paths;
use super::share::DeviceShare;
use crate::problem::Problem;
use crate::solver::cpu::CpuSolver;
use crate::solver::cuda::arguments::Pointer;
use crate::solver::cuda::cycle_kernel::Step;
use crate::solver::cuda::gpu::Gpu;
use crate::solver::cuda::graph_batch::{Iterates, Others};
use crate::solver::cuda::real::DeviceReal;
use crate::solver::{
    Devices, Footprint, Kernel, Method, NormRequest, Norms, SetUpTimes, SolverError,
};
use cudarc::driver::{CudaStream, DriverError};
use std::sync::Arc;

/// What shares are cut for.
pub(super) struct Setup<'a, R> {
    pub problem: &'a Problem,
    /// On these devices.
    pub method: &'a Method,
    pub devices: &'a Devices,
    /// The GPU of each of them.
    pub gpus: &'a [Arc<Gpu>],
    pub paths: &'a Paths,
    /// The solver on this machine, which has the numbers of the system.
    pub host: &'a CpuSolver<R>,
    pub kernel: Kernel,
    /// Threads of a block of kernel `classic`; `None` for the fastest.
    pub block_size: Option<u32>,
}

/// The shares of all devices.
pub(super) struct Cut<P: Part> {
    pub kernel: Kernel,
    pub shares: Vec<DeviceShare<P>>,
    pub messages: Vec<Message>,
    /// Seconds that these took, where they are measured.
    pub set_up: SetUpTimes,
}

/// What one device makes of a cycle: tiles of a grid, or blocks of a matrix.
pub(super) trait Part: Send + Sized + 'static {
    type Real: DeviceReal;

    /// Bytes that each device takes at least.
    fn least_bytes(problem: &Problem, devices: &Devices) -> Vec<u64>;

    /// Copies to every GPU what its device keeps, and prepares its kernels.
    ///
    /// # Errors
    /// [`SolverError`] if that does not fit, no kernel accepts the method, or a driver fails.
    fn cut(setup: &Setup<'_, Self::Real>) -> Result<Cut<Self>, SolverError>;

    /// The devices of another method, as many as `count` and with the links of `own`, that exchange after every cycle;
    /// `None` if it has not as many parts to share.
    fn share_out(
        problem: &Problem,
        method: &Method,
        own: &Devices,
        count: usize,
    ) -> Option<Devices>;

    /// Sums of squares of a cycle.
    fn parts(&self) -> usize;

    /// How many cycles it can make together, each a sweep.
    fn cycles_together(&self) -> usize {
        1
    }

    /// In how many parts the other norms of a cycle come; 0 unless they are found.
    fn other_parts(&self) -> usize;

    /// Finds the other norms of cycles from now on, or not.
    ///
    /// # Errors
    /// [`SolverError`] if the driver fails.
    fn find_others(&mut self, are_requested: bool) -> Result<(), SolverError>;

    /// What the changes of a first sweep are multiplied by to make residuals.
    fn diagonal(&self) -> f64;

    /// Rows that its blocks compute, of a matrix.
    fn computed_rows(&self) -> Option<usize> {
        None
    }

    /// The resources of the GPU that its largest launch uses.
    fn footprint(&self) -> Option<Footprint>;

    /// Enqueues the tiles whose values other devices receive.
    fn launch_borders(
        &self,
        stream: &Arc<CudaStream>,
        step: Step,
        others: Others,
    ) -> Result<(), DriverError>;

    /// Enqueues the other tiles, if there are any.
    fn launch_inner(
        &self,
        stream: &Arc<CudaStream>,
        step: Step,
        others: Others,
    ) -> Result<(), DriverError>;

    /// Enqueues a pass for the other norms of the cycle between two arrays, where they do not come with the tiles.
    fn launch_others(
        &self,
        stream: &Arc<CudaStream>,
        arrays: [Pointer; 2],
        others: Others,
    ) -> Result<(), DriverError>;

    /// Enqueues what brings values of an array together that others receive, where they lie apart.
    fn pack(&self, stream: &Arc<CudaStream>, array: Pointer) -> Result<(), DriverError>;

    /// Norms of the present iterate, by passes on the devices; `None` where they are found on this machine.
    fn norms(
        shares: &[DeviceShare<Self>],
        exchange: (&[Message], &Paths),
        iterates: Iterates,
        request: NormRequest,
    ) -> Option<Result<Norms, SolverError>>;
}
