//! Series over the cycles that were observed: the edge share, and a field at single points.

use crate::grid::GridPoint;
use crate::run::archive::RunArchive;
use crate::run::history::{CycleValue, Series, SharedSeries};
use crate::run::observe::{FieldKind, Observation};
use crate::run::record::ProbeSeries;
use std::sync::Arc;

/// The most cycles that are kept: more than any plot has pixels.
const CAPACITY: usize = 4096;

/// One number, cycle by cycle.
struct Numbers {
    series: Series<CycleValue>,
    shared: SharedSeries<CycleValue>,
}

impl Default for Numbers {
    fn default() -> Self {
        Self { series: Series::new(CAPACITY), shared: SharedSeries::default() }
    }
}

impl Numbers {
    /// Adds a number that is finite.
    fn push(&mut self, cycle: u64, value: f64) {
        if value.is_finite() {
            self.series.push(CycleValue { cycle, value });
        }
    }

    fn points(&mut self) -> Arc<[CycleValue]> {
        self.shared.of(&self.series, CAPACITY)
    }
}

/// The series of one run.
#[derive(Default)]
pub(super) struct ObservedSeries {
    edges: Numbers,
    probes: Vec<(GridPoint, FieldKind, Numbers)>,
}

impl ObservedSeries {
    /// Adds what was observed at a cycle. Points that are not observed any more are dropped; the values of
    /// new ones at earlier cycles come from the iterates in `archive`.
    pub fn push(&mut self, observation: &Observation, archive: &RunArchive) {
        let Observation { cycle, field, .. } = *observation;
        self.edges.push(cycle, observation.edge.residual);
        self.probes
            .retain(|(point, ..)| observation.probes.iter().any(|(other, _)| other == point));
        for &(point, value) in &observation.probes {
            let known =
                self.probes.iter_mut().find(|(other, of, _)| (*other, *of) == (point, field));
            match known {
                Some((.., numbers)) => numbers.push(cycle, value.into()),
                None => {
                    let mut numbers = Numbers::default();
                    for before in archive.values_at(point, field, cycle) {
                        numbers.push(before.cycle, before.value);
                    }
                    numbers.push(cycle, value.into());
                    self.probes.push((point, field, numbers));
                }
            }
        }
    }

    /// The edge share over the cycles: the share of ‖r‖² near tile borders, 0 to 1.
    pub fn edges(&mut self) -> Arc<[CycleValue]> {
        self.edges.points()
    }

    /// A field at the points that are observed, in the order in which they were requested.
    pub fn probes(&mut self, field: FieldKind) -> Vec<ProbeSeries> {
        let of_field = self.probes.iter_mut().filter(|(_, other, _)| *other == field);
        of_field
            .map(|(point, field, numbers)| ProbeSeries {
                point: *point,
                field: *field,
                values: numbers.points(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::plan::Planner;
    use crate::run::spec::RunSpec;

    #[test]
    fn cycles_observed_again_and_numbers_that_are_not_finite_are_ignored() {
        let mut numbers = Numbers::default();
        for (cycle, value) in [(0, 0.1), (5, f64::NAN), (6, 0.3), (2, 0.9), (6, 0.8)] {
            numbers.push(cycle, value);
        }
        let cycles: Vec<_> = numbers.points().iter().map(|point| point.cycle).collect();
        assert_eq!(cycles, [0, 6]);
    }

    #[test]
    fn probes_are_kept_by_field_and_dropped_when_they_are_removed() {
        let observation =
            |cycle, field, probes| Observation { cycle, field, probes, ..Observation::default() };
        let (a, b) = (GridPoint::Flat([1, 2]), GridPoint::Flat([3, 4]));
        let plan = Planner::default().plan(&RunSpec::default()).unwrap();
        let archive = RunArchive::new(&Arc::new(plan), 0);
        let mut series = ObservedSeries::default();
        let (residual, change) = (FieldKind::Residual, FieldKind::Change);
        series.push(&observation(1, residual, vec![(a, 0.5), (b, 0.25)]), &archive);
        series.push(&observation(1, change, vec![(a, 7.0), (b, 8.0)]), &archive);
        series.push(&observation(2, residual, vec![(a, 0.4), (b, 0.2)]), &archive);
        let probes = series.probes(residual);
        assert_eq!(probes.iter().map(|probe| probe.point).collect::<Vec<_>>(), [a, b]);
        assert_eq!(probes[0].values.len(), 2);
        series.push(&observation(3, residual, vec![(b, 0.1)]), &archive);
        assert_eq!(series.probes(residual).len(), 1);
        assert_eq!(series.probes(change)[0].point, b);
    }
}
