//! A solver on a GPU.

use super::arguments::{
    DeviceReal, GridArgument, Norms, Pointer, RightHandSideArgument, WeightsArgument,
};
use super::classic::Classic;
use super::cycle_kernel::{Array, CycleKernel, DeviceSystem};
use super::gather;
use super::gpu::Gpu;
use super::graph_batch::{GraphBatch, Iterates, MOST_ARRAYS};
use super::ladder::{self, Shape};
use super::observe::{Observer, Values};
use super::ptx::Form;
use super::register::Register;
use super::shared::Shared;
use super::statistics::Folder;
use crate::grid::{self, Field, Tiling, memory};
use crate::problem::{Problem, System};
use crate::solver::statistics::{self, Sorting};
use crate::solver::{
    Batch, CyclesWithoutNorms, EdgeShare, Footprint, Kernel, Look, Looked, Method, Quantity,
    ResidualNorms, Samples, Solver, SolverError, Statistics, Window,
};
use cudarc::driver::{CudaSlice, CudaStream, DriverError};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// Arrays of the grid that a solver takes on the GPU: g and two iterates.
const ARRAYS: u64 = 3;

/// Of the GPU's free memory, arrays that can be done without take no more than this part.
const SPARE: f64 = 0.5;

/// A solver on the first NVIDIA GPU. Its iterates are those of the CPU to the last bit, whichever
/// kernel makes them.
pub(super) struct CudaSolver<R: DeviceReal> {
    /// Let go first: it waits for what was begun, which reads and writes what the others keep.
    replay: GraphBatch,
    problem: Arc<Problem>,
    system: Arc<DeviceSystem<R>>,
    /// Cycles are made in this stream …
    stream: Arc<CudaStream>,
    /// … and looked at in this one, which goes first.
    looks: Arc<CudaStream>,
    /// Two, or four once cycles were made while others were looked at.
    arrays: Vec<Array<R>>,
    /// Whether there is no room for four.
    lacks_memory: bool,
    iterates: Iterates,
    exact: Option<Arc<Array<f64>>>,
    kernel: Kernel,
    rung: Box<dyn CycleKernel<R>>,
    observer: Observer,
}

impl<R: DeviceReal> DeviceSystem<R> {
    /// Takes a system to the GPU.
    fn new(
        gpu: Arc<Gpu>,
        stream: &Arc<CudaStream>,
        problem: &Problem,
    ) -> Result<Self, SolverError> {
        let shape = problem.shape;
        // One array here at a time.
        memory::check(&shape, 1, R::PRECISION)?;
        let grid = GridArgument::of(&shape).ok_or_else(|| SolverError::Kernel {
            kernel: Kernel::Auto,
            setting: format!("shape {shape}"),
            instead: "backend cpu".into(),
        })?;
        let System { weights, diagonal, g } = System::<R>::new(problem);
        let g = gpu.told(stream.clone_htod(g.as_slice()))?;
        gpu.told(stream.synchronize())?;
        let g = Array::new(g, &shape, stream);
        let form = Form::of(&weights, shape.dim());
        let weights = WeightsArgument::of(&weights);
        let seen_g = RightHandSideArgument::of(&problem.rhs, g.interior);
        Ok(Self { gpu, shape, precision: R::PRECISION, form, grid, weights, diagonal, g, seen_g })
    }
}

impl<R: DeviceReal> CudaSolver<R> {
    /// Sets up a solver at the start u₀.
    ///
    /// # Errors
    /// [`SolverError`] if there is no GPU, or the run does not fit onto it.
    pub fn new(
        problem: &Arc<Problem>,
        method: Method,
        kernel: Kernel,
    ) -> Result<Self, SolverError> {
        let gpu = Gpu::open()?;
        check_memory(&gpu, problem, ARRAYS, R::PRECISION.bytes())?;
        // Before anything is copied.
        ladder::choose(kernel, &method, R::PRECISION, gpu.most_shared)
            .map_err(|(setting, instead)| SolverError::Kernel { kernel, setting, instead })?;
        let stream = gpu.stream()?;
        let system = Arc::new(DeviceSystem::new(gpu, &stream, problem)?);
        Self::at_start(Arc::clone(problem), system, stream, None, method, kernel)
    }

