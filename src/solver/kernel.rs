//! A kernel by its name, and the device that it runs on. `cuda/names.rs` lists the kernels that there are.

use serde::{Serialize, Serializer};

/// How cycles are made, by name. All but `spectral` give the same results to the last bit; `spectral`
/// agrees with them up to rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kernel(&'static str);

impl Kernel {
    /// The fastest that accepts the setting, of those that make sweeps where these are few.
    pub const AUTO: Self = Self("auto");
    /// The fastest that accepts the setting, `spectral` included.
    pub const FASTEST: Self = Self("fastest");
    /// Kernels that comparisons and tests name. A new kernel needs no constant.
    pub const CLASSIC: Self = Self("classic");
    /// Several sweeps of a 3D grid at a time.
    pub const FUSED: Self = Self("fused");
    /// The papers' kernel.
    pub const SHARED: Self = Self("shared");
    /// The fastest kernel that makes sweeps.
    pub const REGISTER: Self = Self("register");
    /// All subiterations at once, in the sine basis of a tile.
    pub const SPECTRAL: Self = Self("spectral");

    /// The kernel of this name.
    pub(super) const fn named(name: &'static str) -> Self {
        Self(name)
    }

    /// The name in files and on the command line.
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl Default for Kernel {
    fn default() -> Self {
        Self::AUTO
    }
}

impl Serialize for Kernel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

/// The resources of a GPU that a kernel uses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Footprint {
    /// Threads of a block.
    pub threads: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory of a block.
    pub shared_bytes: usize,
    /// Blocks of a cycle; those that pass over several tiles one after the other count once for each pass.
    pub blocks: u64,
    /// Blocks that a multiprocessor works on at once.
    pub blocks_per_multiprocessor: u32,
    /// Multiprocessors of the GPU.
    pub multiprocessors: u32,
    /// Point updates per second that the GPU's arithmetic allows.
    pub points_per_second: f64,
    /// What a cycle in the sine basis multiplies; `None` of one that makes sweeps.
    pub products: Option<Products>,
}

/// The products of a cycle in the sine basis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Products {
    /// Multiplications with an addition that they need.
    pub per_cycle: f64,
    /// As many per second as the arithmetic that makes them allows at its highest clock.
    pub most_per_second: f64,
    /// Whether tensor cores make them.
    pub on_tensor_cores: bool,
}

impl Products {
    /// The share of the peak rate at a number of cycles per second.
    pub fn of_peak(&self, cycles_per_second: f64) -> f64 {
        self.per_cycle * cycles_per_second / self.most_per_second
    }
}

impl Footprint {
    /// How often the GPU is filled with blocks in a cycle; the last time perhaps in part.
    pub fn waves(&self) -> f64 {
        let at_once = u64::from(self.blocks_per_multiprocessor) * u64::from(self.multiprocessors);
        self.blocks as f64 / at_once.max(1) as f64
    }
}

/// A GPU, as a solver on it describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceInfo {
    /// Its place in the driver's order, from 0.
    pub ordinal: u32,
    /// The name of the GPU.
    pub name: String,
    /// The kernel that runs, never [`Kernel::AUTO`].
    pub kernel: Kernel,
    /// The resources of the GPU that the kernel uses.
    pub footprint: Footprint,
}
