//! What one of several devices makes of a grid: the kernels for its tiles, on its planes; of a batch, for its lines.
//!
//! Sums of squares come in the parts of its kernels, tile by tile in their order. Kernel `register` adds those of
//! several tiles of lines in a warp, `classic` those of rows of a batch in a block, and a launch on tensor cores those
//! of several tiles: there a device begins a warp, a block or a launch of its own, and norms agree up to rounding with
//! those of another number of devices.

use super::kept::Kept;
use super::messages::Message;
use super::norms;
use super::part::{Cut, Part, Setup};
use super::paths::Paths;
use super::rank::part::{Present, RankCut, RankMessage, RankPart, RankSetup};
use super::share::DeviceShare;
use crate::grid::{Shape, Share, Shares};
use crate::problem::{Problem, Source, System};
use crate::solver::cuda::arguments::Pointer;
use crate::solver::cuda::cycle_kernel::{CycleKernel, Step};
use crate::solver::cuda::gpu::Gpu;
use crate::solver::cuda::graph_batch::{Iterates, Others};
use crate::solver::cuda::kernels::{self, KernelType};
use crate::solver::cuda::observe::{Observer, OtherNorms};
use crate::solver::cuda::real::DeviceReal;
use crate::solver::cuda::setting::{Refused, Setting};
use crate::solver::cuda::system::{DeviceSystem, bytes_of};
use crate::solver::{
    Devices, Footprint, Kernel, Method, NormRequest, Norms, SetUpTimes, SolverError,
};
use cudarc::driver::{CudaStream, DriverError};
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;

/// Arrays of its planes that a device takes: g and two iterates.
pub(super) const ARRAYS: usize = 3;

/// The tiles of a device, or its bands of rows for Jacobi's sweeps.
pub(super) struct GridPart<R> {
    /// What it owns, as a grid of its own.
    pub view: View<R>,
    /// The tiles whose planes other devices receive, and then the others; in the order of tiles their norms are added.
    borders: Vec<Piece<R>>,
    inner: Option<Piece<R>>,
    /// Sums of squares of a cycle.
    parts: usize,
    pub observer: Observer,
    /// The pass that finds the other norms, once they are requested.
    others: Option<OtherNorms>,
    omega: f64,
}

/// Some planes of a device as a grid of their own.
pub(super) struct View<R> {
    pub system: DeviceSystem<R>,
    /// Bytes from the first interior point of the arrays of the device to that of the view.
    offset: i64,
}

impl<R: DeviceReal> View<R> {
    /// The point of the arrays of the device from which the view reads.
    pub fn of(&self, array: Pointer) -> Pointer {
        array.wrapping_add_signed(self.offset)
    }

    /// The same of the exact solution, if it is known.
    pub fn of_exact(&self, exact: Pointer) -> Pointer {
        let offset = self.offset / size_of::<R>() as i64 * size_of::<f64>() as i64;
        if exact == 0 { 0 } else { exact.wrapping_add_signed(offset) }
    }
}

/// Rows of tiles that are launched together.
struct Piece<R> {
    view: View<R>,
    kernel: Box<dyn CycleKernel<R>>,
    /// Sums of squares of the device before its own.
    parts_before: usize,
}

impl<R: DeviceReal> Piece<R> {
    /// Enqueues a cycle of its tiles; `step` has the pointers of the device.
    fn launch(&self, stream: &Arc<CudaStream>, step: Step) -> Result<(), DriverError> {
        let before = (self.parts_before * size_of::<f64>()) as u64;
        let squares = if step.squares == 0 { 0 } else { step.squares + before };
        let step =
            Step { from: self.view.of(step.from), to: self.view.of(step.to), squares, ..step };
        self.kernel.launch(stream, &self.view.system, step)
    }
}

/// What the tiles of all devices are made of.
pub(super) struct Tiles<'a, R> {
    pub system: &'a System<R>,
    pub rhs: &'a Source,
    pub shares: &'a Shares,
    pub setting: &'a Setting<'a>,
    pub kernel: &'static KernelType,
}

