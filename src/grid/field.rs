//! One array of the grid: interior values and the boundary around them.

use super::values::Values;
use super::{Real, Shape};
#[cfg(not(target_arch = "wasm32"))]
use crate::files::Locked;
#[cfg(not(target_arch = "wasm32"))]
use std::fs::File;
use std::io;
use std::ops::Range;
#[cfg(not(target_arch = "wasm32"))]
use std::sync::Arc;

/// Values of a grid, with its boundary of Dirichlet values.
///
/// Layout: rows of the interior points between two boundary values, [`Shape::stride`] values apart. In 2D and 3D each
/// xy-plane has one more boundary row before its first row and one after its last; in 3D there is one more boundary
/// plane before the first plane and one after the last. In 1D and 2D rows lie one after the other. In 3D values that
/// nothing reads lie between them, and before the first row of a plane.
///
/// The values lie in memory, or in a file that is mapped there; a clone always has them in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Field<R> {
    shape: Shape,
    values: Values<R>,
}

impl<R: Real> Field<R> {
    /// A field of one value everywhere, boundary included.
    pub fn filled(shape: Shape, value: R) -> Self {
        Self { shape, values: Values::Owned(vec![value; shape.stored()]) }
    }

    /// A field whose interior is `value(i, row)` and whose boundary is zero.
    pub fn from_fn(shape: Shape, value: impl FnMut(usize, usize) -> R) -> Self {
        let mut field = Self::filled(shape, R::default());
        field.fill_interior(value);
        field
    }

    /// Makes every interior value `value(i, row)`.
    pub(crate) fn fill_interior(&mut self, mut value: impl FnMut(usize, usize) -> R) {
        for row in 0..self.shape.rows() {
            for (i, slot) in self.interior_mut(row).iter_mut().enumerate() {
                *slot = value(i, row);
            }
        }
    }

    /// The field whose stored values are those of a file in a folder that is locked. What is written into it gets into the
    /// file at some time, and at [`Field::sync`] at the latest.
    ///
    /// # Errors
    /// If the file has another length, or the system does not map it.
    #[cfg(not(target_arch = "wasm32"))]
    pub(crate) fn mapped(shape: Shape, file: &File, locked: &Arc<Locked>) -> io::Result<Self> {
        let values = super::mapped::Mapped::new(file, shape.stored(), locked)?;
        Ok(Self { shape, values: Values::Mapped(values) })
    }

    /// Whether the values lie in a file.
    #[cfg(feature = "cuda")]
    pub(crate) fn is_mapped(&self) -> bool {
        !matches!(self.values, Values::Owned(_))
    }

    /// Waits until the values of a file are on the disk; others have nothing to wait for.
    ///
    /// # Errors
    /// That of the system.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.values.sync()
    }

    /// A field of all its stored values, boundary included.
    ///
    /// # Panics
    /// If they are not as many as the shape has.
    pub(crate) fn from_stored(shape: Shape, values: Vec<R>) -> Self {
        assert_eq!(values.len(), shape.stored(), "as many values as are stored");
        Self { shape, values: Values::Owned(values) }
    }

    /// The shape it was made for.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// All stored values, boundary included.
    pub fn as_slice(&self) -> &[R] {
        &self.values
    }

    /// All stored values, boundary included.
    pub fn as_mut_slice(&mut self) -> &mut [R] {
        &mut self.values
    }

    /// The value of an interior point: column `i`, interior row `row`.
    ///
    /// # Panics
    /// If the point lies outside the grid.
    pub fn at(&self, i: usize, row: usize) -> R {
        assert!(i < self.shape.nx(), "column {i} of {}", self.shape.nx());
        self.interior(row)[i]
    }

    /// The interior values of one interior row, `nx` of them.
    pub fn interior(&self, row: usize) -> &[R] {
        let start = self.shape.row_start(row) + 1;
        &self.values[start..start + self.shape.nx()]
    }

    /// The interior values of one interior row, `nx` of them.
    pub fn interior_mut(&mut self, row: usize) -> &mut [R] {
        let start = self.shape.row_start(row) + 1;
        let nx = self.shape.nx();
        &mut self.values[start..start + nx]
    }

    /// A part of a 1D or 2D field: its boundary is what lies around it, points or boundary.
    ///
    /// # Panics
    /// If the field is 3D, if a column or a row lies outside the grid, or if there are none.
    pub fn part(&self, columns: Range<usize>, rows: Range<usize>) -> Self {
        let inside = columns.end <= self.shape.nx() && rows.end <= self.shape.rows();
        assert!(inside && !columns.is_empty() && !rows.is_empty(), "a part of the grid");
        assert!(self.shape.dim() < 3, "a part of a 1D or 2D grid");
        let shape = self.shape.part(columns.len(), rows.len());
        let stored = (rows.start..).take(rows.len() + 2 * shape.boundary_rows());
        let values = stored.flat_map(|row| {
            let start = row * self.shape.stride() + columns.start;
            &self.values[start..start + shape.stride()]
        });
        Self::from_stored(shape, values.copied().collect())
    }

    /// Some planes, with the one on either side for a boundary; or some lines of a batch.
    pub(crate) fn planes(&self, planes: Range<usize>) -> Self {
        let shape = self.shape.with_planes(planes.len());
        Self::from_stored(shape, self.values[self.shape.stored_planes(planes)].to_vec())
    }

    /// The same in double precision, exactly.
    pub fn to_f64(&self) -> Field<f64> {
        let values = self.values.iter().map(|value| value.to_f64()).collect();
        Field::from_stored(self.shape, values)
    }

    /// All interior values in C order: `[batch, nx]`, `[ny, nx]` or `[nz, ny, nx]`.
    pub fn to_interior(&self) -> Vec<R> {
        (0..self.shape.rows()).flat_map(|row| self.interior(row).iter().copied()).collect()
    }
}
