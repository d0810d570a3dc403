//! Processes that share a grid or a matrix, each with a GPU of its own, make the bits of the CPU and the norms of one GPU.
//!
//! A test starts its own program once for each process, with the variables below.

use crate::cases::case;
use crate::devices::{is_near, precisions, same};
use crate::iterates::{bits, maxima};
use crate::matrices::{self, larger};
use crate::matrix_devices;
use crate::streaming;
use crate::volumes::{volume, wide};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::fs;
use std::num::NonZeroU64;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};
use tilescope::grid::{Field, Precision};
use tilescope::problem::Problem;
use tilescope::solver::cuda::{self, Device};
use tilescope::solver::{
    self, Devices, ExchangePath, GroupId, Kernel, Link, Method, NormRequest, Place, Rank, RankOf,
    Solver, SolverError,
};

/// They need two GPUs, and one of them four.
pub const TESTS: &[(&str, fn())] = &[
    ("two_processes_make_the_bits_of_the_cpu", two_processes_make_the_bits_of_the_cpu),
    (OF_FOUR_GPUS, four_processes_make_the_bits_of_the_cpu),
];

/// The one that needs four.
pub const OF_FOUR_GPUS: &str = "four_processes_make_the_bits_of_the_cpu";

/// `index/count`, and the folder in which rank 0 leaves what the others need.
const RANK: &str = "TILESCOPE_TEST_RANK";
const FOLDER: &str = "TILESCOPE_TEST_FOLDER";

/// Runs that the processes make, one after the other; each has a group of its own.
const RUNS: usize = 18;

/// When something hangs.
const LONGEST: Duration = Duration::from_secs(400);

fn two_processes_make_the_bits_of_the_cpu() {
    start(2);
}

fn four_processes_make_the_bits_of_the_cpu() {
    start(4);
}

/// Starts as many processes, and waits for them; the first that fails ends all.
fn start(count: usize) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = std::env::current_exe().expect("this program");
    let start = |index: usize| {
        let mut command = Command::new(&program);
        command.env(RANK, format!("{index}/{count}")).env(FOLDER, folder.path());
        command.env("NCCL_NVLS_ENABLE", "0").spawn().expect("a process")
    };
    let mut processes: Vec<_> = (0..count).map(start).collect();
    let begin = Instant::now();
    let end_all = |processes: &mut Vec<Child>| {
        for process in processes {
            _ = process.kill();
            _ = process.wait();
        }
    };
    loop {
        let ended: Vec<_> =
            processes.iter_mut().map(|it| it.try_wait().expect("a process")).collect();
        if ended.iter().flatten().any(|status| !status.success()) || begin.elapsed() > LONGEST {
            end_all(&mut processes);
            panic!("{count} processes: {ended:?}");
        }
        if ended.iter().all(Option::is_some) {
            return;
        }
        sleep(Duration::from_millis(50));
    }
}

/// What this process does if a test started it.
pub fn as_process() -> Option<ExitCode> {
    let rank = std::env::var(RANK).ok()?;
    let folder = PathBuf::from(std::env::var_os(FOLDER)?);
    let (index, count) = rank.split_once('/')?;
    let rank = Rank { index: index.parse().ok()?, count: count.parse().ok()? };
    let mut compared = 0;
    for (number, run) in runs(rank.count).into_iter().enumerate() {
        eprintln!("rank {} of {}: run {number}, {}", rank.index, rank.count, run.title());
        compared +=
            usize::from(compare(&run, RankOf { rank, group: group(&folder, rank, number) }));
    }
    assert!(2 * compared > RUNS, "kernels refuse all but {compared} of {RUNS} runs");
    Some(ExitCode::SUCCESS)
}

/// NCCL's group of a run: made by rank 0, read by the others.
fn group(folder: &Path, rank: Rank, number: usize) -> GroupId {
    let file = folder.join(number.to_string());
    if rank.index == 0 {
        let group = cuda::new_group().expect("NCCL");
        let unfinished = folder.join("unfinished");
        fs::write(&unfinished, group.0).expect("a file");
        fs::rename(unfinished, &file).expect("a file");
        return group;
    }
    while !file.exists() {
        sleep(Duration::from_millis(10));
    }
    GroupId(fs::read(file).expect("a file").try_into().expect("as many bytes"))
}

