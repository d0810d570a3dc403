//! What is known of a GPU before it is opened, and what the kernels need of it.

use crate::solver::{ExchangePath, Unavailable};

/// A GPU, as its driver describes it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct DeviceProperties {
    /// Its place in the driver's order, from 0.
    pub ordinal: u32,
    /// Its name.
    pub name: String,
    /// Its compute capability, such as 9.0.
    pub capability: (i32, i32),
    /// Its multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of shared memory that a block may have.
    pub shared_bytes_per_block: u64,
    /// Bytes of memory.
    pub memory_bytes: u64,
    /// Bytes of memory that are free; `None` if no context can be made.
    pub free_bytes: Option<u64>,
    /// Bytes per second that its memory moves by its clock and width, where the driver reports both.
    pub memory_bytes_per_second: Option<f64>,
    /// Bytes of its L2 cache, where the driver reports them.
    pub l2_bytes: Option<u64>,
}

/// The link from one GPU to another, as it was measured.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct GpuLink {
    /// The GPU that sends, by its ordinal.
    pub from: u32,
    /// The one that receives.
    pub to: u32,
    /// What values go through.
    pub path: ExchangePath,
    /// Microseconds of a copy of 4 kB, one after the other.
    pub latency_us: f64,
    /// 10⁹ bytes per second of a copy of 256 MiB.
    pub bandwidth: f64,
}

impl DeviceProperties {
    /// Whether the kernels can run on it.
    ///
    /// # Errors
    /// [`Unavailable::OldGpu`].
    pub fn check(&self) -> Result<(), Unavailable> {
        check_age(&self.name, self.capability)
    }
}

/// Refuses a GPU that the kernels are not made for.
pub(super) fn check_age(name: &str, capability: (i32, i32)) -> Result<(), Unavailable> {
    if capability >= OLDEST {
        return Ok(());
    }
    Err(Unavailable::OldGpu { name: name.to_owned(), capability })
}

/// The oldest compute capability that the kernels are made for.
const OLDEST: (i32, i32) = (7, 0);

/// The oldest CUDA whose driver understands the kernels, as drivers report it: that of the compiler that
/// `kernels/build.py` takes.
#[cfg(feature = "cuda")]
pub(super) const OLDEST_CUDA: i32 = 12_040;
