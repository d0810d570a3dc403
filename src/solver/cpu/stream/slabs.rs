//! The paper's pyramids: slabs of R planes that overlap by 2n, one after the other. With every sweep a slab
//! loses a plane at each end that is not the grid's boundary.

use super::planes::PlaneWork;
use crate::grid::Real;
use std::ops::Range;

/// Makes n sweeps with slabs that own at most so many planes each, of these planes.
pub(super) fn pass<R: Real>(
    work: &mut PlaneWork<'_, R>,
    levels: &mut [Vec<R>; 2],
    g: &mut [R],
    (planes, of_slab): (Range<usize>, usize),
    n: usize,
) {
    let count = work.axis.count;
    // The boundary plane lies before the first.
    let (mut start, mut step) = (planes.start + 1, planes.start / of_slab);
    while start <= planes.end {
        // The planes that the slab owns, and those that it copies.
        let end = (start + of_slab).min(planes.end + 1);
        let copied = start.saturating_sub(n)..(end + n).min(count + 2);
        work.mark();
        work.up(copied.clone(), 0, levels, g);
        work.progress.set(step, 0);
        work.mark();
        for m in 1..=n {
            let before = if copied.start == 0 { 1 } else { m };
            let after = if copied.end == count + 2 { 1 } else { m };
            let [first, second] = &mut *levels;
            let (from, to) = if m % 2 == 1 { (first, second) } else { (second, first) };
            work.update(before..copied.len() - after, from, g, to);
            work.progress.set(step, m);
        }
        work.mark();
        work.down(start..end, start - copied.start, &levels[n % 2]);
        work.mark();
        start = end;
        step += 1;
    }
    work.progress.set(step, 0);
}
