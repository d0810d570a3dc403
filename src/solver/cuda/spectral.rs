//! Subiterations in the sine basis of a tile: on FP64 tensor cores where the tile is made for them, or in
//! plain arithmetic.

use super::arguments::{Pointer, counted};
use super::cycle_kernel::{Cycle, CycleKernel, Launch, Step, WARP, tile_name};
use super::kernels::Setting;
use super::ptx::File;
use super::system::DeviceSystem;
use crate::grid::{Precision, Real};
use crate::solver::{Footprint, Method, SolverError, Spectral};
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError};
use std::sync::Arc;

/// How `spectral_tensor.cu` works on square tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TensorPlan {
    side: usize,
    function: &'static str,
    /// Warps of a quadrant, and tiles that a block works on at a time.
    warps: usize,
    groups: usize,
    /// Whether the factors stay in shared memory.
    keeps_factors: bool,
}

/// The functions of `spectral_tensor.cu`.
const PLANS: [TensorPlan; 4] = [
    TensorPlan { side: 32, function: "side_32", warps: 1, groups: 4, keeps_factors: true },
    TensorPlan { side: 48, function: "side_48", warps: 1, groups: 3, keeps_factors: true },
    TensorPlan { side: 64, function: "side_64", warps: 1, groups: 2, keeps_factors: true },
    TensorPlan { side: 128, function: "side_128", warps: 2, groups: 1, keeps_factors: false },
];

/// The oldest compute capability with the products of `spectral_tensor.cu`.
const OLDEST_TENSOR: (i32, i32) = (9, 0);

/// Functions of `spectral.cu`, of which the first that can runs: rows of a thread's block of a product, and
/// the most threads.
const ROWS: [(&str, usize, usize); 2] = [("four_rows", 4, 256), ("eight_rows", 8, 512)];

/// Columns of that block.
const COLUMNS: usize = 4;

/// Tiles of a block in 1D.
const ROWS_1D: usize = 32;

/// How the kernel takes tiles in plain arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SpectralLayout {
    function: &'static str,
    threads: usize,
    /// Bytes of shared memory.
    bytes: usize,
}

/// How the tiles of a setting are taken in plain arithmetic, which any GPU has.
///
/// # Errors
/// What it does not accept, such as `tile 200x200`.
pub(super) fn layout(setting: &Setting<'_>) -> Result<SpectralLayout, String> {
    let Method::Spectral(spectral) = setting.method else {
        return Err("sweeps".to_owned());
    };
    let tiling = spectral.tiling();
    let axes = tiling.axes();
    let (width, height) = (axes[0].tile(), axes.get(1).map_or(ROWS_1D, |y| y.tile()));
    let bytes = height * (width | 1) * setting.precision.bytes();
    if axes.len() > 2 {
        return Err("subiterations of 3D tiles in the sine basis".to_owned());
    }
    if bytes > setting.shared_bytes {
        return Err(tile_name(tiling));
    }
    let threads = |rows: usize| {
        let along_x = height.div_ceil(rows) * 2 * width.div_ceil(2).div_ceil(COLUMNS);
        let along_y = 2 * height.div_ceil(2).div_ceil(rows) * width.div_ceil(COLUMNS);
        let threads = if axes.len() == 1 { along_x } else { along_x.max(along_y) };
        threads.next_multiple_of(WARP as usize)
    };
    let fits = ROWS.iter().find(|(_, rows, most)| threads(*rows) <= *most);
    let (function, rows, _) = fits.ok_or_else(|| tile_name(tiling))?;
    Ok(SpectralLayout { function, threads: threads(*rows), bytes })
}

/// The plan for tensor cores, if there is one for the tiles.
fn tensor_plan(setting: &Setting<'_>, spectral: &Spectral) -> Option<TensorPlan> {
    let axes = spectral.axes();
    let side = axes[0].side();
    let is_made_for = setting.precision == Precision::F64
        && axes.len() == 2
        && axes.iter().all(|axis| axis.side() == side && axis.scale(0).is_none());
    let plan = PLANS.into_iter().find(|plan| is_made_for && plan.side == side)?;
    (plan.bytes() <= setting.shared_bytes).then_some(plan)
}

impl TensorPlan {
    /// Bytes of shared memory of a block: the matrices, the factors, the quadrants of each tile.
    fn bytes(self) -> usize {
        let pairs = (self.side / 2).pow(2);
        let factors = if self.keeps_factors { 2 * pairs } else { 0 };
        (pairs + factors + 2 * pairs * self.groups) * 2 * size_of::<f64>()
    }

