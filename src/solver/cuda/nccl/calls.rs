//! Calls of NCCL, and why one failed.

use super::library::{BYTES, Code, Handle, Nccl, check, nccl};
use crate::solver::SolverError;
use crate::solver::cuda::arguments::Pointer;
use crate::solver::rank::NcclError;
use cudarc::driver::sys::CUresult;
use cudarc::driver::{CudaStream, DriverError};
use std::cell::RefCell;
use std::ffi::c_int;
use std::sync::Arc;

/// Bytes on the way to another member of a group, or from it.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver::cuda) struct Message {
    /// The other member.
    pub peer: usize,
    /// Whether they are sent, or received.
    pub is_sent: bool,
    /// Where they lie on this GPU.
    pub at: Pointer,
    pub bytes: usize,
}

/// The functions of the library, as calls among those of the driver.
pub(super) struct Calls {
    pub nccl: &'static Nccl,
    /// Why a call failed, for one who only sees that the driver did.
    failure: RefCell<Option<NcclError>>,
}

impl Calls {
    /// # Errors
    /// [`NcclError`] if there is no library that can be used.
    pub fn new() -> Result<Self, NcclError> {
        Ok(Self { nccl: nccl()?, failure: RefCell::new(None) })
    }

    /// Keeps why a call failed.
    pub fn check(&self, code: Code) -> Result<(), DriverError> {
        check(code).map_err(|failure| {
            self.failure.replace(Some(failure));
            DriverError(CUresult::CUDA_ERROR_UNKNOWN)
        })
    }

    /// Why a call of NCCL failed, if one did.
    pub fn failure(&self) -> Option<NcclError> {
        self.failure.borrow().clone()
    }

    /// The error of calls, one of which may have been one of NCCL.
    pub fn error(&self, of_driver: SolverError) -> SolverError {
        self.failure().map_or(of_driver, Into::into)
    }

    /// Makes calls that belong together: NCCL does what they say once all of them are known.
    pub fn together(
        &self,
        calls: impl FnOnce() -> Result<(), DriverError>,
    ) -> Result<(), DriverError> {
        // SAFETY: a group that was begun is ended.
        self.check(unsafe { (self.nccl.group_start)() })?;
        let made = calls();
        // SAFETY: as above.
        let ended = self.check(unsafe { (self.nccl.group_end)() });
        made.and(ended)
    }

    /// Enqueues a message of a member of a group, with others ([`Calls::together`]).
    pub fn enqueue(
        &self,
        member: Handle,
        stream: &Arc<CudaStream>,
        Message { peer, is_sent, at, bytes }: Message,
    ) -> Result<(), DriverError> {
        stream.context().bind_to_thread()?;
        let Nccl { send, recv, .. } = *self.nccl;
        let (peer, on) = (peer as c_int, stream.cu_stream().cast());
        // SAFETY: the memory holds as many bytes until the stream was waited for.
        self.check(unsafe {
            match is_sent {
                true => send(at as *const _, bytes, BYTES, peer, member, on),
                false => recv(at as *mut _, bytes, BYTES, peer, member, on),
            }
        })
    }
}
