//! Simulated devices: how a run gets them, and how it is left to one device again.

use crate::run::{Backend, MethodSpec, RunSpec};
use crate::solver::{Kernel, ShareBy};

/// Devices to begin with, if there are as many rows of tiles.
const FIRST: usize = 4;

/// The most devices that can share the grid or the matrix of a run. 1 where tiles or grid are not valid.
pub fn most(spec: &RunSpec) -> usize {
    spec.shared_parts().map_or(1, |parts| parts.count())
}

/// Shares the grid or the matrix out over simulated devices.
pub fn begin(spec: &mut RunSpec) {
    if spec.method.backend == Backend::Cuda {
        spec.method.backend = Backend::Auto;
    }
    spec.method.kernel = Kernel::AUTO;
    (spec.method.block_size, spec.method.share_by) = (None, ShareBy::Points);
    spec.method.simulate_devices = Some(FIRST.min(most(spec)));
}

/// Keeps as many devices as can share the grid, where a setting other than their number was changed from what it was
/// `before`: larger tiles leave fewer rows to share, and some problems none.
pub fn fit(spec: &mut RunSpec, before: &RunSpec) {
    let Some(count) = spec.method.simulate_devices else { return };
    if spec.why_no_exchange().is_some() {
        spec.method.exchange_every = None;
    }
    if before.method.simulate_devices != Some(count) {
        return;
    }
    if spec.problem != before.problem && spec.why_no_devices().is_some() {
        leave(&mut spec.method);
    } else if let Some(parts) = spec.shared_parts() {
        // A setting that is not valid is refused with a message, and says nothing of their number.
        spec.method.simulate_devices = Some(count.min(parts.count()));
    }
}

/// Leaves the whole grid to one device.
pub fn leave(method: &mut MethodSpec) {
    (method.simulate_devices, method.exchange_every, method.link) = (None, None, None);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{MethodName, Planner};

    #[test]
    fn a_run_on_simulated_devices_can_be_made_and_left() {
        let with = |name, tile: usize, shape: &[usize]| {
            let mut spec = RunSpec::default();
            (spec.method.name, spec.method.tile) = (name, vec![tile]);
            spec.problem.shape = shape.to_vec();
            spec
        };
        for (own, count) in [
            (with(MethodName::Hierarchical, 32, &[256, 256]), 4),
            (with(MethodName::Hierarchical, 128, &[256, 256]), 2),
            (with(MethodName::Hierarchical, 256, &[256, 256]), 1),
            (with(MethodName::Classic, 32, &[256, 40]), 3),
            (with(MethodName::Classic, 32, &[16, 16, 16]), 4),
        ] {
            let mut spec = own.clone();
            spec.method.backend = Backend::Cuda;
            begin(&mut spec);
            assert_eq!(spec.method.simulate_devices, Some(count));
            let plan = Planner::default().plan(&spec).unwrap();
            assert_eq!(plan.device_borders().len(), count - 1);
            leave(&mut spec.method);
            assert_eq!(spec, own);
        }
    }

    #[test]
    fn other_settings_leave_as_many_devices_as_can_share_the_grid() {
        let mut before = RunSpec::default();
        before.method.simulate_devices = Some(4);
        let fitted = |change: &dyn Fn(&mut RunSpec)| {
            let mut spec = before.clone();
            change(&mut spec);
            fit(&mut spec, &before);
            spec.method.simulate_devices
        };
        assert_eq!(fitted(&|spec| spec.method.overlap = vec![2]), Some(4));
        assert_eq!(fitted(&|spec| spec.method.tile = vec![128]), Some(2));
        assert_eq!(fitted(&|spec| spec.problem.shape = vec![256, 96]), Some(3));
        // A line has tiles, too.
        assert_eq!(fitted(&|spec| spec.problem.shape = vec![96]), Some(3));
        // A number that was typed is refused with a message.
        assert_eq!(fitted(&|spec| spec.method.simulate_devices = Some(99)), Some(99));
        // So are tiles that are not valid, and those in an order.
        assert_eq!(fitted(&|spec| spec.method.tile = vec![0]), Some(4));
        assert_eq!(fitted(&|spec| spec.method.wave = Some(16)), Some(4));
    }
}
