//! The start of a run in a store: at its initial guess, or where it was interrupted.

use super::store::{Progress, Store, StoreError, Stored};
use super::{Run, start_residual};
use crate::run::history::{DIFFERS, Record};
use crate::run::plan::Plan;
use crate::solver::{self, NormRequest, Solver, SolverError};
use std::sync::Arc;

/// Why a run cannot begin in a store.
#[derive(Debug, thiserror::Error)]
pub enum StoredRunError {
    /// The arrays in the store cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The solver cannot be set up.
    #[error(transparent)]
    Solver(#[from] SolverError),
}

impl Run {
    /// Sets up a run whose arrays lie in a store: at the iterate that is there, or at its initial guess. Each
    /// [`Run::advance`] then makes one pass, after which the run can go on from the store. It never goes back over a pass, so
    /// what follows does not depend on where it was interrupted.
    ///
    /// # Errors
    /// [`StoredRunError`] if the arrays cannot be opened or are not those of the checkpoint, or the solver not be set up.
    pub fn in_store(plan: &Arc<Plan>, mut store: Store) -> Result<Self, StoredRunError> {
        let method = plan.method.clone();
        let files = store.arrays()?;
        let solver =
            solver::set_up_in(&files, &plan.problem, &method, plan.precision, &plan.place)?;
        let Some(progress) = store.progress().cloned() else {
            let residual = solver.norms(NormRequest::RESIDUAL)?.residual.unwrap_or_default();
            let start = start_residual(plan, &*solver, residual)?;
            let mut run = Self::before_start(Arc::clone(plan), method, solver, start);
            run.stored = Some(Stored { store, residual });
            run.keep()?;
            run.end_if_due()?;
            return Ok(run);
        };
        check_iterate(&*solver, &store, progress.residual.l2)?;
        let Progress { passes, seconds, max_change, start, growth, proposals, circling, .. } =
            progress;
        let mut run = Self::before_start(Arc::clone(plan), method, solver, start);
        (run.cycle, run.given, run.seconds) = (passes, passes, seconds);
        (run.growth, run.proposals, run.circling) = (growth, proposals, circling);
        let residual = progress.residual;
        for record in store.take_norms().into_iter().filter(|record| record.cycle < passes) {
            run.history.push(record);
        }
        if passes > 0 {
            let known = Some(residual);
            run.history.push(Record {
                residual: known,
                max_change,
                ..Record::unknown(passes, seconds)
            });
        }
        run.stored = Some(Stored { store, residual });
        run.end_if_due()?;
        Ok(run)
    }

