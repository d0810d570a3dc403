//! Islam & Wang's hierarchical iteration: `k` sweeps inside every tile, its ring frozen.
//!
//! Here the tiles are shared out; what happens to one is told in `patch`.

use super::Pass;
use super::level::Task;
use super::norms::PartialNorms;
use super::patch::{Extent, Patch, Place, Scratch, Seen};
use super::update::{Update, WithUpdate, with_update};
use crate::grid::{AxisTiling, Real, Shape, Tiling};
use std::ops::Range;

/// Points of lines that are swept together, as many as the paper's tile of a plane has. Side by
/// side, short tiles of lines do not wait for their own last sweep.
const POINTS_OF_LINES: usize = 1024;

/// The work of one task: tiles whose owned points lie together in memory.
#[derive(Clone, Debug)]
struct Job {
    tiles: Tiles,
    /// Where the owned points lie in storage, first to last.
    stored: Range<usize>,
}

#[derive(Clone, Debug)]
enum Tiles {
    /// All tiles of a plane that compute these rows and own those.
    Plane { computed: Range<usize>, owned: Range<usize> },
    /// Tiles of lines, counted through all copies.
    Lines(Range<usize>),
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
                    let owned = y.owned(tile);
                    let stored = (owned.start + 1) * stride..(owned.end + 1) * stride;
                    Job { tiles: Tiles::Plane { computed: y.computed(tile), owned }, stored }
                })
                .collect(),
            None => {
                let all = shape.rows() * x.count();
                let together = (POINTS_OF_LINES / x.tile()).max(1);
                let owned = |tile: usize| {
                    let (row, owned) = (tile / x.count(), x.owned(tile % x.count()));
                    let start = row * stride + 1;
                    start + owned.start..start + owned.end
                };
                (0..all)
                    .step_by(together)
                    .map(|first| {
                        let tiles = first..(first + together).min(all);
                        let stored = owned(first).start..owned(tiles.end - 1).end;
                        Job { tiles: Tiles::Lines(tiles), stored }
                    })
                    .collect()
            }
        };
        Self { k, x, jobs }
    }

    /// Sweeps that a cycle makes inside every tile.
    pub fn sweeps(&self) -> usize {
        self.k
    }

    /// Parts that a cycle is shared out in.
    pub fn parts(&self) -> usize {
        self.jobs.len()
    }

    /// Makes one cycle.
    pub fn cycle<R: Real>(&self, pass: Pass<'_, R>) -> PartialNorms {
        let Pass { system, from, exact, to, measure, level, team } = pass;
        let mut works = Vec::with_capacity(self.jobs.len());
        let (mut rest, mut passed) = (to, 0);
        for job in &self.jobs {
            let (_, tail) = rest.split_at_mut(job.stored.start - passed);
            let (to, tail) = tail.split_at_mut(job.stored.len());
            (rest, passed) = (tail, job.stored.end);
            works.push((job, to));
        }
        let updates = system.shape().points() * self.k;
        let parts = team.map(works, updates, Scratch::default, |scratch, (job, to)| {
            let first = job.stored.start;
            let (k, seen) = (self.k, Seen::default());
            let patch = Patch { system, k, from, exact, measure, level, first, to, scratch, seen };
            level.run(Work { x: &self.x, tiles: &job.tiles, patch })
        });
        parts.into_iter().fold(PartialNorms::default(), |a, b| a + b)
    }
}

/// One job on one thread.
struct Work<'a, R> {
    x: &'a AxisTiling,
    tiles: &'a Tiles,
    patch: Patch<'a, R>,
}

impl<R: Real> Task for Work<'_, R> {
    type Output = PartialNorms;
    #[inline(always)]
    fn run(self) -> PartialNorms {
        with_update(&self.patch.system.weights, self.patch.system.shape().dim(), self)
    }
}

impl<R: Real> WithUpdate<R> for Work<'_, R> {
    type Output = PartialNorms;
    #[inline(always)]
    fn with<U: Update<R>>(mut self, update: U) -> PartialNorms {
        let Self { x, tiles, patch } = &mut self;
        let stride = patch.system.shape().stride();
        let (patches, height) = match tiles {
            Tiles::Plane { computed, .. } => (x.count(), computed.len()),
            Tiles::Lines(tiles) => (1, tiles.len()),
        };
        let extent = Extent { width: x.tile(), height, plane: U::PLANE };
        let mut places = Vec::with_capacity(height);
        for number in 0..patches {
            places.clear();
            places.extend((0..height).map(|row| tiles.place(x, stride, number, row)));
            let next = (number + 1 < patches)
                .then(|| x.computed(number + 1).start - x.computed(number).start);
            patch.cycle(update, &extent, &places, next);
        }
        patch.seen.norms()
    }
}

impl Tiles {
    /// Where a row of a patch lies: a patch is one tile of a plane, or all tiles of lines, each
    /// of which is then a row.
    fn place(&self, x: &AxisTiling, stride: usize, patch: usize, row: usize) -> Place {
        let (tile, y, is_owned) = match self {
            Self::Plane { computed, owned } => {
                let y = computed.start + row;
                (patch, y + 1, owned.contains(&y))
            }
            Self::Lines(tiles) => {
                let tile = tiles.start + row;
                (tile % x.count(), tile / x.count(), true)
            }
        };
        let (start, owned) = (x.computed(tile).start, x.owned(tile));
        let owned = if is_owned { owned.start - start..owned.end - start } else { 0..0 };
        Place { first: y * stride + 1 + start, owned }
    }
}
