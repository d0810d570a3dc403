//! Speed of the CPU solver: tiles against plain sweeps, sweeps inside a tile against the peak of the
//! core, and the cost of norms.
//!
//! Criterion's groups give absolute times. The table after them gives the three ratios; the two sides
//! of each are measured in turns, so that other load on the machine affects both alike.

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tilescope::grid::{Precision, Shape, Tiling};
use tilescope::problem::{Boundary, Problem, Source, Stencil};
use tilescope::solver::cpu::{self, Level};
use tilescope::solver::{Batch, Method, NormRequest, Solver};

const TILE: usize = 32;
const K: usize = 16;
const OVERLAP: usize = 4;

/// Side of a large grid: its arrays (134 MB each) fit into no cache.
const LARGE: usize = 4096;
/// Side of a grid whose arrays (8 MB each) may fit into the third-level cache.
const MIDDLE: usize = 1024;

/// Subiterations of a single tile: enough to make loading and storing it negligible.
const K_OF_ONE_TILE: usize = 2000;

/// Floating-point instructions of a point's update, isotropic weights in 2D: three additions and
/// a fused multiply-add.
const INSTRUCTIONS: usize = 4;

/// The model problem on a square.
fn solver(n: usize, method: Method, threads: usize) -> Box<dyn Solver> {
    let shape = Shape::grid_2d(n, n).expect("a shape that can be numbered");
    let problem = Problem {
        shape,
        operator: Stencil::poisson(&shape).into(),
        rhs: Source::Constant(1.0),
        initial_guess: Source::Constant(1.0),
        boundary: Boundary::default(),
    };
    cpu::on_cpu(&Arc::new(problem), method, Precision::F64, threads).expect("enough memory")
}

/// Makes one cycle.
fn cycle(solver: &mut Box<dyn Solver>, norms: NormRequest) -> Batch {
    solver.cycles(1, norms).expect("a CPU")
}

fn hierarchical(n: usize, k: usize, overlap: usize) -> Method {
    let tiling = Tiling::new(&[n, n], &[TILE, TILE], &[overlap, overlap]).expect("a valid tiling");
    Method::Hierarchical { k, tiling }
}

/// Iterations of [`fmas`] per measurement.
const TURNS: usize = 200_000;

/// Independent vectors in [`fmas`]: more than the 2 per clock × 4 clocks of latency in flight, few
/// enough to stay in registers (16 in AVX2, 32 in AVX-512) with the two factors.
const CHAINS: usize = 12;

