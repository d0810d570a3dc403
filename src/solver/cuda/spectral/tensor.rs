//! Subiterations in the sine basis on tensor cores: for which tiles there are functions, how they are launched, and their
//! tables.
//!
//! Tensor cores take f64, or half precision, which has 11 significant bits. In f32 every number is the sum of two of these,
//! and of their four products the three larger ones are computed; in 1D and for the smaller cubes, products are in f64.

use super::super::arguments::COLUMNS_BEFORE;
use super::super::cycle_kernel::WARP;
use super::super::ptx::File;
use super::super::setting::Setting;
use crate::grid::Precision;
use crate::solver::Spectral;
use crate::solver::spectral::AxisModes;
use half::f16;

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

/// How `spectral_tensor_1d.cu` works on tiles of a side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line {
    side: usize,
    function: &'static str,
    /// Columns of a warp, and tiles of a block at a time.
    columns: usize,
    tiles: usize,
    /// Blocks of a multiprocessor.
    resident: u32,
}

const LINES: [Line; 4] = [
    Line { side: 32, function: "side_32", columns: 16, tiles: 32, resident: 8 },
    Line { side: 64, function: "side_64", columns: 16, tiles: 16, resident: 4 },
    Line { side: 96, function: "side_96", columns: 8, tiles: 16, resident: 1 },
    Line { side: 128, function: "side_128", columns: 8, tiles: 16, resident: 1 },
];

/// How `spectral_strips.cu` works on square tiles of 32 points, one warp each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Strips {
    precision: Precision,
    function: &'static str,
    /// Columns that are copied for the tiles of a strip together.
    columns: u32,
    /// Strips that a block works on at a time.
    groups: usize,
}

/// The first one that takes the overlap is used.
const STRIPS: [Strips; 4] = [
    Strips { precision: Precision::F64, function: "narrow", columns: 124, groups: 2 },
    Strips { precision: Precision::F64, function: "wide", columns: 132, groups: 2 },
    Strips { precision: Precision::F32, function: "narrow", columns: 120, groups: 4 },
    Strips { precision: Precision::F32, function: "wide", columns: 136, groups: 4 },
];

/// The side of a plane that one warp works on: a tile of a strip, or a plane of a cube that two blocks share.
const ONE_WARP_SIDE: usize = 32;

/// Tiles of a strip.
const TILES_OF_STRIP: usize = 4;

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

const SQUARES: [Square; 6] = [
    Square::of(Precision::F64, 48, "side_48", [4, 3], true),
    Square::of(Precision::F64, 64, "side_64", [4, 2], true),
    Square::of(Precision::F64, 128, "side_128", [8, 1], false),
    Square::of(Precision::F32, 64, "side_64", [4, 4], true),
    Square::of(Precision::F32, 96, "side_96", [4, 2], true),
    Square::of(Precision::F32, 128, "side_128", [8, 2], false),
];

/// How `spectral_tensor_3d.cu` works on cubic tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cube {
    side: usize,
    function: &'static str,
    threads: u32,
    /// Blocks of a multiprocessor.
    resident: u32,
}

const CUBES: [Cube; 2] = [
    Cube { side: 16, function: "side_16", threads: 128, resident: 4 },
    Cube { side: 24, function: "side_24", threads: 256, resident: 2 },
];

