//! A problem by its description, and the arrays of numbers that a solver works on.

use super::input::MappedArray;
use super::{Diffusion, Operator, Stencil, Weights};
use crate::grid::{Field, Real, Region, Shape};
use crate::random::random;
use std::ops::Range;
use std::sync::Arc;

/// Dirichlet values on the sides of the grid: 1D has the first two, 2D the first four.
///
/// Rows go down the page, as in a matrix: `top` bounds row 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Boundary {
    /// Before the first point along x.
    pub left: f64,
    /// After the last point along x.
    pub right: f64,
    /// Before the first point along y.
    pub top: f64,
    /// After the last point along y.
    pub bottom: f64,
    /// Before the first point along z.
    #[serde(skip_serializing_if = "is_zero")]
    pub front: f64,
    /// After the last point along z.
    #[serde(skip_serializing_if = "is_zero")]
    pub back: f64,
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

impl Boundary {
    /// The names of the sides in files, in the order of [`Boundary::sides`].
    pub const NAMES: [[&str; 2]; 3] = [["left", "right"], ["top", "bottom"], ["front", "back"]];

    /// The values along each axis, x first: before its first and after its last point.
    pub fn sides(&self) -> [[f64; 2]; 3] {
        let Self { left, right, top, bottom, front, back } = *self;
        [[left, right], [top, bottom], [front, back]]
    }
}

/// A value for every interior point, computed on demand where it can be, so that describing such a problem takes no
/// memory of the grid's size. Points are (column `i`, row), with rows as [`Shape`] numbers them.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// The same value everywhere.
    Constant(f64),
    /// Given point by point, zero elsewhere: (column, row, value), where no row means every row.
    Points(Vec<(usize, Option<usize>, f64)>),
    /// One value in a box of columns and rows of a 1D or 2D grid, zero elsewhere.
    Box {
        /// Columns of the box.
        columns: std::ops::Range<usize>,
        /// Rows of the box.
        rows: std::ops::Range<usize>,
        /// The value inside.
        value: f64,
    },
    /// One value in a cuboid of a 3D grid, zero elsewhere.
    Cuboid {
        /// The points along x, y and z.
        axes: [std::ops::Range<usize>; 3],
        /// Rows of a plane of the grid.
        ny: usize,
        /// The value inside.
        value: f64,
    },
    /// Uniform in [−1, 1), the same for a seed on every machine and in any order of evaluation.
    Random {
        /// The seed.
        seed: u64,
    },
    /// All values, in C order (`[batch, nx]`, `[ny, nx]` or `[nz, ny, nx]`).
    Array(Arc<[f64]>),
    /// The same in a file.
    Mapped(Arc<MappedArray>),
}

impl Source {
    /// Adds up to one value at column `i` of interior row `row`, on a grid `nx` wide.
    pub fn at(&self, nx: usize, i: usize, row: usize) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Points(points) => {
                let here = |p: &&(usize, Option<usize>, f64)| p.0 == i && p.1.unwrap_or(row) == row;
                points.iter().filter(here).map(|p| p.2).sum()
            }
            Self::Box { columns, rows, value } => {
                if columns.contains(&i) && rows.contains(&row) {
                    *value
                } else {
                    0.0
                }
            }
            Self::Cuboid { axes: [x, y, z], ny, value } => {
                let is_inside =
                    x.contains(&i) && y.contains(&(row % ny)) && z.contains(&(row / ny));
                if is_inside { *value } else { 0.0 }
            }
            Self::Random { seed } => random(*seed, (row * nx + i) as u64),
            Self::Array(values) => values[row * nx + i],
            Self::Mapped(values) => values.at(row * nx + i),
        }
    }

    /// Whether the values were read from a file, or are there.
    pub fn is_listed(&self) -> bool {
        matches!(self, Self::Array(_) | Self::Mapped(_))
    }
}

/// A linear system A u = b and its initial guess, as a description: shape, matrix, and where
/// the values come from.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// The interior points.
    pub shape: Shape,
    /// The matrix A.
    pub operator: Operator,
    /// The right-hand side b, without what the boundary adds to it.
    pub rhs: Source,
    /// The initial guess u₀.
    pub initial_guess: Source,
    /// The Dirichlet values on the sides.
    pub boundary: Boundary,
}

