//! Floor 0: shapes of grids, fields on them, their partition into tiles, and memory.
//!
//! Nothing here depends on a matrix or an iteration.

mod byte_count;
mod field;
mod geometry;
#[cfg(not(target_arch = "wasm32"))]
mod mapped;
pub mod memory;
mod point;
mod real;
mod shape;
mod shares;
mod tiling;
mod values;
mod vector;

pub use byte_count::{ByteCount, ByteCountError};
pub use field::Field;
pub use geometry::{AXIS_NAMES, Geometry, INDEX_NAMES, Need, Slice, SliceError};
pub use point::GridPoint;
pub use real::{Precision, Real};
pub use shape::{Shape, ShapeError};
pub use shares::{Received, Share, Shares, SharesError};
pub use tiling::{AxisTiling, Region, Tiling, TilingError};
pub use vector::{Doubles, Doubts, Singles, Value, Vector};
