//! The update of one point, in each of its forms, and of a block of points.

use super::level::Task;
use super::norms::Lanes;
use crate::grid::{Doubles, Doubts, Real, Value, Vector};
use crate::problem::{RowArrays, System};
use std::ops::Range;

/// How the new value of a point follows from its neighbours. One type per form, so that the form and
/// the number of axes are known where the loops are compiled.
pub(super) trait Update<R>: Copy + Sync {
    /// Axes of the grid.
    const DIM: usize;
    /// Weights that come from the arrays of the rows; none where they are constants.
    const WEIGHTS: usize = 0;
    /// Whether there are fused multiply-adds in it.
    const IS_FUSED: bool = true;
    /// The new value from the value, its neighbours, the previous and the next along each axis, g, and the
    /// weights of the point's own row, the first `WEIGHTS` of which are read. Neighbours along axes past `DIM`
    /// are not read.
    fn update<V: Value<R>>(
        self,
        own: V,
        x: [V; 2],
        y: [V; 2],
        z: [V; 2],
        g: V,
        row: [V; MOST_WEIGHTS],
    ) -> V;
}

/// The most weights of a row of its own: those of a 2D grid.
pub(super) const MOST_WEIGHTS: usize = 4;

#[derive(Clone, Copy)]
pub(super) struct Isotropic<R, const DIM: usize>(pub R);
/// As `Isotropic`, for a system that has exact products, without fused multiply-adds.
#[derive(Clone, Copy)]
pub(super) struct ExactProducts<R, const DIM: usize>(pub R);
#[derive(Clone, Copy)]
pub(super) struct PerAxis<R, const DIM: usize>(pub [R; 3]);
#[derive(Clone, Copy)]
pub(super) struct General<R, const DIM: usize>(pub [[R; 2]; 3]);
#[derive(Clone, Copy)]
pub(super) struct PerPoint<const DIM: usize>;

/// The sum of all neighbours.
#[inline(always)]
fn sum<R, V: Value<R>, const DIM: usize>(x: [V; 2], y: [V; 2], z: [V; 2]) -> V {
    let mut sum = x[0] + x[1];
    if DIM > 1 {
        sum = sum + (y[0] + y[1]);
    }
    if DIM > 2 {
        sum = sum + (z[0] + z[1]);
    }
    sum
}

impl<R: Real, const DIM: usize> Update<R> for Isotropic<R, DIM> {
    const DIM: usize = DIM;
    #[inline(always)]
    fn update<V: Value<R>>(
        self,
        _: V,
        x: [V; 2],
        y: [V; 2],
        z: [V; 2],
        g: V,
        _: [V; MOST_WEIGHTS],
    ) -> V {
        V::splat(self.0).fma(sum::<R, V, DIM>(x, y, z), g)
    }
}

impl<R: Real, const DIM: usize> Update<R> for ExactProducts<R, DIM> {
    const DIM: usize = DIM;
    const IS_FUSED: bool = false;
    #[inline(always)]
    fn update<V: Value<R>>(
        self,
        _: V,
        x: [V; 2],
        y: [V; 2],
        z: [V; 2],
        g: V,
        _: [V; MOST_WEIGHTS],
    ) -> V {
        V::splat(self.0).exact_fma(sum::<R, V, DIM>(x, y, z), g)
    }
}

impl<R: Real, const DIM: usize> Update<R> for PerAxis<R, DIM> {
    const DIM: usize = DIM;
    #[inline(always)]
    fn update<V: Value<R>>(
        self,
        _: V,
        x: [V; 2],
        y: [V; 2],
        z: [V; 2],
        g: V,
        _: [V; MOST_WEIGHTS],
    ) -> V {
        let mut sum = g;
        if DIM > 2 {
            sum = V::splat(self.0[2]).fma(z[0] + z[1], sum);
        }
        if DIM > 1 {
            sum = V::splat(self.0[1]).fma(y[0] + y[1], sum);
        }
        V::splat(self.0[0]).fma(x[0] + x[1], sum)
    }
}

