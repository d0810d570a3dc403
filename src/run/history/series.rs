//! Values over the cycles of a run, thinned out evenly as the run continues.

use std::sync::Arc;

/// Something that belongs to one cycle.
pub trait OfCycle: Copy + PartialEq {
    /// Cycles made.
    fn cycle(&self) -> u64;
}

/// A number at one cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CycleValue {
    /// Cycles made.
    pub cycle: u64,
    /// The number.
    pub value: f64,
}

impl OfCycle for CycleValue {
    fn cycle(&self) -> u64 {
        self.cycle
    }
}

/// Points of a curve that is drawn on a screen: more than any plot has pixels.
pub(in crate::run) const CURVE_POINTS: usize = 2000;

/// Values over the cycles, thinned to a largest number.
///
/// It keeps the first value at or after each multiple of a stride, a power of two, and the newest. The
/// stride is the smallest with which no more than the capacity are kept. So what is kept follows from
/// the cycles that were added alone, and not from when the series was thinned out.
#[derive(Clone, Debug)]
pub(in crate::run) struct Series<T> {
    capacity: usize,
    stride: u64,
    /// By rising cycles.
    points: Vec<T>,
}

impl<T: OfCycle> Series<T> {
    /// An empty series of at most `capacity` points (at least 1) beside the newest.
    pub fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(1), stride: 1, points: Vec::new() }
    }

    /// Cycles from one multiple to the next.
    pub fn stride(&self) -> u64 {
        self.stride
    }

    /// The points that are kept, by rising cycles; the newest is the last.
    pub fn points(&self) -> &[T] {
        &self.points
    }

    /// The newest point, to complete it.
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.points.last_mut()
    }

    /// The points that are kept, to change what they hold beside their cycles.
    pub fn points_mut(&mut self) -> &mut [T] {
        &mut self.points
    }

    /// Adds a point. One that is not newer than the newest is ignored: that cycle was recomputed.
    pub fn push(&mut self, point: T) {
        if self.points.last().is_some_and(|last| point.cycle() <= last.cycle()) {
            return;
        }
        // The one before may have been kept as the newest alone.
        if !self.is_first(self.points.len().saturating_sub(1)) {
            self.points.pop();
        }
        self.points.push(point);
        while self.kept() > self.capacity {
            self.stride = self.stride.saturating_mul(2);
            self.thin_out();
        }
    }

    /// At most `most` points (at least 1), by the same rule, and the newest.
    pub fn thinned(&self, most: usize) -> Vec<T> {
        let mut stride = self.stride;
        let mut firsts = loop {
            match self.firsts(stride, most.max(1)) {
                Some(firsts) => break firsts,
                None => stride = stride.saturating_mul(2),
            }
        };
        let last = self.points.len().checked_sub(1);
        firsts.extend(last.filter(|last| firsts.last() != Some(last)));
        firsts.into_iter().map(|at| self.points[at]).collect()
    }

    /// Where the first points at or after each multiple of a longer stride are; `None` if they are more than `most`, the
    /// newest not counted where it is none of them. A report asks while cycles are made: it takes a few steps for each point
    /// that is found, and none for those between them.
    fn firsts(&self, stride: u64, most: usize) -> Option<Vec<usize>> {
        // From one multiple to the next there are no more: one is kept for each of the own stride, and the newest.
        let between = usize::try_from(stride / self.stride).unwrap_or(usize::MAX);
        let mut firsts = Vec::with_capacity(most.min(self.points.len()));
        let mut at = 0;
        while at < self.points.len() {
            if firsts.len() == most {
                return None;
            }
            firsts.push(at);
            let multiple = self.points[at].cycle() / stride;
            let end = at.saturating_add(between).saturating_add(1).min(self.points.len());
            let is_of_it = |point: &T| point.cycle() / stride == multiple;
            at += self.points[at..end].partition_point(is_of_it);
        }
        Some(firsts)
    }

    /// Whether the point of an index is the first at or after a multiple of the stride.
    fn is_first(&self, index: usize) -> bool {
        let multiple = |point: &T| point.cycle() / self.stride;
        let before = index.checked_sub(1).and_then(|before| self.points.get(before));
        let here = self.points.get(index).map(multiple);
        here.is_none() || before.map(multiple) != here
    }

    /// Points that are kept for their own sake, and not as the newest alone.
    fn kept(&self) -> usize {
        let last = self.points.len().saturating_sub(1);
        if self.is_first(last) { self.points.len() } else { last }
    }

    fn thin_out(&mut self) {
        let (stride, newest) = (self.stride, self.points.last().map(OfCycle::cycle));
        let mut before = None;
        self.points.retain(|point| {
            let multiple = Some(point.cycle() / stride);
            let is_first = before != multiple;
            before = multiple;
            is_first || Some(point.cycle()) == newest
        });
    }
}

/// A thinned copy of a series that is shared, and recomputed only when the series has changed.
pub(in crate::run) struct SharedSeries<T> {
    newest: Option<T>,
    points: Arc<[T]>,
}

impl<T> Default for SharedSeries<T> {
    fn default() -> Self {
        Self { newest: None, points: Arc::default() }
    }
}

impl<T: OfCycle> SharedSeries<T> {
    /// The series with at most `most` points and the newest.
    pub fn of(&mut self, series: &Series<T>, most: usize) -> Arc<[T]> {
        let newest = series.points().last().copied();
        if self.newest != newest {
            *self = Self { newest, points: series.thinned(most).into() };
        }
        Arc::clone(&self.points)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn point(cycle: u64) -> CycleValue {
        CycleValue { cycle, value: cycle as f64 }
    }

    fn cycles(points: &[CycleValue]) -> Vec<u64> {
        points.iter().map(OfCycle::cycle).collect()
    }

    #[test]
    fn of_all_cycles_the_multiples_of_the_stride_and_the_newest_are_kept() {
        let mut series = Series::new(4);
        for cycle in 0..=13 {
            series.push(point(cycle));
            assert_eq!(cycles(series.points()).last(), Some(&cycle));
        }
        assert_eq!((series.stride(), cycles(series.points())), (4, vec![0, 4, 8, 12, 13]));
        assert_eq!(cycles(&series.thinned(2)), [0, 8, 13]);
        assert_eq!(cycles(&series.thinned(9)), [0, 4, 8, 12, 13]);
    }

    #[test]
    fn cycles_that_are_made_again_are_ignored() {
        let mut series = Series::new(9);
        [0, 5, 6, 2, 6].into_iter().for_each(|cycle| series.push(point(cycle)));
        assert_eq!(cycles(series.points()), [0, 5, 6]);
    }

    proptest! {
        /// Whenever it was thinned out, it keeps the same, and no more than it may.
        #[test]
        fn what_is_kept_follows_from_the_cycles_alone(
            gaps in prop::collection::vec(1_u64..40, 1..300),
            capacity in 1_usize..20,
            fewer in 1_usize..20,
        ) {
            let (mut series, mut all) = (Series::new(capacity), Series::new(usize::MAX));
            let mut cycle = 0;
            for gap in gaps {
                series.push(point(cycle));
                all.push(point(cycle));
                cycle += gap;
            }
            prop_assert!(series.points().len() <= capacity + 1);
            prop_assert_eq!(cycles(&all.thinned(capacity)), cycles(series.points()));
            let fewer = fewer.min(capacity);
            prop_assert_eq!(series.thinned(fewer), all.thinned(fewer));
            prop_assert_eq!(series.points().last(), all.points().last());
            prop_assert_eq!(series.points()[0], all.points()[0]);
        }
    }
}
