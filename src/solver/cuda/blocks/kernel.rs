//! A kernel of `blocks.cu` with its lists on a GPU.

use super::lists::{Entries, Lengths, Lists, RowBlock};
use super::{ChosenKernel, GROUP, cut};
use crate::clock::Instant;
use crate::grid::{Real, memory};
use crate::problem::Csr;
use crate::problem::matrix::BlockRows;
use crate::solver::cpu::MatrixSystem;
use crate::solver::cuda::arguments::{Norms, Pointer};
use crate::solver::cuda::cycle_kernel::{Launch, Step, operations_per_second};
use crate::solver::cuda::gpu::Gpu;
use crate::solver::cuda::graph_batch::Others;
use crate::solver::cuda::ptx::{File, Form};
use crate::solver::{Footprint, Kernel, Method, SetUpTimes, SolverError};
use cudarc::driver::{
    CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError, LaunchConfig, PushKernelArg,
};
use std::mem::offset_of;
use std::ops::Range;
use std::sync::Arc;

/// `List` of `blocks.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct ListArgument {
    starts: Pointer,
    columns: Pointer,
    weights: Pointer,
}

/// `BlocksArguments` of `blocks.cu`, where each member is explained.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct BlocksArguments {
    from: Pointer,
    g: Pointer,
    to: Pointer,
    squares: Pointer,
    others: Pointer,
    diagonal: Pointer,
    exact: Pointer,
    blocks: Pointer,
    rows: Pointer,
    outside: ListArgument,
    inside: ListArgument,
    sweeps: i32,
    capacity: i32,
    count: u32,
}

const _: () = {
    assert!(size_of::<BlocksArguments>() == 136 && size_of::<RowBlock>() == 20);
    assert!(offset_of!(BlocksArguments, outside) == 72);
    assert!(offset_of!(BlocksArguments, sweeps) == 120);
};

// SAFETY: laid out as in C; its pointers are addresses on the GPU.
unsafe impl DeviceRepr for BlocksArguments {}
// SAFETY: five numbers.
unsafe impl DeviceRepr for RowBlock {}

/// A list on a GPU.
struct DeviceEntries<C, R> {
    starts: CudaSlice<u32>,
    columns: CudaSlice<C>,
    weights: CudaSlice<R>,
}

impl<C: DeviceRepr, R: DeviceRepr> DeviceEntries<C, R> {
    fn new(stream: &Arc<CudaStream>, entries: &Entries<C, R>) -> Result<Self, DriverError> {
        Ok(Self {
            starts: stream.clone_htod(&entries.starts)?,
            columns: stream.clone_htod(&entries.columns)?,
            weights: stream.clone_htod(&entries.weights)?,
        })
    }

    fn argument(&self, stream: &CudaStream) -> ListArgument {
        ListArgument {
            starts: self.starts.device_ptr(stream).0,
            columns: self.columns.device_ptr(stream).0,
            weights: self.weights.device_ptr(stream).0,
        }
    }
}

/// A kernel with the lists of a matrix.
pub(in crate::solver::cuda) struct BlocksKernel<R> {
    launch: Launch,
    kernel: Kernel,
    parts: usize,
    computed_rows: usize,
    set_up: SetUpTimes,
    /// Those of a cycle of all blocks, without what differs from cycle to cycle.
    arguments: BlocksArguments,
    blocks: CudaSlice<RowBlock>,
    _rows: Option<CudaSlice<u32>>,
    _outside: DeviceEntries<u32, R>,
    _inside: DeviceEntries<u16, R>,
}

/// Where the numbers of a matrix lie on a GPU that every cycle needs.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver::cuda) struct Numbers {
    /// b_i / a_ii.
    pub g: Pointer,
    /// a_ii.
    pub diagonal: Pointer,
}

impl<R: Real + DeviceRepr> BlocksKernel<R> {
    /// Cuts a matrix into the blocks of a method, and copies their lists to the GPU.
    ///
    /// # Errors
    /// [`SolverError`] if the kernel does not accept the blocks, the lists do not fit into the memory of this
    /// machine or of the GPU, or the GPU fails.
    pub fn new(
        gpu: &Gpu,
        stream: &Arc<CudaStream>,
        matrix: &Csr,
        system: &MatrixSystem<R>,
        numbers: Numbers,
        method: &Method,
        chosen: Kernel,
    ) -> Result<Self, SolverError> {
        let begin = Instant::now();
        let (chosen, blocks) = cut(matrix, method, chosen, R::PRECISION, gpu.most_shared)?;
        let seconds = begin.elapsed().as_secs_f64();
        let mut kernel = Self::of_blocks(gpu, stream, system, numbers, &chosen, &blocks)?;
        kernel.set_up.reorganise += seconds;
        Ok(kernel)
    }

