//! Series over the cycles of a run for figures: of the same cycles however the run was made, and
//! however often it was observed.

use crate::grid::GridPoint;
use crate::run::history::{CycleValue, OfCycle, Series};
use crate::run::observe::{Experiment, FieldKind};
use crate::solver::SolverError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most cycles of which there are numbers, beside the last and those of snapshots: as many as a
/// figure shows.
const CAPACITY: usize = 512;

/// What is recorded over the cycles of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeriesRequest {
    /// Whether the share of the residual near tile borders is recorded.
    pub edge_share: bool,
    /// The points of the grid at which the field is recorded.
    pub probes: Vec<GridPoint>,
}

/// A field at one point over the cycles.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeSeries {
    /// The point.
    pub point: GridPoint,
    /// The field.
    pub field: FieldKind,
    /// Its values, by rising cycles.
    pub values: Arc<[CycleValue]>,
}

/// Numbers of a run from its initial guess to its last cycle: of every cycle, of runs of 512 cycles and
/// more of every second, fourth, …, and of those of snapshots.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSeries {
    /// The share of the points that lie near tile borders, 0 to 1.
    pub near_borders: f64,
    /// The share of ‖r‖² that lies there, 0 to 1, if it was requested.
    pub edges: Arc<[CycleValue]>,
    /// The field at each of the points that were requested.
    pub probes: Vec<ProbeSeries>,
}

/// Records numbers while a run is made.
pub(in crate::run) struct SeriesRecorder<'a> {
    request: &'a SeriesRequest,
    field: FieldKind,
    /// The share of the points that lie near tile borders.
    near_borders: f64,
    /// The cycles at multiples of a stride. A solver may make up to twice as many cycles as the run turns
    /// out to have, which then needs half the stride: so it has twice the capacity.
    regular: Series<SeriesEntry>,
    /// The cycles of snapshots.
    requested: BTreeMap<u64, SeriesEntry>,
    /// The numbers of an entry: the edge share, if it is requested, and the field at each point.
    numbers: Vec<Vec<f64>>,
}

/// The numbers of a cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
struct SeriesEntry {
    cycle: u64,
    /// Their place in [`SeriesRecorder::numbers`].
    place: usize,
}

impl OfCycle for SeriesEntry {
    fn cycle(&self) -> u64 {
        self.cycle
    }
}

/// A run that ends after that number of cycles records the multiples of this, a power of two.
pub(in crate::run) fn stride(last: u64) -> u64 {
    (last / CAPACITY as u64 + 1).next_power_of_two()
}

impl SeriesRequest {
    /// Whether nothing is recorded.
    pub fn is_empty(&self) -> bool {
        !self.edge_share && self.probes.is_empty()
    }
}

impl<'a> SeriesRecorder<'a> {
    pub fn new(request: &'a SeriesRequest, field: FieldKind) -> Self {
        Self {
            request,
            field,
            near_borders: 0.0,
            regular: Series::new(2 * CAPACITY),
            requested: BTreeMap::new(),
            numbers: Vec::new(),
        }
    }

    /// The next cycle after `cycle` that is recorded, wherever the run ends; `u64::MAX` where nothing
    /// is requested.
    pub fn next(&self, cycle: u64) -> u64 {
        if self.request.is_empty() {
            return u64::MAX;
        }
        let stride = self.regular.stride();
        (cycle / stride).saturating_add(1).saturating_mul(stride)
    }

    /// Records the numbers of the present iterate, whose field is ready; `is_requested` if it is one of a
    /// snapshot. A cycle that is recomputed is recorded once.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub fn take(&mut self, experiment: &Experiment, is_requested: bool) -> Result<(), SolverError> {
        let cycle = experiment.run().cycle();
        if self.request.is_empty() || !self.wants(cycle, is_requested) {
            return Ok(());
        }
        let run = experiment.run();
        let mut numbers = Vec::new();
        if self.request.edge_share {
            let edge = run.residual_solver().edge_share(&run.plan().tiling)?;
            self.near_borders = edge.points;
            numbers.push(edge.residual);
        }
        let shape = &run.plan().problem.shape;
        let places = self.request.probes.iter().filter_map(|point| point.place(shape));
        let values = experiment.values(self.field, &places.collect::<Vec<_>>())?;
        numbers.extend(values.into_iter().map(f64::from));
        self.insert(cycle, numbers, is_requested);
        Ok(())
    }

    /// Whether the numbers of a cycle are to be recorded, and are not yet.
    fn wants(&self, cycle: u64, is_requested: bool) -> bool {
        if is_requested {
            return !self.requested.contains_key(&cycle);
        }
        let last = self.regular.points().last();
        cycle.is_multiple_of(self.regular.stride()) && last.is_none_or(|last| last.cycle < cycle)
    }

    fn insert(&mut self, cycle: u64, numbers: Vec<f64>, is_requested: bool) {
        let entry = SeriesEntry { cycle, place: self.numbers.len() };
        self.numbers.push(numbers);
        if is_requested {
            self.requested.insert(cycle, entry);
        } else {
            self.regular.push(entry);
        }
    }

    /// The series of a run whose last cycle is this.
    pub fn finish(&self, last: u64) -> RunSeries {
        let stride = stride(last);
        let regular = self.regular.points().iter();
        let regular = regular.filter(|entry| entry.cycle.is_multiple_of(stride));
        let mut entries = self.requested.clone();
        entries.extend(regular.map(|entry| (entry.cycle, *entry)));
        let series = |index: usize| -> Arc<[CycleValue]> {
            let value = |(&cycle, entry): (&u64, &SeriesEntry)| CycleValue {
                cycle,
                value: self.numbers[entry.place][index],
            };
            let values = entries.range(..=last).map(value);
            values.filter(|point| point.value.is_finite()).collect()
        };
        let first = usize::from(self.request.edge_share);
        let probe = |(index, point): (usize, &GridPoint)| ProbeSeries {
            point: *point,
            field: self.field,
            values: series(first + index),
        };
        RunSeries {
            near_borders: self.near_borders,
            edges: if self.request.edge_share { series(0) } else { Arc::default() },
            probes: self.request.probes.iter().enumerate().map(probe).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The recorded cycles do not depend on whether the end of the run was known beforehand, nor on how
    /// far it was made past its end.
    #[test]
    fn numbers_are_of_the_same_cycles_however_far_the_run_was_made() {
        let request = SeriesRequest { edge_share: true, ..SeriesRequest::default() };
        let field = FieldKind::Residual;
        for last in [0, 1, 510, 511, 512, 513, 1023, 1024, 5000, 100_000] {
            for beyond in [0, 1, last / 2] {
                let mut series = SeriesRecorder::new(&request, field);
                let mut cycle = 0;
                while cycle <= last + beyond {
                    for is_requested in [false, true] {
                        if series.wants(cycle, is_requested) && (!is_requested || cycle == last) {
                            series.insert(cycle, vec![0.5], is_requested);
                        }
                    }
                    let next = series.next(cycle);
                    cycle = if cycle < last { next.min(last) } else { next };
                }
                let cycles: Vec<_> =
                    series.finish(last).edges.iter().map(|point| point.cycle).collect();
                let step = stride(last) as usize;
                let mut expected: Vec<_> = (0..=last).step_by(step).collect();
                expected.extend((last % step as u64 > 0).then_some(last));
                assert_eq!(cycles, expected, "{last} + {beyond}");
                assert!(cycles.len() <= CAPACITY + 1);
            }
        }
    }
}
