//! Batches of cycles on a GPU. Cycles are recorded once as a CUDA graph and launched as a whole, so that
//! launches cost next to nothing.

use super::arguments::{Norms, Pointer};
use super::cycle_kernel::Step;
use super::gpu::Gpu;
use super::ptx::{File, Form};
use crate::clock::Instant;
use crate::grid::Precision;
use crate::solver::SolverError;
use cudarc::driver::sys::{CUevent_flags, CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{
    CudaEvent, CudaFunction, CudaGraph, CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError,
    LaunchConfig, PinnedHostSlice, PushKernelArg, result,
};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Seconds of a batch: short enough to react to a request at once, long enough that waiting for the GPU
/// costs nothing.
const BATCH_SECONDS: f64 = 7.5e-3;

/// The fraction of a batch for which the thread sleeps; for the rest it waits in the driver, which wakes it
/// without delay.
const NAP: f64 = 0.75;

/// The most cycles of a batch.
const MOST_CYCLES: usize = 4096;

/// The most cycles in a graph; always an even number, so that a graph ends in the array that it began in.
pub(super) const MOST_RECORDED: usize = 256;

/// Bytes of the partial sums at most: few compared with the GPU's L2 cache, where the iterates should stay.
const PARTS_BYTES: usize = 4 << 20;

/// Threads of the kernel that adds parts, and how many parts a block adds, unless there are few.
const ADDING_THREADS: u32 = 256;
const ADDED_TOGETHER: usize = 2048;

/// A recorded graph of cycles that alternate between two arrays.
struct Recorded {
    graph: CudaGraph,
    /// The array that it begins and ends in, and the other one.
    arrays: [usize; 2],
    /// How many cycles it makes.
    length: usize,
}

// SAFETY: a graph may be used by any thread, by one at a time; it stays with its solver.
unsafe impl Send for Recorded {}

/// Arrays for iterates: two that cycles alternate between, and two more for cycles that are made while an
/// iterate and the one before are observed.
pub(super) const MOST_ARRAYS: usize = 4;

/// Where the iterates are, and where the next ones go.
#[derive(Clone, Copy, Debug)]
pub(super) struct Iterates {
    /// The first interior point of each array; 0 for one that is not allocated.
    pub arrays: [Pointer; MOST_ARRAYS],
    /// Which of them holds the iterate.
    pub current: usize,
    /// Which holds the one before.
    pub before: usize,
    /// Where the next one goes, and the one after that.
    next: [usize; 2],
    /// The first interior point of u*; 0 if it is not known.
    pub exact: Pointer,
    /// Cycles from one exchange between devices that share the grid to the next; 1 on a single device.
    exchange_every: u64,
    /// Cycles since the last exchange.
    since: u64,
}

impl Iterates {
    /// The initial guess, which the first two arrays hold.
    pub fn at_start(arrays: [Pointer; MOST_ARRAYS], exact: Pointer) -> Self {
        Self { arrays, current: 0, before: 1, next: [1, 0], exact, exchange_every: 1, since: 0 }
    }

    /// The same on devices that exchange what they made after so many cycles.
    pub fn exchanging(self, exchange_every: u64) -> Self {
        Self { exchange_every, ..self }
    }

    /// The initial guess again, or another iterate, in the same arrays.
    pub fn restarted(self) -> Self {
        Self::at_start(self.arrays, self.exact).exchanging(self.exchange_every)
    }

    /// Whether devices that share the grid have exchanged what the last cycle made.
    pub fn are_exchanged(&self) -> bool {
        self.since == 0
    }

    /// The fewest cycles after which everything is as before: the arrays, and the cycles to the next exchange.
    fn period(&self) -> usize {
        let cycles = self.exchange_every.saturating_mul(1 + self.exchange_every % 2);
        usize::try_from(cycles).unwrap_or(usize::MAX).max(2)
    }

    /// Where the next iterate goes.
    pub fn next(&self) -> usize {
        self.next[0]
    }

    /// The same iterate, but cycles continue in the two arrays that hold neither it nor the one before.
    fn apart(self) -> Self {
        let mut others =
            (0..MOST_ARRAYS).filter(|array| ![self.current, self.before].contains(array));
        let next = self.next.map(|array| others.next().unwrap_or(array));
        Self { next, ..self }
    }

    /// As many cycles, or some more if an exchange is near: only from there on other solvers can continue.
    fn until_exchange(&self, cycles: usize) -> usize {
        let every = usize::try_from(self.exchange_every).unwrap_or(usize::MAX);
        let since =
            usize::try_from(self.since).unwrap_or(usize::MAX).saturating_add(cycles) % every;
        if since == 0 || every > cycles { cycles } else { cycles + every - since }
    }

    /// Whether cycles alternate between the present array and another from now on.
    fn alternate(&self) -> bool {
        self.next[1] == self.current
    }

    /// Whether a graph may begin here: of two arrays that cycles alternate between, it begins in the first.
    fn is_at_beginning(&self) -> bool {
        self.alternate() && self.current < self.next[0] && self.are_exchanged()
    }

    /// The next launch, of one cycle or of an odd number of them: either way the iterate goes to the next array.
    fn step(&mut self, squares: Pointer, index: usize, cycles: usize, apart: usize) -> Step {
        let [from, to] = [self.current, self.next[0]].map(|array| self.arrays[array]);
        self.since = (self.since + 1) % self.exchange_every;
        let exchanges = self.are_exchanged();
        (self.before, self.current) = (self.current, self.next[0]);
        self.next = [self.next[1], self.current];
        Step { from, to, squares, index, cycles, apart, exchanges }
    }
}

/// Cycles in the stream whose end was not waited for yet.
struct Pending {
    /// Where they end.
    iterates: Iterates,
    count: usize,
    measure: bool,
    /// Whether a graph was recorded meanwhile, for which the GPU waited.
    has_recorded: bool,
    /// They are not done before this time.
    until: Instant,
}

/// What batches are made of: the cycles of a grid, or those of a matrix.
pub(super) trait Cycles {
    /// The GPU that makes them.
    fn gpu(&self) -> &Gpu;

    /// Enqueues one cycle, with the norms that `step` and `others` name.
    fn launch(
        &self,
        stream: &Arc<CudaStream>,
        step: Step,
        others: Others,
    ) -> Result<(), DriverError>;

    /// The most cycles of a graph that need not be longer to end where it began; an even number.
    fn most_recorded(&self) -> usize {
        MOST_RECORDED
    }

    /// How many graphs a batch consists of, where it has cycles enough: several, so that its length can follow the time of a
    /// cycle.
    fn graphs_of_a_batch(&self) -> f64 {
        3.0
    }

    /// Lets the stream wait for what the cycles enqueued elsewhere.
    fn join(&self, _stream: &Arc<CudaStream>) -> Result<(), DriverError> {
        Ok(())
    }

    /// Waits for the end of a batch.
    fn wait(&self, end: &CudaEvent) -> Result<(), DriverError> {
        end.synchronize()
    }

    /// The seconds of a batch that takes this GPU so many: those of the slowest where others make the same batch.
    fn slowest(&self, seconds: f64) -> Result<f64, DriverError> {
        Ok(seconds)
    }
}

/// The norms of a cycle beside the sum of squares of its residual.
#[derive(Clone, Copy, Debug)]
pub(super) struct Others {
    /// Where their parts go; 0 if they are not requested.
    pub parts: Pointer,
    /// The first interior point of u*; 0 if it is not known.
    pub exact: Pointer,
}

/// In how many parts the norms of a cycle come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Parts {
    /// Sums of squares.
    pub squares: usize,
    /// The other norms; 0 if they are not requested.
    pub others: usize,
    /// How many cycles the kernel makes together.
    pub cycles: usize,
}

