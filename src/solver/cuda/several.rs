//! The GPUs of devices that share a run: one for each, or fewer, of which some have several devices.

use super::device::Device;
use super::gpu::Gpu;
use crate::solver::{SolverError, Unavailable};
use std::collections::HashMap;
use std::sync::Arc;

/// The GPU of each of so many devices: where there are fewer GPUs, some have several devices that lie side by side.
pub(super) fn open(devices: &[Device], count: usize) -> Result<Vec<Arc<Gpu>>, Unavailable> {
    if devices.is_empty() {
        return Err(Unavailable::NoGpu);
    }
    if devices.len() > count {
        return Err(Unavailable::SeveralGpus(devices.len()));
    }
    let opened = devices.iter().map(Device::open).collect::<Result<Vec<_>, _>>()?;
    Ok((0..count).map(|device| Arc::clone(&opened[device * devices.len() / count])).collect())
}

/// The GPUs among these, each once.
pub(super) fn distinct<'a>(gpus: impl IntoIterator<Item = &'a Arc<Gpu>>) -> Vec<&'a Arc<Gpu>> {
    let mut found: Vec<&Arc<Gpu>> = Vec::new();
    for gpu in gpus {
        if found.iter().all(|known| known.ordinal != gpu.ordinal) {
            found.push(gpu);
        }
    }
    found
}

/// An error of GPUs that work together, which names the one that failed, if that is known: whichever of them noticed it. Those
/// that still take work are of use to the next solver.
pub(super) fn failed<'a>(
    gpus: impl IntoIterator<Item = &'a Arc<Gpu>>,
    error: SolverError,
) -> SolverError {
    let SolverError::Device { what, .. } = &error else { return error };
    let gpus = distinct(gpus);
    let works: Vec<_> = gpus.iter().map(|gpu| gpu.works()).collect();
    // Where all seem to work, none of their contexts is trusted.
    let is_known = works.contains(&false);
    for (gpu, works) in gpus.iter().zip(&works) {
        gpu.set_failed(!is_known || !works);
    }
    match gpus.iter().zip(works).find(|(_, works)| !works) {
        Some((gpu, _)) if gpus.len() > 1 => {
            SolverError::Device { gpu: gpu.title(), what: what.clone() }
        }
        _ => error,
    }
}

/// Whether all of them take work; notes it then, whatever was noticed before.
pub(super) fn all_work<'a>(gpus: impl IntoIterator<Item = &'a Arc<Gpu>>) -> bool {
    let gpus = distinct(gpus);
    let all = gpus.iter().all(|gpu| gpu.works());
    gpus.iter().filter(|_| all).for_each(|gpu| gpu.set_failed(false));
    all
}

/// Checks that each has as many bytes free as it needs, by its ordinal.
///
/// # Errors
/// [`SolverError`] if one has not, by its number too where there are several.
pub(super) fn check_room(gpus: &[Arc<Gpu>], needed: &HashMap<u32, u64>) -> Result<(), SolverError> {
    let gpus = distinct(gpus);
    gpus.iter().try_for_each(|gpu| match gpu.check_room(needed[&gpu.ordinal]) {
        Err(SolverError::DeviceMemory { needed, free, .. }) if gpus.len() > 1 => {
            Err(SolverError::DeviceMemory { gpu: gpu.title(), needed, free })
        }
        checked => checked,
    })
}

/// `2 × NVIDIA H200`; of GPUs that differ, all names; the name alone of one that simulates several.
pub(super) fn name_of(gpus: &[Arc<Gpu>]) -> String {
    title_of_all(&distinct(gpus).iter().map(|gpu| gpu.name.clone()).collect::<Vec<_>>())
}

/// The same of GPUs with these names.
pub(super) fn title_of_all(names: &[String]) -> String {
    match names {
        [one] => one.clone(),
        [first, others @ ..] if others.iter().all(|name| name == first) => {
            format!("{} × {first}", names.len())
        }
        _ => names.join(" + "),
    }
}