/// The functions of the five files.
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
            (1, _) => LINES.into_iter().find(|plan| plan.side == side).map(Self::Line),
            _ if side == ONE_WARP_SIDE && setting.shared_bytes >= SHARED_WITH_CLUSTERS => {
                Some(Self::SharedCube(precision))
            }
            _ => CUBES.into_iter().find(|plan| plan.side == side).map(Self::Cube),
        };
        plan.filter(|plan| plan.layout().bytes <= setting.shared_bytes)
    }

    pub fn layout(self) -> Layout {
        match self {
            Self::Line(Line { side, function, columns, tiles, resident }) => Layout {
                file: File::SpectralTensor1d,
                function,
                threads: WARP * (side / columns) as u32,
                // Rows of a half have a gap of 4 pairs.
                bytes: tiles * (side / 2 + 4) * PAIR,
                resident,
                tiles: tiles as u32,
                cluster: 1,
                together: tiles as u32,
            },
            Self::Strips(plan) => Layout {
                file: File::SpectralStrips,
                function: plan.function,
                threads: WARP * (plan.groups * TILES_OF_STRIP) as u32,
                bytes: plan.bytes(),
                resident: 1,
                tiles: 1,
                cluster: 1,
                together: (plan.groups * TILES_OF_STRIP) as u32,
            },
            Self::Square(plan) => {
                let Square { precision, side, function, warps, groups, keeps_factors } = plan;
                // The matrices and the factors; and of each tile its quadrants and, in f32, a value of each warp.
                let points = (side / 2).pow(2);
                let [matrices, pairs] = [2, 4].map(|each| each * points * precision.bytes());
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
            Self::Cube(Cube { side, function, threads, resident }) => Layout {
                file: File::SpectralTensor3d,
                function,
                threads,
                // The tile and the matrix.
                bytes: (side.pow(3) + side.pow(2)) * size_of::<f64>(),
                resident,
                tiles: 1,
                cluster: 1,
                together: 1,
            },
            Self::SharedCube(precision) => {
                // Threads of a block: its columns. It has half of the tile, the matrices, and a sum of each thread.
                let threads = ONE_WARP_SIDE.pow(2) / 2;
                let values = ONE_WARP_SIDE.pow(3) / 2 + 2 * (ONE_WARP_SIDE / 2).pow(2);
                Layout {
                    file: File::SpectralCluster3d,
                    function: "side_32",
                    threads: threads as u32,
                    bytes: values * precision.bytes() + threads * size_of::<f64>(),
                    resident: 1,
                    tiles: 1,
                    cluster: 2,
                    together: 1,
                }
            }
        }
    }

    /// The columns that are copied for the tiles of a strip together, where tiles are in strips.
    pub fn columns_of_strip(self) -> Option<u32> {
        match self {
            Self::Strips(plan) => Some(plan.columns),
            _ => None,
        }
    }

    /// The precision of the products, and of the tables.
    pub fn product_precision(self) -> Precision {
        match self {
            Self::Line(_) | Self::Cube(_) => Precision::F64,
            Self::Strips(Strips { precision, .. })
            | Self::Square(Square { precision, .. })
            | Self::SharedCube(precision) => precision,
        }
    }

    /// The tables as the kernels read them, and what corrections are multiplied by in the end.
    pub fn tables(self, spectral: &Spectral) -> (Vec<f64>, f32) {
        let scales = Scales::of(spectral, self.product_precision());
        let tables = match self {
            Self::Line(plan) => plan.tables(spectral),
            Self::Strips(_) | Self::Square(_) => square_tables(spectral, scales),
            Self::Cube(plan) => plan.tables(spectral),
            Self::SharedCube(_) => shared_cube_tables(spectral, scales),
        };
        (tables, scales.of_corrections())
    }
}

/// Bytes of a pair of values in f64, and of four in f32: what a lane loads of a matrix at once.
const PAIR: usize = 2 * size_of::<f64>();

/// The powers of two that matrices and factors are multiplied by so that all values are in the range of half precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scales {
    precision: Precision,
    /// Exponents.
    matrix: i32,
    factors: i32,
}

impl Scales {
    /// The largest values of a tile are below this when its products begin (`Scale` in `kernels/tensor.cuh`).
    const BEGIN: f64 = 2.0;

    fn of(spectral: &Spectral, precision: Precision) -> Self {
        if precision == Precision::F64 {
            return Self { precision, matrix: 0, factors: 0 };
        }
        let modes = &spectral.axes()[0];
        let (side, half) = (modes.side(), modes.side() / 2);
        // The largest entries are made 1 to 2: below that, what is left of the smaller ones would be out of range.
        let largest = (2.0 / (side as f64 + 1.0)).sqrt();
        let matrix = -largest.log2().floor() as i32;
        let entry = |m: usize, i: usize| modes.sine(2 * m + 1, i + 1).abs() * exp2(matrix);
        let sums = (0..half).flat_map(|at| {
            [(0..half).map(|i| entry(at, i)).sum::<f64>(), (0..half).map(|m| entry(m, at)).sum()]
        });
        // What a product makes of 1 at the most; and the first one after the factors, together with them.
        let growth = most(sums);
        let factors = most_of_factors(spectral);
        let growth_behind = factors * largest * exp2(matrix);
        let bound = Self::BEGIN * growth.powi(2) * growth_behind.max(1.0);
        let factors = (f64::from(f16::MAX) / bound).log2().floor();
        Self { precision, matrix, factors: factors.clamp(-100.0, 100.0) as i32 }
    }