    fn at_start(
        problem: Arc<Problem>,
        system: Arc<DeviceSystem<R>>,
        stream: Arc<CudaStream>,
        exact: Option<Arc<Array<f64>>>,
        method: Method,
        chosen: Kernel,
    ) -> Result<Self, SolverError> {
        let gpu = Arc::clone(&system.gpu);
        let refused = |(setting, instead)| SolverError::Kernel { kernel: chosen, setting, instead };
        let (kernel, shape) =
            ladder::choose(chosen, &method, R::PRECISION, gpu.most_shared).map_err(refused)?;
        let start = problem.initial_iterate::<R>();
        let first = gpu.told(stream.clone_htod(start.as_slice()))?;
        let second = gpu.told(stream.clone_dtod(&first))?;
        let arrays = [first, second].map(|array| Array::new(array, &problem.shape, &stream));
        let [one, other] = arrays.each_ref().map(|array| array.interior);
        let exact_at = exact.as_ref().map_or(0, |exact| exact.interior);
        let iterates = Iterates::at_start([one, other, 0, 0], exact_at);
        let too_many =
            || refused(("so many tiles".to_owned(), "a larger tile or backend cpu".to_owned()));
        let rung: Box<dyn CycleKernel<R>> = match (&method, shape) {
            (Method::Hierarchical { k, tiling }, Shape::Shared { .. }) => {
                let rung = Shared::new(&*system, tiling, *k, shape);
                Box::new(rung.ok_or_else(too_many)??)
            }
            (Method::Hierarchical { k, tiling }, _) => {
                let rung = Register::new(&*system, tiling, *k, shape);
                Box::new(rung.ok_or_else(too_many)??)
            }
            (Method::Classic, _) => Box::new(Classic::new(&*system, &stream, [one, other])?),
        };
        let replay = GraphBatch::new(&system, &stream, &*rung, false)?;
        let observer = Observer::new(&system)?;
        let mut solver = Self {
            problem,
            looks: system.gpu.urgent_stream()?,
            system,
            stream,
            arrays: arrays.into(),
            lacks_memory: false,
            iterates,
            exact,
            kernel,
            rung,
            replay,
            observer,
        };
        // Finding the best block spoils the second array.
        solver.put(&start)?;
        Ok(solver)
    }

    /// Fills what the next cycle is to write with NaN.
    pub fn poison(&mut self) -> Result<(), SolverError> {
        let mut field = self.problem.initial_iterate::<R>();
        for row in 0..self.system.shape.rows() {
            field.interior_mut(row).fill(R::from_f64(f64::NAN));
        }
        let next = &mut self.arrays[self.iterates.next()].values;
        let copied = self.stream.memcpy_htod(field.as_slice(), next);
        self.system.gpu.told(copied.and_then(|()| self.stream.synchronize()))
    }

    /// Makes `field` the iterate, and the one before.
    fn put(&mut self, field: &Field<R>) -> Result<(), SolverError> {
        self.iterates = Iterates::at_start(self.iterates.arrays, self.iterates.exact);
        let mut ask = || -> Result<(), DriverError> {
            self.replay.let_go()?;
            for array in &mut self.arrays[..2] {
                self.stream.memcpy_htod(field.as_slice(), &mut array.values)?;
            }
            self.stream.synchronize()
        };
        self.system.gpu.told(ask())
    }

    /// Gets two more arrays, so that cycles can be made while others are looked at; says whether they
    /// are there.
    fn get_arrays(&mut self) -> Result<bool, SolverError> {
        let Self { system, stream, arrays, iterates, .. } = self;
        if arrays.len() < MOST_ARRAYS && !self.lacks_memory {
            let gpu = &system.gpu;
            let bytes = (MOST_ARRAYS - arrays.len()) * system.shape.stored() * size_of::<R>();
            self.lacks_memory = bytes as f64 > gpu.free()? as f64 * SPARE;
            while arrays.len() < MOST_ARRAYS && !self.lacks_memory {
                // With the ring, which no cycle writes.
                let copy = gpu.told(stream.clone_dtod(&arrays[0].values))?;
                let array = Array::new(copy, &system.shape, stream);
                iterates.arrays[arrays.len()] = array.interior;
                arrays.push(array);
            }
        }
        Ok(!self.lacks_memory)
    }

    fn current(&self) -> &CudaSlice<R> {
        &self.arrays[self.iterates.current].values
    }

    /// The first interior point of the iterate, and of the one before.
    fn pointers(&self) -> [Pointer; 2] {
        let Iterates { arrays, current, before, .. } = self.iterates;
        [arrays[current], arrays[before]]
    }

    /// A part of the iterate as it is stored.
    fn fetch(&self, stored: Range<usize>) -> Result<Vec<R>, SolverError> {
        let ask = || -> Result<Vec<R>, DriverError> {
            let values = self.looks.clone_dtoh(&self.current().slice(stored))?;
            self.looks.synchronize()?;
            Ok(values)
        };
        self.system.gpu.told(ask())
    }

