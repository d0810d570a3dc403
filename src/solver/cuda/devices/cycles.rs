//! A cycle of devices that share a grid: the tiles at their borders first, and the exchange while the others are computed.
//!
//! Everything is enqueued without waiting for it, so that a batch of cycles can be recorded as one graph over all devices.
//! A device waits for those that it exchanges with, not for all.

use super::share::DeviceShare;
use super::transfer::{Transfer, copy};
use crate::solver::cuda::arguments::{Norms, Pointer};
use crate::solver::cuda::cycle_kernel::Step;
use crate::solver::cuda::gpu::Gpu;
use crate::solver::cuda::graph_batch::{Cycles, Others};
use crate::solver::cuda::real::DeviceReal;
use cudarc::driver::{CudaEvent, CudaStream, DevicePtr, DriverError};
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// Planes that a device sends to another in every exchange.
pub(super) struct Message {
    pub from: usize,
    pub to: usize,
    /// Where they lie in the arrays of the grid.
    pub stored: Range<usize>,
    /// Whether the receiver reads what it overwrites only in tiles whose planes it sends back: once these have arrived, it
    /// has read it.
    pub is_answered: bool,
    pub transfer: Transfer,
}

/// How the norms of a device get to the first one, where all are added.
pub(super) struct Report {
    pub squares: Transfer,
    pub others: Transfer,
}

/// The cycles of devices that share a grid.
pub(super) struct SharedCycles<'a, R: DeviceReal> {
    pub shares: &'a [DeviceShare<R>],
    pub messages: &'a [Message],
    /// Of all devices but the first.
    pub reports: &'a [Report],
    /// The stream of the first device has come to the first cycle that is enqueued.
    pub forked: &'a CudaEvent,
    /// What the last enqueued cycle ended with; `None` before the first since all streams were joined.
    pub last: Cell<Option<Ending>>,
}

/// What a cycle ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Devices exchange what they made.
    Exchange,
    /// What they received before stays.
    Keep,
}

impl<R: DeviceReal> SharedCycles<'_, R> {
    /// Lets all streams wait for that of the first device.
    fn fork(&self, stream: &Arc<CudaStream>) -> Result<(), DriverError> {
        self.forked.record(stream)?;
        let mut others = self.shares.iter().flat_map(|share| share.streams.all()).skip(1);
        others.try_for_each(|other| other.wait(self.forked))
    }

    /// Enqueues the tiles of a device, once it has received what they read and sent what they overwrite.
    fn compute(&self, device: usize, step: Step) -> Result<(), DriverError> {
        let DeviceShare { streams, events, borders, inner, .. } = &self.shares[device];
        match self.last.get() {
            None => {}
            Some(Ending::Exchange) => {
                for message in self.messages.iter().filter(|it| [it.from, it.to].contains(&device))
                {
                    streams.border.wait(&message.transfer.arrived)?;
                }
            }
            Some(Ending::Keep) => streams.border.wait(&events.kept)?,
        }
        events.begun.record(&streams.border)?;
        for piece in borders {
            piece.launch(&streams.border, step)?;
        }
        events.border.record(&streams.border)?;
        if let Some(piece) = inner {
            streams.inner.wait(&events.begun)?;
            piece.launch(&streams.inner, step)?;
        }
        events.inner.record(&streams.inner)
    }

    /// Enqueues the messages of an exchange of array `array`: each once its sender has computed it, and its receiver reads
    /// that array no more. A GPU waits for another as seldom as possible, since that takes microseconds.
    fn exchange(&self, array: usize, others: Others) -> Result<(), DriverError> {
        // The pass for the other norms reads what was received, too.
        let is_read_later = others.parts != 0 || self.last.get() == Some(Ending::Keep);
        for message in self.messages {
            let [sender, receiver] = [message.from, message.to].map(|device| &self.shares[device]);
            sender.streams.copies.wait(&sender.events.border)?;
            if is_read_later || !message.is_answered {
                sender.streams.copies.wait(&receiver.events.begun)?;
            }
            message.enqueue([sender, receiver], array)?;
        }
        Ok(())
    }

    /// Enqueues copies of what devices received before from one array to the other.
    fn keep(&self, [from, to]: [usize; 2]) -> Result<(), DriverError> {
        for (device, DeviceShare { streams, events, .. }) in self.shares.iter().enumerate() {
            streams.copies.wait(&events.begun)?;
            for message in self.messages.iter().filter(|message| message.to == device) {
                message.keep(&self.shares[device], [from, to])?;
            }
            events.kept.record(&streams.copies)?;
        }
        Ok(())
    }

    /// Enqueues what comes after the tiles of a device: the pass for the other norms, and the report of all.
    fn finish(
        &self,
        device: usize,
        [from, to]: [usize; 2],
        step: Step,
        others: Others,
    ) -> Result<(), DriverError> {
        let share = &self.shares[device];
        let DeviceShare { streams, events, .. } = share;
        streams.border.wait(&events.inner)?;
        if let Some((pass, _)) = share.others.as_ref().filter(|_| others.parts != 0) {
            let at = [from, to].map(|array| share.view.of(share.arrays[array].interior));
            let parts = match share.other_sums(step.index) {
                Some(own) => own,
                None => others.parts,
            };
            pass.launch(&streams.border, &share.view.system, at, share.exact_at(), parts)?;
        }
        events.done.record(&streams.border)?;
        if step.squares == 0 || device == 0 {
            return Ok(());
        }
        let first = &self.shares[0].streams.copies;
        let before = &self.shares[..device];
        let report = &self.reports[device - 1];
        streams.copies.wait(&events.done)?;
        let streams = [&streams.copies, first];
        if let Some(own) = share.own_squares(step.index) {
            let parts: usize = before.iter().map(|share| share.parts).sum();
            let to = step.squares + (parts * size_of::<f64>()) as u64;
            let bytes = share.parts * size_of::<f64>();
            report.squares.enqueue(streams, [own, to], bytes, step.index)?;
        }
        if let Some(own) = share.other_sums(step.index).filter(|_| others.parts != 0) {
            let parts: usize = before.iter().map(DeviceShare::other_parts).sum();
            let to = others.parts + (parts * size_of::<Norms>()) as u64;
            let bytes = share.other_parts() * size_of::<Norms>();
            report.others.enqueue(streams, [own, to], bytes, step.index)?;
        }
        Ok(())
    }

    /// Which of the arrays of the first device begins there.
    fn array(&self, interior: Pointer) -> usize {
        usize::from(self.shares[0].arrays[1].interior == interior)
    }
}

