//! Pyramids and the wavefront on a GPU: the bits of the CPU, whatever the height, the budget, the shape and the slabs
//! in flight.

use crate::cases::{Case, case, per_point_case};
use crate::devices::{made, on_gpus, same, shared};
use crate::iterates::{bits, check, maxima, request, settings, share};
use crate::observations::near;
use crate::volumes::volume;
use proptest::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use tilescope::grid::{ByteCount, Precision, Shape};
use tilescope::problem::{Boundary, Problem, Source, Stencil};
use tilescope::solver::{
    self, Height, Kernel, Method, MethodName, NormRequest, Pass, PassMoment, SharedParts, Slabs,
    Solver, SolverError, Streaming, Traffic,
};

pub const TESTS: &[(&str, fn())] = &[
    ("planes_through_a_gpu_have_the_bits_of_the_cpu", planes_through_a_gpu),
    ("large_planes_have_them_too", large_planes_have_them_too),
    ("sweeps_made_together_in_a_window_have_them_too", sweeps_made_together),
    ("pinned_arrays_have_them_too", pinned_arrays_have_them_too),
    ("slabs_of_several_devices_make_them_too", slabs_of_several_devices),
    ("sweeps_of_several_devices_make_them_too", sweeps_of_several_devices),
    ("a_pass_is_followed", a_pass_is_followed),
    ("passes_over_planes_begin_anew", passes_over_planes_begin_anew),
    ("other_passes_share_the_arrays", other_passes_share_the_arrays),
    ("coefficients_per_point_do_not_stream_on_a_gpu", coefficients_per_point_do_not_stream),
];

/// A height and a budget that go together: the latter in planes, with less than a plane beside them.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    method: MethodName,
    slabs: Slabs,
    height: usize,
    planes: usize,
    beside: f64,
}

impl Budget {
    pub fn of(self, shape: &Shape, precision: Precision) -> Streaming {
        let values = [1, shape.stride(), shape.plane_stride()][shape.dim() - 1];
        let plane = (3 * values * precision.bytes()) as u64;
        let bytes = self.planes as u64 * plane + (self.beside * (plane - 1) as f64) as u64;
        let (memory, height) = (ByteCount::new(bytes), Height::Sweeps(self.height));
        Streaming::on_gpu(self.method, height, self.slabs, memory, shape, precision)
            .expect("they go together")
    }
}

/// From the fewest planes to more than a grid has, and every height that they have room for.
fn budget() -> impl Strategy<Value = Budget> {
    let pyramid = (3..=90_usize, prop::sample::select(Slabs::ALL.to_vec()), 0.0..1.0_f64).prop_map(
        |(planes, slabs, part)| {
            let at_once = if slabs == Slabs::Two { 2 } else { 1 };
            let planes = planes.max(3 * at_once);
            (MethodName::Pyramid, slabs, planes, (planes / at_once - 1) / 2, part)
        },
    );
    let wavefront = (6..=120_usize, 0.0..1.0_f64)
        .prop_map(|(planes, part)| (MethodName::Wavefront, Slabs::Auto, planes, planes - 5, part));
    (prop_oneof![pyramid, wavefront], 0.0..1.0).prop_map(
        |((method, slabs, planes, most, part), beside)| {
            // Low ones more often: a pass of them has more steps.
            let height = 1 + (part * part * most as f64) as usize;
            Budget { method, slabs, height: height.min(most), planes, beside }
        },
    )
}

/// That of slabs.
pub fn pyramid() -> impl Strategy<Value = Budget> {
    budget().prop_filter("slabs", |it| it.method == MethodName::Pyramid)
}

