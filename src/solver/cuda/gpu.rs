//! An open GPU: its context, the kernels that it has loaded, and its failures.

use super::properties::{DeviceProperties, OLDEST_CUDA, check_age};
use super::ptx::{self, File, Form};
use crate::grid::Precision;
use crate::solver::{SolverError, Unavailable};
use cudarc::driver::sys::{CUdevice_attribute_enum as Attribute, CUresult};
use cudarc::driver::{CudaContext, CudaFunction, CudaStream, DriverError, result, sys};
use cudarc::nvrtc::Ptx;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A kernel, for one precision and form.
type Key = (File, Precision, Form, String);

/// The system for which the fastest block of the classic kernel is known: columns, rows, precision, form.
type ClassicKey = (usize, usize, Precision, Form);

/// A GPU that is open. The solvers of one [`Device`](super::Device) share it.
pub(super) struct Gpu {
    /// Its place in the driver's order.
    pub ordinal: u32,
    pub name: String,
    pub context: Arc<CudaContext>,
    pub multiprocessors: u32,
    /// Bytes of shared memory that a block may have.
    pub most_shared: usize,
    /// How many times as fast as f64 it computes in f32; 1 if the driver does not say.
    pub f32_speedup: u32,
    kernels: Mutex<HashMap<Key, CudaFunction>>,
    /// The block that was the fastest for the classic kernel.
    pub classic_blocks: Mutex<HashMap<ClassicKey, [u32; 2]>>,
    /// Whether it failed in a way that leaves its context useless.
    has_failed: AtomicBool,
}

/// Asks the driver, if there is one that understands the kernels.
fn driver<T>(call: impl FnOnce() -> Result<T, DriverError>) -> Result<T, Unavailable> {
    // SAFETY: it only tries to open the library. It comes first because every other call panics if the
    // library is missing.
    if !unsafe { sys::is_culib_present() } {
        return Err(Unavailable::NoDriver);
    }
    result::init().map_err(unavailable)?;
    // Before anything that an older driver may lack.
    if newest_cuda().map_err(unavailable)? < OLDEST_CUDA {
        return Err(Unavailable::OldDriver);
    }
    call().map_err(unavailable)
}

/// The newest CUDA that the driver understands: thousands are the major version, tens the minor one.
fn newest_cuda() -> Result<i32, DriverError> {
    let mut newest = 0;
    // SAFETY: it writes one number.
    unsafe { sys::cuDriverGetVersion(&raw mut newest) }.result()?;
    Ok(newest)
}

fn unavailable(error: DriverError) -> Unavailable {
    match error.0 {
        CUresult::CUDA_ERROR_NO_DEVICE => Unavailable::NoGpu,
        CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
        | CUresult::CUDA_ERROR_INVALID_PTX
        | CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
        | CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH => Unavailable::OldDriver,
        _ => Unavailable::Driver(sentence(error)),
    }
}

/// The driver's description of an error, without the name of the constant.
fn sentence(error: DriverError) -> String {
    let text = error.error_string().map(|text| text.to_string_lossy().into_owned());
    text.unwrap_or_else(|_| format!("{:?}", error.0))
}

/// The names of the GPUs, in the driver's order, if one of them can be used.
pub(super) fn names() -> Result<Vec<String>, Unavailable> {
    let gpus: Vec<_> = driver(|| {
        let about = |ordinal| {
            let gpu = result::device::get(ordinal)?;
            Ok((result::device::get_name(gpu)?, capability(gpu)?))
        };
        (0..result::device::get_count()?).map(about).collect()
    })?;
    let (name, capability) = gpus.first().ok_or(Unavailable::NoGpu)?;
    if gpus.iter().all(|(name, capability)| check_age(name, *capability).is_err()) {
        check_age(name, *capability)?;
    }
    Ok(gpus.into_iter().map(|(name, _)| name).collect())
}