    /// Copies the lists of some blocks of a system to the GPU, for a kernel that accepts them.
    ///
    /// # Errors
    /// [`SolverError`] if the lists do not fit into the memory of this machine or of the GPU, or the GPU fails.
    pub fn of_blocks(
        gpu: &Gpu,
        stream: &Arc<CudaStream>,
        system: &MatrixSystem<R>,
        numbers: Numbers,
        chosen: &ChosenKernel,
        blocks: &[BlockRows],
    ) -> Result<Self, SolverError> {
        let begin = Instant::now();
        let split = chosen.kernel.split;
        let lengths = Lengths::new(system, blocks, split);
        let needed = lengths.bytes(size_of::<R>());
        gpu.check_room(needed)?;
        let available = memory::available();
        if needed > available {
            return Err(SolverError::BlocksMemory { needed, available });
        }
        let longest = lengths.longest_inside();
        let lists = Lists::new(system, blocks, split, &lengths);
        let is_uniform = lists.is_uniform(chosen.most_rows);
        let owned = blocks.last().map_or(0, |(owned, _)| owned.end);
        let reorganise = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let call = || -> Result<_, DriverError> {
            let there = stream.clone_htod(&lists.blocks)?;
            let rows = match lists.rows.is_empty() {
                true => None,
                false => Some(stream.clone_htod(&lists.rows)?),
            };
            let outside = DeviceEntries::new(stream, &lists.outside)?;
            let inside = DeviceEntries::new(stream, &lists.inside)?;
            stream.synchronize()?;
            Ok((there, rows, outside, inside))
        };
        let (there, rows, outside, inside) = gpu.check(call())?;
        let set_up = SetUpTimes { reorganise, upload: begin.elapsed().as_secs_f64() };
        let name = chosen.kernel.function(chosen.most_rows, longest);
        let function = gpu.function(File::Blocks, R::PRECISION, Form::Matrix, name)?;
        let operations = system.columns.len() as f64 / system.rows() as f64;
        let most = gpu.check(operations_per_second(gpu, R::PRECISION))? / operations.max(1.0);
        let size = chosen.size;
        let count = blocks.len();
        let launch =
            Launch::of(gpu, function, [count as u32, 1], [size.threads, 1], size.bytes, most)?;
        let arguments = BlocksArguments {
            from: 0,
            g: numbers.g,
            to: 0,
            squares: 0,
            others: 0,
            diagonal: numbers.diagonal,
            exact: 0,
            blocks: if is_uniform { 0 } else { there.device_ptr(stream).0 },
            rows: rows.as_ref().map_or(0, |rows| rows.device_ptr(stream).0),
            outside: outside.argument(stream),
            inside: inside.argument(stream),
            sweeps: chosen.sweeps as i32,
            capacity: chosen.most_rows as i32,
            // Read where all blocks are alike, and the first begins with the first row.
            count: owned as u32,
        };
        Ok(Self {
            launch,
            kernel: chosen.kernel(),
            parts: count,
            computed_rows: blocks.iter().map(|(_, computed)| computed.len()).sum(),
            set_up,
            arguments,
            blocks: there,
            _rows: rows,
            _outside: outside,
            _inside: inside,
        })
    }

    /// In how many parts the norms of a cycle come.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// Rows that all its blocks compute.
    pub fn computed_rows(&self) -> usize {
        self.computed_rows
    }

    /// Seconds that the lists took.
    pub fn set_up_times(&self) -> SetUpTimes {
        self.set_up
    }

    /// The row of the table of kernels.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// The resources of the GPU that it uses.
    pub fn footprint(&self) -> Footprint {
        self.launch.footprint()
    }

    /// Enqueues one cycle.
    pub fn launch(
        &self,
        stream: &Arc<CudaStream>,
        step: Step,
        others: Others,
    ) -> Result<(), DriverError> {
        self.enqueue(stream, self.parts, self.arguments, step, others)
    }

    /// Enqueues one cycle of some of the blocks, at least one. The parts of their norms lie where they do with all
    /// blocks.
    pub fn launch_some(
        &self,
        stream: &Arc<CudaStream>,
        blocks: &Range<usize>,
        step: Step,
        others: Others,
    ) -> Result<(), DriverError> {
        let moved = |at: Pointer, bytes: usize| match at {
            0 => 0,
            at => at + (blocks.start * bytes) as u64,
        };
        let first = self.blocks.device_ptr(stream).0;
        let arguments =
            BlocksArguments { blocks: moved(first, size_of::<RowBlock>()), ..self.arguments };
        let step = Step { squares: moved(step.squares, size_of::<f64>()), ..step };
        let others = Others { parts: moved(others.parts, size_of::<Norms>()), ..others };
        self.enqueue(stream, blocks.len(), arguments, step, others)
    }

    fn enqueue(
        &self,
        stream: &Arc<CudaStream>,
        blocks: usize,
        arguments: BlocksArguments,
        Step { from, to, squares, .. }: Step,
        Others { parts, exact }: Others,
    ) -> Result<(), DriverError> {
        let arguments = BlocksArguments { from, to, squares, others: parts, exact, ..arguments };
        let config = LaunchConfig { grid_dim: (blocks as u32, 1, 1), ..self.launch.config };
        let mut launch = stream.launch_builder(&self.launch.function);
        // SAFETY: all kernels of `blocks.cu` take these arguments, whose arrays are those of the matrix.
        unsafe { launch.arg(&arguments).launch(config) }.map(|_| ())
    }
}

/// Groups are those of a warp.
const _: () = assert!(GROUP == crate::solver::cuda::cycle_kernel::WARP as usize);
