//! What a run left of the error.

use super::{Outcome, Run};
use crate::problem;
use crate::stop_token::StopToken;

/// Arrays beside the exact solution with which the error that is left is found: the iterate, the initial guess, and
/// both and the solution without boundaries.
const ARRAYS: usize = 5;

impl Run {
    /// ‖u − u*‖₂ / ‖u₀ − u*‖₂ at the end of the run; `None` where it has not come to one, or diverged, or the exact
    /// solution is unknown or takes long or too much memory.
    pub fn error_left(&self) -> Option<f64> {
        let problem = &self.plan().problem;
        let has_ended = !matches!(self.outcome()?, Outcome::Diverged(_));
        if !has_ended || !problem::is_exact_cheap(problem) {
            return None;
        }
        if !self.plan().has_room_beside(problem::exact_arrays(problem) + ARRAYS) {
            return None;
        }
        let exact = problem::exact(problem, &StopToken::default()).ok()?;
        problem::error_left(problem, &self.solver().solution().ok()?, &exact)
    }
}
