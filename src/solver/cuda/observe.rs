//! What can be seen of an iterate on a card: norms by a pass of their own, and thinned out fields.

use super::arguments::{DeviceReal, Norms, Pointer, WindowArgument, counted};
use super::ptx::File;
use super::replay::fetch;
use super::rung::DeviceSystem;
use crate::grid::Tiling;
use crate::solver::sample::near_border;
use crate::solver::{EdgeShare, SolverError, Window};
use cudarc::driver::{
    CudaFunction, CudaSlice, CudaStream, DriverError, LaunchConfig, PinnedHostSlice, PushKernelArg,
};
use std::cell::RefCell;
use std::sync::Arc;

/// Threads of a block.
const THREADS: u32 = 256;

/// The most blocks of a pass, across and down.
const BLOCKS: [u32; 2] = [16, 512];

/// Points of a block from which on a whole warp looks at it.
const FOR_A_WARP: usize = 16;

/// What a field is made of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Values {
    Residual,
    Solution,
    /// u minus an array of doubles.
    MinusDouble(Pointer),
    /// u minus an array of its own precision, in double precision.
    MinusReal(Pointer),
    /// The same in its own precision, as a change is told.
    Change(Pointer),
}

impl Values {
    /// What the kernels are told of it: which it is (`Quantity` of `field.cuh`), and the other array.
    pub fn arguments(self) -> (i32, Pointer) {
        match self {
            Self::Residual => (0, 0),
            Self::Solution => (1, 0),
            Self::MinusDouble(other) => (2, other),
            Self::MinusReal(other) => (3, other),
            Self::Change(other) => (4, other),
        }
    }
}

/// The kernels that look at an iterate.
pub(super) struct Observer {
    residual: CudaFunction,
    distance: CudaFunction,
    add_parts: CudaFunction,
    sample: CudaFunction,
    /// Where samples arrive, as large as was needed so far.
    pinned: RefCell<Option<PinnedHostSlice<f32>>>,
}

impl Observer {
    pub fn new<R>(system: &DeviceSystem<R>) -> Result<Self, SolverError> {
        let DeviceSystem { card, precision, form, .. } = system;
        let function = |name| card.function(File::Observe, *precision, *form, name);
        Ok(Self {
            residual: function("residual")?,
            distance: function("distance")?,
            add_parts: function("add_parts")?,
            sample: function("sample")?,
            pinned: RefCell::new(None),
        })
    }

    /// The norms of u₁ − u₀ of a sweep that is not made; in `error` the squares near tile borders, if
    /// those are given: a mark a column, and a mark a row.
    pub fn residual<R: DeviceReal>(
        &self,
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        u: Pointer,
        near: Option<[&[u8]; 2]>,
    ) -> Result<Norms, SolverError> {
        let card = &system.card;
        let marks = match near {
            Some([columns, rows]) => {
                Some([card.told(stream.clone_htod(columns))?, card.told(stream.clone_htod(rows))?])
            }
            None => None,
        };
        let none: Pointer = 0;
        self.pass(system, stream, |config, parts| {
            let mut launch = stream.launch_builder(&self.residual);
            launch.arg(&u).arg(&system.g.interior).arg(&system.grid).arg(&system.weights);
            match &marks {
                Some([columns, rows]) => launch.arg(columns).arg(rows),
                None => launch.arg(&none).arg(&none),
            };
            launch.arg(parts);
            // SAFETY: the arguments are those of `observe.cu`, and the arrays have the grid's size.
            unsafe { launch.launch(config) }.map(|_| ())
        })
    }

    /// ‖u − u*‖₂.
    pub fn distance<R: DeviceReal>(
        &self,
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        u: Pointer,
        exact: Pointer,
    ) -> Result<f64, SolverError> {
        let norms = self.pass(system, stream, |config, parts| {
            let mut launch = stream.launch_builder(&self.distance);
            launch.arg(&u).arg(&exact).arg(&system.grid).arg(parts);
            // SAFETY: as above.
            unsafe { launch.launch(config) }.map(|_| ())
        })?;
        Ok(norms.error.sqrt())
    }

