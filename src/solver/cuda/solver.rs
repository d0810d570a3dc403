//! A solver on a GPU.

use super::arguments::{self, Pointer};
use super::cycle_kernel::{CycleKernel, Step};
use super::device::{Device, Gpus};
use super::gather;
use super::gpu::Gpu;
use super::graph_batch::{Cycles, GraphBatch, Iterates, MOST_ARRAYS, Others, Parts};
use super::kernels;
use super::observe::{Observer, OtherNorms, Values};
use super::real::DeviceReal;
use super::setting::{Refused, Setting};
use super::statistics::Folder;
use super::system::{Array, DeviceSystem};
use crate::grid::{self, Field, Region, Tiling, memory};
use crate::problem::{Operator, Problem, System};
use crate::solver::statistics::{self, Sorting};
use crate::solver::{
    Advance, Batch, Describe, DeviceInfo, EdgeShare, ExchangePath, FieldObservation, FieldRequest,
    Kernel, Method, NormRequest, Norms, Observe, Quantity, Samples, Solver, SolverError,
    Statistics, Window,
};
use cudarc::driver::{CudaStream, CudaView, DriverError};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// Arrays of the grid that a solver takes on the GPU: g and two iterates.
pub(super) const ARRAYS: u64 = 3;

/// The fraction of the GPU's free memory that optional arrays may take.
const SPARE: f64 = 0.5;

/// A solver on one NVIDIA GPU. Its iterates are those of the CPU to the last bit, whichever
/// kernel makes them.
pub(super) struct CudaSolver<R: DeviceReal> {
    /// Dropped first: it waits for pending cycles, which use the arrays of the other fields.
    batches: GraphBatch,
    problem: Arc<Problem>,
    system: Arc<DeviceSystem<R>>,
    /// The stream of the cycles.
    stream: Arc<CudaStream>,
    /// The stream of the observations, with the higher priority.
    observing: Arc<CudaStream>,
    /// Two, or four once cycles were made while an iterate was observed.
    arrays: Vec<Array<R>>,
    /// Whether there is no room for four.
    lacks_memory: bool,
    iterates: Iterates,
    exact: Option<Arc<Array<f64>>>,
    device: DeviceInfo,
    cycle_kernel: Box<dyn CycleKernel<R>>,
    /// The fraction of each update that its sweeps apply; 1 without damping.
    omega: f64,
    /// Finds the norms that do not come with a cycle, once they are requested.
    others: Option<OtherNorms>,
    observer: Observer,
}

/// The cycles of a grid: a kernel, and the pass that finds the norms that do not come with a cycle.
struct GridCycles<'a, R> {
    system: &'a DeviceSystem<R>,
    kernel: &'a dyn CycleKernel<R>,
    others: Option<&'a OtherNorms>,
}

impl<R: DeviceReal> Cycles for GridCycles<'_, R> {
    fn gpu(&self) -> &Gpu {
        &self.system.gpu
    }

    fn launch(
        &self,
        stream: &Arc<CudaStream>,
        step: Step,
        others: Others,
    ) -> Result<(), DriverError> {
        self.kernel.launch(stream, self.system, step)?;
        let Others { parts, exact } = others;
        match self.others.filter(|_| parts != 0) {
            Some(pass) => pass.launch(stream, self.system, [step.from, step.to], exact, parts),
            None => Ok(()),
        }
    }
}

/// The system of a problem on a grid, copied to the GPU.
fn system_of<R: DeviceReal>(
    gpu: Arc<Gpu>,
    stream: &Arc<CudaStream>,
    problem: &Problem,
) -> Result<DeviceSystem<R>, SolverError> {
    let shape = problem.shape;
    // g and the arrays of rows on the host.
    memory::check(&shape, 1 + problem.operator.row_arrays(&shape), R::PRECISION)?;
    let system = match &problem.operator {
        Operator::Stencil(stencil) => System::<R>::new(problem, stencil),
        Operator::PerPoint(rows) => System::per_point(problem, rows),
        Operator::Csr(_) => return Err(SolverError::Operator("a matrix")),
    };
    DeviceSystem::new(gpu, stream, &system, &problem.rhs)
}

