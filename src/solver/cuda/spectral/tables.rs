//! The tables of kernels on tensor cores, as these read them; each with what corrections are multiplied by in the end.
//!
//! Tensor cores take f64, or half precision, which has 11 significant bits. In f32 every number is the sum of two of these,
//! and of their four products the three larger ones are computed.

use super::super::cycle_kernel::WARP;
use crate::grid::Precision;
use crate::solver::Spectral;
use crate::solver::spectral::AxisModes;
use half::f16;

/// The side of a plane that one warp works on: a tile of a strip, or a plane of a cube that two blocks share.
pub(super) const ONE_WARP_SIDE: usize = 32;

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

    fn of(spectral: &Spectral, precision: Precision, basis: Basis) -> Self {
        if precision == Precision::F64 {
            return Self { precision, matrix: 0, factors: 0 };
        }
        let modes = &spectral.axes()[0];
        let (side, step) = (modes.side(), basis.step());
        let size = side / step;
        // The largest entries are made 1 to 2: below that, what is left of the smaller ones would be out of range.
        let largest = (2.0 / (side as f64 + 1.0)).sqrt();
        let matrix = -largest.log2().floor() as i32;
        let entry = |m: usize, i: usize| modes.sine(step * m + 1, i + 1).abs() * exp2(matrix);
        let sums = (0..size).flat_map(|at| {
            [(0..size).map(|i| entry(at, i)).sum::<f64>(), (0..size).map(|m| entry(m, at)).sum()]
        });
        // What a product makes of 1 at the most; and the first one after the factors, together with them.
        let growth = most(sums);
        let factors = most_of_factors(spectral, step);
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

    /// What factors are multiplied by, if products add up so many terms.
    fn of_factors(self, terms: usize) -> f64 {
        rounding_compensation(terms, self.precision) * exp2(self.factors)
    }
}

/// What a matrix transforms: sums or differences of mirrored points, whose modes have every second number, or all points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Basis {
    Halves,
    Whole,
}

impl Basis {
    /// From one of its modes to the next.
    fn step(self) -> usize {
        match self {
            Self::Halves => 2,
            Self::Whole => 1,
        }
    }
}

/// The largest sum of the factors of every so many modes of a line along x or y.
fn most_of_factors(spectral: &Spectral, step: usize) -> f64 {
    let axes = spectral.axes();
    let side = axes[0].side();
    let factor = |modes: [usize; 3]| spectral.factor(&modes[..axes.len()]).abs();
    let mut most = 0.0_f64;
    for z in 1..=axes.get(2).map_or(1, AxisModes::side) {
        for (other, first) in
            (1..=side).flat_map(|other| (1..=step).map(move |first| (other, first)))
        {
            let line = || (first..=side).step_by(step);
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

/// The same in f32: of two blocks of rows and two of columns all eight entries are loaded together, their high parts with the
/// even block of rows and what is left with the odd one. Two entries beside each other are in the bits of one value. A matrix
/// of an odd number of blocks ends with a block of zeros.
fn matrix_in_parts(blocks: usize, entry: &dyn Fn(usize, usize) -> f64) -> Vec<f64> {
    let size = 8 * blocks;
    let entry = |row, column| if row < size && column < size { entry(row, column) } else { 0.0 };
    let blocks = blocks.next_multiple_of(2);
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
                    values.push(two_halves([part(row, column), part(row, column + 1)]));
                }
            }
        }
    }
    values
}

