//! What of the arrays of a grid, or of a line of all rows of a matrix, a device keeps.

use crate::grid::{Field, Real, Shape, Share};
use crate::solver::cpu::KeptRows;
use std::borrow::Cow;
use std::ops::Range;

/// What a device keeps, and what of that it owns.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    /// Its arrays, as those of a grid of their own.
    pub shape: Shape,
    values: Values,
    /// What it owns, in the storage of the whole array, and where that begins in its own.
    owned: Range<usize>,
    owned_here: usize,
}

/// Which values a device keeps.
#[derive(Clone, Debug)]
enum Values {
    /// Those that lie here in the storage of the whole array.
    Stored(Range<usize>),
    /// Those of these points of a line, and the values at its ends.
    Points(Vec<u32>),
}

impl Kept {
    /// The planes that the tiles of a share compute, and the one on either side; of a batch its lines.
    pub fn planes(whole: &Shape, share: &Share) -> Self {
        let stored = whole.stored_planes(share.computed.clone());
        let owned = whole.stored_alone(share.owned.clone());
        Self {
            shape: whole.with_planes(share.computed.len()),
            owned_here: owned.start - stored.start,
            values: Values::Stored(stored),
            owned,
        }
    }

    /// Some rows of a matrix, as points of a line.
    pub fn rows(whole: &Shape, KeptRows { rows, owned, first }: KeptRows) -> Self {
        Self {
            shape: whole.with_planes(rows.len()),
            values: Values::Points(rows),
            owned: whole.stored_alone(owned),
            owned_here: FIRST_POINT + first,
        }
    }

    /// These values of an array, as the device stores them.
    pub fn of<'a, T: Real>(&self, array: &'a Field<T>) -> Cow<'a, [T]> {
        let stored = array.as_slice();
        match &self.values {
            Values::Stored(range) => Cow::Borrowed(&stored[range.clone()]),
            Values::Points(points) => {
                let at = |point: &u32| stored[FIRST_POINT + *point as usize];
                let ends = [stored[0], stored[stored.len() - 1]];
                let inner = points.iter().map(at);
                Cow::Owned(std::iter::once(ends[0]).chain(inner).chain([ends[1]]).collect())
            }
        }
    }

    /// What the device owns, in the storage of the whole array.
    pub fn owned(&self) -> Range<usize> {
        self.owned.clone()
    }

    /// The same in its own storage.
    pub fn owned_here(&self) -> Range<usize> {
        self.owned_here..self.owned_here + self.owned.len()
    }
}

/// Where the first point of a line is stored: behind its boundary value.
pub(super) const FIRST_POINT: usize = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{AxisTiling, Shares};

    /// Stored values that say where they lie.
    fn numbered(shape: Shape) -> Field<f64> {
        let mut field = Field::filled(shape, 0.0);
        field.as_mut_slice().iter_mut().enumerate().for_each(|(at, value)| *value = at as f64);
        field
    }

    fn check(kept: &Kept, whole: &Field<f64>) {
        let own = kept.of(whole);
        assert_eq!(own.len(), kept.shape.stored());
        assert_eq!(own[kept.owned_here()], whole.as_slice()[kept.owned()]);
    }

    #[test]
    fn devices_keep_what_they_own_where_they_say() {
        for shape in [
            Shape::grid_2d(5, 12),
            Shape::grid_3d(3, 4, 12),
            Shape::grid_1d(7, 12),
            Shape::grid_1d(7, 2),
        ] {
            let shape = shape.unwrap();
            let axis = match shape.dim() {
                1 => AxisTiling::bands(shape.planes(), 1),
                _ => AxisTiling::new(shape.planes(), 4, 2).unwrap(),
            };
            let made = if shape.dim() == 1 { Shares::independent } else { Shares::new };
            let whole = numbered(shape);
            let shares = made(&axis, 2).unwrap();
            let mut owned = 0;
            for share in shares.of_devices() {
                let kept = Kept::planes(&shape, share);
                check(&kept, &whole);
                assert_eq!(kept.shape.points() % share.computed.len(), 0, "{shape}");
                owned += kept.owned().len();
            }
            assert_eq!(owned, shape.planes() * shape.stored_plane(), "{shape}");
        }
    }

    /// A device with a single line of a batch keeps that line, and not a point of it.
    #[test]
    fn a_line_of_a_batch_stays_a_line() {
        let shape = Shape::grid_1d(7, 2).unwrap();
        let shares = Shares::independent(&AxisTiling::bands(2, 1), 2).unwrap();
        let second = Kept::planes(&shape, &shares.of_devices()[1]);
        assert_eq!(second.shape, Shape::grid_1d(7, 1).unwrap());
        assert_eq!((second.owned(), second.owned_here()), (9..18, 0..9));
    }

    #[test]
    fn rows_of_a_matrix_are_points_of_a_line() {
        let shape = Shape::grid_1d(10, 1).unwrap();
        let rows = KeptRows { rows: vec![1, 4, 5, 6, 9], owned: 4..7, first: 1 };
        let kept = Kept::rows(&shape, rows);
        let whole = numbered(shape);
        assert_eq!(*kept.of(&whole), [0.0, 2.0, 5.0, 6.0, 7.0, 10.0, 11.0]);
        assert_eq!((kept.owned(), kept.owned_here()), (5..8, 2..5));
        check(&kept, &whole);
    }
}
