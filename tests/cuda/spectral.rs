//! Kernel `spectral` agrees with true subiterations up to rounding, has the same bits from run to run, and makes as many
//! cycles as were counted independently.

use crate::cases::{Case, MOST_TOLERANCE, case};
use crate::devices::{is_near, made, of_planes, on_gpus, same, shared};
use crate::iterates::{LEAST, bits, check, is_slowed, large, plain_cycles, settings, share};
use crate::volumes::volume;
use proptest::prelude::*;
use std::cell::Cell;
use std::sync::Arc;
use tilescope::grid::{Field, Precision, Shape, Tiling};
use tilescope::problem::{Boundary, Problem, Source, Stencil};
use tilescope::solver::{
    self, CycleNorms, Kernel, Method, NormRequest, Solver, SolverError, Spectral, Subiterations,
};

/// Cycles after which iterates are compared.
const COMPARED: [usize; 3] = [1, 20, 100];

/// Point updates on a CPU that a case may take, or fewer cycles are compared.
const MOST_UPDATES: f64 = 4e7;

pub const TESTS: &[(&str, fn())] = &[
    ("spectral_cycles_are_sweeps_to_rounding", spectral_cycles_are_sweeps_to_rounding),
    ("spectral_cycles_with_exact_tiles", spectral_cycles_with_exact_tiles),
    ("blocks_take_many_cubes_in_any_order", blocks_take_many_cubes_in_any_order),
    ("strips_make_many_cycles_as_single_ones", strips_make_many_cycles_as_single_ones),
    ("runs_of_strips_share_a_gpu", runs_of_strips_share_a_gpu),
    ("checked_cycles_in_the_sine_basis", checked_cycles_in_the_sine_basis),
    ("devices_in_the_sine_basis_are_one", devices_in_the_sine_basis_are_one),
];

/// The largest value of an iterate, but no less than what loses digits to underflow.
fn largest(solver: &dyn Solver) -> f64 {
    let values = solver.solution().expect("a solution").to_interior();
    values.iter().fold(f64::MIN_POSITIVE / f64::EPSILON, |most, u| most.max(u.abs()))
}

/// Cycles on poison, twice on a GPU for the same bits, and on the CPU: `expected` makes them there. Returns whether the
/// kernel takes the tiles.
fn compare_spectral(case: &Case, spectral: Method, expected: Method, precision: Precision) -> bool {
    let on_gpu = || {
        let method = spectral.clone();
        crate::gpu::poisoned_solver(&case.problem, method, precision, Kernel::SPECTRAL, None)
    };
    let (mut gpu, mut again) = match (on_gpu(), on_gpu()) {
        (Ok(gpu), Ok(again)) => (gpu, again),
        (Err(SolverError::Kernel { .. }), _) => return false,
        (Err(error), _) | (_, Err(error)) => panic!("{error}"),
    };
    let Method::Spectral(map) = &spectral else { unreachable!("in the sine basis") };
    let results = 1 + usize::from(matches!(expected, Method::Spectral(_)));
    let mut cpu = solver::on_cpu(&case.problem, expected, precision, 1).expect("memory");
    let range = if precision == Precision::F64 { f64::MAX } else { f32::MAX.into() };
    let mut size = largest(&*cpu);
    for cycle in 1..=COMPARED[2] {
        let norms = gpu.cycles(1, NormRequest::RESIDUAL_L2).expect("a GPU at work").norms[0];
        plain_cycles(&mut *again, 1);
        let here = cpu.cycles(1, NormRequest::ALL).expect("a CPU").norms[0];
        if cycle == 1 {
            let (there, here) = (norms.residual_before.l2, here.residual_before.l2);
            assert!((there - here).abs() <= 1e-11 * here.max(f64::MIN_POSITIVE), "{there} {here}");
        }
        // The rounding errors of earlier cycles remain, which may have had much larger iterates.
        size = size.max(largest(&*cpu));
        if size > range / 1e9 {
            // An iterate that diverges overflows here and there, but not in the same cycle.
            return true;
        }
        if !COMPARED.contains(&cycle) {
            continue;
        }
        let tolerance = case.sine_rounding(map.k(), precision, results, cycle) * case.growth(cycle);
        if tolerance > MOST_TOLERANCE {
            return true;
        }
        let [there, twice, here] =
            [&gpu, &again, &cpu].map(|solver| solver.solution().expect("a solution"));
        assert!(bits(&there) == bits(&twice), "cycle {cycle} of {spectral:?}");
        let apart = apart(&there, &here) / size;
        assert!(apart <= tolerance, "cycle {cycle}: {apart:e} of {tolerance:e} with {spectral:?}");
        if cycle == COMPARED[1] && updates_of_a_cycle(case) * COMPARED[2] as f64 > MOST_UPDATES {
            break;
        }
    }
    true
}

