//! The numbers of iterates on a GPU.

use super::build::BuildPrecision;
use crate::grid::Real;
use cudarc::driver::{DeviceRepr, ValidAsZeroBits};

/// A precision that iterates on a GPU can have.
pub(super) trait DeviceReal: Real + DeviceRepr + ValidAsZeroBits + BuildPrecision {}
impl DeviceReal for f32 {}
impl DeviceReal for f64 {}