impl<R: DeviceReal> Tiles<'_, R> {
    /// The share of a device, on its GPU.
    ///
    /// # Errors
    /// [`SolverError`] if it does not fit, or a driver fails.
    pub fn share(
        &self,
        gpu: &Arc<Gpu>,
        device: usize,
    ) -> Result<DeviceShare<GridPart<R>>, SolverError> {
        let kept = Kept::planes(self.system.shape(), &self.shares.of_devices()[device]);
        DeviceShare::new(gpu, kept, |stream, arrays| self.part(gpu, stream, device, arrays))
    }

    /// Copies the planes of a device to its GPU, and prepares its kernels; these may overwrite its arrays.
    ///
    /// # Errors
    /// [`SolverError`] if it does not fit, or a driver fails.
    fn part(
        &self,
        gpu: &Arc<Gpu>,
        stream: &Arc<CudaStream>,
        device: usize,
        arrays: [Pointer; 2],
    ) -> Result<GridPart<R>, SolverError> {
        let Share { tiles, computed, owned, .. } = &self.shares.of_devices()[device];
        let planes = self.system.planes(computed.clone());
        let local = DeviceSystem::new(Arc::clone(gpu), stream, &planes, self.rhs)?;
        let inner = self.shares.inner_tiles(device);
        let ranges = [tiles.start..inner.start, inner.clone(), inner.end..tiles.end];
        let mut parts = 0;
        let [first, middle, last] = ranges.map(|rows| -> Result<_, SolverError> {
            if rows.is_empty() {
                return Ok(None);
            }
            let view = self.view_of_tiles(&local, computed, rows)?;
            let build = R::of(self.kernel.build);
            let built = build.map(|build| build(&view.system, self.setting, stream, arrays));
            let kernel = built.transpose()?.flatten().ok_or_else(|| too_many(self.kernel))?;
            let parts_before = parts;
            parts += kernel.parts();
            Ok(Some(Piece { view, kernel, parts_before }))
        });
        Ok(GridPart {
            view: self.view(&local, computed, owned)?,
            borders: first?.into_iter().chain(last?).collect(),
            inner: middle?,
            parts,
            observer: Observer::new(&local)?,
            others: None,
            omega: self.setting.method.omega(),
        })
    }

    /// Some planes of a device, `computed` of the grid, as a grid of their own.
    fn view(
        &self,
        local: &DeviceSystem<R>,
        computed: &Range<usize>,
        planes: &Range<usize>,
    ) -> Result<View<R>, SolverError> {
        let before = planes.start as isize - computed.start as isize;
        let system = local.beginning_at(before, self.shape(planes.len()), None)?;
        Ok(View { system, offset: self.bytes_of(before) })
    }

    /// Rows of tiles as kernels take them: tiles with the numbers that they have in the whole grid, so that all lie
    /// where they do there; bands of rows, and lines of a batch, as a grid of their own.
    fn view_of_tiles(
        &self,
        local: &DeviceSystem<R>,
        computed: &Range<usize>,
        rows: Range<usize>,
    ) -> Result<View<R>, SolverError> {
        let are_lines = self.system.shape().dim() == 1;
        let has_tiles =
            self.setting.method.tiling().is_some() || self.kernel.name == Kernel::FUSED.name();
        let (before, shape) = match has_tiles && !are_lines {
            true => (-(computed.start as isize), *self.system.shape()),
            false => {
                let axis = self.shares.axis();
                let planes = axis.owned(rows.start).start..axis.owned(rows.end - 1).end;
                (planes.start as isize - computed.start as isize, self.shape(planes.len()))
            }
        };
        let system = local.beginning_at(before, shape, Some(rows))?;
        Ok(View { system, offset: self.bytes_of(before) })
    }

    /// The shape of so many planes of the grid.
    fn shape(&self, planes: usize) -> Shape {
        self.system.shape().with_planes(planes)
    }

    /// Bytes of so many planes of the grid.
    fn bytes_of(&self, planes: isize) -> i64 {
        bytes_of::<R>(self.system.shape(), planes)
    }
}

