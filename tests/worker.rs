//! Guards the worker thread: how it answers requests.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};
use tilescope::grid::{GridPoint, Precision};
use tilescope::problem;
use tilescope::run::{
    Answer, Backend, CutLine, Divergence, ExactState, Experiment, FieldKind, FrequencyRequest,
    MapRequest, MatrixSpec, ObservationRequest, Outcome, Phase, Plan, Planner, ProblemKind,
    ProfileRequest, Report, Run, RunSpec, SnapshotRequest, StopRule, Worker, WorkerRequest,
};
use tilescope::solver::{Followed, NormRequest, Quantity, StopToken};

/// A test that waits longer than this has failed, even on a machine with much else to do.
const DEADLINE: Duration = Duration::from_secs(60);

/// Held for reading by all tests but the one that counts all threads of the process.
static ALONE: RwLock<()> = RwLock::new(());

fn small() -> RunSpec {
    let mut run = RunSpec::default();
    run.problem.shape = vec![64, 48];
    run.method.tile = vec![16];
    run.method.k = 4.into();
    run
}

fn request(epoch: u64, run: &RunSpec) -> WorkerRequest {
    WorkerRequest {
        epoch,
        spec: Arc::new(run.clone()),
        running: true,
        steps: 0,
        pace: None,
        observation: ObservationRequest {
            edge_share: true,
            map: Some(MapRequest::whole([4096; 2])),
            ..ObservationRequest::default()
        },
        memory: 512_000_000,
        ..WorkerRequest::default()
    }
}

fn map_of(field: FieldKind, most: [usize; 2]) -> ObservationRequest {
    ObservationRequest {
        field,
        map: Some(MapRequest::whole(most)),
        ..ObservationRequest::default()
    }
}

fn paused(epoch: u64, run: &RunSpec, steps: u64) -> WorkerRequest {
    WorkerRequest { running: false, steps, ..request(epoch, run) }
}

fn worker() -> Worker {
    // The pool that the exact solution shares with whoever else: started here, so that its threads
    // do not take the name of the first of our threads that needs it.
    _ = rayon::current_num_threads();
    Worker::start(|| {}).unwrap()
}

fn answer(worker: &Worker) -> Answer {
    worker.wait(DEADLINE).expect("the worker reports")
}

/// Takes reports until one is as it is waited for.
fn until(worker: &Worker, mut there: impl FnMut(&Report) -> bool) -> Box<Report> {
    let begin = Instant::now();
    loop {
        let report = answer(worker).expect("every request is valid");
        if there(&report) {
            return report;
        }
        assert!(begin.elapsed() < DEADLINE, "{report:#?}");
    }
}

fn finished(worker: &Worker) -> (Box<Report>, Outcome) {
    let report = until(worker, |report| matches!(report.phase, Phase::Finished(_)));
    let Phase::Finished(outcome) = report.phase.clone() else { unreachable!() };
    (report, outcome)
}

/// Whether there is no report for a while.
fn is_silent(worker: &Worker) -> bool {
    worker.wait(Duration::from_millis(200)).is_none()
}

fn plan(run: &RunSpec) -> Arc<Plan> {
    Arc::new(Planner::default().plan(run).unwrap())
}

/// The run without a worker, after some cycles.
fn plain(run: &RunSpec, cycles: u64) -> Run {
    let mut run = Run::new(&plan(run)).unwrap();
    (0..cycles).for_each(|_| _ = run.advance(1).unwrap());
    run
}

/// ‖r‖₂ / ‖r₀‖₂ and ‖Δu‖∞ of every iterate, each measured separately.
fn norms(run: &RunSpec, cycles: u64) -> Vec<(f64, f64)> {
    let mut endless = run.clone();
    endless.stop.tolerance = None;
    let mut run = Run::new(&plan(&endless)).unwrap();
    let start = run.start_residual();
    let mut norms = vec![(1.0, f64::INFINITY)];
    for _ in 0..cycles {
        run.advance(1).unwrap();
        let change = run.history().latest().max_change.unwrap();
        norms.push((
            run.solver().norms(NormRequest::RESIDUAL).unwrap().residual.unwrap().l2 / start,
            change,
        ));
    }
    norms
}

