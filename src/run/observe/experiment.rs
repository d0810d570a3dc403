//! A run with what is computed alongside to observe it: Jacobi's iteration on the same system, and the
//! space–time diagram of a 1D run.

use super::accelerated::{AcceleratedRun, AccelerationCurve, Accelerations};
use super::field::{FieldKind, Picture};
use super::pass_log::PassLog;
use super::request::{MapRequest, ObservationRequest};
use super::space_time::{Diagram, SpaceTime};
use crate::grid::Field;
use crate::problem::residual_field;
use crate::run::history::Record;
use crate::run::plan::Plan;
use crate::run::runner::Run;
use crate::solver::{
    Acceleration, EdgeShare, FieldRequest, Quantity, Samples, Solver, SolverError, Statistics,
    StopToken, Window,
};
use std::sync::Arc;

/// A run, and what is computed alongside to observe it.
pub struct Experiment {
    run: Run,
    classic: Option<Run>,
    accelerations: Accelerations,
    diagram: Option<Diagram>,
    passes: Arc<PassLog>,
}

impl Experiment {
    /// Sets up an experiment at its initial guess.
    ///
    /// # Errors
    /// [`SolverError`] if its arrays do not fit, or the device is not available.
    pub fn new(plan: &Arc<Plan>) -> Result<Self, SolverError> {
        let run = Run::new(plan)?;
        Ok(Self::of(Diagram::new(&run)?, run))
    }

    /// An experiment at its initial guess whose single cycles are observed: a 1D run has no diagram.
    ///
    /// # Errors
    /// [`SolverError`] if its arrays do not fit, or the device is not available.
    pub(in crate::run) fn without_diagram(plan: &Arc<Plan>) -> Result<Self, SolverError> {
        Ok(Self::of(None, Run::new(plan)?))
    }

    fn of(diagram: Option<Diagram>, run: Run) -> Self {
        let (accelerations, passes) = Default::default();
        Self { run, classic: None, accelerations, diagram, passes }
    }

    /// An experiment with a solver that only tests have.
    #[cfg(test)]
    pub(in crate::run) fn with_solver(
        plan: &Arc<Plan>,
        solver: Box<dyn crate::solver::Solver>,
    ) -> Result<Self, SolverError> {
        let run = Run::at_start(Arc::clone(plan), plan.method.clone(), solver)?;
        Ok(Self::of(Diagram::new(&run)?, run))
    }

    /// Another experiment on the same system in the same place, from its initial guess. Jacobi's iteration,
    /// which does not depend on the method, continues where it was, unless it stopped by another rule.
    ///
    /// # Errors
    /// [`SolverError`] if its arrays do not fit; this experiment is as it was then.
    pub fn with_plan(&mut self, plan: &Arc<Plan>) -> Result<Self, SolverError> {
        let run = self.run.with_plan(plan)?;
        let diagram = Diagram::new(&run)?;
        let classic = self.classic.take().and_then(|classic| run.take_classic(classic));
        let passes = Arc::new(self.passes.of_next_run());
        let mut experiment = Self { classic, passes, ..Self::of(diagram, run) };
        experiment.accelerations.take_from(&mut self.accelerations, plan);
        Ok(experiment)
    }

    /// Takes Jacobi's iteration and its accelerations over from another experiment on the same system in the same
    /// place, unless it has them or they stopped by another rule.
    pub(in crate::run) fn take_references_of(&mut self, other: &mut Self) {
        self.accelerations.take_from(&mut other.accelerations, self.run.plan());
        Arc::make_mut(&mut self.passes).take_from(&other.passes);
        if self.classic.is_none() {
            self.classic = other.classic.take().and_then(|classic| self.run.take_classic(classic));
        }
    }

