//! A field on a GPU at single points: all of them at a time.

use super::arguments::{Pointer, counted};
use super::observe::Values;
use super::ptx::File;
use super::real::DeviceReal;
use super::system::DeviceSystem;
use crate::solver::SolverError;
use cudarc::driver::{CudaStream, DriverError, LaunchConfig, PushKernelArg};
use std::sync::Arc;

/// Threads of a block.
const THREADS: u32 = 256;

/// The values of a field at points (column, row) of the interior, of which there may be none.
pub(super) fn values<R: DeviceReal>(
    system: &DeviceSystem<R>,
    stream: &Arc<CudaStream>,
    u: Pointer,
    values: Values,
    points: &[[usize; 2]],
) -> Result<Vec<f32>, SolverError> {
    if points.is_empty() {
        return Ok(Vec::new());
    }
    let DeviceSystem { gpu, precision, form, .. } = system;
    let function = gpu.function(File::Gather, *precision, *form, "gather")?;
    let shape = &system.shape;
    let place = |[i, row]: &[usize; 2]| (shape.row_start(*row) - shape.row_start(0) + *i) as i64;
    let places: Vec<_> = points.iter().map(place).collect();
    let count = counted(points.len()).unwrap_or(i32::MAX);
    let (quantity, other) = values.arguments();
    // SAFETY: the kernel writes every value before they are copied.
    let mut found = unsafe { gpu.allocate::<f32>(stream, points.len()) }?;
    let mut call = || -> Result<Vec<f32>, DriverError> {
        let places = stream.clone_htod(&places)?;
        let mut gather = stream.launch_builder(&function);
        gather.arg(&u).arg(&system.rhs).arg(&other);
        gather.arg(&system.grid).arg(&system.weights).arg(&system.diagonal);
        gather.arg(&quantity).arg(&places).arg(&count).arg(&mut found);
        let config = LaunchConfig {
            grid_dim: (count.unsigned_abs().div_ceil(THREADS), 1, 1),
            block_dim: (THREADS, 1, 1),
            shared_mem_bytes: 0,
        };
        // SAFETY: the arguments are those of `gather.cu`, and the arrays have the grid's size.
        unsafe { gather.launch(config) }?;
        let values = stream.clone_dtoh(&found)?;
        stream.synchronize()?;
        Ok(values)
    };
    gpu.check(call())
}
