//! The scratch memory of one thread, and what is done in it.
//!
//! A tile is copied, with its halo, into two small arrays that stay in the core's first-level
//! cache (26.7 kB with its right-hand side at T = 32 in 2D and f64, as in the paper; a tile of 16³
//! needs 124 kB and stays in the second-level cache). The points that it owns are copied back.

use super::level::{Level, Task};
use super::norms::{Lanes, Largest, NormAccumulator, PartialNorms};
use super::prefetch::prefetch;
use super::spectral::Tables;
use super::sweeps::Sweeps;
use super::team::Team;
use super::update::{Block, Rows, STRIPE, copy};
use crate::grid::Real;
use crate::problem::System;
use std::ops::{Deref, DerefMut, Range};

/// Bytes of a cache line, and of the longest vector.
pub(super) const CACHE_LINE: usize = 64;

/// Values that rows are padded to: a cache line of f64.
pub(super) const PADDING: usize = 8;

/// How the subiterations inside a tile are made.
pub(super) enum Local<'a, R> {
    /// This many sweeps.
    Sweeps(usize),
    /// All of them at once, in the sine basis of the tile.
    Spectral(&'a Tables<R>),
    /// They were made elsewhere, and the next iterate has their result: it is measured.
    Made,
}

impl<R> Clone for Local<'_, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R> Copy for Local<'_, R> {}

impl<R: Real> Local<'_, R> {
    /// The sweeps that take about as long.
    pub fn sweeps(&self) -> usize {
        match self {
            Self::Sweeps(k) => *k,
            Self::Spectral(tables) => tables.sweeps(),
            Self::Made => 1,
        }
    }
}

/// A tile with its halo, twice, its right-hand side, and its matrix rows where they differ.
#[derive(Default)]
pub(super) struct Scratch<R> {
    here: Aligned<R>,
    there: Aligned<R>,
    g: Aligned<R>,
    rows: Aligned<R>,
    /// Where the tile is transformed to its sine basis: two arrays.
    modes: [Aligned<R>; 2],
}

/// Values that begin at the start of a cache line.
#[derive(Default)]
pub(super) struct Aligned<R> {
    values: Vec<R>,
    first: usize,
}

