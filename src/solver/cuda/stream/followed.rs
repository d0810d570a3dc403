//! How far a pass has come on a GPU, which writes that into a page of this machine's memory by itself: no thread has to ask.

use super::pinned::Pinned;
use crate::solver::cuda::arguments::Pointer;
use crate::solver::cuda::gpu::Gpu;
use crate::solver::pass_progress::{PassMoment, PassProgress};
use cudarc::driver::sys::{CUdevice_attribute_enum as Attribute, CUstreamWriteValue_flags};
use cudarc::driver::{CudaStream, DriverError, sys};
use std::ffi::c_void;
use std::sync::Arc;

/// The progress of passes on one GPU.
pub(super) struct Followed {
    /// The page of the progress. It is dropped first: a page is given back before it is freed.
    _pinned: Pinned,
    progress: Arc<PassProgress>,
    /// Where the GPU writes it.
    address: Pointer,
}

impl Followed {
    /// That of a GPU; `None` of one that cannot write there.
    pub fn on(gpu: &Arc<Gpu>) -> Option<Self> {
        let writes = Attribute::CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS;
        if gpu.context.attribute(writes).ok()? == 0 {
            return None;
        }
        let progress = Arc::new(PassProgress::default());
        let pinned = Pinned::page(gpu, &*progress).ok()?;
        let (mut address, page) = (0, Arc::as_ptr(&progress).cast::<c_void>().cast_mut());
        // SAFETY: the page is pinned, and the driver writes the address to the variable that it is given.
        let answer = unsafe { sys::cuMemHostGetDevicePointer_v2(&raw mut address, page, 0) };
        answer.result().ok()?;
        Some(Self { _pinned: pinned, progress, address })
    }

    pub fn progress(&self) -> &Arc<PassProgress> {
        &self.progress
    }

    /// Notes a moment in which the GPU is at rest.
    pub fn set(&self, step: usize, sweep: usize) {
        self.progress.set(step, sweep);
    }

    /// Enqueues that a stream notes a moment once it has made what was enqueued before.
    ///
    /// # Errors
    /// [`DriverError`] if the GPU fails.
    pub fn enqueue(
        &self,
        stream: &CudaStream,
        step: usize,
        sweep: usize,
    ) -> Result<(), DriverError> {
        let (value, usual) = (
            PassMoment { step, sweep }.packed(),
            CUstreamWriteValue_flags::CU_STREAM_WRITE_VALUE_DEFAULT as u32,
        );
        // SAFETY: the page is pinned as long as this, and whoever enqueues waits until the stream is done.
        unsafe { sys::cuStreamWriteValue64_v2(stream.cu_stream(), self.address, value, usual) }
            .result()
    }
}
