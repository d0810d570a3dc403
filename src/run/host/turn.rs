//! What follows a turn of a loop.

use std::time::Duration;

/// What follows a turn of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) enum Turn {
    /// There is more work now.
    Again,
    /// There is no work until the loop is woken, or until this time has passed.
    Wait(Duration),
    /// The loop is over.
    End,
}