impl<R: Real, const DIM: usize> Update<R> for General<R, DIM> {
    const DIM: usize = DIM;
    #[inline(always)]
    fn update<V: Value<R>>(
        self,
        _: V,
        x: [V; 2],
        y: [V; 2],
        z: [V; 2],
        g: V,
        _: [V; MOST_WEIGHTS],
    ) -> V {
        let add =
            |w: [R; 2], u: [V; 2], sum: V| V::splat(w[0]).fma(u[0], V::splat(w[1]).fma(u[1], sum));
        let mut sum = g;
        if DIM > 2 {
            sum = add(self.0[2], z, sum);
        }
        if DIM > 1 {
            sum = add(self.0[1], y, sum);
        }
        add(self.0[0], x, sum)
    }
}

/// As `General`, with weights that come from arrays.
impl<R: Real, const DIM: usize> Update<R> for PerPoint<DIM> {
    const DIM: usize = DIM;
    const WEIGHTS: usize = 2 * DIM;
    #[inline(always)]
    fn update<V: Value<R>>(
        self,
        _: V,
        x: [V; 2],
        y: [V; 2],
        _: [V; 2],
        g: V,
        row: [V; MOST_WEIGHTS],
    ) -> V {
        let mut sum = g;
        if DIM > 1 {
            sum = row[2].fma(y[0], row[3].fma(y[1], sum));
        }
        row[0].fma(x[0], row[1].fma(x[1], sum))
    }
}

/// Another update, of which the fraction ω is applied.
#[derive(Clone, Copy)]
pub(super) struct Damped<R, U> {
    pub omega: R,
    pub whole: U,
}

impl<R: Real, U: Update<R>> Update<R> for Damped<R, U> {
    const DIM: usize = U::DIM;
    const WEIGHTS: usize = U::WEIGHTS;
    #[inline(always)]
    fn update<V: Value<R>>(
        self,
        own: V,
        x: [V; 2],
        y: [V; 2],
        z: [V; 2],
        g: V,
        row: [V; MOST_WEIGHTS],
    ) -> V {
        V::splat(self.omega).fma(self.whole.update(own, x, y, z, g, row) - own, own)
    }
}

/// Whether fused multiply-adds are computed in software at the plain level: they then take most of a sweep.
const IS_SOFTWARE_PLAIN: bool =
    cfg!(any(target_arch = "wasm32", all(target_arch = "x86_64", not(target_feature = "fma"))));

/// The arrays of matrix rows ([`RowArrays`]), from some point on; empty where the rows are constants.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, R> {
    pub values: &'a [R],
    /// From an array to the next.
    pub distance: usize,
}

impl<'a, R> Rows<'a, R> {
    /// Those of rows that are constants.
    pub const NONE: Self = Self { values: &[], distance: 0 };

    /// Those of a system, from the point on that lies at `first` in a field.
    #[inline(always)]
    pub fn of(system: &'a System<R>, first: usize) -> Self {
        match &system.rows {
            Some(RowArrays { values, distance }) => {
                Self { values: &values[first..], distance: *distance }
            }
            None => Self::NONE,
        }
    }

    /// `WIDTH` values of an array.
    #[inline(always)]
    fn part<const WIDTH: usize>(&self, array: usize, start: usize) -> &'a [R; WIDTH] {
        part(self.values, array * self.distance + start)
    }
}

/// Points that are updated together: `height` rows of `width`, in one xy-plane.
#[derive(Clone, Copy)]
pub(super) struct Block<'a, R> {
    /// The iterate, with the neighbours of all points.
    pub values: &'a [R],
    /// Where the first point lies in `values`.
    pub first: usize,
    /// From a row to the next in `values`, and where the result goes.
    pub stride: usize,
    /// Where the first point's neighbours along z lie in `values`, the previous and the next; not read in 1D and 2D.
    pub along_z: [usize; 2],
    /// b / d, from the first point on.
    pub g: &'a [R],
    /// From a row to the next in `g`, and in each of `rows`.
    pub g_stride: usize,
    /// Where points have rows of their own, the arrays of these, from the first point on.
    pub rows: Rows<'a, R>,
    pub width: usize,
    pub height: usize,
}

