//! A run that is recomputed from its archive, step by step, up to any of its cycles.

use crate::run::archive::RunArchive;
use crate::run::history::Record;
use crate::run::observe::{Experiment, FieldKind, Observation, ObservationRequest};
use crate::run::plan::Plan;
use crate::solver::{CycleNorms, Kernel, NormRequest, Place, SolverError, StopToken};
use std::sync::Arc;

/// What a step towards a cycle led to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// The cycle is reached.
    There,
    /// There are more steps to take; the fraction of the way that is done, 0 to 1.
    OnTheWay(f32),
}

/// A run that is recomputed.
pub(super) struct ReplayedRun {
    archive: Arc<RunArchive>,
    experiment: Experiment,
    /// The way to the cycle that is wanted, until it is reached.
    way: Option<Way>,
    /// The same of Jacobi's iteration, in sweeps.
    classic_way: Option<Way>,
    /// The norms of the last cycle that was made with them, and its number.
    last: Option<(u64, CycleNorms)>,
}

/// From one cycle to another.
#[derive(Clone, Copy, Debug)]
struct Way {
    from: u64,
    to: u64,
}

impl Way {
    /// The step that ends at `cycle`, of which more follow.
    fn at(self, cycle: u64) -> Step {
        let part = (cycle - self.from) as f32 / (self.to - self.from).max(1) as f32;
        Step::OnTheWay(part)
    }
}

impl ReplayedRun {
    /// Sets it up where the run is made now, or, where that is not available, on the CPU: the iterates are
    /// the same, bit for bit. Its cycles fail while `stop` is due.
    ///
    /// # Errors
    /// [`SolverError`] if its arrays do not fit.
    pub fn new(archive: &Arc<RunArchive>, stop: &StopToken) -> Result<Self, SolverError> {
        let plan = &Arc::new(Plan { place: archive.place(), ..Plan::clone(archive.plan()) });
        let mut experiment = match Experiment::without_diagram(plan) {
            Err(_) if matches!(plan.place, Place::Cuda { .. }) => {
                let place = Place::Cpu { threads: 0, kernel: Kernel::AUTO };
                Experiment::without_diagram(&Arc::new(Plan { place, ..Plan::clone(plan) }))?
            }
            made => made?,
        };
        experiment.stop_on(stop);
        Ok(Self {
            archive: Arc::clone(archive),
            experiment,
            way: None,
            classic_way: None,
            last: None,
        })
    }

    /// Whether it is that run.
    pub fn is_of(&self, archive: &Arc<RunArchive>) -> bool {
        Arc::ptr_eq(&self.archive, archive)
    }

    /// The run at its present cycle.
    pub fn experiment(&self) -> &Experiment {
        &self.experiment
    }

    /// Takes one step towards a cycle: as many cycles as the solver makes at a time, or of Jacobi's
    /// iteration, where the staleness is wanted there.
    ///
    /// # Errors
    /// [`SolverError`] if a solver fails, or has no room for what is requested.
    pub fn step_to(&mut self, cycle: u64, field: FieldKind) -> Result<Step, SolverError> {
        let way = match self.way.filter(|way| way.to == cycle) {
            Some(way) => way,
            None => self.set_out(cycle, field)?,
        };
        let run = self.experiment.run_mut();
        if run.cycle() < cycle {
            // The last cycle is made with its norms and its update.
            if run.cycle() + 1 == cycle {
                self.last = Some((cycle, run.replay_one()?));
            } else {
                run.replay(cycle - 1 - run.cycle())?;
            }
            return Ok(way.at(self.experiment.run().cycle()));
        }
        if field == FieldKind::Staleness
            && let step @ Step::OnTheWay(_) = self.step_classic()?
        {
            return Ok(step);
        }
        self.way = None;
        Ok(Step::There)
    }

