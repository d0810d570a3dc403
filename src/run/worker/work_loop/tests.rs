//! The worker's loop, turn by turn: above all what it does when a GPU fails.

use super::*;
use crate::run::worker::messages::{ExactState, Phase, Report};
use crate::run::{FieldKind, MapRequest, MethodSpec, Milestone, ObservationRequest, Outcome, Run};
use crate::solver::{self, Acceleration, StopToken, fake::Batches};
use crossbeam_channel::bounded;

fn request(threads: usize) -> WorkerRequest {
    let mut spec = RunSpec::default();
    spec.problem.shape = vec![64, 48];
    spec.method = MethodSpec { tile: vec![16], k: 4.into(), threads, ..spec.method };
    let observation = ObservationRequest {
        map: Some(MapRequest::whole([64; 2])),
        probe: Some([1, 1]),
        ..ObservationRequest::default()
    };
    WorkerRequest {
        epoch: 1,
        spec: Arc::new(spec),
        running: true,
        steps: 0,
        pace: None,
        observation,
        reference: true,
        memory: 512_000_000,
        ..WorkerRequest::default()
    }
}

/// A loop, and the other ends of its channels.
struct Bench {
    work: WorkLoop,
    requests: Sender<WorkerRequest>,
    answers: Receiver<Answer>,
}

/// A loop without a run.
fn idle() -> Bench {
    let (requests, unread) = bounded(1);
    let (send, answers) = bounded(1);
    let channels = Channels { requests: unread, answers: send, untaken: answers.clone() };
    let mut work =
        WorkLoop::new(channels, Arc::default(), StopToken::default(), Box::new(|| {}), |_, _| {});
    // However busy the machine is, no run is late.
    work.longest_catch_up = Duration::MAX;
    Bench { work, requests, answers }
}

/// A loop whose run is made on a simulated GPU.
fn on_a_gpu(gpu: impl FnOnce(Batches) -> Batches) -> Bench {
    let mut bench = idle();
    let request = request(1);
    let plan = Arc::new(bench.work.planner.plan(&request.spec).unwrap());
    let solver =
        solver::set_up(&plan.problem, plan.method.clone(), plan.precision, &plan.place).unwrap();
    let solver = Box::new(gpu(Batches::new(solver, vec![5])));
    let experiment = Experiment::with_solver(&plan, solver).unwrap();
    bench.work.job = Some(Job::new(request, plan, experiment));
    bench
}

/// A loop whose GPU fails after that number of cycles.
fn failing(after: u64) -> Bench {
    on_a_gpu(|gpu| gpu.failing_after(after))
}

impl Bench {
    fn job(&mut self) -> &mut Job {
        self.work.job.as_mut().expect("a run")
    }

    /// Makes all cycles that there are to be made.
    fn make_all(&mut self) {
        while self.job().has_work() {
            self.work.work();
        }
    }

    /// A report of the run as it is now.
    fn report(&mut self) -> Report {
        let WorkLoop { job, answered, .. } = &mut self.work;
        job.as_mut().expect("a run").report(true, ExactState::NotWanted, answered)
    }

    fn cycle(&mut self) -> u64 {
        self.job().experiment.run().cycle()
    }
}

