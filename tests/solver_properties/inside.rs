//! The subiterations of one tile, against the whole cycle and the whole of Jacobi's sweeps.

use crate::Cycles;
use crate::cases::{Case, case, tall_volume};
use crate::naive::Num;
use proptest::prelude::*;
use tilescope::grid::{Field, Slice};
use tilescope::solver::{Followed, Inside, Method, NextCycle, Schedule, Solver};

/// What is followed through a cycle, at a subiteration; `None` for all tiles of a 2D grid.
fn followed<R: Num>(
    case: &Case,
    solver: &dyn Solver,
    followed: Followed,
    subiteration: usize,
) -> Option<Inside> {
    let tiling = case.tiling();
    let next = NextCycle {
        solver,
        problem: &case.problem,
        tiling: &tiling,
        k: case.k,
        omega: 1.0,
        schedule: Schedule::default(),
        precision: R::PRECISION,
    };
    next.inside(followed, subiteration).expect("the CPU does not fail")
}

/// A cycle's tile at a subiteration.
fn inside<R: Num>(
    case: &Case,
    solver: &dyn Solver,
    tile: [usize; 2],
    subiteration: usize,
) -> Inside {
    followed::<R>(case, solver, Followed::Tile(tile, None), subiteration).expect("small tiles")
}

/// Of all tiles of a 1D grid each point is that of the tile that owns it, and the extents hold all
/// that is reported.
fn line_is_followed<R: Num>(case: &Case) -> Result<(), TestCaseError> {
    let solver = case.plain::<R>(case.hierarchical());
    let Some(whole) = followed::<R>(case, solver.as_ref(), Followed::Line, case.k) else {
        prop_assert_eq!(case.problem.shape.dim(), 2);
        return Ok(());
    };
    let (tiling, n) = (case.tiling(), case.problem.shape.nx());
    prop_assert_eq!(whole.size, [n + 2, case.k + 1]);
    for i in 0..n {
        let part = inside::<R>(case, solver.as_ref(), [tiling.x().owner(i), 0], case.k);
        for row in 0..=case.k {
            let here = row * whole.size[0] + i + 1;
            let there = row * part.size[0] + i + 1 - part.computed[0].start;
            prop_assert_eq!(whole.iterate[here].to_bits(), part.iterate[there].to_bits());
            prop_assert_eq!(whole.staleness[here].to_bits(), part.staleness[there].to_bits());
            let of_part = part.update_at([i + 1 - part.computed[0].start, row], true);
            prop_assert_eq!(whole.update_at([i + 1, row], true), of_part);
        }
    }
    let [least, most] = whole.iterate_extent;
    prop_assert!(whole.iterate.iter().all(|u| (least..=most).contains(u)));
    let [least, most] = whole.staleness_extent;
    let mut lags = whole.staleness.iter().map(|lag| lag.abs()).filter(|lag| *lag != 0.0);
    prop_assert!(lags.all(|lag| (least..=most).contains(&lag)));
    Ok(())
}

