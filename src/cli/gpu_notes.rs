//! Notes on the GPU of a run: one that is slow in f64, one that planes visit, and one that `auto` does not use.

use super::console::print_note;
use crate::run::{MeasureError, Plan, Sweep};
use crate::solver::cuda::Device;
use crate::solver::{Place, SolverError};

/// Says on stderr if the GPU of a run is slow in f64, if the run was changed to take it, or if it does not take the run.
pub(super) fn print_gpu_notes(plan: &Plan) {
    if let Place::Cuda { devices, .. } = &plan.place {
        // A GPU that cannot be opened is reported when the run is set up.
        _ = devices.iter().try_for_each(|device| device.check());
    }
    if let Some(speedup) = plan.slow_f64() {
        print_note(&format!(
            "this GPU computes f32 {speedup} times as fast as f64; --precision f32 uses that"
        ));
    }
    if let Some(stream) = &plan.auto_stream {
        print_note(&stream.to_string());
    }
    // Many machines have no GPU, and an old driver is no news, unless GPUs were chosen.
    let are_chosen = plan.spec.method.devices != [0];
    let why = plan.without_gpu.as_ref().and_then(|why| match why {
        SolverError::Unavailable(why) => are_chosen.then(|| why.to_string()),
        why => Some(why.to_string()),
    });
    if let Some(why) = why {
        print_note(&format!("the run uses the CPU: {why}"));
    }
}

/// Says on stderr which GPU a run uses, where nothing else that is printed does; nothing on the CPU.
pub(super) fn print_device(plan: &Plan) {
    let Place::Cuda { devices, .. } = &plan.place else { return };
    if let Some(name) = devices.first().and_then(Device::name) {
        print_note(&format!("the run uses {name}"));
    }
}

/// What [`print_gpu_notes`] says, of the settings of a sweep.
///
/// # Errors
/// If a setting that could run no longer can.
pub(super) fn print_gpu_notes_of(sweep: &mut Sweep) -> Result<(), MeasureError> {
    let can_run = sweep.cells().iter().find(|cell| cell.cannot_run.is_none());
    if let Some(setting) = can_run.map(|cell| cell.setting) {
        print_gpu_notes(&sweep.plan(&setting)?);
    }
    Ok(())
}
