//! The shape of a grid: its interior points, axis by axis.

use super::{Precision, Region, Slice};
use crate::number::two_digits;
use std::fmt;
use std::ops::Range;

/// Arrays of a grid that a run may hold at once: right-hand side, two iterates, exact solution. A
/// shape is refused unless all of them together can be addressed, so that no later count of bytes
/// overflows.
const ARRAYS: usize = 4;

/// Rows of a 3D grid lie a multiple of this many values apart, and their first interior points at one, which is 128 bytes
/// in double precision: what a GPU reads at a time.
const UNIT: usize = 16;

/// Rows of a 2D grid lie a multiple of this many values apart, which is 16 bytes in single precision: what a GPU copies to
/// shared memory by itself begins at one. Systems in 1D lie close together.
const UNIT_2D: usize = 4;

/// The interior points of a 1D, 2D or 3D grid, without the boundary around them.
///
/// A 1D grid may be a batch of independent systems, which share the matrix. Axis 0 (x) is the
/// fastest in memory: arrays are `[nx]`, `[batch, nx]`, `[ny, nx]` or `[nz, ny, nx]`.
///
/// A *row* is a run of `nx` interior points along x. Rows are numbered from 0 in the order of
/// memory: by system in a batch, by `j` in 2D, by `j + ny · k` in 3D.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Points of each axis; axes past `dim` hold 1.
    n: [usize; 3],
    dim: usize,
    batch: usize,
}

/// What holds the arrays.
const ADDRESSING: &str = match cfg!(target_arch = "wasm32") {
    true => "a page in a browser",
    false => "a machine",
};

/// Why a shape was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// An axis, or the batch, is zero.
    #[error("{field} is 0; it must be at least 1")]
    Zero {
        /// `shape` or `batch`.
        field: &'static str,
    },
    /// More than any machine can address.
    #[error("shape {shape} needs {} bytes for {ARRAYS} arrays of f64, more than {ADDRESSING} can address", two_digits(*.bytes as f64))]
    TooLarge {
        /// The shape as it was given.
        shape: String,
        /// The bytes that its arrays would take in f64.
        bytes: u128,
    },
}

impl Shape {
    /// A batch of `batch` independent 1D systems of `n` points each.
    ///
    /// # Errors
    /// [`ShapeError`] if a number is 0 or the points cannot be addressed.
    pub fn grid_1d(n: usize, batch: usize) -> Result<Self, ShapeError> {
        Self { n: [n, 1, 1], dim: 1, batch }.checked()
    }

    /// A 2D grid of `nx` × `ny` points.
    ///
    /// # Errors
    /// [`ShapeError`] if a number is 0 or the points cannot be addressed.
    pub fn grid_2d(nx: usize, ny: usize) -> Result<Self, ShapeError> {
        Self { n: [nx, ny, 1], dim: 2, batch: 1 }.checked()
    }

    /// A 3D grid of `nx` × `ny` × `nz` points.
    ///
    /// # Errors
    /// [`ShapeError`] if a number is 0 or the points cannot be addressed.
    pub fn grid_3d(nx: usize, ny: usize, nz: usize) -> Result<Self, ShapeError> {
        Self { n: [nx, ny, nz], dim: 3, batch: 1 }.checked()
    }

    /// The shape of a part of the grid; in 1D the second range is of the systems of a batch.
    pub(crate) fn part(&self, part: &Region) -> Self {
        let [columns, rows, planes] = part.each_ref().map(ExactSizeIterator::len);
        match self.dim {
            1 => Self { n: [columns, 1, 1], dim: 1, batch: rows },
            _ => Self { n: [columns, rows, planes], ..*self },
        }
    }

