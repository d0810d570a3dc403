//! A symmetric matrix scaled to a diagonal of ones, D^−½ A D^−½, in which most of a jump of the coefficients is
//! gone. I minus it is similar to the matrix of Jacobi's iteration, I − D⁻¹A: both have the same eigenvalues.

use super::matrix::is_symmetric;
use super::{Csr, Diffusion, Operator, Problem};
use crate::grid::Shape;
use rayon::prelude::*;
use std::sync::Arc;

/// Rows of a sparse matrix that are multiplied together.
const ROWS_TOGETHER: usize = 4096;

/// Why a matrix has no such form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScalingError {
    /// An entry and its mirror image differ.
    #[error("the matrix is not symmetric")]
    NotSymmetric,
    /// Some entries of the diagonal are positive, and others are negative.
    #[error("the diagonal of the matrix changes its sign")]
    MixedSigns,
}

/// The scaled matrix. It works on values in C order.
pub(crate) struct ScaledMatrix {
    shape: Shape,
    entries: Entries,
    scale: Scale,
    /// Of the diagonal: a negative one is scaled as that of −A.
    sign: f64,
}

/// The entries off the diagonal.
enum Entries {
    /// The same at every point: those of the two neighbours along each axis.
    Constant([f64; 3]),
    /// Of each point that of the right neighbour, 0 at the end of a row, and that of the neighbour in the next
    /// row, 0 in the last.
    PerPoint { right: Vec<f64>, below: Vec<f64> },
    /// Scaled on the way.
    Sparse(Arc<Csr>),
}

/// 1 / √|d|.
enum Scale {
    Constant(f64),
    PerPoint(Vec<f64>),
}

impl Scale {
    fn at(&self, point: usize) -> f64 {
        match self {
            Self::Constant(scale) => *scale,
            Self::PerPoint(scales) => scales[point],
        }
    }
}

impl ScaledMatrix {
    /// Arrays of the grid that one with coefficients per point holds: the most of all.
    pub const ARRAYS: usize = 3;

    /// The matrix of a problem.
    ///
    /// # Errors
    /// [`ScalingError`] if it is not symmetric, or its diagonal changes its sign.
    pub fn new(problem: &Problem) -> Result<Self, ScalingError> {
        let shape = problem.shape;
        match &problem.operator {
            Operator::Stencil(stencil) => {
                let neighbours = stencil.neighbours();
                if neighbours[..shape.dim()].iter().any(|[previous, next]| previous != next) {
                    return Err(ScalingError::NotSymmetric);
                }
                let entries = Entries::Constant(neighbours.map(|[entry, _]| entry / stencil.d));
                let scale = Scale::Constant(stencil.d.abs().sqrt().recip());
                Ok(Self { shape, entries, scale, sign: stencil.d.signum() })
            }
            Operator::PerPoint(rows) => Ok(Self::per_point(&shape, rows)),
            Operator::Csr(matrix) => Self::sparse(shape, matrix),
        }
    }

    /// That of coefficients per point, whose diagonal is positive.
    pub fn per_point(shape: &Shape, rows: &Diffusion) -> Self {
        let (nx, points) = (shape.nx(), shape.points());
        let at = |point: usize| rows.row(point % nx, point / nx);
        let array = |value: &(dyn Fn(usize) -> f64 + Sync)| -> Vec<f64> {
            (0..points).into_par_iter().map(value).collect()
        };
        let scale = array(&|point| at(point).d.sqrt().recip());
        let right = array(&|point| match (point + 1) % nx {
            0 => 0.0,
            _ => at(point).c * scale[point] * scale[point + 1],
        });
        let below = match shape.dim() {
            // The rows of a 1D grid are systems by themselves.
            1 => Vec::new(),
            _ => array(&|point| match scale.get(point + nx) {
                Some(next) => at(point).f * scale[point] * next,
                None => 0.0,
            }),
        };
        let entries = Entries::PerPoint { right, below };
        Self { shape: *shape, entries, scale: Scale::PerPoint(scale), sign: 1.0 }
    }

    fn sparse(shape: Shape, matrix: &Arc<Csr>) -> Result<Self, ScalingError> {
        let diagonal = || (0..matrix.rows()).map(|row| matrix.diagonal(row));
        let sign = diagonal().next().map_or(1.0, f64::signum);
        if diagonal().any(|d| d.signum() != sign) {
            return Err(ScalingError::MixedSigns);
        }
        if !is_symmetric(matrix) {
            return Err(ScalingError::NotSymmetric);
        }
        let scale = Scale::PerPoint(diagonal().map(|d| d.abs().sqrt().recip()).collect());
        Ok(Self { shape, entries: Entries::Sparse(Arc::clone(matrix)), scale, sign })
    }

