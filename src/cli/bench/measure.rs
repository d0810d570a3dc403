//! What is measured of one setting.

use super::super::progress::Progress;
use super::frames::Frames;
use crate::grid::{Field, Precision, Shape, Tiling};
use crate::problem::Problem;
use crate::run::{Backend, MethodName, Outcome, Plan, Run};
use crate::solver::{self, CyclesWithoutNorms, Footprint, Kernel, Method, Solver, SolverError};
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Nothing counts before this much was made: a GPU raises its clock, and learns how many cycles
/// make a batch.
const WARM_UP: Duration = Duration::from_millis(200);
const WARM_BATCHES: usize = 3;

/// Seconds of cycles that make a sample.
const SAMPLE: f64 = 0.05;

/// Transfers of a kind that a median is taken of.
const TRANSFERS: usize = 3;

/// What was measured of one setting.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    /// What the row is called: a kernel, or on the CPU a method.
    pub name: &'static str,
    pub backend: &'static str,
    pub tile: Vec<usize>,
    pub k: usize,
    pub overlap: Vec<usize>,
    #[serde(skip)]
    pub method: Method,
    /// Microseconds of a cycle of which nothing is found out, and of one that tells ‖r‖₂ (on the CPU all its
    /// norms).
    pub cycle_us: Timing,
    pub with_norms_us: Timing,
    /// Point updates that are kept, a second.
    pub points_per_second: f64,
    /// Bytes that a cycle moves at the least: the iterate and the right-hand side in, the next out.
    pub least_bytes: f64,
    /// Computed updates for each that is kept.
    pub work: f64,
    /// Seconds to set the solver up, its arrays filled.
    pub set_up_seconds: f64,
    /// Seconds to take an iterate to the GPU, and from it; `None` on the CPU.
    pub transfers: Option<Transfers>,
    /// Cycles to the tolerance, where they were asked for, and where it can be reached.
    pub cycles: Option<u64>,
    pub frames: Option<Frames>,
    pub footprint: Option<Footprint>,
}

/// Seconds of copying one array of the grid, with the change of its precision.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Transfers {
    pub there: f64,
    pub back: f64,
}

impl Transfers {
    /// The right-hand side and the start go there, the solution comes back.
    pub fn of_a_run(self) -> f64 {
        2.0 * self.there + self.back
    }
}

/// Some samples of one time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Timing {
    pub median: f64,
    pub least: f64,
    pub largest: f64,
}

impl Timing {
    fn of(mut samples: Vec<f64>) -> Self {
        samples.sort_by(f64::total_cmp);
        let at = |index: usize| samples.get(index).copied().unwrap_or(f64::NAN);
        Self {
            median: at(samples.len() / 2),
            least: at(0),
            largest: at(samples.len().saturating_sub(1)),
        }
    }

    /// Half of what lies between the least and the largest, as a part of the median.
    pub fn spread(&self) -> f64 {
        (self.largest - self.least) / (2.0 * self.median)
    }

    /// The time of so many.
    pub fn times(&self, factor: f64) -> Self {
        let Self { median, least, largest } = *self;
        Self { median: median * factor, least: least * factor, largest: largest * factor }
    }

    /// Whether the samples of the two lie over each other, so that neither is known to be faster.
    pub fn is_equal(&self, other: &Self) -> bool {
        self.least <= other.largest && other.least <= self.largest
    }
}

impl Row {
    /// Microseconds of a sweep.
    pub fn sweep_us(&self) -> Timing {
        self.cycle_us.times(1.0 / self.k as f64)
    }

    /// Point updates that are computed, a second, whether they are kept or not.
    pub fn raw_points_per_second(&self) -> f64 {
        self.points_per_second * self.work
    }

    /// Seconds to the tolerance.
    pub fn to_tolerance(&self) -> Option<Timing> {
        Some(self.cycle_us.times(self.cycles? as f64 * 1e-6))
    }

    /// The part of what the GPU's arithmetic allows.
    pub fn of_limit(&self) -> Option<f64> {
        Some(self.points_per_second / self.footprint?.points_per_second)
    }
}

/// What a setting is called.
pub(super) fn name(plan: &Plan) -> &'static str {
    let method = &plan.spec.method;
    match (method.name, method.backend) {
        (MethodName::Classic, _) => Kernel::Classic.name(),
        (MethodName::Hierarchical, Backend::Cpu) => "tiled",
        (MethodName::Hierarchical, Backend::Cuda) => method.kernel.name(),
    }
}

