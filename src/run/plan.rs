//! Makes a plan of a run's description: the one place where a description is checked.

use super::auto_gpu::AutoGpus;
use super::auto_stream::AutoStream;
use super::initial_guess::InitialGuess;
use super::matrix::{Matrices, OnRead, Ordered, PlanTimes};
use super::modes::{self, CycleRate, MeasuredCycle, ModeDamping, ModeError};
use super::spec::{
    BLOCK_SIZES, Backend, MOST_SWEEPS, MethodSpec, ProblemKind, ProblemSpec, RunSpec, StopRule,
    StopSpec,
};
use crate::grid::memory::{self, NoRoom, OutOfMemory};
use crate::grid::{
    AxisTiling, Geometry, Precision, Shape, ShapeError, SharesError, Slice, Tiling, TilingError,
};
use crate::number::{counted, joined, ratio};
use crate::pauses::without_pauses;
use crate::problem::input::{self, InputError};
use crate::problem::matrix::{Analysis, MarketError, OverlapError, Places, PlacesError};
use crate::problem::{
    Boundary, Conductivity, Csr, Diffusion, HEAT, HotBoxError, Jump, Operator, Problem, Source,
    SpectralRadius, Stencil, StencilError, hot_axes, hot_points,
};
use crate::solver::cuda::{self, Device};
use crate::solver::{
    Devices, DevicesError, ExchangePath, Kernel, Layout, Link, MemoryTraffic, Method, MethodName,
    Place, ShareBy, SharedParts, Slabs, SolverError, Spectral, SpectralError, StreamingError,
    Subiterations, Traffic, traffic_of_cycle,
};
use crate::stop_token::StopToken;
use std::num::NonZeroU64;
use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// A valid description, with everything that it describes.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What was chosen.
    pub spec: RunSpec,
    /// The system.
    pub problem: Arc<Problem>,
    /// The spectral radius without damping, once it was found; see [`Plan::spectral_radius`].
    pub(crate) jacobi_radius: RadiusCell,
    /// What was measured of its cycle.
    pub(crate) measured: Arc<MeasuredCycle>,
    /// The method.
    pub method: Method,
    /// For a matrix in another order: row `i` is row `order[i]` of the file.
    pub order: Option<Arc<[u32]>>,
    /// Where the rows of a matrix lie, in its own order, if that is known.
    pub places: Option<Places>,
    /// Properties of a matrix, in the order of its blocks.
    pub analysis: Option<Arc<Analysis>>,
    /// Seconds that making the problem of a matrix took.
    pub times: PlanTimes,
    /// The tiles that were chosen, whether the method uses them or not: maps show their borders.
    pub tiling: Tiling,
    /// The precision of the arithmetic.
    pub precision: Precision,
    /// Where it runs: with [`Backend::Auto`], where that leads.
    pub place: Place,
    /// Why a run with [`Backend::Auto`] is on the CPU, if a GPU was tried.
    pub without_gpu: Option<SolverError>,
    /// Why the planes of a run with [`Backend::Auto`] visit the GPU, if that was not chosen.
    pub auto_stream: Option<AutoStream>,
    /// For a run that has no room on the GPU: the run with the same sweeps whose planes visit it, where there is one.
    pub streamed: Option<Arc<StreamedRun>>,
    /// When to stop.
    pub stop: Stop,
}

/// A run whose planes visit the GPU in place of one that has no room there.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamedRun {
    /// The run, with back end `auto`.
    pub spec: RunSpec,
    /// Why it takes the place of the other.
    pub why: AutoStream,
}

/// When a run stops.
pub type Stop = StopSpec;

/// The spectral radius of a problem's matrix, which is found at most once; `None` where that takes too long. A stencil
/// has a formula instead.
pub(super) type RadiusCell = Arc<OnceLock<Option<SpectralRadius>>>;

/// An estimate this close to 1 is 1: that of a singular matrix, up to rounding.
const NEARLY_ONE: f64 = 1.0 - 1e-10;