impl Parts {
    /// Those of cycles that are made one by one.
    pub fn of_cycle(squares: usize, others: usize) -> Self {
        Self { squares, others, cycles: 1 }
    }

    /// Those of so many cycles together.
    pub fn together(self, cycles: usize) -> Self {
        Self { cycles, ..self }
    }
}

/// Makes batches of cycles with one kernel.
pub(super) struct GraphBatch {
    /// Sums of squares of the parts of the cycles that are made together, cycle by cycle.
    parts: CudaSlice<f64>,
    parts_of_a_cycle: usize,
    /// Whether it finds all norms of the cycles that it measures, and not ‖r‖₂ alone.
    finds_all_norms: bool,
    /// How many cycles fit into `parts`.
    together: usize,
    /// How many cycles the kernel makes in a launch, but for the last of a batch and where all norms of each are wanted.
    of_launch: usize,
    /// For each cycle, the sums of its parts, one per adding block, then the parts of its other norms.
    sums: CudaSlice<Norms>,
    sums_of_a_cycle: usize,
    blocks_of_a_cycle: usize,
    /// Norms of the cycles of a batch, on the GPU and on the host.
    cycles: CudaSlice<Norms>,
    pinned: PinnedHostSlice<Norms>,
    add_squares: CudaFunction,
    add_parts: CudaFunction,
    /// Without norms, and with them.
    recorded: [Vec<Recorded>; 2],
    /// How many graphs were recorded so far.
    graphs_recorded: u64,
    start: CudaEvent,
    end: CudaEvent,
    /// Seconds of a cycle, without norms and with them, once they are known.
    seconds: [Option<f64>; 2],
    /// Cycles that were begun ahead.
    pending: Option<Pending>,
}

