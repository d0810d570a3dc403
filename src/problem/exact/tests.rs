use super::{ExactError, exact, largest, residual_with_pauses, row_sum};
use crate::grid::{Field, Shape};
use crate::pauses::without_pauses;
use crate::problem::matrix::Generated;
use crate::problem::{
    Boundary, Conductivity, Csr, Diffusion, Jump, Operator, Problem, ScalingError, Source, Stencil,
    System, Weights,
};
use crate::stop_token::StopToken;
use proptest::prelude::*;
use std::f64::consts::PI;
use std::sync::LazyLock;
use std::time::Duration;

static GOES_ON: LazyLock<StopToken> = LazyLock::new(StopToken::default);

fn problem(shape: Shape, stencil: Stencil) -> Problem {
    Problem {
        shape,
        operator: stencil.into(),
        rhs: Source::Random { seed: 7 },
        initial_guess: Source::Constant(1.0),
        boundary: Boundary { left: 0.5, right: -2.0, top: 1.5, bottom: 3.0, ..Boundary::default() },
    }
}

fn solved(problem: &Problem) -> Field<f64> {
    exact(problem, &GOES_ON).unwrap_or_else(|error| panic!("{error}: {problem:?}"))
}

fn plane(nx: usize, ny: usize) -> Shape {
    Shape::grid_2d(nx, ny).unwrap()
}

/// A u = b written out in full and eliminated with row exchanges, on one copy.
fn dense(problem: &Problem) -> Vec<f64> {
    let Problem { shape, operator, rhs, boundary, .. } = problem;
    let [nx, ny, nz] = [shape.nx(), shape.ny(), shape.nz()];
    let stencil_at = |i, row| match operator {
        Operator::Stencil(stencil) => *stencil,
        Operator::PerPoint(rows) => rows.row(i, row),
        Operator::Csr(_) => panic!("a matrix has no grid"),
    };
    let n = nx * ny * nz;
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|k| {
            let [i, j, l] = [k % nx, k / nx % ny, k / (nx * ny)];
            let mut row = vec![0.0; n + 1];
            let stencil = stencil_at(i, k / nx);
            row[k] = stencil.d;
            row[n] = rhs.at(nx, i, k / nx);
            let mut couple = |entry: f64, inside: Option<usize>, outside: f64| match inside {
                Some(other) => row[other] = entry,
                None => row[n] -= entry * outside,
            };
            couple(stencil.a, (i > 0).then(|| k - 1), boundary.left);
            couple(stencil.c, (i + 1 < nx).then(|| k + 1), boundary.right);
            if shape.dim() > 1 {
                couple(stencil.e, (j > 0).then(|| k - nx), boundary.top);
                couple(stencil.f, (j + 1 < ny).then(|| k + nx), boundary.bottom);
            }
            if shape.dim() > 2 {
                couple(stencil.p, (l > 0).then(|| k - nx * ny), boundary.front);
                couple(stencil.q, (l + 1 < nz).then(|| k + nx * ny), boundary.back);
            }
            row
        })
        .collect();
    for k in 0..n {
        let best = (k..n).max_by(|&p, &q| rows[p][k].abs().total_cmp(&rows[q][k].abs()));
        rows.swap(k, best.unwrap());
        let (above, below) = rows.split_at_mut(k + 1);
        for row in below {
            let factor = row[k] / above[k][k];
            for (value, pivot) in row[k..].iter_mut().zip(&above[k][k..]) {
                *value -= factor * pivot;
            }
        }
    }
    let mut u = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|other| rows[k][other] * u[other]).sum();
        u[k] = (rows[k][n] - known) / rows[k][k];
    }
    u
}

fn assert_near(actual: &[f64], expected: &[f64], tolerance: f64) {
    let size = largest(expected).max(1e-300);
    for (k, (actual, expected)) in actual.iter().zip(expected).enumerate() {
        let error = (actual - expected).abs() / size;
        assert!(error <= tolerance, "value {k}: {actual} instead of {expected}, off by {error:e}");
    }
}

fn shapes() -> impl Strategy<Value = Shape> {
    (1..=12usize, 1..=12usize, any::<bool>()).prop_map(|(nx, ny, line)| {
        if line { Shape::grid_1d(nx, 1).unwrap() } else { plane(nx, ny) }
    })
}

