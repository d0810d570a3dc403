//! The kinds of figures, a file each.

pub(crate) mod arrangement;
pub(crate) mod distance;
pub(crate) mod inside;
pub(crate) mod names;
pub(crate) mod over_cycles;
pub(crate) mod run_figure;
pub(crate) mod runs;
