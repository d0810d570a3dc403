//! What a sweep goes through.

use super::sides::PerAxis;
use crate::run::plan::PlanError;
use crate::run::spec::{MethodName, RunSpec, TOLERANCE};
use crate::solver::{Kernel, cuda};

/// The most settings of a sweep: each takes a good part of a second, so nobody waits for more.
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

/// A sweep, as it was chosen: one system, and lists of what is tried on it.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepSpec {
    /// The system, where it is solved, and when to stop: its tolerance is what cycles are counted
    /// to, its limit of cycles the cap. Of its method, precision, back end and threads hold alone.
    pub run: RunSpec,
    /// Subiterations of a cycle.
    pub k: Vec<usize>,
    /// Overlaps.
    pub overlap: Vec<PerAxis>,
    /// Tiles.
    pub tile: Vec<PerAxis>,
    /// Kernels.
    pub kernel: Vec<Kernel>,
    /// What is measured.
    pub measure: Vec<Measure>,
}

/// One point of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Setting {
    /// Points of a tile.
    pub tile: PerAxis,
    /// Subiterations of a cycle.
    pub k: usize,
    /// Points that neighbouring tiles share.
    pub overlap: PerAxis,
    /// How it runs on a GPU.
    pub kernel: Kernel,
}

/// Why a sweep cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// What holds for all its settings, or one of the values, is wrong in itself.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A list without a value.
    #[error("{0} has no value; a sweep needs at least one of each")]
    Empty(&'static str),
    /// More settings than anybody waits for.
    #[error("the lists make {0} settings; a sweep takes at most {MOST_SETTINGS}")]
    TooMany(u128),
    /// Not a single setting can run.
    #[error("{}: {first}", none_can_run(*.settings))]
    NoneCanRun {
        /// How many there are.
        settings: usize,
        /// Why the first cannot.
        first: String,
    },
    /// There is no GPU to measure on.
    #[error("backend cuda cannot be used: {0}; backend cpu can")]
    Unavailable(#[from] cuda::Unavailable),
}

/// Not one of so many, in words.
fn none_can_run(settings: usize) -> String {
    match settings {
        1 => "the only setting cannot run".to_owned(),
        _ => format!("none of the {settings} settings can run"),
    }
}

impl SweepSpec {
    /// The same with its lists in rising order, nothing twice, and a tolerance, where it counts
    /// cycles: without one there is nothing to count to.
    #[must_use]
    pub fn tidy(mut self) -> Self {
        fn rising<T: Ord>(list: &mut Vec<T>) {
            list.sort_unstable();
            list.dedup();
        }
        rising(&mut self.k);
        rising(&mut self.overlap);
        rising(&mut self.tile);
        rising(&mut self.measure);
        self.kernel.sort_unstable_by_key(|kernel| kernel.name());
        self.kernel.dedup();
        if self.measure.contains(&Measure::Cycles) {
            self.run.stop.tolerance.get_or_insert(TOLERANCE);
        }
        self
    }

    /// Whether something is measured.
    pub fn measures(&self, what: Measure) -> bool {
        self.measure.contains(&what)
    }

    /// How many settings there are.
    ///
    /// # Errors
    /// [`SweepError`] if a list is empty, or all of them make too many settings.
    pub fn count(&self) -> Result<usize, SweepError> {
        let lengths = [
            ("tile", self.tile.len()),
            ("kernel", self.kernel.len()),
            ("k", self.k.len()),
            ("overlap", self.overlap.len()),
            ("measure", self.measure.len()),
        ];
        if let Some((name, _)) = lengths.iter().find(|(_, length)| *length == 0) {
            return Err(SweepError::Empty(name));
        }
        let count = lengths[..4].iter().map(|(_, length)| *length as u128).product();
        if count > MOST_SETTINGS as u128 {
            return Err(SweepError::TooMany(count));
        }
        Ok(count as usize)
    }

    /// All settings, in the order in which a table of them is read: tile by tile, kernel by kernel,
    /// k by k, the overlap changing fastest.
    ///
    /// # Errors
    /// As [`SweepSpec::count`].
    pub fn settings(&self) -> Result<Vec<Setting>, SweepError> {
        let mut settings = Vec::with_capacity(self.count()?);
        for &tile in &self.tile {
            for &kernel in &self.kernel {
                for &k in &self.k {
                    let with = |&overlap: &PerAxis| Setting { tile, k, overlap, kernel };
                    settings.extend(self.overlap.iter().map(with));
                }
            }
        }
        Ok(settings)
    }

    /// The run of a setting.
    pub fn run_of(&self, setting: &Setting) -> RunSpec {
        let mut run = self.run.clone();
        run.method.name = MethodName::Hierarchical;
        run.method.k = setting.k;
        run.method.tile = setting.tile.list();
        run.method.overlap = setting.overlap.list();
        run.method.kernel = setting.kernel;
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
        /// Every setting once, whatever the lists hold, and in the same order however they came.
        #[test]
        fn settings_are_all_there_once(
            k in list(),
            overlap in sides(),
            tile in sides(),
            kernel in prop::collection::vec(proptest::sample::select(&Kernel::ALL), 0..6),
        ) {
            let measure = vec![Measure::Cycles, Measure::Time];
            let run = RunSpec::default();
            let spec = SweepSpec { run, k, overlap, tile, kernel, measure };
            let mut reversed = spec.clone();
            reversed.k.reverse();
            reversed.overlap.reverse();
            reversed.tile.reverse();
            let (tidy, reversed) = (spec.tidy(), reversed.tidy());
            let lengths = [tidy.k.len(), tidy.overlap.len(), tidy.tile.len(), tidy.kernel.len()];
            if lengths.contains(&0) {
                prop_assert!(matches!(tidy.settings(), Err(SweepError::Empty(_))));
                return Ok(());
            }
            let settings = tidy.settings().unwrap();
            prop_assert_eq!(&settings, &reversed.settings().unwrap());
            let count = lengths.iter().product::<usize>();
            let distinct: HashSet<_> = settings.iter().collect();
            prop_assert_eq!((settings.len(), distinct.len()), (count, count));
        }
    }

    #[test]
    fn too_many_settings_are_counted_not_made() {
        let many: Vec<usize> = (1..=4096).collect();
        let sides: Vec<_> = many.iter().copied().map(PerAxis::all).collect();
        let spec = SweepSpec {
            run: RunSpec::default(),
            k: many,
            overlap: sides.clone(),
            tile: sides,
            kernel: vec![Kernel::AUTO],
            measure: vec![Measure::Time],
        };
        let said = spec.settings().unwrap_err().to_string();
        assert!(said.contains("68719476736 settings"), "{said}");
    }
}
