//! The machine that measurements hold for.

use crate::run::spec::Backend;
use crate::solver::cuda;
use sysinfo::{CpuRefreshKind, System};

/// The processor with its number of cores, preceded by the GPU where the solver runs on one. Times of
/// machines with the same name are taken as comparable.
///
/// # Errors
/// [`cuda::Unavailable`] if there is no GPU.
pub fn name(backend: Backend, devices: &[u32]) -> Result<String, cuda::Unavailable> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let system = System::new().ok().map(|mut system| {
        system.refresh_cpu_list(CpuRefreshKind::nothing());
        system
    });
    let brand =
        system.as_ref().and_then(|system| system.cpus().first()).map(|cpu| cpu.brand().trim());
    let processor = brand.filter(|brand| !brand.is_empty()).unwrap_or(std::env::consts::ARCH);
    let name = format!("{processor}, {cores} {}", if cores == 1 { "core" } else { "cores" });
    Ok(match backend {
        Backend::Auto | Backend::Cpu => name,
        Backend::Cuda => {
            let gpus = cuda::gpus()?;
            let chosen = devices.iter().filter_map(|&ordinal| gpus.get(ordinal as usize));
            let chosen: Vec<_> = chosen.map(String::as_str).collect();
            format!("{}, {name}", chosen.join(" + "))
        }
    })
}

/// Bytes of the L2 cache of the GPU that solvers run on; `None` on a CPU.
pub fn l2_bytes(backend: Backend, devices: &[u32]) -> Option<u64> {
    match backend {
        Backend::Auto | Backend::Cpu => None,
        Backend::Cuda => {
            let ordinal = *devices.first()? as usize;
            cuda::devices().ok()?.get(ordinal)?.l2_bytes
        }
    }
}
