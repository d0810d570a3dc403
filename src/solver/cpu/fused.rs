//! Jacobi's iteration in 3D, several sweeps at a time, so that a grid passes through the caches once for all of them.
//!
//! The rows of every plane are cut into slabs, and a thread takes a slab through the planes: once a sweep has made the next
//! plane, the sweep after it makes the one before. Between the first sweep and the last, values stay in rings of three
//! planes, in the second-level cache; past the last they go to memory and leave the caches to what is swept. What slabs would
//! have to exchange, both compute: sweep m of n makes n − m rows more on either side than the slab owns. So the bits are those
//! of sweeps over the whole grid, with less memory traffic and some redundant work.

use super::Pass;
use super::classic::{PIECE, changes};
use super::level::Task;
use super::norms::PartialNorms;
use super::observe::bands;
use super::past_caches;
use super::patch::Aligned;
use super::sweeps::{Sweeps, with_sweeps};
use super::team::{self, Team};
use super::update::{Block, Rows};
use crate::clock::Instant;
use crate::grid::{Precision, Real, Shape};
use crate::problem::System;
use crate::solver::devices::BAND;
use crate::solver::streaming::TOGETHER;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Sweeps that are made together.
pub(super) const SWEEPS: usize = TOGETHER;

/// Bytes of the rows of the smallest slab in a plane, about: with the planes of all sweeps they fill a second-level cache of 1
/// to 2 MB.
const OF_PLANE: usize = 64 << 10;

/// Sizes that slabs may have, in units of the smallest. Larger ones compute fewer rows twice, and what they work in may not
/// stay in the second-level cache: which are faster depends on the processor, so that they are timed.
const SIZES: [usize; 3] = [1, 2, 4];

/// How often each is timed. The first time it is given its memory.
const TIMES: usize = 3;

/// Rows that the last sweep makes before they go to memory: few enough for the first-level cache.
const TO_MEMORY: usize = 4;

/// Makes several sweeps of a 3D grid together.
pub(super) struct Fused<R> {
    /// Of passes without norms, and with them.
    slabs: [SlabSizes; 2],
    /// What threads worked in the last time.
    rings: Mutex<Vec<Rings<R>>>,
}

/// What the sweeps of a slab make: three planes of each, of the last one a single plane.
type Rings<R> = [Aligned<R>; SWEEPS];

/// Bytes that a grid on this number of threads, 0 for one on each core, is worked on in.
pub(super) fn bytes(shape: &Shape, precision: Precision, threads: usize) -> u64 {
    let bytes = |rows: usize| {
        let slabs = shape.ny().div_ceil(rows);
        let at_once = team::threads(threads).min(slabs);
        let places = Places { shape: *shape, owned: SWEEPS..rows + SWEEPS };
        let rings = (1..=SWEEPS).map(|m| places.of_ring(m)).sum::<usize>() * precision.bytes();
        (at_once * rings + slabs * shape.nz() * size_of::<&mut [f64]>()) as u64
    };
    let sizes = SlabSizes::of(shape, precision, threads);
    sizes.timed.iter().map(|(rows, _)| bytes(*rows)).max().unwrap_or(0)
}

/// How many rows of each plane slabs own: whole [bands](BAND), whose norms are added up. The first passes are made with each of
/// some sizes by turns, and the others with the fastest; the bits are the same.
struct SlabSizes {
    /// The rows, and the shortest pass with them.
    timed: Vec<(usize, Duration)>,
    passes: usize,
}

impl SlabSizes {
    fn of(shape: &Shape, precision: Precision, threads: usize) -> Self {
        let of_row = shape.stride() * precision.bytes();
        let of_thread = shape.ny().div_ceil(team::threads(threads));
        let bands = |rows: usize| (rows.min(of_thread) / BAND).max(1) * BAND;
        let smallest = bands(OF_PLANE / of_row);
        let mut sizes = SIZES.map(|size| bands(size * smallest)).to_vec();
        sizes.dedup();
        let timed = sizes.into_iter().map(|rows| (rows, Duration::MAX)).collect();
        Self { timed, passes: 0 }
    }

