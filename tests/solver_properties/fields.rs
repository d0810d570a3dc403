//! Samples of fields, against values taken point by point.

use crate::cases::{Case, any_case};
use crate::naive::{Naive, Num};
use crate::{Cycles, on_cpu};
use proptest::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use tilescope::grid::{Shape, Slice, Tiling};
use tilescope::problem::{Boundary, Problem, Source, Stencil};
use tilescope::solver::cpu::Level;
use tilescope::solver::{
    FieldObservation, FieldRequest, Method, NormRequest, Quantity, Solver, Window,
};

/// A part of an axis, with room for at most that many samples.
fn part(n: usize) -> impl Strategy<Value = (Range<usize>, usize)> {
    (0..n, 1..=n, 1..=n + 3)
        .prop_map(move |(start, length, most)| (start..(start + length).min(n), most))
}

fn case_and_window() -> impl Strategy<Value = (Case, Window)> {
    any_case().prop_flat_map(|case| {
        let shape = case.problem.shape;
        (Just(case), part(shape.nx()), part(shape.rows())).prop_map(|(case, across, down)| {
            let most = [across.1, down.1];
            (case, Window { columns: across.0, rows: down.0, slice: None, most })
        })
    })
}

/// Of each block of the window, the value of largest magnitude; of equal ones the first.
fn pooled(values: &[f64], nx: usize, window: &Window) -> Vec<f32> {
    let [across, down] = [(&window.columns, window.most[0]), (&window.rows, window.most[1])]
        .map(|(range, most)| range.len().div_ceil(most));
    let starts = |range: &Range<usize>, step| range.clone().step_by(step);
    let mut pooled = Vec::new();
    for top in starts(&window.rows, down) {
        for left in starts(&window.columns, across) {
            let mut largest = 0.0_f64;
            for row in top..(top + down).min(window.rows.end) {
                for i in left..(left + across).min(window.columns.end) {
                    let value = values[row * nx + i];
                    // Of opposite values the positive one.
                    let is_larger = value.abs() > largest.abs()
                        || (value.abs() == largest.abs() && value > largest);
                    largest = if is_larger { value } else { largest };
                }
            }
            pooled.push(largest as f32);
        }
    }
    pooled
}

fn samples_are_true<R: Num>(case: &Case, window: &Window) -> Result<(), TestCaseError> {
    let mut naive = Naive::<R>::new(&case.problem);
    let mut solver = case.plain::<R>(case.hierarchical());
    let mut before = naive.u.clone();
    for _ in 0..case.cycles {
        before.clone_from(&naive.u);
        naive.cycle(case.k, case.tile, case.overlap);
        solver.cycle();
    }
    let unknown = solver.sample(Quantity::Error, window).expect("the CPU does not fail");
    prop_assert!(unknown.values.iter().all(|value| value.is_nan()));
    let other = case.other();
    solver.set_exact(Arc::new(other.clone())).expect("the CPU does not fail");
    // One of the same precision, and one that is another kind of solver.
    let mut same = case.plain::<R>(Method::Classic);
    let mut double = case.plain::<f64>(Method::Classic);
    for solver in [&mut same, &mut double] {
        solver.start_from(&other).expect("the CPU does not fail");
    }

    let nx = case.problem.shape.nx();
    let solution: Vec<_> = naive.u.iter().map(|u| u.to_f64()).collect();
    let change: Vec<_> = naive.u.iter().zip(&before).map(|(u, b)| (*u - *b).to_f64()).collect();
    let error: Vec<_> = solution.iter().zip(other.to_interior()).map(|(u, e)| u - e).collect();
    let rounded = other.to_interior().into_iter().map(|e| R::from_f64(e).to_f64());
    let from_rounded: Vec<_> = solution.iter().zip(rounded).map(|(u, e)| u - e).collect();
    let fields = [
        (Quantity::Solution, solution),
        (Quantity::Change, change),
        (Quantity::Error, error.clone()),
        (Quantity::Difference(same.as_ref()), from_rounded),
        (Quantity::Difference(double.as_ref()), error),
        (Quantity::Residual, naive.scaled_change()),
    ];
    for (which, (quantity, values)) in fields.into_iter().enumerate() {
        let samples = solver.sample(quantity, window).expect("the CPU does not fail");
        prop_assert_eq!(&samples.values, &pooled(&values, nx, window), "field {}", which);
        prop_assert_eq!(samples.size[0] * samples.size[1], samples.values.len());
        prop_assert!(samples.size[0] <= window.most[0] && samples.size[1] <= window.most[1]);
        for row in window.rows.clone() {
            for i in window.columns.clone() {
                let shown = samples.at(i, row).expect("a point of the window");
                prop_assert!(shown.abs() >= values[row * nx + i].abs() as f32);
            }
        }
        let points =
            [window.columns.start, window.columns.end - 1].map(|i| [i, window.rows.end - 1]);
        let at_points = solver.values(quantity, &points).expect("the CPU does not fail");
        let expected = points.map(|[i, row]| (values[row * nx + i] + 0.0) as f32);
        prop_assert_eq!(at_points, expected);
        prop_assert_eq!(samples.at(window.columns.end, window.rows.start), None);
        prop_assert_eq!(samples.at(window.columns.start, window.rows.end), None);
    }
    Ok(())
}

