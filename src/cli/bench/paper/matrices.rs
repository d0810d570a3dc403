//! The experiments of Flagg, Monk, Zhu and Segee on sparse matrices: the times of set-up, processing and shutdown over
//! threads of a CPU, and on one GPU and several with each kernel.

use super::super::super::progress::Progress;
use super::super::table::{NOTHING, Table, known};
use crate::clock::Instant;
use crate::picture::digits;
use crate::problem::matrix::{Generated, save_matrix};
use crate::run::flagg::{self, GpuSpeedups, Speedups};
use crate::run::{
    Backend, MatrixSpec, MethodSpec, Planner, ProblemKind, Run, RunSpec, RunTimes, StopRule,
    StopSpec, save_unknowns,
};
use crate::solver::{Kernel, Layout, cuda};
use serde::Serialize;
use std::path::Path;
use std::sync::Arc;

/// Most threads of the paper's CPU runs.
const MOST_THREADS: usize = 11;

/// Most GPUs of the paper's runs.
const MOST_GPUS: usize = 3;

/// The two systems: the name of the matrix, and the rows of a block.
const SYSTEMS: [(&str, usize); 2] = [("heat-1d", 25), ("ice-sheet", 256)];

/// Inner sweeps of a cycle, and the tolerance.
const SWEEPS: usize = 8;
const TOLERANCE: f64 = 1e-6;

/// One run, its times the medians of samples.
#[derive(Clone, Debug, Serialize)]
pub(super) struct MatrixRow {
    /// The figures of the paper that have such a run.
    figures: &'static str,
    matrix: &'static str,
    kernel: &'static str,
    backend: &'static str,
    /// Threads of the CPU, or GPUs.
    count: usize,
    cycles: u64,
    setup_ms: f64,
    read_ms: f64,
    order_ms: f64,
    reorganise_ms: f64,
    upload_ms: f64,
    processing_ms: f64,
    shutdown_ms: f64,
    /// Over the CPU on all threads, of all and of processing: the paper's, and here.
    published_total: Option<f64>,
    total: Option<f64>,
    published_processing: Option<f64>,
    processing: Option<f64>,
}

/// A sample of a run, in seconds.
struct Sample {
    cycles: u64,
    set_up: f64,
    times: RunTimes,
    shutdown: f64,
}

/// Makes all runs; a quick measurement leaves out numbers of threads between one and all.
pub(super) fn measure(
    backend: Backend,
    repeats: u32,
    is_quick: bool,
    progress: &mut Progress,
) -> anyhow::Result<Vec<MatrixRow>> {
    let folder = tempfile::tempdir()?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let threads = (1..=cores).filter(|threads| !is_quick || [1, cores].contains(threads));
    let threads: Vec<_> = threads.collect();
    let gpus = match backend {
        Backend::Cuda => cuda::gpus()?.len().min(MOST_GPUS),
        _ => 0,
    };
    let mut rows = Vec::new();
    for (matrix, block) in SYSTEMS {
        let path = folder.path().join(format!("{matrix}.mtx"));
        if let Some(generated) = Generated::named(matrix) {
            save_matrix(&path, &generated.matrix()?)?;
        }
        let is_large = matrix == "ice-sheet";
        let on_cpu = Kernel::of_matrix_on_cpu().into_iter();
        let on_cpu = on_cpu.filter(|kernel| kernel.name() == Layout::Rows.name());
        let on_cpu = on_cpu
            .flat_map(|kernel| threads.iter().map(move |threads| (Backend::Cpu, kernel, *threads)));
        let on_gpus = (1..=gpus).flat_map(|count| {
            let kernels =
                Kernel::of_matrix().into_iter().rev().filter(|kernel| *kernel != Kernel::AUTO);
            kernels.map(move |kernel| (Backend::Cuda, kernel, count))
        });
        let first = rows.len();
        for (backend, kernel, count) in on_cpu.chain(on_gpus) {
            progress.show(|| format!("{matrix}, {} on {}, {count}", kernel.name(), backend.name()));
            let spec = spec(&path, block, backend, kernel, count);
            let sample = median((0..repeats).map(|_| sample(&spec, folder.path())))?;
            rows.push(row(matrix, backend, kernel, count, is_large, &sample));
        }
        compare(&mut rows[first..]);
    }
    Ok(rows)
}

/// The run of a matrix that is read from a file, on so many threads of the CPU, or GPUs.
fn spec(path: &Path, block: usize, backend: Backend, kernel: Kernel, count: usize) -> RunSpec {
    let mut spec = RunSpec::default();
    spec.problem.kind = ProblemKind::Matrix;
    spec.problem.matrix = Some(MatrixSpec::new(path));
    spec.method = MethodSpec {
        k: SWEEPS.into(),
        tile: vec![block],
        overlap: vec![0],
        backend,
        kernel,
        ..MethodSpec::default()
    };
    match backend {
        Backend::Cpu => spec.method.threads = count,
        _ => spec.method.devices = (0..).take(count).collect(),
    }
    spec.stop =
        StopSpec { rule: StopRule::Residual, tolerance: Some(TOLERANCE), ..StopSpec::default() };
    spec
}

