//! Brings values that a device sends together, so that a message is one copy.

use crate::solver::SolverError;
use crate::solver::cuda::arguments::Pointer;
use crate::solver::cuda::gpu::Gpu;
use crate::solver::cuda::ptx::{File, Form};
use crate::solver::cuda::real::DeviceReal;
use cudarc::driver::{
    CudaFunction, CudaSlice, CudaStream, DevicePtr, DriverError, LaunchConfig, PushKernelArg,
};
use std::sync::Arc;

/// Threads of a block: the launch bounds in `pack.cu`.
const THREADS: u32 = 256;

/// The places of the values, and room for them side by side.
pub(super) struct Packer<R> {
    function: CudaFunction,
    places: CudaSlice<u32>,
    packed: CudaSlice<R>,
}

impl<R: DeviceReal> Packer<R> {
    /// For values at these places of arrays, at least one.
    ///
    /// # Errors
    /// [`SolverError`] if they do not fit onto the GPU, or it fails.
    pub fn new(gpu: &Gpu, stream: &Arc<CudaStream>, places: &[u32]) -> Result<Self, SolverError> {
        let copied = gpu.check(stream.clone_htod(places))?;
        // SAFETY: every exchange writes them before they are copied.
        let packed = unsafe { gpu.allocate(stream, places.len()) }?;
        gpu.check(stream.synchronize())?;
        let function = gpu.function(File::Pack, R::PRECISION, Form::Matrix, "pack")?;
        Ok(Self { function, places: copied, packed })
    }

    /// Where a packed value lies.
    pub fn address(&self, number: usize, stream: &CudaStream) -> Pointer {
        self.packed.device_ptr(stream).0 + (number * size_of::<R>()) as u64
    }

    /// Enqueues it for an array.
    pub fn launch(&self, stream: &Arc<CudaStream>, array: Pointer) -> Result<(), DriverError> {
        let count = self.places.len() as u32;
        let to = self.address(0, stream);
        let mut pack = stream.launch_builder(&self.function);
        pack.arg(&array).arg(&self.places).arg(&count).arg(&to);
        let config = LaunchConfig {
            grid_dim: (count.div_ceil(THREADS), 1, 1),
            block_dim: (THREADS, 1, 1),
            shared_mem_bytes: 0,
        };
        // SAFETY: the arguments are those of `pack.cu`; all places are those of rows that the array has.
        unsafe { pack.launch(config) }.map(|_| ())
    }
}
