//! Jacobi's iteration with planes that visit working arrays of a given budget: `slabs` are the paper's
//! pyramids, `window` is the wavefront. `planes` moves and updates planes of working arrays, and `clock` says when.

mod clock;
mod planes;
mod slabs;
mod window;

use super::level::Level;
use super::team::Team;
use crate::grid::{Real, Shape, Share};
use crate::problem::System;
use crate::solver::Devices;
use crate::solver::pass_progress::PassProgress;
use crate::solver::pass_times::PassTimes;
use crate::solver::streaming::{Planes, Scheme, Streaming, Traffic};
use clock::PassClock;
use planes::PlaneWork;
use std::ops::Range;
use std::sync::Arc;

/// A method that streams, with its working arrays.
pub(super) struct Stream<R> {
    streaming: Streaming,
    /// The fast memories of all devices that share the slabs; a single one on one device.
    memories: Vec<FastMemory<R>>,
    /// Of the last pass, if one was made.
    traffic: Option<Traffic>,
    times: Option<Arc<PassTimes>>,
    progress: Arc<PassProgress>,
}

/// The working arrays of a device, and what visits them.
struct FastMemory<R> {
    /// Two iterates: a sweep reads one and writes the other.
    levels: [Vec<R>; 2],
    /// The right-hand side over the diagonal.
    g: Vec<R>,
    /// Systems of a batch, and planes of each, that its slabs own.
    lines: Range<usize>,
    planes: Range<usize>,
}

impl<R: Real> Stream<R> {
    pub fn new(shape: &Shape, streaming: Streaming) -> Self {
        let axis = Planes::of(shape);
        let all = FastMemory::new(shape, &streaming, 0..axis.lines, 0..axis.count);
        Self {
            streaming,
            memories: Vec::from([all]),
            traffic: None,
            times: None,
            progress: Arc::default(),
        }
    }

    /// The same with the lines of a batch, or the slabs of a pyramid, shared out over devices. The sweeps of a wavefront are
    /// made in one window, in which they are the same.
    pub fn on_devices(shape: &Shape, streaming: Streaming, devices: &Devices) -> Self {
        if streaming.shares_sweeps(shape) {
            return Self::new(shape, streaming);
        }
        let axis = Planes::of(shape);
        let memory = |share: &Share| {
            let (lines, planes) = match axis.lines {
                1 => (0..1, share.owned.clone()),
                _ => (share.owned.clone(), 0..axis.count),
            };
            FastMemory::new(shape, &streaming, lines, planes)
        };
        let memories = devices.shares().of_devices().iter().map(memory).collect();
        Self { streaming, memories, traffic: None, times: None, progress: Arc::default() }
    }

    /// Sweeps of a pass.
    pub fn height(&self) -> usize {
        self.streaming.height()
    }

    /// What the last pass moved and computed.
    pub fn traffic(&self) -> Option<Traffic> {
        self.traffic
    }

    /// When the parts of the last pass were made.
    pub fn times(&self) -> Option<Arc<PassTimes>> {
        self.times.clone()
    }

    /// How far the pass under way has come; of several systems, that of the one under way.
    pub fn progress(&self) -> &Arc<PassProgress> {
        &self.progress
    }

    /// Makes one pass: n sweeps over the grid, without norms. One that is left unfinished is not counted.
    pub fn pass(
        &mut self,
        system: &System<R>,
        from: &[R],
        to: &mut [R],
        level: Level,
        team: &Team,
    ) {
        let (shape, n) = (*system.shape(), self.streaming.height());
        let axis = Planes::of(&shape);
        let mut traffic =
            Traffic { needed: shape.points() as u64 * n as u64, ..Traffic::default() };
        let mut clock = PassClock::start();
        let Self { streaming, memories, progress, .. } = self;
        for line in 0..axis.lines {
            // From the boundary plane before the first one on.
            let start = if shape.dim() == 1 { shape.row_start(line) } else { 0 };
            let stored = start..start + (axis.count + 2) * axis.stored;
            let mut work = PlaneWork {
                system,
                level,
                team,
                axis,
                traffic: &mut traffic,
                clock: &mut clock,
                progress,
                from: &from[stored.clone()],
                rhs: &system.g.as_slice()[stored.clone()],
                to: &mut to[stored],
            };
            let here = memories.iter_mut().filter(|memory| memory.lines.contains(&line));
            for FastMemory { levels, g, planes, .. } in here {
                match streaming.scheme() {
                    Scheme::Pyramid => {
                        let of_slab = streaming.planes_of_slab();
                        slabs::pass(&mut work, levels, g, (planes.clone(), of_slab), n);
                    }
                    Scheme::Wavefront { chunk } => window::pass(&mut work, levels, g, chunk, n),
                }
            }
        }
        if team.is_stopped() {
            return;
        }
        self.traffic = Some(traffic);
        self.times = Some(Arc::new(clock.stop()));
    }
}

impl<R: Real> FastMemory<R> {
    fn new(
        shape: &Shape,
        streaming: &Streaming,
        lines: Range<usize>,
        planes: Range<usize>,
    ) -> Self {
        let values = streaming.working_planes(shape) * Planes::of(shape).stored;
        // What is read before it was written shows in the iterate.
        let array = || vec![R::from_f64(f64::NAN); values];
        Self { levels: [array(), array()], g: array(), lines, planes }
    }
}

#[cfg(test)]
mod tests;
