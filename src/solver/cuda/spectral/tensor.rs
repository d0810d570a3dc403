//! Subiterations in the sine basis on tensor cores: for which tiles there are functions, and how they are launched.

use super::super::arguments::COLUMNS_BEFORE;
use super::super::cycle_kernel::WARP;
use super::super::ptx::File;
use super::super::setting::Setting;
use super::tables::{self, ONE_WARP_SIDE, in_matrix};
use crate::grid::Precision;
use crate::solver::Spectral;
use crate::solver::spectral::AxisModes;

/// The oldest compute capability with these products.
pub(super) const OLDEST: (i32, i32) = (9, 0);

/// How many times as fast tensor cores are as other arithmetic. NVIDIA H100 Tensor Core GPU Architecture: on an H100 and H200
/// twice in f64, and 16 times in half precision, of which f32 takes three products.
pub(super) fn gain(capability: (i32, i32), precision: Precision) -> f64 {
    match (capability.0, precision) {
        (9, Precision::F64) => 2.0,
        (9, Precision::F32) => 16.0 / 3.0,
        _ => 1.0,
    }
}

/// How `spectral_tensor_1d.cu` and, in f32, `spectral_tensor_1d_f32.cu` work on tiles of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    precision: Precision,
    side: usize,
    function: &'static str,
    /// Columns of a warp, and tiles of a block at a time.
    columns: usize,
    tiles: usize,
    /// Blocks of a multiprocessor.
    resident: u32,
}

const LINES: [Line; 8] = [
    Line::of(Precision::F64, 32, "side_32", [16, 32], 8),
    Line::of(Precision::F64, 64, "side_64", [16, 16], 4),
    Line::of(Precision::F64, 96, "side_96", [8, 16], 1),
    Line::of(Precision::F64, 128, "side_128", [8, 16], 1),
    Line::of(Precision::F32, 32, "side_32", [8, 48], 7),
    Line::of(Precision::F32, 64, "side_64", [8, 48], 4),
    Line::of(Precision::F32, 96, "side_96", [8, 64], 2),
    Line::of(Precision::F32, 128, "side_128", [8, 80], 1),
];

/// How `spectral_strips.cu` works on square tiles of 32 points, one warp each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Strips {
    pub precision: Precision,
    function: &'static str,
    /// Columns that are copied for the tiles of a strip together.
    pub columns: u32,
    /// Strips that a block works on at a time.
    pub groups: usize,
}

/// The first one that takes the overlap is used.
const STRIPS: [Strips; 4] = [
    Strips { precision: Precision::F64, function: "narrow", columns: 124, groups: 2 },
    Strips { precision: Precision::F64, function: "wide", columns: 132, groups: 2 },
    Strips { precision: Precision::F32, function: "narrow", columns: 120, groups: 4 },
    Strips { precision: Precision::F32, function: "wide", columns: 136, groups: 4 },
];

/// Tiles of a strip.
pub(super) const TILES_OF_STRIP: usize = 4;

/// How `spectral_tensor.cu` works on square tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Square {
    precision: Precision,
    side: usize,
    function: &'static str,
    /// Warps of a tile, and tiles that a block works on at a time.
    warps: usize,
    groups: usize,
    /// Whether the factors stay in shared memory.
    keeps_factors: bool,
}

const SQUARES: [Square; 7] = [
    Square::of(Precision::F64, 48, "side_48", [4, 3], true),
    Square::of(Precision::F64, 64, "side_64", [4, 2], true),
    Square::of(Precision::F64, 128, "side_128", [8, 1], false),
    Square::of(Precision::F32, 48, "side_48", [4, 4], true),
    Square::of(Precision::F32, 64, "side_64", [4, 4], true),
    Square::of(Precision::F32, 96, "side_96", [4, 2], true),
    Square::of(Precision::F32, 128, "side_128", [8, 2], false),
];

/// How `spectral_tensor_3d.cu` and, with 16 points in f32, `spectral_tensor_3d_f32.cu` work on cubic tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cube {
    precision: Precision,
    side: usize,
    file: File,
    function: &'static str,
    threads: u32,
    /// Blocks of a multiprocessor.
    resident: u32,
}

