//! Observations of an iterate on a GPU are those of the same iterate on the CPU.

use crate::cases::{case, per_point_case};
use crate::iterates::{check, maxima, request, settings, share};
use proptest::prelude::*;
use std::sync::Arc;
use tilescope::grid::{Precision, Shape, Tiling};
use tilescope::problem::{Boundary, Problem, Source, Stencil};
use tilescope::run::CutLine;
use tilescope::solver::{
    self, FieldRequest, Kernel, Method, MethodName, NormRequest, Quantity, Statistics, Window,
};

pub const TESTS: &[(&str, fn())] = &[
    ("fields_are_those_of_the_cpu", fields_are_those_of_the_cpu),
    ("statistics_of_a_large_field_are_those_of_the_cpu", statistics_of_a_large_field),
    ("norms_are_the_same_every_time", norms_are_the_same_every_time),
    ("an_iterate_is_seen_while_others_are_made", an_iterate_is_seen_while_others_are_made),
];

pub fn near(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-11 * b.abs()
}

/// The bits of samples. An iteration may diverge, and NaN is NaN: a processor has its own bits for it.
pub fn bits(values: &[f32]) -> Vec<u32> {
    let known = values.iter().map(|&value| if value.is_nan() { f32::NAN } else { value });
    known.map(f32::to_bits).collect()
}

fn fields_are_those_of_the_cpu() {
    let most = || 1..=40_usize;
    let precision = prop::sample::select(Precision::ALL.to_vec());
    check(
        settings() / 6,
        (prop_oneof![2 => case(), 1 => per_point_case()], precision, most(), most()),
        |(case, precision, across, down)| {
            let method = case.hierarchical();
            let mut gpu =
                crate::gpu::solver(&case.problem, method.clone(), precision, Kernel::AUTO)
                    .expect("a GPU");
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
            let (nx, rows) = (shape.nx(), shape.rows());
            let window = Window {
                columns: nx / 4..nx,
                rows: 0..rows.div_ceil(2),
                slice: None,
                most: [across, down],
            };
            let pairs = [
                (Quantity::Residual, Quantity::Residual),
                (Quantity::Error, Quantity::Error),
                (Quantity::Change, Quantity::Change),
                (Quantity::Solution, Quantity::Solution),
                (Quantity::Difference(&*other_there), Quantity::Difference(&*other_here)),
                // Of another back end.
                (Quantity::Difference(&*other_here), Quantity::Difference(&*other_here)),
            ];
            let diagonal: Vec<_> = CutLine::diagonal(&shape).points(&shape).collect();
            for (number, (there, here)) in pairs.into_iter().enumerate() {
                let one = gpu.sample(there, &window).expect("a GPU");
                let other = cpu.sample(here, &window).expect("a CPU");
                assert_eq!((one.size, one.block), (other.size, other.block));
                assert_eq!(bits(&one.values), bits(&other.values), "pair {number}");
                let one = gpu.values(there, &diagonal).expect("a GPU");
                let other = cpu.values(here, &diagonal).expect("a CPU");
                assert_eq!(bits(&one), bits(&other), "pair {number} along the diagonal");
            }
            assert!(gpu.values(Quantity::Solution, &[]).expect("a GPU").is_empty());
            let [there, here] =
                [&gpu, &cpu].map(|solver| solver.norms(NormRequest::ALL).expect("it"));
            let [one, other] = [there, here].map(|norms| norms.residual.expect("requested"));
            assert!(near(one.l2, other.l2) && one.max == other.max);
            let errors = [there, here].map(|norms| norms.error.expect("known"));
            assert!(near(errors[0], errors[1]));
            assert_eq!(there.max_change, here.max_change);
            let tiling = case.tiling();
            let one = gpu.edge_share(&tiling).expect("it");
            let other = cpu.edge_share(&tiling).expect("it");
            assert!(near(one.residual, other.residual) && one.points == other.points);
            for (number, (there, here)) in pairs.into_iter().enumerate() {
                let one = gpu.statistics(there, &tiling).expect("a GPU");
                let other = cpu.statistics(here, &tiling).expect("a CPU");
                assert_eq!(one.distances, other.distances, "pair {number}");
                let bits_of_mean = |statistics: &Statistics| {
                    let mean = statistics.mean_tile.as_ref().expect("small tiles");
                    mean.means.iter().map(|mean| mean.to_bits()).collect::<Vec<_>>()
                };
                assert_eq!(bits_of_mean(&one), bits_of_mean(&other), "pair {number}");
            }
            let part = [nx / 3..nx, rows / 2..rows, 0..1];
            assert_eq!(
                gpu.solution_part(&part).expect("it"),
                cpu.solution_part(&part).expect("it"),
            );
            let whole = Window { most: [across, down], ..Window::whole(nx, rows) };
            let request = FieldRequest {
                quantity: Quantity::Residual,
                window: Some(&whole),
                edge_share: Some(&tiling),
                statistics: Some(&tiling),
            };
            let [there, here] = [&gpu, &cpu].map(|solver| solver.observe(request).expect("it"));
            let [one, other] = [&there, &here].map(|found| found.edge_share.expect("requested"));
            assert!(near(one.residual, other.residual) && one.points == other.points);
            assert_eq!(
                there.samples.map(|it| bits(&it.values)),
                here.samples.map(|it| bits(&it.values))
            );
            assert_eq!(
                there.statistics.map(|it| it.distances),
                here.statistics.map(|it| it.distances)
            );
            let row = rows - 1;
            assert_eq!(gpu.solution_row(row).expect("it"), cpu.solution_row(row).expect("it"));
            // A run continues elsewhere.
            let mut moved =
                crate::gpu::solver(&case.problem, Method::Classic, precision, Kernel::AUTO)
                    .expect("a GPU");
            moved.start_from(&cpu.solution().expect("it")).expect("a GPU");
            let there = moved.sample(Quantity::Solution, &window).expect("it");
            assert_eq!(there, cpu.sample(Quantity::Solution, &window).expect("it"));
        },
    );
}

