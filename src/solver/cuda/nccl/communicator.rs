//! A process in a group of processes that exchange values between their GPUs.

use super::library::{BYTES, Code, Handle, Nccl, UniqueId, WORDS, check, nccl};
use crate::solver::cuda::arguments::Pointer;
use crate::solver::cuda::gpu::Gpu;
use crate::solver::rank::NcclError;
use crate::solver::{RankOf, SolverError};
use cudarc::driver::sys::CUresult;
use cudarc::driver::{CudaStream, DevicePtr, DriverError};
use std::cell::RefCell;
use std::ffi::c_int;
use std::ptr;
use std::sync::Arc;

/// A process in a group. All that it enqueues is collective: every process of the group enqueues the same, in the same
/// order, or the others wait for ever.
///
/// It is never closed: that waits for the others, who may be gone, and for the graphs that it was recorded in. A process
/// belongs to one group, and ends with it.
pub(in crate::solver::cuda) struct Communicator {
    nccl: &'static Nccl,
    handle: Handle,
    count: usize,
    /// Why a call failed, for one who only sees that the driver did.
    failure: RefCell<Option<NcclError>>,
}

// SAFETY: the handle may be used by any thread, by one at a time.
unsafe impl Send for Communicator {}

/// Bytes on the way to another process, or from it.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver::cuda) struct Message {
    /// The other process.
    pub peer: usize,
    /// Whether they are sent, or received.
    pub is_sent: bool,
    /// Where they lie on this GPU.
    pub at: Pointer,
    pub bytes: usize,
}

impl Communicator {
    /// Joins the group with a GPU; waits until all others have.
    ///
    /// # Errors
    /// [`SolverError`] if NCCL or the driver fails.
    pub fn join(gpu: &Gpu, RankOf { rank, group }: RankOf) -> Result<Self, SolverError> {
        let nccl = nccl()?;
        gpu.check(gpu.context.bind_to_thread())?;
        let mut handle = ptr::null_mut();
        let [count, index] =
            [rank.count, rank.index].map(|number| c_int::try_from(number).unwrap_or(c_int::MAX));
        // SAFETY: it writes the handle; the GPU's context is that of this thread.
        check(unsafe { (nccl.comm_init_rank)(&raw mut handle, count, UniqueId(group.0), index) })?;
        Ok(Self { nccl, handle, count: rank.count, failure: RefCell::new(None) })
    }

    /// The error of calls, one of which may have been one of NCCL.
    pub fn error(&self, of_driver: SolverError) -> SolverError {
        self.failure.borrow().clone().map_or(of_driver, Into::into)
    }

    /// Enqueues messages, which travel at the same time.
    pub fn exchange(
        &self,
        stream: &Arc<CudaStream>,
        messages: impl IntoIterator<Item = Message>,
    ) -> Result<(), DriverError> {
        stream.context().bind_to_thread()?;
        let on = stream.cu_stream().cast();
        let Nccl { group_start, group_end, send, recv, .. } = *self.nccl;
        // SAFETY: as below; a group that was begun is ended.
        self.check(unsafe { group_start() })?;
        let enqueued = messages.into_iter().try_for_each(|Message { peer, is_sent, at, bytes }| {
            let peer = peer as c_int;
            // SAFETY: the memory holds as many bytes until the stream was waited for.
            self.check(unsafe {
                match is_sent {
                    true => send(at as *const _, bytes, BYTES, peer, self.handle, on),
                    false => recv(at as *mut _, bytes, BYTES, peer, self.handle, on),
                }
            })
        });
        // SAFETY: as above.
        let ended = self.check(unsafe { group_end() });
        enqueued.and(ended)
    }

    /// Enqueues a copy from the GPU of one process to `to` on that of each; only `root` reads `from`.
    pub fn broadcast(
        &self,
        stream: &Arc<CudaStream>,
        root: usize,
        [from, to]: [Pointer; 2],
        bytes: usize,
    ) -> Result<(), DriverError> {
        stream.context().bind_to_thread()?;
        let (root, on) = (root as c_int, stream.cu_stream().cast());
        let (from, to) = (from as *const _, to as *mut _);
        // SAFETY: the memory holds as many bytes until the stream was waited for.
        self.check(unsafe { (self.nccl.broadcast)(from, to, bytes, BYTES, root, self.handle, on) })
    }

    /// The numbers of every process, which each has as many of, one process after the other. Waits for them.
    pub fn gather(&self, stream: &Arc<CudaStream>, own: &[u64]) -> Result<Vec<u64>, DriverError> {
        let there = stream.clone_htod(own)?;
        let all = stream.alloc_zeros::<u64>(self.count * own.len())?;
        let on = stream.cu_stream().cast();
        {
            let ((from, _from), (to, _to)) = (there.device_ptr(stream), all.device_ptr(stream));
            let (from, to) = (from as *const _, to as *mut _);
            // SAFETY: the arrays hold as many numbers, and live until the stream was waited for.
            self.check(unsafe {
                (self.nccl.all_gather)(from, to, own.len(), WORDS, self.handle, on)
            })?;
        }
        let found = stream.clone_dtoh(&all)?;
        stream.synchronize()?;
        Ok(found)
    }

    /// The same of real numbers.
    pub fn gather_reals(
        &self,
        stream: &Arc<CudaStream>,
        own: &[f64],
    ) -> Result<Vec<f64>, DriverError> {
        let bits: Vec<_> = own.iter().map(|number| number.to_bits()).collect();
        Ok(self.gather(stream, &bits)?.into_iter().map(f64::from_bits).collect())
    }

    /// Keeps why a call failed.
    fn check(&self, code: Code) -> Result<(), DriverError> {
        check(code).map_err(|failure| {
            self.failure.replace(Some(failure));
            DriverError(CUresult::CUDA_ERROR_UNKNOWN)
        })
    }
}
