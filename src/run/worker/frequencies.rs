//! The frequencies of the iterates, found beside the run: on the CPU a transform takes as long as many sweeps.

use crate::clock::Instant;
use crate::pauses::without_pauses;
use crate::run::host::{aside_with_pauses, receive};
use crate::run::observe::{Experiment, FieldKind, Frequencies, FrequencyRequest};
use crate::solver::SolverError;
use crossbeam_channel::{Receiver, TryRecvError, bounded};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::Arc;
use std::time::Duration;

/// The shortest time from one transform to the next: about a frame of a screen.
const EVERY: Duration = Duration::from_millis(15);

/// Transforms take at most this share of the time.
const SHARE: f64 = 0.4;

/// On a grid of at most this many points a transform takes milliseconds. The first one of a field is waited for, where
/// something can wait: while a setting is dragged, every run would begin without frequencies.
const SMALL: usize = 1 << 18;

/// The frequencies of an iterate, or `None` where they cannot be found, and the time that it took.
type Timed = (Option<Frequencies>, Duration);

/// Where they come.
type Answer = Receiver<Timed>;

/// The field whose frequencies are wanted, and which of them.
type Wanted = (FieldKind, FrequencyRequest);

/// Finds the frequencies of one iterate at a time.
#[derive(Default)]
pub(super) struct FrequencySearch {
    /// What the transform under way will have found.
    answer: Option<Answer>,
    /// What was found, and what of.
    found: Option<(Wanted, Arc<Frequencies>)>,
    /// What the last transform is of, its cycle, and when it began.
    last: Option<(Wanted, u64, Instant)>,
    took: Duration,
}

impl FrequencySearch {
    /// Takes over what was found, and returns whether there is news: that, or an iterate whose transform is due.
    pub fn serve(&mut self, experiment: &Experiment, wanted: Wanted) -> bool {
        self.take_over(Receiver::try_recv) || self.is_due(experiment, wanted)
    }

    /// Whether something is under way or will be: a transform, or the time until the next.
    pub fn is_busy(&self, experiment: &Experiment, wanted: Wanted) -> bool {
        self.answer.is_some() || self.is_outdated(experiment, wanted)
    }

    /// The last frequencies that are wanted. Those of the present iterate are begun if it is time.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub fn observe(
        &mut self,
        experiment: &Experiment,
        wanted: Wanted,
    ) -> Result<Option<Arc<Frequencies>>, SolverError> {
        self.take_over(Receiver::try_recv);
        if self.is_due(experiment, wanted) {
            self.start(experiment, wanted)?;
        }
        let is_known =
            |found: &Option<(Wanted, _)>| found.as_ref().is_some_and(|(of, _)| *of == wanted);
        if !is_known(&self.found) && is_small(experiment) {
            self.take_over(receive);
        }
        Ok(self.found.as_ref().filter(|(of, _)| *of == wanted).map(|(_, found)| Arc::clone(found)))
    }

    fn start(&mut self, experiment: &Experiment, wanted: Wanted) -> Result<(), SolverError> {
        let cycle = experiment.run().cycle();
        self.last = Some((wanted, cycle, Instant::now()));
        let (field, request) = wanted;
        let Some(task) = experiment.frequency_task(field, request)? else { return Ok(()) };
        let is_small = is_small(experiment);
        let (send, answer) = bounded(1);
        // Nobody waits for those of a run that was left.
        let find = async move || {
            let begin = Instant::now();
            let found = match is_small.then(one_thread).flatten() {
                Some(thread) => thread.install(|| without_pauses(task.find())),
                None => task.find().await,
            };
            _ = send.send((found, begin.elapsed()));
        };
        // Without a thread they stay as they were.
        self.answer = aside_with_pauses("tilescope-frequencies", find).ok().map(|_| answer);
        Ok(())
    }

    /// Takes over what the transform has found, as far as `receive` waits for it. Returns whether it has ended.
    fn take_over(&mut self, receive: fn(&Answer) -> Result<Timed, TryRecvError>) -> bool {
        let Some(answer) = &self.answer else { return false };
        match receive(answer) {
            Err(TryRecvError::Empty) => return false,
            Ok((found, took)) => {
                // Without, it has failed.
                if let Some(found) = found {
                    self.found = self.last.map(|(wanted, ..)| (wanted, Arc::new(found)));
                }
                self.took = took;
            }
            Err(TryRecvError::Disconnected) => {}
        }
        self.answer = None;
        true
    }

    /// Whether the last transform is of another iterate or of another field, and this one has frequencies.
    fn is_outdated(&self, experiment: &Experiment, wanted: Wanted) -> bool {
        let is_last =
            |(of, cycle, _): (_, _, Instant)| (of, cycle) == (wanted, experiment.run().cycle());
        !self.last.is_some_and(is_last)
            && experiment.can_show(wanted.0)
            && experiment.has_frequencies()
    }

    fn is_due(&self, experiment: &Experiment, wanted: Wanted) -> bool {
        let is_rested = self.last.is_none_or(|(of, _, begin)| {
            of != wanted || begin.elapsed() >= EVERY.max(self.took.div_f64(SHARE))
        });
        self.answer.is_none() && is_rested && self.is_outdated(experiment, wanted)
    }
}

fn is_small(experiment: &Experiment) -> bool {
    experiment.run().plan().problem.shape.points() <= SMALL
}

/// A single thread, where there is one to be had. Divided among all cores, which the solver keeps busy, work would wait for
/// each of them at every step.
fn one_thread() -> Option<ThreadPool> {
    let thread =
        ThreadPoolBuilder::new().num_threads(1).thread_name(|_| "tilescope-transform".to_owned());
    thread.build().ok()
}