    /// Continues in another place. `plan` may differ from the run's own only in where and how it
    /// runs.
    ///
    /// # Errors
    /// [`SolverError`] if that device is not available; the run is then unchanged.
    pub fn move_to(&mut self, plan: &Arc<Plan>) -> Result<(), SolverError> {
        self.run.move_to(plan)?;
        self.passes = Arc::default();
        if let Some(classic) = &mut self.classic {
            let place = plan.place.automatic();
            let there = Arc::new(Plan { place, ..Plan::clone(classic.plan()) });
            // Where there is no room for it, it is set up again when it is needed.
            if classic.move_to(&there).is_err() {
                self.classic = None;
            }
        }
        Ok(())
    }

    /// Leaves cycles unfinished while this is due, as [`Run::stop_on`] does.
    pub fn stop_on(&mut self, stop: &StopToken) {
        self.run.stop_on(stop);
    }

    /// The run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Jacobi's iteration on the same system, once [`Experiment::advance_classic`] has set it up.
    pub fn classic(&self) -> Option<&Run> {
        self.classic.as_ref()
    }

    /// The space–time diagram of a 1D grid, which is made along with the run.
    pub(in crate::run) fn diagram(&self) -> Option<&Diagram> {
        self.diagram.as_ref()
    }

    /// The run, to go back in.
    pub(in crate::run) fn run_mut(&mut self) -> &mut Run {
        &mut self.run
    }

    /// Makes a piece of the cycle that the next [`Experiment::advance`] begins with; see [`Run::make_piece`].
    pub(crate) fn make_piece(&mut self) -> bool {
        self.run.make_piece()
    }

    /// Makes at least one cycle and at most `most`, unless the run has come to its end.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails; the run cannot continue then.
    pub fn advance(&mut self, most: u64) -> Result<(), SolverError> {
        let until =
            self.diagram.as_ref().map_or(u64::MAX, |diagram| until_next(&diagram.get(), &self.run));
        self.run.advance(most.min(until))?;
        let run = &self.run;
        if self.passes.has_news(run.solver()) {
            Arc::make_mut(&mut self.passes).update(&run.plan().method, run.solver());
        }
        self.diagram.as_ref().map_or(Ok(()), |diagram| diagram.get().record(run))
    }

    /// The passes that were timed on the system of the run, where it is made.
    pub fn passes(&self) -> &Arc<PassLog> {
        &self.passes
    }

    /// Begins the cycles that the next [`Experiment::advance`] takes in, where they can be made while
    /// the present iterate is observed.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails; the run cannot continue then.
    pub fn begin(&mut self) -> Result<(), SolverError> {
        let until =
            self.diagram.as_ref().map_or(u64::MAX, |diagram| until_next(&diagram.get(), &self.run));
        self.run.begin(until)
    }

