//! Measurements of one setting.

use super::super::progress::Progress;
use super::frames::Frames;
use crate::clock::Instant;
use crate::grid::{Field, Precision, Shape, Tiling};
use crate::problem::Problem;
use crate::run::{Backend, MethodName, Outcome, Plan, Run};
use crate::solver::Subiterations;
use crate::solver::{self, Batch, Footprint, Kernel, Method, NormRequest, Solver, SolverError};
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// Warm-up before the first sample: a GPU raises its clock, and its solver finds the size of a
/// batch.
const WARM_UP: Duration = Duration::from_millis(200);
const WARM_BATCHES: usize = 3;

/// Seconds of cycles per sample.
const SAMPLE: f64 = 0.05;

/// Samples per median of a transfer.
const TRANSFERS: usize = 3;

/// The measurements of one setting.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    /// Name of the kernel, or of the method on the CPU.
    pub name: &'static str,
    pub backend: &'static str,
    pub tile: Vec<usize>,
    pub k: Subiterations,
    pub overlap: Vec<usize>,
    #[serde(skip)]
    pub method: Method,
    /// Microseconds per cycle without norms.
    pub cycle_us: Timing,
    /// Microseconds per cycle with ‖r‖₂ (on the CPU with all norms).
    pub with_norms_us: Timing,
    /// Updates of owned points per second.
    pub owned_updates_per_second: f64,
    /// Least memory traffic of a cycle in bytes: iterate and right-hand side read, next iterate
    /// written.
    pub least_bytes: f64,
    /// Redundant work: computed point updates over owned ones.
    pub redundancy: Option<f64>,
    /// Seconds to set up the solver, including its arrays.
    pub set_up_seconds: f64,
    /// Times of the transfers to and from the GPU; `None` on the CPU.
    pub transfers: Option<Transfers>,
    /// Cycles to the tolerance, if they were counted and it was reached.
    pub cycles: Option<u64>,
    pub frames: Option<Frames>,
    pub footprint: Option<Footprint>,
}

/// Seconds to copy one field of the grid, including the conversion of its precision.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Transfers {
    pub to_gpu: f64,
    pub from_gpu: f64,
}

impl Transfers {
    /// Right-hand side and initial guess to the GPU, solution from it.
    pub fn of_a_run(self) -> f64 {
        2.0 * self.to_gpu + self.from_gpu
    }
}

/// Median and range of the samples of one time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Timing {
    pub median: f64,
    pub least: f64,
    pub largest: f64,
}

impl Timing {
    /// That of some samples.
    pub fn of(mut samples: Vec<f64>) -> Self {
        samples.sort_by(f64::total_cmp);
        let at = |index: usize| samples.get(index).copied().unwrap_or(f64::NAN);
        Self {
            median: at(samples.len() / 2),
            least: at(0),
            largest: at(samples.len().saturating_sub(1)),
        }
    }

    /// Half the range of the samples, relative to the median.
    pub fn spread(&self) -> f64 {
        (self.largest - self.least) / (2.0 * self.median)
    }

    /// All of it multiplied by a factor.
    pub fn times(&self, factor: f64) -> Self {
        let Self { median, least, largest } = *self;
        Self { median: median * factor, least: least * factor, largest: largest * factor }
    }

    /// Whether the ranges of the samples overlap, so that neither is known to be faster.
    pub fn is_equal(&self, other: &Self) -> bool {
        self.least <= other.largest && other.least <= self.largest
    }
}

impl Row {
    /// Microseconds per sweep.
    pub fn sweep_us(&self) -> Timing {
        self.cycle_us.times(1.0 / self.k.counted_sweeps() as f64)
    }

    /// Computed point updates per second, owned or not.
    pub fn computed_updates_per_second(&self) -> Option<f64> {
        Some(self.owned_updates_per_second * self.redundancy?)
    }

