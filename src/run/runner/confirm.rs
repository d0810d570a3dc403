//! Whether a run may stop: the residual that comes with a cycle proposes it, b − A u confirms it.
//!
//! The residual that comes with a cycle is update × diagonal. Where rounding keeps the update from
//! changing a point it reads 0, although b − A u is not 0: nothing is called converged by it alone.

use super::Run;
use crate::grid::{Precision, Shape};
use crate::problem::{Boundary, Problem, Source, Stencil, residual_field, residual_of_rows};
use crate::run::history::DIFFERS;
use crate::solver::{self, Method, NormRequest, ResidualNorms, Solver, SolverError};
use std::sync::Arc;

/// Values of an iterate that are copied at a time to find its residual: 8 MB.
const COPIED: usize = 1 << 20;

/// A cycle that changes no point by more than this many units of rounding of the largest value changes last digits
/// alone. Sums of products in the sine basis of a tile round by tens of units.
const UNITS: f64 = 256.0;

/// Arrays that keeping b − A u takes: the iterate, b − A u, and a solver that starts from it.
const TRUE_RESIDUAL: usize = 5;

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

    /// ‖b − A u‖ of the present iterate.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub(in crate::run) fn true_residual(&self) -> Result<ResidualNorms, SolverError> {
        true_residual(&self.plan.problem, &*self.solver)
    }

    /// Records ‖b − A u‖ of the present iterate; returns ‖r‖₂ as it would come with the next cycle.
    pub(super) fn record_true_residual(&mut self) -> Result<f64, SolverError> {
        let norms = self.true_residual()?;
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
        if !self.plan.has_room_beside(TRUE_RESIDUAL) {
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
        let norm = self.true_residual()?.l2;
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

/// Planes of a 3D iterate, or rows of another, that are copied at a time.
fn copied_at_once(shape: &Shape) -> usize {
    let values = if shape.dim() == 3 { shape.stored_plane() } else { shape.nx() };
    (COPIED / values).max(1)
}

/// Bytes of what is copied at a time, with what lies around it: in the precision of the iterate, and in f64.
pub(in crate::run) fn true_residual_bytes(shape: &Shape, precision: Precision) -> u64 {
    let (all, values) = match shape.dim() {
        3 => (shape.nz(), shape.stored_plane()),
        _ => (shape.rows(), shape.stride()),
    };
    let copied = ((copied_at_once(shape).min(all) + 2) * values) as u64;
    copied * (Precision::F64.bytes() + precision.bytes()) as u64
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
    let at_once = copied_at_once(shape);
    if shape.dim() == 3 {
        for first in (0..shape.nz()).step_by(at_once) {
            let planes = first..(first + at_once).min(shape.nz());
            let Some(planes) = solver.solution_planes(planes) else {
                add(residual_of_rows(problem, 0, &solver.solution()?));
                break;
            };
            add(residual_of_rows(problem, first * shape.ny(), &planes));
        }
    } else {
        for first in (0..shape.rows()).step_by(at_once) {
            let rows = first..(first + at_once).min(shape.rows());
            add(residual_of_rows(
                problem,
                first,
                &solver.solution_part(&[0..shape.nx(), rows, 0..1])?,
            ));
        }
    }
    Ok(ResidualNorms { l2: squares.sqrt(), max: Some(max) })
}
