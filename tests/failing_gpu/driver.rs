//! A stand-in for NVIDIA's driver, of one GPU, or of as many as `TILESCOPE_TEST_GPUS` says, that fail in the way that
//! `TILESCOPE_TEST_GPU` names: all of them, or the one that `TILESCOPE_TEST_FAILING` numbers. Each has
//! `TILESCOPE_TEST_ROOM` bytes free, and the one that `TILESCOPE_TEST_SLOW` numbers takes three times as long as the
//! others. They do not reach each other. Their memory is that of the host, and their kernels do nothing: it is there for
//! failures that no machine shows when it is asked to. The functions are those of the CUDA driver API that Tilescope calls.

#![crate_type = "cdylib"]
#![allow(non_snake_case, clippy::missing_safety_doc)]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::Cell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex};

type Answer = c_uint;

const OK: Answer = 0;
const INVALID_VALUE: Answer = 1;
const OUT_OF_MEMORY: Answer = 2;
const NO_DEVICE: Answer = 100;
const UNSUPPORTED_PTX_VERSION: Answer = 222;
const ECC_UNCORRECTABLE: Answer = 214;
const LAUNCH_TIMEOUT: Answer = 702;

/// How the GPU fails.
#[derive(Clone, Copy, PartialEq)]
enum Failure {
    /// There is no GPU.
    NoGpu,
    /// It is too old.
    OldGpu,
    /// The driver is too old, and reports it.
    OldDriver,
    /// The driver is too old, and reports it only when a kernel is loaded.
    OldCompiler,
    /// Its memory is taken.
    Full,
    /// It does not fail, and has little memory.
    Small,
    /// A kernel is not done in time.
    Slow,
    /// It is lost while it is working.
    Lost,
    /// It fails once while it is working; a new context works again.
    Once,
    /// It does not fail, and is slow in f64.
    SlowF64,
    /// The system does not let it pin memory of this machine.
    Unpinned,
}

static FAILURE: LazyLock<Failure> =
    LazyLock::new(|| match std::env::var("TILESCOPE_TEST_GPU").unwrap_or_default().as_str() {
        "old-GPU" => Failure::OldGpu,
        "old-driver" => Failure::OldDriver,
        "old-compiler" => Failure::OldCompiler,
        "full" => Failure::Full,
        "small" => Failure::Small,
        "slow" => Failure::Slow,
        "lost" => Failure::Lost,
        "once" => Failure::Once,
        "slow-f64" => Failure::SlowF64,
        "unpinned" => Failure::Unpinned,
        _ => Failure::NoGpu,
    });

/// A number in the environment.
fn number(name: &str) -> Option<u32> {
    std::env::var(name).ok()?.parse().ok()
}

/// Kernels complete this many times before they fail, unless `TILESCOPE_TEST_WAITS` has another number.
const GOOD_WAITS: u32 = 4;

/// As many as they do.
static GOOD: LazyLock<u32> = LazyLock::new(|| number("TILESCOPE_TEST_WAITS").unwrap_or(GOOD_WAITS));

/// The GPU that fails; all where it is left out.
static FAILING: LazyLock<Option<u32>> = LazyLock::new(|| number("TILESCOPE_TEST_FAILING"));

thread_local! {
    /// The context of this thread; 0 for none.
    static CONTEXT: Cell<usize> = const { Cell::new(0) };
}

/// The context of a GPU.
fn context_of(gpu: c_int) -> usize {
    0x10 * (gpu as usize + 1)
}

/// Whether the GPU of this thread's context is one that fails.
fn is_failing() -> bool {
    FAILING.is_none_or(|gpu| CONTEXT.get() == context_of(gpu as c_int))
}

/// Whether kernels were launched that nobody has waited for.
static IS_AT_WORK: AtomicBool = AtomicBool::new(false);

/// How often kernels were waited for.
static WAITS: AtomicU32 = AtomicU32::new(0);

/// Whether the GPU has failed; it stays so, or until a context is opened again.
static HAS_FAILED: AtomicBool = AtomicBool::new(false);

/// Bytes of each allocation.
static MEMORY: LazyLock<Mutex<HashMap<usize, Layout>>> = LazyLock::new(Mutex::default);

/// The answer of whatever needs the GPU.
fn gpu() -> Answer {
    match *FAILURE {
        _ if !HAS_FAILED.load(Ordering::SeqCst) || !is_failing() => OK,
        _ => failure(),
    }
}

/// What a GPU answers that has failed.
fn failure() -> Answer {
    if *FAILURE == Failure::Slow { LAUNCH_TIMEOUT } else { ECC_UNCORRECTABLE }
}