/// Why a description cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// A value that is out of its range.
    #[error("{field} is {value}; {allowed}")]
    Value {
        /// Which field.
        field: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        allowed: String,
    },
    /// A kernel that cannot make the subiterations.
    #[error("kernel {} does not accept {why}", .kernel.name())]
    Kernel {
        /// The kernel.
        kernel: Kernel,
        /// What it does not accept, and what to use instead.
        why: String,
    },
    /// An invalid shape.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// A shape that does not fit into this machine.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// A matrix that does not fit into this machine, or not while it is put in order.
    #[error(transparent)]
    NoRoom(#[from] NoRoom),
    /// An invalid tile or overlap.
    #[error(transparent)]
    Tiling(#[from] TilingError),
    /// An invalid matrix row.
    #[error(transparent)]
    Stencil(#[from] StencilError),
    /// An invalid hot box.
    #[error(transparent)]
    HotBox(#[from] HotBoxError),
    /// A right-hand side, an initial guess or a conductivity that cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A matrix that cannot be read.
    #[error(transparent)]
    Matrix(#[from] MarketError),
    /// Coordinates of rows that cannot be read.
    #[error(transparent)]
    Places(#[from] PlacesError),
    /// An overlap of blocks of a matrix that adds too many rows.
    #[error(transparent)]
    Overlap(#[from] OverlapError),
    /// Tiles that cannot be shared out over so many devices.
    #[error(transparent)]
    Devices(#[from] SharesError),
    /// A height and a budget of fast memory that do not go together.
    #[error(transparent)]
    Streaming(#[from] StreamingError),
}

pub use crate::solver::MOST_SUBITERATIONS;

/// Arrays of the grid that every method needs: an iterate and the next.
const FEWEST_ARRAYS: usize = 2;

/// The most threads.
pub const MOST_THREADS: usize = 1024;

/// From this ratio of the speeds in f32 and f64 on, a GPU is slow in f64.
const SLOW_F64: u32 = 16;

/// The velocity of the convection–diffusion problem times the side over the diffusivity.
pub const WIND: [f64; 3] = [60.0, 25.0, 0.0];

/// The seed of the random initial guess.
const SEED: u64 = 1;

/// Point sources: their position as a fraction of each side (x, y, z), and their strength. Chosen
/// to lie in no symmetric pattern.
const SOURCES: [([f64; 3], f64); 5] = [
    ([0.21, 0.30, 0.64], 1.0),
    ([0.72, 0.18, 0.50], 1.0),
    ([0.55, 0.62, 0.27], -1.0),
    ([0.83, 0.77, 0.58], 1.0),
    ([0.17, 0.81, 0.39], -1.0),
];

/// Makes plans. It keeps the last problem, so that a change of the method reads no file again.
#[derive(Debug, Default)]
pub struct Planner {
    last: Option<(ProblemSpec, Arc<Problem>, RadiusCell)>,
    matrices: Matrices,
    /// The GPUs of earlier plans, so that those of later ones share what is loaded there.
    devices: Vec<Device>,
    pub(super) auto: AutoGpus,
}

impl Planner {
    /// A planner that never waits for a GPU: one that [`Backend::Auto`] may use is opened on a thread, and
    /// runs are planned for the CPU until it is open. By default a plan waits for it.
    pub fn without_waiting() -> Self {
        Self { auto: AutoGpus::without_waiting(), ..Self::default() }
    }

    /// Reports the progress of reading a matrix: the name of its file, and the fraction that is read.
    #[must_use]
    pub fn on_read(mut self, report: impl FnMut(&str, f64) + Send + 'static) -> Self {
        self.matrices.on_read = OnRead::new(report);
        self
    }

    /// Checks a description and makes a plan of it.
    ///
    /// # Errors
    /// [`PlanError`] names the field, its value, and what is allowed.
    pub fn plan(&mut self, spec: &RunSpec) -> Result<Plan, PlanError> {
        if spec.problem.kind == ProblemKind::Matrix {
            return self.plan_matrix(spec);
        }
        if spec.problem.matrix.is_some() {
            let allowed = "it applies only to problem matrix";
            let given = format!("given with problem {}", spec.problem.kind.name());
            return Err(value("matrix", given, allowed));
        }
        let shape = shape(&spec.problem)?;
        check_stop(&spec.stop)?;
        check_store(spec)?;
        check_damping(&spec.method)?;
        check_schedule(&spec.method)?;
        check_block_size(&spec.method)?;
        check_streaming(&spec.method)?;
        check_devices(spec)?;
        check_per_point(spec)?;
        check_place(spec)?;
        let known = self.last.as_ref().filter(|(known, ..)| *known == spec.problem);
        if known.is_none() && spec.store.is_none() {
            // Before the tiles, of which an absurd shape has as many. The solver checks the memory that it
            // needs itself.
            memory::check(&shape, FEWEST_ARRAYS, spec.method.precision)?;
        }
        let tiling = tiling(&spec.method, &shape)?;
        check_k(&spec.method)?;
        let (problem, jacobi_radius) = match known {
            Some((_, problem, radius)) => (Arc::clone(problem), Arc::clone(radius)),
            None => {
                let made = problem(&spec.problem, shape, spec.store.is_some())?;
                (Arc::new(made), RadiusCell::default())
            }
        };
        let omega = spec.method.omega;
        let method = match spec.method.name.is_streaming() {
            true => {
                let method = Method::Streaming(spec.method.streaming(&shape)?);
                on_devices(&spec.method, method, &shape)?
            }
            false => {
                let method = method(&spec.method, &tiling, &problem.operator)?;
                let method = on_devices(&spec.method, method, &shape)?;
                method.scheduled(spec.method.schedule()).damped(omega)
            }
        };
        self.last = Some((spec.problem.clone(), Arc::clone(&problem), Arc::clone(&jacobi_radius)));
        let (place, without_gpu) = self.place(spec, &problem, &method)?;
        Ok(Plan {
            spec: spec.clone(),
            problem,
            jacobi_radius,
            measured: Arc::default(),
            order: None,
            places: None,
            analysis: None,
            times: PlanTimes::default(),
            method,
            tiling,
            precision: spec.method.precision,
            place,
            without_gpu,
            auto_stream: None,
            streamed: None,
            stop: spec.stop,
        })
    }

    /// A plan of a sparse matrix, cut into blocks of rows.
    fn plan_matrix(&mut self, spec: &RunSpec) -> Result<Plan, PlanError> {
        let method_spec = &spec.method;
        if method_spec.omega != 1.0 {
            return Err(value("omega", method_spec.omega, "for a matrix it must be 1"));
        }
        for (field, points) in [("wave", method_spec.wave), ("warp", method_spec.warp)] {
            if let Some(points) = points {
                return Err(value(field, points, "blocks of a matrix are computed at once"));
            }
        }
        if let Some(threads) = method_spec.block_size {
            let allowed = "for a matrix its kernels choose the threads of a block";
            return Err(value("block_size", threads, allowed));
        }
        if spec.problem.initial.is_some() {
            let allowed = "the initial guess of a matrix is problem.matrix.initial";
            return Err(value("initial", "given with problem matrix", allowed));
        }
        if method_spec.name.is_streaming() {
            let allowed = "a matrix has no planes; it may be classic or hierarchical";
            return Err(value("method", method_spec.name.name(), allowed));
        }
        check_store(spec)?;
        check_streaming(method_spec)?;
        check_devices(spec)?;
        if spec.problem.batch != 1
            || spec.problem.boundary.is_some()
            || spec.problem.stencil.is_some()
        {
            let allowed = "a matrix has no batch, boundary or stencil of its own";
            return Err(value("problem", spec.problem.kind.name(), allowed));
        }
        only_with(
            &spec.problem,
            "velocity",
            spec.problem.velocity.is_some(),
            ProblemKind::ConvectionDiffusion,
        )?;
        only_with_diffusion(&spec.problem)?;
        check_stop(&spec.stop)?;
        check_place(spec)?;
        for (field, values) in [("tile", &method_spec.tile), ("overlap", &method_spec.overlap)] {
            if values.len() != 1 {
                let allowed = "it must be one number: the rows of a block, and its levels";
                return Err(value(field, as_written(values, "x"), allowed));
            }
        }
        let block = method_spec.tile_of(0);
        let Ordered { problem, order, places, analysis, jacobi_radius, times } =
            self.matrices.problem(&spec.problem, block)?;
        let tiling = Tiling::blocks(problem.shape.nx(), block, method_spec.overlap_of(0))?;
        check_k(method_spec)?;
        let method = method(method_spec, &tiling, &problem.operator)?;
        let matrix = problem.operator.matrix().map(Deref::deref);
        let method = blocks_on_devices(method_spec, method, matrix, tiling.x())?;
        let (place, without_gpu) = self.place(spec, &problem, &method)?;
        Ok(Plan {
            spec: spec.clone(),
            problem,
            order,
            places,
            analysis: Some(analysis),
            times,
            jacobi_radius,
            measured: Arc::default(),
            method,
            tiling,
            precision: method_spec.precision,
            place,
            without_gpu,
            auto_stream: None,
            streamed: None,
            stop: spec.stop,
        })
    }

    /// Where a run is made, and why not on the GPU that `auto` tried.
    fn place(
        &mut self,
        run: &RunSpec,
        problem: &Problem,
        method: &Method,
    ) -> Result<(Place, Option<SolverError>), PlanError> {
        let spec = &run.method;
        let is_for_cpu = spec.is_for_cpu()
            || spec.device_count().is_some() && run.shared_on_cpu_alone().is_some();
        if spec.backend == Backend::Cpu || is_for_cpu {
            return Ok((checked_on_cpu(spec, problem, method)?, None));
        }
        let devices: Vec<_> = spec.devices.iter().map(|ordinal| self.device(*ordinal)).collect();
        // What it stands for was decided by the method.
        let is_matrix = problem.operator.matrix().is_some();
        // For a matrix, a kernel is one for blocks; Jacobi's iteration has its own.
        let is_choice =
            spec.kernel == Kernel::FASTEST || is_matrix && *method.plain() == Method::Classic;
        let kernel = if is_choice { Kernel::AUTO } else { spec.kernel };
        if spec.backend == Backend::Auto {
            let tried = self.auto.check_all(&devices).map(|opened| {
                opened?;
                if spec.streams_through_cache() {
                    return Err(SolverError::CacheBudget);
                }
                let is_per_point = problem.operator.is_per_point();
                for device in &devices {
                    let shape = &problem.shape;
                    device.check_kernel(kernel, method, spec.precision, shape, is_per_point)?;
                }
                // Another solver, whose arrays it takes over, may be there otherwise.
                if self.auto.waits() {
                    cuda::check_memory(problem, method, spec.precision, &devices)
                } else {
                    Ok(())
                }
            });
            match tried {
                None if !spec.needs_gpu() => {
                    return Ok((checked_on_cpu(spec, problem, method)?, None));
                }
                Some(Err(why)) if !spec.needs_gpu() => {
                    return Ok((checked_on_cpu(spec, problem, method)?, Some(why)));
                }
                Some(Err(SolverError::Unavailable(why))) if spec.block_size.is_some() => {
                    let threads = spec.block_size.unwrap_or_default();
                    let allowed = format!("it needs a GPU (backend cuda), and {why}");
                    return Err(value("block_size", threads, allowed));
                }
                Some(Err(SolverError::Unavailable(why))) => {
                    let of_cpu = match is_matrix {
                        true => Kernel::of_matrix_on_cpu(),
                        false => Kernel::on_cpu(spec.name),
                    };
                    let allowed = format!(
                        "it needs a GPU (backend cuda), and {why}; backend cpu has {}",
                        names(&of_cpu)
                    );
                    return Err(value("kernel", spec.kernel.name(), allowed));
                }
                // What else is wrong, the solver says.
                _ => {}
            }
        }
        let block_size = spec.block_size.and_then(|threads| u32::try_from(threads).ok());
        Ok((Place::Cuda { devices, exchange: spec.exchange, kernel, block_size }, None))
    }

    /// Plans a run with [`Backend::Auto`] again, now that it may be known where that leads.
    ///
    /// # Errors
    /// [`PlanError`] if only a GPU could run it, and none can be used.
    pub(super) fn decide_again(&mut self, plan: &Plan) -> Result<Plan, PlanError> {
        let (place, without_gpu) = self.place(&plan.spec, &plan.problem, &plan.method)?;
        Ok(Plan { place, without_gpu, ..plan.clone() })
    }

    /// Whether it is known now whether [`Backend::Auto`] can use the GPU of a run.
    pub(super) fn knows_gpu_of(&self, spec: &MethodSpec) -> bool {
        spec.devices.iter().all(|ordinal| self.auto.knows(*ordinal))
    }

    /// The GPU with this ordinal: that of earlier plans, if they had it.
    pub(super) fn device(&mut self, ordinal: u32) -> Device {
        if let Some(device) = self.devices.iter().find(|device| device.ordinal() == ordinal) {
            return device.clone();
        }
        let device = Device::new(ordinal);
        self.devices.push(device.clone());
        device
    }
}

/// The spectral radius of a matrix, found with two vectors; `None` where they do not fit into memory.
pub(super) async fn power_iteration(shape: &Shape, matrix: &Csr) -> Option<SpectralRadius> {
    memory::check(shape, 2, Precision::F64).ok()?;
    Some(SpectralRadius::of_matrix_with_pauses(matrix).await)
}

impl Plan {
    /// Whether so many arrays in f64 may be made beside its run: where they fit into the memory that is free, and those of a
    /// run in a store into its budget.
    pub fn has_room_beside(&self, arrays: usize) -> bool {
        let shape = &self.problem.shape;
        let budget = self.spec.store.as_ref().map(|_| self.spec.method.memory().bytes());
        let bytes = shape.array_bytes(arrays, Precision::F64);
        budget.is_none_or(|budget| bytes <= budget)
            && memory::check(shape, arrays, Precision::F64).is_ok()
    }

    /// The kernel that makes the sweeps of a grid on the CPU, where there is one of a name.
    pub fn kernel_on_cpu(&self) -> Option<Kernel> {
        let Place::Cpu { kernel, .. } = self.place else { return None };
        (kernel == Kernel::FUSED).then_some(kernel)
    }

    /// Sweeps that a cycle makes.
    pub fn sweeps_per_cycle(&self) -> u64 {
        self.method.sweeps_per_cycle()
    }

    /// What a cycle moves and computes: on a GPU with the kernel that runs there, or, if it is not known, with the one that
    /// would. A method that streams has counted what it moved (`streamed`).
    ///
    /// # Errors
    /// One sentence, if nothing is known ([`traffic_of_cycle`]).
    pub fn memory_traffic(
        &self,
        kernel: Option<Kernel>,
        streamed: Option<Traffic>,
    ) -> Result<MemoryTraffic, &'static str> {
        self.traffic_of(&self.method, kernel, streamed)
    }

    /// What as many sweeps of Jacobi's iteration over the whole grid move and compute as a cycle makes.
    ///
    /// # Errors
    /// One sentence, if nothing is known, or a cycle has no number of sweeps.
    pub fn classic_memory_traffic(&self) -> Result<MemoryTraffic, &'static str> {
        if self.method.k() == Subiterations::Infinite {
            return Err("With k = ∞ a cycle has no number of sweeps to compare with.");
        }
        let sweep = self.traffic_of(&self.method.classic(), None, None)?;
        Ok(sweep.times(self.sweeps_per_cycle()))
    }

    fn traffic_of(
        &self,
        method: &Method,
        kernel: Option<Kernel>,
        streamed: Option<Traffic>,
    ) -> Result<MemoryTraffic, &'static str> {
        let kernel = match self.place {
            Place::Cpu { .. } => self.kernel_on_cpu(),
            Place::Cuda { kernel: chosen, .. } => Some(kernel.unwrap_or(chosen)),
        };
        traffic_of_cycle(&self.problem, method, self.precision, kernel, streamed)
    }

    /// Its method without damping, shared out anew over the devices of `spec`: a grid, or the blocks of a matrix.
    pub(super) fn shared_out(&self, spec: &MethodSpec) -> Result<Method, PlanError> {
        let method = self.method.plain().clone();
        match self.problem.operator.matrix() {
            None => on_devices(spec, method, &self.problem.shape),
            Some(matrix) => blocks_on_devices(spec, method, Some(matrix), self.tiling.x()),
        }
    }

    /// Where the points of the problem lie: the rows of a matrix lie along a line, in the order of its
    /// blocks.
    pub fn geometry(&self) -> Option<Geometry> {
        Some(Geometry::new(self.problem.shape, self.tiling.clone()))
    }

    /// The grid that maps show, with its tiles: of a 3D grid a slice, the middle one if none is given.
    pub fn shown(&self, slice: Option<Slice>) -> Geometry {
        Geometry::new(self.problem.shape, self.tiling.clone()).shown(slice)
    }

    /// Where devices that share the grid meet: each border lies before the plane of that number, before a point of a line,
    /// a line of a batch, or a row of a matrix. None on one device, and where devices share the sweeps of a pass.
    pub fn device_borders(&self) -> Vec<usize> {
        let streaming = self.method.streaming();
        let shares_sweeps = streaming.is_some_and(|it| it.shares_sweeps(&self.problem.shape));
        let devices = self.method.devices().filter(|_| !shares_sweeps);
        devices.map_or_else(Vec::new, |devices| devices.shares().borders().collect())
    }

    /// Those that cross an axis of a map of the grid, or of a slice through it: 0 across, 1 down.
    pub fn device_borders_along(&self, axis: usize, slice: Option<Slice>) -> Vec<usize> {
        let shape = &self.problem.shape;
        let last = shape.dim() - 1;
        let crosses = match slice {
            Some(slice) => slice.axes()[axis] == last,
            // Lines of a batch lie below each other.
            None if shape.batch() > 1 => axis == 1,
            None => axis == last,
        };
        if crosses { self.device_borders() } else { Vec::new() }
    }

    /// The device that owns a row of a matrix; `None` on one device.
    pub fn device_of_row(&self, row: usize) -> Option<usize> {
        let shares = self.method.devices().filter(|devices| devices.count() > 1)?.shares();
        Some(shares.of_devices().partition_point(|share| share.owned.end <= row))
    }

    /// Where it runs; never [`Backend::Auto`].
    pub fn backend(&self) -> Backend {
        match self.place {
            Place::Cpu { .. } => Backend::Cpu,
            Place::Cuda { .. } => Backend::Cuda,
        }
    }

    /// The same on the CPU, where [`Backend::Auto`] led to a GPU that did not take it; `None` where a GPU was
    /// chosen.
    pub(super) fn on_cpu(&self, why: &SolverError) -> Option<Self> {
        let method = &self.spec.method;
        let may_run = method.backend == Backend::Auto && !method.needs_gpu();
        (may_run && self.backend() == Backend::Cuda).then(|| Self {
            place: on_cpu(method),
            without_gpu: Some(why.clone()),
            ..self.clone()
        })
    }

    /// How many times as fast the GPU would compute in f32, where it computes in f64 and is made for f32:
    /// GPUs for games have a ratio of 32 or 64, those for computing 2. Known once the GPU is open.
    pub fn slow_f64(&self) -> Option<u32> {
        let Place::Cuda { devices, .. } = &self.place else { return None };
        let speedup = devices.first()?.f32_speedup()?;
        (self.precision == Precision::F64 && speedup >= SLOW_F64).then_some(speedup)
    }

    /// The spectral radius of Jacobi's iteration, damped where the run is. The first call takes up to a second for a
    /// matrix, and up to 0.3 s for coefficients per point; `None` where that does not suffice, or memory does not.
    pub fn spectral_radius(&self) -> Option<SpectralRadius> {
        without_pauses(self.spectral_radius_with_pauses())
    }

    /// [`Plan::spectral_radius`] with pauses.
    pub(super) async fn spectral_radius_with_pauses(&self) -> Option<SpectralRadius> {
        if self.jacobi_radius.get().is_none() {
            let Problem { shape, operator, .. } = &*self.problem;
            let found = match operator {
                Operator::Stencil(_) => None,
                Operator::PerPoint(rows) => {
                    SpectralRadius::of_diffusion_with_pauses(rows, shape).await
                }
                Operator::Csr(matrix) => power_iteration(shape, matrix).await,
            };
            // It may have been found elsewhere meanwhile: the same.
            _ = self.jacobi_radius.set(found);
        }
        self.known_radius()
    }

    /// [`Plan::spectral_radius`] if it has been found, or needs no search. Takes no time.
    pub fn known_radius(&self) -> Option<SpectralRadius> {
        self.known_radius_with(self.spec.method.omega)
    }

    /// The same of Jacobi's iteration without damping.
    pub fn known_radius_without_damping(&self) -> Option<SpectralRadius> {
        self.known_radius_with(1.0)
    }

    fn known_radius_with(&self, omega: f64) -> Option<SpectralRadius> {
        match self.problem.operator.stencil() {
            Some(stencil) => Some(SpectralRadius::of_stencil(stencil, &self.problem.shape, omega)),
            None => self.jacobi_radius.get()?.map(|radius| radius.damped(omega)),
        }
    }

    /// Whether [`Plan::known_radius`] says all there is to know.
    pub fn knows_radius(&self) -> bool {
        self.problem.operator.stencil().is_some() || self.jacobi_radius.get().is_some()
    }

    /// The damping by mode of a sweep and of a cycle, or why it cannot be measured; `None` until
    /// [`Plan::measure_damping`] has.
    pub fn damping(&self) -> Option<&Result<ModeDamping, ModeError>> {
        self.measured.damping.get()
    }

    /// Whether what is measured of the other's cycle is known of this one, too: it is the same.
    pub(super) fn has_cycle_of(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.measured, &other.measured)
    }

    /// Measures the damping by mode, unless that was done or is cancelled. Takes up to some seconds.
    pub fn measure_damping(&self, cancel: &StopToken) {
        without_pauses(self.measure_damping_with_pauses(cancel));
    }

    /// [`Plan::measure_damping`] with pauses.
    pub(super) async fn measure_damping_with_pauses(&self, cancel: &StopToken) {
        modes::measure_damping(&self.problem, &self.method, &self.measured, cancel).await;
    }

    /// The asymptotic rate of a cycle, or why it cannot be measured; `None` until [`Plan::find_rate`] has found it.
    pub fn rate(&self) -> Option<&Result<CycleRate, ModeError>> {
        self.measured.rate.get()
    }

    /// Finds the asymptotic rate of a cycle, unless that was done or is cancelled. Takes up to some seconds where theory
    /// does not know it.
    pub fn find_rate(&self, cancel: &StopToken) {
        without_pauses(self.find_rate_with_pauses(cancel));
    }

    /// [`Plan::find_rate`] with pauses.
    pub(super) async fn find_rate_with_pauses(&self, cancel: &StopToken) {
        let of_sweep = async || self.spectral_radius_with_pauses().await;
        modes::find_rate(&self.problem, &self.method, &self.measured, of_sweep, cancel).await;
    }

    /// What the spectral radius belongs to.
    pub fn iteration(&self) -> &'static str {
        let is_damped = self.spec.method.omega != 1.0;
        if is_damped { "damped Jacobi's iteration" } else { "Jacobi's iteration" }
    }

    /// What helps where the matrix is not diagonally dominant.
    pub(super) fn remedy(&self) -> &'static str {
        match self.spec.problem.kind {
            ProblemKind::Matrix => "another splitting of the matrix may help",
            ProblemKind::ConvectionDiffusion if self.spec.problem.stencil.is_none() => {
                "lower the velocity to at most 2 (n + 1) along each axis, or refine the grid"
            }
            _ => "raise the diagonal, or lower the other entries",
        }
    }

    /// A sentence that warns where the iteration diverges, or is not known to converge; or `None`. It goes by the
    /// spectral radius if that [is known](Plan::known_radius).
    pub fn warning(&self) -> Option<String> {
        let (operator, omega) = (&self.problem.operator, self.spec.method.omega);
        let (name, known) = (self.iteration(), self.known_radius());
        if operator.is_dominant() {
            // Eigenvalues without damping are at most 1, so that only an omega above 1 takes ρ beyond that.
            let radius = known.filter(|radius| radius.value >= NEARLY_ONE)?;
            return Some(match omega > 1.0 {
                true => format!("With omega {omega}, {name} diverges (ρ = {radius}); lower omega."),
                false => format!(
                    "ρ is 1, although the matrix is diagonally dominant: it is singular up to rounding, and {name} does not converge."
                ),
            });
        }
        let remedy = self.remedy();
        // Without dominance, stale values may keep an iteration from converging that does so without
        // them (Chazan and Miranker, "Chaotic relaxation", 1969).
        let tiles = match self.method.tiling() {
            None => "",
            Some(_) => ", but with tiles it may diverge",
        };
        let what = match known {
            None => format!(", so {name} may diverge; {remedy}"),
            Some(radius) => match (radius.value >= 1.0, operator.matrix().is_some()) {
                (true, false) => format!(", and ρ = {radius} ≥ 1: {name} diverges; {remedy}"),
                (false, false) => format!("; ρ = {radius} < 1, so {name} converges{tiles}"),
                // The power iteration makes few steps with a large matrix.
                (true, true) => format!(", and ρ is about {radius}: {name} diverges; {remedy}"),
                (false, true) => {
                    format!("; ρ is estimated to be {radius}, with which {name} converges{tiles}")
                }
            },
        };
        let dominance = ratio(operator.dominance());
        Some(format!("The matrix is not diagonally dominant (Σ|w| = {dominance} > 1){what}."))
    }
}

pub(super) fn value(
    field: &'static str,
    value: impl ToString,
    allowed: impl Into<String>,
) -> PlanError {
    PlanError::Value { field, value: value.to_string(), allowed: allowed.into() }
}

/// Values in a message, written as an option has them.
fn as_written<T: ToString>(values: &[T], separator: &str) -> String {
    if values.is_empty() { "empty".to_owned() } else { joined(values, separator) }
}

/// A number in a message: of many digits with a power of ten.
fn plain(number: f64) -> String {
    match number.abs() {
        size if size != 0.0 && size.is_finite() && !(1e-5..1e16).contains(&size) => {
            format!("{number:e}")
        }
        _ => number.to_string(),
    }
}

/// Refuses threads, kernels and devices that no back end has.
fn check_place(run: &RunSpec) -> Result<(), PlanError> {
    let spec = &run.method;
    if spec.threads > MOST_THREADS {
        let allowed = format!("it must be at most {MOST_THREADS}");
        return Err(value("threads", spec.threads, allowed));
    }
    let kernels = run.kernels();
    if !kernels.contains(&spec.kernel) {
        let is_matrix = run.problem.kind == ProblemKind::Matrix;
        let allowed = match spec.backend {
            _ if is_matrix => {
                format!("for a matrix it may be {}", names(&kernels))
            }
            _ if run.problem.kind == ProblemKind::Diffusion => {
                format!("with problem diffusion it may be {}", names(&kernels))
            }
            _ if spec.omega != 1.0 => {
                format!("with omega {} it may be {}", spec.omega, names(&kernels))
            }
            _ if !spec.schedule().is_jacobi() => {
                format!("with waves or warps it may be {}", names(&kernels))
            }
            Backend::Cpu => {
                let (method, kernels) = (spec.name.name(), names(&kernels));
                format!(
                    "with method {method} and backend cpu it must be {kernels}; other kernels need backend cuda"
                )
            }
            Backend::Auto | Backend::Cuda => {
                format!("with method {} it may be {}", spec.name.name(), names(&kernels))
            }
        };
        return Err(value("kernel", spec.kernel.name(), allowed));
    }
    let listed = |allowed: &str| Err(value("devices", as_written(&spec.devices, ","), allowed));
    let is_repeated = |at: usize| spec.devices[..at].contains(&spec.devices[at]);
    if spec.devices.is_empty() {
        return listed("it must name a GPU, such as 0");
    }
    if (0..spec.devices.len()).any(is_repeated) {
        return listed("it must name each GPU once");
    }
    Ok(())
}

/// The cores of this machine, as they were chosen. A kernel that decides nothing there counts as none, so that runs can share
/// what they have.
fn on_cpu(spec: &MethodSpec) -> Place {
    let is_layout = Layout::ALL.into_iter().any(|layout| layout.kernel() == spec.kernel);
    let decides = is_layout || spec.kernel == Kernel::FUSED;
    let kernel = if decides { spec.kernel } else { Kernel::AUTO };
    Place::Cpu { threads: spec.threads, kernel }
}

/// The same, unless several sweeps at a time are to be made that a CPU makes one by one.
fn checked_on_cpu(
    spec: &MethodSpec,
    problem: &Problem,
    method: &Method,
) -> Result<Place, PlanError> {
    let dim = problem.shape.dim();
    let why = match spec.kernel {
        Kernel::FUSED if dim != 3 => format!("a {dim}D grid; use kernel auto"),
        Kernel::FUSED if method.devices().is_some_and(Devices::have_frozen_halos) => {
            "an exchange every few cycles; use kernel auto".to_owned()
        }
        _ => return Ok(on_cpu(spec)),
    };
    Err(PlanError::Kernel { kernel: spec.kernel, why })
}

/// The names of kernels, in a sentence.
fn names(kernels: &[Kernel]) -> String {
    kernels.iter().map(|kernel| kernel.name()).collect::<Vec<_>>().join(", ")
}

/// The shape that was chosen.
fn shape(spec: &ProblemSpec) -> Result<Shape, PlanError> {
    if spec.shape.len() > 1 && spec.batch != 1 {
        return Err(value("batch", spec.batch, "only a 1D grid can have a batch"));
    }
    match spec.shape[..] {
        [n] => Ok(Shape::grid_1d(n, spec.batch)?),
        [nx, ny] => Ok(Shape::grid_2d(nx, ny)?),
        [nx, ny, nz] => Ok(Shape::grid_3d(nx, ny, nz)?),
        _ => {
            let shape = format!("{:?}", spec.shape);
            Err(value("shape", shape, "it must have one, two or three numbers, one for each axis"))
        }
    }
}

/// Refuses what damped sweeps cannot have.
fn check_damping(spec: &MethodSpec) -> Result<(), PlanError> {
    let MethodSpec { omega, .. } = *spec;
    if omega == 1.0 {
        return Ok(());
    }
    if !(omega > 0.0 && omega < 2.0) {
        return Err(value(
            "omega",
            plain(omega),
            "it must be above 0 and below 2; 1 is Jacobi's iteration",
        ));
    }
    if spec.name.is_streaming() {
        let allowed = format!("with method {} it must be 1", spec.name.name());
        return Err(value("omega", omega, allowed));
    }
    if spec.name == MethodName::Hierarchical && spec.k > Subiterations::Finite(MOST_SWEEPS) {
        let allowed = format!("with omega {omega} it must be at most {MOST_SWEEPS}");
        return Err(value("k", spec.k, allowed));
    }
    Ok(())
}

/// Refuses waves and warps where nothing is computed in an order.
fn check_schedule(spec: &MethodSpec) -> Result<(), PlanError> {
    for (field, points) in [("wave", spec.wave), ("warp", spec.warp)] {
        let Some(points) = points else { continue };
        if points == 0 {
            return Err(value(field, points, "it must be at least 1"));
        }
        if spec.name != MethodName::Hierarchical {
            let given = format!("{points} with method {}", spec.name.name());
            return Err(value(field, given, "it applies only to method hierarchical"));
        }
        if spec.backend == Backend::Cuda {
            let allowed =
                "backend cuda computes tiles and points in any order; use backend cpu or auto";
            return Err(value(field, points, allowed));
        }
        if spec.k > Subiterations::Finite(MOST_SWEEPS) {
            let allowed = format!("with {field} {points} it must be at most {MOST_SWEEPS}");
            return Err(value("k", spec.k, allowed));
        }
    }
    Ok(())
}

/// Refuses a block size that kernel `classic` does not have, and one without that kernel.
fn check_block_size(spec: &MethodSpec) -> Result<(), PlanError> {
    let Some(threads) = spec.block_size else { return Ok(()) };
    let refuse = |given: String, allowed: &str| Err(value("block_size", given, allowed));
    if !BLOCK_SIZES.contains(&threads) {
        return refuse(threads.to_string(), "it must be 32, 64, 128, 256 or 512");
    }
    if spec.name != MethodName::Classic {
        let given = format!("{threads} with method {}", spec.name.name());
        return refuse(given, "it applies only to method classic, on a GPU");
    }
    if spec.backend == Backend::Cpu {
        return refuse(
            threads.to_string(),
            "backend cpu has no blocks of threads; use backend cuda",
        );
    }
    if spec.simulate_devices.is_some() {
        let allowed = "with simulated devices it must be left out";
        return refuse(threads.to_string(), allowed);
    }
    Ok(())
}

/// Refuses a height and a budget with a method that has no use for them, and slabs in flight without a GPU.
fn check_streaming(spec: &MethodSpec) -> Result<(), PlanError> {
    if spec.slabs != Slabs::Auto && spec.name != MethodName::Pyramid {
        let given = format!("{} with method {}", spec.slabs.name(), spec.name.name());
        return Err(value("slabs", given, "it applies only to method pyramid"));
    }
    if spec.slabs == Slabs::Two && spec.backend == Backend::Cpu {
        return Err(value("slabs", "two", "with backend cpu it must be auto or one"));
    }
    if spec.name.is_streaming() {
        return Ok(());
    }
    let allowed = "it applies only to methods pyramid and wavefront";
    let given = |what: String| format!("{what} with method {}", spec.name.name());
    if let Some(height) = spec.height {
        return Err(value("height", given(height.to_string()), allowed));
    }
    if let Some(memory) = spec.memory {
        return Err(value("memory", given(memory.to_string()), allowed));
    }
    Ok(())
}

/// Refuses a store where no planes stream from it.
fn check_store(run: &RunSpec) -> Result<(), PlanError> {
    let Some(store) = &run.store else { return Ok(()) };
    let refuse = |given: String, allowed: &str| Err(value("store", given, allowed));
    if !run.method.name.is_streaming() {
        let given = format!("{} with method {}", store.display(), run.method.name.name());
        return refuse(given, "it applies only to methods pyramid and wavefront");
    }
    if cfg!(target_arch = "wasm32") {
        return refuse(store.display().to_string(), "a page in a browser has no disk for it");
    }
    // It could not be written into a run's description.
    if store.to_str().is_none_or(str::is_empty) {
        return refuse(
            store.display().to_string(),
            "it must be the name of a folder, as text (UTF-8)",
        );
    }
    Ok(())
}

impl RunSpec {
    /// Why devices cannot be simulated with this run, in a few words; `None` where they can.
    pub fn why_no_devices(&self) -> Option<String> {
        let mut run = self.clone();
        (run.method.simulate_devices, run.method.backend) = (Some(1), Backend::Cpu);
        run.method.share_by = ShareBy::Points;
        match check_devices(&run).err()? {
            PlanError::Value { field: "simulate_devices", allowed, .. } => Some(allowed),
            PlanError::Value { field, allowed, .. } => Some(format!("{field}: {allowed}")),
            other => Some(other.to_string()),
        }
    }

    /// What devices can share of the grid or the matrix; `None` where its tiles, its height or its shape are not valid.
    pub fn shared_parts(&self) -> Option<SharedParts> {
        if self.problem.kind == ProblemKind::Matrix {
            return Some(SharedParts::of_blocks(self.tiling()?.x()));
        }
        let shape = self.problem.grid()?;
        let method = match self.method.name {
            MethodName::Classic => Method::Classic,
            MethodName::Hierarchical => Method::Hierarchical { k: 1, tiling: self.tiling()? },
            MethodName::Pyramid | MethodName::Wavefront => {
                Method::Streaming(self.method.streaming(&shape).ok()?)
            }
        };
        Some(SharedParts::of(&method, &shape))
    }

    /// Cycles for which devices exchange once.
    pub fn cycles_of_an_exchange(&self) -> u64 {
        let MethodSpec { name, kernel, exchange_every, .. } = &self.method;
        let is_volume = self.problem.kind != ProblemKind::Matrix && self.problem.shape.len() == 3;
        match (name, *kernel) {
            (MethodName::Classic, Kernel::FUSED) if is_volume => Devices::CYCLES_OF_FUSED,
            _ => exchange_every.unwrap_or(1),
        }
    }

    /// Why devices that share it have nothing to exchange after a cycle, in a few words; `None` where they may have.
    pub fn why_no_exchange(&self) -> Option<&'static str> {
        if self.problem.batch > 1 {
            Some("the lines of a batch are independent")
        } else if self.method.name == MethodName::Wavefront {
            Some("devices hand planes on to each other within a pass")
        } else if self.method.name.is_streaming() {
            Some("the slabs of a pass read the computer's memory")
        } else {
            None
        }
    }

    /// What is shared out over simulated devices on a CPU, and not over GPUs; `None` if GPUs share it, too.
    pub fn shared_on_cpu_alone(&self) -> Option<&'static str> {
        let ProblemSpec { kind, shape, batch, .. } = &self.problem;
        let is_line = *kind != ProblemKind::Matrix && shape.len() == 1 && *batch == 1;
        if is_line && !self.method.name.is_streaming() {
            Some("the points of a single line")
        } else {
            None
        }
    }
}

