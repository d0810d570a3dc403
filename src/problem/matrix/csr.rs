//! A square sparse matrix by its rows (compressed sparse rows).

/// A square sparse matrix with a diagonal that has no zeros.
///
/// Layout: the entries of row `i` are those from `offsets[i]` to `offsets[i + 1]`, by ascending columns,
/// each column once.
#[derive(Clone, Debug, PartialEq)]
pub struct Csr {
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    dominance: Dominance,
}

/// An entry of a matrix: its row, its column (both from 0) and its value.
pub type Entry = (u32, u32, f64);

/// Why a matrix was refused. Rows and columns are counted from 1, as in Matrix Market files.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MatrixError {
    /// No row at all.
    #[error("the matrix has no rows")]
    Empty,
    /// More rows than can be numbered.
    #[error("the matrix has {rows} rows; at most {} are possible", u32::MAX)]
    TooManyRows {
        /// How many.
        rows: u64,
    },
    /// A row without an entry on the diagonal, or with a zero there.
    #[error("row {row} has no diagonal entry, or it is zero; every row is divided by its diagonal")]
    NoDiagonal {
        /// The first such row.
        row: u64,
    },
    /// An entry is NaN or infinite, perhaps as the sum of duplicates.
    #[error("the entry at row {row}, column {column} is {value}; entries must be finite numbers")]
    NotFinite {
        /// Its row.
        row: u64,
        /// Its column.
        column: u64,
        /// Its value.
        value: f64,
    },
}

/// How far a matrix is from diagonally dominant rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dominance {
    /// The largest Σ|a_ij| / |a_ii| of a row, j ≠ i.
    pub largest: f64,
    /// Rows where it is above 1, up to rounding.
    pub rows_above: usize,
}

