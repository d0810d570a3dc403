//! Cycles to the tolerance.

use super::ShouldStop;
use crate::grid::Shape;
use crate::problem::{Problem, Source};
use crate::run::command::command_line;
use crate::run::plan::Plan;
use crate::run::runner::{Outcome, Run};
use crate::run::spec::{Backend, RunSpec};
use crate::solver::{Kernel, SolverError};
use std::collections::HashMap;
use std::sync::Arc;

/// How counting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountOutcome {
    /// The tolerance was met.
    Converged,
    /// It was not, within the cap.
    Capped,
    /// It never will be.
    Diverged,
}

/// How many cycles a setting took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CycleCount {
    /// Cycles made.
    pub cycles: u64,
    /// How that ended.
    pub ending: CountOutcome,
    /// The part of ‖r‖₂² near tile borders at the end.
    pub edge_share: f64,
}

/// Makes cycles to the end of a run; `None` if somebody stopped it before.
///
/// # Errors
/// [`SolverError`] if the solver cannot be set up, or fails.
pub(super) fn count(
    plan: &Arc<Plan>,
    halt: ShouldStop<'_>,
) -> Result<Option<CycleCount>, SolverError> {
    let mut run = Run::new(&one_line(plan))?;
    run.find_all_norms(false);
    while run.outcome().is_none() {
        if halt() {
            return Ok(None);
        }
        run.advance(u64::MAX)?;
    }
    let ending = match run.outcome() {
        Some(Outcome::Converged) => CountOutcome::Converged,
        Some(Outcome::Diverged(_)) => CountOutcome::Diverged,
        Some(Outcome::OutOfCycles) | None => CountOutcome::Capped,
    };
    let edge_share = run.solver().edge_share(&plan.tiling)?.residual;
    Ok(Some(CycleCount { cycles: run.cycle(), ending, edge_share }))
}

/// The same plan with a single line, where all of its copies are alike and converge alike.
fn one_line(plan: &Arc<Plan>) -> Arc<Plan> {
    let Problem { shape, rhs, initial_guess, .. } = &*plan.problem;
    let is_alike = |source: &Source| !matches!(source, Source::Random { .. } | Source::Array(_));
    let line = Shape::grid_1d(shape.nx(), 1);
    match line {
        Ok(line) if shape.dim() == 1 && is_alike(rhs) && is_alike(initial_guess) => {
            let problem = Problem { shape: line, ..Problem::clone(&plan.problem) };
            Arc::new(Plan { problem: Arc::new(problem), ..Plan::clone(plan) })
        }
        _ => Arc::clone(plan),
    }
}

/// What is known of cycles already. They depend neither on the place nor on the kernel.
#[derive(Clone, Debug, Default)]
pub struct CycleCache(HashMap<String, CycleCount>);

impl CycleCache {
    /// The cycles of a run, if they were counted.
    pub(super) fn get(&self, run: &RunSpec) -> Option<CycleCount> {
        self.0.get(&key(run)).copied()
    }

    pub(super) fn insert(&mut self, run: &RunSpec, count: CycleCount) {
        self.0.insert(key(run), count);
    }
}

/// All that the number of cycles follows from.
fn key(run: &RunSpec) -> String {
    let mut run = run.clone();
    run.method.backend = Backend::default();
    run.method.threads = 0;
    run.method.kernel = Kernel::AUTO;
    command_line(&run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Planner;

    #[test]
    fn a_count_is_that_of_the_run_and_is_known_on_every_back_end() {
        let mut spec = RunSpec::default();
        spec.problem.shape = vec![24, 20];
        (spec.method.tile, spec.method.k) = (vec![8], 4);
        let plan = Arc::new(Planner::default().plan(&spec).unwrap());
        let go = || false;
        let counted = count(&plan, &go).unwrap().unwrap();
        assert_eq!(counted.ending, CountOutcome::Converged);
        assert!((0.0..=1.0).contains(&counted.edge_share));
        let mut cache = CycleCache::default();
        cache.insert(&spec, counted);
        (spec.method.backend, spec.method.kernel) = (Backend::Cuda, Kernel::REGISTER);
        assert_eq!(cache.get(&spec), Some(counted));
        spec.method.overlap = vec![2];
        assert_eq!(cache.get(&spec), None);

        let mut capped = Plan::clone(&plan);
        capped.stop.max_cycles = 3;
        let counted = count(&Arc::new(capped), &go).unwrap().unwrap();
        assert_eq!((counted.cycles, counted.ending), (3, CountOutcome::Capped));
        assert_eq!(count(&plan, &|| true).unwrap(), None);
    }
}
