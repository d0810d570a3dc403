//! Subiterations in the sine basis of a tile: products with small matrices, all k at once.
//!
//! Every axis is split into an even and an odd half first: with x_i ± x_{T+1−i}, the modes of odd number
//! see the sums alone and those of even number the differences, so that every matrix is T/2 × T/2 and half
//! of the work remains. A patch is stored by rows; of each row the sums come first, then the differences,
//! either padded with zeros to whole vectors. Along y and z, sums lie in the first rows and differences in
//! the mirrored ones, where they arise.
//!
//! In 2D and 3D the patch is transformed along every axis, multiplied by Φ, and transformed back; in 1D
//! the three are one matrix for each half.

#[cfg(target_arch = "wasm32")]
mod page;
mod product;
#[cfg(target_arch = "wasm32")]
mod program;

use super::level::{Level, Task};
use super::patch::{Aligned, Coming, Extent, PADDING};
use super::team::Team;
use crate::grid::Real;
use crate::solver::Spectral;
use crate::solver::spectral::AxisModes;
use product::{Matrix, Product};

/// The tables of a tile.
pub(super) struct Tables<R> {
    axes: Vec<AxisTables<R>>,
    /// Φ, laid out as a patch; empty in 1D, where it is in the matrices.
    factors: Vec<R>,
    /// Values from the sums of a row to its differences.
    half: usize,
    /// Values from a row to the next.
    stride: usize,
}

/// The matrices of one axis, of the sums and of the differences.
struct AxisTables<R> {
    side: usize,
    /// From points to modes; in 1D from points to points.
    forward: [SquareMatrix<R>; 2],
    /// From modes to points; empty in 1D.
    backward: [SquareMatrix<R>; 2],
    /// What the values are multiplied by to become symmetric, and the same back; empty if they are.
    scale: Vec<R>,
    unscale: Vec<R>,
}

/// A square matrix by rows.
#[derive(Default)]
struct SquareMatrix<R> {
    values: Vec<R>,
    size: usize,
    stride: usize,
}

impl<R: Real> SquareMatrix<R> {
    fn new(size: usize, stride: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let mut values = vec![R::default(); size * stride];
        for row in 0..size {
            for column in 0..size {
                values[row * stride + column] = R::from_f64(entry(row, column));
            }
        }
        Self { values, size, stride }
    }

    fn matrix(&self) -> Matrix<'_, R> {
        Matrix { values: &self.values, stride: self.stride }
    }
}

/// The points of a half: the sums, with the middle point if there is one, or the differences.
fn halves(side: usize) -> [usize; 2] {
    [side.div_ceil(2), side / 2]
}

/// The mode (from 1) of column `m` of a half.
fn mode(half: usize, m: usize) -> usize {
    2 * m + 1 + half
}

impl<R: Real> AxisTables<R> {
    /// The tables of an axis. Those of x multiply from the right, padded to `padded` columns; those of y
    /// and z multiply from the left, and take differences in mirrored order.
    fn new(modes: &AxisModes, padded: Option<usize>) -> Self {
        let side = modes.side();
        let [sums, _] = halves(side);
        let table = |half: usize, is_forward: bool| {
            let size = halves(side)[half];
            let sine = |i: usize, m: usize| modes.sine(mode(half, m), i + 1);
            match padded {
                Some(stride) if is_forward => SquareMatrix::new(size, stride, sine),
                Some(stride) => SquareMatrix::new(size, stride, |m, i| sine(i, m)),
                None => {
                    let point = |j: usize| if half == 0 { j } else { side - 1 - (sums + j) };
                    match is_forward {
                        true => SquareMatrix::new(size, size, |m, j| sine(point(j), m)),
                        false => SquareMatrix::new(size, size, |j, m| sine(point(j), m)),
                    }
                }
            }
        };
        Self {
            side,
            forward: [table(0, true), table(1, true)],
            backward: [table(0, false), table(1, false)],
            scale: Self::scale(modes, |scale| scale),
            unscale: Self::scale(modes, f64::recip),
        }
    }

