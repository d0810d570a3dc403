//! Arrays of this machine that a GPU copies from and to by itself, while it computes: their pages are pinned.

use crate::solver::SolverError;
use crate::solver::cuda::gpu::Gpu;
use cudarc::driver::sys;
use std::ffi::c_void;
use std::sync::Arc;

/// Smaller arrays are not pinned: they may share a page with others, and a page cannot be pinned twice. From this size on
/// the GNU C library maps every array on pages of its own (its largest threshold, 32 MiB).
const SMALLEST: usize = 32 << 20;

/// Pages that are pinned for every GPU: several may share the arrays.
const PORTABLE: u32 = sys::CU_MEMHOSTREGISTER_PORTABLE;

/// Pinned pages of an array, until it is dropped.
pub(super) struct Pinned {
    gpu: Arc<Gpu>,
    address: *mut c_void,
}

// SAFETY: the address is only handed back to the driver, which any thread may call.
unsafe impl Send for Pinned {}
// SAFETY: as above; nothing is read or written through it.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// Pins an array. A small one is not pinned, and copies of it do not return before they are done. The array must not be
    /// dropped, moved or grown before this is dropped.
    ///
    /// # Errors
    /// [`SolverError::Pinned`] if the system refuses it.
    pub fn new<R>(gpu: &Arc<Gpu>, values: &[R]) -> Result<Option<Self>, SolverError> {
        let bytes = size_of_val(values);
        if bytes < SMALLEST {
            return Ok(None);
        }
        Self::register(gpu, values.as_ptr().cast(), bytes, PORTABLE).map(Some)
    }

    /// Pins a value that has pages of its own, and which GPUs can write to. It must not be dropped or moved before this is
    /// dropped.
    ///
    /// # Errors
    /// [`SolverError::Pinned`] if the system refuses it.
    pub fn page<T>(gpu: &Arc<Gpu>, value: &T) -> Result<Self, SolverError> {
        let mapped = PORTABLE | sys::CU_MEMHOSTREGISTER_DEVICEMAP;
        Self::register(gpu, std::ptr::from_ref(value).cast(), size_of_val(value), mapped)
    }

    fn register(
        gpu: &Arc<Gpu>,
        address: *const c_void,
        bytes: usize,
        how: u32,
    ) -> Result<Self, SolverError> {
        gpu.check(gpu.context.bind_to_thread())?;
        let address = address.cast_mut();
        // SAFETY: the pages belong to a value that the caller keeps as long as this.
        let answer = unsafe { sys::cuMemHostRegister_v2(address, bytes, how) };
        answer.result().map_err(|error| gpu.not_pinned(bytes as u64, error))?;
        Ok(Self { gpu: Arc::clone(gpu), address })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let context = &self.gpu.context;
        context.record_err(context.bind_to_thread());
        // SAFETY: it was pinned, and no copy is under way: the solver has waited for them.
        context.record_err(unsafe { sys::cuMemHostUnregister(self.address) }.result());
    }
}
