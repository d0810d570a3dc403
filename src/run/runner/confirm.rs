//! Whether a run may stop: the residual that comes with a cycle proposes it, b − A u confirms it.
//!
//! The residual that comes with a cycle is update × diagonal. Where rounding keeps the update from
//! changing a point it reads 0, although b − A u is not 0: nothing is called converged by it alone.

use super::Run;
use crate::grid::{Precision, memory};
use crate::problem::{Boundary, Problem, Source, Stencil, residual_field, residual_of_rows};
use crate::run::history::{DIFFERS, Record};
use crate::solver::{self, Method, NormRequest, ResidualNorms, Solver, SolverError};
use std::sync::Arc;

/// Values of an iterate that are copied at a time to find its residual: 8 MB.
const COPIED: usize = 1 << 20;

/// A cycle that changes no point by more than this many units of rounding of the largest value changes last digits
/// alone. Sums of products in the sine basis of a tile round by tens of units.
const UNITS: f64 = 256.0;

/// Arrays that keeping b − A u takes: the iterate, b − A u, and a solver that starts from it.
const TRUE_RESIDUAL: usize = 5;

/// What proposes that a run stops, and when the next proposal is examined.
///
/// After each proposal that is refused, twice as many cycles pass as before: many cycles lie between
/// the first residual that seems small enough and the rounding limit, and examining each would take as
/// long as making it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proposals {
    next: u64,
    gap: u64,
    /// The last cycle whose proposal was refused; its record holds ‖b − A u‖.
    refused: Option<u64>,
    /// The last cycle whose residual came with the next, and ‖r‖₂.
    last: Option<(u64, f64)>,
    /// The cycle that seems to have left the iterate as it was, by its residuals.
    at_rest: Option<u64>,
}

impl Proposals {
    pub fn new() -> Self {
        Self { next: 0, gap: 1, refused: None, last: None, at_rest: None }
    }

    /// Whether a proposal at this cycle is to be examined.
    pub fn is_due(&self, cycle: u64) -> bool {
        cycle >= self.next
    }

    /// Whether the record of this cycle holds ‖b − A u‖ because its proposal was refused.
    pub fn is_refused(&self, cycle: u64) -> bool {
        self.refused == Some(cycle)
    }

    /// Cycles until a proposal is examined again; `None` if none was refused.
    pub fn wait(&self, cycle: u64) -> Option<u64> {
        self.refused.map(|_| self.next.saturating_sub(cycle).max(1))
    }

    /// Notes that the run continues after this cycle.
    pub fn refuse(&mut self, cycle: u64) {
        self.refused = Some(cycle);
        self.next = cycle.saturating_add(self.gap);
        self.gap = self.gap.saturating_mul(2);
    }

    /// Notes ‖r‖₂ of the iterate of a cycle as it came with the next one. Where it is 0, the next cycle
    /// changes nothing; where it is that of the cycle before to the last bit, this one may have changed
    /// nothing.
    pub fn note(&mut self, cycle: u64, norm: f64) {
        if self.last.is_some_and(|(last, _)| last >= cycle) {
            return;
        }
        let is_repeated = self
            .last
            .is_some_and(|(last, before)| last + 1 == cycle && before.to_bits() == norm.to_bits());
        self.at_rest = if norm == 0.0 { Some(cycle + 1) } else { is_repeated.then_some(cycle) };
        self.last = Some((cycle, norm));
    }

    /// Whether the cycle of this record seems to have left the iterate as it was.
    pub fn seems_at_rest(&self, record: &Record) -> bool {
        match record.max_change {
            Some(change) => change == 0.0,
            None => self.at_rest == Some(record.cycle),
        }
    }

    /// Whether it surely did: its changes are known, or the residual before it was 0.
    pub fn is_surely_at_rest(&self, record: &Record) -> bool {
        let before_was_0 =
            || self.last.is_some_and(|(last, norm)| last + 1 == record.cycle && norm == 0.0);
        self.seems_at_rest(record) && (record.max_change.is_some() || before_was_0())
    }
}

/// b − A u of one iterate, as the residual of a solver, for what observes it.
pub(super) struct TrueResidual {
    cycle: u64,
    solver: Box<dyn Solver>,
}