/// The parts of the norms of a kernel's cycles, with so many of the norms that it does not find itself.
fn parts_of<R>(kernel: &dyn CycleKernel<R>, others: usize) -> Parts {
    Parts { squares: kernel.parts(), others, cycles: kernel.cycles_together() }
}

impl<R: DeviceReal> CudaSolver<R> {
    /// Sets up a solver at the initial guess u₀.
    ///
    /// # Errors
    /// [`SolverError`] if there is no GPU, or the run does not fit onto it.
    pub fn new(
        problem: &Arc<Problem>,
        method: Method,
        device: &Device,
        kernel: Kernel,
        block_size: Option<u32>,
    ) -> Result<Self, SolverError> {
        Self::on(problem, method, device.open()?, kernel, block_size)
    }

    /// The same on an open GPU.
    ///
    /// # Errors
    /// [`SolverError`] if the run does not fit onto it.
    pub fn on(
        problem: &Arc<Problem>,
        method: Method,
        gpu: Arc<Gpu>,
        kernel: Kernel,
        block_size: Option<u32>,
    ) -> Result<Self, SolverError> {
        gpu.check_room(bytes_of(problem, ARRAYS, R::PRECISION.bytes()))?;
        // Before anything is copied.
        let (precision, shared_bytes) = (R::PRECISION, gpu.most_shared);
        let is_per_point = problem.operator.is_per_point();
        let shape = &problem.shape;
        let setting =
            Setting { method: &method, precision, shape, shared_bytes, is_per_point, block_size };
        kernels::choose(kernel, &setting).map_err(|refused| refused.error(kernel))?;
        let stream = gpu.stream()?;
        let system = Arc::new(system_of(gpu, &stream, problem)?);
        Self::at_start(Arc::clone(problem), system, stream, None, method, (kernel, block_size))
    }

    fn at_start(
        problem: Arc<Problem>,
        system: Arc<DeviceSystem<R>>,
        stream: Arc<CudaStream>,
        exact: Option<Arc<Array<f64>>>,
        method: Method,
        (chosen, block_size): (Kernel, Option<u32>),
    ) -> Result<Self, SolverError> {
        let gpu = Arc::clone(&system.gpu);
        let (precision, shared_bytes) = (R::PRECISION, gpu.most_shared);
        let is_per_point = problem.operator.is_per_point();
        let shape = &problem.shape;
        let setting =
            Setting { method: &method, precision, shape, shared_bytes, is_per_point, block_size };
        let row = kernels::choose(chosen, &setting).map_err(|refused| refused.error(chosen))?;
        let start = problem.initial_iterate::<R>();
        let array = || gpu.check(Array::copied(start.as_slice(), &problem.shape, &stream));
        let arrays = [array()?, array()?];
        let [one, other] = arrays.each_ref().map(|array| array.interior);
        let exact_at = exact.as_ref().map_or(0, |exact| exact.interior);
        let iterates = Iterates::at_start([one, other, 0, 0], exact_at);
        let build = R::of(row.build);
        let built =
            build.map(|build| build(&system, &setting, &stream, [one, other])).transpose()?;
        let cycle_kernel = built.flatten().ok_or_else(|| {
            let instead = "a larger tile or backend cpu".to_owned();
            Refused { setting: "this number of tiles".to_owned(), instead }.error(chosen)
        })?;
        let parts = parts_of(&*cycle_kernel, 0);
        let batches = GraphBatch::new(&system.gpu, &stream, parts)?;
        let device = DeviceInfo {
            ordinal: gpu.ordinal,
            name: gpu.name.clone(),
            kernel: Kernel::named(row.name),
            footprint: cycle_kernel.footprint(),
        };
        let observer = Observer::new(&system)?;
        let mut solver = Self {
            problem,
            observing: system.gpu.urgent_stream()?,
            system,
            stream,
            arrays: arrays.into(),
            lacks_memory: false,
            iterates,
            exact,
            device,
            cycle_kernel,
            omega: method.omega(),
            others: None,
            batches,
            observer,
        };
        // The search for the best block overwrote the second array.
        solver.put(&start)?;
        Ok(solver)
    }

