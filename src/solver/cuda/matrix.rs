//! A solver of a sparse matrix on a GPU.
//!
//! Its cycles are made on the GPU; observations are those of the CPU back end, on a copy of the iterate: a
//! matrix has few values beside its entries, and the same code gives the same bits.

use super::arguments;
use super::blocks::{BlocksKernel, Numbers};
use super::cycle_kernel::Step;
use super::device::Device;
use super::gpu::Gpu;
use super::graph_batch::{Cycles, GraphBatch, Iterates, Others, Parts};
use super::host::{Host, Iterate, ObservedOnHost};
use super::real::DeviceReal;
use crate::clock::Instant;
use crate::grid::{Field, Precision, Shape};
use crate::problem::{Csr, Problem};
use crate::solver::cpu::{CpuSolver, Level, MatrixSystem};
use crate::solver::{
    Advance, Batch, Describe, DeviceInfo, Kernel, Method, NormRequest, SetUpTimes, Solver,
    SolverError,
};
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DriverError};
use std::cell::Cell;
use std::ops::Deref;
use std::sync::Arc;

/// Bytes that a matrix takes on a GPU at least.
pub(super) fn least_bytes(matrix: &Csr, precision: Precision) -> u64 {
    let rows = matrix.rows() as u64;
    least_bytes_of(rows, matrix.entries() as u64 - rows, precision)
}

/// Bytes of some rows with so many entries off the diagonal: these without padding, and of each row g, the diagonal and
/// two iterates.
pub(super) fn least_bytes_of(rows: u64, entries: u64, precision: Precision) -> u64 {
    let value = precision.bytes() as u64;
    // The columns of a list have two bytes at least.
    entries * (2 + value) + rows * (3 * value + size_of::<f64>() as u64)
}

/// The numbers of a matrix on a GPU that all methods share.
struct DeviceMatrix<R> {
    gpu: Arc<Gpu>,
    matrix: Arc<Csr>,
    system: Arc<MatrixSystem<R>>,
    g: CudaSlice<R>,
    diagonal: CudaSlice<f64>,
    /// Seconds that these took.
    set_up: SetUpTimes,
}

/// A solver of a sparse matrix on one NVIDIA GPU. Its iterates are those of the CPU to the last bit, whichever
/// kernel makes them.
pub(super) struct MatrixSolver<R: DeviceReal> {
    /// Dropped first: it waits for cycles, which use the arrays of the other fields.
    batches: GraphBatch,
    kernel: BlocksKernel<R>,
    problem: Arc<Problem>,
    matrix: Arc<DeviceMatrix<R>>,
    stream: Arc<CudaStream>,
    arrays: [CudaSlice<R>; 2],
    iterates: Iterates,
    exact: Option<Arc<CudaSlice<f64>>>,
    device: DeviceInfo,
    host: Host<R>,
    /// Seconds that the iterate took from the GPU, the last time.
    download: Cell<f64>,
}

/// The cycles of a matrix.
struct MatrixCycles<'a, R>(&'a Gpu, &'a BlocksKernel<R>);

impl<R: DeviceReal> Cycles for MatrixCycles<'_, R> {
    fn gpu(&self) -> &Gpu {
        self.0
    }

    fn launch(
        &self,
        stream: &Arc<CudaStream>,
        step: Step,
        others: Others,
    ) -> Result<(), DriverError> {
        self.1.launch(stream, step, others)
    }
}

