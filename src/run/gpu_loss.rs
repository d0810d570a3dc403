//! A run that shared its grid out over several GPUs, of which one failed: it goes on on those that are left, and so do
//! measurements of such runs.

use super::plan::Plan;
use crate::number::{grouped, joined};
use crate::solver::cuda::Device;
use crate::solver::{Place, SolverError};

/// Why a run, or measurements of runs, do not go on after one of its GPUs failed.
#[derive(Debug, thiserror::Error)]
pub enum GpuLossError {
    /// There is no other GPU that works.
    #[error(transparent)]
    Alone(SolverError),
    /// Those that work do not take it.
    #[error("{failure}; the run cannot continue on {left}: {why}")]
    Refused {
        /// The failure.
        failure: SolverError,
        /// The others, such as `GPUs 0 and 2`.
        left: String,
        /// Why they do not take it.
        why: Box<SolverError>,
    },
}

/// Continues a run that failed on those of its GPUs that still work: `move_to` moves it to a plan for these and returns the
/// cycle that it goes on from. Returns what happened, in one sentence without its full stop.
///
/// # Errors
/// [`GpuLossError`] if no other GPU works, or those that do cannot take the run.
pub fn go_on_without_failed_gpus(
    plan: &Plan,
    failure: SolverError,
    move_to: impl FnOnce(Plan) -> Result<u64, SolverError>,
) -> Result<String, GpuLossError> {
    go_on_at(plan.on_working_gpus(), failure, |on_others, left| {
        Ok(match move_to(on_others)? {
            0 => format!("the run continues on {left} from its initial guess"),
            cycle => format!("the run continues on {left} from cycle {}", grouped(cycle)),
        })
    })
}

/// Continues measurements of which one failed on those of their GPUs that still work, or where there are none and back end
/// `auto` was chosen, on the CPU: what was measured of a setting by then is about GPUs that are no longer all there, so that
/// it is measured anew. `take` takes a plan of one of the settings there. Returns what happened, in one sentence without its
/// full stop.
///
/// # Errors
/// [`GpuLossError`] if there is nothing to measure on, or `take` fails.
pub(super) fn measure_without_failed_gpus(
    plan: &Plan,
    failure: SolverError,
    take: impl FnOnce(Plan) -> Result<(), SolverError>,
) -> Result<String, GpuLossError> {
    let left = plan.on_working_gpus().or_else(|| plan.on_cpu(&failure));
    go_on_at(left, failure, |there, left| {
        take(there)?;
        Ok(format!("measuring continues on {left}, and what was being measured is measured anew"))
    })
}

/// Continues what failed at another plan, if a GPU failed and there is one. `take` gets that plan and the names of what is
/// left, and returns what continues there, as part of a sentence.
fn go_on_at(
    there: Option<Plan>,
    failure: SolverError,
    take: impl FnOnce(Plan, &str) -> Result<String, SolverError>,
) -> Result<String, GpuLossError> {
    let is_of_gpu = matches!(failure, SolverError::Device { .. });
    let Some(there) = there.filter(|_| is_of_gpu) else {
        return Err(GpuLossError::Alone(failure));
    };
    let left = named(there.gpus());
    match take(there, &left) {
        Ok(end) => Ok(format!("{failure}; {end}")),
        Err(why) => Err(GpuLossError::Refused { failure, left, why: Box::new(why) }),
    }
}

impl Plan {
    /// The GPUs that it runs on; none on a CPU.
    pub(super) fn gpus(&self) -> &[Device] {
        match &self.place {
            Place::Cpu { .. } => &[],
            Place::Cuda { devices, .. } => devices,
        }
    }

    /// The same on those of several GPUs that work, where one has failed; `None` if there is none of either.
    pub(super) fn on_working_gpus(&self) -> Option<Self> {
        let (failed, left): (Vec<_>, Vec<_>) =
            self.gpus().iter().cloned().partition(Device::has_failed);
        if failed.is_empty() || left.is_empty() {
            return None;
        }
        let Place::Cuda { exchange, kernel, block_size, .. } = self.place else { return None };
        let method = if self.method.cycles_between_exchanges() > 1 {
            // The iterate depends on the number of devices: some GPUs take the shares of two.
            self.method.clone()
        } else {
            let mut spec = self.spec.method.clone();
            spec.devices = left.iter().map(Device::ordinal).collect();
            self.shared_out(&spec).ok()?.damped(self.method.omega())
        };
        let place = Place::Cuda { devices: left, exchange, kernel, block_size };
        Some(Self { place, method, ..self.clone() })
    }
}

/// Some GPUs, as part of a sentence: `GPU 0`, `GPUs 0, 1 and 3`.
fn named(gpus: &[Device]) -> String {
    let ordinals: Vec<_> = gpus.iter().map(Device::ordinal).collect();
    match &ordinals[..] {
        [one] => format!("GPU {one}"),
        [first @ .., last] => format!("GPUs {} and {last}", joined(first, ", ")),
        [] => "the CPU".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{MatrixSpec, Planner, ProblemKind, RunSpec};

    #[test]
    fn a_grid_and_a_matrix_are_shared_out_anew_as_they_are_planned() {
        let with = |devices: usize, matrix: Option<&str>| {
            let mut spec = RunSpec::default();
            if let Some(name) = matrix {
                (spec.problem.kind, spec.problem.shape) = (ProblemKind::Matrix, vec![2000]);
                spec.problem.matrix = Some(MatrixSpec::new(name));
            }
            spec.method.simulate_devices = Some(devices);
            Planner::default().plan(&spec).unwrap()
        };
        for matrix in [None, Some("trefethen-2000")] {
            let (four, three) = (with(4, matrix), with(3, matrix));
            assert_eq!(four.shared_out(&three.spec.method).unwrap(), three.method);
        }
    }

    #[test]
    fn gpus_are_named_by_their_numbers() {
        let named = |ordinals: &[u32]| {
            named(&ordinals.iter().copied().map(Device::new).collect::<Vec<_>>())
        };
        assert_eq!(named(&[]), "the CPU");
        assert_eq!(named(&[2]), "GPU 2");
        assert_eq!(named(&[0, 2]), "GPUs 0 and 2");
        assert_eq!(named(&[0, 1, 3]), "GPUs 0, 1 and 3");
    }
}