/// Where a warp reads several rows, and a block finds more bins than it has room for: of noise, and of
/// what is the same nearly everywhere.
fn statistics_of_a_large_field() {
    let shape = Shape::grid_2d(2000, 6000).expect("a shape");
    for initial_guess in [Source::Random { seed: 5 }, Source::Constant(0.0)] {
        let problem = Arc::new(Problem {
            shape,
            operator: Stencil::poisson(&shape).into(),
            rhs: Source::Constant(1.0),
            initial_guess,
            boundary: Boundary::default(),
        });
        for (tile, overlap) in [([16, 16], [2, 2]), ([120, 60], [0, 4])] {
            let tiling = Tiling::new(shape.axes(), &tile, &overlap).expect("a valid tiling");
            let method = Method::Hierarchical { k: 4, tiling: tiling.clone() };
            let mut gpu =
                crate::gpu::solver(&problem, method.clone(), Precision::F64, Kernel::AUTO)
                    .expect("it");
            let mut cpu = solver::on_cpu(&problem, method, Precision::F64, 0).expect("memory");
            for _ in 0..3 {
                gpu.cycles(1, NormRequest::RESIDUAL_L2).expect("a GPU at work");
                cpu.cycles(1, NormRequest::RESIDUAL_L2).expect("a CPU");
            }
            let [there, here] = [&gpu, &cpu].map(|solver| {
                solver.statistics(Quantity::Residual, &tiling).expect("the solver observes")
            });
            // As text: a NaN, which stands where no tile owns a point, equals nothing.
            assert_eq!(format!("{there:?}"), format!("{here:?}"), "tile {tile:?}");
        }
    }
}

