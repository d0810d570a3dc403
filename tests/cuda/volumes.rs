//! 3D grids: every kernel and every observation against the CPU, and the checked figures.

use crate::cases::Case;
use crate::devices::is_near;
use crate::iterates::{block_sizes, check, compare, compare_with, settings, share};
use crate::observations::{bits, near};
use proptest::prelude::*;
use std::cell::Cell;
use std::sync::Arc;
use tilescope::grid::{Precision, Shape, Slice, Tiling};
use tilescope::problem::{Boundary, Problem, Source, Stencil};
use tilescope::solver::{
    self, FieldRequest, Kernel, Method, MethodName, NormRequest, Quantity, Solver, SolverError,
    Window,
};

pub const TESTS: &[(&str, fn())] = &[
    ("volumes_have_the_bits_of_the_cpu", volumes_have_the_bits_of_the_cpu),
    (
        "kernel_classic_has_these_bits_of_a_volume_with_any_block",
        kernel_classic_has_these_bits_of_a_volume_with_any_block,
    ),
    ("many_cycles_of_a_volume_are_the_same_cycles", many_cycles_of_a_volume),
    ("sweeps_that_are_made_together_are_those_of_the_cpu", sweeps_that_are_made_together),
    ("fields_of_volumes_are_those_of_the_cpu", fields_of_volumes_are_those_of_the_cpu),
    ("checked_figures_of_volumes", checked_figures_of_volumes),
    ("kernels_refuse_volumes_by_name", kernels_refuse_volumes_by_name),
];

/// Every form of the weights of a 3D grid.
fn stencil(form: u8, shape: &Shape) -> Stencil {
    match form {
        0 => Stencil { a: -1.0, c: -1.0, e: -1.0, f: -1.0, p: -1.0, q: -1.0, d: 6.5 },
        1 => Stencil { a: -1.0, c: -1.0, e: -2.5, f: -2.5, p: 0.5, q: 0.5, d: 8.5 },
        2 => Stencil { a: -1.0, c: -1.5, e: -2.0, f: -0.5, p: -0.75, q: 1.25, d: 7.5 },
        3 => Stencil::convection_diffusion(shape, [9.0, -4.0, 2.5]),
        _ => Stencil::poisson(shape),
    }
}

/// Tiles of every function of the kernel, and of any sides; their product is limited, so that most fit.
fn tile() -> impl Strategy<Value = [usize; 3]> {
    prop_oneof![
        Just([16; 3]),
        (1..=40_usize).prop_map(|z| [32, 32, z]),
        (2..=40_usize, 2..=12_usize).prop_map(|(x, y)| [x, y, 16]),
        (2..=40_usize, 2..=12_usize).prop_map(|(x, y)| [x, y, 8]),
        (1..=20_usize, 1..=20_usize, 1..=20_usize).prop_map(|(x, y, z)| [x, y, z]),
        (20..=90_usize, 1..=6_usize, 1..=6_usize).prop_map(|(x, y, z)| [x, y, z]),
        (1..=6_usize, 1..=6_usize, 20..=60_usize).prop_map(|(x, y, z)| [x, y, z]),
    ]
}

pub fn volume() -> impl Strategy<Value = Case> {
    let shape = prop_oneof![
        (1..=70_usize, 1..=40_usize, 1..=40_usize),
        (32..=75_usize, 32..=70_usize, 1..=30_usize),
        (1..=300_usize, 1..=9_usize, 1..=9_usize),
        (1..=9_usize, 1..=9_usize, 1..=300_usize),
    ];
    let boundary = prop::array::uniform6(-3.0..3.0_f64);
    let overlap = prop::array::uniform3(0..=9_usize);
    let source = || {
        prop_oneof![
            3 => any::<u64>().prop_map(|seed| Source::Random { seed }),
            1 => Just(Source::Constant(1.0)),
        ]
    };
    let sources = (source(), source());
    (
        shape,
        0..5_u8,
        tile(),
        overlap,
        boundary,
        sources,
        prop_oneof![1..=11_usize, Just(7)],
        1..=3_usize,
    )
        .prop_map(
            |((nx, ny, nz), form, tile, overlap, sides, (rhs, initial_guess), k, cycles)| {
                let shape = Shape::grid_3d(nx, ny, nz).expect("a small shape");
                let [left, right, top, bottom, front, back] = sides;
                let problem = Problem {
                    shape,
                    operator: stencil(form, &shape).into(),
                    rhs,
                    initial_guess,
                    boundary: Boundary { left, right, top, bottom, front, back },
                };
                let clipped = [0, 1, 2].map(|axis| tile[axis].min(shape.axes()[axis]));
                let most = |axis: usize| 2 * overlap[axis].min(clipped[axis].saturating_sub(2) / 2);
                let overlap = [0, 1, 2].map(most);
                Case { problem: Arc::new(problem), tile: clipped, overlap, k, cycles }
            },
        )
}