struct Shared {
    problem: Arc<Problem>,
    /// The method on one device, and on those of the processes.
    alone: Method,
    method: Method,
    kernel: Kernel,
    precision: Precision,
    every: NonZeroU64,
    exact: Field<f64>,
    cycles: usize,
}

impl Shared {
    /// Without the numbers of a matrix.
    fn title(&self) -> String {
        let Self { problem, alone, kernel, precision, every, .. } = self;
        format!("{}, {alone:?}, {kernel:?}, {precision:?}, every {every}", problem.shape)
    }
}

/// The runs, the same in every process.
fn runs(count: usize) -> Vec<Shared> {
    let mut runner = TestRunner::deterministic();
    let mut runs = Vec::new();
    while runs.len() < RUNS {
        // Every other run is exchanged after every cycle; every third is of a matrix, and every third streams.
        let every = if runs.len().is_multiple_of(2) { 1..=1 } else { 1..=3_u64 };
        let every = every.new_tree(&mut runner).expect("a value").current();
        let every = NonZeroU64::new(every).expect("at least 1");
        let drawn = match runs.len() % 3 {
            0 => of_matrix(count, every, &mut runner),
            1 => of_grid(count, every, &mut runner),
            _ => of_slabs(count, &mut runner),
        };
        runs.extend(drawn.filter(|run| {
            let Shared { kernel, method, precision, problem, .. } = run;
            let accepts = || cuda::takes(*kernel, method, *precision, &problem.shape, false);
            method.streaming().is_some() || accepts().is_ok()
        }));
    }
    runs
}

/// A run on a grid, if as many processes can share it.
fn of_grid(count: usize, every: NonZeroU64, runner: &mut TestRunner) -> Option<Shared> {
    let cases = prop_oneof![2 => case(), 1 => volume(), 1 => wide()];
    let kernels = vec![Kernel::CLASSIC, Kernel::SHARED, Kernel::AUTO, Kernel::FUSED];
    let settings = (cases, prop::sample::select(kernels), precisions());
    let (case, kernel, precision) = settings.new_tree(runner).expect("a value").current();
    let shape = &case.problem.shape;
    let is_fused = kernel == Kernel::FUSED;
    let are_sweeps = is_fused || kernel == Kernel::CLASSIC;
    let alone = if are_sweeps { Method::Classic } else { case.hierarchical() };
    let every = if is_fused { NonZeroU64::MIN } else { every };
    let devices = match is_fused {
        true => Devices::of_fused(shape, count, Link::NVLINK),
        false => Devices::new(&alone, shape, count, every, Link::NVLINK),
    };
    let method = alone.clone().on_devices(devices.ok().filter(|_| shape.dim() > 1)?);
    let (exact, cycles) = (case.other(), case.cycles);
    Some(Shared { problem: case.problem, alone, method, kernel, precision, every, exact, cycles })
}

/// A pyramid, if its grid has as many planes: on a line or a batch, too, and of more sweeps than a neighbour has planes.
fn of_slabs(count: usize, runner: &mut TestRunner) -> Option<Shared> {
    let cases = prop_oneof![2 => case(), 1 => volume()];
    let settings = (cases, streaming::pyramid(), precisions());
    let (case, budget, precision) = settings.new_tree(runner).expect("a value").current();
    let (shape, every) = (&case.problem.shape, NonZeroU64::MIN);
    let alone = Method::Streaming(budget.of(shape, precision));
    let devices = Devices::new(&alone, shape, count, every, Link::NVLINK).ok()?;
    let method = alone.clone().on_devices(devices);
    let (exact, cycles, kernel) = (case.other(), case.cycles, Kernel::AUTO);
    Some(Shared { problem: case.problem, alone, method, kernel, precision, every, exact, cycles })
}

/// A run on a matrix, if it has as many blocks.
fn of_matrix(count: usize, every: NonZeroU64, runner: &mut TestRunner) -> Option<Shared> {
    let settings = (larger(), matrices::kernels(), precisions(), prop::bool::weighted(0.2));
    let drawn = settings.new_tree(runner).expect("a value").current();
    let (case, kernel, precision, is_classic) = drawn;
    let alone = if is_classic { Method::Classic } else { case.method() };
    let problem = case.problem();
    let method = matrix_devices::shared(&case, &problem, alone.clone(), count, every.get());
    method.devices().filter(|devices| devices.count() == count)?;
    let exact = matrix_devices::exact(&problem);
    Some(Shared { problem, alone, method, kernel, precision, every, exact, cycles: 2 })
}

