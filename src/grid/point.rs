//! A point of a grid by its indices.

use super::{Region, Shape, Slice};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A point of a grid by its indices, x first.
///
/// Its text, on the command line and in figures, is `40,32` or `40,32,16`; in files it is a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum GridPoint {
    /// Column and row of a 1D or 2D grid; in 1D the rows are the systems of a batch.
    Flat([usize; 2]),
    /// A point of a 3D grid.
    Volume([usize; 3]),
}

impl GridPoint {
    /// The point at (column, row) of what is shown of a grid: of a slice, or of all of it.
    pub fn shown(at: [usize; 2], slice: Option<Slice>) -> Self {
        slice.map_or(Self::Flat(at), |slice| Self::Volume(slice.point(at)))
    }

    /// Its column and row in what is shown of a grid; `None` if it is not there.
    pub fn within(self, slice: Option<Slice>) -> Option<[usize; 2]> {
        match (self, slice) {
            (Self::Flat(at), None) => Some(at),
            (Self::Volume(at), Some(slice)) if at[slice.axis] == slice.index => {
                Some(slice.axes().map(|axis| at[axis]))
            }
            _ => None,
        }
    }

    /// Its column and its row, as [`Shape`] numbers rows; `None` if the grid does not have it.
    pub fn place(self, shape: &Shape) -> Option<[usize; 2]> {
        let (at, [i, j, k]) = match self {
            Self::Flat([i, row]) if shape.dim() < 3 => ([i, row], [i, row, 0]),
            Self::Volume([i, j, k]) if shape.dim() == 3 => ([i, j + shape.ny() * k], [i, j, k]),
            _ => return None,
        };
        let is_there = i < shape.nx() && j < shape.rows_per_plane() && k < shape.nz();
        is_there.then_some(at)
    }

    /// The point alone.
    pub(crate) fn region(self) -> Region {
        let at = match self {
            Self::Flat([i, row]) => [i, row, 0],
            Self::Volume(at) => at,
        };
        at.map(|index| index..index + 1)
    }
}

impl fmt::Display for GridPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flat([i, row]) => write!(f, "{i},{row}"),
            Self::Volume([i, j, k]) => write!(f, "{i},{j},{k}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_on_the_slices_through_it_and_on_no_other() {
        let shape = Shape::grid_3d(5, 6, 7).unwrap();
        let point = GridPoint::Volume([4, 2, 3]);
        assert_eq!(point.place(&shape), Some([4, 2 + 6 * 3]));
        for slice in Slice::through([4, 2, 3]) {
            let at = point.within(Some(slice)).unwrap();
            assert_eq!(GridPoint::shown(at, Some(slice)), point);
            assert_eq!(Some(slice.place(at, &shape)), point.place(&shape));
            assert_eq!(point.within(Some(Slice { index: slice.index + 1, ..slice })), None);
        }
        assert_eq!(point.within(None), None);
        for outside in [[5, 0, 0], [0, 6, 0], [0, 0, 7]] {
            assert_eq!(GridPoint::Volume(outside).place(&shape), None);
        }
        assert_eq!(GridPoint::Flat([1, 1]).place(&shape), None, "it has too few indices");
        let (plane, lines) = (Shape::grid_2d(5, 6).unwrap(), Shape::grid_1d(5, 2).unwrap());
        assert_eq!(GridPoint::Flat([4, 5]).place(&plane), Some([4, 5]));
        assert_eq!(GridPoint::Flat([4, 1]).place(&lines), Some([4, 1]));
        assert_eq!(GridPoint::Flat([4, 2]).place(&lines), None);
        assert_eq!(point.place(&plane), None);
    }

    /// Points in saved figures can be read again.
    #[test]
    fn a_point_is_written_as_a_list() {
        #[derive(Serialize, Deserialize)]
        struct View {
            probes: Vec<GridPoint>,
        }
        let text = "probes = [[7, 9], [1, 2, 3]]\n";
        let view: View = toml::from_str(text).unwrap();
        assert_eq!(view.probes, [GridPoint::Flat([7, 9]), GridPoint::Volume([1, 2, 3])]);
        assert_eq!(toml::to_string(&view).unwrap(), text);
        assert!(toml::from_str::<View>("probes = [[1, 2, 3, 4]]").is_err());
    }
}