impl Csr {
    /// A matrix of this many rows from its entries in any order. Duplicates are added in the order given.
    ///
    /// # Errors
    /// [`MatrixError`] if there are no rows, or a row whose diagonal is missing or zero, or an entry that
    /// is not finite.
    ///
    /// # Panics
    /// If an entry lies outside the matrix.
    pub fn from_entries(rows: usize, entries: &[Entry]) -> Result<Self, MatrixError> {
        if rows == 0 {
            return Err(MatrixError::Empty);
        }
        if u32::try_from(rows).is_err() {
            return Err(MatrixError::TooManyRows { rows: rows as u64 });
        }
        let mut starts = vec![0; rows + 1];
        for (row, ..) in entries {
            starts[*row as usize + 1] += 1;
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        // A stable sort by rows, by counting; then each row by columns.
        let mut next = starts.clone();
        let mut sorted = vec![(0, 0.0); entries.len()];
        for (row, column, value) in entries {
            assert!((*column as usize) < rows, "column {column} of {rows}");
            let place = &mut next[*row as usize];
            sorted[*place] = (*column, *value);
            *place += 1;
        }
        let mut matrix = Self {
            offsets: Vec::with_capacity(rows + 1),
            columns: Vec::with_capacity(entries.len()),
            values: Vec::with_capacity(entries.len()),
            dominance: Dominance::default(),
        };
        matrix.offsets.push(0);
        for row in 0..rows {
            let entries = &mut sorted[starts[row]..starts[row + 1]];
            if !entries.is_sorted_by_key(|entry| entry.0) {
                entries.sort_by_key(|entry| entry.0);
            }
            let start = matrix.columns.len();
            for (column, value) in entries {
                match matrix.columns[start..].last() {
                    Some(last) if last == column => {
                        let last = matrix.values.len() - 1;
                        matrix.values[last] += *value;
                    }
                    _ => {
                        matrix.columns.push(*column);
                        matrix.values.push(*value);
                    }
                }
            }
            matrix.offsets.push(matrix.columns.len());
        }
        matrix.check()?;
        matrix.dominance = matrix.find_dominance();
        Ok(matrix)
    }

    fn check(&self) -> Result<(), MatrixError> {
        for row in 0..self.rows() {
            let number = row as u64 + 1;
            for (&column, &value) in self.columns(row).iter().zip(self.values(row)) {
                if !value.is_finite() {
                    let column = u64::from(column) + 1;
                    return Err(MatrixError::NotFinite { row: number, column, value });
                }
            }
            if self.diagonal_place(row).is_none_or(|place| self.values[place] == 0.0) {
                return Err(MatrixError::NoDiagonal { row: number });
            }
        }
        Ok(())
    }

    /// The same system with its rows, and its unknowns, in another order: row `i` of the result is row
    /// `order[i]` of this matrix.
    ///
    /// # Panics
    /// If `order` does not hold every row once.
    #[must_use]
    pub fn permuted(&self, order: &[u32]) -> Self {
        let mut place = vec![u32::MAX; self.rows()];
        for (new, old) in order.iter().enumerate() {
            place[*old as usize] = new as u32;
        }
        assert!(order.len() == self.rows() && !place.contains(&u32::MAX), "every row once");
        let mut permuted = Self {
            offsets: Vec::with_capacity(self.offsets.len()),
            columns: Vec::with_capacity(self.columns.len()),
            values: Vec::with_capacity(self.values.len()),
            dominance: self.dominance,
        };
        permuted.offsets.push(0);
        let mut entries: Vec<(u32, f64)> = Vec::new();
        for old in order {
            let (columns, values) = (self.columns(*old as usize), self.values(*old as usize));
            let moved = columns.iter().map(|column| place[*column as usize]);
            entries.clear();
            entries.extend(moved.zip(values.iter().copied()));
            entries.sort_unstable_by_key(|entry| entry.0);
            permuted.columns.extend(entries.iter().map(|entry| entry.0));
            permuted.values.extend(entries.iter().map(|entry| entry.1));
            permuted.offsets.push(permuted.columns.len());
        }
        permuted
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        let of_entry = (size_of::<u32>() + size_of::<f64>()) as u64;
        let of_entries = (self.entries() as u64).saturating_mul(of_entry);
        of_entries.saturating_add((self.offsets.len() * size_of::<usize>()) as u64)
    }

    /// Rows, and columns.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Entries, the diagonal's included.
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// The columns of the entries of a row, ascending.
    pub fn columns(&self, row: usize) -> &[u32] {
        &self.columns[self.offsets[row]..self.offsets[row + 1]]
    }

    /// The values of the entries of a row, in the order of its columns.
    pub fn values(&self, row: usize) -> &[f64] {
        &self.values[self.offsets[row]..self.offsets[row + 1]]
    }

    /// The entries of a row off the diagonal: columns, ascending, and values.
    pub fn off_diagonal(&self, row: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let entries = self.columns(row).iter().copied().zip(self.values(row).iter().copied());
        entries.filter(move |(column, _)| *column as usize != row)
    }

    fn diagonal_place(&self, row: usize) -> Option<usize> {
        let place = self.columns(row).binary_search(&(row as u32)).ok()?;
        Some(self.offsets[row] + place)
    }

    /// The entry on the diagonal of a row; never zero.
    pub fn diagonal(&self, row: usize) -> f64 {
        self.diagonal_place(row).map_or(f64::NAN, |place| self.values[place])
    }

    /// The value at a row and a column; 0 where there is no entry.
    pub fn at(&self, row: usize, column: usize) -> f64 {
        let place = self.columns(row).binary_search(&(column as u32));
        place.map_or(0.0, |place| self.values(row)[place])
    }

    /// How dominant the diagonal is.
    pub fn dominance(&self) -> Dominance {
        self.dominance
    }

    fn find_dominance(&self) -> Dominance {
        let mut dominance = Dominance { largest: 0.0, rows_above: 0 };
        for row in 0..self.rows() {
            let sum: f64 = self.off_diagonal(row).map(|(_, value)| value.abs()).sum();
            let ratio = sum / self.diagonal(row).abs();
            dominance.largest = dominance.largest.max(ratio);
            dominance.rows_above += usize::from(!is_dominant(ratio));
        }
        dominance
    }
}

/// Whether Σ|a_ij| / |a_ii| of a row is that of a dominant diagonal, up to rounding.
pub(in crate::problem) fn is_dominant(dominance: f64) -> bool {
    dominance <= 1.0 + 4.0 * f64::EPSILON
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_are_added_in_the_order_given() {
        let entries = [(1, 1, 2.0), (0, 1, 1e16), (0, 0, 1.0), (0, 1, 1.0), (0, 1, -1e16)];
        let matrix = Csr::from_entries(2, &entries).unwrap();
        assert_eq!(matrix.columns(0), [0, 1]);
        // 1e16 + 1 is rounded to 1e16.
        assert_eq!(matrix.values(0), [1.0, 0.0]);
        assert_eq!((matrix.rows(), matrix.entries(), matrix.diagonal(1)), (2, 3, 2.0));
    }

    #[test]
    fn what_cannot_be_divided_by_its_diagonal_is_refused_by_its_row() {
        let of = |entries: &[Entry]| Csr::from_entries(2, entries).unwrap_err().to_string();
        assert!(of(&[(0, 0, 1.0), (1, 0, 1.0)]).starts_with("row 2 has no diagonal entry"));
        assert!(of(&[(0, 0, 1.0), (1, 1, 1.0), (1, 1, -1.0)]).starts_with("row 2 has no diagonal"));
        let nan = of(&[(0, 0, 1.0), (1, 1, 1.0), (0, 1, f64::NAN)]);
        assert!(nan.contains("row 1, column 2 is NaN"), "{nan}");
        assert_eq!(Csr::from_entries(0, &[]), Err(MatrixError::Empty));
    }

    #[test]
    fn a_permutation_moves_rows_and_columns() {
        let entries = [(0, 0, 1.0), (0, 2, 5.0), (1, 1, 2.0), (2, 1, 7.0), (2, 2, 3.0)];
        let matrix = Csr::from_entries(3, &entries).unwrap();
        let order = [2, 0, 1];
        let permuted = matrix.permuted(&order);
        for row in 0..3 {
            for column in 0..3 {
                let [old_row, old_column] = [row, column].map(|place| order[place] as usize);
                assert_eq!(permuted.at(row, column), matrix.at(old_row, old_column));
            }
        }
        assert_eq!(permuted.permuted(&[1, 2, 0]), matrix);
    }
}
