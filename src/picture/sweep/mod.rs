//! The map of a sweep.

pub(crate) mod figure;
pub(crate) mod map;