    /// Puts the run at `cycle`, if that is where its last cycle led, or at one before, from where the
    /// way is the shortest.
    fn set_out(&mut self, cycle: u64, field: FieldKind) -> Result<Way, SolverError> {
        if field == FieldKind::Error
            && !self.experiment.run().knows_exact()
            && let Some(exact) = self.archive.exact()
        {
            self.experiment.set_exact(exact)?;
        }
        let run = self.experiment.run_mut();
        let kept = self.archive.run.before(cycle);
        let has_last = self.last.is_some_and(|(last, _)| last == cycle) || cycle == 0;
        if run.cycle() < cycle || (run.cycle() == cycle && has_last) {
            if let Some((kept, iterate)) = kept.filter(|(kept, _)| *kept > run.cycle()) {
                run.put_at(kept, &iterate.double())?;
            }
        } else {
            match kept {
                Some((kept, iterate)) => run.put_at(kept, &iterate.double())?,
                None => run.rewind()?,
            }
        }
        let way = Way { from: run.cycle(), to: cycle };
        self.way = Some(way);
        Ok(way)
    }

    /// Takes one step of Jacobi's iteration: towards the cycles of a 1D diagram whose staleness is
    /// not known yet, and then towards the present cycle.
    fn step_classic(&mut self) -> Result<Step, SolverError> {
        let archive = Arc::clone(&self.archive);
        let unknown = archive.diagram().and_then(|diagram| diagram.get().next_without_staleness());
        let run = self.experiment.run();
        let sweeps = unknown.unwrap_or(run.cycle()) * run.sweeps_per_cycle();
        if let step @ Step::OnTheWay(_) = self.step_classic_to(sweeps)? {
            return Ok(step);
        }
        let (Some(cycle), Some(diagram)) = (unknown, archive.diagram()) else {
            return Ok(Step::There);
        };
        diagram.get().set_staleness(cycle, self.experiment.classic_run()?)?;
        Ok(Step::OnTheWay(0.0))
    }

    fn step_classic_to(&mut self, sweeps: u64) -> Result<Step, SolverError> {
        let classic = self.experiment.classic_run()?;
        let way = match self.classic_way.filter(|way| way.to == sweeps) {
            Some(way) => way,
            None => {
                let kept = self.archive.classic.before(sweeps + 1);
                let is_beyond = classic.cycle() > sweeps;
                match kept.filter(|(kept, _)| is_beyond || *kept > classic.cycle()) {
                    Some((kept, iterate)) => classic.put_at(kept, &iterate.double())?,
                    None if is_beyond => classic.rewind()?,
                    None => {}
                }
                *self.classic_way.insert(Way { from: classic.cycle(), to: sweeps })
            }
        };
        if classic.cycle() == sweeps {
            self.classic_way = None;
            return Ok(Step::There);
        }
        classic.replay(sweeps - classic.cycle())?;
        // What is not kept now can be recomputed.
        _ = self.archive.keep_classic(classic);
        Ok(way.at(classic.cycle()))
    }

    /// Observes the present iterate, with all its norms.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub fn observe(&self, request: &ObservationRequest) -> Result<Observation, SolverError> {
        let observation = self.experiment.observe(request)?;
        let mut observation = Observation { norms: self.norms()?, ..observation };
        // The space–time diagram of a 1D run shows all its cycles.
        let map = request.map.as_ref().filter(|map| !map.is_of_iterate && map.most != [0, 0]);
        if let Some((diagram, map)) = self.archive.diagram().zip(map) {
            observation.picture = Some(Arc::new(diagram.picture(request.field, map.most)));
        }
        Ok(observation)
    }

    /// The norms of the present iterate.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub fn norms(&self) -> Result<Record, SolverError> {
        let run = self.experiment.run();
        let mut norms = self.archive.record(run.cycle());
        if norms.residual.is_none() && self.archive.is_residual_false(run.cycle()) {
            norms.residual = Some(run.true_residual()?);
        }
        let residual = norms.residual.is_none();
        let found = run.solver().norms(NormRequest {
            residual_l2: residual,
            residual_max: residual,
            max_change: false,
            error: norms.error.is_none(),
        })?;
        norms.residual = norms.residual.or(found.residual);
        norms.error = norms.error.or(found.error);
        let last = self.last.filter(|(cycle, _)| *cycle == run.cycle());
        norms.max_change = norms.max_change.or(last.and_then(|(_, norms)| norms.max_change));
        Ok(norms)
    }
}
