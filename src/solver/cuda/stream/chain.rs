//! A wavefront on several devices: each makes some of the sweeps of a pass in a window of its own, and hands planes on to the
//! next as soon as it has made them. Of the grid on this machine only the first reads the iterate and only the last writes it.

use super::device::{Part, StreamDevice};
use super::lanes::Work;
use crate::solver::cuda::arguments::Pointer;
use crate::solver::cuda::devices::{Parcel, Paths, Transfer, event};
use crate::solver::cuda::gpu::Gpu;
use crate::solver::cuda::real::DeviceReal;
use crate::solver::rank::NcclError;
use crate::solver::{ExchangePath, SolverError};
use cudarc::driver::{CudaEvent, DriverError};
use std::ops::Range;
use std::sync::Arc;

/// The most runs of contiguous bytes that planes are where two rings are cut.
const MOST_RUNS: usize = 3;

/// The ways from each device to the next.
pub(super) struct Chain {
    paths: Paths,
    links: Vec<Link>,
    /// What its links go through between GPUs.
    pub used: Vec<ExchangePath>,
}

/// From one device to the next.
struct Link {
    /// For each run of bytes.
    transfers: Vec<Transfer>,
    /// The next one has room for the planes.
    ready: CudaEvent,
}

impl Chain {
    /// That of the parts of a wavefront, with so many bytes from a plane to the next; `None` of parts that know nothing of
    /// each other.
    ///
    /// # Errors
    /// [`SolverError`] if `exchange` is not to be had between their GPUs, or a driver fails.
    pub fn of(
        parts: &[Part],
        exchange: ExchangePath,
        plane_bytes: usize,
    ) -> Result<Option<Self>, SolverError> {
        if !parts.iter().any(Part::follows) {
            return Ok(None);
        }
        let gpus: Vec<_> = parts.iter().map(|part| Arc::clone(&part.gpu)).collect();
        let pairs: Vec<_> = (1..parts.len()).map(|device| [device - 1, device]).collect();
        let paths = Paths::new(&gpus, exchange, &pairs)?;
        let link = |&ends: &[usize; 2]| {
            let bytes = parts[ends[1]].pass.most_swept() * plane_bytes;
            let transfers = (0..MOST_RUNS).map(|_| paths.transfer(ends, bytes));
            let transfers = transfers.collect::<Result<_, _>>()?;
            Ok(Link { transfers, ready: event(&gpus[ends[1]])? })
        };
        let links = pairs.iter().map(link).collect::<Result<_, SolverError>>()?;
        let used = paths.used(&pairs)?;
        Ok(Some(Self { paths, links, used }))
    }

    /// The GPU of the device before this one, if that writes to the window of this one by itself.
    pub fn writer(&self, parts: &[Part], device: usize) -> Result<Option<Arc<Gpu>>, SolverError> {
        let Some(before) = device.checked_sub(1) else { return Ok(None) };
        let copies = self.paths.between([before, device])? == ExchangePath::Peer;
        let [from, to] = [&parts[before].gpu, &parts[device].gpu];
        Ok((copies && from.ordinal != to.ordinal).then(|| Arc::clone(from)))
    }

    /// Enqueues that a device gets the planes of a step that the one before it has swept.
    pub fn hand_on<R: DeviceReal>(
        &self,
        devices: [&StreamDevice<R>; 2],
        works: [&Work<'_, R>; 2],
        (device, number): (usize, usize),
    ) -> Result<(), DriverError> {
        let [sends, receives] = devices.map(StreamDevice::lanes);
        let steps = devices.map(|device| device.step(number));
        let planes = steps[0].down.clone();
        if planes.is_empty() {
            return Ok(());
        }
        let Link { transfers, ready } = &self.links[device - 1];
        ready.record(receives.up())?;
        sends.begin_down(works[0], number)?;
        let bytes = planes.len() * works[0].axis.stored * size_of::<R>();
        let rings = [devices[0].output(&steps[0]), devices[1].input(&steps[1])];
        let starts = [0, 1].map(|end| works[end].bytes(&steps[end], planes.start));
        let [from, to] = [0, 1].map(|end| rings[end].parts(starts[end], bytes));
        let runs = runs(from.collect(), to.collect());
        for (transfer, _) in transfers.iter().zip(&runs) {
            transfer.wait_to_send(sends.down())?;
        }
        let parcels = transfers.iter().zip(runs).map(|(transfer, (ends, bytes))| Parcel {
            transfer,
            streams: [sends.down(), receives.up()],
            ends,
            bytes,
            at: 0,
            after: Some(ready),
        });
        let parcels: Vec<_> = parcels.collect();
        self.paths.enqueue(&parcels)?;
        let mut sent = parcels.iter();
        sent.try_for_each(|parcel| parcel.transfer.wait_for_arrival(receives.up()))
    }

    /// Where planes go through NCCL, waits for all that was enqueued.
    pub fn watch<R: DeviceReal>(&self, devices: &[StreamDevice<R>]) -> Result<(), DriverError> {
        self.paths.watch(devices.iter().flat_map(|device| device.lanes().streams()))
    }

    /// Why NCCL failed, if it did.
    pub fn failure(&self) -> Option<NcclError> {
        self.paths.failure()
    }
}

/// A run of bytes: where it lies, and where it goes.
type Run = ([Pointer; 2], usize);

/// The same bytes at both ends, cut wherever either is.
fn runs(from: Vec<(Pointer, Range<usize>)>, to: Vec<(Pointer, Range<usize>)>) -> Vec<Run> {
    let common = |(here, its): &(Pointer, Range<usize>),
                  (there, other): &(Pointer, Range<usize>)| {
        let (start, end) = (its.start.max(other.start), its.end.min(other.end));
        let at = |address: Pointer, first: usize| address + (start - first) as Pointer;
        (start < end).then(|| ([at(*here, its.start), at(*there, other.start)], end - start))
    };
    from.iter().flat_map(|one| to.iter().filter_map(move |other| common(one, other))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_cut_where_either_ring_is() {
        assert_eq!(runs(vec![(100, 0..10)], vec![(500, 0..10)]), [([100, 500], 10)]);
        let (from, to) = (vec![(100, 0..4), (0, 4..10)], vec![(500, 0..7), (200, 7..10)]);
        assert_eq!(runs(from, to), [([100, 500], 4), ([0, 504], 3), ([3, 200], 3)]);
        let same = vec![(100, 0..4), (0, 4..10)];
        assert_eq!(runs(same.clone(), same), [([100, 100], 4), ([0, 0], 6)]);
    }
}
