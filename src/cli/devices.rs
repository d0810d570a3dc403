//! `tilescope devices`: the processor and the GPUs, by the numbers that `--devices` takes.

use super::console::{json, print};
use crate::grid::memory::{available, human, total};
use crate::solver::cuda::{self, DeviceProperties, GpuLink};
use clap::Args;
use serde::Serialize;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  tilescope devices
      the cores and the NVIDIA GPUs that solvers can run on
  tilescope devices --links
      the same with the links between GPUs: latency and bandwidth, measured with copies
  tilescope devices --json
      the same for a program; `unavailable` says why there is no GPU

Exit code: 0, whether there is a GPU or not.";

/// The options of `tilescope devices`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Devices {
    /// Print one JSON object instead of the list
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Measure the links between GPUs: latency and bandwidth
    #[arg(long, help_heading = "Output")]
    links: bool,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Listed {
    cpu: Cpu,
    cuda: Cuda,
}

#[derive(Debug, Serialize)]
struct Cpu {
    name: String,
    cores: usize,
    memory_bytes: Option<u64>,
    free_bytes: u64,
}

#[derive(Debug, Serialize)]
struct Cuda {
    driver: Option<String>,
    gpus: Vec<Gpu>,
    /// Those between the GPUs that can be used, where they were measured.
    links: Option<Vec<GpuLink>>,
    /// Why there is none.
    unavailable: Option<String>,
}

#[derive(Debug, Serialize)]
struct Gpu {
    #[serde(flatten)]
    device: DeviceProperties,
    /// Why it cannot be used.
    unusable: Option<String>,
}

impl Devices {
    /// Lists them.
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let (gpus, unavailable) = match cuda::devices() {
            Ok(gpus) => (gpus, None),
            Err(why) => (Vec::new(), Some(why.to_string())),
        };
        let gpu = |device: DeviceProperties| {
            let unusable = device.check().err().map(|why| why.to_string());
            Gpu { device, unusable }
        };
        let gpus: Vec<_> = gpus.into_iter().map(gpu).collect();
        let usable = gpus.iter().filter(|gpu| gpu.unusable.is_none());
        let usable: Vec<_> = usable.map(|gpu| gpu.device.ordinal).collect();
        let links = self.links.then(|| cuda::measure_links(&usable)).transpose()?;
        let listed = Listed {
            cpu: Cpu {
                name: processor(),
                cores: std::thread::available_parallelism().map_or(1, usize::from),
                memory_bytes: total(),
                free_bytes: available(),
            },
            cuda: Cuda { driver: cuda::driver_version().ok(), gpus, links, unavailable },
        };
        let text = if self.json { json(&listed)? } else { listed.text() };
        print(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Listed {
    fn text(&self) -> String {
        let Cpu { name, cores, memory_bytes, free_bytes } = &self.cpu;
        let plural = if *cores == 1 { "" } else { "s" };
        let room = memory(*memory_bytes, Some(*free_bytes));
        let mut text = format!("cpu   {name} · {cores} core{plural} · {room}\n");
        let driver = self.cuda.driver.as_deref().unwrap_or("unknown");
        for Gpu { device, unusable } in &self.cuda.gpus {
            if let Some(why) = unusable {
                text.push_str(&format!("cuda  {} cannot be used: {why}\n", device.ordinal));
                continue;
            }
            let l2 = device.l2_bytes.map(|bytes| format!("{} of L2 · ", human(bytes)));
            text.push_str(&format!(
                "cuda  {} {} · {} · {}{} of shared memory per block · {} multiprocessors · compute capability {}.{} · driver {driver}\n",
                device.ordinal,
                device.name,
                memory(Some(device.memory_bytes), device.free_bytes),
                l2.unwrap_or_default(),
                human(device.shared_bytes_per_block),
                device.multiprocessors,
                device.capability.0,
                device.capability.1,
            ));
        }
        let links = self.cuda.links.iter().flatten();
        for GpuLink { from, to, path, latency_us, bandwidth } in links {
            let by = path.label();
            text.push_str(&format!(
                "link  {from} to {to} · {by} · {latency_us:.1} µs · {bandwidth:.0} GB/s\n"
            ));
        }
        if self.cuda.links.as_ref().is_some_and(Vec::is_empty) {
            text.push_str("link  none: there are fewer than two GPUs that can be used\n");
        }
        if let Some(why) = &self.cuda.unavailable {
            text.push_str(&format!("cuda  none: {why}\n"));
        }
        text
    }
}

/// `150 GB of memory, 149 GB free`, as far as it is known.
fn memory(total: Option<u64>, free: Option<u64>) -> String {
    let total = total.map(|bytes| format!("{} of memory", human(bytes)));
    let free = free.map(|bytes| format!("{} free", human(bytes)));
    total.into_iter().chain(free).collect::<Vec<_>>().join(", ")
}

/// The name of the processor, as the system reports it.
pub(super) fn processor() -> String {
    let system = sysinfo::System::new().ok().map(|mut system| {
        system.refresh_cpu_list(sysinfo::CpuRefreshKind::nothing());
        system
    });
    let name = system.as_ref().and_then(|system| system.cpus().first()).map(sysinfo::Cpu::brand);
    match name {
        Some(name) if !name.trim().is_empty() => name.trim().to_owned(),
        _ => std::env::consts::ARCH.to_owned(),
    }
}
