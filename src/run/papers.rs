//! The papers' experiments, and what was published of them.

use super::preset::Preset;
use super::spec::RunSpec;
use serde::Serialize;

/// Experiments that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Islam & Wang's timings of the classic iteration
    Classic,
    /// Islam & Wang, table I: lines, without overlap
    Table1,
    /// Islam & Wang, table II: lines, with the best overlap
    Table2,
    /// Islam & Wang, table III: a plane, with the best overlap
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

    /// How what is made here differs from what was published.
    pub fn differs(self) -> &'static str {
        match self {
            Self::Classic => {
                "Classic: the paper ran a TITAN V. Its lines took 7,248.11, 5,690.35, 5,675.69, 5,677.27 and 5,680.42 ms at 32, 64, 128, 256 and 512 threads a block, of which the least is shown; here a GPU runs the fastest of 32 × 4, 8, 16 and 32 threads, as the paper does for its plane."
            }
            Self::Table1 | Self::Table2 | Self::Table3 => {
                "Tables I to III: kernel shared is the paper's, one block of threads a tile; kernel register came after it. Where a tile would stand over the end of the grid, it is moved back."
            }
            Self::HeatPlate => {
                "Heat plate: the article names neither its machine nor how many iterations it made; 2.43 s on one thread are too short for the 15,000 that it allows. Here a hot square in the middle cools down until the largest change is at most 1e-4, after 2,670 sweeps; so the times compare with each other, and not with the published ones. Its 2048 points a side hold the ring, here they are beside it. Its tiled kernel writes a point while neighbours may still read it; here each sweep reads the one before. It copies the change to the host in each iteration; here some hundred of them come at once."
            }
        }
    }
}

/// How an experiment is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The classic iteration on one thread of the CPU.
    Serial,
    /// The classic iteration.
    Classic,
    /// The hierarchical one.
    Tiled {
        /// Points of a tile along every axis.
        tile: usize,
        /// Subiterations of a cycle.
        k: usize,
        /// Points that neighbouring tiles share.
        overlap: usize,
    },
}

/// One figure of a paper, or two.
#[derive(Debug, Serialize)]
pub struct Experiment {
    /// What it belongs to.
    #[serde(skip)]
    pub group: Group,
    /// Paper and place.
    pub source: &'static str,
    /// The run that it is made of.
    pub preset: &'static str,
    /// How it is made.
    #[serde(skip)]
    pub how: How,
    /// Milliseconds, where the paper tells them.
    pub published_ms: Option<f64>,
    /// How many times as fast as the classic iteration, where the paper tells it.
    pub published_speedup: Option<f64>,
    /// Cycles of a whole run, counted by this program.
    #[serde(skip)]
    pub cycles: u64,
}

/// Bytes of the L2 cache of a TITAN V, on which Islam & Wang timed.
///
/// Source: NVIDIA's figures of the GPU, 4.5 MB.
pub const TITAN_V_L2: u64 = 4608 * 1024;

const LINES: &str = "paper-1d-batch";
const PLANE: &str = "paper-2d";
const PLATE: &str = "heat-plate-2048";

/// All of them; what others of the same run are compared with stands before them.
pub const EXPERIMENTS: [Experiment; 23] = [
    timed(Group::Classic, "Islam & Wang, III-A", LINES, How::Classic, 5675.69, 128_760),
    timed(Group::Classic, "Islam & Wang (long), 4.2", PLANE, How::Classic, 7901.1, 179_306),
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
    faster(Group::Table1, "Islam & Wang, table I", LINES, [k, 0], speedup, cycles)
}

const fn table_2(k: usize, overlap: usize, speedup: f64, cycles: u64) -> Experiment {
    faster(Group::Table2, "Islam & Wang, table II", LINES, [k, overlap], speedup, cycles)
}

const fn table_3(k: usize, overlap: usize, speedup: f64, cycles: u64) -> Experiment {
    faster(Group::Table3, "Islam & Wang, table III", PLANE, [k, overlap], speedup, cycles)
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

    /// What it is, in a few words.
    pub fn setting(&self) -> String {
        match self.how {
            How::Serial => "one thread".to_owned(),
            How::Classic => "classic".to_owned(),
            How::Tiled { tile, k, overlap } => format!("T {tile}, k {k}, o {overlap}"),
        }
    }

    /// Whether others are compared with it.
    pub fn is_reference(&self) -> bool {
        EXPERIMENTS
            .iter()
            .find(|first| first.preset == self.preset)
            .is_some_and(|first| first.how == self.how)
    }

    /// Islam & Wang's times hold the transfers, and their cycles find out nothing; in the article it
    /// is the other way round.
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
    fn every_experiment_is_of_a_preset_and_has_a_figure() {
        for experiment in &EXPERIMENTS {
            assert!(Preset::named(experiment.preset).is_some(), "{}", experiment.preset);
            assert!(experiment.published_ms.is_some() != experiment.published_speedup.is_some());
            assert!(experiment.cycles > 0 && !experiment.group.differs().is_empty());
        }
        let references = EXPERIMENTS.iter().filter(|experiment| experiment.is_reference());
        assert_eq!(references.count(), 3);
    }
}