fn cycle_is_followed<R: Num>(
    case: &Case,
    tile: [usize; 2],
    at: usize,
) -> Result<(), TestCaseError> {
    let mut solver = case.plain::<R>(case.hierarchical());
    for _ in 1..case.cycles {
        solver.cycle();
    }
    let at = at % (case.k + 1);
    let seen = inside::<R>(case, solver.as_ref(), tile, at);
    let end = inside::<R>(case, solver.as_ref(), tile, case.k);
    let line = case.problem.shape.dim() == 1;
    let ring = usize::from(!line);
    let height = if line { case.k + 1 } else { seen.computed[1].len() + 2 };
    prop_assert_eq!(seen.size, [seen.computed[0].len() + 2, height]);

    // Jacobi's iteration on all of the grid, as many sweeps from the same start.
    let mut classic = case.plain::<R>(Method::Classic);
    classic.start_from(&solver.solution().expect("it")).expect("it");
    for _ in 0..at {
        classic.cycle();
    }
    let whole = classic.solution().expect("it");
    let stride = whole.shape().stride();
    let [columns, rows] = &seen.computed;
    for (j, row) in (rows.start..rows.end + 2 * ring).enumerate() {
        let row_of_values = if line { at } else { j };
        for i in 0..seen.size[0] {
            let there = row_of_values * seen.size[0] + i;
            let is_corner =
                !line && (i == 0 || i + 1 == seen.size[0]) && (j == 0 || j + 1 == seen.size[1]);
            if is_corner {
                prop_assert!(seen.iterate[there].is_nan() && seen.staleness[there].is_nan());
                continue;
            }
            let jacobi = whole.as_slice()[row * stride + columns.start + i];
            let lag = seen.staleness[there];
            // In single precision both are exact; in double the iterate is reported rounded.
            if R::EPSILON > 1e-10 {
                prop_assert_eq!(lag, (f64::from(seen.iterate[there]) - jacobi) as f32);
            } else if lag == 0.0 {
                prop_assert_eq!(seen.iterate[there], jacobi as f32);
            }
            // The halo reaches one point farther with every subiteration after the first.
            let depth = [i, seen.size[0] - 1 - i].into_iter().min().expect("two");
            let down = [j, seen.size[1] - 1 - j].into_iter().min().expect("two");
            let depth = if line { depth } else { depth.min(down) };
            if depth >= at.max(1) {
                prop_assert_eq!(lag, 0.0, "{} points in after {}", depth, at);
            }
        }
    }
    nothing_stale_is_beyond_the_front(case, &seen, &whole, at)?;
    updates_are_those_of_the_subiteration::<R>(case, &seen)?;

    // What the tile owns at the end is what the cycle writes.
    solver.cycle();
    let next = solver.solution().expect("it");
    for row in seen.owned[1].clone() {
        for i in seen.owned[0].clone() {
            let j = if line { case.k } else { row - rows.start + 1 };
            let value = end.iterate[j * seen.size[0] + i - columns.start + 1];
            prop_assert_eq!(value.to_bits(), (next.at(i, row) as f32).to_bits());
        }
    }
    Ok(())
}

/// Points that the stale front has not reached have the bits of as many sweeps of Jacobi's iteration on all of
/// the grid.
fn nothing_stale_is_beyond_the_front(
    case: &Case,
    seen: &Inside,
    jacobi: &Field<f64>,
    sweeps: usize,
) -> Result<(), TestCaseError> {
    let (tiling, tile) = (case.tiling(), seen.tile.expect("one tile"));
    let columns = tiling.x().untouched(tile[0], sweeps);
    let (width, area) = (seen.size[0], seen.size[0] * seen.size[1]);
    let (rows, last) = match tiling.y() {
        Some(y) => (y.untouched(tile[1], sweeps), seen.states.len() - area),
        None => (0..1, sweeps * width),
    };
    for row in rows {
        let down = if tiling.y().is_some() { row - seen.computed[1].start + 1 } else { 0 };
        for i in columns.clone() {
            let value = seen.states[last + down * width + i - seen.computed[0].start + 1];
            prop_assert_eq!(value.to_bits(), jacobi.at(i, row).to_bits(), "i {}, row {}", i, row);
        }
    }
    Ok(())
}

/// The numbers of an update, put together as the stencil says, give the value that is reported after it.
fn updates_are_those_of_the_subiteration<R: Num>(
    case: &Case,
    seen: &Inside,
) -> Result<(), TestCaseError> {
    let (problem, is_line) = (&case.problem, case.problem.shape.dim() == 1);
    let stencil = *problem.operator.stencil().expect("a grid");
    for cell in (0..seen.size[0]).flat_map(|x| (0..seen.size[1]).map(move |y| [x, y])) {
        let Some(update) = seen.update_at(cell, is_line) else { continue };
        let [i, row] = update.point.place(&problem.shape).expect("a point");
        let b = problem.rhs.at(problem.shape.nx(), i, row);
        let terms = stencil.neighbours().into_iter().zip(update.neighbours);
        let terms = terms.flat_map(|(entries, values)| [0, 1].map(|at| -entries[at] * values[at]));
        let terms: Vec<f64> = terms.chain([b]).map(|term| term / stencil.d).collect();
        let size: f64 = terms.iter().map(|term| term.abs()).sum();
        let jacobi: f64 = terms.iter().sum();
        let rounding = 16.0 * R::EPSILON * size + f64::from(f32::MIN_POSITIVE);
        prop_assert!((update.after - jacobi).abs() <= rounding, "{:?}: {}", update, jacobi);
    }
    Ok(())
}

