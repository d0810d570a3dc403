//! How far a new run goes before it is shown in place of the run before it.

use crate::clock::Instant;
use crate::run::history::reduction;
use crate::run::runner::Run;
use std::time::Duration;

/// Where two runs are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Milestone {
    /// This many sweeps, to the nearest cycle; at least one cycle unless it is 0.
    Sweeps(u64),
    /// The first iterate whose ‖r‖₂ / ‖r₀‖₂ is at most this.
    Reduction(f64),
}

impl Milestone {
    /// Cycles that a run has to make next on its way there, as far as that is known; 0 once it is
    /// there.
    fn cycles_left(self, run: &Run) -> u64 {
        match self {
            Self::Sweeps(0) => 0,
            Self::Sweeps(sweeps) => {
                let each = run.sweeps_per_cycle();
                let cycles = (sweeps.saturating_add(each / 2) / each).max(1);
                cycles.saturating_sub(run.cycle())
            }
            Self::Reduction(goal) => {
                let reached = |l2: f64| reduction(l2, run.start_residual()) <= goal;
                let residual = run.history().latest().residual;
                u64::from(!residual.is_some_and(|residual| reached(residual.l2)))
            }
        }
    }
}

/// A run on its way to a milestone.
pub(super) struct CatchUp {
    to: Milestone,
    begin: Instant,
    is_there: bool,
}

impl CatchUp {
    /// Begins at the initial guess of a run.
    pub fn new(to: Milestone, run: &Run) -> Self {
        let mut new = Self { to, begin: Instant::now(), is_there: false };
        new.update(run);
        new
    }

    /// Follows the run. Once it was there, or has ended, it is past the milestone for good.
    pub fn update(&mut self, run: &Run) {
        self.is_there |= run.outcome().is_some() || self.to.cycles_left(run) == 0;
    }

    /// Cycles to make next.
    pub fn cycles_left(&self, run: &Run) -> u64 {
        if self.is_there { 0 } else { self.to.cycles_left(run) }
    }

    /// Whether the run is there.
    pub fn is_there(&self) -> bool {
        self.is_there
    }

    /// Whether the residual of every iterate is needed to know.
    pub fn needs_residuals(&self) -> bool {
        !self.is_there && matches!(self.to, Milestone::Reduction(_))
    }

    /// The time that it has taken so far.
    pub fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }
}