/// Refuses several devices where nothing can be shared out, and what applies only to them.
fn check_devices(run: &RunSpec) -> Result<(), PlanError> {
    let MethodSpec { simulate_devices, exchange_every, exchange, link, .. } = run.method;
    let spec = &run.method;
    if spec.device_count().is_none() {
        let allowed = "it applies only to several devices, real or simulated";
        if let Some(cycles) = exchange_every {
            return Err(value("exchange_every", cycles, allowed));
        }
        if exchange != ExchangePath::default() {
            return Err(value("exchange", exchange.name(), allowed));
        }
    }
    if let (None, Some(link)) = (simulate_devices, link) {
        let allowed = "it applies only to simulated devices";
        return Err(value("link", as_written(&link.map(plain), ","), allowed));
    }
    if spec.device_count().is_none() {
        return Ok(());
    }
    let (field, given) = match simulate_devices {
        Some(count) => ("simulate_devices", count.to_string()),
        None => ("devices", as_written(&spec.devices, ",")),
    };
    let refuse = |allowed: &str| Err(value(field, &given, allowed));
    if simulate_devices.is_some() && spec.devices.len() > 1 {
        return refuse("one GPU simulates them; devices must name one");
    }
    if exchange != ExchangePath::default() && spec.backend == Backend::Cpu {
        return Err(value("exchange", exchange.name(), "it applies only to GPUs"));
    }
    if exchange == ExchangePath::Nccl && simulate_devices.is_some() {
        let allowed = "one GPU simulates these devices, and NCCL moves values between several; it must be auto, peer or host";
        return Err(value("exchange", exchange.name(), allowed));
    }
    if !spec.schedule().is_jacobi() {
        return refuse("tiles in waves and points in warps are on one device");
    }
    if let Some(what) = run.shared_on_cpu_alone()
        && (simulate_devices.is_none() || spec.backend == Backend::Cuda)
    {
        return refuse(&format!(
            "{what} are shared out over devices that a CPU simulates (backend auto or cpu), and not over GPUs"
        ));
    }
    if spec.slabs == Slabs::Two {
        return Err(value("slabs", "two", "with several devices it must be auto or one"));
    }
    check_share_by(run)?;
    if exchange_every == Some(0) {
        return Err(value("exchange_every", 0, "it must be at least 1"));
    }
    if let (Some(cycles @ 2..), Some(why)) = (exchange_every, run.why_no_exchange()) {
        let allowed = format!("{why}, so nothing is exchanged after a cycle; it must be left out");
        return Err(value("exchange_every", cycles, allowed));
    }
    let is_link = |[latency, bandwidth]: [f64; 2]| {
        latency >= 0.0 && latency.is_finite() && bandwidth > 0.0 && bandwidth.is_finite()
    };
    match link.filter(|link| !is_link(*link)) {
        Some(link) => {
            let allowed = "it must be a latency in microseconds, at least 0, and a bandwidth in 10^9 bytes per second, above 0";
            Err(value("link", as_written(&link.map(plain), ","), allowed))
        }
        None => Ok(()),
    }
}