fn volumes_have_the_bits_of_the_cpu() {
    let kernels = prop::sample::select(vec![Kernel::CLASSIC, Kernel::SHARED, Kernel::SHARED]);
    let precision = prop::sample::select(Precision::ALL.to_vec());
    let compared = Cell::new(0);
    check(settings(), (volume(), kernels, precision), |(case, kernel, precision)| {
        let is_tiled = Kernel::of(MethodName::Hierarchical).contains(&kernel);
        let method = if is_tiled { case.hierarchical() } else { Method::Classic };
        let is_taken = compare(&case, &method, precision, kernel);
        assert!(is_taken || is_tiled, "{kernel:?} refuses {method:?}");
        compared.set(compared.get() + u32::from(is_taken));
    });
    // Some do not fit into shared memory.
    assert!(compared.get() > settings() * 9 / 10, "only {} were compared", compared.get());
}

fn kernel_classic_has_these_bits_of_a_volume_with_any_block() {
    let precision = prop::sample::select(Precision::ALL.to_vec());
    check(settings() / 4, (volume(), block_sizes(), precision), |(case, threads, precision)| {
        let (method, kernel) = (Method::Classic, Kernel::CLASSIC);
        assert!(compare_with(&case, &method, precision, kernel, Some(threads)), "{threads}");
    });
}

fn many_cycles_of_a_volume() {
    check(share(15), (volume(), 30..=u64::from(share(300).max(40))), |(case, cycles)| {
        for method in [Method::Classic, case.hierarchical()] {
            let gpu =
                crate::gpu::solver(&case.problem, method.clone(), Precision::F64, Kernel::AUTO);
            let mut gpu = match gpu {
                Ok(gpu) => gpu,
                Err(SolverError::Kernel { .. }) => continue,
                Err(error) => panic!("{error}"),
            };
            let mut cpu = solver::on_cpu(&case.problem, method, Precision::F64, 1).expect("memory");
            let mut made = 0;
            while made < cycles {
                made += gpu.cycles(cycles - made, NormRequest::NONE).expect("a GPU").cycles;
            }
            for _ in 0..cycles {
                cpu.cycles(1, NormRequest::NONE).expect("a CPU");
            }
            let (there, here) = (gpu.solution().expect("it"), cpu.solution().expect("it"));
            assert!(crate::iterates::bits(&there) == crate::iterates::bits(&here));
            let before = [&gpu, &cpu].map(|solver| solver.previous().expect("it"));
            assert!(
                crate::iterates::bits(&before[0]) == crate::iterates::bits(&before[1]),
                "another iterate before the last cycle"
            );
        }
    });
}

/// Volumes that are wide enough for kernel `fused`.
pub fn wide() -> impl Strategy<Value = Case> {
    (volume(), 32..=90_usize, 32..=80_usize, 1..=40_usize).prop_map(|(case, x, y, z)| {
        let shape = Shape::grid_3d(x, y, z).expect("a small shape");
        let problem = Problem { shape, ..(*case.problem).clone() };
        Case { problem: Arc::new(problem), ..case }
    })
}

/// Cycles of batches, and which of their norms are requested.
pub fn batches() -> impl Strategy<Value = Vec<(u64, NormRequest)>> {
    let norms = prop::sample::select(vec![
        NormRequest::NONE,
        NormRequest::ALL,
        NormRequest::RESIDUAL_L2,
        NormRequest::RESIDUAL_L2,
    ]);
    prop::collection::vec((1..=40_u64, norms), 1..=4)
}

/// Makes batches, and compares the iterate, the one before, and the norms of every cycle with those of a CPU.
pub fn compare_batches(
    problem: &Arc<Problem>,
    precision: Precision,
    mut gpu: Box<dyn Solver>,
    batches: Vec<(u64, NormRequest)>,
) {
    let mut cpu = solver::on_cpu(problem, Method::Classic, precision, 1).expect("memory");
    for (cycles, request) in batches {
        let mut left = cycles;
        while left > 0 {
            let made = gpu.cycles(left, request).expect("a GPU at work");
            left -= made.cycles;
            for cycle in 0..made.cycles as usize {
                let here = cpu.cycles(1, NormRequest::ALL).expect("a CPU").norms[0];
                let Some(there) = made.norms.get(cycle) else { continue };
                let (there, here) = (there.residual_before.l2, here.residual_before.l2);
                assert!(is_near(there, here), "cycle {cycle}: {there} {here}");
            }
        }
        let fields = |solver: &dyn Solver| {
            [solver.solution(), solver.previous()]
                .map(|field| crate::iterates::bits(&field.expect("it")))
        };
        assert!(fields(&*gpu) == fields(&*cpu), "{cycles} cycles with {request:?}");
    }
}