impl<R> Block<'_, R> {
    /// So many rows of it, from `row` on.
    #[inline(always)]
    fn rows_from(&self, row: usize, height: usize) -> Self {
        let Rows { values, distance } = self.rows;
        let before = row * self.stride;
        Self {
            first: self.first + before,
            along_z: self.along_z.map(|first| first + before),
            g: &self.g[row * self.g_stride..],
            rows: Rows { values: values.get(row * self.g_stride..).unwrap_or_default(), distance },
            height,
            ..*self
        }
    }
}

/// Columns that a sweep takes at once: four vectors of AVX2 or two of AVX-512. Walking down so
/// narrow a stripe, a row stays in registers until it has been the row after, the row itself and
/// the row before, which saves two loads of five in 2D; loads are what a sweep waits for. Of 4, 8, 16
/// and 32 columns, 16 were the fastest at either level.
pub(super) const STRIPE: usize = 16;

/// Points of a row from which on a 3D block is swept row by row: tiles of 16 and 32 points are 10 to 15 % faster in stripes.
const LONG_ROW: usize = 128;

/// Columns of a stripe where there are fewer than [`STRIPE`].
const NARROW_STRIPE: usize = 8;

/// Updates a block into `out`, which begins at its first point.
pub(super) struct Sweep<'a, R, U> {
    pub update: U,
    pub block: &'a Block<'a, R>,
    pub out: &'a mut [R],
}

/// A task of its own, and so a function of its own: compiled into what calls it, it would share
/// the registers.
impl<R: Real, U: Update<R>> Task for Sweep<'_, R, U> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.sweep::<false, false>(0..0, &mut Lanes::default());
    }
    #[inline(always)]
    fn run_plain(self) {
        self.sweep::<false, IS_SOFTWARE_PLAIN>(0..0, &mut Lanes::default());
    }
}

/// A sweep that adds what it changes to `changes`, in the columns `owned`; where points have rows of their own, times
/// their diagonals.
///
/// A sweep waits for its loads; what is done with the old and the new value while both are in
/// registers costs next to nothing.
pub(super) struct MeasuredSweep<'a, R, U> {
    pub sweep: Sweep<'a, R, U>,
    pub owned: Range<usize>,
    pub changes: &'a mut Lanes<STRIPE>,
}

impl<R: Real, U: Update<R>> Task for MeasuredSweep<'_, R, U> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.sweep.sweep::<true, false>(self.owned, self.changes);
    }
    #[inline(always)]
    fn run_plain(self) {
        self.sweep.sweep::<true, IS_SOFTWARE_PLAIN>(self.owned, self.changes);
    }
}

impl<R: Real, U: Update<R>> Sweep<'_, R, U> {
    #[inline(always)]
    fn sweep<const MEASURE: bool, const IN_VECTORS: bool>(
        self,
        owned: Range<usize>,
        changes: &mut Lanes<STRIPE>,
    ) {
        if self.block.width >= STRIPE {
            self.stripes::<STRIPE, MEASURE, IN_VECTORS>(owned, changes);
        } else if self.block.width >= NARROW_STRIPE {
            self.stripes::<NARROW_STRIPE, MEASURE, IN_VECTORS>(owned, changes);
        } else {
            self.stripes::<1, MEASURE, false>(owned, changes);
        }
    }

    #[inline(always)]
    fn stripes<const WIDTH: usize, const MEASURE: bool, const IN_VECTORS: bool>(
        self,
        owned: Range<usize>,
        changes: &mut Lanes<STRIPE>,
    ) {
        let Self { update, block, out } = self;
        // In 3D five rows are read for each, of which a stripe keeps two in registers: of long rows more is gained where they
        // are read from end to end. Measured sweeps add up stripe by stripe.
        let is_by_row = U::DIM > 2 && !MEASURE && block.width >= LONG_ROW;
        if is_by_row && !IN_VECTORS {
            for row in 0..block.height {
                sweep_row::<R, U, WIDTH>(
                    update,
                    &block.rows_from(row, 1),
                    &mut out[row * block.stride..],
                );
            }
            return;
        }
        let rows = if is_by_row { 1 } else { block.height.max(1) };
        for row in (0..block.height).step_by(rows) {
            let (block, out) = (block.rows_from(row, rows), &mut out[row * block.stride..]);
            let mut swept = 0;
            for column in stripes::<WIDTH>(block.width) {
                // What the stripe before has swept already is not measured twice.
                let wanted = owned.start.max(swept)..owned.end;
                let masks = if MEASURE { masks::<WIDTH>(column, &wanted) } else { [0.0; WIDTH] };
                if IN_VECTORS {
                    sweep_in_vectors::<R, U, WIDTH, MEASURE>(
                        update, &block, column, out, &masks, changes,
                    );
                } else {
                    sweep_stripe::<R, U, WIDTH, MEASURE>(
                        update, &block, column, out, &masks, changes,
                    );
                }
                swept = column + WIDTH;
            }
        }
    }
}

