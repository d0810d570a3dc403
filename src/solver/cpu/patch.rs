//! The fast memory of one thread, and what is done in it.
//!
//! A tile is copied, with its ring, into two small arrays that stay in the core's first-level
//! cache (26.7 kB with its right-hand side at T = 32 in 2D and f64, as in the paper); the points
//! that it owns are copied back.

use super::norms::{Lanes, PartialNorms};
use super::update::{Block, Update, copy, sweep};
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
    /// Where `to` begins in the arrays of the grid.
    pub first: usize,
    pub to: &'a mut [R],
    pub scratch: &'a mut Scratch<R>,
}

impl<R: Real> Patch<'_, R> {
    /// Makes one cycle of a patch. `next` is where the patch after it begins, if that has the
    /// same rows.
    #[inline(always)]
    pub fn cycle<U: Update<R>>(
        &mut self,
        update: U,
        extent: &Extent,
        place: impl Fn(usize) -> Place,
        next: Option<usize>,
    ) -> PartialNorms {
        self.load(extent, &place);
        self.scratch.sweep(update, extent);
        let mut changes = Lanes::default();
        if self.measure {
            self.scratch.measure_sweep(extent, &place, &mut changes);
        }
        for sweep in 1..self.k {
            self.prefetch(extent, &place, next, sweep);
            self.scratch.sweep(update, extent);
        }
        let norms = self.store(extent, &place);
        PartialNorms { first_sweep: changes.total(), ..norms }
    }

    /// Copies a patch, its ring and its right-hand side into fast memory. The second array needs
    /// the ring alone.
    #[inline(always)]
    fn load(&mut self, extent: &Extent, place: &impl Fn(usize) -> Place) {
        let (width, height) = (extent.width, extent.height);
        let Scratch { here, there, g } = &mut *self.scratch;
        here.resize(extent.stored());
        there.resize(extent.stored());
        g.resize(height * extent.g_stride());
        for row in 0..height {
            let from = place(row).first;
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
            let before = (place(0).first - stride, extent.row(0) - extent.stride());
            let after = (place(height - 1).first + stride, extent.row(height));
            for (from, to) in [before, after] {
                copy(&self.from[from..from + width], &mut here[to..to + width]);
                copy(&self.from[from..from + width], &mut there[to..to + width]);
            }
        }
    }

    /// Asks for the next patch's values and for the room of this one's result while this one is
    /// swept: their rows lie a whole row of the grid apart, which no hardware prefetcher follows.
    /// Each sweep asks for a few rows.
    #[inline(always)]
    fn prefetch(
        &self,
        extent: &Extent,
        place: &impl Fn(usize) -> Place,
        next: Option<usize>,
        sweep: usize,
    ) {
        let stride = self.system.shape().stride();
        let a_sweep = extent.height.div_ceil(self.k - 1);
        for row in (sweep - 1) * a_sweep..(sweep * a_sweep).min(extent.height) {
            let Place { first, owned } = place(row);
            if !owned.is_empty() {
                let first = first - self.first;
                prefetch(&self.to[first + owned.start..first + owned.end]);
            }
            if let Some(next) = next {
                let start = next + row * stride;
                prefetch(&self.from[start..start + extent.width + 1]);
                prefetch(&self.system.g.as_slice()[start..start + extent.width]);
            }
        }
    }

    /// Copies the points that the patch owns to the next iterate.
    #[inline(always)]
    fn store(&mut self, extent: &Extent, place: &impl Fn(usize) -> Place) -> PartialNorms {
        let (mut largest, mut errors) = (Lanes::default(), Lanes::default());
        for row in 0..extent.height {
            let Place { first, owned } = place(row);
            if owned.is_empty() {
                continue;
            }
            let new = &self.scratch.here[extent.row(row)..][owned.clone()];
            let stored = first + owned.start..first + owned.end;
            copy(new, &mut self.to[stored.start - self.first..stored.end - self.first]);
            if self.measure {
                let old = &self.from[stored.clone()];
                largest.add_pairs(new, old, |new, old| (new - old).to_f64());
                if let Some(exact) = self.exact {
                    errors.add_pairs(new, &exact[stored], |u, exact| u.to_f64() - exact);
                }
            }
        }
        PartialNorms {
            max_change: largest.total().max,
            error_squares: errors.total().squares,
            ..PartialNorms::default()
        }
    }
}

impl<R: Real> Scratch<R> {
    #[inline(always)]
    fn sweep<U: Update<R>>(&mut self, update: U, extent: &Extent) {
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
        sweep(update, block, &mut self.there[first..]);
        std::mem::swap(&mut self.here, &mut self.there);
    }

    /// Adds up what the last sweep changed at the owned points.
    #[inline(always)]
    fn measure_sweep(&self, extent: &Extent, place: &impl Fn(usize) -> Place, changes: &mut Lanes) {
        for row in 0..extent.height {
            let owned = place(row).owned;
            let new = &self.here[extent.row(row)..][owned.clone()];
            let old = &self.there[extent.row(row)..][owned];
            changes.add_pairs(new, old, |new, old| (new - old).to_f64());
        }
    }
}

/// Asks the second-level cache for these values.
#[inline(always)]
fn prefetch<R>(values: &[R]) {
    #[cfg(target_arch = "x86_64")]
    for line in values.chunks(CACHE_LINE / size_of::<R>()) {
        // SAFETY: a prefetch reads nothing, whatever the address; every x86-64 CPU has it.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = values;
}