    /// The tables as `spectral_tensor.cu` reads them.
    fn tables(self, spectral: &Spectral) -> Vec<f64> {
        let (half, blocks) = (self.side / 2, self.side / 16);
        let modes = &spectral.axes()[0];
        let entry = |m: usize, i: usize| modes.sine(2 * m + 1, i + 1);
        let lanes = || (0..WARP as usize).map(|lane| (lane / 4, 2 * (lane % 4)));
        let mut tables = Vec::with_capacity(6 * half * half);
        // Two blocks of rows are loaded together: of the first columns of each pair with the even block, of
        // the second ones with the odd block. A last block without a partner has both columns.
        for is_forward in [true, false] {
            for row_block in 0..blocks {
                for column_block in 0..blocks {
                    for (row, pair) in lanes() {
                        let first = row_block / 2 * 2;
                        let (row, column) = (8 * first + row, 8 * column_block + pair);
                        let entries = if first + 1 < blocks {
                            let column = column + row_block % 2;
                            [(row, column), (row + 8, column)]
                        } else {
                            [(row, column), (row, column + 1)]
                        };
                        tables.extend(entries.map(|(row, column)| match is_forward {
                            true => entry(row, column),
                            false => entry(column, row),
                        }));
                    }
                }
            }
        }
        // In the quadrants of differences, modes come in reverse.
        let mode = |is_odd: bool, m: usize| if is_odd { self.side - 2 * m } else { 2 * m + 1 };
        for quadrant in 0..4 {
            for x_block in 0..blocks {
                for y_block in 0..blocks {
                    for (row, pair) in lanes() {
                        let y = mode(quadrant / 2 == 1, 8 * y_block + row);
                        let x = |m: usize| mode(quadrant % 2 == 1, 8 * x_block + pair + m);
                        tables.extend([0, 1].map(|m| spectral.factor(&[x(m), y])));
                    }
                }
            }
        }
        tables
    }
}

/// The points of a half of an axis: sums of mirrored points, or their differences.
fn halves(side: usize) -> [usize; 2] {
    [side.div_ceil(2), side / 2]
}

/// The mode (from 1) at a place of an axis.
fn mode(side: usize, place: usize) -> usize {
    let [sums, _] = halves(side);
    if place < sums { 2 * place + 1 } else { 2 * (place - sums) + 2 }
}

/// The tables as `spectral.cu` reads them.
fn plain_tables<R: Real>(spectral: &Spectral) -> Vec<R> {
    let axes = spectral.axes();
    let mut tables = Vec::new();
    for modes in axes {
        let side = modes.side();
        let [sums, _] = halves(side);
        for (half, size) in halves(side).into_iter().enumerate() {
            // Differences lie where the mirrored points were.
            let point = |i: usize| if half == 0 { i } else { side - 1 - (sums + i) };
            let sine = |m: usize, i: usize| modes.sine(2 * m + 1 + half, point(i) + 1);
            let every = || (0..size).flat_map(|row| (0..size).map(move |column| (row, column)));
            if axes.len() == 1 {
                let factor = |m: usize| spectral.factor(&[2 * m + 1 + half]);
                let through =
                    |(i, j)| (0..size).map(|m| sine(m, i) * factor(m) * sine(m, j)).sum::<f64>();
                tables.extend(every().map(through));
            } else {
                tables.extend(every().map(|(m, i)| sine(m, i)));
                tables.extend(every().map(|(i, m)| sine(m, i)));
            }
        }
    }
    if let [x, y] = axes {
        for row in 0..y.side() {
            let factor = |column| spectral.factor(&[mode(x.side(), column), mode(y.side(), row)]);
            tables.extend((0..x.side()).map(factor));
        }
    }
    for modes in axes {
        let scale = |i: usize| modes.scale(i).unwrap_or(1.0);
        tables.extend((0..modes.side()).map(scale));
        tables.extend((0..modes.side()).map(|i| scale(i).recip()));
    }
    tables.into_iter().map(R::from_f64).collect()
}

/// Prepares the kernel ([`BuildFn`](super::build::BuildFn)).
pub(super) fn build<R: Real + DeviceRepr>(
    system: &DeviceSystem<R>,
    setting: &Setting<'_>,
    stream: &Arc<CudaStream>,
    _arrays: [Pointer; 2],
) -> Result<Option<Box<dyn CycleKernel<R>>>, SolverError> {
    let (Method::Spectral(spectral), Ok(layout)) = (setting.method, layout(setting)) else {
        return Ok(None);
    };
    let gpu = &system.gpu;
    let tiling = spectral.tiling();
    let systems = if tiling.y().is_none() { system.shape.rows() } else { 1 };
    // Kernels take k from the tables.
    let (Some(cycle), Some(tiles)) =
        (Cycle::new(tiling, 1, [1, 1]), counted(tiling.count() * systems))
    else {
        return Ok(None);
    };
    let tiles = tiles.unsigned_abs();
    let is_newest = gpu.check(gpu.context.compute_capability())? >= OLDEST_TENSOR;
    let plan = tensor_plan(setting, spectral).filter(|_| is_newest);
    let (tables, kernel) = if let Some(plan) = plan {
        let tables: Vec<R> = plan.tables(spectral).into_iter().map(R::from_f64).collect();
        let blocks = [tiles.min(gpu.multiprocessors), 1];
        let threads = [4 * WARP * (plan.warps * plan.groups) as u32, 1];
        let file = File::SpectralTensor;
        (tables, Launch::new(system, file, plan.function, blocks, threads, plan.bytes())?)
    } else {
        let SpectralLayout { function, threads, bytes } = layout;
        let blocks = if tiling.y().is_none() { tiles.div_ceil(ROWS_1D as u32) } else { tiles };
        let threads = [u32::try_from(threads).unwrap_or(WARP), 1];
        let tables = plain_tables(spectral);
        (tables, Launch::new(system, File::Spectral, function, [blocks, 1], threads, bytes)?)
    };
    let tables = gpu.check(stream.clone_htod(&tables))?;
    gpu.check(stream.synchronize())?;
    let at = tables.device_ptr(stream).0;
    Ok(Some(Box::new(InSineBasis { kernel, cycle, at, _tables: tables })))
}