    /// Which of them the next pass is made with.
    fn next(&self) -> usize {
        let count = self.timed.len();
        if self.passes < TIMES * count {
            return self.passes % count;
        }
        (0..count).min_by_key(|size| self.timed[*size].1).unwrap_or(0)
    }

    /// Notes how long a pass took.
    fn note(&mut self, size: usize, took: Duration) {
        let (_, shortest) = &mut self.timed[size];
        *shortest = took.min(*shortest);
        self.passes += 1;
    }
}

impl<R: Real> Fused<R> {
    /// For a grid on this number of threads, 0 for one on each core.
    pub fn new(shape: &Shape, threads: usize) -> Self {
        let slabs = [(); 2].map(|()| SlabSizes::of(shape, R::PRECISION, threads));
        Self { slabs, rings: Mutex::default() }
    }

    /// Makes the sweeps, from one iterate to the one [`SWEEPS`] later; returns the norms of each, but for the error.
    pub fn cycles(&mut self, pass: Pass<'_, R>) -> [PartialNorms; SWEEPS] {
        let (team, kind, begin) = (pass.team, usize::from(pass.measure), Instant::now());
        let size = self.slabs[kind].next();
        let norms = self.pass(self.slabs[kind].timed[size].0, pass);
        // One that was stopped is left unfinished.
        if !team.is_stopped() {
            self.slabs[kind].note(size, begin.elapsed());
        }
        norms
    }

    /// The same with slabs that own so many rows of each plane.
    fn pass(&self, rows: usize, pass: Pass<'_, R>) -> [PartialNorms; SWEEPS] {
        let Pass { system, omega, from, to, measure, level, team, .. } = pass;
        let shape = *system.shape();
        let mut slabs: Vec<_> = bands(0..shape.ny(), rows).map(|rows| (rows, Vec::new())).collect();
        let (mut rest, mut passed) = (to, 0);
        for plane in shape.by_plane(0..shape.rows()) {
            for (rows, to) in &mut slabs {
                let start = shape.row_start(plane.start + rows.start);
                let length = rows.len() * shape.stride();
                let (own, tail) = rest[start - passed..].split_at_mut(length);
                to.push(own);
                (rest, passed) = (tail, start + length);
            }
        }
        let found = with_sweeps(system, omega, level, |sweeps| {
            let spare = || self.rings.lock().unwrap_or_else(PoisonError::into_inner);
            team.map(
                slabs,
                shape.points() * SWEEPS,
                || (),
                |(), (rows, to)| {
                    let mut own = spare().pop().unwrap_or_default();
                    let places = Places { shape, owned: rows.start + 1..rows.end + 1 };
                    let rings = &mut own;
                    let slab = Slab { system, sweeps, places, from, to, measure, team, rings };
                    let norms = level.run(slab);
                    past_caches::fence();
                    spare().push(own);
                    norms
                },
            )
        });
        // As single sweeps add them: plane by plane, and in each of them the bands of all slabs in their order.
        std::array::from_fn(|sweep| {
            let planes = sweep * shape.nz()..(sweep + 1) * shape.nz();
            let of_plane = |plane: usize| {
                found.iter().flat_map(move |slab| {
                    let bands = slab.len() / (SWEEPS * shape.nz());
                    slab[plane * bands..(plane + 1) * bands].iter().copied()
                })
            };
            planes.flat_map(of_plane).sum()
        })
    }
}

/// Some rows of every plane, on their way through the sweeps.
struct Slab<'a, R> {
    system: &'a System<R>,
    sweeps: &'a dyn Sweeps<R>,
    places: Places,
    from: &'a [R],
    /// Where what it owns goes after the last sweep: for each plane its stored rows, with the boundary values at their ends.
    to: Vec<&'a mut [R]>,
    measure: bool,
    team: &'a Team,
    rings: &'a mut Rings<R>,
}

