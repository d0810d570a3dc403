//! Several processes that share the slabs of a pyramid, each with a GPU of its own and the whole grid in the memory of its
//! machine. Of what a pass makes, a process gets what its next slabs read of the others' planes; the rest follows when an
//! iterate is observed.
//!
//! NCCL moves values between GPUs: what is exchanged goes through a small buffer there, part by part.

use crate::grid::{Received, Shape, Share};
use crate::solver::cpu::PartialNorms;
use crate::solver::cuda::arguments::Pointer;
use crate::solver::cuda::gpu::Gpu;
use crate::solver::cuda::nccl::{Communicator, Members, Message};
use crate::solver::cuda::real::DeviceReal;
use crate::solver::streaming::Planes;
use crate::solver::{Rank, SolverError, Traffic};
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DriverError, result};
use std::ops::Range;
use std::sync::Arc;

/// Bytes of a message that are on a GPU at a time; the same for every process.
const STAGED: usize = 8 << 20;

/// Values that a process sends to another after every pass, or receives from it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Border {
    peer: usize,
    is_sent: bool,
    /// Where they lie in the array of the whole grid.
    values: Range<usize>,
}

/// A process in its group, and what it exchanges.
pub(super) struct Processes<R> {
    gpu: Arc<Gpu>,
    stream: Arc<CudaStream>,
    group: Communicator,
    /// Room for a part of each of its messages.
    staging: CudaSlice<R>,
    borders: Vec<Border>,
    /// Which process this is.
    own: usize,
    /// Where in the whole array lies what each process owns.
    owned: Vec<Range<usize>>,
    /// The rows of the grid that it owns; `None` of a line, whose points are shared.
    rows: Option<Range<usize>>,
    /// The GPUs of all processes.
    pub names: Vec<String>,
}

impl<R: DeviceReal> Processes<R> {
    /// Makes it of a process that has joined its group; `shares` are what each owns and receives.
    ///
    /// # Errors
    /// [`SolverError`] if its GPU has no room for the buffer, or NCCL or the driver fails.
    pub fn new(
        gpu: &Arc<Gpu>,
        (group, rank): (Communicator, Rank),
        shape: &Shape,
        shares: &[Share],
    ) -> Result<Self, SolverError> {
        let Members { names, .. } = Members::gather(gpu, &group)?;
        let borders = borders(shape, shares, rank.index);
        let stream = gpu.stream()?;
        let room = borders.len().max(1) * staged::<R>();
        gpu.check_room((room * size_of::<R>()) as u64)?;
        // SAFETY: it is written before it is read.
        let staging = unsafe { gpu.allocate::<R>(&stream, room) }?;
        Ok(Self {
            gpu: Arc::clone(gpu),
            stream,
            group,
            staging,
            borders,
            own: rank.index,
            rows: rows(shape, &shares[rank.index].owned),
            owned: shares.iter().map(|share| shape.stored_alone(share.owned.clone())).collect(),
            names,
        })
    }

    /// The rows of the grid that this process owns; `None` of a line, whose points are shared.
    pub fn rows(&self) -> Option<Range<usize>> {
        self.rows.clone()
    }

    /// Sends what the slabs of others read of the planes of this process, and receives what its own read of theirs.
    ///
    /// # Errors
    /// [`SolverError`] if NCCL or the driver fails, as below.
    pub fn exchange(&self, iterate: &mut [R]) -> Result<(), SolverError> {
        self.check(self.exchange_parts(iterate))
    }

    fn exchange_parts(&self, iterate: &mut [R]) -> Result<(), DriverError> {
        let on = self.stream.cu_stream();
        let longest = self.borders.iter().map(|border| border.values.len()).max().unwrap_or(0);
        for start in (0..longest).step_by(staged::<R>()) {
            let parts = self.borders.iter().enumerate().filter_map(|(slot, border)| {
                let part = part_of(&border.values, start, staged::<R>());
                (!part.is_empty()).then(|| (border, part, self.slot(slot)))
            });
            let parts: Vec<_> = parts.collect();
            for (_, part, there) in parts.iter().filter(|(border, ..)| border.is_sent) {
                // SAFETY: the slot has room for as many values, and the stream is waited for.
                unsafe { result::memcpy_htod_async(*there, &iterate[part.clone()], on) }?;
            }
            let messages = parts.iter().map(|(border, part, at)| Message {
                peer: border.peer,
                is_sent: border.is_sent,
                at: *at,
                bytes: part.len() * size_of::<R>(),
            });
            self.group.exchange(&self.stream, messages)?;
            for (_, part, there) in parts.iter().filter(|(border, ..)| !border.is_sent) {
                let here = &mut iterate[part.clone()];
                // SAFETY: as above.
                unsafe { result::memcpy_dtoh_async(here, *there, on) }?;
            }
            self.stream.synchronize()?;
        }
        Ok(())
    }

    /// Makes an iterate whole, of which this process has what it owns, as every process does.
    ///
    /// # Errors
    /// As above.
    pub fn collect(&self, iterate: &mut [R]) -> Result<(), SolverError> {
        let (on, there) = (self.stream.cu_stream(), self.slot(0));
        for (root, owned) in self.owned.iter().enumerate() {
            for start in (0..owned.len()).step_by(staged::<R>()) {
                let values = &mut iterate[part_of(owned, start, staged::<R>())];
                let bytes = size_of_val(values);
                let mut sent = || {
                    if root == self.own {
                        // SAFETY: the slot has room for as many values, and the stream is waited for.
                        unsafe { result::memcpy_htod_async(there, values, on) }?;
                    }
                    self.group.broadcast(&self.stream, root, [there, there], bytes)?;
                    if root != self.own {
                        // SAFETY: as above.
                        unsafe { result::memcpy_dtoh_async(values, there, on) }?;
                    }
                    self.stream.synchronize()
                };
                self.check(sent())?;
            }
        }
        Ok(())
    }

