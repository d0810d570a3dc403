//! The residual r = b − A u of an iterate, as if computed with 106 bits and rounded once.
//!
//! The residual that comes with a Jacobi update is d·(u₁ − u₀): it reads 0 where rounding keeps the
//! update from changing a point, although b − A u is not 0 there. Whether a run
//! that stopped has converged is decided by the residual of this file.

use super::{Operator, Problem, Source, Stencil};
use crate::grid::{Field, Shape};
use rayon::prelude::*;

/// For each row of `u`, Σr² and max|r| over its interior points. `u` is an iterate, or whole rows of a
/// 1D or 2D one or whole planes of a 3D one with what lies around them; its first row is row `first` of the problem.
///
/// Runs on the threads of rayon; the result does not depend on their number.
///
/// # Panics
/// If the right-hand side is an array that does not fit the shape.
pub fn residual_of_rows(problem: &Problem, first: usize, u: &Field<f64>) -> Vec<[f64; 2]> {
    let rows = (0..u.shape().rows()).into_par_iter();
    let norms = rows.map_init(
        || vec![0.0; u.shape().nx()],
        |values, row| {
            residual_of_row(problem, first, u, row, values);
            values.iter().fold([0.0, 0.0], |[squares, max]: [f64; 2], value| {
                [value.mul_add(*value, squares), max.max(value.abs())]
            })
        },
    );
    norms.collect()
}

/// r at every interior point of a whole iterate `u`; its boundary is zero.
///
/// # Panics
/// If the right-hand side is an array that does not fit the shape.
pub fn residual_field(problem: &Problem, u: &Field<f64>) -> Field<f64> {
    let mut residual = Field::filled(*u.shape(), 0.0);
    for row in 0..u.shape().rows() {
        residual_of_row(problem, 0, u, row, residual.interior_mut(row));
    }
    residual
}

/// r at every interior point of a whole iterate `u`, in C order. Runs on the threads of rayon.
///
/// # Panics
/// If the right-hand side is an array that does not fit the shape.
pub fn residual_values(problem: &Problem, u: &Field<f64>) -> Vec<f64> {
    let mut values = vec![0.0; u.shape().points()];
    let rows = values.par_chunks_mut(u.shape().nx()).enumerate();
    rows.for_each(|(row, out)| residual_of_row(problem, 0, u, row, out));
    values
}

/// r of row `row` of `u`, which is row `first + row` of the problem: one value for each column.
pub(super) fn residual_of_row(
    problem: &Problem,
    first: usize,
    u: &Field<f64>,
    row: usize,
    out: &mut [f64],
) {
    let Problem { operator, rhs, .. } = problem;
    match operator {
        Operator::Stencil(stencil) => {
            residual_of_grid_row(rhs, first, u, row, out, |_| *stencil);
        }
        Operator::PerPoint(rows) => {
            residual_of_grid_row(rhs, first, u, row, out, |i| rows.row(i, first + row));
        }
        Operator::Csr(matrix) => {
            let x = u.interior(0);
            for (row, out) in out.iter_mut().enumerate() {
                let mut sum = Difference::new(rhs.at(x.len(), row, 0));
                for (column, value) in matrix.columns(row).iter().zip(matrix.values(row)) {
                    sum.subtract(*value, x[*column as usize]);
                }
                *out = sum.rounded();
            }
        }
    }
}

/// The same on a grid whose point at column `i` has the matrix row `stencil_at(i)`.
#[inline(always)]
fn residual_of_grid_row(
    rhs: &Source,
    first: usize,
    u: &Field<f64>,
    row: usize,
    out: &mut [f64],
    stencil_at: impl Fn(usize) -> Stencil,
) {
    let (values, shape): (_, &Shape) = (u.as_slice(), u.shape());
    let start = shape.row_start(row) + 1;
    let distances = [1, shape.stride(), shape.plane_stride()];
    for (i, out) in out.iter_mut().enumerate() {
        let stencil = stencil_at(i);
        let neighbours = stencil.neighbours();
        let axes = &neighbours[..shape.dim()];
        let point = start + i;
        let mut sum = Difference::new(rhs.at(shape.nx(), i, first + row));
        sum.subtract(stencil.d, values[point]);
        for ([previous, next], distance) in axes.iter().zip(distances) {
            sum.subtract(*previous, values[point - distance]);
            sum.subtract(*next, values[point + distance]);
        }
        *out = sum.rounded();
    }
}

/// A number from which products are subtracted, with twice the working precision: Dot2 of Ogita, Rump
/// and Oishi, *Accurate sum and dot product*, SIAM J. Sci. Comput. 26 (2005), algorithm 5.3.
struct Difference {
    sum: f64,
    lost: f64,
}

impl Difference {
    fn new(start: f64) -> Self {
        Self { sum: start, lost: 0.0 }
    }

    #[inline(always)]
    fn subtract(&mut self, factor: f64, value: f64) {
        let product = -factor * value;
        let rounding = (-factor).mul_add(value, -product);
        let next = self.sum + product;
        let part = next - self.sum;
        self.lost += ((self.sum - (next - part)) + (product - part)) + rounding;
        self.sum = next;
    }

    fn rounded(self) -> f64 {
        self.sum + self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Boundary;

    fn problem(shape: Shape) -> Problem {
        Problem {
            shape,
            operator: Stencil::convection_diffusion(&shape, [3.0, -2.0, 1.0]).into(),
            rhs: Source::Random { seed: 5 },
            initial_guess: Source::Random { seed: 6 },
            boundary: Boundary { left: 1.0, bottom: -2.0, back: 0.5, ..Boundary::default() },
        }
    }

    /// 1D with a batch, 2D and 3D agree with the sum written out, and rows that are taken by
    /// themselves with those of the whole.
    #[test]
    fn the_residual_is_that_of_the_matrix_row() {
        let shapes = [Shape::grid_1d(9, 3), Shape::grid_2d(7, 5), Shape::grid_3d(4, 5, 3)];
        for shape in shapes.map(Result::unwrap) {
            let problem = problem(shape);
            let stencil = problem.operator.stencil().unwrap();
            let u = problem.initial_iterate::<f64>();
            let whole = residual_of_rows(&problem, 0, &u);
            let field = residual_field(&problem, &u);
            assert_eq!(residual_values(&problem, &u), field.to_interior());
            for (row, [found_squares, _]) in whole.iter().enumerate() {
                let start = shape.row_start(row) + 1;
                let near = [1, shape.stride(), shape.plane_stride()];
                let mut squares = 0.0;
                for i in 0..shape.nx() {
                    let at = start + i;
                    let mut r = problem.rhs.at(shape.nx(), i, row) - stencil.d * u.as_slice()[at];
                    let axes = stencil.neighbours().into_iter().take(shape.dim());
                    for (pair, by) in axes.zip(near) {
                        r -= pair[0] * u.as_slice()[at - by] + pair[1] * u.as_slice()[at + by];
                    }
                    let found = field.at(i, row);
                    assert!((found - r).abs() <= 1e-12 * stencil.d, "{shape}: {found} {r}");
                    squares += found * found;
                }
                assert!((found_squares - squares).abs() <= 1e-14 * squares);
            }
            if shape.dim() < 3 {
                let rows = 1..shape.rows() - 1;
                let part = u.part(&[0..shape.nx(), rows.clone(), 0..1]);
                assert_eq!(residual_of_rows(&problem, rows.start, &part), whole[rows]);
            }
        }
    }
}
