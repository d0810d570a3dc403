//! Properties of a matrix that are found before it is used to solve a system.

use super::csr::{Csr, Dominance};
use super::spectral_radius::SpectralRadius;
use crate::grid::AxisTiling;
use crate::pauses::{pause, without_pauses};
use crate::random::random;

/// Properties of a matrix that are found before it is used to solve a system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Analysis {
    /// Rows.
    pub rows: usize,
    /// Entries, the diagonal's included.
    pub entries: usize,
    /// The largest distance of an entry from the diagonal.
    pub bandwidth: usize,
    /// Whether a_ij = a_ji everywhere.
    pub is_symmetric: bool,
    /// How dominant the diagonal is.
    pub dominance: Dominance,
}

/// How the entries of a matrix off its diagonal lie with respect to blocks of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockEntries {
    /// *Static* entries: their columns are outside the block of their row.
    pub outside: usize,
    /// *Dynamic* entries: their columns are inside.
    pub inside: usize,
}

impl BlockEntries {
    /// Counts the entries with respect to the rows that blocks own.
    pub fn of(matrix: &Csr, blocks: &AxisTiling) -> Self {
        let mut counts = Self::default();
        for owned in (0..blocks.count()).map(|block| blocks.owned(block)) {
            for row in owned.clone() {
                let columns = matrix.off_diagonal(row).map(|(column, _)| column as usize);
                let inside = columns.filter(|column| owned.contains(column)).count();
                counts.inside += inside;
                counts.outside += matrix.columns(row).len() - 1 - inside;
            }
        }
        counts
    }
}

/// The most products with entries of the matrix in the power iteration: they take about a second.
const MOST_PRODUCTS: usize = 300_000_000;

/// Steps of the power iteration.
const FEWEST_STEPS: usize = 16;
const MOST_STEPS: usize = 4096;

impl Analysis {
    /// Analyses a matrix.
    pub fn of(matrix: &Csr) -> Self {
        Self {
            rows: matrix.rows(),
            entries: matrix.entries(),
            bandwidth: bandwidth(matrix),
            is_symmetric: is_symmetric(matrix),
            dominance: matrix.dominance(),
        }
    }

    /// That of the same matrix with its rows and columns in another order.
    #[must_use]
    pub fn of_permuted(&self, matrix: &Csr) -> Self {
        Self { bandwidth: bandwidth(matrix), ..self.clone() }
    }
}

/// The largest distance of an entry from the diagonal. Columns of a row ascend.
fn bandwidth(matrix: &Csr) -> usize {
    let of_row = |row: usize| {
        let columns = matrix.columns(row);
        let ends = [columns.first(), columns.last()].into_iter().flatten();
        ends.map(|column| row.abs_diff(*column as usize)).max().unwrap_or(0)
    };
    (0..matrix.rows()).map(of_row).max().unwrap_or(0)
}

/// Whether a_ij = a_ji everywhere, an entry that is not stored being 0.
///
/// Above the diagonal, rows give the entries of a column in the order in which its row has them below: each row is
/// gone through once.
pub(in crate::problem) fn is_symmetric(matrix: &Csr) -> bool {
    // How many entries below the diagonal of each row were met.
    let mut met = vec![0; matrix.rows()];
    // Zeros that are stored have no counterpart that must be.
    let next_below = |row: usize, from: usize| {
        let entries = matrix.columns(row).iter().zip(matrix.values(row)).enumerate().skip(from);
        entries
            .map(|(at, (column, value))| (at, *column as usize, *value))
            .find(|(_, column, value)| *column >= row || *value != 0.0)
    };
    (0..matrix.rows()).all(|row| {
        // All rows before have met what is below the diagonal of this one.
        let is_met = next_below(row, met[row]).is_none_or(|(_, column, _)| column >= row);
        is_met
            && matrix
                .off_diagonal(row)
                .filter(|(column, value)| *column as usize > row && *value != 0.0)
                .all(|(column, value)| {
                    let column = column as usize;
                    let mirrored = next_below(column, met[column]);
                    met[column] = mirrored.map_or(0, |(at, ..)| at + 1);
                    mirrored.is_some_and(|(_, row_of, found)| row_of == row && found == value)
                })
    })
}

impl SpectralRadius {
    /// Power iteration: the factor by which a vector grows, over two steps so that eigenvalues of opposite
    /// signs do not disturb it (Golub and Van Loan, *Matrix Computations*, section 7.3). About a second at
    /// most.
    pub fn of_matrix(matrix: &Csr) -> Self {
        without_pauses(Self::of_matrix_with_pauses(matrix))
    }