/// Seconds until a first, tiny solver was there: what a program spends on a GPU once. `None` on
/// the CPU.
///
/// # Errors
/// [`SolverError`] if the GPU cannot be had.
pub(super) fn open(plan: &Plan) -> Result<Option<f64>, SolverError> {
    if plan.spec.method.backend == Backend::Cpu {
        return Ok(None);
    }
    let Ok(shape) = Shape::line(1, 1) else {
        return Ok(None);
    };
    let problem = Problem {
        shape,
        stencil: crate::problem::Stencil::poisson(&shape),
        rhs: crate::problem::Source::Constant(1.0),
        start: crate::problem::Source::Constant(0.0),
        boundary: crate::problem::Boundary::default(),
    };
    let begin = Instant::now();
    let place = plan.place.automatic();
    solver::set_up(&Arc::new(problem), Method::Classic, Precision::F64, place)?;
    Ok(Some(begin.elapsed().as_secs_f64()))
}

/// Times one setting.
///
/// # Errors
/// [`SolverError`] if its arrays do not fit, its kernel cannot take it, or the GPU fails.
pub(super) fn row(plan: &Plan, repeats: u32) -> Result<Row, SolverError> {
    let begin = Instant::now();
    let mut solver =
        solver::set_up(&plan.problem, plan.method.clone(), plan.precision, plan.place)?;
    let set_up_seconds = begin.elapsed().as_secs_f64();
    let transfers = match solver.device() {
        Some(_) => Some(transfers(&mut *solver, &plan.problem.start_field())?),
        None => None,
    };
    let cycle_us = time(repeats, || solver.cycles_without_norms(u64::MAX))?;
    let with_norms_us = time(repeats, || {
        let batch = solver.cycles(u64::MAX)?;
        Ok(CyclesWithoutNorms { cycles: batch.norms.len() as u64, seconds: batch.seconds })
    })?;
    let shape = plan.problem.shape;
    let points = shape.nx() * shape.rows();
    let k = plan.method.sweeps_per_cycle();
    let axes = |of: fn(&crate::grid::AxisTiling) -> usize, tiling: &Tiling| {
        tiling.axes().iter().map(of).collect::<Vec<_>>()
    };
    let (tile, overlap, work) = match &plan.method {
        Method::Classic => (Vec::new(), Vec::new(), 1.0),
        Method::Hierarchical { tiling, .. } => (
            axes(crate::grid::AxisTiling::tile, tiling),
            axes(crate::grid::AxisTiling::overlap, tiling),
            tiling.redundancy(),
        ),
    };
    Ok(Row {
        name: solver.kernel().map_or(name(plan), Kernel::name),
        backend: plan.spec.method.backend.name(),
        tile,
        k,
        overlap,
        method: plan.method.clone(),
        points_per_second: (points * k) as f64 / (cycle_us.median * 1e-6),
        cycle_us,
        with_norms_us,
        least_bytes: (3 * points * plan.precision.bytes()) as f64,
        work,
        set_up_seconds,
        transfers,
        cycles: None,
        frames: None,
        footprint: solver.footprint(),
    })
}

/// Microseconds of a cycle, by the solver's own clock.
fn time(
    repeats: u32,
    mut batch: impl FnMut() -> Result<CyclesWithoutNorms, SolverError>,
) -> Result<Timing, SolverError> {
    warm_up(&mut batch)?;
    let mut samples = Vec::new();
    for _ in 0..repeats {
        let (mut cycles, mut seconds) = (0, 0.0);
        while cycles == 0 || seconds < SAMPLE {
            let made = batch()?;
            cycles += made.cycles;
            seconds += made.seconds;
        }
        samples.push(seconds / cycles as f64 * 1e6);
    }
    Ok(Timing::of(samples))
}

/// Makes batches that do not count.
pub(super) fn warm_up(
    mut batch: impl FnMut() -> Result<CyclesWithoutNorms, SolverError>,
) -> Result<(), SolverError> {
    let begin = Instant::now();
    let mut batches = 0;
    while batches < WARM_BATCHES || begin.elapsed() < WARM_UP {
        batch()?;
        batches += 1;
    }
    Ok(())
}

