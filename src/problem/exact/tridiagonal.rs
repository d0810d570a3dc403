//! Tridiagonal matrices.

/// The factors of a tridiagonal matrix.
///
/// Gaussian elimination with row exchanges (LAPACK's `gttrf`), since a matrix need not be
/// dominant; where it is, no rows are exchanged and this is the Thomas algorithm.
pub(super) struct Tridiagonal {
    /// One over the pivots.
    inverse: Vec<f64>,
    /// The two diagonals above the pivots.
    upper: Vec<f64>,
    second: Vec<f64>,
    /// The multiplier of each elimination, and whether rows were exchanged before it.
    steps: Vec<(f64, bool)>,
}

impl Tridiagonal {
    /// Room for a matrix of `n ≥ 1` rows.
    pub(super) fn new(n: usize) -> Self {
        Self {
            inverse: vec![0.0; n],
            upper: vec![0.0; n],
            second: vec![0.0; n],
            steps: vec![(0.0, false); n - 1],
        }
    }

    /// Rows.
    pub(super) fn len(&self) -> usize {
        self.inverse.len()
    }

    /// Factors the matrix of these constant diagonals. `None` if a pivot is zero, as far as the rounding of
    /// numbers of size `scale` can resolve.
    pub(super) fn factor(
        &mut self,
        lower: f64,
        diagonal: f64,
        upper: f64,
        scale: f64,
    ) -> Option<()> {
        self.factor_rows(|_| [lower, diagonal, upper], scale)
    }

    /// The same of a matrix whose row `i` is `row(i)`: its entries below, on and above the diagonal.
    pub(super) fn factor_rows(
        &mut self,
        row: impl Fn(usize) -> [f64; 3],
        scale: f64,
    ) -> Option<()> {
        let last = self.len() - 1;
        let invert = |pivot: f64| (pivot.abs() > f64::EPSILON * scale).then(|| pivot.recip());
        // The row being worked on has these on and above the diagonal.
        let [_, mut here, mut above] = row(0);
        for i in 0..last {
            let [lower, diagonal, upper] = row(i + 1);
            let above_next = if i + 1 < last { upper } else { 0.0 };
            let exchange = here.abs() < lower.abs();
            if exchange {
                self.inverse[i] = invert(lower)?;
                let factor = here * self.inverse[i];
                (self.upper[i], self.second[i]) = (diagonal, above_next);
                (here, above) = (above - factor * diagonal, -factor * above_next);
                self.steps[i] = (factor, true);
            } else {
                self.inverse[i] = invert(here)?;
                let factor = lower * self.inverse[i];
                (self.upper[i], self.second[i]) = (above, 0.0);
                (here, above) = (diagonal - factor * above, above_next);
                self.steps[i] = (factor, false);
            }
        }
        self.inverse[last] = invert(here)?;
        Some(())
    }

    /// Replaces a right-hand side of [`Tridiagonal::len`] values by the solution.
    pub(super) fn solve(&self, values: &mut [f64]) {
        for (i, &(factor, exchange)) in self.steps.iter().enumerate() {
            if exchange {
                values.swap(i, i + 1);
            }
            values[i + 1] -= factor * values[i];
        }
        let (mut next, mut after) = (0.0, 0.0);
        for (i, value) in values.iter_mut().enumerate().rev() {
            let rest = *value - self.second[i] * after;
            *value = (rest - self.upper[i] * next) * self.inverse[i];
            (next, after) = (*value, next);
        }
    }
}
