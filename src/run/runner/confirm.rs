//! Whether a run may stop: the residual that comes with a cycle proposes it, b − A u confirms it.
//!
//! The residual that comes with a cycle is update × diagonal. Where rounding keeps the update from
//! changing a point it reads 0, although b − A u is not 0: nothing is called converged by it alone.

use super::Run;
use crate::grid::{Precision, memory};
use crate::problem::{Boundary, Problem, Source, Stencil, residual_field, residual_of_rows};
use crate::solver::{self, Method, NormRequest, ResidualNorms, Solver, SolverError};
use std::sync::Arc;

/// Values of an iterate that are copied at a time to find its residual: 8 MB.
const COPIED: usize = 1 << 20;

/// Maps show b − A u in place of the residual that comes with a cycle where the norms of the two differ
/// by more than this part.
const DIFFERS: f64 = 1e-3;

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

    /// Records ‖b − A u‖ of the present iterate.
    pub(super) fn record_true_residual(&mut self) -> Result<(), SolverError> {
        let norms = true_residual(&self.plan.problem, &*self.solver)?;
        self.history.set_residual(self.cycle, norms);
        Ok(())
    }

    /// Keeps b − A u of the present iterate, whose norm is recorded, for maps where the solver's own
    /// residual is another. Without memory for it maps show that.
    pub(super) fn keep_true_residual(&mut self) -> Result<(), SolverError> {
        let norm = self.record().residual.map_or(f64::NAN, |norms| norms.l2);
        let own = self.solver.norms(NormRequest::RESIDUAL_L2)?.residual.unwrap_or_default();
        if !norm.is_finite() || (own.l2 - norm).abs() <= DIFFERS * norm {
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

    /// Whether the last cycle left the iterate as it was, and so every later one will.
    pub(super) fn is_at_rest(&self) -> Result<bool, SolverError> {
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
        let at_once = (COPIED / shape.stored_plane()).max(1);
        for first in (0..shape.nz()).step_by(at_once) {
            let planes = first..(first + at_once).min(shape.nz());
            let Some(planes) = solver.solution_planes(planes) else {
                add(residual_of_rows(problem, 0, &solver.solution()?));
                break;
            };
            add(residual_of_rows(problem, first * shape.ny(), &planes));
        }
    } else {
        let at_once = (COPIED / shape.nx()).max(1);
        for first in (0..shape.rows()).step_by(at_once) {
            let rows = first..(first + at_once).min(shape.rows());
            add(residual_of_rows(problem, first, &solver.solution_part(0..shape.nx(), rows)?));
        }
    }
    Ok(ResidualNorms { l2: squares.sqrt(), max: Some(max) })
}
