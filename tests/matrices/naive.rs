//! Block Jacobi written straight from the rules, with no care for speed.

use std::collections::BTreeSet;
use std::ops::Range;
use tilescope::grid::Real;

/// A system of dense rows, `None` where there is no entry, and its iterate.
#[derive(Clone)]
pub struct Naive<R> {
    rows: Vec<Vec<Option<f64>>>,
    rhs: Vec<f64>,
    pub x: Vec<R>,
}

impl<R: Real> Naive<R> {
    pub fn new(rows: Vec<Vec<Option<f64>>>, rhs: Vec<f64>, start: &[f64]) -> Self {
        Self { rows, rhs, x: start.iter().map(|value| R::from_f64(*value)).collect() }
    }

    /// The entries of a row off the diagonal, by ascending columns.
    fn beside(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let entries = self.rows[row].iter().enumerate();
        entries.filter_map(move |(column, value)| {
            value.filter(|_| column != row).map(|value| (column, value))
        })
    }

    /// The columns of a row off the diagonal.
    pub fn columns(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        self.beside(row).map(|(column, _)| column)
    }

    fn weight(&self, row: usize, value: f64) -> R {
        R::from_f64(-value / self.rows[row][row].expect("a diagonal"))
    }

    fn update(&self, row: usize, inside: &BTreeSet<usize>, y: &[R]) -> R {
        let diagonal = self.rows[row][row].expect("a diagonal");
        let mut sum = R::from_f64(self.rhs[row] / diagonal);
        for (column, value) in self.beside(row).filter(|(column, _)| !inside.contains(column)) {
            sum = self.weight(row, value).fma(self.x[column], sum);
        }
        for (column, value) in self.beside(row).filter(|(column, _)| inside.contains(column)) {
            sum = self.weight(row, value).fma(y[column], sum);
        }
        sum
    }

    /// Rows within that many steps in the graph of A + Aᵀ.
    pub fn around(&self, owned: Range<usize>, steps: usize) -> BTreeSet<usize> {
        let mut rows: BTreeSet<usize> = owned.collect();
        for _ in 0..steps {
            let mut next = rows.clone();
            for row in 0..self.rows.len() {
                for (column, _) in self.beside(row) {
                    if rows.contains(&row) {
                        next.insert(column);
                    }
                    if rows.contains(&column) {
                        next.insert(row);
                    }
                }
            }
            rows = next;
        }
        rows
    }

    /// Jacobi's iteration: one chain of additions a row.
    pub fn sweep(&mut self) {
        let all = BTreeSet::new();
        self.x = (0..self.rows.len()).map(|row| self.update(row, &all, &[])).collect();
    }

    pub fn cycle(&mut self, sweeps: usize, block: usize, overlap: usize) {
        let count = self.rows.len();
        let mut next = self.x.clone();
        for start in (0..count).step_by(block) {
            let owned = start..(start + block).min(count);
            let inside = self.around(owned.clone(), overlap / 2);
            let mut y = self.x.clone();
            for _ in 0..sweeps {
                let mut new = y.clone();
                for row in &inside {
                    new[*row] = self.update(*row, &inside, &y);
                }
                y = new;
            }
            next[owned.clone()].copy_from_slice(&y[owned]);
        }
        self.x = next;
    }

    /// ‖b − A x‖₂ in `f64`.
    pub fn residual(&self) -> f64 {
        let row = |row: usize| {
            let entries = self.rows[row].iter().zip(&self.x);
            let sum: f64 = entries.filter_map(|(a, x)| a.map(|a| a * x.to_f64())).sum();
            self.rhs[row] - sum
        };
        (0..self.rows.len()).map(|at| row(at).powi(2)).sum::<f64>().sqrt()
    }
}
