//! The wavefront: planes flow through a window in chunks of c. A chunk arrives as level 0; then level m is
//! made one plane behind level m − 1, for m = 1 … n, and what reached level n leaves. No plane is moved or
//! computed twice.
//!
//! The window is a ring of n + c + 1 planes in two arrays, by parity of the level. What level m overwrites,
//! level m − 2, nobody reads any more: level m − 1 is complete one plane further.

use super::planes::PlaneWork;
use crate::grid::Real;
use std::ops::Range;

/// Makes n sweeps with chunks of `chunk` planes.
pub(super) fn pass<R: Real>(
    work: &mut PlaneWork<'_, R>,
    levels: &mut [Vec<R>; 2],
    g: &mut [R],
    chunk: usize,
    n: usize,
) {
    let ring = Ring { planes: n + chunk + 1, stored: work.axis.stored };
    let (count, mut start, mut step) = (work.axis.count, 0, 0);
    // Once all planes are there, the window drains.
    while start < count + 1 + n {
        let arriving = start.min(count + 2)..(start + chunk).min(count + 2);
        work.mark();
        for (planes, position) in ring.runs(arriving) {
            let positions = position..position + planes.len();
            work.up(planes, position, levels, g);
            for level in &mut *levels {
                ring.repeat_ends(&positions, level);
            }
        }
        work.mark();
        work.progress.set(step, 0);
        // The planes that become level m: one further back each level.
        let at = |m: usize| {
            let first = start.saturating_sub(m).max(1);
            first..(start + chunk).saturating_sub(m).min(count + 1).max(first)
        };
        for m in 1..=n {
            let [first, second] = &mut *levels;
            let (from, to) = if m % 2 == 1 { (first, second) } else { (second, first) };
            for (planes, position) in ring.runs(at(m)) {
                let positions = position..position + planes.len();
                work.update(positions.clone(), from, g, to);
                ring.repeat_ends(&positions, to);
            }
            work.progress.set(step, m);
        }
        work.mark();
        for (planes, position) in ring.runs(at(n)) {
            work.down(planes, position, &levels[n % 2]);
        }
        work.mark();
        start += chunk;
        step += 1;
    }
    work.progress.set(step, 0);
}

/// Positions 1 to `planes` of a working array as a ring; the first and the last plane lie a second time
/// after and before them, so that every plane has its neighbours beside it.
struct Ring {
    planes: usize,
    /// Values of a plane.
    stored: usize,
}

impl Ring {
    /// A range of planes as runs that lie one after the other, each with the position of its first.
    fn runs(&self, planes: Range<usize>) -> impl Iterator<Item = (Range<usize>, usize)> + use<> {
        let (ring, mut start) = (self.planes, planes.start);
        std::iter::from_fn(move || {
            let position = start % ring;
            let run = start..planes.end.min(start + ring - position);
            start = run.end;
            (!run.is_empty()).then_some((run, position + 1))
        })
    }

    /// Repeats the ends of the ring if they are at these positions.
    fn repeat_ends<R: Copy>(&self, positions: &Range<usize>, level: &mut [R]) {
        let plane = |position: usize| position * self.stored..(position + 1) * self.stored;
        for (end, again) in [(1, self.planes + 1), (self.planes, 0)] {
            if positions.contains(&end) {
                level.copy_within(plane(end), plane(again).start);
            }
        }
    }
}
