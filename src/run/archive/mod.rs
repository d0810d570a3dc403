//! What is kept of a run, so that any cycle of it can be replayed.

mod keyframes;

use crate::grid::{Field, GridPoint};
use crate::run::history::{CycleValue, Record};
use crate::run::observe::{Diagram, FieldKind};
use crate::run::plan::Plan;
use crate::run::runner::Run;
use crate::solver::{self, Method, Place, SolverError, Window};
use keyframes::Keyframes;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The fraction of a budget for the iterates of Jacobi's iteration, from which the staleness of earlier
/// cycles is computed.
const FOR_CLASSIC: usize = 4;

/// What is kept of a run: iterates within a budget of memory, from which the others can be made
/// again, and its curve. Written by the thread that makes the run, read by those that replay it.
pub struct RunArchive {
    plan: Arc<Plan>,
    /// Where cycles are replayed: where the run is computed now.
    place: Mutex<Place>,
    pub(in crate::run) run: Keyframes,
    /// Those of Jacobi's iteration alongside, by sweeps.
    pub(in crate::run) classic: Keyframes,
    exact: OnceLock<Arc<Field<f64>>>,
    /// The space–time diagram of a 1D run.
    diagram: OnceLock<Diagram>,
    curve: Mutex<Arc<[Record]>>,
}

impl RunArchive {
    /// The archive of a run at its initial guess, in at most `budget` bytes.
    pub fn new(plan: &Arc<Plan>, budget: usize) -> Self {
        let keyframes = |budget| Keyframes::new(&plan.problem.shape, plan.precision, budget);
        Self {
            plan: Arc::clone(plan),
            place: Mutex::new(plan.place.clone()),
            run: keyframes(budget - budget / FOR_CLASSIC),
            classic: keyframes(budget / FOR_CLASSIC),
            exact: OnceLock::new(),
            diagram: OnceLock::new(),
            curve: Mutex::default(),
        }
    }