/// Makes cycles, on poison, and compares iterates and norms with those of the CPU, and what is counted with what is
/// needed.
fn compare(case: &Case, budget: Budget, precision: Precision) {
    let streaming = budget.of(&case.problem.shape, precision);
    let method = Method::Streaming(streaming);
    let (problem, kernel) = (&case.problem, Kernel::AUTO);
    let mut gpu = crate::gpu::poisoned_solver(problem, method.clone(), precision, kernel, None)
        .expect("a GPU with room");
    let mut cpu = solver::on_cpu(problem, Method::Classic, precision, 1).expect("memory");
    assert_eq!(gpu.traffic(), None);
    for cycle in 0..case.cycles as u64 {
        let before = cpu.norms(NormRequest::RESIDUAL).expect("a CPU").residual.expect("requested");
        let at_start = cpu.solution().expect("a CPU");
        for _ in 0..streaming.height() {
            cpu.cycles(1, NormRequest::NONE).expect("a CPU");
        }
        let with_maxima = (cycle + case.k as u64).is_multiple_of(2);
        let found = gpu.cycles(1, request(with_maxima)).expect("a GPU at work").norms[0];
        let [residual, change] = maxima(&found);
        // One that diverges has no norms.
        if before.l2.is_finite() {
            assert!(near(found.residual_before.l2, before.l2), "{found:?} {before:?}");
            // The maximum comes with the sum, requested or not.
            assert_eq!(residual, before.max.map(f64::to_bits));
        }
        let (there, here) = (gpu.solution().expect("it"), cpu.solution().expect("it"));
        assert!(bits(&there) == bits(&here), "cycle {cycle}: {precision:?} {streaming:?}");
        let previous = gpu.previous().expect("it");
        assert!(bits(&previous) == bits(&at_start), "the iterate before");
        let largest = here.to_interior().iter().zip(at_start.to_interior()).fold(
            0.0_f64,
            |largest, (new, old)| match precision {
                Precision::F64 => largest.max((new - old).abs()),
                Precision::F32 => largest.max(f64::from((*new as f32 - old as f32).abs())),
            },
        );
        if largest.is_finite() {
            assert_eq!(change, with_maxima.then_some(largest.to_bits()));
        }
    }
    let (traffic, points) = (gpu.traffic().expect("counted"), problem.shape.points() as u64);
    assert_eq!((traffic.down, traffic.needed), (points, points * streaming.height() as u64));
    assert!(traffic.up >= 2 * points && traffic.updates >= traffic.needed);
    if budget.method == MethodName::Wavefront {
        assert_eq!(traffic.up, 2 * points);
        // Tiles that make several sweeps together compute points twice.
        let is_fused = gpu.device().map(|device| device.kernel) == Some(Kernel::FUSED);
        assert_eq!(traffic.duplicates() > 0, is_fused && streaming.height() >= 5);
    }
    let times = gpu.pass_times().expect("timed");
    assert!(times.steps.iter().flat_map(|it| [it.up, it.sweeps, it.down]).all(|it| it[0] <= it[1]));
    // Of a batch the first system is timed, and of a long pass its beginning.
    let is_whole = times.steps.len() == Pass::on_gpu(&streaming, &problem.shape).steps();
    if is_whole && problem.shape.batch() == 1 {
        let Traffic { up, down, updates, .. } = times.traffic;
        assert_eq!((up, down, updates), (traffic.up, traffic.down, traffic.updates));
    }
}

fn planes_through_a_gpu() {
    let precision = prop::sample::select(Precision::ALL.to_vec());
    let cases = prop_oneof![case(), volume()];
    check(settings() / 2, (cases, budget(), precision), |(case, budget, precision)| {
        compare(&case, budget, precision);
    });
}

/// On several GPUs, or on one that simulates them: what one GPU makes, at most as many times as it has slabs.
fn slabs_of_several_devices() {
    let shapes = prop_oneof![
        (200..=2000_usize, 60..=400_usize).prop_map(|(nx, ny)| Shape::grid_2d(nx, ny)),
        (20..=200_usize, 20..=100_usize, 20..=120_usize)
            .prop_map(|(nx, ny, nz)| Shape::grid_3d(nx, ny, nz)),
    ];
    let precision = prop::sample::select(Precision::ALL.to_vec());
    let settings = (shapes, any::<u64>(), pyramid(), precision, 2..=4_usize, made());
    check(share(100), settings, |(shape, seed, budget, precision, count, made)| {
        let problem = problem(shape.expect("a shape"), seed);
        let streaming = Method::Streaming(budget.of(&problem.shape, precision));
        let method = shared(streaming.clone(), &problem.shape, count, 1);
        let kernel = Kernel::AUTO;
        let mut several = on_gpus(&problem, &method, precision, kernel, made).expect("GPUs");
        let mut one = crate::gpu::solver(&problem, streaming, precision, kernel).expect("a GPU");
        let [there, here] = make_the_same(&mut *several, &mut *one);
        // The slabs of each device begin anew, and one at the end of the grid recomputes fewer planes.
        let points = problem.shape.points() as u64;
        assert!(there.up >= 2 * points && there.updates >= there.needed, "{there:?} {here:?}");
        // Other methods and passes beside it.
        make_the_same_beside(&mut *several, &method);
        let classic = shared(Method::Classic, &problem.shape, count, 1);
        several.with_method(classic, kernel).expect("there is room");
    });
}

