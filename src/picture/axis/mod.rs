//! Scales, the round values that mark them, and numbers as text.

pub(crate) mod number;
pub(crate) mod scale;
pub(crate) mod ticks;
