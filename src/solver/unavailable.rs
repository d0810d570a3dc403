//! Why a GPU cannot be used.

/// Why no NVIDIA GPU can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// The program was built without the feature `cuda`.
    #[error("{}", not_built())]
    NotBuilt,
    /// The driver's library cannot be opened.
    #[error("no NVIDIA driver is installed")]
    NoDriver,
    /// There is a driver, and no GPU that it can use.
    #[error("the NVIDIA driver finds no GPU")]
    NoGpu,
    /// There are fewer GPUs.
    #[error("devices names GPU {ordinal}, but this machine has {}", ordinals(*.count))]
    NoSuchGpu {
        /// The ordinal that was chosen.
        ordinal: u32,
        /// How many GPUs there are.
        count: u32,
    },
    /// As many GPUs were chosen, and the method is not shared out over as many devices.
    #[error("devices names {0} GPUs, but the method is not shared out over them")]
    SeveralGpus(usize),
    /// The GPU lacks what the kernels need.
    #[error("{name} is too old: it has compute capability {}.{}, and 7.0 is needed", .capability.0, .capability.1)]
    OldGpu {
        /// Its name.
        name: String,
        /// Its compute capability.
        capability: (i32, i32),
    },
    /// The driver does not understand the kernels.
    #[error("the NVIDIA driver is too old; 550 or newer is needed")]
    OldDriver,
    /// It failed, and the driver gives this process no new context on it.
    #[error(
        "{name} failed, and its driver lets only a new process use it again (restart the program)"
    )]
    Lost {
        /// Its name.
        name: String,
    },
    /// The driver failed.
    #[error("the NVIDIA driver failed: {0}")]
    Driver(String),
}

/// Why a build has no CUDA.
fn not_built() -> &'static str {
    match cfg!(target_arch = "wasm32") {
        true => "a page in a browser has no CUDA; the program for the desktop has",
        false => "this build has no CUDA (feature `cuda`)",
    }
}

/// `only GPU 0`, or `GPUs 0 to 3`.
fn ordinals(count: u32) -> String {
    if count == 1 {
        "only GPU 0".to_owned()
    } else {
        format!("GPUs 0 to {}", count.saturating_sub(1))
    }
}
