//! Subiterations in the sine basis on FP64 tensor cores: for which tiles there are functions, how they are launched,
//! and their tables.

use super::super::cycle_kernel::WARP;
use super::super::ptx::File;
use super::super::setting::Setting;
use crate::grid::Precision;
use crate::solver::Spectral;

/// The oldest compute capability with these products.
pub(super) const OLDEST: (i32, i32) = (9, 0);

/// How many times as fast tensor cores are as other arithmetic in double precision. CUDA C++ Programming Guide: on an H100
/// and H200 twice.
pub(super) fn gain(capability: (i32, i32)) -> f64 {
    if capability.0 == 9 { 2.0 } else { 1.0 }
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

/// How `spectral_tensor.cu` works on square tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Square {
    side: usize,
    function: &'static str,
    /// Warps of a quadrant, and tiles that a block works on at a time.
    warps: usize,
    groups: usize,
    /// Whether the factors stay in shared memory.
    keeps_factors: bool,
}

const SQUARES: [Square; 4] = [
    Square { side: 32, function: "side_32", warps: 1, groups: 4, keeps_factors: true },
    Square { side: 48, function: "side_48", warps: 1, groups: 3, keeps_factors: true },
    Square { side: 64, function: "side_64", warps: 1, groups: 2, keeps_factors: true },
    Square { side: 128, function: "side_128", warps: 2, groups: 1, keeps_factors: false },
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

/// The functions of the three files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plan {
    Line(Line),
    Square(Square),
    Cube(Cube),
}

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
}

impl Plan {
    /// The plan for the tiles of a setting, if there is one.
    pub fn of(setting: &Setting<'_>, spectral: &Spectral) -> Option<Self> {
        let axes = spectral.axes();
        let side = axes[0].side();
        let is_made_for = setting.precision == Precision::F64
            && axes.iter().all(|axis| axis.side() == side && axis.scale(0).is_none());
        let plan = match axes.len() {
            _ if !is_made_for => None,
            1 => LINES.into_iter().find(|plan| plan.side == side).map(Self::Line),
            2 => SQUARES.into_iter().find(|plan| plan.side == side).map(Self::Square),
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
            },
            Self::Square(Square { side, function, warps, groups, keeps_factors }) => {
                // The matrices, the factors, the quadrants of each tile.
                let pairs = (side / 2).pow(2);
                let factors = if keeps_factors { 2 * pairs } else { 0 };
                Layout {
                    file: File::SpectralTensor,
                    function,
                    threads: 4 * WARP * (warps * groups) as u32,
                    bytes: (pairs + factors + 2 * pairs * groups) * PAIR,
                    resident: 1,
                    tiles: 1,
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
            },
        }
    }

    /// The tables as the kernels read them.
    pub fn tables(self, spectral: &Spectral) -> Vec<f64> {
        match self {
            Self::Line(plan) => plan.tables(spectral),
            Self::Square(plan) => plan.tables(spectral),
            Self::Cube(plan) => plan.tables(spectral),
        }
    }
}

/// Bytes of a pair of values.
const PAIR: usize = 2 * size_of::<f64>();

/// For each lane, the row of a block of a tensor core's operand, and the first column of its pair.
fn lanes() -> impl Iterator<Item = (usize, usize)> {
    (0..WARP as usize).map(|lane| (lane / 4, 2 * (lane % 4)))
}

/// A square matrix as `multiply` of `tensor.cuh` takes it, in 8 x 8 blocks. Two blocks of rows are loaded together: of
/// the first columns of each pair with the even block, of the second ones with the odd block. A last block without a
/// partner has both columns.
fn matrix(blocks: usize, entry: impl Fn(usize, usize) -> f64) -> Vec<f64> {
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

impl Square {
    fn tables(self, spectral: &Spectral) -> Vec<f64> {
        let blocks = self.side / 16;
        let modes = &spectral.axes()[0];
        let entry = |m: usize, i: usize| modes.sine(2 * m + 1, i + 1);
        let mut tables = matrix(blocks, entry);
        tables.extend(matrix(blocks, |i, m| entry(m, i)));
        // In the quadrants of differences, modes come in reverse.
        let mode = |is_odd: bool, m: usize| if is_odd { self.side - 2 * m } else { 2 * m + 1 };
        for quadrant in 0..4 {
            let [x, y] = [quadrant % 2 == 1, quadrant / 2 == 1];
            tables.extend(factors(blocks, |p, q| spectral.factor(&[mode(x, p), mode(y, q)])));
        }
        tables
    }
}

impl Cube {
    fn tables(self, spectral: &Spectral) -> Vec<f64> {
        let (blocks, half) = (self.side / 8, self.side / 2);
        let modes = &spectral.axes()[0];
        let mut tables = matrix(blocks, |p, i| modes.sine(p + 1, i + 1));
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
    use crate::problem::Stencil;

    fn planned(
        tile: &[usize],
        stencil: &Stencil,
        precision: Precision,
    ) -> Option<(Plan, Spectral)> {
        let (method, spectral) = of_tile(&[300; 3][..tile.len()], tile, stencil);
        let setting = Setting {
            method: &method,
            precision,
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
        for (dim, sides) in [
            (1, LINES.map(|plan| plan.side).to_vec()),
            (2, SQUARES.map(|plan| plan.side).to_vec()),
            (3, CUBES.map(|plan| plan.side).to_vec()),
        ] {
            for side in sides {
                assert!(is_planned(&[side; 3][..dim], &SYMMETRIC, Precision::F64), "{dim} {side}");
                assert!(!is_planned(&[side; 3][..dim], &SYMMETRIC, Precision::F32), "{dim} {side}");
            }
            assert!(!is_planned(&[40, 40, 20][..dim], &SYMMETRIC, Precision::F64), "{dim}");
        }
        assert!(!is_planned(&[64, 32], &SYMMETRIC, Precision::F64));
        let wind = Stencil { a: -1.02, c: -0.98, ..SYMMETRIC };
        assert!(!is_planned(&[64, 64], &wind, Precision::F64));
    }

    #[test]
    fn tables_have_the_length_that_the_kernels_read() {
        for (tile, expected) in [
            (&[128][..], 2 * 64 * 64),
            (&[64], 2 * 32 * 32),
            (&[64, 64], 6 * 32 * 32),
            (&[16, 16, 16], 16 * 16 + 16_usize.pow(3)),
            (&[24, 24, 24], 24 * 24 + 24_usize.pow(3)),
        ] {
            let (plan, spectral) = planned(tile, &SYMMETRIC, Precision::F64).unwrap();
            assert_eq!(plan.tables(&spectral).len(), expected, "{tile:?}");
        }
    }

    #[test]
    fn blocks_fit_a_multiprocessor() {
        let plans = LINES.map(Plan::Line).into_iter().chain(SQUARES.map(Plan::Square));
        for plan in plans.chain(CUBES.map(Plan::Cube)) {
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
