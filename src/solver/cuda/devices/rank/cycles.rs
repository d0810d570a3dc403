//! A cycle of one process among several that share a grid or a matrix: its tiles, and what it exchanges with the others
//! through NCCL.
//!
//! As on devices of one process, the tiles at its borders come first, and the exchange travels while the others are
//! computed. All that NCCL does is in one stream, in the same order in every process, and is recorded in graphs with the
//! rest.

use super::part::{RankMessage, RankPart};
use crate::solver::cuda::arguments::{Norms, Pointer};
use crate::solver::cuda::cycle_kernel::Step;
use crate::solver::cuda::devices::cycles::Ending;
use crate::solver::cuda::devices::part::Part;
use crate::solver::cuda::devices::share::DeviceShare;
use crate::solver::cuda::devices::transfer::copy;
use crate::solver::cuda::gpu::Gpu;
use crate::solver::cuda::graph_batch::{Cycles, Others};
use crate::solver::cuda::nccl::{Communicator, Message};
use cudarc::driver::{CudaEvent, CudaStream, DriverError};
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// Where the parts of the norms of every process lie among those of all, which each process adds.
pub(super) struct PartsOfRanks {
    /// Which process this is.
    pub own: usize,
    /// Sums of squares, and the parts of the other norms.
    pub squares: Vec<Range<usize>>,
    pub others: Vec<Range<usize>>,
}

/// The cycles of one process.
pub(super) struct RankCycles<'a, P: RankPart> {
    pub share: &'a DeviceShare<P>,
    pub group: &'a Communicator,
    pub messages: &'a [RankMessage],
    pub parts: &'a PartsOfRanks,
    /// Its border stream has come to the first cycle that is enqueued.
    pub forked: &'a CudaEvent,
    /// The exchange that was enqueued last is done.
    pub exchanged: &'a CudaEvent,
    /// What the last enqueued cycle ended with; `None` before the first since all streams were joined.
    pub last: Cell<Option<Ending>>,
}

impl<P: RankPart> RankCycles<'_, P> {
    fn compute(&self, step: Step, others: Others) -> Result<(), DriverError> {
        let border = &self.share.streams.border;
        match self.last.get() {
            None => {}
            Some(Ending::Exchange) => border.wait(self.exchanged)?,
            Some(Ending::Keep) => border.wait(&self.share.events.kept)?,
        }
        self.share.launch(step, others)
    }

    /// Enqueues the exchange of array `array`, once the tiles at the borders are computed; nobody reads any more then what
    /// is received into it.
    fn exchange(&self, array: usize) -> Result<(), DriverError> {
        let DeviceShare { streams, events, .. } = self.share;
        streams.copies.wait(&events.border)?;
        exchange(self.share, self.group, self.messages, array)?;
        self.exchanged.record(&streams.copies)
    }

    /// Enqueues copies of what was received before from one array to the other.
    fn keep(&self, arrays: [usize; 2]) -> Result<(), DriverError> {
        let DeviceShare { streams, events, .. } = self.share;
        streams.copies.wait(&events.begun)?;
        keep(self.share, self.messages, arrays)?;
        events.kept.record(&streams.copies)
    }

    /// Enqueues what comes after the tiles: the pass for the other norms, and the parts of all processes.
    fn finish(&self, arrays: [usize; 2], step: Step, others: Others) -> Result<(), DriverError> {
        let share = self.share;
        let DeviceShare { streams, events, part, .. } = share;
        streams.border.wait(&events.inner)?;
        let own = self.parts.own;
        if others.parts != 0 {
            let at = arrays.map(|array| share.arrays[array].interior);
            part.launch_others(&streams.border, at, self.own_others(others))?;
        }
        events.done.record(&streams.border)?;
        if step.squares == 0 {
            return Ok(());
        }
        streams.copies.wait(&events.done)?;
        let of_sweep = |sweep: usize| step.squares + (sweep * step.apart * size_of::<f64>()) as u64;
        let squares = (0..step.cycles)
            .flat_map(|sweep| shared_parts::<f64>(own, of_sweep(sweep), &self.parts.squares));
        let others = (others.parts != 0)
            .then(|| shared_parts::<Norms>(own, others.parts, &self.parts.others))
            .into_iter()
            .flatten();
        self.group.exchange(&streams.copies, squares.chain(others))
    }

    /// Where the parts of its other norms go, if those of all are requested at `of_all`.
    fn own_others(&self, of_all: Others) -> Others {
        let parts = match of_all.parts {
            0 => 0,
            first => part_at::<Norms>(first, &self.parts.others[self.parts.own]),
        };
        Others { parts, exact: self.share.exact_at() }
    }

    /// Which of the arrays begins there.
    fn array(&self, interior: Pointer) -> usize {
        usize::from(self.share.arrays[1].interior == interior)
    }
}