impl<R: Real> Aligned<R> {
    /// Makes room for `length` values, whose contents are unspecified.
    pub fn resize(&mut self, length: usize) {
        if self.values.len() < length + CACHE_LINE {
            self.values = vec![R::default(); length + CACHE_LINE];
            // Where the address is not known, only alignment is lost.
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
/// In scratch memory, rows are padded so that the first point of each lies at the start of a cache
/// line, its previous neighbour at the end of the line before: then only the loads of neighbours
/// along x straddle lines.
pub(super) struct Extent {
    pub width: usize,
    /// Rows of an xy-plane.
    pub height: usize,
    /// xy-planes; 1 in 1D and 2D.
    pub depth: usize,
    /// Axes of the grid. In 1D rows are systems, not neighbours of each other. In 2D and 3D each
    /// plane has a halo row before its first and after its last row, in 3D the patch a halo plane
    /// before its first and after its last plane.
    pub dim: usize,
}

impl Extent {
    /// Values from a row to the next.
    fn stride(&self) -> usize {
        (self.width + 2).next_multiple_of(PADDING)
    }

    /// Values from an xy-plane to the next.
    fn plane_stride(&self) -> usize {
        (self.height + 2) * self.stride()
    }

    /// Where the neighbours along z of a point lie.
    fn along_z(&self, point: usize) -> [usize; 2] {
        let plane = if self.dim < 3 { 0 } else { self.plane_stride() };
        [point - plane, point + plane]
    }

    /// Values from a row of the right-hand side to the next.
    fn g_stride(&self) -> usize {
        self.width.next_multiple_of(PADDING)
    }

    /// Values of the right-hand side, and of each array of matrix rows, padding included.
    fn g_stored(&self) -> usize {
        self.rows() * self.g_stride()
    }

    /// Values of the scratch memory of one thread, with this many arrays of matrix rows.
    pub fn scratch(&self, row_arrays: usize, is_spectral: bool) -> usize {
        let arrays = 2 * self.stored() + (1 + row_arrays) * self.g_stored();
        let modes = if is_spectral { 2 * self.modes() } else { 0 };
        // Each array begins at a cache line.
        arrays + modes + 6 * CACHE_LINE
    }

    /// Values of a patch in its sine basis, at most: its halves are padded to whole vectors.
    pub fn modes(&self) -> usize {
        self.rows() * (self.width + 3 * PADDING)
    }

    /// Rows of all planes.
    pub fn rows(&self) -> usize {
        self.height * self.depth
    }

    /// Where a row's first point lies. Rows are numbered through all planes.
    pub fn row(&self, row: usize) -> usize {
        if self.dim < 3 {
            return PADDING + (row + usize::from(self.dim > 1)) * self.stride();
        }
        let (y, z) = (row % self.height, row / self.height);
        PADDING + (z + 1) * self.plane_stride() + (y + 1) * self.stride()
    }

    /// Values of a patch and its halo, padding included.
    fn stored(&self) -> usize {
        let rows = match self.dim {
            1 => self.height,
            2 => self.height + 2,
            _ => (self.height + 2) * (self.depth + 2),
        };
        rows * self.stride() + 2 * PADDING
    }
}

/// Where a row of a patch lies in the arrays of the grid.
pub(super) struct PatchRow {
    /// Its first point.
    pub first: usize,
    /// The columns of the patch that are written back.
    pub owned: Range<usize>,
    /// Which of the pieces of the next iterate they are written to.
    pub piece: usize,
}

/// A part of the next iterate that one thread writes.
pub(super) struct Piece<'a, R> {
    /// Where it begins in the arrays of the grid.
    pub first: usize,
    pub values: &'a mut [R],
}

/// What the next patch has and this one has not, and where the result of this one goes. Rows lie a whole row of the grid
/// apart, which no hardware prefetcher follows: they are prefetched while this patch is computed, a few at a time.
pub(super) struct Coming<'a, 'b, R> {
    system: &'a System<R>,
    from: &'a [R],
    to: &'a [Piece<'b, R>],
    extent: &'a Extent,
    places: &'a [PatchRow],
    /// How many columns on the next patch lies, if it has the same rows.
    next: Option<usize>,
}

impl<R: Real> Coming<'_, '_, R> {
    /// Prefetches the rows of one step, from 1, of so many.
    #[inline(always)]
    pub fn prefetch(&self, step: usize, steps: usize) {
        let Self { system, from, to, extent, places, next } = self;
        let rows = |all: usize| {
            let of_step = all.div_ceil(steps);
            (step - 1) * of_step..(step * of_step).min(all)
        };
        for PatchRow { first, owned, piece } in places.get(rows(places.len())).unwrap_or_default() {
            if !owned.is_empty() {
                let piece = &to[*piece];
                let start = first + owned.start - piece.first;
                prefetch(&piece.values[start..start + owned.len()]);
            }
        }
        if let Some(columns) = next {
            let stride = system.shape().stride();
            let in_plane = extent.height + 2;
            for row in rows(in_plane * extent.depth) {
                let first = places[row / in_plane * extent.height].first;
                let start = first + row % in_plane * stride - stride + extent.width;
                prefetch(&from[start..start + columns + 1]);
                prefetch(&system.g.as_slice()[start..start + columns]);
            }
        }
    }
}

/// What one thread needs to take patches through a cycle.
pub(super) struct Patch<'a, R> {
    pub system: &'a System<R>,
    pub sweeps: &'a dyn Sweeps<R>,
    pub local: Local<'a, R>,
    pub from: &'a [R],
    pub exact: Option<&'a [f64]>,
    pub measure: bool,
    pub level: Level,
    /// Whose cycle it is: it may be left unfinished.
    pub team: &'a Team,
    /// What is written of the next iterate.
    pub to: Vec<Piece<'a, R>>,
    pub scratch: &'a mut Scratch<R>,
    pub measured: Measured,
}

/// Norms of the patches of one thread so far.
#[derive(Default)]
pub(super) struct Measured {
    /// u₁ − u₀ of the first sweep.
    first_sweep: Lanes<STRIPE>,
    change: Largest,
    error_squares: f64,
}