/// Waits for kernels. Who waits when a GPU fails gets its answer, since GPUs wait for each other.
fn wait() -> Answer {
    let fails = matches!(*FAILURE, Failure::Slow | Failure::Lost | Failure::Once);
    if fails && IS_AT_WORK.swap(false, Ordering::SeqCst) {
        let waits = WAITS.fetch_add(1, Ordering::SeqCst);
        let is_due = waits == *GOOD || (waits > *GOOD && *FAILURE != Failure::Once);
        if is_due && !HAS_FAILED.swap(true, Ordering::SeqCst) {
            return failure();
        }
    }
    gpu()
}

/// A handle of something whose contents are never read.
fn handle(to: *mut usize) -> Answer {
    unsafe { *to = 0x10 };
    gpu()
}

fn allocate(to: *mut usize, bytes: usize) -> Answer {
    let Ok(layout) = Layout::from_size_align(bytes.max(1), 256) else {
        return INVALID_VALUE;
    };
    let there = unsafe { alloc_zeroed(layout) } as usize;
    if there == 0 {
        return OUT_OF_MEMORY;
    }
    MEMORY.lock().unwrap().insert(there, layout);
    unsafe { *to = there };
    gpu()
}

fn free(there: usize) -> Answer {
    match MEMORY.lock().unwrap().remove(&there) {
        Some(layout) => unsafe { dealloc(there as *mut u8, layout) },
        None => return INVALID_VALUE,
    }
    OK
}

fn copy(to: usize, from: usize, bytes: usize) -> Answer {
    unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes) };
    gpu()
}

/// Functions that return the state of the GPU, whatever their arguments.
macro_rules! as_the_gpu_is {
    ($($name:ident)*) => { $(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> Answer { gpu() }
    )* };
}

as_the_gpu_is!(
    cuDevicePrimaryCtxRelease_v2 cuEventDestroy_v2 cuEventRecord cuFuncSetAttribute
    cuGraphDestroy cuGraphExecDestroy cuModuleUnload cuStreamBeginCapture_v2 cuStreamDestroy_v2
    cuMemHostUnregister cuMemMap cuMemRelease cuMemSetAccess cuMemUnmap cuStreamWaitEvent
);

/// Functions that write a handle into what their first argument points to.
macro_rules! gives_a_handle {
    ($($name:ident)*) => { $(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(to: *mut usize) -> Answer { handle(to) }
    )* };
}

gives_a_handle!(
    cuEventCreate cuGraphInstantiateWithFlags cuMemCreate
    cuModuleGetFunction cuStreamCreate cuStreamCreateWithPriority
);

