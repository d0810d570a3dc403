//! The kernel of the papers: one block of threads per tile, which stays in shared memory.

use super::arguments::Pointer;
use super::cycle_kernel::{Cycle, CycleKernel, Launch, Step, WARP, damped, tile_name, tiles_of};
use super::ptx::File;
use super::setting::Setting;
use super::shared_3d;
use super::system::DeviceSystem;
use crate::grid::{Real, Tiling};
use crate::solver::memory_traffic::{Moved, OnChip, TileWork};
use crate::solver::{Footprint, Method, SolverError};
use cudarc::driver::{CudaStream, DeviceRepr, DriverError};
use std::sync::Arc;

/// The most threads of a block.
const MOST_THREADS: u32 = 1024;

/// Bytes of shared memory that the kernel keeps for itself.
const OWN_SHARED: usize = 1024;

/// Functions of `shared.cu`, of which the first that can runs: the points of a thread, one below the other,
/// the most threads of a block, and whether the right-hand side stays in their registers.
const COLUMNS: [(&str, usize, usize, bool); 3] = [
    ("one_point", 1, 1024, true),
    ("eight_points", 8, 512, true),
    ("twelve_points", 12, 768, false),
];

/// Threads of a block that add up the norms of all, through shared memory, and the bytes of each.
const ADDING: usize = 128;
const ADDED_BYTES: usize = size_of::<f64>();

/// How the kernel takes tiles: one block per tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SharedLayout {
    function: &'static str,
    /// For cycles with norms, if it is another function.
    measured: Option<&'static str>,
    /// Threads across and down.
    block: [u32; 2],
    /// Bytes of shared memory.
    bytes: usize,
    /// Sums of squares that a block writes.
    parts_per_block: usize,
    /// 1 if a 3D tile keeps its right-hand side in shared memory; otherwise not used.
    keeps_right: usize,
    file: File,
}

/// What the layouts of 1D and 2D tiles have in common.
const FLAT: SharedLayout = SharedLayout {
    function: "",
    measured: None,
    block: [0; 2],
    bytes: 0,
    parts_per_block: 1,
    keeps_right: 0,
    file: File::Shared,
};

/// How it takes the tiles of a setting: two copies of the tile with its halo and its right-hand side, as in
/// the paper.
///
/// # Errors
/// What it does not accept, such as `tile 96x96`.
pub(super) fn layout(setting: &Setting<'_>) -> Result<SharedLayout, String> {
    let Setting { method, precision, shared_bytes, is_per_point, .. } = setting;
    let Method::Hierarchical { k, tiling } = method.plain() else {
        return Err(format!("method {}", method.name().name()));
    };
    if tiling.axes().len() == 3 {
        // Sweeps that stream have no damping.
        let streamed = (method.omega() == 1.0).then_some(*k);
        let layout = shared_3d::layout(tiling, streamed, precision.bytes(), *shared_bytes);
        let layout = layout.ok_or_else(|| tile_name(tiling))?;
        let shared_3d::Shared3dLayout {
            file,
            function,
            measured,
            block,
            bytes,
            parts_per_block,
            ..
        } = layout;
        let keeps_right = usize::from(layout.keeps_right);
        return Ok(SharedLayout {
            function,
            measured,
            block,
            bytes,
            parts_per_block,
            keeps_right,
            file,
        });
    }
    let all = tiling.bytes_per_tile(precision.bytes());
    if all + OWN_SHARED > *shared_bytes {
        return Err(tile_name(tiling));
    }
    let width = tiling.x().tile();
    let height = tiling.y().map_or(1, |y| y.tile());
    for (function, points, most_threads, keeps_right) in COLUMNS {
        let threads = (width * height.div_ceil(points)).next_multiple_of(WARP as usize);
        // Threads with several points have no registers left for rows.
        if threads > most_threads || points > height || *is_per_point && points > 1 {
            continue;
        }
        let right = if keeps_right { width * height * precision.bytes() } else { 0 };
        let added = if threads > ADDING { threads * ADDED_BYTES } else { 0 };
        let threads = u32::try_from(threads).map_err(|_| tile_name(tiling))?;
        let bytes = added.max(all - right);
        let parts_per_block = (threads as usize).min(ADDING) / WARP as usize;
        let block = [threads, 1];
        return Ok(SharedLayout { function, block, bytes, parts_per_block, ..FLAT });
    }
    // A wide and flat tile: threads pass over it several times.
    let across =
        width.next_power_of_two().min(if height > 1 { WARP } else { MOST_THREADS } as usize);
    let down = MOST_THREADS as usize / across;
    let block = [across, down.min(height.next_multiple_of((WARP as usize).div_ceil(across)))];
    let block = block.map(|threads| u32::try_from(threads).unwrap_or(WARP));
    Ok(SharedLayout { function: "any_tile", block, bytes: all, ..FLAT })
}