#[test]
fn a_gpu_that_fails_stops_the_run_and_says_why_until_it_continues_elsewhere() {
    let mut bench = failing(60);
    bench.make_all();
    let failed = bench.report();
    let Phase::Failed { why } = &failed.phase else { panic!("{:?}", failed.phase) };
    assert!(why.contains("a GPU of the tests") && why.contains("it was lost"), "{why}");
    let last = failed.latest.cycle;
    assert!((50..=60).contains(&last) && failed.observation.picture.is_none());
    assert_eq!(failed.curve.last().unwrap().cycle, last);

    // An impossible place is an error, and nothing else happens.
    bench.work.take(request(100_000));
    bench.work.report();
    let error = bench.answers.try_recv().unwrap().unwrap_err();
    assert!(error.epoch == 1 && error.why.contains("threads"), "{}", error.why);
    assert!(matches!(bench.report().phase, Phase::Failed { .. }));
    // The window shows the old settings again; that changes nothing.
    bench.work.take(request(1));
    bench.job().has_news = false;
    bench.work.report();
    assert!(bench.answers.is_empty());

    // Another place is possible, and the history stays.
    bench.work.take(request(2));
    assert_eq!(bench.report().phase, Phase::Returning { cycle: 0 });
    let mut returning = 0;
    while bench.job().has_work() {
        let report = bench.report();
        returning += u64::from(matches!(report.phase, Phase::Returning { .. }));
        assert!(report.latest.cycle >= last);
        bench.work.work();
    }
    assert!(returning > 0);
    let end = bench.report();
    assert_eq!(end.phase, Phase::Finished(Outcome::Converged));
    assert_eq!(end.plan.spec.method.threads, 2);
    let mut plain = Run::new(&end.plan).unwrap();
    while plain.advance(u64::MAX).unwrap().is_none() {}
    assert_eq!(end.latest.cycle, plain.cycle());
    assert_eq!(end.latest.residual, plain.history().latest().residual);
    assert!(end.observation.picture.is_some() && !end.reference.is_empty());
}

#[test]
fn a_run_continues_in_another_place_from_where_it_is() {
    let mut bench = failing(u64::MAX);
    let mut there = request(1);
    there.running = false;
    there.steps = 7;
    bench.work.take(there.clone());
    while bench.job().has_run_work() {
        bench.work.work();
    }
    there.spec = request(2).spec;
    bench.work.take(there);
    let report = bench.report();
    assert_eq!((report.latest.cycle, report.phase, report.epoch), (7, Phase::Paused, 1));
    assert_eq!(report.curve.len(), 8);
}

/// A new run after a failure takes nothing over from it.
#[test]
fn a_new_run_after_a_failure_is_set_up_afresh() {
    let mut bench = failing(10);
    bench.make_all();
    bench.work.take(WorkerRequest { epoch: 2, ..request(1) });
    let report = bench.report();
    assert_eq!((report.latest.cycle, report.phase, report.epoch), (0, Phase::Running, 2));
}

/// As long as the request stays the same, one error is enough, however often the window is drawn.
#[test]
fn an_impossible_first_run_is_one_error() {
    let mut bench = idle();
    for most in 1..5 {
        let mut request = request(100_000);
        request.observation.map = Some(MapRequest::whole([most; 2]));
        bench.requests.send(request).unwrap();
        assert_ne!(bench.work.turn(), Turn::End);
        assert_eq!(bench.answers.try_recv().is_ok(), most == 1);
    }
    bench.requests.send(request(1)).unwrap();
    assert_eq!(bench.work.turn(), Turn::Again);
    assert!(bench.work.job.is_some());
}

#[test]
fn a_run_continues_without_a_reference_that_does_not_fit_and_says_why() {
    let mut bench = on_a_gpu(Batches::alone);
    let mut request = request(1);
    request.observation.field = FieldKind::Staleness;
    bench.work.take(request);
    bench.make_all();
    let report = bench.report();
    assert_eq!(report.phase, Phase::Finished(Outcome::Converged));
    assert!(report.observation.field == FieldKind::Staleness);
    assert!(report.observation.picture.is_none());
    let why = report.cannot_show(FieldKind::Staleness).unwrap();
    assert!(why.contains("it is full"), "{why}");
    assert_eq!(report.cannot_show(FieldKind::Residual), None);
}

#[test]
fn no_cycle_more_is_made_once_another_request_waits() {
    let mut bench = on_a_gpu(|gpu| gpu);
    bench.work.work();
    let before = bench.cycle();
    bench.requests.send(WorkerRequest { epoch: 2, ..request(2) }).unwrap();
    bench.work.work();
    assert_eq!(bench.cycle(), before);
    assert_eq!(bench.work.turn(), Turn::Again);
    assert_eq!((bench.job().epoch, bench.cycle()), (2, 1));
}

