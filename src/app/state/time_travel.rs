//! Earlier cycles, as the replay shows them in the place of the newest.

use crate::app::state::compared::{Asked, Compared, Place};
use crate::app::state::session::Session;
use crate::run::{
    Observation, ObservationRequest, Phase, ReplayReport, ReplayRequest, ReplayTarget, Report,
    Rewinder,
};
use eframe::egui;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Playing goes on by this at the most from one frame to the next: a window that was covered for a
/// while does not leap.
const LONGEST_FRAME: Duration = Duration::from_millis(100);

/// A wish is left to be answered for this long before a newer one takes its place.
const PATIENCE: Duration = Duration::from_millis(100);

/// While the run is made, what follows it may take this part of the time: pinned runs are made again
/// on the same processor.
const FOLLOW_SHARE: f64 = 0.1;

/// What is looked back at. The panes draw what is seen in the report, whichever cycle that is of;
/// while it is an earlier one, what is seen of the newest waits here.
pub struct TimeTravel {
    replay: Rewinder,
    /// What the replay was told last.
    told: ReplayRequest,
    /// What is to be seen of the newest cycle while an earlier one is shown.
    live: Option<Observation>,
    /// What was asked for of pinned runs, and what was seen of them last.
    asked: Vec<Asked>,
    compared: Vec<Compared>,
    /// Whether the last wish is still to be answered, when it was told, and how long that took.
    waits: bool,
    told_at: Instant,
    took: Duration,
    /// The part that is made of the way to the cycle that is wanted.
    under_way: Option<f32>,
    /// Cycles that playing has gone on by, less those that were shown.
    due: f64,
}

/// What came of the replay.
pub struct Taken {
    /// Why it could not make a cycle, if so.
    pub failed: Option<String>,
    /// Whether the map is to be drawn from other pictures.
    pub is_changed: bool,
}