/// A wavefront in which each device makes some of the sweeps: on several GPUs, or on one that simulates them, also where all
/// planes go through this machine.
fn sweeps_of_several_devices() {
    let shapes = prop_oneof![
        (20..=3000_usize).prop_map(|n| Shape::grid_1d(n, 1)),
        (200..=2000_usize, 60..=400_usize).prop_map(|(nx, ny)| Shape::grid_2d(nx, ny)),
        (20..=200_usize, 20..=100_usize, 20..=120_usize)
            .prop_map(|(nx, ny, nz)| Shape::grid_3d(nx, ny, nz)),
    ];
    let wavefronts = budget()
        .prop_filter("sweeps to share", |it| it.method == MethodName::Wavefront && it.height > 1);
    let precision = prop::sample::select(Precision::ALL.to_vec());
    let settings = (shapes, any::<u64>(), wavefronts, precision, 2..=4_usize, made());
    check(share(100), settings, |(shape, seed, budget, precision, count, made)| {
        let problem = problem(shape.expect("a shape"), seed);
        let streaming = budget.of(&problem.shape, precision);
        let one = Method::Streaming(streaming);
        let parts = SharedParts::of(&one, &problem.shape).count();
        let method = shared(one.clone(), &problem.shape, count.min(parts), 1);
        let kernel = Kernel::AUTO;
        let mut several = on_gpus(&problem, &method, precision, kernel, made).expect("GPUs");
        let mut one = crate::gpu::solver(&problem, one, precision, kernel).expect("a GPU");
        let [there, _] = make_the_same(&mut *several, &mut *one);
        // Each needs the right-hand side, and the first the iterate.
        let points = problem.shape.points() as u64;
        assert_eq!(there.up, (1 + count.min(parts) as u64) * points);
        let times = several.pass_times().expect("timed");
        let lanes = times.steps.iter().flat_map(|it| [it.up, it.sweeps, it.down]);
        assert!(lanes.into_iter().all(|it| it[0] <= it[1]), "{times:?}");
        make_the_same_beside(&mut *several, &method);
    });
}

/// Makes passes on several devices and on one, which have the same bits and norms; returns what the last of each has moved.
fn make_the_same(several: &mut dyn Solver, one: &mut dyn Solver) -> [Traffic; 2] {
    for cycle in 0..3 {
        // Norms are found on this machine.
        let norms = |solver: &mut dyn Solver| {
            let made = solver.cycles(1, NormRequest::ALL).expect("GPUs at work");
            format!("{:?}", made.norms)
        };
        assert_eq!(norms(several), norms(one), "cycle {cycle}");
        same(several, one, cycle);
    }
    let [there, here] = [several, one].map(|solver| solver.traffic().expect("counted"));
    assert_eq!((there.down, there.needed), (here.down, here.needed));
    [there, here]
}

/// Makes a pass from the start, and another beside it on the same system.
fn make_the_same_beside(several: &mut dyn Solver, method: &Method) {
    several.restart().expect("GPUs");
    let beside = several.with_method(method.clone(), Kernel::AUTO);
    let mut beside = beside.expect("there is room");
    several.cycles(1, NormRequest::NONE).expect("GPUs at work");
    beside.cycles(1, NormRequest::NONE).expect("GPUs at work");
    same(several, &*beside, 0);
}

/// Planes large enough for many blocks, and lines long enough for many chunks; in 1D systems of a batch.
fn large_planes_have_them_too() {
    let shapes = prop_oneof![
        (2000..=40_000_usize, 1..=3_usize).prop_map(|(n, batch)| Shape::grid_1d(n, batch)),
        (200..=3000_usize, 60..=400_usize).prop_map(|(nx, ny)| Shape::grid_2d(nx, ny)),
        (60..=300_usize, 60..=200_usize, 20..=120_usize)
            .prop_map(|(nx, ny, nz)| Shape::grid_3d(nx, ny, nz)),
    ];
    let precision = prop::sample::select(Precision::ALL.to_vec());
    let cases = (shapes, any::<u64>(), budget(), 1..=12_usize, precision);
    check(share(80), cases, |(shape, seed, budget, factor, precision)| {
        let shape = shape.expect("a shape");
        // In 1D a plane is a point: windows of more than a few.
        let scale = if shape.dim() == 1 { 8 * factor } else { 1 };
        let budget = Budget { planes: budget.planes * scale, ..budget };
        let problem = problem(shape, seed);
        let case = Case { problem, tile: [1; 3], overlap: [0; 3], k: seed as usize % 2, cycles: 2 };
        compare(&case, budget, precision);
    });
}