const CUBES: [Cube; 4] = [
    Cube::of(Precision::F64, 16, File::SpectralTensor3d, "side_16", [128, 4]),
    Cube::of(Precision::F64, 24, File::SpectralTensor3d, "side_24", [384, 1]),
    Cube::of(Precision::F32, 16, File::SpectralTensor3dF32, "side_16", [128, 6]),
    Cube::of(Precision::F32, 24, File::SpectralTensor3d, "side_24", [256, 2]),
];

/// The functions of all these files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    Line(Line),
    Strips(Strips),
    Square(Square),
    Cube(Cube),
    /// `spectral_cluster_3d.cu`: a cluster of two blocks works on each cube of 32 points.
    SharedCube(Precision),
}

/// The shared memory of a block on GPUs of compute capability 9.0 and 10.0, which have clusters. No GPU without them gives as
/// much; and no other form takes these cubes, so that a GPU must not accept what it cannot run.
const SHARED_WITH_CLUSTERS: usize = 227 * 1024;

/// How a plan is launched.
pub(super) struct Layout {
    pub file: File,
    pub function: &'static str,
    pub threads: u32,
    /// Bytes of shared memory.
    pub bytes: usize,
    /// The most blocks of a multiprocessor: a block passes over several tiles.
    pub resident: u32,
    /// The fewest tiles for each of them.
    pub tiles: u32,
    /// Blocks that work on the same tiles, as a cluster.
    pub cluster: u32,
    /// Tiles that it works on at a time.
    pub together: u32,
}

impl Plan {
    /// The plan for the tiles of a setting, if there is one.
    pub fn of(setting: &Setting<'_>, spectral: &Spectral) -> Option<Self> {
        let axes = spectral.axes();
        let side = axes[0].side();
        let precision = setting.precision;
        // Kernels are not compiled for weights that differ between the two neighbours along an axis.
        let is_taken = |axis: &AxisModes| axis.side() == side && axis.scale(0).is_none();
        if !axes.iter().all(is_taken) {
            return None;
        }
        let plan = match (axes.len(), precision) {
            (2, _) if side == ONE_WARP_SIDE => {
                // From where copies begin up to the halo behind the last tile.
                let step = spectral.tiling().axes()[0].stride();
                let needed = COLUMNS_BEFORE + (TILES_OF_STRIP - 1) * step + side + 1;
                let is_it =
                    |plan: &Strips| plan.precision == precision && plan.columns as usize >= needed;
                STRIPS.into_iter().find(is_it).map(Self::Strips)
            }
            (2, _) => {
                let is_it = |plan: &Square| (plan.precision, plan.side) == (precision, side);
                SQUARES.into_iter().find(is_it).map(Self::Square)
            }
            (1, _) => {
                let is_it = |plan: &Line| (plan.precision, plan.side) == (precision, side);
                LINES.into_iter().find(is_it).map(Self::Line)
            }
            _ => {
                let is_it = |plan: &Cube| (plan.precision, plan.side) == (precision, side);
                let is_shared =
                    side == ONE_WARP_SIDE && setting.shared_bytes >= SHARED_WITH_CLUSTERS;
                let of_one_block = CUBES.into_iter().find(is_it).map(Self::Cube);
                of_one_block.or(is_shared.then_some(Self::SharedCube(precision)))
            }
        };
        plan.filter(|plan| plan.layout().bytes <= setting.shared_bytes)
    }

