//! The spectral radius of Jacobi's iteration with coefficients per point.
//!
//! A matrix that couples neighbours of a grid and is similar to a symmetric one has the eigenvalues of
//! S = D^(−1/2) (D − A) D^(−1/2): real, and in pairs of opposite signs, since S takes every other point to those
//! between them.

use super::matrix::SpectralRadius;
use super::{Diffusion, Stencil};
use crate::grid::Shape;
use crate::pauses::{pause, without_pauses};

/// On larger grids it takes too long: on this one about 20 ms in 1D, and in 2D less than 0.3 s.
const MOST_POINTS: usize = 1 << 16;

/// The most steps of Lanczos' method, and the most points that all steps together update.
const MOST_STEPS: usize = 2048;
const MOST_UPDATES: usize = 1 << 25;

/// An estimate that is farther off than this share of its distance from 1 says little.
const LARGEST_ERROR: f64 = 0.05;

/// Halvings of an interval of length 1: to the last bit.
const HALVINGS: usize = 54;

impl SpectralRadius {
    /// That of the rows of a conductivity: in 1D by bisection, in 2D by Lanczos' method. `None` on a grid of more
    /// than 65,536 points, and where an estimate does not come to rest in time.
    pub fn of_diffusion(rows: &Diffusion, shape: &Shape) -> Option<Self> {
        without_pauses(Self::of_diffusion_with_pauses(rows, shape))
    }

    /// [`SpectralRadius::of_diffusion`] with pauses.
    pub(crate) async fn of_diffusion_with_pauses(rows: &Diffusion, shape: &Shape) -> Option<Self> {
        if shape.points() > MOST_POINTS {
            return None;
        }
        match shape.dim() {
            1 => {
                let mut value: f64 = 0.0;
                for system in 0..shape.rows() {
                    let row = |i| rows.row(i, system);
                    let squares = (1..shape.nx()).map(|i| coupling(&row(i - 1), &row(i)));
                    value = value.max(largest_eigenvalue(&squares.collect::<Vec<_>>()).await);
                }
                Some(Self { value, error: 0.0 })
            }
            2 => {
                let (squares, is_whole) = lanczos(rows, shape).await;
                let value = largest_eigenvalue(&squares).await;
                let error = match is_whole {
                    true => 0.0,
                    false => value - largest_eigenvalue(&squares[..squares.len() / 2]).await,
                };
                (error <= LARGEST_ERROR * (1.0 - value)).then_some(Self { value, error })
            }
            _ => None,
        }
    }

    /// The same after damping by ω, where eigenvalues are real and in pairs of opposite signs: 1 − ω ± ω ρ.
    #[must_use]
    pub fn damped(self, omega: f64) -> Self {
        let of = |value: f64| (1.0 - omega + omega * value).abs();
        Self { value: of(self.value).max(of(-self.value)), error: omega * self.error }
    }
}

/// The square of the entry of S between a point and the next one along x, from their rows.
fn coupling(point: &Stencil, next: &Stencil) -> f64 {
    (point.c / point.d) * (next.a / next.d)
}

/// The largest eigenvalue, of at most 1, of a symmetric tridiagonal matrix T with a zero diagonal and the squares of
/// the entries beside it. By bisection: x is above all eigenvalues where all pivots of x − T are positive (Golub and
/// Van Loan, *Matrix Computations*, section 8.4).
async fn largest_eigenvalue(squares: &[f64]) -> f64 {
    let is_above_all = |x: f64| {
        let mut pivot = x;
        squares.iter().all(|square| {
            pivot = x - square / pivot;
            pivot > 0.0
        })
    };
    let (mut low, mut high) = (0.0, 1.0);
    if squares.is_empty() {
        return low;
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if is_above_all(middle) {
            high = middle;
        } else {
            low = middle;
        }
        pause().await;
    }
    high
}

