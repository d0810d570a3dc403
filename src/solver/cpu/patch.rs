//! The fast memory of one thread, and what is done in it.
//!
//! A tile is copied, with its ring, into two small arrays that stay in the core's first-level
//! cache (26.7 kB with its right-hand side at T = 32 in 2D and f64, as in the paper); the points
//! that it owns are copied back.

use super::level::{Level, Task};
use super::norms::{Largest, Measure, Partial, PartialNorms};
use super::update::{Block, Sweep, Update, copy};
use crate::grid::Real;
use crate::problem::System;
use std::ops::{Deref, DerefMut, Range};

/// Bytes of a cache line, and of the longest vector.
const CACHE_LINE: usize = 64;

/// Values that rows are padded to: a cache line of f64.
const PADDING: usize = 8;

/// A tile with its ring, twice, and its right-hand side.
#[derive(Default)]
pub(super) struct Scratch<R> {
    here: Aligned<R>,
    there: Aligned<R>,
    g: Aligned<R>,
}

/// Values that begin at the start of a cache line.
#[derive(Default)]
struct Aligned<R> {
    values: Vec<R>,
    first: usize,
}

impl<R: Real> Aligned<R> {
    /// Room for `length` values; those that are there stay or not.
    fn resize(&mut self, length: usize) {
        if self.values.len() < length + CACHE_LINE {
            self.values = vec![R::default(); length + CACHE_LINE];
            // Where the address cannot be told, alignment is lost and nothing else.
            self.first = self.values.as_ptr().align_offset(CACHE_LINE).min(CACHE_LINE);
        }
    }
}

impl<R> Deref for Aligned<R> {
    type Target = [R];
    #[inline(always)]
    fn deref(&self) -> &[R] {
        &self.values[self.first..]
    }
}

impl<R> DerefMut for Aligned<R> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [R] {
        &mut self.values[self.first..]
    }
}

/// The size of a patch: rows that are swept together.
///
/// In fast memory, rows are padded so that the first point of each lies at the start of a cache
/// line, its west neighbour at the end of the line before: then only the loads of west and east
/// neighbours straddle lines.
pub(super) struct Extent {
    pub width: usize,
    pub height: usize,
    /// Whether the rows are those of a plane: neighbours of each other, and with a row of the
    /// ring before the first and after the last.
    pub plane: bool,
}

impl Extent {
    /// Values from a row to the next.
    fn stride(&self) -> usize {
        (self.width + 2).next_multiple_of(PADDING)
    }

    /// Values from a row of the right-hand side to the next.
    fn g_stride(&self) -> usize {
        self.width.next_multiple_of(PADDING)
    }

    /// Where a row's first point lies.
    fn row(&self, row: usize) -> usize {
        PADDING + (row + usize::from(self.plane)) * self.stride()
    }

    /// Values of a patch and its ring, padding included.
    fn stored(&self) -> usize {
        self.row(self.height + usize::from(self.plane)) + PADDING
    }
}

/// Where a row of a patch lies in the arrays of the grid.
pub(super) struct Place {
    /// Its first point.
    pub first: usize,
    /// The columns of the patch that are written back.
    pub owned: Range<usize>,
}

/// What one thread needs to take patches through a cycle.
pub(super) struct Patch<'a, R> {
    pub system: &'a System<R>,
    pub k: usize,
    pub from: &'a [R],
    pub exact: Option<&'a [f64]>,
    pub measure: bool,
    pub level: Level,
    /// Where `to` begins in the arrays of the grid.
    pub first: usize,
    pub to: &'a mut [R],
    pub scratch: &'a mut Scratch<R>,
}