/// Compares a run, unless its kernel refuses it; returns whether it did.
fn compare(run: &Shared, own: RankOf) -> bool {
    let Shared { problem, kernel, precision, every, method, exact, cycles, .. } = run;
    let place = Place::Cuda {
        devices: vec![Device::new(own.rank.index as u32)],
        exchange: ExchangePath::Auto,
        kernel: *kernel,
        block_size: None,
    };
    let mut rank = match solver::set_up_rank(problem, method.clone(), *precision, &place, own) {
        Ok(solver) => solver,
        // Large blocks are not for all kernels.
        Err(SolverError::Kernel { .. }) => return false,
        Err(error) => panic!("{error}"),
    };
    let mut cpu = solver::on_cpu(problem, method.clone(), *precision, 1).expect("memory");
    for solver in [&mut rank, &mut cpu] {
        solver.set_exact(Arc::new(exact.clone())).expect("there is room");
    }
    let every = every.get() as usize;
    for cycle in 0..cycles + 2 * every {
        let request =
            if cycle.is_multiple_of(2) { NormRequest::ALL } else { NormRequest::RESIDUAL_L2 };
        let there = rank.cycles(1, request).expect("a GPU at work").norms[0];
        let here = cpu.cycles(1, NormRequest::ALL).expect("a CPU").norms[0];
        let [one, other] = [there, here].map(|norms| norms.residual_before.l2);
        assert!(is_near(one, other), "cycle {cycle}: {there:?} {here:?}");
        if request == NormRequest::ALL {
            assert_eq!(maxima(&there), maxima(&here), "cycle {cycle}");
            let [one, other] = [there, here].map(|norms| norms.error.expect("u* is known"));
            assert!(is_near(one, other), "cycle {cycle}: {there:?} {here:?}");
        }
        let [found, expected] = [&rank, &cpu].map(|it| it.norms(NormRequest::ALL).expect("norms"));
        let [one, other] = [found, expected].map(|norms| norms.residual.expect("it is requested"));
        assert!(is_near(one.l2, other.l2), "after cycle {cycle}: {one:?} {other:?}");
        assert_eq!(one.max.map(f64::to_bits), other.max.map(f64::to_bits), "cycle {cycle}");
        let [one, other] = [found, expected].map(|norms| norms.max_change.map(f64::to_bits));
        assert_eq!(one, other, "cycle {cycle}");
        same(&*rank, &*cpu, cycle);
    }
    many_cycles(run, &mut rank, &mut cpu);
    true
}

/// Batches are recorded as graphs, with what NCCL does; their norms are those of one GPU.
fn many_cycles(run: &Shared, rank: &mut Box<dyn Solver>, cpu: &mut Box<dyn Solver>) {
    const CYCLES: u64 = 300;
    let is_tiled = run.method.tiling().is_some() && run.every.get() == 1;
    let one = is_tiled.then(|| {
        let Shared { problem, alone, precision, kernel, .. } = run;
        crate::gpu::solver(problem, alone.clone(), *precision, *kernel).expect("what several take")
    });
    let mut one = one;
    cpu.restart().expect("a CPU");
    for _ in 0..CYCLES {
        cpu.cycles(1, NormRequest::NONE).expect("a CPU");
    }
    for request in [NormRequest::NONE, NormRequest::RESIDUAL_L2] {
        rank.restart().expect("a GPU");
        let mut done = 0;
        let mut norms = Vec::new();
        while done < CYCLES {
            let batch = rank.cycles(CYCLES - done, request).expect("GPUs at work");
            done += batch.cycles;
            norms.extend(batch.norms);
        }
        assert!(bits(&rank.solution().expect("a GPU")) == bits(&cpu.solution().expect("a CPU")));
        let Some(one) = one.as_mut().filter(|_| request == NormRequest::RESIDUAL_L2) else {
            continue;
        };
        for (cycle, there) in norms.iter().enumerate() {
            let here = one.cycles(1, request).expect("a GPU").norms[0];
            let [there, here] = [*there, here].map(|norms| norms.residual_before.l2);
            // One may diverge.
            let is_same = there.to_bits() == here.to_bits() || there.is_nan() && here.is_nan();
            assert!(is_same, "cycle {cycle}: {there} {here}");
        }
    }
}
