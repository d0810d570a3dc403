//! By what several GPUs share out a grid.

use serde::{Deserialize, Serialize};

/// By what several GPUs share out a grid. Exchanged after every cycle, no result depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShareBy {
    /// As evenly as their computed points allow.
    #[default]
    Points,
    /// In proportion to their speeds, which are measured when a solver is set up.
    Speed,
}

impl ShareBy {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Points, Self::Speed];

    /// The name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Points => "points",
            Self::Speed => "speed",
        }
    }

    /// What it means, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Points => "Equal shares.",
            Self::Speed => {
                "Shares in proportion to the speed of each GPU, measured when the run is set up."
            }
        }
    }
}