/// The numbers that every solver of one grid problem shares: weights, and `g = b / d` in an array.
#[derive(Debug)]
pub struct System<R> {
    /// The weights of the update; their form fixes the order of operations.
    pub weights: Weights<R>,
    /// The diagonal d: a residual is d times a Jacobi update. 1 where rows differ: [`RowArrays`] have their
    /// diagonals.
    pub diagonal: f64,
    /// Whether the one weight is a power of two, and every g is 0 or so far from 0 that what underflows in a product
    /// with it does not count beside g: multiplied and then added, it rounds as in a fused multiply-add.
    pub has_exact_products: bool,
    /// The right-hand side over the diagonal; its boundary is zero and never read.
    pub g: Field<R>,
    /// The rows of the points, where they differ.
    pub rows: Option<RowArrays<R>>,
}

/// What rows of their own keep for every point: the weights of the neighbours, previous and next along each axis,
/// x first, and last the diagonal, each in an array that is laid out as a [`Field`].
#[derive(Debug)]
pub struct RowArrays<R> {
    /// The arrays, one after the other.
    pub values: Vec<R>,
    /// From an array to the next.
    pub distance: usize,
}

impl<R: Real> RowArrays<R> {
    fn new(shape: &Shape, rows: &Diffusion) -> Self {
        let (distance, dim) = (shape.stored(), shape.dim());
        let mut values = vec![R::default(); (2 * dim + 1) * distance];
        for row in 0..shape.rows() {
            let start = shape.row_start(row) + 1;
            for i in 0..shape.nx() {
                let stencil = rows.row(i, row);
                let entries = stencil.neighbours().into_iter().flatten().take(2 * dim);
                let weights = entries.map(|entry| -entry / stencil.d);
                for (array, value) in weights.chain([stencil.d]).enumerate() {
                    values[array * distance + start + i] = R::from_f64(value);
                }
            }
        }
        Self { values, distance }
    }

    /// Those of some planes.
    fn planes(&self, shape: &Shape, planes: Range<usize>) -> Self {
        let stored = shape.stored_planes(planes);
        let parts = self.values.chunks(self.distance).flat_map(|array| &array[stored.clone()]);
        Self { values: parts.copied().collect(), distance: stored.len() }
    }

    /// The diagonals, laid out as a [`Field`].
    pub fn diagonal(&self) -> &[R] {
        &self.values[self.values.len() - self.distance..]
    }
}

impl<R: Real> System<R> {
    /// Divides every row of a stencil, that of the problem, by its diagonal, once.
    pub fn new(problem: &Problem, stencil: &Stencil) -> Self {
        let mut g = Field::filled(problem.shape, R::default());
        Self::fill(&mut g, problem, stencil);
        Self::with(g, stencil)
    }

    /// Fills the interior of an array with g.
    pub(crate) fn fill(g: &mut Field<R>, problem: &Problem, stencil: &Stencil) {
        let (nx, d) = (problem.shape.nx(), stencil.d);
        g.fill_interior(|i, row| R::from_f64(problem.rhs.at(nx, i, row) / d));
    }

    /// The same with a g that was [filled](System::fill).
    pub(crate) fn with(g: Field<R>, stencil: &Stencil) -> Self {
        let weights = stencil.weights(g.shape().dim());
        let has_exact_products = has_exact_products(&weights, &g);
        Self { weights, diagonal: stencil.d, has_exact_products, g, rows: None }
    }

    /// Divides every row of a matrix whose rows differ, that of the problem, by its diagonal, once.
    pub fn per_point(problem: &Problem, rows: &Diffusion) -> Self {
        let Problem { shape, rhs, .. } = problem;
        let g = |i, row| R::from_f64(rhs.at(shape.nx(), i, row) / rows.row(i, row).d);
        Self {
            weights: Weights::PerPoint,
            diagonal: 1.0,
            has_exact_products: false,
            g: Field::from_fn(*shape, g),
            rows: Some(RowArrays::new(shape, rows)),
        }
    }

    /// The numbers of some planes, as a system of their own: the planes on either side are its boundary.
    pub(crate) fn planes(&self, planes: Range<usize>) -> Self {
        let of_rows = |rows: &RowArrays<R>| rows.planes(self.shape(), planes.clone());
        Self {
            weights: self.weights,
            diagonal: self.diagonal,
            has_exact_products: self.has_exact_products,
            g: self.g.planes(planes.clone()),
            rows: self.rows.as_ref().map(of_rows),
        }
    }

    /// The shape of the problem.
    pub fn shape(&self) -> &Shape {
        self.g.shape()
    }
}

/// Bits of an f64 before its digits: the sign and the exponent.
const EXPONENT_BITS: u32 = 12;

