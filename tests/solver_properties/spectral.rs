//! Subiterations in the sine basis against sweeps, and k = ∞ against elimination in every tile.

use crate::cases::{Case, MOST_TOLERANCE, any_case};
use crate::naive::Num;
use crate::{Cycles, bits, on_cpu};
use proptest::prelude::*;
use std::sync::Arc;
use tilescope::grid::{Field, Precision, Shape, Tiling};
use tilescope::problem::{Boundary, Problem, Source, Stencil};
use tilescope::solver::cpu::Level;
use tilescope::solver::{Method, Solver, Spectral, SpectralError, Subiterations};

/// Cycles after which iterates are compared.
const COMPARED: [usize; 3] = [1, 20, 100];

/// Point updates that a case may take, or fewer cycles are compared: the overlap may be large.
const MOST_UPDATES: f64 = 4e6;

impl Case {
    pub fn spectral(&self, k: Subiterations) -> Result<Method, SpectralError> {
        Spectral::new(k, &self.tiling(), self.problem.operator.stencil().expect("a grid"))
            .map(Method::Spectral)
    }
}

/// A case whose weights and tiles can be taken, and its method.
fn accepted() -> impl Strategy<Value = (Case, Method)> {
    (any_case(), prop_oneof![7 => 1..40_usize, 1 => 40..300_usize]).prop_filter_map(
        "weights that the sine basis does not take",
        |(case, k)| {
            let case = Case { k, ..case };
            let method = case.spectral(k.into()).ok()?;
            Some((case, method))
        },
    )
}

/// max |b|, or a value below which numbers lose digits to underflow, where that is larger.
fn largest<R: Num>(b: &Field<f64>) -> f64 {
    let least = match R::PRECISION {
        Precision::F32 => f64::from(f32::MIN_POSITIVE / f32::EPSILON),
        Precision::F64 => f64::MIN_POSITIVE / f64::EPSILON,
    };
    let values = b.to_interior().into_iter().map(f64::abs);
    values.fold(least, |most, value| if value.is_nan() { f64::INFINITY } else { most.max(value) })
}

/// max |a − b|.
fn difference(a: &Field<f64>, b: &Field<f64>) -> f64 {
    let (a, b) = (a.to_interior(), b.to_interior());
    let differences = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, |most, value| if value > most || value.is_nan() { value } else { most })
}

fn matches_sweeps<R: Num>(case: &Case, method: &Method) -> Result<(), TestCaseError> {
    let redundancy = case.tiling().redundancy();
    let updates = (case.problem.shape.points() * case.k.max(64)) as f64 * redundancy;
    // Weights that are not dominant make iterates grow; those near the end of the range are not compared.
    let most = match R::PRECISION {
        Precision::F32 => f64::from(f32::MAX).sqrt(),
        Precision::F64 => f64::MAX.sqrt(),
    };
    let mut spectral = case.plain::<R>(method.clone());
    let mut sweeps = case.plain::<R>(case.hierarchical());
    let mut size = largest::<R>(&sweeps.iterate());
    for cycle in 1..=COMPARED[2] {
        let (found, expected) = (spectral.cycle(), sweeps.cycle());
        if cycle == 1 {
            prop_assert_eq!(found.residual_before, expected.residual_before);
        }
        // The rounding errors of earlier cycles remain, which may have had much larger iterates.
        size = size.max(largest::<R>(&sweeps.iterate()));
        if COMPARED.contains(&cycle) {
            if size > most {
                break;
            }
            let apart = difference(&spectral.iterate(), &sweeps.iterate()) / size;
            let tolerance =
                case.sine_rounding(case.k.into(), R::PRECISION, 1, cycle) * case.growth(cycle);
            if tolerance > MOST_TOLERANCE {
                break;
            }
            prop_assert!(apart <= tolerance, "cycle {}: {:e}", cycle, apart);
            let next = COMPARED.into_iter().find(|next| *next > cycle);
            if next.is_some_and(|next| next as f64 * updates > MOST_UPDATES) {
                break;
            }
        }
    }
    Ok(())
}

