//! Every kernel that makes sweeps gives the bits of the CPU.

use crate::cases::{Case, case, per_point_case, with_random_rows};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;
use std::sync::Arc;
use tilescope::grid::{Field, Precision, Shape};
use tilescope::problem::{Boundary, Problem, Source, Stencil};
use tilescope::run::BLOCK_SIZES;
use tilescope::solver::{self, CycleNorms, Kernel, Method, MethodName, NormRequest, Solver};

pub const TESTS: &[(&str, fn())] = &[
    ("every_kernel_gives_the_bits_of_the_cpu", every_kernel_gives_the_bits_of_the_cpu),
    ("kernel_classic_has_these_bits_with_any_block", kernel_classic_has_these_bits_with_any_block),
    ("large_tiles_too", large_tiles_too),
    ("coefficients_per_point_too", coefficients_per_point_too),
    ("many_cycles_replayed_are_the_same_cycles", many_cycles_replayed_are_the_same_cycles),
    ("a_pyramid_is_jacobis_iteration", a_pyramid_is_jacobis_iteration),
];

/// How many random settings are compared, unless the environment says otherwise.
const SETTINGS: u32 = 2000;

/// The fewest of them, where not every one is taken and a test of none would pass.
pub const LEAST: u32 = 12;

pub fn settings() -> u32 {
    let chosen = std::env::var("TILESCOPE_CUDA_SETTINGS").ok();
    chosen.and_then(|number| number.parse().ok()).unwrap_or(SETTINGS)
}

/// `full` with the usual number of random settings, and a share of it with fewer: what a sanitizer slows down a
/// thousand times must be able to end.
pub fn share(full: u32) -> u32 {
    let share = u64::from(full) * u64::from(settings()) / u64::from(SETTINGS);
    u32::try_from(share).map_or(full, |share| share.clamp(1, full))
}

/// Whether something that slows kernels down runs these tests, with few settings and perhaps beside others on the GPU.
pub fn is_slowed() -> bool {
    settings() < SETTINGS / 100
}

/// The bits of an iterate. One may diverge, and NaN is NaN: a processor has its own bits for it.
pub fn bits(field: &Field<f64>) -> Vec<u64> {
    let known = field.to_interior().into_iter();
    known.map(|value| if value.is_nan() { f64::NAN } else { value }.to_bits()).collect()
}

/// A request for all norms, or for ‖r‖₂ alone.
pub fn request(with_maxima: bool) -> NormRequest {
    if with_maxima { NormRequest::ALL } else { NormRequest::RESIDUAL_L2 }
}

/// The maxima of a cycle, as bits; `None` where they were not found.
pub fn maxima(norms: &CycleNorms) -> [Option<u64>; 2] {
    [norms.residual_before.max, norms.max_change].map(|maximum| maximum.map(f64::to_bits))
}