impl Run {
    /// The solver whose residual is b − A u of the present iterate: the run's own, unless rounding
    /// falsifies that.
    pub fn residual_solver(&self) -> &dyn Solver {
        match &self.true_residual {
            Some(known) if known.cycle == self.cycle => &*known.solver,
            _ => self.solver(),
        }
    }

    /// Whether [`Run::residual_solver`] is another than [`Run::solver`].
    pub fn has_true_residual(&self) -> bool {
        self.true_residual.as_ref().is_some_and(|known| known.cycle == self.cycle)
    }

    /// Records ‖b − A u‖ of the present iterate; returns ‖r‖₂ as it would come with the next cycle.
    pub(super) fn record_true_residual(&mut self) -> Result<f64, SolverError> {
        let norms = true_residual(&self.plan.problem, &*self.solver)?;
        let own = self.solver.norms(NormRequest::RESIDUAL_L2)?.residual.unwrap_or_default().l2;
        self.history.confirm_residual(self.cycle, norms, norms.l2 - own);
        Ok(own)
    }

    /// Keeps b − A u of the present iterate, whose norm is recorded, for maps where the solver's own
    /// residual, of norm `own`, is another. Without memory for it maps show that.
    pub(super) fn keep_true_residual(&mut self, own: f64) -> Result<(), SolverError> {
        let norm = self.record().residual.map_or(f64::NAN, |norms| norms.l2);
        if !norm.is_finite() || (own - norm).abs() <= DIFFERS * norm {
            return Ok(());
        }
        if memory::check(&self.plan.problem.shape, TRUE_RESIDUAL, Precision::F64).is_err() {
            return Ok(());
        }
        let field = residual_field(&self.plan.problem, &self.solver.solution()?);
        // The residual of −u = 0 is u.
        let itself = Arc::new(Problem {
            shape: self.plan.problem.shape,
            operator: Stencil { d: -1.0, ..Stencil::default() }.into(),
            rhs: Source::Constant(0.0),
            initial_guess: Source::Constant(0.0),
            boundary: Boundary::default(),
        });
        if let Ok(mut solver) = solver::on_cpu(&itself, Method::Classic, Precision::F64, 0) {
            solver.start_from(&field)?;
            self.true_residual = Some(TrueResidual { cycle: self.cycle, solver });
        }
        Ok(())
    }

    /// Whether the last cycle left the iterate as it was, and so every later one will, or the iterate circles.
    pub(super) fn is_at_rest(&self) -> Result<bool, SolverError> {
        if self.circling.is_found(self.cycle) {
            return Ok(true);
        }
        let record = self.record();
        let may_rest = self.stops_at_rest && self.rests_after(record.cycle);
        if !may_rest || !self.proposals.seems_at_rest(&record) {
            return Ok(false);
        }
        let change = match record.max_change {
            None if self.cycle > self.given => {
                self.solver.norms(NormRequest::MAX_CHANGE)?.max_change
            }
            known => known,
        };
        Ok(change == Some(0.0))
    }

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
            self.circling.find(self.cycle);
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

/// ‖b − A u‖ of the iterate of a solver, in f64 whatever its precision.
pub(super) fn true_residual(
    problem: &Problem,
    solver: &dyn Solver,
) -> Result<ResidualNorms, SolverError> {
    let shape = &problem.shape;
    let (mut squares, mut max) = (0.0_f64, 0.0_f64);
    let mut add = |rows: Vec<[f64; 2]>| {
        for [of_row, largest] in rows {
            (squares, max) = (squares + of_row, max.max(largest));
        }
    };
    if shape.dim() == 3 {
        add(residual_of_rows(problem, 0, &solver.solution()?));
    } else {
        let at_once = (COPIED / shape.nx()).max(1);
        for first in (0..shape.rows()).step_by(at_once) {
            let rows = first..(first + at_once).min(shape.rows());
            add(residual_of_rows(problem, first, &solver.solution_part(0..shape.nx(), rows)?));
        }
    }
    Ok(ResidualNorms { l2: squares.sqrt(), max: Some(max) })
}
