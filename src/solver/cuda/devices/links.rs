//! The links between the GPUs of this machine, measured.

use super::transfer::Transfer;
use crate::clock::Instant;
use crate::solver::cuda::gpu::Gpu;
use crate::solver::cuda::properties::GpuLink;
use crate::solver::{ExchangePath, SolverError};
use cudarc::driver::DevicePtr;

/// Bytes of a message, and how many are timed one after the other.
const MESSAGE: usize = 4096;
const MESSAGES: usize = 500;

/// Bytes of a copy that is long beside its latency, and how many are timed.
const BULK: usize = 256 << 20;
const BULKS: usize = 4;

/// Measures the link from every GPU to every other.
///
/// # Errors
/// [`SolverError`] if one cannot be used, or has no room for the copies.
pub(in crate::solver::cuda) fn measure(ordinals: &[u32]) -> Result<Vec<GpuLink>, SolverError> {
    let gpus = ordinals.iter().map(|&ordinal| Gpu::open(ordinal));
    let gpus = gpus.collect::<Result<Vec<_>, _>>()?;
    let mut links = Vec::new();
    for from in &gpus {
        for to in gpus.iter().filter(|to| to.ordinal != from.ordinal) {
            links.push(between(from, to)?);
        }
    }
    Ok(links)
}

fn between(from: &Gpu, to: &Gpu) -> Result<GpuLink, SolverError> {
    let streams = [from.stream()?, to.stream()?];
    let transfer = Transfer::new(from, to, BULK, ExchangePath::Auto)?;
    // SAFETY: what is copied is not read.
    let [source, target] = [unsafe { from.allocate::<u8>(&streams[0], BULK) }?, unsafe {
        to.allocate::<u8>(&streams[1], BULK)
    }?];
    let ends = [source.device_ptr(&streams[0]).0, target.device_ptr(&streams[1]).0];
    let wait = || -> Result<(), SolverError> {
        from.check(streams[0].synchronize())?;
        to.check(streams[1].synchronize())
    };
    let seconds = |bytes: usize, copies: usize| -> Result<f64, SolverError> {
        // The first copies may take longer.
        for _ in 0..2 {
            from.check(transfer.enqueue(streams.each_ref(), ends, bytes, 0))?;
        }
        wait()?;
        let begin = Instant::now();
        for _ in 0..copies {
            from.check(transfer.enqueue(streams.each_ref(), ends, bytes, 0))?;
        }
        wait()?;
        Ok(begin.elapsed().as_secs_f64() / copies as f64)
    };
    Ok(GpuLink {
        from: from.ordinal,
        to: to.ordinal,
        path: transfer.path().name(),
        latency_us: 1e6 * seconds(MESSAGE, MESSAGES)?,
        bandwidth: 1e-9 * BULK as f64 / seconds(BULK, BULKS)?,
    })
}
