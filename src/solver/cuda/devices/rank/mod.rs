//! One of several processes that share a grid, each with a GPU of its own: its planes, the cycles of its tiles, and what it
//! exchanges with the others through NCCL.
//!
//! | file | |
//! |---|---|
//! | `cycles.rs` | a cycle, and in which order streams do it |
//! | `members.rs` | what the processes know of each other's GPUs |
//! | `norms.rs` | norms by a pass over what every process owns |
//!
//! Collective are setting up, [`Advance::cycles`], [`Observe::norms`](crate::solver::Observe::norms), and the first
//! observation of an iterate, which copies it from all processes to each; later ones find it on this machine. Every process
//! gets the same bits of all that comes out, so that loops that go by them make the same calls.

mod cycles;
mod members;
mod norms;

use super::grid::{ARRAYS, GridPart, Tiles};
use super::part::Part;
use super::share::DeviceShare;
use super::{shared, transfer};
use crate::grid::{Field, Shape, Share};
use crate::problem::Problem;
use crate::solver::cpu::{CpuSolver, Level};
use crate::solver::cuda::arguments;
use crate::solver::cuda::device::Device;
use crate::solver::cuda::gpu::Gpu;
use crate::solver::cuda::graph_batch::{GraphBatch, Iterates, Parts};
use crate::solver::cuda::host::{Host, Iterate, ObservedOnHost};
use crate::solver::cuda::kernels;
use crate::solver::cuda::nccl::Communicator;
use crate::solver::cuda::real::DeviceReal;
use crate::solver::cuda::setting::Setting;
use crate::solver::cuda::several::title_of_all;
use crate::solver::{
    Advance, Batch, CycleNorms, Describe, DeviceInfo, Devices, ExchangePath, Footprint, Kernel,
    Method, NormRequest, Norms, Products, Rank, RankOf, Solver, SolverError, Unavailable,
};
use cudarc::driver::{CudaEvent, DevicePtr, DriverError, result};
use cycles::{PartsOfRanks, Planes, RankCycles};
use members::Members;
use std::cell::Cell;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Bytes of an iterate that are copied to all processes at a time.
const COPIED: usize = 32 << 20;

/// The part of one process. Exchanged after every cycle, its iterates are those of one device, to the last bit; else those of
/// devices that a CPU simulates.
pub(in crate::solver::cuda) struct RankSolver<R: DeviceReal> {
    /// Dropped first: it waits for cycles, which use the arrays of the other fields.
    batches: GraphBatch,
    share: DeviceShare<GridPart<R>>,
    /// Where its planes begin in the arrays of the grid.
    first: usize,
    group: Communicator,
    planes: Vec<Planes>,
    parts: PartsOfRanks,
    /// Where in the arrays of the grid lies what each process owns.
    owned: Vec<Range<usize>>,
    rank: Rank,
    forked: CudaEvent,
    exchanged: CudaEvent,
    iterates: Iterates,
    problem: Arc<Problem>,
    /// Whether some cycles are made with values of other processes that are older than the cycle before.
    has_frozen_halos: bool,
    has_exact: bool,
    device: DeviceInfo,
    host: Host<R>,
}

impl<R: DeviceReal> RankSolver<R> {
    /// Sets up the part of a process at the initial guess u₀, together with the others.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU cannot be used, its share does not fit, the grid does not fit into this machine, the kernel
    /// does not accept the method, or NCCL fails.
    pub fn new(
        problem: &Arc<Problem>,
        method: Method,
        device: &Device,
        (chosen, block_size): (Kernel, Option<u32>),
        own: RankOf,
    ) -> Result<Self, SolverError> {
        let rank = own.rank;
        let shared = shared(problem, &method)?.clone();
        if shared.count() != rank.count {
            return Err(SolverError::Operator("a grid that is shared out over other processes"));
        }
        let gpu = device.open()?;
        let of_rank = &shared.shares().of_devices()[rank.index];
        check_room::<R>(problem, &gpu, of_rank)?;
        let host = CpuSolver::new(problem, Method::Classic, Level::best(), 0)?;
        let group = Communicator::join(&gpu, own)?;
        let all = Members::gather(&gpu, &group)?;
        let setting = Setting {
            method: &method,
            precision: R::PRECISION,
            shape: &problem.shape,
            shared_bytes: all.shared_bytes,
            is_per_point: problem.operator.is_per_point(),
            block_size,
        };
        let row = kernels::choose(chosen, &setting).map_err(|refused| refused.error(chosen))?;
        let system = Arc::clone(host.grid().ok_or(SolverError::Operator("a matrix"))?);
        let (rhs, shares) = (&problem.rhs, shared.shares());
        let tiles = Tiles { system: &system, rhs, shares, setting: &setting, kernel: row };
        let share = tiles.share(&gpu, rank.index)?;
        let footprint = largest_footprint(&share, rank.count)?;
        let device = DeviceInfo {
            ordinal: gpu.ordinal,
            name: title_of_all(&all.names),
            kernel: Kernel::named(row.name),
            footprint,
        };
        let arrays = share.arrays.each_ref().map(|array| array.interior);
        let iterates = Iterates::at_start([arrays[0], arrays[1], 0, 0], 0);
        let shape = &problem.shape;
        let owned = shares.of_devices().iter().map(|share| shape.stored_alone(share.owned.clone()));
        let (parts, batches) = prepare_norms(&share, &group, rank)?;
        let mut solver = Self {
            batches,
            parts,
            planes: planes(shape, &shared, rank.index),
            first: shape.stored_planes(of_rank.computed.clone()).start,
            owned: owned.collect(),
            rank,
            forked: transfer::event(&gpu)?,
            exchanged: transfer::event(&gpu)?,
            share,
            group,
            iterates: iterates.exchanging(shared.exchange_every()),
            problem: Arc::clone(problem),
            has_frozen_halos: shared.have_frozen_halos(),
            has_exact: false,
            device,
            host: Host::new(host),
        };
        solver.put()?;
        Ok(solver)
    }