/// Two numbers in half precision, given by their bits, beside each other in the bits of one value.
fn two_halves([first, second]: [u32; 2]) -> f64 {
    f64::from(f32::from_bits(first | second << 16))
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

/// The points along a side of a matrix in memory: tensor cores take 16 at a time in half precision.
pub(super) fn in_matrix(points: usize, precision: Precision) -> usize {
    match precision {
        Precision::F64 => points,
        Precision::F32 => points.next_multiple_of(16),
    }
}

/// Those of a line: the one matrix of either half, of which each warp has so many columns.
pub(super) fn line(spectral: &Spectral, precision: Precision, columns: usize) -> (Vec<f64>, f32) {
    let halves = [0, 1].map(|parity| line_matrix(spectral, parity));
    match precision {
        Precision::F64 => {
            let laid_out = |half: &Vec<f64>| in_pairs(half, columns);
            (halves.iter().flat_map(laid_out).collect(), 1.0)
        }
        Precision::F32 => {
            // The largest entries are made 2^14 to 2^15: below that, what is left of the smaller ones is in range.
            let largest = most(halves.iter().flatten().map(|entry| entry.abs()));
            let exponent = 14.0 - largest.max(f64::MIN_POSITIVE).log2().floor();
            let exponent = exponent.clamp(-100.0, 100.0) as i32;
            let laid_out = |half: &Vec<f64>| in_parts(half, exp2(exponent));
            (halves.iter().flat_map(laid_out).collect(), exp2(-exponent) as f32)
        }
    }
}

/// A matrix of a line as the lanes of a tensor core's operand B in f64 load it.
fn in_pairs(matrix: &[f64], columns: usize) -> Vec<f64> {
    let half = matrix.len().isqrt();
    let entry = |i: usize, j: usize| matrix[i * half + j];
    let mut tables = Vec::with_capacity(half * half);
    for first_column in (0..half).step_by(columns) {
        for first_row in (0..half).step_by(8) {
            for block in 0..columns / 8 {
                for lane in 0..WARP as usize {
                    let (row, column) = (first_row + lane % 4, first_column + 8 * block + lane / 4);
                    tables.extend([entry(row, column), entry(row + 4, column)]);
                }
            }
        }
    }
    tables
}

/// The same in half precision, multiplied by `scale`: of a lane's column the high parts of two rows and of the two that are 8
/// further on, then the low parts. Along both indices, points w and w + HALF / 2 come beside each other.
fn in_parts(matrix: &[f64], scale: f64) -> Vec<f64> {
    let half = matrix.len().isqrt();
    let words = half / 2;
    let point = |place: usize| place / 2 + place % 2 * words;
    let entry = |row, column| matrix[point(row) * half + point(column)] * scale;
    let mut tables = Vec::with_capacity(half * half);
    for first_column in (0..half).step_by(8) {
        for first_row in (0..half).step_by(16) {
            for (column, pair) in lanes() {
                for part in 0..2 {
                    for row in [first_row + pair, first_row + pair + 8] {
                        let bits = |row| {
                            let parts = parts(entry(row, first_column + column));
                            u32::from(parts[part].to_bits())
                        };
                        tables.push(two_halves([bits(row), bits(row + 1)]));
                    }
                }
            }
        }
    }
    tables
}

/// The matrix that multiplies a half of a line: sums of mirrored points (0) or their differences (1).
fn line_matrix(spectral: &Spectral, parity: usize) -> Vec<f64> {
    let modes = &spectral.axes()[0];
    let half = modes.side() / 2;
    let mode = |m: usize| 2 * m + 1 + parity;
    let factors: Vec<_> = (0..half).map(|m| spectral.factor(&[mode(m)])).collect();
    let entry = |at: usize| -> f64 {
        let (i, j) = (at / half, at % half);
        let term = |m: usize| modes.sine(mode(m), i + 1) * factors[m] * modes.sine(mode(m), j + 1);
        (0..half).map(term).sum()
    };
    (0..half * half).map(entry).collect()
}

/// What corrections are multiplied by in single precision, because tensor cores round towards zero. In each of the four
/// products a sum is rounded three times for every 16 of its `terms`, and loses 2⁻²⁶ of itself on average each time, as was
/// measured (1.0, 3.2, 4.6 and 7.2 · 10⁻⁷ in all for 32, 64, 96 and 128 points; this gives 1.8 to 7.2 · 10⁻⁷).
fn rounding_compensation(terms: usize, precision: Precision) -> f64 {
    let roundings = 4.0 * 3.0 * terms as f64 / 16.0;
    match precision {
        Precision::F64 => 1.0,
        Precision::F32 => 1.0 + roundings * exp2(-26),
    }
}

/// Those of a square, or of a tile of a strip: the two matrices and the factors of its quadrants.
pub(super) fn square(spectral: &Spectral, precision: Precision) -> (Vec<f64>, f32) {
    let scales = Scales::of(spectral, precision, Basis::Halves);
    let quadrants = Quadrants { side: spectral.axes()[0].side() };
    let [forward, backward] = quadrants.matrices(spectral, scales);
    let scale = scales.of_factors(quadrants.side / 2);
    let factor = |modes: [usize; 2]| spectral.factor(&modes) * scale;
    ([forward, backward, quadrants.factors(factor)].concat(), scales.of_corrections())
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

/// Those of a cube that two blocks share: the matrices of a plane, and its factors for each mode along z, odd numbers first.
pub(super) fn shared_cube(spectral: &Spectral, precision: Precision) -> (Vec<f64>, f32) {
    let quadrants = Quadrants { side: ONE_WARP_SIDE };
    let scales = Scales::of(spectral, precision, Basis::Halves);
    let [forward, backward] = quadrants.matrices(spectral, scales);
    let modes = (1..=ONE_WARP_SIDE).step_by(2).chain((2..=ONE_WARP_SIDE).step_by(2));
    let scale = scales.of_factors(quadrants.side / 2);
    let factors = modes
        .flat_map(|z| quadrants.factors(|[x, y]| spectral.factor(&[x, y, z]) * scale))
        .collect();
    ([forward, backward, factors].concat(), scales.of_corrections())
}

/// Those of a cube: the matrix, and the factors of each plane.
pub(super) fn cube(spectral: &Spectral, precision: Precision) -> (Vec<f64>, f32) {
    let modes = &spectral.axes()[0];
    let side = modes.side();
    let (blocks, half) = (side / 8, side / 2);
    let scales = Scales::of(spectral, precision, Basis::Whole);
    let entry = |p: usize, i: usize| modes.sine(p + 1, i + 1) * exp2(scales.matrix);
    let mut tables = scales.laid_out()(blocks, &entry);
    let scale = scales.of_factors(side);
    for plane in 0..side {
        // First what the sums see, then what the differences see.
        let z = if plane < half { 2 * plane + 1 } else { 2 * (plane - half) + 2 };
        tables.extend(factors(blocks, |p, q| spectral.factor(&[p + 1, q + 1, z]) * scale));
    }
    (tables, scales.of_corrections())
}

#[cfg(test)]
mod tests {
    use super::super::tests::SYMMETRIC;
    use super::*;
    use crate::grid::Tiling;
    use crate::problem::Stencil;
    use crate::solver::Subiterations;

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
        let squares = [32, 48, 64, 96, 128].map(|side| (2, side, Basis::Halves));
        let cubes = [(3, 16, Basis::Whole), (3, 24, Basis::Whole), (3, 32, Basis::Halves)];
        for (dim, side, basis) in squares.into_iter().chain(cubes) {
            for subiterations in
                [Subiterations::Finite(1), Subiterations::Finite(256), Subiterations::Infinite]
            {
                for stencil in [SYMMETRIC, weak] {
                    let tiling = Tiling::new(&[300; 3][..dim], &[side; 3][..dim], &[0; 3]).unwrap();
                    let spectral = Spectral::new(subiterations, &tiling, &stencil).unwrap();
                    check_range(&spectral, basis);
                }
            }
        }
    }

    /// Makes the four products of a quadrant or a plane.
    fn check_range(spectral: &Spectral, basis: Basis) {
        let axes = spectral.axes();
        let (side, step) = (axes[0].side(), basis.step());
        let size = side / step;
        let scales = Scales::of(spectral, Precision::F32, basis);
        let entry = |m: usize, i: usize| axes[0].sine(step * m + 1, i + 1) * exp2(scales.matrix);
        let back = |i: usize, m: usize| entry(m, i);
        // Each one turns the values, so that the other axis is next.
        let product = |values: &[f64], entry: &dyn Fn(usize, usize) -> f64| -> Vec<f64> {
            let value = |at: usize| {
                let (row, column) = (at % size, at / size);
                (0..size).map(|i| entry(row, i) * values[i * size + column]).sum()
            };
            (0..size * size).map(value).collect()
        };
        let largest = |values: &[f64]| most(values.iter().map(|value| value.abs()));
        // Smooth values grow most.
        let values = vec![Scales::BEGIN; size * size];
        let first = product(&values, &entry);
        let mut coefficients = product(&first, &entry);
        for (at, value) in coefficients.iter_mut().enumerate() {
            let modes = [at % size, at / size, 0].map(|m| step * m + 1);
            *value *= spectral.factor(&modes[..axes.len()]) * exp2(scales.factors);
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
}
