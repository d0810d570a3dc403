//! The arguments of kernels, with the same layout as in `kernels/stencil.cuh`, `norms.cuh`, `field.cuh`, `strips.cuh`,
//! `cube.cuh` and `observe.cu`. Sizes and offsets are asserted on both sides.

use super::tensor_map::{TensorMap, Volume};
use crate::grid::{AxisTiling, Precision, Real, Shape};
use crate::problem::{Source, Weights};
use crate::solver::{CycleNorms, ResidualNorms};
use cudarc::driver::{DeviceRepr, DriverError, ValidAsZeroBits};
use std::mem::{ManuallyDrop, offset_of};

/// The most points of an axis, or tiles: kernels count in 32 bits, and add two such numbers.
const MAX_COUNT: usize = 1 << 30;

/// A number of points or tiles as kernels count them; `None` if it is too large.
pub(super) fn counted(number: usize) -> Option<i32> {
    (number <= MAX_COUNT).then(|| i32::try_from(number).ok()).flatten()
}

/// An address on the GPU; 0 for none.
pub(super) type Pointer = u64;

/// `Grid` in 1D and 2D: interior points, and values from one row to the next.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct FlatGrid {
    pub columns: i32,
    pub rows: i32,
    pub pitch: i64,
}

/// `Grid` in 3D; kernels for 1D and 2D read no more than its first member.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct GridArgument {
    pub flat: FlatGrid,
    plane_rows: i32,
    /// What C leaves free; set, so that all bytes that the driver copies are.
    unused: i32,
    plane_pitch: i64,
}

impl GridArgument {
    /// `None` if the grid has too many points along an axis.
    pub fn of(shape: &Shape) -> Option<Self> {
        let (columns, rows) = (counted(shape.nx())?, counted(shape.rows())?);
        Some(Self {
            flat: FlatGrid { columns, rows, pitch: shape.stride() as i64 },
            plane_rows: counted(shape.rows_per_plane())?,
            unused: 0,
            plane_pitch: shape.plane_stride() as i64,
        })
    }

    /// So many planes of a grid, or points of one of its systems in 1D; `None` if they are too many.
    pub fn of_planes(shape: &Shape, planes: usize) -> Option<Self> {
        let (columns, plane_rows) = match shape.dim() {
            1 => (planes, 1),
            2 => (shape.nx(), 1),
            _ => (shape.nx(), shape.ny()),
        };
        let rows = if shape.dim() == 1 { 1 } else { planes.checked_mul(plane_rows)? };
        let flat = FlatGrid {
            columns: counted(columns)?,
            rows: counted(rows)?,
            pitch: shape.stride() as i64,
        };
        let plane_pitch = shape.plane_stride() as i64;
        Some(Self { flat, plane_rows: counted(plane_rows)?, unused: 0, plane_pitch })
    }
}

/// `Weights`: those of the neighbours before and after a point along x, then along y, then along z, which are `COUNT`:
/// 4 in kernels for 1D and 2D, 6 in those for 3D. In their place, where the rows of points differ, the arrays of
/// these.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) union WeightsArgument<R, const COUNT: usize> {
    constants: ManuallyDrop<[R; COUNT]>,
    rows: RowsArgument,
}

/// The first interior point of the first array of rows, and values from an array to the next.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RowsArgument {
    pub first: Pointer,
    pub distance: i64,
}

impl<R: Real, const COUNT: usize> WeightsArgument<R, COUNT> {
    /// `rows` are read where the weights lie in arrays.
    pub fn of(weights: &Weights<R>, rows: RowsArgument) -> Self {
        let constants =
            |all: [R; 6]| Self { constants: ManuallyDrop::new(std::array::from_fn(|at| all[at])) };
        match *weights {
            Weights::Isotropic(w) => constants([w; 6]),
            Weights::PerAxis([x, y, z]) => constants([x, x, y, y, z, z]),
            Weights::General([x, y, z]) => constants([x[0], x[1], y[0], y[1], z[0], z[1]]),
            Weights::PerPoint => {
                // All bytes that the driver copies are set.
                let mut argument = constants([R::default(); 6]);
                argument.rows = rows;
                argument
            }
        }
    }
}

/// `RightHandSide`: g as observations read it. Where it is the same everywhere, one value is read for all,
/// which halves the memory traffic.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct RightHandSideArgument {
    values: Pointer,
    step: i64,
}