/// max |a − b|, or NaN if there is one.
fn apart(a: &Field<f64>, b: &Field<f64>) -> f64 {
    let (a, b) = (a.to_interior(), b.to_interior());
    let differences = a.iter().zip(&b).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, |most, value| if value > most || value.is_nan() { value } else { most })
}

/// Of the sweeps of all tiles.
fn updates_of_a_cycle(case: &Case) -> f64 {
    (case.problem.shape.points() * case.k) as f64 * case.tiling().redundancy()
}

/// Of 1D, 2D and 3D grids, with tiles for tensor cores among them.
fn any_tiles() -> impl Strategy<Value = Case> {
    prop_oneof![3 => case(), 1 => large(), 2 => volume(), 3 => for_tensor_cores()]
}

fn spectral_cycles_are_sweeps_to_rounding() {
    let precision = prop::sample::select(Precision::ALL.to_vec());
    let compared = Cell::new(0);
    let count = settings().max(LEAST);
    check(count, (any_tiles(), precision), |(case, precision)| {
        let (k, stencil) = (case.k.into(), case.problem.operator.stencil().expect("a grid"));
        // Weights of different signs, and tiles above 128 points, are refused.
        let Ok(spectral) = Spectral::new(k, &case.tiling(), stencil) else { return };
        let spectral = Method::Spectral(spectral);
        let is_taken = compare_spectral(&case, spectral, case.hierarchical(), precision);
        // The largest boxes are too large for shared memory.
        assert!(is_taken || case.problem.shape.dim() == 3, "{case:?}");
        compared.set(compared.get() + u32::from(is_taken));
    });
    assert!(compared.get() > count / 8, "only {} were compared", compared.get());
}

/// The CPU is compared with a direct solution of every tile in `solver_properties`.
fn spectral_cycles_with_exact_tiles() {
    let compared = Cell::new(0);
    let count = (settings() / 4).max(LEAST);
    let precision = prop::sample::select(Precision::ALL.to_vec());
    check(count, (any_tiles(), precision), |(case, precision)| {
        let stencil = case.problem.operator.stencil().expect("a grid");
        if !stencil.is_dominant() {
            return;
        }
        let exact = Spectral::new(Subiterations::Infinite, &case.tiling(), stencil);
        let Ok(spectral) = exact.map(Method::Spectral) else { return };
        let is_taken = compare_spectral(&case, spectral.clone(), spectral, precision);
        compared.set(compared.get() + u32::from(is_taken));
    });
    assert!(compared.get() > count / 8, "only {} were compared", compared.get());
}

/// More cubes than a GPU works on at a time. In a cycle without norms a block takes the next one that is left; in a cycle with
/// norms each block has its own. The random cubes are fewer.
fn blocks_take_many_cubes_in_any_order() {
    for (side, overlap, [nx, ny, nz]) in
        [(16, 12, [52, 53, 55]), (24, 18, [60, 61, 62]), (32, 24, [72, 74, 79])]
    {
        let shape = Shape::grid_3d(nx, ny, nz).expect("a small shape");
        let stencil = Stencil::poisson(&shape);
        let problem = Arc::new(Problem {
            shape,
            operator: stencil.into(),
            rhs: Source::Random { seed: 1 },
            initial_guess: Source::Random { seed: 2 },
            boundary: Boundary { left: 0.5, back: 0.25, ..Boundary::default() },
        });
        let case = Case { problem, tile: [side; 3], overlap: [overlap; 3], k: 1, cycles: 20 };
        let exact = Spectral::new(Subiterations::Infinite, &case.tiling(), &stencil);
        let exact = Method::Spectral(exact.expect("equal weights"));
        for precision in Precision::ALL {
            let is_taken = compare_spectral(&case, exact.clone(), exact.clone(), precision);
            // The plain form has no room for the largest, on a GPU without clusters.
            assert!(is_taken || side == 32, "{side} {precision:?}");
        }
    }
}

/// Poisson's problem with tiles of 32 points, whose strips make many cycles in a launch where the GPU works on all of them at once.
fn strips(points: [usize; 2], overlap: usize, seed: u64) -> (Arc<Problem>, Method) {
    let shape = Shape::grid_2d(points[0], points[1]).expect("a small shape");
    let stencil = Stencil::poisson(&shape);
    let problem = Problem {
        shape,
        operator: stencil.into(),
        rhs: Source::Random { seed },
        initial_guess: Source::Random { seed: !seed },
        boundary: Boundary { left: 0.5, top: -1.0, ..Boundary::default() },
    };
    let tiling = Tiling::new(&points, &[32; 2], &[overlap; 2]).expect("a tiling");
    let spectral = Spectral::new(20_usize.into(), &tiling, &stencil).expect("equal weights");
    (Arc::new(problem), Method::Spectral(spectral))
}