/// A slice of a 3D tile, too, has the cycle's values, and Jacobi's before the stale front.
fn slice_is_followed<R: Num>(
    case: &Case,
    slice: Slice,
    tile: [usize; 2],
    at: usize,
) -> Result<(), TestCaseError> {
    let mut solver = case.plain::<R>(case.hierarchical());
    let at = at % (case.k + 1);
    let follow = |sweeps| {
        let of = Followed::Tile(tile, Some(slice));
        followed::<R>(case, solver.as_ref(), of, sweeps).expect("a small tile")
    };
    let (seen, end) = (follow(at), follow(case.k));
    prop_assert_eq!(seen.slice, Some(slice));
    prop_assert_eq!(seen.size, [0, 1].map(|axis| seen.computed[axis].len() + 2));
    let mut classic = case.plain::<R>(Method::Classic);
    for _ in 0..at {
        classic.cycle();
    }
    let jacobi = classic.solution().expect("it");
    updates_are_those_of_the_subiteration::<R>(case, &seen)?;
    solver.cycle();
    let next = solver.solution().expect("it");
    let (shape, tiling) = (case.problem.shape, case.tiling());
    let [columns, rows] = &seen.computed;
    let last = seen.states.len() - seen.size[0] * seen.size[1];
    for (i, j) in columns.clone().flat_map(|i| rows.clone().map(move |j| (i, j))) {
        let cell = (j - rows.start + 1) * seen.size[0] + i - columns.start + 1;
        let (point, [column, row]) = (slice.point([i, j]), slice.place([i, j], &shape));
        let exact = jacobi.at(column, row);
        prop_assert_eq!(seen.staleness[cell], (seen.states[last + cell] - exact) as f32);
        let [across, down] = slice.axes();
        let tile = seen.tile.expect("one tile");
        let is_fresh = (0..3).all(|axis| {
            let of = &tiling.axes()[axis];
            let tile = match axis {
                _ if axis == across => tile[0],
                _ if axis == down => tile[1],
                _ => of.owner(slice.index),
            };
            of.untouched(tile, at).contains(&point[axis])
        });
        prop_assert!(!is_fresh || seen.states[last + cell].to_bits() == exact.to_bits());
        if seen.owned[0].contains(&i) && seen.owned[1].contains(&j) {
            prop_assert_eq!(end.iterate[cell].to_bits(), (next.at(column, row) as f32).to_bits());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn slices_of_a_tile_are_those_of_the_cycle(
        case in tall_volume(),
        (axis, index) in (0..3_usize, any::<u16>()),
        tile in [0..5_usize, 0..9_usize],
        at in 0..10_usize,
    ) {
        let slice = Slice { axis, index: usize::from(index) % case.problem.shape.axes()[axis] };
        slice_is_followed::<f64>(&case, slice, tile, at)?;
        slice_is_followed::<f32>(&case, slice, tile, at)?;
    }

    #[test]
    fn all_tiles_of_a_line_are_followed_as_each_alone(case in case()) {
        line_is_followed::<f64>(&case)?;
        line_is_followed::<f32>(&case)?;
    }

    #[test]
    fn subiterations_of_a_tile_are_those_of_the_cycle(
        case in case(), tile in [0..9_usize, 0..9_usize], at in 0..10_usize,
    ) {
        cycle_is_followed::<f64>(&case, tile, at)?;
        cycle_is_followed::<f32>(&case, tile, at)?;
    }
}