/// Solves every tile by elimination for its frozen halo, and keeps the points that it owns.
fn exact_tiles(case: &Case, before: &Field<f64>) -> Vec<f64> {
    let Problem { shape, operator, rhs, .. } = &*case.problem;
    let stencil = operator.stencil().expect("a grid");
    let tiling = case.tiling();
    let mut after = before.to_interior();
    let systems = if shape.dim() == 1 { shape.batch() } else { 1 };
    for tile in 0..tiling.count() * systems {
        let (tile, system) = (tile % tiling.count(), tile / tiling.count());
        let (computed, owned) = (tiling.computed(tile), tiling.owned(tile));
        let [wide, high, deep] = [0, 1, 2].map(|axis| computed[axis].len());
        let n = wide * high * deep;
        let place = |at: usize| [at % wide, at / wide % high, at / wide / high];
        let row_of = |point: [usize; 3]| {
            if shape.dim() == 1 { system } else { point[1] + shape.ny() * point[2] }
        };
        let mut rows = vec![vec![0.0; n + 1]; n];
        for at in 0..n {
            let inside = place(at);
            let point: [usize; 3] = std::array::from_fn(|axis| computed[axis].start + inside[axis]);
            let row = row_of(point);
            rows[at][at] = stencil.d;
            rows[at][n] = rhs.at(shape.nx(), point[0], row);
            let here = shape.row_start(row) + 1 + point[0];
            let strides = [1, shape.stride(), shape.plane_stride()];
            let steps = [1, wide, wide * high];
            for axis in 0..shape.dim() {
                let [previous, next] = stencil.neighbours()[axis];
                if inside[axis] > 0 {
                    rows[at][at - steps[axis]] = previous;
                } else {
                    rows[at][n] -= previous * before.as_slice()[here - strides[axis]];
                }
                if inside[axis] + 1 < computed[axis].len() {
                    rows[at][at + steps[axis]] = next;
                } else {
                    rows[at][n] -= next * before.as_slice()[here + strides[axis]];
                }
            }
        }
        let solved = eliminated(rows);
        for (at, value) in solved.into_iter().enumerate() {
            let inside = place(at);
            let point: [usize; 3] = std::array::from_fn(|axis| computed[axis].start + inside[axis]);
            if (0..3).all(|axis| owned[axis].contains(&point[axis])) {
                after[row_of(point) * shape.nx() + point[0]] = value;
            }
        }
    }
    after
}