/// Where stripes begin. The last one is moved back so that it is full, like the last tile of an
/// axis: nothing is lost by updating a point twice from the same neighbours.
#[inline(always)]
fn stripes<const WIDTH: usize>(width: usize) -> impl Iterator<Item = usize> {
    (0..width).step_by(WIDTH).map(move |column| column.min(width - WIDTH))
}

/// All bits where a column of the stripe at `column` is one of `wanted`, and none elsewhere; bits rather than factors of 0 and
/// 1, for 0 · ∞ is NaN. A loop, and no method of arrays: hundreds of kinds of sweeps would each compile these.
fn masks<const WIDTH: usize>(column: usize, wanted: &Range<usize>) -> [f64; WIDTH] {
    let mut masks = [0.0; WIDTH];
    for (i, mask) in masks.iter_mut().enumerate() {
        if wanted.contains(&(column + i)) {
            *mask = f64::from_bits(u64::MAX);
        }
    }
    masks
}

#[inline(always)]
fn sweep_stripe<R: Real, U: Update<R>, const WIDTH: usize, const MEASURE: bool>(
    update: U,
    block: &Block<'_, R>,
    column: usize,
    out: &mut [R],
    masks: &[f64; WIDTH],
    changes: &mut Lanes<STRIPE>,
) {
    let Block { values, first, stride, along_z, g, g_stride, rows, height, .. } = *block;
    let mut measured = changes.first::<WIDTH>();
    // In 1D there are no neighbours along y, nor along z below 3D; the update does not read them.
    let mut y_prev = [R::default(); WIDTH];
    let mut own = [R::default(); WIDTH];
    let mut y_next = [R::default(); WIDTH];
    let (mut z_prev, mut z_next) = (y_prev, y_next);
    if U::DIM > 1 {
        y_prev = *part(values, first + column - stride);
        own = *part(values, first + column);
    }
    for row in 0..height {
        let start = first + row * stride + column;
        let centre = &values[start - 1..start + 1 + WIDTH];
        let (x_prev, x_next): (&[R; WIDTH], &[R; WIDTH]) = (part(centre, 0), part(centre, 2));
        if U::DIM > 1 {
            y_next = *part(values, start + stride);
        }
        if U::DIM > 2 {
            let [before, after] = along_z.map(|first| first + row * stride + column);
            (z_prev, z_next) = (*part(values, before), *part(values, after));
        }
        let g: &[R; WIDTH] = part(g, row * g_stride + column);
        // All are computed before the first is stored, which lets the compiler use vectors.
        let old = if U::DIM > 1 { &own } else { part(centre, 1) };
        let mut new = [R::default(); WIDTH];
        let mut weights = [[R::default(); WIDTH]; MOST_WEIGHTS];
        for (array, weights) in weights.iter_mut().enumerate().take(U::WEIGHTS) {
            *weights = *rows.part(array, row * g_stride + column);
        }
        for i in 0..WIDTH {
            let (x, y) = ([x_prev[i], x_next[i]], [y_prev[i], y_next[i]]);
            // Not `map`, from which the compiler makes no vectors.
            let weights = [weights[0][i], weights[1][i], weights[2][i], weights[3][i]];
            new[i] = update.update(old[i], x, y, [z_prev[i], z_next[i]], g[i], weights);
        }
        let start = row * stride + column;
        out[start..start + WIDTH].copy_from_slice(&new);
        if MEASURE {
            for i in 0..WIDTH {
                let mut change = (new[i] - old[i]).to_f64();
                if U::WEIGHTS > 0 {
                    // The diagonals come after the weights.
                    let diagonal: &[R; WIDTH] = rows.part(U::WEIGHTS, row * g_stride + column);
                    change *= diagonal[i].to_f64();
                }
                measured.add(i, f64::from_bits(change.to_bits() & masks[i].to_bits()));
            }
        }
        (y_prev, own) = (own, y_next);
    }
    if MEASURE {
        changes.set_first(&measured);
    }
}