impl<R: DeviceReal> Cycles for SharedCycles<'_, R> {
    fn gpu(&self) -> &Gpu {
        &self.shares[0].gpu
    }

    fn launch(
        &self,
        stream: &Arc<CudaStream>,
        step: Step,
        others: Others,
    ) -> Result<(), DriverError> {
        if self.last.get().is_none() {
            self.fork(stream)?;
        }
        let arrays = [step.from, step.to].map(|at| self.array(at));
        for (device, share) in self.shares.iter().enumerate() {
            let [from, to] = arrays.map(|array| share.arrays[array].interior);
            let squares = match share.own_squares(step.index).filter(|_| step.squares != 0) {
                Some(own) => own,
                None => step.squares,
            };
            self.compute(device, Step { from, to, squares, ..step })?;
        }
        let ending = if step.exchanges { Ending::Exchange } else { Ending::Keep };
        match ending {
            Ending::Exchange => self.exchange(arrays[1], others)?,
            Ending::Keep => self.keep(arrays)?,
        }
        for device in 0..self.shares.len() {
            self.finish(device, arrays, step, others)?;
        }
        self.last.set(Some(ending));
        Ok(())
    }

    /// To launch a graph of several GPUs takes long.
    fn graphs_of_a_batch(&self) -> f64 {
        1.0
    }

    fn join(&self, stream: &Arc<CudaStream>) -> Result<(), DriverError> {
        self.last.set(None);
        for DeviceShare { streams, events, .. } in self.shares {
            for (other, end) in streams.all().into_iter().zip(&events.ends) {
                end.record(other)?;
                stream.wait(end)?;
            }
        }
        Ok(())
    }
}

impl Message {
    /// Enqueues it for an array.
    pub fn enqueue<R: DeviceReal>(
        &self,
        [sender, receiver]: [&DeviceShare<R>; 2],
        array: usize,
    ) -> Result<(), DriverError> {
        let at = [sender, receiver].map(|share| share.address(array, self.stored.start));
        let streams = [&sender.streams.copies, &receiver.streams.copies];
        self.transfer.enqueue(streams, at, self.stored.len() * size_of::<R>(), 0)
    }

    /// Enqueues a copy of what its receiver has of it from one array to the other.
    pub fn keep<R: DeviceReal>(
        &self,
        receiver: &DeviceShare<R>,
        arrays: [usize; 2],
    ) -> Result<(), DriverError> {
        let [from, to] = arrays.map(|array| receiver.address(array, self.stored.start));
        copy(&receiver.streams.copies, from, to, self.stored.len() * size_of::<R>())
    }
}

impl<R: DeviceReal> DeviceShare<R> {
    /// Where the sums of squares of one of the cycles that are made together lie; `None` where all are added.
    fn own_squares(&self, cycle: usize) -> Option<Pointer> {
        let first = self.squares.as_ref()?.device_ptr(&self.streams.border).0;
        Some(first + (cycle * self.parts * size_of::<f64>()) as u64)
    }

    /// The same of its other norms.
    fn other_sums(&self, cycle: usize) -> Option<Pointer> {
        let first = self.others.as_ref()?.1.as_ref()?.device_ptr(&self.streams.border).0;
        Some(first + (cycle * self.other_parts() * size_of::<Norms>()) as u64)
    }

    /// In how many parts its other norms come.
    pub fn other_parts(&self) -> usize {
        self.others.as_ref().map_or(0, |(pass, _)| pass.parts())
    }
}
