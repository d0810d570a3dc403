//! What a figure shows, and in which style.

pub(crate) mod camera;
mod check;
pub(crate) mod command;
pub(crate) mod error;
pub(crate) mod figure_spec;
pub(crate) mod frames;
pub(crate) mod inside;
pub(crate) mod kind;
pub(crate) mod norm;
pub(crate) mod over;
pub(crate) mod slow_link;
pub(crate) mod spec;