/// See [`System::has_exact_products`].
fn has_exact_products<R: Real>(weights: &Weights<R>, g: &Field<R>) -> bool {
    let Weights::Isotropic(weight) = weights else { return false };
    let size = weight.to_f64().abs();
    // The size of a power of two has no digits behind its first one; a larger one than 1 might overflow.
    let is_power = size.is_normal() && size.to_bits() << EXPONENT_BITS == 0 && size <= 1.0;
    let counts = |g: &R| {
        let size = g.to_f64().abs();
        size == 0.0 || size >= R::FAR_FROM_ZERO
    };
    is_power && g.as_slice().iter().all(counts)
}

impl Problem {
    /// The same matrix rows on a part of the grid. Its initial guess and its boundary are zero:
    /// a solver is given an iterate whose boundary holds the frozen values around the part.
    pub(crate) fn part(&self, part: &Region) -> Self {
        let Self { shape, operator, rhs, .. } = self;
        let [columns, rows, planes] = part.clone();
        let of_plane = |plane| rows.clone().map(move |row| row + plane * shape.ny());
        let row = |row| columns.clone().map(move |i| rhs.at(shape.nx(), i, row));
        Self {
            shape: shape.part(part),
            operator: match operator {
                Operator::PerPoint(matrix) => matrix.part(columns.start, rows.start).into(),
                other => other.clone(),
            },
            rhs: Source::Array(planes.flat_map(of_plane).flat_map(row).collect()),
            initial_guess: Source::Constant(0.0),
            boundary: Boundary::default(),
        }
    }

    /// The initial guess u₀ inside the Dirichlet values of the boundary. Edges and corners of the
    /// boundary belong to no stencil and hold zero.
    pub fn initial_iterate<R: Real>(&self) -> Field<R> {
        let mut field = Field::filled(self.shape, R::default());
        self.fill_initial(&mut field);
        field
    }

    /// The same in an array of zeros.
    pub(crate) fn fill_initial<R: Real>(&self, field: &mut Field<R>) {
        let shape = self.shape;
        field.fill_interior(|i, row| R::from_f64(self.initial_guess.at(shape.nx(), i, row)));
        let sides = self.boundary.sides().map(|side| side.map(R::from_f64));
        let (nx, stride, plane) = (shape.nx(), shape.stride(), shape.plane_stride());
        let [first_row, last_row] = [0, shape.rows() - 1].map(|row| shape.row_start(row) + 1);
        let values = field.as_mut_slice();
        for row in 0..shape.rows() {
            let start = shape.row_start(row);
            [values[start], values[start + nx + 1]] = sides[0];
        }
        if shape.dim() > 1 {
            for k in 0..shape.nz() {
                let first = first_row + k * plane;
                let last = first + (shape.ny() - 1) * stride;
                values[first - stride..][..nx].fill(sides[1][0]);
                values[last + stride..][..nx].fill(sides[1][1]);
            }
        }
        if shape.dim() > 2 {
            for j in 0..shape.ny() {
                values[first_row + j * stride - plane..][..nx].fill(sides[2][0]);
                values[last_row - j * stride + plane..][..nx].fill(sides[2][1]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Stencil;

    fn has_exact_products<R: Real>(shape: Shape, rhs: f64) -> bool {
        let [rhs, initial_guess] = [rhs, 0.0].map(Source::Constant);
        let (stencil, boundary) = (Stencil::poisson(&shape), Boundary::default());
        let operator = Operator::from(stencil);
        let problem = Problem { shape, operator, rhs, initial_guess, boundary };
        System::<R>::new(&problem, &stencil).has_exact_products
    }

    #[test]
    fn a_weight_of_a_quarter_has_exact_products_and_a_sixth_has_not() {
        let [square, oblong] = [8, 9].map(|ny| Shape::grid_2d(8, ny).unwrap());
        let cube = Shape::grid_3d(4, 4, 4).unwrap();
        assert!(has_exact_products::<f64>(square, 1.0) && has_exact_products::<f32>(square, 0.0));
        assert!(!has_exact_products::<f64>(oblong, 1.0), "its weights differ");
        assert!(!has_exact_products::<f64>(cube, 1.0));
        assert!(!has_exact_products::<f64>(square, 1e-300), "so near to 0 digits are lost");
        assert!(
            !has_exact_products::<f32>(square, 1e-30) && has_exact_products::<f64>(square, 1e-30)
        );
    }
}
