//! A GPU as a value.

#[cfg(feature = "cuda")]
use super::gpu::Gpu;
#[cfg(feature = "cuda")]
use super::kernels;
#[cfg(feature = "cuda")]
use super::setting::Setting;
use crate::grid::{Precision, Shape};
use crate::solver::{ExchangePath, Kernel, Method, SolverError, Unavailable};
use std::fmt;
#[cfg(feature = "cuda")]
use std::sync::{Arc, Mutex, PoisonError};

/// A GPU, by its ordinal: its place in the driver's order, from 0. The driver is not called before a
/// solver is set up on it.
///
/// Clones share the GPU's context and loaded kernels, which stay as long as one of them or a solver
/// lives. When the GPU fails, the next solver on it opens it again, where the driver allows that.
#[derive(Clone)]
pub struct Device {
    ordinal: u32,
    #[cfg(feature = "cuda")]
    gpu: Arc<Mutex<State>>,
}

/// The state of a GPU.
#[cfg(feature = "cuda")]
#[derive(Default)]
enum State {
    #[default]
    Unopened,
    Open(Arc<Gpu>),
    /// It failed; its name.
    Failed(String),
}

#[cfg(feature = "cuda")]
impl State {
    /// The GPU, unless it has failed.
    fn working(&self) -> Option<&Arc<Gpu>> {
        match self {
            Self::Open(gpu) if !gpu.has_failed() => Some(gpu),
            _ => None,
        }
    }
}

impl Device {
    /// The GPU with this ordinal.
    pub fn new(ordinal: u32) -> Self {
        Self {
            ordinal,
            #[cfg(feature = "cuda")]
            gpu: Arc::default(),
        }
    }

    /// That of a solver which shares this open GPU.
    #[cfg(feature = "cuda")]
    pub(super) fn of(gpu: Arc<Gpu>) -> Self {
        Self { ordinal: gpu.ordinal, gpu: Arc::new(Mutex::new(State::Open(gpu))) }
    }

    /// Its place in the driver's order, from 0.
    pub fn ordinal(&self) -> u32 {
        self.ordinal
    }

    /// Opens it, unless it is open, and checks that its driver understands the kernels. That may take a
    /// second: not for a thread that draws.
    ///
    /// # Errors
    /// [`SolverError`] if it cannot be used.
    #[cfg(feature = "cuda")]
    pub fn check(&self) -> Result<(), SolverError> {
        self.open()?.check_compiler()
    }

    /// Opens it: never, in this build.
    ///
    /// # Errors
    /// Always [`Unavailable::NotBuilt`].
    #[cfg(not(feature = "cuda"))]
    pub fn check(&self) -> Result<(), SolverError> {
        Err(Unavailable::NotBuilt.into())
    }

    /// Checks that `kernel` accepts a method on this GPU, for a grid of this shape whose points have rows of their own or the same.
    ///
    /// # Errors
    /// [`SolverError`] if it does not, or the GPU cannot be used.
    #[cfg(feature = "cuda")]
    pub fn check_kernel(
        &self,
        kernel: Kernel,
        method: &Method,
        precision: Precision,
        shape: &Shape,
        is_per_point: bool,
    ) -> Result<(), SolverError> {
        let shared_bytes = self.open()?.most_shared;
        let block_size = None;
        let setting = Setting { method, precision, shape, shared_bytes, is_per_point, block_size };
        kernels::choose(kernel, &setting).map(drop).map_err(|refused| refused.error(kernel))
    }

    /// Checks a kernel: there is none in this build.
    ///
    /// # Errors
    /// Always [`Unavailable::NotBuilt`].
    #[cfg(not(feature = "cuda"))]
    pub fn check_kernel(
        &self,
        _: Kernel,
        _: &Method,
        _: Precision,
        _: &Shape,
        _: bool,
    ) -> Result<(), SolverError> {
        self.check()
    }

    /// Its name; `None` unless it is open.
    #[cfg(feature = "cuda")]
    pub fn name(&self) -> Option<String> {
        let gpu = self.gpu.lock().unwrap_or_else(PoisonError::into_inner);
        gpu.working().map(|gpu| gpu.name.clone())
    }

    /// Its name: not known in this build.
    #[cfg(not(feature = "cuda"))]
    pub fn name(&self) -> Option<String> {
        None
    }

    /// Whether it failed, and was not opened again since.
    #[cfg(feature = "cuda")]
    pub fn has_failed(&self) -> bool {
        match &*self.gpu.lock().unwrap_or_else(PoisonError::into_inner) {
            State::Unopened => false,
            State::Open(gpu) => gpu.has_failed(),
            State::Failed(_) => true,
        }
    }

