//! The experiments of the papers, with the published results.

use super::flagg;
use super::kochurov;
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
    /// Islam & Wang, long version, table 3: 2D, without overlap
    Table3Long,
    /// Islam & Wang, table III: 2D, with the best overlap
    Table3,
    /// The article's heat plate
    HeatPlate,
    /// Flagg, Monk, Zhu & Segee: sparse matrices, whose runs are described in [`crate::run::flagg`]
    Matrices,
    /// Kochurov, Vorotnikova & Golovashkin: grids larger than fast memory, described in [`crate::run::kochurov`]
    Pyramids,
}

impl Group {
    /// All of them, in the order of the publications.
    pub const ALL: [Self; 8] = [
        Self::Classic,
        Self::Table1,
        Self::Table2,
        Self::Table3Long,
        Self::Table3,
        Self::HeatPlate,
        Self::Matrices,
        Self::Pyramids,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Table1 => "table-1",
            Self::Table2 => "table-2",
            Self::Table3Long => "table-3-long",
            Self::Table3 => "table-3",
            Self::HeatPlate => "heat-plate",
            Self::Matrices => "matrices",
            Self::Pyramids => "pyramids",
        }
    }

    /// What it repeats, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Classic => "Islam & Wang's timings of the classic iteration.",
            Self::Table1 => "Islam & Wang, table I: 1D, without overlap.",
            Self::Table2 => "Islam & Wang, table II: 1D, with the best overlap.",
            Self::Table3Long => "Islam & Wang, long version, table 3: 2D, without overlap.",
            Self::Table3 => "Islam & Wang, table III: 2D, with the best overlap.",
            Self::HeatPlate => "The article's heat plate.",
            Self::Matrices => {
                "Flagg, Monk, Zhu & Segee, tables 2 and 3 and figures 6 to 13: sparse matrices."
            }
            Self::Pyramids => {
                "Kochurov, Vorotnikova & Golovashkin, table 1: cubes larger than fast memory."
            }
        }
    }

    /// What explains the published figures, where something does: published time over the cycles that this
    /// program counted.
    pub const fn explained(self) -> Option<&'static str> {
        match self {
            Self::Table1 | Self::Table2 => Some(
                "What explains tables I and II: a cycle took 57.6 µs at k = 4 and 510 µs at k = 128, so the time grows with k while the cycles that it saves do not; table II's cycles took longer than table I's by the ratio of their blocks (Eq. 9, rounded up to whole blocks) within 1.3 %. Overlap saves cycles and costs blocks.",
            ),
            Self::Table3Long | Self::Table3 => Some(
                "What explains the tables in 2D: a cycle took about max(10.5, 5.1 + 0.57 k) µs for each 160 blocks begun, within 5 %: the TITAN V's 80 multiprocessors hold two blocks of 1,024 threads each, and further blocks wait.",
            ),
            Self::HeatPlate => Some(
                "What the article's times cannot be: those of its limit, 15,000 sweeps of 2048² points. Reading and writing each point once a sweep in 0.118 s takes 8.5·10¹² bytes per second, and in 2.43 s one thread would update 2.6·10¹⁰ points per second. The article states neither its machine nor how many iterations it made. What its race and an order of the tiles change, in a fixed order, in cycles of Poisson's problem on 256² points with T 32 and k 32: at o = 0 2,578 without, 2,405 with --wave 16, 2,327 with --warp 32; at o = 4 1,355, 1,400 and 1,078.",
            ),
            Self::Matrices => Some(flagg::EXPLAINED),
            Self::Pyramids => Some(kochurov::EXPLAINED),
            Self::Classic => None,
        }
    }

    /// How the runs differ from the published experiments.
    pub fn differs(self) -> &'static str {
        match self {
            Self::Classic => {
                "Classic: the paper used a TITAN V. In 1D it took the least time with 128 threads per block, which the speedups refer to; its times with other blocks are repeated on a GPU (--block-size), and listed without a measurement on a CPU, which has no blocks. Elsewhere this program uses the fastest of 32 × 4, 8, 16 and 32 threads on a GPU, as the paper does in 2D."
            }
            Self::Table1 | Self::Table2 | Self::Table3Long | Self::Table3 => {
                "Tables I to III: kernel shared corresponds to the paper's, one block of threads per tile; kernel register is newer. A tile that would extend beyond the grid is moved back."
            }
            Self::Matrices => flagg::DIFFERS,
            Self::Pyramids => kochurov::DIFFERS,
            Self::HeatPlate => {
                "Heat plate: this program starts as the article does, from 100 on |i − N/2| ≤ N/10 of N = 2048 points per side, which include the boundary, and stops as it does, at a largest update of 1e-4 or after 15,000 sweeps; it performs all of these, so its times can be compared with each other but not with the published ones. The article's tiled kernel writes a point while neighbours may still read it; this program's sweeps read the previous iterate, unless --warp 32 makes that race in a fixed order. The article copies the largest update to the host in each iteration; this program copies about a hundred at once."
            }
        }
    }
}