/// A row of a 3D block, stripe by stripe from end to end. It is cut out of the arrays once: to see for every stripe that these
/// are long enough would take as long as the stripe.
#[inline(always)]
fn sweep_row<R: Real, U: Update<R>, const WIDTH: usize>(
    update: U,
    block: &Block<'_, R>,
    out: &mut [R],
) {
    let Block { values, first, stride, along_z, g, width, .. } = *block;
    let of_row = |start: usize| &values[start..start + width];
    let (x, own) = (&values[first - 1..first + 1 + width], of_row(first));
    let (y_prev, y_next) = (of_row(first - stride), of_row(first + stride));
    let (z_prev, z_next) = (of_row(along_z[0]), of_row(along_z[1]));
    let (g, out) = (&g[..width], &mut out[..width]);
    let mut column = 0;
    while column + WIDTH <= width {
        let mut new = [R::default(); WIDTH];
        let (own, g): (&[R; WIDTH], &[R; WIDTH]) = (part(own, column), part(g, column));
        let (x_prev, x_next): (&[R; WIDTH], &[R; WIDTH]) = (part(x, column), part(x, column + 2));
        let (y_prev, y_next): (&[R; WIDTH], &[R; WIDTH]) =
            (part(y_prev, column), part(y_next, column));
        let (z_prev, z_next): (&[R; WIDTH], &[R; WIDTH]) =
            (part(z_prev, column), part(z_next, column));
        for i in 0..WIDTH {
            let (x, y) = ([x_prev[i], x_next[i]], [y_prev[i], y_next[i]]);
            // Points of a 3D grid have no rows of their own.
            let weights = [R::default(); MOST_WEIGHTS];
            new[i] = update.update(own[i], x, y, [z_prev[i], z_next[i]], g[i], weights);
        }
        out[column..column + WIDTH].copy_from_slice(&new);
        // The last stripe is moved back.
        column = if column + WIDTH < width { (column + WIDTH).min(width - WIDTH) } else { width };
    }
}