/// Batches of random lengths of kernel `fused`, with norms and without.
fn sweeps_that_are_made_together() {
    let precision = prop::sample::select(Precision::ALL.to_vec());
    check(settings() / 10, (wide(), precision, batches()), |(case, precision, batches)| {
        let (problem, kernel) = (&case.problem, Kernel::FUSED);
        let gpu = crate::gpu::poisoned_solver(problem, Method::Classic, precision, kernel, None);
        let gpu = gpu.expect("a wide volume");
        assert_eq!(gpu.device().expect("a GPU").kernel, kernel);
        compare_batches(problem, precision, gpu, batches);
    });
}

fn fields_of_volumes_are_those_of_the_cpu() {
    let precision = prop::sample::select(Precision::ALL.to_vec());
    let slice = (0..3_usize, 0.0..1.0_f64);
    let most = (1..=40_usize, 1..=40_usize);
    let cases = (volume(), precision, slice, most);
    check(settings() / 4, cases, |(case, precision, (axis, part), (across, down))| {
        let method = case.hierarchical();
        let gpu = crate::gpu::solver(&case.problem, method.clone(), precision, Kernel::AUTO);
        let mut gpu = match gpu {
            Ok(gpu) => gpu,
            Err(SolverError::Kernel { .. }) => return,
            Err(error) => panic!("{error}"),
        };
        let mut cpu = solver::on_cpu(&case.problem, method, precision, 1).expect("memory");
        let exact = Arc::new(case.other());
        gpu.set_exact(Arc::clone(&exact)).expect("room");
        cpu.set_exact(exact).expect("room");
        for _ in 0..case.cycles {
            let there = gpu.cycles(1, NormRequest::ALL).expect("a GPU at work").norms[0];
            let here = cpu.cycles(1, NormRequest::ALL).expect("a CPU").norms[0];
            assert!(near(there.error.expect("known"), here.error.expect("known")));
        }
        let mut other_there = gpu.with_method(Method::Classic, Kernel::AUTO).expect("room");
        let mut other_here = cpu.with_method(Method::Classic, Kernel::AUTO).expect("room");
        other_there.cycles(1, NormRequest::RESIDUAL_L2).expect("a GPU at work");
        other_here.cycles(1, NormRequest::RESIDUAL_L2).expect("a CPU");
        let shape = case.problem.shape;
        let index = (part * shape.axes()[axis] as f64) as usize;
        let slice = Slice { axis, index };
        let whole = Window::shown(&shape, Some(slice));
        let (columns, rows) = (whole.columns.len(), whole.rows.len());
        let windows = [
            Window { most: [across, down], ..whole.clone() },
            Window {
                columns: columns / 4..columns,
                rows: 0..rows.div_ceil(2),
                most: [across, down],
                ..whole.clone()
            },
            // Rows of the grid, through several planes.
            Window { most: [across, down], ..Window::whole(shape.nx(), shape.rows()) },
        ];
        let points: Vec<_> = (0..shape.rows()).map(|row| [row % shape.nx(), row]).collect();
        let tiling = case.tiling();
        let pairs = [
            (Quantity::Residual, Quantity::Residual),
            (Quantity::Error, Quantity::Error),
            (Quantity::Change, Quantity::Change),
            (Quantity::Solution, Quantity::Solution),
            (Quantity::Difference(&*other_there), Quantity::Difference(&*other_here)),
            // Of another back end.
            (Quantity::Difference(&*other_here), Quantity::Difference(&*other_here)),
        ];
        for (number, (there, here)) in pairs.into_iter().enumerate() {
            for window in &windows {
                let request = |quantity| FieldRequest {
                    quantity,
                    window: Some(window),
                    edge_share: Some(&tiling),
                    statistics: Some(&tiling),
                };
                let one = gpu.observe(request(there)).expect("a GPU");
                let other = cpu.observe(request(here)).expect("a CPU");
                let samples = [&one, &other].map(|found| found.samples.as_ref().expect("wanted"));
                assert_eq!(
                    bits(&samples[0].values),
                    bits(&samples[1].values),
                    "{number} {window:?}"
                );
                assert_eq!(samples[0].slice, samples[1].slice);
                let shares = [&one, &other].map(|found| found.edge_share.expect("wanted"));
                assert!(near(shares[0].residual, shares[1].residual), "{shares:?}");
                assert_eq!(shares[0].points, shares[1].points);
                // As text: a NaN, which stands where no tile owns a point, equals nothing.
                assert_eq!(format!("{:?}", one.statistics), format!("{:?}", other.statistics));
            }
            let one = gpu.values(there, &points).expect("a GPU");
            assert_eq!(bits(&one), bits(&cpu.values(here, &points).expect("a CPU")), "{number}");
        }
        let [there, here] = [&gpu, &cpu].map(|solver| solver.norms(NormRequest::ALL).expect("it"));
        let [one, other] = [there, here].map(|norms| norms.residual.expect("requested"));
        assert!(near(one.l2, other.l2) && one.max == other.max);
        assert!(near(there.error.expect("known"), here.error.expect("known")));
        assert_eq!(there.max_change, here.max_change);
        let row = shape.rows() - 1;
        assert_eq!(gpu.solution_row(row).expect("it"), cpu.solution_row(row).expect("it"));
        let region = [shape.nx(), shape.ny(), shape.nz()].map(|n| n / 3..n);
        let [there, here] = [&gpu, &cpu].map(|solver| solver.solution_part(&region).expect("it"));
        assert_eq!(there, here);
        // A run continues elsewhere.
        let mut moved = crate::gpu::solver(&case.problem, Method::Classic, precision, Kernel::AUTO)
            .expect("a GPU");
        moved.start_from(&cpu.solution().expect("it")).expect("a GPU");
        assert_eq!(moved.solution().expect("it"), cpu.solution().expect("it"));
    });
}

