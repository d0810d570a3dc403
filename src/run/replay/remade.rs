//! A run that is made again, at whichever cycle is to be seen.

use crate::grid::Field;
use crate::run::archive::RunArchive;
use crate::run::experiment::{Experiment, FieldKind};
use crate::run::history::Record;
use crate::run::observation::{Observation, ObservationRequest};
use crate::run::plan::Plan;
use crate::run::runner::Run;
use crate::solver::{CycleNorms, Place, SolverError};
use std::sync::Arc;

/// What is told on the way to a cycle, after every step: what there is, and the part of the way
/// that is made. Whether to go on is what comes back.
pub(super) type OnTheWay<'a> = dyn FnMut(&Remade, f32) -> bool + 'a;

/// A run that is made again.
pub(super) struct Remade {
    archive: Arc<RunArchive>,
    experiment: Experiment,
    /// What the last cycle that it made found out, with the cycle.
    last: Option<(u64, CycleNorms)>,
}

impl Remade {
    /// Sets it up where the run is made, or, where that cannot be had, on the CPU: the iterates are
    /// the same, bit for bit.
    ///
    /// # Errors
    /// [`SolverError`] if its arrays do not fit.
    pub fn new(archive: &Arc<RunArchive>) -> Result<Self, SolverError> {
        let plan = archive.plan();
        let experiment = match Experiment::to_look_back(plan) {
            Err(_) if matches!(plan.place, Place::Cuda { .. }) => {
                let place = Place::Cpu { threads: 0 };
                Experiment::to_look_back(&Arc::new(Plan { place, ..Plan::clone(plan) }))?
            }
            made => made?,
        };
        Ok(Self { archive: Arc::clone(archive), experiment, last: None })
    }

    /// Whether it is that run.
    pub fn is_of(&self, archive: &Arc<RunArchive>) -> bool {
        Arc::ptr_eq(&self.archive, archive)
    }

    /// The run, where it is.
    pub fn experiment(&self) -> &Experiment {
        &self.experiment
    }

    /// Goes to a cycle, with what is looked at there, and says whether it got there: not if it was
    /// told to stop.
    ///
    /// # Errors
    /// [`SolverError`] if a solver fails, or has no room for what is looked at.
    pub fn go_to(
        &mut self,
        cycle: u64,
        view: &ObservationRequest,
        on_the_way: &mut OnTheWay<'_>,
    ) -> Result<bool, SolverError> {
        if view.field == FieldKind::Error
            && !self.experiment.run().knows_exact()
            && let Some(exact) = self.archive.exact()
        {
            let exact: Arc<Field<f64>> = Arc::clone(exact);
            self.experiment.set_exact(&exact)?;
        }
        self.set_out(cycle)?;
        let from = self.experiment.run().cycle();
        while self.experiment.run().cycle() < cycle {
            let run = self.experiment.run_mut();
            // The last cycle is made with its norms, and what it changed is seen.
            if run.cycle() + 1 == cycle {
                self.last = Some((cycle, run.replay_one()?));
            } else {
                run.replay(cycle - 1 - run.cycle())?;
            }
            let part = (self.experiment.run().cycle() - from) as f32 / (cycle - from) as f32;
            if !on_the_way(self, part) {
                return Ok(false);
            }
        }
        if view.field == FieldKind::Staleness {
            let is_told = self.complete_diagram(on_the_way)?;
            return Ok(is_told && self.catch_up(self.experiment.run().sweeps(), on_the_way)?);
        }
        Ok(true)
    }

    /// Tells the staleness of those cycles of a line's diagram that nobody has asked it of.
    fn complete_diagram(&mut self, on_the_way: &mut OnTheWay<'_>) -> Result<bool, SolverError> {
        let archive = Arc::clone(&self.archive);
        let Some(diagram) = archive.diagram() else {
            return Ok(true);
        };
        let next = || diagram.get().next_without_staleness();
        while let Some(cycle) = next() {
            let sweeps = cycle * self.experiment.run().sweeps_per_cycle();
            if !self.catch_up(sweeps, on_the_way)? || !on_the_way(self, 0.0) {
                return Ok(false);
            }
            diagram.get().set_staleness(cycle, self.experiment.classic_run()?)?;
        }
        Ok(true)
    }

    /// Puts the run at `cycle`, if that is where it came by its last cycle, or at one before, from
    /// where the way is the shortest.
    fn set_out(&mut self, cycle: u64) -> Result<(), SolverError> {
        let run = self.experiment.run_mut();
        let is_there = self.last.is_some_and(|(last, _)| last == cycle) || cycle == 0;
        if run.cycle() < cycle || (run.cycle() == cycle && is_there) {
            let nearer = self.archive.run.before(cycle).filter(|(kept, _)| *kept > run.cycle());
            return match nearer {
                Some((kept, iterate)) => run.put_at(kept, &iterate.double()),
                None => Ok(()),
            };
        }
        match self.archive.run.before(cycle) {
            Some((kept, iterate)) => run.put_at(kept, &iterate.double()),
            None => run.rewind(),
        }
    }

    /// Puts Jacobi's iteration where it has made so many sweeps.
    fn catch_up(
        &mut self,
        sweeps: u64,
        on_the_way: &mut OnTheWay<'_>,
    ) -> Result<bool, SolverError> {
        let classic = self.experiment.classic_run()?;
        let kept = self.archive.classic.before(sweeps + 1);
        let is_beyond = classic.cycle() > sweeps;
        match kept.filter(|(kept, _)| is_beyond || *kept > classic.cycle()) {
            Some((kept, iterate)) => classic.put_at(kept, &iterate.double())?,
            None if is_beyond => classic.rewind()?,
            None => {}
        }
        let from = classic.cycle();
        loop {
            let classic = self.experiment.classic_run()?;
            let left = sweeps - classic.cycle();
            if left == 0 {
                return Ok(true);
            }
            classic.replay(left)?;
            // What is not kept now can be made again.
            _ = self.archive.keep_classic(classic);
            let part = (classic.cycle() - from) as f32 / (sweeps - from) as f32;
            if !on_the_way(self, part) {
                return Ok(false);
            }
        }
    }

    /// Looks at the iterate where it is, with its norms.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub fn observation(&self, view: &ObservationRequest) -> Result<Observation, SolverError> {
        let mut observation =
            Observation { norms: self.norms()?, ..Observation::of(&self.experiment, view)? };
        // A line is seen whole, whichever its cycle; where nobody looks at it, not at all.
        if let Some(diagram) = self.archive.diagram().filter(|_| view.most != [0, 0]) {
            observation.picture = Some(diagram.picture(view.field, view.most));
        }
        Ok(observation)
    }

    /// The norms of the iterate where it is.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub fn norms(&self) -> Result<Record, SolverError> {
        let run: &Run = self.experiment.run();
        let mut norms = self.archive.record(run.cycle());
        if norms.residual.is_none() {
            norms.residual = Some(run.solver().residual()?);
        }
        if norms.error.is_none() {
            norms.error = run.solver().error()?;
        }
        let last = self.last.filter(|(cycle, _)| *cycle == run.cycle());
        norms.max_change = norms.max_change.or(last.and_then(|(_, norms)| norms.max_change));
        Ok(norms)
    }
}
