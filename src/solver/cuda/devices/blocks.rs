//! What one of several devices makes of a sparse matrix: the kernel for its blocks, on the rows that it keeps.
//!
//! Sums of squares come block by block in their order, whatever the number of devices. Blocks of Jacobi's sweeps, which
//! change nothing, are cut where devices meet: there norms agree up to rounding with those of another number of
//! devices.

use super::kept::{FIRST_POINT, Kept};
use super::messages::Message;
use super::pack::Packer;
use super::part::{Cut, Part, Setup};
use super::paths::Paths;
use super::rank::part::{Present, RankCut, RankMessage, RankPart, RankSetup};
use super::share::DeviceShare;
use crate::clock::Instant;
use crate::grid::Share;
use crate::problem::matrix::BlockRows;
use crate::problem::{Csr, Problem};
use crate::solver::cpu::{DeviceRows, MatrixSystem, RowMessage, SharedRows};
use crate::solver::cuda::arguments::Pointer;
use crate::solver::cuda::blocks::{BlocksKernel, ChosenKernel, Numbers, cut};
use crate::solver::cuda::cycle_kernel::Step;
use crate::solver::cuda::gpu::Gpu;
use crate::solver::cuda::graph_batch::{Iterates, Others};
use crate::solver::cuda::matrix::least_bytes_of;
use crate::solver::cuda::real::DeviceReal;
use crate::solver::{
    Describe, Devices, Footprint, Kernel, Method, NormRequest, Norms, SetUpTimes, SolverError,
};
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DriverError};
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;

/// The blocks of a device.
pub(super) struct BlocksPart<R> {
    kernel: BlocksKernel<R>,
    /// What `kernel` reads of the rows beside their entries.
    _g: CudaSlice<R>,
    _diagonal: CudaSlice<f64>,
    /// The longest run of blocks of which no other device receives anything, and the blocks on either side.
    inner: Range<usize>,
    borders: [Range<usize>; 2],
    /// What other devices receive in several runs.
    packer: Option<Packer<R>>,
    finds_others: bool,
}

impl<R: DeviceReal> BlocksPart<R> {
    /// Copies blocks of a system to a GPU; `sent` are the places of the rows that other devices receive, and `packed`
    /// those that are packed for them.
    fn new(
        gpu: &Gpu,
        stream: &Arc<CudaStream>,
        (system, blocks): (&MatrixSystem<R>, &[BlockRows]),
        chosen: &ChosenKernel,
        sent: &[Range<usize>],
        packed: &[u32],
    ) -> Result<Self, SolverError> {
        let call = || -> Result<_, DriverError> {
            let copied = (stream.clone_htod(&system.g)?, stream.clone_htod(&system.diagonal)?);
            stream.synchronize()?;
            Ok(copied)
        };
        let (g, diagonal) = gpu.check(call())?;
        let numbers =
            Numbers { g: g.device_ptr(stream).0, diagonal: diagonal.device_ptr(stream).0 };
        let kernel = BlocksKernel::of_blocks(gpu, stream, system, numbers, chosen, blocks)?;
        let inner = longest_inner_run(blocks, sent);
        let packer = (!packed.is_empty()).then(|| Packer::new(gpu, stream, packed));
        Ok(Self {
            kernel,
            _g: g,
            _diagonal: diagonal,
            borders: [0..inner.start, inner.end..blocks.len()],
            inner,
            packer: packer.transpose()?,
            finds_others: false,
        })
    }

    /// Enqueues a cycle of some blocks, if there are any.
    fn launch(
        &self,
        stream: &Arc<CudaStream>,
        blocks: &Range<usize>,
        step: Step,
        others: Others,
    ) -> Result<(), DriverError> {
        match blocks.is_empty() {
            true => Ok(()),
            false => self.kernel.launch_some(stream, blocks, step, others),
        }
    }
}

impl<R: DeviceReal> Part for BlocksPart<R> {
    type Real = R;