/// Refuses shares by speed where no GPU is measured, or where the iterate depends on the shares.
fn check_share_by(run: &RunSpec) -> Result<(), PlanError> {
    let spec = &run.method;
    let refuse = |allowed: &str| Err(value("share_by", spec.share_by.name(), allowed));
    if spec.share_by == ShareBy::Points {
        return Ok(());
    }
    if spec.simulate_devices.is_some() {
        return refuse("simulated devices are equally fast, so it must be points");
    }
    if spec.name.is_streaming() {
        return refuse("slabs and sweeps of a pass are shared out evenly, so it must be points");
    }
    if run.problem.kind == ProblemKind::Matrix {
        return refuse("blocks of a matrix are shared out by their entries, so it must be points");
    }
    if run.problem.shape.len() == 1 {
        return refuse("lines of a batch are shared out evenly, so it must be points");
    }
    if spec.has_frozen_devices() {
        return refuse(
            "with exchange_every above 1 the iterate depends on the shares, so it must be points",
        );
    }
    Ok(())
}

/// The method on a grid shared out over several devices, if there are any.
fn on_devices(spec: &MethodSpec, method: Method, shape: &Shape) -> Result<Method, PlanError> {
    let is_fused = spec.kernel == Kernel::FUSED && shape.dim() == 3;
    shared_out(spec, method, |method, count, every, link| {
        // Any other method refuses the kernel by itself.
        let made = match method.plain() {
            Method::Classic if is_fused && every == NonZeroU64::MIN => {
                Devices::of_fused(shape, count, link)
            }
            _ => Devices::new(method, shape, count, every, link),
        };
        Ok(made?)
    })
}

