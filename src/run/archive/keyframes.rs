//! Iterates that are kept of a run, within a budget of memory, so that any cycle of it can be made
//! again from one shortly before.

use crate::clock::Instant;
use crate::grid::{Field, GridPoint, Precision, Real, Shape};
use crate::solver::{Solver, SolverError};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Copying may take this part of the time: too little to slow the solver down noticeably.
const SHARE: f64 = 0.005;

/// The least time between two copies: the solver's threads wait for a copy and have to
/// be woken, and its arrays leave the caches, which costs several times what the copy takes. The cycles
/// of this time are soon recomputed.
const EVERY: Duration = Duration::from_millis(40);

/// The iterates that are kept of one run. The thread that makes the run writes
/// them, those that replay it read them.
///
/// An iterate is kept of every cycle at first. Once the budget is full, the least number of cycles
/// between two of them doubles, as often as it takes.
pub(in crate::run) struct Keyframes {
    precision: Precision,
    /// Bytes of one iterate.
    bytes: usize,
    kept: Mutex<Kept>,
}

struct Kept {
    iterates: BTreeMap<u64, Arc<Iterate>>,
    /// The least number of cycles from one to the next.
    spacing: u64,
    /// Bytes that they may take in all.
    budget: usize,
    /// When the next one may be kept.
    due: Instant,
}

/// An iterate in the precision of its run.
pub(in crate::run) enum Iterate {
    Single(Field<f32>),
    Double(Field<f64>),
}

impl Keyframes {
    /// None yet. The initial guess is never among them: it can be computed again.
    pub fn new(shape: &Shape, precision: Precision, budget: usize) -> Self {
        let kept = Kept { iterates: BTreeMap::new(), spacing: 1, budget, due: Instant::now() };
        Self { precision, bytes: shape.stored() * precision.bytes(), kept: Mutex::new(kept) }
    }

    /// Keeps the present iterate of a solver, that of `cycle`, if there is room for it, none is
    /// kept nearby, and the last was long enough ago.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub fn keep(&self, cycle: u64, solver: &dyn Solver) -> Result<(), SolverError> {
        if !self.kept().is_due(cycle, self.bytes) {
            return Ok(());
        }
        // The lock is not held while the copy is made.
        let begin = Instant::now();
        let iterate = Iterate::of(solver, self.precision)?;
        let mut kept = self.kept();
        kept.iterates.insert(cycle, Arc::new(iterate));
        kept.thin_out(self.bytes);
        kept.due = Instant::now() + begin.elapsed().div_f64(SHARE).max(EVERY);
        Ok(())
    }

    /// The newest iterate that is kept of a cycle before `cycle`.
    pub fn before(&self, cycle: u64) -> Option<(u64, Arc<Iterate>)> {
        let kept = self.kept();
        let newest = kept.iterates.range(..cycle).next_back();
        newest.map(|(&cycle, iterate)| (cycle, Arc::clone(iterate)))
    }

    /// All iterates that are kept of cycles before `cycle`, the first cycle first.
    pub fn all_before(&self, cycle: u64) -> Vec<(u64, Arc<Iterate>)> {
        let kept = self.kept();
        kept.iterates.range(..cycle).map(|(&at, iterate)| (at, Arc::clone(iterate))).collect()
    }

    /// Bytes that may be taken from now on; iterates beyond that are dropped at once.
    pub fn set_budget(&self, budget: usize) {
        let mut kept = self.kept();
        if kept.budget != budget {
            kept.budget = budget;
            kept.thin_out(self.bytes);
        }
    }

    /// Bytes that are taken.
    pub fn used(&self) -> usize {
        self.kept().iterates.len() * self.bytes
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // What is kept is complete at any time, even if a holder of the lock panicked.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn is_due(&self, cycle: u64, bytes: usize) -> bool {
        let before = self.iterates.range(..=cycle).next_back().map_or(0, |(&before, _)| before);
        let after = self.iterates.range(cycle..).next().map_or(u64::MAX, |(&after, _)| after);
        bytes <= self.budget
            && (cycle - before).min(after - cycle) >= self.spacing
            && Instant::now() >= self.due
    }

    /// Doubles the spacing until what is left keeps within the budget.
    fn thin_out(&mut self, bytes: usize) {
        while self.iterates.len() * bytes > self.budget {
            self.spacing = self.spacing.saturating_mul(2);
            let (mut last, spacing) = (0, self.spacing);
            self.iterates.retain(|&cycle, _| {
                let stays = cycle - last >= spacing;
                last = if stays { cycle } else { last };
                stays
            });
        }
    }
}

impl Iterate {
    fn of(solver: &dyn Solver, precision: Precision) -> Result<Self, SolverError> {
        let double = solver.solution()?;
        Ok(match precision {
            Precision::F64 => Self::Double(double),
            Precision::F32 => Self::Single(converted(&double)),
        })
    }