/// The method of an experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExperimentMethod {
    /// The classic iteration on one thread of the CPU.
    Serial,
    /// The classic iteration.
    Classic,
    /// The classic iteration with another number of threads per block than the fastest, on a GPU.
    ClassicBlock {
        /// Threads per block.
        threads: usize,
    },
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
pub struct PublishedExperiment {
    /// The group.
    #[serde(skip)]
    pub group: Group,
    /// Paper, and section or table.
    pub source: &'static str,
    /// The name of the preset that it runs.
    pub preset: &'static str,
    /// The method.
    #[serde(skip)]
    pub how: ExperimentMethod,
    /// Milliseconds, where they were published.
    pub published_ms: Option<f64>,
    /// Speedup over the classic iteration, where it was published.
    pub published_speedup: Option<f64>,
    /// Cycles to the tolerance or to the limit, counted by this program.
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

/// Blocks of 1,024 threads that a TITAN V holds at once: two on each of its 80 multiprocessors.
const TITAN_V_BLOCKS: usize = 160;

/// All experiments. Among those with the same preset, the first is the reference.
pub const EXPERIMENTS: [PublishedExperiment; 33] = [
    timed(
        Group::Classic,
        "Islam & Wang, III-A",
        BATCH_1D,
        ExperimentMethod::Classic,
        5675.69,
        128_760,
    ),
    classic_block(32, 7248.11),
    classic_block(64, 5690.35),
    classic_block(256, 5677.27),
    classic_block(512, 5680.42),
    timed(
        Group::Classic,
        "Islam & Wang (long), 4.2",
        GRID_2D,
        ExperimentMethod::Classic,
        7901.1,
        179_306,
    ),
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
    table_3_long(4, 2.17, 48_475),
    table_3_long(8, 3.67, 28_524),
    table_3_long(16, 3.98, 20_153),
    table_3_long(32, 2.96, 16_486),
    table_3_long(64, 1.86, 14_536),
    table_3_long(128, 1.09, 13_485),
    table_3(4, 0, 2.18, 48_475),
    table_3(8, 2, 4.22, 23_167),
    table_3(16, 2, 5.58, 12_614),
    table_3(32, 4, 5.84, 6_552),
    table_3(64, 6, 4.88, 3_712),
    table_3(128, 8, 3.50, 2_377),
    timed(Group::HeatPlate, "article, serial", PLATE, ExperimentMethod::Serial, 2430.0, 15_000),
    timed(
        Group::HeatPlate,
        "article, first kernel",
        PLATE,
        ExperimentMethod::Classic,
        134.0,
        15_000,
    ),
    timed(
        Group::HeatPlate,
        "article, tiled",
        PLATE,
        ExperimentMethod::Tiled { tile: 16, k: 1, overlap: 0 },
        118.0,
        15_000,
    ),
];

const fn timed(
    group: Group,
    source: &'static str,
    preset: &'static str,
    how: ExperimentMethod,
    published_ms: f64,
    cycles: u64,
) -> PublishedExperiment {
    PublishedExperiment {
        group,
        source,
        preset,
        how,
        published_ms: Some(published_ms),
        published_speedup: None,
        cycles,
    }
}

const fn classic_block(threads: usize, published_ms: f64) -> PublishedExperiment {
    let how = ExperimentMethod::ClassicBlock { threads };
    timed(Group::Classic, "Islam & Wang (long), 3.4", BATCH_1D, how, published_ms, 128_760)
}

const fn table_1(k: usize, speedup: f64, cycles: u64) -> PublishedExperiment {
    faster(Group::Table1, "Islam & Wang, table I", BATCH_1D, [k, 0], speedup, cycles)
}

const fn table_2(k: usize, overlap: usize, speedup: f64, cycles: u64) -> PublishedExperiment {
    faster(Group::Table2, "Islam & Wang, table II", BATCH_1D, [k, overlap], speedup, cycles)
}

const fn table_3_long(k: usize, speedup: f64, cycles: u64) -> PublishedExperiment {
    faster(Group::Table3Long, "Islam & Wang (long), table 3", GRID_2D, [k, 0], speedup, cycles)
}

const fn table_3(k: usize, overlap: usize, speedup: f64, cycles: u64) -> PublishedExperiment {
    faster(Group::Table3, "Islam & Wang, table III", GRID_2D, [k, overlap], speedup, cycles)
}

const fn faster(
    group: Group,
    source: &'static str,
    preset: &'static str,
    [k, overlap]: [usize; 2],
    speedup: f64,
    cycles: u64,
) -> PublishedExperiment {
    let how = ExperimentMethod::Tiled { tile: 32, k, overlap };
    let published_speedup = Some(speedup);
    PublishedExperiment {
        group,
        source,
        preset,
        how,
        published_ms: None,
        published_speedup,
        cycles,
    }
}

impl PublishedExperiment {
    /// The run, with the default method.
    pub fn run(&self) -> RunSpec {
        Preset::named(self.preset).map(Preset::run).unwrap_or_default()
    }

