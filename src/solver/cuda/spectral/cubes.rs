//! Where the cubic tiles of a launch lie, which its blocks take one after another (`kernels/cube.cuh`).

use super::super::cycle_kernel::PlacedCubes;
use super::super::system::DeviceSystem;
use crate::grid::{Real, Shape, Tiling};
use crate::solver::SolverError;
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DeviceRepr};
use std::ops::Range;
use std::sync::Arc;

/// `Place` in `kernels/cube.cuh`: where a tile lies, and which of its columns along z and of its planes it owns.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    /// Values from the first interior point to the tile's.
    origin: i64,
    /// A bit of each.
    columns: u32,
    rows: u32,
    planes: u32,
    /// The tile's number among those of the launch.
    tile: i32,
    /// What C leaves free; set, so that all bytes that the driver copies are.
    unused: [u32; 2],
}

const _: () = assert!(size_of::<Place>() == 32);

// SAFETY: the same layout as in the kernels, and plain numbers.
unsafe impl DeviceRepr for Place {}

impl Place {
    /// That of tile `number` of a grid, whose sides have 32 points at the most; it is number `tile` of the launch.
    fn of(tiling: &Tiling, shape: &Shape, number: usize, tile: i32) -> Self {
        let (computed, owned) = (tiling.computed(number), tiling.owned(number));
        let strides = [1, shape.stride(), shape.plane_stride()];
        let origin: usize = computed.iter().zip(strides).map(|(points, s)| points.start * s).sum();
        let [columns, rows, planes] = [0, 1, 2].map(|axis| {
            let start = computed[axis].start;
            bits(owned[axis].start - start..owned[axis].end - start)
        });
        Self { origin: origin as i64, columns, rows, planes, tile, unused: [0; 2] }
    }
}

/// The bits of some of 32 numbers.
fn bits(numbers: Range<usize>) -> u32 {
    ((1_u64 << numbers.end) - (1 << numbers.start)) as u32
}

/// The tiles of a launch.
pub(super) struct Cubes {
    /// Of a kernel that reads them.
    places: Option<CudaSlice<Place>>,
    /// How many are taken; 0 between launches.
    taken: CudaSlice<u32>,
}

impl Cubes {
    /// So many tiles from the first one on; with their places, if the kernel reads these.
    ///
    /// # Errors
    /// [`SolverError`] if they do not fit onto the GPU.
    pub fn new<R: Real>(
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        tiling: &Tiling,
        [first, count]: [i32; 2],
        reads_places: bool,
    ) -> Result<Self, SolverError> {
        let gpu = &system.gpu;
        let place = |tile: i32| {
            Place::of(tiling, &system.shape, (first + tile).unsigned_abs() as usize, tile)
        };
        let places = reads_places.then(|| {
            let places: Vec<_> = (0..count).map(place).collect();
            gpu.check(stream.clone_htod(&places))
        });
        let places = places.transpose()?;
        let taken = gpu.check(stream.alloc_zeros(1))?;
        gpu.check(stream.synchronize())?;
        Ok(Self { places, taken })
    }

    /// As kernels take them.
    pub fn placed(&self, stream: &Arc<CudaStream>) -> PlacedCubes {
        PlacedCubes {
            places: self.places.as_ref().map_or(0, |places| places.device_ptr(stream).0),
            taken: self.taken.device_ptr(stream).0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_tells_where_a_tile_lies_and_what_it_owns() {
        let shape = Shape::grid_3d(60, 40, 32).unwrap();
        let tiling = Tiling::new(&[60, 40, 32], &[32; 3], &[4, 4, 0]).unwrap();
        let last = Place::of(&tiling, &shape, 3, 1);
        // Tiles begin at 0 and 28 along x and at 0 and 8, moved back, along y.
        assert_eq!(last.origin, 28 + 8 * shape.stride() as i64);
        assert_eq!((last.columns, last.tile), (!0b11, 1));
        // Of the 24 rows that two tiles share, each owns half.
        assert_eq!((last.rows, last.planes), (!0 << 12, !0));
        let first = Place::of(&tiling, &shape, 0, 0);
        assert_eq!((first.origin, first.columns), (0, (1 << 30) - 1));
    }
}