struct InSineBasis<R> {
    kernel: Launch,
    cycle: Cycle,
    /// Where the tables lie.
    at: Pointer,
    /// They live as long as the kernel.
    _tables: CudaSlice<R>,
}

impl<R: Real + DeviceRepr> CycleKernel<R> for InSineBasis<R> {
    /// One of each warp.
    fn parts(&self) -> usize {
        let config = &self.kernel.config;
        config.grid_dim.0 as usize * (config.block_dim.0 / WARP) as usize
    }

    fn launch(
        &self,
        stream: &Arc<CudaStream>,
        system: &DeviceSystem<R>,
        step: Step,
    ) -> Result<(), DriverError> {
        self.kernel.spectral_cycle(stream, system, step, &self.cycle, self.at)
    }

    fn footprint(&self) -> Footprint {
        self.kernel.footprint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Tiling;
    use crate::problem::Stencil;
    use crate::solver::Subiterations;

    fn of_tile(axes: &[usize], tile: &[usize], stencil: &Stencil) -> (Method, Spectral) {
        let tiling = Tiling::new(axes, tile, &[0; 3]).unwrap();
        let spectral = Spectral::new(Subiterations::Infinite, &tiling, stencil).unwrap();
        (Method::Spectral(spectral.clone()), spectral)
    }

    const SYMMETRIC: Stencil =
        Stencil { d: 4.0, a: -1.0, c: -1.0, e: -1.0, f: -1.0, p: 0.0, q: 0.0 };

    #[test]
    fn every_tile_that_the_basis_takes_has_a_layout() {
        for width in 1..=128 {
            for height in [1, 2, 7, 31, 64, 100, 127, 128] {
                for precision in Precision::ALL {
                    let (method, _) = of_tile(&[300, 300], &[width, height], &SYMMETRIC);
                    let setting = Setting {
                        method: &method,
                        precision,
                        shared_bytes: 227 * 1024,
                        is_per_point: false,
                        block_size: None,
                    };
                    let SpectralLayout { threads, .. } = layout(&setting).unwrap();
                    assert!(threads <= 512 && threads % WARP as usize == 0, "{width} {height}");
                }
            }
            let line = Stencil { d: 2.0, e: 0.0, f: 0.0, ..SYMMETRIC };
            let (method, _) = of_tile(&[300], &[width], &line);
            let setting = Setting {
                method: &method,
                precision: Precision::F64,
                shared_bytes: 48 * 1024,
                is_per_point: false,
                block_size: None,
            };
            assert!(layout(&setting).is_ok(), "{width}");
        }
    }

    #[test]
    fn tensor_cores_take_square_tiles_with_symmetric_weights() {
        let planned = |tile: [usize; 2], stencil: &Stencil, precision| {
            let (method, spectral) = of_tile(&[300, 300], &tile, stencil);
            let setting = Setting {
                method: &method,
                precision,
                shared_bytes: 227 * 1024,
                is_per_point: false,
                block_size: None,
            };
            tensor_plan(&setting, &spectral).map(|plan| plan.side)
        };
        for plan in PLANS {
            assert_eq!(planned([plan.side; 2], &SYMMETRIC, Precision::F64), Some(plan.side));
        }
        assert_eq!(planned([40, 40], &SYMMETRIC, Precision::F64), None);
        assert_eq!(planned([64, 32], &SYMMETRIC, Precision::F64), None);
        assert_eq!(planned([64, 64], &SYMMETRIC, Precision::F32), None);
        let wind = Stencil { a: -1.02, c: -0.98, ..SYMMETRIC };
        assert_eq!(planned([64, 64], &wind, Precision::F64), None);
    }

    #[test]
    fn tables_have_the_length_that_the_kernels_read() {
        let (_, spectral) = of_tile(&[300, 300], &[64, 64], &SYMMETRIC);
        let plan = tensor_plan(
            &Setting {
                method: &Method::Spectral(spectral.clone()),
                precision: Precision::F64,
                shared_bytes: 227 * 1024,
                is_per_point: false,
                block_size: None,
            },
            &spectral,
        );
        assert_eq!(plan.unwrap().tables(&spectral).len(), 6 * 32 * 32);
        let (_, spectral) = of_tile(&[300, 300], &[7, 4], &SYMMETRIC);
        let expected = 2 * (16 + 9) + 2 * (4 + 4) + 7 * 4 + 2 * (7 + 4);
        assert_eq!(plain_tables::<f64>(&spectral).len(), expected);
    }
}
