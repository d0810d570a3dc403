//! Figures as files.

pub(crate) mod link;
mod metadata;
pub(crate) mod saved;
pub(crate) mod table;
