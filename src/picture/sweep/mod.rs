//! The map of a sweep, and its charts.

pub(crate) mod charts;
pub(crate) mod data;
pub(crate) mod figure;
pub(crate) mod kind;
pub(crate) mod map;
mod map_figure;
