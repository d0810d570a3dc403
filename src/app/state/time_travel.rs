//! Shows earlier cycles, which the replay makes, in place of the newest.

use crate::app::state::compared::{Compared, ComparisonRequest, ComparisonTarget};
use crate::app::state::session::Session;
use crate::clock::Instant;
use crate::run::{
    Observation, ObservationRequest, Phase, ReplayReport, ReplayRequest, ReplayTarget, Report,
    Rewinder,
};
use eframe::egui;
use std::sync::Arc;
use std::time::Duration;

/// The longest step of a replay from one frame to the next: a window that was hidden for a while
/// does not jump.
const LONGEST_FRAME: Duration = Duration::from_millis(100);

/// A request is left this long for an answer before a newer one replaces it.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(100);

/// Cycles per second of a replay without a limit: as fast as an eye can follow.
const FASTEST_REPLAY: f64 = 300.0;

/// The share of the time that replays of pinned runs may take while the run makes cycles on the
/// same processor.
const COMPARISON_SHARE: f64 = 0.1;

/// Time travel. The panes draw the observation in the report, of whichever cycle. While that is an
/// earlier one, the observation of the newest cycle is kept here.
pub struct TimeTravel {
    replay: Rewinder,
    /// The last request to the replay.
    last_request: ReplayRequest,
    /// The observation of the newest cycle while an earlier one is shown.
    live: Option<Observation>,
    /// Requests for pinned runs, and their last observations.
    comparisons: Vec<ComparisonRequest>,
    compared: Vec<Compared>,
    /// Whether the last request is unanswered, when it was sent, and how long the answer took.
    is_unanswered: bool,
    sent_at: Instant,
    answered_in: Duration,
    /// Progress towards the requested cycle, 0 to 1.
    under_way: Option<f32>,
    /// Fraction of a cycle by which the replay is ahead of what is shown.
    due: f64,
}

/// An answer of the replay.
pub struct Taken {
    /// Why it could not make a cycle.
    pub failed: Option<String>,
    /// Whether the pictures of the map changed.
    pub is_changed: bool,
}