    /// Points that are multiplied together: those of a row of the grid.
    pub fn width(&self) -> usize {
        match self.entries {
            Entries::Sparse(_) => ROWS_TOGETHER,
            Entries::Constant(_) | Entries::PerPoint { .. } => self.shape.nx(),
        }
    }

    /// Turns b of A u = b, or a residual of it, into that of the scaled system.
    pub fn scale_residual(&self, values: &mut [f64]) {
        values
            .par_iter_mut()
            .enumerate()
            .for_each(|(point, value)| *value *= self.sign * self.scale.at(point));
    }

    /// Turns a solution of the scaled system into that of A u = b.
    pub fn scale_solution(&self, values: &mut [f64]) {
        values.par_iter_mut().enumerate().for_each(|(point, value)| *value *= self.scale.at(point));
    }

    /// ‖r‖₂ and ‖r‖∞ of the residual of A u = b that became this one of the scaled system. They do not depend on
    /// the number of threads.
    pub fn residual_norms(&self, scaled: &[f64]) -> [f64; 2] {
        let width = self.width();
        let parts = scaled.par_chunks(width).enumerate().map(|(part, values)| {
            let first = part * width;
            let unscaled =
                values.iter().enumerate().map(|(i, value)| value / self.scale.at(first + i));
            unscaled.fold([0.0, 0.0], |[squares, most]: [f64; 2], value| {
                [value.mul_add(value, squares), most.max(value.abs())]
            })
        });
        let parts = parts.collect::<Vec<_>>();
        let [squares, most] = parts
            .into_iter()
            .fold([0.0, 0.0], |[squares, most], part| [squares + part[0], f64::max(most, part[1])]);
        [squares.sqrt(), most]
    }

    /// A part of the product with `from`: of the points from a multiple of [`ScaledMatrix::width`] on, as many as
    /// `to` holds.
    pub fn multiply_part(&self, from: &[f64], first: usize, to: &mut [f64]) {
        match &self.entries {
            Entries::Constant(entries) => self.multiply_constant(entries, from, first, to),
            Entries::PerPoint { right, below } => {
                multiply_per_point(right, below, self.shape.nx(), from, first, to);
            }
            Entries::Sparse(matrix) => {
                for (row, to) in (first..).zip(to) {
                    let entries = matrix.off_diagonal(row);
                    let sum: f64 = entries
                        .map(|(column, entry)| {
                            let column = column as usize;
                            entry * self.scale.at(column) * from[column]
                        })
                        .sum();
                    *to = from[row] + self.sign * self.scale.at(row) * sum;
                }
            }
        }
    }

    /// The whole product.
    pub fn multiply(&self, from: &[f64], to: &mut [f64]) {
        let width = self.width();
        to.par_chunks_mut(width)
            .enumerate()
            .for_each(|(part, to)| self.multiply_part(from, part * width, to));
    }

    fn multiply_constant(&self, &[x, y, z]: &[f64; 3], from: &[f64], first: usize, to: &mut [f64]) {
        let shape = &self.shape;
        let nx = shape.nx();
        to.copy_from_slice(&from[first..][..nx]);
        add_neighbours_in_row(x, &from[first..][..nx], to);
        let row = first / nx;
        if shape.dim() > 1 {
            add_neighbouring_rows(y, from, first, (row % shape.ny(), shape.ny(), nx), to);
        }
        if shape.dim() > 2 {
            let plane = nx * shape.ny();
            add_neighbouring_rows(z, from, first, (row / shape.ny(), shape.nz(), plane), to);
        }
    }
}

/// to += weight · (left + right neighbours).
fn add_neighbours_in_row(weight: f64, row: &[f64], to: &mut [f64]) {
    let last = row.len() - 1;
    for (to, left) in to[1..].iter_mut().zip(row) {
        *to += weight * left;
    }
    for (to, right) in to[..last].iter_mut().zip(&row[1..]) {
        *to += weight * right;
    }
}

/// to += weight · (rows before and after), of a row that is the `index`th of `count` along an axis, a `step` apart.
fn add_neighbouring_rows(
    weight: f64,
    from: &[f64],
    first: usize,
    (index, count, step): (usize, usize, usize),
    to: &mut [f64],
) {
    let before = (index > 0).then(|| first - step);
    let after = (index + 1 < count).then_some(first + step);
    for start in [before, after].into_iter().flatten() {
        for (to, value) in to.iter_mut().zip(&from[start..]) {
            *to += weight * value;
        }
    }
}