impl<R: DeviceReal> Part for GridPart<R> {
    type Real = R;

    fn least_bytes(problem: &Problem, devices: &Devices) -> Vec<u64> {
        let arrays = (ARRAYS + problem.operator.row_arrays(&problem.shape)) as u64;
        let bytes = |share: &Share| {
            let stored = problem.shape.stored_planes(share.computed.clone()).len() as u64;
            stored * arrays * R::PRECISION.bytes() as u64
        };
        devices.shares().of_devices().iter().map(bytes).collect()
    }

    fn cut(setup: &Setup<'_, R>) -> Result<Cut<Self>, SolverError> {
        let Setup { problem, method, devices, gpus, paths, host, kernel: chosen, block_size } =
            *setup;
        let setting = Setting {
            method,
            precision: R::PRECISION,
            shape: &problem.shape,
            shared_bytes: gpus.iter().map(|gpu| gpu.most_shared).min().unwrap_or(0),
            is_per_point: problem.operator.is_per_point(),
            block_size,
        };
        let row = kernels::choose(chosen, &setting).map_err(|refused| refused.error(chosen))?;
        let shared = devices.shares();
        let tiles = Tiles {
            system: host.grid().ok_or(SolverError::Operator("a matrix"))?,
            rhs: &problem.rhs,
            shares: shared,
            setting: &setting,
            kernel: row,
        };
        let shape = &problem.shape;
        let shares = gpus.iter().enumerate().map(|(device, gpu)| tiles.share(gpu, device));
        let shares = shares.collect::<Result<Vec<_>, _>>()?;
        let mut messages = Vec::with_capacity(shared.messages());
        for (to, share) in shared.of_devices().iter().enumerate() {
            let runs =
                share.received.iter().flat_map(|it| it.planes.iter().map(|run| (it.from, run)));
            for (from, planes) in runs {
                let stored = shape.stored_alone(planes.clone());
                let ends = [from, to].map(|device| {
                    let computed = shared.of_devices()[device].computed.clone();
                    let first = shape.stored_planes(computed).start;
                    shares[device].addresses(stored.start - first)
                });
                let bytes = stored.len() * size_of::<R>();
                let message = Message::new([from, to], paths, ends, bytes)?;
                messages.push(message.answered(shared.is_answered(from, to)));
            }
        }
        let kernel = Kernel::named(row.name);
        Ok(Cut { kernel, shares, messages, set_up: SetUpTimes::default() })
    }

    fn share_out(
        problem: &Problem,
        method: &Method,
        own: &Devices,
        count: usize,
    ) -> Option<Devices> {
        Devices::new(method, &problem.shape, count, NonZeroU64::MIN, own.link()).ok()
    }

    fn parts(&self) -> usize {
        self.parts
    }

    fn cycles_together(&self) -> usize {
        let pieces = self.inner.iter().chain(&self.borders);
        pieces.map(|piece| piece.kernel.cycles_together()).min().unwrap_or(1)
    }

    fn other_parts(&self) -> usize {
        self.others.as_ref().map_or(0, OtherNorms::parts)
    }

    fn find_others(&mut self, are_requested: bool) -> Result<(), SolverError> {
        let pass = are_requested.then(|| OtherNorms::new(&self.view.system, self.omega));
        self.others = pass.transpose()?;
        Ok(())
    }

    fn diagonal(&self) -> f64 {
        // A damped sweep changes ω times as much.
        self.view.system.diagonal / self.omega
    }

    fn footprint(&self) -> Option<Footprint> {
        let pieces = self.inner.iter().chain(&self.borders);
        pieces.map(|piece| piece.kernel.footprint()).max_by_key(|footprint| footprint.blocks)
    }

