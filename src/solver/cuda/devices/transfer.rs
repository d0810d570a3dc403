//! Copies from the memory of one GPU to that of another, in the order of streams.

use crate::solver::cuda::arguments::Pointer;
use crate::solver::cuda::gpu::Gpu;
use crate::solver::{ExchangePath, SolverError};
use cudarc::driver::sys::{self, CUevent_flags, CUresult};
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, DriverError, result};
use std::ffi::c_void;
use std::sync::Arc;

/// Pinned memory that every context may use.
const PORTABLE: u32 = sys::CU_MEMHOSTALLOC_PORTABLE;

/// Copies from the memory of one GPU to that of another.
pub(super) struct Transfer {
    /// Pinned memory of this machine that values go through, and the event that they are there; `None` where copies go from
    /// GPU to GPU, or stay on one.
    host: Option<(Pinned, CudaEvent)>,
    /// The event that values have arrived.
    pub arrived: CudaEvent,
}

impl Transfer {
    /// Prepares copies of up to that many bytes.
    ///
    /// # Errors
    /// [`SolverError`] if the GPUs cannot reach each other and `path` demands it, or a driver fails.
    pub fn new(
        from: &Gpu,
        to: &Gpu,
        bytes: usize,
        path: ExchangePath,
    ) -> Result<Self, SolverError> {
        let is_same = from.ordinal == to.ordinal;
        let reaches = is_same || path != ExchangePath::Host && from.check(reach(from, to))?;
        if !reaches && path == ExchangePath::Peer {
            return Err(SolverError::NoPeers { from: from.ordinal, to: to.ordinal });
        }
        // The last stream of a copy records `arrived`.
        if reaches && !(is_same && path == ExchangePath::Host) {
            return Ok(Self { host: None, arrived: event(from)? });
        }
        let pinned = from.check(Pinned::new(&from.context, bytes))?;
        Ok(Self { host: Some((pinned, event(from)?)), arrived: event(to)? })
    }

    /// Whether values go directly, or through this machine.
    pub fn path(&self) -> ExchangePath {
        if self.host.is_some() { ExchangePath::Host } else { ExchangePath::Peer }
    }

    /// Enqueues a copy: into the stream of the GPU that sends and, through this machine, into that of the one that receives.
    /// `place` numbers copies of the same size that are under way together.
    pub fn enqueue(
        &self,
        [sends, receives]: [&Arc<CudaStream>; 2],
        [from, to]: [Pointer; 2],
        bytes: usize,
        place: usize,
    ) -> Result<(), DriverError> {
        match &self.host {
            None => {
                copy(sends, from, to, bytes)?;
                self.arrived.record(sends)
            }
            Some((pinned, left)) => {
                let there = pinned.part(place * bytes, bytes);
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
pub(super) fn event(gpu: &Gpu) -> Result<CudaEvent, SolverError> {
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
