//! The links between the GPUs of this machine, measured.

use super::paths::{Parcel, Paths};
use crate::clock::Instant;
use crate::solver::cuda::gpu::Gpu;
use crate::solver::cuda::properties::GpuLink;
use crate::solver::{ExchangePath, SolverError};
use cudarc::driver::DevicePtr;
use std::sync::Arc;

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
    let gpus = ordinals.iter().map(|&ordinal| Gpu::open(ordinal).map(Arc::new));
    let gpus = gpus.collect::<Result<Vec<_>, _>>()?;
    let of = |from: usize| (0..gpus.len()).filter(move |to| *to != from).map(move |to| [from, to]);
    let pairs: Vec<_> = (0..gpus.len()).flat_map(of).collect();
    let paths = Paths::new(&gpus, ExchangePath::Auto, &pairs)?;
    pairs.iter().map(|ends| between(&gpus, &paths, *ends)).collect()
}

/// The link from one of these GPUs to another.
fn between(gpus: &[Arc<Gpu>], paths: &Paths, ends: [usize; 2]) -> Result<GpuLink, SolverError> {
    let [from, to] = ends.map(|end| &gpus[end]);
    let streams = [from.stream()?, to.stream()?];
    let transfer = paths.transfer(ends, BULK)?;
    // SAFETY: what is copied is not read.
    let [source, target] = [unsafe { from.allocate::<u8>(&streams[0], BULK) }?, unsafe {
        to.allocate::<u8>(&streams[1], BULK)
    }?];
    let places = [source.device_ptr(&streams[0]).0, target.device_ptr(&streams[1]).0];
    let send = |bytes: usize| {
        let (transfer, streams) = (&transfer, streams.each_ref());
        let parcel = Parcel { transfer, streams, ends: places, bytes, at: 0, after: None };
        let sent = from.check(paths.enqueue(&[parcel]));
        sent.map_err(|error| paths.failure().map_or(error, Into::into))
    };
    let wait = || -> Result<(), SolverError> {
        from.check(streams[0].synchronize())?;
        to.check(streams[1].synchronize())
    };
    let seconds = |bytes: usize, copies: usize| -> Result<f64, SolverError> {
        // The first copies may take longer.
        for _ in 0..2 {
            send(bytes)?;
        }
        wait()?;
        let begin = Instant::now();
        for _ in 0..copies {
            send(bytes)?;
        }
        wait()?;
        Ok(begin.elapsed().as_secs_f64() / copies as f64)
    };
    Ok(GpuLink {
        from: from.ordinal,
        to: to.ordinal,
        path: paths.between(ends)?,
        latency_us: 1e6 * seconds(MESSAGE, MESSAGES)?,
        bandwidth: 1e-9 * BULK as f64 / seconds(BULK, BULKS)?,
    })
}