/// The cycles of the model problem to 1e-4, computed independently of this project.
fn checked_figures_of_volumes() {
    for (axes, k, overlap, tile, expected) in [
        ([64, 64, 64], 1, 0, 0, 4345),
        ([64, 64, 64], 8, 0, 16, 711),
        ([64, 64, 64], 8, 4, 16, 549),
        ([64, 64, 64], 8, 14, 16, 544),
        ([128, 128, 128], 1, 0, 0, 13_676),
        ([128, 128, 128], 8, 4, 16, 1728),
        ([48, 40, 56], 6, 2, 12, 468),
    ] {
        if expected > share(100_000) as usize {
            continue;
        }
        let [nx, ny, nz] = axes;
        let shape = Shape::grid_3d(nx, ny, nz).expect("a small shape");
        let problem = Arc::new(Problem {
            shape,
            operator: Stencil::poisson(&shape).into(),
            rhs: Source::Constant(1.0),
            initial_guess: Source::Constant(1.0),
            boundary: Boundary::default(),
        });
        let method = match tile {
            0 => Method::Classic,
            _ => {
                let tiling = Tiling::new(&axes, &[tile; 3], &[overlap; 3]).expect("a tiling");
                Method::Hierarchical { k, tiling }
            }
        };
        let mut gpu = crate::gpu::solver(&problem, method, Precision::F64, Kernel::AUTO)
            .expect("a GPU that takes it");
        let mut norms = Vec::new();
        // A cycle reports the residual of the iterate that it starts from.
        let cycles = loop {
            let batch = gpu.cycles(1024, NormRequest::RESIDUAL_L2).expect("a GPU at work");
            norms.extend(batch.norms.iter().map(|norms| norms.residual_before.l2));
            if let Some(cycles) = norms.iter().position(|norm| *norm < 1e-4 * norms[0]) {
                break cycles;
            }
        };
        println!("{shape}, tile {tile}, overlap {overlap}, k {k}: {cycles} cycles");
        assert_eq!(cycles, expected, "{shape}, tile {tile}, overlap {overlap}, k {k}");
    }
}

fn kernels_refuse_volumes_by_name() {
    let case = Case {
        problem: Arc::new(Problem {
            shape: Shape::grid_3d(64, 64, 64).expect("a small shape"),
            operator: Stencil { d: 6.0, ..stencil(0, &Shape::grid_3d(1, 1, 1).expect("it")) }
                .into(),
            rhs: Source::Constant(1.0),
            initial_guess: Source::Constant(1.0),
            boundary: Boundary::default(),
        }),
        tile: [16; 3],
        overlap: [0; 3],
        k: 4,
        cycles: 1,
    };
    let refusal = |case: &Case, kernel| {
        let solver = crate::gpu::solver(&case.problem, case.hierarchical(), Precision::F64, kernel);
        solver.map(drop).expect_err("refused").to_string()
    };
    let said = refusal(&case, Kernel::REGISTER);
    assert!(said.contains("tile 16x16x16") && said.contains("kernel shared"), "{said}");
    let large = Case { tile: [40; 3], ..case };
    let said = refusal(&large, Kernel::AUTO);
    assert!(said.contains("tile 40x40x40") && said.contains("backend cpu"), "{said}");
}