    fn least_bytes(problem: &Problem, devices: &Devices) -> Vec<u64> {
        let Some(matrix) = problem.operator.matrix() else { return Vec::new() };
        let bytes = |share: &Share| {
            let owned = share.owned.clone();
            let entries: usize = owned.map(|row| matrix.columns(row).len() - 1).sum();
            let rows = share.owned.len() + share.received_planes();
            least_bytes_of(rows as u64, entries as u64, R::PRECISION)
        };
        devices.shares().of_devices().iter().map(bytes).collect()
    }

    fn cut(setup: &Setup<'_, R>) -> Result<Cut<Self>, SolverError> {
        let Setup { problem, method, devices, gpus, paths, host, kernel, .. } = *setup;
        let (Some(matrix), Some(system), Method::OnDevices { sweeps, .. }) =
            (problem.operator.matrix(), host.matrix(), method)
        else {
            return Err(SolverError::Operator("a grid, or damped sweeps of a matrix"));
        };
        let mut begin = Instant::now();
        let shared_bytes = gpus.iter().map(|gpu| gpu.most_shared).min().unwrap_or(0);
        let (chosen, rows) = shared_rows::<R>(matrix, sweeps, kernel, shared_bytes, devices)?;
        let messages = rows.messages();
        let mut set_up = host.set_up_times();
        let mut shares = Vec::with_capacity(gpus.len());
        for (device, rows) in rows.into_devices(system).enumerate() {
            set_up.reorganise += begin.elapsed().as_secs_f64();
            begin = Instant::now();
            let share = share_of(problem, &gpus[device], rows, &messages, device, &chosen)?;
            let SetUpTimes { reorganise, .. } = share.part.kernel.set_up_times();
            set_up.reorganise += reorganise;
            set_up.upload += begin.elapsed().as_secs_f64() - reorganise;
            shares.push(share);
            begin = Instant::now();
        }
        let made = messages.iter().enumerate().map(|(number, message)| {
            let RowMessage { from, to, received, .. } = message;
            let sent = sent_from(&shares[*from], &messages, number);
            let ends = [sent, shares[*to].addresses(FIRST_POINT + received)];
            Message::new([*from, *to], paths, ends, message.values() * size_of::<R>())
        });
        let messages = made.collect::<Result<_, _>>()?;
        Ok(Cut { kernel: chosen.kernel(), shares, messages, set_up })
    }

    fn share_out(
        problem: &Problem,
        method: &Method,
        own: &Devices,
        count: usize,
    ) -> Option<Devices> {
        let blocks = method.tiling().map_or(own.shares().axis(), |tiling| tiling.x());
        let matrix = problem.operator.matrix()?;
        Devices::of_blocks(method, matrix, blocks, count, NonZeroU64::MIN, own.link()).ok()
    }

    fn parts(&self) -> usize {
        self.kernel.parts()
    }

    fn other_parts(&self) -> usize {
        if self.finds_others { self.kernel.parts() } else { 0 }
    }

    fn find_others(&mut self, are_requested: bool) -> Result<(), SolverError> {
        self.finds_others = are_requested;
        Ok(())
    }

    /// Kernels multiply by the diagonals of the rows.
    fn diagonal(&self) -> f64 {
        1.0
    }

    fn computed_rows(&self) -> Option<usize> {
        Some(self.kernel.computed_rows())
    }

    fn footprint(&self) -> Option<Footprint> {
        Some(self.kernel.footprint())
    }

    fn launch_borders(
        &self,
        stream: &Arc<CudaStream>,
        step: Step,
        others: Others,
    ) -> Result<(), DriverError> {
        self.borders.iter().try_for_each(|blocks| self.launch(stream, blocks, step, others))
    }

    fn launch_inner(
        &self,
        stream: &Arc<CudaStream>,
        step: Step,
        others: Others,
    ) -> Result<(), DriverError> {
        self.launch(stream, &self.inner, step, others)
    }

    /// They come with the blocks.
    fn launch_others(
        &self,
        _: &Arc<CudaStream>,
        _: [Pointer; 2],
        _: Others,
    ) -> Result<(), DriverError> {
        Ok(())
    }

    fn pack(&self, stream: &Arc<CudaStream>, array: Pointer) -> Result<(), DriverError> {
        self.packer.iter().try_for_each(|packer| packer.launch(stream, array))
    }

