//! Passes in poisoned working arrays, and what they move.

use super::*;
use crate::grid::{ByteCount, Precision};
use crate::problem::{Boundary, Problem, Source, Stencil};
use crate::solver::cpu::{CpuSolver, Level};
use crate::solver::pass_progress::PassMoment;
use crate::solver::pass_times::MOST_TIMED;
use crate::solver::{Describe, Height, Method, MethodName, Pass, PyramidModel};
use std::sync::Arc;

fn problem(shape: Shape) -> Arc<Problem> {
    Arc::new(Problem {
        shape,
        operator: Stencil::poisson(&shape).into(),
        rhs: Source::Random { seed: 3 },
        initial_guess: Source::Random { seed: 4 },
        boundary: Boundary {
            left: 1.0,
            right: 2.0,
            top: if shape.dim() > 1 { 3.0 } else { 0.0 },
            bottom: if shape.dim() > 1 { 4.0 } else { 0.0 },
            front: if shape.dim() > 2 { 5.0 } else { 0.0 },
            back: if shape.dim() > 2 { 6.0 } else { 0.0 },
        },
    })
}

/// So many sweeps in a budget of so many planes.
fn streaming(method: MethodName, shape: &Shape, planes: usize, n: usize) -> Streaming {
    let bytes = 24 * (planes * Planes::of(shape).stored) as u64;
    let memory = ByteCount::new(bytes);
    Streaming::new(method, Height::Sweeps(n), memory, shape, Precision::F64).unwrap()
}

fn shapes() -> [Shape; 5] {
    [
        Shape::grid_1d(57, 3).unwrap(),
        Shape::grid_1d(1, 2).unwrap(),
        Shape::grid_2d(9, 41).unwrap(),
        Shape::grid_3d(5, 4, 23).unwrap(),
        Shape::grid_3d(3, 2, 1).unwrap(),
    ]
}

/// Solver, and how many sweeps a pass makes.
fn solver(shape: Shape, method: Method) -> CpuSolver<f64> {
    CpuSolver::new(&problem(shape), method, Level::best(), 1).unwrap()
}

/// A pass leaves no trace of what was in the working arrays, and moves and computes what it says.
#[test]
fn slabs_and_windows_of_every_size_make_sweeps_from_poisoned_arrays() {
    for shape in shapes() {
        for (method, planes, n) in [
            (MethodName::Pyramid, 3, 1),
            (MethodName::Pyramid, 7, 3),
            (MethodName::Pyramid, 12, 3),
            (MethodName::Pyramid, 64, 31),
            (MethodName::Pyramid, 64, 5),
            (MethodName::Wavefront, 6, 1),
            (MethodName::Wavefront, 12, 7),
            (MethodName::Wavefront, 30, 2),
            (MethodName::Wavefront, 70, 45),
        ] {
            let streaming = streaming(method, &shape, planes, n);
            let (mut passes, mut sweeps) =
                (solver(shape, Method::Streaming(streaming)), solver(shape, Method::Classic));
            for _ in 0..3 {
                if let crate::solver::cpu::Cycle::Streaming(stream) = &mut passes.method {
                    for FastMemory { levels: [first, second], g, .. } in &mut stream.memories {
                        [first, second, g].into_iter().for_each(|array| array.fill(f64::NAN));
                    }
                }
                passes.advance(false);
                for _ in 0..n {
                    sweeps.advance(false);
                }
                let bits = |solver: &CpuSolver<f64>| {
                    solver.iterate().as_slice().iter().map(|u| u.to_bits()).collect::<Vec<_>>()
                };
                assert!(bits(&passes) == bits(&sweeps), "{shape} {streaming:?}");
            }
        }
    }
}

#[test]
fn working_arrays_stay_within_the_budget() {
    for shape in shapes() {
        for (method, planes, n) in [
            (MethodName::Pyramid, 7, 3),
            (MethodName::Wavefront, 6, 1),
            (MethodName::Wavefront, 9, 4),
        ] {
            let streaming = streaming(method, &shape, planes, n);
            let stream = Stream::<f64>::new(&shape, streaming);
            let [FastMemory { levels, g, .. }] = &stream.memories[..] else { panic!("one device") };
            let values = levels[0].len() + levels[1].len() + g.len();
            assert_eq!(8 * values as u64, streaming.working_bytes(&shape, Precision::F64));
            assert!(values <= 3 * planes * Planes::of(&shape).stored);
        }
    }
}