    /// A point of it, with what lies around, in double precision, exactly.
    pub fn around(&self, point: GridPoint) -> Field<f64> {
        match self {
            Self::Single(field) => field.part(&point.region()).to_f64(),
            Self::Double(field) => field.part(&point.region()),
        }
    }

    /// The same in double precision, exactly.
    pub fn double(&self) -> Cow<'_, Field<f64>> {
        match self {
            Self::Single(field) => Cow::Owned(converted(field)),
            Self::Double(field) => Cow::Borrowed(field),
        }
    }
}

/// The same values in another precision; for those that came from there, exactly.
fn converted<R: Real, S: Real>(field: &Field<R>) -> Field<S> {
    let mut other = Field::filled(*field.shape(), S::default());
    for (to, from) in other.as_mut_slice().iter_mut().zip(field.as_slice()) {
        *to = S::from_f64(from.to_f64());
    }
    other
}

#[cfg(test)]
impl Keyframes {
    /// Keeps an iterate as if the last one had been kept long ago.
    pub fn keep_at_leisure(&self, cycle: u64, solver: &dyn Solver) {
        self.kept().due = Instant::now();
        self.keep(cycle, solver).unwrap();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Boundary, Problem, Source, Stencil};
    use crate::solver::{self, Method, NormRequest};
    use proptest::prelude::*;

    fn solver(shape: Shape, precision: Precision) -> Box<dyn Solver> {
        let problem = Arc::new(Problem {
            shape,
            operator: Stencil::poisson(&shape).into(),
            rhs: Source::Constant(1.0),
            initial_guess: Source::Random { seed: 3 },
            boundary: Boundary::default(),
        });
        solver::on_cpu(&problem, Method::Classic, precision, 1).unwrap()
    }

    proptest! {
        #[test]
        fn the_budget_is_kept_and_the_gaps_are_even(
            room in 0_usize..40,
            batch in 1_u64..9,
            batches in 0_u64..300,
            later in 0_usize..40,
        ) {
            let shape = Shape::grid_1d(3, 1).unwrap();
            let solver = solver(shape, Precision::F32);
            let bytes = shape.stored() * 4;
            let keyframes = Keyframes::new(&shape, Precision::F32, room * bytes);
            for cycle in (1..=batches).map(|count| count * batch) {
                keyframes.keep_at_leisure(cycle, &*solver);
                prop_assert!(keyframes.used() <= room * bytes);
            }
            let kept: Vec<u64> = keyframes.kept().iterates.keys().copied().collect();
            let spacing = keyframes.kept().spacing;
            prop_assert!(kept.iter().zip([0].iter().chain(&kept)).all(|(at, last)| at - last >= spacing));
            // No cycle is far from the one that it would be recomputed from.
            let ends = kept.iter().copied().chain([batches * batch]);
            let mut gaps = ends.zip([0].iter().chain(&kept)).map(|(at, last)| at - last);
            prop_assert!(room == 0 || gaps.all(|gap| gap < 2 * spacing + batch), "{:?}", kept);
            keyframes.set_budget(later * bytes);
            prop_assert!(keyframes.used() <= later * bytes);
        }

        #[test]
        fn an_iterate_comes_back_to_the_last_bit(single in any::<bool>(), cycles in 1_u64..5) {
            let precision = if single { Precision::F32 } else { Precision::F64 };
            let shape = Shape::grid_2d(5, 4).unwrap();
            let mut solver = solver(shape, precision);
            let keyframes = Keyframes::new(&shape, precision, usize::MAX);
            for cycle in 1..=cycles {
                solver.cycles(1, NormRequest::NONE).unwrap();
                keyframes.keep_at_leisure(cycle, &*solver);
            }
            prop_assert_eq!(keyframes.used(), cycles as usize * shape.stored() * precision.bytes());
            let (cycle, iterate) = keyframes.before(cycles + 7).unwrap();
            prop_assert_eq!(cycle, cycles);
            prop_assert_eq!(iterate.double().into_owned(), solver.solution().unwrap());
            prop_assert!(keyframes.before(1).is_none());
        }
    }

    #[test]
    fn copies_take_no_more_of_the_time_than_they_may() {
        let shape = Shape::grid_1d(3, 1).unwrap();
        let keyframes = Keyframes::new(&shape, Precision::F64, usize::MAX);
        let solver = solver(shape, Precision::F64);
        keyframes.kept().due = Instant::now() + Duration::from_secs(1000);
        keyframes.keep(1, &*solver).unwrap();
        assert_eq!(keyframes.used(), 0);
        let begin = Instant::now();
        keyframes.keep_at_leisure(2, &*solver);
        assert!(keyframes.used() > 0);
        assert!(keyframes.kept().due >= begin + EVERY);
    }
}
