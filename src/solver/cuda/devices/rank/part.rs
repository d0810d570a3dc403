//! What is different where processes share a grid and where they share a matrix: what one of them keeps, and what it sends.

use crate::problem::Problem;
use crate::solver::cpu::CpuSolver;
use crate::solver::cuda::arguments::Pointer;
use crate::solver::cuda::devices::part::Part;
use crate::solver::cuda::devices::share::DeviceShare;
use crate::solver::cuda::gpu::Gpu;
use crate::solver::cuda::graph_batch::Iterates;
use crate::solver::cuda::nccl::Communicator;
use crate::solver::{Devices, Kernel, Method, NormRequest, Norms, SetUpTimes, SolverError};
use std::sync::Arc;

/// What the share of a process is cut for.
pub(in crate::solver::cuda::devices) struct RankSetup<'a, R> {
    pub problem: &'a Problem,
    pub method: &'a Method,
    /// The processes, of which this is number `own`.
    pub devices: &'a Devices,
    pub own: usize,
    pub gpu: &'a Arc<Gpu>,
    /// Bytes of shared memory that a block may have on the GPU of every process.
    pub shared_bytes: usize,
    /// The solver on this machine, which has the numbers of the system.
    pub host: &'a CpuSolver<R>,
    pub kernel: Kernel,
    pub block_size: Option<u32>,
}

/// The share of a process.
pub(in crate::solver::cuda::devices) struct RankCut<P: Part> {
    pub kernel: Kernel,
    pub share: DeviceShare<P>,
    /// What it sends and receives, in the order in which every other process does.
    pub messages: Vec<RankMessage>,
    pub set_up: SetUpTimes,
}

/// Values that a process sends to another, or receives from it, in every exchange.
pub(in crate::solver::cuda::devices) struct RankMessage {
    pub peer: usize,
    pub is_sent: bool,
    /// Where they lie, of either of its arrays.
    pub at: [Pointer; 2],
    pub bytes: usize,
}

/// The present iterate of a process, and what norms of it take.
pub(in crate::solver::cuda::devices) struct Present<'a, P: Part> {
    pub share: &'a DeviceShare<P>,
    pub group: &'a Communicator,
    pub messages: &'a [RankMessage],
    pub iterates: Iterates,
    pub has_exact: bool,
}

/// What processes can share.
pub(in crate::solver::cuda::devices) trait RankPart: Part {
    /// Copies to the GPU of a process what it keeps, and prepares its kernels.
    ///
    /// # Errors
    /// [`SolverError`] if that does not fit, no kernel accepts the method, or the driver fails.
    fn cut_own(setup: &RankSetup<'_, Self::Real>) -> Result<RankCut<Self>, SolverError>;

    /// Norms of the present iterate by passes over what every process owns; `None` where each finds those of the whole on its
    /// own machine.
    fn norms_of_ranks(
        at: &Present<'_, Self>,
        request: NormRequest,
    ) -> Option<Result<Norms, SolverError>>;
}