    /// The tables of the only axis of a 1D grid: all three steps in one.
    fn whole(modes: &AxisModes, padded: usize, factor: impl Fn(usize) -> f64) -> Self {
        let side = modes.side();
        let table = |half: usize| {
            let size = halves(side)[half];
            let sine = |i: usize, m: usize| modes.sine(mode(half, m), i + 1);
            let entry = |i: usize, j: usize| {
                (0..size).map(|m| sine(i, m) * factor(mode(half, m)) * sine(j, m)).sum()
            };
            SquareMatrix::new(size, padded, entry)
        };
        Self {
            side,
            forward: [table(0), table(1)],
            backward: Default::default(),
            scale: Self::scale(modes, |scale| scale),
            unscale: Self::scale(modes, f64::recip),
        }
    }

    fn scale(modes: &AxisModes, of: impl Fn(f64) -> f64) -> Vec<R> {
        let scales: Option<Vec<_>> = (0..modes.side()).map(|i| modes.scale(i)).collect();
        scales.unwrap_or_default().into_iter().map(|scale| R::from_f64(of(scale))).collect()
    }
}

impl<R: Real> Tables<R> {
    pub fn new(spectral: &Spectral) -> Self {
        let axes = spectral.axes();
        let half = halves(axes[0].side())[0].next_multiple_of(PADDING);
        // Rows a power of two apart would fall into a few sets of the cache.
        let stride = 2 * half + PADDING;
        if let [x] = axes {
            let x = AxisTables::whole(x, half, |p| spectral.factor(&[p]));
            return Self { axes: vec![x], factors: Vec::new(), half, stride };
        }
        let tables = axes.iter().enumerate();
        let tables =
            tables.map(|(axis, modes)| AxisTables::new(modes, (axis == 0).then_some(half)));
        let sides = [0, 1, 2].map(|axis| axes.get(axis).map_or(1, AxisModes::side));
        let place = |side: usize, at: usize| {
            let sums = halves(side)[0];
            if at < sums { mode(0, at) } else { mode(1, at - sums) }
        };
        let mut factors = vec![R::default(); sides[1] * sides[2] * stride];
        for (row, factors) in factors.chunks_exact_mut(stride).enumerate() {
            let rows = [place(sides[1], row % sides[1]), place(sides[2], row / sides[1])];
            for parity in 0..2 {
                for m in 0..halves(sides[0])[parity] {
                    let modes = [mode(parity, m), rows[0], rows[1]];
                    factors[parity * half + m] = R::from_f64(spectral.factor(&modes[..axes.len()]));
                }
            }
        }
        Self { axes: tables.collect(), factors, half, stride }
    }

    /// The sweeps that take about as long, wherever the tile stays in the cache.
    pub fn sweeps(&self) -> usize {
        self.axes.iter().map(|axis| axis.side).max().unwrap_or(1)
    }

    /// Completes a cycle of a patch: `here` has it after the first sweep and becomes the result, `there`
    /// before.
    pub fn correct(
        &self,
        (level, team): (Level, &Team),
        extent: &Extent,
        (here, there): (&mut [R], &[R]),
        modes: &mut [Aligned<R>; 2],
        coming: &Coming<'_, '_, R>,
    ) {
        let values = extent.rows() * self.stride;
        modes.iter_mut().for_each(|array| array.resize(values));
        let [one, other] = modes;
        let (mut one, mut other) = (&mut one[..values], &mut other[..values]);
        level.run(Split { tables: self, extent, here, there, out: one });
        let last = self.axes.len() - 1;
        // Two halves along every axis, there and back.
        let (mut step, steps) = (0, if last == 0 { 2 } else { 4 * self.axes.len() });
        let mut next_step = || {
            step += 1;
            coming.prefetch(step, steps);
        };
        for axis in 0..=last {
            if axis > 0 {
                level.run(Butterflies { stack: self.stack(extent, axis), values: one });
            }
            self.multiply((level, team), extent, (axis, true), (one, other), &mut next_step);
            std::mem::swap(&mut one, &mut other);
        }
        if last > 0 {
            level.run(ScaleBy { values: one, factors: &self.factors });
            for axis in (0..=last).rev() {
                self.multiply((level, team), extent, (axis, false), (one, other), &mut next_step);
                std::mem::swap(&mut one, &mut other);
                if axis > 0 {
                    level.run(Butterflies { stack: self.stack(extent, axis), values: one });
                }
            }
        }
        level.run(Join { tables: self, extent, here, there, values: one });
    }