    /// What corrections are multiplied by in the end: four products and the factors have scaled them.
    fn of_corrections(self) -> f32 {
        exp2(-4 * self.matrix - self.factors) as f32
    }

    /// How matrices of squares are laid out.
    fn laid_out(self) -> LaidOut {
        match self.precision {
            Precision::F64 => matrix,
            Precision::F32 => matrix_in_parts,
        }
    }

    /// What the factors of planes of a side are multiplied by.
    fn of_factors(self, side: usize) -> f64 {
        rounding_compensation(side, self.precision) * exp2(self.factors)
    }
}

/// The largest sum of the factors of a line of modes along x or y, all of odd or all of even number.
fn most_of_factors(spectral: &Spectral) -> f64 {
    let axes = spectral.axes();
    let side = axes[0].side();
    let factor = |modes: [usize; 3]| spectral.factor(&modes[..axes.len()]).abs();
    let mut most = 0.0_f64;
    for z in 1..=axes.get(2).map_or(1, AxisModes::side) {
        for (other, first) in (1..=side).flat_map(|other| [(other, 1), (other, 2)]) {
            let line = || (first..=side).step_by(2);
            let along_x = line().map(|x| factor([x, other, z])).sum();
            let along_y = line().map(|y| factor([other, y, z])).sum();
            most = most.max(along_x).max(along_y);
        }
    }
    most
}

/// The largest one of some numbers, none of which is negative.
fn most(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}

/// A power of two.
fn exp2(exponent: i32) -> f64 {
    2_f64.powi(exponent)
}

/// A number as the sum of two in half precision.
fn parts(number: f64) -> [f16; 2] {
    let high = f16::from_f64(number);
    [high, f16::from_f64(number - f64::from(high))]
}

/// For each lane, the row of a block of a tensor core's operand, and the first column of its pair.
fn lanes() -> impl Iterator<Item = (usize, usize)> {
    (0..WARP as usize).map(|lane| (lane / 4, 2 * (lane % 4)))
}

/// A square matrix as `multiply` of `tensor.cuh` takes it, in 8 x 8 blocks. Two blocks of rows are loaded together: of
/// the first columns of each pair with the even block, of the second ones with the odd block. A last block without a
/// partner has both columns.
fn matrix(blocks: usize, entry: &dyn Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut values = Vec::with_capacity(64 * blocks * blocks);
    for row_block in 0..blocks {
        for column_block in 0..blocks {
            for (row, pair) in lanes() {
                let first = row_block / 2 * 2;
                let (row, column) = (8 * first + row, 8 * column_block + pair);
                let entries = if first + 1 < blocks {
                    let column = column + row_block % 2;
                    [(row, column), (row + 8, column)]
                } else {
                    [(row, column), (row, column + 1)]
                };
                values.extend(entries.map(|(row, column)| entry(row, column)));
            }
        }
    }
    values
}

/// The factors of a plane of 8 x 8 blocks as a warp has it after two products: pairs along x.
fn factors(blocks: usize, factor: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut values = Vec::with_capacity(64 * blocks * blocks);
    for x_block in 0..blocks {
        for y_block in 0..blocks {
            for (row, pair) in lanes() {
                let (x, y) = (8 * x_block + pair, 8 * y_block + row);
                values.extend([factor(x, y), factor(x + 1, y)]);
            }
        }
    }
    values
}

