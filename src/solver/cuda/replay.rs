//! Cycles on a card, many at a time: recorded once as a graph, and replayed, so that launches cost
//! next to nothing.

use super::arguments::{Norms, Pointer};
use super::card::Card;
use super::ptx::File;
use super::rung::{DeviceSystem, Rung, Step};
use crate::grid::Real;
use crate::solver::SolverError;
use cudarc::driver::sys::{CUevent_flags, CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{
    CudaEvent, CudaFunction, CudaGraph, CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError,
    LaunchConfig, PinnedHostSlice, PushKernelArg, result,
};
use std::sync::Arc;
use std::time::Duration;

/// Seconds that a batch takes: short enough that a new wish is heard at once, long enough that
/// waiting for the card costs nothing.
const BATCH_SECONDS: f64 = 7.5e-3;

/// The part of a batch that is slept through; the rest is waited for, so that no time is lost.
const NAP: f64 = 0.75;

/// The most cycles of a batch.
const MOST_CYCLES: usize = 4096;

/// Seconds of cycles in a graph, and the most cycles; always an even number, so that a graph ends in
/// the array that it began in.
const GRAPH_SECONDS: f64 = 1e-3;
const MOST_RECORDED: usize = 256;

/// Bytes that the parts of norms may take.
const PARTS_BYTES: usize = 64 << 20;

/// Threads of the kernel that adds parts, and how many parts a block adds, unless there are few.
const ADDING_THREADS: u32 = 256;
const ADDED_TOGETHER: usize = 2048;

/// A recorded graph.
struct Recorded(CudaGraph);

// SAFETY: a graph may be used by any thread, by one at a time; it stays with its solver.
unsafe impl Send for Recorded {}

/// The two arrays that cycles go to and fro between, and where the present iterate is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Iterates {
    /// The first interior point of each.
    pub arrays: [Pointer; 2],
    /// Which of them holds the iterate.
    pub current: usize,
    /// That of u*; 0 if it is not known.
    pub exact: Pointer,
}

impl Iterates {
    fn step(&mut self, norms: Pointer) -> Step {
        let [from, to] = [self.current, 1 - self.current].map(|array| self.arrays[array]);
        self.current = 1 - self.current;
        Step { from, to, exact: if norms == 0 { 0 } else { self.exact }, norms }
    }
}

/// The means to make batches of cycles with one rung.
pub(super) struct Replay {
    /// Norms of the parts of the cycles that are made together, cycle by cycle.
    parts: CudaSlice<Norms>,
    parts_of_a_cycle: usize,
    /// So many cycles fit into `parts`.
    together: usize,
    /// Their sums, where there are too many for one block to add.
    sums: CudaSlice<Norms>,
    sums_of_a_cycle: usize,
    /// Norms of the cycles of a batch, there and here.
    cycles: CudaSlice<Norms>,
    pinned: PinnedHostSlice<Norms>,
    add_parts: CudaFunction,
    /// Graphs that begin in the first array, with the number of their cycles: with norms and without.
    recorded: [Option<(Recorded, usize)>; 2],
    start: CudaEvent,
    end: CudaEvent,
    /// Seconds of a cycle, with norms and without, once they are known.
    seconds: [Option<f64>; 2],
}