impl TimeTravel {
    /// Starts the replay's thread.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn new(context: &egui::Context) -> std::io::Result<Self> {
        let repaint = context.clone();
        Ok(Self {
            replay: Rewinder::start(move || repaint.request_repaint())?,
            told: ReplayRequest::default(),
            live: None,
            asked: Vec::new(),
            compared: Vec::new(),
            waits: false,
            told_at: Instant::now(),
            took: Duration::ZERO,
            under_way: None,
            due: 0.0,
        })
    }

    /// What is seen of pinned runs.
    pub fn compared(&self) -> &[Compared] {
        &self.compared
    }

    /// The part that is made of the way to the cycle that is wanted, while it takes long.
    pub fn under_way(&self) -> Option<f32> {
        self.under_way
    }

    /// Whether a cycle that was pointed at no longer is: the window is to be drawn again.
    pub fn is_left(&self, session: &Session) -> bool {
        session.travel.preview.is_none() && session.travel.at.is_none() && self.live.is_some()
    }

    /// Asks the replay for the cycle that is wanted, and shows the newest again if that is it. Returns
    /// whether the map is to be drawn from other pictures.
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
        let is_of_now = report.epoch == session.epoch;
        let latest = report.latest.cycle;
        let cycle = session.travel.earlier(latest).filter(|_| is_of_now);
        let earlier = cycle.map(|cycle| ReplayTarget {
            archive: Arc::clone(&report.archive),
            cycle,
            view: view.clone(),
            minus: None,
        });
        let pins = session.pins.all();
        let asked = Asked::all(session, report, view, cycle.unwrap_or(latest));
        let others = asked.iter().map(|asked| asked.target(report, view));
        let pinned = pins.iter().map(|pin| Arc::clone(&pin.archive));
        let request = ReplayRequest {
            id: self.told.id,
            runs: pinned.chain([Arc::clone(&report.archive)]).collect(),
            memory: session.memory_of_each(),
            targets: earlier.into_iter().chain(others).collect(),
        };
        // What follows the run or is played waits until the last was shown, or none ever would be;
        // what a person looks for waits a little, so that there is something to be seen meanwhile.
        let follows = cycle.is_none() || session.travel.playing;
        let is_answered_first = self.waits && (follows || self.told_at.elapsed() < PATIENCE);
        // Between two looks at pinned runs the run has the processor to itself.
        let rests = cycle.is_none()
            && report.phase == Phase::Running
            && self.told_at.elapsed() < self.took.div_f64(FOLLOW_SHARE)
            && is_of_other_cycles(&self.told.targets, &request.targets);
        let waits = (is_answered_first || rests)
            && request.runs == self.told.runs
            && !request.targets.is_empty();
        if request != self.told && !waits {
            self.waits = !request.targets.is_empty();
            self.told_at = Instant::now();
            self.told = ReplayRequest { id: self.told.id + 1, ..request };
            self.replay.request(self.told.clone());
            self.asked = asked;
        }
        let is_asked =
            |compared: &Compared| self.asked.iter().any(|asked| asked.is_like(&compared.asked));
        let left: Vec<_> = self.compared.extract_if(.., |compared| !is_asked(compared)).collect();
        let mut is_changed = left.iter().any(|compared| compared.asked.place != Place::Cut);
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

    /// Lets the replay make nothing until it is told of something again.
    pub fn rest(&mut self) {
        if !self.told.targets.is_empty() {
            self.told.id += 1;
            self.told.targets.clear();
            self.replay.request(self.told.clone());
            (self.waits, self.under_way) = (false, None);
        }
    }

    /// Takes a report in, the newest in place of `before`: an earlier cycle that is shown stays.
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

    /// Takes what the replay has made, if there is anything new.
    pub fn take(&mut self, report: Option<&mut Report>) -> Option<Taken> {
        let answer = self.replay.answer().filter(|answer| answer.id == self.told.id)?;
        let ReplayReport { observations: seen, under_way, failed, .. } = answer;
        self.under_way = under_way;
        self.waits = under_way.is_some();
        self.took = self.told_at.elapsed();
        let Some(report) = report else {
            return Some(Taken { failed, is_changed: false });
        };
        // Those of the pinned runs come last.
        let (mut seen, mut is_changed) = (seen, false);
        let others = seen.split_off(seen.len().saturating_sub(self.asked.len()));
        if let Some(earlier) = seen.pop().flatten() {
            let before = std::mem::replace(&mut report.observation, earlier);
            let before = keep_diagram(report, before);
            self.live.get_or_insert(before);
            report.preparing = under_way;
            is_changed = true;
        }
        for (asked, seen) in self.asked.iter().zip(others) {
            let Some(seen) = seen else {
                continue;
            };
            self.compared.retain(|compared| !compared.asked.is_like(asked));
            self.compared.push(Compared { asked: asked.clone(), observation: seen });
            is_changed |= asked.place != Place::Cut;
        }
        Some(Taken { failed, is_changed })
    }

    /// Whether the cycle that is wanted is the one that is shown.
    fn is_there(&self, report: &Report) -> bool {
        !self.waits
            && self.told.targets.first().is_none_or(|target| {
                target.archive != report.archive || target.cycle == report.observation.cycle
            })
    }

    /// Lets playing go on, as long as what is played is shown.
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
        self.due += f64::from(frame) * travel.speed;
        if self.due >= 1.0 {
            let cycles = self.due.floor();
            self.due -= cycles;
            session.travel = travel.on(cycles as u64, report.latest.cycle);
        }
    }
}

/// Whether sights differ in their cycles alone.
fn is_of_other_cycles(told: &[ReplayTarget], wanted: &[ReplayTarget]) -> bool {
    let is_like = |(told, wanted): (&ReplayTarget, &ReplayTarget)| {
        (&told.archive, &told.view) == (&wanted.archive, &wanted.view)
            && told.minus.is_some() == wanted.minus.is_some()
    };
    told.len() == wanted.len() && told.iter().zip(wanted).all(is_like)
}

/// Leaves the diagram of a line, which shows all cycles, in what the report shows, and takes it from
/// what was seen before.
fn keep_diagram(report: &mut Report, mut before: Observation) -> Observation {
    if report.plan.problem.shape.dim() == 1 {
        report.observation.picture = before.picture.take();
    }
    before
}