    /// [`SpectralRadius::of_matrix`] with pauses.
    pub(crate) async fn of_matrix_with_pauses(matrix: &Csr) -> Self {
        let steps = (MOST_PRODUCTS / matrix.entries()).clamp(FEWEST_STEPS, MOST_STEPS);
        let mut x: Vec<f64> = (0..matrix.rows() as u64).map(|row| random(1, row)).collect();
        let mut next = vec![0.0; x.len()];
        let (mut value, mut halfway) = (0.0, 0.0);
        for step in 0..steps / 2 {
            let before = norm(&x);
            if before == 0.0 {
                return Self { value: 0.0, error: 0.0 };
            }
            for x in &mut x {
                *x /= before;
            }
            sweep(matrix, &x, &mut next);
            pause().await;
            sweep(matrix, &next, &mut x);
            pause().await;
            value = norm(&x).sqrt();
            if step == steps / 4 {
                halfway = value;
            }
        }
        Self { value, error: f64::abs(value - halfway) }
    }
}

/// to = (I − D⁻¹A) from.
fn sweep(matrix: &Csr, from: &[f64], to: &mut [f64]) {
    for (row, to) in to.iter_mut().enumerate() {
        let sum: f64 = matrix.off_diagonal(row).map(|(column, a)| a * from[column as usize]).sum();
        *to = -sum / matrix.diagonal(row);
    }
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::Generated;
    use super::*;
    use std::f64::consts::PI;

    #[test]
    fn a_line_is_what_textbooks_say() {
        let matrix = Generated::Heat1d { rows: 100 }.matrix().unwrap();
        let spectral_radius = SpectralRadius::of_matrix(&matrix);
        let Analysis { bandwidth, is_symmetric, dominance, .. } = Analysis::of(&matrix);
        assert_eq!((bandwidth, is_symmetric), (1, true));
        assert_eq!(dominance, Dominance { largest: 1.0, rows_above: 0 });
        let exact = (PI / 101.0).cos();
        let error = (spectral_radius.value - exact).abs();
        assert!(error <= 10.0 * spectral_radius.error + 1e-9, "{spectral_radius:?}, {exact}");
        let sweeps = spectral_radius.sweeps_per_digit().unwrap();
        assert!((sweeps * -exact.ln() / 10.0_f64.ln() - 1.0).abs() < 0.05, "{sweeps}");
    }

    #[test]
    fn a_matrix_that_is_not_dominant_may_converge() {
        let matrix = Generated::Trefethen { rows: 2000 }.matrix().unwrap();
        let analysis = Analysis::of(&matrix);
        assert!(analysis.dominance.rows_above > 0 && analysis.is_symmetric);
        let value = SpectralRadius::of_matrix(&matrix).value;
        assert!((value - 0.860).abs() < 5e-3, "{value}");
    }

    #[test]
    fn symmetry_is_that_of_values() {
        let is = |entries: &[(u32, u32, f64)]| {
            let diagonal = (0..4).map(|row| (row, row, 4.0));
            let entries: Vec<_> = diagonal.chain(entries.iter().copied()).collect();
            is_symmetric(&Csr::from_entries(4, &entries).unwrap())
        };
        assert!(is(&[]) && is(&[(0, 2, 1.0), (2, 0, 1.0), (3, 2, -1.0), (2, 3, -1.0)]));
        assert!(is(&[(0, 3, 0.0), (2, 1, 0.0)]), "a zero may be stored or not");
        assert!(is(&[(0, 3, 0.0), (1, 3, 2.0), (3, 1, 2.0), (3, 0, 0.0), (3, 2, 0.0)]));
        assert!(!is(&[(0, 2, 1.0)]) && !is(&[(2, 0, 1.0)]));
        assert!(!is(&[(0, 2, 1.0), (2, 0, 1.5)]));
        assert!(!is(&[(0, 2, 1.0), (2, 1, 1.0)]) && !is(&[(1, 2, 1.0), (2, 0, 1.0)]));
        assert!(!is(&[(0, 3, 1.0), (3, 0, 1.0), (3, 1, 1.0)]));
    }

    #[test]
    fn a_diagonal_has_nothing_to_iterate() {
        let matrix = Csr::from_entries(2, &[(0, 0, 2.0), (1, 1, -3.0)]).unwrap();
        assert_eq!(SpectralRadius::of_matrix(&matrix).value, 0.0);
        let lower = Csr::from_entries(2, &[(0, 0, 1.0), (1, 1, 1.0), (1, 0, 5.0)]).unwrap();
        assert!(!Analysis::of(&lower).is_symmetric);
    }
}
