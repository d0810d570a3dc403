//! Islam & Wang's hierarchical iteration: `k` sweeps inside every tile, its ring frozen.
//!
//! A tile is copied, with its ring, into two small arrays that stay in the core's first-level
//! cache (26.7 kB with its right-hand side at T = 32 in 2D and f64, as in the paper); the points
//! that it owns are copied back.

use super::Pass;
use super::level::Task;
use super::norms::{Lanes, PartialNorms};
use super::update::{Rows, Update, WithUpdate, update_row, update_row_and_measure, with_update};
use crate::grid::{AxisTiling, Real, Shape, Tiling};
use crate::problem::System;
use std::ops::Range;

/// Tiles of a line that one task works on.
const TILES_OF_A_LINE: usize = 64;

/// Bytes of a cache line, and of the longest vector.
const CACHE_LINE: usize = 64;

/// Sweeps over which the loads of the next tile are spread.
const PREFETCH_SWEEPS: usize = 8;

/// Values that rows of a tile are padded to: a cache line of f64.
const VALUES_OF_A_LINE: usize = 8;

/// The work of one task: some tiles side by side, whose owned points lie together in memory.
#[derive(Clone, Debug)]
struct Job {
    /// Tiles along x.
    tiles: Range<usize>,
    /// Rows that the tiles compute, and those that they own. A line is a row of its own.
    computed_rows: Range<usize>,
    owned_rows: Range<usize>,
    /// Where the owned points lie in storage, first to last.
    stored: Range<usize>,
}

/// The hierarchical method on one grid: the tiles, sorted into tasks.
#[derive(Clone, Debug)]
pub(super) struct Hierarchical {
    k: usize,
    x: AxisTiling,
    jobs: Vec<Job>,
}

impl Hierarchical {
    pub fn new(shape: &Shape, k: usize, tiling: &Tiling) -> Self {
        let x = tiling.x().clone();
        let stride = shape.stride();
        let jobs = match tiling.y() {
            Some(y) => (0..y.count())
                .map(|tile| {
                    let owned_rows = y.owned(tile);
                    Job {
                        tiles: 0..x.count(),
                        computed_rows: y.computed(tile),
                        stored: (owned_rows.start + 1) * stride..(owned_rows.end + 1) * stride,
                        owned_rows,
                    }
                })
                .collect(),
            None => (0..shape.rows())
                .flat_map(|row| {
                    let x = &x;
                    (0..x.count()).step_by(TILES_OF_A_LINE).map(move |first| {
                        let tiles = first..(first + TILES_OF_A_LINE).min(x.count());
                        let start = row * stride + 1;
                        Job {
                            stored: start + x.owned(first).start
                                ..start + x.owned(tiles.end - 1).end,
                            tiles,
                            computed_rows: row..row + 1,
                            owned_rows: row..row + 1,
                        }
                    })
                })
                .collect(),
        };
        Self { k, x, jobs }
    }

    /// Makes one cycle.
    pub fn cycle<R: Real>(&self, pass: Pass<'_, R>) -> PartialNorms {
        let Pass { system, from, exact, to, level, team } = pass;
        let mut works = Vec::with_capacity(self.jobs.len());
        let (mut rest, mut passed) = (to, 0);
        for job in &self.jobs {
            let (_, tail) = rest.split_at_mut(job.stored.start - passed);
            let (to, tail) = tail.split_at_mut(job.stored.len());
            (rest, passed) = (tail, job.stored.end);
            works.push((job, to));
        }
        let parts = team.map(works, Scratch::default, |scratch, (job, to)| {
            level.run(Work { method: self, system, from, exact, job, to, scratch })
        });
        parts.into_iter().fold(PartialNorms::default(), |a, b| a + b)
    }
}

/// A tile with its ring, twice, and its right-hand side: the fast memory of one thread.
#[derive(Default)]
struct Scratch<R> {
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

impl<R> std::ops::Deref for Aligned<R> {
    type Target = [R];
    #[inline(always)]
    fn deref(&self) -> &[R] {
        &self.values[self.first..]
    }
}

impl<R> std::ops::DerefMut for Aligned<R> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [R] {
        &mut self.values[self.first..]
    }
}

