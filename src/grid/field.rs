//! One array of the grid: interior values and the boundary around them.

use super::values::Values;
use super::{Real, Region, Shape};
#[cfg(not(target_arch = "wasm32"))]
use crate::files::Locked;
use std::any::Any;
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
        Self { shape, values: Values::filled(shape.stored(), value) }
    }

    /// A field whose interior is `value(i, row)` and whose boundary is zero.
    pub fn from_fn(shape: Shape, value: impl FnMut(usize, usize) -> R) -> Self {
        let (mut field, mut value) = (Self::filled(shape, R::default()), value);
        for row in 0..shape.rows() {
            for (i, slot) in field.interior_mut(row).iter_mut().enumerate() {
                *slot = value(i, row);
            }
        }
        field
    }

    /// Makes every interior value `value(i, row)`, on all threads of the pool that makes it.
    pub(crate) fn fill_interior(&mut self, value: impl Fn(usize, usize) -> R + Sync) {
        let shape = self.shape;
        share(self.as_mut_slice(), 0, &|first, part| {
            let end = first + part.len();
            // The rows of which interior points lie in this part.
            let row_end = |row| shape.row_start(row) + 1 + shape.nx();
            let mut row = first_where(shape.rows(), |row| row_end(row) > first);
            while row < shape.rows() && shape.row_start(row) + 1 < end {
                let start = shape.row_start(row) + 1;
                for at in start.max(first)..row_end(row).min(end) {
                    part[at - first] = value(at - start, row);
                }
                row += 1;
            }
        });
    }

    /// Takes all stored values of a field of the same shape, on all threads of the pool that does so.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        let from = other.as_slice();
        share(self.as_mut_slice(), 0, &|first, part| {
            part.copy_from_slice(&from[first..first + part.len()]);
        });
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
        self.values.are_in_file()
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

    /// A part of a field: its boundary is what lies around it, points or boundary. In 1D the second range is of the
    /// systems of a batch.
    ///
    /// # Panics
    /// If a point lies outside the grid, or if there are none.
    pub fn part(&self, part: &Region) -> Self {
        let [columns, rows, planes] = part.clone();
        let points = [self.shape.nx(), self.shape.rows_per_plane(), self.shape.nz()];
        let is_there =
            |(of_axis, n): (&Range<usize>, usize)| !of_axis.is_empty() && of_axis.end <= n;
        assert!(part.iter().zip(points).all(is_there), "a part of the grid");
        let shape = self.shape.part(part);
        let mut field = Self::filled(shape, R::default());
        let (width, of_part) =
            (columns.len() + 2, shape.stored_around(0..rows.len(), 0..planes.len()));
        for (from, to) in self.shape.stored_around(rows, planes).zip(of_part) {
            let from = self.values[from].chunks(self.shape.stride());
            for (from, to) in from.zip(field.values[to].chunks_mut(shape.stride())) {
                to[..width].copy_from_slice(&from[columns.start..][..width]);
            }
        }
        field
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

    /// The same; what is in double precision stays where it lies.
    pub(crate) fn into_f64(mut self) -> Field<f64> {
        match (&mut self as &mut dyn Any).downcast_mut::<Field<f64>>() {
            Some(same) => Field { shape: same.shape, values: std::mem::take(&mut same.values) },
            None => self.to_f64(),
        }
    }

    /// All interior values in C order: `[batch, nx]`, `[ny, nx]` or `[nz, ny, nx]`.
    pub fn to_interior(&self) -> Vec<R> {
        (0..self.shape.rows()).flat_map(|row| self.interior(row).iter().copied()).collect()
    }
}

/// Values that one thread is given, at least.
const SHARE: usize = 1 << 18;

/// Gives `work` the parts of some values, each with the place of its first, on all threads of the pool of this thread. A thread of
/// no pool does it all.
fn share<R: Send>(values: &mut [R], first: usize, work: &(impl Fn(usize, &mut [R]) + Sync)) {
    if values.len() < 2 * SHARE || rayon::current_thread_index().is_none() {
        return work(first, values);
    }
    let middle = values.len() / 2;
    let (low, high) = values.split_at_mut(middle);
    rayon::join(|| share(low, first, work), || share(high, first + middle, work));
}

/// The first number below `end` that has something which all after it have, too; `end` if none has.
fn first_where(end: usize, has: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = low.midpoint(high);
        if has(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many as share the work, in 1D, 2D and 3D, and with short and long rows.
    #[test]
    fn threads_fill_a_field_as_one_does() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for shape in [
            Shape::grid_1d(3 * SHARE, 1),
            Shape::grid_1d(7, SHARE),
            Shape::grid_2d(1500, 900),
            Shape::grid_3d(110, 90, 130),
            Shape::grid_2d(9, 8),
        ] {
            let shape = shape.unwrap();
            let value = |i: usize, row: usize| (row * shape.nx() + i) as f64;
            let alone = Field::from_fn(shape, value);
            let mut shared = Field::filled(shape, 0.0);
            pool.install(|| shared.fill_interior(value));
            assert!(shared == alone, "{shape}");
            let mut outside = Field::filled(shape, 0.0);
            outside.fill_interior(value);
            assert!(outside == alone, "{shape}");
            let mut copy = Field::filled(shape, 1.0);
            pool.install(|| copy.copy_from(&alone));
            assert!(copy == alone, "{shape}");
        }
    }
}
