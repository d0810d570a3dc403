//! Observes a field in one pass over the grid: samples, the edge share, and statistics by tile and by
//! distance to tile borders.

use super::edges::Borders;
use super::level::Task;
use super::observe::{BAND, Rows, TOGETHER, Values, bands};
use super::thin_out::{as_shown, thin_out};
use super::{CpuSolver, Divided};
use crate::grid::Real;
use crate::problem::Operator;
use crate::problem::matrix::steps_to_border;
use crate::solver::statistics::{Sorting, Tally};
use crate::solver::{FieldObservation, FieldRequest, Samples, SolverError, Window};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Largest number of row sums kept until they are added up in order: about one array of a large grid.
const MOST_SUMS: usize = 1 << 22;

/// Tallest sample, in rows, that shares a pass with the edge share and the statistics.
const TALLEST: usize = 4 * BAND;

/// A pass over the grid, or over the part of it that is sampled where nothing else is wanted.
struct Pass<'a, R> {
    solver: &'a CpuSolver<R>,
    values: Values<'a, R>,
    columns: Range<usize>,
    rows: Range<usize>,
    window: Option<&'a Window>,
    borders: Option<Borders>,
    sorting: Option<Sorting>,
}

/// Rows that one task reads, and where their samples go.
struct RowBand<'a> {
    rows: Range<usize>,
    samples: &'a mut [f32],
}

/// The sums of a task, row by row.
#[derive(Default)]
struct FieldSums {
    /// Sums of squares of each row: near tile borders, and all.
    squares: Vec<[f64; 2]>,
    /// Values of each row, folded onto the mean tile.
    folded: Vec<f64>,
}

/// Buffers that a thread reuses from part to part.
#[derive(Default)]
struct Scratch<R> {
    rows: Rows<R>,
    /// The values of some rows, as samples.
    shown: Vec<f32>,
    /// The largest values of each column of the current samples.
    ranks: Vec<u64>,
}

impl<R: Real> CpuSolver<R> {
    /// Makes an observation, in one pass over the grid.
    ///
    /// # Errors
    /// [`SolverError`] if another solver's iterate cannot be read.
    pub(super) fn pass(&self, request: FieldRequest<'_>) -> Result<FieldObservation, SolverError> {
        let FieldRequest { quantity, window, edge_share: borders, statistics: sorted } = request;
        let shape = self.problem.shape;
        if let Some(tall) = window.filter(|it| it.slice.is_some() || it.block()[1] > TALLEST)
            && borders.or(sorted).is_some()
        {
            let alone = FieldRequest { window: Some(tall), ..FieldRequest::nothing(quantity) };
            let FieldObservation { samples, .. } = self.pass(alone)?;
            let others = self.pass(FieldRequest { window: None, ..request })?;
            return Ok(FieldObservation { samples, ..others });
        }
        let part = window.filter(|_| borders.is_none() && sorted.is_none());
        let part = part.map(|window| (window.columns.clone(), window.rows.clone()));
        let (columns, rows) = part.unwrap_or((0..shape.nx(), 0..shape.rows()));
        let borders = borders.map(|tiling| match &self.system {
            Divided::Grid(_) => Borders::new(tiling, &shape),
            Divided::Matrix(system) => Borders::of_blocks(tiling, system),
        });
        let sorting = sorted.map(|tiling| match &self.problem.operator {
            Operator::Csr(matrix) => {
                Sorting::of_rows(&shape, tiling, &steps_to_border(matrix, tiling.x()))
            }
            Operator::Stencil(_) | Operator::PerPoint(_) => Sorting::new(&shape, tiling),
        });
        self.with_values(quantity, |values| {
            Pass { solver: self, values, columns, rows, window, borders, sorting }.make()
        })
    }
}