    /// The run, as it began.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// Where cycles are replayed.
    pub(in crate::run) fn place(&self) -> Place {
        self.place.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Lets cycles be replayed elsewhere from now on. In the sine basis devices round differently, so such a
    /// run is replayed where it began.
    pub(in crate::run) fn set_place(&self, place: &Place) {
        if !self.plan.method.is_spectral() {
            *self.place.lock().unwrap_or_else(PoisonError::into_inner) = place.clone();
        }
    }

    /// Bytes that may be taken from now on.
    pub fn set_budget(&self, budget: usize) {
        self.run.set_budget(budget - budget / FOR_CLASSIC);
        self.classic.set_budget(budget / FOR_CLASSIC);
    }

    /// Bytes that are taken.
    pub fn used(&self) -> usize {
        self.run.used() + self.classic.used()
    }

    /// Keeps the present iterate of the run, if it is due, and if later cycles can be made from it.
    ///
    /// # Errors
    /// [`SolverError`] if its solver fails.
    pub(in crate::run) fn keep(&self, run: &Run) -> Result<(), SolverError> {
        if !run.is_continued_from_iterate() {
            return Ok(());
        }
        self.run.keep(run.cycle(), run.solver())
    }

    /// Keeps the present iterate of Jacobi's iteration, if it is due.
    ///
    /// # Errors
    /// [`SolverError`] if its solver fails.
    pub(in crate::run) fn keep_classic(&self, classic: &Run) -> Result<(), SolverError> {
        self.classic.keep(classic.cycle(), classic.solver())
    }

    /// The exact solution, once it is known.
    pub(in crate::run) fn exact(&self) -> Option<&Arc<Field<f64>>> {
        self.exact.get()
    }

    /// Sets the exact solution.
    pub(in crate::run) fn set_exact(&self, exact: &Arc<Field<f64>>) {
        // A problem has one exact solution: another writer had the same.
        _ = self.exact.set(Arc::clone(exact));
    }

    /// The space–time diagram of a 1D run.
    pub(in crate::run) fn diagram(&self) -> Option<&Diagram> {
        self.diagram.get()
    }

    /// Sets the diagram, which is made along with the run.
    pub(in crate::run) fn set_diagram(&self, diagram: &Diagram) {
        // There is one per run.
        _ = self.diagram.set(diagram.clone());
    }

    /// Replaces the curve.
    pub(in crate::run) fn set_curve(&self, curve: &Arc<[Record]>) {
        *self.curve.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(curve);
    }

    /// The newest curve, thinned out for a plot.
    pub(in crate::run) fn curve(&self) -> Arc<[Record]> {
        Arc::clone(&self.curve.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A field at a point of the grid, at those cycles before `cycle` whose iterates are kept, computed
    /// from the point and its neighbours; nothing of a field that needs more than an iterate, and of a
    /// matrix, whose rows have neighbours anywhere.
    pub(in crate::run) fn values_at(
        &self,
        point: GridPoint,
        field: FieldKind,
        cycle: u64,
    ) -> Vec<CycleValue> {
        let is_grid = self.plan.problem.operator.matrix().is_none();
        if !is_grid || matches!(field, FieldKind::Change | FieldKind::Staleness) {
            return Vec::new();
        }
        // A single point needs hardly any memory, and cannot fail.
        self.computed_at(point, field, cycle).unwrap_or_default()
    }

    fn computed_at(
        &self,
        point: GridPoint,
        field: FieldKind,
        cycle: u64,
    ) -> Result<Vec<CycleValue>, SolverError> {
        let part = point.region();
        let problem = Arc::new(self.plan.problem.part(&part));
        let mut solver = solver::on_cpu(&problem, Method::Classic, self.plan.precision, 1)?;
        if let Some(exact) = self.exact() {
            solver.set_exact(Arc::new(exact.part(&part)))?;
        }
        let kept = self.run.all_before(cycle).into_iter();
        let values = kept.map(|(cycle, iterate)| {
            solver.start_from(&iterate.around(point))?;
            let value = solver.sample(field.quantity(None), &Window::point(0, 0))?.values[0];
            Ok(CycleValue { cycle, value: value.into() })
        });
        values.collect()
    }

    /// The record of a cycle as far as the curve has it: complete where it has that cycle, or else only
    /// the seconds, interpolated between its neighbours.
    pub(in crate::run) fn record(&self, cycle: u64) -> Record {
        let curve = self.curve();
        let next = curve.partition_point(|record| record.cycle < cycle);
        if let Some(record) = curve.get(next).filter(|record| record.cycle == cycle) {
            return *record;
        }
        Record::unknown(cycle, seconds_at(&curve, cycle))
    }

    /// Whether rounding falsifies the residual that comes with a cycle, so that the curve has none there or at the next
    /// cycle that it has.
    pub(in crate::run) fn is_residual_false(&self, cycle: u64) -> bool {
        let curve = self.curve();
        let next = curve.partition_point(|record| record.cycle < cycle);
        // That of the newest is not known yet.
        next + 1 < curve.len() && curve[next].residual.is_none()
    }
}

/// Solver seconds after that number of cycles, interpolated between the records of a curve; 0 before the
/// first, those of the last after it.
pub fn seconds_at(curve: &[Record], cycle: u64) -> f64 {
    let next = curve.partition_point(|record| record.cycle < cycle);
    match (curve.get(next.wrapping_sub(1)), curve.get(next)) {
        (Some(before), Some(after)) => {
            let part = (cycle - before.cycle) as f64 / (after.cycle - before.cycle) as f64;
            before.seconds + part * (after.seconds - before.seconds)
        }
        (Some(last), None) => last.seconds,
        (None, _) => 0.0,
    }
}

/// The cycle that a run had made after that number of solver seconds, interpolated between the records of a
/// curve; of more than it took, the last.
pub fn cycle_at(curve: &[Record], seconds: f64) -> u64 {
    let next = curve.partition_point(|record| record.seconds < seconds);
    match (curve.get(next.wrapping_sub(1)), curve.get(next)) {
        (Some(before), Some(after)) => {
            let part = (seconds - before.seconds) / (after.seconds - before.seconds);
            before.cycle + (part * (after.cycle - before.cycle) as f64).round() as u64
        }
        (Some(last), None) => last.cycle,
        (None, _) => 0,
    }
}

impl PartialEq for RunArchive {
    /// The same one: no two runs share an archive.
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl fmt::Debug for RunArchive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunArchive").field("used", &self.used()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_between_records_are_interpolated() {
        let curve = [(0, 0.0), (10, 1.0), (20, 3.0)].map(|(at, time)| Record::unknown(at, time));
        assert_eq!(
            [0, 5, 10, 15, 20, 99].map(|at| seconds_at(&curve, at)),
            [0.0, 0.5, 1.0, 2.0, 3.0, 3.0]
        );
        assert_eq!(
            [0.0, 0.5, 1.0, 2.0, 3.0, 99.0].map(|at| cycle_at(&curve, at)),
            [0, 5, 10, 15, 20, 20]
        );
        assert_eq!((seconds_at(&[], 7), cycle_at(&[], 7.0)), (0.0, 0));
    }
}