/// Makes a run as a program does that starts, solves and ends.
fn sample(spec: &RunSpec, folder: &Path) -> anyhow::Result<Sample> {
    let begin = Instant::now();
    let mut spec = spec.clone();
    if let Some(matrix) = &spec.problem.matrix {
        spec.problem.shape = vec![matrix.rows()?];
    }
    let plan = Arc::new(Planner::default().plan(&spec)?);
    let mut run = Run::new(&plan)?;
    let set_up = begin.elapsed().as_secs_f64();
    while run.outcome().is_none() {
        run.advance(u64::MAX)?;
    }
    let times = RunTimes::of(&run);
    let begin = Instant::now();
    save_unknowns(&folder.join("x.npy"), &run.solver().solution()?, plan.order.as_deref())?;
    let shutdown = begin.elapsed().as_secs_f64();
    Ok(Sample { cycles: run.cycle(), set_up, times, shutdown })
}

/// The sample of median time.
fn median(samples: impl Iterator<Item = anyhow::Result<Sample>>) -> anyhow::Result<Sample> {
    let mut samples: Vec<_> = samples.collect::<Result<_, _>>()?;
    samples.sort_by(|one, other| one.total().total_cmp(&other.total()));
    let middle = samples.len() / 2;
    Ok(samples.swap_remove(middle))
}

impl Sample {
    fn total(&self) -> f64 {
        self.set_up + self.times.processing + self.shutdown
    }
}

fn row(
    matrix: &'static str,
    backend: Backend,
    kernel: Kernel,
    count: usize,
    is_large: bool,
    sample: &Sample,
) -> MatrixRow {
    let published = published(kernel, count).filter(|_| is_large && backend == Backend::Cuda);
    let RunTimes { read, order, reorganise, upload, processing, .. } = sample.times;
    let ms = |seconds: f64| 1e3 * seconds;
    MatrixRow {
        figures: match (is_large, backend) {
            (false, Backend::Cpu) => "6",
            (true, Backend::Cpu) => "7",
            (false, _) => "8, 10, 12",
            (true, _) => "9, 11, 13",
        },
        matrix,
        kernel: kernel.name(),
        backend: backend.name(),
        count,
        cycles: sample.cycles,
        setup_ms: ms(sample.set_up),
        read_ms: ms(read),
        order_ms: ms(order),
        reorganise_ms: ms(reorganise),
        upload_ms: ms(upload),
        processing_ms: ms(processing),
        shutdown_ms: ms(sample.shutdown),
        published_total: published.map(|published| published.total),
        total: None,
        published_processing: published.map(|published| published.processing),
        processing: None,
    }
}

/// The published speedups of so many GPUs with a kernel.
fn published(kernel: Kernel, gpus: usize) -> Option<Speedups> {
    let GpuSpeedups { normal, reorganised, .. } =
        flagg::TABLES.into_iter().find(|published| published.gpus == gpus)?;
    match kernel.name() {
        "rows" => Some(normal),
        "reorganised" => Some(reorganised),
        _ => None,
    }
}

/// Compares the runs of a matrix with that on all threads of the CPU.
fn compare(rows: &mut [MatrixRow]) {
    let on_cpu = rows.iter().filter(|row| row.backend == Backend::Cpu.name());
    let Some(base) = on_cpu.max_by_key(|row| row.count).cloned() else { return };
    for row in rows {
        row.total = Some(base.total_ms() / row.total_ms());
        row.processing = Some(base.processing_ms / row.processing_ms);
    }
}

impl MatrixRow {
    fn total_ms(&self) -> f64 {
        self.setup_ms + self.processing_ms + self.shutdown_ms
    }
}

/// The rows as a table, and what was published of GPUs that were not measured.
pub(super) fn table(rows: &[MatrixRow]) -> Table {
    let heads = [
        "Flagg et al., figure",
        "matrix",
        "kernel",
        "on",
        "threads, GPUs",
        "cycles",
        "set-up ms",
        "read",
        "reorganise",
        "upload",
        "processing ms",
        "shutdown ms",
        "published ×",
        "×",
        "published × in processing",
        "× in processing",
    ];
    let ratio = |ratio: Option<f64>| known(ratio, |ratio| format!("{ratio:.2}"));
    let mut lines = vec![heads.map(str::to_owned).to_vec()];
    lines.extend(rows.iter().map(|row| {
        vec![
            row.figures.to_owned(),
            row.matrix.to_owned(),
            row.kernel.to_owned(),
            row.backend.to_owned(),
            row.count.to_string(),
            row.cycles.to_string(),
            digits(row.setup_ms),
            digits(row.read_ms),
            digits(row.reorganise_ms),
            digits(row.upload_ms),
            digits(row.processing_ms),
            digits(row.shutdown_ms),
            ratio(row.published_total),
            ratio(row.total),
            ratio(row.published_processing),
            ratio(row.processing),
        ]
    }));
    // What was published and is not measured here.
    let measured = |kernel: &str, gpus| {
        rows.iter().any(|row| (row.kernel, row.count) == (kernel, gpus) && row.backend == "cuda")
    };
    for GpuSpeedups { gpus, normal, reorganised } in flagg::TABLES {
        for (kernel, speedups) in [("rows", normal), ("reorganised", reorganised)] {
            if measured(kernel, gpus) {
                continue;
            }
            let mut line = vec![NOTHING.to_owned(); heads.len()];
            let known = ["tables 2, 3", "ice-sheet", kernel, "cuda"];
            for (cell, text) in line.iter_mut().zip(known) {
                text.clone_into(cell);
            }
            line[4] = gpus.to_string();
            line[12] = ratio(Some(speedups.total));
            line[14] = ratio(Some(speedups.processing));
            lines.push(line);
        }
    }
    Table::of(lines)
}
