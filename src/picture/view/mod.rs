//! What a figure shows, and how it looks.

pub(crate) mod check;
pub(crate) mod command;
pub(crate) mod figure_spec;
pub(crate) mod frames;
pub(crate) mod inside;
pub(crate) mod kind;
pub(crate) mod spec;
