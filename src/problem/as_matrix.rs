//! A grid problem as a sparse matrix.

use super::matrix::Entry;
use super::{Boundary, Csr, Operator, Problem, Source};
use crate::grid::Shape;

impl Problem {
    /// Bytes that writing the rows out as a sparse matrix takes at most, with what it takes on the way: for a grid
    /// [`Problem::as_matrix`], for a matrix a copy in another order.
    pub fn matrix_bytes(&self) -> u64 {
        let (entries, of_entry) = match self.operator.matrix() {
            Some(matrix) => (matrix.entries() as u64, size_of::<Entry>()),
            // As they are collected, as they are sorted, and in rows.
            None => {
                let of_row = 2 * self.shape.dim() as u64 + 1;
                ((self.shape.points() as u64).saturating_mul(of_row), 3 * size_of::<Entry>())
            }
        };
        // The starts of the rows, twice more while they are sorted, and the right-hand side.
        let of_row = 3 * size_of::<usize>() + size_of::<f64>();
        let rows = (self.shape.points() as u64).saturating_mul(of_row as u64);
        entries.saturating_mul(of_entry as u64).saturating_add(rows)
    }

    /// The same system with its rows written out as a sparse matrix, its rows in the order of memory;
    /// what the boundary adds is part of the right-hand side. Its iterates agree with those of the grid to
    /// rounding: sums come in another order.
    ///
    /// `None` if it is a matrix already, or has more points than rows can be numbered.
    pub fn as_matrix(&self) -> Option<Self> {
        let shape = &self.shape;
        let row_of = |point: usize| match &self.operator {
            Operator::Stencil(stencil) => Some(*stencil),
            Operator::PerPoint(rows) => Some(rows.row(point % shape.nx(), point / shape.nx())),
            Operator::Csr(_) => None,
        };
        let points = u32::try_from(shape.points()).ok()? as usize;
        let steps = [1, shape.nx(), shape.nx() * shape.ny()];
        let axes: Vec<_> = self.boundary.sides().into_iter().zip(shape.axes()).zip(steps).collect();
        let mut entries = Vec::with_capacity(points * (2 * shape.dim() + 1));
        let mut rhs = Vec::with_capacity(points);
        for point in 0..points {
            let row = point as u32;
            let mut sum = self.rhs.at(shape.nx(), point % shape.nx(), point / shape.nx());
            let stencil = row_of(point)?;
            entries.push((row, row, stencil.d));
            let pairs = stencil.neighbours().into_iter().zip(axes.iter().copied());
            for ([previous, next], (([before, after], n), step)) in pairs {
                let place = point / step % n;
                let mut add = |value: f64, inside: Option<usize>, outside: f64| match inside {
                    Some(other) => entries.push((row, other as u32, value)),
                    None => sum -= value * outside,
                };
                add(previous, (place > 0).then(|| point - step), before);
                add(next, (place + 1 < *n).then(|| point + step), after);
            }
            rhs.push(sum);
        }
        let guess =
            |point| self.initial_guess.at(shape.nx(), point % shape.nx(), point / shape.nx());
        Some(Self {
            shape: Shape::grid_1d(points, 1).ok()?,
            operator: Operator::Csr(Csr::from_entries(points, &entries).ok()?.into()),
            rhs: Source::Array(rhs.into()),
            initial_guess: Source::Array((0..points).map(guess).collect()),
            boundary: Boundary::default(),
        })
    }
}
