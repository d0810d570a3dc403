//! Memory of a GPU that lies twice in its address space, once after the other: what runs past the end of the first
//! goes on at the start. So planes of a window are contiguous wherever the window stands, for copies and kernels
//! that know nothing of rings.

use crate::solver::SolverError;
use crate::solver::cuda::arguments::Pointer;
use crate::solver::cuda::gpu::Gpu;
use cudarc::driver::sys::{self, CUresult};
use cudarc::driver::{CudaStream, DriverError};
use std::ops::Range;
use std::sync::Arc;

/// Working memory on a GPU, as a ring.
pub(super) struct Ring {
    gpu: Arc<Gpu>,
    /// Where the first of both lies; 0 before addresses are reserved.
    address: Pointer,
    bytes: usize,
    /// How many of both are mapped.
    mapped: usize,
}

/// The answer of the driver as a result.
fn done(answer: CUresult) -> Result<(), DriverError> {
    answer.result()
}

impl Ring {
    /// A ring of at least this many bytes, all 0: rounded up to what the GPU maps at a time. Planes are copied with the
    /// padding of their rows, which no sweep writes. Another GPU, which this one reaches, may be its `writer`, too.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU has no room.
    pub fn new(gpu: &Arc<Gpu>, least: usize, writer: Option<&Gpu>) -> Result<Self, SolverError> {
        let bytes = gpu.check(rounded(gpu, least))?;
        let mut ring = Self { gpu: Arc::clone(gpu), address: 0, bytes, mapped: 0 };
        gpu.check(ring.map(writer))?;
        let stream = gpu.stream()?;
        gpu.check(ring.fill(0, &stream).and_then(|()| stream.synchronize()))?;
        Ok(ring)
    }

    fn map(&mut self, writer: Option<&Gpu>) -> Result<(), DriverError> {
        let (bytes, description) = (self.bytes, description(&self.gpu));
        let mut memory = 0;
        // SAFETY: they write an address and a handle, and the description is whole.
        unsafe {
            done(sys::cuMemAddressReserve(&raw mut self.address, 2 * bytes, 0, 0, 0))?;
            done(sys::cuMemCreate(&raw mut memory, bytes, &raw const description, 0))?;
        }
        let mut map = || {
            while self.mapped < 2 {
                let address = self.address + (self.mapped * bytes) as u64;
                // SAFETY: both halves lie in the reserved addresses, and the memory is as large as a half.
                done(unsafe { sys::cuMemMap(address, bytes, 0, memory, 0) })?;
                self.mapped += 1;
            }
            let access = |device| sys::CUmemAccessDesc {
                location: sys::CUmemLocation { id: device, ..description.location },
                flags: sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
            };
            let gpus = std::iter::once(&*self.gpu).chain(writer);
            let all: Vec<_> = gpus.map(|gpu| access(gpu.context.cu_device())).collect();
            // SAFETY: all of it is mapped, and the descriptions are whole.
            done(unsafe { sys::cuMemSetAccess(self.address, 2 * bytes, all.as_ptr(), all.len()) })
        };
        let mapped = map();
        // SAFETY: what is mapped keeps the memory until it is unmapped.
        let released = done(unsafe { sys::cuMemRelease(memory) });
        mapped.and(released)
    }

    /// The address of a byte, counted from the start of the ring and on around it. As many bytes as the ring has are
    /// contiguous from there on, for kernels.
    pub fn at(&self, byte: usize) -> Pointer {
        self.address + (byte % self.bytes) as u64
    }

    /// The same for copies, of which each has to stay in one of both halves: addresses, and which of so many bytes go
    /// there.
    pub fn parts(
        &self,
        byte: usize,
        bytes: usize,
    ) -> impl Iterator<Item = (Pointer, Range<usize>)> + use<> {
        let start = byte % self.bytes;
        let first = bytes.min(self.bytes - start);
        let parts = [(self.address + start as u64, 0..first), (self.address, first..bytes)];
        parts.into_iter().filter(|(_, bytes)| !bytes.is_empty())
    }

    /// Fills it with this byte.
    pub fn fill(&self, byte: u8, stream: &CudaStream) -> Result<(), DriverError> {
        stream.context().bind_to_thread()?;
        // SAFETY: the bytes are mapped, and any bits are a number.
        done(unsafe { sys::cuMemsetD8Async(self.address, byte, self.bytes, stream.cu_stream()) })
    }
}

/// Memory that lies on the GPU.
fn description(gpu: &Gpu) -> sys::CUmemAllocationProp {
    sys::CUmemAllocationProp {
        type_: sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
        location: sys::CUmemLocation {
            type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
            id: gpu.context.cu_device(),
        },
        win32HandleMetaData: std::ptr::null_mut(),
        allocFlags: sys::CUmemAllocationProp_st__bindgen_ty_1 {
            compressionType: 0,
            gpuDirectRDMACapable: 0,
            usage: 0,
            reserved: [0; 4],
        },
    }
}

/// So many bytes, rounded up to what the GPU maps at a time.
pub(super) fn rounded(gpu: &Gpu, bytes: usize) -> Result<usize, DriverError> {
    gpu.context.bind_to_thread()?;
    let description = description(gpu);
    let least = sys::CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
    let mut unit = 0;
    // SAFETY: it writes a number, and the description is whole.
    done(unsafe {
        sys::cuMemGetAllocationGranularity(&raw mut unit, &raw const description, least)
    })?;
    Ok(bytes.max(1).next_multiple_of(unit.max(1)))
}

impl Drop for Ring {
    fn drop(&mut self) {
        let context = &self.gpu.context;
        context.record_err(context.bind_to_thread());
        // SAFETY: the solver has waited for what works on it, and nothing else knows its addresses.
        unsafe {
            for half in 0..self.mapped {
                let address = self.address + (half * self.bytes) as u64;
                context.record_err(done(sys::cuMemUnmap(address, self.bytes)));
            }
            if self.address != 0 {
                context.record_err(done(sys::cuMemAddressFree(self.address, 2 * self.bytes)));
            }
        }
    }
}