/// Chunks of at least 16 planes, as many as kernel `fused` takes, of grids that are wide enough for it.
fn sweeps_made_together() {
    let shapes = (32..=150_usize, 32..=150_usize, 16..=130_usize)
        .prop_map(|(nx, ny, nz)| Shape::grid_3d(nx, ny, nz));
    let precision = prop::sample::select(Precision::ALL.to_vec());
    let windows = (1..=70_usize, 0..=80_usize, 0.0..1.0);
    let cases = (shapes, any::<u64>(), windows, precision);
    check(settings() / 2, cases, |(shape, seed, (height, more, beside), precision)| {
        let (method, planes) = (MethodName::Wavefront, height + 3 * 16 + 6 + more);
        let budget = Budget { method, slabs: Slabs::Auto, height, planes, beside };
        let problem = problem(shape.expect("a shape"), seed);
        let streaming = Method::Streaming(budget.of(&problem.shape, precision));
        let solver = crate::gpu::solver(&problem, streaming, precision, Kernel::FUSED);
        let kernel = solver.expect("a GPU").device().map(|device| device.kernel);
        assert_eq!(kernel, Some(Kernel::FUSED));
        let case = Case { problem, tile: [1; 3], overlap: [0; 3], k: seed as usize % 2, cycles: 2 };
        compare(&case, budget, precision);
    });
}

fn problem(shape: Shape, seed: u64) -> Arc<Problem> {
    let side = |dim: usize, value: f64| if shape.dim() >= dim { value } else { 0.0 };
    Arc::new(Problem {
        shape,
        operator: Stencil::poisson(&shape).into(),
        rhs: Source::Random { seed },
        initial_guess: Source::Random { seed: !seed },
        boundary: Boundary {
            left: 1.0,
            right: -2.0,
            top: side(2, 0.5),
            bottom: side(2, -0.25),
            front: side(3, 3.0),
            back: side(3, -1.5),
        },
    })
}

/// Arrays of more than 32 MiB are pinned: copies run while planes are swept.
fn pinned_arrays_have_them_too() {
    let shape = Shape::grid_3d(190, 180, 170).expect("a shape");
    let case = |seed| {
        let problem = problem(shape, seed);
        Case { problem, tile: [1; 3], overlap: [0; 3], k: 1, cycles: 2 }
    };
    let budgets = [
        (MethodName::Wavefront, Slabs::Auto, 9, 40),
        (MethodName::Wavefront, Slabs::Auto, 14, 64),
        (MethodName::Pyramid, Slabs::One, 5, 31),
        (MethodName::Pyramid, Slabs::Two, 4, 45),
        (MethodName::Pyramid, Slabs::Two, 3, 400),
    ];
    for (number, (method, slabs, height, planes)) in budgets.into_iter().enumerate() {
        let budget = Budget { method, slabs, height, planes, beside: 0.0 };
        compare(&case(number as u64), budget, Precision::F64);
    }
}

/// The GPU notes how far a pass has come while it makes it: moments follow each other, up to its end.
fn a_pass_is_followed() {
    let shape = Shape::grid_3d(512, 512, 600).expect("a shape");
    let budget = Budget {
        method: MethodName::Wavefront,
        slabs: Slabs::Auto,
        height: 4,
        planes: 110,
        beside: 0.0,
    };
    let streaming = budget.of(&shape, Precision::F64);
    let method = Method::Streaming(streaming);
    let problem = problem(shape, 5);
    let mut gpu =
        crate::gpu::poisoned_solver(&problem, method, Precision::F64, Kernel::CLASSIC, None)
            .expect("a GPU with room");
    let progress = gpu.pass_progress().expect("a GPU that can tell");
    let is_made = AtomicBool::new(false);
    let moments = thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut moments = Vec::new();
            while !is_made.load(Ordering::Acquire) {
                let PassMoment { step, sweep } = progress.moment();
                moments.push((step, sweep));
                thread::sleep(Duration::from_micros(50));
            }
            moments
        });
        gpu.cycles(1, NormRequest::NONE).expect("a GPU at work");
        is_made.store(true, Ordering::Release);
        watch.join().expect("no panic")
    });
    let steps = Pass::on_gpu(&streaming, &shape).steps();
    assert_eq!(progress.moment(), PassMoment { step: steps, sweep: 0 });
    assert!(moments.is_sorted(), "{moments:?}");
    let mut between: Vec<_> = moments.iter().filter(|it| (1..steps).contains(&it.0)).collect();
    between.dedup();
    assert!(between.len() > 5, "{steps} steps: {moments:?}");
}

