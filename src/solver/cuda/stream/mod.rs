//! Grids that are larger than a GPU's memory: planes of them visit it, and the iterate lives in the memory of this
//! machine. A `Pass` says what is copied and computed, `lanes` does so on three streams, with `sweep` for the
//! kernels, `ring` for the working arrays and `pinned` for the arrays here. Several GPUs share the slabs of a pyramid
//! (`device`), as do several processes (`processes`), or the sweeps of a wavefront (`chain`).

mod chain;
mod device;
mod followed;
mod lanes;
mod link;
mod pinned;
mod processes;
mod ring;
mod sweep;
mod together;

use super::device::{Device, Gpus};
use super::gpu::Gpu;
use super::host::{Host, Iterate, ObservedOnHost};
use super::kernels;
use super::nccl::Communicator;
use super::real::DeviceReal;
use super::setting::Setting;
use super::several::{self, check_room, name_of, title_of_all};
use super::solver::CudaSolver;
use crate::clock::Instant;
use crate::grid::{Field, Precision, Shape};
use crate::problem::{Problem, System};
use crate::solver::cpu::{CpuSolver, Level};
use crate::solver::streaming::Planes;
use crate::solver::{
    Advance, ArrayFiles, Batch, CycleNorms, Describe, DeviceInfo, ExchangePath, Kernel, Method,
    NormRequest, Norms, Observe, Pass, PassProgress, PassTimes, RankOf, Solver, SolverError,
    Streaming, Traffic,
};
pub(super) use link::link_speed;

use chain::Chain;
use device::{Part, StreamDevice};
use followed::Followed;
use lanes::{Slow, Window};
use pinned::Pinned;
use processes::Processes;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

/// Passes are made in batches of this duration.
const BATCH: Duration = Duration::from_millis(5);

/// Points that are swept in a launch from which on a pass is followed: to note a sweep takes 2 µs, and these take 100.
const LEAST_FOLLOWED: usize = 8_000_000;

/// The right-hand side on this machine, shared by the solvers of a system.
struct RightHandSide<R> {
    /// Dropped before the array that it pins.
    _pinned: Option<Pinned>,
    system: Arc<System<R>>,
}

/// A solver that streams planes through NVIDIA GPUs. Its iterates are those of the CPU to the last bit, and they
/// are observed by the CPU's code where they are.
pub(super) struct StreamSolver<R: DeviceReal> {
    devices: Vec<StreamDevice<R>>,
    /// The ways between them, if they share the sweeps of a wavefront.
    chain: Option<Chain>,
    method: Method,
    /// Of the last pass, if one was made.
    traffic: Option<Traffic>,
    times: Option<Arc<PassTimes>>,
    /// Of a single device whose sweeps take long enough, on a GPU that can tell.
    followed: Option<Followed>,
    info: DeviceInfo,
    /// The kernel that was chosen, perhaps [`Kernel::AUTO`].
    chosen: Kernel,
    problem: Arc<Problem>,
    on: Vec<Device>,
    exchange: ExchangePath,
    rhs: Arc<RightHandSide<R>>,
    /// The pages of the two iterates: dropped before them.
    _pinned: [Option<Pinned>; 2],
    /// The others, if this is one of several processes.
    processes: Option<Processes<R>>,
    host: Host<R>,
}

impl<R: DeviceReal> StreamSolver<R> {
    /// Sets up a solver at the initial guess u₀.
    ///
    /// # Errors
    /// [`SolverError`] if the run does not fit into this machine or its window onto a GPU, or the
    /// kernel does not accept the method.
    pub fn new(
        problem: &Arc<Problem>,
        method: &Method,
        on: Gpus<'_>,
        kernel: Kernel,
    ) -> Result<Self, SolverError> {
        let host = || CpuSolver::new(problem, Method::Classic, Level::best(), 0);
        let parts = Self::parts(problem, method, on.devices, kernel)?;
        Self::with_host(problem, method, on, (parts, kernel), host)
    }

