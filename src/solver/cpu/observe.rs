//! Fields of an iterate, some rows at a time, and the norms that are summed up from them.

use super::level::Task;
use super::matrix::Residual;
use super::norms::{NormAccumulator, Partial, PartialNorms, residual_norms};
use super::sweeps::{Sweeps, with_sweeps};
use super::update::{self, Block};
use super::{CpuSolver, Divided};
use crate::grid::{Field, Real, Slice};
use crate::problem::{Source, System};
use crate::solver::{NormRequest, Norms, Quantity, SolverError};
use std::any::Any;
use std::ops::Range;

/// Rows that are summed up separately; a constant, so that sums come in a fixed order. One task reads
/// at about as many.
pub(super) const BAND: usize = 16;

/// Rows that are read at a time. Their sums do not wait for each other, and of rows that lie one below
/// another a sweep loads most only once; yet all that is found of them stays in the nearer caches.
pub(super) const TOGETHER: usize = 4;

/// The values that are read from an iterate. A difference is computed from a field in memory, so that
/// threads can share it.
#[derive(Clone, Copy)]
pub(super) enum Values<'a, R> {
    /// u₁ − u₀, the update of one sweep: the residual over the diagonal. Where rows have
    /// diagonals of their own, the residual itself.
    SweepChange,
    Residual,
    Change,
    Solution,
    /// u minus a field of this precision.
    Against(&'a Field<R>),
    /// u minus a field of double precision.
    AgainstDouble(&'a Field<f64>),
    Unknown,
}

/// The rows of a range, cut into parts of `size`.
pub(super) fn bands(range: Range<usize>, size: usize) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(size).map(move |start| start..(start + size).min(end))
}

/// Computes u₁ − u₀ on parts of some rows; where points have rows of their own, times their diagonals.
struct SweepChange<'a, R> {
    solver: &'a CpuSolver<R>,
    system: &'a System<R>,
    sweeps: &'a dyn Sweeps<R>,
    rows: Range<usize>,
    columns: Range<usize>,
    updated: &'a mut [R],
    out: &'a mut [f64],
}

impl<R: Real> Task for SweepChange<'_, R> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { solver, system, sweeps, rows, columns, updated, out } = self;
        let shape = solver.problem.shape;
        let (stride, width) = (shape.stride(), columns.len());
        let first = |row: usize| shape.row_start(row) + 1 + columns.start;
        // A right-hand side that is the same everywhere is read from one row, which stays in the caches.
        let is_constant =
            matches!(solver.problem.rhs, Source::Constant(_)) && system.rows.is_none();
        let values = solver.current.as_slice();
        for part in shape.by_plane(rows.clone()) {
            let (g_row, g_stride) = if is_constant { (0, 0) } else { (part.start, stride) };
            let block = Block {
                values,
                first: first(part.start),
                stride,
                along_z: shape.along_z(first(part.start)),
                g: &system.g.as_slice()[first(g_row)..],
                g_stride,
                rows: update::Rows::of(system, first(part.start)),
                width,
                height: part.len(),
            };
            let out = &mut updated[(part.start - rows.start) * stride..];
            sweeps.sweep(&block, out);
        }
        let updated = updated.chunks(stride).zip(rows.clone());
        for ((new, row), out) in updated.zip(out.chunks_exact_mut(width)) {
            let old = &values[first(row)..][..width];
            for ((out, new), old) in out.iter_mut().zip(new).zip(old) {
                *out = (*new - *old).to_f64();
            }
            if let Some(rows) = &system.rows {
                for (out, diagonal) in out.iter_mut().zip(&rows.diagonal()[first(row)..]) {
                    *out *= diagonal.to_f64();
                }
            }
        }
    }
}

/// Parts of some consecutive rows of a field, and what is needed to compute them.
#[derive(Default)]
pub(super) struct Rows<R> {
    updated: Vec<R>,
    gathered: Vec<f64>,
    /// The values that were read last, row by row.
    pub values: Vec<f64>,
}

impl<R: Real> Rows<R> {
    /// Reads a field on the columns of at most [`TOGETHER`] rows.
    #[inline(always)]
    pub fn read(
        &mut self,
        of: &CpuSolver<R>,
        values: Values<'_, R>,
        rows: Range<usize>,
        columns: Range<usize>,
    ) {
        let width = columns.len();
        self.values.resize(rows.len() * width, 0.0);
        if let Values::SweepChange | Values::Residual = values {
            let out = &mut self.values[..];
            match &of.system {
                Divided::Grid(system) => {
                    self.updated.resize(TOGETHER * of.problem.shape.stride(), R::default());
                    let updated = &mut self.updated[..];
                    with_sweeps(system, R::from_f64(1.0), of.level, |sweeps| {
                        of.level.run(SweepChange {
                            solver: of,
                            system,
                            sweeps,
                            rows,
                            columns,
                            updated,
                            out,
                        });
                    });
                }
                Divided::Matrix(system) => {
                    let x = of.current.interior(0);
                    of.level.run(Residual { system, x, rows: columns, out });
                }
            }
            if let Values::Residual = values {
                self.scale(of.system.residual_factor());
            }
            return;
        }
        for (row, out) in rows.zip(self.values.chunks_exact_mut(width)) {
            let own = &of.current.interior(row)[columns.clone()];
            match values {
                Values::Against(other) => {
                    differences(out, own, &other.interior(row)[columns.clone()])
                }
                Values::AgainstDouble(other) => {
                    differences(out, own, &other.interior(row)[columns.clone()]);
                }
                Values::Change => {
                    let before = &of.previous.interior(row)[columns.clone()];
                    for ((out, new), old) in out.iter_mut().zip(own).zip(before) {
                        *out = (*new - *old).to_f64();
                    }
                }
                Values::Solution => {
                    for (out, u) in out.iter_mut().zip(own) {
                        *out = u.to_f64();
                    }
                }
                Values::SweepChange | Values::Residual | Values::Unknown => out.fill(f64::NAN),
            }
        }
    }