/// What its tiles move on the chip. A thread reads the neighbours of its column from shared memory and its own points from
/// its registers; its last points may be those of another thread, too.
pub(super) fn on_chip(setting: &Setting<'_>, work: &TileWork) -> Option<OnChip> {
    let function = layout(setting).ok().filter(|_| work.dim < 3)?.function;
    let TileWork { tile: [width, height, _], tiles, points: owned, k, operands, weights, .. } =
        *work;
    let (computed, halo) = (work.computed(), work.halo());
    let Some((_, points, _, keeps_right)) = COLUMNS.into_iter().find(|it| it.0 == function) else {
        // Both copies have the corners of the halo; weights are read through the caches.
        let with_halo = (width + 2) * if work.dim == 2 { height + 2 } else { 1 };
        let updates = tiles * computed * k;
        let filled = tiles * (2 * with_halo + computed);
        let read = (operands - weights) * updates + owned;
        return Some(OnChip { shared: Moved { read, written: filled + updates }, registers: None });
    };
    let columns = width * height.div_ceil(points as u64);
    let kept = columns * points as u64;
    let right = if keeps_right { 0 } else { 1 };
    // Neighbours along x of every point; of a column, those before its first and after its last point.
    let ends = if work.dim == 2 { 2 * columns } else { 0 };
    let from_shared = (2 + right) * kept + ends;
    Some(OnChip {
        shared: Moved {
            read: tiles * k * from_shared,
            written: tiles * (computed * (1 + right) + 2 * halo + k * computed),
        },
        registers: Some(Moved {
            read: tiles * k * (operands * kept - from_shared) + owned,
            written: tiles * kept * (2 - right + weights + k),
        }),
    })
}

/// Prepares the kernel ([`BuildFn`](super::build::BuildFn)).
pub(super) fn build<R: Real + DeviceRepr>(
    system: &DeviceSystem<R>,
    setting: &Setting<'_>,
    _stream: &Arc<CudaStream>,
    _arrays: [Pointer; 2],
) -> Result<Option<Box<dyn CycleKernel<R>>>, SolverError> {
    let (Method::Hierarchical { k, tiling }, Ok(layout)) =
        (setting.method.plain(), layout(setting))
    else {
        return Ok(None);
    };
    let sweeps = (*k, setting.method.omega());
    let kernel = Shared::new(system, tiling, sweeps, layout).transpose()?;
    Ok(kernel.map(|kernel| Box::new(kernel) as _))
}

pub(super) struct Shared {
    kernel: Launch,
    /// For cycles with norms, if it is another kernel.
    measured: Option<Launch>,
    cycle: Cycle,
    /// Sums of squares that a block writes.
    parts_per_block: usize,
}

impl Shared {
    /// `None` if there are too many tiles to count.
    pub fn new<R>(
        system: &DeviceSystem<R>,
        tiling: &Tiling,
        (k, omega): (usize, f64),
        layout: SharedLayout,
    ) -> Option<Result<Self, SolverError>> {
        let SharedLayout { function, measured, block, bytes, parts_per_block, keeps_right, file } =
            layout;
        let [first, tiles] = tiles_of(system, tiling)?;
        let cycle = Cycle::new(tiling, k, [keeps_right, 1])?.beginning_at(first).damped(omega);
        let blocks = [tiles.unsigned_abs(), 1];
        let launch =
            |function| Launch::new(system, file, &damped(function, omega), blocks, block, bytes);
        let both = || Ok((launch(function)?, measured.map(launch).transpose()?));
        Some(both().map(|(kernel, measured)| Self { kernel, measured, cycle, parts_per_block }))
    }
}

impl<R: Real + DeviceRepr> CycleKernel<R> for Shared {
    fn parts(&self) -> usize {
        self.kernel.config.grid_dim.0 as usize * self.parts_per_block
    }

    fn launch(
        &self,
        stream: &Arc<CudaStream>,
        system: &DeviceSystem<R>,
        step: Step,
    ) -> Result<(), DriverError> {
        let kernel = self.measured.as_ref().filter(|_| step.squares != 0).unwrap_or(&self.kernel);
        kernel.cycle(stream, system, step, &self.cycle)
    }

    fn footprint(&self) -> Footprint {
        self.kernel.footprint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Precision, Shape};

    fn of_tile(tile: [usize; 2]) -> Option<SharedLayout> {
        let tiling = Tiling::new(&[1024, 1024], &tile, &[0, 0]).unwrap();
        let method = Method::Hierarchical { k: 4, tiling };
        let shape = Shape::grid_2d(1024, 1024).unwrap();
        let shared_bytes = 227 * 1024;
        let precision = Precision::F64;
        layout(&Setting {
            method: &method,
            precision,
            shape: &shape,
            shared_bytes,
            is_per_point: false,
            block_size: None,
        })
        .ok()
    }

    #[test]
    fn the_papers_tile_is_a_block_of_a_thread_per_point() {
        // Two copies with their halos; the right-hand side stays in registers.
        let bytes = 2 * 34 * 34 * 8;
        let expected = SharedLayout {
            function: "one_point",
            block: [1024, 1],
            bytes,
            parts_per_block: 4,
            ..FLAT
        };
        assert_eq!(of_tile([32, 32]), Some(expected));
    }

    #[test]
    fn the_largest_tile_of_the_paper_takes_all_that_a_block_may_have() {
        // Two copies with their halos, and the right-hand side.
        let bytes = (2 * 98 * 98 + 96 * 96) * 8;
        let expected = SharedLayout {
            function: "twelve_points",
            block: [768, 1],
            bytes,
            parts_per_block: 4,
            ..FLAT
        };
        assert_eq!(of_tile([96, 96]), Some(expected));
    }

    #[test]
    fn blocks_are_whole_warps() {
        for side in 1..=200 {
            if let Some(SharedLayout { block, .. }) = of_tile([side, 200 / side]) {
                assert_eq!(block[0] * block[1] % WARP, 0, "{side}");
                assert!(block[0] * block[1] <= MOST_THREADS);
            }
        }
    }
}