/// However many are made at a time, with norms or without, and while the iterate before them is observed.
fn strips_make_many_cycles_as_single_ones() {
    let points =
        prop_oneof![prop::array::uniform2(32..200_usize), prop::array::uniform2(200..1300_usize)];
    let turns = prop::collection::vec((any::<bool>(), 1..=700_u64, any::<bool>()), 1..5);
    let cases =
        (points, 0..=14_usize, any::<u64>(), prop::sample::select(Precision::ALL.to_vec()), turns);
    check(share(200), cases, |(points, overlap, seed, precision, turns)| {
        let (problem, method) = strips(points, 2 * overlap, seed);
        let new = || {
            let method = method.clone();
            crate::gpu::poisoned_solver(&problem, method, precision, Kernel::SPECTRAL, None)
                .expect("a GPU that takes it")
        };
        let [mut many, mut single] = [new(), new()];
        for (begins, wanted, measures) in turns {
            let request = if measures { NormRequest::RESIDUAL_L2 } else { NormRequest::NONE };
            if begins {
                many.begin(wanted, request).expect("a GPU at work");
                // What is observed meanwhile stays.
                same_iterates(&*many, &*single);
            }
            let batch = many.cycles(wanted, request).expect("a GPU at work");
            let norms = |norms: &CycleNorms| norms.residual_before.l2.to_bits();
            for made in 0..batch.cycles as usize {
                let one = single.cycles(1, request).expect("a GPU at work");
                assert_eq!(batch.norms.get(made).map(norms), one.norms.first().map(norms));
            }
            same_iterates(&*many, &*single);
        }
    });
}

/// Both have the same iterate and came from the same one.
fn same_iterates(one: &dyn Solver, other: &dyn Solver) {
    let iterates = [one, other].map(|solver| bits(&solver.solution().expect("a solution")));
    assert!(iterates[0] == iterates[1], "another iterate");
    let before = [one, other].map(|solver| bits(&solver.previous().expect("the one before")));
    assert!(before[0] == before[1], "another iterate before");
}

/// All blocks of a launch must run at the same time, also while those of another one want to.
fn runs_of_strips_share_a_gpu() {
    let (cycles, points) = if is_slowed() { (100, [200, 256]) } else { (20_000, [1024, 1000]) };
    let (problem, method) = strips(points, 4, 7);
    let run = || {
        let method = method.clone();
        let mut solver =
            crate::gpu::solver(&problem, method, Precision::F32, Kernel::SPECTRAL).expect("a GPU");
        let mut made = 0;
        while made < cycles {
            made += plain_cycles(&mut *solver, cycles - made);
        }
        bits(&solver.solution().expect("a solution"))
    };
    let iterates = std::thread::scope(|scope| {
        let runs = [scope.spawn(run), scope.spawn(run), scope.spawn(run)];
        runs.map(|run| run.join().expect("a run that ends"))
    });
    assert!(iterates.iter().all(|iterate| *iterate == iterates[0]), "another iterate");
}

/// Devices that share the tiles make the iterates of one GPU to the last bit, and its norms.
fn devices_in_the_sine_basis_are_one() {
    let precision = prop::sample::select(Precision::ALL.to_vec());
    let cases = of_planes(any_tiles());
    let compared = Cell::new(0);
    let settings_of_devices = (cases, precision, 2..=4_usize, made());
    let count = (settings() / 4).max(LEAST);
    check(count, settings_of_devices, |(case, precision, count, made)| {
        let (k, stencil) = (case.k.into(), case.problem.operator.stencil().expect("a grid"));
        let Ok(spectral) = Spectral::new(k, &case.tiling(), stencil) else { return };
        let spectral = Method::Spectral(spectral);
        let several = shared(spectral.clone(), &case.problem.shape, count, 1);
        let on_one =
            crate::gpu::poisoned_solver(&case.problem, spectral, precision, Kernel::SPECTRAL, None);
        let mut one = match on_one {
            Ok(one) => one,
            Err(SolverError::Kernel { .. }) => return,
            Err(error) => panic!("{error}"),
        };
        let mut several = on_gpus(&case.problem, &several, precision, Kernel::SPECTRAL, made)
            .expect("what one GPU takes");
        for cycle in 0..case.cycles + 3 {
            // Without norms blocks may take other tiles.
            if cycle % 2 == 1 {
                for solver in [&mut several, &mut one] {
                    plain_cycles(&mut **solver, 1);
                }
            } else {
                let [there, here] = [&mut several, &mut one].map(|solver| {
                    let made = solver.cycles(1, NormRequest::RESIDUAL_L2).expect("a GPU at work");
                    made.norms[0].residual_before.l2
                });
                assert!(is_near(there, here), "cycle {cycle}: {there} {here} of {case:?}");
            }
            same(&*several, &*one, cycle);
        }
        compared.set(compared.get() + 1);
    });
    assert!(compared.get() > count / 8, "only {} were compared", compared.get());
}

