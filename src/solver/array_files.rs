//! Files for the arrays of a solver, where even the memory of this machine is too small for them.

use super::SolverError;
use crate::files::{Locked, reason};
use crate::grid::{Field, Real, Shape};
use std::fs::File;
use std::io;
use std::sync::Arc;

/// Files of the arrays of a method that streams, each as long as the array, in a folder that this process has locked.
/// Whoever makes it sees to that: the arrays are mapped.
#[derive(Debug)]
pub struct ArrayFiles {
    /// The lock.
    pub(crate) locked: Arc<Locked>,
    /// The iterate, and the one that the next pass writes.
    pub(crate) iterates: [File; 2],
    /// The right-hand side over the diagonal.
    pub(crate) rhs: File,
    /// Whether they are new, and zero: the solver then fills them with the initial guess and the right-hand side.
    pub(crate) are_new: bool,
}

impl ArrayFiles {
    /// The iterate, the array of the next, and the right-hand side.
    ///
    /// # Errors
    /// [`SolverError::Files`] if a file has another length, or the system does not map it.
    pub(super) fn fields<R: Real>(&self, shape: &Shape) -> Result<[Field<R>; 3], SolverError> {
        let [first, second] = &self.iterates;
        let map =
            |file| Field::mapped(*shape, file, &self.locked).map_err(|cause| self.error(&cause));
        Ok([map(first)?, map(second)?, map(&self.rhs)?])
    }

    /// An error of the system about one of the files.
    pub(super) fn error(&self, cause: &io::Error) -> SolverError {
        SolverError::Files { folder: self.locked.path().to_owned(), what: reason(cause) }
    }
}