    /// How the slices across an axis lie in a patch.
    fn stack(&self, extent: &Extent, axis: usize) -> Stack {
        match axis {
            1 => Stack {
                apart: self.stride,
                size: 2 * self.half,
                side: extent.height,
                count: extent.depth,
            },
            _ => {
                let size = extent.height * self.stride;
                Stack { apart: size, size, side: extent.depth, count: 1 }
            }
        }
    }

    /// Multiplies by the matrices of an axis; before either of them comes `next_step`.
    fn multiply(
        &self,
        (level, team): (Level, &Team),
        extent: &Extent,
        (axis, is_forward): (usize, bool),
        (from, to): (&[R], &mut [R]),
        mut next_step: impl FnMut(),
    ) {
        let tables = &self.axes[axis];
        for (half, table) in
            (if is_forward { &tables.forward } else { &tables.backward }).iter().enumerate()
        {
            next_step();
            if table.size == 0 {
                continue;
            }
            if axis == 0 {
                let first = half * self.half;
                let (a, stride) =
                    (Matrix { values: &from[first..], stride: self.stride }, self.stride);
                let (rows, inner, columns) = (extent.rows(), table.size, self.half);
                let to = &mut to[first..];
                let b = table.matrix();
                Product { a, b, to, stride, rows, inner, columns, team }.compute(level);
                continue;
            }
            let Stack { apart, size, side, count } = self.stack(extent, axis);
            for first in (0..count).map(|plane| (plane * side + half * halves(side)[0]) * apart) {
                let b = Matrix { values: &from[first..], stride: apart };
                let (to, rows, inner) = (&mut to[first..], table.size, table.size);
                let a = table.matrix();
                let product = Product { a, b, to, stride: apart, rows, inner, columns: size, team };
                product.compute(level);
            }
        }
    }
}

/// a + b and a − b of a vector. Of loops over slices, the compiler made single operations here.
#[inline(always)]
fn sums_and_differences<R: Real>(a: [R; PADDING], b: [R; PADDING]) -> ([R; PADDING], [R; PADDING]) {
    let (mut sums, mut differences) = ([R::default(); PADDING], [R::default(); PADDING]);
    for i in 0..PADDING {
        sums[i] = a[i] + b[i];
        differences[i] = a[i] - b[i];
    }
    (sums, differences)
}

/// The values in reverse order.
#[inline(always)]
fn backwards<R: Real>(values: [R; PADDING]) -> [R; PADDING] {
    let mut out = values;
    for i in 0..PADDING {
        out[i] = values[PADDING - 1 - i];
    }
    out
}

/// Sums and differences of the values of `low` and those of `high` backwards.
#[inline(always)]
fn fold<R: Real>((low, high): (&[R], &[R]), (even, odd): (&mut [R], &mut [R])) {
    let count = high.len();
    let (lows, _) = low[..count].as_chunks::<PADDING>();
    let (_, highs) = high.as_rchunks::<PADDING>();
    let (evens, _) = even[..count].as_chunks_mut::<PADDING>();
    let (odds, _) = odd[..count].as_chunks_mut::<PADDING>();
    let vectors = lows.iter().zip(highs.iter().rev()).zip(evens).zip(odds);
    for (((low, high), even), odd) in vectors {
        (*even, *odd) = sums_and_differences(*low, backwards(*high));
    }
    for i in count / PADDING * PADDING..count {
        let (low, high) = (low[i], high[count - 1 - i]);
        (even[i], odd[i]) = (low + high, low - high);
    }
}

/// The same back.
#[inline(always)]
fn unfold<R: Real>((even, odd): (&[R], &[R]), (low, high): (&mut [R], &mut [R])) {
    let count = high.len();
    let (evens, _) = even[..count].as_chunks::<PADDING>();
    let (odds, _) = odd[..count].as_chunks::<PADDING>();
    let (lows, _) = low[..count].as_chunks_mut::<PADDING>();
    let (_, highs) = high.as_rchunks_mut::<PADDING>();
    let vectors = evens.iter().zip(odds).zip(lows.iter_mut().zip(highs.iter_mut().rev()));
    for ((even, odd), (low, high)) in vectors {
        let differences;
        (*low, differences) = sums_and_differences(*even, *odd);
        *high = backwards(differences);
    }
    for i in count / PADDING * PADDING..count {
        low[i] = even[i] + odd[i];
        high[count - 1 - i] = even[i] - odd[i];
    }
}

