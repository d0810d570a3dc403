//! How far a run reduced its residual, and how long that took.

use crate::run::history::norms::Record;
use crate::run::spec::ProblemSpec;

/// The norms of a run, as reductions of its first residual.
#[derive(Clone, Copy, Debug)]
pub struct Reductions<'a> {
    /// What is solved.
    pub problem: &'a ProblemSpec,
    /// From the initial guess on, as many as are known.
    pub records: &'a [Record],
    /// ‖r₀‖₂.
    pub start_residual: f64,
}

impl Reductions<'_> {
    /// ‖r‖₂ / ‖r₀‖₂, where it is known, with its record.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Record, f64)> {
        self.records.iter().filter_map(|record| {
            Some((record, reduction(record.residual?.l2, self.start_residual)))
        })
    }

    /// The last known reduction.
    pub fn last(&self) -> Option<f64> {
        self.iter().next_back().map(|(_, reduction)| reduction)
    }

    /// The time of `first` over this run's, each to the smallest reduction that both have reached; `None`
    /// where that is not known, or they solve different problems.
    pub fn speedup_over(&self, first: &Self) -> Option<f64> {
        if self.problem != first.problem {
            return None;
        }
        let least = |run: &Self| run.iter().map(|(_, reduction)| reduction).reduce(f64::min);
        let level = least(first)?.max(least(self)?);
        let (time, own) = (first.seconds_to(level)?, self.seconds_to(level)?);
        (level < 1.0 && own > 0.0).then(|| time / own)
    }

    /// Seconds of the solver until the residual was reduced to this.
    fn seconds_to(&self, level: f64) -> Option<f64> {
        let mut reached = self.iter().filter(|(_, reduction)| *reduction <= level);
        reached.next().map(|(record, _)| record.seconds)
    }
}

/// ‖r‖₂ / ‖r₀‖₂. An initial guess that solves the system has nothing left to reduce: 0 then.
pub fn reduction(residual: f64, start_residual: f64) -> f64 {
    if residual == 0.0 { 0.0 } else { residual / start_residual }
}
