//! Subiterations in the sine basis of a tile: on tensor cores where there are functions for such tiles (`tensor`), or in
//! plain arithmetic.

mod cubes;
mod resident;
mod tables;
mod tensor;

use super::arguments::Pointer;
use super::cycle_kernel::{
    Cycle, CycleKernel, Launch, SpectralTiles, Step, WARP, operations_per_second, tile_name,
    tiles_of,
};
use super::ptx::File;
use super::setting::Setting;
use super::system::DeviceSystem;
use crate::grid::{Precision, Real};
use crate::solver::spectral::AxisModes;
use crate::solver::{Footprint, Method, Products, SolverError, Spectral};
use cubes::Cubes;
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError};
use resident::Resident;
use std::sync::Arc;
use tensor::Plan;

/// Functions of `spectral.cu`, of which the first that can runs: rows of a thread's block of a product, and
/// the most threads.
const ROWS: [(&str, usize, usize); 2] = [("four_rows", 4, 256), ("eight_rows", 8, 512)];

/// Columns of that block.
const COLUMNS: usize = 4;

/// Passes of a block on tensor cores up to which it is begun before the cycle before has ended.
const MOST_EARLY_PASSES: u32 = 16;

/// Tiles of a block in 1D.
const ROWS_1D: usize = 32;

/// How the kernel takes tiles in plain arithmetic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SpectralLayout {
    function: &'static str,
    threads: usize,
    /// Bytes of shared memory.
    bytes: usize,
}

/// Whether the tiles of a setting are taken.
///
/// # Errors
/// What is not accepted, such as `tile 200x200`.
pub(super) fn accepts(setting: &Setting<'_>) -> Result<(), String> {
    let Method::Spectral(spectral) = setting.method.plain() else {
        return Err("sweeps".to_owned());
    };
    match Plan::of(setting, spectral) {
        Some(_) => Ok(()),
        None => plain_layout(setting, spectral).map(drop),
    }
}