    /// Fills what the next cycle is to write with NaN.
    pub fn poison(&mut self) -> Result<(), SolverError> {
        let mut field = self.problem.initial_iterate::<R>();
        for row in 0..self.system.shape.rows() {
            field.interior_mut(row).fill(R::from_f64(f64::NAN));
        }
        let next = &mut self.arrays[self.iterates.next()];
        let copied = self.stream.memcpy_htod(field.as_slice(), &mut next.values_mut());
        self.system.gpu.check(copied.and_then(|()| self.stream.synchronize()))
    }

    /// Makes `field` the iterate, and the one before.
    fn put(&mut self, field: &Field<R>) -> Result<(), SolverError> {
        self.iterates = Iterates::at_start(self.iterates.arrays, self.iterates.exact);
        let mut call = || -> Result<(), DriverError> {
            self.batches.discard_pending()?;
            for array in &mut self.arrays[..2] {
                self.stream.memcpy_htod(field.as_slice(), &mut array.values_mut())?;
            }
            self.stream.synchronize()
        };
        self.system.gpu.check(call())
    }

    /// Allocates two more arrays, so that cycles can be made while an iterate is observed; returns whether
    /// there is room for them.
    fn get_arrays(&mut self) -> Result<bool, SolverError> {
        let Self { system, stream, arrays, iterates, .. } = self;
        if arrays.len() < MOST_ARRAYS && !self.lacks_memory {
            let gpu = &system.gpu;
            let bytes = (MOST_ARRAYS - arrays.len()) * system.shape.stored() * size_of::<R>();
            self.lacks_memory = bytes as f64 > gpu.free()? as f64 * SPARE;
            while arrays.len() < MOST_ARRAYS && !self.lacks_memory {
                // With the boundary values, which no cycle writes.
                let copy = || -> Result<_, DriverError> {
                    let mut array = Array::zeros(&system.shape, stream)?;
                    stream.memcpy_dtod(&arrays[0].values(), &mut array.values_mut())?;
                    Ok(array)
                };
                let array = gpu.check(copy())?;
                iterates.arrays[arrays.len()] = array.interior;
                arrays.push(array);
            }
        }
        Ok(!self.lacks_memory)
    }

