//! Floor 0: how many points there are, where they are kept, and how they are cut into tiles.
//!
//! Nothing here knows of a matrix or of an iteration.

mod field;
pub mod memory;
mod real;
mod shape;
mod tiling;

pub use field::Field;
pub use real::{Precision, Real};
pub use shape::{Shape, ShapeError};
pub use tiling::{AxisTiling, Tiling, TilingError};
