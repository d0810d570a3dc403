//! A sparse matrix: its rows divided by their diagonals, Jacobi's iteration on it, and its residual.

use super::level::{Level, Task};
use super::norms::PartialNorms;
use super::team::Team;
use crate::grid::Real;
use crate::problem::{Csr, Problem};
use std::ops::Range;

/// Rows that one task updates at least, so that they do not cost more to hand out than to compute. A
/// constant, so that sums come in the same order for any number of threads.
pub(super) const ROWS_OF_TASK: usize = 2048;

/// The numbers of a matrix problem that its solvers share: weights w_ij = −a_ij / a_ii and g_i = b_i / a_ii,
/// each rounded once.
#[derive(Debug)]
pub(in crate::solver) struct MatrixSystem<R> {
    /// The entries of row `i` off the diagonal are those from `offsets[i]` to `offsets[i + 1]`.
    pub offsets: Vec<usize>,
    /// Their columns, ascending in each row.
    pub columns: Vec<u32>,
    pub weights: Vec<R>,
    pub g: Vec<R>,
    /// a_ii: a residual is that times the update of a sweep.
    pub diagonal: Vec<f64>,
}

impl<R: Real> MatrixSystem<R> {
    /// Divides every row by its diagonal.
    pub fn new(problem: &Problem, matrix: &Csr) -> Self {
        let rows = matrix.rows();
        let entries = matrix.entries() - rows;
        let mut system = Self {
            offsets: Vec::with_capacity(rows + 1),
            columns: Vec::with_capacity(entries),
            weights: Vec::with_capacity(entries),
            g: Vec::with_capacity(rows),
            diagonal: Vec::with_capacity(rows),
        };
        system.offsets.push(0);
        for row in 0..rows {
            let d = matrix.diagonal(row);
            for (column, value) in matrix.off_diagonal(row) {
                system.columns.push(column);
                system.weights.push(R::from_f64(-value / d));
            }
            system.offsets.push(system.columns.len());
            system.g.push(R::from_f64(problem.rhs.at(rows, row, 0) / d));
            system.diagonal.push(d);
        }
        system
    }

    #[cfg(feature = "cuda")]
    pub fn rows(&self) -> usize {
        self.g.len()
    }

    /// The rows that a device keeps, ascending, as a system of their own, whose columns are places among them. Only the
    /// rows that it computes, some of these, have entries. `places` has room for the place of every row of the matrix.
    pub fn of_device(&self, kept: &[u32], computed: &[u32], places: &mut [u32]) -> Self {
        let mut system = Self {
            offsets: Vec::with_capacity(kept.len() + 1),
            columns: Vec::new(),
            weights: Vec::new(),
            g: kept.iter().map(|row| self.g[*row as usize]).collect(),
            diagonal: kept.iter().map(|row| self.diagonal[*row as usize]).collect(),
        };
        for (place, row) in (0..).zip(kept) {
            places[*row as usize] = place;
        }
        system.offsets.push(0);
        for row in kept {
            if computed.binary_search(row).is_ok() {
                let (columns, weights) = self.row(*row as usize);
                system.columns.extend(columns.iter().map(|column| places[*column as usize]));
                system.weights.extend_from_slice(weights);
            }
            system.offsets.push(system.columns.len());
        }
        system
    }

    /// The columns and the weights of a row, its diagonal left out.
    #[inline(always)]
    pub fn row(&self, row: usize) -> (&[u32], &[R]) {
        let entries = self.offsets[row]..self.offsets[row + 1];
        (&self.columns[entries.clone()], &self.weights[entries])
    }

    /// The value of a row after a sweep of Jacobi's iteration: entries are added by ascending columns.
    #[inline(always)]
    fn update(&self, row: usize, x: &[R]) -> R {
        let (columns, weights) = self.row(row);
        let mut sum = self.g[row];
        for entry in 0..columns.len() {
            sum = weights[entry].fma(x[columns[entry] as usize], sum);
        }
        sum
    }
}

