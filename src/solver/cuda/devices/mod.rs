//! A grid that several GPUs share, or one GPU that simulates them: each has its planes and makes the cycles of its tiles;
//! neighbours exchange what their tiles read of each other.
//!
//! | file | |
//! |---|---|
//! | `share.rs` | what one device has |
//! | `cycles.rs` | a cycle of all devices, and in which order streams do it |
//! | `transfer.rs` | copies from one GPU to another |
//! | `norms.rs` | norms by a pass over what every device owns |
//! | `links.rs` | latency and bandwidth of the links between GPUs, measured |
//!
//! A batch of cycles is made as on one GPU (`graph_batch.rs`), and its norms are added on the first device in the order of
//! tiles. Fields are observed on this machine.

mod cycles;
mod links;
mod norms;
mod share;
mod transfer;

use super::device::{Device, Gpus};
use super::gpu::Gpu;
use super::graph_batch::{GraphBatch, Iterates, Parts};
use super::host::{Host, Iterate, ObservedOnHost};
use super::kernels;
use super::real::DeviceReal;
use super::setting::Setting;
use crate::grid::{Field, Shape};
use crate::problem::Problem;
use crate::solver::cpu::{CpuSolver, Level};
use crate::solver::{
    Advance, Batch, CycleNorms, Describe, DeviceInfo, Devices, ExchangePath, Footprint, Kernel,
    Method, NormRequest, Norms, Products, Solver, SolverError, Unavailable,
};
use cudarc::driver::CudaEvent;
use cycles::{Message, Report, SharedCycles};
use share::{Cut, DeviceShare};
use std::cell::Cell;
use std::collections::HashMap;
use std::num::NonZeroU64;
use std::ops::Deref;
use std::sync::Arc;
use transfer::Transfer;

pub(super) use links::measure as measure_links;

/// Arrays of its planes that a device takes: g and two iterates.
const ARRAYS: usize = 3;

/// A solver on devices that share a grid. Exchanged after every cycle, its iterates are those of one device, to the last
/// bit; else those of devices that a CPU simulates.
pub(super) struct DevicesSolver<R: DeviceReal> {
    /// Dropped first: it waits for cycles, which use the arrays of the other fields.
    batches: GraphBatch,
    shares: Vec<DeviceShare<R>>,
    messages: Vec<Message>,
    reports: Vec<Report>,
    forked: CudaEvent,
    iterates: Iterates,
    problem: Arc<Problem>,
    method: Method,
    devices: Vec<Device>,
    exchange: ExchangePath,
    /// Whether some cycles are made with values of other devices that are older than the cycle before.
    has_frozen_halos: bool,
    has_exact: bool,
    device: DeviceInfo,
    host: Host<R>,
}

impl<R: DeviceReal> DevicesSolver<R> {
    /// Sets up a solver at the initial guess u₀.
    ///
    /// # Errors
    /// [`SolverError`] if there are no such GPUs, the run does not fit onto them or into this machine, or the kernel does
    /// not accept the method.
    pub fn new(
        problem: &Arc<Problem>,
        method: Method,
        on: Gpus<'_>,
        (kernel, block_size): (Kernel, Option<u32>),
    ) -> Result<Self, SolverError> {
        // Before anything is copied.
        check(problem, &method, R::PRECISION.bytes(), on.devices)?;
        let host = CpuSolver::new(problem, Method::Classic, Level::best(), 0)?;
        Self::at_start(problem, method, on, host, (kernel, block_size))
    }

