//! What one GPU has of a pass, and a pass over all of them: each makes slabs of its own, at the same time as the others.
//! They read the old iterate and write the new one on this machine, and know nothing of each other. Of a wavefront each makes
//! some of the sweeps, and hands planes on to the next (`chain`).

use super::chain::Chain;
use super::followed::Followed;
use super::lanes::{Lanes, Slow, Window, Work};
use super::ring::Ring;
use super::sweep::PlaneSweep;
use crate::grid::Shape;
use crate::problem::System;
use crate::solver::cuda::device::{Device, single};
use crate::solver::cuda::gpu::Gpu;
use crate::solver::cuda::real::DeviceReal;
use crate::solver::cuda::several;
use crate::solver::streaming::Planes;
use crate::solver::streaming::Scheme;
use crate::solver::{Footprint, Kernel, Method, Pass, PassTimes, SolverError, Step, Traffic};
use std::ops::Range;
use std::sync::Arc;

/// What a device makes of a pass, and on which GPU.
pub(super) struct Part {
    pub gpu: Arc<Gpu>,
    pub pass: Pass,
    /// The kernel that sweeps: `classic`, until another one is chosen.
    pub kernel: Kernel,
    /// The systems of a batch that it makes.
    lines: Range<usize>,
}

impl Part {
    /// The parts of all devices of a method that streams.
    ///
    /// # Errors
    /// [`SolverError`] if it does not, or a GPU cannot be used.
    pub fn all(method: &Method, shape: &Shape, on: &[Device]) -> Result<Vec<Self>, SolverError> {
        let streaming = method.streaming();
        let streaming = streaming.ok_or(SolverError::Operator("a method that does not stream"))?;
        let (pass, lines) = (Pass::on_gpu(streaming, shape), Planes::of(shape).lines);
        let kernel = Kernel::CLASSIC;
        let Some(devices) = method.devices() else {
            return Ok(vec![Self { gpu: single(on)?.open()?, pass, kernel, lines: 0..lines }]);
        };
        let gpus = several::open(on, devices.count())?;
        let parts = gpus.into_iter().zip(devices.shares().of_devices()).map(|(gpu, share)| {
            let owned = share.owned.clone();
            if lines > 1 {
                return Self { gpu, pass, kernel, lines: owned };
            }
            let pass = match streaming.scheme() {
                Scheme::Pyramid => pass.of_planes(owned),
                Scheme::Wavefront { .. } => pass.of_sweeps(owned),
            };
            Self { gpu, pass, kernel, lines: 0..1 }
        });
        Ok(parts.collect())
    }

    /// Whether its planes come from a device that has swept them before.
    pub fn follows(&self) -> bool {
        self.pass.follows()
    }
}

/// One GPU of a pass, or one of several devices on it.
pub(super) struct StreamDevice<R: DeviceReal> {
    part: Part,
    lanes: Lanes,
    windows: Vec<Window>,
    sweep: PlaneSweep<R>,
}

impl<R: DeviceReal> StreamDevice<R> {
    /// Prepares what it needs beside its working arrays.
    ///
    /// # Errors
    /// [`SolverError`] if its kernels cannot be prepared, or the GPU fails.
    pub fn new(
        part: Part,
        windows: Vec<Window>,
        system: &System<R>,
        shape: Shape,
    ) -> Result<Self, SolverError> {
        let most = part.pass.most_swept();
        let sweep = PlaneSweep::new(&part.gpu, system, shape, (part.kernel, most))?;
        Ok(Self { lanes: Lanes::new(&part.gpu)?, part, windows, sweep })
    }

    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.part.gpu
    }

    pub fn kernel(&self) -> Kernel {
        self.part.kernel
    }

    pub fn footprint(&self) -> Footprint {
        self.sweep.footprint()
    }

    pub fn lanes(&self) -> &Lanes {
        &self.lanes
    }

    /// A step of its pass.
    pub fn step(&self, number: usize) -> Step {
        self.part.pass.step(number)
    }

    /// Where the planes of a step come to.
    pub fn input(&self, step: &Step) -> &Ring {
        self.windows[step.window].input()
    }

    /// Where the planes of a step are once all sweeps are made.
    pub fn output(&self, step: &Step) -> &Ring {
        self.windows[step.window].output(self.part.pass.height())
    }

    /// Slabs or chunks of its pass.
    pub fn steps(&self) -> usize {
        self.part.pass.steps()
    }

    /// The most planes that are swept in a launch.
    pub fn most_swept(&self) -> usize {
        self.part.pass.most_swept()
    }

    /// Fills its working arrays with NaN.
    pub fn poison(&self) -> Result<(), SolverError> {
        let stream = self.lanes.stream();
        let poisoned = self.windows.iter().try_for_each(|window| window.poison(stream));
        self.gpu().check(poisoned.and_then(|()| stream.synchronize()))
    }

    /// When the first steps of the last pass were made; it must have ended.
    pub fn times(&self, points: usize) -> Result<PassTimes, SolverError> {
        self.gpu().check(self.lanes.times(&self.part.pass, &self.sweep, points))
    }

    fn work<'a>(&'a self, axis: Planes, followed: Option<&'a Followed>) -> Work<'a, R> {
        Work {
            pass: &self.part.pass,
            windows: &self.windows,
            sweep: &self.sweep,
            axis,
            traffic: Traffic::default(),
            is_timed: false,
            followed,
        }
    }

    /// Makes another pass, with this kernel, on the same arrays of this machine.
    pub fn set_pass(
        &mut self,
        (pass, kernel): (Pass, Kernel),
        windows: Vec<Window>,
        system: &System<R>,
        shape: Shape,
    ) -> Result<(), SolverError> {
        self.sweep = PlaneSweep::new(&self.part.gpu, system, shape, (kernel, pass.most_swept()))?;
        (self.part.pass, self.part.kernel, self.windows) = (pass, kernel, windows);
        Ok(())
    }

    /// Gives its working arrays back: those of another pass may not fit beside them.
    pub fn clear(&mut self) {
        self.windows.clear();
    }
}