impl Measured {
    /// The norms of all of them.
    pub fn norms(&self) -> PartialNorms {
        PartialNorms {
            first_sweep: self.first_sweep.total(),
            max_change: self.change.total(),
            error_squares: self.error_squares,
        }
    }
}

impl<R: Real> Patch<'_, R> {
    /// Makes one cycle of the patch whose rows lie at `places`. `next` is how many columns on the
    /// patch after it lies, if that has the same rows.
    #[inline(always)]
    pub fn cycle(&mut self, extent: &Extent, places: &[PatchRow], next: Option<usize>) {
        if self.team.is_stopped() {
            return;
        }
        self.load(extent, places);
        if self.measure {
            self.sweep_and_measure(extent, places);
        } else {
            self.scratch.sweep(self.sweeps, extent);
        }
        match self.local {
            Local::Sweeps(k) => {
                for sweep in 1..k {
                    if self.team.is_stopped() {
                        return;
                    }
                    self.coming(extent, places, next).prefetch(sweep, k - 1);
                    self.scratch.sweep(self.sweeps, extent);
                }
            }
            Local::Spectral(tables) => {
                let Self { system, from, to, scratch, .. } = self;
                let Scratch { here, there, modes, .. } = &mut **scratch;
                let coming = Coming { system, from, to, extent, places, next };
                let arrays = (&mut here[..], &there[..]);
                tables.correct((self.level, self.team), extent, arrays, modes, &coming);
            }
            Local::Made => self.fetch(extent, places),
        }
        if self.measure {
            if let Some(exact) = self.exact {
                self.measured.error_squares += self.error_squares(extent, places, exact);
            }
            self.store_and_measure(extent, places);
        } else {
            self.store(extent, places);
        }
    }

    /// Makes one cycle of the patch whose rows lie at `places`, each sweep of which updates `warp` points at a
    /// time, in place; norms do not come with it.
    #[inline(always)]
    pub fn cycle_in_place(&mut self, extent: &Extent, places: &[PatchRow], warp: usize) {
        self.load(extent, places);
        for _ in 0..self.local.sweeps() {
            if self.team.is_stopped() {
                return;
            }
            self.scratch.sweep_in_place(self.sweeps, extent, warp);
        }
        self.store(extent, places);
    }

    /// The first sweep, and what it changed of the points that the patch owns.
    #[inline(always)]
    fn sweep_and_measure(&mut self, extent: &Extent, places: &[PatchRow]) {
        let Self { scratch, measured, sweeps, .. } = self;
        let mut row = 0;
        // Rows of a plane that own the same columns are swept together.
        for plane in places.chunks(extent.height) {
            for run in plane.chunk_by(|a, b| a.owned == b.owned) {
                let (block, out) = scratch.rows(extent, row..row + run.len());
                let owned = run[0].owned.clone();
                if owned.is_empty() {
                    sweeps.sweep(&block, out);
                } else {
                    sweeps.sweep_and_measure(&block, out, owned, &mut measured.first_sweep);
                }
                row += run.len();
            }
        }
        scratch.swap();
    }

    /// Copies a patch, its halo and its right-hand side into scratch memory. The second array needs
    /// only the halo.
    #[inline(always)]
    fn load(&mut self, extent: &Extent, places: &[PatchRow]) {
        let (width, height, depth) = (extent.width, extent.height, extent.depth);
        let Scratch { here, there, g, rows, .. } = &mut *self.scratch;
        here.resize(extent.stored());
        there.resize(extent.stored());
        g.resize(extent.g_stored());
        for (row, place) in places.iter().enumerate() {
            let from = place.first;
            let to = extent.row(row);
            let (previous, next) = (self.from[from - 1], self.from[from + width]);
            copy(&self.from[from..from + width], &mut here[to..to + width]);
            (here[to - 1], there[to - 1]) = (previous, previous);
            (here[to + width], there[to + width]) = (next, next);
            let to = row * extent.g_stride();
            copy(&self.system.g.as_slice()[from..from + width], &mut g[to..to + width]);
        }
        if let Some(of_grid) = &self.system.rows {
            let arrays = of_grid.values.chunks(of_grid.distance);
            rows.resize(arrays.len() * extent.g_stored());
            for (from, to) in arrays.zip(rows.chunks_mut(extent.g_stored())) {
                for (place, to) in places.iter().zip(to.chunks_mut(extent.g_stride())) {
                    copy(&from[place.first..place.first + width], &mut to[..width]);
                }
            }
        }
        let shape = self.system.shape();
        let mut halo_row = |from: usize, to: usize| {
            copy(&self.from[from..from + width], &mut here[to..to + width]);
            copy(&self.from[from..from + width], &mut there[to..to + width]);
        };
        if extent.dim > 1 {
            let (stride, padded) = (shape.stride(), extent.stride());
            for (first, last) in (0..depth).map(|z| (z * height, (z + 1) * height - 1)) {
                halo_row(places[first].first - stride, extent.row(first) - padded);
                halo_row(places[last].first + stride, extent.row(last) + padded);
            }
        }
        if extent.dim > 2 {
            let (stride, padded) = (shape.plane_stride(), extent.plane_stride());
            for (first, last) in (0..height).map(|y| (y, (depth - 1) * height + y)) {
                halo_row(places[first].first - stride, extent.row(first) - padded);
                halo_row(places[last].first + stride, extent.row(last) + padded);
            }
        }
    }

    /// What is needed once this patch is computed.
    #[inline(always)]
    fn coming<'b>(
        &'b self,
        extent: &'b Extent,
        places: &'b [PatchRow],
        next: Option<usize>,
    ) -> Coming<'b, 'b, R> {
        let Self { system, from, to, .. } = self;
        Coming { system, from, to, extent, places, next }
    }

    /// Copies the points that the patch owns from the next iterate.
    #[inline(always)]
    fn fetch(&mut self, extent: &Extent, places: &[PatchRow]) {
        for (row, PatchRow { first, owned, piece }) in places.iter().enumerate() {
            if owned.is_empty() {
                continue;
            }
            let piece = &self.to[*piece];
            let from = first + owned.start - piece.first;
            let to = &mut self.scratch.here[extent.row(row)..][owned.clone()];
            copy(&piece.values[from..from + owned.len()], to);
        }
    }

    /// Copies the points that the patch owns to the next iterate.
    #[inline(always)]
    fn store(&mut self, extent: &Extent, places: &[PatchRow]) {
        for (row, PatchRow { first, owned, piece }) in places.iter().enumerate() {
            if owned.is_empty() {
                continue;
            }
            let from = &self.scratch.here[extent.row(row)..][owned.clone()];
            let piece = &mut self.to[*piece];
            let to = first + owned.start - piece.first;
            copy(from, &mut piece.values[to..to + owned.len()]);
        }
    }

    /// Copies the points that the patch owns to the next iterate, and measures how far the cycle
    /// changed them.
    #[inline(always)]
    fn store_and_measure(&mut self, extent: &Extent, places: &[PatchRow]) {
        let Self { level, from, to, scratch, measured, .. } = self;
        let (values, change) = (&scratch.here, &mut measured.change);
        level.run(Store { values, extent, places, from, to, change });
    }

    /// Σ (u − u*)² over the points that the patch owns.
    #[inline(always)]
    fn error_squares(&self, extent: &Extent, places: &[PatchRow], exact: &[f64]) -> f64 {
        self.level.run(ErrorSquares { values: &self.scratch.here, extent, places, exact })
    }
}