/// A run goes back to its start, and goes on from any iterate.
fn passes_over_planes_begin_anew() {
    let precision = prop::sample::select(Precision::ALL.to_vec());
    let cases = prop_oneof![case(), volume()];
    check(share(40), (cases, budget(), precision), |(case, budget, precision)| {
        let method = Method::Streaming(budget.of(&case.problem.shape, precision));
        let new = || {
            crate::gpu::solver(&case.problem, method.clone(), precision, Kernel::AUTO)
                .expect("a GPU with room")
        };
        let made = |solver: &mut dyn Solver, cycles| {
            for _ in 0..cycles {
                solver.cycles(1, NormRequest::NONE).expect("a GPU at work");
            }
            bits(&solver.solution().expect("it"))
        };
        let mut first = new();
        let once = made(&mut *first, 2);
        first.restart().expect("a GPU");
        made(&mut *first, 1);
        let mut moved = new();
        moved.start_from(&first.solution().expect("it")).expect("a GPU");
        assert!(made(&mut *moved, 1) == once);
        assert!(made(&mut *first, 1) == once);
    });
}

/// Another height or budget on the arrays of a solver, and another method beside it.
fn other_passes_share_the_arrays() {
    let shape = Shape::grid_3d(40, 30, 50).expect("a shape");
    let problem = problem(shape, 7);
    let budget = |method, height, planes| {
        Budget { method, slabs: Slabs::Auto, height, planes, beside: 0.0 }
            .of(&shape, Precision::F64)
    };
    let wave = budget(MethodName::Wavefront, 6, 20);
    let mut solver =
        crate::gpu::solver(&problem, Method::Streaming(wave), Precision::F64, Kernel::AUTO)
            .expect("a GPU with room");
    let mut sweeps = solver.with_method(Method::Classic, Kernel::AUTO).expect("room");
    solver.cycles(1, NormRequest::NONE).expect("a GPU at work");
    let pyramid = budget(MethodName::Pyramid, 4, 17);
    assert!(solver.set_streaming(pyramid).expect("room"));
    solver.cycles(1, NormRequest::NONE).expect("a GPU at work");
    for _ in 0..10 {
        sweeps.cycles(1, NormRequest::NONE).expect("a GPU at work");
    }
    let [there, here] = [&solver, &sweeps].map(|solver| bits(&solver.solution().expect("it")));
    assert!(there == here);
    let mut beside = sweeps.with_method(Method::Streaming(pyramid), Kernel::AUTO).expect("room");
    beside.cycles(1, NormRequest::NONE).expect("a GPU at work");
    let mut other = solver.with_method(Method::Streaming(wave), Kernel::CLASSIC).expect("room");
    other.cycles(1, NormRequest::NONE).expect("a GPU at work");
    sweeps.restart().expect("a GPU");
    for solver in [&beside, &other] {
        let sweep = if std::ptr::eq(solver, &beside) { 4 } else { 2 };
        for _ in 0..sweep {
            sweeps.cycles(1, NormRequest::NONE).expect("a GPU at work");
        }
        let [there, here] = [solver, &sweeps].map(|solver| bits(&solver.solution().expect("it")));
        assert!(there == here);
    }
}

fn coefficients_per_point_do_not_stream() {
    check(1, per_point_case(), |case| {
        let (method, slabs, planes) = (MethodName::Wavefront, Slabs::Auto, 6);
        let budget = Budget { method, slabs, height: 1, planes, beside: 0.0 };
        let method = Method::Streaming(budget.of(&case.problem.shape, Precision::F64));
        let refused =
            crate::gpu::solver(&case.problem, method, Precision::F64, Kernel::AUTO).map(drop);
        assert!(matches!(&refused, Err(SolverError::Kernel { .. })), "{refused:?}");
        let said = refused.expect_err("refused").to_string();
        assert!(said.contains("coefficients per point"), "{said}");
    });
}