    fn at_start(
        problem: &Arc<Problem>,
        method: Method,
        Gpus { devices, exchange }: Gpus<'_>,
        host: CpuSolver<R>,
        (chosen, block_size): (Kernel, Option<u32>),
    ) -> Result<Self, SolverError> {
        let shared = shared(problem, &method)?;
        let gpus = open(devices, shared.count())?;
        let setting = Setting {
            method: &method,
            precision: R::PRECISION,
            shared_bytes: gpus.iter().map(|gpu| gpu.most_shared).min().unwrap_or(0),
            is_per_point: problem.operator.is_per_point(),
            block_size,
        };
        let row = kernels::choose(chosen, &setting).map_err(|refused| refused.error(chosen))?;
        let system = Arc::clone(host.grid().ok_or(SolverError::Operator("a matrix"))?);
        let cut = Cut {
            system: &system,
            rhs: &problem.rhs,
            shares: shared.shares(),
            setting: &setting,
            kernel: row,
        };
        let shares = gpus.iter().enumerate();
        let shares = shares.map(|(device, gpu)| cut.share(Arc::clone(gpu), device));
        let shares = shares.collect::<Result<Vec<_>, _>>()?;
        let messages = messages(&problem.shape, shared, &shares, exchange)?;
        let device = device_info(&gpus, &shares, Kernel::named(row.name))?;
        let arrays = shares[0].arrays.each_ref().map(|array| array.interior);
        let iterates = Iterates::at_start([arrays[0], arrays[1], 0, 0], 0);
        let iterates = iterates.exchanging(shared.exchange_every());
        let squares = shares.iter().map(|share| share.parts).sum();
        let stream = Arc::clone(&shares[0].streams.border);
        let batches = GraphBatch::new(&gpus[0], &stream, Parts { squares, others: 0 })?;
        let has_frozen_halos = shared.have_frozen_halos();
        let mut solver = Self {
            batches,
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
        };
        solver.set_reports(false)?;
        solver.put()?;
        Ok(solver)
    }

    /// Fills what the next cycle is to write with NaN.
    pub fn poison(&mut self) -> Result<(), SolverError> {
        let mut poison = self.problem.initial_iterate::<R>();
        for row in 0..self.problem.shape.rows() {
            poison.interior_mut(row).fill(R::from_f64(f64::NAN));
        }
        let next = self.iterates.next();
        self.shares.iter_mut().try_for_each(|share| share.put_owned(next, poison.as_slice()))
    }

    /// Prepares the transfer of norms to the first device: of the sums of squares alone, or of all norms.
    fn set_reports(&mut self, all: bool) -> Result<(), SolverError> {
        let first = Arc::clone(&self.shares[0].gpu);
        let stream = Arc::clone(&self.shares[0].streams.border);
        for share in &mut self.shares {
            share.prepare_others(all, self.method.omega())?;
        }
        let parts = Parts {
            squares: self.shares.iter().map(|share| share.parts).sum(),
            others: self.shares.iter().map(DeviceShare::other_parts).sum(),
        };
        self.batches = GraphBatch::new(&first, &stream, parts)?;
        let together = self.batches.together();
        self.reports.clear();
        for share in &mut self.shares[1..] {
            let [squares, others] = share.allocate_sums(together)?;
            let transfer = |bytes| Transfer::new(&share.gpu, &first, bytes, self.exchange);
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
        let Self { batches, shares, messages, reports, forked, iterates, .. } = self;
        let stream = Arc::clone(&shares[0].streams.border);
        let cycles = SharedCycles { shares, messages, reports, forked, last: Cell::new(None) };
        let made = batches.batch(&cycles, &stream, iterates, most, measure);
        let (found, cycles, seconds) = made.map_err(|error| self.failed(error))?;
        // A damped sweep changes ω times as much.
        let diagonal = self.shares[0].view.system.diagonal / self.method.omega();
        let all = self.batches.finds_all_norms();
        let of_cycle =
            |norms: &super::arguments::Norms| norms.of_cycle(diagonal, all, self.has_exact);
        let norms = if measure { found.iter().map(of_cycle).collect() } else { Vec::new() };
        Ok(Batch { cycles, norms, seconds })
    }

    /// Makes a cycle whose first sweep is no update of one iterate: its norms are found by passes of their own.
    fn frozen_cycle(&mut self, norms: NormRequest) -> Result<Batch, SolverError> {
        let residual = norms::residual(&self.shares, &self.messages, self.iterates)?;
        let made = self.batch(1, false)?;
        let Norms { max_change, error, .. } =
            self.present_norms(NormRequest { residual_l2: false, residual_max: false, ..norms })?;
        let found = CycleNorms { residual_before: residual, max_change, error };
        Ok(Batch { norms: vec![found], ..made })
    }

    /// The error of a batch, which names the GPU that failed, if that is known. The contexts of the others are as useless.
    fn failed(&self, error: SolverError) -> SolverError {
        let SolverError::Device { what, .. } = &error else { return error };
        let lost = self.shares.iter().find(|share| !share.gpu.works());
        self.shares.iter().for_each(|share| share.gpu.set_failed());
        match lost {
            Some(share) => SolverError::Device { gpu: share.gpu.title(), what: what.clone() },
            None => error,
        }
    }
}

/// The devices of a method that GPUs share.
///
/// # Errors
/// [`SolverError`] if there are none, or only a CPU simulates them.
fn shared<'a>(problem: &Problem, method: &'a Method) -> Result<&'a Devices, SolverError> {
    let devices = method.devices().ok_or(SolverError::Operator("a method on one device"))?;
    match problem.shape.dim() {
        1 => Err(SolverError::Operator("lines that several devices share")),
        _ if method.streaming().is_some() => {
            Err(SolverError::Operator("slabs that several devices share"))
        }
        _ => Ok(devices),
    }
}

