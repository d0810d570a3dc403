//! A grid or a sparse matrix that several GPUs share, or one GPU that simulates them: each keeps the planes, or the
//! rows, of its tiles and makes their cycles; devices exchange what their tiles read of each other.
//!
//! | file | |
//! |---|---|
//! | `share.rs` | what one device has |
//! | `kept.rs` | what of the arrays it keeps |
//! | `part.rs` | what is different for a grid and for a matrix |
//! | `grid.rs`, `blocks.rs` | what a device makes of either |
//! | `cycles.rs` | a cycle of all devices, and in which order streams do it |
//! | `messages.rs` | what devices send to each other |
//! | `paths.rs` | the ways between devices |
//! | `transfer.rs` | values on one of them |
//! | `pack.rs` | values that lie apart, brought together for a copy |
//! | `speed.rs` | how fast each GPU is, where a grid is shared out by that |
//! | `norms.rs` | norms of a grid by a pass over what every device owns |
//! | `links.rs` | latency and bandwidth of the links between GPUs, measured |
//! | `rank/` | the same where each GPU has a process of its own, through NCCL |
//!
//! A batch of cycles is made as on one GPU (`graph_batch.rs`), and its norms are added on the first device in the order of
//! tiles. Fields are observed on this machine.

mod blocks;
mod cycles;
mod grid;
mod kept;
mod links;
mod messages;
mod norms;
mod pack;
mod part;
mod paths;
mod rank;
mod share;
mod speed;
mod transfer;

use super::device::{Device, Gpus};
use super::gpu::Gpu;
use super::graph_batch::{GraphBatch, Iterates, Parts};
use super::host::{Host, Iterate, ObservedOnHost};
use super::real::DeviceReal;
use super::several::{self, distinct, name_of, open};
use crate::clock::Instant;
use crate::grid::{Field, Precision, Real, Shape};
use crate::problem::Problem;
use crate::solver::cpu::{CpuSolver, Level};
use crate::solver::{
    Advance, Batch, CycleNorms, Describe, DeviceInfo, Devices, ExchangePath, Footprint, Kernel,
    Method, NormRequest, Norms, Observe, Products, RankOf, SetUpTimes, ShareBy, Solver,
    SolverError, Unavailable,
};
use blocks::BlocksPart;
use cudarc::driver::CudaEvent;
use cycles::SharedCycles;
use grid::GridPart;
use messages::{Message, Report};
use part::{Cut, Part, Setup};
pub(super) use paths::{Parcel, Paths};
use share::DeviceShare;
use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::Arc;

pub(super) use links::measure as measure_links;
use rank::RankSolver;
pub(super) use transfer::{Transfer, event};

/// A solver on devices that share a grid or a matrix. Exchanged after every cycle, its iterates are those of one
/// device, to the last bit; else those of devices that a CPU simulates.
struct DevicesSolver<P: Part> {
    /// Dropped first: it waits for cycles, which use the arrays of the other fields.
    batches: GraphBatch,
    paths: Paths,
    shares: Vec<DeviceShare<P>>,
    messages: Vec<Message>,
    reports: Vec<Report>,
    forked: CudaEvent,
    iterates: Iterates,
    problem: Arc<Problem>,
    method: Method,
    devices: Vec<Device>,
    exchange: ExchangePath,
    exchange_paths: Vec<ExchangePath>,
    /// Whether some cycles are made with values of other devices that are older than the cycle before.
    has_frozen_halos: bool,
    has_exact: bool,
    device: DeviceInfo,
    host: Host<P::Real>,
    set_up: SetUpTimes,
    /// Seconds that the iterate took from the GPUs, the last time.
    download: Cell<f64>,
}

/// Sets up a solver at the initial guess u₀; for tests on poison: what its first cycle does not write is NaN.
///
/// # Errors
/// [`SolverError`] if there are no such GPUs, the run does not fit onto them or into this machine, or the kernel does
/// not accept the method.
pub(super) fn solver<R: DeviceReal>(
    problem: &Arc<Problem>,
    method: Method,
    on: Gpus<'_>,
    chosen: (Kernel, Option<u32>),
    is_poisoned: bool,
) -> Result<Box<dyn Solver>, SolverError> {
    match problem.operator.matrix() {
        None => DevicesSolver::<GridPart<R>>::boxed(problem, method, on, chosen, is_poisoned),
        Some(_) => DevicesSolver::<BlocksPart<R>>::boxed(problem, method, on, chosen, is_poisoned),
    }
}