    /// The same with arrays that lie in files. Their pages are not pinned, so that copies go through memory that the driver
    /// has pinned for itself.
    ///
    /// # Errors
    /// As [`StreamSolver::new`], and [`SolverError::Files`] if the files cannot be used.
    pub fn in_files(
        files: &ArrayFiles,
        problem: &Arc<Problem>,
        method: &Method,
        on: Gpus<'_>,
        kernel: Kernel,
    ) -> Result<Self, SolverError> {
        let host = || CpuSolver::in_files(files, problem, &Method::Classic, Level::best(), 0);
        let parts = Self::parts(problem, method, on.devices, kernel)?;
        Self::with_host(problem, method, on, (parts, kernel), host)
    }

    /// Sets up the part of one of several processes, which share the slabs as devices of one process do, at the initial
    /// guess u₀. It is collective, as are cycles, norms, and the first observation of an iterate, which makes it whole on
    /// every process.
    ///
    /// # Errors
    /// As [`StreamSolver::new`], also if NCCL fails.
    pub fn of_rank(
        problem: &Arc<Problem>,
        method: &Method,
        device: &Device,
        kernel: Kernel,
        own: RankOf,
    ) -> Result<Self, SolverError> {
        let (rank, shape) = (own.rank, problem.shape);
        let method = &method.clone().in_processes(&shape);
        let Some(devices) = method.devices().filter(|devices| devices.count() == rank.count) else {
            return Err(SolverError::Operator("a run that is shared out over other processes"));
        };
        let on = Gpus { devices: std::slice::from_ref(device), exchange: ExchangePath::Nccl };
        let mut parts = Self::parts(problem, method, on.devices, kernel)?;
        let parts = vec![parts.swap_remove(rank.index)];
        let host = || CpuSolver::new(problem, Method::Classic, Level::best(), 0);
        let mut solver = Self::with_host(problem, method, on, (parts, kernel), host)?;
        let gpu = solver.devices[0].gpu();
        let joined = (Communicator::join(gpu, own)?, rank);
        let processes = Processes::new(gpu, joined, &shape, devices.shares().of_devices())?;
        solver.info.name = title_of_all(&processes.names);
        // Its own passes are not those of the grid.
        (solver.followed, solver.processes) = (None, Some(processes));
        Ok(solver)
    }

    fn with_host(
        problem: &Arc<Problem>,
        method: &Method,
        on: Gpus<'_>,
        (parts, kernel): (Vec<Part>, Kernel),
        host: impl FnOnce() -> Result<CpuSolver<R>, SolverError>,
    ) -> Result<Self, SolverError> {
        // Before the arrays on this machine are filled.
        let prepared = Prepared::new::<R>(&problem.shape, parts, on.exchange)?;
        let host = host()?;
        let system = Arc::clone(host.grid().ok_or(SolverError::Operator("a matrix"))?);
        let gpu = &prepared.parts[0].gpu;
        let pinned = pinned(gpu, system.g.as_slice(), system.g.is_mapped())?;
        let rhs = Arc::new(RightHandSide { _pinned: pinned, system });
        Self::at_start(problem, method, on, (prepared, kernel), host, rhs)
    }

    /// What each device makes, if the kernel sweeps planes there.
    fn parts(
        problem: &Problem,
        method: &Method,
        on: &[Device],
        kernel: Kernel,
    ) -> Result<Vec<Part>, SolverError> {
        let mut parts = Part::all(method, &problem.shape, on)?;
        for part in &mut parts {
            part.kernel = choose::<R>(problem, method, &part.gpu, kernel)?;
        }
        Ok(parts)
    }

