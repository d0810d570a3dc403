//! A solver for tests that stands in for a GPU: it makes many cycles at a time, and may fail.

use super::{
    Batch, CycleNorms, CyclesWithoutNorms, EdgeShare, Footprint, Kernel, Method, Quantity,
    ResidualNorms, Samples, Solver, SolverError, Window,
};
use crate::grid::{Field, Shape, Tiling};
use std::any::Any;
use std::ops::Range;
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
    /// Whether cycles tell all their norms.
    tells_all: bool,
}

impl Batches {
    /// `sizes` are those of the batches that it makes of its own will, at least 1 each.
    pub fn new(inner: Box<dyn Solver>, sizes: Vec<u64>) -> Self {
        Self { inner, sizes, next: 0, left: u64::MAX, is_alone: false, tells_all: true }
    }

    /// The same, failing for good after so many cycles.
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

    fn as_told(&self, norms: CycleNorms) -> CycleNorms {
        if self.tells_all {
            return norms;
        }
        let residual_before = ResidualNorms { max: None, ..norms.residual_before };
        CycleNorms { residual_before, max_change: None, ..norms }
    }

    fn size(&mut self, most: u64) -> u64 {
        assert!(most > 0, "a batch is at least one cycle");
        self.next += 1;
        self.sizes[(self.next - 1) % self.sizes.len()].min(most)
    }
}

fn failure(what: &str) -> SolverError {
    SolverError::Device { gpu: "a GPU of the tests".into(), what: what.into() }
}

impl Solver for Batches {
    fn cycles(&mut self, most: u64) -> Result<Batch, SolverError> {
        let mut all = Batch { norms: Vec::new(), seconds: 0.0 };
        for _ in 0..self.size(most) {
            self.use_up_one()?;
            let one = self.inner.cycles(1)?;
            all.norms.extend(one.norms.into_iter().map(|norms| self.as_told(norms)));
            all.seconds += one.seconds;
        }
        Ok(all)
    }

    fn cycles_without_norms(&mut self, most: u64) -> Result<CyclesWithoutNorms, SolverError> {
        let mut all = CyclesWithoutNorms { cycles: self.size(most), seconds: 0.0 };
        for _ in 0..all.cycles {
            self.use_up_one()?;
            all.seconds += self.inner.cycles_without_norms(1)?.seconds;
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

    fn residual(&self) -> Result<ResidualNorms, SolverError> {
        self.check()?;
        self.inner.residual()
    }

    fn set_all_norms(&mut self, wanted: bool) -> Result<(), SolverError> {
        self.check()?;
        self.tells_all = wanted;
        Ok(())
    }

    fn max_change(&self) -> Result<Option<f64>, SolverError> {
        let shape = self.shape();
        let window = Window { most: [1, 1], ..Window::whole(shape.nx(), shape.rows()) };
        let largest = self.sample(Quantity::Change, &window)?;
        Ok(Some(largest.values[0].abs().into()))
    }

    fn set_exact(&mut self, exact: Arc<Field<f64>>) -> Result<(), SolverError> {
        self.check()?;
        self.inner.set_exact(exact)
    }

    fn error(&self) -> Result<Option<f64>, SolverError> {
        self.check()?;
        self.inner.error()
    }

    fn sample(&self, quantity: Quantity<'_>, window: &Window) -> Result<Samples, SolverError> {
        self.check()?;
        self.inner.sample(quantity, window)
    }

    fn edge_share(&self, tiling: &Tiling) -> Result<EdgeShare, SolverError> {
        self.check()?;
        self.inner.edge_share(tiling)
    }

    fn solution(&self) -> Result<Field<f64>, SolverError> {
        self.check()?;
        self.inner.solution()
    }

    fn solution_part(
        &self,
        columns: Range<usize>,
        rows: Range<usize>,
    ) -> Result<Field<f64>, SolverError> {
        self.check()?;
        self.inner.solution_part(columns, rows)
    }

    fn solution_row(&self, row: usize) -> Result<Vec<f64>, SolverError> {
        self.check()?;
        self.inner.solution_row(row)
    }

    fn with_method(&self, method: Method, kernel: Kernel) -> Result<Box<dyn Solver>, SolverError> {
        self.check()?;
        if self.is_alone {
            return Err(failure("it is full"));
        }
        let inner = self.inner.with_method(method, kernel)?;
        Ok(Box::new(Self::new(inner, self.sizes.clone())))
    }

    fn shape(&self) -> &Shape {
        self.inner.shape()
    }

    fn kernel(&self) -> Option<Kernel> {
        Some(Kernel::Shared)
    }

    fn device(&self) -> Option<&str> {
        Some("a GPU of the tests")
    }

    fn footprint(&self) -> Option<Footprint> {
        self.inner.footprint()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
