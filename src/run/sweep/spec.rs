//! The description of a sweep: one system and lists of settings.

use super::cycle::{CycleLists, CycleSetting};
use crate::run::plan::PlanError;
use crate::run::spec::{RunSpec, TOLERANCE};
use crate::solver::{Kernel, cuda};

/// The most settings of a sweep. Each takes much of a second to measure.
pub const MOST_SETTINGS: usize = 1_000_000;

/// What is measured of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Seconds of a cycle, by the solver's own clock
    Time,
    /// Cycles to the tolerance
    Cycles,
}

impl Measure {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Time, Self::Cycles];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Cycles => "cycles",
        }
    }

    /// What is measured, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Time => "Seconds per cycle, by the solver's own clock.",
            Self::Cycles => "Cycles to the tolerance.",
        }
    }
}

/// The description of a sweep. It may be invalid; [`Sweep::new`](super::Sweep::new) checks it.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepSpec {
    /// The system, where it is solved, and when to stop: cycles are counted to its tolerance, up to its
    /// limit of cycles. Of its method only precision, back end and devices are used, and which it is with lists of passes.
    pub run: RunSpec,
    /// What is varied of a cycle.
    pub cycle: CycleLists,
    /// Kernels.
    pub kernel: Vec<Kernel>,
    /// Threads on the CPU; 0 for one per core.
    pub threads: Vec<usize>,
    /// The quantities to measure.
    pub measure: Vec<Measure>,
}

/// One point of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Setting {
    /// What a cycle is.
    pub cycle: CycleSetting,
    /// The kernel on a GPU, or the layout of a matrix.
    pub kernel: Kernel,
    /// Threads on the CPU; 0 for one per core.
    pub threads: usize,
}

