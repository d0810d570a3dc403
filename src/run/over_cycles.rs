//! Single numbers over the cycles of a run, for figures: of the same cycles whoever makes the run, and
//! however often it was looked at.

use super::experiment::{Experiment, FieldKind};
use super::findings::Inquiry;
use super::track::{CycleValue, ProbeSeries};
use crate::solver::{EdgeShare, SolverError};
use std::sync::Arc;

/// Cycles of which numbers are taken at the most, beside those that are looked at: as many as a
/// figure shows.
const MOST: u64 = 512;

/// Numbers of a run from its start to its last cycle: of every cycle, of runs of 512 cycles and more
/// of every second, fourth, …, and of those that are looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunSeries {
    /// The part of the points that lie near tile borders, 0 to 1.
    pub near_borders: f64,
    /// The part of ‖r‖² that lies there, 0 to 1, if it was wanted.
    pub edges: Arc<[CycleValue]>,
    /// The field at each of the points that were wanted.
    pub probes: Vec<ProbeSeries>,
}

/// Takes numbers on the way of a run.
pub(super) struct SeriesRecorder<'a> {
    inquiry: &'a Inquiry,
    field: FieldKind,
    /// By rising cycles.
    notes: Vec<Note>,
}

/// What is noted of a cycle.
struct Note {
    cycle: u64,
    edge: EdgeShare,
    probes: Vec<f32>,
    /// Whether it is told in any case.
    is_looked_at: bool,
}

/// Numbers are taken of the multiples of this, a power of two, of a run that ends after so many
/// cycles.
pub(super) fn stride(last: u64) -> u64 {
    (last / MOST + 1).next_power_of_two()
}

impl<'a> SeriesRecorder<'a> {
    pub fn new(inquiry: &'a Inquiry, field: FieldKind) -> Self {
        Self { inquiry, field, notes: Vec::new() }
    }

    /// The next cycle of which something is noted, wherever the run ends: `u64::MAX` where nothing is
    /// wanted. A run that turns out to be over before it was noted to tells of more cycles than one
    /// that goes on, so that there are twice as many to begin with.
    pub fn next(&self, cycle: u64) -> u64 {
        if !self.inquiry.is_over_cycles() {
            return u64::MAX;
        }
        let step = (stride(cycle.saturating_add(1)) / 2).max(1);
        (cycle / step).saturating_add(1).saturating_mul(step)
    }

    /// Takes the numbers of the present iterate, whose field is ready. A cycle that is made again is
    /// noted once.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub fn take(&mut self, experiment: &Experiment, is_looked_at: bool) -> Result<(), SolverError> {
        if !self.inquiry.is_over_cycles() {
            return Ok(());
        }
        let cycle = experiment.run().cycle();
        match self.notes.binary_search_by_key(&cycle, |note| note.cycle) {
            Ok(at) => self.notes[at].is_looked_at |= is_looked_at,
            Err(at) => {
                let note = self.note(experiment, is_looked_at)?;
                self.notes.insert(at, note);
            }
        }
        Ok(())
    }

    fn note(&self, experiment: &Experiment, is_looked_at: bool) -> Result<Note, SolverError> {
        let run = experiment.run();
        Ok(Note {
            cycle: run.cycle(),
            edge: match self.inquiry.edge_share {
                true => run.solver().edge_share(&run.plan().tiling)?,
                false => EdgeShare::default(),
            },
            probes: experiment.values(self.field, &self.inquiry.probes)?,
            is_looked_at,
        })
    }

    /// What is told of a run whose last cycle is this.
    pub fn told(&self, last: u64) -> RunSeries {
        let stride = stride(last);
        let is_told = |note: &&Note| {
            note.cycle <= last && (note.is_looked_at || note.cycle.is_multiple_of(stride))
        };
        let told = |value: &dyn Fn(&Note) -> f64| -> Arc<[CycleValue]> {
            let notes = self.notes.iter().filter(is_told);
            let numbers = notes.map(|note| CycleValue { cycle: note.cycle, value: value(note) });
            numbers.filter(|number| number.value.is_finite()).collect()
        };
        let probe = |(index, point): (usize, &[usize; 2])| ProbeSeries {
            point: *point,
            field: self.field,
            values: told(&|note| note.probes[index].into()),
        };
        RunSeries {
            near_borders: self.notes.last().map_or(0.0, |note| note.edge.points),
            edges: match self.inquiry.edge_share {
                true => told(&|note| note.edge.residual),
                false => Arc::default(),
            },
            probes: self.inquiry.probes.iter().enumerate().map(probe).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever knows where a run ends notes the same cycles as whoever finds out on the way, however
    /// far that went past the end.
    #[test]
    fn numbers_are_of_the_same_cycles_wherever_the_run_was_made_to() {
        let inquiry = Inquiry { edge_share: true, ..Inquiry::default() };
        let field = FieldKind::Residual;
        for last in [0, 1, 510, 511, 512, 513, 1023, 1024, 5000, 100_000] {
            for beyond in [0, 1, last / 2] {
                let mut notes = SeriesRecorder::new(&inquiry, field);
                let mut cycle = 0;
                while cycle <= last + beyond {
                    let edge = EdgeShare::default();
                    let is_looked_at = cycle == last;
                    notes.notes.push(Note { cycle, edge, probes: Vec::new(), is_looked_at });
                    let next = notes.next(cycle);
                    cycle = if cycle < last { next.min(last) } else { next };
                }
                let told: Vec<_> = notes.told(last).edges.iter().map(|at| at.cycle).collect();
                let step = stride(last) as usize;
                let mut expected: Vec<_> = (0..=last).step_by(step).collect();
                expected.extend((last % step as u64 > 0).then_some(last));
                assert_eq!(told, expected, "{last} + {beyond}");
                assert!(told.len() as u64 <= MOST + 1);
            }
        }
    }
}