/// What a cycle on a matrix needs to turn an iterate (`from`) into the next (`to`).
pub(super) struct MatrixPass<'a, R> {
    pub system: &'a MatrixSystem<R>,
    /// The values of all rows.
    pub from: &'a [R],
    /// The values of the rows that are computed, all or those of a device.
    pub to: &'a mut [R],
    /// The first of them.
    pub first: usize,
    pub exact: Option<&'a [f64]>,
    /// Whether the norms of the cycle are requested; if not, those that are returned are meaningless.
    pub measure: bool,
    pub level: Level,
    pub team: &'a Team,
}

/// Makes one sweep of Jacobi's iteration.
pub(super) fn classic<R: Real>(pass: MatrixPass<'_, R>) -> PartialNorms {
    sweep_or_measure(pass, false)
}

/// The norms of a sweep of Jacobi's iteration that was made elsewhere: the next iterate has its result.
pub(super) fn measure<R: Real>(pass: MatrixPass<'_, R>) -> PartialNorms {
    sweep_or_measure(pass, true)
}

fn sweep_or_measure<R: Real>(pass: MatrixPass<'_, R>, is_made: bool) -> PartialNorms {
    let MatrixPass { system, from, to, first, exact, measure, level, team } = pass;
    let rows = to.len();
    let bands = (first..).step_by(ROWS_OF_TASK).zip(to.chunks_mut(ROWS_OF_TASK));
    let works: Vec<_> = bands
        .map(|(first, to)| Band { system, from, to, exact, measure, is_made, first })
        .collect();
    let parts = team.map(
        works,
        rows,
        || (),
        |(), band| match team.is_stopped() {
            true => PartialNorms::default(),
            false => level.run(band),
        },
    );
    parts.into_iter().sum()
}

/// Some rows of a sweep of Jacobi's iteration.
struct Band<'a, R> {
    system: &'a MatrixSystem<R>,
    from: &'a [R],
    to: &'a mut [R],
    exact: Option<&'a [f64]>,
    measure: bool,
    /// Whether `to` has the result already.
    is_made: bool,
    first: usize,
}

impl<R: Real> Task for Band<'_, R> {
    type Output = PartialNorms;
    #[inline(always)]
    fn run(self) -> PartialNorms {
        let Self { system, from, to, exact, measure, is_made, first } = self;
        let mut norms = PartialNorms::default();
        let mut add = |row: usize, value: R| {
            let change = (value - from[row]).to_f64();
            let residual = system.diagonal[row] * change;
            let first_sweep = &mut norms.first_sweep;
            first_sweep.squares = residual.mul_add(residual, first_sweep.squares);
            first_sweep.max = first_sweep.max.max(residual.abs());
            norms.max_change = norms.max_change.max(change.abs());
            if let Some(exact) = exact {
                let error = value.to_f64() - exact[row];
                norms.error_squares = error.mul_add(error, norms.error_squares);
            }
        };
        // In one loop, the sums wait while the values of the next rows are fetched; a loop after it would take half as long again.
        match (is_made, measure) {
            (true, _) => (first..).zip(&*to).for_each(|(row, value)| add(row, *value)),
            (false, true) => {
                for (row, to) in (first..).zip(to) {
                    *to = system.update(row, from);
                    add(row, *to);
                }
            }
            (false, false) => {
                for (row, to) in (first..).zip(to) {
                    *to = system.update(row, from);
                }
            }
        }
        norms
    }
}

/// The residual of some rows: a_ii times the update of a sweep of Jacobi's iteration.
pub(super) struct Residual<'a, R> {
    pub system: &'a MatrixSystem<R>,
    /// The values of all rows.
    pub x: &'a [R],
    pub rows: Range<usize>,
    /// As long as `rows`.
    pub out: &'a mut [f64],
}

impl<R: Real> Task for Residual<'_, R> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { system, x, rows, out } = self;
        for (row, out) in rows.zip(out) {
            *out = system.diagonal[row] * (system.update(row, x) - x[row]).to_f64();
        }
    }
}