impl RightHandSideArgument {
    /// `source` is b, and `is_per_point` whether the diagonals that it is divided by differ.
    pub fn of(source: &Source, is_per_point: bool, values: Pointer) -> Self {
        let is_same = matches!(source, Source::Constant(_)) && !is_per_point;
        let step = if is_same { 0 } else { 1 };
        Self { values, step }
    }

    /// The same, read from another place.
    pub fn with_values(self, values: Pointer) -> Self {
        Self { values, ..self }
    }

    /// Whether g is the same everywhere.
    pub fn is_same(&self) -> bool {
        self.step == 0
    }
}

/// `Axis`: the tiles of an axis.
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

    /// An axis with a tile of so many points, one like it before and one behind if there are such neighbours. It shares
    /// `overlap` points with each, of which it owns half. `None` if the axis has too many points, or if a tile with one before
    /// is smaller than the overlap, or no larger with both.
    pub fn with_neighbours(
        tile: usize,
        overlap: usize,
        [before, behind]: [bool; 2],
    ) -> Option<Self> {
        let others = i32::from(before) + i32::from(behind);
        let tile = counted(tile)?;
        // Negative where the tile is smaller than what it would share with the one behind; it begins at 0 even so.
        let step = tile - counted(overlap)?;
        if before && step < i32::from(behind) {
            return None;
        }
        let points = step.max(0).checked_mul(others)?.checked_add(tile)?;
        Some(Self { points, tile, step, count: 1 + others })
    }

    /// An axis with one tile of one point.
    pub const NONE: Self = Self { points: 1, tile: 1, step: 1, count: 1 };
}

/// `Split`: into how many parts a tile is split along either axis: warps in 2D, lanes of a warp in 1D.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct SplitArgument {
    pub x: i32,
    pub y: i32,
}

/// `CycleArguments`: the arguments of every kernel that makes a cycle, with the grid, the tiles of its axes and the
/// weights as in 1D and 2D ([`FlatArguments`]) or in 3D ([`VolumeArguments`]).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct CycleArguments<Grid, Tiles, Weights> {
    /// First interior points of the iterate, of g = b / d and of the next iterate.
    pub from: Pointer,
    pub g: Pointer,
    pub to: Pointer,
    /// Where sums of squares of the first sweep go; 0 if they are not wanted.
    pub squares: Pointer,
    pub grid: Grid,
    /// Those of the axes, x first.
    pub tiles: Tiles,
    pub weights: Weights,
    /// Sweeps of the cycle.
    pub k: i32,
    pub split: SplitArgument,
    /// The number of the first tile of the launch.
    pub first: i32,
}

/// Those of kernels for 1D and 2D.
pub(super) type FlatArguments<R> =
    CycleArguments<FlatGrid, [AxisArgument; 2], WeightsArgument<R, 4>>;

/// Those of kernels for 3D.
pub(super) type VolumeArguments<R> =
    CycleArguments<GridArgument, [AxisArgument; 3], WeightsArgument<R, 6>>;

/// `DampedArguments`: those of a kernel whose sweeps are damped, with `FlatArguments` or `VolumeArguments` as the
/// cycle. Kernels without damping take the cycle alone, with which they begin.
#[repr(C)]
pub(super) struct DampedArguments<R, Cycle> {
    pub cycle: Cycle,
    /// The fraction of each update that a sweep applies.
    pub omega: R,
}

/// `SpectralArguments`: those of a kernel that makes subiterations in the sine basis, with `FlatArguments` or
/// `VolumeArguments` as the cycle.
#[repr(C)]
pub(super) struct SpectralArguments<Cycle> {
    cycle: Cycle,
    /// The tables of a tile, laid out as the kernel says.
    tables: Pointer,
    /// Tiles of the launch.
    tiles: i32,
    /// What corrections are multiplied by in the end, where products are in half precision.
    correction_scale: f32,
}

impl<Cycle> SpectralArguments<Cycle> {
    pub fn new(cycle: Cycle, tables: Pointer, tiles: i32, correction_scale: f32) -> Self {
        Self { cycle, tables, tiles, correction_scale }
    }
}

