//! A pass on a GPU: three streams that wait for each other, and the working arrays.

use super::followed::Followed;
use super::ring::{Ring, rounded};
use super::sweep::PlaneSweep;
use crate::solver::cuda::arguments::Pointer;
use crate::solver::cuda::gpu::Gpu;
use crate::solver::cuda::real::DeviceReal;
use crate::solver::pass::FARTHEST;
use crate::solver::pass_times::MOST_TIMED;
use crate::solver::streaming::{Planes, Traffic};
use crate::solver::{Pass, PassTimes, SolverError, Step, StepTimes};
use cudarc::driver::sys::CUevent_flags;
use cudarc::driver::{CudaEvent, CudaStream, DriverError, result};
use std::ops::Range;
use std::sync::Arc;

/// Working arrays on a GPU.
pub(super) struct Window {
    /// Two iterates: a sweep reads one and writes the other.
    levels: [Ring; 2],
    /// The right-hand side over the diagonal.
    g: Ring,
}

impl Window {
    /// Those of a pass, with so many bytes from a plane to the next. Another GPU may be the `writer` of the iterate.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU has no room for them.
    pub fn of(
        gpu: &Arc<Gpu>,
        pass: &Pass,
        plane_bytes: usize,
        writer: Option<&Gpu>,
    ) -> Result<Vec<Self>, SolverError> {
        let bytes = pass.window_planes().saturating_mul(plane_bytes);
        gpu.check_room(self::bytes(gpu, pass, plane_bytes)?)?;
        let window = |_| {
            let ring = |writer| Ring::new(gpu, bytes, writer);
            Ok(Self { levels: [ring(writer)?, ring(None)?], g: ring(None)? })
        };
        (0..pass.windows()).map(window).collect()
    }

    /// The array that an iterate comes to.
    pub fn input(&self) -> &Ring {
        &self.levels[0]
    }

    /// The array that has an iterate after so many sweeps.
    pub fn output(&self, sweeps: usize) -> &Ring {
        &self.levels[sweeps % 2]
    }

    /// Fills them with NaN.
    pub fn poison(&self, stream: &CudaStream) -> Result<(), DriverError> {
        let [first, second] = &self.levels;
        [first, second, &self.g].into_iter().try_for_each(|array| array.fill(u8::MAX, stream))
    }
}

/// Bytes of the windows of a pass.
pub(super) fn bytes(gpu: &Gpu, pass: &Pass, plane_bytes: usize) -> Result<u64, SolverError> {
    let array = pass.window_planes().saturating_mul(plane_bytes);
    Ok(gpu.check(rounded(gpu, array))?.saturating_mul(3 * pass.windows()) as u64)
}

/// A lane: its stream, and the events that say how far it has come.
struct Lane {
    stream: Arc<CudaStream>,
    /// That of each of the last steps.
    events: Vec<CudaEvent>,
    /// When a pass began or ended.
    time: CudaEvent,
    /// When it began and ended its part of each of the first steps.
    parts: Vec<[CudaEvent; 2]>,
}

impl Lane {
    fn new(gpu: &Gpu) -> Result<Self, SolverError> {
        let stream = gpu.stream()?;
        let events = (0..FARTHEST).map(|_| gpu.context.new_event(None)).collect();
        let timed = || gpu.context.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT));
        let parts = (0..MOST_TIMED).map(|_| Ok([timed()?, timed()?])).collect();
        Ok(Self {
            stream,
            events: gpu.check(events)?,
            time: gpu.check(timed())?,
            parts: gpu.check(parts)?,
        })
    }

    /// Records that it begins its part of a step, if that is timed.
    fn begins(&self, work: &Work<'_, impl DeviceReal>, number: usize) -> Result<(), DriverError> {
        match self.parts.get(number).filter(|_| work.is_timed) {
            Some([begin, _]) => begin.record(&self.stream),
            None => Ok(()),
        }
    }

    /// Seconds from an event to the beginning and to the end of its part of a step.
    fn times(&self, since: &CudaEvent, number: usize) -> Result<[f64; 2], DriverError> {
        let [begin, end] = &self.parts[number];
        let seconds = |event| Ok(f64::from(since.elapsed_ms(event)?) / 1e3);
        Ok([seconds(begin)?, seconds(end)?])
    }

    /// Records that it has made its part of a step.
    fn made(&self, work: &Work<'_, impl DeviceReal>, number: usize) -> Result<(), DriverError> {
        if let Some([_, end]) = self.parts.get(number).filter(|_| work.is_timed) {
            end.record(&self.stream)?;
        }
        self.events[number % FARTHEST].record(&self.stream)
    }

    /// Waits until another lane has made its part of a step.
    fn wait_for(&self, other: &Self, number: usize) -> Result<(), DriverError> {
        self.stream.wait(&other.events[number % FARTHEST])
    }
}

/// The lanes of a GPU: planes are copied up, swept and copied down at the same time.
pub(super) struct Lanes {
    up: Lane,
    sweeps: Lane,
    down: Lane,
}

