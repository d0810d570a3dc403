//! Cycles to the tolerance.

use crate::grid::Shape;
use crate::pauses::next_piece;
use crate::problem::{Problem, Source};
use crate::run::plan::Plan;
use crate::run::runner::{Outcome, Run};
use crate::run::sweep::stepping::{ShouldStop, finish};
use crate::solver::{Place, SolverError, StopToken};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

/// How a count ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountOutcome {
    /// The tolerance was met.
    Converged,
    /// The limit of cycles was reached before.
    Capped,
    /// The rounding limit was reached before.
    RoundingLimit,
    /// The iteration diverges.
    Diverged,
}

/// The cycles of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CycleCount {
    /// Cycles made.
    pub cycles: u64,
    /// How the count ended.
    pub outcome: CountOutcome,
    /// The share of ‖r‖₂² near tile borders in the last iterate, 0 to 1.
    pub edge_share: f64,
    /// ‖u − u*‖₂ / ‖u₀ − u*‖₂ of the last iterate, see [`Run::error_left`].
    pub error_left: Option<f64>,
}

/// A count under way.
pub(in crate::run::sweep) struct Counting {
    plan: Arc<Plan>,
    run: Run,
    /// Finds the error that is left, once the run has ended.
    error_left: Option<ErrorLeft>,
}

/// Work with pauses.
type ErrorLeft = Pin<Box<dyn Future<Output = Option<f64>> + Send>>;

impl Counting {
    /// Sets the run up; no cycle is made yet.
    ///
    /// # Errors
    /// [`SolverError`] if the solver cannot be set up.
    pub fn new(plan: &Arc<Plan>) -> Result<Self, SolverError> {
        let plan = counted_plan(plan);
        let mut run = Run::new(&plan)?;
        run.find_all_norms(false);
        Ok(Self { plan, run, error_left: None })
    }

    /// Leaves cycles unfinished while this is due.
    pub fn stop_on(&mut self, stop: &StopToken) {
        self.run.stop_on(stop);
    }

    /// Makes a batch of cycles, or a piece of one that takes long, or what follows the last one.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub fn step(&mut self) -> Result<Poll<CycleCount>, SolverError> {
        let outcome = match self.run.outcome() {
            None => {
                if self.run.make_piece() {
                    self.run.advance(u64::MAX)?;
                }
                return Ok(Poll::Pending);
            }
            Some(Outcome::Converged) => CountOutcome::Converged,
            Some(Outcome::Diverged(_)) => CountOutcome::Diverged,
            Some(Outcome::OutOfCycles) => CountOutcome::Capped,
            Some(Outcome::RoundingLimit) => CountOutcome::RoundingLimit,
        };
        let run = &self.run;
        let finding = self.error_left.get_or_insert_with(|| Box::pin(run.error_left_with_pauses()));
        let Some(error_left) = next_piece(finding.as_mut()) else { return Ok(Poll::Pending) };
        self.error_left = None;
        let edge_share = self.run.residual_solver().edge_share(&self.plan.tiling)?.residual;
        Ok(Poll::Ready(CycleCount { cycles: self.run.cycle(), outcome, edge_share, error_left }))
    }
}

/// Counts to the end; `None` if it was stopped before.
///
/// # Errors
/// [`SolverError`] if the solver cannot be set up, or fails.
pub(in crate::run::sweep) fn count(
    plan: &Arc<Plan>,
    should_stop: ShouldStop<'_>,
) -> Result<Option<CycleCount>, SolverError> {
    let mut counting = Counting::new(plan)?;
    finish(should_stop, || counting.step())
}

/// Counts several plans at a time, each on a thread of its own; a single one has all threads of its
/// plan.
pub(in crate::run::sweep) fn count_side_by_side(
    plans: &[&Arc<Plan>],
    should_stop: ShouldStop<'_>,
) -> Vec<Result<Option<CycleCount>, SolverError>> {
    if let [plan] = plans {
        return vec![count(plan, should_stop)];
    }
    let on_one_thread = |plan: &Plan| {
        let mut plan = plan.clone();
        if let Place::Cpu { threads, .. } = &mut plan.place {
            *threads = 1;
        }
        count(&Arc::new(plan), should_stop)
    };
    let on_one_thread = &on_one_thread;
    std::thread::scope(|scope| {
        let spawned = plans.iter().map(|plan| {
            let thread = std::thread::Builder::new().name("tilescope-count".to_owned());
            (plan, thread.spawn_scoped(scope, move || on_one_thread(plan)))
        });
        let spawned: Vec<_> = spawned.collect();
        // If no thread can be started, this one does the work.
        let counts = spawned.into_iter().map(|(plan, thread)| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => on_one_thread(plan),
        });
        counts.collect()
    })
}

/// The plan whose cycles are counted: the same with one system of its batch, if all of them are equal, since they
/// converge alike.
pub(in crate::run::sweep) fn counted_plan(plan: &Arc<Plan>) -> Arc<Plan> {
    let Problem { shape, rhs, initial_guess, .. } = &*plan.problem;
    let is_equal =
        |source: &Source| !source.is_listed() && !matches!(source, Source::Random { .. });
    let single = Shape::grid_1d(shape.nx(), 1);
    match single {
        Ok(single) if shape.dim() == 1 && is_equal(rhs) && is_equal(initial_guess) => {
            let problem = Problem { shape: single, ..Problem::clone(&plan.problem) };
            Arc::new(Plan { problem: Arc::new(problem), ..Plan::clone(plan) })
        }
        _ => Arc::clone(plan),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Planner, RunSpec};

    #[test]
    fn a_count_ends_as_its_run_does() {
        let mut spec = RunSpec::default();
        spec.problem.shape = vec![24, 20];
        (spec.method.tile, spec.method.k) = (vec![8], 4.into());
        let plan = Arc::new(Planner::default().plan(&spec).unwrap());
        let counted = count(&plan, &|| false).unwrap().unwrap();
        assert_eq!(counted.outcome, CountOutcome::Converged);
        assert!((0.0..=1.0).contains(&counted.edge_share));
        // The residual is at most 1e-4 of what it was, and the error of the same order.
        assert!(counted.error_left.is_some_and(|left| (1e-6..1e-2).contains(&left)));

        let mut capped = Plan::clone(&plan);
        capped.stop.max_cycles = 3;
        let counted = count(&Arc::new(capped), &|| false).unwrap().unwrap();
        assert_eq!((counted.cycles, counted.outcome), (3, CountOutcome::Capped));
        assert_eq!(count(&plan, &|| true).unwrap(), None);
    }

    #[test]
    fn counts_side_by_side_are_those_of_one_after_the_other() {
        let plan = |k: usize| {
            let mut spec = RunSpec::default();
            spec.problem.shape = vec![24, 20];
            (spec.method.tile, spec.method.k) = (vec![8], k.into());
            Arc::new(Planner::default().plan(&spec).unwrap())
        };
        let plans = [plan(2), plan(4), plan(6)];
        let together = count_side_by_side(&plans.each_ref(), &|| false);
        for (plan, counted) in plans.iter().zip(together) {
            assert_eq!(counted.unwrap(), count(plan, &|| false).unwrap());
        }
    }
}