/// As [`sweep_stripe`], several points at a time. A row with a value in doubt is swept again.
#[inline(always)]
fn sweep_in_vectors<R: Real, U: Update<R>, const WIDTH: usize, const MEASURE: bool>(
    update: U,
    block: &Block<'_, R>,
    column: usize,
    out: &mut [R],
    masks: &[f64; WIDTH],
    changes: &mut Lanes<STRIPE>,
) {
    let Block { values, first, stride, along_z, g, g_stride, rows, height, .. } = *block;
    let mut measured = changes.first::<WIDTH>();
    for row in 0..height {
        let start = first + row * stride + column;
        let of_g = row * g_stride + column;
        let own: &[R; WIDTH] = part(values, start);
        let (x_prev, x_next) = (part(values, start - 1), part(values, start + 1));
        // Where there are no such neighbours, the update does not read them.
        let [mut y_prev, mut y_next, mut z_prev, mut z_next] = [own; 4];
        if U::DIM > 1 {
            (y_prev, y_next) = (part(values, start - stride), part(values, start + stride));
        }
        if U::DIM > 2 {
            let [before, after] = along_z.map(|first| first + row * stride + column);
            (z_prev, z_next) = (part(values, before), part(values, after));
        }
        // Nor rows of constants; the diagonals come after the weights.
        let of_row = |array: usize| if array <= U::WEIGHTS { rows.part(array, of_g) } else { own };
        let (weights, diagonal) = if U::WEIGHTS > 0 {
            ([of_row(0), of_row(1), of_row(2), of_row(3)], of_row(U::WEIGHTS))
        } else {
            ([own; MOST_WEIGHTS], own)
        };
        let g: &[R; WIDTH] = part(g, of_g);
        let to = row * stride + column;
        let to: &mut [R; WIDTH] =
            (&mut out[to..to + WIDTH]).try_into().expect("as many values as there are");
        let (before, mut doubts) = (measured, Doubts::default());
        for i in 0..WIDTH / R::Vector::COUNT {
            let at = i * R::Vector::COUNT;
            let load = |from: &[R; WIDTH]| R::Vector::load(from, at);
            let x = [load(x_prev), load(x_next)];
            let (y, z) = ([load(y_prev), load(y_next)], [load(z_prev), load(z_next)]);
            let weights = [load(weights[0]), load(weights[1]), load(weights[2]), load(weights[3])];
            let own = load(own);
            let new = update.update(own, x, y, z, load(g), weights);
            new.store(to, at);
            if U::IS_FUSED {
                doubts = doubts | new.doubts();
            }
            if MEASURE {
                let change = new - own;
                for pair in 0..R::Vector::COUNT / Doubles::COUNT {
                    let at = at + pair * Doubles::COUNT;
                    let mut change = change.pair(pair);
                    if U::WEIGHTS > 0 {
                        change = change * load(diagonal).pair(pair);
                    }
                    let masked = change.masked(Doubles::load(masks, at));
                    doubts = doubts | measured.add_pair(at, masked);
                }
            }
        }
        let read = [own, x_prev, x_next, y_prev, y_next, z_prev, z_next, g];
        let is_zero = |row: &[R; WIDTH]| row.iter().all(|value| *value == R::default());
        // Where all is 0 there is nothing to lose.
        if doubts.are_any() && !read.into_iter().all(is_zero) {
            measured = before;
            changes.set_first(&measured);
            let (row, out) = (block.rows_from(row, 1), &mut out[row * stride..]);
            sweep_stripe::<R, U, WIDTH, MEASURE>(update, &row, column, out, masks, changes);
            measured = changes.first();
        }
    }
    if MEASURE {
        changes.set_first(&measured);
    }
}

/// Adds to `changes` what a sweep has changed of a block, as [`MeasuredSweep`] does in the same order; `new` is what it made.
/// For sweeps that are compiled elsewhere and do not measure.
#[cfg(any(test, target_arch = "wasm32"))]
pub(super) fn measure_swept<R: Real>(
    block: &Block<'_, R>,
    new: &[R],
    diagonal: Option<usize>,
    owned: Range<usize>,
    changes: &mut Lanes<STRIPE>,
) {
    if block.width >= STRIPE {
        measure_stripes::<R, STRIPE>(block, new, diagonal, owned, changes);
    } else if block.width >= NARROW_STRIPE {
        measure_stripes::<R, NARROW_STRIPE>(block, new, diagonal, owned, changes);
    } else {
        measure_stripes::<R, 1>(block, new, diagonal, owned, changes);
    }
}

