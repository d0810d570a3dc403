//! The experiments of the papers, with the published results.

use super::preset::Preset;
use super::spec::RunSpec;
use serde::Serialize;

/// Experiments that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Islam & Wang's timings of the classic iteration
    Classic,
    /// Islam & Wang, table I: 1D, without overlap
    Table1,
    /// Islam & Wang, table II: 1D, with the best overlap
    Table2,
    /// Islam & Wang, table III: 2D, with the best overlap
    Table3,
    /// The article's heat plate
    HeatPlate,
}

impl Group {
    /// All of them, in the order of the publications.
    pub const ALL: [Self; 5] =
        [Self::Classic, Self::Table1, Self::Table2, Self::Table3, Self::HeatPlate];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Table1 => "table-1",
            Self::Table2 => "table-2",
            Self::Table3 => "table-3",
            Self::HeatPlate => "heat-plate",
        }
    }

    /// What it repeats, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Classic => "Islam & Wang's timings of the classic iteration.",
            Self::Table1 => "Islam & Wang, table I: 1D, without overlap.",
            Self::Table2 => "Islam & Wang, table II: 1D, with the best overlap.",
            Self::Table3 => "Islam & Wang, table III: 2D, with the best overlap.",
            Self::HeatPlate => "The article's heat plate.",
        }
    }

    /// How the runs differ from the published experiments.
    pub fn differs(self) -> &'static str {
        match self {
            Self::Classic => {
                "Classic: the paper used a TITAN V. Its 1D runs took 7,248.11, 5,690.35, 5,675.69, 5,677.27 and 5,680.42 ms with 32, 64, 128, 256 and 512 threads per block; the least is shown. This program uses the fastest of 32 × 4, 8, 16 and 32 threads on a GPU, as the paper does in 2D."
            }
            Self::Table1 | Self::Table2 | Self::Table3 => {
                "Tables I to III: kernel shared corresponds to the paper's, one block of threads per tile; kernel register is newer. A tile that would extend beyond the grid is moved back."
            }
            Self::HeatPlate => {
                "Heat plate: the article states neither its machine nor its number of iterations; 2.43 s on one thread are too short for the 15,000 that it allows. This program cools a hot square until the largest change is at most 1e-4, after 2,670 sweeps, so its times can be compared with each other but not with the published ones. The article's 2048 points per side include the boundary, this program's do not. The article's tiled kernel writes a point while neighbours may still read it; this program's sweeps read the previous iterate. The article copies the change to the host in each iteration; this program copies about a hundred at once."
            }
        }
    }
}

/// The method of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The classic iteration on one thread of the CPU.
    Serial,
    /// The classic iteration.
    Classic,
    /// The hierarchical iteration.
    Tiled {
        /// Points of a tile along every axis.
        tile: usize,
        /// Subiterations of a cycle.
        k: usize,
        /// Points that neighbouring tiles share.
        overlap: usize,
    },
}

/// A published result.
#[derive(Debug, Serialize)]
pub struct Experiment {
    /// The group.
    #[serde(skip)]
    pub group: Group,
    /// Paper, and section or table.
    pub source: &'static str,
    /// The name of the preset that it runs.
    pub preset: &'static str,
    /// The method.
    #[serde(skip)]
    pub how: How,
    /// Milliseconds, where they were published.
    pub published_ms: Option<f64>,
    /// Speedup over the classic iteration, where it was published.
    pub published_speedup: Option<f64>,
    /// Cycles to the tolerance, counted by this program.
    #[serde(skip)]
    pub cycles: u64,
}

/// Size in bytes of the L2 cache of a TITAN V, which Islam & Wang used.
///
/// Source: NVIDIA's specification, 4.5 MB.
pub const TITAN_V_L2: u64 = 4608 * 1024;

const BATCH_1D: &str = "paper-1d-batch";
const GRID_2D: &str = "paper-2d";
const PLATE: &str = "heat-plate-2048";

