//! Grids that are larger than a GPU's memory: planes of them visit it, and the iterate lives in the memory of this
//! machine. A `Pass` says what is copied and computed, `lanes` does so on three streams, with `sweep` for the
//! kernels, `ring` for the working arrays and `pinned` for the arrays here.

mod lanes;
mod link;
mod pinned;
mod ring;
mod sweep;

use super::gpu::Gpu;
use super::host::ObservedOnHost;
use super::kernels;
use super::real::DeviceReal;
use super::setting::Setting;
use super::solver::CudaSolver;
use crate::clock::Instant;
use crate::grid::{Field, Precision, Shape};
use crate::problem::{Problem, System};
use crate::solver::cpu::{CpuSolver, Level};
use crate::solver::streaming::Planes;
use crate::solver::{
    Advance, ArrayFiles, Batch, CycleNorms, Describe, DeviceInfo, Kernel, Method, NormRequest,
    Norms, Observe, Pass, PassTimes, Solver, SolverError, Streaming, Traffic,
};
pub(super) use link::link_speed;

use lanes::{Lanes, Slow, Window, Work};
use pinned::Pinned;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;
use sweep::PlaneSweep;

/// Passes are made in batches of this duration.
const BATCH: Duration = Duration::from_millis(5);

/// The right-hand side on this machine, shared by the solvers of a system.
struct RightHandSide<R> {
    /// Dropped before the array that it pins.
    _pinned: Option<Pinned>,
    system: Arc<System<R>>,
}

/// A solver that streams planes through one NVIDIA GPU. Its iterates are those of the CPU to the last bit, and they
/// are observed by the CPU's code where they are.
pub(super) struct StreamSolver<R: DeviceReal> {
    lanes: Lanes,
    windows: Vec<Window>,
    sweep: PlaneSweep<R>,
    pass: Pass,
    /// Of the last pass, if one was made.
    traffic: Option<Traffic>,
    times: Option<Arc<PassTimes>>,
    info: DeviceInfo,
    problem: Arc<Problem>,
    gpu: Arc<Gpu>,
    rhs: Arc<RightHandSide<R>>,
    /// The pages of the two iterates: dropped before them.
    _pinned: [Option<Pinned>; 2],
    host: CpuSolver<R>,
}

impl<R: DeviceReal> StreamSolver<R> {
    /// Sets up a solver at the initial guess u₀.
    ///
    /// # Errors
    /// [`SolverError`] if the run does not fit into this machine or its window onto the GPU, or the
    /// kernel does not accept the method.
    pub fn new(
        problem: &Arc<Problem>,
        streaming: &Streaming,
        gpu: Arc<Gpu>,
        kernel: Kernel,
    ) -> Result<Self, SolverError> {
        let host = || CpuSolver::new(problem, Method::Classic, Level::best(), 0);
        Self::with_host(problem, streaming, gpu, kernel, host)
    }

    /// The same with arrays that lie in files. Their pages are not pinned, so that copies go through memory that the driver
    /// has pinned for itself.
    ///
    /// # Errors
    /// As [`StreamSolver::new`], and [`SolverError::Files`] if the files cannot be used.
    pub fn in_files(
        files: &ArrayFiles,
        problem: &Arc<Problem>,
        streaming: &Streaming,
        gpu: Arc<Gpu>,
        kernel: Kernel,
    ) -> Result<Self, SolverError> {
        let host = || CpuSolver::in_files(files, problem, &Method::Classic, Level::best(), 0);
        Self::with_host(problem, streaming, gpu, kernel, host)
    }

    fn with_host(
        problem: &Arc<Problem>,
        streaming: &Streaming,
        gpu: Arc<Gpu>,
        kernel: Kernel,
        host: impl FnOnce() -> Result<CpuSolver<R>, SolverError>,
    ) -> Result<Self, SolverError> {
        check_kernel::<R>(problem, streaming, &gpu, kernel)?;
        // Before the arrays on this machine are filled.
        let windows = Self::windows(&gpu, &problem.shape, streaming)?;
        let host = host()?;
        let system = Arc::clone(host.grid().ok_or(SolverError::Operator("a matrix"))?);
        let pinned = pinned(&gpu, system.g.as_slice(), system.g.is_mapped())?;
        let rhs = Arc::new(RightHandSide { _pinned: pinned, system });
        Self::at_start(problem, streaming, gpu, windows, host, rhs)
    }

