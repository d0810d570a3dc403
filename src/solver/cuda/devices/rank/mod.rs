//! One of several processes that share a grid or a matrix, each with a GPU of its own: what it keeps, the cycles of its tiles
//! or blocks, and what it exchanges with the others through NCCL.
//!
//! | file | |
//! |---|---|
//! | `cycles.rs` | a cycle, and in which order streams do it |
//! | `norms.rs` | norms of a grid by a pass over what every process owns |
//! | `part.rs` | what is different for a grid and for a matrix |
//!
//! Collective are setting up, [`Advance::cycles`], [`Observe::norms`](crate::solver::Observe::norms), and the first
//! observation of an iterate, which copies it from all processes to each; later ones find it on this machine. Every process
//! gets the same bits of all that comes out, so that loops that go by them make the same calls.

mod cycles;
mod norms;
pub(super) mod part;

use super::share::DeviceShare;
use super::{shared, transfer};
use crate::grid::{Field, Shape};
use crate::problem::Problem;
use crate::solver::cpu::{CpuSolver, Level};
use crate::solver::cuda::arguments;
use crate::solver::cuda::device::Device;
use crate::solver::cuda::graph_batch::{GraphBatch, Iterates, Parts};
use crate::solver::cuda::host::{Host, Iterate, ObservedOnHost};
use crate::solver::cuda::nccl::{Communicator, Members};
use crate::solver::cuda::several::title_of_all;
use crate::solver::{
    Advance, Batch, CycleNorms, Describe, DeviceInfo, ExchangePath, Footprint, Kernel, Method,
    NormRequest, Norms, Observe, Products, Rank, RankOf, SetUpTimes, Solver, SolverError,
    Unavailable,
};
use cudarc::driver::{CudaEvent, DevicePtr, DriverError, result};
use cycles::{PartsOfRanks, RankCycles};
use part::{Present, RankCut, RankMessage, RankPart, RankSetup};
use std::cell::Cell;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// Bytes of an iterate that are copied to all processes at a time.
const COPIED: usize = 32 << 20;

/// The part of one process. Exchanged after every cycle, its iterates are those of one device, to the last bit; else those of
/// devices that a CPU simulates.
pub(super) struct RankSolver<P: RankPart> {
    /// Dropped first: it waits for cycles, which use the arrays of the other fields.
    batches: GraphBatch,
    share: DeviceShare<P>,
    group: Communicator,
    messages: Vec<RankMessage>,
    parts: PartsOfRanks,
    /// Where in the whole array lies what each process owns.
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
    host: Host<P::Real>,
    set_up: SetUpTimes,
    /// Rows of a matrix that the blocks of all processes compute.
    computed_rows: Option<usize>,
}