/// The GPUs of so many devices.
fn open(devices: &[Device], count: usize) -> Result<Vec<Arc<Gpu>>, Unavailable> {
    match devices {
        [] => Err(Unavailable::NoGpu),
        [one] => Ok(vec![one.open()?; count]),
        several if several.len() == count => several.iter().map(Device::open).collect(),
        several => Err(Unavailable::SeveralGpus(several.len())),
    }
}

/// Checks that every device can be opened and that its share fits.
///
/// # Errors
/// [`SolverError`] if not.
pub(super) fn check(
    problem: &Problem,
    method: &Method,
    bytes: usize,
    devices: &[Device],
) -> Result<(), SolverError> {
    let shared = shared(problem, method)?;
    let gpus = open(devices, shared.count())?;
    let arrays = (ARRAYS + problem.operator.row_arrays(&problem.shape)) as u64;
    let mut needed: HashMap<u32, u64> = HashMap::new();
    for (gpu, share) in gpus.iter().zip(shared.shares().of_devices()) {
        let stored = problem.shape.stored_planes(share.computed.clone()).len() as u64;
        *needed.entry(gpu.ordinal).or_default() += stored * arrays * bytes as u64;
    }
    gpus.iter().try_for_each(|gpu| gpu.check_room(needed[&gpu.ordinal]))
}

/// The messages of an exchange, with their transfers.
fn messages<R: DeviceReal>(
    shape: &Shape,
    devices: &Devices,
    shares: &[DeviceShare<R>],
    exchange: ExchangePath,
) -> Result<Vec<Message>, SolverError> {
    let mut messages = Vec::with_capacity(devices.shares().messages());
    for (to, share) in devices.shares().of_devices().iter().enumerate() {
        let runs = share.received.iter().flat_map(|it| it.planes.iter().map(|run| (it.from, run)));
        for (from, planes) in runs {
            let stored = shape.stored_alone(planes.clone());
            let bytes = stored.len() * size_of::<R>();
            let transfer = Transfer::new(&shares[from].gpu, &shares[to].gpu, bytes, exchange)?;
            let is_answered = devices.shares().is_answered(from, to);
            messages.push(Message { from, to, stored, is_answered, transfer });
        }
    }
    Ok(messages)
}

/// The GPUs, and the largest launch of the kernel.
fn device_info<R: DeviceReal>(
    gpus: &[Arc<Gpu>],
    shares: &[DeviceShare<R>],
    kernel: Kernel,
) -> Result<DeviceInfo, Unavailable> {
    let pieces = shares.iter().flat_map(|share| share.inner.iter().chain(&share.borders));
    let largest = pieces.map(share::Piece::footprint).max_by_key(|footprint| footprint.blocks);
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
    let mut ordinals: Vec<_> = gpus.iter().map(|gpu| gpu.ordinal).collect();
    ordinals.sort_unstable();
    ordinals.dedup();
    let all = |products: Products| Products {
        most_per_second: ordinals.len() as f64 * products.most_per_second,
        ..products
    };
    Footprint { products: footprint.products.map(all), ..footprint }
}