/// Sets up the part of one of several processes, on its GPU ([`crate::solver::set_up_rank`]).
///
/// # Errors
/// As there.
pub(super) fn rank_solver<R: DeviceReal>(
    problem: &Arc<Problem>,
    method: Method,
    device: &Device,
    chosen: (Kernel, Option<u32>),
    own: RankOf,
) -> Result<Box<dyn Solver>, SolverError> {
    Ok(match problem.operator.matrix() {
        None => Box::new(RankSolver::<GridPart<R>>::new(problem, method, device, chosen, own)?),
        Some(_) => {
            Box::new(RankSolver::<BlocksPart<R>>::new(problem, method, device, chosen, own)?)
        }
    })
}

/// Checks that every device can be opened and that its share fits.
///
/// # Errors
/// [`SolverError`] if not.
pub(super) fn check(
    problem: &Problem,
    method: &Method,
    precision: Precision,
    devices: &[Device],
) -> Result<(), SolverError> {
    match (problem.operator.matrix(), precision) {
        (None, Precision::F32) => check_room::<GridPart<f32>>(problem, method, devices),
        (None, Precision::F64) => check_room::<GridPart<f64>>(problem, method, devices),
        (Some(_), Precision::F32) => check_room::<BlocksPart<f32>>(problem, method, devices),
        (Some(_), Precision::F64) => check_room::<BlocksPart<f64>>(problem, method, devices),
    }
}

impl<P: Part> DevicesSolver<P> {
    fn boxed(
        problem: &Arc<Problem>,
        method: Method,
        on: Gpus<'_>,
        chosen: (Kernel, Option<u32>),
        is_poisoned: bool,
    ) -> Result<Box<dyn Solver>, SolverError> {
        // Before anything is copied.
        check_room::<P>(problem, &method, on.devices)?;
        let host = CpuSolver::new(problem, Method::Classic, Level::best(), 0)?;
        let mut solver = Self::at_start(problem, method, on, host, chosen)?;
        if is_poisoned {
            solver.poison()?;
        }
        Ok(Box::new(solver))
    }

    fn at_start(
        problem: &Arc<Problem>,
        method: Method,
        Gpus { devices, exchange }: Gpus<'_>,
        host: CpuSolver<P::Real>,
        (kernel, block_size): (Kernel, Option<u32>),
    ) -> Result<Self, SolverError> {
        let gpus = open(devices, shared(problem, &method)?.count())?;
        let pairs = paths::pairs(shared(problem, &method)?);
        let paths = Paths::new(&gpus, exchange, &pairs)?;
        let cut = |method: &Method| {
            P::cut(&Setup {
                problem,
                method,
                devices: shared(problem, method)?,
                gpus: &gpus,
                paths: &paths,
                host: &host,
                kernel,
                block_size,
            })
        };
        let mut method = method;
        let mut made = cut(&method)?;
        if let Some(measured) = measured(shared(problem, &method)?, &made.shares)? {
            // Their arrays first: there may be no room for both.
            drop(made);
            method = method.with_devices(measured);
            check_room::<P>(problem, &method, devices)?;
            made = cut(&method)?;
        }
        let Cut { kernel, shares, messages, set_up } = made;
        let shared = shared(problem, &method)?;
        let device = device_info(&gpus, &shares, kernel)?;
        let arrays = shares[0].arrays.each_ref().map(|array| array.interior);
        let iterates = Iterates::at_start([arrays[0], arrays[1], 0, 0], 0);
        let iterates = iterates.exchanging(shared.exchange_every());
        let squares = shares.iter().map(|share| share.part.parts()).sum();
        let stream = Arc::clone(&shares[0].streams.border);
        let batches = GraphBatch::new(&gpus[0], &stream, Parts::of_cycle(squares, 0))?;
        let has_frozen_halos = shared.have_frozen_halos();
        let mut solver = Self {
            batches,
            exchange_paths: paths.used(&pairs)?,
            paths,
            forked: transfer::event(&gpus[0])?,
            shares,
            messages,
            reports: Vec::new(),
            iterates,
            problem: Arc::clone(problem),
            devices: devices.to_vec(),
            exchange,
            has_frozen_halos,
            has_exact: false,
            device,
            host: Host::new(host),
            method,
            set_up,
            download: Cell::new(0.0),
        };
        solver.set_reports(false)?;
        solver.put()?;
        Ok(solver)
    }