/// One job on one thread.
struct Work<'a, R> {
    method: &'a Hierarchical,
    system: &'a System<R>,
    from: &'a [R],
    exact: Option<&'a [f64]>,
    job: &'a Job,
    /// Storage from the job's first owned point to its last.
    to: &'a mut [R],
    scratch: &'a mut Scratch<R>,
}

impl<R: Real> Task for Work<'_, R> {
    type Output = PartialNorms;
    #[inline(always)]
    fn run(self) -> PartialNorms {
        with_update(&self.system.weights, self.system.shape().dim(), self)
    }
}

impl<R: Real> WithUpdate<R> for Work<'_, R> {
    type Output = PartialNorms;
    #[inline(always)]
    fn with<U: Update<R>>(mut self, update: U) -> PartialNorms {
        let x = &self.method.x;
        let mut norms = PartialNorms::default();
        for tile in self.job.tiles.clone() {
            let (computed, owned) = (x.computed(tile), x.owned(tile));
            let boxed = TileBox {
                width: computed.len(),
                height: self.job.computed_rows.len(),
                ring_rows: self.system.shape().ring_rows(),
                owned_columns: owned.start - computed.start..owned.end - computed.start,
                owned_rows: self.job.owned_rows.start - self.job.computed_rows.start
                    ..self.job.owned_rows.end - self.job.computed_rows.start,
            };
            self.load(&boxed, computed.start);
            let mut changes = Lanes::default();
            self.scratch.first_sweep(update, &boxed, &mut changes);
            for sweep in 1..self.method.k {
                if tile + 1 < self.job.tiles.end {
                    self.prefetch(&boxed, x.computed(tile + 1).start, sweep);
                }
                self.scratch.sweep(update, &boxed);
            }
            norms = norms + self.store(&boxed, owned.start, changes);
        }
        norms
    }
}

/// The geometry of one tile, in its own coordinates.
///
/// Rows are padded so that the first point of each lies at the start of a cache line, its west
/// neighbour at the end of the line before: then only the loads of west and east neighbours
/// straddle lines.
struct TileBox {
    width: usize,
    height: usize,
    ring_rows: usize,
    owned_columns: Range<usize>,
    owned_rows: Range<usize>,
}

impl TileBox {
    /// Values from a row to the next.
    fn stride(&self) -> usize {
        (self.width + 2).next_multiple_of(VALUES_OF_A_LINE)
    }

    /// Values of a tile and its ring, padding included.
    fn stored(&self) -> usize {
        (self.height + 2 * self.ring_rows) * self.stride() + 2 * VALUES_OF_A_LINE
    }

    /// Where the west neighbour of a row's first point lies; rows of the ring count.
    fn ring_row(&self, row: usize) -> usize {
        VALUES_OF_A_LINE - 1 + row * self.stride()
    }

    /// Where the west neighbour of a row's first point lies.
    fn row(&self, row: usize) -> usize {
        self.ring_row(row + self.ring_rows)
    }

    /// Values from a row of the right-hand side to the next.
    fn g_stride(&self) -> usize {
        self.width.next_multiple_of(VALUES_OF_A_LINE)
    }

    #[inline(always)]
    fn rows<'a, R>(&self, values: &'a [R], g: &'a [R], row: usize) -> Rows<'a, R> {
        let start = row * self.g_stride();
        let g = &g[start..start + self.width];
        Rows::new(values, self.row(row), self.ring_rows * self.stride(), g)
    }
}

