//! The thread on which a window's sweeps are measured.
//!
//! It takes a sweep at a time, and tells what it finds out as it goes, cell by cell. Whoever watches
//! it never waits for it; it waits for whoever watches when a few dozen news were not taken. It can
//! be paused and stopped between any two cycles. Cycles that it has counted it knows for the next
//! sweep.

use super::sweep::{
    ClassicBaseline, CostPrediction, CycleCache, Measure, MeasureError, Pyramid, Setting, Sweep,
    SweepOutline, SweepRow, SweepSpec, coarse_to_fine,
};
use crate::clock::Instant;
use crossbeam_channel::{Receiver, SendTimeoutError, Sender, bounded};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// News that may wait to be taken.
const MOST_NEWS: usize = 64;

/// How often a full channel is looked at again, and whether to stop.
const AGAIN: Duration = Duration::from_millis(20);

/// Seconds that timing a setting takes, as far as anybody knows before.
const TIMING: f64 = 0.7;

/// What it found out.
#[derive(Clone, Debug)]
pub enum TunerEvent {
    /// The sweep makes no sense, for this reason; nothing was measured.
    Refused(String),
    /// It makes sense, and is under way.
    Begun(Arc<SweepOutline>),
    /// What it is at before the first cell is measured, in a few words.
    At(&'static str),
    /// What the settings should cost, and Kochurov's best pyramid of the first tile and kernel.
    Predicted(Vec<CostPrediction>, Option<Pyramid>),
    /// Jacobi's iteration on the same system.
    Classic(ClassicBaseline),
    /// A cell was measured.
    Measured {
        /// Its place in [`SweepOutline::cells`].
        place: usize,
        /// What came of it.
        row: Box<SweepRow>,
        /// Seconds that the others should take.
        left: f64,
    },
    /// It is over.
    Ended(SweepEnd),
}

/// How a sweep ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SweepEnd {
    /// All cells were measured.
    Done,
    /// Somebody stopped it.
    Stopped,
    /// It could not go on, for this reason; what was measured stays.
    Failed(String),
}

/// What is wanted of the thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Go,
    Pause,
    Stop,
    /// Stop, and nobody hears any more how that ends.
    Close,
}

/// The wanted, which the thread looks at between two cycles.
#[derive(Debug)]
struct Control {
    wanted: Mutex<Wanted>,
    changed: Condvar,
    /// How long the thread has waited in pauses so far.
    waited: Mutex<Duration>,
}

impl Control {
    fn want(&self, wanted: Wanted) {
        *self.wanted.lock().unwrap_or_else(PoisonError::into_inner) = wanted;
        self.changed.notify_all();
    }

    /// Waits as long as there is a pause; then whether to stop.
    fn halts(&self) -> bool {
        let wanted = self.wanted.lock().unwrap_or_else(PoisonError::into_inner);
        if *wanted != Wanted::Pause {
            return *wanted != Wanted::Go;
        }
        let begin = Instant::now();
        let paused = |wanted: &mut Wanted| *wanted == Wanted::Pause;
        let wanted = self.changed.wait_while(wanted, paused);
        *self.waited.lock().unwrap_or_else(PoisonError::into_inner) += begin.elapsed();
        *wanted.unwrap_or_else(PoisonError::into_inner) != Wanted::Go
    }

