//! Table 1 of Kochurov, Vorotnikova and Golovashkin: cubes that do not fit the budget, on the CPU, by pyramids, and by the
//! wavefront.

use super::super::super::progress::Progress;
use super::super::measure::{self, Timing};
use super::super::table::Table;
use crate::grid::{ByteCount, Precision, Shape};
use crate::picture::{digits, grouped};
use crate::run::kochurov::{MEMORY, PublishedCube, TABLE_1};
use crate::run::{Backend, MethodName, MethodSpec, Planner, ProblemSpec, RunSpec, StopSpec};
use crate::solver::{self, NormRequest, Streaming};
use serde::Serialize;

/// By what sides are divided on a CPU unless something else is chosen: a run of the published sides takes hours there.
const SHRINK_ON_CPU: u32 = 4;

/// Planes that both methods have room to work with.
const LEAST_PLANES: usize = 8;

/// A cube, in seconds of all its iterations.
#[derive(Clone, Debug, Serialize)]
pub(super) struct CubeRow {
    #[serde(skip)]
    published: PublishedCube,
    published_side: usize,
    side: usize,
    sweeps: u64,
    /// The budget, in bytes.
    memory: u64,
    /// Where pyramids and the wavefront are made.
    backend: &'static str,
    pyramid_height: u64,
    wavefront_height: u64,
    published_cpu_seconds: f64,
    cpu_seconds: f64,
    published_pyramid_seconds: f64,
    pyramid_seconds: f64,
    wavefront_seconds: f64,
}

/// Times the three cubes. `shrink` divides their sides.
pub(super) fn measure(
    backend: Backend,
    shrink: Option<u32>,
    repeats: u32,
    progress: &mut Progress,
) -> anyhow::Result<Vec<CubeRow>> {
    let usual = if backend == Backend::Cuda { 1 } else { SHRINK_ON_CPU };
    let shrink = shrink.unwrap_or(usual) as usize;
    let mut rows = Vec::new();
    for published in TABLE_1 {
        let side = published.side.div_ceil(shrink);
        let memory = budget(&published, shrink, side)?;
        let mut time = |name: MethodName, backend| {
            progress.show(|| format!("cube of {side}, {}", name.name()));
            pass(&spec(side, name, memory, backend), repeats)
        };
        let (cpu, _) = time(MethodName::Classic, Backend::Cpu)?;
        let (pyramid, pyramid_height) = time(MethodName::Pyramid, backend)?;
        let (wavefront, wavefront_height) = time(MethodName::Wavefront, backend)?;
        let whole = |sweep: Timing| sweep.median * published.sweeps as f64;
        rows.push(CubeRow {
            published,
            published_side: published.side,
            side,
            sweeps: published.sweeps,
            memory: memory.bytes(),
            backend: backend.name(),
            pyramid_height,
            wavefront_height,
            published_cpu_seconds: published.cpu_seconds,
            cpu_seconds: whole(cpu),
            published_pyramid_seconds: published.pyramid_seconds,
            pyramid_seconds: whole(pyramid),
            wavefront_seconds: whole(wavefront),
        });
    }
    Ok(rows)
}

/// The published budget; for a part of the side one with room for the same part of the planes.
fn budget(published: &PublishedCube, shrink: usize, side: usize) -> anyhow::Result<ByteCount> {
    if shrink == 1 {
        return Ok(ByteCount::new(MEMORY));
    }
    let planes = (published.planes() / shrink).max(LEAST_PLANES);
    let shape = Shape::grid_3d(side, side, side)?;
    Ok(Streaming::memory_of(planes, &shape, Precision::F32))
}

fn spec(side: usize, name: MethodName, memory: ByteCount, backend: Backend) -> RunSpec {
    let memory = name.is_streaming().then_some(memory);
    RunSpec {
        problem: ProblemSpec { shape: vec![side; 3], ..ProblemSpec::default() },
        method: MethodSpec {
            name,
            memory,
            precision: Precision::F32,
            backend,
            ..MethodSpec::default()
        },
        stop: StopSpec { tolerance: None, ..StopSpec::default() },
        ..RunSpec::default()
    }
}

/// Seconds of a sweep, and the sweeps of a pass.
fn pass(spec: &RunSpec, repeats: u32) -> anyhow::Result<(Timing, u64)> {
    let plan = Planner::default().plan(spec)?;
    let mut solver =
        solver::set_up(&plan.problem, plan.method.clone(), plan.precision, &plan.place)?;
    let cycle_us = measure::time(repeats, || solver.cycles(1, NormRequest::NONE))?;
    let sweeps = plan.sweeps_per_cycle();
    Ok((cycle_us.times(1e-6 / sweeps as f64), sweeps))
}

impl CubeRow {
    /// Gigabytes of its arrays, as the paper counts them: three of f32, in units of 1024³ bytes.
    fn data(side: usize) -> f64 {
        12.0 * side.pow(3) as f64 / f64::from(1_u32 << 30)
    }

    /// Nanoseconds per point and sweep of a time here.
    fn per_update(&self, seconds: f64) -> f64 {
        1e9 * seconds / (self.side.pow(3) as f64 * self.sweeps as f64)
    }
}

/// The rows in the shape of the paper's table, with the times per point and sweep beside.
pub(super) fn table(rows: &[CubeRow]) -> Table {
    let heads = [
        "Kochurov et al., N",
        "N here",
        "published GiB",
        "GiB",
        "iterations",
        "n of pyramids",
        "n of the wavefront",
        "published CPU s",
        "CPU s",
        "published pyramid s",
        "pyramid s",
        "wavefront s",
        "published CPU ns/point",
        "CPU ns/point",
        "published pyramid ns/point",
        "pyramid ns/point",
        "wavefront ns/point",
        "on",
    ];
    let mut lines = vec![heads.map(str::to_owned).to_vec()];
    lines.extend(rows.iter().map(|row| {
        // A GPU takes hundredths of a nanosecond.
        let per_point = |nanoseconds: f64| format!("{nanoseconds:.4}");
        let published = |seconds| per_point(1e9 * row.published.per_update(seconds));
        let here = |seconds| per_point(row.per_update(seconds));
        vec![
            row.published_side.to_string(),
            row.side.to_string(),
            digits(CubeRow::data(row.published_side)),
            digits(CubeRow::data(row.side)),
            grouped(row.sweeps),
            row.pyramid_height.to_string(),
            row.wavefront_height.to_string(),
            digits(row.published_cpu_seconds),
            digits(row.cpu_seconds),
            digits(row.published_pyramid_seconds),
            digits(row.pyramid_seconds),
            digits(row.wavefront_seconds),
            published(row.published_cpu_seconds),
            here(row.cpu_seconds),
            published(row.published_pyramid_seconds),
            here(row.pyramid_seconds),
            here(row.wavefront_seconds),
            row.backend.to_owned(),
        ]
    }));
    Table::of(lines)
}

/// How the sides differ from the published ones; `None` where they do not.
pub(super) fn smaller(rows: &[CubeRow]) -> Option<String> {
    let row = rows.iter().find(|row| row.side != row.published_side)?;
    let part = (row.published_side as f64 / row.side as f64).round();
    Some(format!(
        "The sides of these cubes are 1/{part} of the published ones, and fast memory has room for the same part of the planes; --shrink 1 takes the published sides. Only times per point can be compared."
    ))
}