#[unsafe(no_mangle)]
pub extern "C" fn cuDevicePrimaryCtxRetain(to: *mut usize, gpu: c_int) -> Answer {
    if *FAILURE == Failure::Once {
        HAS_FAILED.store(false, Ordering::SeqCst);
    }
    unsafe { *to = context_of(gpu) };
    self::gpu()
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxGetCurrent(to: *mut usize) -> Answer {
    unsafe { *to = CONTEXT.get() };
    OK
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxSetCurrent(context: usize) -> Answer {
    CONTEXT.set(context);
    gpu()
}

/// Functions by which kernels are launched.
macro_rules! launches {
    ($($name:ident)*) => { $(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> Answer {
            IS_AT_WORK.store(true, Ordering::SeqCst);
            gpu()
        }
    )* };
}

launches!(cuLaunchKernel cuGraphLaunch);

/// Functions that wait for what was launched.
macro_rules! waits {
    ($($name:ident)*) => { $(
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> Answer { wait() }
    )* };
}

waits!(cuCtxSynchronize cuEventSynchronize cuStreamQuery cuStreamSynchronize);

#[unsafe(no_mangle)]
pub extern "C" fn cuInit(_flags: c_uint) -> Answer {
    if *FAILURE == Failure::NoGpu { NO_DEVICE } else { OK }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDriverGetVersion(to: *mut c_int) -> Answer {
    unsafe { *to = if *FAILURE == Failure::OldDriver { 11_040 } else { 12_080 } };
    OK
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceGetCount(to: *mut c_int) -> Answer {
    unsafe { *to = number("TILESCOPE_TEST_GPUS").unwrap_or(1) as c_int };
    OK
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceCanAccessPeer(to: *mut c_int, _gpu: c_int, _peer: c_int) -> Answer {
    unsafe { *to = 0 };
    OK
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceGet(to: *mut c_int, ordinal: c_int) -> Answer {
    unsafe { *to = ordinal };
    OK
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceGetName(to: *mut c_char, room: c_int, _gpu: c_int) -> Answer {
    let name = c"Test GPU".to_bytes_with_nul();
    assert!(room as usize >= name.len());
    unsafe { std::ptr::copy_nonoverlapping(name.as_ptr(), to.cast(), name.len()) };
    OK
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceTotalMem_v2(to: *mut usize, _gpu: c_int) -> Answer {
    unsafe { *to = 16_000_000_000 };
    OK
}

#[unsafe(no_mangle)]
pub extern "C" fn cuDeviceGetAttribute(to: *mut c_int, which: c_uint, gpu: c_int) -> Answer {
    let value = match which {
        // CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
        16 => 80,
        // … PCI_BUS_ID
        33 => gpu,
        // … COMPUTE_CAPABILITY_MAJOR and _MINOR
        75 if *FAILURE == Failure::OldGpu => 6,
        75 => 7,
        76 if *FAILURE == Failure::OldGpu => 1,
        // … SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO
        87 if *FAILURE == Failure::SlowF64 => 32,
        87 => 2,
        // … MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
        97 => 98_304,
        _ => 0,
    };
    unsafe { *to = value };
    OK
}

#[unsafe(no_mangle)]
pub extern "C" fn cuGetErrorString(error: Answer, to: *mut *const c_char) -> Answer {
    let text: &CStr = match error {
        OUT_OF_MEMORY => c"out of memory",
        NO_DEVICE => c"no CUDA-capable device is detected",
        UNSUPPORTED_PTX_VERSION => c"the provided PTX was compiled with an unsupported toolchain.",
        ECC_UNCORRECTABLE => c"uncorrectable ECC error encountered",
        LAUNCH_TIMEOUT => c"the launch timed out and was terminated",
        _ => return INVALID_VALUE,
    };
    unsafe { *to = text.as_ptr() };
    OK
}

#[unsafe(no_mangle)]
pub extern "C" fn cuModuleLoadData(to: *mut usize, _image: *const c_void) -> Answer {
    if *FAILURE == Failure::OldCompiler { UNSUPPORTED_PTX_VERSION } else { handle(to) }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) -> Answer {
    let room = number("TILESCOPE_TEST_ROOM").map_or(15_000_000_000, |bytes| bytes as usize);
    let room = match *FAILURE {
        Failure::Full if is_failing() => 1_000_000,
        Failure::Small if is_failing() => 40_000_000,
        _ => room,
    };
    unsafe { (*free, *total) = (room, 16_000_000_000) };
    gpu()
}

#[unsafe(no_mangle)]
pub extern "C" fn cuCtxGetStreamPriorityRange(least: *mut c_int, most: *mut c_int) -> Answer {
    unsafe { (*least, *most) = (0, -5) };
    gpu()
}

#[unsafe(no_mangle)]
pub extern "C" fn cuFuncGetAttribute(to: *mut c_int, _which: c_uint, _kernel: usize) -> Answer {
    unsafe { *to = 32 };
    gpu()
}

#[unsafe(no_mangle)]
pub extern "C" fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(to: *mut c_int) -> Answer {
    unsafe { *to = 2 };
    gpu()
}

#[unsafe(no_mangle)]
pub extern "C" fn cuStreamEndCapture(_stream: usize, to: *mut usize) -> Answer {
    handle(to)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuEventElapsedTime(to: *mut f32, _start: usize, _end: usize) -> Answer {
    let is_slow =
        number("TILESCOPE_TEST_SLOW").is_some_and(|gpu| CONTEXT.get() == context_of(gpu as c_int));
    unsafe { *to = if is_slow { 3.0 } else { 1.0 } };
    gpu()
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemAlloc_v2(to: *mut usize, bytes: usize) -> Answer {
    allocate(to, bytes)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemHostAlloc(to: *mut usize, bytes: usize, _flags: c_uint) -> Answer {
    allocate(to, bytes)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemGetAllocationGranularity(to: *mut usize) -> Answer {
    unsafe { *to = 2 << 20 };
    gpu()
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemAddressReserve(to: *mut usize, bytes: usize) -> Answer {
    allocate(to, bytes)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemAddressFree(there: usize) -> Answer {
    free(there)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemHostRegister_v2() -> Answer {
    if *FAILURE == Failure::Unpinned { OUT_OF_MEMORY } else { gpu() }
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemFree_v2(there: usize) -> Answer {
    free(there)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemFreeHost(there: usize) -> Answer {
    free(there)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemsetD8Async(to: usize, value: u8, bytes: usize, _stream: usize) -> Answer {
    unsafe { std::ptr::write_bytes(to as *mut u8, value, bytes) };
    gpu()
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyHtoDAsync_v2(to: usize, from: usize, bytes: usize, _: usize) -> Answer {
    copy(to, from, bytes)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyDtoHAsync_v2(to: usize, from: usize, bytes: usize, _: usize) -> Answer {
    copy(to, from, bytes)
}

#[unsafe(no_mangle)]
pub extern "C" fn cuMemcpyDtoDAsync_v2(to: usize, from: usize, bytes: usize, _: usize) -> Answer {
    copy(to, from, bytes)
}
