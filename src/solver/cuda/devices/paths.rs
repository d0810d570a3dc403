//! The ways by which values get from one device to another: copies between GPUs that reach each other, NCCL, or this machine's
//! memory.

use super::transfer::{Transfer, reach};
use crate::clock::Instant;
use crate::solver::cuda::arguments::Pointer;
use crate::solver::cuda::gpu::Gpu;
use crate::solver::cuda::nccl::{GpuGroup, Message};
use crate::solver::cuda::several::distinct;
use crate::solver::rank::NcclError;
use crate::solver::{Devices, ExchangePath, SolverError};
use cudarc::driver::sys::{self, CUresult};
use cudarc::driver::{CudaEvent, CudaStream, DriverError};
use std::sync::Arc;
use std::time::Duration;

/// How often GPUs are asked whether they still work while one is waited for.
const CHECK: Duration = Duration::from_millis(1);

/// The ways between the devices that share a run.
pub(in crate::solver::cuda) struct Paths {
    chosen: ExchangePath,
    /// The GPU of each device, and its place among those of `group`.
    gpus: Vec<Arc<Gpu>>,
    members: Vec<usize>,
    /// The GPUs, where values go through NCCL.
    group: Option<GpuGroup>,
}

/// Values on their way from one device to another.
pub(in crate::solver::cuda) struct Parcel<'a> {
    pub transfer: &'a Transfer,
    /// Streams of the device that sends and of the one that receives.
    pub streams: [&'a Arc<CudaStream>; 2],
    /// Where they lie, and where they go.
    pub ends: [Pointer; 2],
    pub bytes: usize,
    /// Through this machine, from which byte of the memory of the transfer on: beside others that are under way.
    pub at: usize,
    /// The sender waits for it where it writes to the memory of the receiver by itself.
    pub after: Option<&'a CudaEvent>,
}

impl Paths {
    /// Finds the ways between these pairs of devices, whose GPUs these are.
    ///
    /// # Errors
    /// [`SolverError`] if `chosen` is not to be had between some of them, or a driver fails.
    pub fn new(
        gpus: &[Arc<Gpu>],
        chosen: ExchangePath,
        pairs: &[[usize; 2]],
    ) -> Result<Self, SolverError> {
        let distinct = distinct(gpus);
        let member =
            |gpu: &Arc<Gpu>| distinct.iter().position(|other| other.ordinal == gpu.ordinal);
        let members: Vec<_> = gpus.iter().filter_map(member).collect();
        let mut paths = Self { chosen, gpus: gpus.to_vec(), members, group: None };
        let mut apart = Vec::new();
        for ends @ [from, to] in pairs.iter().copied() {
            let pair = ends.map(|device| paths.members[device]);
            if !paths.are_on_one_gpu(ends) && !apart.contains(&pair) && !paths.reaches(ends)? {
                if chosen == ExchangePath::Peer {
                    let [from, to] = [from, to].map(|device| gpus[device].ordinal);
                    return Err(SolverError::NoPeers { from, to });
                }
                apart.push(pair);
            }
        }
        if !apart.is_empty() && chosen != ExchangePath::Host {
            paths.group = match GpuGroup::new(&distinct, &apart) {
                Ok(group) => Some(group),
                Err(SolverError::Nccl(_)) if chosen == ExchangePath::Auto => None,
                Err(error) => return Err(error),
            };
        }
        Ok(paths)
    }

    /// Prepares copies of up to that many bytes from one device to another.
    ///
    /// # Errors
    /// [`SolverError`] if a driver fails.
    pub fn transfer(&self, ends: [usize; 2], bytes: usize) -> Result<Transfer, SolverError> {
        let gpus = ends.map(|device| &*self.gpus[device]);
        match self.between(ends)? {
            ExchangePath::Nccl => {
                Transfer::through_nccl(gpus, ends.map(|device| self.members[device]))
            }
            ExchangePath::Host => Transfer::through_host(gpus, bytes),
            ExchangePath::Auto | ExchangePath::Peer => Transfer::direct(gpus[0]),
        }
    }

    /// The way from one device to another.
    ///
    /// # Errors
    /// [`SolverError`] if a driver fails.
    pub fn between(&self, ends: [usize; 2]) -> Result<ExchangePath, SolverError> {
        if self.are_on_one_gpu(ends) && self.chosen != ExchangePath::Host {
            return Ok(ExchangePath::Peer);
        }
        Ok(match self.group {
            _ if self.reaches(ends)? => ExchangePath::Peer,
            Some(_) => ExchangePath::Nccl,
            None => ExchangePath::Host,
        })
    }