    fn current(&self) -> CudaView<'_, R> {
        self.arrays[self.iterates.current].values()
    }

    /// The first interior point of the iterate, and of the one before.
    fn pointers(&self) -> [Pointer; 2] {
        let Iterates { arrays, current, before, .. } = self.iterates;
        [arrays[current], arrays[before]]
    }

    /// A part of the iterate as it is stored, copied to this machine.
    fn fetch(&self, stored: Range<usize>, to: &mut [R]) -> Result<(), SolverError> {
        self.fetch_of(&self.current(), stored, to)
    }

    /// All of an iterate.
    fn whole(&self, iterate: &CudaView<'_, R>) -> Result<Field<f64>, SolverError> {
        let shape = self.system.shape;
        let mut field = Field::filled(shape, R::default());
        self.fetch_of(iterate, 0..shape.stored(), field.as_mut_slice())?;
        Ok(field.into_f64())
    }

    /// A part of an iterate as it is stored, copied to this machine.
    fn fetch_of(
        &self,
        iterate: &CudaView<'_, R>,
        stored: Range<usize>,
        to: &mut [R],
    ) -> Result<(), SolverError> {
        let copied = self.observing.memcpy_dtoh(&iterate.slice(stored), to);
        self.system.gpu.check(copied.and_then(|()| self.observing.synchronize()))
    }

    /// Prepares cycles with these norms.
    fn prepare(&mut self, norms: NormRequest) -> Result<(), SolverError> {
        if norms.is_empty() {
            return Ok(());
        }
        let all = !self.free_norms().covers(norms);
        if self.batches.finds_all_norms() != all {
            self.others = all.then(|| OtherNorms::new(&self.system, self.omega)).transpose()?;
            let others = self.others.as_ref().map_or(0, OtherNorms::parts);
            let parts = parts_of(&*self.cycle_kernel, others);
            self.batches = GraphBatch::new(&self.system.gpu, &self.stream, parts)?;
        }
        Ok(())
    }

    /// How much of ‖r‖² lies near tile borders.
    fn border_share(&self, tiling: &Tiling) -> Result<EdgeShare, SolverError> {
        let [u, _] = self.pointers();
        self.observer.edge_share(&self.system, &self.observing, u, tiling)
    }

    fn samples(&self, quantity: Quantity<'_>, window: &Window) -> Result<Samples, SolverError> {
        if matches!(quantity, Quantity::Error) && self.exact.is_none() {
            return Ok(Samples::unknown(window));
        }
        self.with_values(quantity, |values| {
            let [u, _] = self.pointers();
            let values = self.observer.sample(&self.system, &self.observing, u, values, window)?;
            Ok(Samples::of(window, values))
        })
    }

    fn sorted(&self, quantity: Quantity<'_>, tiling: &Tiling) -> Result<Statistics, SolverError> {
        let folder = Folder::new(&self.system)?;
        let sorting = Sorting::new(&self.system.shape, tiling);
        let is_known = !matches!(quantity, Quantity::Error) || self.exact.is_some();
        let found = is_known.then(|| {
            self.with_values(quantity, |values| {
                let [u, _] = self.pointers();
                folder.statistics(&self.system, &self.observing, u, values, &sorting)
            })
        });
        match found.transpose()?.flatten() {
            Some(found) => Ok(found),
            None => statistics::of_samples(self, &self.system.shape, quantity, tiling),
        }
    }

    /// Whether a window is the whole 1D or 2D grid, however thinned out.
    fn is_whole(&self, window: &Window) -> bool {
        let shape = &self.system.shape;
        shape.dim() < 3
            && *window == Window { most: window.most, ..Window::whole(shape.nx(), shape.rows()) }
    }

    /// Calls `observe` with the operands of a field; u* must be known if it is one of them.
    fn with_values<T>(
        &self,
        quantity: Quantity<'_>,
        observe: impl FnOnce(Values) -> Result<T, SolverError>,
    ) -> Result<T, SolverError> {
        let [_, before] = self.pointers();
        match quantity {
            Quantity::Residual => observe(Values::Residual),
            Quantity::Change => observe(Values::Change(before)),
            Quantity::Solution => observe(Values::Solution),
            Quantity::Error => observe(Values::MinusDouble(self.iterates.exact)),
            Quantity::Difference(other) => match (other as &dyn Any).downcast_ref::<Self>() {
                Some(other) if Arc::ptr_eq(&other.system.gpu, &self.system.gpu) => {
                    let [other, _] = other.pointers();
                    observe(Values::MinusReal(other))
                }
                _ => {
                    let gpu = &self.system.gpu;
                    let there = other.solution()?;
                    let (values, shape) = (there.as_slice(), &self.system.shape);
                    let there = gpu.check(Array::copied(values, shape, &self.observing))?;
                    observe(Values::MinusDouble(there.interior))
                }
            },
        }
    }
}

/// Bytes of that many arrays of the grid, and of those of its rows.
pub(super) fn bytes_of(problem: &Problem, arrays: u64, bytes: usize) -> u64 {
    let of_rows = problem.operator.row_arrays(&problem.shape) as u64;
    problem.shape.stored() as u64 * (arrays + of_rows) * bytes as u64
}

