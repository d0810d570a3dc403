//! Kernels by name: how a GPU makes cycles. The table of them is in `cuda/kernels.rs`.

use super::MethodName;
use super::cuda::kernels::{KERNELS, KernelType};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// How a GPU makes cycles, by name. No result depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kernel(&'static str);

impl Kernel {
    /// The fastest that accepts the setting.
    pub const AUTO: Self = Self("auto");
    /// Kernels that comparisons and tests name. A new kernel needs no constant.
    pub const CLASSIC: Self = Self("classic");
    /// The papers' kernel.
    pub const SHARED: Self = Self("shared");
    /// The fastest kernel so far.
    pub const REGISTER: Self = Self("register");

    /// All of them, as they stand in menus: auto, then the table's, the fastest first.
    pub const ALL: [Self; KERNELS.len() + 1] = {
        let mut all = [Self::AUTO; KERNELS.len() + 1];
        let mut row = 0;
        while row < KERNELS.len() {
            all[row + 1] = Self(KERNELS[row].name);
            row += 1;
        }
        all
    };

    /// Their names.
    const NAMES: [&'static str; Self::ALL.len()] = {
        let mut names = [""; Self::ALL.len()];
        let mut kernel = 0;
        while kernel < names.len() {
            names[kernel] = Self::ALL[kernel].0;
            kernel += 1;
        }
        names
    };

    /// Those that a method runs on: auto, then the table's, the fastest first.
    pub fn of(method: MethodName) -> Vec<Self> {
        let rows = KERNELS.iter().filter(|row| row.methods.contains(&method));
        [Self::AUTO].into_iter().chain(rows.map(|row| Self(row.name))).collect()
    }

    /// Those that a method runs on without auto, the slowest first: the order of a kernel comparison.
    pub fn compared(method: MethodName) -> Vec<Self> {
        Self::of(method).into_iter().skip(1).rev().collect()
    }

    /// The kernel of a row of the table.
    pub(super) fn named(row: &KernelType) -> Self {
        Self(row.name)
    }

    /// The name in files and on the command line.
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// The name in menus and titles.
    pub fn label(self) -> &'static str {
        KERNELS.iter().find(|row| row.name == self.0).map_or("Auto", |row| row.label)
    }

    /// How it works, in one sentence.
    pub fn about(self) -> &'static str {
        let row = KERNELS.iter().find(|row| row.name == self.0);
        row.map_or("The fastest kernel that accepts the setting.", |row| row.about)
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

impl<'de> Deserialize<'de> for Kernel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = Self::ALL.into_iter().find(|kernel| kernel.0 == name);
        known.ok_or_else(|| de::Error::unknown_variant(&name, &Self::NAMES))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_and_names_are_those_of_the_table() {
        for kernel in [Kernel::AUTO, Kernel::CLASSIC, Kernel::SHARED, Kernel::REGISTER] {
            assert!(Kernel::ALL.contains(&kernel), "{kernel:?}");
        }
        for (kernel, name) in Kernel::ALL.into_iter().zip(Kernel::NAMES) {
            assert_eq!(kernel.name(), name);
            let written = serde_json::to_string(&kernel).unwrap();
            assert_eq!(serde_json::from_str::<Kernel>(&written).unwrap(), kernel);
        }
        assert!(serde_json::from_str::<Kernel>("\"none\"").is_err());
    }

    #[test]
    fn every_method_runs_on_a_kernel() {
        for method in MethodName::ALL {
            let kernels = Kernel::of(method);
            assert!(kernels.len() > 1 && kernels[0] == Kernel::AUTO, "{method:?}");
        }
    }
}
