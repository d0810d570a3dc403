//! Several sweeps of some planes together, by kernel `fused`: a layer of its tiles that is as deep as the planes.

use crate::grid::{Precision, Shape, Tiling};
use crate::solver::cuda::arguments::{AxisArgument, Pointer};
use crate::solver::cuda::cycle_kernel::{Cycle, Launch};
use crate::solver::cuda::fused::{self, OVERLAP, SWEEPS};
use crate::solver::cuda::gpu::Gpu;
use crate::solver::cuda::ptx::{File, Form};
use crate::solver::pass::SweptTogether;
use crate::solver::{Footprint, SolverError};

/// Kernel `fused`, prepared for planes of a grid.
pub(super) struct Together {
    pub launch: Launch,
    cycle: Cycle,
    /// Tiles of a layer.
    tiles: i32,
}

impl Together {
    /// Prepares it; `None` if there are more tiles than it counts.
    ///
    /// # Errors
    /// [`SolverError`] if the driver refuses it.
    pub fn new(
        gpu: &Gpu,
        (precision, form): (Precision, Form),
        shape: &Shape,
        points_per_second: f64,
    ) -> Result<Option<Self>, SolverError> {
        let across = Tiling::new(&shape.axes()[..2], &[fused::SIDE; 2], &[OVERLAP; 2]).ok();
        let prepared = across.and_then(|across| {
            // A launch counts the tiles of three layers at most.
            let tiles = i32::try_from(across.count()).ok().filter(|it| *it < i32::MAX / 4)?;
            Some((Cycle::new(&across, SWEEPS, [1, 1])?, tiles))
        });
        let Some((cycle, tiles)) = prepared else { return Ok(None) };
        let function = gpu.function(File::Stream3d, precision, form, "fused")?;
        let bytes = fused::bytes_of_block(precision);
        let (blocks, threads) = ([tiles.unsigned_abs(), 1], [fused::THREADS as u32, 1]);
        let launch = Launch::of(gpu, function, blocks, threads, bytes, points_per_second)?;
        Ok(Some(Self { launch, cycle, tiles }))
    }

    pub fn footprint(&self) -> Footprint {
        self.launch.footprint()
    }

    /// Points of a plane that its tiles compute, those that they share once for each.
    pub fn points(&self) -> usize {
        self.tiles.unsigned_abs() as usize * fused::SIDE * fused::SIDE
    }

    /// The tiles that sweep these planes, and by how many planes the first layer of them lies before. The tiles of that
    /// layer are as deep, and so are those of a layer behind; each is there only if planes at that end are not written.
    pub fn layer(&self, planes: &SweptTogether) -> Option<(Cycle, i64)> {
        let SweptTogether { swept, written } = planes;
        let has_before = written.start > swept.start;
        let neighbours = [has_before, written.end < swept.end];
        let depth = AxisArgument::with_neighbours(swept.len(), OVERLAP, neighbours)?;
        let (first, before) =
            if has_before { (self.tiles, swept.len() as i64 - OVERLAP as i64) } else { (0, 0) };
        Some((self.cycle.along_z(depth).beginning_at(first), before))
    }
}

/// An address so many planes of this many bytes before another.
pub(super) fn moved_back(address: Pointer, planes: i64, plane_bytes: usize) -> Pointer {
    address.wrapping_add_signed(-(planes * plane_bytes as i64))
}