fn norms_are_the_same_every_time() {
    check(share(40), case(), |case| {
        for kernel in Kernel::compared(MethodName::Hierarchical) {
            let norms = || {
                let method = case.hierarchical();
                let mut gpu = crate::gpu::solver(&case.problem, method, Precision::F64, kernel)
                    .expect("a GPU that takes it");
                let mut norms = Vec::new();
                while norms.len() < 70 {
                    let left = 70 - norms.len() as u64;
                    let batch = gpu.cycles(left, NormRequest::RESIDUAL_L2).expect("a GPU");
                    norms.extend(batch.norms);
                }
                let bits = |n: &solver::CycleNorms| n.residual_before.l2.to_bits();
                norms.iter().map(bits).collect::<Vec<_>>()
            };
            assert_eq!(norms(), norms());
        }
    });
}

/// What is begun neither shows nor changes anything, however much of it is wanted afterwards.
fn an_iterate_is_seen_while_others_are_made() {
    // Some are longer than a graph.
    let cycles = || prop_oneof![1..=8_u64, 1..=900_u64];
    let turns = prop::collection::vec((cycles(), cycles(), any::<bool>()), 1..8);
    let precision = prop::sample::select(Precision::ALL.to_vec());
    let cases = prop_oneof![2 => case(), 1 => per_point_case()];
    check(
        share(100),
        (cases, precision, turns, any::<bool>()),
        |(case, precision, turns, classic)| {
            let method = if classic { Method::Classic } else { case.hierarchical() };
            let mut gpu =
                crate::gpu::solver(&case.problem, method.clone(), precision, Kernel::AUTO)
                    .expect("a GPU");
            let mut cpu = solver::on_cpu(&case.problem, method, precision, 1).expect("memory");
            let shape = case.problem.shape;
            let window = Window::whole(shape.nx(), shape.rows());
            for (begun, wanted, measure) in turns {
                gpu.begin(begun, NormRequest::RESIDUAL_L2).expect("a GPU at work");
                for quantity in [Quantity::Residual, Quantity::Change, Quantity::Solution] {
                    let one = gpu.sample(quantity, &window).expect("a GPU");
                    let other = cpu.sample(quantity, &window).expect("a CPU");
                    assert_eq!(bits(&one.values), bits(&other.values));
                }
                let before = [&*gpu, &*cpu].map(|solver| {
                    let before = solver.previous().expect("a device").to_interior();
                    before.into_iter().map(f64::to_bits).collect::<Vec<_>>()
                });
                assert!(before[0] == before[1], "another iterate before the last cycle");
                let with_maxima = wanted % 2 == 0;
                let made = if measure {
                    // Work in progress is dropped if it does not find what is requested.
                    let batch = gpu.cycles(wanted, request(with_maxima)).expect("a GPU at work");
                    for there in &batch.norms {
                        let here = cpu.cycles(1, NormRequest::ALL).expect("a CPU").norms[0];
                        let here = if with_maxima { maxima(&here) } else { [None, None] };
                        assert_eq!(maxima(there), here);
                    }
                    batch.norms.len() as u64
                } else {
                    let made = gpu.cycles(wanted, NormRequest::NONE).expect("a GPU at work").cycles;
                    for _ in 0..made {
                        cpu.cycles(1, NormRequest::NONE).expect("a CPU");
                    }
                    made
                };
                assert!(made <= wanted);
                let (there, here) = (gpu.solution().expect("it"), cpu.solution().expect("it"));
                assert!(crate::iterates::bits(&there) == crate::iterates::bits(&here));
            }
            // And where it starts again.
            gpu.begin(7, NormRequest::RESIDUAL_L2).expect("a GPU at work");
            gpu.restart().expect("a GPU");
            cpu.restart().expect("a CPU");
            gpu.cycles(1, NormRequest::RESIDUAL_L2).expect("a GPU at work");
            cpu.cycles(1, NormRequest::RESIDUAL_L2).expect("a CPU");
            let (there, here) = (gpu.solution().expect("it"), cpu.solution().expect("it"));
            assert!(crate::iterates::bits(&there) == crate::iterates::bits(&here));
        },
    );
}