    /// Where some rows of some xy-planes lie in storage, with what lies around them: a range for each plane, which has
    /// whole rows, a [`stride`](Self::stride) apart.
    pub(crate) fn stored_around(
        &self,
        rows: Range<usize>,
        planes: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + use<> {
        let shape = *self;
        let sides = if self.dim == 3 { 2 } else { 0 };
        let count = rows.len() + 2 * self.boundary_rows();
        (planes.start..planes.end + sides).map(move |plane| {
            let start = plane * shape.plane_stride() + shape.first_row_of_plane();
            let first = start + rows.start * shape.stride();
            first..first + count * shape.stride()
        })
    }

    /// The shape of this number of successive [planes](Self::planes).
    pub(crate) fn with_planes(&self, planes: usize) -> Self {
        if self.is_batch() {
            return Self { batch: planes, ..*self };
        }
        let mut n = self.n;
        n[self.dim - 1] = planes;
        Self { n, ..*self }
    }

    /// Where some planes and the one on either side, a boundary plane or not, lie in storage: the whole storage of a grid
    /// [of these planes](Self::with_planes). Lines of a batch have none on either side.
    pub(crate) fn stored_planes(&self, planes: Range<usize>) -> Range<usize> {
        let distance = self.stored_plane();
        let sides = if self.is_batch() { 0 } else { 2 };
        planes.start * distance..(planes.end + sides) * distance
    }

    /// Where some planes lie in storage, without the one on either side.
    pub(crate) fn stored_alone(&self, planes: Range<usize>) -> Range<usize> {
        let side = if self.is_batch() { 0 } else { self.stored_plane() };
        let Range { start, end } = self.stored_planes(planes);
        start + side..end - side
    }

    /// Stored values from a plane to the next.
    pub(crate) fn stored_plane(&self) -> usize {
        match self.dim {
            1 if !self.is_batch() => 1,
            3 => self.plane_stride(),
            _ => self.stride(),
        }
    }

    /// Planes along the slowest axis: xy-planes in 3D, rows in 2D, points of a line, lines of a batch.
    pub(crate) fn planes(&self) -> usize {
        if self.is_batch() { self.batch } else { self.n[self.dim - 1] }
    }

    /// Whether it has several independent systems.
    fn is_batch(&self) -> bool {
        self.batch > 1
    }

    /// What is shown of the grid: a slice of a 3D one, and all of others.
    #[must_use]
    pub fn shown(&self, slice: Option<Slice>) -> Self {
        Slice::shown(slice, self).map_or(*self, |slice| self.slice(slice))
    }

    /// The 2D shape of a slice through a 3D grid.
    pub(super) fn slice(&self, slice: Slice) -> Self {
        let [across, down] = slice.axes().map(|axis| self.n[axis]);
        Self { n: [across, down, 1], dim: 2, batch: 1 }
    }

    fn checked(self) -> Result<Self, ShapeError> {
        if self.n.contains(&0) {
            return Err(ShapeError::Zero { field: "shape" });
        }
        if self.batch == 0 {
            return Err(ShapeError::Zero { field: "batch" });
        }
        // Each axis with its two boundary values; a batch has none between its systems.
        let [x, y, z] = self.n.map(|n| n as u128 + 2);
        let values = match self.dim {
            1 => x.saturating_mul(self.batch as u128),
            2 => x.next_multiple_of(UNIT_2D as u128).saturating_mul(y),
            _ => {
                let unit = UNIT as u128;
                let plane = x.next_multiple_of(unit).saturating_mul(y).saturating_add(unit);
                plane.saturating_mul(z)
            }
        };
        let bytes = values.saturating_mul((ARRAYS * size_of::<f64>()) as u128);
        if bytes <= isize::MAX as u128 {
            Ok(self)
        } else {
            Err(ShapeError::TooLarge { shape: self.to_string(), bytes })
        }
    }

    /// The number of axes: 1, 2 or 3.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Interior points of each axis, x first; as many as [`Shape::dim`].
    pub fn axes(&self) -> &[usize] {
        &self.n[..self.dim]
    }

    /// Interior points along x.
    pub fn nx(&self) -> usize {
        self.n[0]
    }

    /// Interior points along y; 1 in 1D.
    pub fn ny(&self) -> usize {
        self.n[1]
    }

    /// Interior points along z; 1 in 1D and 2D.
    pub fn nz(&self) -> usize {
        self.n[2]
    }

    /// Independent systems of a 1D grid; 1 in 2D and 3D.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// Interior rows: `batch` in 1D, `ny` in 2D, `ny · nz` in 3D.
    pub fn rows(&self) -> usize {
        if self.dim == 1 { self.batch } else { self.ny() * self.nz() }
    }

    /// Rows of an xy-plane: all of them but in 3D, where it is `ny`.
    pub fn rows_per_plane(&self) -> usize {
        self.rows() / self.nz()
    }

    /// A range of rows, cut where one xy-plane ends and the next begins. The rows of each part are
    /// a [`stride`](Self::stride) apart in storage.
    #[inline]
    pub fn by_plane(&self, rows: Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
        let in_plane = self.rows_per_plane();
        let mut start = rows.start;
        std::iter::from_fn(move || {
            let end = ((start / in_plane + 1) * in_plane).min(rows.end);
            let part = start..end;
            start = end;
            (!part.is_empty()).then_some(part)
        })
    }

    /// Interior points of all systems.
    pub fn points(&self) -> usize {
        self.nx() * self.rows()
    }

    /// Stored values from a point to the next one along y: a row and its two boundary values, and what follows up to a
    /// multiple of 4 in 2D, and of 16 in 3D.
    pub fn stride(&self) -> usize {
        let row = self.nx() + 2;
        match self.dim {
            1 => row,
            2 => row.next_multiple_of(UNIT_2D),
            _ => row.next_multiple_of(UNIT),
        }
    }

    /// Stored values from a point to the next one along z; 0 in 1D and 2D.
    pub fn plane_stride(&self) -> usize {
        if self.dim == 3 { UNIT + (self.ny() + 2) * self.stride() } else { 0 }
    }

    /// Where the neighbours along z of what is stored somewhere lie; in 1D and 2D there.
    pub(crate) fn along_z(&self, point: usize) -> [usize; 2] {
        [point - self.plane_stride(), point + self.plane_stride()]
    }

    /// Where the first row of a plane of a 2D or 3D grid begins in it, in 3D that of the boundary: its first boundary
    /// value is the last before a multiple of 16.
    pub(crate) fn first_row_of_plane(&self) -> usize {
        if self.dim == 3 { UNIT - 1 } else { 0 }
    }

    /// Rows of the boundary before the first row of an xy-plane (and after its last): 1 in 2D and
    /// 3D, and 0 in 1D, where systems have boundary values only at their two ends.
    pub fn boundary_rows(&self) -> usize {
        usize::from(self.dim > 1)
    }

    /// Where the row of an interior row begins in storage, its first boundary value included.
    #[inline]
    pub fn row_start(&self, row: usize) -> usize {
        if self.dim < 3 {
            return (row + self.boundary_rows()) * self.stride();
        }
        let (j, k) = (row % self.ny(), row / self.ny());
        (k + 1) * self.plane_stride() + self.first_row_of_plane() + (j + 1) * self.stride()
    }

    /// Bytes of that many arrays of the grid with its boundary, or the largest number where they are more.
    pub fn array_bytes(&self, count: usize, precision: Precision) -> u64 {
        let of_one = (self.stored() as u64).saturating_mul(precision.bytes() as u64);
        of_one.saturating_mul(count as u64)
    }

    /// Values stored: interior and boundary.
    pub fn stored(&self) -> usize {
        match self.dim {
            1 => self.stride() * self.batch,
            2 => self.stride() * (self.ny() + 2),
            _ => self.plane_stride() * (self.nz() + 2),
        }
    }
}

impl fmt::Display for Shape {
    /// `1024`, `4 × 1024` (batch first), `256 × 192` or `64 × 48 × 32`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.dim, self.batch) {
            (1, 1) => write!(f, "{}", self.nx()),
            (1, batch) => write!(f, "{batch} × {}", self.nx()),
            (2, _) => write!(f, "{} × {}", self.nx(), self.ny()),
            _ => write!(f, "{} × {} × {}", self.nx(), self.ny(), self.nz()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_planes_lie_multiples_of_four_values_apart() {
        for (nx, stride) in [(1, 4), (2, 4), (3, 8), (1022, 1024), (1024, 1028)] {
            let shape = Shape::grid_2d(nx, 5).unwrap();
            assert_eq!((shape.stride(), shape.stored()), (stride, 7 * stride), "{nx}");
            assert_eq!(shape.row_start(2), 3 * stride, "{nx}");
        }
        assert_eq!(Shape::grid_1d(1024, 3).unwrap().stride(), 1026);
    }

    #[test]
    fn rows_of_volumes_begin_at_multiples_of_a_unit() {
        for (nx, ny, nz) in [(1, 1, 1), (14, 3, 2), (15, 2, 3), (31, 4, 2), (512, 1, 5)] {
            let shape = Shape::grid_3d(nx, ny, nz).unwrap();
            let mut end = shape.plane_stride();
            for row in 0..shape.rows() {
                let start = shape.row_start(row);
                assert_eq!((start + 1) % UNIT, 0, "{shape}: row {row}");
                assert!(start >= end, "{shape}: row {row} begins in the one before");
                end = start + nx + 2;
            }
            // A row of the boundary and a plane of it lie behind the last row.
            assert!(end + shape.stride() + shape.plane_stride() <= shape.stored(), "{shape}");
        }
    }

    #[test]
    fn a_volume_takes_no_more_than_is_checked() {
        let shape = Shape::grid_3d(1022, 7, 3).unwrap();
        assert_eq!(shape.stored(), (16 + 9 * 1024) * 5);
        let most = isize::MAX as usize / (ARRAYS * size_of::<f64>());
        assert!(Shape::grid_3d(14, 1, (most / 64) - 2).is_ok());
        assert!(Shape::grid_3d(14, 1, most / 64).is_err());
        assert!(Shape::grid_3d(usize::MAX, usize::MAX, usize::MAX).is_err());
    }
}
