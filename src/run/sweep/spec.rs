//! The description of a sweep: one system and lists of settings.

use super::per_axis::PerAxis;
use crate::run::plan::PlanError;
use crate::run::spec::{MethodName, RunSpec, TOLERANCE};
use crate::solver::Subiterations;
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
    /// limit of cycles. Of its method only precision, back end and devices are used.
    pub run: RunSpec,
    /// Subiterations of a cycle.
    pub k: Vec<Subiterations>,
    /// Overlaps.
    pub overlap: Vec<PerAxis>,
    /// Tiles.
    pub tile: Vec<PerAxis>,
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
    /// Points of a tile.
    pub tile: PerAxis,
    /// Subiterations of a cycle.
    pub k: Subiterations,
    /// Points that neighbouring tiles share.
    pub overlap: PerAxis,
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
    #[error("{}: {first}", none_can_run(*.settings))]
    NoneCanRun {
        /// Number of settings.
        settings: usize,
        /// Why the first cannot run.
        first: String,
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
        fn sort<T: Ord>(list: &mut Vec<T>) {
            list.sort_unstable();
            list.dedup();
        }
        sort(&mut self.k);
        sort(&mut self.overlap);
        sort(&mut self.tile);
        sort(&mut self.threads);
        sort(&mut self.measure);
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
        let lengths = [
            ("tile", self.tile.len()),
            ("kernel", self.kernel.len()),
            ("threads", self.threads.len()),
            ("k", self.k.len()),
            ("overlap", self.overlap.len()),
            ("measure", self.measure.len()),
        ];
        if let Some((name, _)) = lengths.iter().find(|(_, length)| *length == 0) {
            return Err(SweepError::Empty(name));
        }
        let count = lengths[..5].iter().map(|(_, length)| *length as u128).product();
        if count > MOST_SETTINGS as u128 {
            return Err(SweepError::TooMany(count));
        }
        Ok(count as usize)
    }

    /// All settings: by tile, then kernel, then threads, then k, then overlap.
    ///
    /// # Errors
    /// As [`SweepSpec::count`].
    pub fn settings(&self) -> Result<Vec<Setting>, SweepError> {
        let mut settings = Vec::with_capacity(self.count()?);
        for &tile in &self.tile {
            for &kernel in &self.kernel {
                for &threads in &self.threads {
                    for &k in &self.k {
                        let with =
                            |&overlap: &PerAxis| Setting { tile, k, overlap, kernel, threads };
                        settings.extend(self.overlap.iter().map(with));
                    }
                }
            }
        }
        Ok(settings)
    }

    /// The run of a setting.
    pub fn run_of(&self, setting: &Setting) -> RunSpec {
        let mut run = self.run.clone();
        run.method.set_name(MethodName::Hierarchical);
        run.method.k = setting.k;
        run.method.tile = setting.tile.list();
        run.method.overlap = setting.overlap.list();
        run.method.kernel = setting.kernel;
        run.method.threads = setting.threads;
        run
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn list() -> impl Strategy<Value = Vec<usize>> {
        prop::collection::vec(0..40_usize, 0..6)
    }

    fn sides() -> impl Strategy<Value = Vec<PerAxis>> {
        list().prop_map(|list| list.into_iter().map(PerAxis::all).collect())
    }

    proptest! {
        /// Every setting occurs once, in an order that does not depend on the order of the lists.
        #[test]
        fn settings_are_complete_and_distinct(
            k in list().prop_map(|list| list.into_iter().map(Into::into).collect::<Vec<_>>()),
            overlap in sides(),
            tile in sides(),
            kernel in prop::collection::vec(proptest::sample::select(&Kernel::ALL), 0..6),
            threads in prop::collection::vec(0..9_usize, 0..4),
        ) {
            let measure = vec![Measure::Cycles, Measure::Time];
            let run = RunSpec::default();
            let spec = SweepSpec { run, k, overlap, tile, kernel, threads, measure };
            let mut reversed = spec.clone();
            reversed.k.reverse();
            reversed.overlap.reverse();
            reversed.tile.reverse();
            let (normalized, reversed) = (spec.normalized(), reversed.normalized());
            let lengths = [normalized.k.len(), normalized.overlap.len(), normalized.tile.len(), normalized.kernel.len(), normalized.threads.len()];
            if lengths.contains(&0) {
                prop_assert!(matches!(normalized.settings(), Err(SweepError::Empty(_))));
                return Ok(());
            }
            let settings = normalized.settings().unwrap();
            prop_assert_eq!(&settings, &reversed.settings().unwrap());
            let count = lengths.iter().product::<usize>();
            let distinct: HashSet<_> = settings.iter().collect();
            prop_assert_eq!((settings.len(), distinct.len()), (count, count));
        }
    }

    #[test]
    fn too_many_settings_are_an_error_before_any_is_allocated() {
        let many: Vec<usize> = (1..=4096).collect();
        let sides: Vec<_> = many.iter().copied().map(PerAxis::all).collect();
        let spec = SweepSpec {
            run: RunSpec::default(),
            k: many.into_iter().map(Into::into).collect(),
            overlap: sides.clone(),
            tile: sides,
            kernel: vec![Kernel::AUTO],
            threads: vec![0],
            measure: vec![Measure::Time],
        };
        let said = spec.settings().unwrap_err().to_string();
        assert!(said.contains("68719476736 settings"), "{said}");
    }
}
