//! On the way back: to the end of a run whose solver made more cycles than that, and to where a run
//! was before its solver was lost.

use super::{Outcome, Run};
use crate::run::plan::Plan;
use crate::solver::{self, SolverError};
use std::sync::Arc;

/// Where a run goes back to.
pub(super) struct Back {
    /// The cycle.
    to: u64,
    /// How the run ended there; `None` if it is to go on, or if that is not known yet.
    outcome: Option<Outcome>,
}

impl Run {
    /// Goes on in another place, from the present iterate, or where that is lost, from one that was
    /// kept or from the start. The history stays. `plan` may differ from the run's own in where and
    /// how it runs alone.
    ///
    /// # Errors
    /// [`SolverError`] if that device is not available; the run is then unchanged.
    pub fn move_to(&mut self, plan: &Arc<Plan>) -> Result<(), SolverError> {
        let method = self.method.clone();
        let mut solver = if !self.is_lost && self.plan.place.shares_with(&plan.place) {
            self.solver.with_method(method, plan.place.kernel())?
        } else {
            solver::set_up(&plan.problem, method, plan.precision, &plan.place)?
        };
        if let Some(exact) = &self.exact {
            solver.set_exact(Arc::clone(exact))?;
        }
        let present = if self.is_lost { None } else { self.solver.solution().ok() };
        if let Some(iterate) = &present {
            solver.start_from(iterate)?;
        } else {
            let kept = self.checkpoint.kept();
            if let Some((_, iterate)) = kept {
                solver.start_from(iterate)?;
            }
            self.cycle = kept.map_or(0, |(cycle, _)| cycle);
            if self.back.is_none() {
                let to = self.history.latest().cycle;
                self.back = Some(Back { to, outcome: self.outcome.take() });
            }
        }
        self.solver = solver;
        self.given = self.cycle;
        self.is_lost = false;
        self.plan = Arc::clone(plan);
        Ok(())
    }

    /// Whether the run is on its way back to a cycle where it was; [`Run::cycle`] says where it is.
    pub fn is_going_back(&self) -> bool {
        self.back.is_some()
    }

    /// Ends the run at a cycle, `reached` being that of the solver.
    pub(super) fn stop_at(
        &mut self,
        cycle: u64,
        outcome: Outcome,
        reached: u64,
    ) -> Result<(), SolverError> {
        if cycle == reached {
            self.settle()?;
            self.outcome = Some(outcome);
            return Ok(());
        }
        self.back = Some(Back { to: cycle, outcome: Some(outcome) });
        // The last cycle is made again in any case: its change is observed.
        match self.checkpoint.kept() {
            Some((kept, iterate)) if kept < cycle => {
                (self.cycle, self.given) = (kept, kept);
                self.solver.start_from(iterate)
            }
            _ => self.rewind(),
        }
    }

    /// Makes at most `most` cycles again, on the way back.
    pub(super) fn go_back(&mut self, most: u64) -> Result<(), SolverError> {
        let Some(to) = self.back.as_ref().map(|back| back.to) else {
            return Ok(());
        };
        if self.cycle < to {
            self.replay(most.min(to - self.cycle))?;
        }
        if self.cycle == to {
            // Measured by itself, as of every last iterate.
            self.history.set_residual(to, self.residual()?);
            let outcome = self.back.take().and_then(|back| back.outcome);
            self.outcome = outcome.or_else(|| self.outcome_at(self.history.latest()));
        }
        Ok(())
    }
}
