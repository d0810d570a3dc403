//! What one device has of a grid that several share: its planes, and the kernels for its tiles.

use super::transfer::event;
use crate::grid::{Field, Shape, Share, Shares};
use crate::problem::{Source, System};
use crate::solver::cuda::arguments::{self, Pointer};
use crate::solver::cuda::cycle_kernel::{CycleKernel, Step};
use crate::solver::cuda::gpu::Gpu;
use crate::solver::cuda::kernels::KernelType;
use crate::solver::cuda::observe::{Observer, OtherNorms};
use crate::solver::cuda::real::DeviceReal;
use crate::solver::cuda::setting::{Refused, Setting};
use crate::solver::cuda::system::{Array, DeviceSystem, bytes_of};
use crate::solver::{Footprint, Kernel, SolverError};
use cudarc::driver::{CudaEvent, CudaSlice, CudaStream, DevicePtr, DriverError};
use std::ops::Range;
use std::sync::Arc;

/// What one device has.
pub(super) struct DeviceShare<R: DeviceReal> {
    pub gpu: Arc<Gpu>,
    pub streams: Streams,
    pub events: Events,
    /// The planes that its tiles compute, as a grid.
    shape: Shape,
    /// The iterate and the next, with a plane on either side of those that the tiles compute.
    pub arrays: [Array<R>; 2],
    /// Where these begin in the arrays of the grid.
    pub stored: Range<usize>,
    /// What of those the device owns, without the planes on either side.
    pub owned: Range<usize>,
    /// What it owns, as a grid of its own.
    pub view: View<R>,
    /// The tiles whose planes other devices receive, and then the others; in the order of tiles their norms are added.
    pub borders: Vec<Piece<R>>,
    pub inner: Option<Piece<R>>,
    /// Sums of squares of a cycle.
    pub parts: usize,
    pub observer: Observer,
    /// Sums of squares of the cycles that are made together, unless they are kept where all of them are added.
    pub squares: Option<CudaSlice<f64>>,
    /// The other norms, likewise, and the pass that finds them, once they are requested.
    pub others: Option<(OtherNorms, Option<CudaSlice<arguments::Norms>>)>,
    pub exact: Option<Array<f64>>,
}

/// The streams of a device.
pub(super) struct Streams {
    /// Of the tiles at its borders, before the others as soon as there is room for a block.
    pub border: Arc<CudaStream>,
    pub inner: Arc<CudaStream>,
    /// Of copies to and from other devices.
    pub copies: Arc<CudaStream>,
}

impl Streams {
    fn new(gpu: &Gpu) -> Result<Self, SolverError> {
        Ok(Self {
            border: gpu.urgent_stream()?,
            inner: gpu.stream()?,
            copies: gpu.urgent_stream()?,
        })
    }

    pub fn all(&self) -> [&Arc<CudaStream>; 3] {
        [&self.border, &self.inner, &self.copies]
    }
}

/// What the streams of a device, and those of others, wait for.
pub(super) struct Events {
    /// The device has all that a cycle reads, and nobody reads any more what it writes.
    pub begun: CudaEvent,
    /// The tiles at its borders are computed, the others are, and all norms are known.
    pub border: CudaEvent,
    pub inner: CudaEvent,
    pub done: CudaEvent,
    /// What it received before is in the next iterate, too.
    pub kept: CudaEvent,
    /// Each of its streams is done.
    pub ends: [CudaEvent; 3],
}

impl Events {
    fn new(gpu: &Gpu) -> Result<Self, SolverError> {
        Ok(Self {
            begun: event(gpu)?,
            border: event(gpu)?,
            inner: event(gpu)?,
            done: event(gpu)?,
            kept: event(gpu)?,
            ends: [event(gpu)?, event(gpu)?, event(gpu)?],
        })
    }
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
}

/// Rows of tiles that are launched together.
pub(super) struct Piece<R> {
    view: View<R>,
    kernel: Box<dyn CycleKernel<R>>,
    /// Sums of squares of the device before its own.
    parts_before: usize,
}

