//! Names of panes.

/// The name of a pane. State and commands know panes by it alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PaneId(pub &'static str);
