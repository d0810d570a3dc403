//! Values from the memory of one GPU to that of another, in the order of streams.

use crate::solver::SolverError;
use crate::solver::cuda::arguments::Pointer;
use crate::solver::cuda::gpu::Gpu;
use cudarc::driver::sys::{self, CUevent_flags, CUresult};
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, DriverError, result};
use std::ffi::c_void;
use std::sync::Arc;

/// Pinned memory that every context may use.
const PORTABLE: u32 = sys::CU_MEMHOSTALLOC_PORTABLE;

/// Values from the memory of one GPU to that of another.
pub(in crate::solver::cuda) struct Transfer {
    by: By,
    /// The event that values have arrived.
    arrived: CudaEvent,
}

/// How they get there.
enum By {
    /// Copies from GPU to GPU, or on one.
    Copies,
    /// Through pinned memory of this machine, with the event that they are there.
    Host(Pinned, CudaEvent),
    /// Through NCCL, for which the GPUs have these places in its group, with the event that they have left.
    Nccl([usize; 2], CudaEvent),
}

impl Transfer {
    /// Copies from a GPU to one that it reaches, or to itself.
    ///
    /// # Errors
    /// [`SolverError`] if a driver fails.
    pub fn direct(from: &Gpu) -> Result<Self, SolverError> {
        // The last stream of a transfer records `arrived`.
        Ok(Self { by: By::Copies, arrived: event(from)? })
    }

    /// Copies of up to that many bytes through this machine.
    ///
    /// # Errors
    /// As [`Transfer::direct`].
    pub fn through_host([from, to]: [&Gpu; 2], bytes: usize) -> Result<Self, SolverError> {
        let pinned = from.check(Pinned::new(&from.context, bytes))?;
        Ok(Self { by: By::Host(pinned, event(from)?), arrived: event(to)? })
    }

    /// Messages of NCCL between GPUs with these places in its group.
    ///
    /// # Errors
    /// As [`Transfer::direct`].
    pub fn through_nccl([from, to]: [&Gpu; 2], members: [usize; 2]) -> Result<Self, SolverError> {
        Ok(Self { by: By::Nccl(members, event(from)?), arrived: event(to)? })
    }

    /// The places of both GPUs in NCCL's group, if values go through that.
    pub fn members(&self) -> Option<[usize; 2]> {
        match self.by {
            By::Nccl(members, _) => Some(members),
            By::Copies | By::Host(..) => None,
        }
    }

    /// Lets a stream wait until values have arrived.
    pub fn wait_for_arrival(&self, stream: &CudaStream) -> Result<(), DriverError> {
        stream.wait(&self.arrived)
    }

    /// Lets a stream of the sender wait until values may be overwritten that it sent, and others be sent.
    pub fn wait_to_send(&self, stream: &CudaStream) -> Result<(), DriverError> {
        match &self.by {
            By::Nccl(_, left) => stream.wait(left),
            By::Copies | By::Host(..) => stream.wait(&self.arrived),
        }
    }

    /// Enqueues a copy: into the stream of the GPU that sends and, through this machine, into that of the one that receives.
    /// Through this machine they lie from byte `at` of its memory on: other copies that are under way lie beside them. What
    /// NCCL moves is enqueued before, all of it together, and only the events follow.
    pub fn enqueue(
        &self,
        [sends, receives]: [&Arc<CudaStream>; 2],
        [from, to]: [Pointer; 2],
        bytes: usize,
        at: usize,
    ) -> Result<(), DriverError> {
        match &self.by {
            By::Nccl(_, left) => {
                left.record(sends)?;
                self.arrived.record(receives)
            }
            By::Copies => {
                copy(sends, from, to, bytes)?;
                self.arrived.record(sends)
            }
            By::Host(pinned, left) => {
                let there = pinned.part(at, bytes);
                sends.context().bind_to_thread()?;
                // SAFETY: the memory holds as many bytes, and both streams are waited for before it is freed.
                unsafe {
                    sys::cuMemcpyDtoHAsync_v2(there, from, bytes, sends.cu_stream()).result()?;
                }
                left.record(sends)?;
                receives.wait(left)?;
                // SAFETY: as above.
                unsafe {
                    sys::cuMemcpyHtoDAsync_v2(to, there, bytes, receives.cu_stream()).result()?;
                }
                self.arrived.record(receives)
            }
        }
    }
}