impl<R: DeviceReal> Piece<R> {
    /// Enqueues a cycle of its tiles; `step` has the pointers of the device.
    pub fn launch(&self, stream: &Arc<CudaStream>, step: Step) -> Result<(), DriverError> {
        let before = (self.parts_before * size_of::<f64>()) as u64;
        let squares = if step.squares == 0 { 0 } else { step.squares + before };
        let step =
            Step { from: self.view.of(step.from), to: self.view.of(step.to), squares, ..step };
        self.kernel.launch(stream, &self.view.system, step)
    }

    pub fn footprint(&self) -> Footprint {
        self.kernel.footprint()
    }
}

/// What the shares of all devices are made of.
pub(super) struct Cut<'a, R> {
    pub system: &'a System<R>,
    pub rhs: &'a Source,
    pub shares: &'a Shares,
    pub setting: &'a Setting<'a>,
    pub kernel: &'static KernelType,
}

impl<R: DeviceReal> Cut<'_, R> {
    /// Copies the share of a device to its GPU, and prepares its kernels.
    ///
    /// # Errors
    /// [`SolverError`] if it does not fit, or a driver fails.
    pub fn share(&self, gpu: Arc<Gpu>, device: usize) -> Result<DeviceShare<R>, SolverError> {
        let Share { tiles, computed, owned, .. } = &self.shares.of_devices()[device];
        let shape = self.system.shape();
        let streams = Streams::new(&gpu)?;
        let stream = &streams.border;
        let planes = self.system.planes(computed.clone());
        let local = DeviceSystem::new(Arc::clone(&gpu), stream, &planes, self.rhs)?;
        let zeros = || gpu.check(Array::zeros(&local.shape, stream));
        let arrays = [zeros()?, zeros()?];
        let at = arrays.each_ref().map(|array| array.interior);
        let inner = self.shares.inner_tiles(device);
        let ranges = [tiles.start..inner.start, inner.clone(), inner.end..tiles.end];
        let mut parts = 0;
        let [first, middle, last] = ranges.map(|rows| -> Result<_, SolverError> {
            if rows.is_empty() {
                return Ok(None);
            }
            let view = self.view_of_tiles(&local, computed, rows)?;
            let build = R::of(self.kernel.build);
            let built = build.map(|build| build(&view.system, self.setting, stream, at));
            let kernel = built.transpose()?.flatten().ok_or_else(|| too_many(self.kernel))?;
            let parts_before = parts;
            parts += kernel.parts();
            Ok(Some(Piece { view, kernel, parts_before }))
        });
        let observer = Observer::new(&local)?;
        Ok(DeviceShare {
            events: Events::new(&gpu)?,
            view: self.view(&local, computed, owned)?,
            stored: shape.stored_planes(computed.clone()),
            owned: shape.stored_alone(owned.clone()),
            shape: local.shape,
            arrays,
            borders: first?.into_iter().chain(last?).collect(),
            inner: middle?,
            parts,
            observer,
            squares: None,
            others: None,
            exact: None,
            streams,
            gpu,
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
        let shape = local.shape.with_planes(planes.len());
        let system = local.beginning_at(before, shape, None)?;
        Ok(View { system, offset: bytes_of::<R>(&local.shape, before) })
    }

    /// Rows of tiles as kernels take them: tiles with the numbers that they have in the whole grid, so that all lie where
    /// they do there; bands of rows as a grid of their own.
    fn view_of_tiles(
        &self,
        local: &DeviceSystem<R>,
        computed: &Range<usize>,
        rows: Range<usize>,
    ) -> Result<View<R>, SolverError> {
        let (before, shape) = match self.setting.method.tiling() {
            Some(_) => (-(computed.start as isize), *self.system.shape()),
            None => {
                let axis = self.shares.axis();
                let planes = axis.owned(rows.start).start..axis.owned(rows.end - 1).end;
                let before = planes.start as isize - computed.start as isize;
                (before, local.shape.with_planes(planes.len()))
            }
        };
        let system = local.beginning_at(before, shape, Some(rows))?;
        Ok(View { system, offset: bytes_of::<R>(&local.shape, before) })
    }
}

impl<R: DeviceReal> DeviceShare<R> {
    /// Copies its planes of an iterate to the GPU, as the present one and the one before.
    pub fn put(&mut self, iterate: &Field<R>) -> Result<(), SolverError> {
        let planes = &iterate.as_slice()[self.stored.clone()];
        let mut call = || {
            for array in &mut self.arrays {
                self.streams.border.memcpy_htod(planes, &mut array.values_mut())?;
            }
            self.streams.border.synchronize()
        };
        self.gpu.check(call())
    }

    /// Copies what it owns of an array of the grid to one of its own.
    pub fn put_owned(&mut self, array: usize, from: &[R]) -> Result<(), SolverError> {
        let start = self.owned.start - self.stored.start;
        let stream = &self.streams.border;
        let mut there = self.arrays[array].values_mut();
        let mut there = there.slice_mut(start..start + self.owned.len());
        let copied = stream.memcpy_htod(&from[self.owned.clone()], &mut there);
        self.gpu.check(copied.and_then(|()| stream.synchronize()))
    }

    /// Copies what it owns of an array to its place in the array of the grid.
    pub fn fetch(&self, array: usize, to: &mut [R]) -> Result<(), SolverError> {
        let from = self.owned.start - self.stored.start;
        let there = self.arrays[array].values();
        let owned = there.slice(from..from + self.owned.len());
        let stream = &self.streams.border;
        let copied = stream.memcpy_dtoh(&owned, &mut to[self.owned.clone()]);
        self.gpu.check(copied.and_then(|()| stream.synchronize()))
    }

    /// Takes the exact solution.
    pub fn set_exact(&mut self, exact: &Field<f64>) -> Result<(), SolverError> {
        let planes = &exact.as_slice()[self.stored.clone()];
        let stream = &self.streams.border;
        self.gpu.check_room(size_of_val(planes) as u64)?;
        let copied = Array::copied(planes, &self.shape, stream);
        let copied = self.gpu.check(copied.and_then(|there| {
            stream.synchronize()?;
            Ok(there)
        }))?;
        self.exact = Some(copied);
        Ok(())
    }

    /// The first owned point of the exact solution; 0 if it is not known.
    pub fn exact_at(&self) -> Pointer {
        let bytes = self.view.offset / size_of::<R>() as i64 * size_of::<f64>() as i64;
        self.exact.as_ref().map_or(0, |exact| exact.interior.wrapping_add_signed(bytes))
    }

    /// Prepares the pass that finds the other norms of cycles, if they are requested; sweeps are damped by `omega`.
    pub fn prepare_others(&mut self, are_requested: bool, omega: f64) -> Result<(), SolverError> {
        let pass = are_requested.then(|| OtherNorms::new(&self.view.system, omega)).transpose()?;
        self.others = pass.map(|pass| (pass, None));
        Ok(())
    }

    /// Allocates room for the norms of cycles that are made together; returns the bytes of the sums of squares, and of the
    /// other norms.
    pub fn allocate_sums(&mut self, together: usize) -> Result<[usize; 2], SolverError> {
        let (gpu, stream) = (&self.gpu, &self.streams.border);
        let squares = together * self.parts;
        // SAFETY: cycles write them before they are copied.
        self.squares = Some(unsafe { gpu.allocate(stream, squares) }?);
        let mut others = 0;
        if let Some((pass, sums)) = &mut self.others {
            others = together * pass.parts();
            // SAFETY: as above.
            *sums = Some(unsafe { gpu.allocate(stream, others) }?);
        }
        gpu.check(stream.synchronize())?;
        Ok([squares * size_of::<f64>(), others * size_of::<arguments::Norms>()])
    }

    /// Where a value of the arrays of the grid lies in an array of the device.
    pub fn address(&self, array: usize, stored: usize) -> Pointer {
        let first = self.arrays[array].values().device_ptr(&self.streams.border).0;
        first + ((stored - self.stored.start) * size_of::<R>()) as u64
    }
}

fn too_many(kernel: &KernelType) -> SolverError {
    let instead = "a larger tile or backend cpu".to_owned();
    Refused { setting: "this number of tiles".to_owned(), instead }
        .error(Kernel::named(kernel.name))
}
