//! Where a solver runs.

use super::cuda::Device;
use super::{Footprint, Kernel};

/// Where a solver runs, and what can be chosen there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the cores of this machine.
    Cpu {
        /// 0 for one per core.
        threads: usize,
    },
    /// On NVIDIA GPUs.
    Cuda {
        /// Which; exactly one so far.
        devices: Vec<Device>,
        /// How.
        kernel: Kernel,
    },
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
    /// What the kernel takes of the GPU.
    pub footprint: Footprint,
}

impl Place {
    /// The same place with the kernel chosen automatically: the one that was chosen may not go with
    /// another method.
    #[must_use]
    pub fn automatic(&self) -> Self {
        match self {
            Self::Cpu { .. } => self.clone(),
            Self::Cuda { devices, .. } => {
                Self::Cuda { devices: devices.clone(), kernel: Kernel::AUTO }
            }
        }
    }

    /// Whether a solver in one place can share what it has with one in the other
    /// ([`Solver::with_method`](super::Solver::with_method)).
    pub fn shares_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Cpu { threads: one }, Self::Cpu { threads: other }) => one == other,
            (Self::Cuda { devices: one, .. }, Self::Cuda { devices: other, .. }) => one == other,
            _ => false,
        }
    }

    /// The kernel that was chosen; [`Kernel::AUTO`] on the CPU.
    pub fn kernel(&self) -> Kernel {
        match self {
            Self::Cpu { .. } => Kernel::AUTO,
            Self::Cuda { kernel, .. } => *kernel,
        }
    }
}