impl<R: Real> Pass<'_, R> {
    fn make(&self) -> FieldObservation {
        let points = self.rows.len() * self.columns.len();
        let [across, down] = self.window.map_or([0, 0], Window::size);
        let mut samples = vec![0.0; across * down];
        let mut parts = self.parts(&mut samples);
        // A task that is done leaves its counts to the next, so that there are few of them.
        let tallies = Mutex::new(Vec::new());
        let of_band = BAND * self.sorting.as_ref().map_or(0, Sorting::sums_of_row);
        let at_once = (MOST_SUMS / of_band.max(1)).max(1);
        let mut squares = Vec::new();
        let mut sums = self.sorting.as_ref().map_or_else(Vec::new, Sorting::no_sums);
        let mut row = self.rows.start;
        while !parts.is_empty() {
            let later = parts.split_off(at_once.min(parts.len()));
            let now = std::mem::replace(&mut parts, later);
            let found = self.solver.team.map(now, points, Scratch::default, |scratch, part| {
                let spare = || tallies.lock().unwrap_or_else(PoisonError::into_inner);
                let mut tally = spare().pop().or_else(|| self.sorting.as_ref().map(Tally::new));
                let task = ObserveRows { pass: self, part, scratch, tally: tally.as_mut() };
                let found = self.solver.level.run(task);
                spare().extend(tally);
                found
            });
            for FieldSums { squares: some, folded } in found {
                squares.extend(some);
                if let Some(sorting) = self.sorting.as_ref().filter(|sorting| sorting.folds) {
                    for folded in folded.chunks(sorting.sums_of_row()) {
                        sorting.add(row, folded, &mut sums);
                        row += 1;
                    }
                }
            }
        }
        let tallies = tallies.into_inner().unwrap_or_else(PoisonError::into_inner);
        FieldObservation {
            samples: self.window.map(|window| Samples::of(window, samples)),
            edge_share: self.borders.as_ref().map(|it| it.share(&squares)),
            statistics: self.sorting.as_ref().map(|it| it.finish(&Tally::together(tallies), &sums)),
        }
    }

    /// The rows, divided into parts. One task makes a whole sample.
    fn parts<'a>(&self, mut samples: &'a mut [f32]) -> Vec<RowBand<'a>> {
        let plain = |rows| bands(rows, BAND).map(|rows| RowBand { rows, samples: &mut [] });
        let Some(window) = self.window else {
            return plain(self.rows.clone()).collect();
        };
        let ([across, _], [_, block]) = (window.size(), window.block());
        let mut parts: Vec<_> = plain(self.rows.start..window.rows.start).collect();
        for rows in bands(window.rows.clone(), BAND.div_ceil(block) * block) {
            let (own, later) = samples.split_at_mut(rows.len().div_ceil(block) * across);
            parts.push(RowBand { rows, samples: own });
            samples = later;
        }
        parts.extend(plain(window.rows.end..self.rows.end));
        parts
    }
}

/// A pass over the rows of a part.
struct ObserveRows<'a, 'p, R> {
    pass: &'a Pass<'p, R>,
    part: RowBand<'a>,
    scratch: &'a mut Scratch<R>,
    tally: Option<&'a mut Tally<'p>>,
}

impl<R: Real> Task for ObserveRows<'_, '_, R> {
    type Output = FieldSums;
    #[inline(always)]
    fn run(self) -> FieldSums {
        let Self { pass, part, scratch: Scratch { rows, shown, ranks }, mut tally } = self;
        let (solver, columns) = (pass.solver, &pass.columns);
        let mut found = FieldSums::default();
        for some in bands(part.rows.clone(), TOGETHER) {
            if let Some(borders) = &pass.borders {
                rows.read(solver, Values::SweepChange, some.clone(), columns.clone());
                borders.add(some.start, &rows.values, &mut found.squares);
            }
            if pass.window.is_none() && pass.sorting.is_none() {
                continue;
            }
            match (pass.values, &pass.borders) {
                (Values::Residual, Some(_)) => rows.scale(solver.system.residual_factor()),
                (values, _) => match pass.window.and_then(|window| window.slice) {
                    Some(slice) => {
                        rows.read_slice(solver, values, slice, some.clone(), columns.clone());
                    }
                    None => rows.read(solver, values, some.clone(), columns.clone()),
                },
            }
            if let Some(window) = pass.window.filter(|_| !part.samples.is_empty()) {
                let first = window.columns.start - columns.start;
                for (row, values) in some.clone().zip(rows.values.chunks_exact(columns.len())) {
                    let values = &values[first..][..window.columns.len()];
                    let is_last = row + 1 == part.rows.end;
                    thin_out(window, row - part.rows.start, is_last, values, ranks, part.samples);
                }
            }
            if let (Some(sorting), Some(tally)) = (&pass.sorting, &mut tally) {
                shown.resize(rows.values.len(), 0.0);
                for (shown, value) in shown.iter_mut().zip(&rows.values) {
                    *shown = as_shown(*value);
                }
                tally.count(some.start, shown);
                for values in shown.chunks_exact(columns.len()) {
                    sorting.fold(values, &mut found.folded);
                }
            }
        }
        found
    }
}
