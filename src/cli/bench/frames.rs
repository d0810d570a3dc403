//! The speed of a solver while its iterates are observed as by the window.

use super::measure::warm_up;
use crate::clock::Instant;
use crate::run::{
    Answer, CutLine, FieldKind, MapRequest, ObservationRequest, Phase, Plan, ProfileRequest,
    Report, Worker, WorkerRequest,
};
use crate::solver::{self, Batch, NormRequest, SolverError};
use anyhow::anyhow;
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// Time of a frame at 60 Hz.
const FRAME: Duration = Duration::from_nanos(16_666_667);

/// Pixels of the heat map in a window of common size.
const VIEW: [usize; 2] = [1000, 800];

/// Length and least number of the turns in which the variants alternate, so that other load on the
/// machine affects all of them alike.
const TURN: Duration = Duration::from_millis(500);
const TURNS: u32 = 3;

/// How long nothing is done before each turn, and then a solver is at work: a GPU that has rested is faster at first than one
/// that reaches the power it may take.
const REST: Duration = Duration::from_millis(500);
const AT_WORK: Duration = Duration::from_millis(500);

/// Longest wait for a report of the worker.
const PATIENCE: Duration = Duration::from_secs(60);

/// Cycles per second of one setting, observed and not.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Frames {
    /// Cycles per second of the solver alone, with norms, by wall-clock time.
    pub unobserved: f64,
    /// Cycles per second of the worker while its reports are taken 60 times per second.
    pub observed: f64,
    /// The same while the worker also makes the classic Jacobi iteration for the staleness.
    pub with_reference: f64,
    /// Reports per second.
    pub reports: f64,
}

/// Measures all variants in turns, for about `span` in total, and rests and warms up for three seconds a round beside that. `None`
/// if the run ends before, as that of a small grid does, which rounding soon brings to rest.
///
/// # Errors
/// If the solver fails, or the worker.
pub(super) fn measure(plan: &Plan, span: Duration) -> anyhow::Result<Option<Frames>> {
    let turns = (span.div_duration_f64(3 * TURN) as u32).max(TURNS);
    let turn = span / (3 * turns);
    let mut solver =
        solver::set_up(&plan.problem, plan.method.clone(), plan.precision, &plan.place)?;
    let mut batch = || solver.cycles(u64::MAX, NormRequest::RESIDUAL_L2);
    warm_up(&mut batch)?;
    let mut observer = Observer::start(plan)?;
    let mut all = [(); 4].map(|()| Vec::new());
    for _ in 0..turns {
        warm(&mut batch)?;
        all[0].push(work(&mut batch, turn)?);
        warm(&mut batch)?;
        let Some((rate, reports)) = observer.observe(turn, false)? else { return Ok(None) };
        all[1].push(rate);
        all[2].push(reports);
        warm(&mut batch)?;
        let Some((rate, _)) = observer.observe(turn, true)? else { return Ok(None) };
        all[3].push(rate);
    }
    let [unobserved, observed, reports, with_reference] = all.map(|mut rates: Vec<f64>| {
        rates.sort_by(f64::total_cmp);
        rates[rates.len() / 2]
    });
    Ok(Some(Frames { unobserved, observed, with_reference, reports }))
}

/// What comes before every turn, so that the GPU begins each alike.
fn warm(batch: &mut impl FnMut() -> Result<Batch, SolverError>) -> anyhow::Result<()> {
    std::thread::sleep(REST);
    work(batch, AT_WORK).map(drop)
}

/// Makes batches for `span`; returns cycles per second.
fn work(
    batch: &mut impl FnMut() -> Result<Batch, SolverError>,
    span: Duration,
) -> anyhow::Result<f64> {
    let (begin, mut cycles) = (Instant::now(), 0);
    while cycles == 0 || begin.elapsed() < span {
        cycles += batch()?.cycles;
    }
    Ok(cycles as f64 / begin.elapsed().as_secs_f64())
}