/// Fused multiply-adds of independent values, without loads or stores: the peak rate of the core,
/// counted in values, not vectors.
#[inline(always)]
fn fmas<const VALUES: usize>(factor: f64, addend: f64) -> f64 {
    let mut values = [1.0_f64; VALUES];
    for _ in 0..TURNS {
        for value in &mut values {
            *value = value.mul_add(factor, addend);
        }
    }
    values.iter().sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn fmas_avx2(factor: f64, addend: f64) -> f64 {
    fmas::<{ 4 * CHAINS }>(factor, addend)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512bw,avx512vl")]
fn fmas_avx512(factor: f64, addend: f64) -> f64 {
    fmas::<{ 8 * CHAINS }>(factor, addend)
}

/// Makes multiply-adds at the SIMD level of the solver; returns their number.
fn peak() -> usize {
    let (factor, addend) = (black_box(0.5), black_box(0.25));
    let (sum, values) = match Level::best() {
        Level::Plain => (fmas::<CHAINS>(factor, addend), CHAINS),
        // SAFETY: the level comes from `Level::best`, which detects these features.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => (unsafe { fmas_avx2(factor, addend) }, 4 * CHAINS),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => (unsafe { fmas_avx512(factor, addend) }, 8 * CHAINS),
    };
    black_box(sum);
    values * TURNS
}

/// A solver under measurement, and the owned point updates of one cycle.
struct Entry {
    name: &'static str,
    solver: Box<dyn Solver>,
    owned: usize,
}

impl Entry {
    fn new(name: &'static str, n: usize, method: Method, threads: usize) -> Self {
        let owned = n * n * method.sweeps_per_cycle() as usize;
        Self { name, solver: solver(n, method, threads), owned }
    }
}

/// Classic and tiled cycles on a large grid, with two threads.
fn tiles_against_sweeps() -> [Entry; 2] {
    [
        Entry::new("classic", LARGE, Method::Classic, 2),
        Entry::new("hierarchical", LARGE, hierarchical(LARGE, K, OVERLAP), 2),
    ]
}

fn one_tile() -> Entry {
    Entry::new("sweeps", TILE, hierarchical(TILE, K_OF_ONE_TILE, 0), 1)
}

fn with_norms(n: usize) -> Entry {
    Entry::new("hierarchical", n, hierarchical(n, K, OVERLAP), 2)
}

fn groups(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("owned point updates, 4096², 2 threads");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    for Entry { name, mut solver, owned } in tiles_against_sweeps() {
        group.throughput(Throughput::Elements(owned as u64));
        group.bench_function(name, |bencher| bencher.iter(|| cycle(&mut solver, NormRequest::ALL)));
    }
    group.finish();

    let mut group = criterion.benchmark_group("inside one tile, 32², 1 thread");
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    let Entry { name, mut solver, owned } = one_tile();
    group.throughput(Throughput::Elements((owned * INSTRUCTIONS) as u64));
    group.bench_function(name, |bencher| bencher.iter(|| cycle(&mut solver, NormRequest::NONE)));
    group.throughput(Throughput::Elements(peak() as u64));
    group.bench_function("peak", |bencher| bencher.iter(peak));
    group.finish();

    let mut group = criterion.benchmark_group("norms, 2 threads");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    for n in [MIDDLE, LARGE] {
        let Entry { mut solver, owned, .. } = with_norms(n);
        group.throughput(Throughput::Elements(owned as u64));
        group.bench_function(BenchmarkId::new("with", n), |bencher| {
            bencher.iter(|| cycle(&mut solver, NormRequest::ALL))
        });
        group.bench_function(BenchmarkId::new("without", n), |bencher| {
            bencher.iter(|| cycle(&mut solver, NormRequest::NONE));
        });
    }
    group.finish();
}

/// Median seconds per call of `a` and of `b`, called in turns.
fn in_turns<S>(
    state: &mut S,
    rounds: usize,
    mut a: impl FnMut(&mut S),
    mut b: impl FnMut(&mut S),
) -> [f64; 2] {
    let mut times = [Vec::new(), Vec::new()];
    a(state);
    b(state);
    for _ in 0..rounds {
        let start = Instant::now();
        a(state);
        let between = Instant::now();
        b(state);
        times[0].push((between - start).as_secs_f64());
        times[1].push(between.elapsed().as_secs_f64());
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    })
}

/// Prints the table of ratios.
fn ratios() {
    println!("\nmeasured in turns, medians:");
    let mut entries = tiles_against_sweeps();
    let [classic, tiled] = in_turns(
        &mut entries,
        25,
        |[classic, _]| {
            black_box(cycle(&mut classic.solver, NormRequest::ALL));
        },
        |[_, tiled]| {
            black_box(cycle(&mut tiled.solver, NormRequest::ALL));
        },
    );
    let rates = [entries[0].owned as f64 / classic, entries[1].owned as f64 / tiled];
    println!(
        "  tiled / classic, {LARGE}², owned updates/s  {:.2e} / {:.2e} = {:.2} (goal: ≥ 3)",
        rates[1],
        rates[0],
        rates[1] / rates[0]
    );

    let mut tile = one_tile();
    let [swept, made] = in_turns(
        &mut tile,
        200,
        |tile| _ = cycle(&mut tile.solver, NormRequest::NONE),
        |_| {
            peak();
        },
    );
    let rates = [(tile.owned * INSTRUCTIONS) as f64 / swept, peak() as f64 / made];
    println!(
        "  inside a tile / peak, {:?}, instructions/s  {:.2e} / {:.2e} = {:.0} % (goal: ≥ 40 %)",
        Level::best(),
        rates[0],
        rates[1],
        100.0 * rates[0] / rates[1]
    );

    for (n, rounds) in [(MIDDLE, 200), (LARGE, 40)] {
        let mut entry = with_norms(n);
        let [with, without] = in_turns(
            &mut entry,
            rounds,
            |entry| {
                black_box(cycle(&mut entry.solver, NormRequest::ALL));
            },
            |entry| _ = cycle(&mut entry.solver, NormRequest::NONE),
        );
        println!(
            "  norms in every cycle, {n}²  {:.2} ms over {:.2} ms = {:.1} % (goal: < 5 %)",
            1e3 * (with - without),
            1e3 * without,
            100.0 * (with / without - 1.0)
        );
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    groups(&mut criterion);
    criterion.final_summary();
    // `cargo test --benches` only checks that it runs.
    if std::env::args().any(|argument| argument == "--bench") {
        ratios();
    }
}