    /// Adds up the norms of what every process owns.
    ///
    /// # Errors
    /// As above.
    pub fn add_norms(&self, own: PartialNorms) -> Result<PartialNorms, SolverError> {
        let all = self.check(self.group.gather_reals(&self.stream, &own.to_numbers()))?;
        let (parts, _) = all.as_chunks();
        Ok(parts.iter().map(|numbers| PartialNorms::of_numbers(*numbers)).sum())
    }

    /// What all processes have moved and computed in a pass, and the most of these seconds.
    ///
    /// # Errors
    /// As above.
    pub fn add_traffic(
        &self,
        Traffic { up, down, updates, needed }: Traffic,
        seconds: f64,
    ) -> Result<(Traffic, f64), SolverError> {
        let own = [up, down, updates, seconds.to_bits()];
        let all = self.check(self.group.gather(&self.stream, &own))?;
        let (mut traffic, mut longest) = (Traffic { needed, ..Traffic::default() }, 0.0_f64);
        let (parts, _) = all.as_chunks();
        for &[up, down, updates, seconds] in parts {
            traffic.up += up;
            traffic.down += down;
            traffic.updates += updates;
            longest = longest.max(f64::from_bits(seconds));
        }
        Ok((traffic, longest))
    }

    /// Where the part of a message lies on the GPU.
    fn slot(&self, number: usize) -> Pointer {
        let (first, _used) = self.staging.device_ptr(&self.stream);
        first + (number * staged::<R>() * size_of::<R>()) as Pointer
    }

    /// The result of calls of NCCL and the driver.
    fn check<T>(&self, result: Result<T, DriverError>) -> Result<T, SolverError> {
        self.gpu.check(result).map_err(|error| self.group.error(error))
    }
}

/// Values of a message that are on a GPU at a time.
fn staged<R>() -> usize {
    STAGED / size_of::<R>()
}

/// The part of some values that begins so far behind the first of them.
fn part_of(values: &Range<usize>, start: usize, most: usize) -> Range<usize> {
    let start = (values.start + start).min(values.end);
    start..(start + most).min(values.end)
}

/// What a process sends and receives after a pass: in the order of the processes that receive it, which is that of all.
fn borders(shape: &Shape, shares: &[Share], own: usize) -> Vec<Border> {
    let messages = shares.iter().enumerate().flat_map(|(to, share)| {
        let of_one = |it: &'_ Received| (it.from, to, it.planes.clone());
        share.received.iter().map(of_one).collect::<Vec<_>>()
    });
    let own_ones = messages.filter(|(from, to, _)| *from == own || *to == own);
    let borders = own_ones.flat_map(|(from, to, planes)| {
        let (peer, is_sent) = if from == own { (to, true) } else { (from, false) };
        let values = planes.into_iter().map(|planes| shape.stored_alone(planes));
        values.map(move |values| Border { peer, is_sent, values })
    });
    borders.collect()
}

/// The rows of a grid that some planes are; `None` of points of a line.
fn rows(shape: &Shape, planes: &Range<usize>) -> Option<Range<usize>> {
    let of_plane = match shape.dim() {
        1 if Planes::of(shape).lines == 1 => return None,
        3 => shape.ny(),
        _ => 1,
    };
    Some(planes.start * of_plane..planes.end * of_plane)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{AxisTiling, Shares};

    fn shares(shape: &Shape, slab: usize, processes: usize) -> Shares {
        let axis = AxisTiling::bands(shape.planes(), slab);
        Shares::independent(&axis, processes).unwrap()
    }

    /// NCCL matches what one process sends to another with what that receives from it, by order and size.
    #[test]
    fn what_one_process_sends_another_receives() {
        let shape = Shape::grid_2d(6, 20).unwrap();
        for height in [1, 4, 30] {
            let shares = shares(&shape, 3, 3).receiving_around(height);
            let of = |own| borders(&shape, shares.of_devices(), own);
            assert_eq!((0..3).map(|own| of(own).len()).sum::<usize>(), 2 * shares.messages());
            for own in 0..3 {
                for sent in of(own).iter().filter(|border| border.is_sent) {
                    let there = of(sent.peer);
                    let received = there.iter().find(|it| !it.is_sent && it.peer == own);
                    // They have the same place in the array of either.
                    assert_eq!(received.expect("it is received").values, sent.values);
                }
            }
        }
    }

    #[test]
    fn lines_of_a_batch_exchange_nothing() {
        let shape = Shape::grid_1d(100, 6).unwrap();
        assert_eq!(borders(&shape, shares(&shape, 1, 2).of_devices(), 0), []);
        assert_eq!(rows(&shape, &(3..6)), Some(3..6));
        assert_eq!(rows(&Shape::grid_1d(100, 1).unwrap(), &(0..50)), None);
        assert_eq!(rows(&Shape::grid_3d(4, 5, 9).unwrap(), &(2..9)), Some(10..45));
    }
}