/// `2 × NVIDIA H200`; of GPUs that differ, all names; the name alone of one that simulates several.
fn name_of(gpus: &[Arc<Gpu>]) -> String {
    let first = &gpus[0];
    if gpus.iter().all(|gpu| gpu.ordinal == first.ordinal) {
        return first.name.clone();
    }
    if gpus.iter().all(|gpu| gpu.name == first.name) {
        return format!("{} × {}", gpus.len(), first.name);
    }
    gpus.iter().map(|gpu| gpu.name.as_str()).collect::<Vec<_>>().join(" + ")
}

impl<R: DeviceReal> Advance for DevicesSolver<R> {
    fn cycles(&mut self, most: u64, norms: NormRequest) -> Result<Batch, SolverError> {
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

    fn restart(&mut self) -> Result<(), SolverError> {
        self.host.solver_mut().restart()?;
        self.put()
    }

    fn start_from(&mut self, iterate: &Field<f64>) -> Result<(), SolverError> {
        self.host.solver_mut().start_from(iterate)?;
        self.put()
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

impl<R: DeviceReal> ObservedOnHost for DevicesSolver<R> {
    type Real = R;

    fn host(&self, needs_previous: bool) -> Result<impl Deref<Target = CpuSolver<R>>, SolverError> {
        self.host.updated(needs_previous, |which, solver| {
            let (iterate, previous) = solver.arrays_mut();
            let (array, to) = match which {
                Iterate::Present => (self.iterates.current, iterate),
                Iterate::Before => (self.iterates.before, previous),
            };
            self.shares.iter().try_for_each(|share| share.fetch(array, to))
        })
    }

    fn present_norms(&self, request: NormRequest) -> Result<Norms, SolverError> {
        let Self { shares, messages, iterates, .. } = self;
        let residual = request.residual_l2 || request.residual_max;
        Ok(Norms {
            residual: residual.then(|| norms::residual(shares, messages, *iterates)).transpose()?,
            max_change: request
                .max_change
                .then(|| norms::max_change(shares, *iterates))
                .transpose()?,
            error: (request.error && self.has_exact)
                .then(|| norms::error(shares, *iterates))
                .transpose()?,
        })
    }
}

impl<R: DeviceReal> Describe for DevicesSolver<R> {
    fn shape(&self) -> &Shape {
        &self.problem.shape
    }

    fn free_norms(&self) -> NormRequest {
        if self.has_frozen_halos { NormRequest::NONE } else { NormRequest::RESIDUAL_L2 }
    }

    fn device(&self) -> Option<&DeviceInfo> {
        Some(&self.device)
    }
}

impl<R: DeviceReal> Solver for DevicesSolver<R> {
    /// A method that is not shared out, such as a reference, is shared out over as many of the devices as it can be.
    fn with_method(&self, method: Method, kernel: Kernel) -> Result<Box<dyn Solver>, SolverError> {
        let on = Gpus { devices: &self.devices, exchange: self.exchange };
        let (method, devices) = match (method.devices(), self.method.devices()) {
            (None, Some(own)) => {
                let (method, count) = shared_out(method, &self.problem.shape, own);
                (method, &self.devices[..count.min(self.devices.len())])
            }
            _ => (method, on.devices),
        };
        let solver = self.host.solver().beside(&Method::Classic)?;
        let on = Gpus { devices, ..on };
        check(&self.problem, &method, R::PRECISION.bytes(), devices)?;
        let mut beside = Self::at_start(&self.problem, method, on, solver, (kernel, None))?;
        if let Some(exact) = self.host.solver().exact() {
            beside.set_exact(Arc::clone(exact))?;
        }
        Ok(Box::new(beside))
    }
}

/// A method shared out over as many devices as `own` has, or as there are rows of its tiles, with an exchange after every
/// cycle.
fn shared_out(method: Method, shape: &Shape, own: &Devices) -> (Method, usize) {
    let most = own.count();
    for count in (1..=most).rev() {
        if let Ok(devices) = Devices::new(&method, shape, count, NonZeroU64::MIN, own.link()) {
            return (method.on_devices(devices), count);
        }
    }
    (method, 1)
}