#[test]
fn at_a_pace_the_next_cycle_waits_until_it_is_due_or_the_pace_is_lifted() {
    let mut bench = on_a_gpu(|gpu| gpu);
    let run = |bench: &mut Bench| {
        for _ in 0..5 {
            bench.work.work();
        }
        bench.cycle()
    };
    let slow = |pace| WorkerRequest { pace: Some(pace), ..request(1) };
    // A cycle in a quarter of an hour.
    bench.job().request(slow(1e-3));
    assert_eq!(run(&mut bench), 1);
    assert!(bench.job().is_running() && !bench.job().has_run_work());
    // Another pace counts from now on, and so does none.
    bench.job().request(slow(2e-3));
    assert_eq!(run(&mut bench), 2);
    bench.job().request(request(1));
    assert!(run(&mut bench) > 2);
}

#[test]
fn a_run_that_caught_up_or_went_step_by_step_continues_at_once() {
    let mut bench = idle();
    // A cycle in a quarter of an hour.
    let slow = |request| WorkerRequest { pace: Some(1e-3), ..request };
    let run = |bench: &mut Bench| {
        for _ in 0..50 {
            bench.work.work();
        }
        bench.cycle()
    };
    bench.work.take(slow(changed(2, 4, Milestone::Sweeps(80))));
    assert_eq!(run(&mut bench), 21);
    let steps = slow(WorkerRequest { epoch: 3, running: false, steps: 5, ..request(1) });
    bench.work.take(steps.clone());
    assert_eq!(run(&mut bench), 5);
    bench.work.take(WorkerRequest { running: true, ..steps });
    assert_eq!(run(&mut bench), 6);
}

#[test]
fn an_observation_without_statistics_repeats_the_last_ones_with_their_cycle() {
    let mut bench = on_a_gpu(|gpu| gpu);
    let mut request = request(1);
    request.observation.statistics = true;
    bench.work.take(request.clone());
    let observe = |bench: &mut Bench, with_statistics| {
        let WorkLoop { job, answered, .. } = &mut bench.work;
        let job = job.as_mut().unwrap();
        job.cycle();
        job.report(with_statistics, ExactState::NotWanted, answered).observation
    };
    assert!(bench.job().needs_statistics());
    let first = observe(&mut bench, true);
    assert!(!bench.job().needs_statistics());
    let second = observe(&mut bench, false);
    assert!(second.cycle > first.cycle && second.picture != first.picture);
    assert_eq!(second.statistics.as_ref().unwrap().cycle, first.cycle);
    assert_eq!(second.statistics, first.statistics);
    let third = observe(&mut bench, true);
    assert_eq!(third.statistics.unwrap().cycle, third.cycle);

    // Statistics of another field are no use, and unwanted ones are not reported.
    request.observation.field = FieldKind::Change;
    bench.job().request(request.clone());
    assert!(bench.job().needs_statistics());
    request.observation.statistics = false;
    bench.job().request(request);
    assert!(!bench.job().needs_statistics() && observe(&mut bench, false).statistics.is_none());
}

/// Driven turn by turn, without a thread and without waiting.
#[test]
fn turns_make_a_run_to_its_end_and_then_wait() {
    let mut bench = idle();
    assert_eq!(bench.work.turn(), Turn::Wait(IDLE));
    let steps = WorkerRequest { running: false, steps: 9, ..request(1) };
    bench.requests.send(steps).unwrap();
    let mut last = None;
    while bench.work.turn() == Turn::Again || last.is_none_or(|cycle| cycle < 9) {
        last = bench.answers.try_recv().ok().map(|answer| answer.unwrap().latest.cycle).or(last);
    }
    assert_eq!(last, Some(9));
    bench.work.resting.store(true, Ordering::Relaxed);
    assert_eq!(bench.work.turn(), Turn::Wait(IDLE));
    drop(bench.requests);
    bench.work.resting.store(false, Ordering::Relaxed);
    assert_eq!(bench.work.turn(), Turn::End);
}

/// A changed run with overlap, which has to catch up.
fn changed(epoch: u64, overlap: usize, to: Milestone) -> WorkerRequest {
    let mut request = WorkerRequest { epoch, catch_up: Some(to), ..request(1) };
    Arc::make_mut(&mut request.spec).method.overlap = vec![overlap];
    request
}

/// Takes turns until there is a report.
fn next_report(bench: &mut Bench) -> Report {
    loop {
        assert_ne!(bench.work.turn(), Turn::End);
        if let Ok(answer) = bench.answers.try_recv() {
            return *answer.unwrap();
        }
    }
}

