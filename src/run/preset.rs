//! Presets: named runs to start from.

use super::matrix::{BLOCK, MatrixSpec};
use super::spec::{ProblemKind, ProblemSpec, RunSpec, StopSpec};
use crate::problem::HotBox;

/// A named run.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// The name on the command line.
    pub name: &'static str,
    /// Names of earlier versions, still accepted.
    pub earlier_names: &'static [&'static str],
    /// The name in menus.
    pub label: &'static str,
    /// What it is for, in one sentence.
    pub about: &'static str,
    kind: ProblemKind,
    shape: &'static [usize],
    batch: usize,
    /// The hot part of the initial guess of a heat plate.
    hot_box: Option<HotBox>,
    /// The name of a matrix that comes with the program; the shape is its rows.
    matrix: Option<&'static str>,
    /// A limit of cycles instead of that of its kind.
    max_cycles: Option<u64>,
}

/// All presets, in the order of menus.
pub const PRESETS: [Preset; 15] = [
    preset(
        "poisson-2d",
        "Poisson 2D, 256²",
        "The default experiment.",
        ProblemKind::Poisson,
        &[256, 256],
    ),
    preset(
        "paper-2d",
        "Poisson 2D, 1024² (paper)",
        "Islam & Wang's 2D problem, at its size.",
        ProblemKind::Poisson,
        &[1024, 1024],
    ),
    preset(
        "paper-1d",
        "Poisson 1D, n = 1024 (paper)",
        "Islam & Wang's 1D problem, for the space–time diagram.",
        ProblemKind::Poisson,
        &[1024],
    ),
    Preset {
        batch: 1024,
        earlier_names: &["paper-1d-copies"],
        ..preset(
            "paper-1d-batch",
            "Poisson 1D, batch of 1024 (paper)",
            "The 1D problem as the paper times it: a batch of 1024 systems.",
            ProblemKind::Poisson,
            &[1024],
        )
    },
    preset(
        "heat-plate",
        "Heat plate, hot centre",
        ProblemKind::HeatPlate.about(),
        ProblemKind::HeatPlate,
        &[256, 256],
    ),
    Preset {
        hot_box: Some(HotBox::ARTICLE),
        max_cycles: Some(ARTICLE_CYCLES),
        ..preset(
            "heat-plate-2048",
            "Heat plate, 2048² (article)",
            "The heat plate at the article's size, start (100 in the middle fifth) and threshold (largest update 10⁻⁴, at most 15,000 cycles).",
            ProblemKind::HeatPlate,
            // Of 2048 points per side, two are on the boundary.
            &[2046, 2046],
        )
    },
    preset(
        "hot-side",
        "Heat plate, hot side",
        ProblemKind::HotSide.about(),
        ProblemKind::HotSide,
        &[256, 256],
    ),
    preset(
        "point-sources",
        "Point sources",
        ProblemKind::PointSources.about(),
        ProblemKind::PointSources,
        &[256, 256],
    ),
    preset(
        "random",
        "Random initial guess",
        ProblemKind::Random.about(),
        ProblemKind::Random,
        &[256, 256],
    ),
    preset(
        "convection-diffusion",
        "Convection–diffusion",
        ProblemKind::ConvectionDiffusion.about(),
        ProblemKind::ConvectionDiffusion,
        &[256, 256],
    ),
    preset(
        "diffusion",
        "Diffusion in two materials",
        ProblemKind::Diffusion.about(),
        ProblemKind::Diffusion,
        &[256, 256],
    ),
    preset(
        "random-1d",
        "Random initial guess, 1D",
        "A random initial guess in 1D: short waves decay at once, long ones wait at the tile borders.",
        ProblemKind::Random,
        &[256],
    ),
    preset(
        "poisson-3d",
        "Poisson 3D, 64³",
        "A volume, seen in slices and from outside.",
        ProblemKind::Poisson,
        &[64, 64, 64],
    ),
    preset(
        "heat-cube",
        "Heat cube, hot core",
        "A cube with cold walls, hot inside at first.",
        ProblemKind::HeatPlate,
        &[64, 64, 64],
    ),
    Preset {
        matrix: Some("ice-sheet"),
        ..preset(
            "ice-sheet",
            "Ice sheet, sparse matrix",
            "A matrix of 168,861 rows, as many as the ice-sheet model of Flagg, Monk, Zhu & Segee: choose the order of its unknowns in the Problem panel.",
            ProblemKind::Matrix,
            &[301 * 561],
        )
    },
];

/// The article's limit of cycles.
const ARTICLE_CYCLES: u64 = 15_000;

const fn preset(
    name: &'static str,
    label: &'static str,
    about: &'static str,
    kind: ProblemKind,
    shape: &'static [usize],
) -> Preset {
    let (earlier_names, batch, hot_box, matrix, max_cycles) = (&[], 1, None, None, None);
    Preset { name, earlier_names, label, about, kind, shape, batch, hot_box, matrix, max_cycles }
}

impl Preset {
    /// The preset with this name, or with this earlier one.
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name || preset.earlier_names.contains(&name))
    }

    /// The problem and when it stops, without the method.
    pub fn problem(&self) -> (ProblemSpec, StopSpec) {
        let problem = ProblemSpec {
            kind: self.kind,
            shape: self.shape.to_vec(),
            batch: self.batch,
            hot_box: self.hot_box,
            matrix: self.matrix.map(MatrixSpec::new),
            ..ProblemSpec::default()
        };
        let mut stop = self.kind.default_stop();
        stop.max_cycles = self.max_cycles.unwrap_or(stop.max_cycles);
        (problem, stop)
    }

    /// The whole run, with the default method.
    pub fn run(&self) -> RunSpec {
        let (problem, stop) = self.problem();
        let mut run = RunSpec { problem, stop, ..RunSpec::default() };
        if run.problem.matrix.is_some() {
            run.method.tile = vec![BLOCK];
        }
        run
    }
}