    /// The method in a few words.
    pub fn setting(&self) -> String {
        match self.how {
            ExperimentMethod::Serial => "one thread".to_owned(),
            ExperimentMethod::Classic => "classic".to_owned(),
            ExperimentMethod::ClassicBlock { threads } => format!("{threads} threads per block"),
            ExperimentMethod::Tiled { tile, k, overlap } => format!("T {tile}, k {k}, o {overlap}"),
        }
    }

    /// The experiment that it is compared with: the first with its preset.
    fn reference(&self) -> Option<&'static Self> {
        EXPERIMENTS.iter().find(|first| first.preset == self.preset)
    }

    /// Whether other experiments are compared with it.
    pub fn is_reference(&self) -> bool {
        self.reference().is_some_and(|first| first.how == self.how)
    }

    /// The published time in seconds, directly or from the speedup.
    pub fn published_seconds(&self) -> Option<f64> {
        let ms = |experiment: &Self| experiment.published_ms.map(|ms| ms * 1e-3);
        ms(self).or_else(|| Some(ms(self.reference()?)? / self.published_speedup?))
    }

    /// The published time over the cycles that this program counts, in seconds; `None` for the heat plate,
    /// whose number of iterations is not known.
    pub fn published_seconds_per_cycle(&self) -> Option<f64> {
        let is_known = self.group != Group::HeatPlate;
        self.published_seconds().filter(|_| is_known).map(|seconds| seconds / self.cycles as f64)
    }

    /// Seconds per cycle according to [`Group::explained`]: in 1D with overlap those without it times the
    /// ratio of blocks, in 2D a formula.
    pub fn explained_seconds_per_cycle(&self) -> Option<f64> {
        let ExperimentMethod::Tiled { tile, k, overlap } = self.how else { return None };
        let side = self.run().problem.shape[0];
        let blocks = |overlap: usize| (side - overlap).div_ceil(tile - overlap);
        match self.group {
            Group::Table2 => {
                let table_1 = EXPERIMENTS.iter().filter(|other| other.group == Group::Table1);
                let same =
                    |other: &&Self| other.how == ExperimentMethod::Tiled { tile, k, overlap: 0 };
                let seconds = table_1.clone().find(same)?.published_seconds_per_cycle()?;
                Some(seconds * blocks(overlap) as f64 / blocks(0) as f64)
            }
            Group::Table3Long | Group::Table3 => {
                let rounds = blocks(overlap).pow(2).div_ceil(TITAN_V_BLOCKS) as f64;
                Some(1e-6 * f64::max(10.5, 5.1 + 0.57 * k as f64) * rounds)
            }
            Group::Classic
            | Group::Table1
            | Group::HeatPlate
            | Group::Matrices
            | Group::Pyramids => None,
        }
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

    const ERRATA: &str = include_str!("../../assets/papers.md");

    #[test]
    fn the_articles_times_cannot_be_those_of_its_limit() {
        let seconds = |source: &str| {
            let row = EXPERIMENTS.iter().find(|row| row.source == source).unwrap();
            (row.published_seconds().unwrap(), row.cycles as f64 * 2048.0 * 2048.0)
        };
        let (tiled, updates) = seconds("article, tiled");
        let bytes = format!("{:.1}·10¹² bytes", 2.0 * 8.0 * updates / tiled * 1e-12);
        let (serial, updates) = seconds("article, serial");
        let rate = format!("{:.1}·10¹⁰ points", updates / serial * 1e-10);
        let text = Group::HeatPlate.explained().unwrap();
        assert!(text.contains(&bytes) && text.contains(&rate), "{bytes}, {rate}: {text}");
        // The counts that tests/checked_figures.rs makes, as the page of errata has them.
        for count in ["2,578", "2,405", "2,327", "1,355", "1,400", "1,078"] {
            assert!(text.contains(count) && ERRATA.contains(count), "{count}");
        }
    }

    /// The sentences of [`Group::explained`], checked on every row.
    #[test]
    fn a_formula_explains_the_published_times() {
        let micros = |experiment: &PublishedExperiment| {
            1e6 * experiment.published_seconds_per_cycle().unwrap()
        };
        let of = |group: Group| EXPERIMENTS.iter().filter(move |other| other.group == group);
        let table_1: Vec<_> =
            of(Group::Table1).map(|row| (10.0 * micros(row)).round() / 10.0).collect();
        assert_eq!(table_1, [57.6, 58.3, 76.6, 138.2, 262.5, 510.2]);
        for (group, most) in
            [(Group::Table2, 0.013), (Group::Table3Long, 0.03), (Group::Table3, 0.05)]
        {
            for row in of(group) {
                let explained = 1e6 * row.explained_seconds_per_cycle().unwrap();
                let off = (micros(row) / explained - 1.0).abs();
                assert!(off < most, "{group:?} {}: {off}", row.setting());
            }
        }
        assert!(of(Group::HeatPlate).all(|row| row.published_seconds_per_cycle().is_none()));
    }
}
