//! How fast a GPU copies from and to this machine.

use super::pinned::Pinned;
use super::ring::Ring;
use crate::clock::Instant;
use crate::solver::SolverError;
use crate::solver::cuda::LinkSpeed;
use crate::solver::cuda::gpu::Gpu;
use cudarc::driver::{DriverError, result};
use std::sync::Arc;

/// Bytes of a copy: long beside what starts it.
const BYTES: usize = 256 << 20;

/// Copies of a sample, after one that is not timed.
const COPIES: usize = 4;

/// Measures it with pinned arrays, in about a tenth of a second.
///
/// # Errors
/// [`SolverError`] if this machine or the GPU has no room for them, or the GPU fails.
pub(in crate::solver::cuda) fn link_speed(gpu: &Arc<Gpu>) -> Result<LinkSpeed, SolverError> {
    let (source, mut target) = (vec![1_u8; BYTES], vec![0_u8; BYTES]);
    let _pinned = [Pinned::new(gpu, &source)?, Pinned::new(gpu, &target)?];
    let there = [Ring::new(gpu, BYTES, None)?, Ring::new(gpu, BYTES, None)?];
    let (up, down) = (gpu.stream()?, gpu.stream()?);
    let mut measure = |goes_up: bool, goes_down: bool| {
        let mut copy = || -> Result<(), DriverError> {
            // SAFETY: both rings are as large as the arrays, and their copies are waited for below.
            unsafe {
                if goes_up {
                    result::memcpy_htod_async(there[0].at(0), &source, up.cu_stream())?;
                }
                if goes_down {
                    result::memcpy_dtoh_async(&mut target, there[1].at(0), down.cu_stream())?;
                }
            }
            Ok(())
        };
        let wait = || up.synchronize().and(down.synchronize());
        let warm = copy().and(wait());
        let begin = Instant::now();
        let copied = (0..COPIES).try_for_each(|_| copy());
        // Whatever failed, no copy may go on.
        let copied = wait().and(warm).and(copied);
        copied.map(|()| (COPIES * BYTES) as f64 / begin.elapsed().as_secs_f64())
    };
    let up = gpu.check(measure(true, false))?;
    let down = gpu.check(measure(false, true))?;
    let both = gpu.check(measure(true, true))?;
    Ok(LinkSpeed { up, down, both })
}