    /// Fills what the next cycle is to write with NaN.
    fn poison(&mut self) -> Result<(), SolverError> {
        let mut poison = self.problem.initial_iterate::<P::Real>();
        for row in 0..self.problem.shape.rows() {
            poison.interior_mut(row).fill(P::Real::from_f64(f64::NAN));
        }
        let next = self.iterates.next();
        self.shares.iter_mut().try_for_each(|share| share.put_owned(next, &poison))
    }

    /// Prepares the transfer of norms to the first device: of the sums of squares alone, or of all norms.
    fn set_reports(&mut self, all: bool) -> Result<(), SolverError> {
        let first = Arc::clone(&self.shares[0].gpu);
        let stream = Arc::clone(&self.shares[0].streams.border);
        for share in &mut self.shares {
            share.part.find_others(all)?;
        }
        let parts = Parts::of_cycle(
            self.shares.iter().map(|share| share.part.parts()).sum(),
            self.shares.iter().map(|share| share.part.other_parts()).sum(),
        );
        let parts = parts.together(self.shares[0].part.cycles_together());
        self.batches = GraphBatch::new(&first, &stream, parts)?;
        let together = self.batches.together();
        self.reports.clear();
        for (share, device) in self.shares[1..].iter_mut().zip(1..) {
            let [squares, others] = share.allocate_sums(together)?;
            let transfer = |bytes| self.paths.transfer([device, 0], bytes);
            self.reports.push(Report { squares: transfer(squares)?, others: transfer(others)? });
        }
        Ok(())
    }

    /// Copies the iterate on this machine to the devices, as the present one and the one before.
    fn put(&mut self) -> Result<(), SolverError> {
        let waited = self.batches.discard_pending();
        self.shares[0].gpu.check(waited)?;
        self.iterates = self.iterates.restarted();
        let iterate = self.host.present().iterate();
        self.shares.iter_mut().try_for_each(|share| share.put(iterate))
    }

    /// Makes a batch of cycles.
    fn batch(&mut self, most: u64, measure: bool) -> Result<Batch, SolverError> {
        self.host.outdate();
        let Self { batches, paths, shares, messages, reports, forked, iterates, .. } = self;
        let stream = Arc::clone(&shares[0].streams.border);
        let last = Cell::new(None);
        let cycles = SharedCycles { shares, messages, paths, reports, forked, last };
        let (found, cycles, seconds) = batches.batch(&cycles, &stream, iterates, most, measure)?;
        let diagonal = self.shares[0].part.diagonal();
        let all = self.batches.finds_all_norms();
        let of_cycle =
            |norms: &super::arguments::Norms| norms.of_cycle(diagonal, all, self.has_exact);
        let norms = if measure { found.iter().map(of_cycle).collect() } else { Vec::new() };
        Ok(Batch { cycles, norms, seconds })
    }

    /// Makes a batch of cycles with these norms.
    fn some_cycles(&mut self, most: u64, norms: NormRequest) -> Result<Batch, SolverError> {
        let measure = !norms.is_empty();
        if self.has_frozen_halos && measure {
            return self.frozen_cycle(norms);
        }
        let all = measure && !self.free_norms().covers(norms);
        if measure && self.batches.finds_all_norms() != all {
            self.set_reports(all)?;
        }
        self.batch(most, measure)
    }

    /// Makes a cycle whose first sweep is no update of one iterate: its norms are found by passes of their own.
    fn frozen_cycle(&mut self, norms: NormRequest) -> Result<Batch, SolverError> {
        let residual_before =
            self.norms_of_shares(NormRequest::RESIDUAL)?.residual.unwrap_or_default();
        let made = self.batch(1, false)?;
        let Norms { max_change, error, .. } =
            self.norms_of_shares(NormRequest { residual_l2: false, residual_max: false, ..norms })?;
        Ok(Batch { norms: vec![CycleNorms { residual_before, max_change, error }], ..made })
    }