/// What one pass finds is what separate passes find, down to the last bit.
fn is_seen_alike(
    seen: &dyn Solver,
    other: &dyn Solver,
    by: &dyn Solver,
    request: FieldRequest<'_>,
) -> bool {
    let FieldRequest { window, edge_share, statistics, .. } = request;
    let kinds: [fn(&dyn Solver) -> Quantity<'_>; 5] = [
        |_| Quantity::Residual,
        |_| Quantity::Error,
        |_| Quantity::Change,
        |_| Quantity::Solution,
        |other| Quantity::Difference(other),
    ];
    kinds.into_iter().all(|kind| {
        let (here, there) = (kind(other), kind(other));
        let apart = FieldObservation {
            samples: window.map(|window| by.sample(there, window).expect("a CPU")),
            edge_share: edge_share.map(|tiling| by.edge_share(tiling).expect("a CPU")),
            statistics: statistics.map(|tiling| by.statistics(there, tiling).expect("a CPU")),
        };
        let at_once = seen.observe(FieldRequest { quantity: here, ..request }).expect("a CPU");
        // As text, in which NaN is NaN.
        format!("{at_once:?}") == format!("{apart:?}")
    })
}

/// Large enough that threads share it.
#[test]
fn threads_and_vector_lengths_change_nothing_that_is_seen() {
    let shape = Shape::grid_2d(401, 307).expect("a small shape");
    let problem = Arc::new(Problem {
        shape,
        operator: Stencil::poisson(&shape).into(),
        rhs: Source::Random { seed: 2 },
        initial_guess: Source::Random { seed: 3 },
        boundary: Boundary { left: 0.5, ..Boundary::default() },
    });
    let tiling = Tiling::new(&[401, 307], &[32, 16], &[4, 6]).expect("a tiling");
    let method = Method::Hierarchical { k: 3, tiling: tiling.clone() };
    let solver = |level, threads| {
        let mut solver = on_cpu::<f64>(&problem, method.clone(), level, threads);
        solver.cycle();
        solver
    };
    let other = on_cpu::<f64>(&problem, Method::Classic, Level::Plain, 1);
    let by = solver(Level::Plain, 1);
    let windows = [
        Window::whole(401, 307),
        Window { most: [200, 100], ..Window::whole(401, 307) },
        Window { most: [70, 2], ..Window::whole(401, 307) },
        Window { columns: 13..399, rows: 5..290, slice: None, most: [90, 57] },
    ];
    for (level, threads) in Level::available().into_iter().zip([1, 2, 3].into_iter().cycle()) {
        let seen = solver(level, threads);
        for window in windows.iter().map(Some).chain([None]) {
            let quantity = Quantity::Residual;
            let tiles = Some(&tiling);
            let request = FieldRequest { quantity, window, edge_share: tiles, statistics: tiles };
            assert!(
                is_seen_alike(seen.as_ref(), other.as_ref(), by.as_ref(), request),
                "{level:?}, {threads}, {window:?}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn one_pass_finds_what_its_parts_find((case, window) in case_and_window(), parts in 0..8) {
        let mut solver = case.plain::<f32>(case.hierarchical());
        solver.cycle();
        let other = case.plain::<f32>(Method::Classic);
        let tiling = case.tiling();
        let if_bit = |bit: i32| Some(&tiling).filter(|_| parts & bit == bit);
        let request = FieldRequest {
            quantity: Quantity::Residual,
            window: Some(&window).filter(|_| parts & 1 == 1),
            edge_share: if_bit(4),
            statistics: if_bit(2),
        };
        prop_assert!(is_seen_alike(solver.as_ref(), other.as_ref(), solver.as_ref(), request));
    }

    #[test]
    fn samples_are_the_largest_values_of_their_blocks((case, window) in case_and_window()) {
        samples_are_true::<f64>(&case, &window)?;
        samples_are_true::<f32>(&case, &window)?;
    }
}

/// A slice in each direction shows the points of the field that lie in it.
#[test]
fn slices_show_their_points() {
    let shape = Shape::grid_3d(37, 23, 29).expect("a small shape");
    let problem = Arc::new(Problem {
        shape,
        operator: Stencil::poisson(&shape).into(),
        rhs: Source::Random { seed: 8 },
        initial_guess: Source::Random { seed: 9 },
        boundary: Boundary { front: 0.5, bottom: -1.0, ..Boundary::default() },
    });
    let tiling = Tiling::new(shape.axes(), &[8, 9, 10], &[2, 4, 0]).expect("a tiling");
    let method = Method::Hierarchical { k: 3, tiling: tiling.clone() };
    let mut solver = on_cpu::<f64>(&problem, method, Level::best(), 2);
    solver.cycle();
    let all = Window::whole(shape.nx(), shape.rows());
    for quantity in [Quantity::Residual, Quantity::Change, Quantity::Solution] {
        let whole = solver.sample(quantity, &all).expect("the CPU does not fail");
        for slice in ["x=0", "x=36", "y=11", "z=28"] {
            let slice: Slice = slice.parse().expect("a slice");
            let [nx, ny] = slice.axes().map(|axis| shape.axes()[axis]);
            let window = Window { slice: Some(slice), ..Window::whole(nx, ny) };
            let request = FieldRequest {
                quantity,
                window: Some(&window),
                edge_share: Some(&tiling),
                statistics: None,
            };
            let observed = solver.observe(request).expect("the CPU does not fail");
            let samples = observed.samples.expect("they were asked for");
            for row in 0..ny {
                for column in 0..nx {
                    let [i, j, k] = slice.point([column, row]);
                    assert_eq!(samples.at(column, row), whole.at(i, j + shape.ny() * k), "{slice}");
                }
            }
            let few = Window { most: [5, 4], columns: 3..nx, ..window };
            let few = solver.sample(quantity, &few).expect("the CPU does not fail");
            let largest = |at: usize| {
                let (left, top) =
                    (3 + at % few.size[0] * few.block[0], at / few.size[0] * few.block[1]);
                let block = (top..(top + few.block[1]).min(ny))
                    .flat_map(|row| (left..(left + few.block[0]).min(nx)).map(move |i| (i, row)));
                let values = block.filter_map(|(i, row)| samples.at(i, row));
                values.fold(0.0_f32, |a, b| if b.abs() > a.abs() { b } else { a })
            };
            let expected: Vec<_> = (0..few.values.len()).map(largest).collect();
            assert_eq!(few.values, expected, "{slice}");
        }
    }
}

/// Tile borders are lines one point wide; in a small picture of a large grid they must show.
#[test]
fn a_line_of_one_point_never_vanishes() {
    let (nx, ny, column) = (1000, 300, 617);
    let shape = Shape::grid_2d(nx, ny).expect("a small shape");
    let problem = Arc::new(Problem {
        shape,
        operator: Stencil::poisson(&shape).into(),
        rhs: Source::Constant(0.0),
        initial_guess: Source::Box { columns: column..column + 1, rows: 0..ny, value: -0.25 },
        boundary: Boundary::default(),
    });
    let solver = on_cpu::<f32>(&problem, Method::Classic, Level::best(), 2);
    for most in [[1, 1], [7, 5], [333, 200], [999, 299], [1000, 300]] {
        let window = Window { most, ..Window::whole(nx, ny) };
        let samples = solver.sample(Quantity::Solution, &window).expect("the CPU does not fail");
        for row in 0..ny {
            assert_eq!(samples.at(column, row), Some(-0.25));
        }
        let shown = samples.values.iter().filter(|&&value| value != 0.0).count();
        assert_eq!(shown, samples.size[1], "one sample a row shows the line");
    }
}

/// A value that is not a number is never hidden by one that is.
#[test]
fn not_a_number_shows() {
    let shape = Shape::grid_1d(64, 1).expect("a small shape");
    let mut start = vec![1e300; 64];
    start[40] = f64::NAN;
    let problem = Arc::new(Problem {
        shape,
        operator: Stencil::poisson(&shape).into(),
        rhs: Source::Constant(0.0),
        initial_guess: Source::Array(start.into()),
        boundary: Boundary::default(),
    });
    let solver = on_cpu::<f64>(&problem, Method::Classic, Level::best(), 1);
    let window = Window { most: [4, 1], ..Window::whole(64, 1) };
    let samples = solver.sample(Quantity::Solution, &window).expect("the CPU does not fail");
    let is_nan: Vec<_> = samples.values.iter().map(|value| value.is_nan()).collect();
    assert_eq!(is_nan, [false, false, true, false]);
    let norms = solver.norms(NormRequest::RESIDUAL).expect("the CPU does not fail");
    assert!(norms.residual.expect("requested").l2.is_nan());
}
