//! What can be seen of an iterate: its fields, row by row, and what is summed up from them.

use super::CpuSolver;
use super::level::Task;
use super::norms::{Measure, Partial, residual_norms};
use super::update::{Block, Sweep, Update, WithUpdate, with_update};
use crate::grid::{Field, Real, Tiling};
use crate::solver::sample::{larger, near_border};
use crate::solver::{EdgeShare, Quantity, ResidualNorms, Samples, SolverError, Window};
use std::ops::Range;

/// Rows that one task looks at; a constant, so that sums come in a fixed order.
const BAND: usize = 16;

/// Points at either end of an axis, cut into parts of `size`.
fn bands(range: Range<usize>, size: usize) -> Vec<Range<usize>> {
    range.clone().step_by(size).map(|start| start..(start + size).min(range.end)).collect()
}

/// The sum of squares and the largest magnitude of a row.
fn square(values: &[f64]) -> Partial {
    let mut measure = Measure::new(values.len());
    measure.add(values, values, |value, _| value);
    measure.total()
}

/// Computes u₁ − u₀, the change that one sweep would make, on a part of a row.
struct SweepChange<'a, R> {
    solver: &'a CpuSolver<R>,
    row: usize,
    columns: Range<usize>,
    updated: &'a mut [R],
    out: &'a mut [f64],
}

impl<R: Real> Task for SweepChange<'_, R> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        with_update(&self.solver.system.weights, self.solver.problem.shape.dim(), self);
    }
}

impl<R: Real> WithUpdate<R> for SweepChange<'_, R> {
    type Output = ();
    #[inline(always)]
    fn with<U: Update<R>>(self, update: U) {
        let Self { solver, row, columns, updated, out } = self;
        let shape = solver.problem.shape;
        let first = (row + shape.ring_rows()) * shape.stride() + 1 + columns.start;
        let block = Block {
            values: solver.current.as_slice(),
            first,
            stride: shape.stride(),
            g: &solver.system.g.interior(row)[columns.clone()],
            g_stride: 0,
            width: columns.len(),
            height: 1,
        };
        solver.level.run(Sweep { update, block, out: updated });
        let own = &solver.current.as_slice()[first..];
        for ((out, new), old) in out.iter_mut().zip(&*updated).zip(own) {
            *out = (*new - *old).to_f64();
        }
    }
}

