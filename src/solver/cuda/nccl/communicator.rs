//! A process in a group of processes that exchange values between their GPUs.

use super::calls::{Calls, Message};
use super::library::{BYTES, Handle, UniqueId, WORDS, check};
use crate::solver::cuda::arguments::Pointer;
use crate::solver::cuda::gpu::Gpu;
use crate::solver::{RankOf, SolverError};
use cudarc::driver::{CudaStream, DevicePtr, DriverError};
use std::ffi::c_int;
use std::ptr;
use std::sync::Arc;

/// A process in a group. All that it enqueues is collective: every process of the group enqueues the same, in the same
/// order, or the others wait for ever.
///
/// It is never closed: that waits for the others, who may be gone, and for the graphs that it was recorded in. A process
/// belongs to one group, and ends with it.
pub(in crate::solver::cuda) struct Communicator {
    calls: Calls,
    handle: Handle,
    count: usize,
}

// SAFETY: the handle may be used by any thread, by one at a time.
unsafe impl Send for Communicator {}

impl Communicator {
    /// Joins the group with a GPU; waits until all others have.
    ///
    /// # Errors
    /// [`SolverError`] if NCCL or the driver fails.
    pub fn join(gpu: &Gpu, RankOf { rank, group }: RankOf) -> Result<Self, SolverError> {
        let calls = Calls::new()?;
        gpu.check(gpu.context.bind_to_thread())?;
        let mut handle = ptr::null_mut();
        let [count, index] =
            [rank.count, rank.index].map(|number| c_int::try_from(number).unwrap_or(c_int::MAX));
        let id = UniqueId(group.0);
        // SAFETY: it writes the handle; the GPU's context is that of this thread.
        check(unsafe { (calls.nccl.comm_init_rank)(&raw mut handle, count, id, index) })?;
        let joined = Self { calls, handle, count: rank.count };
        joined.connect(gpu, rank.index)?;
        Ok(joined)
    }

    /// Sends every other process a number, and receives one from each: NCCL connects them then, which takes up to a second,
    /// and not in their first cycle.
    fn connect(&self, gpu: &Gpu, own: usize) -> Result<(), SolverError> {
        const BYTES: usize = size_of::<u64>();
        let stream = gpu.stream()?;
        let connected = || -> Result<(), DriverError> {
            let numbers = stream.alloc_zeros::<u64>(self.count)?;
            let first = numbers.device_ptr(&stream).0;
            let message = |peer: usize, is_sent: bool| {
                let place = if is_sent { own } else { peer };
                Message { peer, is_sent, at: first + (place * BYTES) as u64, bytes: BYTES }
            };
            let others = (0..self.count).filter(|peer| *peer != own);
            let messages = others.flat_map(|peer| [message(peer, true), message(peer, false)]);
            self.exchange(&stream, messages)?;
            stream.synchronize()
        };
        gpu.check(connected()).map_err(|error| self.error(error))
    }

    /// The error of calls, one of which may have been one of NCCL.
    pub fn error(&self, of_driver: SolverError) -> SolverError {
        self.calls.error(of_driver)
    }

    /// Enqueues messages, which travel at the same time.
    pub fn exchange(
        &self,
        stream: &Arc<CudaStream>,
        messages: impl IntoIterator<Item = Message>,
    ) -> Result<(), DriverError> {
        self.calls.together(|| {
            let mut messages = messages.into_iter();
            messages.try_for_each(|message| self.calls.enqueue(self.handle, stream, message))
        })
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
        let broadcast = self.calls.nccl.broadcast;
        // SAFETY: the memory holds as many bytes until the stream was waited for.
        self.calls.check(unsafe { broadcast(from, to, bytes, BYTES, root, self.handle, on) })
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
            self.calls.check(unsafe {
                (self.calls.nccl.all_gather)(from, to, own.len(), WORDS, self.handle, on)
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
}
