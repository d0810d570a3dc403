//! The fixed panels around the panes.

pub mod backend;
pub mod cost;
pub mod memory;
pub mod method;
pub mod problem;
pub mod timeline;
pub mod toolbar;
pub mod view_menu;