/// The same of a method on blocks of rows of a matrix.
fn blocks_on_devices(
    spec: &MethodSpec,
    method: Method,
    matrix: Option<&Csr>,
    blocks: &AxisTiling,
) -> Result<Method, PlanError> {
    let Some(matrix) = matrix else { return Ok(method) };
    shared_out(spec, method, |method, count, every, link| {
        Devices::of_blocks(method, matrix, blocks, count, every, link)
    })
}

fn shared_out(
    spec: &MethodSpec,
    method: Method,
    share: impl FnOnce(&Method, usize, NonZeroU64, Link) -> Result<Devices, DevicesError>,
) -> Result<Method, PlanError> {
    let Some(count) = spec.device_count() else { return Ok(method) };
    let every = spec.exchange_every.and_then(NonZeroU64::new).unwrap_or(NonZeroU64::MIN);
    match share(&method, count, every, spec.link()) {
        Ok(devices) => Ok(method.on_devices(devices.sharing_by(spec.share_by))),
        Err(DevicesError::Overlap(error)) => Err(error.into()),
        Err(DevicesError::Shares(error)) if spec.simulate_devices.is_some() => Err(error.into()),
        Err(DevicesError::Shares(SharesError { parts, what, .. })) => {
            let given = as_written(&spec.devices, ",");
            let allowed = format!(
                "it must be at most {}, as many as there are {what} that devices share",
                counted(parts as u64, "GPU")
            );
            Err(value("devices", given, allowed))
        }
    }
}

