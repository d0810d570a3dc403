//! A process among several that share a grid or a matrix, one GPU each.

/// A process among those that share a grid or a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// Its number, from 0; rank 0 prints and saves.
    pub index: usize,
    /// How many there are, at least 1.
    pub count: usize,
}

/// What NCCL knows a group of processes by: one of them makes it, and all others are given it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupId(pub [u8; Self::BYTES]);

impl GroupId {
    /// Its length (`NCCL_UNIQUE_ID_BYTES` in `nccl.h`).
    pub const BYTES: usize = 128;
}

/// A process and the group that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankOf {
    /// Which of the group.
    pub rank: Rank,
    /// The group.
    pub group: GroupId,
}

/// Why NCCL, which moves values between GPUs, cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NcclError {
    /// The program was built without the feature `cuda`.
    #[error("processes share a run on GPUs, and this build has no CUDA (feature `cuda`)")]
    NotBuilt,
    /// Its library is in none of the places where it is looked for.
    #[error(
        "NCCL (libnccl.so.2) is neither where the linker looks nor in a package of the Python in use (nvidia-nccl); TILESCOPE_NCCL may name its file"
    )]
    Missing,
    /// The file that was named is not NCCL, or cannot be opened.
    #[error("TILESCOPE_NCCL is {0}, which cannot be opened as NCCL")]
    Unusable(String),
    /// It lacks what is needed.
    #[error("NCCL {0} is too old; {oldest} or newer is needed", oldest = version_text(NcclError::OLDEST))]
    Old(String),
    /// It failed.
    #[error("NCCL failed: {0}")]
    Failed(&'static str),
}

impl NcclError {
    /// The oldest version that is used, as the library counts them: that of 2023, which PyTorch 2.1 came with.
    pub(super) const OLDEST: i32 = 21_800;
}

/// A version as NCCL counts them (`NCCL_VERSION` in `nccl.h`, from 2.9 on), as text.
pub(super) fn version_text(version: i32) -> String {
    format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_read_as_they_are_written() {
        assert_eq!(version_text(22_803), "2.28.3");
        let old = NcclError::Old(version_text(20_905)).to_string();
        assert_eq!(old, "NCCL 2.9.5 is too old; 2.18.0 or newer is needed");
    }
}
