//! The machine's pulse: the same small work again and again, to tell a machine that became slower
//! from a setting that is slow. On a CPU that others use too, speed changes by the second; and where
//! more threads want to run than there are cores, a short work may wait for none of them and a long
//! one for many, so that waiting is told apart from running where the system tells both.

use super::timing::{REPEAT, repeat};
use crate::grid::{Precision, Shape, Tiling};
use crate::problem::{Boundary, Problem, Source, Stencil};
use crate::run::plan::Plan;
use crate::solver::{self, Method, Place, Solver, SolverError};
use std::sync::Arc;

/// Points a side of the grid that is swept: few enough to leave the caches to what is timed, and
/// enough for several threads.
const SIDE: usize = 128;

/// Beats whose median is what all others are compared with.
const FIRST: usize = 15;

/// A solver of small cycles, and how long one took at first; a GPU, which nobody else uses, has
/// none.
pub(super) struct SpeedReference {
    solver: Option<(Box<dyn Solver>, f64)>,
}

impl SpeedReference {
    /// Feels it for the first time, where a plan is to run.
    ///
    /// # Errors
    /// [`SolverError`] if there is no memory even for a small grid.
    pub fn start(plan: &Plan) -> Result<Self, SolverError> {
        let (shape, tiling) =
            (Shape::grid_2d(SIDE, SIDE), Tiling::new(&[SIDE; 2], &[32; 2], &[0; 2]));
        let (Place::Cpu { .. }, Ok(shape), Ok(tiling)) = (&plan.place, shape, tiling) else {
            return Ok(Self { solver: None });
        };
        let problem = Problem {
            shape,
            stencil: Stencil::poisson(&shape),
            rhs: Source::Constant(1.0),
            initial_guess: Source::Constant(1.0),
            boundary: Boundary::default(),
        };
        let method = Method::Hierarchical { k: 16, tiling };
        let mut solver = solver::set_up(&Arc::new(problem), method, Precision::F64, &plan.place)?;
        let mut beats = Vec::with_capacity(FIRST);
        for _ in 0..FIRST {
            beats.push(running(|| repeat(&mut *solver, REPEAT))?);
        }
        beats.sort_unstable_by(f64::total_cmp);
        Ok(Self { solver: Some((solver, beats[FIRST / 2])) })
    }

    /// How many times as long as at first the same work takes over the next so many seconds; `None` on
    /// a GPU.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub fn measure(&mut self, over: f64) -> Result<Option<f64>, SolverError> {
        let Some((solver, first)) = &mut self.solver else { return Ok(None) };
        Ok(Some(running(|| repeat(&mut **solver, over))? / *first))
    }
}

/// Seconds that something took, those in which this program's threads waited for a core left out, as
/// far as the system tells.
///
/// # Errors
/// Those of the work.
pub(super) fn running(work: impl FnOnce() -> Result<f64, SolverError>) -> Result<f64, SolverError> {
    let before = scheduled();
    let seconds = work()?;
    let share = before.zip(scheduled()).map(|([ran, waited], [runs, waits])| {
        let (ran, waited) = (runs - ran, waits - waited);
        ran / (ran + waited)
    });
    // Threads that ended in between took their times along.
    let share = share.filter(|share| *share > 0.0 && *share <= 1.0);
    Ok(seconds * share.unwrap_or(1.0))
}

/// Nanoseconds that this program's threads ran, and waited for a core, so far; `None` where the system
/// does not tell; Linux does.
fn scheduled() -> Option<[f64; 2]> {
    let mut sums = [0.0; 2];
    for thread in std::fs::read_dir("/proc/self/task").ok()? {
        let told = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        let mut numbers = told.split_whitespace().map(str::parse::<f64>);
        for sum in &mut sums {
            *sum += numbers.next()?.ok()?;
        }
    }
    Some(sums)
}

impl std::fmt::Debug for SpeedReference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let first = self.solver.as_ref().map(|(_, first)| first);
        f.debug_struct("Pulse").field("first", &first).finish()
    }
}