/// Refuses what coefficients per point cannot have.
fn check_per_point(spec: &RunSpec) -> Result<(), PlanError> {
    let MethodSpec { name, k, .. } = spec.method;
    if spec.problem.kind != ProblemKind::Diffusion {
        return Ok(());
    }
    if name.is_streaming() {
        let allowed = "with problem diffusion it may be classic or hierarchical";
        return Err(value("method", name.name(), allowed));
    }
    if name == MethodName::Hierarchical && k > Subiterations::Finite(MOST_SWEEPS) {
        let allowed = format!("with problem diffusion it must be at most {MOST_SWEEPS}");
        return Err(value("k", k, allowed));
    }
    Ok(())
}

fn check_stop(stop: &StopSpec) -> Result<(), PlanError> {
    if let Some(tolerance) = stop.tolerance
        && !(tolerance > 0.0 && tolerance.is_finite())
    {
        return Err(value(
            "tolerance",
            plain(tolerance),
            "it must be a positive number, such as 1e-4",
        ));
    }
    Ok(())
}

/// The tiles that were chosen; of a method that streams, whose planes have none, one tile that is the whole grid.
fn tiling(spec: &MethodSpec, shape: &Shape) -> Result<Tiling, PlanError> {
    for (field, values) in [("tile", &spec.tile), ("overlap", &spec.overlap)] {
        if values.len() != 1 && values.len() != shape.dim() {
            return Err(value(
                field,
                as_written(values, "x"),
                match shape.dim() {
                    1 => "it must have one number".to_owned(),
                    dim => format!("it must have one number, or one for each of the {dim} axes"),
                },
            ));
        }
    }
    let axes = 0..shape.dim();
    let tile: Vec<_> = axes.clone().map(|axis| spec.tile_of(axis)).collect();
    let overlap: Vec<_> = axes.map(|axis| spec.overlap_of(axis)).collect();
    let chosen = Tiling::new(shape.axes(), &tile, &overlap)?;
    Ok(if spec.name.is_streaming() { Tiling::whole(shape) } else { chosen })
}