impl<R: Real> Task for Slab<'_, R> {
    type Output = Vec<PartialNorms>;

    /// Returns the norms of the bands that it owns: of each sweep, and in it of each plane.
    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { system, sweeps, places, from, mut to, measure, team, rings } = self;
        let g = system.g.as_slice();
        let (nz, of_plane) = (places.shape.nz(), places.owned.len().div_ceil(BAND));
        for (m, ring) in (1..).zip(&mut *rings) {
            ring.resize(places.of_ring(m));
        }
        let measured = if measure { SWEEPS * nz * of_plane } else { 0 };
        let mut norms = vec![PartialNorms::default(); measured];
        for step in 1..nz + SWEEPS {
            if team.is_stopped() {
                return norms;
            }
            for m in 1..=SWEEPS {
                // A plane behind the sweep before.
                let Some(plane) = (step + 1).checked_sub(m).filter(|it| (1..=nz).contains(it))
                else {
                    continue;
                };
                let (before, others) = rings.split_at_mut(m - 1);
                let source = before.last_mut().map(|ring| {
                    places.repeat_boundary_planes(from, ring, m, plane);
                    &**ring
                });
                let source = source.unwrap_or(from);
                let one = Step { places: &places, source, m, plane };
                let Some(target) = others.first_mut() else { continue };
                if m < SWEEPS {
                    one.sweep(sweeps, g, places.made(m), target);
                    places.surround(from, target, m, plane);
                } else {
                    for rows in bands(places.owned.clone(), TO_MEMORY) {
                        one.sweep(sweeps, g, rows.clone(), target);
                        one.copy_to_memory(target, rows, to[plane - 1]);
                    }
                }
                if measure {
                    let first = ((m - 1) * nz + plane - 1) * of_plane;
                    one.measure(target, &mut norms[first..first + of_plane]);
                }
            }
        }
        norms
    }
}

/// Where the rows of a slab lie. Planes and rows are counted from the boundary on, which is 0.
struct Places {
    shape: Shape,
    /// The rows that it owns.
    owned: Range<usize>,
}

impl Places {
    /// The rows that sweep m = 1 … n makes.
    fn made(&self, m: usize) -> Range<usize> {
        let reach = SWEEPS - m;
        self.owned.start.saturating_sub(reach).max(1)
            ..(self.owned.end + reach).min(self.shape.ny() + 1)
    }

    /// Where a row begins in an array of the grid, its first boundary value included.
    fn in_grid(&self, plane: usize, row: usize) -> usize {
        let Self { shape, .. } = self;
        plane * shape.plane_stride() + shape.first_row_of_plane() + row * shape.stride()
    }

    /// Values of a plane of a ring: the rows that the first sweep makes, and one before and after them. They have the stride
    /// of the grid, and interior points begin at cache lines as they do there.
    fn of_plane(&self) -> usize {
        let unit = self.shape.first_row_of_plane() + 1;
        unit + (self.made(1).len() + 2) * self.shape.stride()
    }

    /// Values of what sweep m writes to.
    fn of_ring(&self, m: usize) -> usize {
        if m < SWEEPS { 3 * self.of_plane() } else { self.of_plane() }
    }

    /// Where a row begins in a ring.
    fn in_ring(&self, plane: usize, row: usize) -> usize {
        let rows = row + 1 - self.made(1).start;
        plane % 3 * self.of_plane() + self.shape.first_row_of_plane() + rows * self.shape.stride()
    }

    /// Where a row begins in what sweep m reads.
    fn in_source(&self, m: usize, plane: usize, row: usize) -> usize {
        if m == 1 { self.in_grid(plane, row) } else { self.in_ring(plane, row) }
    }

    /// Where a row begins in what sweep m writes.
    fn in_target(&self, m: usize, plane: usize, row: usize) -> usize {
        self.in_ring(if m < SWEEPS { plane } else { 0 }, row)
    }

