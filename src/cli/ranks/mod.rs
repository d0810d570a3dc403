//! `tilescope solve` as one of several processes, started by a launcher, each with a GPU of its own.
//!
//! | file | |
//! |---|---|
//! | `launch.rs` | the environment that a launcher sets |
//! | `meeting.rs` | how the processes find each other, and agree on the run |
//! | `memory.rs` | whether those of a machine have the memory that they need |
//! | `watch.rs` | whether the others are alive, and the common end |
//! | `wire.rs` | messages between rank 0 and the others |
//! | `error.rs` | why they cannot make a run together |
//!
//! Nothing else of Tilescope's own goes over a network: what the GPUs exchange, NCCL moves.

mod error;
mod launch;
mod meeting;
mod memory;
mod watch;
mod wire;

pub(super) use error::RankError;
pub(super) use launch::Launch;
pub(super) use watch::Watch;

use crate::run::{Backend, MethodName, Plan, PlanError, Planner, RunSpec};
use crate::solver::cuda::{self, Device};
use crate::solver::{ExchangePath, Place, RankOf};
use memory::Memory;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
use std::path::Path;
use wire::{Hello, Ready};

/// Plans the run of all processes: it is that of as many GPUs in one, of which this process has none yet.
///
/// # Errors
/// [`RankError::Option`] where something else than that was chosen, or [`PlanError`].
pub(super) fn plan(spec: &RunSpec, launch: &Launch) -> anyhow::Result<Plan> {
    let count = launch.rank.count;
    let method = &spec.method;
    let refuse = |option, why| Err(RankError::Option { option, count, why }.into());
    if method.backend == Backend::Cpu {
        return refuse(
            "--backend cpu",
            "processes share a run on GPUs; --simulate-devices does so on one CPU",
        );
    }
    if method.simulate_devices.is_some() {
        return refuse("--simulate-devices", "each process has a GPU of its own");
    }
    if method.devices != RunSpec::default().method.devices {
        return refuse("--devices", "each process takes the GPU of its LOCAL_RANK");
    }
    if ![ExchangePath::Auto, ExchangePath::Nccl].contains(&method.exchange) {
        return refuse("--exchange", "NCCL moves values between processes");
    }
    if method.name == MethodName::Wavefront {
        let allowed = "the sweeps of a wavefront are shared out over the GPUs of one process (--devices); the slabs of a pyramid are shared out over several".to_owned();
        let (field, value) = ("WORLD_SIZE", count.to_string());
        return Err(PlanError::Value { field, value, allowed }.into());
    }
    if spec.store.is_some() {
        return refuse("--store", "its files belong to one process");
    }
    let mut shared = spec.clone();
    shared.method.backend = Backend::Cuda;
    shared.method.devices = (0..count as u32).collect();
    let planned = Planner::default().plan(&shared).map_err(|error| match error {
        PlanError::Value { field: "devices", allowed, .. } => {
            PlanError::Value { field: "WORLD_SIZE", value: count.to_string(), allowed }
        }
        error => error,
    })?;
    let method = planned.method.in_processes(&planned.problem.shape);
    Ok(Plan { method, ..planned })
}

/// What belongs to a run beside its plan, for one of the processes that make it.
pub(super) struct RunDetails<'a> {
    /// The files that it reads, with the options that name them.
    pub inputs: &'a [(&'a str, &'a Path)],
    /// What decides beside the plan how the run is made, line by line.
    pub settings: &'a str,
    /// Bytes that this process needs in main memory.
    pub needed: u64,
}

