//! Why the planes of a run visit the GPU, where that was not chosen.

use crate::grid::ByteCount;
use crate::grid::memory::human;
use crate::number::counted;
use std::fmt;

/// A run whose planes visit a GPU, which back end `auto` chose. Displayed as a sentence for its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AutoStream {
    /// The name of the GPU.
    pub gpu: String,
    /// Bytes that were free on it.
    pub free: u64,
    /// Bytes that method `classic` would need; `None` where a method that streams was chosen.
    pub needed: Option<u64>,
    /// The budget.
    pub memory: ByteCount,
    /// Sweeps of a cycle.
    pub height: usize,
}

impl fmt::Display for AutoStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { gpu, free, needed, memory, height } = self;
        match needed {
            Some(needed) => write!(
                f,
                "method classic needs {} and {gpu} has {} of memory free, so method wavefront makes the same sweeps, {height} in a cycle, with a budget of {memory}",
                human(*needed),
                human(*free)
            ),
            None => write!(
                f,
                "the planes visit {gpu}, with cycles of {} and a budget of {memory}",
                counted(*height as u64, "sweep")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GB: u64 = 1_000_000_000;

    #[test]
    fn it_is_one_sentence() {
        let stream = AutoStream {
            gpu: "Test GPU".into(),
            free: 15 * GB,
            needed: Some(26 * GB),
            memory: ByteCount::new(8 * GB),
            height: 100,
        };
        assert_eq!(
            stream.to_string(),
            "method classic needs 26.0 GB and Test GPU has 15.0 GB of memory free, so method wavefront makes the same sweeps, 100 in a cycle, with a budget of 8GB"
        );
        assert_eq!(
            AutoStream { needed: None, ..stream }.to_string(),
            "the planes visit Test GPU, with cycles of 100 sweeps and a budget of 8GB"
        );
    }
}