    /// Copies a row of the grid, with the boundary values at its ends, to a ring.
    #[inline(always)]
    fn repeat<R: Real>(&self, from: &[R], ring: &mut [R], plane: usize, row: usize) {
        let (at, other) = (self.in_ring(plane, row), self.in_grid(plane, row));
        let stored = self.shape.nx() + 2;
        ring[at..at + stored].copy_from_slice(&from[other..other + stored]);
    }

    /// Copies the boundary planes beside the plane that sweep m makes next, if there are any, to the ring that it reads.
    #[inline(always)]
    fn repeat_boundary_planes<R: Real>(&self, from: &[R], ring: &mut [R], m: usize, plane: usize) {
        for end in [0, self.shape.nz() + 1] {
            if end.abs_diff(plane) == 1 {
                for row in self.made(m) {
                    self.repeat(from, ring, end, row);
                }
            }
        }
    }

    /// Copies what lies around the rows that sweep m has made of a plane: it is read by the next one, and made by none.
    #[inline(always)]
    fn surround<R: Real>(&self, from: &[R], ring: &mut [R], m: usize, plane: usize) {
        let made = self.made(m);
        for row in made.clone() {
            let (at, other) = (self.in_ring(plane, row), self.in_grid(plane, row));
            for end in [0, self.shape.nx() + 1] {
                ring[at + end] = from[other + end];
            }
        }
        if made.start == 1 {
            self.repeat(from, ring, plane, 0);
        }
        if made.end == self.shape.ny() + 1 {
            self.repeat(from, ring, plane, made.end);
        }
    }
}

/// A plane that sweep m makes.
struct Step<'a, R> {
    places: &'a Places,
    source: &'a [R],
    m: usize,
    plane: usize,
}

impl<R: Real> Step<'_, R> {
    #[inline(always)]
    fn sweep(&self, sweeps: &dyn Sweeps<R>, g: &[R], rows: Range<usize>, target: &mut [R]) {
        let Self { places, source, m, plane } = *self;
        let stride = places.shape.stride();
        let point = |plane| places.in_source(m, plane, rows.start) + 1;
        let block = Block {
            values: source,
            first: point(plane),
            stride,
            along_z: [point(plane - 1), point(plane + 1)],
            g: &g[places.in_grid(plane, rows.start) + 1..],
            g_stride: stride,
            rows: Rows::NONE,
            width: places.shape.nx(),
            height: rows.len(),
        };
        sweeps.sweep(&block, &mut target[places.in_target(m, plane, rows.start) + 1..]);
    }

    /// Copies rows that it has made to the stored rows that the slab owns of the plane.
    #[inline(always)]
    fn copy_to_memory(&self, target: &[R], rows: Range<usize>, owned: &mut [R]) {
        let Self { places, m, plane, .. } = *self;
        let stride = places.shape.stride();
        let made = &target[places.in_target(m, plane, rows.start) + 1..];
        let to = &mut owned[(rows.start - places.owned.start) * stride + 1..];
        past_caches::copy(made, to, stride, [places.shape.nx(), rows.len()]);
    }

    /// The norms of the bands that the slab owns.
    #[inline(always)]
    fn measure(&self, target: &[R], norms: &mut [PartialNorms]) {
        let Self { places, source, m, plane } = *self;
        for (rows, norms) in bands(places.owned.clone(), BAND).zip(norms) {
            let old = &source[places.in_source(m, plane, rows.start) + 1..];
            let new = &target[places.in_target(m, plane, rows.start) + 1..];
            for columns in bands(0..places.shape.nx(), PIECE) {
                let (new, old) = (&new[columns.start..], &old[columns.start..]);
                let size = [columns.len(), rows.len()];
                let change = changes(new, old, places.shape.stride(), size);
                norms.max_change = norms.max_change.max(change.max);
                norms.first_sweep = norms.first_sweep + change;
            }
        }
    }
}