fn multiply_per_point(
    right: &[f64],
    below: &[f64],
    nx: usize,
    from: &[f64],
    first: usize,
    to: &mut [f64],
) {
    for (i, to) in to.iter_mut().enumerate() {
        let point = first + i;
        let mut sum = from[point];
        if i > 0 {
            sum += right[point - 1] * from[point - 1];
        }
        if i + 1 < nx {
            sum += right[point] * from[point + 1];
        }
        // A 1D grid has no entries of other rows.
        if let Some(above) = point.checked_sub(nx).filter(|_| !below.is_empty()) {
            sum += below[above] * from[above];
        }
        if let (Some(next), Some(entry)) = (from.get(point + nx), below.get(point)) {
            sum += entry * next;
        }
        *to = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Field;
    use crate::problem::{Boundary, Conductivity, Source, Stencil};
    use crate::random::random;

    fn problem(shape: Shape, operator: impl Into<Operator>) -> Problem {
        let [rhs, initial_guess] = [5, 6].map(|seed| Source::Random { seed });
        let (operator, boundary) = (operator.into(), Boundary::default());
        Problem { shape, operator, rhs, initial_guess, boundary }
    }

    /// D^½ S D^½ x = A x, where A x is −r with b = 0.
    fn check(problem: &Problem) {
        let problem = &Problem { rhs: Source::Constant(0.0), ..problem.clone() };
        let matrix = ScaledMatrix::new(problem).unwrap();
        let x: Vec<_> = (0..problem.shape.points() as u64).map(|point| random(3, point)).collect();
        let source = Source::Array(x.clone().into());
        let u = Problem { initial_guess: source, ..problem.clone() }.initial_iterate::<f64>();
        let mut expected = crate::problem::residual_field(problem, &u).to_interior();
        let unscaled: Vec<_> = x.iter().enumerate().map(|(i, x)| -x / matrix.scale.at(i)).collect();
        let mut product = vec![0.0; x.len()];
        matrix.multiply(&unscaled, &mut product);
        let [l2, max] = matrix.residual_norms(&product);
        let squares: f64 = expected.iter().map(|value| value * value).sum();
        let most = expected.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
        assert!((l2 - squares.sqrt()).abs() <= 1e-13 * l2, "{l2} {}", squares.sqrt());
        assert!((max - most).abs() <= 1e-13 * max, "{max} {most}");
        matrix.scale_residual(&mut expected);
        for (found, expected) in product.iter().zip(&expected) {
            assert!((found - expected).abs() <= 1e-13 * max, "{found} {expected}");
        }
    }

    #[test]
    fn a_scaled_matrix_is_that_of_the_rows() {
        let shapes = [Shape::grid_1d(9, 3), Shape::grid_2d(7, 5), Shape::grid_3d(4, 5, 3)];
        for shape in shapes.map(Result::unwrap) {
            let grid = problem(shape, Stencil::poisson(&shape));
            check(&grid);
            let poisson = Stencil::poisson(&shape);
            let negative = Stencil {
                d: -poisson.d,
                a: -poisson.a,
                c: -poisson.c,
                e: -poisson.e,
                f: -poisson.f,
                p: -poisson.p,
                q: -poisson.q,
            };
            check(&problem(shape, negative));
            check(&grid.as_matrix().unwrap());
            if shape.dim() < 3 {
                check(&problem(shape, jump(&shape)));
            }
        }
    }

    fn jump(shape: &Shape) -> Diffusion {
        let values = Field::from_fn(*shape, |i, row| if (i + row) % 3 == 0 { 1.0 } else { 50.0 });
        Diffusion::new(shape, Conductivity::Array(values.to_interior().into())).unwrap()
    }

    #[test]
    fn other_matrices_are_refused() {
        let shape = Shape::grid_2d(4, 3).unwrap();
        let wind = Stencil::convection_diffusion(&shape, [3.0, 0.0, 0.0]);
        let refused = |problem: &Problem| ScaledMatrix::new(problem).err();
        let skew = problem(shape, wind);
        assert_eq!(refused(&skew), Some(ScalingError::NotSymmetric));
        assert_eq!(refused(&skew.as_matrix().unwrap()), Some(ScalingError::NotSymmetric));
        let mixed = Csr::from_entries(2, &[(0, 0, 1.0), (1, 1, -1.0)]).unwrap();
        let line = Shape::grid_1d(2, 1).unwrap();
        let mixed = problem(line, Operator::Csr(Arc::new(mixed)));
        assert_eq!(refused(&mixed), Some(ScalingError::MixedSigns));
    }
}