fn transfers(solver: &mut dyn Solver, start: &Field<f64>) -> Result<Transfers, SolverError> {
    let (mut there, mut back) = (Vec::new(), Vec::new());
    for _ in 0..TRANSFERS {
        let begin = Instant::now();
        solver.start_from(start)?;
        there.push(begin.elapsed().as_secs_f64());
        let begin = Instant::now();
        solver.solution()?;
        back.push(begin.elapsed().as_secs_f64());
    }
    Ok(Transfers { there: Timing::of(there).median, back: Timing::of(back).median })
}

/// Cycles until the tolerance is met; `None` if it never is.
///
/// # Errors
/// [`SolverError`] as [`row`].
pub(super) fn cycles_to_tolerance(
    plan: &Arc<Plan>,
    progress: &mut Progress,
) -> Result<Option<u64>, SolverError> {
    let run = to_the_end(plan, progress)?;
    Ok((run.outcome() == Some(&Outcome::Converged)).then(|| run.history().latest().cycle))
}

/// Makes a run until it stops.
///
/// # Errors
/// [`SolverError`] as [`row`].
pub(super) fn to_the_end(plan: &Arc<Plan>, progress: &mut Progress) -> Result<Run, SolverError> {
    let mut run = Run::new(plan)?;
    run.find_all_norms(false);
    while run.outcome().is_none() {
        run.advance(u64::MAX)?;
        progress.show_run(&run);
    }
    Ok(run)
}

/// A run as a whole, over and over.
pub(super) struct Whole {
    /// What ran it: a kernel, or on the CPU a method.
    pub kernel: &'static str,
    /// Seconds of the run, or of one of its cycles where the number of cycles was left out.
    pub solver: Timing,
    pub transfers: Option<Transfers>,
}

/// Times so many cycles from the start; where `cycles` is left out, a cycle among some. `show` is
/// told how much of it is done.
///
/// # Errors
/// [`SolverError`] as [`row`].
pub(super) fn whole(
    plan: &Plan,
    cycles: Option<u64>,
    norms: bool,
    repeats: u32,
    mut show: impl FnMut(f64),
) -> Result<Whole, SolverError> {
    let mut solver =
        solver::set_up(&plan.problem, plan.method.clone(), plan.precision, plan.place)?;
    let transfers = match solver.device() {
        Some(_) => Some(transfers(&mut *solver, &plan.problem.start_field())?),
        None => None,
    };
    let batch = |solver: &mut dyn Solver, most| {
        if !norms {
            return solver.cycles_without_norms(most);
        }
        let batch = solver.cycles(most)?;
        Ok(CyclesWithoutNorms { cycles: batch.norms.len() as u64, seconds: batch.seconds })
    };
    let kernel = solver.kernel().map_or(name(plan), Kernel::name);
    let Some(cycles) = cycles else {
        let cycle_us = time(repeats, || batch(&mut *solver, u64::MAX))?;
        return Ok(Whole { kernel, solver: cycle_us.times(1e-6), transfers });
    };
    warm_up(|| batch(&mut *solver, u64::MAX))?;
    let mut samples = Vec::new();
    for repeat in 0..repeats {
        solver.restart()?;
        let (mut made, mut seconds) = (0, 0.0);
        while made < cycles {
            let some = batch(&mut *solver, cycles - made)?;
            made += some.cycles;
            seconds += some.seconds;
            let part = made as f64 / cycles.max(1) as f64;
            show((f64::from(repeat) + part) / f64::from(repeats));
        }
        samples.push(seconds);
    }
    Ok(Whole { kernel, solver: Timing::of(samples), transfers })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_equal_where_their_samples_lie_over_each_other() {
        let one = Timing::of(vec![3.0, 1.0, 2.0]);
        assert_eq!(one, Timing { median: 2.0, least: 1.0, largest: 3.0 });
        assert_eq!((one.spread(), one.times(2.0).median), (0.5, 4.0));
        let near = Timing::of(vec![3.0, 4.0, 5.0]);
        let far = Timing::of(vec![3.5, 4.0, 5.0]);
        assert!(one.is_equal(&near) && near.is_equal(&one));
        assert!(!one.is_equal(&far) && !far.is_equal(&one));
    }
}
