//! The fixed panels around the panes.

pub mod backend;
mod damping_and_order;
mod editors;
mod initial_guess;
pub mod lesson;
pub mod memory;
pub mod method;
pub mod performance;
pub mod problem;
pub mod schematic;
mod several_devices;
mod streaming;
pub mod timeline;
pub mod toolbar;
pub mod view_menu;
