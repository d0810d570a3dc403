//! Floor 1: the linear system. Stencil, right-hand side, start, Dirichlet values, ready-made
//! problems, and the exact solution of the discrete system.

mod exact;
pub mod input;
mod stencil;
mod system;

pub use exact::{ExactError, exact};
pub use stencil::{Stencil, StencilError, Weights};
pub use system::{Boundary, Problem, Source, System};