#[test]
fn a_changed_run_is_first_reported_at_as_many_sweeps_as_the_run_before_it() {
    let mut bench = idle();
    // Whether it is paused, has a pace or runs; k = 4, so that the nearest cycle is taken.
    for (epoch, sweeps, running, pace, cycle) in
        [(2, 80, false, None, 20), (3, 43, true, Some(1e-3), 11), (4, 1, true, None, 1)]
    {
        let to = Milestone::Sweeps(sweeps);
        let held = WorkerRequest { running, pace, held: true, ..changed(epoch, 4, to) };
        bench.requests.send(held.clone()).unwrap();
        let report = next_report(&mut bench);
        assert_eq!((report.epoch, report.observation.cycle), (epoch, cycle));
        assert_eq!(report.phase, Phase::Held);
        // It stays there until the setting is released.
        while bench.work.turn() == Turn::Again {}
        assert_eq!(bench.cycle(), cycle);
        bench.requests.send(WorkerRequest { held: false, ..held }).unwrap();
        let mut report = next_report(&mut bench);
        while report.phase == Phase::Held {
            report = next_report(&mut bench);
        }
        assert_eq!(report.phase == Phase::Paused, !running);
    }
    let plan = Arc::clone(&bench.job().plan);
    let mut plain = Run::new(&plan).unwrap();
    while plain.cycle() < bench.cycle() {
        plain.advance(1).unwrap();
    }
    let exact = |run: &Run| run.history().curve(&mut Default::default(), 4096);
    let residuals = |run: &Run| exact(run).iter().map(|it| it.residual).collect::<Vec<_>>();
    let all = plain.cycle() as usize;
    assert_eq!(residuals(bench.job().experiment.run())[..all], residuals(&plain)[..all]);
}

#[test]
fn a_changed_run_is_first_reported_with_as_small_a_residual() {
    let mut bench = idle();
    for (epoch, overlap) in [(2, 0), (3, 4), (4, 6)] {
        let held = changed(epoch, overlap, Milestone::Reduction(0.05));
        bench.requests.send(WorkerRequest { held: true, ..held }).unwrap();
        let report = next_report(&mut bench);
        let curve = &report.curve;
        let reduction = |at: usize| curve[at].residual.unwrap().l2 / report.start_residual;
        let last = curve.len() - 1;
        assert!(last > 1 && reduction(last) <= 0.05 && reduction(last - 1) > 0.05);
        assert_eq!(report.observation.cycle, report.latest.cycle);
    }
}

#[test]
fn a_run_that_ends_before_is_reported_at_its_end() {
    let mut bench = idle();
    let far = WorkerRequest { held: true, ..changed(2, 4, Milestone::Sweeps(1_000_000)) };
    bench.requests.send(far).unwrap();
    let report = next_report(&mut bench);
    assert_eq!(report.phase, Phase::Finished(Outcome::Converged));
}

#[test]
fn a_newer_request_waits_for_a_run_that_catches_up_but_not_for_a_late_one() {
    let mut bench = idle();
    let slow = || changed(2, 4, Milestone::Reduction(0.0));
    bench.work.take(WorkerRequest { held: true, ..slow() });
    bench.requests.send(changed(3, 2, Milestone::Sweeps(8))).unwrap();
    assert_eq!(bench.work.turn(), Turn::Again);
    assert!(bench.job().epoch == 2 && bench.cycle() > 0 && bench.answers.is_empty());
    // It takes too long: it is shown as it is, and the next one begins.
    bench.work.longest_catch_up = Duration::ZERO;
    let late = next_report(&mut bench);
    assert_eq!((late.epoch, late.phase), (2, Phase::CatchingUp));
    bench.work.longest_catch_up = Duration::MAX;
    let next = next_report(&mut bench);
    assert_eq!((next.epoch, next.observation.cycle), (3, 2));
}

#[test]
fn a_changed_run_is_not_reported_before_its_staleness_is_known() {
    let mut bench = idle();
    let mut request = WorkerRequest { held: true, ..changed(2, 4, Milestone::Sweeps(40)) };
    request.observation.field = FieldKind::Staleness;
    bench.requests.send(request).unwrap();
    let report = next_report(&mut bench);
    assert!(report.observation.cycle == 10 && report.preparing.is_none());
    assert!(report.observation.picture.is_some());
}

