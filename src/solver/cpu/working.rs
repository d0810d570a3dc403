//! What a solver takes beside the arrays of its grid, before anything is allocated.

use super::fused;
use super::patch::{Extent, PatchRow, Piece};
use super::team;
use super::tiles::{POINTS_IN_1D, extent_of};
use crate::grid::{AxisTiling, Precision, Shape, Tiling};
use crate::problem::matrix::Graph;
use crate::problem::{Csr, Operator, Problem};
use crate::solver::{Devices, Kernel, Method};

/// Bytes of a task of a cycle: its tiles, its part of the next iterate, its norms, and what they are handed out by.
const OF_TASK: usize = 256;

/// Bytes that the rows of a system, divided by their diagonals, take beside the arrays of a grid: those of a sparse
/// matrix, its diagonal and the starts of its rows.
pub fn system_bytes(problem: &Problem, precision: Precision) -> u64 {
    problem.operator.matrix().map_or(0, |matrix| {
        let of_row = size_of::<usize>() + size_of::<f64>();
        entries_bytes(matrix, precision).saturating_add(product([matrix.rows(), of_row]))
    })
}

/// Bytes that a method works in with one of the kernels that a CPU has and this number of threads, 0 for one on each core:
/// tiles with their halos, tables, blocks of a matrix, a slab or a window, planes of several sweeps. The rows that an overlap adds to the blocks of a matrix are not known before
/// it is cut; they are counted then.
pub fn working_bytes(
    problem: &Problem,
    method: &Method,
    precision: Precision,
    (kernel, threads): (Kernel, usize),
) -> u64 {
    let shape = &problem.shape;
    let of_tiles = |tiling: &Tiling, is_spectral: bool| {
        Tiles { problem, tiling, is_spectral }.bytes(precision, threads)
    };
    let devices = method.devices();
    let count = devices.map_or(1, Devices::count) as u64;
    let of_devices = match devices {
        Some(devices) if method.streaming().is_none() => device_bytes(problem, devices, precision),
        _ => 0,
    };
    let of_method = match (method.plain(), &problem.operator) {
        (Method::Hierarchical { tiling, .. }, Operator::Csr(matrix)) => {
            blocks_bytes(matrix, tiling.x(), precision, threads)
        }
        (Method::Hierarchical { tiling, .. }, _) => {
            let in_order = if method.schedule().is_jacobi() {
                0
            } else {
                wave_bytes(shape, tiling, precision)
            };
            of_tiles(tiling, false).saturating_add(in_order)
        }
        (Method::Classic, Operator::Stencil(_)) if kernel == Kernel::FUSED && shape.dim() == 3 => {
            fused::bytes(shape, precision, threads)
        }
        (Method::Spectral(spectral), _) => of_tiles(spectral.tiling(), true),
        (Method::Streaming(_), Operator::PerPoint(_)) => of_tiles(&Tiling::whole(shape), false),
        (Method::Streaming(streaming), _) => {
            // Each device has its own fast memory, where they share planes.
            let memories = if streaming.shares_sweeps(shape) { 1 } else { count };
            streaming.working_bytes(shape, precision).saturating_mul(memories)
        }
        _ => 0,
    };
    of_method.saturating_add(of_devices)
}

/// Bytes of what simulated devices have: two iterates of their planes, the right-hand side, and the rows where they
/// differ. Of a matrix the rows that they own or receive, with all entries once.
fn device_bytes(problem: &Problem, devices: &Devices, precision: Precision) -> u64 {
    let shape = &problem.shape;
    let shares = devices.shares().of_devices().iter();
    if let Some(matrix) = problem.operator.matrix() {
        let kept: usize = shares.map(|share| share.owned.len() + share.received_planes()).sum();
        // Its number, its diagonal, where its entries begin, and what it is received by.
        let of_row = 2 * size_of::<u32>() + size_of::<f64>() + 4 * size_of::<usize>();
        return product([kept, of_row + 3 * precision.bytes()])
            .saturating_add(entries_bytes(matrix, precision));
    }
    let values = shares.map(|share| shape.stored_planes(share.computed.clone()).len());
    let arrays = 3 + problem.operator.row_arrays(shape);
    product([arrays, values.sum(), precision.bytes()])
}

/// The tiles of a grid that are computed in parallel.
struct Tiles<'a> {
    problem: &'a Problem,
    tiling: &'a Tiling,
    is_spectral: bool,
}

