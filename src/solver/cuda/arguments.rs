//! What kernels are given, laid out as in `kernels/stencil.cuh`.

use super::build::BuildPrecision;
use crate::grid::{AxisTiling, Real, Shape};
use crate::problem::{Source, Weights};
use crate::solver::{CycleNorms, ResidualNorms};
use cudarc::driver::{DeviceRepr, ValidAsZeroBits};

/// The most points of an axis, or tiles: what a kernel counts in 32 bits, with room for a sum.
const MOST: usize = 1 << 30;

/// A number of points or tiles as kernels count them; `None` if there are too many.
pub(super) fn counted(number: usize) -> Option<i32> {
    (number <= MOST).then(|| i32::try_from(number).ok()).flatten()
}

/// Where an array begins on the GPU; 0 for none.
pub(super) type Pointer = u64;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct GridArgument {
    pub columns: i32,
    pub rows: i32,
    pub pitch: i64,
}

impl GridArgument {
    /// `None` if the grid has too many points along an axis.
    pub fn of(shape: &Shape) -> Option<Self> {
        let (columns, rows) = (counted(shape.nx())?, counted(shape.rows())?);
        Some(Self { columns, rows, pitch: shape.stride() as i64 })
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct WeightsArgument<R> {
    west: R,
    east: R,
    south: R,
    north: R,
}

impl<R: Real> WeightsArgument<R> {
    pub fn of(weights: &Weights<R>) -> Self {
        let (west, east, south, north) = match *weights {
            Weights::Isotropic(w) => (w, w, w, w),
            Weights::PerAxis([x, y, _]) => (x, x, y, y),
            Weights::General([[west, east], [south, north], _]) => (west, east, south, north),
        };
        Self { west, east, south, north }
    }
}

/// The right-hand side g as whoever looks at an iterate reads it: one value stands for all where it is
/// the same everywhere, which spares half of what a look reads.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct RightHandSideArgument {
    values: Pointer,
    step: i64,
}

impl RightHandSideArgument {
    pub fn of(source: &Source, values: Pointer) -> Self {
        let step = if matches!(source, Source::Constant(_)) { 0 } else { 1 };
        Self { values, step }
    }

    /// Whether it is the same everywhere.
    pub fn is_same(&self) -> bool {
        self.step == 0
    }
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct AxisArgument {
    points: i32,
    tile: i32,
    step: i32,
    count: i32,
}

impl AxisArgument {
    /// `None` if the axis has too many points.
    pub fn of(axis: &AxisTiling) -> Option<Self> {
        Some(Self {
            points: counted(axis.n())?,
            tile: counted(axis.tile())?,
            step: counted(axis.stride())?,
            count: counted(axis.count())?,
        })
    }

    /// An axis along which nothing is cut.
    pub const NONE: Self = Self { points: 1, tile: 1, step: 1, count: 1 };
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct WarpsArgument {
    pub across: i32,
    pub down: i32,
}

/// See `Norms` of the kernels.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Norms {
    pub squares: f64,
    pub largest: f64,
    pub change: f64,
    pub error: f64,
}

impl Norms {
    /// The residual's, given the diagonal.
    pub fn residual(&self, diagonal: f64) -> ResidualNorms {
        ResidualNorms {
            l2: self.squares.sqrt() * diagonal.abs(),
            max: Some(self.largest * diagonal.abs()),
        }
    }

    /// Those of a cycle, as far as they were asked for.
    pub fn of_cycle(&self, diagonal: f64, all: bool, knows_exact: bool) -> CycleNorms {
        let residual = self.residual(diagonal);
        CycleNorms {
            residual_before: ResidualNorms { max: residual.max.filter(|_| all), ..residual },
            max_change: all.then_some(self.change),
            error: (all && knows_exact).then(|| self.error.sqrt()),
        }
    }
}

/// The part of a field that is sampled.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowArgument {
    pub first_column: i32,
    pub first_row: i32,
    pub columns: i32,
    pub rows: i32,
    pub block_x: i32,
    pub block_y: i32,
    pub samples_x: i32,
    pub samples_y: i32,
}

// SAFETY: laid out as C does, without pointers to this machine's memory.
unsafe impl DeviceRepr for GridArgument {}
// SAFETY: as above.
unsafe impl<R: Real> DeviceRepr for WeightsArgument<R> {}
// SAFETY: as above; its pointer is one of the GPU.
unsafe impl DeviceRepr for RightHandSideArgument {}
// SAFETY: as above.
unsafe impl DeviceRepr for AxisArgument {}
// SAFETY: as above.
unsafe impl DeviceRepr for WarpsArgument {}
// SAFETY: as above.
unsafe impl DeviceRepr for WindowArgument {}
// SAFETY: as above.
unsafe impl DeviceRepr for Norms {}
// SAFETY: four numbers, which may be zero.
unsafe impl ValidAsZeroBits for Norms {}

/// A type that the iterates on a GPU can have.
pub(super) trait DeviceReal: Real + DeviceRepr + ValidAsZeroBits + BuildPrecision {}
impl DeviceReal for f32 {}
impl DeviceReal for f64 {}