    /// An error of the devices, which names the GPU that failed, or says why NCCL did.
    fn failed(&self, error: SolverError) -> SolverError {
        let gpus = || self.shares.iter().map(|share| &share.gpu);
        match self.paths.failure() {
            // It fails, too, where a GPU does.
            Some(failure) if several::all_work(gpus()) => failure.into(),
            _ => several::failed(gpus(), error),
        }
    }
}

/// The devices of a method that GPUs share.
///
/// # Errors
/// [`SolverError`] if there are none, or only a CPU simulates them.
fn shared<'a>(problem: &Problem, method: &'a Method) -> Result<&'a Devices, SolverError> {
    let devices = method.devices().ok_or(SolverError::Operator("a method on one device"))?;
    let Problem { shape, operator, .. } = problem;
    if method.streaming().is_some() {
        return Err(SolverError::Operator("slabs that several devices share"));
    }
    if operator.matrix().is_none() && shape.dim() == 1 && shape.batch() == 1 {
        return Err(SolverError::Operator("a single line that several devices share"));
    }
    Ok(devices)
}

/// The devices with shares by the speeds of their GPUs, if that is asked for. These have equal shares as yet.
fn measured<P: Part>(
    devices: &Devices,
    shares: &[DeviceShare<P>],
) -> Result<Option<Devices>, SolverError> {
    if devices.share_by() == ShareBy::Points {
        return Ok(None);
    }
    let tiles = devices.shares().of_devices().iter().map(|share| share.tiles.len());
    let speeds = speed::measure(shares, tiles)?;
    let by_speed = devices.clone().of_speeds(&speeds);
    Ok((by_speed != *devices).then_some(by_speed))
}

fn check_room<P: Part>(
    problem: &Problem,
    method: &Method,
    devices: &[Device],
) -> Result<(), SolverError> {
    let shared = shared(problem, method)?;
    let gpus = open(devices, shared.count())?;
    let mut needed: HashMap<u32, u64> = HashMap::new();
    for (gpu, bytes) in gpus.iter().zip(P::least_bytes(problem, shared)) {
        *needed.entry(gpu.ordinal).or_default() += bytes;
    }
    several::check_room(&gpus, &needed)
}

/// The GPUs, and the largest launch of the kernel.
fn device_info<P: Part>(
    gpus: &[Arc<Gpu>],
    shares: &[DeviceShare<P>],
    kernel: Kernel,
) -> Result<DeviceInfo, Unavailable> {
    let footprints = shares.iter().filter_map(|share| share.part.footprint());
    let largest = footprints.max_by_key(|footprint| footprint.blocks);
    Ok(DeviceInfo {
        ordinal: gpus[0].ordinal,
        name: name_of(gpus),
        kernel,
        footprint: on_all(largest.ok_or(Unavailable::NoGpu)?, gpus),
    })
}

/// The footprint of the largest part of a cycle, with the arithmetic of all GPUs for its products, which are those of the
/// whole grid.
fn on_all(footprint: Footprint, gpus: &[Arc<Gpu>]) -> Footprint {
    let count = distinct(gpus).len();
    let all = |products: Products| Products {
        most_per_second: count as f64 * products.most_per_second,
        ..products
    };
    Footprint { products: footprint.products.map(all), ..footprint }
}

impl<P: Part> Drop for DevicesSolver<P> {
    /// Where a GPU is lost, kernels of NCCL on others wait for it until the group is closed, and whoever frees their memory waits
    /// for them. The graphs that it was recorded in go first.
    fn drop(&mut self) {
        // What fails was reported before.
        _ = self.batches.reset();
        self.paths.close();
    }
}

impl<P: Part> Advance for DevicesSolver<P> {
    fn cycles(&mut self, most: u64, norms: NormRequest) -> Result<Batch, SolverError> {
        self.some_cycles(most, norms).map_err(|error| self.failed(error))
    }

    fn restart(&mut self) -> Result<(), SolverError> {
        self.host.solver_mut().restart()?;
        self.put().map_err(|error| self.failed(error))
    }

    fn start_from(&mut self, iterate: &Field<f64>) -> Result<(), SolverError> {
        self.host.solver_mut().start_from(iterate)?;
        self.put().map_err(|error| self.failed(error))
    }

