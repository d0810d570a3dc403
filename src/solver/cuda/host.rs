//! The iterate of a GPU on this machine, where it is observed by the code of the CPU back end: the same code gives the
//! same bits.

use crate::grid::{Field, Real, Region};
use crate::solver::cpu::CpuSolver;
use crate::solver::{
    FieldObservation, FieldRequest, NormRequest, Norms, Observe, Quantity, SolverError,
};
use std::cell::{Ref, RefCell};
use std::ops::{Deref, Range};

/// A solver on GPUs whose iterates are observed on this machine.
pub(in crate::solver) trait ObservedOnHost {
    /// The precision.
    type Real: Real;

    /// The solver on this machine with the present iterate, and with the one before where that is needed.
    ///
    /// # Errors
    /// [`SolverError`] if a GPU fails.
    fn host(
        &self,
        needs_previous: bool,
    ) -> Result<impl Deref<Target = CpuSolver<Self::Real>>, SolverError>;

    /// Norms of the present iterate, as [`Observe::norms`] has them.
    ///
    /// # Errors
    /// [`SolverError`] if a GPU fails.
    fn present_norms(&self, request: NormRequest) -> Result<Norms, SolverError> {
        self.host(request.max_change)?.norms(request)
    }
}

impl<S: ObservedOnHost> Observe for S {
    fn norms(&self, request: NormRequest) -> Result<Norms, SolverError> {
        self.present_norms(request)
    }

    fn observe(&self, request: FieldRequest<'_>) -> Result<FieldObservation, SolverError> {
        self.host(matches!(request.quantity, Quantity::Change))?.observe(request)
    }

    fn values(
        &self,
        quantity: Quantity<'_>,
        points: &[[usize; 2]],
    ) -> Result<Vec<f32>, SolverError> {
        self.host(matches!(quantity, Quantity::Change))?.values(quantity, points)
    }

    fn solution(&self) -> Result<Field<f64>, SolverError> {
        self.host(false)?.solution()
    }

    fn previous(&self) -> Result<Field<f64>, SolverError> {
        self.host(true)?.previous()
    }

    fn solution_part(&self, part: &Region) -> Result<Field<f64>, SolverError> {
        self.host(false)?.solution_part(part)
    }

    fn solution_planes(&self, planes: Range<usize>) -> Option<Field<f64>> {
        self.host(false).ok()?.solution_planes(planes)
    }

    fn solution_row(&self, row: usize) -> Result<Vec<f64>, SolverError> {
        self.host(false)?.solution_row(row)
    }
}

/// The two iterates of a solver on this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Iterate {
    Present,
    /// The one before the last cycle.
    Before,
}

/// A solver on this machine that is given the iterates of a GPU, as far as they are needed.
pub(super) struct Host<R> {
    copy: RefCell<Copy<R>>,
}

struct Copy<R> {
    solver: CpuSolver<R>,
    has_iterate: bool,
    has_previous: bool,
}

impl<R: Real> Host<R> {
    /// With the iterates of the solver.
    pub fn new(solver: CpuSolver<R>) -> Self {
        Self { copy: RefCell::new(Copy { solver, has_iterate: true, has_previous: true }) }
    }

    /// The GPU has other iterates from now on.
    pub fn outdate(&mut self) {
        let copy = self.copy.get_mut();
        (copy.has_iterate, copy.has_previous) = (false, false);
    }

    /// What was the iterate is the one before: a cycle was made on the arrays of this machine, by this process alone or
    /// only of its part.
    pub fn swap(&mut self, made_all: bool) {
        let copy = self.copy.get_mut();
        copy.solver.swap();
        (copy.has_previous, copy.has_iterate) = (copy.has_iterate, made_all);
    }

    /// The solver, whose iterates the GPU is to be given.
    pub fn present(&mut self) -> &mut CpuSolver<R> {
        let copy = self.copy.get_mut();
        (copy.has_iterate, copy.has_previous) = (true, true);
        &mut copy.solver
    }

    /// The solver, to change what is not an iterate.
    pub fn solver_mut(&mut self) -> &mut CpuSolver<R> {
        &mut self.copy.get_mut().solver
    }

    /// The solver, as it was left.
    pub fn solver(&self) -> Ref<'_, CpuSolver<R>> {
        Ref::map(self.copy.borrow(), |copy| &copy.solver)
    }

    /// The solver with the iterate of the GPU, and with the one before where that is needed; `fetch` copies what is
    /// missing into an array with its boundary values.
    ///
    /// # Errors
    /// Those of `fetch`.
    pub fn updated(
        &self,
        needs_previous: bool,
        fetch: impl Fn(Iterate, &mut CpuSolver<R>) -> Result<(), SolverError>,
    ) -> Result<Ref<'_, CpuSolver<R>>, SolverError> {
        {
            let Copy { solver, has_iterate, has_previous } = &mut *self.copy.borrow_mut();
            if !*has_iterate {
                fetch(Iterate::Present, solver)?;
                *has_iterate = true;
            }
            if needs_previous && !*has_previous {
                fetch(Iterate::Before, solver)?;
                *has_previous = true;
            }
        }
        Ok(self.solver())
    }
}
