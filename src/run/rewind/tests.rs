//! How the rewinder answers requests.

use super::*;
use crate::clock::Instant;
use crate::grid::{GridPoint, Precision};
use crate::problem;
use crate::run::observe::{CutLine, Experiment, FieldKind, MapRequest, ProfileRequest};
use crate::run::plan::{Plan, Planner};
use crate::run::record::{
    Monitor, RecordError, RecordedCycles, SeriesRequest, Snapshot, SnapshotRequest, Stage,
    record_run,
};
use crate::run::spec::{Backend, MethodName, RunSpec};
use crate::solver::Followed;
use crate::stop_token::StopToken;
use proptest::prelude::*;

/// A test that waits longer than this has failed, even on a machine with much else to do.
const DEADLINE: Duration = Duration::from_secs(60);

fn plan(spec: &RunSpec) -> Arc<Plan> {
    Arc::new(Planner::default().plan(spec).unwrap())
}

fn small() -> RunSpec {
    let mut spec = RunSpec::default();
    spec.problem.shape = vec![24, 18];
    spec.method.tile = vec![8];
    spec.method.k = 4.into();
    spec.stop.tolerance = None;
    spec
}

fn of(archive: &Arc<RunArchive>, cycle: u64, view: &ObservationRequest) -> ReplayTarget {
    ReplayTarget { archive: Arc::clone(archive), cycle, request: view.clone(), minus: None }
}

fn request(id: u64, targets: Vec<ReplayTarget>) -> ReplayRequest {
    request_within(usize::MAX, id, targets)
}

fn request_within(memory: usize, id: u64, targets: Vec<ReplayTarget>) -> ReplayRequest {
    let pasts = |target: &ReplayTarget| {
        let other = target.minus.as_ref().map(|minus| Arc::clone(&minus.archive));
        [Some(Arc::clone(&target.archive)), other]
    };
    let runs = targets.iter().flat_map(pasts).flatten().collect();
    ReplayRequest { id, runs, memory, targets }
}

/// The last answer to a request.
fn answer(replay: &Rewinder, id: u64) -> ReplayReport {
    let begin = Instant::now();
    while begin.elapsed() < DEADLINE {
        let answer = replay.wait(DEADLINE).expect("the rewinder reports");
        if answer.id == id && answer.progress.is_none() {
            assert_eq!(answer.failed, None);
            return answer;
        }
    }
    panic!("no answer to request {id}");
}

/// What is seen of single cycles when the run is made once, one cycle at a time. `archive` takes its
/// iterates and its curve in.
fn live(archive: &RunArchive, view: &ObservationRequest, cycles: u64) -> Vec<Observation> {
    let mut experiment = Experiment::without_diagram(archive.plan()).unwrap();
    experiment.run_mut().make_all_cycles();
    if let Some(exact) = archive.exact() {
        experiment.set_exact(exact).unwrap();
    }
    let (mut all, mut true_residuals) = (Vec::new(), Vec::new());
    for cycle in 0..=cycles {
        if cycle > 0 {
            experiment.run_mut().advance(1).unwrap();
            if experiment.run().is_continued_from_iterate() {
                archive.run.keep_at_leisure(cycle, experiment.run().solver());
            }
        }
        while !experiment.is_ready(view.field) {
            experiment.prepare(view.field).unwrap();
        }
        experiment.settle().unwrap();
        all.push(experiment.observe(view).unwrap());
        true_residuals.push(experiment.run().true_residual().unwrap());
    }
    let curve: Vec<_> = experiment.run().history().records().copied().collect();
    archive.set_curve(&curve.into());
    // A residual comes with the next cycle, and may differ in its last bits from one of its own.
    for (observation, true_residual) in all.iter_mut().zip(true_residuals) {
        observation.norms = experiment.run().history().of(observation.cycle);
        // The history has none where rounding falsifies the one that comes with a cycle.
        observation.norms.residual.get_or_insert(true_residual);
    }
    all
}