impl TimeTravel {
    /// Starts the replay's thread.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn new(context: &egui::Context) -> std::io::Result<Self> {
        let repaint = context.clone();
        Ok(Self {
            replay: Rewinder::start(move || repaint.request_repaint())?,
            last_request: ReplayRequest::default(),
            live: None,
            comparisons: Vec::new(),
            compared: Vec::new(),
            is_unanswered: false,
            sent_at: Instant::now(),
            answered_in: Duration::ZERO,
            under_way: None,
            due: 0.0,
        })
    }

    /// Observations of pinned runs.
    pub fn compared(&self) -> &[Compared] {
        &self.compared
    }

    /// Progress towards the requested cycle, 0 to 1, while it takes long.
    pub fn under_way(&self) -> Option<f32> {
        self.under_way
    }

    /// Whether the pointer left a previewed cycle, so that the window must be redrawn.
    pub fn is_left(&self, session: &Session) -> bool {
        session.travel.preview.is_none() && session.travel.at.is_none() && self.live.is_some()
    }

    /// Requests the chosen cycle from the replay, or shows the newest again. Returns whether the
    /// pictures of the map changed.
    #[must_use]
    pub fn request(
        &mut self,
        session: &Session,
        report: Option<&mut Report>,
        view: &ObservationRequest,
    ) -> bool {
        let Some(report) = report else {
            return false;
        };
        if report.epoch != session.epoch {
            // What is shown stays until the new run replaces it.
            return false;
        }
        let latest = report.latest.cycle;
        let cycle = session.travel.earlier(latest);
        let earlier = cycle.map(|cycle| ReplayTarget {
            archive: Arc::clone(&report.archive),
            cycle,
            request: view.clone(),
            minus: None,
        });
        let pins = session.pins.all();
        let comparisons = ComparisonRequest::all(session, report, view, cycle.unwrap_or(latest));
        let others = comparisons.iter().map(|comparison| comparison.target(report, view));
        let pinned = pins.iter().map(|pin| Arc::clone(&pin.archive));
        let request = ReplayRequest {
            id: self.last_request.id,
            runs: pinned.chain([Arc::clone(&report.archive)]).collect(),
            memory: session.memory_of_each(),
            targets: earlier.into_iter().chain(others).collect(),
        };
        // Requests that follow the run or a replay wait until the last answer was shown, or none
        // ever would be. Requests of the user wait only a little, so that a drag shows something on
        // the way.
        let follows = cycle.is_none() || session.travel.playing;
        let is_answered_first =
            self.is_unanswered && (follows || self.sent_at.elapsed() < ANSWER_TIMEOUT);
        // Between two observations of pinned runs, the run has the processor to itself.
        let rests = cycle.is_none()
            && report.phase == Phase::Running
            && self.sent_at.elapsed() < self.answered_in.div_f64(COMPARISON_SHARE)
            && is_of_other_cycles(&self.last_request.targets, &request.targets);
        let is_unanswered = (is_answered_first || rests)
            && request.runs == self.last_request.runs
            && !request.targets.is_empty();
        if request != self.last_request && !is_unanswered {
            self.is_unanswered = !request.targets.is_empty();
            self.sent_at = Instant::now();
            self.last_request = ReplayRequest { id: self.last_request.id + 1, ..request };
            self.replay.request(self.last_request.clone());
            self.comparisons = comparisons;
        }
        let is_requested = |compared: &Compared| {
            self.comparisons.iter().any(|comparison| comparison.is_like(&compared.request))
        };
        let dropped: Vec<_> =
            self.compared.extract_if(.., |compared| !is_requested(compared)).collect();
        let mut is_changed =
            dropped.iter().any(|compared| compared.request.place != ComparisonTarget::Profile);
        if cycle.is_none()
            && let Some(live) = self.live.take()
        {
            let shown = std::mem::replace(&mut report.observation, live);
            keep_diagram(report, shown);
            self.under_way = None;
            is_changed = true;
        }
        is_changed
    }

    /// Stops the replay until the next request.
    pub fn rest(&mut self) {
        if !self.last_request.targets.is_empty() {
            self.last_request.id += 1;
            self.last_request.targets.clear();
            self.replay.request(self.last_request.clone());
            (self.is_unanswered, self.under_way) = (false, None);
        }
    }

    /// Takes the newest report in place of `before`. An earlier cycle that is shown stays.
    pub fn keep(&mut self, report: &mut Report, before: Option<Box<Report>>) {
        let before = before.filter(|before| before.epoch == report.epoch);
        match before {
            Some(before) if self.live.is_some() => {
                let live = std::mem::replace(&mut report.observation, before.observation);
                self.live = Some(keep_diagram(report, live));
                report.preparing = self.under_way;
            }
            _ => self.live = None,
        }
    }

    /// Takes an answer of the replay, if there is one.
    pub fn take(&mut self, report: Option<&mut Report>) -> Option<Taken> {
        let answer = self.replay.answer().filter(|answer| answer.id == self.last_request.id)?;
        let ReplayReport { observations: seen, progress: under_way, failed, .. } = answer;
        self.under_way = under_way;
        self.is_unanswered = under_way.is_some();
        self.answered_in = self.sent_at.elapsed();
        let Some(report) = report else {
            return Some(Taken { failed, is_changed: false });
        };
        // The observations of pinned runs come last.
        let (mut seen, mut is_changed) = (seen, false);
        let others = seen.split_off(seen.len().saturating_sub(self.comparisons.len()));
        if let Some(earlier) = seen.pop().flatten() {
            let before = std::mem::replace(&mut report.observation, earlier);
            let before = keep_diagram(report, before);
            self.live.get_or_insert(before);
            report.preparing = under_way;
            is_changed = true;
        }
        for (comparison, seen) in self.comparisons.iter().zip(others) {
            let Some(seen) = seen else {
                continue;
            };
            self.compared.retain(|compared| !compared.request.is_like(comparison));
            self.compared.push(Compared { request: comparison.clone(), observation: seen });
            is_changed |= comparison.place != ComparisonTarget::Profile;
        }
        Some(Taken { failed, is_changed })
    }

    /// Whether the requested cycle is shown.
    fn is_there(&self, report: &Report) -> bool {
        !self.is_unanswered
            && self.last_request.targets.first().is_none_or(|target| {
                target.archive != report.archive || target.cycle == report.observation.cycle
            })
    }

    /// Advances the replay, once the last cycle is shown.
    pub fn play(
        &mut self,
        session: &mut Session,
        report: Option<&Report>,
        context: &egui::Context,
    ) {
        let travel = session.travel;
        let Some(report) = report.filter(|_| travel.playing) else {
            self.due = 0.0;
            return;
        };
        context.request_repaint();
        let frame = context.input(|input| input.stable_dt).min(LONGEST_FRAME.as_secs_f32());
        if travel.preview.is_some() || !self.is_there(report) {
            return;
        }
        self.due += f64::from(frame) * session.pace.unwrap_or(FASTEST_REPLAY);
        if self.due >= 1.0 {
            let cycles = self.due.floor();
            self.due -= cycles;
            session.travel = travel.on(cycles as u64, report.latest.cycle);
        }
    }
}

/// Whether targets differ only in their cycles.
fn is_of_other_cycles(before: &[ReplayTarget], now: &[ReplayTarget]) -> bool {
    let is_like = |(before, now): (&ReplayTarget, &ReplayTarget)| {
        (&before.archive, &before.request) == (&now.archive, &now.request)
            && before.minus.is_some() == now.minus.is_some()
    };
    before.len() == now.len() && before.iter().zip(now).all(is_like)
}

/// Keeps the space–time diagram of a 1D grid, which shows all cycles, in the report, and removes it
/// from the observation before.
fn keep_diagram(report: &mut Report, mut before: Observation) -> Observation {
    if report.plan.problem.shape.dim() == 1 {
        report.observation.picture = before.picture.take();
    }
    before
}