    fn at_start(
        problem: &Arc<Problem>,
        method: &Method,
        on: Gpus<'_>,
        (Prepared { parts, chain, windows }, kernel): (Prepared, Kernel),
        mut host: CpuSolver<R>,
        rhs: Arc<RightHandSide<R>>,
    ) -> Result<Self, SolverError> {
        let shape = problem.shape;
        let gpus: Vec<_> = parts.iter().map(|part| Arc::clone(&part.gpu)).collect();
        let devices = parts.into_iter().zip(windows);
        let devices = devices
            .map(|(part, windows)| StreamDevice::new(part, windows, &rhs.system, shape))
            .collect::<Result<Vec<_>, _>>()?;
        let is_in_files = host.is_in_files();
        let (current, previous) = host.arrays_mut();
        let pinned =
            [pinned(&gpus[0], current, is_in_files)?, pinned(&gpus[0], previous, is_in_files)?];
        let info = DeviceInfo {
            ordinal: gpus[0].ordinal,
            name: name_of(&gpus),
            kernel: devices[0].kernel(),
            footprint: devices[0].footprint(),
        };
        Ok(Self {
            method: method.clone(),
            traffic: None,
            times: None,
            followed: followed(&devices, &shape),
            info,
            devices,
            chain,
            chosen: kernel,
            problem: Arc::clone(problem),
            on: on.devices.to_vec(),
            exchange: on.exchange,
            rhs,
            _pinned: pinned,
            processes: None,
            host: Host::new(host),
        })
    }

    /// Fills what the next cycle is to write with NaN.
    pub fn poison(&mut self) -> Result<(), SolverError> {
        let shape = self.problem.shape;
        let (_, next) = self.host.solver_mut().arrays_mut();
        for row in 0..shape.rows() {
            let start = shape.row_start(row) + 1;
            next[start..start + shape.nx()].fill(R::from_f64(f64::NAN));
        }
        self.devices.iter().try_for_each(StreamDevice::poison)
    }

    /// Makes one pass; returns its seconds, which every process of several has.
    fn pass(&mut self) -> Result<f64, SolverError> {
        let shape = self.problem.shape;
        let (from, to) = self.host.solver_mut().arrays_mut();
        let slow = Slow { from, g: self.rhs.system.g.as_slice(), to };
        let followed = self.followed.as_ref();
        let note = |step| followed.map_or((), |followed| followed.set(step, 0));
        note(0);
        let made = device::pass(&self.devices, self.chain.as_ref(), &shape, slow, followed);
        note(self.devices[0].steps());
        let gpus = || self.devices.iter().map(StreamDevice::gpu);
        let (moved, seconds) = made.map_err(|error| several::failed(gpus(), error))?;
        let needed = shape.points() as u64 * self.method.sweeps_per_cycle();
        let made = (Traffic { needed, ..moved }, seconds);
        self.host.swap(self.processes.is_none());
        let (traffic, seconds) = match &self.processes {
            None => made,
            Some(processes) => {
                let begin = Instant::now();
                processes.exchange(self.host.solver_mut().arrays_mut().0)?;
                processes.add_traffic(made.0, seconds + begin.elapsed().as_secs_f64())?
            }
        };
        self.traffic = Some(traffic);
        Ok(seconds)
    }

    /// Makes one cycle with these norms. None come with it: each is a pass over the arrays on this machine.
    fn cycle(&mut self, norms: NormRequest) -> Result<(f64, CycleNorms), SolverError> {
        let before = self.present_norms(NormRequest {
            residual_l2: true,
            residual_max: norms.residual_max,
            ..NormRequest::NONE
        })?;
        let seconds = self.pass()?;
        let after = self.present_norms(norms.without(NormRequest::RESIDUAL))?;
        let residual_before = before.residual.unwrap_or_default();
        let Norms { max_change, error, .. } = after;
        Ok((seconds, CycleNorms { residual_before, max_change, error }))
    }
}

/// What each device makes of a pass, the ways between them, and their working arrays.
struct Prepared {
    parts: Vec<Part>,
    chain: Option<Chain>,
    windows: Vec<Vec<Window>>,
}

