//! Where the points of a problem lie, and what can be shown of them.
//!
//! A problem on a grid has a [`Geometry`]; the rows of a matrix lie along a line, in the order of its
//! blocks. What a pane or a figure needs of it is a [`Need`], which says why not where it is not met.

use super::{Shape, Tiling};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A grid and its tiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    shape: Shape,
    tiling: Tiling,
}

/// A slice through a 3D grid: all points with this index along an axis.
///
/// Its text, on the command line and in files, is `z=32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Slice {
    /// The axis across the slice: 0 for x, 1 for y, 2 for z.
    pub axis: usize,
    /// The index along it.
    pub index: usize,
}

/// The names of the axes.
pub const AXIS_NAMES: [&str; 3] = ["x", "y", "z"];

/// The names of the indices along the axes.
pub const INDEX_NAMES: [&str; 3] = ["i", "j", "k"];

/// Why a slice was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SliceError {
    /// Not a slice at all.
    #[error("it must be an axis and an index, such as z=32")]
    Text,
    /// A grid of one or two axes.
    #[error("slice is {slice}, but the grid is {dim}D; only a 3D grid has slices")]
    NotThreeD {
        /// The slice as it was given.
        slice: Slice,
        /// The axes of the grid.
        dim: usize,
    },
    /// An index that the axis does not have.
    #[error("slice is {slice}; the index must be 0 to {last}")]
    Index {
        /// The slice as it was given.
        slice: Slice,
        /// The last index of its axis.
        last: usize,
    },
}

impl Slice {
    /// The slice through the middle of the last axis of a 3D grid; `None` in 1D and 2D, where the
    /// whole grid is shown.
    pub fn middle(shape: &Shape) -> Option<Self> {
        (shape.dim() == 3).then(|| Self { axis: 2, index: shape.nz() / 2 })
    }

    /// The slice that is shown of a grid: this one with an index that the grid has, or the middle
    /// one; `None` in 1D and 2D.
    pub fn shown(slice: Option<Self>, shape: &Shape) -> Option<Self> {
        let middle = Self::middle(shape)?;
        let within = |Self { axis, index }| Self { axis, index: index.min(shape.axes()[axis] - 1) };
        Some(slice.map_or(middle, within))
    }

    /// Whether the grid has this slice.
    ///
    /// # Errors
    /// [`SliceError`] unless the grid is 3D and the index is one of its axis.
    pub fn check(self, shape: &Shape) -> Result<(), SliceError> {
        if shape.dim() != 3 {
            return Err(SliceError::NotThreeD { slice: self, dim: shape.dim() });
        }
        let last = shape.axes()[self.axis] - 1;
        if self.index > last {
            return Err(SliceError::Index { slice: self, last });
        }
        Ok(())
    }

    /// The three slices through a point of a 3D grid, the xy-plane first and the yz-plane last.
    pub fn through(point: [usize; 3]) -> [Self; 3] {
        [2, 1, 0].map(|axis| Self { axis, index: point[axis] })
    }

    /// The point that the three slices of a grid have in common: this one within the grid, or its middle
    /// moved into `slice`; `None` in 1D and 2D.
    pub fn common_point(
        point: Option<[usize; 3]>,
        slice: Option<Self>,
        shape: &Shape,
    ) -> Option<[usize; 3]> {
        let Self { axis, index } = Self::shown(slice, shape)?;
        let mut middle = [shape.nx(), shape.ny(), shape.nz()].map(|points| points / 2);
        middle[axis] = index;
        let mut point = point.unwrap_or(middle);
        for (index, points) in point.iter_mut().zip(shape.axes()) {
            *index = (*index).min(points - 1);
        }
        Some(point)
    }

    /// The axes that lie in the slice: across the picture, and down.
    pub fn axes(self) -> [usize; 2] {
        match self.axis {
            0 => [1, 2],
            1 => [0, 2],
            _ => [0, 1],
        }
    }

    /// The names of the indices across and down what is shown of a grid.
    pub fn index_names(slice: Option<Self>) -> [&'static str; 2] {
        slice.map_or([0, 1], Self::axes).map(|axis| INDEX_NAMES[axis])
    }

    /// The column and the row of the grid, as [`Shape`] numbers rows, at (column, row) of the slice.
    pub fn place(self, point: [usize; 2], shape: &Shape) -> [usize; 2] {
        let [i, j, k] = self.point(point);
        [i, j + shape.ny() * k]
    }

    /// The point of the grid at (column, row) of the slice.
    pub fn point(self, [column, row]: [usize; 2]) -> [usize; 3] {
        let mut point = [self.index; 3];
        let [across, down] = self.axes();
        (point[across], point[down]) = (column, row);
        point
    }

    /// What it is called in titles; on the command line it has no spaces.
    pub fn label(self) -> String {
        format!("{} = {}", AXIS_NAMES[self.axis], self.index)
    }
}

impl fmt::Display for Slice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", AXIS_NAMES[self.axis], self.index)
    }
}

impl FromStr for Slice {
    type Err = SliceError;
    fn from_str(text: &str) -> Result<Self, SliceError> {
        let parsed = text.split_once('=').and_then(|(axis, index)| {
            let axis = AXIS_NAMES.iter().position(|name| *name == axis.trim())?;
            Some(Self { axis, index: index.trim().parse().ok()? })
        });
        parsed.ok_or(SliceError::Text)
    }
}

impl From<Slice> for String {
    fn from(slice: Slice) -> Self {
        slice.to_string()
    }
}

