//! What the processes of a group know of each other's GPUs.

use super::communicator::Communicator;
use crate::solver::SolverError;
use crate::solver::cuda::gpu::Gpu;

/// Bytes of the name of a GPU that the others receive, in words of 64 bits.
const NAME_WORDS: usize = 12;

/// What each process sends to the others of its GPU.
pub(in crate::solver::cuda) struct Members {
    pub names: Vec<String>,
    /// Bytes of shared memory that a block may have on each of them.
    pub shared_bytes: usize,
}

impl Members {
    /// Waits for all of them.
    ///
    /// # Errors
    /// [`SolverError`] if NCCL or the driver fails.
    pub fn gather(gpu: &Gpu, group: &Communicator) -> Result<Self, SolverError> {
        let mut name = [0; NAME_WORDS * size_of::<u64>()];
        let bytes = gpu.name.as_bytes();
        let length = bytes.len().min(name.len());
        name[..length].copy_from_slice(&bytes[..length]);
        let (words, _) = name.as_chunks();
        let mut own = vec![gpu.most_shared as u64];
        own.extend(words.iter().map(|word| u64::from_le_bytes(*word)));
        let found = gpu.check(group.gather(&gpu.stream()?, &own));
        let found = found.map_err(|error| group.error(error))?;
        let (mut names, mut shared_bytes) = (Vec::new(), usize::MAX);
        for of_rank in found.chunks_exact(own.len()) {
            shared_bytes = shared_bytes.min(of_rank[0] as usize);
            let bytes: Vec<_> = of_rank[1..].iter().flat_map(|word| word.to_le_bytes()).collect();
            let name = String::from_utf8_lossy(&bytes);
            names.push(name.trim_end_matches('\0').to_owned());
        }
        Ok(Self { names, shared_bytes })
    }
}