fn traffic(shape: Shape, streaming: Streaming) -> Traffic {
    let mut solver = solver(shape, Method::Streaming(streaming));
    solver.advance(false);
    crate::solver::Describe::traffic(&solver).unwrap()
}

/// A grid that is longer by what a slab owns has one more inner slab.
#[test]
fn an_inner_slab_moves_and_computes_what_the_model_says() {
    for (planes, n) in [(64, 24), (64, 1), (11, 5), (9, 2)] {
        let owned = planes - 2 * n;
        let of = |count: usize| {
            let shape = Shape::grid_2d(6, count).unwrap();
            traffic(shape, streaming(MethodName::Pyramid, &shape, planes, n))
        };
        let (long, longer) = (of(10 * planes), of(10 * planes + owned));
        let inner = Traffic {
            up: longer.up - long.up,
            down: longer.down - long.down,
            updates: longer.updates - long.updates,
            needed: longer.needed - long.needed,
        };
        assert_eq!(inner.needed, (6 * owned * n) as u64);
        assert_eq!((inner.up, inner.down), ((12 * planes) as u64, (6 * owned) as u64));
        let close = |counted: f64, model: f64| (counted / model - 1.0).abs() < 1e-12;
        assert!(close(inner.values_per_update(), PyramidModel::values_per_update(planes, n)));
        assert!(close(inner.redundancy(), PyramidModel::redundancy(planes, n)));
    }
}

#[test]
fn a_wavefront_moves_every_plane_once_and_computes_nothing_twice() {
    for shape in shapes() {
        for (planes, n) in [(6, 1), (12, 7), (30, 2), (70, 45)] {
            let traffic = traffic(shape, streaming(MethodName::Wavefront, &shape, planes, n));
            let points = shape.points() as u64;
            assert_eq!((traffic.up, traffic.down), (2 * points, points), "{shape}");
            assert_eq!((traffic.updates, traffic.duplicates()), (points * n as u64, 0));
        }
    }
}

/// The parts of a step follow each other, and those that are timed are counted.
#[test]
fn the_steps_of_a_pass_are_timed() {
    for shape in shapes() {
        for (method, planes, n) in [
            (MethodName::Pyramid, 7, 3),
            (MethodName::Pyramid, 64, 31),
            (MethodName::Wavefront, 9, 4),
            (MethodName::Wavefront, 70, 45),
        ] {
            let streaming = streaming(method, &shape, planes, n);
            let mut solver = solver(shape, Method::Streaming(streaming));
            assert!(solver.pass_times().is_none());
            solver.advance(false);
            let times = solver.pass_times().unwrap();
            let steps = Pass::on_cpu(&streaming, &shape).steps() * Planes::of(&shape).lines;
            assert_eq!(times.steps.len(), steps.min(MOST_TIMED), "{shape} {streaming:?}");
            let marks = times.steps.iter().flat_map(|step| [step.up, step.sweeps, step.down]);
            let marks: Vec<_> = marks.flatten().chain([times.seconds]).collect();
            assert!(marks.is_sorted(), "{marks:?}");
            let progress = solver.pass_progress().unwrap();
            let over = PassMoment { step: Pass::on_cpu(&streaming, &shape).steps(), sweep: 0 };
            assert_eq!(progress.moment(), over, "{shape} {streaming:?}");
            let traffic = solver.traffic().unwrap();
            if steps <= MOST_TIMED {
                let Traffic { up, down, updates, .. } = times.traffic;
                assert_eq!((up, down, updates), (traffic.up, traffic.down, traffic.updates));
            }
            assert!(times.traffic.updates <= traffic.updates);
        }
    }
    let classic = solver(shapes()[2], Method::Classic);
    assert!(classic.pass_times().is_none() && classic.pass_progress().is_none());
}