/// Slices across y or z: `side` of `size` values, `apart` values apart, `count` times. `size` is a multiple of `PADDING`.
#[derive(Clone, Copy)]
struct Stack {
    apart: usize,
    size: usize,
    side: usize,
    count: usize,
}

/// Replaces slices and their mirror images by their sums and differences, or these by twice … the points:
/// with orthonormal matrices no factor is needed in either direction.
struct Butterflies<'a, R> {
    stack: Stack,
    values: &'a mut [R],
}

impl<R: Real> Task for Butterflies<'_, R> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Stack { apart, size, side, count } = self.stack;
        for plane in 0..count {
            let values = &mut self.values[plane * side * apart..];
            for i in 0..side / 2 {
                let (low, high) = values.split_at_mut((side - 1 - i) * apart);
                let (low, _) = low[i * apart..][..size].as_chunks_mut::<PADDING>();
                let (high, _) = high[..size].as_chunks_mut::<PADDING>();
                for (low, high) in low.iter_mut().zip(high) {
                    (*low, *high) = sums_and_differences(*low, *high);
                }
            }
        }
    }
}

/// Multiplies by Φ.
struct ScaleBy<'a, R> {
    values: &'a mut [R],
    factors: &'a [R],
}

impl<R: Real> Task for ScaleBy<'_, R> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for (value, factor) in self.values.iter_mut().zip(self.factors) {
            *value = *value * *factor;
        }
    }
}

/// Splits what the first sweep changed into sums and differences along x.
struct Split<'a, R> {
    tables: &'a Tables<R>,
    extent: &'a Extent,
    here: &'a [R],
    there: &'a [R],
    out: &'a mut [R],
}

impl<R: Real> Task for Split<'_, R> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { tables, extent, here, there, out } = self;
        let width = extent.width;
        let [sums, differences] = halves(width);
        let mut row_values = [R::default(); crate::solver::spectral::LARGEST_SIDE];
        let change = &mut row_values[..width];
        for (row, out) in out.chunks_exact_mut(tables.stride).enumerate() {
            let at = extent.row(row);
            let (new, old) = (&here[at..at + width], &there[at..at + width]);
            for ((change, new), old) in change.iter_mut().zip(new).zip(old) {
                *change = *new - *old;
            }
            tables.scale_row(extent, row, change, |axis| &axis.scale);
            let (even, odd) = out.split_at_mut(tables.half);
            let (low, high) = change.split_at(sums);
            fold((low, high), (even, odd));
            if sums > differences {
                even[differences] = change[differences];
            }
        }
    }
}

impl<R: Real> Tables<R> {
    /// Multiplies a row by one scaling of every axis that has one.
    #[inline(always)]
    fn scale_row(
        &self,
        extent: &Extent,
        row: usize,
        values: &mut [R],
        scaling: impl Fn(&AxisTables<R>) -> &[R],
    ) {
        let at = [0, row % extent.height, row / extent.height];
        for (axis, tables) in self.axes.iter().enumerate() {
            let scale = scaling(tables);
            if scale.is_empty() {
                continue;
            }
            for (i, value) in values.iter_mut().enumerate() {
                *value = *value * if axis == 0 { scale[i] } else { scale[at[axis]] };
            }
        }
    }
}

/// Adds the correction, put together from its sums and differences along x, to the values before.
struct Join<'a, R> {
    tables: &'a Tables<R>,
    extent: &'a Extent,
    here: &'a mut [R],
    there: &'a [R],
    values: &'a [R],
}

impl<R: Real> Task for Join<'_, R> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { tables, extent, here, there, values } = self;
        let width = extent.width;
        let [sums, differences] = halves(width);
        let mut row_values = [R::default(); crate::solver::spectral::LARGEST_SIDE];
        let change = &mut row_values[..width];
        for (row, values) in values.chunks_exact(tables.stride).enumerate() {
            let (even, odd) = values.split_at(tables.half);
            let (low, high) = change.split_at_mut(sums);
            unfold((even, odd), (low, high));
            if sums > differences {
                change[differences] = even[differences];
            }
            tables.scale_row(extent, row, change, |axis| &axis.unscale);
            let at = extent.row(row);
            let (new, old) = (&mut here[at..at + width], &there[at..at + width]);
            for ((new, old), change) in new.iter_mut().zip(old).zip(&*change) {
                *new = *old + *change;
            }
        }
    }
}
