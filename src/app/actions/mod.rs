//! What can be done by name or key: actions and their table.

mod action;
mod members;
mod menu;
mod single;
mod steps;
mod table;

pub use action::{Action, ActionContext};
pub use members::{menu_tooltip, panes};
pub use menu::entry;
pub use single::*;
pub use table::ActionTable;