/// Why a sweep is invalid.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// Something that all settings share, or one of the values, is itself invalid.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A list without a value.
    #[error("{0} has no value; a sweep needs at least one of each")]
    Empty(&'static str),
    /// Too many settings.
    #[error("the lists make {0} settings; a sweep takes at most {MOST_SETTINGS}")]
    TooMany(u128),
    /// None of the settings can run.
    #[error("{}: {why}", none_can_run(*.settings))]
    NoneCanRun {
        /// Number of settings.
        settings: usize,
        /// Why the first cannot, of those with the largest budget.
        why: String,
    },
    /// There is no GPU to measure on.
    #[error("backend cuda cannot be used: {0}; backend cpu can")]
    Unavailable(#[from] cuda::Unavailable),
}

/// That none of some settings can run, in words.
fn none_can_run(settings: usize) -> String {
    match settings {
        1 => "the only setting cannot run".to_owned(),
        _ => format!("none of the {settings} settings can run"),
    }
}

impl SweepSpec {
    /// The same with its lists in ascending order and without duplicates. If it counts cycles and has no
    /// tolerance, it gets the default one.
    #[must_use]
    pub fn normalized(mut self) -> Self {
        self.cycle.normalize();
        self.threads.sort_unstable();
        self.threads.dedup();
        self.measure.sort_unstable();
        self.measure.dedup();
        self.kernel.sort_unstable_by_key(|kernel| kernel.name());
        self.kernel.dedup();
        if self.measure.contains(&Measure::Cycles) {
            self.run.stop.tolerance.get_or_insert(TOLERANCE);
        }
        self
    }

    /// Whether a quantity is measured.
    pub fn measures(&self, what: Measure) -> bool {
        self.measure.contains(&what)
    }

    /// The number of settings.
    ///
    /// # Errors
    /// [`SweepError`] if a list is empty, or there are too many settings.
    pub fn count(&self) -> Result<usize, SweepError> {
        let lengths = self.lengths();
        let measure = ("measure", self.measure.len());
        if let Some((name, _)) = lengths.iter().chain([&measure]).find(|(_, length)| *length == 0) {
            return Err(SweepError::Empty(name));
        }
        let count = lengths.iter().map(|(_, length)| *length as u128).product();
        if count > MOST_SETTINGS as u128 {
            return Err(SweepError::TooMany(count));
        }
        Ok(count as usize)
    }

    /// The number of values of each list, with its name: that which changes fastest from setting to setting is last.
    fn lengths(&self) -> Vec<(&'static str, usize)> {
        let mut lengths = self.cycle.lengths();
        // The last two are the rows and the columns of a map, which lie next to each other.
        let shown = lengths.len() - 2;
        let between = [("kernel", self.kernel.len()), ("threads", self.threads.len())];
        lengths.splice(shown..shown, between);
        lengths
    }

    /// The places in the lists of each value of a setting, whose index this is, and the lengths of these lists.
    pub fn places(&self, index: usize) -> Vec<[usize; 2]> {
        let mut left = index;
        let lengths = self.lengths().into_iter().rev();
        lengths
            .map(|(_, length)| {
                let place = left % length.max(1);
                left /= length.max(1);
                [place, length]
            })
            .collect()
    }

    /// All settings: by tile, then kernel, then threads, then the rows of a map, then its columns.
    ///
    /// # Errors
    /// As [`SweepSpec::count`].
    pub fn settings(&self) -> Result<Vec<Setting>, SweepError> {
        let mut settings = Vec::with_capacity(self.count()?);
        for group in self.cycle.groups() {
            for &kernel in &self.kernel {
                for &threads in &self.threads {
                    let with = |&cycle: &CycleSetting| Setting { cycle, kernel, threads };
                    settings.extend(group.iter().map(with));
                }
            }
        }
        Ok(settings)
    }

    /// The run of a setting. It is measured in memory, without a store.
    pub fn run_of(&self, setting: &Setting) -> RunSpec {
        let mut run = self.run.clone();
        setting.cycle.set(&mut run.method);
        run.method.kernel = setting.kernel;
        run.method.threads = setting.threads;
        if setting.cycle.pass().is_some() {
            run.store = None;
        }
        run
    }
}

#[cfg(test)]
mod tests {
    use super::super::cycle::{PassLists, TileLists};
    use super::super::per_axis::PerAxis;
    use super::*;
    use crate::grid::ByteCount;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn list() -> impl Strategy<Value = Vec<usize>> {
        prop::collection::vec(0..40_usize, 0..6)
    }

    fn sides() -> impl Strategy<Value = Vec<PerAxis>> {
        list().prop_map(|list| list.into_iter().map(PerAxis::all).collect())
    }

    fn cycle_lists() -> impl Strategy<Value = CycleLists> {
        let tiles = (list(), sides(), sides()).prop_map(|(k, overlap, tile)| {
            let k = k.into_iter().map(Into::into).collect();
            CycleLists::Tiles(TileLists { k, overlap, tile })
        });
        let passes = (list(), list()).prop_map(|(height, memory)| {
            let memory = memory.into_iter().map(|bytes| ByteCount::new(bytes as u64)).collect();
            CycleLists::Passes(PassLists { height, memory })
        });
        prop_oneof![tiles, passes]
    }

    proptest! {
        /// Every setting occurs once, in an order that does not depend on the order of the lists.
        #[test]
        fn settings_are_complete_and_distinct(
            lists in cycle_lists(),
            kernel in prop::collection::vec(proptest::sample::select(&Kernel::ALL), 0..6),
            threads in prop::collection::vec(0..9_usize, 0..4),
        ) {
            let measure = vec![Measure::Cycles, Measure::Time];
            let run = RunSpec::default();
            let spec = SweepSpec { run, cycle: lists, kernel, threads, measure };
            let mut reversed = spec.clone();
            match &mut reversed.cycle {
                CycleLists::Tiles(TileLists { k, overlap, tile }) => {
                    k.reverse();
                    overlap.reverse();
                    tile.reverse();
                }
                CycleLists::Passes(PassLists { height, memory }) => {
                    height.reverse();
                    memory.reverse();
                }
            }
            let (normalized, reversed) = (spec.normalized(), reversed.normalized());
            let lengths: Vec<_> = normalized.lengths().into_iter().map(|(_, length)| length).collect();
            if lengths.contains(&0) {
                prop_assert!(matches!(normalized.settings(), Err(SweepError::Empty(_))));
                return Ok(());
            }
            let settings = normalized.settings().unwrap();
            prop_assert_eq!(&settings, &reversed.settings().unwrap());
            let count = lengths.iter().product::<usize>();
            let distinct: HashSet<_> = settings.iter().collect();
            prop_assert_eq!((settings.len(), distinct.len()), (count, count));
            // The last list changes fastest, and the places of two settings differ.
            let places: HashSet<_> = (0..count).map(|index| normalized.places(index)).collect();
            prop_assert_eq!(places.len(), count);
            let [_, columns] = normalized.cycle.axes();
            prop_assert_eq!(normalized.places(count - 1)[0], [columns.labels.len() - 1, columns.labels.len()]);
        }
    }

    #[test]
    fn too_many_settings_are_an_error_before_any_is_allocated() {
        let many: Vec<usize> = (1..=4096).collect();
        let sides: Vec<_> = many.iter().copied().map(PerAxis::all).collect();
        let spec = SweepSpec {
            run: RunSpec::default(),
            cycle: CycleLists::Tiles(TileLists {
                k: many.into_iter().map(Into::into).collect(),
                overlap: sides.clone(),
                tile: sides,
            }),
            kernel: vec![Kernel::AUTO],
            threads: vec![0],
            measure: vec![Measure::Time],
        };
        let said = spec.settings().unwrap_err().to_string();
        assert!(said.contains("68719476736 settings"), "{said}");
    }
}