    fn launch_borders(
        &self,
        stream: &Arc<CudaStream>,
        step: Step,
        _: Others,
    ) -> Result<(), DriverError> {
        self.borders.iter().try_for_each(|piece| piece.launch(stream, step))
    }

    fn launch_inner(
        &self,
        stream: &Arc<CudaStream>,
        step: Step,
        _: Others,
    ) -> Result<(), DriverError> {
        self.inner.iter().try_for_each(|piece| piece.launch(stream, step))
    }

    fn launch_others(
        &self,
        stream: &Arc<CudaStream>,
        arrays: [Pointer; 2],
        others: Others,
    ) -> Result<(), DriverError> {
        let Some(pass) = &self.others else { return Ok(()) };
        let at = arrays.map(|array| self.view.of(array));
        let exact = self.view.of_exact(others.exact);
        pass.launch(stream, &self.view.system, at, exact, others.parts)
    }

    /// Planes lie side by side.
    fn pack(&self, _: &Arc<CudaStream>, _: Pointer) -> Result<(), DriverError> {
        Ok(())
    }

    fn norms(
        shares: &[DeviceShare<Self>],
        exchange: (&[Message], &Paths),
        iterates: Iterates,
        request: NormRequest,
    ) -> Option<Result<Norms, SolverError>> {
        let residual = request.residual_l2 || request.residual_max;
        let has_exact = shares.iter().all(|share| share.exact_at() != 0);
        let found = || {
            Ok(Norms {
                residual: residual
                    .then(|| norms::residual(shares, exchange, iterates))
                    .transpose()?,
                max_change: request
                    .max_change
                    .then(|| norms::max_change(shares, iterates))
                    .transpose()?,
                error: (request.error && has_exact)
                    .then(|| norms::error(shares, iterates))
                    .transpose()?,
            })
        };
        Some(found())
    }
}

impl<R: DeviceReal> RankPart for GridPart<R> {
    fn cut_own(setup: &RankSetup<'_, R>) -> Result<RankCut<Self>, SolverError> {
        let RankSetup { problem, method, devices, own, gpu, shared_bytes, host, .. } = *setup;
        let setting = Setting {
            method,
            precision: R::PRECISION,
            shape: &problem.shape,
            shared_bytes,
            is_per_point: problem.operator.is_per_point(),
            block_size: setup.block_size,
        };
        let chosen = setup.kernel;
        let row = kernels::choose(chosen, &setting).map_err(|refused| refused.error(chosen))?;
        let (rhs, shares) = (&problem.rhs, devices.shares());
        let system = host.grid().ok_or(SolverError::Operator("a matrix"))?;
        let tiles = Tiles { system, rhs, shares, setting: &setting, kernel: row };
        let share = tiles.share(gpu, own)?;
        let first = problem.shape.stored_planes(shares.of_devices()[own].computed.clone()).start;
        let mut messages = Vec::new();
        for (to, receiver) in shares.of_devices().iter().enumerate() {
            for received in receiver.received.iter().filter(|it| own == to || own == it.from) {
                let is_sent = received.from == own;
                let peer = if is_sent { to } else { received.from };
                let runs =
                    received.planes.iter().map(|run| problem.shape.stored_alone(run.clone()));
                messages.extend(runs.map(|stored| RankMessage {
                    peer,
                    is_sent,
                    at: share.addresses(stored.start - first),
                    bytes: stored.len() * size_of::<R>(),
                }));
            }
        }
        let kernel = Kernel::named(row.name);
        Ok(RankCut { kernel, share, messages, set_up: SetUpTimes::default() })
    }

    fn norms_of_ranks(
        at: &Present<'_, Self>,
        request: NormRequest,
    ) -> Option<Result<Norms, SolverError>> {
        Some(at.norms(request))
    }
}

fn too_many(kernel: &KernelType) -> SolverError {
    let instead = "a larger tile or backend cpu".to_owned();
    Refused { setting: "this number of tiles".to_owned(), instead }
        .error(Kernel::named(kernel.name))
}
