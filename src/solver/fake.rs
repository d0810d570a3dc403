//! A solver for tests that stands in for a GPU: it makes many cycles at a time, and may fail.

use super::{
    Advance, Batch, CycleNorms, Describe, DeviceInfo, FieldObservation, FieldRequest, Footprint,
    Kernel, Method, NormRequest, Norms, Observe, Quantity, ResidualNorms, Solver, SolverError,
};
use crate::grid::{Field, Region, Shape};
use std::sync::Arc;

/// A solver on the CPU whose batches have given sizes, over and over.
pub(crate) struct Batches {
    inner: Box<dyn Solver>,
    sizes: Vec<u64>,
    next: usize,
    /// Cycles until it fails.
    left: u64,
    /// Whether there is room for no other beside it.
    is_alone: bool,
    device: DeviceInfo,
}

impl Batches {
    /// `sizes` are those of its batches, at least 1 each.
    pub fn new(inner: Box<dyn Solver>, sizes: Vec<u64>) -> Self {
        let device = DeviceInfo {
            ordinal: 0,
            name: NAME.into(),
            kernel: Kernel::SHARED,
            footprint: Footprint {
                threads: 1024,
                registers: 32,
                shared_bytes: 32 << 10,
                blocks: 64,
                blocks_per_multiprocessor: 2,
                multiprocessors: 100,
                points_per_second: 1e12,
                products: None,
            },
        };
        Self { inner, sizes, next: 0, left: u64::MAX, is_alone: false, device }
    }

    /// The same, failing for good after that number of cycles.
    pub fn failing_after(self, cycles: u64) -> Self {
        Self { left: cycles, ..self }
    }

    /// The same, on a GPU where no other has room.
    pub fn alone(self) -> Self {
        Self { is_alone: true, ..self }
    }

    fn check(&self) -> Result<(), SolverError> {
        if self.left > 0 { Ok(()) } else { Err(failure("it was lost")) }
    }

    fn use_up_one(&mut self) -> Result<(), SolverError> {
        self.check()?;
        self.left -= 1;
        Ok(())
    }

    fn size(&mut self, most: u64) -> u64 {
        assert!(most > 0, "a batch is at least one cycle");
        self.next += 1;
        self.sizes[(self.next - 1) % self.sizes.len()].min(most)
    }
}

/// The norms of a cycle that are requested.
fn requested(request: NormRequest, norms: CycleNorms) -> CycleNorms {
    let max = norms.residual_before.max.filter(|_| request.residual_max);
    CycleNorms {
        residual_before: ResidualNorms { max, ..norms.residual_before },
        max_change: norms.max_change.filter(|_| request.max_change),
        error: norms.error.filter(|_| request.error),
    }
}

/// The name of the GPU.
const NAME: &str = "a GPU of the tests";

fn failure(what: &str) -> SolverError {
    SolverError::Device { gpu: NAME.into(), what: what.into() }
}

impl Advance for Batches {
    fn cycles(&mut self, most: u64, norms: NormRequest) -> Result<Batch, SolverError> {
        let mut all = Batch { cycles: self.size(most), norms: Vec::new(), seconds: 0.0 };
        for _ in 0..all.cycles {
            self.use_up_one()?;
            let one = self.inner.cycles(1, norms)?;
            all.norms.extend(one.norms.into_iter().map(|found| requested(norms, found)));
            all.seconds += one.seconds;
        }
        Ok(all)
    }

    fn restart(&mut self) -> Result<(), SolverError> {
        self.check()?;
        self.inner.restart()
    }

    fn start_from(&mut self, iterate: &Field<f64>) -> Result<(), SolverError> {
        self.check()?;
        self.inner.start_from(iterate)
    }

    fn set_exact(&mut self, exact: Arc<Field<f64>>) -> Result<(), SolverError> {
        self.check()?;
        self.inner.set_exact(exact)
    }
}

impl Observe for Batches {
    fn norms(&self, request: NormRequest) -> Result<Norms, SolverError> {
        self.check()?;
        self.inner.norms(request)
    }

    fn observe(&self, request: FieldRequest<'_>) -> Result<FieldObservation, SolverError> {
        self.check()?;
        self.inner.observe(request)
    }

    fn values(
        &self,
        quantity: Quantity<'_>,
        points: &[[usize; 2]],
    ) -> Result<Vec<f32>, SolverError> {
        self.check()?;
        self.inner.values(quantity, points)
    }

    fn solution(&self) -> Result<Field<f64>, SolverError> {
        self.check()?;
        self.inner.solution()
    }

    fn previous(&self) -> Result<Field<f64>, SolverError> {
        self.check()?;
        self.inner.previous()
    }

    fn solution_part(&self, part: &Region) -> Result<Field<f64>, SolverError> {
        self.check()?;
        self.inner.solution_part(part)
    }

    fn solution_row(&self, row: usize) -> Result<Vec<f64>, SolverError> {
        self.check()?;
        self.inner.solution_row(row)
    }
}

impl Describe for Batches {
    fn shape(&self) -> &Shape {
        self.inner.shape()
    }

    fn free_norms(&self) -> NormRequest {
        NormRequest::RESIDUAL_L2
    }

    fn device(&self) -> Option<&DeviceInfo> {
        Some(&self.device)
    }
}

impl Solver for Batches {
    fn with_method(&self, method: Method, kernel: Kernel) -> Result<Box<dyn Solver>, SolverError> {
        self.check()?;
        if self.is_alone {
            return Err(failure("it is full"));
        }
        let inner = self.inner.with_method(method, kernel)?;
        Ok(Box::new(Self::new(inner, self.sizes.clone())))
    }
}