fn check_k(spec: &MethodSpec) -> Result<(), PlanError> {
    match spec.k {
        Subiterations::Finite(1..=MOST_SUBITERATIONS) | Subiterations::Infinite => Ok(()),
        k => Err(value("k", k, format!("it must be 1 to {MOST_SUBITERATIONS}, or inf"))),
    }
}

/// The method that was chosen. Kernel `spectral` is refused where the weights or the tiles do not allow it;
/// where it was not chosen by name, sweeps are made if there are few enough.
fn method(spec: &MethodSpec, tiling: &Tiling, operator: &Operator) -> Result<Method, PlanError> {
    if spec.name == MethodName::Classic {
        return Ok(Method::Classic);
    }
    let sweeps = match spec.k {
        Subiterations::Finite(k @ ..=MOST_SWEEPS) => {
            Some(Method::Hierarchical { k, tiling: tiling.clone() })
        }
        _ => None,
    };
    if !spec.prefers_spectral() {
        let why = format!(
            "k {}; it performs at most {MOST_SWEEPS} sweeps, and kernel spectral any number",
            spec.k
        );
        return sweeps.ok_or(PlanError::Kernel { kernel: spec.kernel, why });
    }
    let spectral = match operator {
        Operator::Stencil(stencil) => Spectral::new(spec.k, tiling, stencil),
        Operator::PerPoint(_) | Operator::Csr(_) => Err(SpectralError::Rows),
    };
    match (spectral, sweeps) {
        (Ok(spectral), _) => Ok(Method::Spectral(spectral)),
        (Err(_), Some(sweeps)) if spec.kernel != Kernel::SPECTRAL => Ok(sweeps),
        (Err(error), _) => {
            Err(PlanError::Kernel { kernel: Kernel::SPECTRAL, why: error.to_string() })
        }
    }
}

/// The system that was chosen.
fn problem(spec: &ProblemSpec, shape: Shape, stays_in_file: bool) -> Result<Problem, PlanError> {
    let zero = Source::Constant(0.0);
    let poisson = Stencil::poisson(&shape);
    let plain = |rhs: Source, initial_guess: Source| Problem {
        shape,
        operator: poisson.into(),
        rhs,
        initial_guess,
        boundary: Boundary::default(),
    };
    only_with(spec, "seed", spec.seed.is_some(), ProblemKind::Random)?;
    only_with(spec, "velocity", spec.velocity.is_some(), ProblemKind::ConvectionDiffusion)?;
    only_with(spec, "rhs", spec.rhs.is_some(), ProblemKind::Picture)?;
    only_with(spec, "hot_box", spec.hot_box.is_some(), ProblemKind::HeatPlate)?;
    only_with_diffusion(spec)?;
    let mut problem = match spec.kind {
        ProblemKind::Poisson => plain(Source::Constant(1.0), Source::Constant(1.0)),
        ProblemKind::HeatPlate => {
            spec.hot_box.map_or(Ok(()), |hot| hot.check(&shape))?;
            let heat = spec.hot_box.map_or(HEAT, |hot| hot.value);
            plain(zero, hot_points(&hot_axes(spec.hot_box.as_ref(), &shape), &shape, heat))
        }
        ProblemKind::HotSide => plain(zero.clone(), zero),
        ProblemKind::PointSources => plain(point_sources(&shape), zero),
        ProblemKind::Random => plain(zero, Source::Random { seed: spec.seed.unwrap_or(SEED) }),
        ProblemKind::ConvectionDiffusion => Problem {
            operator: convection_diffusion(spec, &shape)?.into(),
            ..plain(Source::Constant(1.0), zero)
        },
        ProblemKind::Diffusion => Problem {
            operator: diffusion(spec, &shape)?.into(),
            ..plain(Source::Constant(1.0), zero)
        },
        ProblemKind::Matrix => {
            return Err(value("problem", "matrix", "it has no grid"));
        }
        ProblemKind::Picture => match &spec.rhs {
            // It could not be written into a run's description.
            Some(path) if path.to_str().is_none() => {
                let allowed = "its name must be text (UTF-8)";
                return Err(value("rhs", path.display(), allowed));
            }
            Some(path) => plain(listed(path, &shape, stays_in_file, input::load)?, zero),
            None => {
                return Err(value(
                    "rhs",
                    "missing",
                    "this problem needs an image or an .npy array",
                ));
            }
        },
    };
    if let Some(initial) = &spec.initial {
        if spec.hot_box.is_some() {
            return Err(value("initial", "given with a hot box", "a run has one initial guess"));
        }
        problem.initial_guess = match initial {
            InitialGuess::Value(constant) => constant_guess(*constant)?,
            InitialGuess::File(path) if path.as_os_str().is_empty() => {
                let allowed = "it must be a finite number, or an .npy array";
                return Err(value("initial", "empty", allowed));
            }
            InitialGuess::File(path) => listed(path, &shape, stays_in_file, input::load_array)?,
        };
    }
    problem.boundary = spec.boundary();
    check_boundary(&problem.boundary, &shape)?;
    if let Some(stencil) = spec.stencil {
        problem.operator = stencil.into();
    }
    if let Some(stencil) = problem.operator.stencil() {
        stencil.check(&shape)?;
    }
    Ok(problem)
}