/// See [`Patch::store_and_measure`].
struct Store<'a, 'p, R> {
    values: &'a [R],
    extent: &'a Extent,
    places: &'a [PatchRow],
    from: &'a [R],
    to: &'a mut [Piece<'p, R>],
    change: &'a mut Largest,
}

impl<R: Real> Task for Store<'_, '_, R> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { values, extent, places, from, to, change } = self;
        let mut largest = *change;
        for (row, place) in places.iter().enumerate() {
            let count = place.owned.len();
            let start = place.first + place.owned.start;
            let new = &values[extent.row(row)..][place.owned.clone()];
            // A row that owns nothing may lie outside of what this thread may write.
            if count > 0 {
                let piece = &mut to[place.piece];
                let to = &mut piece.values[start - piece.first..start - piece.first + count];
                largest.copy_and_compare(new, &from[start..start + count], to);
            }
        }
        *change = largest;
    }
}

/// See [`Patch::error_squares`]; a function of its own, so that its lanes find registers free.
struct ErrorSquares<'a, R> {
    values: &'a [R],
    extent: &'a Extent,
    places: &'a [PatchRow],
    exact: &'a [f64],
}

impl<R: Real> Task for ErrorSquares<'_, R> {
    type Output = f64;
    #[inline(always)]
    fn run(self) -> f64 {
        let Self { values, extent, places, exact } = self;
        let mut total = 0.0;
        let mut row = 0;
        // Rows that own the same columns are measured together.
        for run in places.chunk_by(|a, b| a.owned == b.owned) {
            let owned = &run[0].owned;
            let mut measure = NormAccumulator::new(owned.len());
            for place in run {
                let (own, other) = (extent.row(row) + owned.start, place.first + owned.start);
                measure.add(&values[own..], &exact[other..], |u, exact| u.to_f64() - exact);
                row += 1;
            }
            total += measure.total().squares;
        }
        total
    }
}

