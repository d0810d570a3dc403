//! Block Jacobi on a sparse matrix on a GPU (`kernels/blocks.cu`): a block of threads makes all sweeps of a
//! block of rows. One row of the table of kernels (`kernels.rs`) for each way to keep the entries.

mod kernel;
mod lists;

pub(super) use kernel::{BlocksKernel, Numbers};

use super::cycle_kernel::WARP;
use super::kernels::KERNELS;
use super::setting::{NO_KERNEL, Refused, SCHEDULES, Setting};
use crate::grid::{AxisTiling, Precision};
use crate::problem::Csr;
use crate::problem::matrix::{BlockRows, computed_rows};
use crate::solver::cuda::build::Build;
use crate::solver::{Kernel, Method, SolverError};
use lists::{GROUP, Split};

/// Threads of a block at most: the launch bounds in `blocks.cu`.
const MOST_THREADS: usize = 1024;

/// Rows of a block at most where dynamic entries have 16 bits for their places; the last place stands for
/// none.
const MOST_PLACES: usize = u16::MAX as usize;

/// Rows of a block of Jacobi's iteration, where blocks change nothing.
const ROWS_OF_A_SWEEP: usize = 256;

/// How a kernel of `blocks.cu` keeps the entries.
#[derive(Debug)]
pub(super) struct BlocksType {
    function: &'static str,
    /// Another one for blocks of more rows than threads.
    large: Option<&'static str>,
    split: Split,
    /// Arrays in shared memory at most, with room for the rows of a block and for its threads.
    arrays: usize,
    /// Whether a thread has one row at most.
    has_thread_per_row: bool,
}

pub(super) static ROWS: BlocksType = BlocksType {
    function: "rows",
    large: None,
    split: Split::Sorted,
    arrays: 2,
    has_thread_per_row: false,
};
pub(super) static REORGANISED: BlocksType =
    BlocksType { function: "reorganised", split: Split::Apart, ..ROWS };
pub(super) static HOISTED: BlocksType = BlocksType {
    function: "hoisted",
    large: Some("hoisted_large"),
    split: Split::Apart,
    arrays: 3,
    has_thread_per_row: false,
};
pub(super) static RESIDENT: BlocksType =
    BlocksType { function: "resident", split: Split::Apart, has_thread_per_row: true, ..ROWS };

/// Dynamic entries of a row that kernel `resident` keeps in registers: `KEPT` of `blocks.cu`.
const KEPT: usize = 8;

/// What makes the cycles of kernel `resident` where a row has more.
const RESIDENT_AND_LISTED: &str = "resident_and_listed";

/// Jacobi's iteration: every entry is static.
static CLASSIC: BlocksType =
    BlocksType { function: "one_sweep", split: Split::None, arrays: 0, ..ROWS };

/// One sweep of kernels with two lists: all entries are those of one iterate, so one list in the same order does.
static ONE_SWEEP: BlocksType =
    BlocksType { function: "one_sweep", split: Split::Sorted, ..CLASSIC };

/// The threads of a block and its bytes of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BlockSize {
    threads: u32,
    bytes: usize,
}

impl BlocksType {
    /// The function for blocks of at most `rows` rows with at most `longest` dynamic entries each.
    fn function(&self, rows: usize, longest: usize) -> &'static str {
        if self.has_thread_per_row && longest > KEPT {
            return RESIDENT_AND_LISTED;
        }
        self.large.filter(|_| rows > MOST_THREADS).unwrap_or(self.function)
    }

    /// The size of the block of threads for blocks of at most `rows` rows; `None` if they are too many.
    fn size(&self, rows: usize, precision: Precision, shared_bytes: usize) -> Option<BlockSize> {
        let warps = rows.div_ceil(WARP as usize).max(1);
        let threads = (warps * WARP as usize).min(MOST_THREADS);
        let bytes = self.arrays * rows.max(threads) * precision.bytes();
        // The last bytes hold what warps add up.
        let fits = bytes + NORMS_BYTES <= shared_bytes
            && (self.split != Split::Apart || rows <= MOST_PLACES)
            && (!self.has_thread_per_row || rows <= threads);
        fits.then_some(BlockSize { threads: threads as u32, bytes })
    }
}

/// Bytes of shared memory for the norms of warps: `warps` of `norms.cuh` and of `blocks.cu`.
const NORMS_BYTES: usize = 32 * (32 + 8);

/// Whether a kernel accepts the blocks of a setting; if not, what it does not accept. With an overlap, blocks
/// compute more rows than they own, which is known only once the matrix is cut.
pub(super) fn accept(kernel: &BlocksType, setting: &Setting<'_>) -> Result<(), String> {
    let Setting { method, precision, shared_bytes, .. } = setting;
    let Method::Hierarchical { tiling, .. } = method.plain() else {
        return Err(SINE_BASIS.to_owned());
    };
    let rows = tiling.x().tile();
    kernel.size(rows, *precision, *shared_bytes).map(drop).ok_or_else(|| refused(rows))
}

/// What no kernel for matrices makes.
const SINE_BASIS: &str = "subiterations in the sine basis";

fn refused(rows: usize) -> String {
    format!("blocks of {rows} rows")
}