/// What is read of an iterate. A difference is told from a field at hand, so that threads can share
/// it.
#[derive(Clone, Copy)]
enum Values<'a, R> {
    Residual,
    Change,
    Solution,
    /// u minus a field of this precision.
    Against(&'a Field<R>),
    /// u minus a field of double precision.
    AgainstDouble(&'a Field<f64>),
    Unknown,
}

/// u − `other`, point by point.
fn differences<R: Real, S: Real>(out: &mut [f64], own: &[R], other: &[S]) {
    for ((out, u), other) in out.iter_mut().zip(own).zip(other) {
        *out = u.to_f64() - other.to_f64();
    }
}

/// A part of a row of a field, and what is needed to compute it.
struct RowReader<R> {
    updated: Vec<R>,
    values: Vec<f64>,
}

impl<R: Real> RowReader<R> {
    fn new(length: usize) -> Self {
        Self { updated: vec![R::default(); length], values: vec![0.0; length] }
    }

    /// u₁ − u₀ on the columns: the residual over the diagonal.
    fn sweep_change(&mut self, of: &CpuSolver<R>, row: usize, columns: Range<usize>) -> &[f64] {
        let Self { updated, values } = self;
        of.level.run(SweepChange { solver: of, row, columns, updated, out: values });
        values
    }

    /// A field on the columns.
    fn read(
        &mut self,
        of: &CpuSolver<R>,
        values: Values<'_, R>,
        row: usize,
        columns: Range<usize>,
    ) -> &[f64] {
        let own = &of.current.interior(row)[columns.clone()];
        match values {
            Values::Residual => {
                self.sweep_change(of, row, columns);
                for value in &mut self.values {
                    *value *= of.system.diagonal;
                }
            }
            Values::Unknown => self.values.fill(f64::NAN),
            Values::Against(other) => {
                differences(&mut self.values, own, &other.interior(row)[columns]);
            }
            Values::AgainstDouble(other) => {
                differences(&mut self.values, own, &other.interior(row)[columns]);
            }
            Values::Change => {
                let before = &of.previous.interior(row)[columns];
                for ((out, new), old) in self.values.iter_mut().zip(own).zip(before) {
                    *out = (*new - *old).to_f64();
                }
            }
            Values::Solution => {
                for (out, u) in self.values.iter_mut().zip(own) {
                    *out = u.to_f64();
                }
            }
        }
        &self.values
    }
}

impl<R: Real> CpuSolver<R> {
    pub(super) fn measure_residual(&self) -> ResidualNorms {
        let nx = self.problem.shape.nx();
        let total = self.measure(|reader, row| square(reader.sweep_change(self, row, 0..nx)));
        residual_norms(total, self.system.diagonal)
    }

    pub(super) fn measure_error(&self) -> Option<f64> {
        let exact = self.exact.as_deref()?;
        let nx = self.problem.shape.nx();
        let error = |reader: &mut RowReader<R>, row| {
            square(reader.read(self, Values::AgainstDouble(exact), row, 0..nx))
        };
        Some(self.measure(error).squares.sqrt())
    }

    /// What `row` measures of every row, together.
    fn measure(&self, row: impl Fn(&mut RowReader<R>, usize) -> Partial + Sync + Send) -> Partial {
        let shape = self.problem.shape;
        let parts = self.team.map(
            bands(0..shape.rows(), BAND),
            shape.points(),
            || RowReader::new(shape.nx()),
            |reader, rows| rows.fold(Partial::default(), |total, at| total + row(reader, at)),
        );
        parts.into_iter().fold(Partial::default(), |a, b| a + b)
    }

    pub(super) fn measure_edge_share(&self, tiling: &Tiling) -> EdgeShare {
        let shape = self.problem.shape;
        let nx = shape.nx();
        // Lines have no borders along y, however many copies there are.
        let marks = [near_border(tiling, 0, nx), near_border(tiling, 1, shape.rows())];
        let parts = self.team.map(
            bands(0..shape.rows(), BAND),
            shape.points(),
            || RowReader::new(nx),
            |reader, rows| {
                let (mut near, mut all) = (0.0, 0.0);
                for row in rows {
                    let changes = reader.sweep_change(self, row, 0..nx);
                    let mut edges = 0.0;
                    let mut total = 0.0;
                    for (change, &is_near) in changes.iter().zip(&marks[0]) {
                        let square = change * change;
                        total += square;
                        edges += if is_near { square } else { 0.0 };
                    }
                    near += if marks[1][row] { total } else { edges };
                    all += total;
                }
                (near, all)
            },
        );
        let (near, all) = parts.into_iter().fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        EdgeShare::of(near, all, &marks)
    }

    /// # Errors
    /// [`SolverError`] if another solver's iterate cannot be had.
    pub(super) fn take_samples(
        &self,
        quantity: Quantity<'_>,
        window: &Window,
    ) -> Result<Samples, SolverError> {
        Ok(match quantity {
            Quantity::Residual => self.sample_values(Values::Residual, window),
            Quantity::Change => self.sample_values(Values::Change, window),
            Quantity::Solution => self.sample_values(Values::Solution, window),
            Quantity::Error => {
                let values = self.exact.as_deref().map_or(Values::Unknown, Values::AgainstDouble);
                self.sample_values(values, window)
            }
            Quantity::Difference(other) => match other.as_any().downcast_ref::<Self>() {
                Some(other) => self.sample_values(Values::Against(&other.current), window),
                None => self.sample_values(Values::AgainstDouble(&other.solution()?), window),
            },
        })
    }

    fn sample_values(&self, values: Values<'_, R>, window: &Window) -> Samples {
        let block = window.block();
        let width = window.columns.len();
        let sample_rows = self.team.map(
            bands(window.rows.clone(), block[1]),
            width * window.rows.len(),
            || RowReader::new(width),
            |reader, rows| {
                if block == [1, 1] {
                    // As below, without comparing: zero has one sign only.
                    let row = reader.read(self, values, rows.start, window.columns.clone());
                    return row.iter().map(|value| value + 0.0).collect();
                }
                let mut largest = vec![0.0_f64; window.size()[0]];
                for row in rows {
                    let row = reader.read(self, values, row, window.columns.clone());
                    for (slot, block) in largest.iter_mut().zip(row.chunks(block[0])) {
                        *slot = block.iter().fold(*slot, |a, &b| larger(a, b));
                    }
                }
                largest
            },
        );
        let values = sample_rows.into_iter().flatten().map(|value| value as f32).collect();
        Samples::of(window, values)
    }
}
