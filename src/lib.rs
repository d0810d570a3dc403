//! Tilescope: see hierarchical Jacobi converge, tile by tile.
//!
//! The floors, lowest first; each uses only those above it in this list (see `ARCHITECTURE.md`):
//! [`files`] and [`grid`], [`problem`], [`solver`], [`run`], [`picture`], and above them the command
//! line and the window.

#[cfg(feature = "gui")]
pub mod app;
#[cfg(feature = "cli")]
pub mod cli;
pub mod files;
pub mod grid;
pub mod picture;
pub mod problem;
pub mod run;
pub mod solver;