    /// Seconds to the tolerance, if its cycles were counted.
    pub fn to_tolerance(&self) -> Option<Timing> {
        Some(self.cycle_us.times(self.cycles? as f64 * 1e-6))
    }

    /// Owned point updates per second, in the sine basis products, as a fraction of the GPU's peak; `None` on the CPU.
    pub fn of_peak(&self) -> Option<f64> {
        let footprint = self.footprint?;
        Some(match footprint.products {
            Some(products) => products.of_peak(1e6 / self.cycle_us.median),
            None => self.owned_updates_per_second / footprint.points_per_second,
        })
    }
}

/// The name of a setting's kernel, or of its method on the CPU.
pub(super) fn name(plan: &Plan) -> &'static str {
    let method = &plan.spec.method;
    match (method.name, plan.backend()) {
        (MethodName::Classic, _) if method.kernel != Kernel::AUTO => method.kernel.name(),
        (MethodName::Classic, _) => Kernel::CLASSIC.name(),
        _ if plan.problem.operator.matrix().is_some() => method.kernel.name(),
        (MethodName::Hierarchical, _) if plan.method.is_spectral() => Kernel::SPECTRAL.name(),
        (MethodName::Hierarchical, Backend::Auto | Backend::Cpu) => "tiled",
        (MethodName::Hierarchical, Backend::Cuda) => method.kernel.name(),
        (MethodName::Pyramid | MethodName::Wavefront, _) => method.name.name(),
    }
}

/// Seconds to set up a first, tiny solver: the time that a program spends on opening a GPU. `None`
/// on the CPU.
///
/// # Errors
/// [`SolverError`] if the GPU cannot be opened.
pub(super) fn open(plan: &Plan) -> Result<Option<f64>, SolverError> {
    if plan.backend() == Backend::Cpu {
        return Ok(None);
    }
    let Ok(shape) = Shape::grid_1d(1, 1) else {
        return Ok(None);
    };
    let problem = Problem {
        shape,
        operator: crate::problem::Stencil::poisson(&shape).into(),
        rhs: crate::problem::Source::Constant(1.0),
        initial_guess: crate::problem::Source::Constant(0.0),
        boundary: crate::problem::Boundary::default(),
    };
    let begin = Instant::now();
    let place = plan.place.of_one_device();
    solver::set_up(&Arc::new(problem), Method::Classic, Precision::F64, &place)?;
    Ok(Some(begin.elapsed().as_secs_f64()))
}

/// Times one setting.
///
/// # Errors
/// [`SolverError`] if its arrays do not fit, its kernel does not accept it, or the GPU fails.
pub(super) fn row(plan: &Plan, repeats: u32) -> Result<Row, SolverError> {
    let begin = Instant::now();
    let mut solver =
        solver::set_up(&plan.problem, plan.method.clone(), plan.precision, &plan.place)?;
    let set_up_seconds = begin.elapsed().as_secs_f64();
    let transfers = match solver.device() {
        Some(_) => Some(transfers(&mut *solver, &plan.problem.initial_iterate())?),
        None => None,
    };
    let cycle_us = time(repeats, || solver.cycles(u64::MAX, NormRequest::NONE))?;
    let with_norms_us = time(repeats, || solver.cycles(u64::MAX, NormRequest::RESIDUAL_L2))?;
    let shape = plan.problem.shape;
    let points = shape.nx() * shape.rows();
    let k = plan.method.k();
    let axes = |of: fn(&crate::grid::AxisTiling) -> usize, tiling: &Tiling| {
        tiling.axes().iter().map(of).collect::<Vec<_>>()
    };
    let (tile, overlap, redundancy) = match plan.method.tiling() {
        // Its redundant work depends on the machine, and is not counted.
        None if plan.spec.method.kernel == Kernel::FUSED => (Vec::new(), Vec::new(), None),
        None => (Vec::new(), Vec::new(), Some(1.0)),
        Some(tiling) => (
            axes(crate::grid::AxisTiling::tile, tiling),
            axes(crate::grid::AxisTiling::overlap, tiling),
            Some(tiling.redundancy()),
        ),
    };
    Ok(Row {
        name: solver.device().map_or(name(plan), |device| device.kernel.name()),
        backend: plan.backend().name(),
        tile,
        k,
        overlap,
        method: plan.method.clone(),
        owned_updates_per_second: (points as u64 * k.counted_sweeps()) as f64
            / (cycle_us.median * 1e-6),
        cycle_us,
        with_norms_us,
        least_bytes: (3 * points * plan.precision.bytes()) as f64,
        redundancy,
        set_up_seconds,
        transfers,
        cycles: None,
        frames: None,
        footprint: solver.device().map(|device| device.footprint),
    })
}