impl<R: DeviceReal> MatrixSolver<R> {
    /// Sets up a solver at the initial guess u₀.
    ///
    /// # Errors
    /// [`SolverError`] if there is no GPU, the run does not fit onto it or into this machine, or the kernel
    /// does not accept the blocks.
    pub fn new(
        problem: &Arc<Problem>,
        matrix: &Arc<Csr>,
        method: &Method,
        device: &Device,
        kernel: Kernel,
    ) -> Result<Self, SolverError> {
        let gpu = device.open()?;
        gpu.check_room(least_bytes(matrix, R::PRECISION))?;
        let host = CpuSolver::new(problem, Method::Classic, Level::best(), 0)?;
        let system = Arc::clone(host.matrix().ok_or(SolverError::Operator("a grid"))?);
        let stream = gpu.stream()?;
        let begin = Instant::now();
        let call = || -> Result<_, DriverError> {
            let copied = (stream.clone_htod(&system.g)?, stream.clone_htod(&system.diagonal)?);
            stream.synchronize()?;
            Ok(copied)
        };
        let (g, diagonal) = gpu.check(call())?;
        let upload = begin.elapsed().as_secs_f64();
        let set_up = SetUpTimes { upload, ..host.set_up_times() };
        let matrix = DeviceMatrix { gpu, matrix: Arc::clone(matrix), system, g, diagonal, set_up };
        Self::at_start(Arc::clone(problem), matrix.into(), stream, host, None, method, kernel)
    }

    fn at_start(
        problem: Arc<Problem>,
        matrix: Arc<DeviceMatrix<R>>,
        stream: Arc<CudaStream>,
        solver: CpuSolver<R>,
        exact: Option<Arc<CudaSlice<f64>>>,
        method: &Method,
        chosen: Kernel,
    ) -> Result<Self, SolverError> {
        let gpu = &matrix.gpu;
        let address = |array: &CudaSlice<R>| array.device_ptr(&stream).0;
        let numbers =
            Numbers { g: address(&matrix.g), diagonal: matrix.diagonal.device_ptr(&stream).0 };
        let (csr, system) = (&matrix.matrix, &matrix.system);
        let kernel = BlocksKernel::new(gpu, &stream, csr, system, numbers, method, chosen)?;
        let call = || -> Result<_, DriverError> {
            let first = stream.clone_htod(solver.iterate().interior(0))?;
            let second = stream.clone_dtod(&first)?;
            stream.synchronize()?;
            Ok([first, second])
        };
        let arrays = gpu.check(call())?;
        let [one, other] = arrays.each_ref().map(address);
        let exact_at = exact.as_ref().map_or(0, |exact| exact.device_ptr(&stream).0);
        let parts = Parts::of_cycle(kernel.parts(), 0);
        Ok(Self {
            batches: GraphBatch::new(gpu, &stream, parts)?,
            device: DeviceInfo {
                ordinal: gpu.ordinal,
                name: gpu.name.clone(),
                kernel: kernel.kernel(),
                footprint: kernel.footprint(),
            },
            kernel,
            problem,
            stream,
            arrays,
            iterates: Iterates::at_start([one, other, 0, 0], exact_at),
            exact,
            host: Host::new(solver),
            download: Cell::new(0.0),
            matrix,
        })
    }

    /// Fills what the next cycle is to write with NaN.
    pub fn poison(&mut self) -> Result<(), SolverError> {
        let poison = vec![R::from_f64(f64::NAN); self.matrix.system.rows()];
        let next = &mut self.arrays[self.iterates.next()];
        let copied = self.stream.memcpy_htod(&poison, next);
        self.matrix.gpu.check(copied.and_then(|()| self.stream.synchronize()))
    }

    /// Copies the iterate of the solver on this machine to the GPU, as the present one and the one before.
    fn put(&mut self) -> Result<(), SolverError> {
        self.iterates = Iterates::at_start(self.iterates.arrays, self.iterates.exact);
        let solver = self.host.present();
        let mut call = || -> Result<(), DriverError> {
            self.batches.discard_pending()?;
            for array in &mut self.arrays {
                self.stream.memcpy_htod(solver.iterate().interior(0), array)?;
            }
            self.stream.synchronize()
        };
        self.matrix.gpu.check(call())
    }
}