impl Prepared {
    fn new<R>(
        shape: &Shape,
        parts: Vec<Part>,
        exchange: ExchangePath,
    ) -> Result<Self, SolverError> {
        let plane_bytes = Planes::of(shape).stored * size_of::<R>();
        check_windows(&parts, plane_bytes)?;
        let chain = Chain::of(&parts, exchange, plane_bytes)?;
        let window = |(index, part): (usize, &Part)| {
            let writer = chain.as_ref().map(|chain| chain.writer(&parts, index)).transpose()?;
            Window::of(&part.gpu, &part.pass, plane_bytes, writer.flatten().as_deref())
        };
        let windows = parts.iter().enumerate().map(window).collect::<Result<_, _>>()?;
        Ok(Self { parts, chain, windows })
    }
}

/// What follows the passes of these devices, where that costs next to nothing.
fn followed<R: DeviceReal>(devices: &[StreamDevice<R>], shape: &Shape) -> Option<Followed> {
    let [device] = devices else { return None };
    let points = device.most_swept() * Planes::of(shape).points;
    if points < LEAST_FOLLOWED { None } else { Followed::on(device.gpu()) }
}

/// Pins an array, unless it lies in a file: the system moves its pages.
fn pinned<R>(
    gpu: &Arc<Gpu>,
    values: &[R],
    is_in_file: bool,
) -> Result<Option<Pinned>, SolverError> {
    if is_in_file { Ok(None) } else { Pinned::new(gpu, values) }
}

/// Checks that the working arrays of a pass fit into what is free on its GPUs.
///
/// # Errors
/// [`SolverError`] if they do not, or a GPU cannot be used.
pub(super) fn check_memory(
    shape: &Shape,
    method: &Method,
    precision: Precision,
    on: &[Device],
) -> Result<(), SolverError> {
    let parts = Part::all(method, shape, on)?;
    check_windows(&parts, Planes::of(shape).stored * precision.bytes())
}

/// The same of all devices together, with so many bytes from a plane to the next.
fn check_windows(parts: &[Part], plane_bytes: usize) -> Result<(), SolverError> {
    let mut needed: HashMap<u32, u64> = HashMap::new();
    for Part { gpu, pass, .. } in parts {
        *needed.entry(gpu.ordinal).or_default() += lanes::bytes(gpu, pass, plane_bytes)?;
    }
    let gpus: Vec<_> = parts.iter().map(|part| Arc::clone(&part.gpu)).collect();
    check_room(&gpus, &needed)
}

/// The kernel that sweeps planes of this grid where `kernel` is chosen.
fn choose<R: DeviceReal>(
    problem: &Problem,
    method: &Method,
    gpu: &Gpu,
    kernel: Kernel,
) -> Result<Kernel, SolverError> {
    let setting = Setting {
        method,
        precision: R::PRECISION,
        shape: &problem.shape,
        shared_bytes: gpu.most_shared,
        is_per_point: problem.operator.is_per_point(),
        block_size: None,
    };
    let chosen = kernels::choose(kernel, &setting).map_err(|refused| refused.error(kernel))?;
    Ok(Kernel::named(chosen.name))
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
            let elapsed = match self.processes {
                None => begin.elapsed(),
                // The same for all of them.
                Some(_) => Duration::from_secs_f64(batch.seconds),
            };
            if batch.cycles >= most || elapsed >= BATCH {
                let points = Planes::of(&self.problem.shape).points;
                // Of the first device.
                self.times = Some(Arc::new(self.devices[0].times(points)?));
                return Ok(batch);
            }
        }
    }

    fn restart(&mut self) -> Result<(), SolverError> {
        self.host.present().restart()
    }

    fn start_from(&mut self, iterate: &Field<f64>) -> Result<(), SolverError> {
        self.host.present().start_from(iterate)
    }

    fn sync(&self) -> Result<(), SolverError> {
        self.host.solver().sync()
    }

    fn set_exact(&mut self, exact: Arc<Field<f64>>) -> Result<(), SolverError> {
        self.host.solver_mut().set_exact(exact)
    }
}