    /// Finds the sums of squares of cycles from now on, or all norms.
    fn find_norms(&mut self, all: bool) -> Result<(), SolverError> {
        self.share.part.find_others(all)?;
        (self.parts, self.batches) = prepare_norms(&self.share, &self.group, self.rank)?;
        Ok(())
    }

    /// Copies its planes of the iterate on this machine to the GPU, as the present one and the one before.
    fn put(&mut self) -> Result<(), SolverError> {
        let waited = self.batches.discard_pending();
        self.share.gpu.check(waited)?;
        self.iterates = self.iterates.restarted();
        self.share.put(self.host.present().iterate())
    }

    /// Copies an iterate of the grid to this machine, as every process does.
    fn fetch(&self, array: usize, to: &mut [R]) -> Result<(), SolverError> {
        let share = &self.share;
        share.fetch(array, to)?;
        let copies = &share.streams.copies;
        let most = (COPIED / size_of::<R>()).max(1);
        let longest = self.owned.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
        // SAFETY: it is written before it is read.
        let buffer = unsafe { share.gpu.allocate::<R>(copies, longest.min(most)) }?;
        let received = buffer.device_ptr(copies).0;
        for (root, owned) in self.owned.iter().enumerate() {
            let is_own = root == self.rank.index;
            for start in owned.clone().step_by(most) {
                let part = start..(start + most).min(owned.end);
                let here = || share.addresses(start - self.first)[array];
                let from = if is_own { here() } else { received };
                let mut call = || -> Result<(), DriverError> {
                    let bytes = part.len() * size_of::<R>();
                    self.group.broadcast(copies, root, [from, received], bytes)?;
                    if !is_own {
                        let there = &mut to[part.clone()];
                        // SAFETY: the buffer holds as many values, and the stream is waited for.
                        unsafe { result::memcpy_dtoh_async(there, received, copies.cu_stream()) }?;
                    }
                    copies.synchronize()
                };
                self.check(call())?;
            }
        }
        Ok(())
    }

    /// Makes a batch of cycles.
    fn batch(&mut self, most: u64, measure: bool) -> Result<Batch, SolverError> {
        self.host.outdate();
        let Self { batches, share, group, planes, parts, forked, exchanged, iterates, .. } = self;
        let stream = Arc::clone(&share.streams.border);
        let last = Cell::new(None);
        let cycles = RankCycles { share, group, planes, parts, forked, exchanged, last };
        let made = batches.batch(&cycles, &stream, iterates, most, measure);
        let (found, cycles, seconds) = made.map_err(|error| group.error(error))?;
        let diagonal = share.part.diagonal();
        let all = batches.finds_all_norms();
        let of_cycle = |norms: &arguments::Norms| norms.of_cycle(diagonal, all, self.has_exact);
        let norms = if measure { found.iter().map(of_cycle).collect() } else { Vec::new() };
        Ok(Batch { cycles, norms, seconds })
    }

    /// Makes a cycle whose first sweep is no update of one iterate: its norms are found by passes of their own.
    fn frozen_cycle(&mut self, norms: NormRequest) -> Result<Batch, SolverError> {
        let residual_before = self.residual()?;
        let made = self.batch(1, false)?;
        let Norms { max_change, error, .. } =
            self.present_norms(NormRequest { residual_l2: false, residual_max: false, ..norms })?;
        Ok(Batch { norms: vec![CycleNorms { residual_before, max_change, error }], ..made })
    }

    /// The result of calls of NCCL and the driver.
    fn check<T>(&self, result: Result<T, DriverError>) -> Result<T, SolverError> {
        self.share.gpu.check(result).map_err(|error| self.group.error(error))
    }
}