    /// By the code of the CPU, as on one GPU.
    fn norms(
        _: &[DeviceShare<Self>],
        _: (&[Message], &Paths),
        _: Iterates,
        _: NormRequest,
    ) -> Option<Result<Norms, SolverError>> {
        None
    }
}

impl<R: DeviceReal> RankPart for BlocksPart<R> {
    fn cut_own(setup: &RankSetup<'_, R>) -> Result<RankCut<Self>, SolverError> {
        let RankSetup { problem, method, devices, own, gpu, shared_bytes, host, kernel, .. } =
            *setup;
        let (Some(matrix), Some(system), Method::OnDevices { sweeps, .. }) =
            (problem.operator.matrix(), host.matrix(), method)
        else {
            return Err(SolverError::Operator("a grid, or damped sweeps of a matrix"));
        };
        let begin = Instant::now();
        let (chosen, rows) = shared_rows::<R>(matrix, sweeps, kernel, shared_bytes, devices)?;
        let messages = rows.messages();
        let rows = rows.into_devices(system).nth(own);
        let rows = rows.ok_or(SolverError::Operator("fewer blocks than processes"))?;
        let mut set_up = host.set_up_times();
        set_up.reorganise += begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let share = share_of(problem, gpu, rows, &messages, own, &chosen)?;
        let SetUpTimes { reorganise, .. } = share.part.kernel.set_up_times();
        set_up.reorganise += reorganise;
        set_up.upload += begin.elapsed().as_secs_f64() - reorganise;
        let of_own = |(number, message): (usize, &RowMessage)| {
            let (is_sent, bytes) = (message.from == own, message.values() * size_of::<R>());
            let (peer, at) = match is_sent {
                true => (message.to, sent_from(&share, &messages, number)),
                false => (message.from, share.addresses(FIRST_POINT + message.received)),
            };
            (is_sent || message.to == own).then_some(RankMessage { peer, is_sent, at, bytes })
        };
        let messages = messages.iter().enumerate().filter_map(of_own).collect();
        Ok(RankCut { kernel: chosen.kernel(), share, messages, set_up })
    }

    /// By the code of the CPU, as on one GPU.
    fn norms_of_ranks(_: &Present<'_, Self>, _: NormRequest) -> Option<Result<Norms, SolverError>> {
        None
    }
}

/// The kernel for the blocks of a method, and the rows that each device keeps for its own.
fn shared_rows<R: DeviceReal>(
    matrix: &Csr,
    sweeps: &Method,
    kernel: Kernel,
    shared_bytes: usize,
    devices: &Devices,
) -> Result<(ChosenKernel, SharedRows), SolverError> {
    let (chosen, blocks) = cut(matrix, sweeps, kernel, R::PRECISION, shared_bytes)?;
    let borders: Vec<_> = devices.shares().borders().collect();
    Ok((chosen, SharedRows::new(matrix, devices.shares(), cut_at(&borders, blocks))))
}

/// The rows of a device on its GPU, with those packed that it sends in several runs.
fn share_of<R: DeviceReal>(
    problem: &Problem,
    gpu: &Arc<Gpu>,
    rows: DeviceRows<R>,
    messages: &[RowMessage],
    device: usize,
    chosen: &ChosenKernel,
) -> Result<DeviceShare<BlocksPart<R>>, SolverError> {
    let DeviceRows { kept, system, blocks } = rows;
    let own = || messages.iter().filter(|message| message.from == device);
    let sent: Vec<_> = own().flat_map(|message| message.sent.iter().cloned()).collect();
    let runs = own().filter(|message| is_packed(message)).flat_map(|message| &message.sent);
    let packed: Vec<_> = runs.flat_map(|run| run.clone().map(|at| at as u32)).collect();
    let prepare =
        |stream: &_, _| BlocksPart::new(gpu, stream, (&system, &blocks), chosen, &sent, &packed);
    DeviceShare::new(gpu, Kept::rows(&problem.shape, kept), prepare)
}

/// A single run is copied from where it lies.
fn is_packed(message: &RowMessage) -> bool {
    message.sent.len() > 1
}

