//! Planes of working arrays: copied there and back, and updated, with the work divided among threads.
//!
//! Planes of the grid are numbered from 0, the boundary plane before the first, to `count` + 1, the one after
//! the last. Positions are those of planes in working arrays.

use super::clock::PassClock;
use crate::grid::Real;
use crate::problem::System;
use crate::solver::cpu::level::Level;
use crate::solver::cpu::sweeps::with_sweeps;
use crate::solver::cpu::team::Team;
use crate::solver::cpu::update::{Block, Rows};
use crate::solver::pass_progress::PassProgress;
use crate::solver::streaming::{Planes, Traffic};
use std::ops::Range;

/// Values that one task copies.
const COPIED: usize = 1 << 16;

/// Points that one task updates, at least.
const UPDATED: usize = 1 << 14;

/// The planes of one grid, or of one system of a batch, in slow memory.
pub(super) struct PlaneWork<'a, R> {
    pub system: &'a System<R>,
    pub level: Level,
    pub team: &'a Team,
    pub axis: Planes,
    /// What is moved and computed is added here.
    pub traffic: &'a mut Traffic,
    /// Which is read between the parts of steps.
    pub clock: &'a mut PassClock,
    /// Where each sweep of a step is noted.
    pub progress: &'a PassProgress,
    /// The iterate, its boundary planes included.
    pub from: &'a [R],
    /// The right-hand side over the diagonal, likewise.
    pub rhs: &'a [R],
    /// The next iterate, likewise.
    pub to: &'a mut [R],
}

impl<R: Real> PlaneWork<'_, R> {
    /// The stored values of some planes.
    pub fn stored(&self, planes: &Range<usize>) -> Range<usize> {
        planes.start * self.axis.stored..planes.end * self.axis.stored
    }

    /// Notes the time at the beginning of a step, and after each of its parts.
    pub fn mark(&mut self) {
        self.clock.mark(self.traffic);
    }

    /// Copies planes of the iterate and of the right-hand side to a position. The second array gets what
    /// sweeps read there and never write: boundary planes, and the boundary values around other planes.
    pub fn up(
        &mut self,
        planes: Range<usize>,
        position: usize,
        levels: &mut [Vec<R>; 2],
        g: &mut [R],
    ) {
        let (slow, at) = (self.stored(&planes), position..position + planes.len());
        let at = self.stored(&at);
        let [first, second] = levels;
        self.copy(&self.from[slow.clone()], &mut first[at.clone()]);
        self.copy(&self.rhs[slow], &mut g[at.clone()]);
        self.copy_rims(&first[at.clone()], &mut second[at.clone()]);
        let stored = self.axis.stored;
        for boundary in [0, self.axis.count + 1].into_iter().filter(|it| planes.contains(it)) {
            let at = at.start + (boundary - planes.start) * stored;
            second[at..at + stored].copy_from_slice(&first[at..at + stored]);
        }
        let inside = planes.end.min(self.axis.count + 1) - planes.start.max(1);
        self.traffic.up += 2 * (inside * self.axis.points) as u64;
    }

    /// Copies planes from a position to the next iterate.
    pub fn down(&mut self, planes: Range<usize>, position: usize, level: &[R]) {
        let at = self.stored(&(position..position + planes.len()));
        let slow = self.stored(&planes);
        copy(self.team, &level[at], &mut self.to[slow]);
        self.traffic.down += (planes.len() * self.axis.points) as u64;
    }

    /// Updates the planes at some positions, none of them on the boundary, from one array to the other.
    pub fn update(&mut self, positions: Range<usize>, from: &[R], g: &[R], to: &mut [R]) {
        if self.team.is_stopped() {
            return;
        }
        let shape = self.system.shape();
        let (plane, stride) = (self.axis.stored, shape.stride());
        let points = positions.len() * self.axis.points;
        let rows = UPDATED.div_ceil(shape.nx());
        let mut parts = Vec::with_capacity(points / UPDATED + positions.len());
        let (mut rest, mut passed) = (to, 0);
        let mut add = |first: usize, end: usize, width: usize, height: usize| {
            let (_, tail) = std::mem::take(&mut rest).split_at_mut(first - passed);
            let (out, tail) = tail.split_at_mut(end - first);
            (rest, passed) = (tail, end);
            let block = Block {
                values: from,
                first,
                stride,
                along_z: if shape.dim() == 3 { [first - plane, first + plane] } else { [first; 2] },
                g: &g[first..],
                g_stride: stride,
                rows: Rows::NONE,
                width,
                height,
            };
            parts.push((block, out));
        };
        match shape.dim() {
            1 => {
                for start in positions.clone().step_by(UPDATED) {
                    let end = (start + UPDATED).min(positions.end);
                    add(start, end, end - start, 1);
                }
            }
            2 => {
                for start in positions.clone().step_by(rows) {
                    let end = (start + rows).min(positions.end);
                    add(start * stride + 1, end * stride, shape.nx(), end - start);
                }
            }
            _ => {
                for position in positions {
                    // After the boundary row of the plane.
                    let first = position * plane + shape.first_row_of_plane() + stride;
                    for start in (0..shape.ny()).step_by(rows) {
                        let end = (start + rows).min(shape.ny());
                        let stored = first + start * stride + 1..first + end * stride;
                        add(stored.start, stored.end, shape.nx(), end - start);
                    }
                }
            }
        }
        with_sweeps(self.system, R::from_f64(1.0), self.level, |sweeps| {
            self.team.map(parts, points, || (), |(), (block, out)| sweeps.sweep(&block, out));
        });
        self.traffic.updates += points as u64;
    }

    fn copy(&self, from: &[R], to: &mut [R]) {
        copy(self.team, from, to);
    }

    /// Copies what lies around the interior points of some planes.
    fn copy_rims(&self, from: &[R], to: &mut [R]) {
        let (shape, stored) = (self.system.shape(), self.axis.stored);
        if shape.dim() == 1 {
            return;
        }
        let rows = if shape.dim() == 3 { shape.ny() } else { 1 };
        for (from, to) in from.chunks_exact(stored).zip(to.chunks_exact_mut(stored)) {
            let mut end = 0;
            for row in 0..rows {
                let start = shape.row_start(row) + 1 - stored;
                to[end..start].copy_from_slice(&from[end..start]);
                end = start + shape.nx();
            }
            to[end..].copy_from_slice(&from[end..]);
        }
    }
}

fn copy<R: Real>(team: &Team, from: &[R], to: &mut [R]) {
    if team.is_stopped() {
        return;
    }
    let values = from.len();
    let parts: Vec<_> = to.chunks_mut(COPIED).zip(from.chunks(COPIED)).collect();
    team.map(parts, values, || (), |(), (to, from)| to.copy_from_slice(from));
}
