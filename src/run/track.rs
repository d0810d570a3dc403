//! Numbers over the cycles that were looked at.

use super::archive::RunArchive;
use super::experiment::FieldKind;
use super::observation::Observation;
use std::sync::Arc;

/// Cycles that are kept at the most: more than any plot has pixels.
const CAPACITY: usize = 4096;

/// A number at one cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CycleValue {
    /// Cycles made.
    pub cycle: u64,
    /// The number.
    pub value: f64,
}

/// The values of a field at one point: from when it was first asked for, and of the cycles before
/// whose iterates were kept.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbeSeries {
    /// Column and row.
    pub point: [usize; 2],
    /// The field.
    pub field: FieldKind,
    /// Its values at those cycles.
    pub values: Arc<[CycleValue]>,
}

/// A number, cycle by cycle.
#[derive(Default)]
struct Track {
    points: Vec<CycleValue>,
    /// The points as they were told last.
    told: Arc<[CycleValue]>,
}

impl Track {
    /// Adds a number, unless that of this cycle or of a later one is there, or it is not finite.
    fn note(&mut self, cycle: u64, value: f64) {
        let is_later = self.points.last().is_none_or(|last| last.cycle < cycle);
        if !is_later || !value.is_finite() {
            return;
        }
        self.points.push(CycleValue { cycle, value });
        if self.points.len() > CAPACITY {
            // Every second one goes, the newest excepted.
            let mut keep = self.points.len().is_multiple_of(2);
            self.points.retain(|_| {
                keep = !keep;
                keep
            });
        }
    }

    fn points(&mut self) -> Arc<[CycleValue]> {
        if self.told.last() != self.points.last() {
            self.told = self.points.as_slice().into();
        }
        Arc::clone(&self.told)
    }
}

/// What is kept of each cycle of a run that was looked at.
#[derive(Default)]
pub(super) struct Tracks {
    edge: Track,
    probes: Vec<([usize; 2], FieldKind, Track)>,
}

impl Tracks {
    /// Takes in what is seen of a cycle. Points that are looked at no more are forgotten; of new
    /// ones `archive` tells what was before.
    pub fn note(&mut self, observation: &Observation, archive: &RunArchive) {
        self.edge.note(observation.cycle, observation.edge.residual);
        self.probes
            .retain(|(point, ..)| observation.probes.iter().any(|(other, _)| other == point));
        for &(point, value) in &observation.probes {
            let known = self
                .probes
                .iter_mut()
                .find(|(other, field, _)| (*other, *field) == (point, observation.field));
            match known {
                Some((.., track)) => track.note(observation.cycle, value.into()),
                None => {
                    let mut track = Track::default();
                    for before in archive.values_at(point, observation.field, observation.cycle) {
                        track.note(before.cycle, before.value);
                    }
                    track.note(observation.cycle, value.into());
                    self.probes.push((point, observation.field, track));
                }
            }
        }
    }

    /// The edge share over the cycles: the part of ‖r‖² near tile borders.
    pub fn edge(&mut self) -> Arc<[CycleValue]> {
        self.edge.points()
    }

    /// A field at the points that are looked at, in the order in which they were asked for.
    pub fn probes(&mut self, field: FieldKind) -> Vec<ProbeSeries> {
        let of_field = self.probes.iter_mut().filter(|(_, other, _)| *other == field);
        of_field
            .map(|(point, field, track)| ProbeSeries {
                point: *point,
                field: *field,
                values: track.points(),
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
    fn a_long_track_is_thinned_and_keeps_its_newest_point() {
        let mut track = Track::default();
        for cycle in 0..10 * CAPACITY as u64 {
            track.note(cycle, 0.5);
            assert_eq!(track.points.last().unwrap().cycle, cycle);
        }
        let points = track.points();
        assert!(points.len() <= CAPACITY && points.len() > CAPACITY / 4);
        assert!(points.windows(2).all(|pair| pair[0].cycle < pair[1].cycle));
    }

    #[test]
    fn cycles_seen_again_and_what_is_not_finite_are_passed_over() {
        let mut track = Track::default();
        for (cycle, value) in [(0, 0.1), (5, f64::NAN), (6, 0.3), (2, 0.9), (6, 0.8)] {
            track.note(cycle, value);
        }
        let cycles: Vec<_> = track.points().iter().map(|point| point.cycle).collect();
        assert_eq!(cycles, [0, 6]);
    }

    #[test]
    fn probes_are_kept_by_field_and_forgotten_when_they_are_taken_away() {
        let observation =
            |cycle, field, probes| Observation { cycle, field, probes, ..Observation::default() };
        let (a, b) = ([1, 2], [3, 4]);
        let plan = Planner::default().plan(&RunSpec::default()).unwrap();
        let archive = RunArchive::new(&Arc::new(plan), 0);
        let mut tracks = Tracks::default();
        tracks.note(&observation(1, FieldKind::Residual, vec![(a, 0.5), (b, 0.25)]), &archive);
        tracks.note(&observation(1, FieldKind::Change, vec![(a, 7.0), (b, 8.0)]), &archive);
        tracks.note(&observation(2, FieldKind::Residual, vec![(a, 0.4), (b, 0.2)]), &archive);
        let told: Vec<_> = tracks.probes(FieldKind::Residual);
        assert_eq!(told.iter().map(|probe| probe.point).collect::<Vec<_>>(), [a, b]);
        assert_eq!(told[0].values.len(), 2);
        tracks.note(&observation(3, FieldKind::Residual, vec![(b, 0.1)]), &archive);
        assert_eq!(tracks.probes(FieldKind::Residual).len(), 1);
        assert_eq!(tracks.probes(FieldKind::Change)[0].point, b);
    }
}