    pub fn layout(self) -> Layout {
        match self {
            Self::Line(plan) => Layout {
                file: match plan.precision {
                    Precision::F64 => File::SpectralTensor1d,
                    Precision::F32 => File::SpectralTensor1dF32,
                },
                function: plan.function,
                threads: WARP * (plan.side / plan.columns) as u32,
                bytes: plan.bytes(),
                resident: plan.resident,
                tiles: plan.tiles as u32,
                cluster: 1,
                together: plan.tiles as u32,
            },
            Self::Strips(plan) => plan.layout(),
            Self::Square(plan) => {
                let Square { precision, side, function, warps, groups, keeps_factors } = plan;
                // The matrices and the factors; and of each tile its quadrants and, in f32, a value of each warp.
                let half = side / 2;
                let matrices = 2 * in_matrix(half, precision).pow(2) * precision.bytes();
                let pairs = 4 * half.pow(2) * precision.bytes();
                let largest = match precision {
                    Precision::F32 => warps * groups * size_of::<f32>(),
                    Precision::F64 => 0,
                };
                Layout {
                    file: File::SpectralTensor,
                    function,
                    threads: WARP * (warps * groups) as u32,
                    bytes: matrices + (usize::from(keeps_factors) + groups) * pairs + largest,
                    resident: 1,
                    tiles: 1,
                    cluster: 1,
                    together: groups as u32,
                }
            }
            Self::Cube(plan) => Layout {
                file: plan.file,
                function: plan.function,
                threads: plan.threads,
                bytes: plan.bytes(),
                resident: plan.resident,
                tiles: 1,
                cluster: 1,
                together: 1,
            },
            Self::SharedCube(precision) => {
                // In f32 two blocks fit a multiprocessor, and each thread takes two columns of its block by turns.
                let resident = match precision {
                    Precision::F64 => 1,
                    Precision::F32 => 2,
                };
                let threads = ONE_WARP_SIDE.pow(2) / 2 / resident;
                // A block has half of the tile, the matrices, and a sum of each thread.
                let values = ONE_WARP_SIDE.pow(3) / 2 + 2 * (ONE_WARP_SIDE / 2).pow(2);
                Layout {
                    file: File::SpectralCluster3d,
                    function: "side_32",
                    threads: threads as u32,
                    bytes: values * precision.bytes() + threads * size_of::<f64>(),
                    resident: resident as u32,
                    tiles: 1,
                    cluster: 2,
                    together: 1,
                }
            }
        }
    }

    /// Whether tiles are cubes, of which blocks take one after another.
    pub fn is_of_cubes(self) -> bool {
        matches!(self, Self::Cube(_) | Self::SharedCube(_))
    }

    /// Whether these read from memory where the cubes lie.
    pub fn reads_places(self) -> bool {
        matches!(self, Self::Cube(_))
    }

    /// How tiles are taken in strips, where they are.
    pub fn strips(self) -> Option<Strips> {
        match self {
            Self::Strips(plan) => Some(plan),
            _ => None,
        }
    }

    /// The tables as the kernels read them, and what corrections are multiplied by in the end.
    pub fn tables(self, spectral: &Spectral) -> (Vec<f64>, f32) {
        match self {
            Self::Line(Line { precision, columns, .. }) => {
                tables::line(spectral, precision, columns)
            }
            Self::Strips(Strips { precision, .. }) | Self::Square(Square { precision, .. }) => {
                tables::square(spectral, precision)
            }
            Self::Cube(Cube { precision, .. }) => tables::cube(spectral, precision),
            Self::SharedCube(precision) => tables::shared_cube(spectral, precision),
        }
    }
}

/// Bytes of a pair of values in f64, and of four in f32: what a lane loads of a matrix at once.
const PAIR: usize = 2 * size_of::<f64>();

impl Line {
    const fn of(
        precision: Precision,
        side: usize,
        function: &'static str,
        [columns, tiles]: [usize; 2],
        resident: u32,
    ) -> Self {
        Self { precision, side, function, columns, tiles, resident }
    }

    /// Bytes of shared memory.
    fn bytes(self) -> usize {
        let half = self.side / 2;
        match self.precision {
            // Rows of a half have a gap of 4 pairs.
            Precision::F64 => self.tiles * (half + 4) * PAIR,
            // Of both halves the operands (for each step of 16 points, in two parts) and what comes out.
            Precision::F32 => {
                let operands = self.tiles / 16 * 2 * (half / 16) * (4 * WARP as usize + 16);
                let results = self.tiles * (half / 2 + 4) * 2;
                2 * (operands + results) * size_of::<f32>()
            }
        }
    }
}

impl Square {
    const fn of(
        precision: Precision,
        side: usize,
        function: &'static str,
        [warps, groups]: [usize; 2],
        keeps_factors: bool,
    ) -> Self {
        Self { precision, side, function, warps, groups, keeps_factors }
    }
}

impl Strips {
    pub fn layout(self) -> Layout {
        Layout {
            file: File::SpectralStrips,
            function: self.function,
            threads: WARP * (self.groups * TILES_OF_STRIP) as u32,
            bytes: self.bytes(),
            resident: 1,
            tiles: 1,
            cluster: 1,
            together: (self.groups * TILES_OF_STRIP) as u32,
        }
    }

