//! What it takes from a solver that somebody looks at it.

use super::measure::warm_up;
use crate::run::{
    CutLine, FieldKind, ObservationRequest, Plan, ProfileRequest, Report, Worker, WorkerRequest,
};
use crate::solver::{self, CyclesWithoutNorms};
use anyhow::anyhow;
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A screen's time for a frame.
const FRAME: Duration = Duration::from_nanos(16_666_667);

/// Pixels of the map, in a window of a usual size.
const VIEW: [usize; 2] = [1000, 800];

/// The time is divided into turns of about this length, and so many at the least: whatever else the machine
/// does falls on all alike.
const TURN: Duration = Duration::from_millis(500);
const TURNS: u32 = 3;

/// The worker is not silent for so long, unless it fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// Cycles a second of one setting.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Frames {
    /// Of the solver alone, with norms, by the clock on the wall.
    pub bare: f64,
    /// Of the worker while its reports are taken 60 times a second.
    pub watched: f64,
    /// Of the worker while it makes Jacobi's iteration beside the run too.
    pub with_reference: f64,
    /// Reports a second.
    pub reports: f64,
}

/// Measures for about `span`, in turns.
///
/// # Errors
/// If the solver fails, or the worker.
pub(super) fn measure(plan: &Plan, span: Duration) -> anyhow::Result<Frames> {
    let turns = (span.div_duration_f64(3 * TURN) as u32).max(TURNS);
    let turn = span / (3 * turns);
    let mut solver =
        solver::set_up(&plan.problem, plan.method.clone(), plan.precision, plan.place)?;
    let mut batch = || {
        let batch = solver.cycles(u64::MAX)?;
        Ok(CyclesWithoutNorms { cycles: batch.norms.len() as u64, seconds: batch.seconds })
    };
    warm_up(&mut batch)?;
    let mut watcher = Watcher::start(plan)?;
    let mut all = [(); 4].map(|()| Vec::new());
    for _ in 0..turns {
        let begin = Instant::now();
        let mut cycles = 0;
        while cycles == 0 || begin.elapsed() < turn {
            cycles += batch()?.cycles;
        }
        all[0].push(cycles as f64 / begin.elapsed().as_secs_f64());
        let (rate, reports) = watcher.watch(turn, false)?;
        all[1].push(rate);
        all[2].push(reports);
        all[3].push(watcher.watch(turn, true)?.0);
    }
    let [bare, watched, reports, with_reference] = all.map(|mut rates: Vec<f64>| {
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    });
    Ok(Frames { bare, watched, with_reference, reports })
}

/// Bytes that the window lets a run keep of its iterates.
const MEMORY: usize = 512_000_000;

/// Somebody who looks at a run as the window does at first: at the map, along a cut, and about tile
/// borders.
struct Watcher {
    worker: Worker,
    request: WorkerRequest,
}

impl Watcher {
    fn start(plan: &Plan) -> anyhow::Result<Self> {
        let mut spec = plan.spec.clone();
        // It is to be busy for as long as it is looked at.
        spec.stop.tolerance = None;
        spec.stop.max_cycles = u64::MAX;
        let worker =
            Worker::start(|| {}).map_err(|error| anyhow!("the system gives no thread: {error}"))?;
        let line = CutLine::middle(&plan.problem.shape);
        let cut = ProfileRequest { line, fields: vec![FieldKind::Residual], most: VIEW[0] };
        let view = ObservationRequest {
            most: VIEW,
            statistics: true,
            cut: Some(cut),
            ..ObservationRequest::default()
        };
        let request = WorkerRequest {
            epoch: 1,
            spec: Arc::new(spec),
            running: false,
            steps: 0,
            pace: None,
            view,
            memory: MEMORY,
            snapshot_requests: Vec::new(),
        };
        Ok(Self { worker, request })
    }

    /// Lets the run go on for a while; gives its cycles and its reports a second.
    fn watch(&mut self, span: Duration, reference: bool) -> anyhow::Result<(f64, f64)> {
        self.request.view.reference = reference;
        self.tell(true);
        let begin = Instant::now();
        // Until batches have the size that they keep.
        while begin.elapsed() < span / 4 {
            self.frame();
        }
        let (begin, first) = self.next()?;
        let mut reports = 0;
        while begin.elapsed() < span {
            reports += u32::from(self.frame());
        }
        let (end, last) = self.next()?;
        // A reference would catch up with the run while that waits.
        self.request.view.reference = false;
        self.tell(false);
        let seconds = (end - begin).as_secs_f64();
        let cycles = last.latest.cycle - first.latest.cycle;
        Ok((cycles as f64 / seconds, f64::from(reports) / seconds))
    }

    fn tell(&mut self, running: bool) {
        self.request.running = running;
        self.worker.request(self.request.clone());
    }

    /// Waits for a frame, and takes the report that is there, if any.
    fn frame(&self) -> bool {
        std::thread::sleep(FRAME);
        self.worker.answer().is_some()
    }

    /// A report that is made from now on, and when it came.
    fn next(&self) -> anyhow::Result<(Instant, Box<Report>)> {
        _ = self.worker.answer();
        let answer = self
            .worker
            .wait(PATIENCE)
            .ok_or_else(|| anyhow!("the worker gave no report for a minute"))?;
        let report = answer.map_err(|refusal| anyhow!(refusal.why))?;
        Ok((Instant::now(), report))
    }
}
