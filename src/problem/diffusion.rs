//! −div(k grad u): a matrix with coefficients of its own in every row.

use super::Stencil;
use crate::grid::Shape;
use std::sync::Arc;

/// The conductivity k at the points of a grid.
#[derive(Clone, Debug, PartialEq)]
pub enum Conductivity {
    /// Two materials on either side of a line.
    Jump(Jump),
    /// A value for every point, in C order (`[batch, nx]` or `[ny, nx]`).
    Array(Arc<[f64]>),
}

/// Two materials: the conductivity is 1 on one side of a line, the interface, and `ratio` on the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jump {
    /// The conductivity where x is larger, on an interface that goes down the page; in general to the left
    /// of its direction, as one walks on the page.
    pub ratio: f64,
    /// Two points of the interface, (x, y) in the unit square, y down the page. A 1D grid lies along
    /// y = 1/2.
    pub interface: [[f64; 2]; 2],
}

impl Jump {
    /// 1 : 1000 across a line that is not parallel to an axis.
    pub const DEFAULT: Self = Self { ratio: 1000.0, interface: [[0.35, 0.0], [0.65, 1.0]] };

    /// The conductivity at a point of the unit square.
    fn at(&self, [x, y]: [f64; 2]) -> f64 {
        let [[x0, y0], [x1, y1]] = self.interface;
        let side = (x1 - x0) * (y - y0) - (y1 - y0) * (x - x0);
        if side < 0.0 { self.ratio } else { 1.0 }
    }
}

/// The matrix of −div(k grad u) on a 1D or 2D grid of the unit interval or square, spacing h = 1/(n+1):
/// in 1D `(−(k u′)′)_i = (k_{i−½} (u_i − u_{i−1}) + k_{i+½} (u_i − u_{i+1})) / h²`.
///
/// Between two points the conductivity is the harmonic mean of theirs, which is that of the two halves in
/// series; between a point and the boundary it is that of the point. Rows are those of Islam & Wang, long
/// version, Eq. 4, with a, d and c of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct Diffusion {
    conductivity: Conductivity,
    /// The whole grid, whose points the conductivity belongs to.
    shape: Shape,
    /// Column and row of the whole grid that the first point of this one lies at.
    first: [usize; 2],
}

impl Diffusion {
    /// The conductivities that coefficients are made of without leaving the range of `f32`.
    pub const RANGE: std::ops::RangeInclusive<f64> = 1e-12..=1e12;

    /// The matrix on a grid; `None` on a 3D grid, and where an array has not as many values as points.
    pub fn new(shape: &Shape, conductivity: Conductivity) -> Option<Self> {
        let fits = match &conductivity {
            Conductivity::Jump(_) => true,
            Conductivity::Array(values) => values.len() == shape.points(),
        };
        (fits && shape.dim() < 3).then_some(Self { conductivity, shape: *shape, first: [0, 0] })
    }

    /// The conductivity at column `i` of row `row`.
    pub fn conductivity(&self, i: usize, row: usize) -> f64 {
        let ([left, top], shape) = (self.first, &self.shape);
        self.of_whole(shape, left + i, top + row)
    }

    fn of_whole(&self, shape: &Shape, i: usize, row: usize) -> f64 {
        match &self.conductivity {
            Conductivity::Array(values) => values[row * shape.nx() + i],
            Conductivity::Jump(jump) => {
                let place = |at: usize, n: usize| (at + 1) as f64 / (n + 1) as f64;
                let y = if shape.dim() == 1 { 0.5 } else { place(row, shape.ny()) };
                jump.at([place(i, shape.nx()), y])
            }
        }
    }

