//! Figures as files.

mod metadata;
pub(crate) mod saved;
pub(crate) mod table;