impl<R: DeviceReal> Advance for MatrixSolver<R> {
    fn cycles(&mut self, most: u64, norms: NormRequest) -> Result<Batch, SolverError> {
        let measure = !norms.is_empty();
        let all = measure && !self.free_norms().covers(norms);
        if measure && self.batches.finds_all_norms() != all {
            let others = if all { self.kernel.parts() } else { 0 };
            let parts = Parts::of_cycle(self.kernel.parts(), others);
            self.batches = GraphBatch::new(&self.matrix.gpu, &self.stream, parts)?;
        }
        let Self { matrix, stream, kernel, batches, iterates, host, .. } = self;
        host.outdate();
        let cycles = MatrixCycles(&matrix.gpu, kernel);
        let (found, cycles, seconds) = batches.batch(&cycles, stream, iterates, most, measure)?;
        // Residuals were multiplied by the diagonal, row by row.
        let of_cycle = |norms: &arguments::Norms| norms.of_cycle(1.0, all, iterates.exact != 0);
        let norms = if measure { found.iter().map(of_cycle).collect() } else { Vec::new() };
        Ok(Batch { cycles, norms, seconds })
    }

    fn restart(&mut self) -> Result<(), SolverError> {
        self.host.solver_mut().restart()?;
        self.put()
    }

    fn start_from(&mut self, iterate: &Field<f64>) -> Result<(), SolverError> {
        self.host.solver_mut().start_from(iterate)?;
        self.put()
    }

    fn set_exact(&mut self, exact: Arc<Field<f64>>) -> Result<(), SolverError> {
        let gpu = &self.matrix.gpu;
        gpu.check_room(size_of_val(exact.interior(0)) as u64)?;
        let array = gpu.check(self.stream.clone_htod(exact.interior(0)))?;
        gpu.check(self.stream.synchronize())?;
        self.iterates.exact = array.device_ptr(&self.stream).0;
        // A graph that was recorded still reads the one before.
        gpu.check(self.batches.reset())?;
        self.exact = Some(Arc::new(array));
        self.host.solver_mut().set_exact(exact)
    }
}

impl<R: DeviceReal> ObservedOnHost for MatrixSolver<R> {
    type Real = R;

    fn host(&self, needs_previous: bool) -> Result<impl Deref<Target = CpuSolver<R>>, SolverError> {
        self.host.updated(needs_previous, |which, solver| {
            let Iterates { current, before, .. } = self.iterates;
            let (iterate, previous) = solver.values_mut();
            let (array, to) = match which {
                Iterate::Present => (current, iterate),
                Iterate::Before => (before, previous),
            };
            // Cycles that are under way are not a part of it.
            let gpu = &self.matrix.gpu;
            gpu.check(self.stream.synchronize())?;
            let begin = Instant::now();
            let copied = self.stream.memcpy_dtoh(&self.arrays[array], to);
            gpu.check(copied.and_then(|()| self.stream.synchronize()))?;
            self.download.set(begin.elapsed().as_secs_f64());
            Ok(())
        })
    }
}

impl<R: DeviceReal> Describe for MatrixSolver<R> {
    fn shape(&self) -> &Shape {
        &self.problem.shape
    }

    fn free_norms(&self) -> NormRequest {
        NormRequest::RESIDUAL_L2
    }

    fn device(&self) -> Option<&DeviceInfo> {
        Some(&self.device)
    }

    fn set_up_times(&self) -> SetUpTimes {
        let (lists, numbers) = (self.kernel.set_up_times(), self.matrix.set_up);
        SetUpTimes {
            reorganise: lists.reorganise + numbers.reorganise,
            upload: lists.upload + numbers.upload,
        }
    }

    fn computed_rows(&self) -> Option<usize> {
        Some(self.kernel.computed_rows())
    }

    fn download_seconds(&self) -> f64 {
        self.download.get()
    }
}

impl<R: DeviceReal> Solver for MatrixSolver<R> {
    fn with_method(&self, method: Method, kernel: Kernel) -> Result<Box<dyn Solver>, SolverError> {
        let (problem, matrix) = (Arc::clone(&self.problem), Arc::clone(&self.matrix));
        let solver = self.host.solver().beside(&Method::Classic)?;
        let (stream, exact) = (matrix.gpu.stream()?, self.exact.clone());
        let beside = Self::at_start(problem, matrix, stream, solver, exact, &method, kernel)?;
        Ok(Box::new(beside))
    }
}
