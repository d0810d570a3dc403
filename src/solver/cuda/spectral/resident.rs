//! Several cycles of 2D tiles of 32 points by one launch (`spectral_resident.cu`), where the GPU works on all of them at once.

use super::super::arguments::counted;
use super::super::cycle_kernel::{Launch, ResidentStrips, WARP};
use super::super::ptx::File;
use super::super::system::DeviceSystem;
use super::tensor::{Strips, TILES_OF_STRIP};
use crate::grid::{AxisTiling, Precision, Real, Tiling};
use crate::solver::SolverError;
use cudarc::driver::sys::CUdevice_attribute_enum as Attribute;
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DeviceRepr};
use std::ops::Range;
use std::sync::Arc;

/// Cycles of a launch: three launches and a single cycle fill a graph.
pub(super) const CYCLES: usize = 85;

/// Values from the counter of a strip to that of the next (`APART` of the kernel).
const APART: usize = 8;

/// The launch of several cycles.
pub(super) struct Resident {
    pub launch: Launch,
    pub strips: ResidentStrips,
    /// They live as long as the launch.
    _made: CudaSlice<u32>,
}

impl Resident {
    /// That of the tiles that `strips` takes with so many blocks, if each of their groups has one strip at the most.
    ///
    /// # Errors
    /// [`SolverError`] if the driver refuses it.
    pub fn new<R: Real + DeviceRepr>(
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        tiling: &Tiling,
        strips: Strips,
        blocks: u32,
    ) -> Result<Option<Self>, SolverError> {
        let Some(y) = tiling.y() else { return Ok(None) };
        let of_row = strips_of_row(tiling.x()).count();
        let all = of_row * y.count();
        let is_taken = strips.precision == Precision::F32
            && system.share.is_none()
            && all <= blocks as usize * strips.groups;
        let Some(reach) = is_taken.then(|| reach(tiling.x(), y)).flatten() else { return Ok(None) };
        let gpu = &system.gpu;
        let cooperates = Attribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH;
        if gpu.check(gpu.context.attribute(cooperates))? == 0 {
            return Ok(None);
        }
        let made = gpu.check(stream.alloc_zeros::<u32>(all * APART))?;
        gpu.check(stream.synchronize())?;
        let layout = strips.layout();
        let (shape, threads) = ([blocks, 1], [layout.threads, 1]);
        let file = File::SpectralResident;
        let launch = Launch::new(system, file, layout.function, shape, threads, layout.bytes)?;
        let strips = ResidentStrips { made: made.device_ptr(stream).0, reach };
        Ok(Some(Self { launch: launch.cooperative(), strips, _made: made }))
    }
}

/// The tiles of each strip of a row. The last tile has one of its own.
fn strips_of_row(x: &AxisTiling) -> impl Iterator<Item = Range<usize>> + Clone {
    let last = x.count() - 1;
    let full = (0..last).step_by(TILES_OF_STRIP);
    full.map(move |first| first..last.min(first + TILES_OF_STRIP))
        .chain(std::iter::once(last..last + 1))
}

/// On how many strips of a row, and rows of strips, on either side a strip depends: these own points that its tiles read.
/// `None` if a warp cannot watch as many.
fn reach(x: &AxisTiling, y: &AxisTiling) -> Option<[i32; 2]> {
    let single = (0..y.count()).map(|tile| tile..tile + 1);
    let reach = [farthest(x, strips_of_row(x)), farthest(y, single)];
    let watched = reach.iter().map(|reach| 2 * reach + 1).product::<usize>();
    let [x, y] = reach.map(counted);
    x.zip(y).filter(|_| watched <= WARP as usize).map(|(x, y)| [x, y])
}

/// How far apart groups of tiles lie, counted in groups, of which one owns points that the other reads.
fn farthest(axis: &AxisTiling, groups: impl Iterator<Item = Range<usize>> + Clone) -> usize {
    let points = |tiles: &Range<usize>, of: fn(&AxisTiling, usize) -> Range<usize>| {
        of(axis, tiles.start).start..of(axis, tiles.end - 1).end
    };
    let groups = groups.enumerate();
    let of_one = groups.clone().flat_map(|(here, tiles)| {
        let read = points(&tiles, AxisTiling::computed);
        let read = read.start.saturating_sub(1)..read.end + 1;
        groups.clone().filter_map(move |(there, tiles)| {
            let owned = points(&tiles, AxisTiling::owned);
            (owned.start < read.end && read.start < owned.end).then(|| here.abs_diff(there))
        })
    });
    of_one.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::super::graph_batch::MOST_RECORDED;
    use super::*;

    #[test]
    fn three_launches_and_a_cycle_fill_a_graph() {
        assert_eq!((3 * CYCLES + 1, CYCLES % 2), (MOST_RECORDED, 1));
    }

    #[test]
    fn a_strip_depends_on_those_whose_points_it_reads() {
        let of = |n, overlap| {
            let axis = AxisTiling::new(n, 32, overlap).unwrap();
            reach(&axis, &axis)
        };
        // Tiles beside each other, and above each other.
        assert_eq!(of(1024, 4), Some([1, 1]));
        assert_eq!(of(32, 0), Some([0, 0]));
        assert_eq!(of(1024, 16), Some([1, 1]));
        // Of tiles that begin 8 points apart, the second next owns points of one.
        assert_eq!(of(88, 24), Some([1, 2]));
        // The last tile begins a point after the one before, and reads of the one before that, too.
        let shifted = AxisTiling::new(32 + 28 + 28 + 1, 32, 4).unwrap();
        assert_eq!(farthest(&shifted, (0..4).map(|tile| tile..tile + 1)), 2);
        // More than a warp has lanes.
        assert_eq!(of(120, 30), None);
    }
}
