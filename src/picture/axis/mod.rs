//! Scales, and the round values that mark them.

pub(crate) mod scale;
pub(crate) mod ticks;
