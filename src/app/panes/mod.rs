//! The panes: one file for each, which implements `PaneType`, and the list of them.

pub mod convergence;
mod damping_by_mode;
mod distance;
pub mod docking;
mod edge_share;
mod frequencies;
pub mod heat_map;
mod height;
mod inside;
mod lanes;
pub mod layout;
pub mod list;
mod mean_tile;
mod memory_traffic;
pub mod pane_type;
pub mod pinned;
mod planes;
pub mod probes;
pub mod profile;
mod row_map;
mod slices;
mod speedup;
pub mod spy;
mod sweeps_made;
mod times;
mod volume;

pub use docking::Panes;
pub use layout::Layout;
pub use pane_type::{PaneContext, Pictures};