impl<P: RankPart> Cycles for RankCycles<'_, P> {
    fn gpu(&self) -> &Gpu {
        &self.share.gpu
    }

    fn launch(
        &self,
        stream: &Arc<CudaStream>,
        step: Step,
        others: Others,
    ) -> Result<(), DriverError> {
        let streams = &self.share.streams;
        if self.last.get().is_none() {
            self.forked.record(stream)?;
            streams.inner.wait(self.forked)?;
            streams.copies.wait(self.forked)?;
        }
        let arrays = [step.from, step.to].map(|at| self.array(at));
        let squares = match step.squares {
            0 => 0,
            first => part_at::<f64>(first, &self.parts.squares[self.parts.own]),
        };
        self.compute(Step { squares, ..step }, self.own_others(others))?;
        let ending = if step.exchanges { Ending::Exchange } else { Ending::Keep };
        match ending {
            Ending::Exchange => self.exchange(arrays[1])?,
            Ending::Keep => self.keep(arrays)?,
        }
        self.finish(arrays, step, others)?;
        self.last.set(Some(ending));
        Ok(())
    }

    fn join(&self, stream: &Arc<CudaStream>) -> Result<(), DriverError> {
        self.last.set(None);
        self.share.join(stream)
    }

    /// All processes make batches of as many cycles, which they choose by these seconds.
    fn slowest(&self, seconds: f64) -> Result<f64, DriverError> {
        let all = self.group.gather_reals(&self.share.streams.copies, &[seconds])?;
        Ok(all.into_iter().fold(0.0, f64::max))
    }
}

/// Enqueues an exchange of array `array` with all other processes.
pub(super) fn exchange<P: Part>(
    share: &DeviceShare<P>,
    group: &Communicator,
    messages: &[RankMessage],
    array: usize,
) -> Result<(), DriverError> {
    let copies = &share.streams.copies;
    share.part.pack(copies, share.arrays[array].interior)?;
    let messages = messages.iter().map(|RankMessage { peer, is_sent, at, bytes }| Message {
        peer: *peer,
        is_sent: *is_sent,
        at: at[array],
        bytes: *bytes,
    });
    group.exchange(copies, messages)
}

/// Enqueues copies of what was received before from one array to the other.
pub(super) fn keep<P: Part>(
    share: &DeviceShare<P>,
    messages: &[RankMessage],
    [from, to]: [usize; 2],
) -> Result<(), DriverError> {
    let mut received = messages.iter().filter(|message| !message.is_sent);
    received.try_for_each(|RankMessage { at, bytes, .. }| {
        copy(&share.streams.copies, at[from], at[to], *bytes)
    })
}

/// Where the parts of a process begin.
fn part_at<T>(first: Pointer, parts: &Range<usize>) -> Pointer {
    first + (parts.start * size_of::<T>()) as u64
}

/// The messages by which every process gets the parts of all.
fn shared_parts<T>(
    own: usize,
    first: Pointer,
    parts: &[Range<usize>],
) -> impl Iterator<Item = Message> {
    let of = move |rank: usize, peer: usize, is_sent: bool| Message {
        peer,
        is_sent,
        at: part_at::<T>(first, &parts[rank]),
        bytes: parts[rank].len() * size_of::<T>(),
    };
    let others = (0..parts.len()).filter(move |peer| *peer != own);
    others.flat_map(move |peer| [of(own, peer, true), of(peer, peer, false)])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// NCCL matches what one process sends to another with what that receives from it, by order and size.
    #[test]
    fn what_one_process_sends_another_receives() {
        let parts = [0..3, 3..4, 4..9];
        let of = |own| shared_parts::<f64>(own, 1000, &parts).collect::<Vec<_>>();
        for own in 0..3 {
            for sent in of(own).iter().filter(|message| message.is_sent) {
                let there = of(sent.peer);
                let mut received = there.iter().filter(|it| !it.is_sent && it.peer == own);
                let received = received.next().expect("it is received");
                // The parts have the same place everywhere.
                assert_eq!((sent.at, sent.bytes), (received.at, received.bytes));
            }
        }
        assert_eq!(of(1)[0].at, 1000 + 3 * 8);
        assert_eq!(of(1).len(), 4);
    }
}
