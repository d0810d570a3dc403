//! What the worker does when a GPU fails.

use super::*;
use crate::run::worker::messages::{ExactState, Phase, Report};
use crate::run::{FieldKind, MethodSpec, ObservationRequest, Outcome, Run};
use crate::solver::{self, fake::Batches};
use crossbeam_channel::bounded;

fn request(threads: usize) -> WorkerRequest {
    let mut spec = RunSpec::default();
    spec.problem.shape = vec![64, 48];
    spec.method = MethodSpec { tile: vec![16], k: 4, threads, ..spec.method };
    let view = ObservationRequest {
        most: [64; 2],
        probe: Some([1, 1]),
        reference: true,
        ..ObservationRequest::default()
    };
    WorkerRequest {
        epoch: 1,
        spec: Arc::new(spec),
        running: true,
        steps: 0,
        pace: None,
        view,
        memory: 512_000_000,
        snapshot_requests: Vec::new(),
    }
}

/// A loop and a job whose GPU fails after so many cycles; and the other ends of the channels.
fn failing(after: u64) -> (WorkLoop, Job, Sender<WorkerRequest>, Receiver<Answer>) {
    on_a_gpu(|gpu| gpu.failing_after(after))
}

fn on_a_gpu(
    gpu: impl FnOnce(Batches) -> Batches,
) -> (WorkLoop, Job, Sender<WorkerRequest>, Receiver<Answer>) {
    let (requests, unread) = bounded(1);
    let (answers, untaken) = bounded(1);
    let channels = Channels { requests: unread, answers, untaken: untaken.clone() };
    let mut work = WorkLoop::new(channels, Arc::default(), Box::new(|| {}));
    let request = request(1);
    let plan = Arc::new(work.planner.plan(&request.spec).unwrap());
    let solver =
        solver::set_up(&plan.problem, plan.method.clone(), plan.precision, plan.place).unwrap();
    let solver = Box::new(gpu(Batches::new(solver, vec![5])));
    let experiment = Experiment::with_solver(&plan, solver).unwrap();
    (work, Job::new(request, plan, experiment), requests, untaken)
}

fn report(work: &mut WorkLoop, job: &mut Job) -> Report {
    job.report(true, ExactState::NotWanted, &mut work.answered)
}

#[test]
fn a_gpu_that_fails_stops_the_run_and_says_why_until_it_goes_on_elsewhere() {
    let (mut work, mut job, _wishes, untaken) = failing(60);
    while job.has_work() {
        work.work(&mut job);
    }
    let told = report(&mut work, &mut job);
    let Phase::Failed { why } = &told.phase else { panic!("{:?}", told.phase) };
    assert!(why.contains("a GPU of the tests") && why.contains("it was lost"), "{why}");
    let observation = told.latest.cycle;
    assert!((50..=60).contains(&observation) && told.observation.picture.is_none());
    assert_eq!(told.curve.last().unwrap().cycle, observation);

    // A place that cannot be refuses, and nothing else happens.
    let mut job = Some(job);
    work.take(request(100_000), &mut job);
    work.report(None);
    let refusal = untaken.try_recv().unwrap().unwrap_err();
    assert!(refusal.epoch == 1 && refusal.why.contains("threads"), "{}", refusal.why);
    let job_left = job.as_mut().unwrap();
    assert!(matches!(report(&mut work, job_left).phase, Phase::Failed { .. }));
    // The window shows the old settings again; that asks for nothing.
    work.take(request(1), &mut job);
    work.report(None);
    assert!(untaken.is_empty());

    // Another does, and the history stays.
    work.take(request(2), &mut job);
    let mut job = job.unwrap();
    assert_eq!(report(&mut work, &mut job).phase, Phase::Returning { cycle: 0 });
    let mut returning = 0;
    while job.has_work() {
        let told = report(&mut work, &mut job);
        returning += u64::from(matches!(told.phase, Phase::Returning { .. }));
        assert!(told.latest.cycle >= observation);
        work.work(&mut job);
    }
    assert!(returning > 0);
    let told = report(&mut work, &mut job);
    assert_eq!(told.phase, Phase::Finished(Outcome::Converged));
    assert_eq!(told.plan.spec.method.threads, 2);
    let mut plain = Run::new(&told.plan).unwrap();
    while plain.advance(u64::MAX).unwrap().is_none() {}
    assert_eq!(told.latest.cycle, plain.cycle());
    assert_eq!(told.latest.residual, plain.history().latest().residual);
    assert!(told.observation.picture.is_some() && !told.reference.is_empty());
}

#[test]
fn another_place_is_gone_to_from_where_the_run_is() {
    let (mut work, job, _wishes, _untaken) = failing(u64::MAX);
    let mut job = Some(job);
    let mut there = request(1);
    there.running = false;
    there.steps = 7;
    work.take(there.clone(), &mut job);
    while job.as_ref().is_some_and(Job::has_run_work) {
        work.work(job.as_mut().unwrap());
    }
    there.spec = request(2).spec;
    work.take(there, &mut job);
    let told = report(&mut work, job.as_mut().unwrap());
    assert_eq!((told.latest.cycle, told.phase, told.epoch), (7, Phase::Paused, 1));
    assert_eq!(told.curve.len(), 8);
}