/// Where the parts of the norms of all processes lie, and batches that add them.
fn prepare_norms<R: DeviceReal>(
    share: &DeviceShare<GridPart<R>>,
    group: &Communicator,
    rank: Rank,
) -> Result<(PartsOfRanks, GraphBatch), SolverError> {
    let own = [share.part.parts() as u64, share.part.other_parts() as u64];
    let found = share.gpu.check(group.gather(&share.streams.copies, &own));
    let found = found.map_err(|error| group.error(error))?;
    let ranges = |which: usize| {
        let mut first = 0;
        let next = |parts: &[u64]| {
            let start = first;
            first += parts[which] as usize;
            start..first
        };
        found.chunks_exact(own.len()).map(next).collect::<Vec<_>>()
    };
    let (squares, others) = (ranges(0), ranges(1));
    let end = |ranges: &[Range<usize>]| ranges.last().map_or(0, |last| last.end);
    let parts = Parts::of_cycle(end(&squares), end(&others));
    let parts = parts.together(share.part.sweeps_together());
    let batches = GraphBatch::new(&share.gpu, &share.streams.border, parts)?;
    Ok((PartsOfRanks { own: rank.index, squares, others }, batches))
}

/// Checks that the share of a process fits onto its GPU.
fn check_room<R: DeviceReal>(
    problem: &Problem,
    gpu: &Gpu,
    share: &Share,
) -> Result<(), SolverError> {
    let shape = &problem.shape;
    let arrays = ARRAYS + problem.operator.row_arrays(shape);
    let stored = shape.stored_planes(share.computed.clone()).len();
    gpu.check_room((stored * arrays * size_of::<R>()) as u64)
}

/// The planes that a process sends and receives, in the order in which every other does.
fn planes(shape: &Shape, devices: &Devices, own: usize) -> Vec<Planes> {
    let computed = devices.shares().of_devices()[own].computed.clone();
    let first = shape.stored_planes(computed).start;
    let here = |stored: Range<usize>| stored.start - first..stored.end - first;
    let mut found = Vec::new();
    for (to, share) in devices.shares().of_devices().iter().enumerate() {
        for received in share.received.iter().filter(|it| own == to || own == it.from) {
            let is_sent = received.from == own;
            let peer = if is_sent { to } else { received.from };
            let runs = received.planes.iter().map(|run| shape.stored_alone(run.clone()));
            found.extend(runs.map(|stored| Planes { peer, is_sent, stored: here(stored) }));
        }
    }
    found
}

/// The resources of the largest launch, with the arithmetic of all GPUs for its products, which are those of the whole grid.
fn largest_footprint<R: DeviceReal>(
    share: &DeviceShare<GridPart<R>>,
    count: usize,
) -> Result<Footprint, Unavailable> {
    let largest = share.part.footprint().ok_or(Unavailable::NoGpu)?;
    let all = |products: Products| Products {
        most_per_second: count as f64 * products.most_per_second,
        ..products
    };
    Ok(Footprint { products: largest.products.map(all), ..largest })
}

impl<R: DeviceReal> Advance for RankSolver<R> {
    fn cycles(&mut self, most: u64, norms: NormRequest) -> Result<Batch, SolverError> {
        let measure = !norms.is_empty();
        if self.has_frozen_halos && measure {
            return self.frozen_cycle(norms);
        }
        let all = measure && !self.free_norms().covers(norms);
        if measure && self.batches.finds_all_norms() != all {
            self.find_norms(all)?;
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
        self.share.set_exact(&exact)?;
        self.has_exact = true;
        // A graph that was recorded still reads the one before.
        let reset = self.batches.reset();
        self.share.gpu.check(reset)?;
        self.host.solver_mut().set_exact(exact)
    }
}

impl<R: DeviceReal> ObservedOnHost for RankSolver<R> {
    type Real = R;

    fn host(&self, needs_previous: bool) -> Result<impl Deref<Target = CpuSolver<R>>, SolverError> {
        self.host.updated(needs_previous, |which, solver| {
            let (iterate, previous) = solver.arrays_mut();
            match which {
                Iterate::Present => self.fetch(self.iterates.current, iterate),
                Iterate::Before => self.fetch(self.iterates.before, previous),
            }
        })
    }

    fn present_norms(&self, request: NormRequest) -> Result<Norms, SolverError> {
        let residual = request.residual_l2 || request.residual_max;
        Ok(Norms {
            residual: residual.then(|| self.residual()).transpose()?,
            max_change: request.max_change.then(|| self.max_change()).transpose()?,
            error: (request.error && self.has_exact).then(|| self.error()).transpose()?,
        })
    }
}

impl<R: DeviceReal> Describe for RankSolver<R> {
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
        &[ExchangePath::Nccl]
    }
}

impl<R: DeviceReal> Solver for RankSolver<R> {
    /// Never: a process makes one run with the others, and nothing beside it.
    fn with_method(&self, _: Method, _: Kernel) -> Result<Box<dyn Solver>, SolverError> {
        Err(SolverError::Operator("another method beside that of several processes"))
    }
}
