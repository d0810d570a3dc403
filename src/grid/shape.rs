//! The shape of a problem: its interior points, axis by axis.

use std::fmt;

/// Arrays of a grid that a run may hold at once: right-hand side, two iterates, exact solution. A
/// shape is refused unless all of them together can be addressed, so that no later count of bytes
/// wraps around.
const ARRAYS: usize = 4;

/// The interior points of a problem, without the ring of Dirichlet values around them.
///
/// A line may come in several independent copies, which share the matrix and differ in nothing
/// but where they lie in memory; a plane is one. Axis 0 (x) runs along memory, axis 1 (y) from
/// row to row: row `j = 0` is the first in memory and the top one in every picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Points of each axis; axes past `dim` hold 1. Three of them, so that a box finds room.
    n: [usize; 3],
    dim: usize,
    copies: usize,
}

/// Why a shape was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// An axis, or the number of copies, is zero.
    #[error("{field} is 0; it must be at least 1")]
    Zero {
        /// `shape` or `copies`.
        field: &'static str,
    },
    /// More than any machine can address.
    #[error("shape {shape} needs {:.1e} bytes, more than a machine can address", *.bytes as f64)]
    TooLarge {
        /// The shape as it was given.
        shape: String,
        /// The bytes that its arrays would take in f64.
        bytes: u128,
    },
}

impl Shape {
    /// `copies` independent lines of `n` points each.
    ///
    /// # Errors
    /// [`ShapeError`] if a number is 0 or the points cannot be addressed.
    pub fn line(n: usize, copies: usize) -> Result<Self, ShapeError> {
        Self { n: [n, 1, 1], dim: 1, copies }.checked()
    }

    /// `nx` × `ny` points.
    ///
    /// # Errors
    /// [`ShapeError`] if a number is 0 or the points cannot be addressed.
    pub fn plane(nx: usize, ny: usize) -> Result<Self, ShapeError> {
        Self { n: [nx, ny, 1], dim: 2, copies: 1 }.checked()
    }

    /// The shape of a part of this one: so many columns of so many rows.
    pub(crate) fn part(&self, columns: usize, rows: usize) -> Self {
        match self.dim {
            1 => Self { n: [columns, 1, 1], dim: 1, copies: rows },
            _ => Self { n: [columns, rows, 1], ..*self },
        }
    }

    fn checked(self) -> Result<Self, ShapeError> {
        if self.n.contains(&0) {
            return Err(ShapeError::Zero { field: "shape" });
        }
        if self.copies == 0 {
            return Err(ShapeError::Zero { field: "copies" });
        }
        let columns = self.n[0] as u128 + 2;
        let rows = if self.dim == 1 { self.copies as u128 } else { self.n[1] as u128 + 2 };
        let values = columns.saturating_mul(rows);
        let bytes = values.saturating_mul((ARRAYS * size_of::<f64>()) as u128);
        if bytes <= isize::MAX as u128 {
            Ok(self)
        } else {
            Err(ShapeError::TooLarge { shape: self.to_string(), bytes })
        }
    }

    /// 1 for lines, 2 for a plane.
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

    /// Interior points along y; 1 for lines.
    pub fn ny(&self) -> usize {
        self.n[1]
    }

    /// Independent copies of a line; 1 for a plane.
    pub fn copies(&self) -> usize {
        self.copies
    }

    /// Interior rows in memory: the rows of a plane, or one for each copy of a line.
    pub fn rows(&self) -> usize {
        if self.dim == 1 { self.copies } else { self.ny() }
    }

    /// Interior points, all copies together.
    pub fn points(&self) -> usize {
        self.nx() * self.rows()
    }

    /// Values between a point and the one below it: a row and its two ring values.
    pub fn stride(&self) -> usize {
        self.nx() + 2
    }

    /// Rows of the ring above the first interior row (and below the last): 1 for a plane, and 0
    /// for lines, which have ring values at their two ends alone.
    pub fn ring_rows(&self) -> usize {
        usize::from(self.dim == 2)
    }

    /// Values stored: interior and ring.
    pub fn stored(&self) -> usize {
        self.stride() * (self.rows() + 2 * self.ring_rows())
    }
}

impl fmt::Display for Shape {
    /// `1024`, `4 × 1024` (copies first) or `256 × 192`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.dim, self.copies) {
            (1, 1) => write!(f, "{}", self.nx()),
            (1, copies) => write!(f, "{copies} × {}", self.nx()),
            _ => write!(f, "{} × {}", self.nx(), self.ny()),
        }
    }
}