impl<R: DeviceReal> Advance for CudaSolver<R> {
    fn cycles(&mut self, most: u64, norms: NormRequest) -> Result<Batch, SolverError> {
        self.prepare(norms)?;
        // A damped sweep changes ω times as much.
        let diagonal = self.system.diagonal / self.omega;
        let knows_exact = self.exact.is_some();
        let all = self.batches.finds_all_norms();
        let Self { system, stream, cycle_kernel, others, batches, iterates, .. } = self;
        let cycles = GridCycles { system, kernel: &**cycle_kernel, others: others.as_ref() };
        let measure = !norms.is_empty();
        let (found, cycles, seconds) = batches.batch(&cycles, stream, iterates, most, measure)?;
        let of_cycle = |norms: &arguments::Norms| norms.of_cycle(diagonal, all, knows_exact);
        let norms = if measure { found.iter().map(of_cycle).collect() } else { Vec::new() };
        Ok(Batch { cycles, norms, seconds })
    }

    fn begin(&mut self, most: u64, norms: NormRequest) -> Result<(), SolverError> {
        if !self.get_arrays()? {
            return Ok(());
        }
        self.prepare(norms)?;
        let Self { system, stream, cycle_kernel, others, batches, iterates, .. } = self;
        let cycles = GridCycles { system, kernel: &**cycle_kernel, others: others.as_ref() };
        batches.begin(&cycles, stream, *iterates, most, !norms.is_empty())
    }

    fn restart(&mut self) -> Result<(), SolverError> {
        self.put(&self.problem.initial_iterate())
    }

    fn start_from(&mut self, iterate: &Field<f64>) -> Result<(), SolverError> {
        let mut field = Field::filled(*iterate.shape(), R::default());
        for (to, from) in field.as_mut_slice().iter_mut().zip(iterate.as_slice()) {
            *to = R::from_f64(*from);
        }
        self.put(&field)
    }

    fn set_exact(&mut self, exact: Arc<Field<f64>>) -> Result<(), SolverError> {
        let gpu = &self.system.gpu;
        gpu.check_room(bytes_of(&self.problem, 1, size_of::<f64>()))?;
        let shape = &self.system.shape;
        let array = gpu.check(Array::copied(exact.as_slice(), shape, &self.stream))?;
        gpu.check(self.stream.synchronize())?;
        self.iterates.exact = array.interior;
        self.exact = Some(Arc::new(array));
        gpu.check(self.batches.reset())
    }
}

impl<R: DeviceReal> Observe for CudaSolver<R> {
    fn norms(&self, request: NormRequest) -> Result<Norms, SolverError> {
        let Self { system, observer, observing, .. } = self;
        let [u, before] = self.pointers();
        let mut found = Norms::default();
        if request.residual_l2 || request.residual_max {
            let norms = observer.residual(system, &self.stream, u, None)?;
            found.residual = Some(norms.residual(system.diagonal));
        }
        if request.error && self.exact.is_some() {
            found.error = Some(observer.distance(system, observing, u, self.iterates.exact)?);
        }
        if request.max_change {
            found.max_change = Some(observer.max_change(system, observing, [before, u])?);
        }
        Ok(found)
    }

    fn observe(&self, request: FieldRequest<'_>) -> Result<FieldObservation, SolverError> {
        let FieldRequest { quantity, window, edge_share, statistics } = request;
        let (samples, edge_share) = match (window, edge_share) {
            (Some(window), Some(tiling))
                if matches!(quantity, Quantity::Residual) && self.is_whole(window) =>
            {
                let Self { system, observing, observer, .. } = self;
                let [u, _] = self.pointers();
                let (values, share) =
                    observer.sample_residual(system, observing, u, window, tiling)?;
                (Some(Samples::of(window, values)), Some(share))
            }
            _ => {
                let samples = window.map(|window| self.samples(quantity, window)).transpose()?;
                (samples, edge_share.map(|tiling| self.border_share(tiling)).transpose()?)
            }
        };
        let statistics = statistics.map(|tiling| self.sorted(quantity, tiling)).transpose()?;
        Ok(FieldObservation { samples, edge_share, statistics })
    }