/// Of the newest iterate, once the run stands still; the same as those that a file has.
#[test]
fn frequencies_are_those_of_the_newest_iterate() {
    let _guard = ALONE.read();
    let worker = worker();
    let observation = ObservationRequest {
        frequencies: Some(FrequencyRequest { most: [4096; 2], slice: None }),
        ..ObservationRequest::default()
    };
    let wanted = |steps| {
        let observation = observation.clone();
        WorkerRequest { observation, ..paused(1, &small(), steps) }
    };
    worker.request(wanted(0));
    assert!(answer(&worker).unwrap().observation.frequencies.is_some(), "the first report waits");
    for steps in [3, 9] {
        worker.request(wanted(steps));
        let report = until(&worker, |report| {
            let found = &report.observation.frequencies;
            found.as_ref().is_some_and(|found| found.cycle == steps)
        });
        let mut experiment = Experiment::new(&plan(&small())).unwrap();
        while experiment.run().cycle() < steps {
            experiment.advance(1).unwrap();
        }
        let expected = experiment.observe(&observation).unwrap().frequencies;
        assert_eq!(report.observation.frequencies, expected);
    }
    assert!(is_silent(&worker), "nothing is found twice");
}

#[test]
fn a_cycle_is_measured_beside_the_run_and_once() {
    let _guard = ALONE.read();
    let worker = worker();
    let observation =
        ObservationRequest { damping: true, rate: true, ..ObservationRequest::default() };
    let wanted = WorkerRequest { observation, ..paused(1, &small(), 0) };
    worker.request(wanted.clone());
    let is_known =
        |report: &Report| report.plan.damping().is_some() && report.plan.rate().is_some();
    let report = until(&worker, is_known);
    let rate = report.plan.rate().unwrap().as_ref().unwrap();
    let smoothest = report.plan.damping().unwrap().as_ref().unwrap().modes[0];
    // In the end the smoothest wave is left, and little of what tile borders make of it.
    assert!((rate.radius.value - smoothest.measured_cycle).abs() < 1e-3, "{rate:?} {smoothest:?}");
    worker.request(WorkerRequest { steps: 1, ..wanted });
    let later = until(&worker, |report| report.latest.cycle == 1);
    assert!(is_known(&later), "it belongs to the setting");
}

#[test]
fn the_newest_of_many_requests_wins() {
    let _guard = ALONE.read();
    let worker = worker();
    let mut run = RunSpec::default();
    let storm = 1000;
    for epoch in 1..=storm {
        run.method.overlap = vec![2 * (epoch as usize % 16)];
        run.method.k = (1 + epoch as usize % 7).into();
        worker.request(request(epoch, &run));
    }
    let mut before = 0;
    let report = until(&worker, |report| {
        before += 1;
        report.epoch == storm
    });
    assert!(before < 20, "{before} reports of runs that nobody wants any more");
    assert_eq!(report.plan.spec, run);
    for _ in 0..5 {
        let report = answer(&worker).unwrap();
        assert_eq!((report.epoch, &report.plan.spec), (storm, &run));
    }
}

/// A worker, and how many reports it has made.
fn counting() -> (Worker, Arc<AtomicUsize>) {
    let made = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&made);
    (Worker::start(move || _ = count.fetch_add(1, Ordering::SeqCst)).unwrap(), made)
}