impl<R: Real> Scratch<R> {
    /// Some rows of one plane of a patch in `here`, and where a sweep of them goes in `there`.
    #[inline(always)]
    fn rows(&mut self, extent: &Extent, rows: Range<usize>) -> (Block<'_, R>, &mut [R]) {
        let first = extent.row(rows.start);
        let block = Block {
            values: &self.here,
            first,
            stride: extent.stride(),
            along_z: extent.along_z(first),
            g: &self.g[rows.start * extent.g_stride()..],
            g_stride: extent.g_stride(),
            rows: Rows {
                values: self.rows.get(rows.start * extent.g_stride()..).unwrap_or_default(),
                distance: extent.g_stored(),
            },
            width: extent.width,
            height: rows.len(),
        };
        (block, &mut self.there[first..])
    }

    /// A sweep that updates `warp` points of a tile at a time, along x first: the points after them read the new
    /// values.
    #[inline(always)]
    fn sweep_in_place(&mut self, sweeps: &dyn Sweeps<R>, extent: &Extent, warp: usize) {
        let width = extent.width;
        // In 1D each row is a tile.
        let rows = if extent.dim == 1 { 1 } else { extent.rows() };
        for first in (0..extent.rows()).step_by(rows) {
            for start in (0..rows * width).step_by(warp) {
                let end = (start + warp).min(rows * width);
                let parts = (start / width..end.div_ceil(width)).map(|row| {
                    let before = row * width;
                    (first + row, start.max(before) - before..end.min(before + width) - before)
                });
                for (row, columns) in parts.clone() {
                    let at = extent.row(row) + columns.start;
                    let of_g = row * extent.g_stride() + columns.start;
                    let block = Block {
                        values: &self.here,
                        first: at,
                        stride: extent.stride(),
                        along_z: extent.along_z(at),
                        g: &self.g[of_g..],
                        g_stride: extent.g_stride(),
                        rows: Rows {
                            values: self.rows.get(of_g..).unwrap_or_default(),
                            distance: extent.g_stored(),
                        },
                        width: columns.len(),
                        height: 1,
                    };
                    sweeps.sweep(&block, &mut self.there[at..]);
                }
                for (row, columns) in parts {
                    let at = extent.row(row) + columns.start;
                    let new = &self.there[at..at + columns.len()];
                    self.here[at..at + columns.len()].copy_from_slice(new);
                }
            }
        }
    }

    /// The next sweep begins at the result of this one.
    #[inline(always)]
    fn swap(&mut self) {
        std::mem::swap(&mut self.here, &mut self.there);
    }

    #[inline(always)]
    fn sweep(&mut self, sweeps: &dyn Sweeps<R>, extent: &Extent) {
        for first in (0..extent.depth).map(|plane| plane * extent.height) {
            let (block, out) = self.rows(extent, first..first + extent.height);
            sweeps.sweep(&block, out);
        }
        self.swap();
    }
}