fn specs() -> impl Strategy<Value = RunSpec> {
    let shapes = prop_oneof![
        (3_usize..40).prop_map(|n| vec![n]),
        (3_usize..24, 3_usize..24).prop_map(|(nx, ny)| vec![nx, ny]),
        (3_usize..9, 3_usize..9, 3_usize..9).prop_map(|(nx, ny, nz)| vec![nx, ny, nz]),
    ];
    (shapes, 1_usize..7, 4_usize..12, 0_usize..3, any::<[bool; 2]>()).prop_map(
        |(shape, k, tile, overlap, [single, classic])| {
            let mut spec = small();
            spec.problem.shape = shape;
            (spec.method.k, spec.method.tile) = (k.into(), vec![tile]);
            // Even, and so small that a tile owns something.
            spec.method.overlap = vec![2 * overlap.min((tile - 2) / 2)];
            spec.method.precision = if single { Precision::F32 } else { Precision::F64 };
            if classic {
                spec.method.name = MethodName::Classic;
            }
            spec
        },
    )
}

/// The same, some of them on devices that share the grid, where there are tiles enough.
fn some_on_devices() -> impl Strategy<Value = RunSpec> {
    (specs(), 1_usize..5, 1_u64..6).prop_map(|(spec, count, every)| {
        let mut shared = spec.clone();
        shared.method.simulate_devices = Some(count);
        shared.method.exchange_every = Some(every);
        if Planner::default().plan(&shared).is_ok() { shared } else { spec }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_cycle_that_is_made_again_is_the_same_to_the_last_bit(
        spec in prop_oneof![specs(), some_on_devices()],
        field in prop::sample::select(&FieldKind::ALL[..]),
        room in 0_usize..12,
        wanted in prop::collection::vec(0_u64..40, 1..6),
        most in 1_usize..40,
        line in prop_oneof![
            Just(CutLine::Row(0)),
            any::<[[u8; 2]; 2]>().prop_map(|ends| CutLine::Segment(ends.map(|end| end.map(usize::from)))),
        ],
    ) {
        let plan = plan(&spec);
        let budget = room * plan.problem.shape.stored() * plan.precision.bytes();
        let archive = Arc::new(RunArchive::new(&plan, budget));
        if field == FieldKind::Error {
            archive.set_exact(&Arc::new(problem::exact(&plan.problem, &StopToken::default()).unwrap()));
        }
        let cut = ProfileRequest { line, slice: None, fields: vec![field], most };
        let view = ObservationRequest {
            field,
            map: Some(MapRequest::whole([most; 2])),
            probe: Some([1, 0]),
            profile: Some(cut),
            statistics: true,
            ..ObservationRequest::default()
        };
        let live = live(&archive, &view, 40);
        prop_assert!(archive.used() <= budget);
        let replay = Rewinder::start(|| {}).unwrap();
        for (id, &cycle) in wanted.iter().enumerate() {
            let id = id as u64;
            replay.request(request_within(budget, id, vec![of(&archive, cycle, &view)]));
            let observation = answer(&replay, id).observations[0].clone().unwrap();
            // The start has no cycle before it, and no change.
            // As text: a NaN, which stands where no tile owns a point, equals nothing.
            let [again, before] = [&observation, &live[cycle as usize]].map(|it| format!("{it:?}"));
            prop_assert_eq!(again, before, "cycle {}", cycle);
        }
        prop_assert!(archive.used() <= budget);
    }

    #[test]
    fn earlier_values_of_a_point_come_from_the_iterates_that_are_kept(
        spec in specs(),
        field in prop::sample::select(
            &[FieldKind::Residual, FieldKind::Error, FieldKind::Solution][..]
        ),
        cycles in 1_u64..20,
    ) {
        let plan = plan(&spec);
        let archive = RunArchive::new(&plan, usize::MAX);
        archive.set_exact(&Arc::new(problem::exact(&plan.problem, &StopToken::default()).unwrap()));
        let shape = plan.problem.shape;
        let point = match *shape.axes() {
            [nx, ny, nz] => GridPoint::Volume([nx / 2, ny / 3, nz - 1]),
            _ => GridPoint::Flat([shape.nx() / 2, shape.rows() / 3]),
        };
        let view = ObservationRequest { field, probes: vec![point], ..ObservationRequest::default() };
        let live = live(&archive, &view, cycles);
        let values = archive.values_at(point, field, cycles);
        prop_assert!(values.iter().map(|at| at.cycle).eq(1..cycles));
        for at in values {
            let (_, value) = live[at.cycle as usize].probes[0];
            prop_assert_eq!(at.value, f64::from(value));
        }
        prop_assert!(archive.values_at(point, FieldKind::Change, cycles).is_empty());
    }

    #[test]
    fn a_difference_is_of_points_and_then_thinned_out(
        cycles in (0_u64..20, 0_u64..20),
        overlaps in (0_usize..3, 0_usize..3),
        field in prop::sample::select(&[FieldKind::Residual, FieldKind::Change, FieldKind::Solution][..]),
        most in 1_usize..30,
        is_3d: bool,
    ) {
        let archive = |overlap| {
            let mut spec = small();
            // The map of a 3D grid is of its middle slice.
            spec.problem.shape.extend(is_3d.then_some(10));
            spec.method.overlap = vec![2 * overlap];
            Arc::new(RunArchive::new(&plan(&spec), 0))
        };
        let pasts = [archive(overlaps.0), archive(overlaps.1)];
        let cycles = [cycles.0, cycles.1];
        let sharp = ObservationRequest { field, map: Some(MapRequest::whole([usize::MAX; 2])), ..ObservationRequest::default() };
        let fields = [0, 1].map(|index| live(&pasts[index], &sharp, cycles[index]).pop().unwrap());
        let view = ObservationRequest { map: Some(MapRequest::whole([most; 2])), probe: Some([3, 5]), ..sharp };
        let minus = Some(Difference { archive: Arc::clone(&pasts[1]), cycle: cycles[1] });
        let replay = Rewinder::start(|| {}).unwrap();
        replay.request(request(1, vec![ReplayTarget { minus, ..of(&pasts[0], cycles[0], &view) }]));
        let observation = answer(&replay, 1).observations[0].clone().unwrap();
        let picture = observation.picture.unwrap();
        let samples = &picture.samples;
        prop_assert_eq!(samples.block, view.map.as_ref().unwrap().window(&pasts[0].plan().problem.shape).block());
        let [a, b] = fields.map(|observation| observation.picture.unwrap().samples.values.clone());
        let largest = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        let found = samples.values.iter().fold(0.0, |largest: f32, value| largest.max(value.abs()));
        prop_assert!((found - largest).abs() <= 1e-5 * a.iter().fold(0.0, |m: f32, v| m.max(v.abs())));
        let (at, value) = observation.probe.unwrap();
        let index = at[1] * 24 + at[0];
        prop_assert!((value - (a[index] - b[index])).abs() <= 1e-5 * a[index].abs().max(b[index].abs()));
        if pasts[0].plan().spec == pasts[1].plan().spec && cycles[0] == cycles[1] {
            prop_assert!(samples.values.iter().all(|&value| value == 0.0));
        }
    }
}

#[test]
fn the_newest_of_many_requests_wins() {
    let archive = Arc::new(RunArchive::new(&plan(&small()), 0));
    let view = ObservationRequest {
        map: Some(MapRequest::whole([8; 2])),
        ..ObservationRequest::default()
    };
    let replay = Rewinder::start(|| {}).unwrap();
    for id in 1..=500 {
        replay.request(request(id, vec![of(&archive, 1 + id * 7919 % 3000, &view)]));
    }
    let observation = answer(&replay, 500).observations[0].clone().unwrap();
    assert_eq!(observation.cycle, 1 + 500 * 7919 % 3000);
    assert!(replay.wait(Duration::from_millis(100)).is_none(), "nothing else is reported");
}

#[test]
fn a_long_way_is_reported_and_left_for_a_newer_request() {
    let archive = Arc::new(RunArchive::new(&plan(&small()), 0));
    let view = ObservationRequest {
        map: Some(MapRequest::whole([8; 2])),
        field: FieldKind::Change,
        ..ObservationRequest::default()
    };
    let replay = Rewinder::start(|| {}).unwrap();
    let far = 1_000_000_000_000;
    replay.request(request(1, vec![of(&archive, far, &view)]));
    // First an observation on the way.
    let first = replay.wait(DEADLINE).unwrap();
    let observation = first.observations[0].as_ref().expect("what there is");
    assert!(first.progress.is_some() && observation.cycle > 0 && observation.cycle < far);
    assert!(observation.picture.is_some() && observation.norms.residual.is_some());
    replay.request(request(2, vec![of(&archive, 3, &view)]));
    assert_eq!(answer(&replay, 2).observations[0].as_ref().unwrap().cycle, 3);
    // Nor does it keep the thread from ending.
    replay.request(request(3, vec![of(&archive, far, &view)]));
    drop(replay);
}

#[test]
fn several_sights_come_in_one_answer() {
    let archive = Arc::new(RunArchive::new(&plan(&small()), 0));
    let view = ObservationRequest {
        map: Some(MapRequest::whole([8; 2])),
        ..ObservationRequest::default()
    };
    let replay = Rewinder::start(|| {}).unwrap();
    replay.request(request(1, vec![of(&archive, 5, &view), of(&archive, 2, &view)]));
    let observation = answer(&replay, 1).observations;
    let cycles: Vec<_> =
        observation.iter().map(|observation| observation.as_ref().unwrap().cycle).collect();
    assert_eq!(cycles, [5, 2]);
}

/// What a file shows of an earlier cycle is what it would show of a run that ends there.
#[test]
fn a_snapshot_made_again_is_the_one_taken_on_the_way() {
    let mut line = small();
    line.problem.shape = vec![40];
    for spec in [small(), line] {
        let plan = plan(&spec);
        let cancel = StopToken::default();
        let made = RunArchive::made(&plan, 20, 100_000, &cancel).unwrap();
        for field in FieldKind::ALL {
            for is_of_iterate in [false, true] {
                let line = CutLine::Row(0);
                let map = MapRequest { is_of_iterate, ..MapRequest::whole([usize::MAX; 2]) };
                let observation = ObservationRequest {
                    field,
                    map: Some(map),
                    profile: Some(ProfileRequest {
                        line,
                        slice: None,
                        fields: vec![field],
                        most: usize::MAX,
                    }),
                    statistics: true,
                    inside: Some((Followed::Tile([1, 0], None), 2)),
                    whole: Some(field),
                    ..ObservationRequest::default()
                };
                let series = SeriesRequest {
                    edge_share: true,
                    probes: [[3, 0], [7, 0]].map(GridPoint::Flat).into(),
                };
                let until = Some(17);
                let request = SnapshotRequest {
                    id: 1,
                    observation,
                    series,
                    until,
                    ..SnapshotRequest::default()
                };
                let mut monitor = Monitor { cancel: &cancel, on_progress: &mut |_: Stage<'_>| {} };
                let recording =
                    record_run(&plan, &request, RecordedCycles::Each(&[13]), &mut monitor).unwrap();
                let recorded = &recording.snapshots[0];
                let again = Snapshot::again(&made.archive, 13, &request, &cancel).unwrap();
                assert_eq!((again.cycle(), recorded.cycle()), (13, 13));
                // No two bits differ; NaN is not itself.
                let text = |snapshot: &Snapshot| {
                    let Observation { picture, profiles, statistics, inside, .. } =
                        &*snapshot.observation;
                    format!(
                        "{picture:?} {profiles:?} {statistics:?} {inside:?} {:?}",
                        snapshot.series
                    )
                };
                assert_eq!(text(&again), text(recorded), "{field:?}, {is_of_iterate}");
                assert_eq!(again.series.edges.len(), 18);
                let whole = |snapshot: &Snapshot| {
                    snapshot.observation.whole.as_ref().unwrap().1.to_interior()
                };
                assert_eq!(whole(&again), whole(recorded), "{field:?}");
            }
        }
        let observation =
            ObservationRequest { field: FieldKind::Solution, ..ObservationRequest::default() };
        let snapshot_request = SnapshotRequest { observation, ..SnapshotRequest::default() };
        cancel.now();
        let stopped = Snapshot::again(&made.archive, 13, &snapshot_request, &cancel);
        assert!(stopped.unwrap_err().to_string().starts_with("stopped after cycle"));
    }
}

/// A cycle may take hours, and nobody waits for it.
#[test]
fn the_making_of_a_run_is_cancelled_in_the_middle_of_a_cycle() {
    let mut long = small();
    // One tile, on one thread: seconds, however fast the machine.
    (long.problem.shape, long.method.tile) = (vec![2048, 2048], vec![2048]);
    (long.method.k, long.method.backend) = (1024.into(), Backend::Cpu);
    let plan = plan(&long);
    let cancel = StopToken::default();
    cancel.after(Duration::from_millis(500));
    let made = RunArchive::made(&plan, 20, 100_000, &cancel).map(drop);
    assert!(matches!(made, Err(RecordError::Cancelled { cycle: 0 })), "{made:?}");
    let request = SnapshotRequest::default();
    let mut monitor = Monitor { cancel: &cancel, on_progress: &mut |_| {} };
    let recorded = record_run(&plan, &request, RecordedCycles::Last, &mut monitor).map(drop);
    assert!(matches!(recorded, Err(RecordError::Cancelled { cycle: 0 })), "{recorded:?}");
}