    /// Whether values are to be copied directly from the GPU of a device to that of another.
    fn reaches(&self, [from, to]: [usize; 2]) -> Result<bool, SolverError> {
        let [from, to] = [from, to].map(|device| &self.gpus[device]);
        match self.chosen {
            ExchangePath::Auto | ExchangePath::Peer => from.check(reach(from, to)),
            ExchangePath::Nccl | ExchangePath::Host => Ok(false),
        }
    }

    fn are_on_one_gpu(&self, [from, to]: [usize; 2]) -> bool {
        self.members[from] == self.members[to]
    }

    /// Enqueues values: into the stream of the device that sends and, unless that copies directly, into that of the one that
    /// receives. NCCL moves all of its own at the same time.
    pub fn enqueue(&self, parcels: &[Parcel<'_>]) -> Result<(), DriverError> {
        if let Some(group) = &self.group {
            let messages = parcels.iter().filter_map(|parcel| {
                let [sender, receiver] = parcel.transfer.members()?;
                let Parcel { streams, ends, bytes, .. } = *parcel;
                let message = |peer, is_sent, at| Message { peer, is_sent, at, bytes };
                Some([
                    (sender, streams[0], message(receiver, true, ends[0])),
                    (receiver, streams[1], message(sender, false, ends[1])),
                ])
            });
            group.exchange(messages.flatten())?;
        }
        parcels.iter().try_for_each(|Parcel { transfer, streams, ends, bytes, at, after }| {
            if let Some(after) = after.filter(|_| transfer.members().is_none()) {
                streams[0].wait(after)?;
            }
            transfer.enqueue(*streams, *ends, *bytes, *at)
        })
    }

    /// Where values go through NCCL, waits for all that these streams have, and asks meanwhile whether all work: a kernel of
    /// NCCL waits for ever for a GPU that is lost, and so does who waits for that kernel.
    pub fn watch<'a>(
        &self,
        streams: impl Iterator<Item = &'a Arc<CudaStream>> + Clone,
    ) -> Result<(), DriverError> {
        let Some(group) = &self.group else { return Ok(()) };
        let mut checked = Instant::now();
        for stream in streams.clone() {
            while !is_done(stream)? {
                if checked.elapsed() > CHECK {
                    streams.clone().try_for_each(|stream| is_done(stream).map(drop))?;
                    group.check_progress()?;
                    checked = Instant::now();
                }
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    /// Closes NCCL's group, once the graphs that it was recorded in are dropped. Nothing can be sent through it any more.
    pub fn close(&mut self) {
        self.group = None;
    }

    /// Why NCCL failed, if it did.
    pub fn failure(&self) -> Option<NcclError> {
        self.group.as_ref()?.failure()
    }

    /// The ways that values take between these devices, where they are on different GPUs, each once.
    ///
    /// # Errors
    /// [`SolverError`] if a driver fails.
    pub fn used(&self, pairs: &[[usize; 2]]) -> Result<Vec<ExchangePath>, SolverError> {
        let mut found = Vec::new();
        for ends in pairs.iter().filter(|ends| !self.are_on_one_gpu(**ends)) {
            let path = self.between(*ends)?;
            if !found.contains(&path) {
                found.push(path);
            }
        }
        Ok(found)
    }
}

/// The pairs of devices of which one sends to the other: planes or rows, and norms to the first.
pub(super) fn pairs(devices: &Devices) -> Vec<[usize; 2]> {
    let shares = devices.shares().of_devices().iter().enumerate();
    let exchanges =
        shares.flat_map(|(to, share)| share.received.iter().map(move |it| [it.from, to]));
    exchanges.chain((1..devices.count()).map(|device| [device, 0])).collect()
}

/// Whether a stream has nothing more to do.
fn is_done(stream: &CudaStream) -> Result<bool, DriverError> {
    stream.context().bind_to_thread()?;
    // SAFETY: the stream is open.
    match unsafe { sys::cuStreamQuery(stream.cu_stream()) } {
        CUresult::CUDA_SUCCESS => Ok(true),
        CUresult::CUDA_ERROR_NOT_READY => Ok(false),
        error => Err(DriverError(error)),
    }
}