impl GraphBatch {
    pub fn new(gpu: &Gpu, stream: &Arc<CudaStream>, parts: Parts) -> Result<Self, SolverError> {
        let parts_of_a_cycle = parts.squares;
        let blocks_of_a_cycle = parts_of_a_cycle.div_ceil(ADDED_TOGETHER);
        let sums_of_a_cycle = blocks_of_a_cycle + parts.others;
        let bytes = parts_of_a_cycle * size_of::<f64>() + sums_of_a_cycle * size_of::<Norms>();
        // Even, for the same reason as in a graph.
        let fewest = fewest(parts.cycles).max(2);
        let together = (PARTS_BYTES / bytes).clamp(fewest, MOST_RECORDED) / 2 * 2;
        // They depend on neither.
        let function = |name| gpu.function(File::Sums, Precision::F64, Form::Isotropic2d, name);
        let event = || gpu.check(gpu.context.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT)));
        // SAFETY: nothing is read of these arrays before it was written.
        let (squares, sums, cycles, pinned) = unsafe {
            (
                gpu.allocate(stream, parts_of_a_cycle * together)?,
                gpu.allocate(stream, sums_of_a_cycle * together)?,
                gpu.allocate(stream, MOST_CYCLES)?,
                gpu.check(gpu.context.alloc_pinned_with_flags(MOST_CYCLES, 0))?,
            )
        };
        Ok(Self {
            parts: squares,
            parts_of_a_cycle,
            finds_all_norms: parts.others > 0,
            sums,
            sums_of_a_cycle,
            blocks_of_a_cycle,
            together,
            of_launch: parts.cycles,
            cycles,
            pinned,
            add_squares: function("add_squares")?,
            add_parts: function("add_parts")?,
            recorded: Default::default(),
            graphs_recorded: 0,
            start: event()?,
            end: event()?,
            seconds: [None, None],
            pending: None,
        })
    }

    /// Whether it finds all norms of the cycles that it measures, and not ‖r‖₂ alone.
    pub fn finds_all_norms(&self) -> bool {
        self.finds_all_norms
    }

    /// How many cycles' sums are kept together.
    pub fn together(&self) -> usize {
        self.together
    }

    /// Drops recorded graphs and pending cycles, which were made for another request.
    pub fn reset(&mut self) -> Result<(), DriverError> {
        self.discard_pending()?;
        self.recorded = Default::default();
        Ok(())
    }

    /// Waits for the pending cycles and drops them.
    pub fn discard_pending(&mut self) -> Result<(), DriverError> {
        self.pending.take().map_or(Ok(()), |_| self.end.synchronize())
    }

    /// Begins cycles, at least one and at most `most`, for the next batch: the iterate and
    /// the one before stay where they are until then.
    pub fn begin(
        &mut self,
        cycles: &dyn Cycles,
        stream: &Arc<CudaStream>,
        iterates: Iterates,
        most: u64,
        measure: bool,
    ) -> Result<(), SolverError> {
        if self.pending.is_none() {
            let queued = self.enqueue(cycles, stream, iterates.apart(), most, measure);
            self.pending = Some(cycles.gpu().check(queued)?);
        }
        Ok(())
    }

    /// Makes at least one and at most `most` cycles, with norms or without: returns those of each
    /// cycle, how many there were, and the seconds that the GPU took. Pending cycles
    /// are used, unless they are too many or lack norms.
    pub fn batch(
        &mut self,
        cycles: &dyn Cycles,
        stream: &Arc<CudaStream>,
        iterates: &mut Iterates,
        most: u64,
        measure: bool,
    ) -> Result<(Vec<Norms>, u64, f64), SolverError> {
        let mut make = || {
            let is_of_no_use =
                |pending: &Pending| pending.count as u64 > most || measure && !pending.measure;
            if self.pending.as_ref().is_some_and(is_of_no_use) {
                self.discard_pending()?;
            }
            let queued = match self.pending.take() {
                Some(pending) => pending,
                None => self.enqueue(cycles, stream, *iterates, most, measure)?,
            };
            let found = self.wait(cycles, &queued)?;
            *iterates = queued.iterates;
            Ok(found)
        };
        cycles.gpu().check(make())
    }

    /// Puts at least one and at most `most` cycles into the stream.
    fn enqueue(
        &mut self,
        cycles: &dyn Cycles,
        stream: &Arc<CudaStream>,
        mut iterates: Iterates,
        most: u64,
        measure: bool,
    ) -> Result<Pending, DriverError> {
        let known = self.seconds[usize::from(measure)];
        let fit = known.map_or(2.0, |seconds| BATCH_SECONDS / seconds);
        let most = usize::try_from(most).unwrap_or(MOST_CYCLES).clamp(1, MOST_CYCLES);
        let fit = (fit as usize).max(fewest(self.of_launch));
        let count = self.in_graphs(fit, self.period(&iterates), measure).min(most);
        let count = iterates.until_exchange(count).min(most);
        let seconds = known.unwrap_or(0.0) * count as f64;
        let until = Instant::now() + Duration::from_secs_f64(seconds * NAP);
        self.start.record(stream)?;
        let recorded_before = self.graphs_recorded;
        let mut made = 0;
        let mut graph = 0;
        // Fewer cycles than a graph are not worth single launches: the next batch makes them.
        while made < count && count - made >= graph {
            let (some, is_graph) =
                self.some(cycles, stream, &mut iterates, made..count, measure)?;
            made += some;
            graph = if is_graph { some } else { graph };
        }
        let count = made;
        if measure {
            fetch(stream, &self.cycles, &mut self.pinned.as_mut_slice()?[..count])?;
        }
        self.end.record(stream)?;
        let has_recorded = self.graphs_recorded > recorded_before;
        Ok(Pending { iterates, count, measure, has_recorded, until })
    }

    /// As many cycles, or as a graph has that is recorded already and is not much longer. A graph that is, since cycles have
    /// become slower, is dropped: single launches would take its place, and be slower still. None is shorter than `period`.
    fn in_graphs(&mut self, count: usize, period: usize, measure: bool) -> usize {
        let recorded = &mut self.recorded[usize::from(measure)];
        recorded.retain(|recorded| 2 * recorded.length <= 3 * count.max(period));
        let lengths = recorded.iter().map(|recorded| recorded.length);
        lengths.filter(|length| 2 * length <= 3 * count).fold(count, usize::max)
    }

    /// Waits for cycles in the stream.
    fn wait(
        &mut self,
        cycles: &dyn Cycles,
        queued: &Pending,
    ) -> Result<(Vec<Norms>, u64, f64), DriverError> {
        // Waiting in the driver keeps a core busy, so it is limited to the end of a batch.
        std::thread::sleep(queued.until.saturating_duration_since(Instant::now()));
        cycles.wait(&self.end)?;
        let Pending { count, measure, has_recorded, .. } = *queued;
        let norms = if measure { self.pinned.as_slice()?[..count].to_vec() } else { Vec::new() };
        let seconds = cycles.slowest(f64::from(self.start.elapsed_ms(&self.end)?) * 1e-3)?;
        // With the time of a recording, a cycle would seem to take so long that a shorter graph is recorded, and after that a
        // longer one again.
        let known = &mut self.seconds[usize::from(measure)];
        if known.is_none() || !has_recorded {
            *known = Some((seconds / count as f64).max(1e-7));
        }
        Ok((norms, count as u64, seconds))
    }

    /// Puts some cycles into the stream, at most as many as `room` has places in `self.cycles` for their
    /// norms. Returns how many, and whether as a graph.
    fn some(
        &mut self,
        cycles: &dyn Cycles,
        stream: &Arc<CudaStream>,
        iterates: &mut Iterates,
        room: Range<usize>,
        measure: bool,
    ) -> Result<(usize, bool), DriverError> {
        let (count, is_graph) = match self.graph(cycles, stream, *iterates, measure)? {
            Some(recorded) if recorded.length <= room.len() => {
                recorded.graph.launch()?;
                // It ends where it began, and came from the other array.
                iterates.before = iterates.next();
                (recorded.length, true)
            }
            recorded => {
                // Where a graph cannot begin yet, one cycle precedes it.
                let is_before = recorded.is_none()
                    && self.seconds[usize::from(measure)].is_some()
                    && self.period(iterates) <= self.most_recorded(cycles, iterates, measure);
                let count = if is_before { 1 } else { room.len().min(self.together) };
                self.launch(cycles, stream, iterates, count, measure)?;
                (count, false)
            }
        };
        if measure {
            self.add(stream, room.start, count)?;
        }
        Ok((count, is_graph))
    }

    /// Adds up the parts of some cycles into the norms of the batch, from `first` on.
    fn add(
        &mut self,
        stream: &Arc<CudaStream>,
        first: usize,
        count: usize,
    ) -> Result<(), DriverError> {
        let mut to = self.cycles.slice_mut(first..first + count);
        let config = |down: usize| LaunchConfig {
            grid_dim: (count as u32, down as u32, 1),
            block_dim: (ADDING_THREADS, 1, 1),
            shared_mem_bytes: 0,
        };
        let [parts, sums] = [self.parts_of_a_cycle, self.sums_of_a_cycle].map(|n| n as i64);
        let together = ADDED_TOGETHER as i64;
        let is_sum = self.sums_of_a_cycle == 1;
        let mut add = stream.launch_builder(&self.add_squares);
        add.arg(&self.parts).arg(&parts).arg(&together);
        if is_sum {
            add.arg(&mut to)
        } else {
            add.arg(&mut self.sums)
        };
        add.arg(&sums);
        // SAFETY: the arguments are those of `observe.cu`; one block per sum.
        unsafe { add.launch(config(self.blocks_of_a_cycle)) }?;
        if is_sum {
            return Ok(());
        }
        let mut add = stream.launch_builder(&self.add_parts);
        add.arg(&self.sums).arg(&sums).arg(&sums).arg(&mut to);
        // SAFETY: as above; one block per cycle.
        unsafe { add.launch(config(1)) }.map(|_| ())
    }

    /// Puts cycles into the stream one by one.
    fn launch(
        &self,
        cycles: &dyn Cycles,
        stream: &Arc<CudaStream>,
        iterates: &mut Iterates,
        count: usize,
        measure: bool,
    ) -> Result<(), DriverError> {
        let [(parts, _parts), (sums, _sums)] =
            [self.parts.device_ptr(stream), self.sums.device_ptr(stream)];
        let of_launch = if measure && self.finds_all_norms { 1 } else { self.of_launch };
        let mut cycle = 0;
        while cycle < count {
            // The last cycle is made alone: the iterate before it is kept. So is one that leaves an array for others, which
            // several cycles may write.
            let is_one_of_several = cycle + of_launch < count && iterates.alternate();
            let together = if is_one_of_several { of_launch } else { 1 };
            let at = |first: Pointer, index: usize, bytes: usize| first + (index * bytes) as u64;
            let own = at(parts, cycle * self.parts_of_a_cycle, size_of::<f64>());
            let (squares, apart) = (if measure { own } else { 0 }, self.parts_of_a_cycle);
            let step = iterates.step(squares, cycle, together, apart);
            let first = cycle * self.sums_of_a_cycle + self.blocks_of_a_cycle;
            let own = at(sums, first, size_of::<Norms>());
            let parts = if measure && self.finds_all_norms { own } else { 0 };
            cycles.launch(stream, step, Others { parts, exact: iterates.exact })?;
            cycle += together;
        }
        cycles.join(stream)
    }

    /// The fewest cycles of a graph, of which it has a multiple.
    fn period(&self, iterates: &Iterates) -> usize {
        iterates.period().max(fewest(self.of_launch))
    }

    /// The most cycles of a graph.
    fn most_recorded(&self, cycles: &dyn Cycles, iterates: &Iterates, measure: bool) -> usize {
        let wanted = cycles.most_recorded().max(self.period(iterates));
        wanted.min(if measure { self.together } else { MOST_RECORDED })
    }

    /// The graph that begins at the present iterate, recorded as soon as the time of a cycle is known;
    /// `None` where no graph begins.
    fn graph(
        &mut self,
        cycles: &dyn Cycles,
        stream: &Arc<CudaStream>,
        iterates: Iterates,
        measure: bool,
    ) -> Result<Option<&Recorded>, DriverError> {
        let kind = usize::from(measure);
        let (Some(seconds), true) = (self.seconds[kind], iterates.is_at_beginning()) else {
            return Ok(None);
        };
        let arrays = [iterates.current, iterates.next()];
        let is_here = |recorded: &Recorded| recorded.arrays == arrays;
        let period = self.period(&iterates);
        let most = self.most_recorded(cycles, &iterates, measure);
        if period > most {
            return Ok(None);
        }
        let of_graph = BATCH_SECONDS / cycles.graphs_of_a_batch();
        let length = ((of_graph / seconds) as usize).clamp(period, most) / period * period;
        // The first cycles take longer than those that follow, so a graph that is too short is recorded
        // again.
        self.recorded[kind]
            .retain(|recorded| !is_here(recorded) || 3 * recorded.length > 2 * length);
        if !self.recorded[kind].iter().any(is_here) {
            stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
            let queued = self.launch(cycles, stream, &mut { iterates }, length, measure);
            // Without this flag, the tiles at borders between devices would be computed after all others.
            let by_priority =
                CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
            let graph = stream.end_capture(by_priority)?;
            queued?;
            let recorded = graph.map(|graph| Recorded { graph, arrays, length });
            self.recorded[kind].extend(recorded);
            self.graphs_recorded += 1;
        }
        Ok(self.recorded[kind].iter().find(|recorded| is_here(recorded)))
    }
}

