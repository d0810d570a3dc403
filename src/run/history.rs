//! The norms of a run, cycle by cycle.

use crate::solver::ResidualNorms;

/// Records that are kept at the most: every cycle of most runs (the longest of the papers' has
/// 179,306), every second, fourth, … of longer ones.
const CAPACITY: usize = 1 << 18;

/// The norms of one iterate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Record {
    /// Cycles made so far; 0 is the start.
    pub cycle: u64,
    /// Seconds that the solver took so far.
    pub seconds: f64,
    /// The residual of this iterate. It comes for nothing with the next cycle, and is `None` until
    /// then.
    pub residual: Option<ResidualNorms>,
    /// ‖Δu‖∞ of the cycle that made this iterate; `None` at the start, and where it was not asked for.
    pub max_change: Option<f64>,
    /// ‖u − u*‖₂, where the exact solution was known, and it was asked for.
    pub error: Option<f64>,
}

impl Record {
    /// Of a cycle of which nothing is known but when it was made.
    pub(super) fn unknown(cycle: u64, seconds: f64) -> Self {
        Self { cycle, seconds, residual: None, max_change: None, error: None }
    }
}

/// The largest magnitudes that a run has told of all its cycles, whichever were looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Largest {
    /// Of the residual: the largest ‖r‖∞.
    pub residual: Option<f64>,
    /// Of what a cycle changed: the largest ‖Δu‖∞.
    pub change: Option<f64>,
}

/// The records of a run, from its start on.
#[derive(Clone, Debug)]
pub struct History {
    records: Vec<Record>,
    /// A record is kept of every so manieth cycle.
    stride: u64,
    latest: Record,
    largest: Largest,
}

impl History {
    /// A history that begins at the start of a run.
    pub fn new(start: Record) -> Self {
        let mut history =
            Self { records: vec![start], stride: 1, latest: start, largest: Largest::default() };
        history.note_largest();
        history
    }

    /// The largest magnitudes of all cycles, as far as cycles have told theirs.
    pub fn largest(&self) -> Largest {
        self.largest
    }

    /// The record of the newest iterate.
    pub fn latest(&self) -> &Record {
        &self.latest
    }

    /// The record of a cycle; of one that was not kept, with the seconds of the last before it alone.
    pub fn of(&self, cycle: u64) -> Record {
        if cycle == self.latest.cycle {
            return self.latest;
        }
        let next = self.records.partition_point(|record| record.cycle <= cycle);
        match self.records.get(next.wrapping_sub(1)) {
            Some(record) if record.cycle == cycle => *record,
            before => Record::unknown(cycle, before.map_or(0.0, |before| before.seconds)),
        }
    }

    /// Adds the record of the next iterate. Cycles that are known already (made once more on the
    /// way to some other cycle) are passed over.
    pub fn push(&mut self, record: Record) {
        if record.cycle <= self.latest.cycle {
            return;
        }
        self.latest = record;
        self.note_largest();
        if record.cycle.is_multiple_of(self.stride) {
            self.records.push(record);
        }
        if self.records.len() > CAPACITY {
            self.stride *= 2;
            let stride = self.stride;
            self.records.retain(|record| record.cycle.is_multiple_of(stride));
        }
    }

    /// Fills in the residual of a cycle, if it is the newest. It replaces one that is there: what
    /// comes with a cycle and what a pass of its own finds may differ in their last bits, and which
    /// of the two is kept must not depend on who looked when.
    pub fn set_residual(&mut self, cycle: u64, residual: ResidualNorms) {
        self.fill_in(cycle, |record| record.residual = Some(residual));
    }

    /// Fills in the error of a cycle, if it is the newest and has none yet.
    pub fn set_error(&mut self, cycle: u64, error: f64) {
        self.fill_in(cycle, |record| _ = record.error.get_or_insert(error));
    }

    /// Fills in the largest change of a cycle, if it is the newest and has none yet.
    pub fn set_max_change(&mut self, cycle: u64, change: f64) {
        self.fill_in(cycle, |record| _ = record.max_change.get_or_insert(change));
    }

