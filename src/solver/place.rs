//! Where a solver runs.

use super::{Footprint, Kernel};

/// A GPU, as a solver on it describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceInfo {
    /// The name of the GPU.
    pub name: String,
    /// The kernel that runs, never [`Kernel::Auto`].
    pub kernel: Kernel,
    /// What the kernel takes of the GPU.
    pub footprint: Footprint,
}

/// Where a solver runs, and what can be chosen there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the cores of this machine.
    Cpu {
        /// 0 for one a core.
        threads: usize,
    },
    /// On an NVIDIA GPU.
    Cuda {
        /// How.
        kernel: Kernel,
    },
}

impl Place {
    /// The same place, the kernel being whichever is the fastest: the one that was chosen may not
    /// go with another method.
    #[must_use]
    pub fn automatic(self) -> Self {
        match self {
            Self::Cpu { .. } => self,
            Self::Cuda { .. } => Self::Cuda { kernel: Kernel::Auto },
        }
    }

    /// Whether a solver in one place can share what it has with one in the other
    /// ([`Solver::with_method`]).
    pub fn shares_with(self, other: Self) -> bool {
        match (self, other) {
            (Self::Cpu { threads: one }, Self::Cpu { threads: other }) => one == other,
            (Self::Cuda { .. }, Self::Cuda { .. }) => true,
            _ => false,
        }
    }

    /// The kernel that was chosen; where there are none to choose from, [`Kernel::Auto`].
    pub fn kernel(self) -> Kernel {
        match self {
            Self::Cpu { .. } => Kernel::Auto,
            Self::Cuda { kernel } => kernel,
        }
    }
}