    /// The sums of a pass over the grid.
    fn pass<R: DeviceReal>(
        &self,
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        launch: impl FnOnce(LaunchConfig, &mut CudaSlice<Norms>) -> Result<(), DriverError>,
    ) -> Result<Norms, SolverError> {
        let card = &system.card;
        let across = system.grid.columns.unsigned_abs().div_ceil(THREADS).min(BLOCKS[0]);
        let down = system.grid.rows.unsigned_abs().min(BLOCKS[1]);
        let count = across * down;
        // SAFETY: each block writes its part before the parts are added.
        let mut parts = unsafe { card.allocate::<Norms>(stream, count as usize) }?;
        let ask = || -> Result<Vec<Norms>, DriverError> {
            let threads = |grid_dim| LaunchConfig {
                grid_dim,
                block_dim: (THREADS, 1, 1),
                shared_mem_bytes: 0,
            };
            launch(threads((across, down, 1)), &mut parts)?;
            let mut total = stream.alloc_zeros::<Norms>(1)?;
            let count = i64::from(count);
            let mut add = stream.launch_builder(&self.add_parts);
            add.arg(&parts).arg(&count).arg(&count).arg(&mut total);
            // SAFETY: the arguments are those of `observe.cu`.
            unsafe { add.launch(threads((1, 1, 1))) }?;
            let found = stream.clone_dtoh(&total)?;
            stream.synchronize()?;
            Ok(found)
        };
        let found = card.told(ask())?;
        Ok(found.first().copied().unwrap_or_default())
    }

    /// How much of ‖r‖² lies near the borders of tiles.
    pub fn edge_share<R: DeviceReal>(
        &self,
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        u: Pointer,
        tiling: &Tiling,
    ) -> Result<EdgeShare, SolverError> {
        let shape = &system.shape;
        let marks = [near_border(tiling, 0, shape.nx()), near_border(tiling, 1, shape.rows())];
        let bytes = |marks: &[bool]| marks.iter().map(|&is_near| u8::from(is_near)).collect();
        let [columns, rows]: [Vec<u8>; 2] = [bytes(&marks[0]), bytes(&marks[1])];
        let norms = self.residual(system, stream, u, Some([&columns, &rows]))?;
        Ok(EdgeShare::of(norms.error, norms.squares, &marks))
    }

    /// Samples of a field.
    pub fn sample<R: DeviceReal>(
        &self,
        system: &DeviceSystem<R>,
        stream: &Arc<CudaStream>,
        u: Pointer,
        values: Values,
        window: &Window,
    ) -> Result<Vec<f32>, SolverError> {
        let card = &system.card;
        let block = window.block();
        let samples = window.size();
        let count = samples[0] * samples[1];
        let lanes = if block[0] * block[1] < FOR_A_WARP { 1 } else { 32 };
        let number = |number: usize| counted(number).unwrap_or(i32::MAX);
        let argument = WindowArgument {
            first_column: number(window.columns.start),
            first_row: number(window.rows.start),
            columns: number(window.columns.len()),
            rows: number(window.rows.len()),
            block_x: number(block[0]),
            block_y: number(block[1]),
            samples_x: number(samples[0]),
            samples_y: number(samples[1]),
        };
        let (quantity, other) = values.arguments();
        // SAFETY: the kernel writes every sample before they are copied.
        let mut there = unsafe { card.allocate::<f32>(stream, count) }?;
        let mut pinned = self.pinned.borrow_mut();
        if pinned.as_ref().is_none_or(|pinned| pinned.len() < count) {
            // SAFETY: it is written before it is read.
            *pinned = Some(card.told(unsafe { card.context.alloc_pinned_with_flags(count, 0) })?);
        }
        let Some(pinned) = pinned.as_mut() else {
            return Ok(Vec::new());
        };
        let mut ask = || -> Result<Vec<f32>, DriverError> {
            let mut launch = stream.launch_builder(&self.sample);
            launch.arg(&u).arg(&system.g.interior).arg(&other);
            launch.arg(&system.grid).arg(&system.weights).arg(&system.diagonal);
            launch.arg(&quantity).arg(&argument).arg(&lanes).arg(&mut there);
            let threads = count * usize::try_from(lanes).unwrap_or(1);
            let config = LaunchConfig {
                grid_dim: (number(threads.div_ceil(THREADS as usize)).unsigned_abs(), 1, 1),
                block_dim: (THREADS, 1, 1),
                shared_mem_bytes: 0,
            };
            // SAFETY: the arguments are those of `observe.cu`, and the arrays have the grid's size.
            unsafe { launch.launch(config) }?;
            fetch(stream, &there, &mut pinned.as_mut_slice()?[..count])?;
            stream.synchronize()?;
            Ok(pinned.as_slice()?[..count].to_vec())
        };
        card.told(ask())
    }
}
