//! What one device has of what several share: its arrays, its streams, and what it makes of a cycle.

use super::kept::Kept;
use super::part::Part;
use super::transfer::event;
use crate::grid::Field;
use crate::solver::SolverError;
use crate::solver::cuda::arguments::{Norms, Pointer};
use crate::solver::cuda::cycle_kernel::Step;
use crate::solver::cuda::gpu::Gpu;
use crate::solver::cuda::graph_batch::Others;
use crate::solver::cuda::system::Array;
use cudarc::driver::{CudaEvent, CudaSlice, CudaStream, DevicePtr, DriverError};
use std::sync::Arc;

/// What one device has.
pub(super) struct DeviceShare<P: Part> {
    pub gpu: Arc<Gpu>,
    pub streams: Streams,
    pub events: Events,
    kept: Kept,
    /// The iterate and the next.
    pub arrays: [Array<P::Real>; 2],
    /// Sums of squares of the cycles that are made together, unless they are kept where all of them are added.
    squares: Option<CudaSlice<f64>>,
    /// The other norms, likewise, once they are requested.
    others: Option<CudaSlice<Norms>>,
    exact: Option<Array<f64>>,
    pub part: P,
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

impl<P: Part> DeviceShare<P> {
    /// A device with arrays for what it keeps; `prepare` makes what it needs for a cycle, on a stream, and may
    /// overwrite the arrays.
    ///
    /// # Errors
    /// [`SolverError`] if they do not fit, or a driver fails.
    pub fn new(
        gpu: &Arc<Gpu>,
        kept: Kept,
        prepare: impl FnOnce(&Arc<CudaStream>, [Pointer; 2]) -> Result<P, SolverError>,
    ) -> Result<Self, SolverError> {
        let streams = Streams::new(gpu)?;
        let zeros = || gpu.check(Array::zeros(&kept.shape, &streams.border));
        let arrays = [zeros()?, zeros()?];
        let part = prepare(&streams.border, arrays.each_ref().map(|array| array.interior))?;
        Ok(Self {
            events: Events::new(gpu)?,
            gpu: Arc::clone(gpu),
            streams,
            kept,
            arrays,
            squares: None,
            others: None,
            exact: None,
            part,
        })
    }

    /// Enqueues its tiles, once its border stream has waited for what they read: those at borders first.
    pub fn launch(&self, step: Step, others: Others) -> Result<(), DriverError> {
        let Self { streams, events, part, .. } = self;
        events.begun.record(&streams.border)?;
        part.launch_borders(&streams.border, step, others)?;
        events.border.record(&streams.border)?;
        streams.inner.wait(&events.begun)?;
        part.launch_inner(&streams.inner, step, others)?;
        events.inner.record(&streams.inner)
    }

    /// Lets a stream wait for all that its own have.
    pub fn join(&self, stream: &Arc<CudaStream>) -> Result<(), DriverError> {
        self.streams.all().into_iter().zip(&self.events.ends).try_for_each(|(own, end)| {
            end.record(own)?;
            stream.wait(end)
        })
    }

    /// Copies what it keeps of an iterate to the GPU, as the present one and the one before.
    pub fn put(&mut self, iterate: &Field<P::Real>) -> Result<(), SolverError> {
        let values = self.kept.of(iterate);
        let mut call = || {
            for array in &mut self.arrays {
                self.streams.border.memcpy_htod(&*values, &mut array.values_mut())?;
            }
            self.streams.border.synchronize()
        };
        self.gpu.check(call())
    }

    /// Copies what it owns of an array to one of its own.
    pub fn put_owned(&mut self, array: usize, from: &Field<P::Real>) -> Result<(), SolverError> {
        let stream = &self.streams.border;
        let mut there = self.arrays[array].values_mut();
        let mut there = there.slice_mut(self.kept.owned_here());
        let copied = stream.memcpy_htod(&from.as_slice()[self.kept.owned()], &mut there);
        self.gpu.check(copied.and_then(|()| stream.synchronize()))
    }

    /// Copies what it owns of an array to its place in the whole array.
    pub fn fetch(&self, array: usize, to: &mut [P::Real]) -> Result<(), SolverError> {
        let there = self.arrays[array].values();
        let owned = there.slice(self.kept.owned_here());
        let stream = &self.streams.border;
        let copied = stream.memcpy_dtoh(&owned, &mut to[self.kept.owned()]);
        self.gpu.check(copied.and_then(|()| stream.synchronize()))
    }

    /// Takes the exact solution.
    pub fn set_exact(&mut self, exact: &Field<f64>) -> Result<(), SolverError> {
        let values = self.kept.of(exact);
        let stream = &self.streams.border;
        self.gpu.check_room(size_of_val(&*values) as u64)?;
        let copied = Array::copied(&values, &self.kept.shape, stream);
        let copied = self.gpu.check(copied.and_then(|there| {
            stream.synchronize()?;
            Ok(there)
        }))?;
        self.exact = Some(copied);
        Ok(())
    }

    /// The first point of the exact solution in its arrays; 0 if it is not known.
    pub fn exact_at(&self) -> Pointer {
        self.exact.as_ref().map_or(0, |exact| exact.interior)
    }

    /// Allocates room for the norms of cycles that are made together; returns the bytes of the sums of squares, and of the
    /// other norms.
    pub fn allocate_sums(&mut self, together: usize) -> Result<[usize; 2], SolverError> {
        let (gpu, stream) = (&self.gpu, &self.streams.border);
        let [squares, others] =
            [self.part.parts(), self.part.other_parts()].map(|parts| together * parts);
        // SAFETY: cycles write them before they are copied.
        self.squares = Some(unsafe { gpu.allocate(stream, squares) }?);
        // SAFETY: as above.
        let room = (others > 0).then(|| unsafe { gpu.allocate(stream, others) });
        self.others = room.transpose()?;
        gpu.check(stream.synchronize())?;
        Ok([squares * size_of::<f64>(), others * size_of::<Norms>()])
    }

    /// Where the sums of squares of one of the cycles that are made together lie; `None` where all are added.
    pub fn own_squares(&self, cycle: usize) -> Option<Pointer> {
        let first = self.squares.as_ref()?.device_ptr(&self.streams.border).0;
        Some(first + (cycle * self.part.parts() * size_of::<f64>()) as u64)
    }

    /// The same of its other norms.
    pub fn own_others(&self, cycle: usize) -> Option<Pointer> {
        let first = self.others.as_ref()?.device_ptr(&self.streams.border).0;
        Some(first + (cycle * self.part.other_parts() * size_of::<Norms>()) as u64)
    }

    /// What a cycle finds of other norms where all are requested at `of_all`, and from which exact solution.
    pub fn others(&self, of_all: Others, cycle: usize) -> Others {
        let parts = match self.own_others(cycle).filter(|_| of_all.parts != 0) {
            Some(own) => own,
            None => of_all.parts,
        };
        Others { parts, exact: self.exact_at() }
    }

    /// Where a value that it owns lies, in either of its arrays; `stored` is its place in the whole array.
    pub fn address_of_owned(&self, stored: usize) -> [Pointer; 2] {
        self.addresses(self.kept.owned_here().start + stored - self.kept.owned().start)
    }

    /// Where a value of its storage lies, in either of its arrays.
    pub fn addresses(&self, stored: usize) -> [Pointer; 2] {
        self.arrays.each_ref().map(|array| {
            let first = array.values().device_ptr(&self.streams.border).0;
            first + (stored * size_of::<P::Real>()) as u64
        })
    }
}