/// The kernel for blocks of at most `rows` rows: its name, how it keeps the entries, and the size of its
/// block of threads. It is the one that was chosen, or the first of the table that accepts them.
fn choose(
    chosen: Kernel,
    rows: usize,
    precision: Precision,
    shared_bytes: usize,
) -> Result<(&'static str, &'static BlocksType, BlockSize), Refused> {
    let mut accepting = KERNELS.iter().filter_map(|row| {
        let Build::Blocks(kernel) = row.build else { return None };
        Some((row.name, kernel, kernel.size(rows, precision, shared_bytes)?))
    });
    let is_meant = |name: &str| chosen == Kernel::AUTO || chosen.name() == name;
    if let Some(found) = accepting.clone().find(|(name, ..)| is_meant(name)) {
        return Ok(found);
    }
    let other = accepting.next().map(|(name, ..)| format!("kernel {name}"));
    let instead = other.unwrap_or_else(|| NO_KERNEL.to_owned());
    Err(Refused { setting: refused(rows), instead })
}

/// The kernel for a matrix that is cut into blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChosenKernel {
    kernel: &'static BlocksType,
    /// The name of the kernel's row.
    name: &'static str,
    sweeps: usize,
    size: BlockSize,
    /// Rows of the largest block.
    most_rows: usize,
}

impl ChosenKernel {
    /// The row of the table of kernels.
    pub fn kernel(&self) -> Kernel {
        Kernel::named(self.name)
    }
}

/// Cuts a matrix into the blocks of a method, for the kernel that was chosen or the fastest that accepts them.
///
/// # Errors
/// [`SolverError`] if no kernel, or not that one, accepts them, or if the overlap adds too many rows.
pub(super) fn cut(
    matrix: &Csr,
    method: &Method,
    chosen: Kernel,
    precision: Precision,
    shared_bytes: usize,
) -> Result<(ChosenKernel, Vec<BlockRows>), SolverError> {
    let refuse = |setting| Refused { setting, instead: NO_KERNEL.to_owned() }.error(chosen);
    let (k, tiling) = match method {
        Method::Hierarchical { k, tiling } => (*k, tiling.x().clone()),
        Method::Classic => {
            let tiling = AxisTiling::blocks(matrix.rows(), ROWS_OF_A_SWEEP, 0);
            (1, tiling.map_err(|error| refuse(error.to_string()))?)
        }
        Method::Spectral(_) => return Err(refuse(SINE_BASIS.to_owned())),
        Method::Damped { omega, .. } => return Err(refuse(format!("damping (ω = {omega})"))),
        Method::Scheduled { .. } => return Err(refuse(SCHEDULES.to_owned())),
        Method::OnDevices { .. } => return Err(refuse("several devices".to_owned())),
        Method::Streaming(streaming) => {
            return Err(refuse(format!("method {}", streaming.method().name())));
        }
    };
    let is_classic = matches!(method, Method::Classic);
    let choose = |rows| match is_classic {
        true => {
            let size = BlockSize { threads: ROWS_OF_A_SWEEP as u32, bytes: 0 };
            Ok((Kernel::CLASSIC.name(), &CLASSIC, size))
        }
        false => {
            choose(chosen, rows, precision, shared_bytes).map_err(|refused| refused.error(chosen))
        }
    };
    // Before all rows are listed.
    choose(tiling.tile())?;
    let blocks = computed_rows(matrix, &tiling)?;
    let most_rows = blocks.iter().map(|(_, computed)| computed.len()).max().unwrap_or(0);
    let (name, mut kernel, mut size) = choose(most_rows)?;
    if k == 1 && kernel.split == Split::Apart && tiling.overlap() == 0 {
        kernel = &ONE_SWEEP;
        size.bytes = 0;
    }
    Ok((ChosenKernel { kernel, name, sweeps: k, size, most_rows }, blocks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_blocks() {
        let size = |kernel: &BlocksType, rows| kernel.size(rows, Precision::F64, 227 * 1024);
        assert_eq!(size(&HOISTED, 256), Some(BlockSize { threads: 256, bytes: 3 * 256 * 8 }));
        assert_eq!(size(&ROWS, 1), Some(BlockSize { threads: 32, bytes: 2 * 32 * 8 }));
        assert_eq!(size(&ROWS, 5000), Some(BlockSize { threads: 1024, bytes: 2 * 5000 * 8 }));
        assert_eq!((size(&RESIDENT, 1025), size(&HOISTED, 10_000)), (None, None));
        assert!(size(&RESIDENT, 1024).is_some() && size(&REORGANISED, 10_000).is_some());
        // There is shared memory enough, but not places enough.
        assert_eq!(REORGANISED.size(70_000, Precision::F32, 1 << 20), None);
        assert!(ROWS.size(70_000, Precision::F32, 1 << 20).is_some());
    }

    #[test]
    fn rows_with_many_dynamic_entries_and_large_blocks_have_another_function() {
        for (kernel, rows, longest, expected) in [
            (&RESIDENT, 256, KEPT, "resident"),
            (&RESIDENT, 256, KEPT + 1, "resident_and_listed"),
            (&HOISTED, MOST_THREADS, 1000, "hoisted"),
            (&HOISTED, MOST_THREADS + 1, 2, "hoisted_large"),
            (&ROWS, MOST_THREADS + 1, 1000, "rows"),
        ] {
            assert_eq!(kernel.function(rows, longest), expected, "{rows} {longest}");
        }
    }
}
