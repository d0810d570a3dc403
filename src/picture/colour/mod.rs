//! From values to colours.

pub(crate) mod histogram;
pub(crate) mod map;
pub(crate) mod paint;
pub(crate) mod theme;
#[cfg(test)]
pub(crate) mod vision;
