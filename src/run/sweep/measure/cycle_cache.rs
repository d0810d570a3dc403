//! Cycles that are known already.

use super::counting::CycleCount;
use crate::run::command::command_line;
use crate::run::spec::{Backend, MethodSpec, RunSpec};
use crate::solver::Kernel;
use std::collections::HashMap;

/// Counts by run. The number of cycles depends neither on the device nor on the kernel, so a count
/// holds for all of them.
#[derive(Clone, Debug, Default)]
pub struct CycleCache(HashMap<String, CycleCount>);

impl CycleCache {
    /// The count of a run, if it is known.
    pub(in crate::run::sweep) fn get(&self, run: &RunSpec) -> Option<CycleCount> {
        self.0.get(&key(run)).copied()
    }

    pub(in crate::run::sweep) fn insert(&mut self, run: &RunSpec, count: CycleCount) {
        self.0.insert(key(run), count);
    }
}

/// All that the number of cycles depends on.
fn key(run: &RunSpec) -> String {
    let mut run = run.clone();
    run.method.backend = Backend::default();
    run.method.threads = 0;
    run.method.devices = MethodSpec::default().devices;
    run.method.block_size = None;
    // The budget of a pass changes nothing of its iterates.
    run.method.memory = None;
    let is_spectral = run.method.prefers_spectral();
    run.method.kernel = if is_spectral { Kernel::SPECTRAL } else { Kernel::AUTO };
    command_line(&run)
}

#[cfg(test)]
mod tests {
    use super::super::CountOutcome;
    use super::*;

    #[test]
    fn a_count_holds_for_every_back_end_and_kernel() {
        let mut spec = RunSpec::default();
        let count = CycleCount {
            cycles: 7,
            outcome: CountOutcome::Converged,
            edge_share: 0.5,
            error_left: None,
        };
        let mut cache = CycleCache::default();
        cache.insert(&spec, count);
        (spec.method.backend, spec.method.kernel) = (Backend::Cuda, Kernel::REGISTER);
        assert_eq!(cache.get(&spec), Some(count));
        spec.method.overlap = vec![2];
        assert_eq!(cache.get(&spec), None);
    }
}
