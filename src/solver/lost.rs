//! What is left of a solver whose GPU failed: its description. Its arrays are gone, so that another solver has room for its
//! own on the GPUs that still work.

use super::{
    Advance, Batch, Describe, DeviceInfo, FieldObservation, FieldRequest, Kernel, Method,
    NormRequest, Norms, Observe, Quantity, Solver, SolverError,
};
use crate::grid::{Field, Region, Shape};
use std::sync::Arc;

/// The description of a solver that failed. Whatever needs its arrays is an error.
pub(crate) struct LostSolver {
    shape: Shape,
    free_norms: NormRequest,
    device: Option<DeviceInfo>,
}

impl LostSolver {
    /// Of this solver, which may be dropped then.
    pub fn of(solver: &dyn Solver) -> Self {
        Self {
            shape: *solver.shape(),
            free_norms: solver.free_norms(),
            device: solver.device().cloned(),
        }
    }

    fn lost<T>(&self) -> Result<T, SolverError> {
        let gpu = self.device.as_ref().map_or_else(|| "the GPU".to_owned(), |it| it.name.clone());
        Err(SolverError::Device { gpu, what: "its arrays are gone".to_owned() })
    }
}

impl Advance for LostSolver {
    fn cycles(&mut self, _: u64, _: NormRequest) -> Result<Batch, SolverError> {
        self.lost()
    }

    fn restart(&mut self) -> Result<(), SolverError> {
        self.lost()
    }

    fn start_from(&mut self, _: &Field<f64>) -> Result<(), SolverError> {
        self.lost()
    }

    fn set_exact(&mut self, _: Arc<Field<f64>>) -> Result<(), SolverError> {
        self.lost()
    }
}

impl Observe for LostSolver {
    fn norms(&self, _: NormRequest) -> Result<Norms, SolverError> {
        self.lost()
    }

    fn observe(&self, _: FieldRequest<'_>) -> Result<FieldObservation, SolverError> {
        self.lost()
    }

    fn values(&self, _: Quantity<'_>, _: &[[usize; 2]]) -> Result<Vec<f32>, SolverError> {
        self.lost()
    }

    fn solution(&self) -> Result<Field<f64>, SolverError> {
        self.lost()
    }

    fn previous(&self) -> Result<Field<f64>, SolverError> {
        self.lost()
    }

    fn solution_part(&self, _: &Region) -> Result<Field<f64>, SolverError> {
        self.lost()
    }

    fn solution_row(&self, _: usize) -> Result<Vec<f64>, SolverError> {
        self.lost()
    }
}

impl Describe for LostSolver {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn free_norms(&self) -> NormRequest {
        self.free_norms
    }

    fn device(&self) -> Option<&DeviceInfo> {
        self.device.as_ref()
    }
}

impl Solver for LostSolver {
    fn with_method(&self, _: Method, _: Kernel) -> Result<Box<dyn Solver>, SolverError> {
        self.lost()
    }
}
