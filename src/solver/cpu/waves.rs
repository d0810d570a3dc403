//! The hierarchical method with tiles in waves, and with points of a tile in warps ([`Schedule`]).
//!
//! The tiles of a wave start from one state, in parallel; what they own is written once all of them are done.

use super::level::{Level, Task};
use super::patch::{Local, Measured, Patch, PatchRow, Piece, Scratch};
use super::sweeps::{Sweeps, with_sweeps};
use super::team::Team;
use super::tiles::{POINTS_IN_1D, extent_of, place, place_1d};
use crate::grid::{Real, Tiling};
use crate::problem::System;
use crate::solver::Schedule;
use std::num::NonZeroUsize;

/// The hierarchical method on one grid, its tiles and points in an order.
#[derive(Clone, Debug)]
pub(super) struct Waves {
    tiling: Tiling,
    k: usize,
    schedule: Schedule,
}

impl Waves {
    pub fn new(tiling: &Tiling, k: usize, schedule: Schedule) -> Self {
        Self { tiling: tiling.clone(), k, schedule }
    }

    /// Subiterations of a cycle.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Makes one cycle of an iterate (`from`) into the next (`to`), its sweeps damped by `omega`; norms do not come
    /// with it.
    pub fn cycle<R: Real>(
        &self,
        (system, omega): (&System<R>, R),
        (from, to): (&[R], &mut [R]),
        level: Level,
        team: &Team,
    ) {
        let (tiling, k, warp) = (&self.tiling, self.k, self.schedule.warp);
        let shape = system.shape();
        let is_1d = shape.dim() == 1;
        let across = tiling.x().count();
        let (tiles, systems) = if is_1d { (across, shape.batch()) } else { (tiling.count(), 1) };
        let together = if is_1d { (POINTS_IN_1D / tiling.x().tile()).max(1) } else { 1 };
        let of_wave = self.schedule.wave.map_or(tiles, NonZeroUsize::get).min(tiles);
        to.copy_from_slice(from);
        for first in (0..tiles).step_by(of_wave) {
            let wave = first..(first + of_wave).min(tiles);
            // In 1D the same tiles of every system.
            let all: Vec<_> = (0..systems)
                .flat_map(|system| wave.clone().map(move |tile| system * across + tile))
                .collect();
            let updates = all.len() * points(tiling) * k;
            let state = &*to;
            let works = all.chunks(together).collect();
            let owned = with_sweeps(system, omega, level, |sweeps| {
                team.map(works, updates, Scratch::default, |scratch, tiles| {
                    level.run(Work {
                        tiling,
                        tiles,
                        k,
                        warp,
                        system,
                        sweeps,
                        state,
                        level,
                        team,
                        scratch,
                    })
                })
            });
            for Owned { places, values } in owned {
                let mut rest = &values[..];
                for PatchRow { first, owned, .. } in places {
                    let (row, others) = rest.split_at(owned.len());
                    let start = first + owned.start;
                    to[start..start + row.len()].copy_from_slice(row);
                    rest = others;
                }
            }
        }
    }
}

/// Points of a tile.
fn points(tiling: &Tiling) -> usize {
    tiling.axes().iter().map(|axis| axis.tile()).product()
}

/// What some tiles own after a cycle: the values of their rows, one after the other.
struct Owned<R> {
    places: Vec<PatchRow>,
    values: Vec<R>,
}

/// Tiles that are computed together: one, or, in 1D, as many as make a patch.
struct Work<'a, R> {
    tiling: &'a Tiling,
    tiles: &'a [usize],
    k: usize,
    warp: Option<NonZeroUsize>,
    system: &'a System<R>,
    sweeps: &'a dyn Sweeps<R>,
    state: &'a [R],
    level: Level,
    team: &'a Team,
    scratch: &'a mut Scratch<R>,
}

impl<R: Real> Task for Work<'_, R> {
    type Output = Owned<R>;
    #[inline(always)]
    fn run(self) -> Owned<R> {
        let Self { tiling, tiles, k, warp, system, sweeps, state, level, team, scratch } = self;
        let shape = system.shape();
        let mut places = Vec::new();
        if shape.dim() == 1 {
            places.extend(tiles.iter().map(|tile| place_1d(shape, tiling, *tile)));
        } else {
            place(shape, tiling, tiles[0], &mut places);
        }
        let extent = extent_of(tiling, shape.dim(), places.len());
        let mut values = vec![R::default(); places.iter().map(|place| place.owned.len()).sum()];
        {
            // Every owned row is a piece.
            let (mut to, mut rest) = (Vec::new(), &mut values[..]);
            for place in places.iter_mut().filter(|place| !place.owned.is_empty()) {
                let (row, others) = rest.split_at_mut(place.owned.len());
                place.piece = to.len();
                to.push(Piece { first: place.first + place.owned.start, values: row });
                rest = others;
            }
            let (local, exact, measure) = (Local::Sweeps(k), None, false);
            let measured = Measured::default();
            let mut patch = Patch {
                system,
                sweeps,
                local,
                from: state,
                exact,
                measure,
                level,
                team,
                to,
                scratch,
                measured,
            };
            match warp {
                None => patch.cycle(&extent, &places, None),
                Some(warp) => patch.cycle_in_place(&extent, &places, warp.get()),
            }
        }
        Owned { places, values }
    }
}
