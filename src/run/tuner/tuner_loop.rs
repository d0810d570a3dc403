//! The loop of the tuner, turn by turn.

use super::event::{SweepEnd, TunerEvent};
use super::measuring::Measuring;
use crate::run::host::Turn;
use crate::run::sweep::{CycleCache, MeasureError, Sweep, SweepSpec};
use crate::solver::StopToken;
use crossbeam_channel::{Receiver, Sender, TryRecvError, TrySendError};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

/// The longest wait that a turn requests while there is nothing to do; wake-ups end the wait earlier.
const IDLE: Duration = Duration::from_millis(100);

/// What the sweep under way is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Control {
    Run,
    Pause,
    Stop,
}

/// Replaces the control.
pub(super) fn set(control: &Mutex<Control>, value: Control) {
    *control.lock().unwrap_or_else(PoisonError::into_inner) = value;
}

fn get(control: &Mutex<Control>) -> Control {
    *control.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the tuner is asked to do; its handle changes these at any time.
pub(super) struct Orders {
    pub control: Arc<Mutex<Control>>,
    /// Whether slow settings are measured, too.
    pub with_slow: Arc<AtomicBool>,
    /// Leaves a cycle unfinished that takes long when the sweep is stopped.
    pub stop: StopToken,
}

/// The tuner's side of the channels, and the sweep under way.
pub(super) struct TunerLoop {
    sweeps: Receiver<SweepSpec>,
    sender: Sender<TunerEvent>,
    orders: Orders,
    notify: Box<dyn Fn() + Send>,
    /// Events for which the channel had no room yet.
    events: VecDeque<TunerEvent>,
    measuring: Option<Measuring>,
    /// A sweep that has ended without its slow settings.
    without_slow: Option<Measuring>,
    /// Cycles that earlier sweeps counted.
    counted: CycleCache,
}

impl TunerLoop {
    pub fn new(
        sweeps: Receiver<SweepSpec>,
        sender: Sender<TunerEvent>,
        orders: Orders,
        notify: Box<dyn Fn() + Send>,
    ) -> Self {
        Self {
            sweeps,
            sender,
            orders,
            notify,
            events: VecDeque::new(),
            measuring: None,
            without_slow: None,
            counted: CycleCache::default(),
        }
    }

    /// Sends what there is to be sent, then begins a sweep or takes a step of the one under way.
    pub fn turn(&mut self) -> Turn {
        let control = get(&self.orders.control);
        if control == Control::Stop && self.measuring.is_some() {
            // The sender of the stop request waits for the end, not for results.
            self.events.retain(|event| matches!(event, TunerEvent::Begun(_)));
            self.end(SweepEnd::Stopped);
        }
        if !self.send() {
            return Turn::Wait(IDLE);
        }
        let with_slow = self.orders.with_slow.load(Ordering::Relaxed);
        let Some(measuring) = &mut self.measuring else { return self.begin(with_slow) };
        if control == Control::Pause {
            return Turn::Wait(IDLE);
        }
        let should_stop = || get(&self.orders.control) == Control::Stop;
        match measuring.step(with_slow, &should_stop, &mut self.events) {
            Ok(Poll::Pending) => {}
            // The next turn ends the sweep.
            Err(_) if should_stop() => {}
            Ok(Poll::Ready(())) if measuring.has_slow() => self.end(SweepEnd::WithoutSlow),
            Ok(Poll::Ready(())) => self.end(SweepEnd::Complete),
            Err(MeasureError::Solver(failure)) => match measuring.go_on_after(failure) {
                Ok(said) => self.events.push_back(TunerEvent::LostGpu(said)),
                Err(error) => self.end(SweepEnd::Failed(error.to_string())),
            },
            Err(error) => self.end(SweepEnd::Failed(error.to_string())),
        }
        self.send();
        Turn::Again
    }

    /// Begins the next sweep, if there is one; otherwise continues with slow settings.
    fn begin(&mut self, with_slow: bool) -> Turn {
        let spec = match self.sweeps.try_recv() {
            Ok(spec) => spec,
            Err(TryRecvError::Empty) if with_slow && self.without_slow.is_some() => {
                self.measuring = self.without_slow.take();
                self.events.push_back(TunerEvent::Continued);
                self.send();
                return Turn::Again;
            }
            Err(TryRecvError::Empty) => return Turn::Wait(IDLE),
            Err(TryRecvError::Disconnected) => return Turn::End,
        };
        self.without_slow = None;
        self.orders.stop.withdraw();
        match Sweep::new(spec) {
            Ok(sweep) => {
                let sweep = sweep.with_cycle_cache(std::mem::take(&mut self.counted));
                let sweep = sweep.with_stop(&self.orders.stop);
                self.events.push_back(TunerEvent::Begun(Arc::new(sweep.outline().clone())));
                self.measuring = Some(Measuring::new(sweep));
            }
            Err(error) => self.events.push_back(TunerEvent::Rejected(error.to_string())),
        }
        self.send();
        Turn::Again
    }

    fn end(&mut self, end: SweepEnd) {
        if let Some(measuring) = self.measuring.take() {
            self.counted = measuring.sweep.cycle_cache().clone();
            self.without_slow = Some(measuring).filter(|_| end == SweepEnd::WithoutSlow);
        }
        self.events.push_back(TunerEvent::Ended(end));
    }

    /// Sends events as long as the channel has room; returns whether all were sent.
    fn send(&mut self) -> bool {
        while let Some(event) = self.events.pop_front() {
            match self.sender.try_send(event) {
                Ok(()) | Err(TrySendError::Disconnected(_)) => (self.notify)(),
                Err(TrySendError::Full(event)) => {
                    self.events.push_front(event);
                    return false;
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{
        CostPrediction, CycleLists, Measure, PerAxis, RowOutcome, RunSpec, TileLists,
    };
    use crate::solver::{Kernel, SolverError};
    use crossbeam_channel::bounded;

    /// The loop with its other ends, without a thread.
    struct Driver {
        tuner_loop: TunerLoop,
        sweeps: Sender<SweepSpec>,
        events: Receiver<TunerEvent>,
        control: Arc<Mutex<Control>>,
        with_slow: Arc<AtomicBool>,
    }

    impl Driver {
        fn new(room: usize) -> Self {
            let (sweeps, next) = bounded(1);
            let (sender, events) = bounded(room);
            let control = Arc::new(Mutex::new(Control::Run));
            let with_slow = Arc::new(AtomicBool::new(true));
            let stop = StopToken::default();
            let orders =
                Orders { control: Arc::clone(&control), with_slow: Arc::clone(&with_slow), stop };
            let tuner_loop = TunerLoop::new(next, sender, orders, Box::new(|| {}));
            Self { tuner_loop, sweeps, events, control, with_slow }
        }

        /// Takes turns until an event is the one.
        fn until(&mut self, is_it: impl Fn(&TunerEvent) -> bool) -> Vec<TunerEvent> {
            let mut events = Vec::new();
            loop {
                assert_ne!(self.tuner_loop.turn(), Turn::End);
                while let Ok(event) = self.events.try_recv() {
                    let found = is_it(&event);
                    events.push(event);
                    if found {
                        return events;
                    }
                }
            }
        }

        fn until_end(&mut self) -> (Vec<TunerEvent>, SweepEnd) {
            let mut events = self.until(|event| matches!(event, TunerEvent::Ended(_)));
            match events.pop() {
                Some(TunerEvent::Ended(end)) => (events, end),
                event => panic!("{event:?}"),
            }
        }
    }

    fn spec() -> SweepSpec {
        let mut run = RunSpec::default();
        run.problem.shape = vec![64, 64];
        SweepSpec {
            run,
            cycle: CycleLists::Tiles(TileLists {
                k: [1, 2, 4, 8].map(Into::into).to_vec(),
                overlap: [0, 2, 4, 8].map(PerAxis::all).to_vec(),
                tile: vec![PerAxis::all(8)],
            }),
            kernel: vec![Kernel::AUTO],
            threads: vec![0],
            measure: vec![Measure::Cycles],
        }
    }

    fn rows(events: &[TunerEvent]) -> Vec<(usize, RowOutcome, f64)> {
        let row = |event: &TunerEvent| match event {
            TunerEvent::Measured { index, row, remaining } => {
                Some((*index, row.outcome, *remaining))
            }
            _ => None,
        };
        events.iter().filter_map(row).collect()
    }

    fn predictions(events: &[TunerEvent]) -> Vec<CostPrediction> {
        let found = events.iter().filter_map(|event| match event {
            TunerEvent::Predicted(predictions) => Some(&predictions[..]),
            _ => None,
        });
        found.flatten().copied().collect()
    }

    #[test]
    fn a_sweep_is_reported_cell_by_cell_and_its_counts_are_known_in_the_next() {
        let mut driver = Driver::new(64);
        driver.sweeps.send(spec()).unwrap();
        let (events, end) = driver.until_end();
        assert_eq!(end, SweepEnd::Complete);
        assert!(matches!(events[0], TunerEvent::Begun(_)));
        let rows = rows(&events);
        assert_eq!(rows.len(), 16);
        // What cannot run comes first, and at the end nothing remains.
        assert_eq!(rows[0].1, RowOutcome::CannotRun);
        assert_eq!(rows[15].2, 0.0);
        driver.sweeps.send(spec()).unwrap();
        let (events, _) = driver.until_end();
        let is_known = |prediction: &CostPrediction| prediction.cycles.unwrap().error == 0.0;
        let predictions = predictions(&events);
        assert!(predictions.len() == 12 && predictions.iter().all(is_known));
    }

    #[test]
    fn slow_settings_are_measured_last_and_only_if_that_is_wanted() {
        let mut driver = Driver::new(64);
        driver.with_slow.store(false, Ordering::Relaxed);
        driver.sweeps.send(spec()).unwrap();
        let (events, end) = driver.until_end();
        assert_eq!(end, SweepEnd::WithoutSlow);
        let slow = events.iter().find_map(|event| match event {
            TunerEvent::Ordered { slow, .. } => Some(slow.clone()),
            _ => None,
        });
        let slow = slow.unwrap();
        let measured: Vec<_> = rows(&events).iter().map(|(index, ..)| *index).collect();
        // k = 1 takes more than five times the cycles of k = 8.
        assert!(slow.contains(&0) && measured.len() + slow.len() == 16, "{slow:?}");
        assert!(!measured.iter().any(|index| slow.contains(index)));
        assert_eq!(driver.tuner_loop.turn(), Turn::Wait(IDLE));
        driver.with_slow.store(true, Ordering::Relaxed);
        let (events, end) = driver.until_end();
        assert!(matches!(events[0], TunerEvent::Continued) && end == SweepEnd::Complete);
        let rest: Vec<_> = rows(&events).iter().map(|(index, ..)| *index).collect();
        assert_eq!(rest, slow);
        assert_eq!(driver.tuner_loop.turn(), Turn::Wait(IDLE));
    }

    #[test]
    fn a_paused_sweep_takes_no_step_and_can_be_continued_and_stopped() {
        let mut driver = Driver::new(64);
        driver.sweeps.send(spec()).unwrap();
        driver.until(|event| matches!(event, TunerEvent::Measured { .. }));
        set(&driver.control, Control::Pause);
        for _ in 0..100 {
            assert_eq!(driver.tuner_loop.turn(), Turn::Wait(IDLE));
        }
        assert!(driver.events.is_empty());
        set(&driver.control, Control::Run);
        driver.until(|event| matches!(event, TunerEvent::Measured { .. }));
        set(&driver.control, Control::Pause);
        driver.tuner_loop.turn();
        set(&driver.control, Control::Stop);
        let (events, end) = driver.until_end();
        assert!(events.is_empty() && end == SweepEnd::Stopped, "{events:?}, {end:?}");
        // The next sweep is not stopped.
        set(&driver.control, Control::Run);
        driver.sweeps.send(spec()).unwrap();
        assert_eq!(driver.until_end().1, SweepEnd::Complete);
    }

    #[test]
    fn events_wait_for_room_and_none_is_lost() {
        let mut driver = Driver::new(1);
        driver.sweeps.send(spec()).unwrap();
        for _ in 0..100 {
            driver.tuner_loop.turn();
        }
        assert_eq!(driver.events.len(), 1);
        let (events, end) = driver.until_end();
        assert_eq!((rows(&events).len(), end), (16, SweepEnd::Complete));
    }

    #[test]
    fn an_invalid_sweep_is_rejected_in_a_sentence_and_the_loop_ends_with_its_handle() {
        let mut driver = Driver::new(64);
        let mut wrong = spec();
        let CycleLists::Tiles(lists) = &mut wrong.cycle else { panic!("it has tiles") };
        lists.overlap = vec![PerAxis::all(3)];
        driver.sweeps.send(wrong).unwrap();
        let events = driver.until(|event| matches!(event, TunerEvent::Rejected(_)));
        let Some(TunerEvent::Rejected(why)) = events.last() else { unreachable!() };
        assert!(why.contains("overlap 3 is odd"), "{why}");
        assert_eq!(driver.tuner_loop.turn(), Turn::Wait(IDLE));
        let Driver { mut tuner_loop, sweeps, .. } = driver;
        drop(sweeps);
        assert_eq!(tuner_loop.turn(), Turn::End);
    }

    /// A cycle may take hours: it is left unfinished where the sweep is stopped meanwhile.
    #[test]
    fn cycles_of_a_sweep_end_with_its_token_and_those_of_the_next_do_not() {
        let mut driver = Driver::new(64);
        let stop = driver.tuner_loop.orders.stop.clone();
        driver.sweeps.send(spec()).unwrap();
        driver.until(|event| matches!(event, TunerEvent::Begun(_)));
        stop.after(Duration::ZERO);
        let (_, end) = driver.until_end();
        assert_eq!(end, SweepEnd::Failed(SolverError::Stopped.to_string()));
        // As the handle does it: the order comes first.
        driver.sweeps.send(spec()).unwrap();
        driver.until(|event| matches!(event, TunerEvent::Begun(_)));
        set(&driver.control, Control::Stop);
        stop.after(Duration::ZERO);
        assert_eq!(driver.until_end().1, SweepEnd::Stopped);
        set(&driver.control, Control::Run);
        driver.sweeps.send(spec()).unwrap();
        assert_eq!(driver.until_end().1, SweepEnd::Complete);
    }
}
