//! The frequencies of the iterates, found beside the run: on the CPU a transform takes as long as many sweeps.

use crate::clock::Instant;
use crate::run::host::{aside, receive};
use crate::run::observe::{Experiment, FieldKind, Frequencies};
use crate::solver::SolverError;
use crossbeam_channel::{Receiver, TryRecvError, bounded};
use std::sync::Arc;
use std::time::Duration;

/// The shortest time from one transform to the next: thirty pictures a second look live.
const EVERY: Duration = Duration::from_millis(30);

/// Transforms take at most this share of the time.
const SHARE: f64 = 0.25;

/// On a grid of at most this many points, the first transform of a field is waited for, where something can wait: while
/// a setting is dragged, every run would begin without frequencies.
const WAITED_FOR: usize = 1 << 18;

/// Where the frequencies of an iterate come, or `None` where they cannot be found.
type Answer = Receiver<Option<Frequencies>>;

/// Finds the frequencies of one iterate at a time.
#[derive(Default)]
pub(super) struct FrequencySearch {
    /// What the transform under way will have found.
    answer: Option<Answer>,
    found: Option<Arc<Frequencies>>,
    /// The field and the cycle of the last transform, and when it began.
    last: Option<(FieldKind, u64, Instant)>,
    took: Duration,
}

impl FrequencySearch {
    /// Takes over what was found, and returns whether there is news: that, or an iterate whose transform is due.
    pub fn serve(&mut self, experiment: &Experiment, field: FieldKind) -> bool {
        self.take_over(Receiver::try_recv) || self.is_due(experiment, field)
    }

    /// Whether something is under way or will be: a transform, or the time until the next.
    pub fn is_busy(&self, experiment: &Experiment, field: FieldKind) -> bool {
        self.answer.is_some() || self.is_outdated(experiment, field)
    }

    /// The last frequencies of a field, in at most `most` samples across and down. Those of the present iterate are
    /// begun if it is time.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub fn observe(
        &mut self,
        experiment: &Experiment,
        field: FieldKind,
        most: [usize; 2],
    ) -> Result<Option<Arc<Frequencies>>, SolverError> {
        self.take_over(Receiver::try_recv);
        if self.is_due(experiment, field) {
            self.start(experiment, field, most)?;
        }
        let is_known = |found: &Option<Arc<Frequencies>>| {
            found.as_ref().is_some_and(|found| found.field == field)
        };
        if !is_known(&self.found) && experiment.run().plan().problem.shape.points() <= WAITED_FOR {
            self.take_over(receive);
        }
        Ok(self.found.clone().filter(|found| found.field == field))
    }

    fn start(
        &mut self,
        experiment: &Experiment,
        field: FieldKind,
        most: [usize; 2],
    ) -> Result<(), SolverError> {
        let cycle = experiment.run().cycle();
        self.last = Some((field, cycle, Instant::now()));
        let Some(work) = experiment.frequency_task(field, most)? else { return Ok(()) };
        let (send, answer) = bounded(1);
        // Nobody waits for those of a run that was left.
        let find = move || _ = send.send(work());
        // Without a thread they stay as they were.
        self.answer = aside("tilescope-frequencies", find).ok().map(|_| answer);
        Ok(())
    }

    /// Takes over what the transform has found, as far as `receive` waits for it. Returns whether it has ended.
    fn take_over(
        &mut self,
        receive: fn(&Answer) -> Result<Option<Frequencies>, TryRecvError>,
    ) -> bool {
        let Some(answer) = &self.answer else { return false };
        match receive(answer) {
            Err(TryRecvError::Empty) => return false,
            Ok(Some(found)) => self.found = Some(Arc::new(found)),
            // It has failed.
            Ok(None) | Err(TryRecvError::Disconnected) => {}
        }
        self.answer = None;
        self.took = self.last.map_or(Duration::ZERO, |(.., begin)| begin.elapsed());
        true
    }

    /// Whether the last transform is of another iterate or of another field, and this one has frequencies.
    fn is_outdated(&self, experiment: &Experiment, field: FieldKind) -> bool {
        let is_last =
            |(of, cycle, _): (_, _, Instant)| (of, cycle) == (field, experiment.run().cycle());
        !self.last.is_some_and(is_last)
            && experiment.can_show(field)
            && experiment.has_frequencies()
    }

    fn is_due(&self, experiment: &Experiment, field: FieldKind) -> bool {
        let is_rested = self.last.is_none_or(|(of, _, begin)| {
            of != field || begin.elapsed() >= EVERY.max(self.took.div_f64(SHARE))
        });
        self.answer.is_none() && is_rested && self.is_outdated(experiment, field)
    }
}
