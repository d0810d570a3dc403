//! What devices send to each other.

use super::paths::{Parcel, Paths};
use super::transfer::{Transfer, copy};
use crate::solver::SolverError;
use crate::solver::cuda::arguments::Pointer;
use cudarc::driver::{CudaEvent, CudaStream, DriverError};
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
    /// [`SolverError`] if a driver fails.
    pub fn new(
        [from, to]: [usize; 2],
        paths: &Paths,
        [sent, received]: [[Pointer; 2]; 2],
        bytes: usize,
    ) -> Result<Self, SolverError> {
        let transfer = paths.transfer([from, to], bytes)?;
        Ok(Self { from, to, sent, received, bytes, is_answered: false, transfer })
    }

    /// The same, but `is_answered` says whether the receiver reads what it overwrites only before it sends an answer in the
    /// same exchange: once that has arrived, it has read it.
    pub fn answered(self, is_answered: bool) -> Self {
        Self { is_answered, ..self }
    }

    /// Its values of an array, in streams of its sender and its receiver, the first of which waits for `after`.
    pub fn of_array<'a>(
        &'a self,
        array: usize,
        streams: [&'a Arc<CudaStream>; 2],
        after: Option<&'a CudaEvent>,
    ) -> Parcel<'a> {
        let ends = [self.sent[array], self.received[array]];
        Parcel { transfer: &self.transfer, streams, ends, bytes: self.bytes, at: 0, after }
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
