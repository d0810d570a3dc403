//! Random matrices of all kinds, and how they are solved.

use super::naive::Naive;
use proptest::prelude::*;
use std::sync::Arc;
use tilescope::grid::{Real, Shape, Tiling};
use tilescope::problem::matrix::Entry;
use tilescope::problem::{Boundary, Csr, Operator, Problem, Source};
use tilescope::solver::Method;

/// A system of a random matrix, and how it is solved.
#[derive(Clone, Debug)]
pub struct Case {
    pub rows: usize,
    /// Beside the diagonal, duplicates among them.
    pub entries: Vec<Entry>,
    pub diagonal: Vec<f64>,
    pub rhs: Vec<f64>,
    pub start: Vec<f64>,
    pub sweeps: usize,
    pub block: usize,
    pub overlap: usize,
    pub threads: usize,
}

pub fn cases() -> impl Strategy<Value = Case> {
    // One row, few and many; no entries beside the diagonal, a few, dense rows.
    let rows = prop_oneof![1 => Just(1usize), 6 => 2..40usize];
    (rows, 0..3u8).prop_flat_map(|(rows, density)| {
        let count = match density {
            0 => 0..1,
            1 => 0..3 * rows + 1,
            _ => 0..rows * rows + 1,
        };
        let last = rows as u32 - 1;
        let entry = (0..=last, 0..=last, prop_oneof![1 => Just(0.0), 6 => -1.0..1.0f64]);
        let dense_row = prop::option::of(0..=last);
        let values = || prop::collection::vec(-2.0..2.0f64, rows);
        let diagonal = prop::collection::vec(prop_oneof![1.0..9.0f64, -9.0..-1.0f64], rows);
        (
            (prop::collection::vec(entry, count), dense_row, diagonal, values(), values()),
            (1..6usize, 1..rows + 3, 0..4usize, 1..4usize),
        )
            .prop_map(move |((mut entries, dense, diagonal, rhs, start), settings)| {
                let (sweeps, block, half_overlap, threads) = settings;
                entries.extend(
                    dense.into_iter().flat_map(|row| (0..=last).map(move |c| (row, c, 0.25))),
                );
                entries.retain(|(row, column, _)| row != column);
                let overlap = 2 * half_overlap;
                Case { rows, entries, diagonal, rhs, start, sweeps, block, overlap, threads }
            })
    })
}

impl Case {
    pub fn problem(&self) -> Arc<Problem> {
        let diagonal =
            self.diagonal.iter().enumerate().map(|(row, d)| (row as u32, row as u32, *d));
        let entries: Vec<_> = self.entries.iter().copied().chain(diagonal).collect();
        let matrix = Csr::from_entries(self.rows, &entries).expect("a diagonal");
        Arc::new(Problem {
            shape: Shape::grid_1d(self.rows, 1).expect("some rows"),
            operator: Operator::Csr(Arc::new(matrix)),
            rhs: Source::Array(self.rhs.clone().into()),
            initial_guess: Source::Array(self.start.clone().into()),
            boundary: Boundary::default(),
        })
    }

    pub fn naive<R: Real>(&self) -> Naive<R> {
        let mut rows = vec![vec![None; self.rows]; self.rows];
        for (row, d) in self.diagonal.iter().enumerate() {
            rows[row][row] = Some(*d);
        }
        for (row, column, value) in &self.entries {
            let entry = &mut rows[*row as usize][*column as usize];
            *entry = Some(entry.map_or(*value, |sum: f64| sum + value));
        }
        Naive::new(rows, self.rhs.clone(), &self.start)
    }

    /// The method of its blocks.
    pub fn method(&self) -> Method {
        let tiling = Tiling::blocks(self.rows, self.block, self.overlap).expect("valid blocks");
        Method::Hierarchical { k: self.sweeps, tiling }
    }
}