    fn values(
        &self,
        quantity: Quantity<'_>,
        points: &[[usize; 2]],
    ) -> Result<Vec<f32>, SolverError> {
        if matches!(quantity, Quantity::Error) && self.exact.is_none() {
            return Ok(vec![f32::NAN; points.len()]);
        }
        self.with_values(quantity, |values| {
            let [u, _] = self.pointers();
            gather::values(&self.system, &self.observing, u, values, points)
        })
    }

    fn solution(&self) -> Result<Field<f64>, SolverError> {
        self.whole(&self.current())
    }

    fn previous(&self) -> Result<Field<f64>, SolverError> {
        self.whole(&self.arrays[self.iterates.before].values())
    }

    fn solution_part(&self, part: &Region) -> Result<Field<f64>, SolverError> {
        let shape = &self.system.shape;
        // Of each plane, whole rows lie together, the boundary between them.
        let [columns, rows, planes] = part.clone();
        let [of_rows, of_planes] = [0..rows.len(), 0..planes.len()];
        let bands = shape.part(&[0..shape.nx(), rows.clone(), planes.clone()]);
        let mut field = Field::filled(bands, R::default());
        let there = bands.stored_around(of_rows.clone(), of_planes.clone());
        for (from, to) in shape.stored_around(rows, planes).zip(there) {
            self.fetch(from, &mut field.as_mut_slice()[to])?;
        }
        Ok(field.part(&[columns, of_rows, of_planes]).into_f64())
    }

    /// A GPU that fails does so again when it is asked for all.
    fn solution_planes(&self, planes: Range<usize>) -> Option<Field<f64>> {
        let shape = &self.system.shape;
        let mut field = Field::filled(shape.with_planes(planes.len()), R::default());
        self.fetch(shape.stored_planes(planes), field.as_mut_slice()).ok()?;
        Some(field.into_f64())
    }

    fn solution_row(&self, row: usize) -> Result<Vec<f64>, SolverError> {
        let shape = &self.system.shape;
        let first = shape.row_start(row) + 1;
        let mut row = vec![R::default(); shape.nx()];
        self.fetch(first..first + shape.nx(), &mut row)?;
        Ok(row.into_iter().map(R::to_f64).collect())
    }
}

impl<R: DeviceReal> Describe for CudaSolver<R> {
    fn shape(&self) -> &grid::Shape {
        &self.system.shape
    }

    fn free_norms(&self) -> NormRequest {
        NormRequest::RESIDUAL_L2
    }

    fn device(&self) -> Option<&DeviceInfo> {
        Some(&self.device)
    }
}

impl<R: DeviceReal> Solver for CudaSolver<R> {
    fn with_method(&self, method: Method, kernel: Kernel) -> Result<Box<dyn Solver>, SolverError> {
        let gpu = &self.system.gpu;
        if method.streaming().is_some() || method.devices().is_some() {
            // Its arrays lie on this machine, or are cut into shares.
            let device = Device::of(Arc::clone(gpu));
            let devices = std::slice::from_ref(&device);
            let gpus = Gpus { devices, exchange: ExchangePath::Auto };
            return super::set_up::<R>(&self.problem, method, gpus, (kernel, None), false);
        }
        gpu.check_room(bytes_of(&self.problem, ARRAYS - 1, R::PRECISION.bytes()))?;
        let (problem, system) = (Arc::clone(&self.problem), Arc::clone(&self.system));
        let exact = self.exact.clone();
        let stream = gpu.stream()?;
        Ok(Box::new(Self::at_start(problem, system, stream, exact, method, (kernel, None))?))
    }
}