/// A run that is left at cycle 9 and returned to, after another one on the same system.
fn return_to_the_first(kept: Vec<u64>, memory: usize) -> (Report, Report) {
    let mut bench = idle();
    let steps = WorkerRequest { running: false, steps: 9, memory, ..request(1) };
    bench.requests.send(steps.clone()).unwrap();
    let mut before = next_report(&mut bench);
    while before.latest.cycle < 9 {
        before = next_report(&mut bench);
    }
    let other = WorkerRequest { memory, kept, ..changed(2, 4, Milestone::Sweeps(80)) };
    bench.requests.send(WorkerRequest { running: false, ..other }).unwrap();
    let other = next_report(&mut bench);
    assert_eq!((other.epoch, other.latest.cycle), (2, 20));
    let sweeps = Some(Milestone::Sweeps(before.sweeps));
    let again = WorkerRequest { catch_up: sweeps, steps_before: 9, kept: vec![2], ..steps };
    bench.requests.send(again).unwrap();
    let after = next_report(&mut bench);
    while bench.work.turn() == Turn::Again {}
    assert_eq!(bench.cycle(), 9, "no step is made twice");
    (before, after)
}

#[test]
fn a_run_that_was_left_returns_with_its_cycles() {
    let (before, after) = return_to_the_first(vec![1], 512_000_000);
    assert_eq!((after.epoch, after.phase), (1, Phase::Paused));
    assert!(Arc::ptr_eq(&before.archive, &after.archive), "nothing is made again");
    assert_eq!(after.curve, before.curve);
    assert_eq!(after.latest.seconds, before.latest.seconds);
}

#[test]
fn a_run_that_was_not_kept_is_made_again_to_where_it_was() {
    // It was not requested, or there is no memory for it.
    for (kept, memory) in [(vec![], 512_000_000), (vec![1], 1000)] {
        let (before, after) = return_to_the_first(kept, memory);
        assert_eq!((after.epoch, after.latest.cycle), (1, 9));
        assert!(!Arc::ptr_eq(&before.archive, &after.archive));
        assert_eq!(after.latest.residual, before.latest.residual);
    }
}

/// They go as far as the run, then to its tolerance; another run of the system takes them over.
#[test]
fn accelerations_run_alongside_to_the_tolerance() {
    let mut bench = idle();
    let wanted = WorkerRequest { accelerations: Acceleration::ALL.into(), ..request(1) };
    bench.work.take(WorkerRequest { running: false, steps: 2, ..wanted.clone() });
    bench.work.report();
    bench.answers.try_recv().unwrap().unwrap();
    bench.make_all();
    let paused = bench.report();
    assert_eq!((paused.sweeps, paused.accelerated.len()), (8, 2));
    for curve in &paused.accelerated {
        assert_eq!((curve.records.len(), curve.records[8].cycle), (9, 8));
        let start = curve.records[0].residual.unwrap().l2;
        assert!((start - paused.start_residual).abs() <= 1e-12 * start);
    }
    bench.work.take(wanted.clone());
    bench.make_all();
    let end = bench.report();
    assert_eq!(end.phase, Phase::Finished(Outcome::Converged));
    let tolerance = end.plan.stop.tolerance.unwrap();
    for curve in &end.accelerated {
        let reduced: Vec<_> = curve
            .records
            .iter()
            .map(|record| record.residual.unwrap().l2 / end.start_residual)
            .collect();
        let (last, before) = reduced.split_last().unwrap();
        assert!(*last <= tolerance && before.iter().all(|left| *left > tolerance));
        assert!(4 * reduced.len() < end.reference.last().unwrap().cycle as usize);
    }
    let mut spec = RunSpec::clone(&wanted.spec);
    spec.method.overlap = vec![4];
    bench.work.take(WorkerRequest { epoch: 2, spec: Arc::new(spec), ..wanted });
    let next = bench.report();
    assert_eq!(next.latest.cycle, 0);
    for (one, other) in next.accelerated.iter().zip(&end.accelerated) {
        assert_eq!(one.records.len(), other.records.len());
    }
}