    fn waited(&self) -> Duration {
        *self.waited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A handle on the thread. Dropping it ends the thread.
pub struct Tuner {
    orders: Option<Sender<SweepSpec>>,
    news: Receiver<TunerEvent>,
    control: Arc<Control>,
    thread: Option<JoinHandle<()>>,
}

impl Tuner {
    /// Starts the thread. `wake` is called after all news, on that thread.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(wake: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        let (orders, next) = bounded(1);
        let (tell, news) = bounded(MOST_NEWS);
        let control = Arc::new(Control {
            wanted: Mutex::new(Wanted::Go),
            changed: Condvar::new(),
            waited: Mutex::default(),
        });
        let mut work = Work {
            tell,
            control: Arc::clone(&control),
            wake: Box::new(wake),
            counted: CycleCache::default(),
        };
        let thread =
            std::thread::Builder::new().name("tilescope-tuner".into()).spawn(move || {
                for spec in next {
                    work.sweep(spec);
                }
            })?;
        Ok(Self { orders: Some(orders), news, control, thread: Some(thread) })
    }

    /// Begins a sweep, after the one before has ended; says whether it will. Never waits.
    pub fn begin(&self, spec: SweepSpec) -> bool {
        self.control.want(Wanted::Go);
        match &self.orders {
            Some(orders) => orders.try_send(spec).is_ok(),
            None => false,
        }
    }

    /// Pauses the sweep under way before its next cycle, or lets it go on.
    pub fn pause(&self, paused: bool) {
        self.control.want(if paused { Wanted::Pause } else { Wanted::Go });
    }

    /// Stops the sweep under way before its next cycle.
    pub fn stop(&self) {
        self.control.want(Wanted::Stop);
    }

    /// The oldest news that were not taken. Never waits.
    pub fn news(&self) -> Option<TunerEvent> {
        self.news.try_recv().ok()
    }

    /// Waits for news, for tests and programs without a window.
    pub fn wait(&self, at_most: Duration) -> Option<TunerEvent> {
        self.news.recv_timeout(at_most).ok()
    }
}

impl Drop for Tuner {
    fn drop(&mut self) {
        self.control.want(Wanted::Close);
        drop(self.orders.take());
        // Waits for the cycle under way, so that no thread outlives the window.
        if let Some(thread) = self.thread.take() {
            _ = thread.join();
        }
    }
}

/// The thread's side.
struct Work {
    tell: Sender<TunerEvent>,
    control: Arc<Control>,
    wake: Box<dyn Fn() + Send>,
    counted: CycleCache,
}

impl Work {
    fn sweep(&mut self, spec: SweepSpec) {
        let mut sweep = match Sweep::new(spec) {
            Ok(sweep) => sweep.knowing(std::mem::take(&mut self.counted)),
            Err(error) => return self.tell(TunerEvent::Refused(error.to_string())),
        };
        self.tell(TunerEvent::Begun(Arc::new(sweep.outline().clone())));
        let end = match self.measure(&mut sweep) {
            Ok(true) => SweepEnd::Done,
            Ok(false) => SweepEnd::Stopped,
            Err(error) => SweepEnd::Failed(error.to_string()),
        };
        self.counted = sweep.counted().clone();
        self.tell(TunerEvent::Ended(end));
    }

    /// Measures a sweep to its end; `false` if somebody stopped it before.
    fn measure(&self, sweep: &mut Sweep) -> Result<bool, MeasureError> {
        let control = Arc::clone(&self.control);
        let halt = move || control.halts();
        let times = sweep.spec().measures(Measure::Time);
        if times {
            self.tell(TunerEvent::At("probing the machine"));
            if !sweep.probe(&halt)? {
                return Ok(false);
            }
        }
        self.tell(TunerEvent::At("predicting"));
        let Some(predictions) = sweep.predict(&halt)? else { return Ok(false) };
        let (tile, kernel) = (sweep.spec().tile[0], sweep.spec().kernel[0]);
        self.tell(TunerEvent::Predicted(predictions.clone(), sweep.pyramid(tile, kernel)));
        self.tell(TunerEvent::At("timing classic Jacobi"));
        let Some(classic) = sweep.classic(&halt)? else { return Ok(false) };
        self.tell(TunerEvent::Classic(classic));
        let order = coarse_to_fine(sweep.outline(), &predictions);
        let mut ahead = Ahead::new(sweep.outline(), &predictions, times);
        for place in order {
            if halt() {
                return Ok(false);
            }
            let cell = sweep.outline().cells[place].clone();
            let (begin, waited) = (Instant::now(), self.control.waited());
            let rows = sweep.measure(std::slice::from_ref(&cell), 1, &halt)?;
            let Some(row) = rows.into_iter().next() else { return Ok(false) };
            let took = begin.elapsed().saturating_sub(self.control.waited() - waited);
            let left = ahead.without(place, took.as_secs_f64());
            self.tell(TunerEvent::Measured { place, row: Box::new(row), left });
        }
        Ok(true)
    }

    /// Tells news, waiting until there is room for them. After a stop only the end is waited for, which
    /// whoever stopped it waits for too.
    fn tell(&self, news: TunerEvent) {
        let mut news = news;
        while let Err(SendTimeoutError::Timeout(again)) = self.tell.send_timeout(news, AGAIN) {
            let wanted = *self.control.wanted.lock().unwrap_or_else(PoisonError::into_inner);
            let is_end = matches!(again, TunerEvent::Ended(_));
            if wanted == Wanted::Close || wanted == Wanted::Stop && !is_end {
                break;
            }
            news = again;
        }
        (self.wake)();
    }
}

/// The work that lies ahead, for the time that is left.
struct Ahead {
    /// Seconds that each cell should take.
    cells: Vec<f64>,
    /// Those that were measured should have taken, and took.
    expected: f64,
    took: f64,
}

impl Ahead {
    fn new(outline: &SweepOutline, predictions: &[CostPrediction], times: bool) -> Self {
        let mut cells = vec![0.0; outline.cells.len()];
        for CostPrediction { place, cycles, seconds_per_cycle, .. } in predictions {
            let Setting { k, .. } = outline.cells[*place].setting;
            let counting = cycles.map_or(0.0, |cycles| {
                cycles.cycles.min(1e9) * seconds_per_cycle.unwrap_or(1e-6 * k as f64)
            });
            cells[*place] = counting + if times { TIMING } else { 0.0 };
        }
        Self { cells, expected: 0.0, took: 0.0 }
    }

