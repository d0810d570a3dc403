//! What a run left of the error.

use super::{Outcome, Run};
use crate::grid::Field;
use crate::pauses::without_pauses;
use crate::problem;
use crate::stop_token::StopToken;
use std::sync::Arc;

/// Arrays beside the exact solution with which the error that is left is found: the iterate, the initial guess, and
/// both and the solution without boundaries.
const ARRAYS: usize = 5;

impl Run {
    /// ‖u − u*‖₂ / ‖u₀ − u*‖₂ at the end of the run; `None` where it has not come to one, or diverged, or the exact
    /// solution is unknown or takes long or too much memory.
    pub fn error_left(&self) -> Option<f64> {
        without_pauses(self.error_left_with_pauses())
    }

    /// [`Run::error_left`] with pauses, of the iterate that there is now.
    pub(in crate::run) fn error_left_with_pauses(
        &self,
    ) -> impl Future<Output = Option<f64>> + Send + use<> {
        let (problem, iterate) = (Arc::clone(&self.plan().problem), self.comparable_iterate());
        async move {
            let iterate = iterate?;
            let exact = problem::exact_with_pauses(&problem, &StopToken::default()).await.ok()?;
            problem::error_left(&problem, &iterate, &exact)
        }
    }

    /// The last iterate of a run that has ended, where it can be compared with the exact solution in little time and
    /// memory.
    fn comparable_iterate(&self) -> Option<Field<f64>> {
        let problem = &self.plan().problem;
        let has_ended = !matches!(self.outcome()?, Outcome::Diverged(_));
        if !has_ended || !problem::is_exact_cheap(problem) {
            return None;
        }
        if !self.plan().has_room_beside(problem::exact_arrays(problem) + ARRAYS) {
            return None;
        }
        self.solver().solution().ok()
    }
}