/// Gives the plan the GPU of this process, meets the other processes, and watches them from then on; `on_lost` gets the
/// sentence where one is lost.
///
/// # Errors
/// [`RankError`] if they do not meet, or cannot make the run together; also where a machine lacks memory for its own.
pub(super) fn join(
    launch: &Launch,
    plan: &mut Plan,
    RunDetails { inputs, settings, needed }: RunDetails<'_>,
    on_lost: impl Fn(&str) + Send + Sync + 'static,
) -> Result<(RankOf, Watch), RankError> {
    let rank = launch.rank;
    let own = Hello {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        rank: rank.index,
        count: rank.count,
        run: plan.spec.to_toml() + settings + &contents(inputs),
        ready: take_gpu(launch, plan, needed),
    };
    let (group, streams) = match rank.index {
        0 => {
            let new_group = || cuda::new_group().map_err(|error| error.to_string());
            meeting::receive(&meeting::listen(launch)?, launch, &own, new_group)?
        }
        _ => {
            let (group, stream) = meeting::go(launch, own)?;
            (group, BTreeMap::from([(0, stream)]))
        }
    };
    Ok((RankOf { rank, group }, Watch::begin(rank, streams, on_lost)?))
}

/// Opens the GPU of this process, and NCCL; or why that cannot be.
fn take_gpu(launch: &Launch, plan: &mut Plan, needed: u64) -> Result<Ready, String> {
    let gpus = cuda::gpus().map_err(|error| error.to_string())?;
    let gpu = launch.gpu(gpus.len()).map_err(|error| error.to_string())?;
    let device = Device::new(gpu);
    let ready = Ready {
        gpu: device.unique_name().map_err(|error| error.to_string())?,
        nccl: cuda::nccl_version().map_err(|error| error.to_string())?,
        memory: Memory::of_this(needed),
    };
    if let Place::Cuda { devices, .. } = &mut plan.place {
        *devices = vec![device];
    }
    Ok(ready)
}

/// A line for each file that the run reads: machines may have other files of the same name. One that cannot be read any more
/// is as good as an empty one.
fn contents(inputs: &[(&str, &Path)]) -> String {
    let line = |(option, path): &(&str, &Path)| {
        let bytes = std::fs::read(path).unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        hasher.write(&bytes);
        format!("{option} of {} bytes ({:016x})\n", bytes.len(), hasher.finish())
    };
    inputs.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::Rank;
    use std::time::Duration;

    fn launch(count: usize) -> Launch {
        Launch {
            rank: Rank { index: 0, count },
            local: None,
            address: "localhost".to_owned(),
            port: 1,
            wait: Duration::from_secs(1),
        }
    }

    #[test]
    fn the_plan_is_that_of_as_many_gpus_in_one_process() {
        let found = plan(&RunSpec::default(), &launch(4)).unwrap();
        let mut spec = RunSpec::default();
        (spec.method.backend, spec.method.devices) = (Backend::Cuda, vec![0, 1, 2, 3]);
        let expected = Planner::default().plan(&spec).unwrap();
        assert_eq!((found.spec, found.method), (expected.spec, expected.method));
    }

    #[test]
    fn what_processes_do_not_share_is_refused_in_a_sentence() {
        let said = |change: fn(&mut RunSpec)| {
            let mut spec = RunSpec::default();
            change(&mut spec);
            plan(&spec, &launch(9)).unwrap_err().to_string()
        };
        let line = said(|spec| spec.problem.shape = vec![1024]);
        let alone = "WORLD_SIZE is 9; the points of a single line are shared out over devices";
        assert!(line.starts_with(alone), "{line}");
        let few = said(|spec| spec.problem.shape = vec![100, 100]);
        assert!(few.starts_with("WORLD_SIZE is 9; it must be at most 4 GPUs"), "{few}");
        let wavefront = said(|spec| {
            spec.problem.shape = vec![64; 3];
            spec.method.set_name(MethodName::Wavefront);
        });
        assert!(wavefront.contains("the sweeps of a wavefront are shared out over"), "{wavefront}");
        assert!(
            said(|spec| spec.method.backend = Backend::Cpu).starts_with("--backend cpu does not")
        );
        assert!(
            said(|spec| spec.method.devices = vec![1]).starts_with("--devices does not go with")
        );
    }
}