/// Tiles that tensor cores take, of Poisson's problem or with other weights along each axis.
fn for_tensor_cores() -> impl Strategy<Value = Case> {
    let tile = prop::sample::select(vec![
        (1, 32),
        (1, 64),
        (1, 96),
        (1, 128),
        (2, 32),
        (2, 48),
        (2, 64),
        (2, 96),
        (2, 128),
        (3, 16),
        (3, 24),
        (3, 32),
    ]);
    let more = prop::array::uniform3(0..70_usize);
    (tile, more, 0..20_usize, any::<u64>(), 1..=60_usize, any::<bool>()).prop_map(
        |((dim, side), more, overlap, seed, k, is_poisson)| {
            let shape = match dim {
                1 => Shape::grid_1d(side + 3 * more[0], 1 + more[1]),
                2 => Shape::grid_2d(side + more[0], side + more[1]),
                // As many points as the others, about.
                _ => Shape::grid_3d(side + more[0] / 2, side + more[1] / 3, side + more[2] / 4),
            };
            let shape = shape.expect("a small shape");
            let stencil = match is_poisson {
                true => Stencil::poisson(&shape),
                false => Stencil { a: -1.0, c: -1.0, e: -2.5, f: -2.5, p: -0.5, q: -0.5, d: 8.5 },
            };
            let problem = Problem {
                shape,
                operator: stencil.into(),
                rhs: Source::Random { seed },
                initial_guess: Source::Random { seed: !seed },
                boundary: Boundary { left: 0.5, top: -1.0, back: 0.25, ..Boundary::default() },
            };
            let tile = [0, 1, 2].map(|axis| if axis < dim { side } else { 1 });
            let overlap = tile.map(|tile| 2 * (overlap / 2).min(tile / 4));
            let k = if dim == 3 { 1 + k / 3 } else { k };
            Case { problem: Arc::new(problem), tile, overlap, k, cycles: 3 }
        },
    )
}

/// The cycles of the model problem to 1e-4 with exact tiles, computed independently of this project.
fn checked_cycles_in_the_sine_basis() {
    for (axes, tile, overlap, expected) in [
        (&[1024][..], 128, 24, 248),
        (&[1024], 128, 16, 618),
        (&[1024], 64, 16, 1325),
        (&[1024, 1024], 64, 16, 549),
        (&[1024, 1024], 128, 38, 185),
        (&[128, 128, 128], 16, 4, 240),
        (&[128, 128, 128], 32, 4, 114),
        (&[128, 128, 128], 32, 8, 73),
        (&[256, 256, 256], 16, 4, 732),
        (&[256, 256, 256], 32, 8, 225),
    ] {
        if is_slowed() && axes.len() > 1 {
            continue;
        }
        let shape = match *axes {
            [x] => Shape::grid_1d(x, 3),
            [x, y] => Shape::grid_2d(x, y),
            [x, y, z] => Shape::grid_3d(x, y, z),
            _ => unreachable!("one to three axes"),
        };
        let shape = shape.expect("a small shape");
        let stencil = Stencil::poisson(&shape);
        let problem = Arc::new(Problem {
            shape,
            operator: stencil.into(),
            rhs: Source::Constant(1.0),
            initial_guess: Source::Constant(1.0),
            boundary: Boundary::default(),
        });
        let dim = axes.len();
        let tiling = Tiling::new(axes, &[tile; 3][..dim], &[overlap; 3]).expect("a tiling");
        let spectral =
            Spectral::new(Subiterations::Infinite, &tiling, &stencil).expect("equal weights");
        let method = Method::Spectral(spectral);
        let mut gpu = crate::gpu::solver(&problem, method, Precision::F64, Kernel::SPECTRAL)
            .expect("a GPU that takes it");
        let mut norms = Vec::new();
        // A cycle reports the residual of the iterate that it starts from.
        let cycles = loop {
            let batch = gpu.cycles(256, NormRequest::RESIDUAL_L2).expect("a GPU at work");
            norms.extend(batch.norms.iter().map(|norms| norms.residual_before.l2));
            if let Some(cycles) = norms.iter().position(|norm| *norm < 1e-4 * norms[0]) {
                break cycles;
            }
        };
        println!("{shape}, tile {tile}, overlap {overlap}: {cycles} cycles");
        assert_eq!(cycles, expected, "{shape}, tile {tile}, overlap {overlap}");
    }
}