    fn windows(
        gpu: &Arc<Gpu>,
        shape: &Shape,
        streaming: &Streaming,
    ) -> Result<Vec<Window>, SolverError> {
        let plane_bytes = Planes::of(shape).stored * size_of::<R>();
        Window::of(gpu, &Pass::on_gpu(streaming, shape), plane_bytes)
    }

    fn at_start(
        problem: &Arc<Problem>,
        streaming: &Streaming,
        gpu: Arc<Gpu>,
        windows: Vec<Window>,
        mut host: CpuSolver<R>,
        rhs: Arc<RightHandSide<R>>,
    ) -> Result<Self, SolverError> {
        let shape = problem.shape;
        let pass = Pass::on_gpu(streaming, &shape);
        let sweep = PlaneSweep::new(&gpu, &rhs.system, shape, pass.most_swept())?;
        let is_in_files = host.is_in_files();
        let (current, previous) = host.arrays_mut();
        let pinned = [pinned(&gpu, current, is_in_files)?, pinned(&gpu, previous, is_in_files)?];
        let info = DeviceInfo {
            ordinal: gpu.ordinal,
            name: gpu.name.clone(),
            kernel: Kernel::CLASSIC,
            footprint: sweep.footprint(),
        };
        Ok(Self {
            lanes: Lanes::new(&gpu)?,
            windows,
            sweep,
            pass,
            traffic: None,
            times: None,
            info,
            problem: Arc::clone(problem),
            gpu,
            rhs,
            _pinned: pinned,
            host,
        })
    }

    /// Fills what the next cycle is to write with NaN.
    pub fn poison(&mut self) -> Result<(), SolverError> {
        let shape = self.problem.shape;
        let (_, next) = self.host.arrays_mut();
        for row in 0..shape.rows() {
            let start = shape.row_start(row) + 1;
            next[start..start + shape.nx()].fill(R::from_f64(f64::NAN));
        }
        let stream = self.lanes.stream();
        let poisoned = self.windows.iter().try_for_each(|window| window.poison(stream));
        self.gpu.check(poisoned.and_then(|()| stream.synchronize()))
    }

    /// Makes one pass; returns its seconds.
    fn pass(&mut self) -> Result<f64, SolverError> {
        let shape = self.problem.shape;
        let axis = Planes::of(&shape);
        let needed = (shape.points() * self.pass.height()) as u64;
        let mut traffic = Traffic { needed, ..Traffic::default() };
        let (from, to) = self.host.arrays_mut();
        let slow = Slow { from, g: self.rhs.system.g.as_slice(), to };
        let mut work = Work {
            pass: &self.pass,
            windows: &self.windows,
            sweep: &self.sweep,
            axis,
            traffic: &mut traffic,
            is_timed: false,
        };
        let seconds = self.gpu.check(self.lanes.pass(&mut work, &shape, slow))?;
        self.host.swap();
        self.traffic = Some(traffic);
        Ok(seconds)
    }

    /// Makes one cycle with these norms. None come with it: each is a pass over the arrays on this machine.
    fn cycle(&mut self, norms: NormRequest) -> Result<(f64, CycleNorms), SolverError> {
        let before = self.host.norms(NormRequest {
            residual_l2: true,
            residual_max: norms.residual_max,
            ..NormRequest::NONE
        })?;
        let seconds = self.pass()?;
        let after = self.host.norms(norms.without(NormRequest::RESIDUAL))?;
        let residual_before = before.residual.unwrap_or_default();
        let Norms { max_change, error, .. } = after;
        Ok((seconds, CycleNorms { residual_before, max_change, error }))
    }
}

/// Pins an array, unless it lies in a file: the system moves its pages.
fn pinned<R>(
    gpu: &Arc<Gpu>,
    values: &[R],
    is_in_file: bool,
) -> Result<Option<Pinned>, SolverError> {
    if is_in_file { Ok(None) } else { Pinned::new(gpu, values) }
}

/// Bytes of the working arrays of a pass on a GPU.
pub(super) fn bytes(
    gpu: &Gpu,
    shape: &Shape,
    streaming: &Streaming,
    precision: Precision,
) -> Result<u64, SolverError> {
    let pass = Pass::on_gpu(streaming, shape);
    lanes::bytes(gpu, &pass, Planes::of(shape).stored * precision.bytes())
}

