//! The rungs of the ladder: how a method runs on a GPU.

use serde::{Deserialize, Serialize};

/// How a GPU makes cycles. No result depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kernel {
    /// The fastest that can take the setting
    #[default]
    Auto,
    /// One thread a point, all sweeps through global memory
    Classic,
    /// The paper's: a block of threads a tile, the tile in shared memory
    Shared,
    /// A tile in the registers of warps, neighbours by shuffles
    Register,
}

impl Kernel {
    /// All of them, as they stand in menus.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Classic, Self::Shared, Self::Register];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Classic => "classic",
            Self::Shared => "shared",
            Self::Register => "register",
        }
    }

    /// The name in menus and titles.
    pub fn label(self) -> &'static str {
        match self {
            Self::Auto => "Auto",
            Self::Classic => "Classic",
            Self::Shared => "Shared",
            Self::Register => "Register",
        }
    }

    /// How it works, in one sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::Auto => "The fastest kernel that can take the setting.",
            Self::Classic => "One thread a point: every sweep goes through global memory.",
            Self::Shared => {
                "The paper's kernel: a block of threads a tile, which stays in shared memory for k sweeps."
            }
            Self::Register => {
                "A tile stays in the registers of warps for k sweeps; neighbours are read by shuffles."
            }
        }
    }
}

/// What a kernel takes of a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Footprint {
    /// Threads of a block.
    pub threads: u32,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory of a block.
    pub shared_bytes: usize,
    /// Blocks of a cycle.
    pub blocks: u64,
    /// Blocks that a multiprocessor works on at once.
    pub blocks_per_multiprocessor: u32,
    /// Multiprocessors of the GPU.
    pub multiprocessors: u32,
    /// Point updates a second that the GPU's arithmetic allows.
    pub points_per_second: f64,
}

impl Footprint {
    /// How often the GPU is filled with blocks in a cycle; the last time perhaps in part.
    pub fn waves(&self) -> f64 {
        let at_once = u64::from(self.blocks_per_multiprocessor) * u64::from(self.multiprocessors);
        self.blocks as f64 / at_once.max(1) as f64
    }
}
