//! The norms of a run, cycle by cycle.

use crate::run::history::series::{OfCycle, Series, SharedSeries};
use crate::solver::ResidualNorms;
use std::sync::Arc;

/// The most records that are kept: every cycle of most runs (the longest run of the papers has
/// 179,306), every second, fourth, … of longer ones.
const CAPACITY: usize = 1 << 18;

/// A residual that comes with a cycle differs from b − A u where their norms do by more than this part.
pub(in crate::run) const DIFFERS: f64 = 1e-3;

/// A residual that comes with a cycle is kept where rounding falsifies it by no more than this part.
const MOST_FALSE: f64 = 0.1;

/// The norms of one iterate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Record {
    /// Cycles made; 0 is the initial guess.
    pub cycle: u64,
    /// Seconds that the solver took until then.
    pub seconds: f64,
    /// The residual of this iterate. It comes at no cost with the next cycle, and is `None` until
    /// then.
    pub residual: Option<ResidualNorms>,
    /// ‖Δu‖∞ of the cycle that made this iterate; `None` at the initial guess, and where it was not
    /// requested.
    pub max_change: Option<f64>,
    /// ‖u − u*‖₂, where the exact solution was known, and it was requested.
    pub error: Option<f64>,
}

impl Record {
    /// The record of a cycle of which only the time is known.
    pub(in crate::run) fn unknown(cycle: u64, seconds: f64) -> Self {
        Self { cycle, seconds, residual: None, max_change: None, error: None }
    }
}

impl OfCycle for Record {
    fn cycle(&self) -> u64 {
        self.cycle
    }
}

/// The largest magnitudes of all cycles of a run, whichever were observed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Largest {
    /// Of the residual: the largest ‖r‖∞.
    pub residual: Option<f64>,
    /// Of the update of a cycle: the largest ‖Δu‖∞.
    pub change: Option<f64>,
}

/// The records of a run, from its initial guess on.
#[derive(Clone, Debug)]
pub struct History {
    records: Series<Record>,
    latest: Record,
    largest: Largest,
    /// The cycles whose residual is b − A u, as it was found to be.
    confirmed: Vec<u64>,
    /// The least residual that comes with a cycle and is kept; 0 as long as all are.
    least: f64,
}

impl History {
    /// A history that begins at the initial guess of a run.
    pub fn new(start: Record) -> Self {
        let mut records = Series::new(CAPACITY);
        records.push(start);
        let mut history = Self {
            records,
            latest: start,
            largest: Largest::default(),
            confirmed: vec![start.cycle],
            least: 0.0,
        };
        history.update_largest();
        history
    }

    /// The largest magnitudes of all cycles, as far as they are known.
    pub fn largest(&self) -> Largest {
        self.largest
    }

    /// The record of the newest iterate.
    pub fn latest(&self) -> &Record {
        &self.latest
    }

    /// The record of a cycle; for one that was not kept, only with the seconds of the last before it.
    pub fn of(&self, cycle: u64) -> Record {
        let records = self.records.points();
        let next = records.partition_point(|record| record.cycle <= cycle);
        match records.get(next.wrapping_sub(1)) {
            Some(record) if record.cycle == cycle => *record,
            before => Record::unknown(cycle, before.map_or(0.0, |before| before.seconds)),
        }
    }

    /// Adds the record of the next iterate. Cycles that are known (recomputed on the way to
    /// some other cycle) are ignored.
    pub fn push(&mut self, record: Record) {
        if record.cycle <= self.latest.cycle {
            return;
        }
        let is_kept = self.is_confirmed(&self.latest) || !self.is_false(&self.latest);
        if let Some(last) = self.records.last_mut().filter(|_| !is_kept) {
            last.residual = None;
        }
        self.records.push(record);
        self.latest = record;
        self.update_largest();
    }

    /// Fills in the residual of a cycle, if it is the newest. It replaces one that is there: what
    /// comes with a cycle and what a pass of its own finds may differ in their last bits, and which
    /// of the two is kept must not depend on when it was read.
    pub fn set_residual(&mut self, cycle: u64, residual: ResidualNorms) {
        self.confirmed.pop_if(|confirmed| *confirmed == cycle && cycle > 0);
        self.fill_in(cycle, |record| record.residual = Some(residual));
    }