/// Enqueues a copy within the memory of GPUs that reach each other.
pub(super) fn copy(
    stream: &Arc<CudaStream>,
    from: Pointer,
    to: Pointer,
    bytes: usize,
) -> Result<(), DriverError> {
    stream.context().bind_to_thread()?;
    // SAFETY: both arrays hold as many bytes there; they live until the stream was waited for.
    unsafe { result::memcpy_dtod_async(to, from, bytes, stream.cu_stream()) }
}

/// An event that orders streams and takes no time.
pub(in crate::solver::cuda) fn event(gpu: &Gpu) -> Result<CudaEvent, SolverError> {
    gpu.check(gpu.context.new_event(Some(CUevent_flags::CU_EVENT_DISABLE_TIMING)))
}

/// Whether two GPUs can copy to each other directly; enables it if so.
pub(super) fn reach(from: &Gpu, to: &Gpu) -> Result<bool, DriverError> {
    let [one, other] = [from, to].map(|gpu| gpu.context.cu_device());
    for (gpu, its, peer) in [(from, one, to), (to, other, from)] {
        let mut can = 0;
        gpu.context.bind_to_thread()?;
        // SAFETY: both are devices that the driver gave.
        unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, its, peer.context.cu_device()) }
            .result()?;
        if can == 0 {
            return Ok(false);
        }
        // SAFETY: the context is open.
        match unsafe { sys::cuCtxEnablePeerAccess(peer.context.cu_ctx(), 0) } {
            CUresult::CUDA_SUCCESS | CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => {}
            error => return Err(DriverError(error)),
        }
        // Arrays come from a pool, whose memory has an access of its own.
        if peer.context.has_async_alloc() {
            open_pool(peer, its)?;
        }
    }
    Ok(true)
}

/// Gives another GPU access to the memory of the pool of a GPU.
fn open_pool(gpu: &Gpu, to: sys::CUdevice) -> Result<(), DriverError> {
    let mut pool = std::ptr::null_mut();
    let access = sys::CUmemAccessDesc {
        location: sys::CUmemLocation {
            type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
            id: to,
        },
        flags: sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
    };
    // SAFETY: the device is open; the driver writes the pool, and reads one description.
    unsafe {
        sys::cuDeviceGetDefaultMemPool(&raw mut pool, gpu.context.cu_device()).result()?;
        sys::cuMemPoolSetAccess(pool, &raw const access, 1).result()
    }
}

/// Pinned memory of this machine.
struct Pinned {
    at: *mut c_void,
    bytes: usize,
    context: Arc<CudaContext>,
}

// SAFETY: the memory may be used and freed by any thread, by one at a time.
unsafe impl Send for Pinned {}

impl Pinned {
    fn new(context: &Arc<CudaContext>, bytes: usize) -> Result<Self, DriverError> {
        context.bind_to_thread()?;
        // SAFETY: it is written before it is read.
        let at = unsafe { result::malloc_host(bytes.max(1), PORTABLE) }?;
        Ok(Self { at, bytes, context: Arc::clone(context) })
    }

    /// Where a part of it begins.
    fn part(&self, first: usize, bytes: usize) -> *mut c_void {
        assert!(first + bytes <= self.bytes, "no more than there is room for");
        self.at.wrapping_byte_add(first)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        _ = self.context.bind_to_thread();
        // SAFETY: it came from the driver, and nothing in a stream uses it any more. On a lost GPU the driver frees it.
        _ = unsafe { result::free_host(self.at) };
    }
}