/// `CubeArguments` in `kernels/cube.cuh`: those of a cycle of cubes.
#[repr(C)]
pub(super) struct CubeArguments<R> {
    pub spectral: SpectralArguments<VolumeArguments<R>>,
    /// The places of the tiles; 0 if the kernel does not read them.
    pub places: Pointer,
    /// How many tiles are taken.
    pub taken: Pointer,
}

/// `IterateMaps` in `kernels/strips.cuh`: an iterate as strips of it are copied. Each map has the rows p, p + 4, p + 8, … of the
/// array together, for p from 0 on.
#[repr(C)]
struct IterateMaps {
    /// Nine rows for two p, from the boundary above the grid on.
    nine: TensorMap,
    /// Eight rows for two p, from two rows after it on.
    eight: TensorMap,
}

/// `StripArguments` in `kernels/strips.cuh`: those of a cycle of tiles in strips.
#[repr(C)]
pub(super) struct StripArguments<R> {
    spectral: SpectralArguments<FlatArguments<R>>,
    from: IterateMaps,
    /// Eight rows for four p.
    g: TensorMap,
}

/// `ResidentArguments` in `kernels/spectral_resident.cu`: those of several cycles.
#[repr(C)]
pub(super) struct ResidentArguments<R> {
    strips: StripArguments<R>,
    to: IterateMaps,
    /// The first counter of strips.
    made: Pointer,
    /// Cycles of the launch.
    cycles: i32,
    /// On how many rows of strips, and strips of a row, on either side a strip depends.
    reach_y: i32,
    reach_x: i32,
}

/// Columns before the first interior point from which on strips are copied: `Strip::BEFORE` of the kernel.
pub(super) const COLUMNS_BEFORE: usize = 2;

/// Describes arrays of a grid, of which so many columns are copied at a time.
struct StripMaps {
    precision: Precision,
    columns: u32,
    /// Bytes from a row to the next, and the points of the grid.
    pitch: i64,
    points: [u64; 2],
}

impl StripMaps {
    /// An array from a row on, so many rows of `parts` p at a time.
    fn map(
        &self,
        interior: Pointer,
        row: i64,
        rows: u32,
        parts: u32,
    ) -> Result<TensorMap, DriverError> {
        let before = COLUMNS_BEFORE as i64 * self.precision.bytes() as i64;
        let [width, height] = self.points;
        let volume = Volume {
            precision: self.precision,
            first: interior.wrapping_add_signed(row * self.pitch - before),
            // The last column is the boundary. Copies that begin with part 3 reach so many parts.
            shape: [COLUMNS_BEFORE as u64 + width + 1, height / 4 + 1, u64::from(3 + parts)],
            pitches: [4 * self.pitch.unsigned_abs(), self.pitch.unsigned_abs()],
        };
        TensorMap::of(volume, [self.columns, rows, parts])
    }

    fn iterate(&self, interior: Pointer) -> Result<IterateMaps, DriverError> {
        Ok(IterateMaps { nine: self.map(interior, -1, 9, 2)?, eight: self.map(interior, 1, 8, 2)? })
    }
}

impl<R: Real> StripArguments<R> {
    fn maps(spectral: &SpectralArguments<FlatArguments<R>>, columns: u32) -> StripMaps {
        let FlatArguments { grid, tiles, .. } = &spectral.cycle;
        StripMaps {
            precision: R::PRECISION,
            columns,
            pitch: grid.pitch * size_of::<R>() as i64,
            points: tiles.map(|axis| u64::from(axis.points.unsigned_abs())),
        }
    }

    /// Those of strips of which so many columns are copied.
    ///
    /// # Errors
    /// [`DriverError`] if the driver describes no such copies.
    pub fn new(
        spectral: SpectralArguments<FlatArguments<R>>,
        columns: u32,
    ) -> Result<Self, DriverError> {
        let maps = Self::maps(&spectral, columns);
        let FlatArguments { from, g, .. } = spectral.cycle;
        Ok(Self { from: maps.iterate(from)?, g: maps.map(g, 0, 8, 4)?, spectral })
    }
}