impl Line {
    /// The one matrix of either half.
    fn tables(self, spectral: &Spectral) -> Vec<f64> {
        let half = self.side / 2;
        let modes = &spectral.axes()[0];
        let mut tables = Vec::with_capacity(2 * half * half);
        for parity in 0..2 {
            let mode = |m: usize| 2 * m + 1 + parity;
            let factors: Vec<_> = (0..half).map(|m| spectral.factor(&[mode(m)])).collect();
            let entry = |i: usize, j: usize| -> f64 {
                let term =
                    |m: usize| modes.sine(mode(m), i + 1) * factors[m] * modes.sine(mode(m), j + 1);
                (0..half).map(term).sum()
            };
            for first_column in (0..half).step_by(self.columns) {
                for first_row in (0..half).step_by(8) {
                    for block in 0..self.columns / 8 {
                        for lane in 0..WARP as usize {
                            let (row, column) =
                                (first_row + lane % 4, first_column + 8 * block + lane / 4);
                            tables.extend([entry(row, column), entry(row + 4, column)]);
                        }
                    }
                }
            }
        }
        tables
    }
}

/// The same in f32: of two blocks of rows and two of columns all eight entries are loaded together, their high parts with the
/// even block of rows and what is left with the odd one. Two entries beside each other are in the bits of one value. The
/// number of blocks is even.
fn matrix_in_parts(blocks: usize, entry: &dyn Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut values = Vec::with_capacity(32 * blocks * blocks);
    for row_block in 0..blocks {
        for column_block in (0..blocks).step_by(2) {
            for (row, pair) in lanes() {
                let (row, column) = (8 * (row_block / 2 * 2) + row, 8 * column_block + pair);
                let part =
                    |row, column| u32::from(parts(entry(row, column))[row_block % 2].to_bits());
                for (row, column) in
                    [(row, column), (row + 8, column), (row, column + 8), (row + 8, column + 8)]
                {
                    let bits = part(row, column) | part(row, column + 1) << 16;
                    values.push(f64::from(f32::from_bits(bits)));
                }
            }
        }
    }
    values
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

/// What corrections are multiplied by in single precision, because tensor cores round towards zero. In each of the four
/// products a sum is rounded three times for every 16 of its terms, and loses 2⁻²⁶ of itself on average each time, as was
/// measured (1.0, 3.2, 4.6 and 7.2 · 10⁻⁷ in all for 32, 64, 96 and 128 points; this gives 1.8 to 7.2 · 10⁻⁷).
fn rounding_compensation(side: usize, precision: Precision) -> f64 {
    let roundings = 4.0 * 3.0 * (side / 2) as f64 / 16.0;
    match precision {
        Precision::F64 => 1.0,
        Precision::F32 => 1.0 + roundings * exp2(-26),
    }
}

/// The tables of squares.
fn square_tables(spectral: &Spectral, scales: Scales) -> Vec<f64> {
    let quadrants = Quadrants { side: spectral.axes()[0].side() };
    let [forward, backward] = quadrants.matrices(spectral, scales);
    let scale = scales.of_factors(quadrants.side);
    let factor = |modes: [usize; 2]| spectral.factor(&modes) * scale;
    [forward, backward, quadrants.factors(factor)].concat()
}

/// A square matrix of so many blocks along a side, given its entries, as a kernel loads it.
type LaidOut = fn(usize, &dyn Fn(usize, usize) -> f64) -> Vec<f64>;

/// The quadrants of squares: sums and differences of mirrored points.
struct Quadrants {
    /// That of the square.
    side: usize,
}

impl Quadrants {
    /// The 8 x 8 blocks along a quadrant.
    fn blocks(&self) -> usize {
        self.side / 16
    }

    /// Whether one warp keeps all of them in registers (`quadrants.cuh`).
    fn are_of_one_warp(&self) -> bool {
        self.side == ONE_WARP_SIDE
    }

    /// The matrix of all quadrants and its transpose.
    fn matrices(&self, spectral: &Spectral, scales: Scales) -> [Vec<f64>; 2] {
        let blocks = self.blocks();
        let modes = &spectral.axes()[0];
        // One warp has neighbouring points in the same place of different blocks.
        let point = |place: usize| match self.are_of_one_warp() {
            true => blocks * (place % 8) + place / 8,
            false => place,
        };
        let entry =
            |m: usize, place: usize| modes.sine(2 * m + 1, point(place) + 1) * exp2(scales.matrix);
        let laid_out = scales.laid_out();
        [laid_out(blocks, &entry), laid_out(blocks, &|place, m| entry(m, place))]
    }

    /// The factors of each quadrant: `factor([x, y])` is that of a mode along both axes.
    fn factors(&self, factor: impl Fn([usize; 2]) -> f64) -> Vec<f64> {
        // In the quadrants of differences, modes come in reverse.
        let mode = |is_odd: bool, m: usize| if is_odd { self.side - 2 * m } else { 2 * m + 1 };
        let of_quadrant = |quadrant: usize| {
            let [x, y] = [quadrant % 2 == 1, quadrant / 2 == 1];
            // One warp begins with y.
            factors(self.blocks(), |p, q| match self.are_of_one_warp() {
                true => factor([mode(x, q), mode(y, p)]),
                false => factor([mode(x, p), mode(y, q)]),
            })
        };
        (0..4).flat_map(of_quadrant).collect()
    }
}

/// The matrices of a plane, and its factors for each mode along z: odd numbers first.
fn shared_cube_tables(spectral: &Spectral, scales: Scales) -> Vec<f64> {
    let quadrants = Quadrants { side: ONE_WARP_SIDE };
    let [forward, backward] = quadrants.matrices(spectral, scales);
    let modes = (1..=ONE_WARP_SIDE).step_by(2).chain((2..=ONE_WARP_SIDE).step_by(2));
    let scale = scales.of_factors(quadrants.side);
    let factors = modes
        .flat_map(|z| quadrants.factors(|[x, y]| spectral.factor(&[x, y, z]) * scale))
        .collect();
    [forward, backward, factors].concat()
}

impl Cube {
    fn tables(self, spectral: &Spectral) -> Vec<f64> {
        let (blocks, half) = (self.side / 8, self.side / 2);
        let modes = &spectral.axes()[0];
        let mut tables = matrix(blocks, &|p, i| modes.sine(p + 1, i + 1));
        for plane in 0..self.side {
            // First what the sums see, then what the differences see.
            let z = if plane < half { 2 * plane + 1 } else { 2 * (plane - half) + 2 };
            tables.extend(factors(blocks, |p, q| spectral.factor(&[p + 1, q + 1, z])));
        }
        tables
    }
}

#[cfg(test)]
mod tests {
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
        let cubes = CUBES.iter().map(|plan| plan.side).chain([ONE_WARP_SIDE]);
        for (dim, sides) in [(1, LINES.map(|plan| plan.side).to_vec()), (3, cubes.collect())] {
            for side in sides {
                assert!(is_planned(&[side; 3][..dim], &SYMMETRIC, Precision::F64), "{dim} {side}");
                assert!(is_planned(&[side; 3][..dim], &SYMMETRIC, Precision::F32), "{dim} {side}");
            }
            assert!(!is_planned(&[40, 40, 20][..dim], &SYMMETRIC, Precision::F64), "{dim}");
        }
        let squares = SQUARES.iter().map(|plan| (plan.side, plan.precision));
        for (side, precision) in squares.chain(Precision::ALL.map(|precision| (32, precision))) {
            assert!(is_planned(&[side; 2], &SYMMETRIC, precision), "{side} {precision:?}");
        }
        assert!(!is_planned(&[48; 2], &SYMMETRIC, Precision::F32), "an odd number of blocks");
        assert!(!is_planned(&[64, 32], &SYMMETRIC, Precision::F64));
        let wind = Stencil { a: -1.02, c: -0.98, ..SYMMETRIC };
        assert!(!is_planned(&[64, 64], &wind, Precision::F64));
    }

    #[test]
    fn tables_have_the_length_that_the_kernels_read() {
        for (tile, precision, expected) in [
            (&[128][..], Precision::F64, 2 * 64 * 64),
            (&[64], Precision::F64, 2 * 32 * 32),
            (&[32, 32], Precision::F64, 6 * 16 * 16),
            (&[64, 64], Precision::F64, 6 * 32 * 32),
            (&[32, 32], Precision::F32, 6 * 16 * 16),
            (&[64, 64], Precision::F32, 6 * 32 * 32),
            (&[16, 16, 16], Precision::F64, 16 * 16 + 16_usize.pow(3)),
            (&[24, 24, 24], Precision::F64, 24 * 24 + 24_usize.pow(3)),
            (&[24, 24, 24], Precision::F32, 24 * 24 + 24_usize.pow(3)),
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
                let columns = plan.columns_of_strip().unwrap() as usize;
                // Two columns before the first tile, and one after the last.
                assert!(columns > 2 + 3 * (32 - overlap) + 32, "overlap {overlap}");
                // Rows that are read together lie in different banks.
                assert_eq!(columns * precision.bytes() % 64, 32, "overlap {overlap}");
                let is_narrow = plan.layout().function == "narrow";
                assert_eq!(is_narrow, overlap >= 4, "overlap {overlap}");
            }
        }
    }

    #[test]
    fn two_parts_have_the_digits_of_single_precision() {
        for number in [1.0 / 3.0, -1.123_456_789, 1.999_999, 0.031_415_9] {
            let [high, low] = parts(number).map(f64::from);
            assert!((high + low - number).abs() <= exp2(-23), "{number}");
        }
    }

    #[test]
    fn values_stay_in_the_range_of_half_precision() {
        let weak = Stencil { d: 6.0, a: -0.2, c: -0.2, ..SYMMETRIC };
        for side in [32, 64, 96, 128] {
            for subiterations in
                [Subiterations::Finite(1), Subiterations::Finite(256), Subiterations::Infinite]
            {
                for stencil in [SYMMETRIC, weak] {
                    let tiling = Tiling::new(&[300; 2], &[side; 2], &[0; 2]).unwrap();
                    let spectral = Spectral::new(subiterations, &tiling, &stencil).unwrap();
                    check_range(&spectral);
                }
            }
        }
    }

    /// Makes the four products of a quadrant.
    fn check_range(spectral: &Spectral) {
        let modes = &spectral.axes()[0];
        let (side, half) = (modes.side(), modes.side() / 2);
        let scales = Scales::of(spectral, Precision::F32);
        let entry = |m: usize, i: usize| modes.sine(2 * m + 1, i + 1) * exp2(scales.matrix);
        let back = |i: usize, m: usize| entry(m, i);
        // Each one turns the values, so that the other axis is next.
        let product = |values: &[f64], entry: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
            let value = |at: usize| {
                let (row, column) = (at % half, at / half);
                (0..half).map(|i| entry(row, i) * values[i * half + column]).sum()
            };
            (0..half * half).map(value).collect()
        };
        let largest = |values: &[f64]| most(values.iter().map(|value| value.abs()));
        // Smooth values grow most.
        let values = vec![Scales::BEGIN; half * half];
        let first = product(&values, &entry);
        let mut coefficients = product(&first, &entry);
        for (at, value) in coefficients.iter_mut().enumerate() {
            let [y, x] = [at / half, at % half].map(|m| 2 * m + 1);
            *value *= spectral.factor(&[x, y]) * exp2(scales.factors);
        }
        let third = product(&coefficients, &back);
        let operands = [&values, &first, &coefficients, &third].map(|values| largest(values));
        let range = operands.iter().all(|operand| *operand <= f64::from(f16::MAX));
        assert!(range, "{side}: {operands:?}");
        // Nor are they so small that digits are lost.
        assert!(operands[2].max(operands[3]) > 256.0, "{side}: {operands:?}");
        let corrections = largest(&product(&third, &back)) * f64::from(scales.of_corrections());
        // A quadrant has sums of four points, of which one subiteration leaves each as it is.
        assert!(corrections > 0.249 * Scales::BEGIN, "{side}: {corrections}");
    }

    #[test]
    fn blocks_fit_a_multiprocessor() {
        let plans = LINES.map(Plan::Line).into_iter().chain(SQUARES.map(Plan::Square));
        let plans = plans.chain(STRIPS.map(Plan::Strips)).chain(CUBES.map(Plan::Cube));
        for plan in plans.chain([Plan::SharedCube(Precision::F64)]) {
            let Layout { threads, bytes, resident, .. } = plan.layout();
            // Of 228 KiB of shared memory the driver keeps 1 KiB for each block.
            assert!(resident as usize * (bytes + 1024) <= 228 * 1024, "{plan:?}");
            assert!(
                threads * resident <= 2048 && threads <= 1024 && threads % WARP == 0,
                "{plan:?}"
            );
        }
    }
}