/// The arrays of one grid, or of one system of a batch, on this machine, with their boundary planes.
pub(super) struct Slow<'a, R> {
    pub from: &'a [R],
    pub g: &'a [R],
    pub to: &'a mut [R],
}

/// What a pass works with.
pub(super) struct Work<'a, R> {
    pub pass: &'a Pass,
    pub windows: &'a [Window],
    pub sweep: &'a PlaneSweep<R>,
    pub axis: Planes,
    /// What is moved and computed is added here.
    pub traffic: Traffic,
    /// Whether its steps are timed.
    pub is_timed: bool,
    /// Where the GPU notes how far it has come, if it does.
    pub followed: Option<&'a Followed>,
}

impl Lanes {
    pub fn new(gpu: &Gpu) -> Result<Self, SolverError> {
        Ok(Self { up: Lane::new(gpu)?, sweeps: Lane::new(gpu)?, down: Lane::new(gpu)? })
    }

    /// The stream of the sweeps.
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.sweeps.stream
    }

    /// That of what comes to the window.
    pub fn up(&self) -> &Arc<CudaStream> {
        &self.up.stream
    }

    /// That of what leaves it.
    pub fn down(&self) -> &Arc<CudaStream> {
        &self.down.stream
    }

    /// All of them.
    pub fn streams(&self) -> [&Arc<CudaStream>; 3] {
        [self.up(), self.stream(), self.down()]
    }

    /// Notes that a pass begins.
    ///
    /// # Errors
    /// [`DriverError`] if the GPU fails, as below.
    pub fn begin(&self) -> Result<(), DriverError> {
        self.up.time.record(&self.up.stream)
    }

    /// Begins a system of a batch: the one before has left its planes behind.
    pub fn begin_system(&self) -> Result<(), DriverError> {
        self.up.stream.join(&self.sweeps.stream)?;
        self.up.stream.join(&self.down.stream)
    }

    /// Notes that a pass ends.
    pub fn end(&self) -> Result<(), DriverError> {
        self.down.time.record(&self.down.stream)
    }

    /// Waits for all that was enqueued. Either way no copy is under way any more.
    pub fn wait(&self) -> Result<(), DriverError> {
        let waited = self.streams().map(|stream| stream.synchronize());
        waited.into_iter().fold(Ok(()), Result::and)
    }

    /// Seconds from the beginning to the end of the last pass, by the GPU.
    pub fn seconds(&self) -> Result<f64, DriverError> {
        Ok(f64::from(self.up.time.elapsed_ms(&self.down.time)?) / 1e3)
    }

    /// When the first steps of the last pass were made; it must have ended.
    ///
    /// # Errors
    /// [`DriverError`] if the GPU fails.
    pub fn times<R: DeviceReal>(
        &self,
        pass: &Pass,
        sweep: &PlaneSweep<R>,
        points: usize,
    ) -> Result<PassTimes, DriverError> {
        let since = &self.up.time;
        let timed = pass.steps().min(MOST_TIMED);
        let steps = (0..timed).map(|number| {
            let [up, sweeps, down] =
                [&self.up, &self.sweeps, &self.down].map(|lane| lane.times(since, number));
            Ok(StepTimes { up: up?, sweeps: sweeps?, down: down? })
        });
        Ok(PassTimes {
            steps: steps.collect::<Result<_, DriverError>>()?,
            traffic: pass.traffic_of(timed, points, sweep.sweeps_together(), |sweeps, planes| {
                sweep.updates(sweeps, planes)
            }),
            seconds: self.seconds()?,
        })
    }

    /// Enqueues the copies up of a step of a pass over one system. Of the iterate of a device that follows another they are
    /// those of the boundary.
    pub fn copy_up<R: DeviceReal>(
        &self,
        work: &mut Work<'_, R>,
        slow: &Slow<'_, R>,
        number: usize,
    ) -> Result<(), DriverError> {
        let (Self { up, sweeps, down }, step) = (self, &work.pass.step(number));
        // Another device may have had the thread.
        up.stream.context().bind_to_thread()?;
        if let Some(after) = step.after {
            up.wait_for(sweeps, after)?;
            up.wait_for(down, after)?;
        }
        up.begins(work, number)?;
        let planes = &step.up;
        if !planes.is_empty() {
            let window = &work.windows[step.window];
            let copy = |slow: &[R], ring: &Ring, planes: Range<usize>| {
                let slow = &slow[work.stored(&planes)];
                for (to, bytes) in ring.parts(work.bytes(step, planes.start), size_of_val(slow)) {
                    let from = &slow[values::<R>(bytes)];
                    // SAFETY: the ring has room for the planes, and whoever enqueues waits until they are copied.
                    unsafe { result::memcpy_htod_async(to, from, up.stream.cu_stream()) }?;
                }
                Ok::<_, DriverError>(())
            };
            copy(slow.g, &window.g, planes.clone())?;
            let arrays = if work.pass.follows() {
                for plane in work.boundary_in(planes) {
                    copy(slow.from, window.input(), plane..plane + 1)?;
                }
                1
            } else {
                copy(slow.from, window.input(), planes.clone())?;
                2
            };
            let inside = planes.end.min(work.axis.count + 1).saturating_sub(planes.start.max(1));
            work.traffic.up += arrays * (inside * work.axis.points) as u64;
        }
        Ok(())
    }

    /// Notes that the part of a step begins in which planes leave the window: it waits for the sweeps.
    pub fn begin_down<R: DeviceReal>(
        &self,
        work: &Work<'_, R>,
        number: usize,
    ) -> Result<(), DriverError> {
        self.down.wait_for(&self.sweeps, number)?;
        self.down.begins(work, number)
    }

    /// Enqueues the sweeps of a step, whose planes have come. Before them, the second array gets what they read there and
    /// never write: boundary planes, and the boundary values around other planes.
    pub fn sweep<R: DeviceReal>(
        &self,
        work: &mut Work<'_, R>,
        number: usize,
    ) -> Result<(), DriverError> {
        let (Self { up, sweeps, .. }, step) = (self, &work.pass.step(number));
        up.made(work, number)?;
        sweeps.wait_for(up, number)?;
        sweeps.begins(work, number)?;
        let window = &work.windows[step.window];
        let [first, second] = &window.levels;
        let planes = &step.up;
        if !planes.is_empty() {
            let start = work.bytes(step, planes.start);
            let rims = [first, second].map(|ring| ring.at(start));
            work.sweep.copy_rims(&sweeps.stream, rims, planes.len())?;
            for plane in work.boundary_in(planes) {
                let bytes = work.axis.stored * size_of::<R>();
                let [from, to] =
                    [first, second].map(|ring| ring.parts(work.bytes(step, plane), bytes));
                for ((from, bytes), (to, _)) in from.zip(to) {
                    let stream = sweeps.stream.cu_stream();
                    // SAFETY: both rings have room for the plane, and are cut at the same bytes.
                    unsafe { result::memcpy_dtod_async(to, from, bytes.len(), stream) }?;
                }
            }
        }
        for made in work.pass.sweeps_by(work.sweep.sweeps_together()) {
            let Some(planes) = work.pass.swept_together(number, &made) else { continue };
            let (from, to) = if made.start % 2 == 1 { (first, second) } else { (second, first) };
            // The plane before is read, too: from there on they are contiguous.
            let plane = (work.axis.stored * size_of::<R>()) as Pointer;
            let before = work.bytes(step, planes.swept.start - 1);
            let start = [from, &window.g, to].map(|ring| ring.at(before) + plane);
            match made.len() {
                1 => work.sweep.launch(&sweeps.stream, start, planes.swept.len())?,
                _ => work.sweep.launch_together(&sweeps.stream, start, &planes)?,
            }
            if let Some(followed) = work.followed {
                followed.enqueue(&sweeps.stream, number, made.end - 1)?;
            }
            work.traffic.updates += work.sweep.updates(made.len(), &planes);
        }
        sweeps.made(work, number)
    }

    /// Enqueues the copies down of a step, unless its planes were `handed_on` to another device.
    pub fn copy_down<R: DeviceReal>(
        &self,
        work: &mut Work<'_, R>,
        slow: &mut Slow<'_, R>,
        number: usize,
        handed_on: bool,
    ) -> Result<(), DriverError> {
        let (Self { down, .. }, step) = (self, work.pass.step(number));
        let planes = &step.down;
        if planes.is_empty() {
            self.begin_down(work, number)?;
        } else if !handed_on {
            self.begin_down(work, number)?;
            let ring = work.windows[step.window].output(work.pass.height());
            let slow = &mut slow.to[work.stored(planes)];
            for (from, bytes) in ring.parts(work.bytes(&step, planes.start), size_of_val(slow)) {
                let to = &mut slow[values::<R>(bytes)];
                // SAFETY: the planes lie in the ring, and whoever enqueues waits until they are copied.
                unsafe { result::memcpy_dtoh_async(to, from, down.stream.cu_stream()) }?;
            }
            work.traffic.down += (planes.len() * work.axis.points) as u64;
        }
        down.made(work, number)
    }
}

/// The values that some bytes are: a ring is as long as a whole number of values.
fn values<R>(bytes: Range<usize>) -> Range<usize> {
    bytes.start / size_of::<R>()..bytes.end / size_of::<R>()
}

impl<R: DeviceReal> Work<'_, R> {
    /// The stored values of some planes in slow memory.
    fn stored(&self, planes: &Range<usize>) -> Range<usize> {
        planes.start * self.axis.stored..planes.end * self.axis.stored
    }

    /// The boundary planes among these.
    fn boundary_in(&self, planes: &Range<usize>) -> impl Iterator<Item = usize> + use<R> {
        let planes = planes.clone();
        [0, self.axis.count + 1].into_iter().filter(move |plane| planes.contains(plane))
    }

    /// Where a plane of a step lies in its rings.
    pub fn bytes(&self, step: &Step, plane: usize) -> usize {
        (plane - step.origin) * self.axis.stored * size_of::<R>()
    }
}
