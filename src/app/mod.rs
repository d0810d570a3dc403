//! Floor 6: the window.
//!
//! Data flows one way: panels and panes draw the `Session` and the newest report, and request
//! changes by `Command`s. `Explorer` carries the commands out, sends one request to the worker, and
//! takes its next report. Nothing that draws owns a solver, and nothing here waits for one.
//!
//! Folders, each using only those above it in this list:
//!
//! - `widgets`: controls and small pictures, which know nothing of a run;
//! - `state`: what was chosen, pinned and compared, and the commands that change it;
//! - `actions`: what can be done by name or key;
//! - `panes`: one file for each pane, and the list of them;
//! - `panels`: the fixed panels around the panes;
//! - `dialogs`: dialogs, messages and hints over the window;
//! - `tuning`: the tuning map;
//! - `explorer`: the owner of all this.

mod actions;
mod dialogs;
mod explorer;
mod panels;
mod panes;
mod state;
mod tuning;
mod widgets;

#[cfg(not(target_arch = "wasm32"))]
pub use explorer::desktop::run;
pub use explorer::{Explorer, SettingsFile};
