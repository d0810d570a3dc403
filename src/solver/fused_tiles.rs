//! The tiles in which kernel `fused` makes several sweeps of a 3D grid at a time on GPUs.
//!
//! What a frozen halo makes wrong lies at the edge of a tile after the second sweep, and one point deeper after each that
//! follows. An overlap of 2 (sweeps − 1) points keeps that away from what a tile owns, so that the bits are those of sweeps
//! of the whole grid, at less memory traffic and more redundant work.

use super::streaming::TOGETHER;
use crate::grid::{Shape, Tiling};

/// Points of a tile along x and y.
pub(super) const SIDE: usize = 32;

/// Points that neighbouring tiles share.
pub(super) const OVERLAP: usize = 2 * (TOGETHER - 1);

/// The most tiles along z of a device.
const MOST_ALONG_Z: usize = 8;

/// Multiprocessors of a GPU that is not known: those of an H200.
pub(super) const MULTIPROCESSORS: usize = 132;

/// The tiles of a grid that so many devices share: of as many depths as keep the multiprocessors of each busy best, with a
/// block on each at a time. `None` for a grid in 1D or 2D, or with fewer planes than the devices can share.
pub(super) fn fused_tiling(
    shape: &Shape,
    devices: usize,
    multiprocessors: usize,
) -> Option<Tiling> {
    let [x, y, z] = *shape.axes() else { return None };
    let of_depth = |depth| Tiling::new(&[x, y, z], &[SIDE, SIDE, depth], &[OVERLAP; 3]).ok();
    let along_z = (1..=MOST_ALONG_Z).map(|tiles| {
        let tiles = tiles * devices;
        (z + (tiles - 1) * OVERLAP).div_ceil(tiles)
    });
    let tilings = along_z.filter_map(|depth| of_depth(depth.max(OVERLAP + 2)));
    // A tile takes a step for each of its planes and of its sweeps.
    let steps = |tiling: &Tiling| {
        let depth = tiling.axes()[2].tile();
        let of_device = tiling.count().div_ceil(devices);
        of_device.div_ceil(multiprocessors.max(1)) * (depth + TOGETHER + 2)
    };
    tilings.filter(|tiling| tiling.axes()[2].count() >= devices).min_by_key(steps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tiles_own_nothing_that_a_frozen_halo_has_reached(
            axes in (32..200_usize, 32..200_usize, 1..200_usize),
            devices in 1..5_usize,
            multiprocessors in 0..200_usize,
        ) {
            let shape = Shape::grid_3d(axes.0, axes.1, axes.2).unwrap();
            let tiling = fused_tiling(&shape, devices, multiprocessors);
            prop_assert!(tiling.is_some() || axes.2 < OVERLAP + 2 * devices);
            for axis in tiling.iter().flat_map(Tiling::axes) {
                for tile in 0..axis.count() {
                    let (computed, owned) = (axis.computed(tile), axis.owned(tile));
                    let before = owned.start - computed.start;
                    let after = computed.end - owned.end;
                    prop_assert!(computed.start == 0 || before >= TOGETHER - 1);
                    prop_assert!(tile + 1 == axis.count() || after >= TOGETHER - 1);
                }
            }
        }
    }

    #[test]
    fn a_large_grid_has_several_tiles_along_z() {
        let shape = Shape::grid_3d(512, 512, 512).unwrap();
        let along = |devices| {
            let tiling = fused_tiling(&shape, devices, MULTIPROCESSORS).unwrap();
            let [x, _, z] = tiling.axes() else { panic!("three axes") };
            (x.count(), z.count(), z.tile())
        };
        assert_eq!(along(1), (21, 2, 260));
        assert_eq!(along(2).1 % 2, 0);
        let flat = Shape::grid_3d(64, 64, 12).unwrap();
        assert!(fused_tiling(&flat, 2, MULTIPROCESSORS).is_some());
        assert_eq!(fused_tiling(&flat, 4, MULTIPROCESSORS), None);
    }
}