/// A new run after a failure takes nothing over from it.
#[test]
fn a_new_run_after_a_failure_is_set_up_afresh() {
    let (mut work, mut job, _wishes, _untaken) = failing(10);
    while job.has_work() {
        work.work(&mut job);
    }
    let mut job = Some(job);
    work.take(WorkerRequest { epoch: 2, ..request(1) }, &mut job);
    let told = report(&mut work, job.as_mut().unwrap());
    assert_eq!((told.latest.cycle, told.phase, told.epoch), (0, Phase::Running, 2));
}

/// As long as nothing else is asked for, one refusal is enough, however the window is looked at.
#[test]
fn what_is_refused_at_the_start_is_refused_once() {
    let (mut work, _, _wishes, untaken) = failing(10);
    let mut job = None;
    for most in 1..5 {
        let mut request = request(100_000);
        request.view.most = [most; 2];
        work.take(request, &mut job);
        work.report(job.as_mut());
        assert_eq!(untaken.try_recv().is_ok(), most == 1);
    }
    work.take(request(1), &mut job);
    assert!(job.is_some());
}

#[test]
fn a_run_goes_on_without_a_reference_that_has_no_room_and_says_why() {
    let (mut work, job, _wishes, _untaken) = on_a_gpu(Batches::alone);
    let mut job = Some(job);
    let mut request = request(1);
    request.view.field = FieldKind::Staleness;
    work.take(request, &mut job);
    let mut job = job.unwrap();
    while job.has_work() {
        work.work(&mut job);
    }
    let told = report(&mut work, &mut job);
    assert_eq!(told.phase, Phase::Finished(Outcome::Converged));
    assert!(told.observation.field == FieldKind::Staleness && told.observation.picture.is_none());
    let why = told.cannot_show(FieldKind::Staleness).unwrap();
    assert!(why.contains("it is full"), "{why}");
    assert_eq!(told.cannot_show(FieldKind::Residual), None);
}

#[test]
fn no_cycle_more_is_made_once_another_wish_waits() {
    let (mut work, job, requests, _untaken) = on_a_gpu(|gpu| gpu);
    let mut job = Some(job);
    let made = |job: &Option<Job>| job.as_ref().map(|job| job.experiment.run().cycle());
    work.work(job.as_mut().unwrap());
    let before = made(&job);
    requests.send(WorkerRequest { epoch: 2, ..request(2) }).unwrap();
    work.work(job.as_mut().unwrap());
    assert_eq!(made(&job), before);
    work.take(work.channels.requests.try_recv().unwrap(), &mut job);
    work.work(job.as_mut().unwrap());
    assert_eq!((job.as_ref().unwrap().epoch, made(&job)), (2, Some(1)));
}

#[test]
fn at_a_pace_the_next_cycle_waits_until_it_is_due_or_the_pace_is_lifted() {
    let (work, mut job, _wishes, _untaken) = on_a_gpu(|gpu| gpu);
    let run = |job: &mut Job| {
        for _ in 0..5 {
            work.work(job);
        }
        job.experiment.run().cycle()
    };
    let slow = |pace| WorkerRequest { pace: Some(pace), ..request(1) };
    // A cycle in a quarter of an hour.
    job.request(slow(1e-3));
    assert_eq!(run(&mut job), 1);
    assert!(job.is_running() && !job.has_run_work());
    // Another pace counts from now on, and so does none.
    job.request(slow(2e-3));
    assert_eq!(run(&mut job), 2);
    job.request(request(1));
    assert!(run(&mut job) > 2);
}

#[test]
fn a_look_that_does_not_sort_tells_again_what_the_last_one_found_and_of_which_cycle() {
    let (mut work, job, _wishes, _untaken) = on_a_gpu(|gpu| gpu);
    let mut job = Some(job);
    let mut request = request(1);
    request.view.statistics = true;
    work.take(request.clone(), &mut job);
    let mut job = job.unwrap();
    let mut look = |job: &mut Job, sorts| {
        job.cycle();
        job.report(sorts, ExactState::NotWanted, &mut work.answered).observation
    };
    assert!(job.must_sort());
    let first = look(&mut job, true);
    assert!(!job.must_sort());
    let second = look(&mut job, false);
    assert!(second.cycle > first.cycle && second.picture != first.picture);
    assert_eq!(second.statistics.as_ref().unwrap().cycle, first.cycle);
    assert_eq!(second.statistics, first.statistics);
    let third = look(&mut job, true);
    assert_eq!(third.statistics.unwrap().cycle, third.cycle);

    // What was found of another field is no use, and what nobody wants is not told.
    request.view.field = FieldKind::Change;
    job.request(request.clone());
    assert!(job.must_sort());
    request.view.statistics = false;
    job.request(request);
    assert!(!job.must_sort() && look(&mut job, false).statistics.is_none());
}