/// Dominant by a margin, symmetric along an axis every now and then.
fn stencils(dim: usize) -> impl Strategy<Value = Stencil> {
    let entry = || prop_oneof![1 => Just(0.0), 8 => -1.0..1.0f64];
    let entries = [entry(), entry(), entry(), entry()];
    (entries, 1e-3..1.0f64, any::<[bool; 3]>()).prop_map(
        move |([a, mut c, mut e, mut f], margin, [x, y, negative])| {
            if x {
                c = a;
            }
            if y {
                f = e;
            }
            if dim == 1 {
                (e, f) = (0.0, 0.0);
            }
            let d = a.abs() + c.abs() + e.abs() + f.abs() + margin;
            Stencil { d: if negative { -d } else { d }, a, c, e, f, ..Stencil::default() }
        },
    )
}

proptest! {
    #[test]
    fn agrees_with_dense_elimination(
        (shape, stencil) in shapes().prop_flat_map(|s| (Just(s), stencils(s.dim()))),
        boundary in prop::array::uniform4(-3.0..3.0f64),
        seed in any::<u64>(),
    ) {
        let [left, right, top, bottom] = boundary;
        let problem = Problem {
            rhs: Source::Random { seed },
            boundary: Boundary { left, right, top, bottom, ..Boundary::default() },
            ..problem(shape, stencil)
        };
        assert_near(&solved(&problem).to_interior(), &dense(&problem), 1e-11);
    }

    /// Every axis is eliminated by turns: that whose entries differ in sign cannot be transformed.
    #[test]
    fn agrees_with_dense_elimination_in_3d(
        axes in prop::array::uniform3(1..=5usize),
        eliminated in 0..3usize,
        entries in prop::array::uniform3(-1.0..-0.1f64),
        ratio in 0.5..2.0f64,
        sides in prop::array::uniform6(-3.0..3.0f64),
        seed in any::<u64>(),
    ) {
        let mut pairs = entries.map(|entry| [entry, entry * ratio]);
        pairs[eliminated][1] *= -1.0;
        let [[a, c], [e, f], [p, q]] = pairs;
        let d = pairs.iter().flatten().map(|entry| entry.abs()).sum::<f64>() + 0.5;
        let [left, right, top, bottom, front, back] = sides;
        let shape = Shape::grid_3d(axes[0], axes[1], axes[2]).unwrap();
        let problem = Problem {
            rhs: Source::Random { seed },
            boundary: Boundary { left, right, top, bottom, front, back },
            ..problem(shape, Stencil { d, a, c, e, f, p, q })
        };
        assert_near(&solved(&problem).to_interior(), &dense(&problem), 1e-11);
    }

    /// Matrices that are not dominant: right, or refused.
    #[test]
    fn is_never_wrong_where_nothing_is_promised(
        shape in shapes(),
        entries in prop::array::uniform4(-2..=2i32),
        d in 1..=4i32,
    ) {
        let [a, c, e, f] = entries.map(|entry| 0.5 * f64::from(entry));
        let y = if shape.dim() == 1 { 0.0 } else { 1.0 };
        let stencil = Stencil { d: 0.5 * f64::from(d), a, c, e: y * e, f: y * f, ..Stencil::default() };
        let problem = problem(shape, stencil);
        match exact(&problem, &GOES_ON) {
            Ok(u) => {
                let mut rest = vec![0.0; shape.points()];
                without_pauses(residual_with_pauses(&problem, &u, &mut rest, &GOES_ON)).unwrap();
                let allowed = 1e-14 * row_sum(&stencil) * largest(u.as_slice());
                prop_assert!(largest(&rest) <= allowed);
            }
            Err(ExactError::Singular { .. } | ExactError::NotConverged { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// b = λ sin sin has the solution u = sin sin, with λ an eigenvalue of the discrete −∇².
#[test]
fn finds_eigenfunctions_of_poisson() {
    for (nx, ny, p, q) in [(64, 64, 1, 1), (101, 37, 3, 2), (1, 50, 1, 4), (2, 3, 1, 1)] {
        let shape = plane(nx, ny);
        let stencil = Stencil::poisson(&shape);
        let wave =
            |mode: usize, i: usize, n: usize| (PI * (mode * (i + 1)) as f64 / (n + 1) as f64).sin();
        let half = |mode: usize, n: usize| (0.5 * PI * mode as f64 / (n + 1) as f64).sin().powi(2);
        let lambda = -4.0 * (stencil.a * half(p, nx) + stencil.e * half(q, ny));
        let u = Field::from_fn(shape, |i, j| wave(p, i, nx) * wave(q, j, ny)).to_interior();
        let b: Vec<f64> = u.iter().map(|u| lambda * u).collect();
        let rhs = Source::Array(b.into());
        let problem = Problem { rhs, boundary: Boundary::default(), ..problem(shape, stencil) };
        assert_near(&solved(&problem).to_interior(), &u, 1e-14);
    }
}

/// One update leaves it where it is, to the rounding of the update.
#[test]
fn is_a_fixed_point_of_jacobi() {
    let none = Stencil::default();
    for stencil in [
        Stencil { d: 4.0, a: -1.0, c: -1.0, e: -1.0, f: -1.0, ..none },
        Stencil { d: 8.0, a: -1.0, c: -1.0, e: -2.0, f: -2.0, ..none },
        Stencil { d: 8.0, a: -1.0, c: -2.0, e: -3.0, f: -1.5, ..none },
    ] {
        let problem = problem(plane(40, 31), stencil);
        let u = solved(&problem);
        let system = System::<f64>::new(&problem, &stencil);
        let [x_prev, x_next, y_prev, y_next] = match system.weights {
            Weights::Isotropic(w) => [w; 4],
            Weights::PerAxis([x, y, _]) => [x, x, y, y],
            Weights::General([[x_prev, x_next], [y_prev, y_next], _]) => {
                [x_prev, x_next, y_prev, y_next]
            }
            Weights::PerPoint => panic!("the stencil is the same everywhere"),
        };
        let (values, stride) = (u.as_slice(), u.shape().stride());
        let update = Field::from_fn(*u.shape(), |i, j| {
            let k = (j + 1) * stride + i + 1;
            system.g.at(i, j)
                + x_prev * values[k - 1]
                + x_next * values[k + 1]
                + y_prev * values[k - stride]
                + y_next * values[k + stride]
        });
        assert_near(&update.to_interior(), &u.to_interior(), 4.0 * f64::EPSILON);
    }
}

/// Without sources the flux through conductivities in series is the same everywhere: u grows by each resistance.
/// Every system of a batch has conductivities of its own.
#[test]
fn follows_the_resistances_of_a_1d_grid() {
    let (n, systems) = (40, 3);
    let shape = Shape::grid_1d(n, systems).unwrap();
    let conductivity = |at: usize| 10f64.powi((at % 3) as i32 - 1);
    let values: Vec<_> = (0..shape.points()).map(conductivity).collect();
    let rows = Diffusion::new(&shape, Conductivity::Array(values.into())).unwrap();
    let zero = Source::Constant(0.0);
    let problem = Problem {
        shape,
        operator: rows.into(),
        rhs: zero.clone(),
        initial_guess: zero,
        boundary: Boundary { right: 1.0, ..Boundary::default() },
    };
    let found = solved(&problem);
    for system in 0..systems {
        let k = |i: usize| conductivity(system * n + i);
        // Half a material on either side of the middle between two points; the boundary has that of its neighbour.
        let between = |i: usize| match i {
            0 => 1.0 / k(0),
            i if i == n => 1.0 / k(n - 1),
            i => 0.5 / k(i - 1) + 0.5 / k(i),
        };
        let whole: f64 = (0..=n).map(between).sum();
        let mut below = 0.0;
        for i in 0..n {
            below += between(i);
            let u = found.at(i, system);
            assert!((u - below / whole).abs() < 1e-12, "{u} {}", below / whole);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Conductivities of four decades at random.
    #[test]
    fn coefficients_per_point_agree_with_dense_elimination(
        (shape, exponents) in (1..=12_usize, 1..=12_usize).prop_flat_map(|(nx, ny)| {
            (Just(plane(nx, ny)), prop::collection::vec(-2.0..2.0_f64, nx * ny))
        }),
        seed in any::<u64>(),
    ) {
        let values = exponents.iter().map(|exponent| 10.0_f64.powf(*exponent)).collect();
        let rows = Diffusion::new(&shape, Conductivity::Array(values)).unwrap();
        let problem = Problem {
            operator: rows.into(),
            rhs: Source::Random { seed },
            ..problem(shape, Stencil::poisson(&shape))
        };
        assert_near(&solved(&problem).to_interior(), &dense(&problem), 1e-10);
    }
}

/// `exact` verifies the residual itself.
#[test]
fn solves_two_materials() {
    for (nx, ny, ratio) in [(128, 100, 1000.0), (7, 300, 1e-6), (64, 64, 1e9)] {
        let shape = plane(nx, ny);
        let jump = Conductivity::Jump(Jump { ratio, ..Jump::DEFAULT });
        let operator = Diffusion::new(&shape, jump).unwrap().into();
        solved(&Problem { operator, ..problem(shape, Stencil::poisson(&shape)) });
    }
}

/// The boundary is that of the initial guess, and its corners hold zero.
#[test]
fn keeps_the_ring() {
    let problem = problem(plane(5, 4), Stencil::poisson(&plane(5, 4)));
    let (mut u, mut start) = (solved(&problem), problem.initial_iterate::<f64>());
    for row in 0..4 {
        u.interior_mut(row).fill(0.0);
        start.interior_mut(row).fill(0.0);
    }
    assert_eq!(u, start);
}

/// −u'' = 1 is solved exactly by its discretization: u = x (1 − x) / 2. The condition number of
/// the long 1D grid is 4·10¹¹; without refinement ten digits are lost.
#[test]
fn is_right_to_the_last_digits_on_long_lines() {
    for (n, batch) in [(1, 1), (2, 3), (1_023, 4), (1_048_575, 1)] {
        let shape = Shape::grid_1d(n, batch).unwrap();
        let problem = Problem {
            rhs: Source::Constant(1.0),
            boundary: Boundary::default(),
            ..problem(shape, Stencil::poisson(&shape))
        };
        let h = 1.0 / (n + 1) as f64;
        let expected = Field::from_fn(shape, |i, _| {
            let x = (i + 1) as f64 * h;
            0.5 * x * (1.0 - x)
        });
        assert_near(&solved(&problem).to_interior(), &expected.to_interior(), 1e-15);
    }
}

/// Every kind of 2D matrix at sizes where the methods differ; `exact` verifies the residual itself.
#[test]
fn solves_planes_of_every_kind() {
    for (nx, ny, velocity) in [
        (512, 300, [0.0, 0.0]),
        (15, 20_000, [0.0, 0.0]),
        (300, 257, [40.0, 0.0]),
        (127, 200, [0.0, -300.0]),
        (1, 1000, [5.0, 5.0]),
        (1000, 1, [5.0, 5.0]),
        (200, 200, [15.0, -20.0]),
        (130, 128, [100.0, 100.0]),
        (100, 140, [-800.0, 500.0]),
    ] {
        let shape = plane(nx, ny);
        solved(&problem(
            shape,
            Stencil::convection_diffusion(&shape, [velocity[0], velocity[1], 0.0]),
        ));
    }
    for (a, c, e, f) in [(-1.5, -0.5, -1.5, -0.5), (-1.0, 0.0, 0.0, -1.0), (1.0, -1.0, 1.0, -1.0)] {
        let d: f64 = [a, c, e, f].iter().copied().map(f64::abs).sum();
        solved(&problem(plane(150, 100), Stencil { d, a, c, e, f, ..Stencil::default() }));
    }
}

/// 3D grids at sizes where the axes differ; `exact` verifies the residual itself.
#[test]
fn solves_boxes() {
    for (axes, velocity) in [
        ([40, 31, 52], [0.0, 0.0, 0.0]),
        ([33, 20, 17], [60.0, 25.0, 0.0]),
        ([20, 41, 30], [5.0, 300.0, -10.0]),
        ([1, 30, 1], [1.0, 2.0, 3.0]),
    ] {
        let shape = Shape::grid_3d(axes[0], axes[1], axes[2]).unwrap();
        solved(&problem(shape, Stencil::convection_diffusion(&shape, velocity)));
    }
    let shape = Shape::grid_3d(40, 40, 40).unwrap();
    let windy = Stencil::convection_diffusion(&shape, [0.0, 200.0, -200.0]);
    assert_eq!(exact(&problem(shape, windy), &GOES_ON), Err(ExactError::NotSymmetric));
}

#[test]
fn refuses_singular_matrices() {
    // 2 cos(π/3) = 1, so that the second of five modes is lost.
    let line = Stencil { d: 1.0, a: -1.0, c: -1.0, ..Stencil::default() };
    let error = exact(&problem(Shape::grid_1d(5, 2).unwrap(), line), &GOES_ON).unwrap_err();
    assert!(matches!(error, ExactError::Singular { .. }), "{error}");
    // cos(π/4) = −cos(3π/4), so that the modes (1, 3), (2, 2) and (3, 1) are lost.
    for d in [1e-300, 1e-17] {
        let plane_of_zeros = Stencil { d, a: 1.0, c: 1.0, e: 1.0, f: 1.0, ..Stencil::default() };
        let error = exact(&problem(plane(3, 3), plane_of_zeros), &GOES_ON).unwrap_err();
        assert!(error.to_string().contains("singular"), "{error}");
    }
}

#[test]
fn refuses_what_is_not_a_number() {
    let shape = plane(6, 5);
    let good = problem(shape, Stencil::poisson(&shape));
    let nan = Problem { rhs: Source::Constant(f64::NAN), ..good.clone() };
    assert_eq!(exact(&nan, &GOES_ON), Err(ExactError::NotFinite));
    let huge = Problem { rhs: Source::Constant(1e308), ..good.clone() };
    let tiny = Stencil { d: 1e-5, ..Stencil::default() };
    assert_eq!(
        exact(&Problem { operator: tiny.into(), ..huge }, &GOES_ON),
        Err(ExactError::NotFinite)
    );
    let no_diagonal = Stencil { d: 0.0, ..Stencil::poisson(&shape) };
    let error = exact(&Problem { operator: no_diagonal.into(), ..good }, &GOES_ON).unwrap_err();
    assert!(matches!(error, ExactError::Stencil(_)), "{error}");
}

#[test]
fn nothing_comes_of_nothing() {
    let shape = plane(9, 4);
    let problem = Problem {
        rhs: Source::Constant(0.0),
        boundary: Boundary::default(),
        ..problem(shape, Stencil::poisson(&shape))
    };
    assert_eq!(solved(&problem), Field::filled(shape, 0.0));
}

#[test]
fn stops_when_it_is_cancelled() {
    let shape = plane(1024, 1024);
    let stencil = Stencil::convection_diffusion(&shape, [500.0, 500.0, 0.0]);
    let cancel = StopToken::default();
    cancel.now();
    assert_eq!(exact(&problem(shape, stencil), &cancel), Err(ExactError::Cancelled));
    let cancel = StopToken::default();
    let stopped = std::thread::scope(|scope| {
        let run = scope.spawn(|| exact(&problem(shape, stencil), &cancel));
        std::thread::sleep(Duration::from_millis(100));
        cancel.now();
        run.join().unwrap()
    });
    // A solver that ignored the flag would have returned the solution.
    assert_eq!(stopped, Err(ExactError::Cancelled));
}

fn of_matrix(matrix: Csr, rhs: Source) -> Problem {
    Problem {
        shape: Shape::grid_1d(matrix.rows(), 1).unwrap(),
        operator: Operator::Csr(matrix.into()),
        rhs,
        initial_guess: Source::Constant(0.0),
        boundary: Boundary::default(),
    }
}

#[test]
fn symmetric_matrices_are_solved() {
    let line = of_matrix(Generated::Heat1d { rows: 100 }.matrix().unwrap(), Source::Constant(1.0));
    for (i, x) in solved(&line).to_interior().into_iter().enumerate() {
        // −x'' = 1 with x = 0 at 0 and 101.
        let exact = 0.5 * (i + 1) as f64 * (100 - i) as f64;
        assert!((x - exact).abs() <= 1e-15 * 1275.0, "{i}: {x}, {exact}");
    }
    // b = A u of a known u: whole numbers, so that no rounding is in b.
    let matrix = Generated::Trefethen { rows: 500 }.matrix().unwrap();
    let known = |row: usize| (row % 7) as f64 - 3.0;
    let b = |row: usize| -> f64 {
        let entries = matrix.columns(row).iter().zip(matrix.values(row));
        entries.map(|(column, value)| value * known(*column as usize)).sum()
    };
    let b = Source::Array((0..matrix.rows()).map(b).collect());
    for (row, x) in solved(&of_matrix(matrix, b)).to_interior().into_iter().enumerate() {
        assert!((x - known(row)).abs() <= 4.0 * f64::EPSILON, "{row}: {x}");
    }
    let lower = Csr::from_entries(2, &[(0, 0, 1.0), (1, 1, 1.0), (1, 0, 0.5)]).unwrap();
    let refused = exact(&of_matrix(lower, Source::Constant(1.0)), &GOES_ON);
    assert_eq!(refused.unwrap_err(), ExactError::Matrix(ScalingError::NotSymmetric));
}