impl<R: Real> Patch<'_, R> {
    /// Makes one cycle of the patch whose rows lie at `places`. `next` is how many columns on the
    /// patch after it lies, if that has the same rows.
    #[inline(always)]
    pub fn cycle<U: Update<R>>(
        &mut self,
        update: U,
        extent: &Extent,
        places: &[Place],
        next: Option<usize>,
    ) -> PartialNorms {
        let change = |new: R, old: R| (new - old).to_f64();
        let mut norms = PartialNorms::default();
        self.load(extent, places);
        self.scratch.sweep(self.level, update, extent);
        if self.measure {
            // Both arrays are in fast memory still.
            let row_of = |row, _: &Place| extent.row(row);
            norms.first_sweep = self.compare(extent, places, &self.scratch.there, row_of, change);
        }
        for sweep in 1..self.k {
            self.prefetch(extent, places, next, sweep);
            self.scratch.sweep(self.level, update, extent);
        }
        if self.measure {
            if let Some(exact) = self.exact {
                let row_of = |_, place: &Place| place.first;
                let error = |u: R, exact| u.to_f64() - exact;
                norms.error_squares = self.compare(extent, places, exact, row_of, error).squares;
            }
            norms.max_change = self.store_and_measure(extent, places);
        } else {
            self.store(extent, places);
        }
        norms
    }

    /// Copies a patch, its ring and its right-hand side into fast memory. The second array needs
    /// the ring alone.
    #[inline(always)]
    fn load(&mut self, extent: &Extent, places: &[Place]) {
        let (width, height) = (extent.width, extent.height);
        let Scratch { here, there, g } = &mut *self.scratch;
        here.resize(extent.stored());
        there.resize(extent.stored());
        g.resize(height * extent.g_stride());
        for (row, place) in places.iter().enumerate() {
            let from = place.first;
            let to = extent.row(row);
            let (west, east) = (self.from[from - 1], self.from[from + width]);
            copy(&self.from[from..from + width], &mut here[to..to + width]);
            (here[to - 1], there[to - 1]) = (west, west);
            (here[to + width], there[to + width]) = (east, east);
            let to = row * extent.g_stride();
            copy(&self.system.g.as_slice()[from..from + width], &mut g[to..to + width]);
        }
        if extent.plane {
            let stride = self.system.shape().stride();
            let before = (places[0].first - stride, extent.row(0) - extent.stride());
            let after = (places[height - 1].first + stride, extent.row(height));
            for (from, to) in [before, after] {
                copy(&self.from[from..from + width], &mut here[to..to + width]);
                copy(&self.from[from..from + width], &mut there[to..to + width]);
            }
        }
    }

    /// Asks for what the next patch has and this one has not, and for the room of this one's
    /// result, while this one is swept: rows lie a whole row of the grid apart, which no hardware
    /// prefetcher follows. Each sweep asks for a few rows.
    #[inline(always)]
    fn prefetch(&self, extent: &Extent, places: &[Place], next: Option<usize>, sweep: usize) {
        let rows = |all: usize| {
            let a_sweep = all.div_ceil(self.k - 1);
            (sweep - 1) * a_sweep..(sweep * a_sweep).min(all)
        };
        for Place { first, owned } in places.get(rows(places.len())).unwrap_or_default() {
            if !owned.is_empty() {
                let first = first - self.first;
                prefetch(&self.to[first + owned.start..first + owned.end]);
            }
        }
        if let Some(columns) = next {
            let stride = self.system.shape().stride();
            for row in rows(extent.height + 2) {
                let start = places[0].first + row * stride - stride + extent.width;
                prefetch(&self.from[start..start + columns + 1]);
                prefetch(&self.system.g.as_slice()[start..start + columns]);
            }
        }
    }

    /// Copies the points that the patch owns to the next iterate.
    #[inline(always)]
    fn store(&mut self, extent: &Extent, places: &[Place]) {
        for (row, Place { first, owned }) in places.iter().enumerate() {
            if owned.is_empty() {
                continue;
            }
            let from = &self.scratch.here[extent.row(row)..][owned.clone()];
            let to = first - self.first + owned.start;
            copy(from, &mut self.to[to..to + owned.len()]);
        }
    }

    /// Copies the points that the patch owns to the next iterate, and gives the largest change
    /// that the cycle made to them.
    #[inline(always)]
    fn store_and_measure(&mut self, extent: &Extent, places: &[Place]) -> f64 {
        let Self { level, from, first, to, scratch, .. } = self;
        level.run(Store { values: &scratch.here, extent, places, from, first: *first, to })
    }

    /// Sums up `value(u, v)` over the owned points, where u is their value and v that of another
    /// array, in which the first computed point of a row lies at `row_of(row, place)`.
    #[inline(always)]
    fn compare<T: Copy>(
        &self,
        extent: &Extent,
        places: &[Place],
        with: &[T],
        row_of: impl Fn(usize, &Place) -> usize,
        value: impl Fn(R, T) -> f64,
    ) -> Partial {
        self.level.run(Compare { values: &self.scratch.here, extent, places, with, row_of, value })
    }
}

