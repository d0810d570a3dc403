//! The GPUs of one process as a group that exchanges values.

use super::calls::{Calls, Message};
use super::library::{Code, Handle, SUCCESS, UniqueId, new_group};
use crate::solver::SolverError;
use crate::solver::cuda::gpu::Gpu;
use crate::solver::rank::NcclError;
use cudarc::driver::{CudaStream, DevicePtr, DriverError};
use std::ffi::c_int;
use std::ptr;
use std::sync::Arc;

/// `ncclInProgress`: no error.
const IN_PROGRESS: Code = 7;

/// The GPUs of one process as a group. Graphs that it was recorded in are dropped before it: NCCL waits for their end.
pub(in crate::solver::cuda) struct GpuGroup {
    calls: Calls,
    /// One for each GPU.
    members: Vec<Handle>,
}

// SAFETY: the handles may be used by any thread, by one at a time.
unsafe impl Send for GpuGroup {}

impl GpuGroup {
    /// A group of GPUs, each of which is there once. These pairs, by their places in the list, send each other something at
    /// once: NCCL connects them then, and an exchange that is recorded in a graph finds them connected.
    ///
    /// # Errors
    /// [`SolverError`] if NCCL cannot be used, or it or a driver fails.
    pub fn new(gpus: &[&Arc<Gpu>], pairs: &[[usize; 2]]) -> Result<Self, SolverError> {
        let calls = Calls::new()?;
        let id = UniqueId(new_group()?.0);
        let mut group = Self { calls, members: vec![ptr::null_mut(); gpus.len()] };
        let Self { calls, members } = &mut group;
        let count = gpus.len() as c_int;
        let joined = calls.together(|| {
            for ((gpu, member), index) in gpus.iter().zip(members).zip(0..) {
                gpu.context.bind_to_thread()?;
                // SAFETY: the handle is written before the calls end; the GPU's context is that of this thread.
                calls.check(unsafe { (calls.nccl.comm_init_rank)(member, count, id, index) })?;
            }
            Ok(())
        });
        group.check(gpus[0], joined)?;
        group.connect(gpus, pairs)?;
        Ok(group)
    }

    /// Lets each pair send a number.
    fn connect(&self, gpus: &[&Arc<Gpu>], pairs: &[[usize; 2]]) -> Result<(), SolverError> {
        const BYTES: usize = size_of::<u64>();
        let room = |gpu: &&Arc<Gpu>| -> Result<_, SolverError> {
            let stream = gpu.stream()?;
            // One to send, and one of each pair to receive.
            let numbers = gpu.check(stream.alloc_zeros::<u64>(1 + pairs.len()))?;
            gpu.check(stream.synchronize())?;
            Ok((stream, numbers))
        };
        let rooms = gpus.iter().map(room).collect::<Result<Vec<_>, _>>()?;
        let end = |member: usize, peer: usize, number: usize| {
            let (stream, numbers) = &rooms[member];
            let at = numbers.device_ptr(stream).0 + (number * BYTES) as u64;
            (member, stream, Message { peer, is_sent: number == 0, at, bytes: BYTES })
        };
        let ends =
            |(pair, &[from, to]): (usize, &[usize; 2])| [end(from, to, 0), end(to, from, 1 + pair)];
        let sent = self.exchange(pairs.iter().enumerate().flat_map(ends));
        self.check(gpus[0], sent)?;
        gpus.iter().zip(&rooms).try_for_each(|(gpu, (stream, _))| gpu.check(stream.synchronize()))
    }

    /// Enqueues messages, which travel at the same time, each into a stream of the member that sends or receives it.
    pub fn exchange<'a>(
        &self,
        messages: impl IntoIterator<Item = (usize, &'a Arc<CudaStream>, Message)>,
    ) -> Result<(), DriverError> {
        self.calls.together(|| {
            messages.into_iter().try_for_each(|(member, stream, message)| {
                self.calls.enqueue(self.members[member], stream, message)
            })
        })
    }

    /// Whether what was enqueued has failed on its way.
    pub fn check_progress(&self) -> Result<(), DriverError> {
        self.members.iter().try_for_each(|member| {
            let mut code = SUCCESS;
            // SAFETY: it writes one number.
            self.calls
                .check(unsafe { (self.calls.nccl.comm_get_async_error)(*member, &raw mut code) })?;
            if code == IN_PROGRESS { Ok(()) } else { self.calls.check(code) }
        })
    }

    /// Why a call of NCCL failed, if one did.
    pub fn failure(&self) -> Option<NcclError> {
        self.calls.failure()
    }

    /// The result of calls of NCCL and of the driver. A GPU works where only NCCL fails.
    fn check(&self, gpu: &Gpu, made: Result<(), DriverError>) -> Result<(), SolverError> {
        made.map_err(|error| self.failure().map_or_else(|| gpu.failed(error), Into::into))
    }
}

impl Drop for GpuGroup {
    /// All that was enqueued is done, unless a GPU is lost: then the others would wait for it for ever.
    fn drop(&mut self) {
        for member in self.members.iter().filter(|member| !member.is_null()) {
            // SAFETY: nobody uses it any more. What fails here was reported before.
            _ = unsafe { (self.calls.nccl.comm_abort)(*member) };
        }
    }
}
