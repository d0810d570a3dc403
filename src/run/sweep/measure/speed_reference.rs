//! How fast the machine is now, compared with the beginning of the sweep.
//!
//! On a CPU that other programs use as well, speed changes from second to second. A slow machine is
//! distinguished from a slow setting by timing the same small work again and again. Where more threads want
//! to run than there are cores, a short work may wait for no core and a long one often; time spent waiting is
//! left out where the system reports it ([`without_waiting`]).

use super::stopwatch::{REPEAT, seconds_per_cycle, without_waiting};
use crate::grid::{Precision, Shape, Tiling};
use crate::problem::{Boundary, Problem, Source, Stencil};
use crate::run::plan::Plan;
use crate::solver::{self, Method, Place, Solver, SolverError};
use std::sync::Arc;

/// Points per side of the reference grid: few enough to leave the caches to what is timed, and enough
/// for several threads.
const SIDE: usize = 128;

/// Timings at the beginning; their median is the reference.
const REFERENCE_TIMINGS: usize = 15;

/// A solver of short cycles, and the seconds per cycle at the beginning. On a GPU, which no other program
/// is assumed to use, there is none.
pub(in crate::run::sweep) struct SpeedReference {
    solver: Option<(Box<dyn Solver>, f64)>,
}

impl SpeedReference {
    /// Times the reference where a plan is to run.
    ///
    /// # Errors
    /// [`SolverError`] if there is no memory even for a small grid.
    pub fn new(plan: &Plan) -> Result<Self, SolverError> {
        let (shape, tiling) =
            (Shape::grid_2d(SIDE, SIDE), Tiling::new(&[SIDE; 2], &[32; 2], &[0; 2]));
        let (Place::Cpu { .. }, Ok(shape), Ok(tiling)) = (&plan.place, shape, tiling) else {
            return Ok(Self { solver: None });
        };
        let problem = Problem {
            shape,
            operator: Stencil::poisson(&shape).into(),
            rhs: Source::Constant(1.0),
            initial_guess: Source::Constant(1.0),
            boundary: Boundary::default(),
        };
        let method = Method::Hierarchical { k: 16, tiling };
        let mut solver = solver::set_up(&Arc::new(problem), method, Precision::F64, &plan.place)?;
        let mut timings = Vec::with_capacity(REFERENCE_TIMINGS);
        for _ in 0..REFERENCE_TIMINGS {
            timings.push(without_waiting(|| seconds_per_cycle(&mut *solver, REPEAT))?);
        }
        timings.sort_unstable_by(f64::total_cmp);
        Ok(Self { solver: Some((solver, timings[REFERENCE_TIMINGS / 2])) })
    }

    /// How many times as long as at the beginning the reference cycle takes, measured for `seconds`;
    /// `None` on a GPU.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub fn measure(&mut self, seconds: f64) -> Result<Option<f64>, SolverError> {
        let Some((solver, reference)) = &mut self.solver else { return Ok(None) };
        Ok(Some(without_waiting(|| seconds_per_cycle(&mut **solver, seconds))? / *reference))
    }
}

impl std::fmt::Debug for SpeedReference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let reference = self.solver.as_ref().map(|(_, reference)| reference);
        f.debug_struct("SpeedReference").field("seconds_per_cycle", &reference).finish()
    }
}