    /// Measures what is not known yet of the present iterate.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub fn settle(&mut self) -> Result<(), SolverError> {
        self.run.settle()
    }

    /// Sets the exact solution.
    ///
    /// # Errors
    /// [`SolverError`] if the solver has no room for it, or fails.
    pub fn set_exact(&mut self, exact: &Arc<Field<f64>>) -> Result<(), SolverError> {
        if let Some(diagram) = &self.diagram {
            diagram.get().set_exact(exact);
        }
        self.run.set_exact(Arc::clone(exact))
    }

    /// Whether all norms of every cycle are computed ([`Run::find_all_norms`]), of Jacobi's iteration too.
    pub fn find_all_norms(&mut self, wanted: bool) {
        self.run.find_all_norms(wanted);
        if let Some(classic) = &mut self.classic {
            classic.find_all_norms(wanted);
        }
    }

    /// Makes some sweeps of Jacobi's iteration, unless that has come to its end: one or more, and
    /// while the run is made not more than it takes to catch up with it.
    ///
    /// # Errors
    /// [`SolverError`] if its arrays do not fit, or its solver fails.
    pub fn advance_classic(&mut self) -> Result<(), SolverError> {
        let goal = if self.run.outcome().is_some() { u64::MAX } else { self.run.sweeps() };
        let classic = self.classic_run()?;
        if classic.outcome().is_none() {
            classic.step(goal.saturating_sub(classic.cycle()).max(1))?;
        }
        Ok(())
    }

    /// Whether there is a sweep of an acceleration to make, or it is to be set up: while the run is made it goes as
    /// far as the run, and to its tolerance at the most. It waits for the spectral radius if that takes time.
    pub fn has_acceleration_work(&self, acceleration: Acceleration) -> bool {
        self.has_acceleration_work_to(acceleration, self.run.sweeps())
    }

    /// The same with this number of sweeps in the place of the run's.
    pub(in crate::run) fn has_acceleration_work_to(
        &self,
        acceleration: Acceleration,
        sweeps: u64,
    ) -> bool {
        match self.accelerations.get(acceleration) {
            Some(made) => made.goes_on(sweeps),
            None => !acceleration.needs_radius() || self.run.plan().knows_radius(),
        }
    }

    /// Sets an acceleration up, or makes a sweep of it.
    pub fn accelerate(&mut self, acceleration: Acceleration) {
        self.accelerations.sweep(acceleration, self.run.plan());
    }

    /// Gives the arrays of accelerations back. Those that have not come to their end begin again when they are needed.
    pub(in crate::run) fn drop_unfinished_accelerations(&mut self) {
        self.accelerations.drop_unfinished();
    }

    /// An acceleration, once [`Experiment::accelerate`] has set it up.
    pub(in crate::run) fn accelerated(
        &self,
        acceleration: Acceleration,
    ) -> Option<&AcceleratedRun> {
        self.accelerations.get(acceleration)
    }

    /// The curves of the accelerations that were set up, each made of its norms by `records`.
    pub(in crate::run) fn acceleration_curves(
        &self,
        mut records: impl FnMut(Acceleration, &AcceleratedRun) -> Arc<[Record]>,
    ) -> Vec<AccelerationCurve> {
        let curve = |acceleration| {
            let made = self.accelerations.get(acceleration)?;
            let explain = |why| AccelerationCurve::explain(acceleration, why);
            Some(AccelerationCurve {
                acceleration,
                records: records(acceleration, made),
                why_not: made.why_not().map(explain),
            })
        };
        Acceleration::ALL.into_iter().filter_map(curve).collect()
    }

    /// Makes sweeps of Jacobi's iteration towards a number of sweeps, independent of the run's.
    ///
    /// # Errors
    /// [`SolverError`] if its arrays do not fit, or its solver fails.
    pub(in crate::run) fn advance_classic_to(&mut self, sweeps: u64) -> Result<&Run, SolverError> {
        let classic = self.classic_run()?;
        classic.allow(sweeps);
        if classic.outcome().is_none() && classic.cycle() < sweeps {
            classic.advance(sweeps - classic.cycle())?;
        }
        Ok(classic)
    }

    /// Whether a field of the present iterate can be shown; if not, there is work to do first.
    pub fn is_ready(&self, kind: FieldKind) -> bool {
        kind != FieldKind::Staleness || self.staleness_goal().is_none()
    }

    /// Whether all that the map of a field shows is known: Jacobi's iteration is in step, or the exact
    /// solution was given.
    pub fn can_show(&self, kind: FieldKind) -> bool {
        self.is_ready(kind) && (kind != FieldKind::Error || self.run.knows_exact())
    }

    /// How much of that work is done, 0 to 1.
    pub fn prepared(&self) -> f32 {
        let Some(goal) = self.staleness_goal() else {
            return 1.0;
        };
        let made = self.classic.as_ref().map_or(0, Run::cycle);
        let sweeps = goal.max(self.run.cycle()) * self.run.sweeps_per_cycle();
        (made as f64 / sweeps.max(1) as f64).min(1.0) as f32
    }

    /// Does a part of the work that [`Experiment::is_ready`] waits for: some sweeps of Jacobi's
    /// iteration, on its way to as many as the run has made.
    ///
    /// # Errors
    /// [`SolverError`] if its arrays do not fit, or its solver fails.
    pub fn prepare(&mut self, kind: FieldKind) -> Result<(), SolverError> {
        if kind != FieldKind::Staleness {
            return Ok(());
        }
        let Some(cycle) = self.staleness_goal() else {
            return Ok(());
        };
        let sweeps = cycle * self.run.sweeps_per_cycle();
        let classic = self.classic_run()?;
        if classic.cycle() > sweeps {
            classic.rewind()?;
        }
        if classic.cycle() < sweeps {
            classic.step(sweeps - classic.cycle())?;
        }
        let reached = classic.cycle() == sweeps;
        if let (true, Some(diagram), Some(classic)) = (reached, &self.diagram, &self.classic) {
            diagram.get().set_staleness(cycle, classic)?;
        }
        Ok(())
    }

    /// The next cycle whose staleness is to be computed.
    fn staleness_goal(&self) -> Option<u64> {
        match &self.diagram {
            Some(diagram) if diagram.get().keeps_iterates() => {
                diagram.get().next_without_staleness()
            }
            _ => self.classic_in_step().is_none().then_some(self.run.cycle()),
        }
    }

    /// The map of the field, the edge share and the statistics, as far as they are requested and the
    /// field is ready.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub(super) fn field_and_edges(
        &self,
        request: &ObservationRequest,
        is_ready: bool,
    ) -> Result<(Option<Picture>, EdgeShare, Option<Statistics>), SolverError> {
        let (solver, Plan { tiling, problem, .. }) =
            (self.solver_of(request.field), &**self.run.plan());
        let residual = self.run.residual_solver();
        let edge_share = || request.edge_share.then(|| residual.edge_share(tiling)).transpose();
        let diagram = self.diagram.as_ref().zip(request.map.as_ref());
        let diagram = diagram.filter(|(_, map)| is_ready && !map.is_of_iterate);
        let diagram = diagram.map(|(diagram, map)| diagram.picture(request.field, map.most));
        let Some(quantity) = self.quantity(request.field).filter(|_| is_ready) else {
            return Ok((diagram, edge_share()?.unwrap_or_default(), None));
        };
        let is_sampled = |map: &&MapRequest| problem.shape.dim() > 1 || map.is_of_iterate;
        let window = request.map.as_ref().filter(is_sampled).map(|map| map.window(&problem.shape));
        let across = window.as_ref().and_then(|window| window.slice);
        let projection =
            across.filter(|_| request.map.as_ref().is_some_and(|map| map.is_projection));
        // In one pass, where the residual is the solver's own.
        let is_together = request.edge_share && !self.run.has_true_residual();
        let observed = solver.observe(FieldRequest {
            quantity,
            window: window.as_ref().filter(|_| projection.is_none()),
            edge_share: is_together.then_some(tiling),
            statistics: request.statistics.then_some(tiling),
        })?;
        let edges = if is_together { observed.edge_share } else { edge_share()? };
        let map = match projection.zip(window.as_ref()) {
            Some((slice, window)) => {
                let samples = self.projection(request.field, slice, window)?;
                Some(Picture { is_projection: true, ..Picture::of_iterate(samples) })
            }
            None => observed.samples.map(Picture::of_iterate),
        };
        Ok((diagram.or(map), edges.unwrap_or_default(), observed.statistics))
    }

    /// A field of the present iterate; for staleness that is not ready, nothing is known.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub fn samples(&self, kind: FieldKind, window: &Window) -> Result<Samples, SolverError> {
        match self.quantity(kind) {
            Some(quantity) => self.solver_of(kind).sample(quantity, window),
            None => Ok(Samples::unknown(window)),
        }
    }

    /// The same at single points (column, row).
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub fn values(&self, kind: FieldKind, points: &[[usize; 2]]) -> Result<Vec<f32>, SolverError> {
        match self.quantity(kind) {
            Some(quantity) => self.solver_of(kind).values(quantity, points),
            None => Ok(vec![f32::NAN; points.len()]),
        }
    }

    /// A field of the present iterate at every point, in double precision; its boundary has no meaning. `None` of
    /// what cannot be shown yet. The residual is b − A u, computed in double precision.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub fn whole(&self, kind: FieldKind) -> Result<Option<Field<f64>>, SolverError> {
        let solver = self.run.solver();
        let iterate = || solver.solution();
        let minus = |other: &Field<f64>| -> Result<_, SolverError> {
            let mut values = iterate()?;
            for (value, other) in values.as_mut_slice().iter_mut().zip(other.as_slice()) {
                *value -= other;
            }
            Ok(values)
        };
        let whole = match kind {
            FieldKind::Residual => {
                Some(iterate().map(|u| residual_field(&self.run.plan().problem, &u)))
            }
            FieldKind::Error => self.run.exact().map(|exact| minus(exact)),
            FieldKind::Change => Some(solver.previous().and_then(|previous| minus(&previous))),
            FieldKind::Staleness => self
                .classic_in_step()
                .map(|classic| classic.solver().solution().and_then(|classic| minus(&classic))),
            FieldKind::Solution => Some(iterate()),
        };
        whole.transpose()
    }

    /// The solver that has a field of the present iterate.
    fn solver_of(&self, kind: FieldKind) -> &dyn Solver {
        match kind {
            FieldKind::Residual => self.run.residual_solver(),
            _ => self.run.solver(),
        }
    }

    /// What a field is to a solver; `None` of staleness that is not ready.
    fn quantity(&self, kind: FieldKind) -> Option<Quantity<'_>> {
        match (kind, self.classic_in_step()) {
            (FieldKind::Staleness, None) => None,
            (_, classic) => Some(kind.quantity(classic.map(Run::solver))),
        }
    }

    /// Jacobi's iteration, if it has made as many sweeps as the run.
    fn classic_in_step(&self) -> Option<&Run> {
        self.classic.as_ref().filter(|classic| classic.cycle() == self.run.sweeps())
    }

    /// Jacobi's iteration on the same system, set up if it was not.
    ///
    /// # Errors
    /// [`SolverError`] if its arrays do not fit.
    pub(in crate::run) fn classic_run(&mut self) -> Result<&mut Run, SolverError> {
        match self.classic {
            Some(ref mut classic) => Ok(classic),
            None => Ok(self.classic.insert(self.run.classic()?)),
        }
    }
}

