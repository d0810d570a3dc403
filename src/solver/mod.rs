//! Floor 2: iterations that solve a system, one folder per back end and one file per method.
//!
//! A [`Solver`] has three roles: it makes cycles ([`Advance`]), it is observed ([`Observe`]), and it
//! describes itself ([`Describe`]). It knows nothing of threads that wait for it, nor of colours.

mod acceleration;
#[cfg(not(target_arch = "wasm32"))]
mod array_files;
mod bank_conflicts;
pub mod cpu;
pub mod cuda;
mod devices;
mod error;
#[cfg(test)]
pub(crate) mod fake;
mod fused_tiles;
mod height;
mod kernel;
mod layout;
mod lost;
mod memory_traffic;
mod method;
mod method_name;
mod norms;
mod pass;
mod pass_progress;
mod pass_times;
mod place;
mod pyramid_model;
mod rank;
mod roles;
mod sample;
mod schedule;
mod share_by;
mod spectral;
mod statistics;
mod streaming;
mod subiterations;
mod unavailable;

pub use crate::stop_token::StopToken;
pub use acceleration::{AcceleratedJacobi, Acceleration, AccelerationError};
#[cfg(not(target_arch = "wasm32"))]
pub use array_files::ArrayFiles;
pub use bank_conflicts::BankConflicts;
pub use cpu::ARRAYS as SOLVER_ARRAYS;
pub use cpu::{
    BesideOwned, Followed, Inside, NextCycle, PointUpdate, on_cpu, system_bytes, working_bytes,
};
pub use devices::{Devices, DevicesError, Exchange, ExchangePath, Link, SharedParts};
pub use error::SolverError;
pub use height::{Height, HeightError};
pub use kernel::{DeviceInfo, Footprint, Kernel, Products};
pub use layout::Layout;
pub(crate) use lost::LostSolver;
pub use memory_traffic::{Memory, MemoryTraffic, Moved, Updates};
pub use method::Method;
pub use method_name::MethodName;
pub use norms::{CycleNorms, NormRequest, Norms, ResidualNorms};
pub use pass::{Pass, Step};
pub use pass_progress::{PassMoment, PassProgress};
pub use pass_times::{PassTimes, StepTimes};
#[cfg(not(target_arch = "wasm32"))]
pub use place::set_up_in;
pub use place::{Place, set_up, set_up_rank};
pub use pyramid_model::PyramidModel;
pub use rank::{GroupId, NcclError, Rank, RankOf};
pub use roles::{Advance, Batch, Describe, Observe, SetUpTimes, Solver};
pub use sample::{
    EDGE_WIDTH, EdgeShare, FieldObservation, FieldRequest, Quantity, Samples, Window, larger,
};
pub use schedule::Schedule;
pub use share_by::ShareBy;
pub use spectral::{Spectral, SpectralError};
pub use statistics::{AtDistance, LONGEST_FOLDED, MeanTile, Statistics};
pub use streaming::{MOST_HEIGHT, Scheme, Slabs, Streaming, StreamingError, Traffic};
pub use subiterations::{MOST_SUBITERATIONS, Subiterations, SubiterationsError};
pub use unavailable::Unavailable;

use crate::grid::Precision;
use crate::problem::Problem;
use memory_traffic::TileWork;

/// What one cycle of a method moves between the kinds of memory, and what it computes: on a GPU with this kernel, on a CPU
/// with `None`, unless it makes several sweeps at a time. A method that streams counts its traffic itself (`streamed`), from its first cycle on.
///
/// # Errors
/// One sentence, if nothing is known: of a sparse matrix, and of a method that streams before its first cycle.
pub fn traffic_of_cycle(
    problem: &Problem,
    method: &Method,
    precision: Precision,
    kernel: Option<Kernel>,
    streamed: Option<Traffic>,
) -> Result<MemoryTraffic, &'static str> {
    if kernel == Some(Kernel::FUSED) && *method == Method::Classic {
        return Err("What sweeps move that are made several at a time is not counted.");
    }
    let on_gpu = kernel.map(|kernel| {
        move |work: &TileWork| cuda::on_chip(kernel, method, precision, &problem.shape, work)
    });
    let traffic = MemoryTraffic::of_cycle(problem, method, precision, on_gpu, streamed)?;
    let is_fused = kernel == Some(Kernel::FUSED) && method.streaming().is_some();
    Ok(if is_fused { traffic.of_fused_sweeps() } else { traffic })
}