    /// Fills in ‖b − A u‖ of a cycle, if it is the newest; `shortfall` is how much less the residual reads that comes
    /// with a cycle.
    ///
    /// Rounding that keeps updates from changing points makes that residual read less than b − A u, in every cycle by
    /// about as much. So where it reads less, what the cycles before left is unknown from the last on that is at least
    /// ten times the shortfall, and so is what later ones leave, unless it is confirmed: a curve shows no residual that
    /// the run did not reach.
    pub fn confirm_residual(&mut self, cycle: u64, residual: ResidualNorms, shortfall: f64) {
        if self.latest.cycle != cycle {
            return;
        }
        self.set_residual(cycle, residual);
        self.confirmed.push(cycle);
        if shortfall > DIFFERS * residual.l2 {
            self.least = self.least.max(shortfall / MOST_FALSE);
            let records = self.records.points();
            let stays = |record: &Record| {
                record.residual.is_some() && !self.is_false(record) && !self.is_confirmed(record)
            };
            let first = records.iter().rposition(stays).map_or(0, |last| last + 1);
            for at in first..records.len() {
                let record = self.records.points()[at];
                if !self.is_confirmed(&record) {
                    self.records.points_mut()[at].residual = None;
                }
            }
        }
    }

    fn is_confirmed(&self, record: &Record) -> bool {
        self.confirmed.contains(&record.cycle)
    }

    /// Whether rounding may falsify the residual of a cycle that came with the next.
    fn is_false(&self, record: &Record) -> bool {
        record.residual.is_some_and(|norms| norms.l2 < self.least)
    }

    /// Fills in the error of a cycle, if it is the newest and has none yet.
    pub fn set_error(&mut self, cycle: u64, error: f64) {
        self.fill_in(cycle, |record| _ = record.error.get_or_insert(error));
    }

    /// Fills in the largest update of a cycle, if it is the newest and has none yet.
    pub fn set_max_change(&mut self, cycle: u64, change: f64) {
        self.fill_in(cycle, |record| _ = record.max_change.get_or_insert(change));
    }

    fn fill_in(&mut self, cycle: u64, fill: impl Fn(&mut Record)) {
        if self.latest.cycle == cycle {
            fill(&mut self.latest);
            self.update_largest();
            self.records.last_mut().into_iter().for_each(fill);
        }
    }

    fn update_largest(&mut self) {
        let residual = self.latest.residual.and_then(|residual| residual.max);
        for (largest, new) in [
            (&mut self.largest.residual, residual),
            (&mut self.largest.change, self.latest.max_change),
        ] {
            // NaN compares with nothing.
            *largest = new.into_iter().chain(*largest).reduce(f64::max);
        }
    }

    /// Every how many cycles a record is kept: 1 for all, and a power of two in long runs.
    pub fn stride(&self) -> u64 {
        self.records.stride()
    }

    /// The records that are kept, from the initial guess to the newest.
    pub fn records(&self) -> impl DoubleEndedIterator<Item = &Record> {
        self.as_slice().iter()
    }

    /// The same as a slice.
    pub fn as_slice(&self) -> &[Record] {
        self.records.points()
    }

    /// At most `most` records, evenly spread, and the newest; `shared` holds those of the last call.
    pub(in crate::run) fn curve(
        &self,
        shared: &mut SharedSeries<Record>,
        most: usize,
    ) -> Arc<[Record]> {
        shared.of(&self.records, most)
    }
}

impl FromIterator<Record> for History {
    /// The records of a run, in their order; of none at all, an initial guess of which nothing is
    /// known.
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
        assert!(history.curve(&mut SharedSeries::default(), 100).len() <= 101);
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
    fn residuals_that_rounding_falsified_are_dropped() {
        let norms = |l2| ResidualNorms { l2, max: None };
        let mut history = History::new(Record { residual: Some(norms(9.0)), ..record(0) });
        let add = |history: &mut History, cycle, l2| {
            history.push(record(cycle));
            history.set_residual(cycle, norms(l2));
        };
        let kept = |history: &History| {
            let residuals = history.records().map(|record| record.residual.map(|it| it.l2));
            residuals.collect::<Vec<_>>()
        };
        for (cycle, l2) in [(1, 0.5), (2, 4.0), (3, 0.9), (4, 0.3)] {
            add(&mut history, cycle, l2);
        }
        // What differs in its last digits only is no reason.
        history.confirm_residual(4, norms(0.3001), 0.0001);
        assert_eq!(kept(&history), [9.0, 0.5, 4.0, 0.9, 0.3001].map(Some));
        add(&mut history, 5, 0.05);
        history.confirm_residual(5, norms(0.15), 0.1);
        let dropped = [Some(9.0), Some(0.5), Some(4.0), None, Some(0.3001), Some(0.15)];
        assert_eq!(kept(&history), dropped);
        // Later ones are dropped as soon as they are not the newest.
        add(&mut history, 6, 0.01);
        assert_eq!(kept(&history)[6], Some(0.01));
        add(&mut history, 7, 2.0);
        assert_eq!(kept(&history)[5..], [Some(0.15), None, Some(2.0)]);
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
