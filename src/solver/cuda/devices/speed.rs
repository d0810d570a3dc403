//! How fast each of the GPUs that share a grid makes the cycles of its own tiles.

use super::part::Part;
use super::share::DeviceShare;
use crate::solver::SolverError;
use crate::solver::cuda::cycle_kernel::Step;
use crate::solver::cuda::graph_batch::Others;
use cudarc::driver::DriverError;
use cudarc::driver::sys::CUevent_flags;

/// Cycles before those that are timed: the first may take longer.
const WARMING: usize = 3;

/// Seconds of a measurement: long beside the launch of a cycle.
const ENOUGH: f64 = 0.02;

/// The most cycles of a measurement.
const MOST: usize = 1 << 12;

/// Rows of tiles that each device makes per second, one device after the other. Its iterate is undefined then.
///
/// # Errors
/// [`SolverError`] if a GPU fails.
pub(super) fn measure<P: Part>(
    shares: &[DeviceShare<P>],
    tiles: impl Iterator<Item = usize>,
) -> Result<Vec<f64>, SolverError> {
    let speed = |(share, tiles): (&DeviceShare<P>, usize)| {
        Ok(tiles as f64 / share.gpu.check(seconds_of_cycle(share))?)
    };
    shares.iter().zip(tiles).map(speed).collect()
}

/// Seconds of a cycle of a device, without exchange and norms.
fn seconds_of_cycle<P: Part>(share: &DeviceShare<P>) -> Result<f64, DriverError> {
    let stream = &share.streams.border;
    let event = || share.gpu.context.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT));
    let [begin, end] = [event()?, event()?];
    let arrays = share.arrays.each_ref().map(|array| array.interior);
    let cycles = |count: usize| {
        (0..count).try_for_each(|cycle| {
            let [from, to] = [arrays[cycle % 2], arrays[1 - cycle % 2]];
            let step =
                Step { from, to, squares: 0, index: 0, cycles: 1, apart: 0, exchanges: false };
            let none = Others { parts: 0, exact: 0 };
            share.part.launch_borders(stream, step, none)?;
            share.part.launch_inner(stream, step, none)
        })
    };
    cycles(WARMING)?;
    let mut count = 1;
    loop {
        begin.record(stream)?;
        cycles(count)?;
        end.record(stream)?;
        end.synchronize()?;
        let seconds = f64::from(begin.elapsed_ms(&end)?) / 1e3;
        if seconds >= ENOUGH || count >= MOST {
            return Ok(seconds / count as f64);
        }
        count *= 2;
    }
}
