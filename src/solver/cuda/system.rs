//! A system on a GPU: the arguments that all kernels share.

use super::arguments::{
    COLUMNS_BEFORE, GridArgument, Pointer, RightHandSideArgument, RowsArgument, WeightsArgument,
};
use super::gpu::Gpu;
use super::ptx::Form;
use crate::grid::{Precision, Real, Shape};
use crate::problem::{Source, System, Weights};
use crate::solver::{Kernel, SolverError};
use cudarc::driver::{
    CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DeviceRepr, DriverError,
    ValidAsZeroBits,
};
use std::ops::Range;
use std::sync::Arc;

/// A system on a GPU, or a part of its planes, numbered as it likes. The right-hand side is shared by all solvers of the
/// system.
pub(super) struct DeviceSystem<R> {
    pub gpu: Arc<Gpu>,
    pub shape: Shape,
    /// The positions along the slowest axis of the tiles, or of the bands of rows, that are computed; `None` for all of a
    /// grid that no other device shares.
    pub share: Option<Range<usize>>,
    pub precision: Precision,
    pub form: Form,
    pub grid: GridArgument,
    /// As kernels for 3D and as those for 1D and 2D have them.
    pub weights: WeightsArgument<R, 6>,
    pub flat_weights: WeightsArgument<R, 4>,
    /// 1 where the rows have diagonals of their own.
    pub diagonal: f64,
    /// The first interior point of b / d.
    pub g: Pointer,
    /// The same, for kernels that observe an iterate.
    pub rhs: RightHandSideArgument,
    /// What the arguments were made of.
    constants: Weights<R>,
    rows: RowsArgument,
    arrays: Arc<SystemArrays<R>>,
}

/// The arrays of a system, which live as long as one of the systems that point to them.
struct SystemArrays<R> {
    _g: Array<R>,
    /// The rows of the points, where they differ.
    _rows: Option<CudaSlice<R>>,
}

impl<R: Real + DeviceRepr + ValidAsZeroBits> DeviceSystem<R> {
    /// Copies a system to the GPU; `rhs` is the b of its problem.
    ///
    /// # Errors
    /// [`SolverError`] if it does not fit onto the GPU, or has more points than kernels count.
    pub fn new(
        gpu: Arc<Gpu>,
        stream: &Arc<CudaStream>,
        system: &System<R>,
        rhs: &Source,
    ) -> Result<Self, SolverError> {
        let shape = *system.shape();
        let grid = GridArgument::of(&shape).ok_or_else(|| too_large(Kernel::AUTO, &shape))?;
        let g = gpu.check(Array::copied(system.g.as_slice(), &shape, stream))?;
        let copied = system.rows.as_ref().map(|rows| gpu.check(stream.clone_htod(&rows.values)));
        let copied = copied.transpose()?;
        gpu.check(stream.synchronize())?;
        let interior = |array: &CudaSlice<R>| interior_of(array, &shape, stream);
        let rows = RowsArgument {
            first: copied.as_ref().map_or(0, interior),
            distance: system.rows.as_ref().map_or(0, |rows| rows.distance as i64),
        };
        let at = g.interior;
        let weights = system.weights;
        Ok(Self {
            gpu,
            shape,
            share: None,
            precision: R::PRECISION,
            form: Form::of(&weights, shape.dim()),
            grid,
            weights: WeightsArgument::of(&weights, rows),
            flat_weights: WeightsArgument::of(&weights, rows),
            diagonal: system.diagonal,
            g: at,
            rhs: RightHandSideArgument::of(rhs, system.rows.is_some(), at),
            constants: weights,
            rows,
            arrays: Arc::new(SystemArrays { _g: g, _rows: copied }),
        })
    }

    /// The same arrays as a grid of another number of planes, which begins `planes` planes after the first one of this
    /// grid, or before it. Only planes that are there may be read; `share` is what is computed of them.
    ///
    /// # Errors
    /// [`SolverError`] if it has more points than kernels count.
    pub fn beginning_at(
        &self,
        planes: isize,
        shape: Shape,
        share: Option<Range<usize>>,
    ) -> Result<Self, SolverError> {
        let moved = |at: Pointer| at.wrapping_add_signed(bytes_of::<R>(&self.shape, planes));
        let rows = RowsArgument { first: moved(self.rows.first), ..self.rows };
        Ok(Self {
            gpu: Arc::clone(&self.gpu),
            grid: GridArgument::of(&shape).ok_or_else(|| too_large(Kernel::AUTO, &shape))?,
            shape,
            share,
            weights: WeightsArgument::of(&self.constants, rows),
            flat_weights: WeightsArgument::of(&self.constants, rows),
            g: moved(self.g),
            rhs: self.rhs.with_values(moved(self.g)),
            rows,
            arrays: Arc::clone(&self.arrays),
            ..*self
        })
    }
}

/// Bytes of some planes of an array.
pub(super) fn bytes_of<R>(shape: &Shape, planes: isize) -> i64 {
    planes as i64 * (shape.stored_plane() * size_of::<R>()) as i64
}

/// An array of the grid on the GPU, with its boundary values, laid out as a [`Field`](crate::grid::Field).
pub(super) struct Array<T> {
    /// The values, and before them as many more as move a point to a multiple of `ALIGNMENT` bytes: the first interior one, or
    /// in 2D what lies `COLUMNS_BEFORE` it, where copies of strips begin (`kernels/spectral_strips.cu`).
    padded: CudaSlice<T>,
    padding: usize,
    /// Where its first interior point lies.
    pub interior: Pointer,
}

/// Bytes of a sector, which memory is read and written in.
const ALIGNMENT: usize = 32;

impl<T: DeviceRepr + ValidAsZeroBits> Array<T> {
    /// An array of zeros.
    pub fn zeros(shape: &Shape, stream: &Arc<CudaStream>) -> Result<Self, DriverError> {
        let before = shape.row_start(0) + 1;
        let aligned = if shape.dim() == 2 { before - COLUMNS_BEFORE } else { before };
        let padding = aligned.next_multiple_of(ALIGNMENT / size_of::<T>()) - aligned;
        let padded = stream.alloc_zeros(padding + shape.stored())?;
        let interior =
            padded.device_ptr(stream).0 + ((padding + before) * size_of::<T>()) as Pointer;
        Ok(Self { padded, padding, interior })
    }

    /// An array of these values. They may be dropped once the stream was waited for.
    pub fn copied(
        values: &[T],
        shape: &Shape,
        stream: &Arc<CudaStream>,
    ) -> Result<Self, DriverError> {
        let mut array = Self::zeros(shape, stream)?;
        stream.memcpy_htod(values, &mut array.values_mut())?;
        Ok(array)
    }

    /// The values, as a field has them.
    pub fn values(&self) -> CudaView<'_, T> {
        self.padded.slice(self.padding..)
    }

    /// The same, to be written.
    pub fn values_mut(&mut self) -> CudaViewMut<'_, T> {
        self.padded.slice_mut(self.padding..)
    }
}

/// The first interior point of the first of some arrays that lie one after the other.
fn interior_of<T>(values: &CudaSlice<T>, shape: &Shape, stream: &CudaStream) -> Pointer {
    let offset = (shape.row_start(0) + 1) * size_of::<T>();
    values.device_ptr(stream).0 + offset as u64
}

/// The error of a grid that has more points than a kernel counts.
pub(super) fn too_large(kernel: Kernel, shape: &Shape) -> SolverError {
    SolverError::Kernel { kernel, setting: format!("shape {shape}"), instead: "backend cpu".into() }
}