    fn batch(&mut self, most: u64, measure: bool) -> Result<(Vec<Norms>, u64, f64), SolverError> {
        let Self { system, stream, rung, replay, iterates, .. } = self;
        replay.batch(system, stream, &**rung, iterates, most, measure)
    }

    /// Does something with what a field is made of; u* must be known where it takes part.
    fn with_values<T>(
        &self,
        quantity: Quantity<'_>,
        look: impl FnOnce(Values) -> Result<T, SolverError>,
    ) -> Result<T, SolverError> {
        let [_, before] = self.pointers();
        match quantity {
            Quantity::Residual => look(Values::Residual),
            Quantity::Change => look(Values::Change(before)),
            Quantity::Solution => look(Values::Solution),
            Quantity::Error => look(Values::MinusDouble(self.iterates.exact)),
            Quantity::Difference(other) => match other.as_any().downcast_ref::<Self>() {
                Some(other) if Arc::ptr_eq(&other.system.gpu, &self.system.gpu) => {
                    let [other, _] = other.pointers();
                    look(Values::MinusReal(other))
                }
                _ => {
                    let gpu = &self.system.gpu;
                    let there = other.solution()?;
                    let there = gpu.told(self.looks.clone_htod(there.as_slice()))?;
                    let there = Array::new(there, &self.system.shape, &self.looks);
                    look(Values::MinusDouble(there.interior))
                }
            },
        }
    }
}

/// Refuses arrays that do not fit onto the GPU.
fn check_memory(
    gpu: &Gpu,
    problem: &Problem,
    arrays: u64,
    bytes: usize,
) -> Result<(), SolverError> {
    let needed = problem.shape.stored() as u64 * arrays * bytes as u64;
    let free = gpu.free()?;
    if needed <= free {
        return Ok(());
    }
    Err(SolverError::DeviceMemory { gpu: gpu.name.clone(), needed, free })
}

impl<R: DeviceReal> Solver for CudaSolver<R> {
    fn begin(&mut self, most: u64) -> Result<(), SolverError> {
        if !self.get_arrays()? {
            return Ok(());
        }
        let Self { system, stream, rung, replay, iterates, .. } = self;
        replay.begin(system, stream, &**rung, *iterates, most)
    }

    fn cycles(&mut self, most: u64) -> Result<Batch, SolverError> {
        let (norms, _, seconds) = self.batch(most, true)?;
        let (diagonal, knows_exact) = (self.system.diagonal, self.exact.is_some());
        let all = self.replay.tells_all();
        let of_cycle = |norms: &Norms| norms.of_cycle(diagonal, all, knows_exact);
        let norms = norms.iter().map(of_cycle).collect();
        Ok(Batch { norms, seconds })
    }