/// See [`Patch::store_and_measure`].
struct Store<'a, R> {
    values: &'a [R],
    extent: &'a Extent,
    places: &'a [Place],
    from: &'a [R],
    first: usize,
    to: &'a mut [R],
}

impl<R: Real> Task for Store<'_, R> {
    type Output = f64;
    #[inline(always)]
    fn run(self) -> f64 {
        let Self { values, extent, places, from, first, to } = self;
        let mut largest = Largest::default();
        for (row, place) in places.iter().enumerate() {
            let count = place.owned.len();
            let start = place.first + place.owned.start;
            let new = &values[extent.row(row)..][place.owned.clone()];
            // A row that owns nothing may lie beside what this thread may write.
            if count > 0 {
                let to = &mut to[start - first..start - first + count];
                largest.copy_and_compare(new, &from[start..start + count], to);
            }
        }
        largest.total()
    }
}

/// See [`Patch::compare`]; a function of its own, so that its lanes find registers free.
struct Compare<'a, R, T, F, V> {
    values: &'a [R],
    extent: &'a Extent,
    places: &'a [Place],
    with: &'a [T],
    row_of: F,
    value: V,
}

impl<R: Copy, T: Copy, F: Fn(usize, &Place) -> usize, V: Fn(R, T) -> f64> Task
    for Compare<'_, R, T, F, V>
{
    type Output = Partial;
    #[inline(always)]
    fn run(self) -> Partial {
        let Self { values, extent, places, with, row_of, value } = self;
        let mut total = Partial::default();
        let mut row = 0;
        // Rows that own the same columns are measured together.
        for run in places.chunk_by(|a, b| a.owned == b.owned) {
            let owned = &run[0].owned;
            let mut measure = Measure::new(owned.len());
            for place in run {
                let (own, other) =
                    (extent.row(row) + owned.start, row_of(row, place) + owned.start);
                measure.add(&values[own..], &with[other..], &value);
                row += 1;
            }
            total = total + measure.total();
        }
        total
    }
}

impl<R: Real> Scratch<R> {
    #[inline(always)]
    fn sweep<U: Update<R>>(&mut self, level: Level, update: U, extent: &Extent) {
        let first = extent.row(0);
        let block = Block {
            values: &self.here,
            first,
            stride: extent.stride(),
            g: &self.g,
            g_stride: extent.g_stride(),
            width: extent.width,
            height: extent.height,
        };
        level.run(Sweep { update, block, out: &mut self.there[first..] });
        std::mem::swap(&mut self.here, &mut self.there);
    }
}

/// Asks the first-level cache for these values.
#[inline(always)]
fn prefetch<R>(values: &[R]) {
    #[cfg(target_arch = "x86_64")]
    for line in values.chunks(CACHE_LINE / size_of::<R>()) {
        // SAFETY: a prefetch reads nothing, whatever the address; every x86-64 CPU has it.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = values;
}