/// The fewest cycles of a batch whose kernel makes this odd number together: three launches and one cycle alone, an even
/// number; 1 where it makes them one by one.
fn fewest(of_launch: usize) -> usize {
    if of_launch == 1 { 1 } else { 3 * of_launch + 1 }
}

impl Drop for GraphBatch {
    fn drop(&mut self) {
        // Pending cycles write to memory that is about to be freed. On a lost GPU nothing is pending.
        _ = self.discard_pending();
    }
}

/// Copies the first values of an array to pinned memory of the host, asynchronously.
pub(super) fn fetch<T: DeviceRepr>(
    stream: &Arc<CudaStream>,
    from: &CudaSlice<T>,
    to: &mut [T],
) -> Result<(), DriverError> {
    assert!(to.len() <= from.len(), "no more than there is");
    let (from, _ordered) = from.device_ptr(stream);
    // SAFETY: no more values than the array has; the caller waits for the stream before it reads them.
    unsafe { result::memcpy_dtoh_async(to, from, stream.cu_stream()) }
}

impl Gpu {
    /// Allocates room for values on the GPU.
    ///
    /// # Safety
    /// The values are not initialized.
    pub unsafe fn allocate<T: DeviceRepr>(
        &self,
        stream: &Arc<CudaStream>,
        values: usize,
    ) -> Result<CudaSlice<T>, SolverError> {
        use cudarc::driver::sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY;
        // SAFETY: as the caller promises.
        match unsafe { stream.alloc(values) } {
            Err(error) if error.0 == CUDA_ERROR_OUT_OF_MEMORY => Err(SolverError::DeviceMemory {
                gpu: self.name.clone(),
                needed: (values * size_of::<T>()) as u64,
                free: self.free()?,
            }),
            answer => self.check(answer),
        }
    }
}
