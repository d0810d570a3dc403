//! A channel with one slot, in which the newest message replaces one that was not read yet: sending
//! never waits, and messages never pile up.

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

/// The sending end. There is one of it.
pub(in crate::run) struct LatestSlot<T> {
    messages: Sender<T>,
    /// The other end of `messages`, to take back one that has not been read.
    unread: Receiver<T>,
}

impl<T> LatestSlot<T> {
    /// Both ends.
    pub fn channel() -> (Self, Receiver<T>) {
        let (messages, unread) = bounded(1);
        (Self { messages, unread: unread.clone() }, unread)
    }

    /// Puts a message into the slot, in place of one that has not been read.
    pub fn put(&self, message: T) {
        let mut message = message;
        // The slot is full only with an older message; this is its one sender, so it is free next.
        while let Err(TrySendError::Full(again)) = self.messages.try_send(message) {
            _ = self.unread.try_recv();
            message = again;
        }
    }
}
