//! Islam & Wang's hierarchical iteration: subiterations inside every tile, its halo frozen.
//!
//! Here the tiles are distributed over tasks; `patch` has what happens to one.

use super::Pass;
use super::begun::Begun;
use super::level::Task;
use super::norms::PartialNorms;
use super::patch::{Local, Measured, Patch, Piece, Scratch};
use super::sweeps::with_sweeps;
use super::tiles::{POINTS_IN_1D, extent_of, place, place_1d};
use crate::grid::{Real, Shape, Tiling};
use std::ops::Range;

/// The hierarchical method on one grid: the tiles, distributed over tasks.
#[derive(Clone, Debug)]
pub(super) struct Hierarchical {
    tiling: Tiling,
    /// The tiles of each task: all with the same position along y and z, or, in 1D, tiles counted
    /// through all systems of the batch.
    tasks: Vec<Range<usize>>,
    /// Where the points that the tasks own lie in storage, each with its task, in the order of
    /// storage. A task owns one piece of each xy-plane, its lowest first.
    pieces: Vec<(Range<usize>, usize)>,
}

impl Hierarchical {
    pub fn new(shape: &Shape, tiling: &Tiling) -> Self {
        let tiling = tiling.clone();
        let across = tiling.x().count();
        let mut pieces = Vec::new();
        let tasks: Vec<_> = if shape.dim() == 1 {
            let all = shape.batch() * across;
            let together = (POINTS_IN_1D / tiling.x().tile()).max(1);
            let owned = |tile: usize| {
                let start = shape.row_start(tile / across) + 1;
                let owned = tiling.x().owned(tile % across);
                start + owned.start..start + owned.end
            };
            let tasks = (0..all).step_by(together).map(|first| first..(first + together).min(all));
            let tasks: Vec<Range<usize>> = tasks.collect();
            let stored = |tiles: &Range<usize>| owned(tiles.start).start..owned(tiles.end - 1).end;
            pieces.extend(tasks.iter().map(stored).zip(0..));
            tasks
        } else {
            (0..tiling.count()).step_by(across).map(|first| first..first + across).collect()
        };
        if shape.dim() > 1 {
            for (task, tiles) in tasks.iter().enumerate() {
                let [_, y, z] = tiling.owned(tiles.start);
                pieces.extend(z.map(|k| {
                    let start = shape.row_start(k * shape.ny() + y.start);
                    (start..start + y.len() * shape.stride(), task)
                }));
            }
            pieces.sort_unstable_by_key(|(stored, _)| stored.start);
        }
        Self { tiling, tasks, pieces }
    }

    /// Tasks that a cycle is distributed over.
    pub fn parts(&self) -> usize {
        self.tasks.len()
    }

    /// Makes one cycle, with these subiterations inside every tile. Returns the norms of each task, in the order of
    /// tiles.
    pub fn cycle<R: Real>(&self, local: Local<'_, R>, pass: Pass<'_, R>) -> Vec<PartialNorms> {
        let mut begun = Begun::new(pass.measure, None);
        self.go_on(local, pass, &mut begun);
        begun.norms
    }

    /// Makes what is left of a cycle, or a piece of that.
    pub fn go_on<R: Real>(&self, local: Local<'_, R>, pass: Pass<'_, R>, begun: &mut Begun) {
        let Pass { system, omega, from, exact, to, measure, level, team } = pass;
        let with_room = |tiles: &Range<usize>| (tiles.clone(), Vec::with_capacity(1));
        let mut works: Vec<(Range<usize>, Vec<Piece<'_, R>>)> =
            self.tasks.iter().map(with_room).collect();
        let (mut rest, mut passed) = (to, 0);
        for (stored, task) in &self.pieces {
            let (values, tail) = rest[stored.start - passed..].split_at_mut(stored.len());
            (rest, passed) = (tail, stored.end);
            works[*task].1.push(Piece { first: stored.start, values });
        }
        let updates = system.shape().points() * local.sweeps();
        with_sweeps(system, omega, level, |sweeps| {
            begun.go_on(team, works, updates, Scratch::default, |scratch, (tiles, to)| {
                let measured = Measured::default();
                let patch = Patch {
                    system,
                    sweeps,
                    local,
                    from,
                    exact,
                    measure,
                    level,
                    team,
                    to,
                    scratch,
                    measured,
                };
                Some(level.run(Work { tiling: &self.tiling, tiles, patch }))
            });
        });
    }
}

/// One task on one thread.
struct Work<'a, R> {
    tiling: &'a Tiling,
    tiles: Range<usize>,
    patch: Patch<'a, R>,
}

impl<R: Real> Task for Work<'_, R> {
    type Output = PartialNorms;
    #[inline(always)]
    fn run(self) -> PartialNorms {
        let Self { tiling, tiles, mut patch } = self;
        let shape = *patch.system.shape();
        let mut places = Vec::new();
        if shape.dim() == 1 {
            // All tiles of the task make one patch, of which each is a row.
            places.extend(tiles.map(|tile| place_1d(&shape, tiling, tile)));
            let extent = extent_of(tiling, shape.dim(), places.len());
            patch.cycle(&extent, &places, None);
            return patch.measured.norms();
        }
        let extent = extent_of(tiling, shape.dim(), 1);
        for tile in tiles.clone() {
            place(&shape, tiling, tile, &mut places);
            let start = |tile| tiling.computed(tile)[0].start;
            let next = (tile + 1 < tiles.end).then(|| start(tile + 1) - start(tile));
            patch.cycle(&extent, &places, next);
        }
        patch.measured.norms()
    }
}