    /// Takes a cell as measured, and gives the seconds that the others should take.
    fn without(&mut self, place: usize, took: f64) -> f64 {
        self.expected += std::mem::take(&mut self.cells[place]);
        self.took += took;
        let pace = if self.expected > 0.0 { self.took / self.expected } else { 1.0 };
        pace * self.cells.iter().sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{PerAxis, RowOutcome, RunSpec};
    use super::*;
    use crate::solver::Kernel;

    fn spec() -> SweepSpec {
        let mut run = RunSpec::default();
        run.problem.shape = vec![64, 64];
        SweepSpec {
            run,
            k: vec![1, 2, 4, 8],
            overlap: [0, 2, 4, 8].map(PerAxis::all).to_vec(),
            tile: vec![PerAxis::all(8)],
            kernel: vec![Kernel::AUTO],
            measure: vec![Measure::Cycles],
        }
    }

    const LONG: Duration = Duration::from_secs(60);

    fn to_the_end(tuner: &Tuner) -> (Vec<TunerEvent>, SweepEnd) {
        let mut all = Vec::new();
        loop {
            match tuner.wait(LONG).expect("news in time") {
                TunerEvent::Ended(end) => return (all, end),
                news => all.push(news),
            }
        }
    }

    #[test]
    fn a_sweep_is_told_cell_by_cell_and_what_was_counted_is_known() {
        let tuner = Tuner::start(|| {}).unwrap();
        assert!(tuner.begin(spec()));
        let (news, end) = to_the_end(&tuner);
        assert_eq!(end, SweepEnd::Done);
        assert!(matches!(news[0], TunerEvent::Begun(_)));
        let rows: Vec<_> = news
            .iter()
            .filter_map(|news| match news {
                TunerEvent::Measured { place, row, left } => Some((*place, row, *left)),
                _ => None,
            })
            .collect();
        assert_eq!(rows.len(), 16);
        // What cannot run comes first, and at the end nothing is left.
        assert_eq!(rows[0].1.outcome, RowOutcome::CannotRun);
        assert_eq!(rows[15].2, 0.0);
        assert!(tuner.begin(spec()));
        let (again, _) = to_the_end(&tuner);
        let predictions = again.iter().find_map(|news| match news {
            TunerEvent::Predicted(predictions, _) => Some(predictions),
            _ => None,
        });
        let exact = |prediction: &CostPrediction| prediction.cycles.unwrap().error == 0.0;
        assert!(predictions.unwrap().iter().all(exact));
    }

    #[test]
    fn a_pause_holds_and_a_stop_is_heard_in_it() {
        let tuner = Tuner::start(|| {}).unwrap();
        let mut long = spec();
        long.run.problem.shape = vec![96, 96];
        long.k = (2..40).collect();
        assert!(tuner.begin(long));
        while !matches!(tuner.wait(LONG).unwrap(), TunerEvent::Measured { .. }) {}
        tuner.pause(true);
        // What was under way may still be told.
        while tuner.wait(Duration::from_millis(300)).is_some() {}
        tuner.pause(false);
        while !matches!(tuner.wait(LONG).unwrap(), TunerEvent::Measured { .. }) {}
        tuner.pause(true);
        tuner.stop();
        let (_, end) = to_the_end(&tuner);
        assert_eq!(end, SweepEnd::Stopped);
    }

    #[test]
    fn what_makes_no_sense_is_refused_in_a_sentence() {
        let tuner = Tuner::start(|| {}).unwrap();
        let mut wrong = spec();
        wrong.overlap = vec![PerAxis::all(3)];
        tuner.begin(wrong);
        match tuner.wait(LONG) {
            Some(TunerEvent::Refused(why)) => assert!(why.contains("overlap 3 is odd"), "{why}"),
            news => panic!("{news:?}"),
        }
    }
}
