//! How many cycles the model problem takes: −∇²u = 1 from u₀ = 1 between zeros, in f64, until the
//! residual has fallen to 1e-4 of what it was. The figures were computed independently of this
//! project: in 1D and 2D with another order of operations, which may make a cycle or two of
//! difference, in 3D with the same, so that they are exact.

use std::num::NonZeroUsize;
use std::sync::Arc;
use tilescope::grid::{Precision, Shape, Tiling};
use tilescope::problem::{Boundary, Problem, Source, Stencil};
use tilescope::solver::{self, Method, NormRequest, Schedule};

const TOLERANCE: f64 = 1e-4;
const ROUNDING: usize = 2;

/// The first cycle whose iterate has ‖r‖₂ < 1e-4 · ‖r₀‖₂. A cycle reports the residual of the
/// iterate that it starts from, so the cycle that finds it small is the one after.
fn cycles(shape: Shape, method: Method) -> usize {
    let problem = Problem {
        shape,
        operator: Stencil::poisson(&shape).into(),
        rhs: Source::Constant(1.0),
        initial_guess: Source::Constant(1.0),
        boundary: Boundary::default(),
    };
    let mut solver =
        solver::on_cpu(&Arc::new(problem), method, Precision::F64, 0).expect("little memory");
    let mut residual = || {
        solver.cycles(1, NormRequest::ALL).expect("the CPU does not fail").norms[0]
            .residual_before
            .l2
    };
    let first = residual();
    let mut done = 1;
    while residual() >= TOLERANCE * first {
        done += 1;
    }
    done
}

fn line() -> Shape {
    Shape::grid_1d(1024, 1).expect("a small shape")
}

fn plane() -> Shape {
    Shape::grid_2d(1024, 1024).expect("a small shape")
}

fn hierarchical(shape: &Shape, k: usize, overlap: usize) -> Method {
    let tiling = Tiling::new(shape.axes(), &[32, 32], &[overlap, overlap]).expect("a valid tiling");
    Method::Hierarchical { k, tiling }
}

#[track_caller]
fn check(shape: Shape, method: Method, expected: usize) {
    let found = cycles(shape, method);
    println!("{found} cycles, {expected} expected");
    assert!(found.abs_diff(expected) <= ROUNDING, "{found} cycles, {expected} expected");
}

#[test]
fn grid_1d_classic() {
    check(line(), Method::Classic, 128_760);
}

/// Damping removes the checkerboard mode, and slows down all others.
#[test]
fn grid_1d_damped() {
    check(line(), Method::Classic.damped(0.999), 115_854);
}

#[test]
fn grid_1d_damped_by_two_thirds() {
    check(line(), Method::Classic.damped(2.0 / 3.0), 173_608);
}

#[test]
fn line_16_subiterations_without_overlap() {
    check(line(), hierarchical(&line(), 16, 0), 19_555);
}

/// o = 2(k − 1): exactly 16 sweeps of Jacobi's iteration per cycle, 128,760 / 16 of them.
#[test]
fn line_16_subiterations_with_full_overlap() {
    check(line(), hierarchical(&line(), 16, 30), 8_048);
}

#[test]
#[ignore = "minutes: run with --ignored"]
fn grid_2d_classic() {
    check(plane(), Method::Classic, 179_306);
}

#[test]
#[ignore = "minutes: run with --ignored"]
fn plane_32_subiterations_without_overlap() {
    check(plane(), hierarchical(&plane(), 32, 0), 16_486);
}

#[test]
#[ignore = "minutes: run with --ignored"]
fn plane_32_subiterations_with_overlap_4() {
    check(plane(), hierarchical(&plane(), 32, 4), 6_552);
}

/// 256² points, tiles of 32², k = 32, in waves of this number of tiles and warps of this number of points.
fn in_order(overlap: usize, wave: Option<usize>, warp: Option<usize>) -> Method {
    let [wave, warp] = [wave, warp].map(|points| points.and_then(NonZeroUsize::new));
    hierarchical(&square(), 32, overlap).scheduled(Schedule { wave, warp })
}

fn square() -> Shape {
    Shape::grid_2d(256, 256).expect("a small shape")
}

/// Later tiles that see earlier ones save cycles where halos are the bottleneck …
#[test]
fn plane_in_waves_of_16_without_overlap() {
    check(square(), in_order(0, None, None), 2578);
    check(square(), in_order(0, Some(16), None), 2405);
}

/// … and cost some with overlap.
#[test]
fn plane_in_waves_of_16_with_overlap_4() {
    check(square(), in_order(4, None, None), 1355);
    check(square(), in_order(4, Some(16), None), 1400);
}

/// The article's race in a fixed order, which the counts of this program alone are known of.
#[test]
fn plane_in_warps_of_32() {
    check(square(), in_order(0, None, Some(32)), 2327);
    check(square(), in_order(4, None, Some(32)), 1078);
}

fn cube(n: usize) -> Shape {
    Shape::grid_3d(n, n, n).expect("a small shape")
}

fn check_3d(shape: Shape, k: usize, tile: usize, overlap: usize, expected: usize) {
    let tiling = Tiling::new(shape.axes(), &[tile; 3], &[overlap; 3]).expect("a valid tiling");
    assert_eq!(cycles(shape, Method::Hierarchical { k, tiling }), expected);
}

#[test]
fn cube_64_classic() {
    assert_eq!(cycles(cube(64), Method::Classic), 4345);
}

#[test]
fn cube_64_8_subiterations_without_overlap() {
    check_3d(cube(64), 8, 16, 0, 711);
}

#[test]
fn cube_64_8_subiterations_with_overlap_4() {
    check_3d(cube(64), 8, 16, 4, 549);
}

#[test]
fn grid_3d_of_three_sides() {
    check_3d(Shape::grid_3d(48, 40, 56).expect("a small shape"), 6, 12, 2, 468);
}

/// o = 2(k − 1): exactly 8 sweeps of Jacobi's iteration per cycle, 4,345 / 8 of them.
#[test]
#[ignore = "minutes: run with --ignored"]
fn cube_64_8_subiterations_with_full_overlap() {
    check_3d(cube(64), 8, 16, 14, 544);
}

#[test]
#[ignore = "minutes: run with --ignored"]
fn cube_128_classic() {
    assert_eq!(cycles(cube(128), Method::Classic), 13_676);
}

#[test]
#[ignore = "minutes: run with --ignored"]
fn cube_128_8_subiterations_with_overlap_4() {
    check_3d(cube(128), 8, 16, 4, 1728);
}