/// Cycles until the next one that a diagram keeps: none of these is passed over. On the way back it
/// has them all.
fn until_next(diagram: &SpaceTime, run: &Run) -> u64 {
    if run.is_going_back() { u64::MAX } else { diagram.until_next(run.cycle()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{GridPoint, Precision, Slice};
    use crate::problem;
    use crate::run::observe::{CutLine, ProfileRequest, SlicesRequest};
    use crate::run::plan::Planner;
    use crate::run::spec::RunSpec;

    /// Each of the three slices is the map of its slice.
    #[test]
    fn three_slices_are_the_maps_of_each() {
        let mut spec = RunSpec::default();
        spec.problem.shape = vec![20, 18, 13];
        (spec.method.tile, spec.method.k) = (vec![6], 3.into());
        let plan = Arc::new(Planner::default().plan(&spec).unwrap());
        let mut experiment = Experiment::new(&plan).unwrap();
        experiment.advance(2).unwrap();
        for (through, most) in [([3, 17, 5], 64), ([19, 0, 12], 7)] {
            let slices = Some(SlicesRequest { through, most });
            let request = ObservationRequest { slices, ..ObservationRequest::default() };
            let slices = experiment.observe(&request).unwrap().slices.unwrap();
            for (axis, samples) in [2, 1, 0].into_iter().zip(&*slices) {
                let slice = Some(Slice { axis, index: through[axis] });
                let map = MapRequest { slice, ..MapRequest::whole([most; 2]) };
                let request =
                    ObservationRequest { map: Some(map), ..ObservationRequest::default() };
                let map = experiment.observe(&request).unwrap().picture.unwrap();
                assert_eq!(map.samples, *samples);
                assert!(samples.values.iter().any(|value| *value != 0.0));
            }
        }
    }

    #[test]
    fn lines_and_points_of_a_volume_have_the_values_of_the_field() {
        let mut spec = RunSpec::default();
        spec.problem.shape = vec![20, 18, 13];
        (spec.method.tile, spec.method.k) = (vec![6], 3.into());
        let plan = Arc::new(Planner::default().plan(&spec).unwrap());
        let shape = plan.problem.shape;
        let mut experiment = Experiment::new(&plan).unwrap();
        experiment.advance(2).unwrap();
        let field = FieldKind::Solution;
        let whole = experiment.whole(field).unwrap().unwrap();
        let value = |point: GridPoint| {
            let [i, row] = point.place(&shape).unwrap();
            whole.at(i, row) as f32
        };
        let [inner, outside] = [[19, 0, 12], [20, 0, 0]].map(GridPoint::Volume);
        let probes = vec![inner, outside, GridPoint::Flat([1, 1])];
        for slice in Slice::through([4, 5, 6]).map(Some) {
            let shown = shape.shown(slice);
            for line in [CutLine::Row(3), CutLine::Column(99), CutLine::diagonal(&shown)] {
                let (fields, most) = (vec![field], usize::MAX);
                let request = ObservationRequest {
                    field,
                    profile: Some(ProfileRequest { line, slice, fields, most }),
                    probes: probes.clone(),
                    ..ObservationRequest::default()
                };
                let seen = experiment.observe(&request).unwrap();
                let points = line.points(&shown).map(|at| value(GridPoint::shown(at, slice)));
                assert_eq!(seen.profiles[0].samples.values, points.collect::<Vec<_>>());
                assert_eq!(seen.profiles[0].slice, slice);
                assert_eq!(seen.probes, [(inner, value(inner))]);
            }
        }
    }

    /// A map has samples in single precision of the same values.
    #[test]
    fn the_whole_of_a_field_is_what_maps_show_of_it_with_all_digits() {
        for precision in [Precision::F32, Precision::F64] {
            let mut spec = RunSpec::default();
            spec.problem.shape = vec![24, 18];
            (spec.method.tile, spec.method.k) = (vec![8], 4.into());
            spec.method.precision = precision;
            let plan = Arc::new(Planner::default().plan(&spec).unwrap());
            let mut experiment = Experiment::new(&plan).unwrap();
            assert!(experiment.whole(FieldKind::Error).unwrap().is_none());
            let exact = problem::exact(&plan.problem, &StopToken::default()).unwrap();
            experiment.set_exact(&Arc::new(exact)).unwrap();
            while experiment.run().cycle() < 5 {
                experiment.advance(1).unwrap();
            }
            assert!(experiment.whole(FieldKind::Staleness).unwrap().is_none());
            for kind in FieldKind::ALL {
                while !experiment.is_ready(kind) {
                    experiment.prepare(kind).unwrap();
                }
                let whole = experiment.whole(kind).unwrap().unwrap().to_interior();
                let samples = experiment.samples(kind, &Window::whole(24, 18)).unwrap().values;
                let most =
                    samples.iter().fold(0.0, |most: f64, value| most.max(value.abs().into()));
                assert!(most > 0.0, "{kind:?}");
                // Of f32 runs the solver's own residual is in single precision.
                let tolerance = if precision == Precision::F32 { 1e-3 } else { 1e-7 };
                for (value, sample) in whole.iter().zip(&samples) {
                    let differs = (value - f64::from(*sample)).abs();
                    assert!(differs <= tolerance * most, "{precision:?} {kind:?} {value} {sample}");
                }
                if precision == Precision::F64 {
                    assert!(whole.iter().any(|value| f64::from(*value as f32) != *value));
                }
            }
        }
    }
}
