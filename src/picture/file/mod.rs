//! Figures as files.

pub(crate) mod saved;
pub(crate) mod table;