    /// Ends the run at its present iterate, if that is its end.
    fn end_if_due(&mut self) -> Result<(), SolverError> {
        match self.end_at(self.history.latest()) {
            Some(end) => self.end_here(end.outcome),
            None => Ok(()),
        }
    }
}

/// Checks that the iterate has the residual that the checkpoint records, as the solver finds it: what ended the run is not
/// believed of other files.
fn check_iterate(solver: &dyn Solver, store: &Store, recorded: f64) -> Result<(), StoredRunError> {
    let is_recorded = |found: f64| {
        (found - recorded).abs() <= DIFFERS * recorded
            || !(found.is_finite() || recorded.is_finite())
    };
    let own = solver.norms(NormRequest::RESIDUAL_L2)?.residual.unwrap_or_default();
    if is_recorded(own.l2) {
        return Ok(());
    }
    let path = store.path().to_owned();
    Err(StoreError::OtherIterate { path, recorded }.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{ByteCount, Precision};
    use crate::run::spec::{Backend, MethodName, ProblemKind, RunSpec};
    use crate::run::{InitialGuess, Outcome, Planner};
    use crate::solver::Height;
    use proptest::prelude::*;
    use std::fs;
    use std::path::Path;

    fn spec(shape: &[usize], method: MethodName, precision: Precision, height: usize) -> RunSpec {
        let mut spec = RunSpec::default();
        spec.problem.shape = shape.to_vec();
        spec.method.set_name(method);
        (spec.method.backend, spec.method.precision) = (Backend::Cpu, precision);
        spec.method.threads = 1;
        spec.method.height = Some(Height::Sweeps(height));
        spec.method.memory = Some(ByteCount::new(100_000));
        spec
    }

    fn in_store(plan: &Arc<Plan>, folder: &Path) -> Run {
        Run::in_store(plan, Store::open(folder, plan).unwrap()).unwrap()
    }

    fn bits(run: &Run) -> Vec<u64> {
        run.solver().solution().unwrap().as_slice().iter().map(|value| value.to_bits()).collect()
    }

    /// A run at its end that was left after some passes, each time with another one begun.
    fn made(plan: &Arc<Plan>, stops: &[u64]) -> Run {
        let folder = tempfile::tempdir().unwrap();
        for passes in stops {
            let mut run = in_store(plan, folder.path());
            for _ in 0..*passes {
                run.advance(u64::MAX).unwrap();
            }
            // What the pass that was under way had written of the next iterate, but not of its boundary.
            let next = ["iterate-odd", "iterate-even"][(run.cycle() % 2) as usize];
            drop(run);
            let path = folder.path().join(next);
            let mut written = fs::read(&path).unwrap();
            let middle = written.len() / 2;
            written[middle..middle + 8].fill(0xff);
            fs::write(&path, written).unwrap();
        }
        let mut run = in_store(plan, folder.path());
        while run.advance(u64::MAX).unwrap().is_none() {}
        run
    }

    /// It ends as one in memory.
    fn ends_alike(spec: &RunSpec, stops: &[u64]) {
        let plan = Arc::new(Planner::default().plan(spec).unwrap());
        let mut whole = Run::new(&plan).unwrap();
        while whole.advance(u64::MAX).unwrap().is_none() {}
        let run = made(&plan, stops);
        assert_eq!(run.outcome(), whole.outcome());
        assert_eq!(run.cycle(), whole.cycle());
        assert!(bits(&run) == bits(&whole), "the same bits");
        let [ours, theirs] = [&run, &whole].map(|run| run.record().residual);
        assert_eq!(ours, theirs);
    }

    /// What a checkpoint says of an iterate is not believed: a run that was left would converge at once.
    #[test]
    fn a_checkpoint_of_another_iterate_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let plan = spec(&[24, 30], MethodName::Wavefront, Precision::F32, 2);
        let plan = Arc::new(Planner::default().plan(&plan).unwrap());
        let mut run = in_store(&plan, folder.path());
        for _ in 0..3 {
            run.advance(u64::MAX).unwrap();
        }
        drop(run);
        let file = folder.path().join("checkpoint.toml");
        let text = fs::read_to_string(&file).unwrap();
        let (before, rest) = text.split_once("[progress.residual]\nl2 = ").unwrap();
        let (_, after) = rest.split_once('\n').unwrap();
        let edited = format!("{before}[progress.residual]\nl2 = 1e-12\n{after}");
        for edited in [text.replace("passes = 3", "passes = 2"), edited] {
            fs::write(&file, &edited).unwrap();
            let said = Store::open(folder.path(), &plan).unwrap_err().to_string();
            assert!(said.contains("was changed"), "{said}");
            // Of an older program.
            let lines = edited.lines().filter(|line| !line.starts_with("checksum"));
            fs::write(&file, lines.collect::<Vec<_>>().join("\n")).unwrap();
            let store = Store::open(folder.path(), &plan).unwrap();
            let said = Run::in_store(&plan, store).err().unwrap().to_string();
            assert!(said.contains("is not the one of checkpoint.toml"), "{said}");
        }
        fs::write(&file, text.replace("passes = 3", "passes = x")).unwrap();
        let said = Store::open(folder.path(), &plan).unwrap_err().to_string();
        assert!(said.contains("line "), "{said}");
        fs::write(&file, &text).unwrap();
        assert_eq!(in_store(&plan, folder.path()).cycle(), 3);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn a_run_goes_on_from_any_pass(
            stops in prop::collection::vec(0_u64..9, 0..4),
            is_pyramid in any::<bool>(),
            is_single in any::<bool>(),
            height in 1_usize..6,
            tolerance in prop::option::of(1e-4_f64..0.5),
        ) {
            let method = if is_pyramid { MethodName::Pyramid } else { MethodName::Wavefront };
            let precision = if is_single { Precision::F32 } else { Precision::F64 };
            for shape in [&[30, 26][..], &[12, 10, 14]] {
                let mut spec = spec(shape, method, precision, height);
                spec.problem.kind = ProblemKind::PointSources;
                (spec.stop.tolerance, spec.stop.max_cycles) = (tolerance, 40);
                ends_alike(&spec, &stops);
            }
        }
    }

    /// One that rounding stops, one that has nothing to do, and one that diverges, which shows a pass earlier than in
    /// memory.
    #[test]
    fn every_end_is_that_of_a_run_that_was_not_left() {
        let pyramid = |shape: &[usize]| spec(shape, MethodName::Pyramid, Precision::F32, 3);
        let mut diverging = pyramid(&[20, 20]);
        diverging.problem.kind = ProblemKind::ConvectionDiffusion;
        diverging.problem.velocity = Some([500.0, 0.0, 0.0]);
        let plan = Arc::new(Planner::default().plan(&diverging).unwrap());
        let [left, whole] = [&[7, 5][..], &[]].map(|stops| made(&plan, stops));
        assert!(matches!(whole.outcome(), Some(Outcome::Diverged(_))));
        assert_eq!(left.outcome(), whole.outcome());
        assert!(bits(&left) == bits(&whole), "the same bits");
        let mut resting = pyramid(&[6, 5]);
        resting.stop.tolerance = None;
        ends_alike(&resting, &[5, 9]);
        let mut solved = pyramid(&[6, 5]);
        solved.problem.kind = ProblemKind::HotSide;
        solved.problem.boundary = Some(crate::problem::Boundary::default());
        solved.problem.initial = Some(InitialGuess::Value(0.0));
        ends_alike(&solved, &[0]);
    }
}