impl TryFrom<String> for Slice {
    type Error = SliceError;
    fn try_from(text: String) -> Result<Self, SliceError> {
        text.parse()
    }
}

impl Geometry {
    /// A grid with its tiles.
    ///
    /// # Panics
    /// If they do not have as many axes.
    pub fn new(shape: Shape, tiling: Tiling) -> Self {
        assert_eq!(shape.dim(), tiling.axes().len(), "as many axes");
        Self { shape, tiling }
    }

    /// The number of axes: 1, 2 or 3.
    pub fn dim(&self) -> usize {
        self.shape.dim()
    }

    /// The grid.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Its tiles.
    pub fn tiling(&self) -> &Tiling {
        &self.tiling
    }

    /// What is shown of a grid: a slice of a 3D one, and all of others.
    #[must_use]
    pub fn shown(&self, slice: Option<Slice>) -> Self {
        let slice = Slice::shown(slice, &self.shape).and_then(|slice| self.slice(slice));
        slice.unwrap_or_else(|| self.clone())
    }

    /// The 2D grid of a slice, with the tiles that it cuts. `None` if the grid does not have it.
    pub fn slice(&self, slice: Slice) -> Option<Self> {
        slice.check(&self.shape).ok()?;
        Some(Self { shape: self.shape.slice(slice), tiling: self.tiling.slice(slice) })
    }

    /// How far a point is from the nearest tile border, as [`Tiling::distance`] counts.
    pub fn distance(&self, point: &[usize]) -> Option<usize> {
        self.tiling.distance(point)
    }
}

/// What a pane or a figure needs to know of where points lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Need {
    /// Nothing: numbers over the cycles.
    #[default]
    Nothing,
    /// A grid of any number of axes: maps, profiles, points, tiles, and what lies about tile borders.
    Grid,
    /// One axis: diagrams of space and time.
    Grid1d,
    /// A grid, and not the rows of a matrix: the frequencies of a field.
    SineModes,
    /// Three axes: three slices, and the volume.
    Grid3d,
    /// The rows of a sparse matrix: its entries.
    Matrix,
}

impl Need {
    /// Whether it is met.
    ///
    /// # Errors
    /// One sentence that says why not.
    pub fn check(self, geometry: Option<&Geometry>) -> Result<(), &'static str> {
        let has_rows = geometry.is_some_and(|geometry| geometry.tiling.x().are_blocks());
        match (self, geometry.map(Geometry::dim)) {
            (Self::Nothing, _)
            | (Self::Grid, Some(_))
            | (Self::Grid1d, Some(1))
            | (Self::Grid3d, Some(3)) => Ok(()),
            (Self::Matrix, _) if has_rows => Ok(()),
            (Self::Matrix, _) => Err("Only a sparse matrix has entries to show."),
            (Self::SineModes, _) if has_rows => {
                Err("A sparse matrix has no grid, and so no frequencies.")
            }
            (Self::SineModes, Some(_)) => Ok(()),
            (_, None) => Err("The problem has no grid: its points have no positions."),
            (Self::Grid1d, Some(_)) => Err("Only a 1D grid has a space–time diagram."),
            (Self::Grid3d, Some(_)) => Err("Only a 3D grid has three axes to show."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Geometry {
        let shape = Shape::grid_3d(20, 30, 40).unwrap();
        Geometry::new(shape, Tiling::new(shape.axes(), &[8, 10, 16], &[2, 0, 4]).unwrap())
    }

    #[test]
    fn a_slice_is_a_2d_grid_of_the_other_axes() {
        let grid = grid();
        for (text, [nx, ny]) in [("x=19", [30, 40]), ("y=0", [20, 40]), ("z=39", [20, 30])] {
            let slice: Slice = text.parse().unwrap();
            assert_eq!(slice.to_string(), text);
            let cut = grid.slice(slice).unwrap();
            assert_eq!(*cut.shape(), Shape::grid_2d(nx, ny).unwrap());
            let [across, down] = slice.axes();
            assert_eq!(cut.tiling().axes()[0], grid.tiling().axes()[across]);
            assert_eq!(cut.tiling().axes()[1], grid.tiling().axes()[down]);
            assert_eq!(slice.point([7, 9])[slice.axis], slice.index);
        }
        assert_eq!(Slice::middle(grid.shape()), Some(Slice { axis: 2, index: 20 }));
    }

    #[test]
    fn slices_that_a_grid_does_not_have_are_refused_by_name() {
        let beyond = Slice { axis: 1, index: 30 };
        let error = beyond.check(grid().shape()).unwrap_err();
        assert_eq!(error.to_string(), "slice is y=30; the index must be 0 to 29");
        assert_eq!(grid().slice(beyond), None);
        let flat = Shape::grid_2d(20, 30).unwrap();
        assert!(beyond.check(&flat).unwrap_err().to_string().contains("2D"));
        for text in ["", "z", "w=3", "z=-1", "3"] {
            assert!(text.parse::<Slice>().unwrap_err().to_string().contains("such as z=32"));
        }
    }

    #[test]
    fn what_a_geometry_cannot_show_it_says_in_a_sentence() {
        let grid = grid();
        assert_eq!(Need::Nothing.check(None), Ok(()));
        assert_eq!(Need::Grid.check(Some(&grid)), Ok(()));
        for (need, geometry) in [(Need::Grid, None), (Need::Grid1d, Some(&grid))] {
            let sentence = need.check(geometry).unwrap_err();
            assert!(sentence.ends_with('.'), "{sentence}");
        }
    }
}