    /// The matrix row of the point at column `i` of row `row`.
    pub fn row(&self, i: usize, row: usize) -> Stencil {
        let shape = &self.shape;
        let (i, row) = (self.first[0] + i, self.first[1] + row);
        let own = self.of_whole(shape, i, row);
        let entry = |n: usize, beside: Option<[usize; 2]>| {
            let between =
                beside.map_or(own, |[i, row]| harmonic(own, self.of_whole(shape, i, row)));
            -((n + 1) as f64).powi(2) * between
        };
        let (nx, rows) = (shape.nx(), shape.rows());
        let a = entry(nx, i.checked_sub(1).map(|i| [i, row]));
        let c = entry(nx, (i + 1 < nx).then_some([i + 1, row]));
        if shape.dim() == 1 {
            return Stencil { d: -(a + c), a, c, ..Stencil::default() };
        }
        let e = entry(rows, row.checked_sub(1).map(|row| [i, row]));
        let f = entry(rows, (row + 1 < rows).then_some([i, row + 1]));
        Stencil { d: -((a + c) + (e + f)), a, c, e, f, ..Stencil::default() }
    }

    /// The same matrix on a part of its grid that begins at this column and row.
    pub(super) fn part(&self, column: usize, row: usize) -> Self {
        let [left, top] = self.first;
        Self { first: [left + column, top + row], ..self.clone() }
    }
}

/// The harmonic mean. Exact where both are equal, so that a constant conductivity makes constant rows.
fn harmonic(one: f64, other: f64) -> f64 {
    if one == other { one } else { 2.0 * (one * other) / (one + other) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_conductivity_is_poisson() {
        for shape in [Shape::grid_1d(7, 2), Shape::grid_2d(5, 6)].map(Result::unwrap) {
            let ones = Conductivity::Array(vec![1.0; shape.points()].into());
            let matrix = Diffusion::new(&shape, ones).unwrap();
            for (i, row) in [(0, 0), (3, 1), (shape.nx() - 1, shape.rows() - 1)] {
                assert_eq!(matrix.row(i, row), Stencil::poisson(&shape));
            }
        }
        let cube = Shape::grid_3d(3, 3, 3).unwrap();
        assert_eq!(Diffusion::new(&cube, Conductivity::Jump(Jump::DEFAULT)), None);
    }

    /// By hand: three points, h = 1/4, k = 1, 3, 3. Between the first two 2 · 3 / 4 = 1.5.
    #[test]
    fn neighbours_are_coupled_by_harmonic_means() {
        let shape = Shape::grid_1d(3, 1).unwrap();
        let matrix = Diffusion::new(&shape, Conductivity::Array([1.0, 3.0, 3.0].into())).unwrap();
        let entries = |i| {
            let Stencil { a, d, c, .. } = matrix.row(i, 0);
            [a, d, c].map(|entry| entry / 16.0)
        };
        assert_eq!(entries(0), [-1.0, 2.5, -1.5]);
        assert_eq!(entries(1), [-1.5, 4.5, -3.0]);
        assert_eq!(entries(2), [-3.0, 6.0, -3.0]);
        assert_eq!(matrix.part(1, 0).row(0, 0), matrix.row(1, 0));
    }

    #[test]
    fn the_interface_is_where_the_line_crosses_the_grid() {
        let jump = Jump { ratio: 5.0, interface: [[0.5, 0.0], [0.5, 1.0]] };
        let line = Shape::grid_1d(8, 1).unwrap();
        let matrix = Diffusion::new(&line, Conductivity::Jump(jump)).unwrap();
        let conductivities: Vec<_> = (0..8).map(|i| matrix.conductivity(i, 0)).collect();
        assert_eq!(conductivities, [1.0, 1.0, 1.0, 1.0, 5.0, 5.0, 5.0, 5.0]);
        let slanted = Jump { ratio: 9.0, interface: [[0.0, 0.0], [1.0, 1.0]] };
        let plane = Shape::grid_2d(4, 4).unwrap();
        let matrix = Diffusion::new(&plane, Conductivity::Jump(slanted)).unwrap();
        for (i, row) in (0..4).flat_map(|i| (0..4).map(move |row| (i, row))) {
            assert_eq!(matrix.conductivity(i, row), if i > row { 9.0 } else { 1.0 }, "{i} {row}");
        }
    }
}