    /// Reads a field on the columns of some rows of a slice through a 3D grid.
    #[inline(always)]
    pub fn read_slice(
        &mut self,
        of: &CpuSolver<R>,
        values: Values<'_, R>,
        slice: Slice,
        rows: Range<usize>,
        columns: Range<usize>,
    ) {
        let ny = of.problem.shape.ny();
        let mut gathered = std::mem::take(&mut self.gathered);
        gathered.clear();
        // Across a slice x = const the points of a row lie in different rows of the grid.
        let together = if slice.axis == 0 { 1 } else { columns.len() };
        for row in rows {
            for column in columns.clone().step_by(together) {
                let [i, j, k] = slice.point([column, row]);
                self.read(of, values, j + ny * k..j + ny * k + 1, i..i + together);
                gathered.extend_from_slice(&self.values);
            }
        }
        self.gathered = std::mem::replace(&mut self.values, gathered);
    }

    /// Multiplies all values by a factor.
    #[inline(always)]
    pub fn scale(&mut self, factor: f64) {
        for value in &mut self.values {
            *value *= factor;
        }
    }
}

/// u − `other`, point by point.
#[inline(always)]
fn differences<R: Real, S: Real>(out: &mut [f64], own: &[R], other: &[S]) {
    for ((out, u), other) in out.iter_mut().zip(own).zip(other) {
        *out = u.to_f64() - other.to_f64();
    }
}

/// The sums of squares and the largest magnitudes of a band of rows.
struct MeasureBand<'a, R> {
    solver: &'a CpuSolver<R>,
    values: Values<'a, R>,
    band: Range<usize>,
    rows: &'a mut Rows<R>,
}

impl<R: Real> Task for MeasureBand<'_, R> {
    type Output = Partial;
    #[inline(always)]
    fn run(self) -> Partial {
        let Self { solver, values, band, rows } = self;
        let nx = solver.problem.shape.nx();
        let mut total = Partial::default();
        for some in bands(band, TOGETHER) {
            rows.read(solver, values, some, 0..nx);
            for row in rows.values.chunks_exact(nx) {
                let mut measure = NormAccumulator::new(nx);
                measure.add(row, row, |value, _| value);
                total = total + measure.total();
            }
        }
        total
    }
}

impl<R: Real> CpuSolver<R> {
    /// Norms of the present iterate, by a pass over the grid for each.
    pub(super) fn measured(&self, request: NormRequest) -> Norms {
        self.norms_of(request, self.parts_of_norms(request, 0..self.problem.shape.rows()))
    }

    /// The norms that some rows have.
    pub(in crate::solver) fn parts_of_norms(
        &self,
        request: NormRequest,
        rows: Range<usize>,
    ) -> PartialNorms {
        let measure = |values| self.measure(values, rows.clone());
        let residual = request.residual_l2 || request.residual_max;
        let exact = self.exact.as_deref().filter(|_| request.error);
        PartialNorms {
            first_sweep: if residual { measure(Values::SweepChange) } else { Partial::default() },
            max_change: if request.max_change { measure(Values::Change).max } else { 0.0 },
            error_squares: exact.map_or(0.0, |it| measure(Values::AgainstDouble(it)).squares),
        }
    }

    /// The norms whose parts are those, as far as they are known.
    pub(in crate::solver) fn norms_of(&self, request: NormRequest, parts: PartialNorms) -> Norms {
        let residual = request.residual_l2 || request.residual_max;
        let factor = self.system.residual_factor();
        Norms {
            residual: residual.then(|| residual_norms(parts.first_sweep, factor)),
            max_change: (request.max_change && !self.lacks_previous).then_some(parts.max_change),
            error: (request.error && self.exact.is_some()).then(|| parts.error_squares.sqrt()),
        }
    }

    fn measure(&self, values: Values<'_, R>, rows: Range<usize>) -> Partial {
        let points = rows.len() * self.problem.shape.nx();
        let bands = bands(rows, BAND).collect();
        let parts = self.team.map(bands, points, Rows::default, |rows, band| {
            self.level.run(MeasureBand { solver: self, values, band, rows })
        });
        parts.into_iter().fold(Partial::default(), |a, b| a + b)
    }

    /// Passes `work` what is to be read for a quantity.
    ///
    /// # Errors
    /// [`SolverError`] if another solver's iterate cannot be read.
    pub(super) fn with_values<T>(
        &self,
        quantity: Quantity<'_>,
        work: impl FnOnce(Values<'_, R>) -> T,
    ) -> Result<T, SolverError> {
        Ok(match quantity {
            Quantity::Residual => work(Values::Residual),
            Quantity::Change => work(Values::Change),
            Quantity::Solution => work(Values::Solution),
            Quantity::Error => {
                work(self.exact.as_deref().map_or(Values::Unknown, Values::AgainstDouble))
            }
            Quantity::Difference(other) => match (other as &dyn Any).downcast_ref::<Self>() {
                Some(other) => work(Values::Against(&other.current)),
                None => work(Values::AgainstDouble(&other.solution()?)),
            },
        })
    }
}