/// The same in stripes of a width. `diagonal` is the array of the diagonals among those of the rows, if there are any.
#[cfg(any(test, target_arch = "wasm32"))]
fn measure_stripes<R: Real, const WIDTH: usize>(
    block: &Block<'_, R>,
    new: &[R],
    diagonal: Option<usize>,
    owned: Range<usize>,
    changes: &mut Lanes<STRIPE>,
) {
    let Block { values, first, stride, g_stride, rows, width, height, .. } = *block;
    let mut swept = 0;
    for column in stripes::<WIDTH>(width) {
        let wanted = owned.start.max(swept)..owned.end;
        let masks = masks::<WIDTH>(column, &wanted);
        swept = column + WIDTH;
        let mut measured = changes.first::<WIDTH>();
        for row in 0..height {
            let old: &[R; WIDTH] = part(values, first + row * stride + column);
            let new: &[R; WIDTH] = part(new, row * stride + column);
            let diagonal = diagonal.map(|array| rows.part(array, row * g_stride + column));
            for i in 0..WIDTH / R::Vector::COUNT {
                let at = i * R::Vector::COUNT;
                let load = |from: &[R; WIDTH]| R::Vector::load(from, at);
                let change = load(new) - load(old);
                for pair in 0..R::Vector::COUNT / Doubles::COUNT {
                    let at = at + pair * Doubles::COUNT;
                    let mut change = change.pair(pair);
                    if let Some(diagonal) = diagonal {
                        change = change * load(diagonal).pair(pair);
                    }
                    measured.add_two(at, change.masked(Doubles::load(&masks, at)));
                }
            }
            // A stripe of single points has no vectors.
            for i in WIDTH / R::Vector::COUNT * R::Vector::COUNT..WIDTH {
                let mut change = (new[i] - old[i]).to_f64();
                if let Some(diagonal) = diagonal {
                    change *= diagonal[i].to_f64();
                }
                measured.add(i, f64::from_bits(change.to_bits() & masks[i].to_bits()));
            }
        }
        changes.set_first(&measured);
    }
}

/// `WIDTH` values from `start` on.
#[inline(always)]
fn part<R, const WIDTH: usize>(values: &[R], start: usize) -> &[R; WIDTH] {
    values[start..start + WIDTH].try_into().expect("as many values as there are")
}