    fn set_exact(&mut self, exact: Arc<Field<f64>>) -> Result<(), SolverError> {
        self.shares.iter_mut().try_for_each(|share| share.set_exact(&exact))?;
        self.has_exact = true;
        // A graph that was recorded still reads the one before.
        let reset = self.batches.reset();
        self.shares[0].gpu.check(reset)?;
        self.host.solver_mut().set_exact(exact)
    }
}

impl<P: Part> ObservedOnHost for DevicesSolver<P> {
    type Real = P::Real;

    fn host(
        &self,
        needs_previous: bool,
    ) -> Result<impl Deref<Target = CpuSolver<P::Real>>, SolverError> {
        let updated = self.host.updated(needs_previous, |which, solver| {
            let (iterate, previous) = solver.arrays_mut();
            let (array, to) = match which {
                Iterate::Present => (self.iterates.current, iterate),
                Iterate::Before => (self.iterates.before, previous),
            };
            let begin = Instant::now();
            self.shares.iter().try_for_each(|share| share.fetch(array, to))?;
            self.download.set(begin.elapsed().as_secs_f64());
            Ok(())
        });
        updated.map_err(|error| self.failed(error))
    }

    fn present_norms(&self, request: NormRequest) -> Result<Norms, SolverError> {
        self.norms_of_shares(request).map_err(|error| self.failed(error))
    }
}

impl<P: Part> DevicesSolver<P> {
    /// Norms of the present iterate, by passes over what every device owns, or on this machine.
    fn norms_of_shares(&self, request: NormRequest) -> Result<Norms, SolverError> {
        match P::norms(&self.shares, (&self.messages, &self.paths), self.iterates, request) {
            Some(found) => found,
            None => self.host(request.max_change)?.norms(request),
        }
    }
}

impl<P: Part> Describe for DevicesSolver<P> {
    fn shape(&self) -> &Shape {
        &self.problem.shape
    }

    fn free_norms(&self) -> NormRequest {
        if self.has_frozen_halos { NormRequest::NONE } else { NormRequest::RESIDUAL_L2 }
    }

    fn device(&self) -> Option<&DeviceInfo> {
        Some(&self.device)
    }

    fn exchange_paths(&self) -> &[ExchangePath] {
        &self.exchange_paths
    }

    fn set_up_times(&self) -> SetUpTimes {
        self.set_up
    }

    fn computed_rows(&self) -> Option<usize> {
        self.shares.iter().map(|share| share.part.computed_rows()).sum()
    }

    fn download_seconds(&self) -> f64 {
        self.download.get()
    }

    fn measured_devices(&self) -> Option<&Devices> {
        self.method.devices().filter(|devices| devices.share_by() == ShareBy::Speed)
    }
}

impl<P: Part> Solver for DevicesSolver<P> {
    /// A method that is not shared out, such as a reference, is shared out over as many of the devices as it can be.
    fn with_method(&self, method: Method, kernel: Kernel) -> Result<Box<dyn Solver>, SolverError> {
        let on = Gpus { devices: &self.devices, exchange: self.exchange };
        if method.streaming().is_some() {
            // Its arrays lie on this machine.
            return super::set_up::<P::Real>(&self.problem, method, on, (kernel, None), false);
        }
        let (method, devices) = match (method.devices(), self.method.devices()) {
            (None, Some(own)) => {
                let (method, count) = shared_out::<P>(&self.problem, method, own);
                (method, &self.devices[..count.min(self.devices.len())])
            }
            _ => (method, &self.devices[..]),
        };
        let solver = self.host.solver().beside(&Method::Classic)?;
        let on = Gpus { devices, exchange: self.exchange };
        check_room::<P>(&self.problem, &method, devices)?;
        let mut beside = Self::at_start(&self.problem, method, on, solver, (kernel, None))?;
        if let Some(exact) = self.host.solver().exact() {
            beside.set_exact(Arc::clone(exact))?;
        }
        Ok(Box::new(beside))
    }
}

/// A method shared out over as many devices as `own` has, or as it has parts to share, with an exchange after every
/// cycle.
fn shared_out<P: Part>(problem: &Problem, method: Method, own: &Devices) -> (Method, usize) {
    for count in (1..=own.count()).rev() {
        if let Some(devices) = P::share_out(problem, &method, own, count) {
            return (method.on_devices(devices), count);
        }
    }
    (method, 1)
}