impl<R: Real> Work<'_, R> {
    /// Copies a tile, its ring and its right-hand side into fast memory.
    #[inline(always)]
    fn load(&mut self, tile: &TileBox, first_column: usize) {
        let shape = self.system.shape();
        let rows = tile.height + 2 * tile.ring_rows;
        let Scratch { here, there, g } = &mut *self.scratch;
        here.resize(tile.stored());
        there.resize(tile.stored());
        g.resize(tile.height * tile.g_stride());
        for row in 0..rows {
            let start = (self.job.computed_rows.start + row) * shape.stride() + first_column;
            let from = &self.from[start..start + tile.width + 2];
            let to = tile.ring_row(row)..tile.ring_row(row) + from.len();
            here[to.clone()].copy_from_slice(from);
            there[to].copy_from_slice(from);
        }
        for (local, row) in self.job.computed_rows.clone().enumerate() {
            let from = &self.system.g.interior(row)[first_column..first_column + tile.width];
            let start = local * tile.g_stride();
            g[start..start + tile.width].copy_from_slice(from);
        }
    }

    /// Asks for the next tile's values while this one is swept: its rows lie a whole row of the
    /// grid apart, which no hardware prefetcher follows. Each sweep asks for a few rows.
    #[inline(always)]
    fn prefetch(&self, tile: &TileBox, first_column: usize, sweep: usize) {
        let rows = tile.height + 2 * tile.ring_rows;
        let a_sweep = rows.div_ceil((self.method.k - 1).min(PREFETCH_SWEEPS));
        let stride = self.system.shape().stride();
        let first = self.job.computed_rows.start;
        for row in first + (sweep - 1) * a_sweep..first + (sweep * a_sweep).min(rows) {
            let start = row * stride + first_column;
            prefetch(&self.from[start..start + tile.width + 2]);
            prefetch(&self.system.g.as_slice()[start..start + tile.width + 2]);
        }
    }

    /// Copies the points that the tile owns to the next iterate.
    #[inline(always)]
    fn store(&mut self, tile: &TileBox, first_owned: usize, changes: Lanes) -> PartialNorms {
        let shape = self.system.shape();
        let width = tile.owned_columns.len();
        let (mut largest, mut errors) = (Lanes::default(), Lanes::default());
        for (row, local) in self.job.owned_rows.clone().zip(tile.owned_rows.clone()) {
            let start = tile.row(local) + 1 + tile.owned_columns.start;
            let new = &self.scratch.here[start..start + width];
            let start = (row + shape.ring_rows()) * shape.stride() + 1 + first_owned;
            let old = &self.from[start..start + width];
            self.to[start - self.job.stored.start..][..width].copy_from_slice(new);
            largest.add_all(new.iter().zip(old).map(|(new, old)| (*new - *old).to_f64()));
            if let Some(exact) = self.exact {
                let exact = &exact[start..start + width];
                errors.add_all(new.iter().zip(exact).map(|(u, e)| u.to_f64() - e));
            }
        }
        PartialNorms {
            first_sweep: changes.total(),
            max_change: largest.total().max,
            error_squares: errors.total().squares,
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

impl<R: Real> Scratch<R> {
    #[inline(always)]
    fn sweep<U: Update<R>>(&mut self, update: U, tile: &TileBox) {
        for row in 0..tile.height {
            let rows = tile.rows(&self.here, &self.g, row);
            let start = tile.row(row) + 1;
            update_row(update, rows, &mut self.there[start..start + tile.width]);
        }
        std::mem::swap(&mut self.here, &mut self.there);
    }

    #[inline(always)]
    fn first_sweep<U: Update<R>>(&mut self, update: U, tile: &TileBox, changes: &mut Lanes) {
        for row in 0..tile.height {
            let rows = tile.rows(&self.here, &self.g, row);
            let start = tile.row(row) + 1;
            let out = &mut self.there[start..start + tile.width];
            if tile.owned_rows.contains(&row) {
                let (first, last) = (tile.owned_columns.start, tile.owned_columns.end);
                update_row(update, rows.part(0..first), &mut out[..first]);
                let owned = &mut out[first..last];
                update_row_and_measure(update, rows.part(first..last), owned, changes);
                update_row(update, rows.part(last..tile.width), &mut out[last..]);
            } else {
                update_row(update, rows, out);
            }
        }
        std::mem::swap(&mut self.here, &mut self.there);
    }
}