/// Gaussian elimination with pivoting; the right-hand side is the last column.
fn eliminated(mut rows: Vec<Vec<f64>>) -> Vec<f64> {
    let n = rows.len();
    for pivot in 0..n {
        let best =
            (pivot..n).max_by(|a, b| rows[*a][pivot].abs().total_cmp(&rows[*b][pivot].abs()));
        rows.swap(pivot, best.expect("a row"));
        let (upper, lower) = rows.split_at_mut(pivot + 1);
        for row in lower.iter_mut().filter(|row| row[pivot] != 0.0) {
            let factor = row[pivot] / upper[pivot][pivot];
            for column in pivot..=n {
                row[column] -= factor * upper[pivot][column];
            }
        }
    }
    for pivot in (0..n).rev() {
        let known: f64 = (pivot + 1..n).map(|other| rows[pivot][other] * rows[other][n]).sum();
        rows[pivot][n] = (rows[pivot][n] - known) / rows[pivot][pivot];
    }
    rows.into_iter().map(|row| row[n]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn iterates_are_those_of_sweeps_to_rounding((case, method) in accepted()) {
        matches_sweeps::<f64>(&case, &method)?;
        matches_sweeps::<f32>(&case, &method)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn infinitely_many_subiterations_solve_every_tile(case in any_case()) {
        let tile = case.tile.map(|tile| tile.min(8));
        let overlap = [0, 1, 2].map(|axis| case.overlap[axis].min(tile[axis].saturating_sub(2) & !1));
        let case = Case { tile, overlap, ..case };
        // Elimination and the sine basis agree where the matrix is far from singular.
        prop_assume!(case.problem.operator.stencil().expect("a grid").is_dominant());
        let Ok(method) = case.spectral(Subiterations::Infinite) else { return Ok(()) };
        let tolerance = case.sine_rounding(Subiterations::Infinite, Precision::F64, 1, 1);
        let mut solver = case.plain::<f64>(method);
        for _ in 0..3 {
            let before = solver.iterate();
            let expected = exact_tiles(&case, &before);
            solver.cycle();
            let found = solver.iterate().to_interior();
            // The result is the values before and a correction.
            let sizes = expected.iter().chain(before.as_slice());
            let size = sizes.fold(f64::MIN_POSITIVE, |most, value| most.max(value.abs()));
            for (found, expected) in found.iter().zip(&expected) {
                prop_assert!((found - expected).abs() <= tolerance * size, "{} {}", found, expected);
            }
        }
    }

    #[test]
    fn threads_and_vector_lengths_change_no_bit_of_a_spectral_cycle((case, method) in accepted()) {
        fn last(mut solver: Box<dyn Solver>) -> Vec<u64> {
            for _ in 0..3 {
                solver.cycle();
            }
            bits(&solver.iterate())
        }
        let expected = last(case.solver::<f64>(method.clone(), Level::Plain, 1));
        let expected_f32 = last(case.solver::<f32>(method.clone(), Level::Plain, 1));
        for level in Level::available() {
            for threads in [1, 2, 5] {
                let found = last(case.solver::<f64>(method.clone(), level, threads));
                prop_assert_eq!(&found, &expected, "{:?}, {} threads", level, threads);
                let found = last(case.solver::<f32>(method.clone(), level, threads));
                prop_assert_eq!(&found, &expected_f32, "{:?}, {} threads", level, threads);
            }
        }
    }
}

/// Poisson on a grid, from a random initial guess.
fn random(shape: Shape, tile: usize, overlap: usize, k: usize) -> Case {
    let problem = Problem {
        shape,
        operator: Stencil::poisson(&shape).into(),
        rhs: Source::Random { seed: 5 },
        initial_guess: Source::Random { seed: 7 },
        boundary: Boundary { left: 0.5, right: -1.0, ..Boundary::default() },
    };
    let problem = Arc::new(problem);
    Case { problem, tile: [tile; 3], overlap: [overlap; 3], k, cycles: 1 }
}

/// Large and odd tiles, which random cases rarely have.
#[test]
fn large_tiles_are_those_of_sweeps_to_rounding() {
    for (side, tile, overlap, k) in [
        (200, 128, 38, 1024),
        (150, 127, 8, 100),
        (140, 97, 32, 64),
        (130, 65, 0, 32),
        (96, 96, 0, 500),
    ] {
        let case = random(Shape::grid_2d(side, side - 3).expect("a small shape"), tile, overlap, k);
        let method = case.spectral(k.into()).expect("symmetric weights");
        let mut spectral = case.plain::<f64>(method);
        let mut sweeps = case.plain::<f64>(case.hierarchical());
        for cycle in 0..3 {
            spectral.cycle();
            sweeps.cycle();
            let apart = difference(&spectral.iterate(), &sweeps.iterate())
                / largest::<f64>(&sweeps.iterate());
            assert!(apart <= 1e-12, "tile {tile}, cycle {cycle}: {apart:e}");
        }
    }
}

/// One tile that covers the grid is solved at once.
#[test]
fn a_tile_that_covers_the_grid_is_a_direct_solver() {
    let shapes = [Shape::grid_1d(100, 3), Shape::grid_2d(128, 90), Shape::grid_3d(20, 16, 11)];
    for shape in shapes.map(|shape| shape.expect("a small shape")) {
        let case = random(shape, 128, 0, 1);
        let method = case.spectral(Subiterations::Infinite).expect("symmetric weights");
        let mut solver = case.plain::<f64>(method);
        let before = solver.cycle().residual_before.l2;
        let after = solver.cycle().residual_before.l2;
        assert!(after <= 1e-11 * before, "{shape}: {before:e} {after:e}");
    }
}

/// Cycles to 1e-4 on 1024 x 1024 points of the model problem.
/// Source: a prototype on a GPU, independent of this project.
fn check_cycles(tile: usize, overlap: usize, k: Subiterations, expected: usize) {
    let shape = Shape::grid_2d(1024, 1024).expect("a small shape");
    let problem = Problem {
        shape,
        operator: Stencil::poisson(&shape).into(),
        rhs: Source::Constant(1.0),
        initial_guess: Source::Constant(1.0),
        boundary: Boundary::default(),
    };
    let tiling = Tiling::new(shape.axes(), &[tile; 2], &[overlap; 2]).expect("a valid tiling");
    let spectral = Spectral::new(k, &tiling, problem.operator.stencil().expect("a grid"))
        .expect("symmetric weights");
    let method = Method::Spectral(spectral);
    let mut solver = on_cpu::<f64>(&Arc::new(problem), method, Level::best(), 0);
    let first = solver.cycle().residual_before.l2;
    let mut cycles = 1;
    while solver.cycle().residual_before.l2 >= 1e-4 * first {
        cycles += 1;
    }
    assert_eq!(cycles, expected, "tile {tile}, overlap {overlap}, k {k}");
}

/// The cycles to the tolerance of a small system are those of as many sweeps.
#[test]
fn cycles_are_those_of_sweeps() {
    for (tile, overlap, k) in [(16, 2, 16), (32, 8, 64), (48, 12, 200)] {
        let shape = Shape::grid_2d(96, 80).expect("a small shape");
        let case = random(shape, tile, overlap, k);
        let count = |method: Method| {
            let mut solver = case.plain::<f64>(method);
            let first = solver.cycle().residual_before.l2;
            let mut cycles = 1;
            while solver.cycle().residual_before.l2 >= 1e-4 * first {
                cycles += 1;
            }
            cycles
        };
        let spectral = case.spectral(k.into()).expect("symmetric weights");
        assert_eq!(count(spectral), count(case.hierarchical()), "tile {tile}");
    }
}

#[test]
#[ignore = "minutes: run with --ignored"]
fn cycles_of_the_reference() {
    let infinite = Subiterations::Infinite;
    check_cycles(128, 38, infinite, 185);
    check_cycles(128, 38, 1024.into(), 305);
    check_cycles(128, 38, 256.into(), 706);
    check_cycles(128, 16, infinite, 285);
    check_cycles(128, 8, infinite, 504);
    check_cycles(64, 32, infinite, 441);
    check_cycles(64, 16, infinite, 549);
    check_cycles(64, 16, 256.into(), 974);
    check_cycles(64, 8, infinite, 911);
    check_cycles(64, 8, 1024.into(), 1006);
    check_cycles(64, 4, infinite, 1556);
    check_cycles(32, 8, infinite, 1694);
    check_cycles(32, 8, 256.into(), 1968);
    check_cycles(64, 8, 64.into(), 3053);
    check_cycles(32, 8, 64.into(), 3357);
    check_cycles(32, 4, 32.into(), 6552);
}