impl<R: Real> ResidentArguments<R> {
    /// Those of so many cycles of `strips`, of which so many columns are copied; `made` is where their counters lie, and `reach`
    /// on how many strips of a row, and rows of strips, on either side one depends.
    ///
    /// # Errors
    /// [`DriverError`] if the driver describes no such copies.
    pub fn new(
        strips: StripArguments<R>,
        columns: u32,
        made: Pointer,
        cycles: usize,
        reach: [i32; 2],
    ) -> Result<Self, DriverError> {
        let spectral = &strips.spectral;
        let to = StripArguments::maps(spectral, columns).iterate(spectral.cycle.to)?;
        let [reach_x, reach_y] = reach;
        Ok(Self { strips, to, made, cycles: cycles as i32, reach_y, reach_x })
    }
}

const fn assert_spectral<Cycle>() {
    assert!(offset_of!(SpectralArguments<Cycle>, tables) == size_of::<Cycle>());
    assert!(offset_of!(SpectralArguments<Cycle>, tiles) == size_of::<Cycle>() + 8);
    assert!(size_of::<SpectralArguments<Cycle>>() == size_of::<Cycle>() + 16);
}

const fn assert_layout<R>() {
    let weights = 4 * size_of::<R>();
    assert!(offset_of!(FlatArguments<R>, squares) == 24);
    assert!(offset_of!(FlatArguments<R>, grid) == 32);
    assert!(offset_of!(FlatArguments<R>, tiles) == 48);
    assert!(offset_of!(FlatArguments<R>, weights) == 80);
    assert!(offset_of!(FlatArguments<R>, k) == 80 + weights);
    assert!(offset_of!(FlatArguments<R>, split) == 84 + weights);
    assert!(offset_of!(FlatArguments<R>, first) == 92 + weights);
    let damped = size_of::<FlatArguments<R>>();
    assert!(offset_of!(DampedArguments<R, FlatArguments<R>>, omega) == damped);
    assert!(size_of::<DampedArguments<R, FlatArguments<R>>>() == damped + 8);
    let damped = size_of::<VolumeArguments<R>>();
    assert!(offset_of!(DampedArguments<R, VolumeArguments<R>>, omega) == damped);
    assert!(size_of::<DampedArguments<R, VolumeArguments<R>>>() == damped + 8);
    assert_spectral::<FlatArguments<R>>();
    let maps = offset_of!(StripArguments<R>, from);
    assert!(maps == size_of::<SpectralArguments<FlatArguments<R>>>().next_multiple_of(128));
    assert!(size_of::<StripArguments<R>>() == maps + 3 * 128);
    assert!(offset_of!(ResidentArguments<R>, to) == maps + 3 * 128);
    assert!(offset_of!(ResidentArguments<R>, made) == maps + 5 * 128);
    assert!(offset_of!(ResidentArguments<R>, cycles) == maps + 5 * 128 + 8);
    assert!(offset_of!(ResidentArguments<R>, reach_y) == maps + 5 * 128 + 12);
    assert_spectral::<VolumeArguments<R>>();
    let spectral = size_of::<SpectralArguments<VolumeArguments<R>>>();
    assert!(offset_of!(CubeArguments<R>, places) == spectral);
    assert!(offset_of!(CubeArguments<R>, taken) == spectral + 8);
    assert!(size_of::<CubeArguments<R>>() == spectral + 16);
    assert!(size_of::<WeightsArgument<R, 4>>() == weights);
    let weights = 6 * size_of::<R>();
    assert!(size_of::<WeightsArgument<R, 6>>() == weights);
    assert!(offset_of!(VolumeArguments<R>, squares) == 24);
    assert!(offset_of!(VolumeArguments<R>, grid) == 32);
    assert!(offset_of!(VolumeArguments<R>, tiles) == 64);
    assert!(offset_of!(VolumeArguments<R>, weights) == 112);
    assert!(offset_of!(VolumeArguments<R>, k) == 112 + weights);
    assert!(offset_of!(VolumeArguments<R>, split) == 116 + weights);
    assert!(offset_of!(VolumeArguments<R>, first) == 124 + weights);
}

const _: () = {
    assert_layout::<f32>();
    assert_layout::<f64>();
    assert!(size_of::<FlatArguments<f32>>() == 112 && size_of::<FlatArguments<f64>>() == 128);
    assert!(size_of::<VolumeArguments<f32>>() == 152 && size_of::<VolumeArguments<f64>>() == 176);
    assert!(size_of::<FlatGrid>() == 16 && size_of::<GridArgument>() == 32);
    assert!(size_of::<AxisArgument>() == 16);
    assert!(size_of::<RightHandSideArgument>() == 16 && size_of::<WindowArgument>() == 56);
    assert!(size_of::<Norms>() == 32);
};