/// The values of a file: in memory, or where they stay in the file and can, there.
fn listed(
    path: &Path,
    shape: &Shape,
    stays_in_file: bool,
    load: impl Fn(&Path, &Shape) -> Result<Arc<[f64]>, InputError>,
) -> Result<Source, InputError> {
    if stays_in_file && let Some(mapped) = input::map_array(path, shape)? {
        return Ok(Source::Mapped(Arc::new(mapped)));
    }
    load(path, shape).map(Source::Array)
}

/// A finite value everywhere.
pub(super) fn constant_guess(constant: f64) -> Result<Source, PlanError> {
    if !constant.is_finite() {
        return Err(value(
            "initial",
            plain(constant),
            "it must be a finite number, or an .npy array",
        ));
    }
    Ok(Source::Constant(constant))
}

/// Refuses a field of another problem than the chosen one.
fn only_with(
    spec: &ProblemSpec,
    field: &'static str,
    given: bool,
    kind: ProblemKind,
) -> Result<(), PlanError> {
    if given && spec.kind != kind {
        let allowed = format!("it applies only to problem {}", kind.name());
        return Err(value(field, format!("given with problem {}", spec.kind.name()), allowed));
    }
    Ok(())
}

impl ProblemSpec {
    /// Its grid; `None` where there is no such grid.
    pub fn grid(&self) -> Option<Shape> {
        shape(self).ok()
    }

    /// The row of the problem's own matrix, whatever was chosen in its place; `None` where it has none, or its shape
    /// is invalid.
    pub fn own_stencil(&self) -> Option<Stencil> {
        let shape = self.grid()?;
        match self.kind {
            ProblemKind::Matrix | ProblemKind::Diffusion => None,
            ProblemKind::ConvectionDiffusion => convection_diffusion(self, &shape).ok(),
            _ => Some(Stencil::poisson(&shape)),
        }
    }
}

fn convection_diffusion(spec: &ProblemSpec, shape: &Shape) -> Result<Stencil, PlanError> {
    let velocity = spec.velocity.unwrap_or(WIND);
    if velocity.iter().any(|v| !v.is_finite()) {
        return Err(value(
            "velocity",
            as_written(&velocity.map(plain), ","),
            "it must be finite numbers",
        ));
    }
    if shape.dim() < 3 && velocity[2] != 0.0 {
        let allowed = format!("a {}D grid has no third component", shape.dim());
        return Err(value("velocity", as_written(&velocity.map(plain), ","), allowed));
    }
    Ok(Stencil::convection_diffusion(shape, velocity))
}

/// Refuses a conductivity with another problem.
fn only_with_diffusion(spec: &ProblemSpec) -> Result<(), PlanError> {
    for (field, given) in [
        ("conductivity", spec.conductivity.is_some()),
        ("jump", spec.jump.is_some()),
        ("interface", spec.interface.is_some()),
    ] {
        only_with(spec, field, given, ProblemKind::Diffusion)?;
    }
    Ok(())
}

/// The matrix of a conductivity.
fn diffusion(spec: &ProblemSpec, shape: &Shape) -> Result<Diffusion, PlanError> {
    let range = Diffusion::RANGE;
    let allowed = || format!("it must be {:e} to {:e}", range.start(), range.end());
    if spec.stencil.is_some() {
        let allowed = "the conductivity makes the rows";
        return Err(value("stencil", "given with problem diffusion", allowed));
    }
    let Jump { ratio, interface } = spec.jump();
    let is_line =
        interface[0] != interface[1] && interface.as_flattened().iter().all(|x| x.is_finite());
    let conductivity = match &spec.conductivity {
        Some(_) if spec.jump.is_some() || spec.interface.is_some() => {
            let field = if spec.jump.is_some() { "jump" } else { "interface" };
            let allowed = "the file has the conductivity of every point";
            return Err(value(field, "given with a conductivity", allowed));
        }
        // It could not be written into a run's description.
        Some(path) if path.to_str().is_none() => {
            let allowed = "its name must be text (UTF-8)";
            return Err(value("conductivity", path.display(), allowed));
        }
        Some(path) => {
            let values = input::load_array(path, shape)?;
            if let Some(at) = values.iter().position(|value| !range.contains(value)) {
                let (i, row) = (at % shape.nx(), at / shape.nx());
                let given = format!("{} at point ({i}, {row})", plain(values[at]));
                return Err(value("conductivity", given, allowed()));
            }
            Conductivity::Array(values)
        }
        None if !range.contains(&ratio) => return Err(value("jump", plain(ratio), allowed())),
        None if !is_line => {
            let allowed = "it must be two different points, such as 0.5,0 and 0.5,1";
            let interface_text =
                interface.map(|point| as_written(&point.map(plain), ",")).join(" and ");
            return Err(value("interface", interface_text, allowed));
        }
        None => Conductivity::Jump(Jump { ratio, interface }),
    };
    Diffusion::new(shape, conductivity).ok_or_else(|| {
        let allowed = "with problem diffusion it must have one or two axes";
        value("shape", shape, allowed)
    })
}

fn check_boundary(boundary: &Boundary, shape: &Shape) -> Result<(), PlanError> {
    const FIELDS: [[&str; 2]; 3] = [
        ["boundary.left", "boundary.right"],
        ["boundary.top", "boundary.bottom"],
        ["boundary.front", "boundary.back"],
    ];
    for (axis, (fields, sides)) in FIELDS.into_iter().zip(boundary.sides()).enumerate() {
        for (field, side) in fields.into_iter().zip(sides) {
            if !side.is_finite() {
                return Err(value(field, plain(side), "it must be a finite number"));
            }
            if axis >= shape.dim() && side != 0.0 {
                let allowed = format!("a {}D grid does not have this side", shape.dim());
                return Err(value(field, plain(side), allowed));
            }
        }
    }
    Ok(())
}

/// Unit charges, spread over the cell of the point that they lie in.
fn point_sources(shape: &Shape) -> Source {
    let cells: f64 = shape.axes().iter().map(|&n| (n + 1) as f64).product();
    let points = SOURCES.iter().map(|&([x, y, z], charge)| {
        let index = |part: f64, n: usize| ((part * n as f64) as usize).min(n - 1);
        let row =
            (shape.dim() > 1).then(|| index(y, shape.ny()) + shape.ny() * index(z, shape.nz()));
        (index(x, shape.nx()), row, charge * cells)
    });
    Source::Points(points.collect())
}

impl StopSpec {
    /// What is compared with the tolerance, of norms of the residual and of the update of a cycle.
    pub(super) fn compared(
        &self,
        residual: Option<f64>,
        max_change: Option<f64>,
        sweeps_per_cycle: u64,
    ) -> Option<f64> {
        match self.rule {
            StopRule::Residual => residual,
            StopRule::Change => max_change,
            StopRule::ChangePerSweep => max_change.map(|change| change / sweeps_per_cycle as f64),
        }
    }

    /// Whether the update of a cycle decides where a run ends.
    pub(super) fn compares_change(&self) -> bool {
        self.rule != StopRule::Residual && self.tolerance.is_some()
    }
}