impl Replay {
    pub fn new<R>(
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        rung: &dyn Rung<R>,
    ) -> Result<Self, SolverError> {
        let card = &system.card;
        let parts_of_a_cycle = rung.parts();
        let bytes = parts_of_a_cycle * size_of::<Norms>();
        // Even, for the same reason as in a graph.
        let together = (PARTS_BYTES / bytes).clamp(2, MOST_RECORDED) / 2 * 2;
        let event = || card.told(card.context.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT)));
        let sums_of_a_cycle = parts_of_a_cycle.div_ceil(ADDED_TOGETHER);
        // SAFETY: nothing is read of these arrays before it was written.
        let (parts, sums, cycles, pinned) = unsafe {
            (
                card.allocate(stream, parts_of_a_cycle * together)?,
                card.allocate(stream, sums_of_a_cycle * together)?,
                card.allocate(stream, MOST_CYCLES)?,
                card.told(card.context.alloc_pinned_with_flags(MOST_CYCLES, 0))?,
            )
        };
        Ok(Self {
            parts,
            parts_of_a_cycle,
            sums,
            sums_of_a_cycle,
            together,
            cycles,
            pinned,
            add_parts: card.function(File::Observe, system.precision, system.form, "add_parts")?,
            recorded: [None, None],
            start: event()?,
            end: event()?,
            seconds: [None, None],
        })
    }

    /// Forgets what was recorded: it is no longer what is wanted.
    pub fn forget(&mut self) {
        self.recorded = [None, None];
    }

    /// Makes at least one and at most `most` cycles, with norms or without: gives those of each
    /// cycle, how many there were, and the seconds that the card took.
    pub fn batch<R: Real + DeviceRepr>(
        &mut self,
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        rung: &dyn Rung<R>,
        iterates: &mut Iterates,
        most: u64,
        measure: bool,
    ) -> Result<(Vec<Norms>, u64, f64), SolverError> {
        let known = self.seconds[usize::from(measure)];
        let fit = known.map_or(2.0, |seconds| BATCH_SECONDS / seconds);
        let most = usize::try_from(most).unwrap_or(MOST_CYCLES).clamp(1, MOST_CYCLES);
        let count = (fit as usize).clamp(1, most);
        // The driver waits at the cost of a core; for most of a batch, nobody needs to.
        let nap = Duration::from_secs_f64(known.unwrap_or(0.0) * count as f64 * NAP);
        let mut make = || -> Result<(Vec<Norms>, f64), DriverError> {
            self.start.record(stream)?;
            let mut made = 0;
            while made < count {
                made += self.some(system, stream, rung, iterates, made, count - made, measure)?;
            }
            if measure {
                fetch(stream, &self.cycles, &mut self.pinned.as_mut_slice()?[..count])?;
            }
            self.end.record(stream)?;
            std::thread::sleep(nap);
            self.end.synchronize()?;
            let norms =
                if measure { self.pinned.as_slice()?[..count].to_vec() } else { Vec::new() };
            Ok((norms, f64::from(self.start.elapsed_ms(&self.end)?) * 1e-3))
        };
        let (norms, seconds) = system.card.told(make())?;
        let a_cycle = seconds / count as f64;
        self.seconds[usize::from(measure)] = Some(a_cycle.max(1e-7));
        Ok((norms, count as u64, seconds))
    }

    /// Asks the card for some cycles, at most `left`; their norms go to `self.cycles[first..]`.
    #[allow(clippy::too_many_arguments)]
    fn some<R: Real + DeviceRepr>(
        &mut self,
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        rung: &dyn Rung<R>,
        iterates: &mut Iterates,
        first: usize,
        left: usize,
        measure: bool,
    ) -> Result<usize, DriverError> {
        let count = match self.graph(system, stream, rung, *iterates, measure)? {
            Some((graph, length)) if iterates.current == 0 && *length <= left => {
                graph.0.launch()?;
                *length
            }
            // One cycle, and the next graph begins where it must.
            Some(_) if iterates.current == 1 => {
                self.launch(system, stream, rung, iterates, 1, measure)?;
                1
            }
            _ => {
                let count = left.min(self.together);
                self.launch(system, stream, rung, iterates, count, measure)?;
                count
            }
        };
        if measure {
            self.add(stream, first, count)?;
        }
        Ok(count)
    }

    /// Adds up the parts of some cycles, to the norms of the batch from `first` on.
    fn add(
        &mut self,
        stream: &Arc<CudaStream>,
        first: usize,
        count: usize,
    ) -> Result<(), DriverError> {
        let mut to = self.cycles.slice_mut(first..first + count);
        let parts = self.parts_of_a_cycle as i64;
        let config = |down: usize| LaunchConfig {
            grid_dim: (count as u32, down as u32, 1),
            block_dim: (ADDING_THREADS, 1, 1),
            shared_mem_bytes: 0,
        };
        let sums = self.sums_of_a_cycle as i64;
        let mut add = stream.launch_builder(&self.add_parts);
        if self.sums_of_a_cycle == 1 {
            add.arg(&self.parts).arg(&parts).arg(&parts).arg(&mut to);
            // SAFETY: the arguments are those of `observe.cu`; a block a cycle.
            return unsafe { add.launch(config(1)) }.map(|_| ());
        }
        let together = ADDED_TOGETHER as i64;
        add.arg(&self.parts).arg(&parts).arg(&together).arg(&mut self.sums);
        // SAFETY: as above; a block a sum.
        unsafe { add.launch(config(self.sums_of_a_cycle)) }?;
        let mut add = stream.launch_builder(&self.add_parts);
        add.arg(&self.sums).arg(&sums).arg(&sums).arg(&mut to);
        // SAFETY: as above; a block a cycle.
        unsafe { add.launch(config(1)) }.map(|_| ())
    }

    /// Asks the card for cycles, one by one.
    fn launch<R: Real + DeviceRepr>(
        &self,
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        rung: &dyn Rung<R>,
        iterates: &mut Iterates,
        count: usize,
        measure: bool,
    ) -> Result<(), DriverError> {
        let (parts, _ordered) = self.parts.device_ptr(stream);
        let bytes = (self.parts_of_a_cycle * size_of::<Norms>()) as u64;
        for cycle in 0..count as u64 {
            let norms = if measure { parts + cycle * bytes } else { 0 };
            rung.launch(stream, system, iterates.step(norms))?;
        }
        Ok(())
    }

    /// The graph with norms or without, recorded when it is known how long a cycle takes.
    fn graph<R: Real + DeviceRepr>(
        &mut self,
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        rung: &dyn Rung<R>,
        iterates: Iterates,
        measure: bool,
    ) -> Result<Option<&(Recorded, usize)>, DriverError> {
        let kind = usize::from(measure);
        if let (None, Some(seconds)) = (&self.recorded[kind], self.seconds[kind]) {
            let most = if measure { self.together } else { MOST_RECORDED };
            let length = ((GRAPH_SECONDS / seconds) as usize).clamp(2, most) / 2 * 2;
            stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
            let mut from_first = Iterates { current: 0, ..iterates };
            let asked = self.launch(system, stream, rung, &mut from_first, length, measure);
            let graph = stream.end_capture(CUgraphInstantiate_flags(0))?;
            asked?;
            self.recorded[kind] = graph.map(|graph| (Recorded(graph), length));
        }
        Ok(self.recorded[kind].as_ref())
    }
}