/// Checks a property on as many random cases.
pub fn check<S: Strategy>(count: u32, strategy: S, property: impl Fn(S::Value))
where
    S::Value: std::fmt::Debug,
{
    // A share of few settings is one at least: a test of none would pass.
    let config = Config { cases: count.max(1), failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let result = runner.run(&strategy, |value| {
        property(value);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

/// Makes cycles, on poison, on a GPU and on the CPU, and compares what comes out, unless the kernel
/// refuses the method; returns whether it did.
pub fn compare(case: &Case, method: &Method, precision: Precision, kernel: Kernel) -> bool {
    compare_with(case, method, precision, kernel, None)
}

/// The same with this number of threads per block of kernel classic.
pub fn compare_with(
    case: &Case,
    method: &Method,
    precision: Precision,
    kernel: Kernel,
    block_size: Option<u32>,
) -> bool {
    let (problem, tried) = (&case.problem, method.clone());
    let mut gpu = match crate::gpu::poisoned_solver(problem, tried, precision, kernel, block_size) {
        Ok(solver) => solver,
        Err(solver::SolverError::Kernel { .. }) => return false,
        Err(error) => panic!("{error}"),
    };
    if let Some(threads) = block_size {
        let footprint = gpu.device().expect("a GPU").footprint;
        assert_eq!(footprint.threads, threads);
    }
    let mut cpu = solver::on_cpu(&case.problem, method.clone(), precision, 1).expect("memory");
    for cycle in 0..case.cycles {
        let with_maxima = (cycle + case.k).is_multiple_of(2);
        let there = gpu.cycles(1, request(with_maxima)).expect("a GPU at work").norms[0];
        let here = cpu.cycles(1, NormRequest::ALL).expect("a CPU").norms[0];
        let same = |a: f64, b: f64| (a - b).abs() <= 1e-11 * b.abs().max(f64::MIN_POSITIVE);
        assert!(
            same(there.residual_before.l2, here.residual_before.l2),
            "cycle {cycle}: {there:?} {here:?}"
        );
        assert_eq!(maxima(&there), if with_maxima { maxima(&here) } else { [None, None] });
        let found = gpu.norms(NormRequest::MAX_CHANGE).expect("a GPU");
        assert_eq!(found.max_change.map(f64::to_bits), maxima(&here)[1]);
    }
    let (there, here) = (gpu.solution().expect("a GPU"), cpu.solution().expect("a CPU"));
    assert!(bits(&there) == bits(&here), "kernel {:?} {precision:?} {method:?}", gpu.device());
    true
}

fn every_kernel_gives_the_bits_of_the_cpu() {
    let kernels = prop::sample::select(MethodName::ALL.map(Kernel::compared).concat());
    let precision = prop::sample::select(Precision::ALL.to_vec());
    check(settings(), (case(), kernels, precision), |(case, kernel, precision)| {
        let is_tiled = Kernel::of(MethodName::Hierarchical).contains(&kernel);
        let method = if is_tiled { case.hierarchical() } else { Method::Classic };
        let is_taken = compare(&case, &method, precision, kernel);
        // It takes 3D grids only.
        assert!(is_taken || kernel == Kernel::FUSED, "{kernel:?} refuses {method:?}");
    });
}

/// Sizes of the blocks of kernel classic to choose from, with which it has the same bits.
pub fn block_sizes() -> impl Strategy<Value = u32> {
    prop::sample::select(BLOCK_SIZES.map(|threads| threads as u32).to_vec())
}

fn kernel_classic_has_these_bits_with_any_block() {
    let precision = prop::sample::select(Precision::ALL.to_vec());
    let cases = prop_oneof![case(), large()];
    check(settings() / 2, (cases, block_sizes(), precision), |(case, threads, precision)| {
        let (method, kernel) = (Method::Classic, Kernel::CLASSIC);
        assert!(compare_with(&case, &method, precision, kernel, Some(threads)), "{threads}");
    });
}

/// Tiles that take several warps, or long 1D tiles.
pub fn large() -> impl Strategy<Value = Case> {
    let line = (200..=1500_usize, 1..=3_usize, 65..=1024_usize)
        .prop_map(|(n, copies, tile)| (Shape::grid_1d(n, copies), [tile, 1, 1]));
    let plane = (40..=300_usize, 40..=200_usize, 33..=128_usize, 17..=70_usize)
        .prop_map(|(nx, ny, x, y)| (Shape::grid_2d(nx, ny), [x, y, 1]));
    let exact = (100..=300_usize, 100..=200_usize, 1..=4_usize, 1..=2_usize)
        .prop_map(|(nx, ny, x, y)| (Shape::grid_2d(nx, ny), [32 * x, 32 * y, 1]));
    let shapes = prop_oneof![line, plane, exact];
    (shapes, any::<u64>(), 1..=40_usize, 0..=16_usize, 0..3_u8).prop_map(
        |((shape, tile), seed, k, overlap, form)| {
            let shape = shape.expect("a small shape");
            let poisson = Stencil::poisson(&shape);
            let is_line = shape.dim() == 1;
            let stencil = match form {
                0 => poisson,
                1 if !is_line => Stencil { a: -1.0, c: -1.0, e: -2.5, f: -2.5, d: 7.5, ..poisson },
                _ if is_line => Stencil { a: -1.0, c: -1.5, d: 3.0, ..poisson },
                _ => Stencil { a: -1.0, c: -1.5, e: -2.0, f: -0.5, d: 5.5, ..poisson },
            };
            let most = |tile: usize| 2 * (overlap / 2).min(tile.saturating_sub(2) / 2);
            let y = if is_line { 0 } else { 0.25_f64.to_bits() };
            let boundary = Boundary {
                left: 0.5,
                right: -1.0,
                top: f64::from_bits(y),
                bottom: f64::from_bits(y),
                ..Boundary::default()
            };
            let problem = Problem {
                shape,
                operator: stencil.into(),
                rhs: Source::Random { seed },
                initial_guess: Source::Random { seed: !seed },
                boundary,
            };
            Case { problem: Arc::new(problem), tile, overlap: tile.map(most), k, cycles: 3 }
        },
    )
}

fn large_tiles_too() {
    let kernels = prop::sample::select(Kernel::compared(MethodName::Hierarchical));
    let precision = prop::sample::select(Precision::ALL.to_vec());
    let compared = Cell::new(0);
    check(settings() / 4, (large(), kernels, precision), |(case, kernel, precision)| {
        let is_taken = compare(&case, &case.hierarchical(), precision, kernel);
        compared.set(compared.get() + u32::from(is_taken));
    });
    // The largest are too large for shared memory.
    assert!(compared.get() > settings() / 8, "only {} were compared", compared.get());
}

/// On small tiles, which a block of threads keeps in registers, and on those that it passes over.
fn coefficients_per_point_too() {
    let kernel = prop::sample::select(vec![Kernel::AUTO, Kernel::SHARED, Kernel::CLASSIC]);
    let precision = prop::sample::select(Precision::ALL.to_vec());
    let compared = Cell::new(0);
    let cases = prop_oneof![3 => per_point_case(), 1 => with_random_rows(large())];
    check(settings() / 2, (cases, kernel, precision), |(case, kernel, precision)| {
        let is_classic = kernel == Kernel::CLASSIC;
        let method = if is_classic { Method::Classic } else { case.hierarchical() };
        let is_taken = compare(&case, &method, precision, kernel);
        compared.set(compared.get() + u32::from(is_taken));
    });
    // The largest are too large for shared memory.
    assert!(compared.get() > settings() / 4, "only {} were compared", compared.get());
    check(share(20), (per_point_case(), Just(Kernel::REGISTER)), |(case, kernel)| {
        assert!(!compare(&case, &case.hierarchical(), Precision::F64, kernel), "it has no rows");
    });
}

fn many_cycles_replayed_are_the_same_cycles() {
    let cases = prop_oneof![case(), per_point_case()];
    check(share(40), (cases, 100..=u64::from(share(700).max(120))), |(case, cycles)| {
        for (method, kernel) in [
            (Method::Classic, Kernel::AUTO),
            (case.hierarchical(), Kernel::AUTO),
            (case.hierarchical(), Kernel::SHARED),
            (case.hierarchical().damped(0.8), Kernel::AUTO),
        ] {
            let on_gpu = || {
                crate::gpu::solver(&case.problem, method.clone(), Precision::F64, kernel)
                    .expect("a GPU that takes it")
            };
            let mut cpu =
                solver::on_cpu(&case.problem, method.clone(), Precision::F64, 1).expect("memory");
            let mut expected = Vec::new();
            for _ in 0..cycles {
                expected.extend(cpu.cycles(1, NormRequest::ALL).expect("a CPU").norms);
            }
            let here = bits(&cpu.solution().expect("a CPU"));
            let mut measured = on_gpu();
            let mut norms = Vec::new();
            while (norms.len() as u64) < cycles {
                let left = cycles - norms.len() as u64;
                norms.extend(measured.cycles(left, NormRequest::ALL).expect("a GPU at work").norms);
            }
            assert_eq!(norms.len() as u64, cycles);
            for (there, here) in norms.iter().zip(&expected) {
                assert_eq!(maxima(there), maxima(here));
            }
            assert!(bits(&measured.solution().expect("a GPU")) == here);
            let mut plain = on_gpu();
            let mut made = 0;
            while made < cycles {
                made += plain_cycles(&mut *plain, cycles - made);
            }
            assert!(bits(&plain.solution().expect("a GPU")) == here);
            plain.restart().expect("a GPU");
            let again = plain.cycles(1, NormRequest::ALL).expect("a GPU at work").norms[0];
            assert_eq!(maxima(&again), maxima(&expected[0]));
        }
    });
}

pub fn plain_cycles(solver: &mut dyn Solver, most: u64) -> u64 {
    solver.cycles(most, NormRequest::NONE).expect("a GPU at work").cycles
}

fn a_pyramid_is_jacobis_iteration() {
    check(share(60), case(), |case| {
        let overlaps = case.tile.map(|tile| tile.saturating_sub(2) & !1);
        let k = 1 + overlaps.into_iter().take(case.problem.shape.dim()).min().unwrap_or(0) / 2;
        let wide = Case { overlap: overlaps, k, ..case };
        for kernel in Kernel::compared(MethodName::Hierarchical) {
            let problem = &wide.problem;
            let mut tiled =
                crate::gpu::solver(problem, wide.hierarchical(), Precision::F64, kernel)
                    .expect("a GPU that takes it");
            let mut classic =
                crate::gpu::solver(problem, Method::Classic, Precision::F64, Kernel::AUTO)
                    .expect("a GPU");
            let mut made = 0;
            while made < k as u64 {
                made += plain_cycles(&mut *classic, k as u64 - made);
            }
            plain_cycles(&mut *tiled, 1);
            let (one, other) = (tiled.solution().expect("it"), classic.solution().expect("it"));
            assert!(bits(&one) == bits(&other));
        }
    });
}