/// Waits until that many reports were made, whether they were taken or not.
fn until_made(made: &AtomicUsize, reports: usize) {
    let begin = Instant::now();
    while made.load(Ordering::SeqCst) < reports {
        assert!(begin.elapsed() < DEADLINE, "{made:?} of {reports} reports");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_report_waits_until_it_is_taken_and_no_other_is_made_meanwhile() {
    let _guard = ALONE.read();
    let (worker, made) = counting();
    worker.request(request(1, &RunSpec::default()));
    for taken in 1..=4 {
        until_made(&made, taken);
        // Long enough for many more, if they were made.
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!(made.load(Ordering::SeqCst), taken);
        assert!(worker.answer().is_some());
    }
}

#[test]
fn a_report_of_a_run_that_is_no_longer_wanted_makes_room_for_the_next() {
    let _guard = ALONE.read();
    let (worker, made) = counting();
    worker.request(request(1, &small()));
    until_made(&made, 1);
    worker.request(request(2, &small()));
    until_made(&made, 2);
    assert_eq!(answer(&worker).unwrap().epoch, 2);
}

#[test]
fn steps_are_as_many_cycles_and_each_is_made_once() {
    let _guard = ALONE.read();
    let worker = worker();
    worker.request(paused(1, &small(), 0));
    let report = answer(&worker).unwrap();
    assert_eq!((report.latest.cycle, &report.phase), (0, &Phase::Paused));
    for steps in [1, 2, 7, 7, 30] {
        // A repeated request changes nothing.
        worker.request(paused(1, &small(), steps));
        worker.request(paused(1, &small(), steps));
        while let Some(answer) = worker.wait(Duration::from_millis(100)) {
            assert!(answer.unwrap().latest.cycle <= steps);
        }
    }
    let last = until_view(&worker, 30);
    assert_eq!(last.latest.cycle, 30);
    assert_eq!(last.sweeps, 120);
    assert!(last.latest.residual.is_some(), "a paused run reports all norms");
    assert!(is_silent(&worker));
}

/// Requests another field, which always makes a report.
fn until_view(worker: &Worker, steps: u64) -> Box<Report> {
    let mut request = paused(1, &small(), steps);
    request.observation.field = FieldKind::Change;
    worker.request(request);
    until(worker, |report| report.observation.field == FieldKind::Change)
}

#[test]
fn a_paused_run_stands_and_goes_on_where_it_was() {
    let _guard = ALONE.read();
    let worker = worker();
    let mut endless = RunSpec::default();
    endless.stop.tolerance = None;
    worker.request(request(1, &endless));
    until(&worker, |report| report.latest.cycle > 10);
    worker.request(paused(1, &endless, 0));
    let stopped = until(&worker, |report| report.phase == Phase::Paused).latest.cycle;
    assert!(is_silent(&worker));
    worker.request(request(1, &endless));
    let first = until(&worker, |report| report.phase == Phase::Running);
    assert!(first.latest.cycle >= stopped);
    until(&worker, |report| report.latest.cycle > stopped);
}

#[test]
fn the_iterate_is_that_of_a_plain_run_to_the_last_bit() {
    let _guard = ALONE.read();
    let worker = worker();
    worker.request(paused(1, &small(), 5));
    until(&worker, |report| report.latest.cycle == 5);
    let snapshot_request = SnapshotRequest {
        id: 1,
        observation: ObservationRequest { whole: Some(FieldKind::Solution), ..Default::default() },
        ..SnapshotRequest::default()
    };
    worker.request(WorkerRequest {
        snapshot_requests: vec![snapshot_request.clone()],
        ..paused(1, &small(), 12)
    });
    let report = until(&worker, |report| report.snapshot.is_some());
    let snapshot = report.snapshot.unwrap();
    let run = plain(&small(), snapshot.cycle());
    let (_, iterate) = snapshot.observation.whole.as_ref().unwrap();
    assert!(snapshot.cycle() >= 5);
    assert_eq!(iterate.to_interior(), run.solver().solution().unwrap().to_interior());
    // The same request again is none: not even after another run began.
    worker.request(WorkerRequest {
        snapshot_requests: vec![snapshot_request],
        ..paused(2, &small(), 3)
    });
    while let Some(answer) = worker.wait(Duration::from_millis(200)) {
        assert!(answer.unwrap().snapshot.is_none());
    }
}

#[test]
fn a_snapshot_can_be_requested_while_the_run_is_paused() {
    let _guard = ALONE.read();
    let worker = worker();
    worker.request(paused(1, &small(), 2));
    until(&worker, |report| report.latest.cycle == 2);
    assert!(is_silent(&worker));
    for id in 1..=3 {
        let snapshot_request = SnapshotRequest {
            id,
            observation: map_of(FieldKind::Solution, [10, 10]),
            ..SnapshotRequest::default()
        };
        worker.request(WorkerRequest {
            snapshot_requests: vec![snapshot_request],
            ..paused(1, &small(), 2)
        });
        let snapshot = answer(&worker).unwrap().snapshot.expect("what was asked for");
        assert_eq!((snapshot.id, snapshot.cycle()), (id, 2));
    }
}

#[test]
fn files_wait_for_what_they_show_and_none_for_another() {
    let _guard = ALONE.read();
    let worker = worker();
    worker.request(paused(1, &small(), 6));
    until(&worker, |report| report.latest.cycle == 6);
    let snapshot_request = |(index, field)| SnapshotRequest {
        id: index as u64,
        observation: map_of(field, [usize::MAX; 2]),
        ..SnapshotRequest::default()
    };
    let fields = [FieldKind::Staleness, FieldKind::Error, FieldKind::Residual];
    let snapshot_requests = fields.into_iter().enumerate().map(snapshot_request).collect();
    worker.request(WorkerRequest { snapshot_requests, ..paused(1, &small(), 6) });
    let mut found = Vec::new();
    while found.len() < fields.len() {
        found.extend(answer(&worker).unwrap().snapshot);
    }
    for snapshot in &found {
        assert_eq!((snapshot.cycle(), snapshot.field()), (6, fields[snapshot.id as usize]));
        assert!(snapshot.map().samples.values.iter().all(|value| value.is_finite()));
    }
    let ids: BTreeSet<_> = found.iter().map(|snapshot| snapshot.id).collect();
    assert_eq!(ids, (0..3).collect());
    while let Some(answer) = worker.wait(Duration::from_millis(200)) {
        assert!(answer.unwrap().snapshot.is_none());
    }
}

#[test]
fn staleness_is_zero_where_the_overlap_is_wide_enough_and_nowhere_else() {
    let _guard = ALONE.read();
    for (overlap, exact) in [(8, true), (6, false), (0, false)] {
        let mut run = small();
        (run.method.k, run.method.overlap) = (5.into(), vec![overlap]);
        let worker = worker();
        let mut request = paused(1, &run, 4);
        request.observation.field = FieldKind::Staleness;
        worker.request(request);
        let report = until(&worker, |report| {
            report.latest.cycle == 4 && report.observation.picture.is_some()
        });
        let picture = report.observation.picture.unwrap();
        let values = &picture.samples.values;
        assert_eq!(values.len(), 64 * 48);
        assert!(values.iter().all(|value| value.is_finite()));
        assert_eq!(values.iter().all(|&value| value == 0.0), exact, "overlap {overlap}");
    }
}

#[test]
fn edge_observations_are_of_the_cycle_that_is_shown() {
    let _guard = ALONE.read();
    let worker = worker();
    let run = small();
    worker.request(paused(1, &run, 3));
    let bare = until(&worker, |report| report.latest.cycle == 3).observation.clone();
    assert!(bare.profiles.is_empty() && bare.statistics.is_none() && bare.inside.is_none());
    assert!(bare.probes.is_empty());

    let mut more = paused(1, &run, 3);
    let fields = vec![FieldKind::Residual, FieldKind::Staleness, FieldKind::Change];
    let cut = |line| Some(ProfileRequest { line, slice: None, fields: fields.clone(), most: 4096 });
    more.observation.profile = cut(CutLine::Column(999));
    more.observation.statistics = true;
    more.observation.inside = Some((Followed::Tile([1, 1], None), 2));
    more.observation.probes = [[5, 7], [999, 0]].map(GridPoint::Flat).into();
    worker.request(more.clone());
    let known = |report: &Report| {
        report.observation.profiles.len() == 3
            && report.observation.profiles[1].samples.values.iter().all(|value| value.is_finite())
    };
    let seen = until(&worker, known).observation.clone();
    assert_eq!(seen.cycle, 3);
    // Along the last column, since there are fewer; exactly as in the map.
    let map = &seen.picture.as_ref().unwrap().samples;
    let column: Vec<_> = (0..48).map(|row| map.at(63, row).unwrap()).collect();
    assert_eq!(seen.profiles[0].samples.values, column);
    assert_eq!(seen.profiles.iter().map(|along| along.field).collect::<Vec<_>>(), fields);
    let shape = plan(&run).problem.shape;
    assert_eq!(seen.profiles[0].points(&shape).len(), 48);
    // From corner to corner, too.
    let diagonal = CutLine::diagonal(&shape);
    more.observation.profile = cut(diagonal);
    worker.request(more);
    let oblique =
        until(&worker, |report| known(report) && report.observation.profiles[0].line == diagonal)
            .observation
            .clone();
    let values: Vec<_> = diagonal.points(&shape).map(|[i, j]| map.at(i, j).unwrap()).collect();
    assert_eq!(oblique.profiles[0].samples.values, values);
    assert_eq!(seen.probes, [(GridPoint::Flat([5, 7]), map.at(5, 7).unwrap())]);
    let plain = plain(&run, 3);
    let expected = plain.solver().statistics(Quantity::Residual, &plan(&run).tiling).unwrap();
    assert_eq!(seen.statistics.unwrap().statistics, expected);
    let inside = seen.inside.unwrap();
    assert_eq!((inside.tile, inside.subiteration, inside.k), (Some([1, 1]), 2, 4));
}

#[test]
fn series_have_the_cycles_that_were_observed() {
    let _guard = ALONE.read();
    let worker = worker();
    let run = small();
    for steps in 0..=4 {
        let mut request = paused(1, &run, steps);
        request.observation.probes = vec![GridPoint::Flat([5, 7])];
        worker.request(request);
        until(&worker, |report| report.latest.cycle == steps && !report.probes.is_empty());
    }
    let mut request = paused(1, &run, 5);
    request.observation.probes = vec![GridPoint::Flat([5, 7])];
    worker.request(request);
    let report = until(&worker, |report| report.latest.cycle == 5);
    let last = report.edges.last().unwrap();
    assert_eq!((last.cycle, last.value), (5, report.observation.edge.residual));
    let [probe] = &report.probes[..] else { panic!("{:?}", report.probes) };
    let cycles: Vec<_> = probe.values.iter().map(|at| at.cycle).collect();
    assert!(cycles.windows(2).all(|pair| pair[0] < pair[1]) && cycles.len() >= 5, "{cycles:?}");
    assert_eq!(probe.values.last().unwrap().value, f64::from(report.observation.probes[0].1));
}

/// Nobody asks for the error here. A matrix has no exact solution, and so no part of an error.
#[test]
fn at_its_end_a_run_says_how_much_of_the_error_is_left() {
    let _guard = ALONE.read();
    let worker = worker();
    worker.request(request(1, &small()));
    let report = until(&worker, |report| report.error_left.is_some());
    assert_eq!(report.phase, Phase::Finished(Outcome::Converged));
    assert_eq!((report.exact, report.latest.error), (ExactState::NotWanted, None));
    let (plan, run) = (plan(&small()), plain(&small(), report.latest.cycle));
    let exact = problem::exact(&plan.problem, &StopToken::default()).unwrap().to_interior();
    let error = |values: Vec<f64>| {
        let squares = values.iter().zip(&exact).map(|(value, exact)| (value - exact).powi(2));
        squares.sum::<f64>().sqrt()
    };
    // The papers' problem begins with u = 1.
    let initial = error(vec![1.0; exact.len()]);
    let expected = error(run.solver().solution().unwrap().to_interior()) / initial;
    let left = report.error_left.unwrap();
    assert!((left - expected).abs() < 1e-12 && left > 10.0 * small().stop.tolerance.unwrap());

    let mut matrix = small();
    matrix.problem.kind = ProblemKind::Matrix;
    let grid = MatrixSpec::new("poisson-12x12");
    matrix.problem.shape = vec![grid.rows().unwrap()];
    matrix.problem.matrix = Some(grid);
    matrix.stop.max_cycles = 3;
    worker.request(request(2, &matrix));
    let (report, _) = finished(&worker);
    assert_eq!((report.epoch, report.error_left), (2, None));
}

#[test]
fn the_error_is_the_distance_from_the_exact_solution() {
    let _guard = ALONE.read();
    let worker = worker();
    let mut request = paused(1, &small(), 3);
    request.observation.field = FieldKind::Error;
    worker.request(request);
    let mut computing = false;
    let report = until(&worker, |report| {
        computing |= report.exact == ExactState::Computing;
        report.exact == ExactState::Ready && report.latest.cycle == 3
    });
    let run = plain(&small(), 3);
    let exact = problem::exact(&plan(&small()).problem, &StopToken::default()).unwrap();
    let expected: Vec<f64> = run
        .solver()
        .solution()
        .unwrap()
        .to_interior()
        .iter()
        .zip(exact.to_interior())
        .map(|(u, exact)| u - exact)
        .collect();
    let picture = report.observation.picture.unwrap();
    let values = &picture.samples.values;
    let close = |(value, expected): (&f32, &f64)| {
        (f64::from(*value) - expected).abs() <= 1e-6 * expected.abs() + 1e-12
    };
    assert!(values.iter().zip(&expected).all(close));
    let l2 = expected.iter().map(|error| error * error).sum::<f64>().sqrt();
    let reported = report.latest.error.expect("the norm of the error is reported");
    assert!((reported - l2).abs() < 1e-9 * l2, "{reported} {l2}");
}

#[test]
fn an_invalid_request_leaves_the_run_as_it_is() {
    let _guard = ALONE.read();
    let worker = worker();
    worker.request(paused(1, &small(), 3));
    until(&worker, |report| report.latest.cycle == 3);
    let mut odd = small();
    odd.method.overlap = vec![3];
    worker.request(paused(2, &odd, 0));
    let begin = Instant::now();
    let refusal = loop {
        match answer(&worker) {
            Err(refusal) => break refusal,
            Ok(report) => assert_eq!(report.epoch, 1),
        }
        assert!(begin.elapsed() < DEADLINE);
    };
    assert_eq!(refusal.epoch, 2);
    assert!(refusal.why.contains("overlap") && refusal.why.contains('3'), "{}", refusal.why);
    // The window continues in the epoch that was refused, with the run that there is; it is refused
    // once, and a step is a step.
    worker.request(paused(2, &small(), 1));
    let report = until(&worker, |report| report.latest.cycle == 4);
    assert_eq!(report.plan.spec, small());
    worker.request(request(2, &small()));
    until(&worker, |report| report.latest.cycle > 5);
}

#[test]
fn the_first_iterate_that_meets_the_tolerance_is_the_last() {
    let _guard = ALONE.read();
    // One tile that a cycle all but solves: its residual falls far below any tolerance at once,
    // and is known only when the next cycle was made.
    let mut overshoot = small();
    overshoot.problem.shape = vec![16, 16];
    (overshoot.method.tile, overshoot.method.k) = (vec![16], 400.into());
    for (run, tolerance) in
        [(small(), 1e-2), (small(), 0.3), (overshoot.clone(), 1e-1), (overshoot.clone(), 1e-6)]
    {
        for rule in StopRule::ALL {
            let mut run = run.clone();
            (run.stop.rule, run.stop.tolerance) = (rule, Some(tolerance));
            let measured = |&(reduction, change): &(f64, f64)| match rule {
                StopRule::Residual => reduction,
                StopRule::Change => change,
                StopRule::ChangePerSweep => change / run.method.k.to_f64(),
            };
            let norms = norms(&run, 300);
            let first = norms.iter().position(|norms| measured(norms) <= tolerance).unwrap();
            let worker = worker();
            worker.request(request(1, &run));
            let (report, outcome) = finished(&worker);
            assert_eq!(outcome, Outcome::Converged);
            assert_eq!(report.latest.cycle, first as u64, "{rule:?} {tolerance}");
            assert_eq!(report.curve.last().unwrap().cycle, first as u64);
            let reported = report.latest.residual.unwrap().l2 / report.start_residual;
            let (reduction, _) = norms[first];
            // What is reported of the last is b − A u; an update's residual has its rounding, too.
            let off = (reported - reduction).abs();
            assert!(off <= 1e-9 * reduction + 1e-16, "{reported} {reduction}");
        }
    }
    // The last cycle that is allowed counts as well.
    overshoot.stop.max_cycles = 1;
    overshoot.stop.tolerance = Some(1e-1);
    let worker = worker();
    worker.request(request(1, &overshoot));
    assert_eq!(finished(&worker).1, Outcome::Converged);
    overshoot.stop.tolerance = Some(1e-12);
    worker.request(request(2, &overshoot));
    let (report, outcome) = finished(&worker);
    let (report, outcome) = if report.epoch == 2 { (report, outcome) } else { finished(&worker) };
    assert_eq!((report.latest.cycle, outcome), (1, Outcome::OutOfCycles));
}

#[test]
fn the_rounding_limit_is_a_stop_of_its_own_whose_map_is_the_true_residual() {
    let _guard = ALONE.read();
    let mut run = small();
    (run.method.precision, run.stop.tolerance) = (Precision::F32, Some(1e-9));
    let worker = worker();
    worker.request(request(1, &run));
    let (report, outcome) = finished(&worker);
    assert_eq!(outcome, Outcome::RoundingLimit);
    let residual = report.latest.residual.unwrap().l2;
    assert!(residual > 1e-9 * report.start_residual);
    // The residual that comes with a cycle reads 0 here.
    let samples = &report.observation.picture.as_ref().unwrap().samples.values;
    let shown = samples.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    assert!((shown / residual - 1.0).abs() < 1e-5, "{shown} {residual}");
    assert!(report.observation.edge.residual > 0.0);
}

#[test]
fn a_run_that_diverges_stops_and_says_why() {
    let _guard = ALONE.read();
    let mut run = small();
    run.problem.kind = ProblemKind::ConvectionDiffusion;
    run.problem.shape = vec![64, 64];
    for (velocity, growing) in [(190.0, true), (3e4, false)] {
        run.problem.velocity = Some([velocity, velocity, 0.0]);
        let worker = worker();
        worker.request(request(1, &run));
        let (report, outcome) = finished(&worker);
        let Outcome::Diverged(why) = outcome else { panic!("{outcome:?}") };
        assert_eq!(matches!(why, Divergence::Growing { .. }), growing, "{why}");
        let said = why.to_string();
        assert!(said.contains(&format!("cycle {}", report.latest.cycle)), "{said}");
        assert!(said.contains("not diagonally dominant") && said.contains("lower the velocity"));
        assert!(report.latest.cycle < 200);
        let stopped = report.latest.cycle;
        worker.request(WorkerRequest { steps: 3, ..request(1, &run) });
        std::thread::sleep(Duration::from_millis(50));
        while let Some(answer) = worker.wait(Duration::from_millis(100)) {
            assert_eq!(answer.unwrap().latest.cycle, stopped, "it does not continue");
        }
    }
}

/// Names of this process's threads that are ours (the system cuts them to 15 letters).
#[cfg(target_os = "linux")]
fn our_threads() -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    // A thread may end between its being listed and its being read.
    let names = tasks.filter_map(|task| {
        std::fs::read_to_string(task.ok()?.path().join("comm")).ok().map(|name| name.trim().into())
    });
    names.filter(|name: &String| name.starts_with("tilescope-")).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn no_thread_outlives_its_worker() {
    let _guard = ALONE.write();
    let gone = |patience: Duration| {
        let begin = Instant::now();
        while !our_threads().is_empty() && begin.elapsed() < patience {
            std::thread::sleep(Duration::from_millis(5));
        }
        our_threads()
    };
    // Those of tests before.
    assert_eq!(gone(DEADLINE), Vec::<String>::new());
    let mut run = RunSpec::default();
    run.problem.shape = vec![512, 512];
    run.method.threads = 2;
    let worker = worker();
    let mut request = request(1, &run);
    request.error = true;
    request.reference = true;
    worker.request(request);
    until(&worker, |report| report.latest.cycle > 2);
    assert!(our_threads().iter().any(|name| name.starts_with("tilescope-worke")));
    drop(worker);
    assert_eq!(gone(DEADLINE), Vec::<String>::new());
}

/// The resident memory of this process in bytes.
#[cfg(target_os = "linux")]
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

#[cfg(target_os = "linux")]
#[test]
fn ten_thousand_changes_of_setting_leave_no_memory_behind() {
    let _alone = ALONE.write().unwrap();
    let worker = worker();
    let mut run = small();
    let mut begin = 0;
    for epoch in 1..=10_000 {
        run.method.k = (1 + epoch as usize % 7).into();
        run.method.overlap = vec![2 * (epoch as usize % 3)];
        run.method.tile = vec![8 << (epoch % 2)];
        run.method.precision = [Precision::F64, Precision::F32][(epoch / 3 % 2) as usize];
        worker.request(WorkerRequest { memory: 16_000_000, ..request(epoch, &run) });
        // Most requests are replaced by the next, as those of a dragged slider are.
        if epoch % 20 == 0 {
            let report = until(&worker, |report| report.epoch == epoch);
            assert_eq!(report.plan.spec, run);
        }
        if epoch == 2_000 {
            begin = resident();
        }
    }
    let end = resident();
    assert!(end <= begin + begin / 10 + (32 << 20), "{begin} to {end} bytes");
}

/// A cycle may take minutes. Nobody waits for that of a run that is left, nor when the worker is dropped.
#[test]
fn a_long_cycle_is_left_unfinished_for_another_run() {
    let _guard = ALONE.read();
    // One tile, on one thread: longer than a cycle may go on, however fast the machine.
    let mut long = RunSpec::default();
    (long.problem.shape, long.method.tile) = (vec![2048, 2048], vec![2048]);
    (long.method.k, long.method.backend) = (256.into(), Backend::Cpu);
    let worker = worker();
    worker.request(request(1, &long));
    let is_running = |report: &Report| report.epoch == 1 && report.phase == Phase::Running;
    let before = until(&worker, is_running).latest.cycle;
    worker.request(WorkerRequest { kept: vec![1], ..request(2, &small()) });
    until(&worker, |report| report.epoch == 2 && report.latest.cycle > 0);
    // It was left in the middle of its next cycle, which is made now, before its first report.
    worker.request(WorkerRequest { kept: vec![2], ..request(1, &long) });
    let report = until(&worker, |report| report.epoch == 1);
    assert_eq!((report.latest.cycle, &report.phase), (before + 1, &Phase::Running));
}