impl<R: DeviceReal> ObservedOnHost for StreamSolver<R> {
    type Real = R;

    fn host(&self, needs_previous: bool) -> Result<impl Deref<Target = CpuSolver<R>>, SolverError> {
        self.host.updated(needs_previous, |which, solver| {
            // Those of a process alone are there.
            let Some(processes) = &self.processes else { return Ok(()) };
            let (iterate, previous) = solver.arrays_mut();
            processes.collect(match which {
                Iterate::Present => iterate,
                Iterate::Before => previous,
            })
        })
    }

    fn present_norms(&self, request: NormRequest) -> Result<Norms, SolverError> {
        let shared = self.processes.as_ref().and_then(|it| Some((it, it.rows()?)));
        let Some((processes, rows)) = shared else {
            return self.host(request.max_change)?.norms(request);
        };
        let host = self.host.solver();
        let own = host.parts_of_norms(request, rows);
        Ok(host.norms_of(request, processes.add_norms(own)?))
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

    fn pass_progress(&self) -> Option<Arc<PassProgress>> {
        self.followed.as_ref().map(|followed| Arc::clone(followed.progress()))
    }

    fn device(&self) -> Option<&DeviceInfo> {
        Some(&self.info)
    }

    fn exchange_paths(&self) -> &[ExchangePath] {
        match (&self.processes, &self.chain) {
            (Some(_), _) => &[ExchangePath::Nccl],
            (None, Some(chain)) => &chain.used,
            (None, None) => &[],
        }
    }
}

impl<R: DeviceReal> Solver for StreamSolver<R> {
    fn with_method(&self, method: Method, kernel: Kernel) -> Result<Box<dyn Solver>, SolverError> {
        if self.processes.is_some() {
            return Err(SolverError::Operator("another method beside that of several processes"));
        }
        let on = Gpus { devices: &self.on, exchange: self.exchange };
        if method.streaming().is_some() {
            let parts = Self::parts(&self.problem, &method, &self.on, kernel)?;
            let prepared = Prepared::new::<R>(&self.problem.shape, parts, self.exchange)?;
            let host = self.host.solver().beside(&Method::Classic)?;
            let rhs = Arc::clone(&self.rhs);
            let made = (prepared, kernel);
            return Ok(Box::new(Self::at_start(&self.problem, &method, on, made, host, rhs)?));
        }
        let mut beside: Box<dyn Solver> = if method.devices().is_some() {
            super::set_up::<R>(&self.problem, method, on, (kernel, None), false)?
        } else {
            let gpu = Arc::clone(self.devices[0].gpu());
            Box::new(CudaSolver::<R>::on(&self.problem, method, gpu, kernel, None)?)
        };
        if let Some(exact) = self.host.solver().exact() {
            beside.set_exact(Arc::clone(exact))?;
        }
        Ok(beside)
    }

    fn set_streaming(&mut self, streaming: Streaming) -> Result<bool, SolverError> {
        // Other slabs would be other shares.
        let [device] = &mut self.devices[..] else { return Ok(false) };
        if self.method.devices().is_some() {
            return Ok(false);
        }
        let (shape, method) = (self.problem.shape, Method::Streaming(streaming));
        let kernel = choose::<R>(&self.problem, &method, device.gpu(), self.chosen)?;
        // The working arrays of both may not fit at once.
        device.clear();
        let pass = Pass::on_gpu(&streaming, &shape);
        let plane_bytes = Planes::of(&shape).stored * size_of::<R>();
        let windows = Window::of(device.gpu(), &pass, plane_bytes, None)?;
        device.set_pass((pass, kernel), windows, &self.rhs.system, shape)?;
        (self.info.kernel, self.info.footprint) = (kernel, device.footprint());
        self.method = method;
        (self.traffic, self.times) = (None, None);
        self.followed = followed(&self.devices, &shape);
        Ok(true)
    }
}
