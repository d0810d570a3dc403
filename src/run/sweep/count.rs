//! Cycles to the tolerance.

use crate::run::command::command_line;
use crate::run::plan::Plan;
use crate::run::runner::{Outcome, Run};
use crate::run::spec::{Backend, RunSpec};
use crate::solver::{Kernel, SolverError};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How counting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
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
    pub ending: Ending,
    /// The part of ‖r‖₂² near tile borders at the end.
    pub edge_share: f64,
}

/// Makes cycles to the end of a run; `None` if somebody stopped it before.
///
/// # Errors
/// [`SolverError`] if the solver cannot be set up, or fails.
pub(super) fn count(
    plan: &Arc<Plan>,
    stop: &AtomicBool,
) -> Result<Option<CycleCount>, SolverError> {
    let mut run = Run::new(plan)?;
    while run.outcome().is_none() {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        run.advance(u64::MAX)?;
    }
    let ending = match run.outcome() {
        Some(Outcome::Converged) => Ending::Converged,
        Some(Outcome::Diverged(_)) => Ending::Diverged,
        Some(Outcome::OutOfCycles) | None => Ending::Capped,
    };
    let edge_share = run.solver().edge_share(&plan.tiling)?.residual;
    Ok(Some(CycleCount { cycles: run.cycle(), ending, edge_share }))
}

/// What is known of cycles already. They depend neither on the place nor on the kernel.
#[derive(Clone, Debug, Default)]
pub(super) struct CycleCache(HashMap<String, CycleCount>);

impl CycleCache {
    pub fn get(&self, run: &RunSpec) -> Option<CycleCount> {
        self.0.get(&key(run)).copied()
    }

    pub fn insert(&mut self, run: &RunSpec, count: CycleCount) {
        self.0.insert(key(run), count);
    }
}

/// All that the number of cycles follows from.
fn key(run: &RunSpec) -> String {
    let mut run = run.clone();
    run.method.backend = Backend::default();
    run.method.threads = 0;
    run.method.kernel = Kernel::Auto;
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
        let go = AtomicBool::new(false);
        let counted = count(&plan, &go).unwrap().unwrap();
        assert_eq!(counted.ending, Ending::Converged);
        assert!((0.0..=1.0).contains(&counted.edge_share));
        let mut cache = CycleCache::default();
        cache.insert(&spec, counted);
        (spec.method.backend, spec.method.kernel) = (Backend::Cuda, Kernel::Register);
        assert_eq!(cache.get(&spec), Some(counted));
        spec.method.overlap = vec![2];
        assert_eq!(cache.get(&spec), None);

        let mut capped = Plan::clone(&plan);
        capped.stop.max_cycles = 3;
        let counted = count(&Arc::new(capped), &go).unwrap().unwrap();
        assert_eq!((counted.cycles, counted.ending), (3, Ending::Capped));
        assert_eq!(count(&plan, &AtomicBool::new(true)).unwrap(), None);
    }
}