/// The compute capability of a GPU.
fn capability(gpu: sys::CUdevice) -> Result<(i32, i32), DriverError> {
    // SAFETY: the GPU is one that the driver gave.
    let of = |attribute| unsafe { result::device::get_attribute(gpu, attribute) };
    Ok((
        of(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
        of(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
    ))
}

/// The GPUs, in the driver's order.
pub(super) fn devices() -> Result<Vec<DeviceProperties>, Unavailable> {
    let gpus: Vec<_> = driver(|| (0..result::device::get_count()?).map(properties).collect())?;
    if gpus.is_empty() { Err(Unavailable::NoGpu) } else { Ok(gpus) }
}

fn properties(ordinal: i32) -> Result<DeviceProperties, DriverError> {
    let gpu = result::device::get(ordinal)?;
    // SAFETY: the GPU is one that the driver just gave.
    let of = |attribute| unsafe { result::device::get_attribute(gpu, attribute) };
    let positive = |number: i32| u32::try_from(number).unwrap_or(0);
    // SAFETY: as above.
    let memory = unsafe { result::device::total_mem(gpu) }?;
    // Kilohertz and bits. GPU memory of either kind moves two bits per clock and data line;
    // newer drivers may report neither.
    let clock = of(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE).unwrap_or(0);
    let width = of(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH).unwrap_or(0);
    let l2 = of(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE).unwrap_or(0);
    let rate = 2.0 * f64::from(clock) * 1e3 * f64::from(width) / 8.0;
    let free =
        || Some(CudaContext::new(usize::try_from(ordinal).ok()?).ok()?.mem_get_info().ok()?.0);
    Ok(DeviceProperties {
        ordinal: u32::try_from(ordinal).unwrap_or(0),
        name: result::device::get_name(gpu)?,
        capability: capability(gpu)?,
        multiprocessors: positive(of(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?),
        shared_bytes_per_block: positive(of(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        )?)
        .into(),
        memory_bytes: memory as u64,
        free_bytes: free().map(|free| free as u64),
        memory_bytes_per_second: (rate > 0.0).then_some(rate),
        l2_bytes: l2.try_into().ok().filter(|bytes| *bytes > 0),
    })
}

/// The file in which Linux reports the version of the driver.
const VERSION_FILE: &str = "/proc/driver/nvidia/version";

/// The driver's version, where the system reports it, and the newest CUDA that it understands.
pub(super) fn driver_version() -> Result<String, Unavailable> {
    let newest = driver(newest_cuda)?;
    let cuda = format!("CUDA {}.{}", newest / 1000, newest % 1000 / 10);
    let text = std::fs::read_to_string(VERSION_FILE).unwrap_or_default();
    let is_version =
        |word: &&str| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit());
    Ok(match text.split_whitespace().find(is_version) {
        Some(version) => format!("{version}, {cuda}"),
        None => cuda,
    })
}

/// The file in which Linux has a number of its own for every start of a machine, which its containers share.
const BOOT_FILE: &str = "/proc/sys/kernel/random/boot_id";

impl Gpu {
    /// The GPU with this ordinal, with a context of its own.
    ///
    /// # Errors
    /// [`Unavailable`] if there is none, or it cannot be used.
    pub fn open(ordinal: u32) -> Result<Self, Unavailable> {
        let count = driver(result::device::get_count)?;
        let count = u32::try_from(count).unwrap_or(0);
        match count {
            0 => return Err(Unavailable::NoGpu),
            _ if ordinal >= count => return Err(Unavailable::NoSuchGpu { ordinal, count }),
            _ => {}
        }
        let context = driver(|| CudaContext::new(ordinal as usize))?;
        let call = || -> Result<_, DriverError> {
            let name = context.name()?;
            let capability = context.compute_capability()?;
            let of = |attribute| context.attribute(attribute);
            let count = of(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
            let shared = of(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
            let speedup = of(Attribute::CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO);
            Ok((name, capability, count, shared, speedup.unwrap_or(1)))
        };
        let (name, capability, count, shared, f32_speedup) = call().map_err(unavailable)?;
        check_age(&name, capability)?;
        // SAFETY: each solver has two streams of its own, and waits for either before anything that it
        // made is used elsewhere, in the other one too.
        unsafe { context.disable_event_tracking() };
        Ok(Self {
            ordinal,
            name,
            context,
            multiprocessors: u32::try_from(count).unwrap_or(1),
            most_shared: usize::try_from(shared).unwrap_or(0),
            f32_speedup: u32::try_from(f32_speedup).unwrap_or(1).max(1),
            kernels: Mutex::default(),
            classic_blocks: Mutex::default(),
            has_failed: AtomicBool::new(false),
        })
    }

    /// A stream of work on this GPU.
    pub fn stream(&self) -> Result<Arc<CudaStream>, SolverError> {
        self.check(self.context.new_stream())
    }

    /// A stream whose work goes before that of the others, as soon as there is room for a block.
    pub fn urgent_stream(&self) -> Result<Arc<CudaStream>, SolverError> {
        let stream = || {
            self.context.bind_to_thread()?;
            let (_, most) = result::stream::get_priority_range()?;
            self.context.new_stream_with_priority(most)
        };
        self.check(stream())
    }

    /// A kernel. The driver compiles it to machine code when it is first requested, and caches that
    /// on disk for the next start.
    ///
    /// # Errors
    /// [`SolverError`] if the driver is too old, or fails.
    pub fn function(
        &self,
        file: File,
        precision: Precision,
        form: Form,
        name: &str,
    ) -> Result<CudaFunction, SolverError> {
        let mut kernels = self.kernels.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (file, precision, form, name.to_owned());
        if let Some(kernel) = kernels.get(&key) {
            return Ok(kernel.clone());
        }
        let load = || -> Result<CudaFunction, DriverError> {
            let source = ptx::source(file, precision, form, name);
            let source = source.ok_or(DriverError(CUresult::CUDA_ERROR_NOT_FOUND))?;
            self.context.load_module(Ptx::from_src(source))?.load_function(name)
        };
        let kernel = load().map_err(|error| match unavailable(error) {
            Unavailable::Driver(_) => self.failed(error),
            why => why.into(),
        })?;
        kernels.insert(key, kernel.clone());
        Ok(kernel)
    }

    /// Whether the driver understands the kernels: an old one shows it when it loads the first.
    ///
    /// # Errors
    /// [`SolverError`] if the driver is too old, or fails.
    pub fn check_compiler(&self) -> Result<(), SolverError> {
        self.function(File::Sums, Precision::F64, Form::Isotropic2d, "add_parts").map(drop)
    }

    /// Bytes of memory that are free.
    pub fn free(&self) -> Result<u64, SolverError> {
        self.check(self.context.mem_get_info()).map(|(free, _)| free as u64)
    }

    /// Refuses arrays of that many bytes if they do not fit into the memory that is free.
    pub fn check_room(&self, needed: u64) -> Result<(), SolverError> {
        let mut free = self.free()?;
        if needed > free {
            // What was freed comes back once the work that it was freed after is done.
            self.check(self.context.synchronize())?;
            free = self.free()?;
        }
        if needed <= free {
            return Ok(());
        }
        Err(SolverError::DeviceMemory { gpu: self.name.clone(), needed, free })
    }

    /// Which GPU of which machine it is: the same in every process, whatever GPUs that sees.
    pub fn unique_name(&self) -> Result<String, SolverError> {
        let of = |attribute| self.check(self.context.attribute(attribute));
        let [domain, bus, device] = [
            of(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID)?,
            of(Attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)?,
            of(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)?,
        ];
        let machine = std::fs::read_to_string(BOOT_FILE).unwrap_or_default();
        Ok(format!("{domain:04x}:{bus:02x}:{device:02x} of {}", machine.trim()))
    }

    /// Whether it takes memory and work.
    pub fn works(&self) -> bool {
        let try_out = || {
            let stream = self.context.new_stream()?;
            let _byte = stream.alloc_zeros::<u8>(1)?;
            stream.synchronize()
        };
        try_out().is_ok()
    }

    /// Whether it failed, so that the next solver needs a new context.
    pub fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Notes whether it failed, once that is known of several that worked together.
    pub fn set_failed(&self, has_failed: bool) {
        self.has_failed.store(has_failed, Ordering::Relaxed);
    }

    /// Forgets errors that were noted while the arrays of an earlier solver were freed: they are not about the next one,
    /// and a GPU that is lost reports its error again.
    pub fn forget_errors(&self) {
        _ = self.context.check_err();
    }

    /// Its name and number, where there are several.
    pub fn title(&self) -> String {
        format!("{} (GPU {})", self.name, self.ordinal)
    }

    /// The error of a solver whose arrays the system does not let the GPU copy by itself. The GPU is as it was.
    pub fn not_pinned(&self, bytes: u64, error: DriverError) -> SolverError {
        SolverError::Pinned { gpu: self.name.clone(), bytes, what: sentence(error) }
    }

    /// The error of a solver after a failure of the driver. Most failures leave the context useless; a lack
    /// of memory does not.
    pub fn failed(&self, error: DriverError) -> SolverError {
        if error.0 != CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            self.has_failed.store(true, Ordering::Relaxed);
        }
        SolverError::Device { gpu: self.name.clone(), what: sentence(error) }
    }

    /// The result of a call of the driver, with its failure as an error of the solver.
    pub fn check<T>(&self, result: Result<T, DriverError>) -> Result<T, SolverError> {
        result.map_err(|error| self.failed(error))
    }
}