impl Tiles<'_> {
    fn bytes(&self, precision: Precision, threads: usize) -> u64 {
        let shape = &self.problem.shape;
        let across = self.tiling.x().count();
        let (tasks, pieces) = match shape.dim() {
            1 => {
                let tasks = (shape.batch() * across).div_ceil(tiles_in_1d(self.tiling));
                (tasks, tasks)
            }
            // A task owns a piece of each of its planes.
            _ => {
                let tasks = self.tiling.count() / across.max(1);
                let columns = self.tiling.y().map_or(1, AxisTiling::count);
                (tasks, columns * shape.nz())
            }
        };
        let extent = self.extent();
        let row_arrays = self.problem.operator.row_arrays(shape);
        let of_thread = extent.scratch(row_arrays, self.is_spectral);
        let at_once = team::threads(threads).min(tasks.max(1));
        let places = product([extent.rows(), size_of::<PatchRow>(), at_once]);
        let tables = if self.is_spectral { self.tables(&extent) } else { 0 };
        product([of_thread, precision.bytes(), at_once])
            .saturating_add(product([tables, precision.bytes()]))
            .saturating_add(product([tasks, OF_TASK]))
            .saturating_add(product([pieces, 2 * size_of::<Piece<'_, f64>>()]))
            .saturating_add(places)
    }

    fn extent(&self) -> Extent {
        extent_of(self.tiling, self.problem.shape.dim(), tiles_in_1d(self.tiling))
    }

    /// Values of the tables of a tile in its sine basis: at most two whole matrices for each axis, with their padding,
    /// and a factor for every mode.
    fn tables(&self, extent: &Extent) -> usize {
        let of_axis = |side: usize| 2 * side * (side + 4 * super::patch::PADDING);
        let axes = self.tiling.axes().iter().map(|axis| of_axis(axis.tile()));
        axes.sum::<usize>().saturating_add(extent.modes())
    }
}

/// The 1D tiles that are computed together.
fn tiles_in_1d(tiling: &Tiling) -> usize {
    (POINTS_IN_1D / tiling.x().tile()).max(1)
}

/// Bytes of what the tiles of a wave own, until all of them are done: their points, and where their rows lie.
fn wave_bytes(shape: &Shape, tiling: &Tiling, precision: Precision) -> u64 {
    let (tiles, rows) = match shape.dim() {
        1 => (shape.batch() * tiling.x().count(), 1),
        _ => (tiling.count(), tiling.axes()[1..].iter().map(AxisTiling::tile).product()),
    };
    let of_row = size_of::<PatchRow>() + size_of::<Piece<'_, f64>>();
    product([shape.points(), precision.bytes()])
        .saturating_add(product([tiles, rows, of_row]))
        .saturating_add(product([tiles, OF_TASK]))
}

/// Bytes of a matrix cut into blocks: lists of entries, which may take twice their size while they grow, and three
/// arrays of a block on every thread.
fn blocks_bytes(matrix: &Csr, blocks: &AxisTiling, precision: Precision, threads: usize) -> u64 {
    // Where a row lies, and where its two lists begin.
    let of_row = 3 * size_of::<u32>();
    let graph = if blocks.overlap() > 0 { Graph::bytes(matrix) } else { 0 };
    let at_once = team::threads(threads).min(blocks.count().max(1));
    (2 * entries_bytes(matrix, precision))
        .saturating_add(product([2, matrix.rows(), of_row]))
        .saturating_add(product([3, blocks.tile(), precision.bytes(), at_once]))
        .saturating_add(product([blocks.count(), OF_TASK]))
        .saturating_add(graph)
}

/// Bytes of the entries off the diagonal, with their columns.
fn entries_bytes(matrix: &Csr, precision: Precision) -> u64 {
    product([matrix.entries() - matrix.rows(), size_of::<u32>() + precision.bytes()])
}

/// The product of some numbers, or the largest number where it is too large.
fn product<const COUNT: usize>(factors: [usize; COUNT]) -> u64 {
    factors.into_iter().fold(1, |product: u64, factor| product.saturating_mul(factor as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Boundary, Source, Stencil};
    use crate::solver::Schedule;
    use std::num::NonZeroUsize;

    const SHAPE: [usize; 2] = [300, 200];

    fn bytes(method: &Method, threads: usize) -> u64 {
        let shape = Shape::grid_2d(SHAPE[0], SHAPE[1]).unwrap();
        let problem = Problem {
            shape,
            operator: Stencil::poisson(&shape).into(),
            rhs: Source::Constant(1.0),
            initial_guess: Source::Constant(0.0),
            boundary: Boundary::default(),
        };
        working_bytes(&problem, method, Precision::F64, (Kernel::AUTO, threads))
    }

    fn tiles(side: usize) -> Method {
        Method::Hierarchical { k: 4, tiling: Tiling::new(&SHAPE, &[side; 2], &[0; 2]).unwrap() }
    }

    #[test]
    fn a_tile_as_large_as_the_grid_is_copied_whole() {
        let array = 300 * 200 * 8;
        let copied = bytes(&tiles(300), 1);
        assert!((3 * array..4 * array).contains(&copied), "{copied}");
        assert_eq!(bytes(&tiles(300), 8), copied, "one tile is on one thread");
    }

    #[test]
    fn threads_have_tiles_of_their_own() {
        let [one, four] = [1, 4].map(|threads| bytes(&tiles(32), threads));
        let tile = 34 * 40 * 8;
        assert!(four > one + 3 * 2 * tile && four < 4 * one, "{one}, {four}");
    }

    #[test]
    fn tiles_in_an_order_wait_for_their_wave() {
        let schedule = Schedule { wave: None, warp: NonZeroUsize::new(32) };
        let [plain, ordered] = [tiles(32), tiles(32).scheduled(schedule)].map(|it| bytes(&it, 1));
        assert!(ordered >= plain + 300 * 200 * 8, "{plain}, {ordered}");
    }

    #[test]
    fn sweeps_over_the_grid_need_nothing_else() {
        assert_eq!(bytes(&Method::Classic, 4), 0);
    }
}
