//! Why a solver cannot be set up, or cannot continue.

use super::{Kernel, NcclError, Unavailable};
use crate::grid::memory::{NoRoom, OutOfMemory, human};
use crate::problem::matrix::OverlapError;
use std::path::PathBuf;

/// Why a solver cannot be set up, or cannot continue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SolverError {
    /// Its arrays do not fit into the memory of this machine.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// The blocks of a matrix, with the rows that their overlap adds, do not fit into it.
    #[error(transparent)]
    Blocks(#[from] NoRoom),
    /// The overlap of the blocks of a matrix adds too many rows.
    #[error(transparent)]
    Overlap(#[from] OverlapError),
    /// There is no GPU that it could run on.
    #[error("backend cuda cannot be used: {0}; backend cpu can")]
    Unavailable(#[from] Unavailable),
    /// Its arrays do not fit into the memory of the GPU.
    #[error("{gpu} has {} of memory free, and this run needs {}; backend cpu uses main memory", human(*.free), human(*.needed))]
    DeviceMemory {
        /// The name of the GPU.
        gpu: String,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// The system does not let a GPU copy the arrays of this machine by itself: their pages cannot be pinned.
    #[error("the driver cannot pin {} of memory for {gpu}: {what}; use a smaller shape or backend cpu", human(*.bytes))]
    Pinned {
        /// The name of the GPU.
        gpu: String,
        /// Bytes of an array.
        bytes: u64,
        /// What the driver says.
        what: String,
    },
    /// The entries of a matrix, laid out for a GPU, do not fit into the memory of this machine.
    #[error("the entries of the matrix, padded for the GPU, need {} of memory, and {} is free; backend cpu needs no padding", human(*.needed), human(*.available))]
    BlocksMemory {
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        available: u64,
    },
    /// Planes that stream through a budget which nobody chose: it is that of a cache, and too small for a GPU.
    #[error(
        "the default budget is that of a CPU's cache; choose a memory for the GPU, such as 8GB, or backend cuda"
    )]
    CacheBudget,
    /// An iterate in a file did not get to the disk.
    #[error("the iterate cannot be written to its file: {0}")]
    NotOnDisk(String),
    /// How far the run has come could not be written beside the files.
    #[error("{0}")]
    Checkpoint(String),
    /// The files of its arrays cannot be mapped into memory.
    #[error("the arrays in {} cannot be used: {what}", .folder.display())]
    Files {
        /// Their folder.
        folder: PathBuf,
        /// What is wrong, as part of a sentence.
        what: String,
    },
    /// A solver of grids was given a sparse matrix, or vice versa.
    #[error("this solver does not take {0}")]
    Operator(&'static str),
    /// The chosen kernel does not accept the setting.
    #[error("kernel {} does not accept {setting}; use {instead}", .kernel.name())]
    Kernel {
        /// The kernel.
        kernel: Kernel,
        /// What it does not accept, such as `tile 96`.
        setting: String,
        /// Which can.
        instead: String,
    },
    /// GPUs that share a grid cannot reach each other's memory.
    #[error(
        "GPU {from} cannot reach the memory of GPU {to}; exchange nccl and exchange host do without"
    )]
    NoPeers {
        /// The GPU that would send, by its ordinal.
        from: u32,
        /// The one that would receive.
        to: u32,
    },
    /// NCCL, which moves values between GPUs, cannot be used or failed.
    #[error(transparent)]
    Nccl(#[from] NcclError),
    /// It was requested to stop ([`Advance::stop_on`](super::Advance::stop_on)).
    #[error("the cycle was stopped before its end")]
    Stopped,
    /// The GPU failed while it was at work: it is lost, was reset, or refused a launch.
    #[error("{gpu} failed: {what}")]
    Device {
        /// The name of the GPU.
        gpu: String,
        /// What happened.
        what: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_one_sentence_that_says_what_would_do() {
        let gpu = || "NVIDIA H200".to_owned();
        let memory =
            SolverError::DeviceMemory { gpu: gpu(), needed: 12_000_000_000, free: 3_400_000 };
        let kernel = SolverError::Kernel {
            kernel: Kernel::REGISTER,
            setting: "tile 96".into(),
            instead: "kernel shared".into(),
        };
        for (error, sentence) in [
            (
                memory,
                "NVIDIA H200 has 3.40 MB of memory free, and this run needs 12.0 GB; backend cpu uses main memory",
            ),
            (
                SolverError::BlocksMemory { needed: 12_000_000_000, available: 3_400_000 },
                "the entries of the matrix, padded for the GPU, need 12.0 GB of memory, and 3.40 MB is free; backend cpu needs no padding",
            ),
            (kernel, "kernel register does not accept tile 96; use kernel shared"),
            (
                Unavailable::NoGpu.into(),
                "backend cuda cannot be used: the NVIDIA driver finds no GPU; backend cpu can",
            ),
            (
                Unavailable::Lost { name: gpu() }.into(),
                "backend cuda cannot be used: NVIDIA H200 failed, and its driver lets only a new process use it again (restart the program); backend cpu can",
            ),
            (
                SolverError::Pinned { gpu: gpu(), bytes: 8_600_000_000, what: "no room".into() },
                "the driver cannot pin 8.60 GB of memory for NVIDIA H200: no room; use a smaller shape or backend cpu",
            ),
            (
                SolverError::Device { gpu: gpu(), what: "it was reset".into() },
                "NVIDIA H200 failed: it was reset",
            ),
        ] {
            assert_eq!(error.to_string(), sentence);
        }
    }
}