/// Microseconds per cycle, by the solver's own clock.
///
/// # Errors
/// Those of `batch`.
pub(super) fn time(
    repeats: u32,
    mut batch: impl FnMut() -> Result<Batch, SolverError>,
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

/// Makes batches that are not measured.
pub(super) fn warm_up(
    mut batch: impl FnMut() -> Result<Batch, SolverError>,
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
    let (mut to_gpu, mut from_gpu) = (Vec::new(), Vec::new());
    for _ in 0..TRANSFERS {
        let begin = Instant::now();
        solver.start_from(start)?;
        to_gpu.push(begin.elapsed().as_secs_f64());
        let begin = Instant::now();
        solver.solution()?;
        from_gpu.push(begin.elapsed().as_secs_f64());
    }
    Ok(Transfers { to_gpu: Timing::of(to_gpu).median, from_gpu: Timing::of(from_gpu).median })
}

/// Cycles to the tolerance; `None` if the run stops before it.
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

/// The times of whole runs.
pub(super) struct Whole {
    /// Name of the kernel, or of the method on the CPU.
    pub kernel: &'static str,
    /// Seconds of the run, or of one cycle if the number of cycles was `None`.
    pub solver: Timing,
    pub transfers: Option<Transfers>,
}

/// Times `cycles` cycles from the initial guess; with `None`, the average cycle of a few. `on_progress`
/// gets the completed fraction.
///
/// # Errors
/// [`SolverError`] as [`row`].
pub(super) fn whole(
    plan: &Plan,
    cycles: Option<u64>,
    norms: bool,
    repeats: u32,
    mut on_progress: impl FnMut(f64),
) -> Result<Whole, SolverError> {
    let mut solver =
        solver::set_up(&plan.problem, plan.method.clone(), plan.precision, &plan.place)?;
    let transfers = match solver.device() {
        Some(_) => Some(transfers(&mut *solver, &plan.problem.initial_iterate())?),
        None => None,
    };
    let request = if norms { NormRequest::RESIDUAL_L2 } else { NormRequest::NONE };
    let batch = |solver: &mut dyn Solver, most| solver.cycles(most, request);
    let kernel = solver.device().map_or(name(plan), |device| device.kernel.name());
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
            let batch = batch(&mut *solver, cycles - made)?;
            made += batch.cycles;
            seconds += batch.seconds;
            let fraction = made as f64 / cycles.max(1) as f64;
            on_progress((f64::from(repeat) + fraction) / f64::from(repeats));
        }
        samples.push(seconds);
    }
    Ok(Whole { kernel, solver: Timing::of(samples), transfers })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_equal_where_their_ranges_overlap() {
        let one = Timing::of(vec![3.0, 1.0, 2.0]);
        assert_eq!(one, Timing { median: 2.0, least: 1.0, largest: 3.0 });
        assert_eq!((one.spread(), one.times(2.0).median), (0.5, 4.0));
        let near = Timing::of(vec![3.0, 4.0, 5.0]);
        let far = Timing::of(vec![3.5, 4.0, 5.0]);
        assert!(one.is_equal(&near) && near.is_equal(&one));
        assert!(!one.is_equal(&far) && !far.is_equal(&one));
    }
}
