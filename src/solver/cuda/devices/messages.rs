//! What devices send to each other.

use super::transfer::{Transfer, copy};
use crate::solver::cuda::arguments::Pointer;
use crate::solver::cuda::gpu::Gpu;
use crate::solver::{ExchangePath, SolverError};
use cudarc::driver::{CudaStream, DriverError};
use std::sync::Arc;

/// Values that a device sends to another in every exchange.
pub(super) struct Message {
    pub from: usize,
    pub to: usize,
    /// Where they lie at their sender, for either of its arrays; where they are packed, that is the same place.
    sent: [Pointer; 2],
    /// Where they go, in either array of the receiver.
    received: [Pointer; 2],
    bytes: usize,
    /// See [`Message::answered`].
    pub is_answered: bool,
    pub transfer: Transfer,
}

impl Message {
    /// Prepares the messages from one device to another, each of so many bytes.
    ///
    /// # Errors
    /// [`SolverError`] if their GPUs cannot reach each other and `path` demands it, or a driver fails.
    pub fn new(
        [from, to]: [usize; 2],
        gpus: &[Arc<Gpu>],
        [sent, received]: [[Pointer; 2]; 2],
        bytes: usize,
        path: ExchangePath,
    ) -> Result<Self, SolverError> {
        let transfer = Transfer::new(&gpus[from], &gpus[to], bytes, path)?;
        Ok(Self { from, to, sent, received, bytes, is_answered: false, transfer })
    }

    /// The same, but `is_answered` says whether the receiver reads what it overwrites only before it sends an answer in the
    /// same exchange: once that has arrived, it has read it.
    pub fn answered(self, is_answered: bool) -> Self {
        Self { is_answered, ..self }
    }

    /// Enqueues it for an array: into a stream of its sender and, through this machine, into one of its receiver.
    pub fn enqueue(&self, streams: [&Arc<CudaStream>; 2], array: usize) -> Result<(), DriverError> {
        self.transfer.enqueue(streams, [self.sent[array], self.received[array]], self.bytes, 0)
    }

    /// Enqueues a copy of what its receiver has of it from one array to the other.
    pub fn keep(
        &self,
        stream: &Arc<CudaStream>,
        [from, to]: [usize; 2],
    ) -> Result<(), DriverError> {
        copy(stream, self.received[from], self.received[to], self.bytes)
    }
}

/// How the norms of a device get to the first one, where all are added.
pub(super) struct Report {
    pub squares: Transfer,
    pub others: Transfer,
}