/// Where the values of a message lie at their sender, for either of its arrays.
fn sent_from<R: DeviceReal>(
    sender: &DeviceShare<BlocksPart<R>>,
    messages: &[RowMessage],
    number: usize,
) -> [Pointer; 2] {
    let message = &messages[number];
    match &sender.part.packer {
        Some(packer) if is_packed(message) => {
            let before = messages[..number].iter().filter(|it| it.from == message.from);
            let first = before.filter(|it| is_packed(it)).map(RowMessage::values).sum();
            [packer.address(first, &sender.streams.copies); 2]
        }
        _ => sender.addresses(FIRST_POINT + message.sent[0].start),
    }
}

/// Blocks with those that a border between devices crosses cut in two there: blocks of sweeps over the whole matrix,
/// which compute what they own.
fn cut_at(borders: &[usize], blocks: Vec<BlockRows>) -> Vec<BlockRows> {
    let mut parts = Vec::with_capacity(blocks.len() + borders.len());
    for (owned, computed) in blocks {
        let is_inside = |border: &&usize| owned.start < **border && **border < owned.end;
        let mut starts: Vec<_> = borders.iter().filter(is_inside).copied().collect();
        if starts.is_empty() {
            parts.push((owned, computed));
            continue;
        }
        starts.insert(0, owned.start);
        let ends = starts[1..].iter().copied().chain([owned.end]);
        parts.extend(
            starts
                .iter()
                .zip(ends)
                .map(|(&start, end)| (start..end, (start..end).map(|row| row as u32).collect())),
        );
    }
    parts
}

/// The longest run of blocks that own no row of these runs.
fn longest_inner_run(blocks: &[BlockRows], sent: &[Range<usize>]) -> Range<usize> {
    let mut sent = sent.to_vec();
    sent.sort_unstable_by_key(|run| run.start);
    let is_inner = |owned: &Range<usize>| {
        // Runs of different messages may overlap, but then begin in the same block or an earlier one.
        let begun = sent.partition_point(|run| run.start < owned.end);
        sent[..begun].iter().all(|run| run.end <= owned.start)
    };
    let mut longest = 0..0;
    let mut start = 0;
    for (number, (owned, _)) in blocks.iter().enumerate() {
        if !is_inner(owned) {
            start = number + 1;
        } else if number + 1 - start > longest.len() {
            longest = start..number + 1;
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn blocks(ends: &[usize]) -> Vec<BlockRows> {
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let block = |(start, end): (usize, &usize)| {
            (start..*end, (start..*end).map(|row| row as u32).collect())
        };
        starts.zip(ends).map(block).collect()
    }

    #[test]
    fn blocks_that_devices_share_are_cut_where_they_meet() {
        assert_eq!(cut_at(&[3, 7, 8], blocks(&[4, 8, 12])), blocks(&[3, 4, 7, 8, 12]));
        assert_eq!(cut_at(&[5, 6, 7], blocks(&[12])), blocks(&[5, 6, 7, 12]));
        // A block with an overlap that no border crosses stays as it is.
        let overlapping = vec![(0..4, vec![0, 1, 2, 3, 6]), (4..8, vec![3, 4, 5, 6, 7])];
        assert_eq!(cut_at(&[4], overlapping.clone()), overlapping);
    }

    proptest! {
        #[test]
        fn inner_blocks_are_the_longest_run_of_which_nothing_is_sent(
            lengths in prop::collection::vec(1..6_usize, 1..12),
            sent in prop::collection::vec((0..60_usize, 1..9_usize), 0..4),
        ) {
            let mut end = 0;
            let ends: Vec<_> = lengths.iter().map(|length| { end += length; end }).collect();
            let blocks = blocks(&ends);
            let runs: Vec<_> = sent
                .iter()
                .map(|(start, length)| (start % end)..(start % end + length).min(end))
                .collect();
            let is_sent = |block: &BlockRows| runs.iter().any(|run| run.clone().any(|row| block.0.contains(&row)));
            let inner = longest_inner_run(&blocks, &runs);
            prop_assert!(blocks[inner.clone()].iter().all(|block| !is_sent(block)));
            let longest = blocks.split(is_sent).map(<[_]>::len).max();
            prop_assert_eq!(inner.len(), longest.unwrap_or(0));
        }
    }
}