/// Makes a pass on all devices at the same time; returns what was moved and computed, and the seconds of the GPU that took
/// the longest. Those of a single device may be `followed`.
///
/// # Errors
/// [`SolverError`] if a GPU fails; the next iterate is undefined then. Either way no copy is under way any more.
pub(super) fn pass<R: DeviceReal>(
    devices: &[StreamDevice<R>],
    chain: Option<&Chain>,
    shape: &Shape,
    slow: Slow<'_, R>,
    followed: Option<&Followed>,
) -> Result<(Traffic, f64), SolverError> {
    let axis = Planes::of(shape);
    let mut works: Vec<_> = devices.iter().map(|device| device.work(axis, followed)).collect();
    let mut enqueued = enqueue(devices, chain, &mut works, shape, slow);
    if let Some(chain) = chain {
        let watched = devices[0].gpu().check(chain.watch(devices));
        enqueued = enqueued.and(watched);
        if let Some(failure) = chain.failure() {
            enqueued = Err(failure.into());
        }
    }
    // For all of them, whatever failed.
    let waited: Vec<_> =
        devices.iter().map(|device| device.gpu().check(device.lanes.wait())).collect();
    waited.into_iter().fold(enqueued, Result::and)?;
    let (mut traffic, mut seconds) = (Traffic::default(), 0.0_f64);
    for (device, Work { traffic: own, .. }) in devices.iter().zip(works) {
        traffic.up += own.up;
        traffic.down += own.down;
        traffic.updates += own.updates;
        seconds = seconds.max(device.gpu().check(device.lanes.seconds())?);
    }
    Ok((traffic, seconds))
}

/// Enqueues a pass step by step, on one device after the other: where a queue is full, the others have steps to make.
fn enqueue<R: DeviceReal>(
    devices: &[StreamDevice<R>],
    chain: Option<&Chain>,
    works: &mut [Work<'_, R>],
    shape: &Shape,
    Slow { from, g, to }: Slow<'_, R>,
) -> Result<(), SolverError> {
    let axis = Planes::of(shape);
    let check = |device: &StreamDevice<R>, made| device.gpu().check(made);
    devices.iter().try_for_each(|device| check(device, device.lanes.begin()))?;
    for line in 0..axis.lines {
        // From the boundary plane before the first one on.
        let start = if shape.dim() == 1 { shape.row_start(line) } else { 0 };
        let stored = start..start + (axis.count + 2) * axis.stored;
        let (from, g) = (&from[stored.clone()], &g[stored.clone()]);
        let mut slow = Slow { from, g, to: &mut to[stored] };
        let here = |device: &StreamDevice<R>| device.part.lines.contains(&line);
        for (device, work) in devices.iter().zip(&mut *works).filter(|(device, _)| here(device)) {
            // Of a batch, the first system.
            work.is_timed = line == device.part.lines.start;
            check(device, device.lanes.begin_system())?;
        }
        let steps = |device: &StreamDevice<R>| {
            if here(device) { device.part.pass.steps() } else { 0 }
        };
        for number in 0..devices.iter().map(steps).max().unwrap_or(0) {
            let due = |index: &usize| number < steps(&devices[*index]);
            for index in (0..devices.len()).filter(due) {
                let (device, lanes) = (&devices[index], &devices[index].lanes);
                check(device, lanes.copy_up(&mut works[index], &slow, number))?;
                if let Some(chain) = chain.filter(|_| index > 0) {
                    let pair = [&devices[index - 1], device];
                    let its = [&works[index - 1], &works[index]];
                    check(device, chain.hand_on(pair, its, (index, number)))?;
                }
                check(device, lanes.sweep(&mut works[index], number))?;
            }
            // What is handed on has left by then.
            for index in (0..devices.len()).filter(due) {
                let handed_on = chain.is_some() && index + 1 < devices.len();
                let (device, work) = (&devices[index], &mut works[index]);
                check(device, device.lanes.copy_down(work, &mut slow, number, handed_on))?;
            }
        }
    }
    devices.iter().try_for_each(|device| check(device, device.lanes.end()))
}
