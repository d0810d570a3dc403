//! The end of a run, and on the way back: to that end, where the solver made more cycles, and to where
//! a run was before its solver was lost.

use super::{Outcome, Run, RunEnd, as_measured};
use crate::run::plan::Plan;
use crate::solver::{self, LostSolver, Method, SolverError};
use std::sync::Arc;

/// Where a run goes back to.
pub(super) struct Back {
    /// The cycle.
    to: u64,
    then: Then,
}

/// What a run does when it is back.
enum Then {
    /// It continues.
    Continue,
    /// It ends; without an outcome, that is found out.
    End(Option<Outcome>),
}

impl Run {
    /// Continues in another place, from the present iterate, or where that is lost or does not determine what
    /// follows, from one that was kept or from the initial guess. The history stays. `plan` may differ from the run's own only in
    /// where and how it runs.
    ///
    /// # Errors
    /// [`SolverError`] if that device is not available; the run is then unchanged, but that a solver which failed has given
    /// its memory back.
    pub fn move_to(&mut self, plan: &Arc<Plan>) -> Result<(), SolverError> {
        if self.is_lost {
            self.solver = Box::new(LostSolver::of(&*self.solver));
        }
        let method = self.method_at(plan);
        let mut solver = if !self.is_lost && self.plan.place.shares_with(&plan.place) {
            self.solver.with_method(method.clone(), plan.place.kernel())?
        } else {
            solver::set_up(&plan.problem, method.clone(), plan.precision, &plan.place)?
        };
        if let Some(exact) = &self.exact {
            solver.set_exact(Arc::clone(exact))?;
        }
        let is_known = !self.is_lost && self.is_continued_from_iterate();
        let present = if is_known { self.solver.solution().ok() } else { None };
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
                let then = self.outcome.take().map_or(Then::Continue, |it| Then::End(Some(it)));
                self.back = Some(Back { to, then });
            }
        }
        let (plan, method) = as_measured(Arc::clone(plan), method, &*solver);
        (self.solver, self.method) = (solver, method);
        self.solver.stop_on(&self.stop_token);
        self.given = self.cycle;
        self.is_lost = false;
        self.plan = plan;
        Ok(())
    }

    /// The method where a plan leads: shared out over the devices there, if the iterate does not depend on them.
    fn method_at(&self, plan: &Plan) -> Method {
        let methods = [&self.method, &plan.method];
        let is_frozen = methods.iter().any(|method| method.cycles_between_exchanges() > 1);
        let [own, there] = methods;
        let is_free = own.plain() == there.plain() && !is_frozen;
        if is_free { there.clone() } else { own.clone() }
    }

    /// Whether the run is on its way back to a cycle where it was; [`Run::cycle`] says where it is.
    pub fn is_going_back(&self) -> bool {
        self.back.is_some()
    }

    /// Ends the run, `reached` being the cycle of the solver.
    pub(super) fn stop_at(&mut self, end: RunEnd, reached: u64) -> Result<(), SolverError> {
        if end.cycle == reached {
            return self.end_here(end.outcome);
        }
        let cycle = end.cycle;
        self.back = Some(Back { to: cycle, then: Then::End(end.outcome) });
        // The last cycle is recomputed in any case: its update is observed.
        match self.checkpoint.kept() {
            Some((kept, iterate)) if kept < cycle => {
                (self.cycle, self.given) = (kept, kept);
                self.solver.start_from(iterate)
            }
            _ => self.rewind(),
        }
    }

    /// Ends the run at the present iterate, with an outcome that is known, or with what b − A u shows.
    /// Where that does not confirm an end, the run continues.
    pub(super) fn end_here(&mut self, outcome: Option<Outcome>) -> Result<(), SolverError> {
        let own = self.record_true_residual()?;
        let outcome = match outcome.or_else(|| self.outcome_at(self.history.latest())) {
            None | Some(Outcome::OutOfCycles) if self.is_at_rest()? => Some(Outcome::RoundingLimit),
            found => found,
        };
        if outcome.is_some() {
            self.keep_true_residual(own)?;
            self.settle()?;
        } else {
            self.proposals.refuse(self.cycle);
        }
        self.outcome = outcome;
        Ok(())
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
            let end = match self.back.as_ref().map(|back| &back.then) {
                Some(Then::End(outcome)) => Some(outcome.clone()),
                _ => self.end_at(self.history.latest()).map(|end| end.outcome),
            };
            if let Some(outcome) = end {
                self.end_here(outcome)?;
            }
            self.back = None;
        }
        Ok(())
    }
}