/// Whether `kernel` sweeps planes of this grid.
fn check_kernel<R: DeviceReal>(
    problem: &Problem,
    streaming: &Streaming,
    gpu: &Gpu,
    kernel: Kernel,
) -> Result<(), SolverError> {
    let setting = Setting {
        method: &Method::Streaming(*streaming),
        precision: R::PRECISION,
        shared_bytes: gpu.most_shared,
        is_per_point: problem.operator.is_per_point(),
        block_size: None,
    };
    kernels::choose(kernel, &setting).map(drop).map_err(|refused| refused.error(kernel))
}

impl<R: DeviceReal> Advance for StreamSolver<R> {
    fn cycles(&mut self, most: u64, norms: NormRequest) -> Result<Batch, SolverError> {
        let begin = Instant::now();
        let mut batch = Batch { cycles: 0, norms: Vec::new(), seconds: 0.0 };
        loop {
            if norms.is_empty() {
                batch.seconds += self.pass()?;
            } else {
                let (seconds, found) = self.cycle(norms)?;
                batch.seconds += seconds;
                batch.norms.push(found);
            }
            batch.cycles += 1;
            if batch.cycles >= most || begin.elapsed() >= BATCH {
                let points = Planes::of(&self.problem.shape).points;
                let times = self.gpu.check(self.lanes.times(&self.pass, points))?;
                self.times = Some(Arc::new(times));
                return Ok(batch);
            }
        }
    }

    fn restart(&mut self) -> Result<(), SolverError> {
        self.host.restart()
    }

    fn start_from(&mut self, iterate: &Field<f64>) -> Result<(), SolverError> {
        self.host.start_from(iterate)
    }

    fn sync(&self) -> Result<(), SolverError> {
        self.host.sync()
    }

    fn set_exact(&mut self, exact: Arc<Field<f64>>) -> Result<(), SolverError> {
        self.host.set_exact(exact)
    }
}

impl<R: DeviceReal> ObservedOnHost for StreamSolver<R> {
    type Real = R;

    fn host(&self, _: bool) -> Result<impl Deref<Target = CpuSolver<R>>, SolverError> {
        // Its iterates live there.
        Ok(&self.host)
    }
}

impl<R: DeviceReal> Describe for StreamSolver<R> {
    fn shape(&self) -> &Shape {
        &self.problem.shape
    }

    fn free_norms(&self) -> NormRequest {
        NormRequest::NONE
    }

    fn traffic(&self) -> Option<Traffic> {
        self.traffic
    }

    fn pass_times(&self) -> Option<Arc<PassTimes>> {
        self.times.clone()
    }

    fn device(&self) -> Option<&DeviceInfo> {
        Some(&self.info)
    }
}

impl<R: DeviceReal> Solver for StreamSolver<R> {
    fn with_method(&self, method: Method, kernel: Kernel) -> Result<Box<dyn Solver>, SolverError> {
        let Method::Streaming(streaming) = method else {
            let gpu = Arc::clone(&self.gpu);
            let mut beside = CudaSolver::<R>::on(&self.problem, method, gpu, kernel, None)?;
            if let Some(exact) = self.host.exact() {
                beside.set_exact(Arc::clone(exact))?;
            }
            return Ok(Box::new(beside));
        };
        check_kernel::<R>(&self.problem, &streaming, &self.gpu, kernel)?;
        let (gpu, rhs) = (Arc::clone(&self.gpu), Arc::clone(&self.rhs));
        let windows = Self::windows(&gpu, &self.problem.shape, &streaming)?;
        let host = self.host.beside(&Method::Classic)?;
        let beside = Self::at_start(&self.problem, &streaming, gpu, windows, host, rhs)?;
        Ok(Box::new(beside))
    }

    fn set_streaming(&mut self, streaming: Streaming) -> Result<bool, SolverError> {
        let shape = self.problem.shape;
        // The working arrays of both may not fit at once.
        self.windows.clear();
        self.windows = Self::windows(&self.gpu, &shape, &streaming)?;
        self.pass = Pass::on_gpu(&streaming, &shape);
        self.sweep = PlaneSweep::new(&self.gpu, &self.rhs.system, shape, self.pass.most_swept())?;
        (self.traffic, self.times) = (None, None);
        Ok(true)
    }
}
