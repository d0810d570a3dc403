//! Where the cubic tiles of a launch lie, which its blocks take one after another (`kernels/cube.cuh`).

use super::super::cycle_kernel::PlacedCubes;
use super::super::system::DeviceSystem;
use crate::grid::{Real, Shape, Tiling};
use crate::solver::SolverError;
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DeviceRepr};
use std::mem::offset_of;
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

const _: () = {
    assert!(offset_of!(Place, columns) == 8);
    assert!(offset_of!(Place, rows) == 12);
    assert!(offset_of!(Place, planes) == 16);
    assert!(offset_of!(Place, tile) == 20);
    assert!(size_of::<Place>() == 32);
};

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

/// Those of some tiles of a grid.
fn places_of(tiling: &Tiling, shape: &Shape, tiles: Range<usize>) -> Vec<Place> {
    tiles.zip(0..).map(|(number, tile)| Place::of(tiling, shape, number, tile)).collect()
}

/// The bits of some of 32 numbers.
fn bits(numbers: Range<usize>) -> u32 {
    ((1_u64 << numbers.end) - (1 << numbers.start)) as u32
}

/// The tiles of a launch.
pub(super) struct Cubes {
    /// 32 bytes of each; only of kernels that read them.
    places: Option<CudaSlice<Place>>,
    /// How many are taken; 0 between launches.
    taken: CudaSlice<u32>,
}

impl Cubes {
    /// Some tiles of a grid; with their places, if the kernel reads these.
    ///
    /// # Errors
    /// [`SolverError`] if they do not fit onto the GPU.
    pub fn new<R: Real>(
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        tiling: &Tiling,
        tiles: Range<usize>,
        reads_places: bool,
    ) -> Result<Self, SolverError> {
        let gpu = &system.gpu;
        let places = reads_places
            .then(|| gpu.check(stream.clone_htod(&places_of(tiling, &system.shape, tiles))));
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

    #[test]
    fn every_point_is_owned_by_one_tile() {
        let axes = [37, 45, 50];
        let shape = Shape::grid_3d(37, 45, 50).unwrap();
        let tiling = Tiling::new(&axes, &[16; 3], &[6; 3]).unwrap();
        let all = places_of(&tiling, &shape, 0..tiling.count());
        let [width, rows] = [shape.stride(), shape.plane_stride()];
        let mut owned = vec![0; rows * axes[2]];
        for place in &all {
            let points = |bits: u32| (0..32).filter(move |i| bits >> i & 1 == 1);
            for z in points(place.planes) {
                for y in points(place.rows) {
                    for x in points(place.columns) {
                        owned[place.origin as usize + z * rows + y * width + x] += 1;
                    }
                }
            }
        }
        let inside = |at: usize| at % rows / width < axes[1] && at % rows % width < axes[0];
        for (at, count) in owned.into_iter().enumerate() {
            assert_eq!(count, i32::from(inside(at)), "{at}");
        }
        // A launch of some of them counts them from 0 on.
        let some = places_of(&tiling, &shape, 5..9);
        let renumbered = |(tile, place): (i32, &Place)| Place { tile, ..*place };
        let expected: Vec<_> = (0..).zip(&all[5..9]).map(renumbered).collect();
        assert_eq!(some, expected);
    }
}