    /// Bytes of shared memory: `Strip::TOTAL` and `Places::BYTES` of the kernel.
    fn bytes(self) -> usize {
        let Self { precision, columns, groups, .. } = self;
        let points = (ONE_WARP_SIDE / 2).pow(2);
        let tables = (2 + 4) * points * precision.bytes();
        // Twice nine and twice eight rows of the iterate and four times eight of g, each rounded up to 128 bytes, and a
        // barrier.
        let rows =
            |rows: usize| (rows * columns as usize * precision.bytes()).next_multiple_of(128);
        let strip = rows(2 * 9) + rows(2 * 8) + rows(4 * 8) + 128;
        // 32 places of each warp.
        let places = TILES_OF_STRIP * WARP as usize * 20;
        tables + groups * (strip + places)
    }
}

impl Cube {
    const fn of(
        precision: Precision,
        side: usize,
        file: File,
        function: &'static str,
        [threads, resident]: [u32; 2],
    ) -> Self {
        Self { precision, side, file, function, threads, resident }
    }

    /// Bytes of shared memory: the tile, the matrix, and a sum of each thread.
    fn bytes(self) -> usize {
        let values = self.side.pow(3) + in_matrix(self.side, self.precision).pow(2);
        values * self.precision.bytes() + self.threads as usize * size_of::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::ptx::{self, Form};
    use super::super::tests::{SYMMETRIC, of_tile};
    use super::*;
    use crate::grid::Tiling;
    use crate::problem::Stencil;
    use crate::solver::{Method, Subiterations};

    fn planned(
        tile: &[usize],
        stencil: &Stencil,
        precision: Precision,
    ) -> Option<(Plan, Spectral)> {
        let (method, spectral) = of_tile(&[300; 3][..tile.len()], tile, stencil);
        let shape = crate::grid::Shape::grid_1d(300, 1).unwrap();
        let setting = Setting {
            method: &method,
            precision,
            shape: &shape,
            shared_bytes: 227 * 1024,
            is_per_point: false,
            block_size: None,
        };
        Plan::of(&setting, &spectral).map(|plan| (plan, spectral))
    }

    #[test]
    fn tensor_cores_take_tiles_of_equal_sides_with_symmetric_weights() {
        let is_planned = |tile: &[usize], stencil: &Stencil, precision| {
            planned(tile, stencil, precision).is_some()
        };
        for (dim, sides) in [(1, &[32, 64, 96, 128][..]), (3, &[16, 24, 32])] {
            for &side in sides {
                assert!(is_planned(&[side; 3][..dim], &SYMMETRIC, Precision::F64), "{dim} {side}");
                assert!(is_planned(&[side; 3][..dim], &SYMMETRIC, Precision::F32), "{dim} {side}");
            }
            assert!(!is_planned(&[40, 40, 20][..dim], &SYMMETRIC, Precision::F64), "{dim}");
        }
        let squares = SQUARES.iter().map(|plan| (plan.side, plan.precision));
        for (side, precision) in squares.chain(Precision::ALL.map(|precision| (32, precision))) {
            assert!(is_planned(&[side; 2], &SYMMETRIC, precision), "{side} {precision:?}");
        }
        assert!(!is_planned(&[64, 32], &SYMMETRIC, Precision::F64));
        let wind = Stencil { a: -1.02, c: -0.98, ..SYMMETRIC };
        assert!(!is_planned(&[64, 64], &wind, Precision::F64));
    }

    #[test]
    fn tables_have_the_length_that_the_kernels_read() {
        for (tile, precision, expected) in [
            (&[128][..], Precision::F64, 2 * 64 * 64),
            (&[64], Precision::F64, 2 * 32 * 32),
            (&[96], Precision::F32, 2 * 48 * 48),
            (&[32, 32], Precision::F64, 6 * 16 * 16),
            (&[64, 64], Precision::F64, 6 * 32 * 32),
            (&[32, 32], Precision::F32, 6 * 16 * 16),
            (&[48, 48], Precision::F64, 6 * 24 * 24),
            (&[48, 48], Precision::F32, 2 * 32 * 32 + 4 * 24 * 24),
            (&[64, 64], Precision::F32, 6 * 32 * 32),
            (&[16, 16, 16], Precision::F64, 16 * 16 + 16_usize.pow(3)),
            (&[16, 16, 16], Precision::F32, 16 * 16 + 16_usize.pow(3)),
            (&[24, 24, 24], Precision::F64, 24 * 24 + 24_usize.pow(3)),
            (&[24, 24, 24], Precision::F32, 32 * 32 + 24_usize.pow(3)),
            (&[32, 32, 32], Precision::F64, 2 * 16 * 16 + 32_usize.pow(3)),
            (&[32, 32, 32], Precision::F32, 2 * 16 * 16 + 32_usize.pow(3)),
        ] {
            let (plan, spectral) = planned(tile, &SYMMETRIC, precision).unwrap();
            assert_eq!(plan.tables(&spectral).0.len(), expected, "{tile:?}");
        }
    }

    #[test]
    fn strips_have_room_for_what_their_tiles_read() {
        let shape = crate::grid::Shape::grid_2d(300, 300).unwrap();
        for precision in Precision::ALL {
            for overlap in (0..=30).step_by(2) {
                let tiling = Tiling::new(&[300; 2], &[32; 2], &[overlap; 2]).unwrap();
                let spectral = Spectral::new(Subiterations::Infinite, &tiling, &SYMMETRIC).unwrap();
                let setting = Setting {
                    method: &Method::Spectral(spectral.clone()),
                    precision,
                    shape: &shape,
                    shared_bytes: 227 * 1024,
                    is_per_point: false,
                    block_size: None,
                };
                let plan = Plan::of(&setting, &spectral).unwrap();
                let columns = plan.strips().unwrap().columns as usize;
                // Two columns before the first tile, and one after the last.
                assert!(columns > 2 + 3 * (32 - overlap) + 32, "overlap {overlap}");
                // Rows that are read together lie in different banks.
                assert_eq!(columns * precision.bytes() % 64, 32, "overlap {overlap}");
                let is_narrow = plan.layout().function == "narrow";
                assert_eq!(is_narrow, overlap >= 4, "overlap {overlap}");
            }
        }
    }

    fn all_plans() -> impl Iterator<Item = Plan> {
        let plans = LINES.map(Plan::Line).into_iter().chain(SQUARES.map(Plan::Square));
        let plans = plans.chain(STRIPS.map(Plan::Strips)).chain(CUBES.map(Plan::Cube));
        plans.chain(Precision::ALL.map(Plan::SharedCube))
    }

    #[test]
    fn blocks_fit_a_multiprocessor() {
        for plan in all_plans() {
            let Layout { threads, bytes, resident, .. } = plan.layout();
            // Of 228 KiB of shared memory the driver keeps 1 KiB for each block.
            assert!(resident as usize * (bytes + 1024) <= 228 * 1024, "{plan:?}");
            assert!(
                threads * resident <= 2048 && threads <= 1024 && threads % WARP == 0,
                "{plan:?}"
            );
        }
    }

    #[test]
    fn functions_are_compiled_for_the_blocks_that_are_launched() {
        for plan in all_plans() {
            let (precision, form) = match plan {
                Plan::Line(Line { precision, .. }) => (precision, Form::Isotropic1d),
                Plan::Strips(Strips { precision, .. }) => (precision, Form::Isotropic2d),
                Plan::Square(Square { precision, .. }) => (precision, Form::Isotropic2d),
                Plan::Cube(Cube { precision, .. }) => (precision, Form::Isotropic3d),
                Plan::SharedCube(precision) => (precision, Form::Isotropic3d),
            };
            let Layout { file, function, threads, resident, cluster, .. } = plan.layout();
            let text = ptx::source(file, precision, form, function).expect("a function");
            let mut expected =
                vec![format!(".maxntid {threads}, 1, 1"), format!(".minnctapersm {resident}")];
            if cluster > 1 {
                expected.push(format!(".reqnctapercluster {cluster}, 1, 1"));
            }
            for line in expected {
                assert!(text.lines().any(|other| other == line), "{plan:?}: no {line}");
            }
        }
    }
}