/// Asks for the first values of an array, to memory that the card can write to by itself. They are
/// there when the stream has come so far.
pub(super) fn fetch<T: DeviceRepr>(
    stream: &Arc<CudaStream>,
    from: &CudaSlice<T>,
    to: &mut [T],
) -> Result<(), DriverError> {
    assert!(to.len() <= from.len(), "no more than there is");
    let (from, _ordered) = from.device_ptr(stream);
    // SAFETY: as many values as are there; whoever asks waits for the stream before they look.
    unsafe { result::memcpy_dtoh_async(to, from, stream.cu_stream()) }
}

impl Card {
    /// Room for values on the card; a refusal says how much was needed.
    ///
    /// # Safety
    /// What is there is not set.
    pub unsafe fn allocate<T: DeviceRepr>(
        &self,
        stream: &Arc<CudaStream>,
        values: usize,
    ) -> Result<CudaSlice<T>, SolverError> {
        use cudarc::driver::sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY;
        // SAFETY: as the caller promises.
        match unsafe { stream.alloc(values) } {
            Err(error) if error.0 == CUDA_ERROR_OUT_OF_MEMORY => Err(SolverError::DeviceMemory {
                card: self.name.clone(),
                needed: (values * size_of::<T>()) as u64,
                free: self.free()?,
            }),
            answer => self.told(answer),
        }
    }
}
