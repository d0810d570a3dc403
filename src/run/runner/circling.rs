//! The rounding limit where the last digits of an iterate circle: cycles change it for ever, and bring it no further.

use super::Run;
use crate::grid::Precision;
use crate::run::runner::confirm::true_residual;
use crate::solver::{NormRequest, Solver, SolverError};

/// The first cycle whose residual is kept to compare with.
const FIRST: u64 = 1 << 10;

/// A cycle that changes no point by more than this many units of rounding of the largest value changes last digits
/// alone. Sums of products in the sine basis of a tile round by tens of units.
const UNITS: f64 = 256.0;

/// b − A u at cycles that double, which says whether the last half of all cycles brought the iterate any further.
///
/// A run that converges slowly is further after twice as many cycles, if by little: it is not taken for one that circles.
/// Nor is one whose residual grows for a while, since its cycles change more than last digits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circling {
    /// The cycle that is examined next.
    next: u64,
    /// The least ‖b − A u‖₂ at those that were.
    least: f64,
    /// The cycle at which nothing came of the last half of all cycles.
    found: Option<u64>,
}

impl Circling {
    pub fn new() -> Self {
        Self { next: FIRST, least: f64::INFINITY, found: None }
    }

    /// Whether a cycle is to be examined, before the next one is made.
    pub fn is_due(&self, cycle: u64) -> bool {
        cycle >= self.next
    }

    /// Cycles until then, at least 1.
    pub fn wait(&self, cycle: u64) -> u64 {
        self.next.saturating_sub(cycle).max(1)
    }

    /// Whether the iterate of this cycle was found to circle.
    pub fn is_found(&self, cycle: u64) -> bool {
        self.found == Some(cycle)
    }

    /// Takes in ‖b − A u‖₂ of the cycle that is examined; returns whether it is no less than before.
    fn note(&mut self, cycle: u64, norm: f64) -> bool {
        let is_no_less = norm >= self.least;
        self.least = self.least.min(norm);
        self.next = cycle.saturating_mul(2);
        is_no_less
    }
}

impl Run {
    /// Examines the present iterate; returns whether it circles.
    pub(super) fn find_circling(&mut self) -> Result<bool, SolverError> {
        let norm = true_residual(&self.plan.problem, &*self.solver)?.l2;
        let is_no_less = self.circling.note(self.cycle, norm);
        // Devices with frozen values of each other may come back to where they were before the next exchange.
        if !is_no_less || !self.stops_at_rest || self.has_frozen_halos() || self.cycle <= self.given
        {
            return Ok(false);
        }
        let change = self.solver.norms(NormRequest::MAX_CHANGE)?.max_change;
        let unit = match self.plan.precision {
            Precision::F32 => f64::from(f32::EPSILON),
            Precision::F64 => f64::EPSILON,
        };
        let most = UNITS * unit * largest_value(&*self.solver)?;
        if change.is_some_and(|change| change <= most) {
            self.circling.found = Some(self.cycle);
        }
        Ok(self.circling.is_found(self.cycle))
    }
}

/// The largest magnitude of an iterate.
fn largest_value(solver: &dyn Solver) -> Result<f64, SolverError> {
    let mut largest = 0.0_f64;
    for row in 0..solver.shape().rows() {
        let of_row = solver.solution_row(row)?.into_iter().map(f64::abs);
        largest = of_row.fold(largest, f64::max);
    }
    Ok(largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_that_double_are_compared_with_the_best_before() {
        let mut circling = Circling::new();
        assert!(!circling.is_due(FIRST - 1) && circling.is_due(FIRST));
        assert_eq!((circling.wait(0), circling.wait(FIRST)), (FIRST, 1));
        assert!(!circling.note(FIRST, 1e-3));
        assert_eq!(circling.wait(FIRST), FIRST);
        // However little it fell.
        assert!(!circling.note(2 * FIRST, 1e-3 - 1e-18));
        assert!(circling.note(4 * FIRST, 1e-3));
        assert!(circling.note(8 * FIRST, 1e-3 - 1e-18));
        assert!(!circling.note(16 * FIRST, f64::NAN), "it diverges");
    }
}