/// `Norms` of the kernels, where each member is explained.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Norms {
    pub squares: f64,
    pub largest: f64,
    pub change: f64,
    pub error: f64,
}

impl Norms {
    /// The norms of the residual, given the diagonal.
    pub fn residual(&self, diagonal: f64) -> ResidualNorms {
        ResidualNorms {
            l2: self.squares.sqrt() * diagonal.abs(),
            max: Some(self.largest * diagonal.abs()),
        }
    }

    /// The norms of a cycle, as far as they were requested.
    pub fn of_cycle(&self, diagonal: f64, all: bool, knows_exact: bool) -> CycleNorms {
        let residual = self.residual(diagonal);
        CycleNorms {
            residual_before: ResidualNorms { max: residual.max.filter(|_| all), ..residual },
            max_change: all.then_some(self.change),
            error: (all && knows_exact).then(|| self.error.sqrt()),
        }
    }
}

/// `Window`: the part of a field that is sampled. Kernels for 1D and 2D do not read what is of slices.
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
    /// For a slice through a 3D grid, where its first point lies, and values to the next of its columns and of its
    /// rows; 0 without one.
    pub origin: i64,
    pub across: i64,
    pub down: i64,
}

// SAFETY: laid out as in C, without pointers to memory of the host.
unsafe impl DeviceRepr for GridArgument {}
// SAFETY: as above.
unsafe impl<R: Real, const COUNT: usize> DeviceRepr for WeightsArgument<R, COUNT> {}
// SAFETY: as above; its pointer is an address on the GPU.
unsafe impl DeviceRepr for RightHandSideArgument {}
// SAFETY: as above.
unsafe impl DeviceRepr for AxisArgument {}
// SAFETY: as above.
unsafe impl DeviceRepr for SplitArgument {}
// SAFETY: as above.
unsafe impl<Grid, Tiles, Weights> DeviceRepr for CycleArguments<Grid, Tiles, Weights> {}
// SAFETY: as above.
unsafe impl<R: Real, Cycle: DeviceRepr> DeviceRepr for DampedArguments<R, Cycle> {}
// SAFETY: as above.
unsafe impl<Cycle: DeviceRepr> DeviceRepr for SpectralArguments<Cycle> {}
// SAFETY: as above.
unsafe impl<R: Real> DeviceRepr for CubeArguments<R> {}
// SAFETY: as above; the driver wrote the descriptions.
unsafe impl<R: Real> DeviceRepr for StripArguments<R> {}
// SAFETY: as above.
unsafe impl<R: Real> DeviceRepr for ResidentArguments<R> {}
// SAFETY: as above.
unsafe impl DeviceRepr for WindowArgument {}
// SAFETY: as above.
unsafe impl DeviceRepr for Norms {}
// SAFETY: four numbers, for which zero is valid.
unsafe impl ValidAsZeroBits for Norms {}

#[cfg(test)]
mod tests {
    use super::*;

    /// `start` and `border` of `Axis` in `stencil.cuh`.
    fn start(axis: AxisArgument, j: i32) -> i32 {
        (j * axis.step).min(axis.points - axis.tile)
    }

    fn border(axis: AxisArgument, j: i32) -> i32 {
        match j {
            0 => 0,
            j if j == axis.count => axis.points,
            j => start(axis, j) + (start(axis, j - 1) + axis.tile - start(axis, j)) / 2,
        }
    }

    #[test]
    fn a_tile_with_neighbours_owns_all_but_half_of_what_it_shares() {
        for tile in 5..40 {
            for neighbours in [[false, false], [false, true], [true, false], [true, true]] {
                let [before, behind] = neighbours.map(i32::from);
                let Some(axis) = AxisArgument::with_neighbours(tile as usize, 8, neighbours) else {
                    assert!(before == 1 && tile < 8 + behind, "{tile} {neighbours:?}");
                    continue;
                };
                let begin = start(axis, before);
                assert_eq!(begin, before * (tile - 8));
                let owned = [before, before + 1].map(|j| border(axis, j) - begin);
                assert_eq!(owned, [4 * before, tile - 4 * behind], "{tile} {neighbours:?}");
            }
        }
    }
}