/// All experiments. Of those with the same preset, the first is the reference.
pub const EXPERIMENTS: [Experiment; 23] = [
    timed(Group::Classic, "Islam & Wang, III-A", BATCH_1D, How::Classic, 5675.69, 128_760),
    timed(Group::Classic, "Islam & Wang (long), 4.2", GRID_2D, How::Classic, 7901.1, 179_306),
    table_1(4, 2.45, 40_241),
    table_1(8, 3.82, 25_481),
    table_1(16, 3.79, 19_555),
    table_1(32, 2.47, 16_632),
    table_1(64, 1.46, 14_808),
    table_1(128, 0.81, 13_733),
    table_2(4, 2, 3.09, 29_441),
    table_2(8, 4, 5.74, 14_857),
    table_2(16, 4, 8.00, 8_093),
    table_2(32, 8, 7.50, 4_123),
    table_2(64, 10, 5.84, 2_545),
    table_2(128, 12, 3.75, 1_864),
    table_3(4, 0, 2.18, 48_475),
    table_3(8, 2, 4.22, 23_167),
    table_3(16, 2, 5.58, 12_614),
    table_3(32, 4, 5.84, 6_552),
    table_3(64, 6, 4.88, 3_712),
    table_3(128, 8, 3.50, 2_377),
    timed(Group::HeatPlate, "article, serial", PLATE, How::Serial, 2430.0, 2_670),
    timed(Group::HeatPlate, "article, first kernel", PLATE, How::Classic, 134.0, 2_670),
    timed(
        Group::HeatPlate,
        "article, tiled",
        PLATE,
        How::Tiled { tile: 16, k: 1, overlap: 0 },
        118.0,
        2_670,
    ),
];

const fn timed(
    group: Group,
    source: &'static str,
    preset: &'static str,
    how: How,
    published_ms: f64,
    cycles: u64,
) -> Experiment {
    Experiment {
        group,
        source,
        preset,
        how,
        published_ms: Some(published_ms),
        published_speedup: None,
        cycles,
    }
}

const fn table_1(k: usize, speedup: f64, cycles: u64) -> Experiment {
    faster(Group::Table1, "Islam & Wang, table I", BATCH_1D, [k, 0], speedup, cycles)
}

const fn table_2(k: usize, overlap: usize, speedup: f64, cycles: u64) -> Experiment {
    faster(Group::Table2, "Islam & Wang, table II", BATCH_1D, [k, overlap], speedup, cycles)
}

const fn table_3(k: usize, overlap: usize, speedup: f64, cycles: u64) -> Experiment {
    faster(Group::Table3, "Islam & Wang, table III", GRID_2D, [k, overlap], speedup, cycles)
}

const fn faster(
    group: Group,
    source: &'static str,
    preset: &'static str,
    [k, overlap]: [usize; 2],
    speedup: f64,
    cycles: u64,
) -> Experiment {
    let how = How::Tiled { tile: 32, k, overlap };
    let published_speedup = Some(speedup);
    Experiment { group, source, preset, how, published_ms: None, published_speedup, cycles }
}

impl Experiment {
    /// The run, with the default method.
    pub fn run(&self) -> RunSpec {
        Preset::named(self.preset).map(Preset::run).unwrap_or_default()
    }

    /// The method in a few words.
    pub fn setting(&self) -> String {
        match self.how {
            How::Serial => "one thread".to_owned(),
            How::Classic => "classic".to_owned(),
            How::Tiled { tile, k, overlap } => format!("T {tile}, k {k}, o {overlap}"),
        }
    }

    /// Whether other experiments are compared with it.
    pub fn is_reference(&self) -> bool {
        EXPERIMENTS
            .iter()
            .find(|first| first.preset == self.preset)
            .is_some_and(|first| first.how == self.how)
    }

    /// Whether the published times include the transfers to and from the GPU.
    pub fn counts_transfers(&self) -> bool {
        self.group != Group::HeatPlate
    }

    /// Whether the norms of each cycle are measured.
    pub fn counts_norms(&self) -> bool {
        self.group == Group::HeatPlate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_has_a_preset_and_a_published_result() {
        for experiment in &EXPERIMENTS {
            assert!(Preset::named(experiment.preset).is_some(), "{}", experiment.preset);
            assert!(experiment.published_ms.is_some() != experiment.published_speedup.is_some());
            assert!(experiment.cycles > 0 && !experiment.group.differs().is_empty());
        }
        let references = EXPERIMENTS.iter().filter(|experiment| experiment.is_reference());
        assert_eq!(references.count(), 3);
    }
}