impl<P: RankPart> RankSolver<P> {
    /// Sets up the part of a process at the initial guess u₀, together with the others.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU cannot be used, its share does not fit, the whole does not fit into this machine, the kernel
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
            return Err(SolverError::Operator("a run that is shared out over other processes"));
        }
        let gpu = device.open()?;
        let needed = P::least_bytes(problem, &shared).get(rank.index).copied();
        gpu.check_room(needed.unwrap_or(0))?;
        let host = CpuSolver::new(problem, Method::Classic, Level::best(), 0)?;
        let group = Communicator::join(&gpu, own)?;
        let all = Members::gather(&gpu, &group)?;
        let RankCut { kernel, share, messages, set_up } = P::cut_own(&RankSetup {
            problem,
            method: &method,
            devices: &shared,
            own: rank.index,
            gpu: &gpu,
            shared_bytes: all.shared_bytes,
            host: &host,
            kernel: chosen,
            block_size,
        })?;
        let device = DeviceInfo {
            ordinal: gpu.ordinal,
            name: title_of_all(&all.names),
            kernel,
            footprint: largest_footprint(&share, rank.count)?,
        };
        let arrays = share.arrays.each_ref().map(|array| array.interior);
        let iterates = Iterates::at_start([arrays[0], arrays[1], 0, 0], 0);
        let shares = shared.shares().of_devices();
        let owned = shares.iter().map(|share| problem.shape.stored_alone(share.owned.clone()));
        let (parts, batches) = prepare_norms(&share, &group, rank)?;
        let mut solver = Self {
            batches,
            parts,
            messages,
            owned: owned.collect(),
            rank,
            forked: transfer::event(&gpu)?,
            exchanged: transfer::event(&gpu)?,
            computed_rows: computed_rows(&share, &group)?,
            share,
            group,
            iterates: iterates.exchanging(shared.exchange_every()),
            problem: Arc::clone(problem),
            has_frozen_halos: shared.have_frozen_halos(),
            has_exact: false,
            device,
            host: Host::new(host),
            set_up,
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

    /// Copies what it keeps of the iterate on this machine to the GPU, as the present one and the one before.
    fn put(&mut self) -> Result<(), SolverError> {
        let waited = self.batches.discard_pending();
        self.share.gpu.check(waited)?;
        self.iterates = self.iterates.restarted();
        self.share.put(self.host.present().iterate())
    }

    /// Copies a whole iterate to this machine, as every process does.
    fn fetch(&self, array: usize, to: &mut [P::Real]) -> Result<(), SolverError> {
        let share = &self.share;
        share.fetch(array, to)?;
        let copies = &share.streams.copies;
        let most = (COPIED / size_of::<P::Real>()).max(1);
        let longest = self.owned.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
        // SAFETY: it is written before it is read.
        let buffer = unsafe { share.gpu.allocate::<P::Real>(copies, longest.min(most)) }?;
        let received = buffer.device_ptr(copies).0;
        for (root, owned) in self.owned.iter().enumerate() {
            let is_own = root == self.rank.index;
            for start in owned.clone().step_by(most) {
                let part = start..(start + most).min(owned.end);
                let here = || share.address_of_owned(start)[array];
                let from = if is_own { here() } else { received };
                let mut call = || -> Result<(), DriverError> {
                    let bytes = part.len() * size_of::<P::Real>();
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
        let Self { batches, share, group, messages, parts, forked, exchanged, iterates, .. } = self;
        let stream = Arc::clone(&share.streams.border);
        let last = Cell::new(None);
        let cycles = RankCycles { share, group, messages, parts, forked, exchanged, last };
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
        let residual_before =
            self.present_norms(NormRequest::RESIDUAL)?.residual.unwrap_or_default();
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
fn prepare_norms<P: RankPart>(
    share: &DeviceShare<P>,
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
    let parts = parts.together(share.part.cycles_together());
    let batches = GraphBatch::new(&share.gpu, &share.streams.border, parts)?;
    Ok((PartsOfRanks { own: rank.index, squares, others }, batches))
}

/// Rows of a matrix that the blocks of all processes compute.
fn computed_rows<P: RankPart>(
    share: &DeviceShare<P>,
    group: &Communicator,
) -> Result<Option<usize>, SolverError> {
    let Some(own) = share.part.computed_rows() else { return Ok(None) };
    let found = share.gpu.check(group.gather(&share.streams.copies, &[own as u64]));
    let found = found.map_err(|error| group.error(error))?;
    Ok(Some(found.into_iter().sum::<u64>() as usize))
}

/// The resources of the largest launch, with the arithmetic of all GPUs for its products, which are those of the whole grid.
fn largest_footprint<P: RankPart>(
    share: &DeviceShare<P>,
    count: usize,
) -> Result<Footprint, Unavailable> {
    let largest = share.part.footprint().ok_or(Unavailable::NoGpu)?;
    let all = |products: Products| Products {
        most_per_second: count as f64 * products.most_per_second,
        ..products
    };
    Ok(Footprint { products: largest.products.map(all), ..largest })
}

impl<P: RankPart> Advance for RankSolver<P> {
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

impl<P: RankPart> ObservedOnHost for RankSolver<P> {
    type Real = P::Real;

    fn host(
        &self,
        needs_previous: bool,
    ) -> Result<impl Deref<Target = CpuSolver<P::Real>>, SolverError> {
        self.host.updated(needs_previous, |which, solver| {
            let (iterate, previous) = solver.arrays_mut();
            match which {
                Iterate::Present => self.fetch(self.iterates.current, iterate),
                Iterate::Before => self.fetch(self.iterates.before, previous),
            }
        })
    }

    fn present_norms(&self, request: NormRequest) -> Result<Norms, SolverError> {
        let Self { share, group, messages, iterates, has_exact, .. } = self;
        let (iterates, has_exact) = (*iterates, *has_exact);
        let present = Present { share, group, messages, iterates, has_exact };
        match P::norms_of_ranks(&present, request) {
            Some(found) => found,
            None => self.host(request.max_change)?.norms(request),
        }
    }
}

impl<P: RankPart> Describe for RankSolver<P> {
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

    fn set_up_times(&self) -> SetUpTimes {
        self.set_up
    }

    fn computed_rows(&self) -> Option<usize> {
        self.computed_rows
    }
}

impl<P: RankPart> Solver for RankSolver<P> {
    /// Never: a process makes one run with the others, and nothing beside it.
    fn with_method(&self, _: Method, _: Kernel) -> Result<Box<dyn Solver>, SolverError> {
        Err(SolverError::Operator("another method beside that of several processes"))
    }
}