    fn fill_in(&mut self, cycle: u64, fill: impl Fn(&mut Record)) {
        if self.latest.cycle == cycle {
            fill(&mut self.latest);
            self.note_largest();
            self.records.last_mut().filter(|kept| kept.cycle == cycle).into_iter().for_each(fill);
        }
    }

    fn note_largest(&mut self) {
        let residual = self.latest.residual.and_then(|residual| residual.max);
        for (largest, new) in [
            (&mut self.largest.residual, residual),
            (&mut self.largest.change, self.latest.max_change),
        ] {
            // What is no number is none to compare with.
            *largest = new.into_iter().chain(*largest).reduce(f64::max);
        }
    }

    /// The records that are kept, the newest in any case, from the start on.
    pub fn records(&self) -> impl DoubleEndedIterator<Item = &Record> {
        let newest = self.records.last().is_none_or(|last| last.cycle < self.latest.cycle);
        self.records.iter().chain(newest.then_some(&self.latest))
    }

    /// At most about `most` records, evenly spread, the first and the newest among them: as many
    /// as a plot can show.
    pub fn thinned(&self, most: usize) -> Vec<Record> {
        let step = self.records.len().div_ceil(most.max(1)).max(1);
        let spread = self.records.iter().step_by(step).copied();
        let mut thinned: Vec<_> = spread.collect();
        if thinned.last().is_none_or(|last| last.cycle < self.latest.cycle) {
            thinned.push(self.latest);
        }
        thinned
    }
}

impl FromIterator<Record> for History {
    /// The records of a run, in their order; of none at all, a start of which nothing is known.
    fn from_iter<I: IntoIterator<Item = Record>>(records: I) -> Self {
        let mut records = records.into_iter();
        let mut history = Self::new(records.next().unwrap_or_default());
        records.for_each(|record| history.push(record));
        history
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(cycle: u64) -> Record {
        Record::unknown(cycle, 0.0)
    }

    #[test]
    fn a_long_history_stays_within_its_capacity_and_keeps_both_ends() {
        let mut history = History::new(record(0));
        let last = 3 * CAPACITY as u64 + 5;
        for cycle in 1..=last {
            history.push(record(cycle));
        }
        let kept: Vec<_> = history.records().map(|record| record.cycle).collect();
        assert!(kept.len() <= CAPACITY + 1);
        assert_eq!((kept[0], *kept.last().unwrap()), (0, last));
        assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(history.thinned(100).len() <= 102);
    }

    #[test]
    fn a_residual_that_comes_late_finds_its_record() {
        let mut history = History::new(record(0));
        history.push(record(1));
        let residual = ResidualNorms { l2: 2.0, max: Some(1.0) };
        history.set_residual(0, residual);
        history.set_residual(1, residual);
        let known: Vec<_> = history.records().map(|record| record.residual.is_some()).collect();
        assert_eq!(known, [false, true]);
    }

    #[test]
    fn the_largest_of_all_cycles_is_known_though_their_records_are_not_kept() {
        let mut history = History::new(record(0));
        assert_eq!(history.largest(), Largest::default());
        for cycle in 1..=2 * CAPACITY as u64 {
            let change = if cycle == 7 { 5.0 } else { 1.0 };
            history.push(Record { max_change: Some(change), ..record(cycle) });
            let max = (cycle != 3).then_some(if cycle == 9 { 4.0 } else { 0.5 });
            history.set_residual(cycle, ResidualNorms { l2: 9.0, max });
        }
        assert!(history.records().all(|record| ![7, 9].contains(&record.cycle)));
        assert_eq!(history.largest(), Largest { residual: Some(4.0), change: Some(5.0) });
    }

    #[test]
    fn cycles_made_again_are_not_recorded_again() {
        let mut history = History::new(record(0));
        for cycle in [1, 2, 1, 2, 3] {
            history.push(record(cycle));
        }
        let kept: Vec<_> = history.records().map(|record| record.cycle).collect();
        assert_eq!(kept, [0, 1, 2, 3]);
    }
}