/// Copies a short row, without the call that `copy_from_slice` makes for an unknown length.
#[inline(always)]
pub(super) fn copy<R: Real>(from: &[R], to: &mut [R]) {
    let width = to.len();
    if width < STRIPE {
        to.copy_from_slice(from);
        return;
    }
    for column in stripes::<STRIPE>(width) {
        to[column..column + STRIPE].copy_from_slice(part::<R, STRIPE>(from, column));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::num::{f32, f64};
    use proptest::prelude::*;

    /// The update with exact products, and the fused one.
    fn both<R: Real>(weight: R, x: [R; 2], g: R) -> [R; 2] {
        let none = [R::default(); 2];
        let row = [R::default(); MOST_WEIGHTS];
        [
            ExactProducts::<R, 1>(weight).update(R::default(), x, none, none, g, row),
            Isotropic::<R, 1>(weight).update(R::default(), x, none, none, g, row),
        ]
    }

    /// What a sweep of rows that have their own weights changes, measured in it and after it.
    fn in_and_after<R: Real>(size: [usize; 2], owned: Range<usize>, scale: f64) -> [String; 2] {
        let ([width, height], stride) = (size, size[0] + 2);
        let number = |at: usize| R::from_f64(scale * ((at * 37 % 101) as f64 / 101.0 - 0.5));
        let values: Vec<R> = (0..stride * (height + 2)).map(number).collect();
        let distance = stride * height;
        let arrays: Vec<R> =
            (0..5 * distance).map(|at| R::from_f64(0.2 + (at % 7) as f64 / 10.0)).collect();
        let (first, g) = (stride + 1, &values[1..]);
        let rows = Rows { values: &arrays, distance };
        let (along_z, g_stride) = ([0; 2], stride);
        let block =
            Block { values: &values, first, stride, along_z, g, g_stride, rows, width, height };
        let mut out = vec![R::default(); stride * height];
        let (mut inside, mut after) = (Lanes::default(), Lanes::default());
        let sweep = Sweep { update: PerPoint::<2>, block: &block, out: &mut out };
        MeasuredSweep { sweep, owned: owned.clone(), changes: &mut inside }.run();
        measure_swept(&block, &out, Some(4), owned, &mut after);
        [inside, after].map(|lanes| format!("{:?}", lanes.total()))
    }

    /// A 3D block, swept row by row, and in stripes, as measured sweeps are.
    fn by_row_and_in_stripes<R: Real>(
        size: [usize; 2],
        update: impl Update<R>,
    ) -> [Vec<String>; 2] {
        let ([width, height], stride) = (size, size[0] + 5);
        let plane = stride * (height + 2);
        let number = |at: usize| R::from_f64((at * 37 % 1009) as f64 / 1009.0 - 0.5);
        let values: Vec<R> = (0..3 * plane).map(number).collect();
        let first = plane + stride + 1;
        let (along_z, g) = ([first - plane, first + plane], &values[7..]);
        let (rows, g_stride) = (Rows::NONE, stride);
        let block =
            Block { values: &values, first, stride, along_z, g, g_stride, rows, width, height };
        [false, true].map(|is_measured| {
            let mut out = vec![R::default(); stride * height];
            let (sweep, mut changes) =
                (Sweep { update, block: &block, out: &mut out }, Lanes::default());
            match is_measured {
                false => sweep.run(),
                true => MeasuredSweep { sweep, owned: 0..width, changes: &mut changes }.run(),
            }
            out.iter().map(|value| format!("{:?}", value.to_f64())).collect()
        })
    }

    proptest! {
        #[test]
        fn long_rows_have_the_bits_of_stripes(
            size in [LONG_ROW..3 * LONG_ROW, 1..4_usize],
            weights in prop::array::uniform6(-1.0..1.0_f64),
        ) {
            let [a, b, c, d, e, f] = weights;
            let general = General::<f64, 3>([[a, b], [c, d], [e, f]]);
            let [by_row, in_stripes] = by_row_and_in_stripes(size, general);
            prop_assert_eq!(by_row, in_stripes);
            let isotropic = Isotropic::<f32, 3>(a as f32);
            let [by_row, in_stripes] = by_row_and_in_stripes(size, isotropic);
            prop_assert_eq!(by_row, in_stripes);
        }

        /// Also squares that underflow and overflow.
        #[test]
        fn what_is_measured_after_a_sweep_is_what_was_measured_in_it(
            size in [1..40_usize, 1..5_usize],
            ends in [0..40_usize, 0..40_usize],
            exponent in prop::sample::select(vec![0, -160, -30, 20, 160]),
        ) {
            let owned = ends[0].min(size[0])..ends[1].min(size[0]);
            let scale = 10.0_f64.powi(exponent);
            let [inside, after] = in_and_after::<f64>(size, owned.clone(), scale);
            prop_assert_eq!(inside, after);
            let [inside, after] = in_and_after::<f32>(size, owned, scale);
            prop_assert_eq!(inside, after);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]

        /// Sums of all sizes, also those that are smaller than normal and underflow.
        #[test]
        fn exact_products_are_added_as_fused_ones(
            halvings in 0..4_i32,
            is_negative: bool,
            x in [f64::ANY, f64::ANY | f64::SUBNORMAL | f64::ZERO],
            g in f64::NORMAL | f64::ZERO,
        ) {
            let weight = if is_negative { -1.0 } else { 1.0 } * 0.5_f64.powi(halvings);
            let is_far = |g: f64, far: f64| g == 0.0 || g.abs() >= far;
            let ([x0, x1], is_small) = (x, |value: f64| value.abs() < 1e-300);
            // Neighbours of one size make more sums that underflow.
            let x0 = if is_small(x1) && !is_small(x0) { -2.0 * x1 } else { x0 };
            let g = if is_far(g, <f64 as Real>::FAR_FROM_ZERO) { g } else { 0.0 };
            let [exact, fused] = both(weight, [x0, x1], g);
            prop_assert!(exact.to_bits() == fused.to_bits() || exact.is_nan() && fused.is_nan());
        }

        #[test]
        fn exact_products_in_single_precision_too(
            halvings in 0..4_i32,
            x in [f32::SUBNORMAL | f32::ZERO | f32::NORMAL, f32::SUBNORMAL | f32::ZERO],
            g in f32::NORMAL | f32::ZERO,
        ) {
            let is_far = g == 0.0 || f64::from(g.abs()) >= <f32 as Real>::FAR_FROM_ZERO;
            let g = if is_far { g } else { -0.0 };
            let [exact, fused] = both(0.5_f32.powi(halvings), x, g);
            prop_assert_eq!(exact.to_bits(), fused.to_bits());
        }
    }
}