/// Memory budget for keyframes in bytes, the default of the window.
const MEMORY: usize = 512_000_000;

/// Observes a run as the window does at first start: map, profile and statistics by distance from
/// tile borders.
struct Observer {
    worker: Worker,
    request: WorkerRequest,
    has_ended: bool,
}

impl Observer {
    fn start(plan: &Plan) -> anyhow::Result<Self> {
        let mut spec = plan.spec.clone();
        // The run must not end while it is measured.
        spec.stop.tolerance = None;
        spec.stop.max_cycles = u64::MAX;
        let worker =
            Worker::start(|| {}).map_err(|error| anyhow!("cannot start a thread: {error}"))?;
        let line = CutLine::middle(&plan.problem.shape.shown(None));
        let cut =
            ProfileRequest { line, slice: None, fields: vec![FieldKind::Residual], most: VIEW[0] };
        let observation = ObservationRequest {
            map: Some(MapRequest::whole(VIEW)),
            edge_share: true,
            statistics: true,
            profile: Some(cut),
            ..ObservationRequest::default()
        };
        let request = WorkerRequest {
            epoch: 1,
            spec: Arc::new(spec),
            running: false,
            steps: 0,
            pace: None,
            observation,
            memory: MEMORY,
            ..WorkerRequest::default()
        };
        Ok(Self { worker, request, has_ended: false })
    }

    /// Continues the run for `span`; returns cycles and reports per second, `None` if the run ended.
    fn observe(&mut self, span: Duration, reference: bool) -> anyhow::Result<Option<(f64, f64)>> {
        self.request.reference = reference;
        self.send(true);
        let begin = Instant::now();
        // Warm-up until the batches have their final size.
        while begin.elapsed() < span / 4 {
            self.frame()?;
        }
        let Some((begin, first)) = self.next()? else { return Ok(None) };
        let mut reports = 0;
        while begin.elapsed() < span {
            reports += u32::from(self.frame()?);
        }
        let Some((end, last)) = self.next()? else { return Ok(None) };
        // Without a reference the worker does not use the pause to catch up with it.
        self.request.reference = false;
        self.send(false);
        self.pause()?;
        let seconds = (end - begin).as_secs_f64();
        let cycles = last.latest.cycle - first.latest.cycle;
        Ok(Some((cycles as f64 / seconds, f64::from(reports) / seconds)))
    }

    /// Waits until the run is paused: it measures what is not known yet of its iterate, which must not be of the next turn.
    fn pause(&mut self) -> anyhow::Result<()> {
        while !self.has_ended && !matches!(self.wait()?.phase, Phase::Paused) {}
        Ok(())
    }

    fn send(&mut self, running: bool) {
        self.request.running = running;
        self.worker.request(self.request.clone());
    }

    /// Waits for one frame, then takes the newest report; `false` if there is none.
    fn frame(&mut self) -> anyhow::Result<bool> {
        std::thread::sleep(FRAME);
        let answer = self.worker.answer();
        Ok(answer.map(|answer| self.report(answer)).transpose()?.is_some())
    }

    /// The next report from now on, and the time of its arrival; `None` if the run ended.
    fn next(&mut self) -> anyhow::Result<Option<(Instant, Box<Report>)>> {
        if let Some(before) = self.worker.answer() {
            self.report(before)?;
        }
        if self.has_ended {
            return Ok(None);
        }
        let report = self.wait()?;
        Ok((!self.has_ended).then(|| (Instant::now(), report)))
    }

    fn wait(&mut self) -> anyhow::Result<Box<Report>> {
        let answer = self.worker.wait(PATIENCE);
        self.report(answer.ok_or_else(|| anyhow!("the worker sent no report for a minute"))?)
    }

    fn report(&mut self, answer: Answer) -> anyhow::Result<Box<Report>> {
        let report = answer.map_err(|refusal| anyhow!(refusal.why))?;
        self.has_ended |= matches!(report.phase, Phase::Finished(_));
        Ok(report)
    }
}