    /// Whether it failed: it was never opened in this build.
    #[cfg(not(feature = "cuda"))]
    pub fn has_failed(&self) -> bool {
        false
    }

    /// How many times as fast as f64 it computes in f32, as its driver reports; `None` unless it is open.
    #[cfg(feature = "cuda")]
    pub fn f32_speedup(&self) -> Option<u32> {
        let gpu = self.gpu.lock().unwrap_or_else(PoisonError::into_inner);
        gpu.working().map(|gpu| gpu.f32_speedup)
    }

    /// How many times as fast as f64 it computes in f32: not known in this build.
    #[cfg(not(feature = "cuda"))]
    pub fn f32_speedup(&self) -> Option<u32> {
        None
    }

    /// Bytes of memory that are free on it.
    ///
    /// # Errors
    /// [`SolverError`] if it cannot be used, or failed.
    #[cfg(feature = "cuda")]
    pub fn free_memory(&self) -> Result<u64, SolverError> {
        self.open()?.free()
    }

    /// Bytes that are free on it: there is none in this build.
    ///
    /// # Errors
    /// Always [`Unavailable::NotBuilt`].
    #[cfg(not(feature = "cuda"))]
    pub fn free_memory(&self) -> Result<u64, SolverError> {
        Err(Unavailable::NotBuilt.into())
    }

    /// Which GPU of which machine it is: the same text in every process.
    ///
    /// # Errors
    /// [`SolverError`] if it cannot be used.
    #[cfg(feature = "cuda")]
    pub fn unique_name(&self) -> Result<String, SolverError> {
        self.open()?.unique_name()
    }

    /// Which GPU it is: none, in this build.
    ///
    /// # Errors
    /// Always [`Unavailable::NotBuilt`].
    #[cfg(not(feature = "cuda"))]
    pub fn unique_name(&self) -> Result<String, SolverError> {
        Err(Unavailable::NotBuilt.into())
    }

    /// The GPU, opened at first use, and again after it failed.
    #[cfg(feature = "cuda")]
    pub(super) fn open(&self) -> Result<Arc<Gpu>, Unavailable> {
        let mut state = self.gpu.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gpu) = state.working() {
            gpu.forget_errors();
            return Ok(Arc::clone(gpu));
        }
        // A failed one is dropped first: its context may be the same as the new one's.
        if let State::Open(failed) = &*state {
            *state = State::Failed(failed.name.clone());
        }
        let opened = match &*state {
            // After an error in a kernel the driver (580, on an H200) refuses all work until the process ends,
            // also after `cuDevicePrimaryCtxReset`; after other errors it may not.
            State::Failed(name) => Gpu::open(self.ordinal)
                .ok()
                .filter(Gpu::works)
                .ok_or_else(|| Unavailable::Lost { name: name.clone() })?,
            _ => Gpu::open(self.ordinal)?,
        };
        let gpu = Arc::new(opened);
        *state = State::Open(Arc::clone(&gpu));
        Ok(gpu)
    }
}

/// The GPUs of a run, and how they exchange what they share.
#[derive(Clone, Copy, Debug)]
pub struct Gpus<'a> {
    /// One for each device of the method ([`Method::devices`]), or a single one, which simulates all of them.
    pub devices: &'a [Device],
    /// How values get from one to another.
    pub exchange: ExchangePath,
}

/// The one GPU of a list of devices, for a method that is not shared out.
///
/// # Errors
/// [`Unavailable::NoGpu`] of an empty list, [`Unavailable::SeveralGpus`] of a longer one.
#[cfg(feature = "cuda")]
pub(super) fn single(devices: &[Device]) -> Result<&Device, Unavailable> {
    match devices {
        [device] => Ok(device),
        [] => Err(Unavailable::NoGpu),
        _ => Err(Unavailable::SeveralGpus(devices.len())),
    }
}

impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        self.ordinal == other.ordinal
    }
}

impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Device").field(&self.ordinal).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "cuda")]
    #[test]
    fn a_method_that_is_not_shared_out_runs_on_one_gpu() {
        let devices = [Device::new(0), Device::new(1)];
        assert_eq!(single(&devices[1..]).map(Device::ordinal), Ok(1));
        assert_eq!(single(&[]), Err(Unavailable::NoGpu));
        let several = single(&devices).unwrap_err();
        let sentence = "devices names 2 GPUs, but the method is not shared out over them";
        assert_eq!(several.to_string(), sentence);
    }

    #[test]
    fn a_gpu_that_was_not_opened_costs_nothing() {
        // An ordinal that no device has is reported when a solver is set up on it.
        let device = Device::new(u32::MAX);
        assert_eq!(device, device.clone());
        assert_ne!(device, Device::new(0));
    }
}