    fn cycles_without_norms(&mut self, most: u64) -> Result<CyclesWithoutNorms, SolverError> {
        self.rung.prepare_without_norms(&self.system)?;
        let (_, cycles, seconds) = self.batch(most, false)?;
        Ok(CyclesWithoutNorms { cycles, seconds })
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

    fn residual(&self) -> Result<ResidualNorms, SolverError> {
        let [u, _] = self.pointers();
        let norms = self.observer.residual(&self.system, &self.stream, u, None)?;
        Ok(norms.residual(self.system.diagonal))
    }

    fn set_all_norms(&mut self, wanted: bool) -> Result<(), SolverError> {
        if self.replay.tells_all() != wanted {
            self.replay = GraphBatch::new(&self.system, &self.stream, &*self.rung, wanted)?;
        }
        Ok(())
    }

    fn max_change(&self) -> Result<Option<f64>, SolverError> {
        let [u, before] = self.pointers();
        let norms = self.observer.other_norms(&self.system, &self.looks, [before, u])?;
        Ok(Some(norms.change))
    }

    fn set_exact(&mut self, exact: Arc<Field<f64>>) -> Result<(), SolverError> {
        let gpu = &self.system.gpu;
        check_memory(gpu, &self.problem, 1, size_of::<f64>())?;
        let array = gpu.told(self.stream.clone_htod(exact.as_slice()))?;
        gpu.told(self.stream.synchronize())?;
        let array = Array::new(array, &self.system.shape, &self.stream);
        self.iterates.exact = array.interior;
        self.exact = Some(Arc::new(array));
        gpu.told(self.replay.forget())
    }

    fn error(&self) -> Result<Option<f64>, SolverError> {
        if self.exact.is_none() {
            return Ok(None);
        }
        let [u, _] = self.pointers();
        self.observer.distance(&self.system, &self.looks, u, self.iterates.exact).map(Some)
    }

    fn sample(&self, quantity: Quantity<'_>, window: &Window) -> Result<Samples, SolverError> {
        if matches!(quantity, Quantity::Error) && self.exact.is_none() {
            return Ok(Samples::unknown(window));
        }
        self.with_values(quantity, |values| {
            let [u, _] = self.pointers();
            let values = self.observer.sample(&self.system, &self.looks, u, values, window)?;
            Ok(Samples::of(window, values))
        })
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
            gather::values(&self.system, &self.looks, u, values, points)
        })
    }

    fn statistics(
        &self,
        quantity: Quantity<'_>,
        tiling: &Tiling,
    ) -> Result<Statistics, SolverError> {
        let folder = Folder::new(&self.system)?;
        let sorting = Sorting::new(&self.system.shape, tiling);
        let is_known = !matches!(quantity, Quantity::Error) || self.exact.is_some();
        let found = is_known.then(|| {
            self.with_values(quantity, |values| {
                let [u, _] = self.pointers();
                folder.statistics(&self.system, &self.looks, u, values, &sorting)
            })
        });
        match found.transpose()?.flatten() {
            Some(found) => Ok(found),
            None => statistics::of_samples(self, &self.system.shape, quantity, tiling),
        }
    }

    fn edge_share(&self, tiling: &Tiling) -> Result<EdgeShare, SolverError> {
        let [u, _] = self.pointers();
        self.observer.edge_share(&self.system, &self.looks, u, tiling)
    }

    fn look(&self, look: Look<'_>) -> Result<Looked, SolverError> {
        let Look { quantity, window, tiling, statistics } = look;
        let shape = &self.system.shape;
        let whole = |most| Window { most, ..Window::whole(shape.nx(), shape.rows()) };
        let (samples, edge) = match window {
            Some(window)
                if matches!(quantity, Quantity::Residual) && *window == whole(window.most) =>
            {
                let Self { system, looks, observer, .. } = self;
                let [u, _] = self.pointers();
                let (values, edge) = observer.sample_residual(system, looks, u, window, tiling)?;
                (Some(Samples::of(window, values)), edge)
            }
            _ => {
                let samples = window.map(|window| self.sample(quantity, window)).transpose()?;
                (samples, self.edge_share(tiling)?)
            }
        };
        let statistics = statistics.then(|| self.statistics(quantity, tiling)).transpose()?;
        Ok(Looked { samples, edge, statistics })
    }

    fn solution(&self) -> Result<Field<f64>, SolverError> {
        let shape = &self.system.shape;
        self.solution_part(0..shape.nx(), 0..shape.rows())
    }

    fn solution_part(
        &self,
        columns: Range<usize>,
        rows: Range<usize>,
    ) -> Result<Field<f64>, SolverError> {
        let shape = &self.system.shape;
        // Whole rows lie together, the ring between them.
        let end = rows.end + 2 * shape.boundary_rows();
        let values = self.fetch(rows.start * shape.stride()..end * shape.stride())?;
        let band = Field::from_stored(shape.part(shape.nx(), rows.len()), values);
        Ok(band.part(columns, 0..rows.len()).to_f64())
    }

    fn solution_row(&self, row: usize) -> Result<Vec<f64>, SolverError> {
        let shape = &self.system.shape;
        let first = (row + shape.boundary_rows()) * shape.stride() + 1;
        Ok(self.fetch(first..first + shape.nx())?.into_iter().map(R::to_f64).collect())
    }

    fn with_method(&self, method: Method, kernel: Kernel) -> Result<Box<dyn Solver>, SolverError> {
        let gpu = &self.system.gpu;
        check_memory(gpu, &self.problem, ARRAYS - 1, R::PRECISION.bytes())?;
        let (problem, system) = (Arc::clone(&self.problem), Arc::clone(&self.system));
        let exact = self.exact.clone();
        let stream = gpu.stream()?;
        Ok(Box::new(Self::at_start(problem, system, stream, exact, method, kernel)?))
    }

    fn shape(&self) -> &grid::Shape {
        &self.system.shape
    }

    fn kernel(&self) -> Option<Kernel> {
        Some(self.kernel)
    }

    fn device(&self) -> Option<&str> {
        Some(&self.system.gpu.name)
    }

    fn footprint(&self) -> Option<Footprint> {
        Some(self.rung.footprint())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
