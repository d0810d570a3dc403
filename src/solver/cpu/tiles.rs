//! Where tiles lie in the arrays of the grid, and how many of them make a patch.

use super::patch::{Extent, PatchRow};
use crate::grid::{Shape, Tiling};

/// Points of 1D tiles that are swept together, as many as the paper's 2D tile has. Side by side,
/// short tiles do not wait for their own last sweep.
pub(super) const POINTS_IN_1D: usize = 1024;

/// The size of a patch: one tile, or, in 1D, `rows` of them.
pub(super) fn extent_of(tiling: &Tiling, dim: usize, rows: usize) -> Extent {
    let [height, depth] = [1, 2].map(|axis| tiling.axes().get(axis).map_or(1, |it| it.tile()));
    let height = if dim == 1 { rows } else { height };
    Extent { width: tiling.x().tile(), height, depth, dim }
}

/// Where a 1D tile lies, counted through all systems of the batch.
pub(super) fn place_1d(shape: &Shape, tiling: &Tiling, tile: usize) -> PatchRow {
    let x = tiling.x();
    let (tile, system) = (tile % x.count(), tile / x.count());
    let (start, owned) = (x.computed(tile).start, x.owned(tile));
    let first = shape.row_start(system) + 1 + start;
    PatchRow { first, owned: owned.start - start..owned.end - start, piece: 0 }
}

/// Where the rows of a 2D or 3D tile lie.
pub(super) fn place(shape: &Shape, tiling: &Tiling, tile: usize, places: &mut Vec<PatchRow>) {
    let ([x, y, z], owned) = (tiling.computed(tile), tiling.owned(tile));
    let columns = owned[0].start - x.start..owned[0].end - x.start;
    places.clear();
    for k in z {
        // Pieces are those of the planes that are owned.
        let piece = k.wrapping_sub(owned[2].start);
        let owns_plane = owned[2].contains(&k);
        let first = shape.row_start(k * shape.ny() + y.start) + 1 + x.start;
        places.extend(y.clone().enumerate().map(|(row, j)| {
            let is_owned = owns_plane && owned[1].contains(&j);
            let owned = if is_owned { columns.clone() } else { 0..0 };
            PatchRow { first: first + row * shape.stride(), owned, piece }
        }));
    }
}