/// How the tiles are taken in plain arithmetic, which any GPU has.
///
/// # Errors
/// What it does not accept, such as `tile 200x200`.
fn plain_layout(setting: &Setting<'_>, spectral: &Spectral) -> Result<SpectralLayout, String> {
    let tiling = spectral.tiling();
    let axes = tiling.axes();
    let (width, height) = (axes[0].tile(), axes.get(1).map_or(ROWS_1D, |y| y.tile()));
    let rows = height * axes.get(2).map_or(1, |z| z.tile());
    let bytes = rows * (width | 1) * setting.precision.bytes();
    if bytes > setting.shared_bytes {
        return Err(tile_name(tiling));
    }
    let threads = |rows: usize| {
        let along_x = height.div_ceil(rows) * 2 * width.div_ceil(2).div_ceil(COLUMNS);
        let along_y = 2 * height.div_ceil(2).div_ceil(rows) * width.div_ceil(COLUMNS);
        let threads = if axes.len() == 1 { along_x } else { along_x.max(along_y) };
        threads.next_multiple_of(WARP as usize)
    };
    if axes.len() > 2 {
        // Threads take turns at what is more than this.
        let (function, _, threads) = ROWS[0];
        return Ok(SpectralLayout { function, threads, bytes });
    }
    let fits = ROWS.iter().find(|(_, rows, most)| threads(*rows) <= *most);
    let (function, rows, _) = fits.ok_or_else(|| tile_name(tiling))?;
    Ok(SpectralLayout { function, threads: threads(*rows), bytes })
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
fn plain_tables(spectral: &Spectral) -> Vec<f64> {
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
    if axes.len() > 1 {
        let [x, y, z] = [0, 1, 2].map(|axis| axes.get(axis).map_or(1, AxisModes::side));
        for row in 0..y * z {
            let factor = |column| {
                let modes = [mode(x, column), mode(y, row % y), mode(z, row / y)];
                spectral.factor(&modes[..axes.len()])
            };
            tables.extend((0..x).map(factor));
        }
    }
    for modes in axes {
        let scale = |i: usize| modes.scale(i).unwrap_or(1.0);
        tables.extend((0..modes.side()).map(scale));
        tables.extend((0..modes.side()).map(|i| scale(i).recip()));
    }
    tables
}

/// Numbers in a precision, as they lie in memory.
fn in_memory(numbers: &[f64], precision: Precision) -> Vec<u8> {
    match precision {
        Precision::F32 => {
            numbers.iter().flat_map(|number| (*number as f32).to_ne_bytes()).collect()
        }
        Precision::F64 => numbers.iter().flat_map(|number| number.to_ne_bytes()).collect(),
    }
}

/// Prepares the kernel ([`BuildFn`](super::build::BuildFn)).
pub(super) fn build<R: Real + DeviceRepr>(
    system: &DeviceSystem<R>,
    setting: &Setting<'_>,
    stream: &Arc<CudaStream>,
    _arrays: [Pointer; 2],
) -> Result<Option<Box<dyn CycleKernel<R>>>, SolverError> {
    let Method::Spectral(spectral) = setting.method.plain() else { return Ok(None) };
    let gpu = &system.gpu;
    let tiling = spectral.tiling();
    let systems = if tiling.y().is_none() { system.shape.rows() } else { 1 };
    // Kernels take k from the tables.
    let (Some(cycle), Some([first, count])) =
        (Cycle::new(tiling, 1, [1, 1]), tiles_of(system, tiling))
    else {
        return Ok(None);
    };
    let (cycle, tiles) = (cycle.beginning_at(first), count.unsigned_abs());
    let capability = gpu.check(gpu.context.compute_capability())?;
    let plan = Plan::of(setting, spectral).filter(|_| capability >= tensor::OLDEST);
    let (tables, correction_scale, kernel, passes) = if let Some(plan) = plan {
        let (tables, correction_scale) = plan.tables(spectral);
        let tables = in_memory(&tables, setting.precision);
        let layout = plan.layout();
        let most = gpu.multiprocessors * layout.resident / layout.cluster;
        let blocks = tiles.div_ceil(layout.tiles).min(most) * layout.cluster;
        let (shape, threads) = ([blocks, 1], [layout.threads, 1]);
        let kernel =
            Launch::new(system, layout.file, layout.function, shape, threads, layout.bytes)?;
        let passes = tiles.div_ceil(layout.together) * layout.cluster;
        // Streams of several devices wait for each other's events, not only for the kernel before. Cycles of many passes
        // gain nothing.
        let is_early = system.share.is_none() && passes <= MOST_EARLY_PASSES * blocks;
        (tables, correction_scale, if is_early { kernel.beginning_early() } else { kernel }, passes)
    } else {
        let Ok(SpectralLayout { function, threads, bytes }) = plain_layout(setting, spectral)
        else {
            return Ok(None);
        };
        let blocks = if tiling.y().is_none() { tiles.div_ceil(ROWS_1D as u32) } else { tiles };
        let threads = [u32::try_from(threads).unwrap_or(WARP), 1];
        let tables = in_memory(&plain_tables(spectral), setting.precision);
        let kernel = Launch::new(system, File::Spectral, function, [blocks, 1], threads, bytes)?;
        (tables, 1.0, kernel, blocks)
    };
    let arithmetic = gpu.check(operations_per_second(gpu, setting.precision))?;
    let products = Products {
        per_cycle: systems as f64 * spectral.products(),
        most_per_second: match plan {
            Some(_) => arithmetic * tensor::gain(capability, setting.precision),
            None => arithmetic,
        },
        on_tensor_cores: plan.is_some(),
    };
    let tables = gpu.check(stream.clone_htod(&tables))?;
    gpu.check(stream.synchronize())?;
    let at = tables.device_ptr(stream).0;
    let strips = plan.and_then(Plan::strips);
    let strip = strips.map(|strips| strips.columns);
    let cubes = plan.filter(|plan| plan.is_of_cubes()).map(|plan| {
        let first = first.unsigned_abs() as usize;
        let numbers = first..first + count.unsigned_abs() as usize;
        Cubes::new(system, stream, tiling, numbers, plan.reads_places())
    });
    let cubes = cubes.transpose()?;
    let placed = cubes.as_ref().map(|cubes| cubes.placed(stream));
    let tiles = SpectralTiles { tables: at, tiles: count, correction_scale, strip, cubes: placed };
    let blocks = kernel.config.grid_dim.0;
    let resident = strips.map(|strips| Resident::new(system, stream, tiling, strips, blocks));
    let resident = resident.transpose()?.flatten();
    let footprint =
        resident.as_ref().map_or(kernel.footprint(), |several| several.launch.footprint());
    let footprint = Footprint { blocks: passes.into(), products: Some(products), ..footprint };
    Ok(Some(Box::new(InSineBasis {
        kernel,
        resident,
        cycle,
        footprint,
        tiles,
        _tables: tables,
        _cubes: cubes,
    })))
}

struct InSineBasis {
    /// Makes one cycle.
    kernel: Launch,
    /// Makes several, in the same blocks.
    resident: Option<Resident>,
    cycle: Cycle,
    footprint: Footprint,
    /// Those of a launch.
    tiles: SpectralTiles,
    /// They live as long as the kernel.
    _tables: CudaSlice<u8>,
    _cubes: Option<Cubes>,
}

impl<R: Real + DeviceRepr> CycleKernel<R> for InSineBasis {
    /// One of each warp.
    fn parts(&self) -> usize {
        let config = &self.kernel.config;
        config.grid_dim.0 as usize * (config.block_dim.0 / WARP) as usize
    }

    fn cycles_together(&self) -> usize {
        if self.resident.is_some() { resident::CYCLES } else { 1 }
    }

    fn launch(
        &self,
        stream: &Arc<CudaStream>,
        system: &DeviceSystem<R>,
        step: Step,
    ) -> Result<(), DriverError> {
        let (launch, strips) = match &self.resident {
            Some(resident) if step.cycles > 1 => (&resident.launch, Some(resident.strips)),
            _ => (&self.kernel, None),
        };
        launch.spectral_cycles(stream, system, step, &self.cycle, self.tiles, strips)
    }

    fn footprint(&self) -> Footprint {
        self.footprint
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Precision, Shape, Tiling};
    use crate::problem::Stencil;
    use crate::solver::Subiterations;

    pub(super) fn of_tile(axes: &[usize], tile: &[usize], stencil: &Stencil) -> (Method, Spectral) {
        let tiling = Tiling::new(axes, tile, &[0; 3]).unwrap();
        let spectral = Spectral::new(Subiterations::Infinite, &tiling, stencil).unwrap();
        (Method::Spectral(spectral.clone()), spectral)
    }

    pub(super) const SYMMETRIC: Stencil =
        Stencil { d: 6.0, a: -1.0, c: -1.0, e: -1.0, f: -1.0, p: -1.0, q: -1.0 };

    #[test]
    fn every_tile_that_the_basis_takes_has_a_layout() {
        let [line, shape] = [Shape::grid_1d(300, 1), Shape::grid_2d(300, 300)].map(Result::unwrap);
        for width in 1..=128 {
            for height in [1, 2, 7, 31, 64, 100, 127, 128] {
                for precision in Precision::ALL {
                    let (method, spectral) = of_tile(&[300, 300], &[width, height], &SYMMETRIC);
                    let setting = Setting {
                        method: &method,
                        precision,
                        shape: &shape,
                        shared_bytes: 227 * 1024,
                        is_per_point: false,
                        block_size: None,
                    };
                    let SpectralLayout { threads, .. } = plain_layout(&setting, &spectral).unwrap();
                    assert!(threads <= 512 && threads % WARP as usize == 0, "{width} {height}");
                }
            }
            let (method, spectral) = of_tile(&[300], &[width], &SYMMETRIC);
            let setting = Setting {
                method: &method,
                precision: Precision::F64,
                shape: &line,
                shared_bytes: 48 * 1024,
                is_per_point: false,
                block_size: None,
            };
            assert!(plain_layout(&setting, &spectral).is_ok(), "{width}");
        }
    }

    #[test]
    fn cubes_of_32_points_are_for_gpus_with_clusters_and_symmetric_weights() {
        let shape = Shape::grid_3d(300, 300, 300).unwrap();
        let accepted = |stencil: &Stencil, shared_bytes| {
            let (method, _) = of_tile(&[300; 3], &[32; 3], stencil);
            accepts(&Setting {
                method: &method,
                precision: Precision::F64,
                shape: &shape,
                shared_bytes,
                is_per_point: false,
                block_size: None,
            })
        };
        let refused = Err("tile 32x32x32".to_owned());
        assert_eq!(accepted(&SYMMETRIC, 227 * 1024), Ok(()));
        assert_eq!(accepted(&SYMMETRIC, 163 * 1024), refused);
        let wind = Stencil { a: -1.02, c: -0.98, ..SYMMETRIC };
        assert_eq!(accepted(&wind, 227 * 1024), refused);
    }

    #[test]
    fn tables_have_the_length_that_the_kernels_read() {
        let (_, spectral) = of_tile(&[300, 300], &[7, 4], &SYMMETRIC);
        let expected = 2 * (16 + 9) + 2 * (4 + 4) + 7 * 4 + 2 * (7 + 4);
        assert_eq!(plain_tables(&spectral).len(), expected);
        let (_, spectral) = of_tile(&[30; 3], &[7, 4, 2], &SYMMETRIC);
        let expected = 2 * (16 + 9) + 2 * (4 + 4) + 2 * (1 + 1) + 7 * 4 * 2 + 2 * (7 + 4 + 2);
        assert_eq!(plain_tables(&spectral).len(), expected);
    }
}