/// The squares of the entries of the tridiagonal matrix that Lanczos' method makes of S (Golub and Van Loan, section
/// 10.1). From a vector on the points of one colour of a checkerboard, every step goes to the other colour: the
/// diagonal is 0, and one array holds the last two vectors. Also returns whether these steps are all that there are.
async fn lanczos(rows: &Diffusion, shape: &Shape) -> (Vec<f64>, bool) {
    let (nx, ny) = (shape.nx(), shape.rows());
    let row = |i: usize, j: usize| rows.row(i, j);
    // Entries of S between each point and the next one along x and along y; none beyond the grid.
    let mut across = vec![0.0; nx * ny];
    let mut down = vec![0.0; nx * ny];
    for (j, i) in (0..ny).flat_map(|j| (0..nx).map(move |i| (j, i))) {
        let own = row(i, j);
        if i + 1 < nx {
            across[j * nx + i] = coupling(&own, &row(i + 1, j)).sqrt();
        }
        if j + 1 < ny {
            let next = row(i, j + 1);
            down[j * nx + i] = ((own.f / own.d) * (next.e / next.d)).sqrt();
        }
    }
    let mut vector = vec![0.0; nx * ny];
    for j in 0..ny {
        for i in (j % 2..nx).step_by(2) {
            vector[j * nx + i] = 1.0;
        }
    }
    scale(&mut vector, nx, 0, 1.0 / ((nx * ny).div_ceil(2) as f64).sqrt());
    let steps = MOST_STEPS.min(2 * MOST_UPDATES / (nx * ny)).min(nx * ny);
    let (mut squares, mut before) = (Vec::with_capacity(steps), 0.0);
    for step in 0..steps {
        let colour = (step + 1) % 2;
        let mut square = 0.0;
        for j in 0..ny {
            for i in ((j + colour) % 2..nx).step_by(2) {
                let at = j * nx + i;
                let mut sum = -before * vector[at];
                if i > 0 {
                    sum += across[at - 1] * vector[at - 1];
                }
                if i + 1 < nx {
                    sum += across[at] * vector[at + 1];
                }
                if j > 0 {
                    sum += down[at - nx] * vector[at - nx];
                }
                if j + 1 < ny {
                    sum += down[at] * vector[at + nx];
                }
                vector[at] = sum;
                square += sum * sum;
            }
        }
        // The vectors so far are all that S makes of the first.
        if square < f64::EPSILON.powi(2) {
            return (squares, true);
        }
        squares.push(square);
        before = square.sqrt();
        scale(&mut vector, nx, colour, 1.0 / before);
        pause().await;
    }
    (squares, steps == nx * ny)
}

/// Multiplies the points of one colour of a checkerboard.
fn scale(vector: &mut [f64], nx: usize, colour: usize, factor: f64) {
    for (j, row) in vector.chunks_exact_mut(nx).enumerate() {
        for value in row.iter_mut().skip((j + colour) % 2).step_by(2) {
            *value *= factor;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Boundary, Conductivity, Jump, Operator, Problem, Source};
    use std::f64::consts::PI;

    fn of(shape: &Shape, conductivity: Conductivity) -> Option<SpectralRadius> {
        SpectralRadius::of_diffusion(&Diffusion::new(shape, conductivity).unwrap(), shape)
    }

    fn constant(shape: &Shape) -> Conductivity {
        Conductivity::Array(vec![3.0; shape.points()].into())
    }

    #[test]
    fn a_constant_conductivity_has_the_radius_of_poisson() {
        let line = Shape::grid_1d(1024, 2).unwrap();
        let found = of(&line, constant(&line)).unwrap();
        assert!((found.value - (PI / 1025.0).cos()).abs() < 1e-14, "{found:?}");
        let plane = Shape::grid_2d(64, 40).unwrap();
        let found = of(&plane, constant(&plane)).unwrap();
        let exact = SpectralRadius::of_stencil(&Stencil::poisson(&plane), &plane, 1.0).value;
        assert!((found.value - exact).abs() < 1e-9, "{found:?}, {exact}");
        let few = Shape::grid_2d(2, 2).unwrap();
        assert!((of(&few, constant(&few)).unwrap().value - 0.5).abs() < 1e-14);
        let point = Shape::grid_2d(1, 1).unwrap();
        assert_eq!(of(&point, constant(&point)).unwrap().value, 0.0);
    }

    /// Against the power iteration on the matrix written out.
    #[test]
    fn jumps_have_the_radius_of_their_matrix() {
        for shape in [Shape::grid_1d(9, 1), Shape::grid_2d(7, 6), Shape::grid_2d(1, 8)] {
            let shape = shape.unwrap();
            let jump = Conductivity::Jump(Jump { ratio: 20.0, ..Jump::DEFAULT });
            let rows = Diffusion::new(&shape, jump.clone()).unwrap();
            let [rhs, initial_guess] = [0.0, 1.0].map(Source::Constant);
            let (operator, boundary) = (Operator::from(rows), Boundary::default());
            let problem = Problem { shape, operator, rhs, initial_guess, boundary };
            let matrix = problem.as_matrix().unwrap();
            let power = SpectralRadius::of_matrix(matrix.operator.matrix().unwrap());
            let found = of(&shape, jump).unwrap();
            let off = (found.value - power.value).abs();
            assert!(off <= 10.0 * power.error + 1e-9, "{shape}: {found:?}, {power:?}");
        }
    }

    #[test]
    fn it_is_not_known_on_a_large_grid() {
        let shape = Shape::grid_2d(257, 256).unwrap();
        assert_eq!(of(&shape, Conductivity::Jump(Jump::DEFAULT)), None);
    }

    #[test]
    fn damping_is_that_of_a_stencil() {
        let shape = Shape::grid_1d(9, 1).unwrap();
        for omega in [0.5, 1.0, 1.5] {
            let found = of(&shape, constant(&shape)).unwrap().damped(omega).value;
            let formula =
                SpectralRadius::of_stencil(&Stencil::poisson(&shape), &shape, omega).value;
            assert!((found - formula).abs() < 1e-14, "{omega}: {found}, {formula}");
        }
    }
}
