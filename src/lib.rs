//! Hierarchical Jacobi iteration for structured grids, and what its iterates look like.
//!
//! A grid is cut into overlapping tiles. In a *cycle* every tile performs k Jacobi sweeps
//! (*subiterations*) with the layer of points around it, its *halo*, frozen, and then writes back the
//! points that it *owns*. A cycle passes over main memory once instead of k times, but values near
//! tile borders are stale: they differ from those of Jacobi's iteration. The method is that of M. S. Islam and Q. Wang,
//! *A Hierarchical Jacobi Iteration for Structured Matrices on GPUs using Shared Memory*, HPEC 2022
//! (doi:10.1109/HPEC55821.2022.9926410).
//!
//! # Solve a system
//!
//! A [`RunSpec`](run::RunSpec) describes a run, a [`Planner`](run::Planner) validates it, and a
//! [`Run`](run::Run) makes its cycles:
//!
//! ```
//! use std::sync::Arc;
//! use tilescope::run::{Planner, Run, RunSpec};
//!
//! let mut spec = RunSpec::default(); // −∇²u = 1 with u = 0 on the boundary, solved in tiles of 32²
//! spec.problem.shape = vec![64, 48]; // interior points along x and y
//! (spec.method.k, spec.method.overlap) = (8.into(), vec![4]);
//! let plan = Arc::new(Planner::default().plan(&spec)?);
//! let mut run = Run::new(&plan)?;
//! while run.outcome().is_none() {
//!     run.advance(u64::MAX)?; // a few milliseconds of cycles at a time
//! }
//! let u = run.solver().solution()?.to_interior(); // 64 · 48 values, x fastest
//! # assert_eq!(u.len(), 64 * 48);
//! # assert!(u.iter().all(|&u| u > 0.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The examples `solve_and_draw` and `sweep` go further. Results are the same to the last bit for any
//! number of threads, processor and back end, except with kernel `spectral`, which agrees with the
//! others up to rounding.
//!
//! # Modules
//!
//! Each uses only those above it in this list (`ARCHITECTURE.md` explains why, and where new code goes):
//!
//! | module | contents |
//! |---|---|
//! | [`grid`], [`files`] | shapes, fields, tilings, memory; files that are written completely or not at all |
//! | [`problem`] | stencil, right-hand side, initial guess, boundary values, exact discrete solution |
//! | [`solver`] | the iterative methods on CPU and GPU |
//! | [`run`] | runs, their history, observations, sweeps over settings |
//! | [`picture`] | colours, figures and animations |
//! | [`lesson`] | lessons: steps, their runs, and claims that are measured |
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | `cli` | the command line, and the program `tilescope` |
//! | `gui` | the window |
//! | `cuda` | NVIDIA GPUs; the driver is opened at run time |
//!
//! All are on by default; a library wants `default-features = false`.

#![warn(missing_docs)]

#[cfg(feature = "gui")]
pub mod app;
#[cfg(feature = "cli")]
pub mod cli;
mod clock;
pub mod files;
pub mod grid;
pub mod lesson;
mod number;
mod pauses;
pub mod picture;
pub mod problem;
mod random;
pub mod run;
pub mod solver;
mod stop_token;
