//! A cycle of devices that share a grid or a matrix: the tiles at their borders first, and the exchange while the
//! others are computed.
//!
//! Everything is enqueued without waiting for it, so that a batch of cycles can be recorded as one graph over all devices.
//! A device waits for those that it exchanges with, not for all.

use super::messages::{Message, Report};
use super::part::Part;
use super::share::DeviceShare;
use crate::solver::cuda::arguments::{Norms, Pointer};
use crate::solver::cuda::cycle_kernel::Step;
use crate::solver::cuda::gpu::Gpu;
use crate::solver::cuda::graph_batch::{Cycles, Others};
use cudarc::driver::{CudaEvent, CudaStream, DriverError};
use std::cell::Cell;
use std::sync::Arc;

/// The cycles of devices that share a grid or a matrix.
pub(super) struct SharedCycles<'a, P: Part> {
    pub shares: &'a [DeviceShare<P>],
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

impl<P: Part> SharedCycles<'_, P> {
    /// Lets all streams wait for that of the first device.
    fn fork(&self, stream: &Arc<CudaStream>) -> Result<(), DriverError> {
        self.forked.record(stream)?;
        let mut others = self.shares.iter().flat_map(|share| share.streams.all()).skip(1);
        others.try_for_each(|other| other.wait(self.forked))
    }

    /// Enqueues the tiles of a device, once it has received what they read and sent what they overwrite.
    fn compute(&self, device: usize, step: Step, others: Others) -> Result<(), DriverError> {
        let share = &self.shares[device];
        let border = &share.streams.border;
        match self.last.get() {
            None => {}
            Some(Ending::Exchange) => {
                for message in self.messages.iter().filter(|it| [it.from, it.to].contains(&device))
                {
                    border.wait(&message.transfer.arrived)?;
                }
            }
            Some(Ending::Keep) => border.wait(&share.events.kept)?,
        }
        share.launch(step, others)
    }

    /// Enqueues the messages of an exchange of array `array`: each once its sender has computed it, and its receiver reads
    /// that array no more. A GPU waits for another as seldom as possible, since that takes microseconds.
    fn exchange(&self, array: usize, others: Others) -> Result<(), DriverError> {
        for DeviceShare { streams, events, arrays, part, .. } in self.shares {
            streams.copies.wait(&events.border)?;
            part.pack(&streams.copies, arrays[array].interior)?;
        }
        // The pass for the other norms reads what was received, too.
        let is_read_later = others.parts != 0 || self.last.get() == Some(Ending::Keep);
        for message in self.messages {
            let [sender, receiver] = [message.from, message.to].map(|device| &self.shares[device]);
            if is_read_later || !message.is_answered {
                sender.streams.copies.wait(&receiver.events.begun)?;
            }
            message.enqueue([&sender.streams.copies, &receiver.streams.copies], array)?;
        }
        Ok(())
    }

    /// Enqueues copies of what devices received before from one array to the other.
    fn keep(&self, arrays: [usize; 2]) -> Result<(), DriverError> {
        for (device, DeviceShare { streams, events, .. }) in self.shares.iter().enumerate() {
            streams.copies.wait(&events.begun)?;
            for message in self.messages.iter().filter(|message| message.to == device) {
                message.keep(&streams.copies, arrays)?;
            }
            events.kept.record(&streams.copies)?;
        }
        Ok(())
    }

    /// Enqueues what comes after the tiles of a device: a pass for the other norms, and the report of all.
    fn finish(
        &self,
        device: usize,
        arrays: [usize; 2],
        step: Step,
        others: Others,
    ) -> Result<(), DriverError> {
        let share = &self.shares[device];
        let DeviceShare { streams, events, part, .. } = share;
        streams.border.wait(&events.inner)?;
        if others.parts != 0 {
            let at = arrays.map(|array| share.arrays[array].interior);
            part.launch_others(&streams.border, at, share.others(others, step.index))?;
        }
        events.done.record(&streams.border)?;
        if step.squares == 0 || device == 0 {
            return Ok(());
        }
        let first = &self.shares[0].streams.copies;
        let before = || self.shares[..device].iter().map(|share| &share.part);
        let report = &self.reports[device - 1];
        streams.copies.wait(&events.done)?;
        let streams = [&streams.copies, first];
        if let Some(own) = share.own_squares(step.index) {
            let parts: usize = before().map(Part::parts).sum();
            let to = step.squares + (parts * size_of::<f64>()) as u64;
            let bytes = part.parts() * size_of::<f64>();
            report.squares.enqueue(streams, [own, to], bytes, step.index)?;
        }
        if let Some(own) = share.own_others(step.index).filter(|_| others.parts != 0) {
            let parts: usize = before().map(Part::other_parts).sum();
            let to = others.parts + (parts * size_of::<Norms>()) as u64;
            let bytes = part.other_parts() * size_of::<Norms>();
            report.others.enqueue(streams, [own, to], bytes, step.index)?;
        }
        Ok(())
    }

    /// Which of the arrays of the first device begins there.
    fn array(&self, interior: Pointer) -> usize {
        usize::from(self.shares[0].arrays[1].interior == interior)
    }
}

impl<P: Part> Cycles for SharedCycles<'_, P> {
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
            let own = share.others(others, step.index);
            self.compute(device, Step { from, to, squares, ..step }, own)?;
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
        self.shares.iter().try_for_each(|share| share.join(stream))
    }
}
